"""Probabilistic record linkage: an attacker who has seen half of the pairs attacks the other half.

For releases whose plan is not known, made by any method. After Fellegi and Sunter (1969): each column has a weight for
every comparison of the known value with the released one, the logarithm of how often that comparison occurs between a
person's own two values over how often it occurs between two different people.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import MISSING, Array, Floats, Rows
from leafcover.metrics.disclosure.record_linkage import Informed, informed
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Column

# The value that a release is expected to give an original value, predicted from the pairs seen.
#
# A release that reverses numbers, stretches them, rotates several together or renames levels hides nobody from an
# attacker who has seen some pairs.


NEIGHBOURS = 5  # values seen before that predict a number
MOST_LINES = 20_000  # rows that the linear functions are fitted to


def foreseen(pair: Pair, seen: Rows, tried: Rows) -> Iterator[Column]:
    """Each quasi-identifier as it is expected to be released, predicted from the rows seen.

    A number is predicted by its nearest numbers, or by a linear function of all numeric columns: by whichever is more
    accurate on the rows tried.
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
    order = np.argsort(count, kind="stable")  # the most common is written last
    seen[both[order, 0]] = both[order, 1]
    return replace(before, values=seen[before.values])


def _by_neighbours(before: Column, after: Column, rows: Rows) -> Floats:
    """The median of what the nearest values seen became."""
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
    """Values as shares of a unit, so that squares do not overflow; a missing one at the mean."""
    shares = column.values / unit
    mean = np.nanmean(shares) if not column.missing.all() else 0.0
    return np.where(column.missing, mean, shares)


def _unit(original: Column) -> float:
    """The largest absolute value."""
    known = original.values[~original.missing]
    return float(np.abs(known).max(initial=0.0)) or 1.0


def _off(expected: Floats, after: Column, rows: Rows) -> float:
    """The median distance of the prediction from the released value; inf if there is no value."""
    known = rows[~after.missing[rows]]
    with np.errstate(over="ignore"):
        return float(np.median(np.abs(expected[known] - after.values[known]))) if len(known) else np.inf


STRANGERS = 200_000  # random pairs of rows, to count comparisons between different people
MOST_LEARNED = 100_000  # pairs that the weights are estimated from
SMOOTHING = 0.5  # of a pair, added to every comparison so that no count is 0
MOST_TABLE = 2_500  # pairs of levels with their own weights; beyond that levels are only equal or different


@dataclass(frozen=True, eq=False)
class _Weigher:
    """The weights of one column's comparisons."""

    ours: Array  # (rows,) the original values: codes, or numbers scaled by their range
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
    """The weights of every quasi-identifier; no row is ruled out with certainty."""

    groups: Rows
    weighers: tuple[_Weigher, ...]  # of the original values
    foreseen: tuple[_Weigher, ...]  # of the values that the release is expected to have

    @property
    def is_exchangeable(self) -> bool:
        """True without any column."""
        return not self.weighers

    @property
    def columns(self) -> int:
        """How many columns have weights."""
        return len(self.weighers)

    def scores(self, people: Rows, rows: Rows) -> tuple[Floats, ...]:
        """The summed weights of all columns: of the original values, and of the expected ones."""
        return tuple(_summed(way, people, rows) for way in (self.weighers, self.foreseen))


def _summed(weighers: tuple[_Weigher, ...], people: Rows, rows: Rows) -> Floats:
    total = np.zeros((len(people), len(rows)))
    for weigher in weighers:
        weigher.add(total, people, rows)
    return total


def learned_linkage(pair: Pair, *, most: int = 1_000) -> Informed | None:
    """Linkage with weights estimated from half of the pairs; the other half is attacked."""
    if not pair.paired or len(pair.original) < 8:
        return None
    order = np.random.default_rng(SEED).permutation(len(pair.original))
    half = len(order) // 2
    evidence = learn(pair, np.sort(order[: min(half, MOST_LEARNED)]))
    return informed(evidence, law="learned from half of the pairs", people=np.sort(order[half:]), most=most)


def learn(pair: Pair, rows: Rows) -> LearnedEvidence:
    """Weights of the quasi-identifiers, from the pairs of some rows."""
    # Predictions are fitted to some of the rows, and their weights are estimated from the others.
    seen, tried = rows[::2], rows[1::2]
    becoming = replace(pair, original=pair.original.replace(foreseen(pair, seen, tried)))
    return LearnedEvidence(
        np.zeros(len(pair.original), np.int64),
        tuple(_weigher(pair, name, rows, _strangers(rows)) for name in pair.quasi_identifiers),
        tuple(_weigher(becoming, name, tried, _strangers(tried)) for name in pair.quasi_identifiers),
    )


def information(pair: Pair, name: str, rows: Rows) -> float:
    """How much better a person's own two values match than those of different people: the mean weight, in nats."""
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
            # The distribution of released levels for each level, smoothed towards their overall distribution.
            probability = (own + SMOOTHING * shown / shown.sum()) / (own.sum(axis=1, keepdims=True) + SMOOTHING)
            return _Weigher(ours, theirs, np.log(probability) - np.log(shown / shown.sum()), True)
    else:
        low, high = before.domain
        width = high - low if high > low else 1.0
        ours, theirs = before.values / width, after.values / width
    own = _counts(ours[rows], theirs[rows])
    other = _counts(ours[strangers[0]], theirs[strangers[1]]) + SMOOTHING
    common = other / other.sum()
    # Smoothed towards different people: a comparison never seen within a person counts against a match.
    probability = (own + SMOOTHING * common) / (own.sum() + SMOOTHING)
    return _Weigher(ours, theirs, np.log(probability) - np.log(common), False)


def _counts(one: Array, other: Array) -> Floats:
    """How often each comparison occurs."""
    from leafcover.kernels.neighbors import COMPARISONS

    return np.bincount(_compared(one, other), minlength=COMPARISONS).astype(np.float64)


def _compared(one: Array, other: Array) -> Array:
    """The comparison of two values as a number: by distance, or for codes 0 if equal and 1 if not."""
    from leafcover.kernels.neighbors import compare_numbers

    return compare_numbers(one, other) if one.dtype.kind == "f" else np.where(one == other, 0, 1)
