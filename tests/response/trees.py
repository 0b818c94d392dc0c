"""Tables and schemes that trees grow from."""

import numpy as np

from leafcover.channels import OneCoin, Warner
from leafcover.response import Part, Scheme
from leafcover.table.table import Column, Table
from tests.response.answers import YES_NO

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
    return Scheme(Part(dict.fromkeys(letters(columns), YES_NO), OneCoin(theta, columns + 1)))


def coin_each(theta, columns):
    return Scheme(*(Part({name: YES_NO}, Warner(theta)) for name in letters(columns)))
