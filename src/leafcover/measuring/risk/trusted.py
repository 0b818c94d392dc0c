"""The columns an attacker goes by who has seen the noise at work: those by which people are found.

A distance over all columns lets those that were dealt out anew drown a few that were hardly touched. Whoever knows the
noise leaves them aside.
"""

from collections.abc import Sequence

from leafcover.measuring.figures import risk_of
from leafcover.measuring.gower import scaled
from leafcover.measuring.nearest import closer_than_own
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.learned import information
from leafcover.measuring.risk.linkage import chance_among
from leafcover.measuring.risk.people import of_rows
from leafcover.measuring.sampling import some_rows
from leafcover.table.table import Table

ROWS = 10_000  # among which people are sought, to choose the columns
PEOPLE = 500  # sought for each choice
MORE = 1.5  # each choice has so many times the columns of the one before


def trusted_columns(pair: Pair, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns, most telling first and as many as find most people; all of them where pairs are not known.

    Columns are ordered by how much better a person's own two values fit than those of strangers. Of choices that find
    as many the one with most columns is taken.
    """
    if not pair.paired or len(pair.original) < 2 or len(columns) < 2:
        return tuple(columns)
    rows = some_rows(len(pair.original), ROWS)
    ordered = sorted(columns, key=lambda name: -information(pair, name, rows))
    sizes = _sizes(len(ordered))
    tables = pair.original.take(rows), pair.released.take(rows)
    found = [_found(tables, ordered[:size]) for size in sizes]
    return tuple(ordered[: max(size for size, share in zip(sizes, found, strict=True) if share == max(found))])


def _sizes(columns: int) -> list[int]:
    """How many columns are tried: 1, 2, 3, 4, 6, 9, ... and all."""
    sizes = [1]
    while sizes[-1] < columns:
        sizes.append(min(columns, max(sizes[-1] + 1, int(sizes[-1] * MORE))))
    return sizes


def _found(tables: tuple[Table, Table], columns: Sequence[str]) -> float:
    """The share of people whose own row is nearest."""
    ours, theirs = scaled(tables, columns)
    people = some_rows(len(tables[0]), PEOPLE)
    return risk_of(chance_among(1, *closer_than_own(of_rows(ours, people), theirs, people, enough=1))).value
