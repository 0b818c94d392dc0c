"""Histogram-based trees: binned columns, the C4.5 grower for large tables, and refinement of cells for a target."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Rows, Words
from leafcover.errors import ValueOutOfRange
from leafcover.tree.tree import Attribute, Training, Tree

if TYPE_CHECKING:
    from leafcover.kernels.histogram_refine import Splits

# Binned columns.
#
# A number has at most 255 bins, whose upper edges are values of the data. The bins of a category are its levels. Code 0
# means missing, so missing values sort below all known ones.


SAMPLE_ROWS = 200_000  # rows that determine the edges, evenly spaced by row number, so that no key is needed
MAX_BINS = 255
_BLOCK = 16_384  # rows coded at a time, so that 256 kB of codes stay in the second-level cache


@dataclass(frozen=True, eq=False)
class Binned:
    """The bin codes of a table; the code of attribute j is ``codes[row, j]``.

    If a number has at most 255 distinct values, each bin contains one value (``exact``). Otherwise bin b contains the
    values above edge b - 1 and at most edge b.
    """

    attributes: tuple[Attribute, ...]
    codes: Array  # (rows, width) uint8, uint16 or uint32; the width is padded to words of 8 bytes
    sizes: Rows  # (attributes,) number of codes, including the code of missing values
    edges: tuple[Floats, ...]  # per attribute (bins,): upper edge of code b + 1; empty for a category
    exact: Bools  # (attributes,) whether each code represents a single value
    missing: Rows  # (attributes,) number of missing values
    as_one: tuple[Rows, ...] = ()  # per attribute, the codes of levels that share the first of them; () if none do

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def is_number(self) -> Bools:
        """Which attributes are numbers."""
        return np.array([attribute.is_number for attribute in self.attributes], np.bool_)

    def take(self, rows: Rows) -> "Binned":
        """The bins at the given rows."""
        codes = np.ascontiguousarray(self.codes[rows])
        here = codes[:, : len(self.attributes)]
        missing = (here == 0).sum(axis=0).astype(np.int64)
        return Binned(self.attributes, codes, self.sizes, self.edges, self.exact, missing, self.as_one)


# Splits of binned columns that are made whatever they cost, before a tree is grown.


class FixedSplit(NamedTuple):
    """A split that is made whatever it costs; a side that is split no further is the number of a leaf."""

    test: int  # which of the binned attributes
    codes: Rows  # that go to the first side
    first: "FixedSplit | int"
    second: "FixedSplit | int"

    @property
    def side(self) -> Words:
        """The codes as a bit set."""
        found = np.zeros(1 + int(self.codes.max(initial=0)) // 64, np.uint64)
        np.bitwise_or.at(found, self.codes >> 6, np.uint64(1) << (self.codes & 63).astype(np.uint64))
        return found


@dataclass(frozen=True, eq=False)
class FixedSplits:
    """Splits of start cells that come before all others."""

    trees: tuple[FixedSplit | int, ...]  # of each start cell; 0 if it is not split
    leaves: Rows  # (cells,) the number of their leaves
    leaf: Codes  # (rows,) the leaf of each row in its start cell
    quiet: Bools  # (rows,) whose classes do not matter below


def least_value(binned: Binned, column: str, least: float) -> FixedSplits:
    """One split of all rows: a number is at least so large, or not; what fails is not split further."""
    at = next(i for i, attribute in enumerate(binned.attributes) if attribute.name == column)
    passing = np.flatnonzero(binned.edges[at] >= least) + 1  # bin 0 is for missing values
    fails = ~np.isin(binned.codes[:, at], passing)
    return FixedSplits((FixedSplit(at, passing, 0, 1),), np.array([2]), fails.astype(np.int32), fails)


def bin_training(training: Training) -> Binned:
    """The attributes of a training set as bins."""
    return bin_columns(training.attributes, training.columns)


def bin_columns(attributes: Sequence[Attribute], columns: Sequence[Array]) -> Binned:
    """Bin columns: float64 with nan for numbers, int32 codes with -1 for categories.

    >>> b = bin_columns([Attribute("age")], [np.array([31.0, np.nan, 20.0, 31.0])])
    >>> b.codes[:, 0].tolist(), b.edges[0].tolist()
    ([2, 0, 1, 2], [20.0, 31.0])
    """
    from leafcover.kernels.histogram import code_numbers

    rows = len(columns[0]) if columns else 0
    edges = [_edges(column) if a.is_number else _NO_EDGES for a, column in zip(attributes, columns, strict=True)]
    sizes = [len(e) + 1 if a.is_number else len(a.levels) + 1 for a, e in zip(attributes, edges, strict=True)]
    codes = _empty_codes(rows, sizes)
    missing = np.zeros(len(columns), np.int64)
    inner = [_search_edges(e) for e in edges]
    for start in range(0, rows, _BLOCK):
        stop = min(start + _BLOCK, rows)
        for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
            if attribute.is_number:
                missing[j] += code_numbers(column, inner[j], codes, j, start, stop)
            else:
                codes[start:stop, j] = column[start:stop] + 1  # missing (-1) becomes 0
                missing[j] += np.count_nonzero(column[start:stop] < 0)
    exact = np.ones(len(columns), np.bool_)
    for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
        if attribute.is_number:
            edges[j], exact[j] = _final_edges(column, edges[j], codes, j)
            sizes[j] = len(edges[j]) + 1
    return Binned(tuple(attributes), codes, np.array(sizes, np.int64), tuple(edges), exact, missing)


def code_columns(
    attributes: Sequence[Attribute], edges: Sequence[Floats], columns: Sequence[Array], rows: int
) -> Array:
    """The codes of columns in bins whose edges are known: (rows, attributes)."""
    from leafcover.kernels.histogram import code_numbers

    sizes = [len(e) + 1 if a.is_number else len(a.levels) + 1 for a, e in zip(attributes, edges, strict=True)]
    codes = np.empty((rows, len(sizes)), _kind(sizes))
    for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
        if attribute.is_number:
            code_numbers(column, _search_edges(edges[j]), codes, j, 0, rows)
        else:
            codes[:, j] = column + 1  # missing (-1) becomes 0
    return codes


def quantile_codes(values: Floats, *, bins: int) -> tuple[Codes, int]:
    """A number as a target: codes of at most ``bins`` groups of about equal size, -1 where missing.

    Equal values always share a group.

    >>> quantile_codes(np.array([1.0, 5.0, 2.0, np.nan, 9.0]), bins=2)
    (array([ 0,  1,  0, -1,  1], dtype=int32), 2)
    """
    edges = quantile_edges(values, bins=bins)
    codes = np.searchsorted(edges[:-1], values).astype(np.int32)
    codes[np.isnan(values)] = MISSING
    return codes, max(len(edges), 1)


def quantile_edges(values: Floats, *, bins: int) -> Floats:
    """The largest value of each of at most ``bins`` groups of about equal size."""
    from leafcover.kernels.histogram import upper_edges

    if not 1 <= bins <= MAX_BINS:
        raise ValueOutOfRange("bins", bins, f"an integer from 1 to {MAX_BINS}")
    ordered = np.sort(sample_values(values))
    return upper_edges(ordered[~np.isnan(ordered)], bins)


_NO_EDGES = np.empty(0)


def sample_values(column: Floats) -> Floats:
    """Values of evenly spaced rows, where there are many."""
    if len(column) <= SAMPLE_ROWS:
        return column
    return column[np.arange(SAMPLE_ROWS) * len(column) // SAMPLE_ROWS]


def _edges(column: Floats) -> Floats:
    """Upper edges from the sample: all distinct values if they are few."""
    from leafcover.kernels.histogram import upper_edges

    ordered = np.sort(sample_values(column))  # nan last
    return upper_edges(ordered[: len(ordered) - np.isnan(ordered).sum()], MAX_BINS)


def _search_edges(edges: Floats) -> Floats:
    """Edges padded for the binary search: the last bin takes everything above the others."""
    padded = np.full(MAX_BINS, np.inf)
    padded[: max(len(edges) - 1, 0)] = edges[:-1]
    return padded


def _final_edges(column: Floats, edges: Floats, codes: Array, attribute: int) -> tuple[Floats, bool]:
    """The final edges, and whether they are exact: the sample may have missed a rare value."""
    from leafcover.kernels.histogram import code_numbers, every_value_is_an_edge

    if every_value_is_an_edge(column, edges, codes, attribute):
        return edges, True
    if len(edges) == MAX_BINS:
        return edges, False
    every = np.unique(column[~np.isnan(column)])
    if len(every) > MAX_BINS:
        return edges, False
    code_numbers(column, _search_edges(every), codes, attribute, 0, len(column))
    return every, True


def _empty_codes(rows: int, sizes: Sequence[int]) -> Array:
    """Codes in rows of whole words, which can be moved."""
    kind = _kind(sizes)
    word = 8 // kind.itemsize
    return np.zeros((rows, -(-max(len(sizes), 1) // word) * word), kind)


def _kind(sizes: Sequence[int]) -> np.dtype[Any]:
    widest = max(sizes, default=1)
    return np.dtype(np.uint8 if widest <= 1 << 8 else np.uint16 if widest <= 1 << 16 else np.uint32)


@dataclass(frozen=True, eq=False)
class Refined:
    """Cells refined for a target, and how well that explains it."""

    order: Array  # (rows,) the rows, cell by cell, by old label, then from the first side of each split
    leaf_at: Codes  # (rows,) the node of ``splits`` whose rows begin at each place of ``order``, -1 where none begins
    split_cells: int  # number of old cells that were split
    entropy_bits: float  # conditional entropy of the target given the old cells, times the number of rows
    gain_bits: float  # reduction of that entropy by the new cells
    net_bits: float  # the same less the cost of choosing each split, that is, corrected for chance
    gain_by_attribute: Floats  # (attributes,) bits
    splits: "Splits"  # the trees

    @cached_property
    def labels(self) -> Rows:
        """(rows,) the cell of each row."""
        found = np.empty(len(self.order), np.int64)
        found[self.order] = np.cumsum(self.leaf_at >= 0) - 1
        return found

    def leaves(self, number: Codes) -> Codes:
        """(rows,) the number of the leaf of each row. Following the tests from the root takes ten times as long."""
        begin = np.flatnonzero(self.leaf_at >= 0)
        found = np.empty(len(self.order), np.int32)
        found[self.order] = np.repeat(number[self.leaf_at[begin]], np.diff(begin, append=len(self.order)))
        return found

    @property
    def n_labels(self) -> int:
        """The number of cells."""
        return int(np.count_nonzero(self.leaf_at >= 0))

    @property
    def explained(self) -> float:
        """The share of the target's entropy within the old cells that the splits explain, corrected for chance."""
        return self.net_bits / self.entropy_bits if self.entropy_bits > 0 else 0.0


