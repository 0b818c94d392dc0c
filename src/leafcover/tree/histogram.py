"""Trees from histograms: C4.5's rules on bins for large tables, and refining cells for another column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Rows
from leafcover.errors import ValueOutOfRange
from leafcover.tree.training import Training
from leafcover.tree.tree import Attribute, Tree

# Columns as small bin codes, the form in which large tables are split.
#
# A number has at most 255 bins whose upper edges are values of the data; a category has its levels. Code 0
# is a missing value, so it sorts below everything known.


SAMPLE_ROWS = 200_000  # rows that choose the edges: evenly spaced by row number, so that no key is needed
MAX_BINS = 255
_BLOCK = 16_384  # rows coded at a time: 256 kB of codes stay in the second-level cache


@dataclass(frozen=True, eq=False)
class Binned:
    """A row of codes for each row of the table; the code of attribute j is ``codes[row, j]``.

    Bins of a number that has at most 255 distinct values hold one value each (``exact``); of other numbers
    bin b holds what is above edge b - 1 and at most edge b.
    """

    attributes: tuple[Attribute, ...]
    codes: Array  # (rows, width) uint8, uint16 or uint32; width is padded to whole words of 8 bytes
    sizes: Rows  # (attributes,) number of codes, the code of missing values included
    edges: tuple[Floats, ...]  # per attribute (bins,): the upper edge of code b + 1; empty for a category
    exact: Bools  # (attributes,) whether a code stands for one value
    missing: Rows  # (attributes,) how many rows have no value

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def is_number(self) -> Bools:
        """Which attributes are ordered."""
        return np.array([attribute.is_number for attribute in self.attributes], np.bool_)

    def take(self, rows: Rows) -> "Binned":
        """The same bins at other rows."""
        codes = np.ascontiguousarray(self.codes[rows])
        here = codes[:, : len(self.attributes)]
        missing = (here == 0).sum(axis=0).astype(np.int64)
        return Binned(self.attributes, codes, self.sizes, self.edges, self.exact, missing)


def bin_training(training: Training) -> Binned:
    """The attributes of a training set as bins."""
    return bin_columns(training.attributes, training.columns)


def bin_columns(attributes: Sequence[Attribute], columns: Sequence[Array]) -> Binned:
    """Columns as bins: float64 with nan for numbers, int32 codes with -1 for categories.

    >>> b = bin_columns([Attribute("age")], [np.array([31.0, np.nan, 20.0, 31.0])])
    >>> b.codes[:, 0].tolist(), b.edges[0].tolist()
    ([2, 0, 1, 2], [20.0, 31.0])
    """
    from leafcover.kernels.histogram import code_levels, code_numbers

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
                missing[j] += code_levels(column, codes, j, start, stop)
    exact = np.ones(len(columns), np.bool_)
    for j, (attribute, column) in enumerate(zip(attributes, columns, strict=True)):
        if attribute.is_number:
            edges[j], exact[j] = _final_edges(column, edges[j], codes, j)
            sizes[j] = len(edges[j]) + 1
    return Binned(tuple(attributes), codes, np.array(sizes, np.int64), tuple(edges), exact, missing)


def quantile_codes(values: Floats, *, bins: int) -> tuple[Codes, int]:
    """A number as a target: codes of at most ``bins`` groups of about equal size, -1 where missing.

    Groups are cut between distinct values, so equal values share a group.

    >>> quantile_codes(np.array([1.0, 5.0, 2.0, np.nan, 9.0]), bins=2)
    (array([ 0,  1,  0, -1,  1], dtype=int32), 2)
    """
    from leafcover.kernels.histogram import upper_edges

    if not 1 <= bins <= MAX_BINS:
        raise ValueOutOfRange("bins", bins, f"a whole number from 1 to {MAX_BINS}")
    ordered = np.sort(_sample(values))
    edges, _ = upper_edges(ordered[~np.isnan(ordered)], bins)
    codes = np.searchsorted(edges[:-1], values).astype(np.int32)
    codes[np.isnan(values)] = MISSING
    return codes, max(len(edges), 1)


_NO_EDGES = np.empty(0)


def _sample(column: Floats) -> Floats:
    if len(column) <= SAMPLE_ROWS:
        return column
    return column[np.arange(SAMPLE_ROWS) * len(column) // SAMPLE_ROWS]


def _edges(column: Floats) -> Floats:
    """Upper edges from the sample: all distinct values when they are few."""
    from leafcover.kernels.histogram import upper_edges

    ordered = np.sort(_sample(column))  # nan last
    edges: Floats = upper_edges(ordered[: len(ordered) - np.isnan(ordered).sum()], MAX_BINS)[0]
    return edges


def _search_edges(edges: Floats) -> Floats:
    """Edges padded for the search: the last bin takes everything above the others."""
    padded = np.full(MAX_BINS, np.inf)
    padded[: max(len(edges) - 1, 0)] = edges[:-1]
    return padded


def _final_edges(column: Floats, edges: Floats, codes: Array, attribute: int) -> tuple[Floats, bool]:
    """The final edges, and whether they are exact: a sample may have missed a rare value."""
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
    widest = max(sizes, default=1)
    kind = np.uint8 if widest <= 1 << 8 else np.uint16 if widest <= 1 << 16 else np.uint32
    word = 8 // np.dtype(kind).itemsize
    return np.zeros((rows, -(-max(len(sizes), 1) // word) * word), kind)


@dataclass(frozen=True, eq=False)
class Refined:
    """Cells refined for a target, and how well that explains it."""

    labels: Rows  # (rows,) cell of each row, numbered by old label, then from the first side of each split
    n_labels: int
    split_cells: int  # how many of the old cells were split at all
    entropy_bits: float  # what it takes to tell the target of every row, knowing the old cells
    gain_bits: float  # how much of that the new cells save
    net_bits: float  # the same less the price of choosing each split: the part that is not luck
    gain_by_attribute: Floats  # (attributes,) bits

    @property
    def explained(self) -> float:
        """The share of the target's entropy inside the old cells that the splits explain, luck left out."""
        return self.net_bits / self.entropy_bits if self.entropy_bits > 0 else 0.0


