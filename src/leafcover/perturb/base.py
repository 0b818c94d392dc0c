"""What a perturbation is: the values it is handed and gives back, what it declares, and the registry of all of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.cells import Cells, LevelSet, Range, intersect_labels
from leafcover.messages import Catalogue, catalogue
from leafcover.registry import Registry
from leafcover.rng import Draws
from leafcover.table.table import Column, Kind

# What a noise must see to change one row: the row; merged counts or moments; its whole cell; the whole table.
Scope: TypeAlias = Literal["row", "counts", "moments", "cell", "table"]
FIXED_PROBABILITY = 0.95  # a value whose law gives it at least this is as good as published
ALL_KINDS: frozenset[Kind] = frozenset(get_args(Kind))
Summary: TypeAlias = Any  # what a noise makes of the parts; only that noise looks inside


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a step's columns; every column knows its domain over the whole table."""

    rows: Rows  # (rows,) their numbers in the table: draws depend on these alone
    columns: tuple[Column, ...]
    cells: Cells  # labels of these rows; boxes of all cells
    keep: tuple[Cells, ...] = ()  # further cells whose boxes the new values must stay inside

    def __len__(self) -> int:
        return len(self.rows)

    def ranges(self, name: str) -> tuple[Floats, Floats]:
        """Per row, what the boxes allow of a number: above low, at most high (infinite where open)."""
        low, high = np.full(len(self), -np.inf), np.full(len(self), np.inf)
        for cells in (self.cells, *self.keep):
            side = cells.box.get(name)
            if isinstance(side, Range):
                low = np.maximum(low, side.low[cells.label])
                high = np.minimum(high, side.high[cells.label])
        return low, high

    def allowed(self, name: str) -> Bools | None:
        """Per row, which levels the boxes allow; None when every level is."""
        found: Bools | None = None
        for label, side in self._choices(name):
            here = side.of(label)
            found = here if found is None else found & here
        return found

    def allows(self, name: str, levels: Array) -> Bools:
        """Per row, whether the boxes allow its level."""
        found = np.ones(len(self), np.bool_)
        for label, side in self._choices(name):
            found &= side.allows(label, levels)
        return found

    def _choices(self, name: str) -> Iterator[tuple[Rows, LevelSet]]:
        for cells in (self.cells, *self.keep):
            side = cells.box.get(name)
            if isinstance(side, LevelSet):
                yield cells.label, side

    def take(self, rows: Array) -> "Chunk":
        """Some of the rows, by their place in this part."""
        return Chunk(
            self.rows[rows],
            tuple(replace(c, values=c.values[rows], stored=None) for c in self.columns),
            self.cells.take(rows),
            tuple(cells.take(rows) for cells in self.keep),
        )


@dataclass(frozen=True, eq=False)
class Changed:
    """New values of a column; ``source`` names the row each came from when values only moved."""

    values: Array
    source: Rows | None = None


class Perturbation(ABC):
    """A way to change the values of some columns within cells, written so that chunks can be worked on anywhere.

    A subclass is a frozen dataclass whose fields are its parameters. It declares on itself what it takes and keeps, and
    must define `change`, `likelihood` and `observable_class`; everything else has a default. Register it with
    `perturbation`, and plan files, recipes, checks, attacks and reports can use it.
    """

    frozen_id: ClassVar[str]  # stands for the class in the derivation of draws: never changes, even if the name does
    kinds: ClassVar[frozenset[Kind]] = ALL_KINDS  # the kinds of column it takes
    keeps_boxes: ClassVar[bool] = False  # whether values stay inside the boxes of their cell, and of further trees
    uses_cells: ClassVar[bool] = True  # whether the cells matter to it at all
    deterministic: ClassVar[bool] = False  # whether it draws nothing
    moves_rows: ClassVar[bool] = False  # whether values only change places, all columns of a step together

    @property
    def scope(self) -> Scope:
        """What a chunk must hold for ``change`` to be right."""
        return "table"

    @property
    def moves_missing(self) -> bool:
        """Whether a missing value may move to another row."""
        return False

    @property
    def average(self) -> Literal["mean", "median"] | None:
        """Which average replaces the numbers of a cell, if one does."""
        return None

    @property
    def guarantees(self) -> tuple[str, ...]:
        """What holds afterwards, in words."""
        return () if self.moves_missing else ("missing stays missing",)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value, as the end of a sentence that begins "each value is"; parameters if ``detailed``."""
        return f"changed by {PERTURBATIONS.name_of(type(self)) or type(self).__name__}"

    @property
    def why_fixed(self) -> str:
        """Why a value could not change, for the report."""
        return methods()("fixed-cell")

    def fit(self, part: Chunk) -> Summary:
        """What must be known of a chunk before any chunk is changed."""
        return None

    def merge(self, one: Summary, other: Summary) -> Summary:
        """The summary of two chunks together."""
        return one

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """What ``change`` needs of the summary of all chunks: made once, not once a chunk."""
        return summary

    @abstractmethod
    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """New values for the chunk's columns; ``summary`` is the final one, here and below."""

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """One sentence for each guarantee that does not hold between a chunk and its new values."""
        if self.keeps_boxes:
            return left_their_place(before, after)
        return () if self.moves_missing else became_missing(before, after)

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """Per column, the known values that could not change: they stay with at least ``FIXED_PROBABILITY``."""
        return fixed_by_likelihood(self, part, summary)

    @abstractmethod
    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """Per row, how probable (or, for a continuous number, how dense) its released values are given its own."""

    def observable_class(self, part: Chunk) -> Rows:
        """Per row, what its released values still show for certain: rows with different numbers are not each other's.

        An attacker who knows the cells is taken to see the cell of a released row wherever its values stay inside.
        """
        label = part.cells.label if self.uses_cells else np.zeros(len(part), np.int64)
        return label if self.moves_missing else by_missing(label, part.columns)

    @property
    def is_exchangeable(self) -> bool:
        """Whether rows of one observable class are each as likely as any other to hold a released value."""
        return False


