"""Interval disclosure, unchanged values, and what averages of small groups disclose.

Interval disclosure: how often an original number lies in a narrow interval around its released value. By rank
(Domingo-Ferrer and Torra 2001): the interval holds the released values at most p % of the rows away in rank, and the
share is averaged over p = 1 .. 10. By standard deviation (Mateo-Sanz, Sebé and Domingo-Ferrer 2004): the interval is a
multiple of the released column's standard deviation to either side, and a record is at risk if every number of it is
inside. Both apply to numbers (dates and times too), not to categories.

Of a number that was recoded (rounded, put into an interval) and not changed otherwise, the interval is known: the
values with the same recoded one. It counts as narrow if it holds no more rows, or is no wider, than those above.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import Bools, Codes, Floats, Rows
from leafcover.errors import ValueOutOfRange
from leafcover.metrics.estimates import Risk, risk_of, wilson
from leafcover.metrics.pair import SEED, Pair, coverage_note, sample_rows
from leafcover.table.table import Column

MOST_ROWS = 100_000
PERCENTS = tuple(range(1, 11))
DEVIATIONS = 0.05


@dataclass(frozen=True)
class ColumnInterval:
    """One number, over the rows with a value in both tables."""

    column: str
    rank: Risk
    rank_chance: Risk  # the same for randomly shuffled released values
    deviation: Risk
    deviation_chance: Risk


@dataclass(frozen=True)
class IntervalDisclosure:
    """Interval disclosure by column, the highest first, and by record, where every number must be inside."""

    columns: tuple[ColumnInterval, ...]
    rank: Risk  # records, averaged over the ten widths
    deviation: Risk  # records
    deviations: float  # half of the interval's width, in standard deviations
    rows: int
    of: int

    @property
    def how(self) -> str:
        """Whether every row was compared."""
        return coverage_note(self.rows, self.of)


def intervals(
    pair: Pair, *, columns: Sequence[str] = (), deviations: float = DEVIATIONS, most: int = MOST_ROWS
) -> IntervalDisclosure | None:
    """Interval disclosure over all numbers unless some are named; None without pairs.

    A number that is missing in one table is not disclosed; one that is missing in both is ignored, and a record
    without any number is left out.
    """
    if not deviations > 0:
        raise ValueOutOfRange("deviations", deviations, "above 0")
    if not pair.paired:
        return None
    rows = sample_rows(len(pair.original), most)
    dealt = np.random.default_rng(SEED).permutation(len(rows))
    found, met = [], np.zeros(len(rows), bool)
    ranks, inside = np.zeros(len(rows)), np.ones(len(rows), bool)
    recoded = recoded_numbers(pair)
    for name in columns or dict.fromkeys((*pair.numbers, *recoded)):
        if name in recoded:
            before, after = recoded[name][0][rows], np.where(recoded[name][1][rows] < 0, np.nan, 0.0)
            (apart, close), chance = (
                confined(*recoded[name], rows, other, deviations) for other in (rows, rows[dealt])
            )
        else:
            before, after = pair.original[name].values[rows], pair.released[name].values[rows]
            apart, close = ranks_apart(before, after), within_deviations(before, after, deviations)
            chance = ranks_apart(before, after[dealt]), within_deviations(before, after[dealt], deviations)
        both = ~(np.isnan(before) | np.isnan(after))
        other = ~(np.isnan(before) | np.isnan(after[dealt]))
        found.append(
            ColumnInterval(
                name,
                risk_of(_disclosed(apart[both])),
                risk_of(_disclosed(chance[0][other])),
                risk_of(close[both].astype(np.float64)),
                risk_of(chance[1][other].astype(np.float64)),
            )
        )
        neither = np.isnan(before) & np.isnan(after)
        met |= ~neither
        ranks = np.where(neither, ranks, np.maximum(ranks, apart))
        inside &= neither | close
    return IntervalDisclosure(
        tuple(sorted(found, key=lambda c: (-c.rank.value, -c.deviation.value, c.column))),
        risk_of(_disclosed(ranks[met])),
        risk_of(inside[met].astype(np.float64)),
        deviations,
        len(rows),
        len(pair.original),
    )


def recoded_numbers(pair: Pair) -> dict[str, tuple[Floats, Codes]]:
    """The numbers that were recoded and not changed otherwise: before, and a code for each value after; -1 if missing.

    Of a released row that shows another value than the person's own, recoded, the interval is not known.
    """
    found: dict[str, tuple[Floats, Codes]] = {}
    for before in () if pair.raw is None else pair.raw.original:
        if before.is_category or before.name not in pair.names or before.name == pair.weight:
            continue
        after, shown = pair.original[before.name], pair.released[before.name]
        is_coarser = after.is_category or len(np.unique(after.values)) < len(np.unique(before.values))
        if is_coarser and np.array_equal(after.values, shown.values, equal_nan=not after.is_category):
            code = np.unique(np.where(after.missing, np.inf, after.values), return_inverse=True)[1].ravel()
            found[before.name] = before.values, np.where(after.missing, -1, code)
    return found


def confined(before: Floats, code: Codes, rows: Rows, shown: Rows, deviations: float) -> tuple[Floats, Bools]:
    """For rows that other rows (or they themselves) show, half of the share of rows, and whether few deviations.

    An interval that does not contain the number confines it to nothing.
    """
    known = (code >= 0) & ~np.isnan(before)
    counts = np.bincount(code[known], minlength=int(code.max(initial=-1)) + 1)
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, code[known], before[known])
    np.maximum.at(high, code[known], before[known])
    inside = known[shown] & known[rows] & (code[shown] == code[rows])
    at = np.where(inside, code[rows], 0)
    scale = max(float(np.abs(before[known]).max(initial=0.0)), 1e-300)
    spread = float(np.std(before[known] / scale)) if known.any() else 0.0
    wide = high[at] / scale / 2 - low[at] / scale / 2
    apart = np.where(inside, counts[at] / 2 / max(int(known.sum()), 1), np.inf)
    return apart, inside & (wide <= deviations * spread)


def ranks_apart(before: Floats, after: Floats) -> Floats:
    """How many ranks, as a share of the rows, the interval must extend to contain the original value.

    Ranks are those of the released values; the interval of a tied value extends from its lowest and highest rank. An
    original outside all released values, or a missing value, is never contained.

    >>> ranks_apart(np.array([1.0, 2.0, 9.0]), np.array([1.0, 3.0, 4.0]))
    array([0.        , 0.33333333,        inf])
    """
    known = ~(np.isnan(before) | np.isnan(after))
    released = np.sort(after[known])
    own, original = after[known], before[known]
    lowest, highest = np.searchsorted(released, own, "left"), np.searchsorted(released, own, "right") - 1
    down = np.searchsorted(released, original, "right") - 1  # the highest released value not above the original
    up = np.searchsorted(released, original, "left")  # the lowest not below it
    steps = np.maximum(np.maximum(lowest - down, up - highest), 0) / max(len(released), 1)
    found = np.full(len(before), np.inf)
    found[known] = np.where((down < 0) | (up == len(released)), np.inf, steps)
    return found


def within_deviations(before: Floats, after: Floats, deviations: float) -> Bools:
    """Rows where the original is at most so many standard deviations from the released value."""
    known = after[~np.isnan(after)]
    size = float(np.abs(known).max()) if len(known) else 0.0
    scale = size if size > 0 else 1.0  # the largest floats would overflow when squared
    reach = deviations * float(np.std(known / scale)) if len(known) else 0.0
    return np.abs(before / scale - after / scale) <= reach


def _disclosed(apart: Floats) -> Floats:
    """The share of the widths 1 .. 10 % at which each row is inside."""
    found: Floats = np.mean([apart <= percent / 100 + 1e-12 for percent in PERCENTS], axis=0)
    return found


# Unchanged values, column by column.
#
# How many values of a column are fixed, how narrow the interval is in which a value is known to lie, and how small or
# pure cells are, only the plan that made the release shows; the engine passes those figures in.


@dataclass(frozen=True)
class Stayed:
    """Unchanged values of one column."""

    column: str
    unchanged: Risk  # known values that were released unchanged
    chance: float  # the share that would be equal if the column were shuffled at random
    missing: Risk | None  # missing values that are still missing; None if there are no missing values
    fixed: float | None  # the share of known values that are fixed; None if not passed in
    width: float | None  # of the interval in which a value is known to lie, as a share of the domain; or None


@dataclass(frozen=True)
class Unmoved:
    """Unchanged values of the table."""

    columns: tuple[Stayed, ...]
    values: Risk  # the share of unchanged values of a row, missing ones included: mean, and most exposed rows
    whole: Risk  # rows with every value unchanged
    single_cells: float | None  # the share of rows that are the only one of their cell, or None
    pure_cells: float | None  # the share of rows whose cell discloses their class, or None
    rows: int


def unmoved(
    pair: Pair,
    *,
    fixed: Mapping[str, float] | None = None,
    widths: Mapping[str, float] | None = None,
    single_cells: float | None = None,
    pure_cells: float | None = None,
) -> Unmoved | None:
    """Compare the original and released row of every person; None without pairs."""
    if not pair.paired:
        return None
    rows = len(pair.original)
    stayed, kept = [], np.zeros(rows)
    for before in pair.original:
        after = pair.released[before.name]
        same = same_values(before, after)
        kept += same
        known = ~before.missing
        dealt = np.random.default_rng(SEED).permutation(rows)
        other = same_values(before, after.take(dealt))
        stayed.append(
            Stayed(
                before.name,
                risk_of(same[known].astype(np.float64)),
                float(other[known].mean()) if known.any() else 0.0,
                None if known.all() else wilson(float(same[~known].sum()), int((~known).sum())),
                (fixed or {}).get(before.name),
                (widths or {}).get(before.name),
            )
        )
    shares = kept / max(len(stayed), 1)
    whole = risk_of((kept == len(stayed)).astype(np.float64))
    return Unmoved(tuple(stayed), risk_of(shares), whole, single_cells, pure_cells, rows)


def same_values(before: Column, after: Column) -> Bools:
    """Rows with the same value in both; missing equals missing."""
    same: Bools = (before.values == after.values) | (before.missing & after.missing)
    return same


# What averages of small groups disclose: groups with one value, groups dominated by one row, and the last of a group.
#
# For releases that replace values by the average of their group (microaggregation, perturbation trees). Only the plan
# shows which rows form a group; the engine passes the groups in.


MOST_OF = 0.5  # of the sum of a group's absolute values: one row dominates the average


@dataclass(frozen=True)
class Averaged:
    """One averaged column. Shares are of rows with a value there."""

    column: str
    alike: float  # rows whose group has a single value: the average is everybody's own value
    dominated: float  # rows of groups dominated by one row; 0 for a category
    smallest: int  # the fewest values that an average is computed from


@dataclass(frozen=True)
class Averages:
    """What the averages of one step disclose."""

    columns: tuple[Averaged, ...]
    groups: int
    smallest: int  # rows of the smallest group: all but one can together compute the last one's values
    median: int
    at_smallest: float  # rows in groups of that size
    split_by_missingness: float  # rows whose missing values leave an anonymity set smaller than the smallest group
    means: bool  # whether averages are means: a median discloses less
    rows: int


def most_alike(steps: Sequence[Averages]) -> Averaged:
    """The column with most rows in groups with a single value."""
    return max((one for step in steps for one in step.columns), key=lambda one: one.alike)


def most_dominated(steps: Sequence[Averages]) -> Averaged:
    """The column with most rows in groups dominated by one row."""
    return max((one for step in steps for one in step.columns), key=lambda one: one.dominated)


def averages(pair: Pair, names: tuple[str, ...], label: Rows, *, means: bool = True) -> Averages:
    """What the averages of some columns disclose; ``label`` is the group of each original row. Exact."""
    sizes = np.bincount(label)
    own = sizes[label]
    smallest = int(own.min()) if len(own) else 0
    return Averages(
        tuple(_averaged(pair.original[name], label) for name in names),
        int((sizes > 0).sum()),
        smallest,
        int(np.median(sizes[sizes > 0])) if len(own) else 0,
        float((own == smallest).mean()) if len(own) else 0.0,
        _split_by_missingness(pair, names, label, smallest),
        means,
        len(label),
    )


def _split_by_missingness(pair: Pair, names: tuple[str, ...], label: Rows, smallest: int) -> float:
    """Missing values stay missing, so rows of a group with different missing columns can be distinguished."""
    classes = label
    for name in names:
        missing = pair.original[name].missing
        if missing.any():
            classes = np.unique(2 * classes + missing, return_inverse=True)[1].ravel()
    return float((np.bincount(classes)[classes] < smallest).mean()) if len(label) else 0.0


def _averaged(column: Column, label: Rows) -> Averaged:
    known = ~column.missing
    if not known.any():
        return Averaged(column.name, 0.0, 0.0, 0)
    group = np.unique(label[known], return_inverse=True)[1].ravel()
    values = column.values[known]
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    ordered = values[order]
    constant = np.minimum.reduceat(ordered, starts) == np.maximum.reduceat(ordered, starts)
    dominated: Bools = np.zeros(len(starts), bool)
    if not column.is_category:
        weight = np.abs(ordered / max(float(np.abs(ordered).max()), 1e-300))  # so that sums stay finite
        largest, total = np.maximum.reduceat(weight, starts), np.add.reduceat(weight, starts)
        dominated = ~constant & (largest > MOST_OF * total)
    sizes = np.diff(np.r_[starts, len(ordered)])
    return Averaged(column.name, float(constant[group].mean()), float(dominated[group].mean()), int(sizes.min()))
