"""Trees from histograms: C4.5's rules on bins for large tables, and refining cells for another column."""

from dataclasses import dataclass

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Bools, Codes, Floats, Rows
from leafcover.tree.bins import MOST_BINS, Binned, bin_training
from leafcover.tree.training import Training
from leafcover.tree.tree import Tree


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
    from leafcover.fast.histogram import Records
    from leafcover.fast.histogram_cells import bits_of_cells, gather, number_cells
    from leafcover.fast.histogram_refine import Question, refine

    if floor < 1:
        raise ValueOutOfRange("floor", floor, "a number of rows, at least 1")
    if len(target_codes) != len(binned) or len(labels) != len(binned):
        raise ValueOutOfRange("labels", len(labels), f"as long as the table ({len(binned)} rows), like the target")
    if len(labels) and (labels.min() < 0 or labels.max() >= n_labels):
        raise ValueOutOfRange("labels", (int(labels.min()), int(labels.max())), f"from 0 to {n_labels - 1}")
    target, classes = _with_missing(target_codes, n_classes)
    tests = np.arange(len(binned.attributes)) if testable is None else np.flatnonzero(testable)
    sizes = binned.sizes[tests]
    question = Question(
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
    from leafcover.fast.histogram import Records
    from leafcover.fast.histogram_gain import Rules
    from leafcover.fast.histogram_grow import grow_counts
    from leafcover.fast.histogram_nodes import (
        BRANCHES,
        FIRST,
        FOLLOWING,
        LAST,
        PARENT,
        TESTED,
        breadth_first,
        close,
    )
    from leafcover.fast.pessimism import squared_deviation

    if min_records < 1:
        raise ValueOutOfRange("min_records", min_records, "a whole number of rows, at least 1")
    if not 0.0 < confidence < 1.0:
        raise ValueOutOfRange("confidence", confidence, "a share above 0 and below 1")
    binned = bin_training(training)
    classes, attributes = len(training.classes), len(binned.attributes)
    rules = Rules(
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
        from leafcover.fast.histogram_weigh import grow_weighted

        for node, start, stop in unfinished:
            nodes, size = grow_weighted(records, start, stop, node, nodes, size, rules, logs)
    label, errors, estimate = close(nodes, size, prune, confidence, squared_deviation(confidence))
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
    table = np.full((len(binned.attributes), MOST_BINS + 1), np.nan)
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
