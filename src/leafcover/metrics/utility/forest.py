"""Comparison of two SysFor forests, grown on a table and on its release: rules, classes in leaves, EDUDS and EDUSC.

One tree has one set of rules; a forest has many more of the patterns that a data analyst may look for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from math import ceil, log2, nan

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Rows
from leafcover.metrics.estimates import WORST
from leafcover.metrics.models import SYSFOR, rows_of_forest, work_of_forest
from leafcover.metrics.pair import SEED, Pair, coverage_note, sample_rows
from leafcover.metrics.utility.rules import Allowed, Rule, allowance, nearest, rows_by_leaf, rules_of, shares_of_sets
from leafcover.metrics.utility.trees import some, tree_for, with_classes
from leafcover.table.table import Column, Table
from leafcover.tree.predict import Forest, leaf_membership
from leafcover.tree.sysfor import grow_forest
from leafcover.tree.tree import LeafBoxes, LeafMembership, Tree, attribute_names, leaf_boxes, set_boxes

# SysFor's forest for the target of a table, and the leaves of rows in its trees.


@dataclass(frozen=True)
class Growth:
    """How forests are grown: with SysFor's default settings, except for the number of trees."""

    n_trees: int = SYSFOR
    goodness: float = 0.3
    separation: float = 0.3
    min_records: int = 10
    confidence: float = 0.25


@dataclass(frozen=True, eq=False)
class Walked:
    """A forest, and the leaves of the rows of one table in each tree."""

    trees: Forest
    places: tuple[LeafMembership, ...]


def forest_for(table: Table, target: str, growth: Growth | None = None) -> Forest:
    """SysFor for a category from all other columns; a single leaf if fewer than two classes are known.

    Among equally good attributes the first by name is used, so that the order of columns does not matter.
    """
    growth = growth or Growth()
    names = tuple(sorted(attribute_names(table, target)))
    column = table[target]
    if not names or len(np.unique(column.values[~column.missing])) < 2:
        return (tree_for(table, target),)
    return grow_forest(
        table,
        target=target,
        n_trees=growth.n_trees,
        goodness=growth.goodness,
        separation=growth.separation,
        min_records=growth.min_records,
        confidence=growth.confidence,
        attributes=names,
    )


def walked(trees: Forest, table: Table) -> Walked:
    """The leaves of the rows of a table in every tree."""
    return Walked(trees, tuple(leaf_membership(tree, table) for tree in trees))


# Whether the rules of the original's forest still hold in the release: class counts in its leaves, before and after.
#
# No forest is grown on the release here. A release that moves values only within the cells of this forest, and classes
# only within them, keeps every count by construction.


EQUAL = 1e-6  # rows: counts no further apart are equal, since fractions of rows are summed with rounding


@dataclass(frozen=True)
class LeafShares:
    """How far the leaves of one forest have the same class counts with the rows of two tables."""

    leaves: float  # share of the non-empty leaves with equal class counts
    rows: float  # share of the rows in the common part of class counts, mean over trees


@dataclass(frozen=True)
class LeafCounts:
    """Rules of the original's forest that hold in the release. A rule in several trees counts in each."""

    kept: LeafShares  # original and release
    floor: LeafShares  # original and a resample of it, mean over resamples
    chance: LeafShares  # original, and the same with its target shuffled
    leaves: int  # of the original's forest with original rows


def leaf_counts(
    before: Walked, after: Walked, classes: tuple[Codes, Codes], resamples: Sequence[Rows], shuffled: Codes
) -> LeafCounts:
    """Count classes in the leaves of one forest, given the leaves of original and released rows.

    ``classes`` are those of both tables' rows, as codes of one list; ``shuffled`` are the original's in another order.
    ``resamples`` are lists of original row numbers, at least one.
    """
    ours, theirs = classes
    floors = [leaves_alike(before, _taken(before, rows), ours, ours[rows]) for rows in resamples]
    return LeafCounts(
        kept=leaves_alike(before, after, ours, theirs),
        floor=LeafShares(*np.mean([astuple(shares) for shares in floors], axis=0).tolist()),
        chance=leaves_alike(before, before, ours, shuffled),
        leaves=sum(int(np.count_nonzero(tree.counts[tree.leaves].sum(axis=1))) for tree in before.trees),
    )


