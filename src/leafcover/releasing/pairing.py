"""A release and its original, as the pair that measures are handed."""

import numpy as np

from leafcover.errors import TableError
from leafcover.measuring.figures import wilson
from leafcover.measuring.pair import Pair, pair_of
from leafcover.releasing.run import Release
from leafcover.table.describe import row_words
from leafcover.table.table import Table

MOST = 0.5  # of the control's rows that may be the original's, beyond those that are alike by chance


def pair_from(original: Table, release: Release, control: Table | None = None) -> Pair:
    """The pair of a release; roles say what an attacker knows, or without any everything but the target."""
    names = release.table.names
    return pair_of(
        original,
        release.table,
        release.source,
        target=release.plan.target if release.plan.target in names else "",
        keys=keys_of(original, release),
        confidential=[n for n in original.with_role("confidential") if n in names],
        weight="".join([n for n in original.with_role("weight") if n in names][:1]),
        control=control,
    )


def keys_of(original: Table, release: Release) -> list[str]:
    """What an attacker is taken to know of a person: the key columns, or without any all but target and weight."""
    names = release.table.names
    named = [n for n in original.with_role("key") if n in names]
    return named or [n for n in names if n != release.plan.target and original.roles.get(n) != "weight"]


def refuse_same_people(pair: Pair) -> None:
    """Refuse a control that holds the very rows that were released: it would show what is learned of nobody.

    In a table of few columns many rows are alike; as many of the control's may be, as of the original's are by chance.
    """
    if pair.control is None or not len(pair.control):
        return
    words, others = row_words(pair.original), row_words(pair.control)
    _, place, counts = np.unique(words, return_inverse=True, return_counts=True)
    twins = wilson(float((counts[place] > 1).sum()), len(words))
    same = wilson(float(np.isin(others, words).sum()), len(others))
    if same.low > twins.high and same.value - twins.value >= MOST * (1 - twins.value):
        raise TableError(
            f"{same.value:.0%} of the control's {len(others):,} rows are rows of the original, as if the same people "
            "stood in both. Give a control of rows that were not released."
        )