def refine_labels(
    binned: Binned,
    target_codes: Codes,
    n_classes: int,
    labels: Array,
    n_labels: int,
    *,
    floor: int,
    testable: Bools | None = None,
    min_gain_bits: float = 0.0,
    max_depth: int = 60,
    price: float = 1.0,
    one_level: bool = False,
) -> Refined:
    """Grow a tree for a target within every cell; no leaf has fewer than ``floor`` rows (smaller cells stay whole).

    All splits are binary. A number is cut, with missing below all values. The levels of a category are ordered by their
    share of the cell's most frequent class, and this order is cut; or, if ``one_level``, one of them is separated from
    the others. The split with the largest net gain wins; ties go to
    the first attribute and the lowest cut. The cost of a split is log2 of the number of candidate splits, plus the gain
    expected by chance. The net gain must be at least ``min_gain_bits``: 0 splits only where the split explains
    something, -inf as long as it gains anything at all.

    A missing target (-1) is a class of its own. The cells do not depend on the order of rows.
    """
    from leafcover.kernels.dealing import rows_by_cell
    from leafcover.kernels.histogram import Records, bits_of_cells
    from leafcover.kernels.histogram_refine import RefineSettings, refine

    if floor < 1:
        raise ValueOutOfRange("floor", floor, "an integer of at least 1")
    if len(target_codes) != len(binned) or len(labels) != len(binned):
        raise ValueOutOfRange("The length of labels", len(labels), f"the number of rows, {len(binned)}")
    if len(labels) and (labels.min() < 0 or labels.max() >= n_labels):
        raise ValueOutOfRange("labels", (int(labels.min()), int(labels.max())), f"from 0 to {n_labels - 1}")
    target, classes = _with_missing(target_codes, n_classes)
    tests = np.arange(len(binned.attributes)) if testable is None else np.flatnonzero(testable)
    sizes = binned.sizes[tests]
    settings = RefineSettings(
        tests,
        sizes,
        np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes * classes)]),
        binned.is_number[tests],
        classes,
        floor,
        float(min_gain_bits),
        max_depth,
        float(price),
        one_level,
    )
    order, starts = rows_by_cell(labels, n_labels)
    words = binned.codes.view(np.uint64)
    if n_labels == 1:  # in table order: a copy costs a fifth of taking rows
        words, of_class = words.copy(), target.copy()
    else:
        words, of_class = np.take(words, order, axis=0), target[order]
    records = Records(words.view(binned.codes.dtype), words, of_class, order)
    entropy = bits_of_cells(of_class, starts, np.empty(classes, np.int64))
    leaf_at, gains, nets, split_cells, splits = refine(records, starts, settings)
    by_attribute = np.zeros(len(binned.attributes))
    by_attribute[tests] = gains
    return Refined(order, leaf_at, split_cells, entropy, float(gains.sum()), float(nets.sum()), by_attribute, splits)


