"""How near released rows come to original ones, against how near rows come that were not released.

The distance to the closest record (DCR) and the ratio of the nearest to the second nearest distance (NNDR), as people
who evaluate synthetic tables report them, by Gower's distance. Small figures are no harm by themselves: rows of one
population are near each other. Only the comparison with rows outside the release says whether people are copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leafcover.fast.arrays import Bools, Floats
from leafcover.measuring.figures import Risk, risk_of
from leafcover.measuring.gower import Scaled, scaled
from leafcover.measuring.nearest import TIE, nearest, searchable
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.alike import row_marks
from leafcover.measuring.risk.people import of_rows
from leafcover.measuring.sampling import how, some_rows
from leafcover.table.table import Table

if TYPE_CHECKING:
    from leafcover.fast.near_tree import Boxes

MOST_PEOPLE = 1_000
MOST_COMPARISONS = 200_000_000  # pairs of rows, for each of the searches


@dataclass(frozen=True)
class Low:
    """The low end of a distribution, where copies are, and its middle."""

    fifth: float  # the 5th percentile
    median: float


@dataclass(frozen=True)
class Distances:
    """Nearness of released rows to the original's, and of control rows to the original's where there are any."""

    closest: Low  # DCR, summed over columns
    ratio: Low  # NNDR: near 0 for a row that has one original all to itself, 1 for a row between two
    copies: Risk  # released rows equal to an original one, of all released rows
    control_closest: Low | None  # None: no control
    control_ratio: Low | None
    control_copies: Risk | None
    closer: Risk | None  # released rows nearer to the original than to as many control rows; 0.5 is ideal
    columns: tuple[str, ...]
    rows: int  # released rows searched for
    of: int

    @property
    def how(self) -> str:
        """What the distances rest on; rows are searched in full, and copies counted over all."""
        return how(self.rows, self.of)


def distances(
    pair: Pair,
    *,
    columns: Sequence[str] = (),
    most: int = MOST_PEOPLE,
    comparisons: int = MOST_COMPARISONS,
) -> Distances:
    """DCR and NNDR over all columns but the weight, unless some are named."""
    names = tuple(columns) or tuple(name for name in pair.names if name != pair.weight)
    tables = [pair.original, pair.released] + ([] if pair.control is None else [pair.control])
    original, released, *control = scaled(tables, names)
    some = max(1, min(most, comparisons // max(len(pair.original), 1)))
    people = _some(released, some)
    sought = searchable(original)
    closest, ratio = _low(people, sought)
    aside = control[0] if control and len(control[0].numbers) else None
    outside = None if aside is None else _low(_some(aside, some), sought)
    return Distances(
        closest,
        ratio,
        _copies(pair.released, pair.original, names),
        None if outside is None else outside[0],
        None if outside is None else outside[1],
        None if aside is None or pair.control is None else _copies(pair.control, pair.original, names),
        None if aside is None else _closer(people, original, aside),
        names,
        len(people.numbers),
        len(pair.released),
    )


def _some(table: Scaled, most: int) -> Scaled:
    return of_rows(table, some_rows(len(table.numbers), most))


def _low(people: Scaled, original: "Boxes") -> tuple[Low, Low]:
    first, second = nearest(people, original, count=2).distance.T
    return _ends(first), _ends(ratios(first, second))


def ratios(first: Floats, second: Floats) -> Floats:
    """The nearest distance over the second nearest; 1 when both are 0 (two originals, not one), 0 without a second.

    >>> ratios(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 2.0, 2.0, np.inf]))
    array([1. , 0. , 0.5, 0. ])
    """
    apart = np.where(second > TIE, second, 1.0)
    found: Floats = np.where(second > TIE, first / apart, 1.0)
    return found


def _ends(values: Floats) -> Low:
    fifth, median = np.quantile(values, [0.05, 0.5]) if len(values) else (0.0, 0.0)
    return Low(float(fifth), float(median))


def _closer(people: Scaled, original: Scaled, control: Scaled) -> Risk:
    """Against equally many rows of each, so that neither has more chances; a tie is half."""
    rows = min(len(original.numbers), len(control.numbers))
    ours = nearest(people, _some(original, rows)).distance[:, 0]
    theirs = nearest(people, _some(control, rows)).distance[:, 0]
    return risk_of(np.where(np.abs(ours - theirs) <= TIE, 0.5, ours < theirs).astype(np.float64))


def _copies(table: Table, original: Table, names: tuple[str, ...]) -> Risk:
    found: Bools = np.isin(row_marks(table, names), row_marks(original, names))
    return risk_of(found.astype(np.float64))
