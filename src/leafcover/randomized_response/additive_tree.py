"""Decision trees from noisy numbers (Agrawal and Srikant 2000).

The algorithm ``global`` reconstructs every noisy number once and assigns its reports to bins, ``byclass`` does so
within every class, and ``local`` does so within every class again in every node. A tree is then grown from the bins, by
Gini impurity with cuts between bins, and pruned on rows held out. `grow_reconstructed` is the entry point.
"""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from leafcover.arrays import MISSING, Array, Codes, Floats, Rows
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.randomized_response.additive_noise import (
    Noisy,
    Stop,
    TransitionMatrix,
    bins_for,
    check_possible,
    em_shares,
    halves,
    transition_matrix,
)
from leafcover.table.table import Table
from leafcover.tree.c45 import assemble
from leafcover.tree.histogram import bin_columns
from leafcover.tree.tree import Attribute, Training, Tree, training

# Assigning reports to bins: in order, reports fill the bins of the reconstructed distribution.
#
# The lowest reports go to the lowest bin until it has its share, and so on. A single row may get the wrong bin, but the
# shares of the bins are right, and these are what a tree counts.


def assign_bins(reports: Floats, shares: Floats, weights: Floats | None = None) -> Codes:
    """The bin of every report, -1 where it is missing.

    >>> assign_bins(np.array([7.5, -2.0, np.nan, 3.0, 0.1]), np.array([0.5, 0.0, 0.5]))
    array([ 2,  0, -1,  2,  0], dtype=int32)
    """
    order = np.argsort(reports, kind="stable")[: int((~np.isnan(reports)).sum())]
    heavy = np.ones(len(order)) if weights is None else weights[order]
    until = np.cumsum(heavy)
    codes = np.full(len(reports), MISSING, np.int32)
    if len(order):
        # The midpoint of a row's weight decides, so that rows are rounded to the nearer bin.
        codes[order] = np.searchsorted(np.cumsum(shares)[:-1], (until - heavy / 2) / until[-1])
    return codes


def assign_by_reconstruction(
    reports: Floats, half: Codes, weights: Floats, matrix: TransitionMatrix, stop: Stop
) -> Codes:
    """The bins of reports, with shares reconstructed from these reports."""
    counts = matrix.counted(reports, half, weights)
    if not counts.any():
        return np.full(len(reports), MISSING, np.int32)
    return assign_bins(reports, em_shares(counts, matrix.chances, stop=stop).shares, weights)


# The best test of a node by Gini impurity, from the counts of classes at every code of every attribute.


ROUNDING = 1e-9  # gains that differ by less count as equal, and the first wins


@dataclass(frozen=True)
class IntervalSplit:
    """A test: ``code <= last`` or above for a number, one branch per code for a category (``last`` is -1)."""

    attribute: int
    last: int
    gain: float  # decrease of impurity, in rows

    @property
    def is_number(self) -> bool:
        """Whether the test is a cut of a number."""
        return self.last >= 0


def counted(codes: Codes, labels: Codes, weights: Floats, shape: tuple[int, int]) -> Floats:
    """The weight of every class (second axis) at every code; missing codes are not counted.

    >>> counted(np.array([0, 1, 1, -1]), np.array([0, 1, 0, 0]), np.ones(4), (2, 2))
    array([[1., 0.],
           [1., 1.]])
    """
    known = codes != MISSING
    if not known.all():
        codes, labels, weights = codes[known], labels[known], weights[known]
    flat = np.bincount(codes * shape[1] + labels, weights, minlength=shape[0] * shape[1])
    return flat.reshape(shape).astype(np.float64)


def impurity(counts: Floats) -> Floats:
    """The number of rows times the Gini index, along the last axis: n - sum of squares / n.

    >>> impurity(np.array([[5.0, 5.0], [10.0, 0.0], [0.0, 0.0]]))
    array([5., 0., 0.])
    """
    rows = counts.sum(axis=-1)
    return np.asarray(rows - np.square(counts).sum(axis=-1) / np.where(rows > 0, rows, 1.0))


