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


@st.composite
def mixed_tables(draw, min_rows=4, max_rows=60):
    """Random mixed tables with ties, missing values, constant columns and tiny levels."""
    rows = draw(st.integers(min_rows, max_rows))

    def some(values):
        return draw(st.lists(values, min_size=rows, max_size=rows))

    # Half of these are missing. One draw for each value: `st.one_of` takes two, and drawing takes most of the time.
    whole = st.integers(-16, 5)
    cents = st.integers(-901, 300)
    text = st.sampled_from([*"abcd", None, None, None, None])
    classes = some(st.sampled_from("xyz"))
    if len(set(classes)) < 2:
        classes[0] = "x" if classes[0] != "x" else "y"
    columns = [
        number("whole", [np.nan if v < -5 else v for v in some(whole)]),
        number("cents", [np.nan if v < -300 else v / 100 for v in some(cents)], decimals=2),
        number("fine", some(st.floats(-1, 1, width=32)), decimals=None),
        category("kind", some(text)),
        category("other", some(st.sampled_from("pq"))),
        category("class", classes),
    ]
    return table(*columns)
