"""Pairs of tables at the two ends (a copy, and columns shuffled apart) and awkward ones, for laws over all measures."""

import numpy as np

from leafcover.metrics.pair import pair_of
from leafcover.table.table import Table
from tests.tables import category, mixed, number, table


def copy_of(original, *, seed=0, **roles):
    """The original itself as release, its rows in another order."""
    source = np.random.default_rng(seed).permutation(len(original))
    return pair_of(original, original.take(source), source, **roles)


def apart(original, *, seed=0, **roles):
    """Every column shuffled on its own: all marginals kept, every relation and every person lost."""
    rng = np.random.default_rng(seed)
    rows = len(original)
    released = Table(tuple(c.take(rng.permutation(rows)) for c in original))
    return pair_of(original, released, rng.permutation(rows), **roles)


def reordered(pair_, *, seed=0):
    """The same pair with people and columns in another order (released rows go along)."""
    rng = np.random.default_rng(seed)
    rows, names = rng.permutation(len(pair_.original)), rng.permutation(pair_.names)
    return pair_of(
        pair_.original.take(rows).select(names),
        pair_.released.take(rows).select(names),
        np.arange(len(rows)) if pair_.paired else None,
        target=pair_.target,
        quasi_identifiers=pair_.quasi_identifiers,
        sensitive=pair_.sensitive,
        weight=pair_.weight,
        control=None if pair_.control is None else pair_.control.select(names),
    )


def awkward():
    """Small original tables that break careless arithmetic, by name; ``class`` is the target of each."""
    rng = np.random.default_rng(5)
    rows = 40
    plain = rng.normal(size=rows)
    labels = ["yes" if v else "no" for v in rng.random(rows) < 0.5]
    letters = [str(v) for v in rng.choice(list("ab"), rows)]
    return {
        "constant columns": table(
            number("x", [3.0] * rows), number("y", plain, None), category("c", ["k"] * rows), category("class", labels)
        ),
        "missing everywhere": table(
            number("x", np.where(rng.random(rows) < 0.6, np.nan, plain), None),
            number("gone", [np.nan] * rows),
            category("c", [None if h else v for h, v in zip(rng.random(rows) < 0.6, letters, strict=True)]),
            category("none", [None] * rows),
            category("class", labels),
        ),
        "one class": table(number("x", plain, None), category("c", letters), category("class", ["yes"] * rows)),
        "negative numbers": table(
            number("x", -(10.0 ** rng.integers(0, 9, rows)), None),
            number("y", plain - 1e6, None),
            category("class", labels),
        ),
        "numbers alone": table(
            number("x", plain, None), number("y", rng.integers(0, 4, rows)), category("class", labels)
        ),
        "categories alone": table(category("c", letters), category("d", letters[::-1]), category("class", labels)),
        "every row unique": table(
            number("x", np.arange(rows)), category("c", [f"v{i}" for i in range(rows)]), category("class", labels)
        ),
    }


def tables():
    """Ordinary originals: with and without missing values."""
    return {"full": mixed(11, rows=400, missing=0.0), "with missing values": mixed(12, rows=400)}
