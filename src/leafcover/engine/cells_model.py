"""The model of a shuffle in cells: each block is permuted inside cells, so a cell is the product of its blocks' counts.

The attacker finds the cell by the person's other values, and reads the value's share there, given the values of its
block that are known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.metrics.disclosure.informed_inference import MOST_PEOPLE
from leafcover.table.table import Column, Table

RARE = 1e-5  # share of a value that the release does not have
WIDE = 300.0  # smoothing of the share that a leaf or cell is compared with, for membership
MOST_KEPT = 20_000_000  # people times cells whose logarithms are kept from one column to the next
AT_ONCE = 2_000_000  # people times cells computed at once
LEAST = 1e-30  # replaces a probability of 0, so that logarithms stay comparable


@dataclass(frozen=True, eq=False)
class Block:
    """The counts of a block's values in each cell."""

    columns: tuple[str, ...]
    values: Mapping[tuple[object, ...], int]  # the number of each combination of values
    counts: Floats  # (cells, values)

    def numbers(self, table: Table) -> Rows:
        """The number of each row's values; -1 for values that the release does not have."""
        rows = zip(*(_texts(table[name]) for name in self.columns), strict=True)
        return np.array([self.values.get(row, -1) for row in rows], np.int64)

    def combinations(self, people: Table, candidates: Column) -> Rows:
        """(people, candidates) the number of each person's values with each candidate in its column."""
        partners = tuple(name for name in self.columns if name != candidates.name)
        known = list(zip(*(_texts(people[name]) for name in partners), strict=True)) if partners else [()] * len(people)
        at, own = self.columns.index(candidates.name), _texts(candidates)
        table = {k: [self.values.get((*k[:at], one, *k[at:]), -1) for one in own] for k in dict.fromkeys(known)}
        return np.array([table[k] for k in known], np.int64).reshape(len(people), len(candidates))

    def shares(self, numbers: Rows, smoothing: float) -> Floats:
        """(numbers, cells) the share of values in each cell, smoothed by their share of the whole."""
        known = np.maximum(numbers, 0)
        seen = np.where(numbers >= 0, self.counts[:, known], 0.0).T
        whole = max(float(self.counts.sum()), 1.0)  # 0 if every row is known and subtracted
        prior = np.where(numbers >= 0, np.maximum(self.counts.sum(axis=0)[known] / whole, RARE), RARE)
        found: Floats = (seen + smoothing * prior[:, None]) / (self.counts.sum(axis=1) + smoothing)
        return found


def _texts(column: Column) -> list[object]:
    if column.is_category:
        names = [*column.levels, None]
        return [names[code] for code in column.values.tolist()]
    return [None if value != value else value for value in column.values.tolist()]  # noqa: PLR0124 - nan


@dataclass(frozen=True, eq=False)
class _People:
    """Some people, the numbers of their values, and the log probability of all of them in each cell."""

    people: Table
    numbers: tuple[Rows, ...]  # of each block
    cells: dict[float, Array] = field(default_factory=dict)  # by smoothing, (people, cells)


