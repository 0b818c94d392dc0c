"""A release and its original, as the pair that measures are handed."""

from leafcover.measuring.pair import Pair, pair_of
from leafcover.releasing.run import Release
from leafcover.table.table import Table


def pair_from(original: Table, release: Release, control: Table | None = None) -> Pair:
    """The pair of a release; roles say what an attacker knows, or without any everything but the target."""
    names = release.table.names
    weight = [n for n in original.with_role("weight") if n in names]
    return pair_of(
        original,
        release.table,
        release.source,
        target=release.plan.target if release.plan.target in names else "",
        keys=[n for n in original.with_role("key") if n in names],
        confidential=[n for n in original.with_role("confidential") if n in names],
        weight=weight[0] if weight else "",
        control=control,
    )
