"""SysFor: a forest whose trees differ by design, not by chance (Islam and Giggins 2011).

Level 0: one tree for each good attribute of the table, which becomes the root of that tree whatever C4.5 would choose.
Level 1: for each of these roots, further trees whose second tests are the good attributes of its branches. Everything
below is C4.5. So the first tree follows the best test, and the others find patterns that it hides.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Floats, Rows
from leafcover.errors import TableError, ValueOutOfRange
from leafcover.table.table import Table
from leafcover.tree.c45 import MAX_ROWS_EXACT, check_confidence, grow_forced, kernel_inputs, prune_tree, to_float32
from leafcover.tree.predict import Forest
from leafcover.tree.tree import LeafBoxes, Test, Training, Tree, leaf_boxes, take_rows, training

if TYPE_CHECKING:
    from leafcover.kernels.c45_grow import Inputs


# Good attributes: the tests that SysFor uses as roots, one after the other.
#
# A test is good if its gain ratio is at most ``goodness`` (an absolute difference) below the best one. A number may be
# good at several cuts if they are far enough apart.


_DIGITS = 12  # decimal places of a gain ratio, so that ratios that are mathematically equal compare equal


@dataclass(frozen=True)
class GoodTest:
    """A good test: an attribute and, for a number, the midpoint of the gap in which it is cut."""

    attribute: int
    middle: float  # nan for a category
    ratio: float


@dataclass(frozen=True, eq=False)
class TrainingPart:
    """A weighted subset of the training rows. A row without the value tested above belongs to several parts."""

    rows: Rows
    weight: Floats  # (rows,) above 0, at most 1


@dataclass(frozen=True)
class SearchSettings:
    """The criteria of a good test."""

    goodness: float = 0.3
    separation: float = 0.3
    min_records: int = 10


def good_attributes(
    training: Training, part: TrainingPart, spans: Floats, search: SearchSettings
) -> tuple[GoodTest, ...]:
    """The good tests of a part, best first; ties go to the earlier attribute, then to the lower cut.

    A cut must leave ``min_records`` rows on both sides, and two levels of a category must have as many. ``spans`` are
    the ranges of numbers in the whole table; cuts of a number must differ by more than ``separation`` times its range.
    Rows of a single class have no good test. As in C4.5, rows without the value reduce the gain by their weight and
    count as one more branch in the split information.
    """
    labels = training.labels[part.rows]
    too_few = part.weight.sum() < 2 * search.min_records - 0.5  # cheap test first: there may be very many branches
    if too_few or (labels == labels[0]).all():
        return ()
    pool: list[GoodTest] = []
    for number, attribute in enumerate(training.attributes):
        values = training.columns[number][part.rows]
        if attribute.is_number:
            cuts = _score_cuts(values, labels, part.weight, len(training.classes), search.min_records)
            pool += _separated_cuts(number, *cuts, spans[number], search)
        else:
            pool += _score_category(number, values, labels, part.weight, training, search.min_records)
    pool.sort(key=lambda good: -good.ratio)
    return tuple(good for good in pool if pool[0].ratio - good.ratio <= search.goodness)


def value_ranges(training: Training) -> Floats:
    """The range of each number in single precision, as in trees; 0 for categories and columns without values."""
    spans = np.zeros(len(training.attributes))
    for number, attribute in enumerate(training.attributes):
        if attribute.is_number:
            values = to_float32(training.columns[number]).astype(np.float64)
            known = values[~np.isnan(values)]
            spans[number] = np.ptp(known) if len(known) else 0.0
    return spans


def branch_parts(training: Training, part: TrainingPart, good: GoodTest) -> Iterator[TrainingPart]:
    """The rows of each branch of a test. Rows without the value go to every non-empty branch, weighted by its share."""
    values = training.columns[good.attribute][part.rows]
    attribute = training.attributes[good.attribute]
    if attribute.is_number:
        value = to_float32(values).astype(np.float64)
        branch, forks = np.where(np.isnan(value), MISSING, value > good.middle).astype(np.int64), 2
    else:
        branch, forks = values.astype(np.int64), len(attribute.levels)
    order = np.argsort(branch, kind="stable")
    ends = np.searchsorted(branch[order], np.arange(MISSING, forks), side="right")
    unknown = order[: ends[0]]
    total = part.weight[order[ends[0] :]].sum()
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        known = order[begin:end]
        share = part.weight[known].sum() / total
        shared = unknown if share > 0 else unknown[:0]
        both = np.concatenate([known, shared])
        yield TrainingPart(part.rows[both], np.concatenate([part.weight[known], part.weight[shared] * share]))


def _score_cuts(values: Array, labels: Array, weight: Floats, classes: int, least: int) -> tuple[Floats, Floats]:
    from leafcover.kernels.c45_criterion import cut_ratios
    from leafcover.kernels.sorting import stable_order

    single = to_float32(values)
    order = stable_order(single)
    middles, ratios = cut_ratios(single[order], labels[order], weight[order], classes, float(least))
    return middles, _round_ratios(ratios)


def _round_ratios(ratios: Floats) -> Floats:
    rounded: Floats = np.maximum(np.round(ratios, _DIGITS), 0.0)
    return rounded


def _separated_cuts(
    number: int, middles: Floats, ratios: Floats, span: float, search: SearchSettings
) -> Iterator[GoodTest]:
    """The best cut, then the best of those far enough from it, and so on while they are good."""
    best = ratios.max(initial=0.0)
    while len(ratios):
        taken = int(ratios.argmax())
        if best - ratios[taken] > search.goodness:
            return
        yield GoodTest(number, float(middles[taken]), float(ratios[taken]))
        left = np.abs(middles - middles[taken]) / span > search.separation
        middles, ratios = middles[left], ratios[left]


def _score_category(
    number: int, codes: Array, labels: Array, weight: Floats, training: Training, least: int
) -> Iterator[GoodTest]:
    from leafcover.kernels.c45_criterion import level_ratio

    levels, classes = len(training.attributes[number].levels), len(training.classes)
    line = np.where(codes == MISSING, levels, codes).astype(np.int64)
    counts: Array = np.bincount(line * classes + labels, weight, (levels + 1) * classes)
    ratio = level_ratio(counts.reshape(levels + 1, classes), float(least))
    if ratio >= 0:
        yield GoodTest(number, np.nan, float(_round_ratios(np.array([ratio]))[0]))


Incomplete: TypeAlias = Literal["auto", "drop", "share"]
Tests: TypeAlias = tuple[GoodTest | None, ...]  # of the root and, at level 1, of each of its children; None is a leaf

MAX_TREES = 1000
MAX_RECORDS = 1_000_000_000
MIN_COMPLETE_SHARE = 0.5  # with a smaller share of complete rows, "auto" keeps the incomplete ones


def grow_forest(
    table: Table,
    *,
    target: str,
    n_trees: int = 60,
    goodness: float = 0.3,
    separation: float = 0.3,
    min_records: int = 10,
    confidence: float = 0.25,
    attributes: Sequence[str] | None = None,
    bins: int | None = None,
    incomplete: Incomplete = "auto",
) -> tuple[Tree, ...]:
    """Grow a SysFor forest that predicts ``target``; all trees have the same attributes and classes.

    ``goodness`` is how far the gain ratio of a root may fall below the best one. ``separation`` is the minimum distance
    of two root cuts of a number, as a fraction of its range. There are at most ``n_trees`` trees, and fewer if the
    table has fewer good tests. A table without good tests gives the single tree of C4.5.
    """
    rows = training(table, target, attributes=attributes, bins=bins)
    return grow_forest_from(
        rows,
        n_trees=n_trees,
        goodness=goodness,
        separation=separation,
        min_records=min_records,
        confidence=confidence,
        incomplete=incomplete,
    )


def grow_forest_from(
    training: Training,
    *,
    n_trees: int = 60,
    goodness: float = 0.3,
    separation: float = 0.3,
    min_records: int = 10,
    confidence: float = 0.25,
    incomplete: Incomplete = "auto",
) -> tuple[Tree, ...]:
    """Grow a SysFor forest from training arrays; see `grow_forest`.

    ``incomplete`` determines the treatment of rows with missing values: "drop" leaves them out, as SysFor does; "share"
    distributes them over all branches by weight, as C4.5 does; "auto" drops them if at least half of the rows are
    complete. A column without any value does not make rows incomplete. From more than 200,000 rows an evenly spaced
    sample of 200,000 is used, and ``counts`` refer to this sample.
    """
    check_settings(n_trees, goodness, separation, min_records, confidence)
    _check_incomplete(incomplete)
    used = training_sample(training, incomplete)
    inputs = kernel_inputs(used, min_records)
    trees: list[Tree] = []
    seen: set[bytes] = set()
    for tests in _forced_tests(used, SearchSettings(goodness, separation, min_records), n_trees):
        tree = _grow_tree(used, inputs, tests, confidence)
        if (identity := _identity(tree)) not in seen:
            seen.add(identity)
            trees.append(tree)
        if len(trees) == n_trees:
            break
    return tuple(trees)


def training_sample(training: Training, incomplete: Incomplete = "auto") -> Training:
    """The rows that a forest is grown from: without incomplete rows if these are dropped, and at most 200,000."""
    complete = np.ones(len(training.labels), np.bool_)
    for attribute, column in zip(training.attributes, training.columns, strict=True):
        missing = np.isnan(column) if attribute.is_number else column < 0
        if not missing.all():
            complete &= ~missing
    if incomplete == "drop" and not complete.any():
        raise TableError("Every row has a missing value, so incomplete='drop' leaves no rows. Use incomplete='share'.")
    share = incomplete == "share" or (incomplete == "auto" and complete.mean() < MIN_COMPLETE_SHARE)
    rows = np.arange(len(complete)) if share else np.flatnonzero(complete)
    if len(rows) > MAX_ROWS_EXACT:
        rows = rows[np.arange(MAX_ROWS_EXACT) * len(rows) // MAX_ROWS_EXACT]
    return training if len(rows) == len(complete) else take_rows(training, rows)


def _forced_tests(training: Training, search: SearchSettings, n_trees: int) -> Iterator[Tests]:
    """The forced first tests of each tree: level 0 forces the root, level 1 also forces its children.

    No two trees get the same tests. A tree of level 1 in which every branch would use its own best test is left out,
    because it would nearly repeat the tree of level 0.
    """
    spans = value_ranges(training)
    whole = TrainingPart(np.arange(len(training.labels)), np.ones(len(training.labels)))
    roots = good_attributes(training, whole, spans, search)[:n_trees]
    yield from ((root,) for root in roots)
    if not roots:
        yield ()
    for root in roots:
        goods, sizes = [], []
        for part in branch_parts(training, whole, root):
            goods.append(good_attributes(training, part, spans, search))
            sizes.append(float(part.weight.sum()))
        mean = sum(len(good) * size for good, size in zip(goods, sizes, strict=True)) / sum(sizes)
        for turn in range(1, floor(mean + 1e-9) + 1):  # rounding may make the mean of equal numbers too small
            if all(len(good) <= turn for good in goods):
                continue
            yield (root, *(good[turn] if turn < len(good) else good[0] if good else None for good in goods))


def _grow_tree(training: Training, inputs: "Inputs", tests: Tests, confidence: float) -> Tree:
    from leafcover.kernels.c45_grow import Forced

    tested = np.array([-1 if test is None else test.attribute for test in tests], np.int32)
    cut = np.array([_cut(inputs, test) for test in tests], np.float32)
    tree = grow_forced(training, inputs, Forced(tested, cut))
    return prune_tree(tree, training, confidence=confidence, kept=tested >= 0)


def _cut(inputs: "Inputs", test: GoodTest | None) -> float:
    """The largest training value up to the midpoint, which is where C4.5 cuts."""
    if test is None or np.isnan(test.middle):
        return np.nan
    ascending: Array = inputs.ascending[inputs.slot[test.attribute]]
    known = len(ascending) - np.isnan(ascending).sum()
    return float(ascending[np.searchsorted(ascending[:known].astype(np.float64), test.middle, side="right") - 1])


def _identity(tree: Tree) -> bytes:
    """Bytes that are equal for two trees that are identical node by node."""
    return b"".join(array.tobytes() for array in (tree.tested, tree.cut, tree.first, tree.label))


def check_settings(n_trees: int, goodness: float, separation: float, min_records: int, confidence: float) -> None:
    """Refuse settings of a forest that are out of range."""
    for name, number, most in (("n_trees", n_trees, MAX_TREES), ("min_records", min_records, MAX_RECORDS)):
        if not _is_real_number(Integral, number) or not 1 <= number <= most:
            raise ValueOutOfRange(name, number, f"an integer from 1 to {most:,}")
    for name, share, what in (
        ("goodness", goodness, "a difference of gain ratios"),
        ("separation", separation, "a fraction of a number's range"),
    ):
        if not _is_real_number(Real, share) or not 0 <= share <= 1:
            raise ValueOutOfRange(name, share, f"{what} from 0 to 1")
    check_confidence(confidence)


def _is_real_number(kind: type, value: object) -> bool:
    """Whether a value is a number of the given kind and not a boolean."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _check_incomplete(incomplete: str) -> None:
    if incomplete not in ("auto", "drop", "share"):
        raise ValueOutOfRange("incomplete", incomplete, "'auto', 'drop' or 'share'")


