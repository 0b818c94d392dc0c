"""Evidence learned from pairs: an attacker who has seen what the noise did to half of the people attacks the others.

For tables whose plan is not known, made by whatever means. Record linkage after Fellegi and Sunter (1969): each column
gets a weight for how the known value compares with the released one, the logarithm of how often that comparison occurs
between a person's own two values against how often between strangers'.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import MISSING, Array, Floats, Rows
from leafcover.metrics.disclosure.record_linkage import Informed, informed
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Column

# What an original value is expected to become, by what was seen of others: a release may turn, stretch or rename.
#
# A release that turns numbers around, stretches them, rotates several together or renames levels hides nobody from an
# attacker who has seen some pairs.


NEIGHBOURS = 5  # values seen before that say what a number becomes
MOST_LINES = 20_000  # rows that the lines are learned from


def foreseen(pair: Pair, seen: Rows, tried: Rows) -> Iterator[Column]:
    """Each key column as it is expected to be released, learned from the rows seen.

    A number is foreseen by the numbers nearest to it, or by a line through all number columns: by whichever comes
    nearer on the rows tried.
    """
    numbers = [name for name in pair.quasi_identifiers if not pair.original[name].is_category]
    lines = dict(zip(numbers, _by_lines(pair, numbers, seen).T, strict=True))
    for name in pair.quasi_identifiers:
        before, after = pair.original[name], pair.released[name]
        if before.is_category:
            yield _renamed(before, after, seen)
            continue
        near, line = _by_neighbours(before, after, seen), lines[name]
        best = line if _off(line, after, tried) < _off(near, after, tried) else near
        yield replace(before, values=np.where(before.missing, np.nan, best), declared=after.domain)


def _renamed(before: Column, after: Column, rows: Rows) -> Column:
    """The level that each level mostly became."""
    seen = np.full(len(before.levels) + 1, MISSING, np.int32)
    both, count = np.unique(np.column_stack([before.values[rows], after.values[rows]]), axis=0, return_counts=True)
    order = np.argsort(count, kind="stable")  # the commonest is written last
    seen[both[order, 0]] = both[order, 1]
    return replace(before, values=seen[before.values])


def _by_neighbours(before: Column, after: Column, rows: Rows) -> Floats:
    """The middle of what the nearest values seen became."""
    known = rows[~(before.missing | after.missing)[rows]]
    if not len(known):
        return before.values
    order = known[np.argsort(before.values[known], kind="stable")]
    at, became = before.values[order], after.values[order]
    window = min(NEIGHBOURS, len(order))
    middle: Floats = np.median(np.lib.stride_tricks.sliding_window_view(became, window), axis=1)
    place = np.clip(np.searchsorted(at, before.values) - window // 2, 0, len(middle) - 1)
    return middle[place]


def _by_lines(pair: Pair, names: list[str], rows: Rows) -> Floats:
    """(rows, numbers) each released number as a linear function of all original ones, by least squares."""
    if not names:
        return np.empty((len(pair.original), 0))
    units = np.array([_unit(pair.original[name]) for name in names])
    ours, theirs = (
        np.column_stack([_shares(table[name], unit) for name, unit in zip(names, units, strict=True)])
        for table in (pair.original, pair.released)
    )
    with_one = np.column_stack([ours, np.ones(len(ours))])
    some = rows[sample_rows(len(rows), MOST_LINES)]
    found, *_ = np.linalg.lstsq(with_one[some], theirs[some], rcond=None)
    lines: Floats = with_one @ found * units
    return lines


def _shares(column: Column, unit: float) -> Floats:
    """Values as shares of a unit, so that 1e308 has a square; a missing one at the mean."""
    shares = column.values / unit
    mean = np.nanmean(shares) if not column.missing.all() else 0.0
    return np.where(column.missing, mean, shares)


def _unit(original: Column) -> float:
    """The largest known value, whatever its sign."""
    known = original.values[~original.missing]
    return float(np.abs(known).max(initial=0.0)) or 1.0


def _off(expected: Floats, after: Column, rows: Rows) -> float:
    """How far what was expected lies from what was released, in the middle; inf when nothing was."""
    known = rows[~after.missing[rows]]
    with np.errstate(over="ignore"):
        return float(np.median(np.abs(expected[known] - after.values[known]))) if len(known) else np.inf


STRANGERS = 200_000  # random pairs of rows that say how strangers compare
MOST_LEARNED = 100_000  # pairs the noise is learned from
SMOOTHING = 0.5  # of a pair, added to every comparison so that none is impossible
MOST_TABLE = 2_500  # pairs of levels with weights of their own; beyond that levels are equal or not


@dataclass(frozen=True, eq=False)
class _Weigher:
    """The weights of one column's comparisons."""

    ours: Array  # (rows,) the original values: codes, or numbers by their range
    theirs: Array  # (rows,) the released ones
    weights: Floats  # (levels + 1, levels + 1) of a category by both codes, or (comparisons,) of a number
    by_level: bool

    def add(self, total: Floats, people: Rows, rows: Rows) -> None:
        """Add to (people, rows) the weight of each comparison."""
        from leafcover.kernels import neighbors as weigh

        theirs = self.theirs if len(rows) == len(self.theirs) else self.theirs[rows]
        if self.by_level:
            weigh.add_by_level(total, self.ours[people], theirs, self.weights)
        elif self.ours.dtype.kind == "f":
            weigh.add_by_distance(total, self.ours[people], theirs, self.weights)
        else:
            weigh.add_by_equality(total, self.ours[people], theirs, self.weights)

    def of_own(self, rows: Rows) -> Floats:
        """(rows,) the weight of each row's own two values."""
        one, other = self.ours[rows], self.theirs[rows]
        return self.weights[one, other] if self.by_level else self.weights[_compared(one, other)]