def leaves_alike(before: Walked, after: Walked, ours: Codes, theirs: Codes) -> LeafShares:
    """Compare class counts in the leaves of one forest, tree by tree; missing counts as a class."""
    count = int(max(ours.max(initial=-1), theirs.max(initial=-1))) + 2
    same, lost = [], []
    for tree, first, second in zip(before.trees, before.places, after.places, strict=True):
        one, other = counts_by_leaf(tree, first, ours, count), counts_by_leaf(tree, second, theirs, count)
        fewer = np.where(np.abs(one - other) <= EQUAL, 0.0, one - other)
        same.append((fewer == 0).all(axis=1)[(one + other).any(axis=1)])
        lost.append(np.maximum(fewer, 0).sum() / len(ours))
    return LeafShares(float(np.concatenate(same).mean()), 1.0 - float(np.mean(lost)))


def counts_by_leaf(tree: Tree, found: LeafMembership, classes: Codes, count: int) -> Floats:
    """Rows of each leaf and class (leaves, count), missing classes first; shared as in `rows_by_leaf`."""
    if len(found.leaves) == len(found):  # every set is one leaf, as without missing values: 0.01 ms, not 0.5 ms
        at = found.leaves[found.set_of_row].astype(np.int64) * count + classes + 1
        return np.bincount(at, minlength=len(tree.leaves) * count).reshape(-1, count).astype(np.float64)
    from scipy.sparse import coo_array, csr_array

    # Both are sparse, since a table with missing values has nearly as many sets of leaves as rows.
    shares = csr_array((shares_of_sets(tree, found), found.leaves, found.start), shape=(len(found), len(tree.leaves)))
    rows = coo_array((np.ones(len(classes)), (found.set_of_row, classes + 1)), shape=(len(found), count))
    counts: Floats = (shares.T @ rows.tocsr()).toarray()
    return counts


def _taken(walked: Walked, rows: Rows) -> Walked:
    """The same forest with some of the rows."""
    return Walked(walked.trees, tuple(replace(found, set_of_row=found.set_of_row[rows]) for found in walked.places))


# Which rules of the original's forest are in the forest of the release, in any tree.
#
# Two figures are given for comparison. The floor: the same for forests grown on bootstrap resamples of the original; a
# release at its floor loses no more than sampling variation does. Chance: the same for a forest grown on the original
# with its target shuffled; such rules need no association, and a short one with the most frequent class is common.


@dataclass(frozen=True)
class RuleShares:
    """The share of one forest's rules that another forest has; 1 if there are no rules."""

    exact: float  # weighted by the rows that each rule covers, thresholds equal
    near: float  # the same, where a threshold may move by one step of the grid or 5 % of the domain
    exact_alike: float  # every rule with equal weight, thresholds equal
    near_alike: float


@dataclass(frozen=True)
class ForestRules:
    """Rules kept over the whole forest. A rule in several trees counts once; an empty leaf does not count."""

    kept: RuleShares  # by the forest of the release
    floor: RuleShares  # by that of a resample, mean over resamples
    chance: RuleShares  # by that of the original with its target shuffled
    rules: int  # of the original's forest
    released: int  # of the release's


def forest_rules(
    original: Walked, released: Forest, resampled: Sequence[Forest], shuffled: Forest, allowed: Allowed
) -> ForestRules:
    """Compare the rules of forests; ``allowed`` is how far a threshold of each attribute may move.

    The rows that a rule covers are those of the original's forest. At least one forest of a resample is needed, and
    that of the shuffled target.
    """
    ours, theirs = distinct_rules(original.trees, original.places), distinct_rules(released)
    floors = [shares_held(ours, distinct_rules(trees), allowed) for trees in resampled]
    return ForestRules(
        kept=shares_held(ours, theirs, allowed),
        floor=RuleShares(*np.mean([astuple(shares) for shares in floors], axis=0).tolist()),
        chance=shares_held(ours, distinct_rules(shuffled), allowed),
        rules=len(ours),
        released=len(theirs),
    )


def distinct_rules(trees: Forest, places: Sequence[LeafMembership] | None = None) -> tuple[Rule, ...]:
    """Every rule of a forest once, without those of empty leaves; its rows are those of its first tree.

    ``places`` give the rows of each leaf; otherwise training rows count.
    """
    found: dict[Rule, None] = {}
    for number, tree in enumerate(trees):
        rows = None if places is None else rows_by_leaf(tree, places[number])
        held = tree.counts[tree.leaves].sum(axis=1) > 0
        every = zip(rules_of(tree, rows), held.tolist(), strict=True)
        for rule, there in every:
            if there:
                found.setdefault(rule)
    return tuple(found)