def refine_labels(
    binned: Binned,
    target_codes: Codes,
    n_classes: int,
    labels: Rows,
    n_labels: int,
    *,
    floor: int,
    testable: Bools | None = None,
    min_gain_bits: float = 0.0,
    max_depth: int = 60,
) -> Refined:
    """Grow a tree for a target inside every cell; no leaf has fewer than ``floor`` rows (a cell that had stays).

    Splits have two sides: a number is cut (missing stands below all values), the levels of a category are
    ordered by their share of the cell's most frequent class and that order is cut. The split that gains most
    after costs wins, the first attribute and the lowest cut in a tie. The cost of a split is log2 of the
    number of splits it was chosen from, plus what chance alone would gain; it must leave ``min_gain_bits``
    in total: 0 splits only where it explains something, -inf as long as anything at all is gained.

    A missing target (-1) counts as a class of its own. The cells are the same whatever the order of rows.
    """
    from leafcover.kernels.histogram import Records, bits_of_cells, gather, number_cells
    from leafcover.kernels.histogram_refine import RefineSettings, refine

    if floor < 1:
        raise ValueOutOfRange("floor", floor, "a number of rows, at least 1")
    if len(target_codes) != len(binned) or len(labels) != len(binned):
        raise ValueOutOfRange("labels", len(labels), f"as long as the table ({len(binned)} rows), like the target")
    if len(labels) and (labels.min() < 0 or labels.max() >= n_labels):
        raise ValueOutOfRange("labels", (int(labels.min()), int(labels.max())), f"from 0 to {n_labels - 1}")
    target, classes = _with_missing(target_codes, n_classes)
    tests = np.arange(len(binned.attributes)) if testable is None else np.flatnonzero(testable)
    sizes = binned.sizes[tests]
    question = RefineSettings(
        tests,
        sizes,
        np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes * classes)]),
        binned.is_number[tests],
        classes,
        floor,
        float(min_gain_bits),
        max_depth,
    )
    words, of_class, row, starts = gather(binned.codes.view(np.uint64), target, np.asarray(labels, np.int64), n_labels)
    records = Records(words.view(binned.codes.dtype), words, of_class, row)
    entropy = bits_of_cells(of_class, starts, classes)
    begins, gains, nets, split_cells = refine(records, starts, question)
    new, count = number_cells(begins, row)
    by_attribute = np.zeros(len(binned.attributes))
    by_attribute[tests] = gains
    return Refined(new, count, split_cells, entropy, float(gains.sum()), float(nets.sum()), by_attribute)


def _with_missing(codes: Codes, n_classes: int) -> tuple[Codes, int]:
    """Codes in which a missing target is one more class."""
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
    """The share of a target's entropy inside the cells that trees on other columns explain, luck left out.

    Columns that have nothing to do with the target come out at 0.000 however many levels they have, for a
    split must earn more than it costs. Larger tables are judged by rows evenly spaced.
    """
    if len(binned) > most_rows:
        rows = np.arange(most_rows) * len(binned) // most_rows
        binned, target_codes, labels = binned.take(rows), target_codes[rows], labels[rows]
    return refine_labels(binned, target_codes, n_classes, labels, n_labels, floor=floor, testable=testable).explained


def grow_histogram(training: Training, *, min_records: int = 2, confidence: float = 0.25, prune: bool = True) -> Tree:
    """C4.5's tree, with cuts only between the bins of a number (at most 255).

    It differs from the exact grower in three ways: a number with more than 255 distinct values can be cut at
    the upper edges of its bins only; arithmetic is double; and pruning may turn a subtree into a leaf but does
    not raise a branch.
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
        raise ValueOutOfRange("min_records", min_records, "a whole number of rows, at least 1")
    if not 0.0 < confidence < 1.0:
        raise ValueOutOfRange("confidence", confidence, "a share above 0 and below 1")
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
    number = np.full(size + 1, -1, np.int32)  # the last place answers for "none", which is -1
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
    """The upper edge of every code of every number; nan for missing and for categories."""
    table = np.full((len(binned.attributes), MAX_BINS + 1), np.nan)
    for attribute, edges in enumerate(binned.edges):
        table[attribute, 1 : len(edges) + 1] = edges
    return table


def _cuts(binned: Binned, tested: Codes, last: Codes, following: Codes) -> Floats:
    """The cut of each node that tests a number: the largest edge up to halfway to the next rows."""
    cuts = np.full(len(tested), np.nan)
    for attribute, edges in enumerate(binned.edges):
        here = np.flatnonzero(tested == attribute)
        if not binned.attributes[attribute].is_number or not len(here):
            continue
        low = edges[last[here] - 1]
        # A bin with one value begins there; any other begins where the bin before it ends.
        high = edges[following[here] - (1 if binned.exact[attribute] else 2)]
        middle = low + (high - low) / 2
        cuts[here] = edges[np.searchsorted(edges, middle, side="right") - 1]
    return cuts