@dataclass(frozen=True, eq=False)
class LearnedEvidence:
    """The weights of every key column; no row is ruled out for certain."""

    groups: Rows
    weighers: tuple[_Weigher, ...]  # of the values as they are
    foreseen: tuple[_Weigher, ...]  # of what the attacker expects a value to become

    @property
    def is_exchangeable(self) -> bool:
        """Without a column nothing can be said."""
        return not self.weighers

    @property
    def columns(self) -> int:
        """How many columns are weighed."""
        return len(self.weighers)

    def scores(self, people: Rows, rows: Rows) -> tuple[Floats, ...]:
        """The weights of all columns together: compared as they are, and as they are expected to become."""
        return tuple(_summed(way, people, rows) for way in (self.weighers, self.foreseen))


def _summed(weighers: tuple[_Weigher, ...], people: Rows, rows: Rows) -> Floats:
    total = np.zeros((len(people), len(rows)))
    for weigher in weighers:
        weigher.add(total, people, rows)
    return total


def learned_linkage(pair: Pair, *, most: int = 1_000) -> Informed | None:
    """Linkage by an attacker who learned the noise from half of the pairs; the other half is attacked."""
    if not pair.paired or len(pair.original) < 8:
        return None
    order = np.random.default_rng(SEED).permutation(len(pair.original))
    half = len(order) // 2
    evidence = learn(pair, np.sort(order[: min(half, MOST_LEARNED)]))
    return informed(evidence, law="learned from half of the pairs", people=np.sort(order[half:]), most=most)


def learn(pair: Pair, rows: Rows) -> LearnedEvidence:
    """Weights from the pairs of some rows, for the key columns."""
    # What a value becomes is learned from some rows, and how well that is foreseen from others.
    seen, tried = rows[::2], rows[1::2]
    becoming = replace(pair, original=pair.original.replace(foreseen(pair, seen, tried)))
    return LearnedEvidence(
        np.zeros(len(pair.original), np.int64),
        tuple(_weigher(pair, name, rows, _strangers(rows)) for name in pair.quasi_identifiers),
        tuple(_weigher(becoming, name, tried, _strangers(tried)) for name in pair.quasi_identifiers),
    )


def information(pair: Pair, name: str, rows: Rows) -> float:
    """How much better a person's own two values fit than those of strangers: the mean weight, in nats."""
    weigher = _weigher(pair, name, rows, _strangers(rows))
    return float(weigher.of_own(rows).mean())


def _strangers(rows: Rows) -> tuple[Rows, Rows]:
    """Random pairs of two different rows."""
    rng = np.random.default_rng(SEED + 1)
    one = rng.integers(0, len(rows), STRANGERS)
    other = (one + rng.integers(1, max(len(rows), 2), STRANGERS)) % len(rows)
    return rows[one], rows[other]


def _weigher(pair: Pair, name: str, rows: Rows, strangers: tuple[Rows, Rows]) -> _Weigher:
    before, after = pair.original[name], pair.released[name]
    if before.is_category:
        ours, theirs = before.values, after.values
        size = len(before.levels) + 1
        if size * size <= MOST_TABLE:
            own = np.zeros((size, size))
            np.add.at(own, (ours[rows], theirs[rows]), 1.0)
            shown = own.sum(axis=0) + SMOOTHING
            # A level's own law, smoothed towards how often each level is released at all.
            law = (own + SMOOTHING * shown / shown.sum()) / (own.sum(axis=1, keepdims=True) + SMOOTHING)
            return _Weigher(ours, theirs, np.log(law) - np.log(shown / shown.sum()), True)
    else:
        low, high = before.domain
        width = high - low if high > low else 1.0
        ours, theirs = before.values / width, after.values / width
    own = _counts(ours[rows], theirs[rows])
    other = _counts(ours[strangers[0]], theirs[strangers[1]]) + SMOOTHING
    common = other / other.sum()
    # Smoothed towards strangers: a comparison that was never seen of a person's own values speaks against them.
    law = (own + SMOOTHING * common) / (own.sum() + SMOOTHING)
    return _Weigher(ours, theirs, np.log(law) - np.log(common), False)


def _counts(one: Array, other: Array) -> Floats:
    """How often each comparison occurs."""
    from leafcover.kernels.neighbors import COMPARISONS

    return np.bincount(_compared(one, other), minlength=COMPARISONS).astype(np.float64)


def _compared(one: Array, other: Array) -> Array:
    """A number for how two values compare: by their distance, or for codes 0 when equal and 1 when not."""
    from leafcover.kernels.neighbors import compare_numbers

    return compare_numbers(one, other) if one.dtype.kind == "f" else np.where(one == other, 0, 1)