def best_cut(counts: Floats, min_records: float) -> tuple[int, float]:
    """The last code of the lower side and the gain; (-1, 0) when no cut leaves enough rows on both sides."""
    total, below = counts.sum(axis=0), np.cumsum(counts, axis=0)[:-1]
    above = total - below
    gains = impurity(total) - impurity(below) - impurity(above)
    gains[(below.sum(axis=1) < min_records) | (above.sum(axis=1) < min_records)] = 0.0
    if not len(gains) or gains.max() <= ROUNDING:
        return MISSING, 0.0
    last = int(np.argmax(gains > gains.max() - ROUNDING))
    return last, float(gains[last])


def gain_of_levels(counts: Floats, min_records: float) -> float:
    """The gain of one branch per code; 0 when fewer than two branches have enough rows."""
    if (counts.sum(axis=1) >= min_records).sum() < 2:
        return 0.0
    return float(impurity(counts.sum(axis=0)) - impurity(counts).sum())


def best_split(tables: Sequence[Floats], is_number: Sequence[bool], min_records: float) -> IntervalSplit | None:
    """The test with the largest gain, the first of equal ones; None without a gain."""
    best = None
    for attribute, (counts, number) in enumerate(zip(tables, is_number, strict=True)):
        last, gain = best_cut(counts, min_records) if number else (MISSING, gain_of_levels(counts, min_records))
        if gain > ROUNDING + (best.gain if best else 0.0):
            best = IntervalSplit(attribute, last, gain)
    return best


# The rows of a node, and how a test splits them.


