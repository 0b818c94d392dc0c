"""Tables and schemes that trees grow from."""

import numpy as np
from hypothesis import strategies as st

from leafcover.randomized_response import DisguisedColumns, OneCoin, Scheme, StoppingRules, Warner
from leafcover.table.table import Column, Table
from tests.randomized_response.answers import YES_NO
from tests.randomized_response.mechanisms import any_mechanism

TARGETS = ("ill", "town", "drinks", "evades", "b", "c", "sex")


def same(one, other):
    assert one.classes == other.classes
    for field in ("tested", "first", "branches", "parent", "label"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    for field in ("counts", "errors"):
        np.testing.assert_allclose(getattr(one, field), getattr(other, field), atol=1e-7)


def binary(rows, columns, seed):
    rng = np.random.default_rng(seed)
    codes = (rng.random((columns + 1, rows)) < rng.uniform(0.2, 0.8, columns + 1)[:, None]).astype(np.int32)
    codes[-1] = np.where(rng.random(rows) < 0.7, codes[0] & codes[1 % columns], codes[-1])
    return Table(tuple(Column(name, "category", c, YES_NO) for name, c in zip(letters(columns), codes, strict=True)))


def letters(columns):
    return [*"abcdefghij"[:columns], "class"]


def one_coin(theta, columns):
    return Scheme(DisguisedColumns(dict.fromkeys(letters(columns), YES_NO), OneCoin(theta, columns + 1)))


def coin_each(theta, columns):
    return Scheme(*(DisguisedColumns({name: YES_NO}, Warner(theta)) for name in letters(columns)))


def any_rules():
    return st.builds(
        StoppingRules,
        criterion=st.sampled_from(["gain", "ratio"]),
        min_support=st.sampled_from([0, 5]),
        deviations=st.sampled_from([0, 1]),
        significance=st.sampled_from([0.3, 1]),
        purity=st.sampled_from([0.9, 1]),
        max_depth=st.integers(0, 3),
    )


@st.composite
def any_scheme(draw):
    """A scheme of any mechanisms with any parameters, reports of it, and the names of attributes and class."""
    mechanisms = draw(st.lists(any_mechanism(), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    parts, columns = [], [Column("open", "category", rng.integers(-1, 3, 30).astype(np.int32), ("p", "q", "r"))]
    for count, mechanism in enumerate(mechanisms):
        levels = {f"c{count}{place}": tuple("uvwxyz"[:size]) for place, size in enumerate(mechanism.shape)}
        parts.append(DisguisedColumns(levels, mechanism))
        columns += [
            Column(n, "category", rng.integers(-1, len(lv), 30).astype(np.int32), lv) for n, lv in levels.items()
        ]
    target = draw(st.sampled_from([column.name for column in columns]))
    names = [column.name for column in columns if column.name != target]
    return Scheme(*parts), Table(tuple(columns)), (*draw(st.permutations(names))[:3], target)