def _with_missing(codes: Codes, n_classes: int) -> tuple[Codes, int]:
    """Class codes in which a missing target is an additional class."""
    codes = np.asarray(codes, np.int32)
    missing = codes < 0
    if len(codes) and codes.max() >= n_classes:
        raise ValueOutOfRange("target_codes", int(codes.max()), f"below the number of classes, {n_classes}")
    if not missing.any():
        return codes, n_classes
    return np.where(missing, np.int32(n_classes), codes), n_classes + 1


def explained(
    binned: Binned,
    target_codes: Codes,
    n_classes: int,
    labels: Rows,
    n_labels: int,
    *,
    floor: int,
    testable: Bools | None = None,
    most_rows: int = 100_000,
) -> float:
    """The share of a target's entropy within cells that trees on other columns explain, corrected for chance.

    Columns unrelated to the target score 0.000 whatever their number of levels, because a split must gain more than it
    costs. Larger tables are evaluated on a sample of evenly spaced rows.
    """
    if len(binned) > most_rows:
        rows = np.arange(most_rows) * len(binned) // most_rows
        binned, target_codes, labels = binned.take(rows), target_codes[rows], labels[rows]
    return refine_labels(binned, target_codes, n_classes, labels, n_labels, floor=floor, testable=testable).explained