@dataclass(frozen=True, eq=False)
class IntervalCoding:
    """The meaning of codes: the levels of an open column, or the bins of a noisy one."""

    sizes: tuple[int, ...]  # number of codes of every attribute
    cuts: tuple[Floats, ...]  # between the codes of a number; empty for a category
    is_number: tuple[bool, ...]
    matrices: tuple[TransitionMatrix | None, ...]  # of noisy numbers
    classes: int


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows of a node; ``reports`` contains a noisy number as reported, until a test has split by it."""

    labels: Codes
    half: Codes  # of every row, for the stopping rule of the reconstruction
    weights: Floats
    codes: tuple[Codes, ...]
    reports: tuple[Floats | None, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Rows, part: Floats | None = None) -> "Sample":
        """Some of the rows, optionally with only a part of their weight."""
        return Sample(
            self.labels[rows],
            self.half[rows],
            self.weights[rows] if part is None else self.weights[rows] * part[rows],
            tuple(codes[rows] for codes in self.codes),
            tuple(None if reports is None else reports[rows] for reports in self.reports),
        )

    def tables(self, coding: IntervalCoding) -> list[Floats]:
        """The counts of classes at every code of every attribute."""
        return [
            counted(codes, self.labels, self.weights, (size, coding.classes))
            for codes, size in zip(self.codes, coding.sizes, strict=True)
        ]

    def counts(self, coding: IntervalCoding) -> Floats:
        """The weight of every class."""
        return np.bincount(self.labels, self.weights, minlength=coding.classes).astype(np.float64)


def reassign_bins(
    sample: Sample,
    coding: IntervalCoding,
    stop: Stop,
    *,
    by_class: bool,
    least: float = 0.0,
    only: Collection[int] | None = None,
) -> Sample:
    """The rows with their noisy numbers (all, or ``only`` some) assigned to bins reconstructed from these rows alone.

    A class with a weight below ``least`` keeps its bins. So does a number that a test above has split by: its reports
    were selected by their own noise and no longer follow the distribution.
    """
    codes = [codes.copy() for codes in sample.codes]
    groups = sample.labels if by_class else np.zeros_like(sample.labels)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        half, weights = sample.half[rows], sample.weights[rows]
        if weights.sum() < least:
            continue
        for place, (reports, matrix) in enumerate(zip(sample.reports, coding.matrices, strict=True)):
            if reports is not None and matrix is not None and (only is None or place in only):
                codes[place][rows] = assign_by_reconstruction(reports[rows], half, weights, matrix, stop)
    return replace(sample, codes=tuple(codes))


def split_rows(sample: Sample, split: IntervalSplit, size: int) -> list[Sample]:
    """The rows of every branch; a row with a missing value goes to all branches, weighted by their shares."""
    codes = sample.codes[split.attribute]
    lost = codes == MISSING
    branch = (codes > split.last).astype(np.int32) if split.is_number else codes
    branches = 2 if split.is_number else size
    held = np.bincount(branch[~lost], sample.weights[~lost], minlength=branches)
    shares = held / held.sum() if held.any() else np.full(branches, 1 / branches)
    reports = tuple(None if place == split.attribute else one for place, one in enumerate(sample.reports))
    without_tested = replace(sample, reports=reports)
    return [
        without_tested.take(
            np.flatnonzero((~lost & (branch == number)) | (lost & (share > 0))), np.where(lost, share, 1.0)
        )
        for number, share in enumerate(shares)
    ]


# How a tree from noisy numbers is grown: where reports are assign_bins, and when a node is divided.


Algorithm: TypeAlias = Literal["global", "byclass", "local"]


@dataclass(frozen=True)
class AdditiveTreeSettings:
    """The settings of a tree, checked."""

    algorithm: Algorithm = "byclass"
    min_records: int = 50
    max_depth: int = 20
    stop: Stop = "change"

    def __post_init__(self) -> None:
        if self.algorithm not in get_args(Algorithm):
            raise NameUnknown("algorithm", self.algorithm, get_args(Algorithm))
        if self.stop not in get_args(Stop):
            raise NameUnknown("stopping rule", self.stop, get_args(Stop))
        if self.min_records < 1:
            raise ValueOutOfRange("min_records", self.min_records, "a whole number of at least 1")
        if self.max_depth < 0:
            raise ValueOutOfRange("max_depth", self.max_depth, "a whole number of at least 0")


# Growing the nodes of a tree; the rows held out follow the same tests.


LEAST_ROWS = 100.0  # of a class in a node: with fewer, reports keep their bins


@dataclass(frozen=True, eq=False)
class Node:
    """The counts of classes among the growing rows and those held out; a node without a split is a leaf."""

    counts: Floats
    held: Floats
    label: int
    split: IntervalSplit | None = None
    first: int = -1
    branches: int = 0


def grown(growing: Sample, held: Sample, coding: IntervalCoding, rules: AdditiveTreeSettings) -> list[Node]:
    """All nodes, the root first, the children of a node consecutive and after it."""
    nodes = [_leaf(growing, held, coding, label=0)]
    waiting = deque([(0, 0, growing, held)])
    while waiting:
        number, depth, growing, held = waiting.popleft()
        counts = nodes[number].counts
        if depth == rules.max_depth or np.count_nonzero(counts) < 2 or counts.sum() < 2 * rules.min_records:
            continue
        anew = rules.algorithm == "local" and depth > 0
        if anew:
            growing = reassign_bins(growing, coding, rules.stop, by_class=True, least=LEAST_ROWS)
        split = best_split(growing.tables(coding), coding.is_number, rules.min_records)
        if split is None:
            continue
        if anew:  # for rows held out only the tested number matters
            only = (split.attribute,)
            held = reassign_bins(held, coding, rules.stop, by_class=True, least=LEAST_ROWS, only=only)
        size = coding.sizes[split.attribute]
        parts = list(zip(split_rows(growing, split, size), split_rows(held, split, size), strict=True))
        nodes[number] = replace(nodes[number], split=split, first=len(nodes), branches=len(parts))
        for one, other in parts:
            waiting.append((len(nodes), depth + 1, one, other))
            nodes.append(_leaf(one, other, coding, nodes[number].label))
    return nodes


def _leaf(growing: Sample, held: Sample, coding: IntervalCoding, label: int) -> Node:
    """A leaf predicts its most frequent class; an empty leaf predicts the ``label`` of its parent."""
    counts = growing.counts(coding)
    return Node(counts, held.counts(coding), int(counts.argmax()) if counts.any() else label)


EVERY = 3  # every third row is held out for pruning


def grow_reconstructed(
    table: Table,
    noisy: Mapping[str, Noisy],
    *,
    target: str,
    attributes: Sequence[str] | None = None,
    algorithm: Algorithm = "byclass",
    bins: int | None = None,
    min_records: int = 50,
    max_depth: int = 20,
    prune: bool = True,
    stop: Stop = "change",
) -> Tree:
    """The tree that predicts ``target`` from noisy reports; it classifies rows without noise.

    Columns not named in ``noisy`` are open, and so is the target. Both sides of every cut contain at least
    ``min_records`` rows. With ``prune`` every third row is held out: a subtree that makes no fewer errors on these rows
    than a leaf becomes a leaf. The counts of the final tree include them.
    """
    rules = AdditiveTreeSettings(algorithm, min_records, max_depth, stop)
    rows = training(table, target, attributes=attributes)
    coding, sample = coded(rows, noisy, bins)
    numbers = np.arange(len(sample))
    held = numbers % EVERY == EVERY - 1 if prune else np.zeros(len(sample), np.bool_)
    growing, apart = (
        reassign_bins(sample.take(numbers[part]), coding, stop, by_class=algorithm != "global")
        for part in (~held, held)
    )
    nodes = grown(growing, apart, coding, rules)
    return _assembled(rows, coding, pruned(nodes) if prune else nodes)


def coded(rows: Training, noisy: Mapping[str, Noisy], bins: int | None = None) -> tuple[IntervalCoding, Sample]:
    """Open columns as codes, and noisy ones with the matrix of their bins, not yet assigned to bins."""
    names = [attribute.name for attribute in rows.attributes]
    for name in noisy:
        if name not in names:
            raise NameUnknown("column", name, names)
    columns = [
        _noisy_column(attribute, column, noisy[attribute.name], bins)
        if attribute.name in noisy
        else _open_column(attribute, column)
        for attribute, column in zip(rows.attributes, rows.columns, strict=True)
    ]
    coding = IntervalCoding(
        sizes=tuple(column.size for column in columns),
        cuts=tuple(column.cuts for column in columns),
        is_number=tuple(attribute.is_number for attribute in rows.attributes),
        matrices=tuple(column.matrix for column in columns),
        classes=len(rows.classes),
    )
    count = len(rows.labels)
    codes, reports = tuple(column.codes for column in columns), tuple(column.reports for column in columns)
    return coding, Sample(rows.labels, halves(count), np.ones(count), codes, reports)


class _Column(NamedTuple):
    codes: Codes
    size: int
    cuts: Floats
    matrix: TransitionMatrix | None = None
    reports: Floats | None = None


def _open_column(attribute: Attribute, column: Array) -> _Column:
    binned = bin_columns([attribute], [column])
    return _Column(binned.codes[:, 0].astype(np.int32) - 1, int(binned.sizes[0]) - 1, binned.edges[0][:-1])


def _noisy_column(attribute: Attribute, column: Array, noisy: Noisy, bins: int | None) -> _Column:
    if not attribute.is_number:
        raise PlanError(
            f"Noisy columns must be numbers. Column {attribute.name!r} is a category. Remove it from noisy."
        )
    check_possible(f"column {attribute.name!r}", noisy, column)
    edges = noisy.edges(bins_for(len(column)) if bins is None else bins)
    nowhere = np.full(len(column), MISSING, np.int32)
    return _Column(nowhere, len(edges) - 1, edges[1:-1], transition_matrix(noisy, edges), column)


def _assembled(rows: Training, coding: IntervalCoding, nodes: Sequence[Node]) -> Tree:
    tested = [-1 if node.split is None else node.split.attribute for node in nodes]
    cut = [
        coding.cuts[node.split.attribute][node.split.last] if node.split and node.split.is_number else np.nan
        for node in nodes
    ]
    return assemble(
        rows,
        tested=np.array(tested),
        cut=np.array(cut),
        first=np.array([node.first for node in nodes]),
        branches=np.array([node.branches for node in nodes]),
        counts=np.array([node.counts + node.held for node in nodes]),
        label=np.array([node.label for node in nodes]),
    )


# Reduced-error pruning: a subtree that makes no fewer errors than a leaf on the rows held out becomes a leaf.


def pruned(nodes: Sequence[Node]) -> list[Node]:
    """The nodes after pruning; children come after their parents, so one backward pass is enough."""
    errors = [float(node.held.sum() - node.held[node.label]) for node in nodes]
    left = list(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if node.split is None:
            continue
        below = sum(errors[node.first : node.first + node.branches])
        if errors[number] <= below:
            left[number] = replace(node, split=None, first=-1, branches=0)
        else:
            errors[number] = below
    return left
