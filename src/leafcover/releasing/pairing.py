"""A release and its original, as the pair that measures are handed."""

from leafcover.measuring.pair import Pair, pair_of
from leafcover.releasing.run import Release
from leafcover.table.table import Table


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
