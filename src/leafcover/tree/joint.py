"""Refine cells for many columns at once, so that shuffling each column inside them costs little."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Rows
from leafcover.table.table import Column
from leafcover.tree.histogram import bin_columns, quantile_codes
from leafcover.tree.tree import Attribute

NUMBER_BINS = 32  # places where a number may be cut
TARGET_GROUPS = 6  # classes a number is refined for
MAX_LEVELS = 1000  # of a category that are told apart; rarer ones count as one
MAX_SAMPLE_ROWS = 2048  # rows that choose a cut: more of a large node would change little and cost much


@dataclass(frozen=True, eq=False)
class RefinedCells:
    """The refined cells."""

    label: Rows  # (rows,)
    count: int
    net_bits: float  # what the cuts explain of all columns together, luck left out


def refine_jointly(columns: Sequence[Column], label: Rows, count: int, *, floor: int) -> RefinedCells:
    """Cut every cell further, each part at least ``floor`` rows, as long as a cut explains the other columns.

    A cut counts by what it tells of all columns but its own, less what chance alone would. Information is mutual, so
    a column that the others do not explain would not explain them: leave it out.
    """
    from leafcover.kernels.joint import JointSettings, JointWorkspace
    from leafcover.kernels.joint import refine_jointly as refine
    from leafcover.kernels.permute import rows_by_cell

    codes, classes, sizes = _bin_columns(columns)
    first = np.concatenate([[0], np.cumsum([int(c.max()) + 1 for c in classes])]).astype(np.int64)
    bins, most = max(sizes), min(MAX_SAMPLE_ROWS, len(label))
    table = np.zeros((len(columns), bins), np.int32)
    for j, of_bin in enumerate(classes):
        table[j, : len(of_bin)] = of_bin
    question = JointSettings(
        codes,
        np.array([not c.is_category for c in columns]),
        table,
        first,
        floor,
        most,
    )
    n = np.arange(most + 1, dtype=np.float64)
    terms = n * np.log2(np.maximum(n, 1))
    every = int(first[-1])
    room = JointWorkspace(
        bins=np.zeros((len(columns), most), np.int32),
        groups=np.zeros((most, len(columns)), np.int32),
        left=np.zeros(every, np.int64),
        right=np.zeros(every, np.int64),
        node=np.zeros(every, np.int64),
        counts=np.zeros((bins, every), np.int64),
        held=np.zeros(bins, np.int64),
        place=np.zeros(bins, np.int32),
        order=np.zeros(most, np.int64),
        growth=np.diff(terms, prepend=0.0),
        terms=terms,
        logs=np.log2(np.maximum(n, 1)),
    )
    order, starts = rows_by_cell(label, count)
    begins, net = refine(question, order, starts, room)
    new = np.empty(len(label), np.int64)
    new[order] = np.cumsum(begins) - 1
    return RefinedCells(new, int(begins.sum()), float(net))


def explained_shares(columns: Sequence[Column], label: Rows, count: int, *, floor: int) -> list[float]:
    """For each column the share of its entropy inside the cells that a tree of its own would explain, luck left out."""
    from leafcover.tree.histogram import refine_labels

    binned = bin_columns([Attribute(c.name, c.levels, not c.is_category) for c in columns], [c.values for c in columns])
    shares = []
    for at, column in enumerate(columns):
        if column.is_category:
            codes, classes = level_codes(column)
        else:
            codes, classes = quantile_codes(column.values, bins=TARGET_GROUPS)
        others = np.arange(len(columns)) != at
        found = refine_labels(binned, codes, classes, label, count, floor=floor, testable=others)
        shares.append(found.explained)
    return shares


def _bin_columns(columns: Sequence[Column]) -> tuple[Array, list[Codes], list[int]]:
    """Bins of every value (missing is bin 0), and for each column the class of each bin."""
    bins, classes, sizes = [], [], []
    for column in columns:
        if column.is_category:
            found, size = level_codes(column)
            code, size = found.astype(np.int64) + 1, size + 1
            of_bin = np.arange(size, dtype=np.int32)
        else:
            found, size = quantile_codes(column.values, bins=NUMBER_BINS)
            code, size = found.astype(np.int64) + 1, size + 1
            of_bin = _classes(code, size, column.missing)
        bins.append(code)
        classes.append(of_bin)
        sizes.append(size)
    kind = np.uint16 if max(sizes) < 2**16 else np.int32
    wide = np.empty((len(columns[0]), len(columns)), kind)
    for j, code in enumerate(bins):
        wide[:, j] = code
    return wide, classes, sizes


def level_codes(column: Column) -> tuple[Codes, int]:
    """The codes of a category, levels beyond the most common thousand counted as one; -1 stays missing.

    A table of a city's streets would otherwise need room for every pair of streets.
    """
    if len(column.levels) <= MAX_LEVELS:
        return column.values, max(len(column.levels), 1)
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    common = np.argsort(-counts, kind="stable")[: MAX_LEVELS - 1]
    new = np.full(len(column.levels) + 1, MAX_LEVELS - 1, np.int32)
    new[common] = np.arange(MAX_LEVELS - 1)
    new[-1] = MISSING  # where a missing value's code, -1, points
    return new[column.values], MAX_LEVELS


def _classes(code: Rows, size: int, missing: Bools) -> Codes:
    """Bins joined into few classes of about equal size; missing is a class of its own."""
    group, _ = quantile_codes(np.where(missing, np.nan, code.astype(np.float64)), bins=TARGET_GROUPS)
    of_bin = np.zeros(size, np.int32)
    of_bin[code] = group + 1
    return of_bin
