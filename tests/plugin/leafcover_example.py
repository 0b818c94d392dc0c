"""A plugin with one of each: rounding, cells on a grid, initials, a recipe, and the Hellinger distance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

import leafcover as lc
from leafcover.cells import intersect_labels
from leafcover.extend import (
    Cells,
    Changed,
    Chunk,
    Column,
    ColumnRecoding,
    Partition,
    PartitionMethod,
    Perturbation,
    measure,
    partition,
    perturbation,
    recoding,
)


@perturbation("round")
@dataclass(frozen=True)
class Round(Perturbation):
    """Round every number to the nearest multiple of ``base``."""

    frozen_id: ClassVar[str] = "example-round"
    kinds: ClassVar[frozenset] = frozenset({"number"})
    uses_cells: ClassVar[bool] = False
    deterministic: ClassVar[bool] = True

    base: float = 5.0

    @property
    def scope(self) -> str:
        """A row alone."""
        return "row"

    def change(self, part: Chunk, summary: object, draws: object) -> Mapping[str, Changed]:
        """Nothing is drawn."""
        return {column.name: Changed(self._rounded(column.values)) for column in part.columns}

    def likelihood(self, part: Chunk, released: Mapping[str, np.ndarray], summary: object) -> np.ndarray:
        """1 for the rounded value, 0 for any other."""
        possible = np.ones(len(part), bool)
        for column in part.columns:
            new, own = released[column.name], self._rounded(column.values)
            possible &= (new == own) | (np.isnan(new) & np.isnan(own))
        return possible.astype(float)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return f"rounded to the nearest multiple of {self.base:g}"

    def _rounded(self, values: np.ndarray) -> np.ndarray:
        return np.rint(values / self.base) * self.base + 0.0


@partition("grid")
@dataclass(frozen=True)
class GridCells(PartitionMethod):
    """Rows whose numbers fall into the same of ``parts`` equal intervals of each column."""

    frozen_id: ClassVar[str] = "example-grid"

    by: tuple[str, ...]
    parts: int = 3

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns of the grid."""
        return tuple(self.by)

    def cells(self, table: lc.Table) -> Partition:
        """One cell for each combination of intervals that occurs; a missing number is an interval of its own."""
        label = np.zeros(len(table), np.int64)
        for name in self.by:
            low, high = table[name].domain
            share = np.nan_to_num((table[name].values - low) / max(high - low, 1e-300), nan=-1.0)
            label = intersect_labels(label, np.minimum(np.floor(share * self.parts), self.parts - 1).astype(np.int64))
        return Partition(Cells(label, int(label.max()) + 1))

    def describe(self, *, own: str | None = None) -> str:
        """Which rows share a cell."""
        return f"a grid of {self.parts} intervals of {', '.join(self.by)}"


@recoding("initials")
@dataclass(frozen=True)
class Initials(ColumnRecoding):
    """Replace every level by its first letters."""

    frozen_id: ClassVar[str] = "example-initials"
    kinds: ClassVar[frozenset] = frozenset({"category"})
    main: ClassVar[str] = "letters"

    letters: int = 1

    def recoded(self, column: Column) -> Column:
        """The first letters; levels that become equal are one."""
        short = [level[: self.letters] for level in column.levels]
        levels = tuple(sorted(set(short)))
        codes = np.array([*(levels.index(one) for one in short), -1], np.int32)
        return replace(column, values=codes[column.values], levels=levels, stored=None)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return f"cut to {self.letters} letters"


@lc.recipe(
    "rounded-grid",
    source="An example",
    keeps="numbers to the nearest multiple; categories within cells of a grid",
    hides="the digits below the base; which row of a cell has which category",
)
def rounded_grid(table: lc.Table, *, base: float = 5.0, parts: int = 3) -> lc.Plan:
    """Round every number; shuffle every category within a grid of the numbers."""
    numbers = tuple(c.name for c in table if c.kind == "number")
    others = [c.name for c in table if c.kind != "number"]
    cells = GridCells(numbers, parts)
    steps = [lc.Step(numbers, within=lc.Whole(), perturb=Round(base))] if numbers else []
    return lc.Plan(*steps, *(lc.Step(name, within=cells, perturb=lc.Shuffle()) for name in others))


@measure("hellinger", side="utility", description="The mean Hellinger distance between the marginals of the categories")
def hellinger(pair: object) -> float:
    """0 where every category has the same shares before and after, 1 where they have nothing in common."""
    distances = []
    for name in pair.names:
        before, after = pair.original[name], pair.released[name]
        if before.is_category:
            levels = sorted({*before.levels, *after.levels})
            shares = [_shares(column, levels) for column in (before, after)]
            distances.append(np.sqrt(((np.sqrt(shares[0]) - np.sqrt(shares[1])) ** 2).sum() / 2))
    return float(np.mean(distances)) if distances else 0.0


def _shares(column: object, levels: list[str]) -> np.ndarray:
    count = dict.fromkeys(levels, 0)
    for code, rows in zip(*np.unique(column.values[~column.missing], return_counts=True), strict=True):
        count[column.levels[code]] += int(rows)
    total = sum(count.values())
    return np.array([count[level] / max(total, 1) for level in levels])