# What the trees of a forest have in common: rules, roots and attributes.
#
# A rule is the box and the class of a leaf, whatever the order of the tests on its path. Two rules are the same if all
# their values are equal.


@dataclass(frozen=True)
class SharedRule:
    """The rule of a leaf, and the numbers (from 0) of the trees that have it."""

    tests: tuple[Test, ...]  # in the order of attributes; empty for a tree that is a single leaf
    label: str
    trees: tuple[int, ...]
    rows: float  # weighted training rows in the leaf of the first of these trees
    errors: float  # weighted training rows among them with another class


@dataclass(frozen=True)
class Root:
    """A root test, and the trees that start with it."""

    attribute: str
    cut: float | None  # None for a category
    trees: tuple[int, ...]


def shared_rules(trees: Forest) -> tuple[SharedRule, ...]:
    """All distinct rules of the forest, except those of empty leaves: by number of trees, then by number of rows."""
    found: dict[bytes, tuple[LeafBoxes, int, int, list[int]]] = {}
    for number, tree in enumerate(trees):
        boxes = leaf_boxes(tree)
        sizes = tree.counts[tree.leaves].sum(axis=1)
        for leaf, node in enumerate(tree.leaves.tolist()):
            if sizes[leaf] > 0:
                key = b"".join(part[leaf].tobytes() for part in (boxes.low, boxes.high, boxes.allowed))
                key += int(tree.label[node]).to_bytes(4)
                found.setdefault(key, (boxes, leaf, node, []))[3].append(number)
    rules = [_rule(trees[numbers[0]], boxes, leaf, node, numbers) for boxes, leaf, node, numbers in found.values()]
    return tuple(sorted(rules, key=lambda rule: (-len(rule.trees), -rule.rows)))


