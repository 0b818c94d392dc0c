"""Trees from histograms: C4.5's rules on bins for large tables, and refining cells for another column."""

from dataclasses import dataclass

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.tree.bins import Binned


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
    from leafcover.fast.histogram_refine import Question, gather, number_cells, refine

    if floor < 1:
        raise ValueOutOfRange("floor", floor, "a number of rows, at least 1")
    if len(target_codes) != len(binned) or len(labels) != len(binned):
        raise ValueOutOfRange("labels", len(labels), f"as long as the table ({len(binned)} rows), like the target")
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
    words, of_class, row, starts = gather(
        binned.codes.view(np.uint64), target, np.asarray(labels, np.int64), n_labels
    )
    records = Records(words.view(binned.codes.dtype), words, of_class, row)
    entropy = _entropy_bits(labels, target, n_labels, classes)
    begins, gains, nets, split_cells = refine(records, starts, question)
    new, count = number_cells(begins, row)
    by_attribute = np.zeros(len(binned.attributes))
    by_attribute[tests] = gains
    return Refined(new, count, split_cells, entropy, float(gains.sum()), float(nets.sum()), by_attribute)


def _with_missing(codes: Codes, n_classes: int) -> tuple[Codes, int]:
    """Codes in which a missing target is one more class."""
    codes = np.asarray(codes, np.int32)
    missing = codes < 0
    if not missing.any():
        return codes, n_classes
    return np.where(missing, np.int32(n_classes), codes), n_classes + 1


def _entropy_bits(labels: Rows, target: Codes, n_labels: int, classes: int) -> float:
    """Rows times entropy of the target, summed over cells."""
    pairs, counts = np.unique(np.asarray(labels, np.int64) * classes + target, return_counts=True)
    of_cells = np.bincount(pairs // classes, weights=counts, minlength=n_labels)
    of_cells = of_cells[of_cells > 0]
    return float((of_cells * np.log2(of_cells)).sum() - (counts * np.log2(counts)).sum())


def _unused(a: Array) -> None: ...
