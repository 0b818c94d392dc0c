"""Columns as small bin codes, the form in which large tables are split.

A number has at most 255 bins whose upper edges are values of the data; a category has its levels. Code 0
is a missing value, so it sorts below everything known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import MISSING, Array, Bools, Codes, Floats, Rows
from leafcover.tree.training import Training
from leafcover.tree.tree import Attribute

SAMPLE = 200_000  # rows that choose the edges: evenly spaced by row number, so that no key is needed
MOST_BINS = 255
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
    from leafcover.fast.histogram_bins import code_levels, code_numbers

    rows = len(columns[0]) if columns else 0
    edges = [_edges(column) if a.is_number else _NO_EDGES for a, column in zip(attributes, columns, strict=True)]
    sizes = [len(e) + 1 if a.is_number else len(a.levels) + 1 for a, e in zip(attributes, edges, strict=True)]
    codes = _empty_codes(rows, sizes)
    missing = np.zeros(len(columns), np.int64)
    inner = [_inner(e) for e in edges]
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
            edges[j], exact[j] = _settle(column, edges[j], codes, j)
            sizes[j] = len(edges[j]) + 1
    return Binned(tuple(attributes), codes, np.array(sizes, np.int64), tuple(edges), exact, missing)


def quantile_codes(values: Floats, *, bins: int) -> tuple[Codes, int]:
    """A number as a target: codes of at most ``bins`` groups of about equal size, -1 where missing.

    Groups are cut between distinct values, so equal values share a group.

    >>> quantile_codes(np.array([1.0, 5.0, 2.0, np.nan, 9.0]), bins=2)
    (array([ 0,  1,  0, -1,  1], dtype=int32), 2)
    """
    from leafcover.fast.histogram_bins import upper_edges

    if not 1 <= bins <= MOST_BINS:
        raise ValueOutOfRange("bins", bins, f"a whole number from 1 to {MOST_BINS}")
    ordered = np.sort(_sample(values))
    edges, _ = upper_edges(ordered[~np.isnan(ordered)], bins)
    codes = np.searchsorted(edges[:-1], values).astype(np.int32)
    codes[np.isnan(values)] = MISSING
    return codes, max(len(edges), 1)


_NO_EDGES = np.empty(0)


def _sample(column: Floats) -> Floats:
    if len(column) <= SAMPLE:
        return column
    return column[np.arange(SAMPLE) * len(column) // SAMPLE]


def _edges(column: Floats) -> Floats:
    """Upper edges from the sample: all distinct values when they are few."""
    from leafcover.fast.histogram_bins import upper_edges

    ordered = np.sort(_sample(column))  # nan last
    edges: Floats = upper_edges(ordered[: len(ordered) - np.isnan(ordered).sum()], MOST_BINS)[0]
    return edges


def _inner(edges: Floats) -> Floats:
    """Edges padded for the search: the last bin takes everything above the others."""
    padded = np.full(MOST_BINS, np.inf)
    padded[: max(len(edges) - 1, 0)] = edges[:-1]
    return padded


def _settle(column: Floats, edges: Floats, codes: Array, attribute: int) -> tuple[Floats, bool]:
    """The final edges, and whether they are exact: a sample may have missed a rare value."""
    from leafcover.fast.histogram_bins import code_numbers, every_value_is_an_edge

    if every_value_is_an_edge(column, edges, codes, attribute):
        return edges, True
    if len(edges) == MOST_BINS:
        return edges, False
    every = np.unique(column[~np.isnan(column)])
    if len(every) > MOST_BINS:
        return edges, False
    code_numbers(column, _inner(every), codes, attribute, 0, len(column))
    return every, True


def _empty_codes(rows: int, sizes: Sequence[int]) -> Array:
    widest = max(sizes, default=1)
    kind = np.uint8 if widest <= 1 << 8 else np.uint16 if widest <= 1 << 16 else np.uint32
    word = 8 // np.dtype(kind).itemsize
    return np.zeros((rows, -(-max(len(sizes), 1) // word) * word), kind)