@dataclass(frozen=True, eq=False)
class CellsModel:
    """The cell that a person's other values suggest, and the share of each value there."""

    released: Table
    blocks: tuple[Block, ...]
    label: Rows  # (rows,) the cell of each row
    _seen: dict[int, _People] = field(default_factory=dict, repr=False)  # columns of the same people share the cells

    @property
    def sizes(self) -> Floats:
        """The number of rows in each cell."""
        found: Floats = self.blocks[0].counts.sum(axis=1)
        return found

    def without(self, known: Table, rows: Rows) -> "CellsModel":
        """The model of an attacker who subtracts known rows from every cell."""
        less = []
        for block in self.blocks:
            numbers = block.numbers(known)
            counts = block.counts.copy()
            there = numbers >= 0
            np.subtract.at(counts, (self.label[rows[there]], numbers[there]), 1.0)
            less.append(replace(block, counts=np.maximum(counts, 0.0)))
        return CellsModel(self.released, tuple(less), self.label)

    @property
    def most_people(self) -> int:
        """As many as are worth attacking."""
        return MOST_PEOPLE

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of a block."""
        return tuple(name for block in self.blocks for name in block.columns)

    def candidates(self, column: str) -> Column:
        """Every released value; of many numbers, evenly spaced ones."""
        return candidates_of(self.released[column])

    def scores(self, people: Table, column: str, smoothing: Sequence[float]) -> Floats:
        """The log probability of each value: over cells, that of the cell given the others times the value's share."""
        candidates = self.candidates(column)
        own = next(number for number, one in enumerate(self.blocks) if column in one.columns)
        asked = self.blocks[own].combinations(people, candidates)
        distinct, place = np.unique(asked, return_inverse=True)
        place = place.reshape(asked.shape)
        known = self._about(people)
        found = np.empty((len(smoothing), *asked.shape))
        for at, one in enumerate(smoothing):
            shares = self.blocks[own].shares(distinct, one).T.astype(np.float32)
            for some in self._parts(len(people)):
                weight = self._cells(known, some, one) - self._block(own, known, some, one)
                chance = np.exp(weight - weight.max(axis=1, keepdims=True)) @ shares
                found[at, some] = np.log(np.maximum(np.take_along_axis(chance, place[some], axis=1), LEAST))
        return found

    def membership(self, people: Table, smoothing: Sequence[float], reference: Table | None = None) -> Floats:
        """The probability of the person's values by the cells, against that by the whole table."""
        known = self._about(people)
        found = np.empty((len(smoothing), len(people)))
        for some in self._parts(len(people)):
            far = log_sum(self._cells(known, some, WIDE), 1)
            for at, one in enumerate(smoothing):
                found[at, some] = log_sum(self._cells(known, some, one), 1) - far
        return found

    def evidence(self, people: Table) -> Floats:
        """The share of each block in the likeliest cell, against its share of the whole; how likely that cell is."""
        known, smoothing = self._about(people), 0.3
        found = np.empty((len(people), len(self.blocks) + 1))
        for some in self._parts(len(people)):
            cells = self._cells(known, some, smoothing)
            best = cells.argmax(axis=1)[:, None]
            found[some, -1] = np.take_along_axis(cells, best, 1)[:, 0] - log_sum(cells, 1)
            for block in range(len(self.blocks)):
                here, far = (self._block(block, known, some, one) for one in (smoothing, WIDE))
                found[some, block] = np.take_along_axis(here - far, best, 1)[:, 0]
        return found

    def _about(self, people: Table) -> _People:
        if id(people) not in self._seen or self._seen[id(people)].people is not people:
            self._seen[id(people)] = _People(people, tuple(block.numbers(people) for block in self.blocks))
        return self._seen[id(people)]

    def _parts(self, people: int) -> list[slice]:
        step = max(1, AT_ONCE // len(self.sizes))
        return [slice(begin, begin + step) for begin in range(0, people, step)]

    def _cells(self, known: _People, some: slice, smoothing: float) -> Array:
        """(people, cells) the log probability of all values of some people in each cell."""
        people = len(known.people)
        if people * len(self.sizes) > MOST_KEPT:
            return self._sum(known, some, smoothing)
        if smoothing not in known.cells:
            known.cells[smoothing] = np.concatenate(
                [self._sum(known, one, smoothing) for one in self._parts(people)]
                or [np.empty((0, len(self.sizes)), np.float32)]
            )
        return known.cells[smoothing][some]

    def _sum(self, known: _People, some: slice, smoothing: float) -> Array:
        total = np.log(np.maximum(self.sizes, RARE)).astype(np.float32)[None]
        for block in range(len(self.blocks)):
            total = total + self._block(block, known, some, smoothing)
        return total

    def _block(self, block: int, known: _People, some: slice, smoothing: float) -> Array:
        """(people, cells) the log share of some people's values in a block; shared values are looked up once."""
        distinct, place = np.unique(known.numbers[block][some], return_inverse=True)
        return np.log(self.blocks[block].shares(distinct, smoothing)).astype(np.float32)[place.ravel()]


def candidates_of(shown: Column, most: int = 256) -> Column:
    """Every level that occurs in a column, or every number; of many numbers, evenly spaced ones."""
    if shown.is_category:
        occurring = np.unique(shown.values[shown.values >= 0]).astype(np.int32)
    else:
        occurring = np.unique(shown.values[~shown.missing])
        occurring = occurring[np.unique(np.linspace(0, len(occurring) - 1, min(len(occurring), most)).astype(int))]
    return replace(shown, values=occurring, stored=None)


def log_sum(values: Array, axis: int) -> Floats:
    """The logarithm of a sum of exponentials, without overflow."""
    highest = values.max(axis=axis, keepdims=True)
    found: Floats = (highest + np.log(np.exp(values - highest).sum(axis=axis, keepdims=True))).squeeze(axis)
    return found


def cells_model(released: Table, blocks: Sequence[tuple[str, ...]], label: Rows) -> CellsModel:
    """The model of a table whose blocks were permuted inside cells; ``label`` is the cell of each released row."""
    cells = int(label.max()) + 1
    found = []
    for columns in blocks:
        values: dict[tuple[object, ...], int] = {}
        rows = zip(*(_texts(released[name]) for name in columns), strict=True)
        numbers = np.array([values.setdefault(row, len(values)) for row in rows], np.int64)
        counts = np.bincount(label * len(values) + numbers, minlength=cells * len(values))
        found.append(Block(columns, values, counts.reshape(cells, len(values)).astype(np.float64)))
    return CellsModel(released, tuple(found), label)