def _rule(tree: Tree, boxes: LeafBoxes, leaf: int, node: int, numbers: list[int]) -> SharedRule:
    return SharedRule(
        tests=tuple(_tests(tree, boxes, leaf)),
        label=tree.classes[tree.label[node]],
        trees=tuple(numbers),
        rows=float(tree.counts[node].sum()),
        errors=float(tree.errors[node]),
    )


def _tests(tree: Tree, boxes: LeafBoxes, leaf: int) -> Iterator[Test]:
    for a, attribute in enumerate(tree.attributes):
        if boxes.low[leaf, a] > -np.inf:
            yield Test(attribute.name, ">", float(boxes.low[leaf, a]))
        if boxes.high[leaf, a] < np.inf:
            yield Test(attribute.name, "<=", float(boxes.high[leaf, a]))
        if boxes.allowed[leaf, a] >= 0:
            yield Test(attribute.name, "=", attribute.levels[boxes.allowed[leaf, a]])


def roots(trees: Forest) -> tuple[Root, ...]:
    """The distinct root tests, in the order of the trees; a tree that is a single leaf has none."""
    found: dict[tuple[int, bytes], list[int]] = {}
    for number, tree in enumerate(trees):
        if tree.tested[0] >= 0:
            found.setdefault((int(tree.tested[0]), tree.cut[0].tobytes()), []).append(number)
    return tuple(_root(trees[numbers[0]], numbers) for numbers in found.values())


def _root(tree: Tree, numbers: list[int]) -> Root:
    attribute = tree.attributes[tree.tested[0]]
    return Root(attribute.name, float(tree.cut[0]) if attribute.is_number else None, tuple(numbers))


def levels_of(trees: Forest) -> tuple[int, ...]:
    """The level of each tree: 0 for the first tree with its root, 1 for later trees with the same root."""
    first = {root.trees[0] for root in roots(trees)}
    return tuple(int(number not in first and tree.tested[0] >= 0) for number, tree in enumerate(trees))


def attributes_tested(trees: Forest) -> dict[str, int]:
    """The number of trees that test each attribute, largest first; attributes that no tree tests are left out."""
    count = Counter(a for tree in trees for a in np.unique(tree.tested[tree.tested >= 0]).tolist())
    ordered = sorted(count.items(), key=lambda item: (-item[1], item[0]))
    return {trees[0].attributes[a].name: number for a, number in ordered}
