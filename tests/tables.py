"""Small tables for tests, made in memory, and hypothesis strategies for random mixed ones."""

import numpy as np
from hypothesis import strategies as st

from leafcover.table.table import Column, Grid, Table


def number(name, values, decimals=0):
    grid = None if decimals is None else Grid(decimals)
    return Column(name, "number", np.array(values, np.float64), grid=grid)


def category(name, texts):
    levels = tuple(sorted({t for t in texts if t is not None}))
    codes = [-1 if t is None else levels.index(t) for t in texts]
    return Column(name, "category", np.array(codes, np.int32), levels=levels)


def table(*columns, **roles):
    return Table(tuple(columns), roles=roles)


def mixed(seed, rows=300, missing=0.1):
    """A table with a class, two numbers that explain it, one that does not, and two categories."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype(float)
    pay = np.round(rng.lognormal(3, 1, rows), 2)
    noise = rng.normal(0, 1, rows)
    job = rng.choice(["clerk", "nurse", "smith", "weaver"], rows, p=[0.4, 0.3, 0.2, 0.1])
    town = np.where(age > 50, rng.choice(["A", "B"], rows), rng.choice(["B", "C"], rows))
    good = (age > 40) ^ (job == "nurse") ^ (rng.random(rows) < 0.1)
    hide = rng.random((5, rows)) < missing
    columns = [
        number("age", np.where(hide[0], np.nan, age)),
        number("pay", np.where(hide[1], np.nan, pay), decimals=2),
        number("noise", np.where(hide[2], np.nan, noise), decimals=None),
        category("job", [None if h else str(v) for h, v in zip(hide[3], job, strict=True)]),
        category("town", [None if h else str(v) for h, v in zip(hide[4], town, strict=True)]),
        category("class", ["yes" if g else "no" for g in good]),
    ]
    return table(*columns)


# Numbers that are easily got wrong: zeros of both signs, ends, neighbours of the ends, the smallest ones.
ODD = np.array([0, -0.0, 1, -1, 0.5, -0.5, 1e-45, -1e-45, 1.2e-38, 0.1, 1 / 3, -1 / 3, 1 - 6e-8, 6e-8 - 1], np.float32)
BYTES = 9  # of a row


@st.composite
def mixed_tables(draw, min_rows=4, max_rows=60):
    """Random mixed tables with ties, missing values, constant columns and tiny levels.

    Only rows and a seed are drawn: to draw each value takes ten times as long, and longer than most that is tested.
    A table that fails is therefore made smaller by its rows alone.
    """
    rows = draw(st.integers(min_rows, max_rows))
    rng = np.random.default_rng(list(draw(st.binary(min_size=16, max_size=16))))
    drawn = rng.integers(0, 256, (BYTES, rows))
    different = rng.choice([256] * 7 + [3, 2, 1], 5).tolist()  # bytes in a column: 1 is constant
    whole, cents, fine, kind, other = (
        drawn[list(places)] % many * (255 // max(many - 1, 1))
        for places, many in zip(((0,), (1, 2), (3, 4, 5), (6,), (7,)), different, strict=True)
    )
    classes = ["z" if byte < 24 else "xy"[byte % 2] for byte in drawn[8]]  # one is rare
    if len(set(classes)) < 2:
        classes[0] = "x" if classes[0] != "x" else "y"
    columns = [  # half of some are missing
        number("whole", np.where(whole[0] > 127, np.nan, whole[0] % 11 - 5)),
        number("cents", np.where(cents[0] > 127, np.nan, np.round((cents[0] * 256 + cents[1]) % 601 / 100 - 3, 2)), 2),
        number("fine", np.where(fine[0] > 127, (fine[1] * 256 + fine[2]) / 2**15 - 1, ODD[fine[0] % len(ODD)]), None),
        category("kind", [None if byte > 127 else "abcd"[byte % 4] for byte in kind[0]]),
        category("other", ["pq"[byte % 2] for byte in other[0]]),
        category("class", classes),
    ]
    return table(*columns)
