"""Refine cells jointly for many columns, so that shuffling each column within the cells loses little information."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Rows
from leafcover.table.table import Column
from leafcover.tree.histogram import bin_columns, quantile_codes
from leafcover.tree.tree import Attribute

NUMBER_BINS = 32  # bins of a number; cuts lie between them
TARGET_GROUPS = 6  # classes of a number when cells are refined for it
MAX_LEVELS = 1000  # levels of a category that are distinguished; rarer ones are merged
MAX_SAMPLE_ROWS = 2048  # rows that determine a cut; more would cost much and change little


@dataclass(frozen=True, eq=False)
class RefinedCells:
    """The refined cells."""

    label: Rows  # (rows,)
    count: int
    net_bits: float  # information that the cuts explain about all columns, corrected for chance


def refine_jointly(columns: Sequence[Column], label: Rows, count: int, *, floor: int) -> RefinedCells:
    """Split every cell into parts of at least ``floor`` rows, as long as splits explain the other columns.

    The score of a cut is the information it gives about all columns except its own, less what chance alone would give.
    Mutual information is symmetric: a column that the others do not explain does not explain them either, so leave it
    out.
    """
    from leafcover.kernels.dealing import rows_by_cell
    from leafcover.kernels.joint import JointSettings, JointWorkspace
    from leafcover.kernels.joint import refine_jointly as refine

    codes, classes, sizes = _bin_columns(columns)
    first = np.concatenate([[0], np.cumsum([int(c.max()) + 1 for c in classes])]).astype(np.int64)
    bins, sample_rows = max(sizes), min(MAX_SAMPLE_ROWS, len(label))
    table = np.zeros((len(columns), bins), np.int32)
    for j, of_bin in enumerate(classes):
        table[j, : len(of_bin)] = of_bin
    settings = JointSettings(
        codes,
        np.array([not c.is_category for c in columns]),
        table,
        first,
        floor,
        sample_rows,
    )
    n = np.arange(sample_rows + 1, dtype=np.float64)
    terms = n * np.log2(np.maximum(n, 1))
    every = int(first[-1])
    workspace = JointWorkspace(
        bins=np.zeros((len(columns), sample_rows), np.int32),
        groups=np.zeros((sample_rows, len(columns)), np.int32),
        left=np.zeros(every, np.int64),
        right=np.zeros(every, np.int64),
        node=np.zeros(every, np.int64),
        counts=np.zeros((bins, every), np.int64),
        held=np.zeros(bins, np.int64),
        place=np.zeros(bins, np.int32),
        levels=np.zeros(bins, np.int32),
        share=np.zeros(bins),
        order=np.zeros(sample_rows, np.int64),
        ends=np.zeros(bins + 1, np.int64),
        varying=np.zeros(len(columns), np.int32),
        side=np.zeros(bins, np.bool_),
        sample=np.zeros(sample_rows, np.int64),
        moved=np.zeros(len(label), np.int64),
        growth=np.diff(terms, prepend=0.0),
        terms=terms,
        logs=np.log2(np.maximum(n, 1)),
    )
    order, starts = rows_by_cell(label, count)
    begins, stack = np.zeros(len(label), np.bool_), np.empty((len(label), 2), np.int64)
    net = refine(settings, order, starts, stack, begins, workspace)
    new = np.empty(len(label), np.int64)
    new[order] = np.cumsum(begins) - 1
    return RefinedCells(new, int(begins.sum()), float(net))


def explained_shares(columns: Sequence[Column], label: Rows, count: int, *, floor: int) -> list[float]:
    """For each column, the share of its entropy within cells that a tree would explain, corrected for chance."""
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
    """The bin of every value (0 for missing), the class of each bin, and the number of bins of each column."""
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
    """The codes of a category with at most MAX_LEVELS levels: rarer levels are merged. Missing stays -1.

    Without a limit, a column such as street names would need memory for every pair of levels.
    """
    if len(column.levels) <= MAX_LEVELS:
        return column.values, max(len(column.levels), 1)
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    common = np.argsort(-counts, kind="stable")[: MAX_LEVELS - 1]
    new = np.full(len(column.levels) + 1, MAX_LEVELS - 1, np.int32)
    new[common] = np.arange(MAX_LEVELS - 1)
    new[-1] = MISSING  # the code of a missing value, -1, refers to the last element
    return new[column.values], MAX_LEVELS


def _classes(code: Rows, size: int, missing: Bools) -> Codes:
    """The class of each bin: a few classes of about equal size, and missing as a class of its own."""
    group, _ = quantile_codes(np.where(missing, np.nan, code.astype(np.float64)), bins=TARGET_GROUPS)
    of_bin = np.zeros(size, np.int32)
    of_bin[code] = group + 1
    return of_bin