PERTURBATIONS: Registry[type[Perturbation]] = Registry(
    "perturbation",
    "leafcover.perturb.shuffle",
    "leafcover.perturb.bounded",
    "leafcover.perturb.redraw",
    "leafcover.perturb.centroid",
    "leafcover.perturb.additive",
)

Method = TypeVar("Method", bound=type[Perturbation])


def perturbation(name: str) -> Callable[[Method], Method]:
    """Register a perturbation under the name that plan files use."""

    def register(method: Method) -> Method:
        PERTURBATIONS.register(name, method)
        return method

    return register


def methods() -> Catalogue:
    """The sentences that describe methods."""
    return catalogue("methods")


def fixed_by_likelihood(noise: Perturbation, part: Chunk, summary: Summary) -> dict[str, Bools]:
    """Ask a noise for the likelihood of every value staying as it is, column by column."""
    found = {}
    for column in part.columns:
        alone = replace(part, columns=(column,))
        found[column.name] = ~column.missing & (
            noise.likelihood(alone, {column.name: column.values}, summary) >= FIXED_PROBABILITY
        )
    return found


def moved_out(part: Chunk, column: Column, after: Array) -> int:
    """How many known values lie outside their box or domain, or off their grid."""
    known = ~column.missing
    if not known.any():
        return 0
    new = after[known]
    if column.is_category:
        if (new >= len(column.levels)).any() or (new < 0).any():
            return int(((new >= len(column.levels)) | (new < 0)).sum())
        return int((known & ~part.allows(column.name, np.where(known, after, 0))).sum())
    low, high = part.ranges(column.name)
    bottom, top = column.domain
    out = (new <= low[known]) | (new > high[known]) | (new < bottom) | (new > top)
    if column.grid is not None:
        out |= column.grid.value(column.grid.index(new)) != new
    return int(out.sum())


def became_missing(part: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
    """Sentences for missing values that appeared or went."""
    lost = {column.name: missing_moved(column, after[column.name]) for column in part.columns}
    return tuple(f"column {n!r}: {rows} values became or ceased to be missing" for n, rows in lost.items() if rows)


def left_their_place(part: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
    """Sentences for values that left their box, domain or grid, and for missing values that appeared or went."""
    out = {column.name: moved_out(part, column, after[column.name]) for column in part.columns}
    left = tuple(f"column {n!r}: {rows} values left their box, domain or grid" for n, rows in out.items() if rows)
    return (*left, *became_missing(part, after))


def by_missing(label: Rows, columns: tuple[Column, ...]) -> Rows:
    """Labels split further by which of the columns are missing."""
    found = label
    for column in columns:
        missing = column.missing
        if missing.any():
            found = intersect_labels(found, missing)
    return found


def missing_moved(column: Column, after: Array) -> int:
    """How many rows changed between known and missing."""
    gone = (after < 0) if column.is_category else np.isnan(after)
    return int((gone != column.missing).sum())