def shares_held(ours: Sequence[Rule], theirs: Sequence[Rule], allowed: Allowed) -> RuleShares:
    """The share of some rules that are among others."""
    if not ours:
        return RuleShares(1.0, 1.0, 1.0, 1.0)
    others = set(theirs)
    exact = np.array([rule in others for rule in ours])
    near = nearest(ours, theirs, allowed) >= 0
    rows = np.array([rule.rows for rule in ours])
    return RuleShares(
        exact=float(np.average(exact, weights=rows)),
        near=float(np.average(near, weights=rows)),
        exact_alike=float(exact.mean()),
        near_alike=float(near.mean()),
    )


# EDUDS: how far two forests, grown on a table and on its release, give each value the same allowed range.
#
# The name is from Fletcher and Islam (2015), "An anonymization technique using intersected decision trees", whose
# formula is not legible in the copy we read; the definition is ours.


@dataclass(frozen=True)
class Overlap:
    """EDUDS: 1 if every value has the same allowed range under both forests, near 0 if hardly any is shared."""

    value: float  # mean over rows of the mean over a row's known values; nan without values
    worst: float  # the same over the 1 % of rows with the least overlap
    chance: float  # the value if the release's forest had been grown for a shuffled target
    tested: float  # mean over the known values of attributes that either forest tests; 1 without such attributes
    attributes: tuple[tuple[str, float], ...]  # the mean of each; nan without values
    rows: int


def eduds(original: Walked, released: Walked, shuffled: Walked, table: Table) -> Overlap:
    """The mean overlap of the allowed ranges of each known value under two forests.

    The allowed range of a value is the intersection of the leaves of its row in all trees, for its attribute: an
    interval of a number, one level or all levels of a category. The overlap is the length (or number of levels) of the
    intersection of both ranges over that of their union. On a grid a length is a number of grid points. ``shuffled`` is
    the forest of the original with its target shuffled, for the overlap by chance.
    """
    ours, theirs, blind = (list(_boxed(forest)) for forest in (original, released, shuffled))
    known_to = {attribute.name for tree in (*original.trees, *released.trees) for attribute in tree.attributes}
    names = [name for name in table.names if name in known_to]
    sums, by_chance, known = np.zeros(len(table)), np.zeros(len(table)), np.zeros(len(table))
    means, tested = [], []
    for name in names:
        there = np.flatnonzero(~table[name].missing)
        one, other, third = (_allowed_range(name, trees, len(table)) for trees in (ours, theirs, blind))
        shares = _shared(table[name], one, other)[there]
        sums[there] += shares
        by_chance[there] += _shared(table[name], one, third)[there]
        known[there] += 1
        means.append(float(shares.mean()) if len(there) else nan)
        tested += [shares] * (one.is_tested or other.is_tested)
    some_known = known > 0
    by_row = np.sort(sums[some_known] / known[some_known])
    values = np.concatenate([*tested, np.empty(0)])
    return Overlap(
        value=_mean(by_row),
        worst=_mean(by_row[: ceil(WORST * len(by_row))]),
        chance=_mean(by_chance[some_known] / known[some_known]),
        tested=float(values.mean()) if len(values) else 1.0,
        attributes=tuple(zip(names, means, strict=True)),
        rows=len(table),
    )


@dataclass(frozen=True, eq=False)
class _Boxed:
    """A tree and the box of each row."""

    tree: Tree
    boxes: LeafBoxes
    place: Codes  # (rows,) number of the box


def _boxed(forest: Walked) -> Iterator[_Boxed]:
    for tree, found in zip(forest.trees, forest.places, strict=True):
        yield _Boxed(tree, set_boxes(leaf_boxes(tree), found), found.set_of_row)


@dataclass(frozen=True, eq=False)
class _AllowedSet:
    """The allowed range of one attribute for each row."""

    low: Floats  # exclusive
    high: Floats  # inclusive
    single: Bools  # whether a single level is left
    is_tested: bool


def _allowed_range(name: str, trees: Sequence[_Boxed], rows: int) -> _AllowedSet:
    low, high, single, is_tested = np.full(rows, -np.inf), np.full(rows, np.inf), np.zeros(rows, np.bool_), False
    for boxed in trees:
        for number, attribute in enumerate(boxed.tree.attributes):
            if attribute.name == name and (boxed.tree.tested == number).any():
                low = np.maximum(low, boxed.boxes.low[boxed.place, number])
                high = np.minimum(high, boxed.boxes.high[boxed.place, number])
                single = single | (boxed.boxes.allowed[boxed.place, number] >= 0)
                is_tested = True
    return _AllowedSet(low, high, single, is_tested)


