"""Relations between columns before and after: covariance and correlation of numbers, Cramér's V of categories, and
the correlation ratio of a number on a category.

Over the rows where both columns have a value, in each table by itself. Needs no pairs of rows. Names of columns and
figures alone: no value of the original is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from leafcover.fast.arrays import Codes, Rows
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import how, some_rows
from leafcover.measuring.utility.associations import Centred, association, centred, correlation_ratio, cramers_v
from leafcover.measuring.utility.column_pairs import MOST, column_pairs
from leafcover.measuring.utility.differences import Differences, differences
from leafcover.measuring.utility.units import in_units, known, mean, unit

MOST_WORK = 250_000_000  # pairs of columns times rows; beyond that a sample of rows is used

Figure = Literal["correlation", "covariance", "Cramér's V", "correlation ratio"]
Ready: TypeAlias = Centred | Codes


@dataclass(frozen=True)
class Relation:
    """One figure of two columns. Covariances are divided by both standard deviations of the original."""

    first: str
    second: str
    figure: Figure
    before: float
    after: float

    @property
    def difference(self) -> float:
        """What the release shows more than the original."""
        return self.after - self.before


@dataclass(frozen=True)
class Relations:
    """Every relation, and what the differences come to; nan where a table has no such pair of columns."""

    entries: tuple[Relation, ...]
    every: Differences  # correlations, Cramér's V and correlation ratios together
    correlations: Differences
    covariances: Differences
    cramers_v: Differences
    correlation_ratios: Differences
    rows: int  # used
    of: int
    pairs: int  # pairs of columns compared
    of_pairs: int
    how: str

    def worst(self, many: int = 5) -> tuple[Relation, ...]:
        """The relations that changed most, covariances aside."""
        found = [entry for entry in self.entries if entry.figure != "covariance"]
        return tuple(sorted(found, key=lambda e: (-abs(e.difference), e.first, e.second))[:many])


def relations(
    pair: Pair, *, columns: Sequence[str] = (), most_pairs: int = MOST, most_work: int = MOST_WORK
) -> Relations:
    """Compare the relations of all pairs of columns, or of those named; the weight is left out.

    A column that holds one value in both tables has no relation to compare and is left out.
    """
    names = tuple(columns) or tuple(name for name in pair.names if name != pair.weight)
    rows = len(pair.original)
    tried = max(1, min(most_pairs, len(names) * (len(names) - 1) // 2))
    chosen = some_rows(rows, max(2, most_work // tried))
    values = {name: prepared(pair, name, chosen) for name in names}
    varied = [name for name in names if any(_varies(column) for column in values[name])]
    pairs = column_pairs(varied, most_pairs)
    entries = tuple(entry for one, two in pairs for entry in _entries(one, two, values))

    def all_of(*figures: Figure) -> Differences:
        return differences(entry.difference for entry in entries if entry.figure in figures)

    return Relations(
        entries,
        all_of("correlation", "Cramér's V", "correlation ratio"),
        all_of("correlation"),
        all_of("covariance"),
        all_of("Cramér's V"),
        all_of("correlation ratio"),
        len(chosen),
        rows,
        len(pairs),
        len(varied) * (len(varied) - 1) // 2,
        how(len(chosen), rows),
    )


def prepared(pair: Pair, name: str, rows: Rows) -> tuple[Ready, Ready]:
    """A column of both tables: codes as they are; numbers around their mean, in standard deviations of the original."""
    before, after = pair.original[name].values, pair.released[name].values
    if len(rows) < len(before):
        before, after = before[rows], after[rows]
    if pair.original[name].is_category:
        return before, after
    ours, theirs = known(before), known(after)
    step = unit(ours, theirs)
    return centred(in_units(before, mean(ours), step)), centred(in_units(after, mean(theirs), step))


def _varies(column: Ready) -> bool:
    if isinstance(column, Centred):
        return column.size > 0
    found = column[column >= 0]
    return bool(len(found)) and bool(found.min() < found.max())


def _entries(first: str, second: str, values: dict[str, tuple[Ready, Ready]]) -> list[Relation]:
    before, after = (_figures(one, two) for one, two in zip(values[first], values[second], strict=True))
    return [Relation(first, second, figure, before[figure], after[figure]) for figure in before]


def _figures(first: Ready, second: Ready) -> dict[Figure, float]:
    """What two columns of one table show."""
    if not isinstance(first, Centred):
        if isinstance(second, Centred):
            return {"correlation ratio": correlation_ratio(first, second)}
        return {"Cramér's V": cramers_v(first, second)}
    if not isinstance(second, Centred):
        return {"correlation ratio": correlation_ratio(second, first)}
    found = association(first, second)
    return {"correlation": found.correlation, "covariance": found.covariance}