def grow_histogram(training: Training, *, min_records: int = 2, confidence: float = 0.25, prune: bool = True) -> Tree:
    """Grow a C4.5 tree from histograms.

    It differs from the exact grower in three ways: a number with more than 255 distinct values can be cut only at the
    upper edges of its bins; arithmetic is in double precision; and pruning may replace a subtree by a leaf but does not
    raise branches.
    """
    from leafcover.kernels.c45_prune import squared_deviation
    from leafcover.kernels.histogram import GrowthSettings, Records
    from leafcover.kernels.histogram_grow import (
        BRANCHES,
        FIRST,
        FOLLOWING,
        LAST,
        PARENT,
        TESTED,
        breadth_first,
        finalize_nodes,
        grow_counts,
    )

    if min_records < 1:
        raise ValueOutOfRange("min_records", min_records, "an integer of at least 1")
    if not 0.0 < confidence < 1.0:
        raise ValueOutOfRange("confidence", confidence, "above 0 and below 1")
    binned = bin_training(training)
    classes, attributes = len(training.classes), len(binned.attributes)
    rules = GrowthSettings(
        np.arange(attributes),
        np.flatnonzero(binned.is_number),
        np.flatnonzero(~binned.is_number),
        binned.sizes,
        np.concatenate([np.zeros(1, np.int64), np.cumsum(binned.sizes * classes)]),
        binned.is_number,
        np.array([len(a.levels) >= 0.3 * len(binned) and not a.is_number for a in binned.attributes], np.bool_),
        _edge_table(binned),
        classes,
        float(min_records),
    )
    weights = np.ones(len(binned) if binned.missing.any() else 0)
    words = binned.codes.view(np.uint64)
    records = Records(binned.codes, words, np.array(training.labels, np.int32), weights)
    nodes, size, unfinished, logs = grow_counts(records, rules)
    if len(unfinished):
        from leafcover.kernels.histogram_grow import grow_weighted

        for node, start, stop in unfinished:
            nodes, size = grow_weighted(records, start, stop, node, nodes, size, rules, logs)
    label, errors, estimate = finalize_nodes(nodes, size, prune, confidence, squared_deviation(confidence))
    order = breadth_first(nodes, size)
    links = nodes.links[order].astype(np.int32)
    number = np.full(size + 1, -1, np.int32)  # the extra last element maps -1 (no node) to itself
    number[order] = np.arange(len(order), dtype=np.int32)
    return Tree(
        target=training.target,
        classes=training.classes,
        attributes=training.attributes,
        tested=links[:, TESTED].copy(),
        cut=_cuts(binned, links[:, TESTED], links[:, LAST], links[:, FOLLOWING]),
        first=number[links[:, FIRST]],
        branches=links[:, BRANCHES].copy(),
        parent=number[links[:, PARENT]],
        counts=nodes.counts[order],
        label=label[order],
        errors=errors[order],
        estimate=estimate[order],
    )


def _edge_table(binned: Binned) -> Floats:
    """The upper edge of every code of every number; nan for missing values and for categories."""
    table = np.full((len(binned.attributes), MAX_BINS + 1), np.nan)
    for attribute, edges in enumerate(binned.edges):
        table[attribute, 1 : len(edges) + 1] = edges
    return table


def _cuts(binned: Binned, tested: Codes, last: Codes, following: Codes) -> Floats:
    """The cut of each node that tests a number: the largest edge up to the midpoint to the next rows."""
    cuts = np.full(len(tested), np.nan)
    for attribute, edges in enumerate(binned.edges):
        here = np.flatnonzero(tested == attribute)
        if not binned.attributes[attribute].is_number or not len(here):
            continue
        low = edges[last[here] - 1]
        # An exact bin starts at its value; any other bin starts where the previous one ends.
        high = edges[following[here] - (1 if binned.exact[attribute] else 2)]
        middle = low + (high - low) / 2
        cuts[here] = edges[np.searchsorted(edges, middle, side="right") - 1]
    return cuts