def _shared(column: Column, one: _AllowedSet, other: _AllowedSet) -> Floats:
    """The overlap of two allowed ranges of each row."""
    if column.is_category:
        # Two single levels are equal, since the row has it; a single one is one of the levels that occur.
        occur = len(np.unique(column.values[~column.missing]))
        return np.where(one.single == other.single, 1.0, 1.0 / max(1, occur))
    return _length_shared(column, one, other)


def _length_shared(column: Column, one: _AllowedSet, other: _AllowedSet) -> Floats:
    lowest, highest = column.domain
    if column.grid is not None:
        lowest -= column.grid.step  # the low end is exclusive: now a length counts grid points
    lows = [_at(bounds.low, lowest, highest) for bounds in (one, other)]
    highs = [_at(bounds.high, lowest, highest) for bounds in (one, other)]
    both = np.minimum(*highs) - np.maximum(*lows)
    # Both ranges contain the value itself, so their union has no gap.
    either = np.maximum(*highs) - np.minimum(*lows)
    return np.divide(np.maximum(both, 0), either, out=np.ones_like(both), where=either > 0)


def _at(ends: Floats, lowest: float, highest: float) -> Floats:
    """Ends of intervals as positions between 0 and 1 in the domain."""
    half = highest / 2 - lowest / 2 if highest > lowest else 1.0
    shares: Floats = (np.clip(ends, lowest, highest) / 2 - lowest / 2) / half  # halves do not overflow
    return shares


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else nan


# EDUSC: how well each attribute by itself predicts the class, before and after.
#
# The name is from Fletcher and Islam (2015), as that of EDUDS; the definition is ours.


LEAST_INFORMATION = 1e-3  # a split with less split information than this does not count
GAP = 1e-5  # neighbouring values closer than this are not separated
MOST_ON_A_SIDE = 25.0  # the most rows that C4.5 requires on each side of a threshold


@dataclass(frozen=True)
class AttributeGain:
    """The best gain ratio of one attribute at the root of a tree, in each table."""

    attribute: str
    original: float
    released: float


@dataclass(frozen=True)
class Gains:
    """EDUSC: 1 if every attribute predicts the class as well as before, 0 if nothing of that is left."""

    value: float
    attributes: tuple[AttributeGain, ...]


def edusc(original: Table, released: Table, target: str, *, min_records: int = 2) -> Gains:
    """1 - sum |g - g'| / sum max(g, g') over attributes, where g is the best gain ratio in each table.

    The target must be a category. If no attribute has any gain in either table, it is 1.
    """
    names = attribute_names(original, target)
    before, after = (gain_ratios(table, target, names, min_records=min_records) for table in (original, released))
    most = float(np.maximum(before, after).sum())
    value = 1.0 - float(np.abs(before - after).sum()) / most if most > 0 else 1.0
    found = zip(names, before.tolist(), after.tolist(), strict=True)
    return Gains(value, tuple(AttributeGain(*attribute) for attribute in found))


def gain_ratios(table: Table, target: str, attributes: Sequence[str], *, min_records: int = 2) -> Floats:
    """C4.5's gain ratio of each attribute's best test on all rows with a known class; 0 if no test gains."""
    labels = table[target].values
    seen = np.unique(labels[labels != MISSING])
    rows = np.flatnonzero(labels != MISSING)
    classes = np.searchsorted(seen, labels[rows]).astype(np.int32)
    found = [_gain_ratio(table[name], rows, classes, len(seen), min_records) for name in attributes]
    return np.array(found, np.float64)


def _gain_ratio(column: Column, rows: Rows, classes: Codes, count: int, min_records: int) -> float:
    values, gone = column.values[rows], column.missing[rows]
    known = len(rows) - int(np.count_nonzero(gone))
    if known < 2 * min_records or known == 0:
        return 0.0
    if column.is_category:
        gain, parts = _multiway(values[~gone], classes[~gone], count, min_records)
        cost = 0.0
    else:
        gain, parts, tries = _best_cut(values[~gone], classes[~gone], count, min_records)
        cost = log2(tries) / len(rows) if tries else 0.0
    gain = known / len(rows) * gain - cost
    information = _bits(np.append(parts, len(rows) - known)) / len(rows)
    return gain / information if gain > 0 and information > LEAST_INFORMATION else 0.0


def _multiway(codes: Codes, classes: Codes, count: int, min_records: int) -> tuple[float, Array]:
    """Gain in bits per row of one branch per level, and the rows of each; 0 if only one level has enough rows."""
    parts = np.bincount(codes)
    if np.count_nonzero(parts >= min_records) < 2:
        return 0.0, parts
    # Counted sparsely: a thousand classes by a thousand levels are mostly empty.
    both = np.unique(codes.astype(np.int64) * count + classes, return_counts=True)[1]
    left = _terms(parts).sum() - _terms(both).sum()
    return (_bits(np.bincount(classes)) - float(left)) / len(codes), parts


def _best_cut(values: Floats, classes: Codes, count: int, min_records: int) -> tuple[float, Array, int]:
    """Gain in bits per row of the best threshold, the rows on both sides, and the number of thresholds."""
    order = np.argsort(values, kind="stable")
    values, classes, known = values[order], classes[order], len(order)
    least = min(max(0.1 * known / count, float(min_records)), max(MOST_ON_A_SIDE, float(min_records)))
    with np.errstate(over="ignore"):
        below = np.flatnonzero(np.diff(values) > GAP) + 1  # rows at or below each threshold
    below = below[(below >= least) & (below <= known - least)]
    if not len(below):
        return 0.0, np.array([known]), 0
    left = _terms(below) + _terms(known - below)
    for label in range(count):
        under = np.cumsum(classes == label)
        left -= _terms(under[below - 1]) + _terms(under[-1] - under[below - 1])
    best = int(left.argmin())
    gain = (_bits(np.bincount(classes)) - float(left[best])) / known
    return gain, np.array([below[best], known - below[best]]), len(below)


def _bits(counts: Array) -> float:
    """The total entropy of the counts in bits: N log2 N - sum of n log2 n."""
    return float(_terms(counts.sum(keepdims=True))[0] - _terms(counts).sum())


def _terms(counts: Array) -> Floats:
    terms: Floats = counts * np.log2(np.maximum(counts, 1))
    return terms


MOST_ROWS = 50_000  # used to grow and to compare the forests
MOST_RESAMPLED = 2_000_000  # total work of the forests for the floors
MOST_RESAMPLES = 8


@dataclass(frozen=True)
class ForestComparison:
    """Forests for the target, and single attributes, before and after."""

    rules: ForestRules
    leaves: LeafCounts
    eduds: Overlap
    edusc: Gains
    trees: tuple[int, int]  # in the forest of the original and of the release
    resamples: int  # over which floors are averaged
    rows: int
    of: int
    how: str


def forests(
    pair: Pair, growth: Growth | None = None, *, bins: int | None = None, most: int = MOST_ROWS
) -> ForestComparison:
    """Compare SysFor's forests for the target of a pair, grown on at most so many rows of each table.

    They are fewer if a row is costly: with very many columns, classes or missing values.
    """
    pair = with_classes(pair, bins=bins)
    attributes = [column for column in pair.original if column.name != pair.target]
    work = work_of_forest(attributes, len(np.unique(pair.original[pair.target].values)))
    rows = sample_rows(len(pair.original), min(most, rows_of_forest(work)))
    before, after = some(pair.original, rows), some(pair.released, rows)
    target, drawn = before[pair.target], resamples(len(rows), work)
    shuffled = target.take(np.random.default_rng(SEED).permutation(len(rows)))
    ours, theirs, by_chance, *resampled = (
        forest_for(table, pair.target, growth)
        for table in (before, after, before.replace([shuffled]), *(before.take(chosen) for chosen in drawn))
    )
    original = walked(ours, before)
    labels = target.values, after[pair.target].values
    return ForestComparison(
        rules=forest_rules(original, theirs, resampled, by_chance, allowance(before)),
        leaves=leaf_counts(original, walked(ours, after), labels, drawn, shuffled.values),
        eduds=eduds(original, walked(theirs, before), walked(by_chance, before), before),
        edusc=edusc(before, after, pair.target),
        trees=(len(ours), len(theirs)),
        resamples=len(drawn),
        rows=len(rows),
        of=len(pair.original),
        how=coverage_note(len(rows), len(pair.original)),
    )


def resamples(rows: int, work: int) -> list[Rows]:
    """Row numbers drawn with replacement; with fewer rows more resamples, since sampling variation is larger.

    ``work`` is the cost of each row.
    """
    runs = max(1, min(MOST_RESAMPLES, MOST_RESAMPLED // (rows * work)))
    return [np.random.default_rng([SEED, run]).integers(0, rows, rows) for run in range(runs)]
