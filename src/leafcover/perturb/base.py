"""What a noise is handed and what it gives back: some rows of some columns, their cells, their limits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.cells import Cells, LevelSet, Range, intersect_labels
from leafcover.rng import Draws
from leafcover.table.table import Column

# What a noise must see to change one row: the row; merged counts or moments; its whole cell; the whole table.
Scope: TypeAlias = Literal["row", "counts", "moments", "cell", "table"]
FIXED_PROBABILITY = 0.95  # a value whose law gives it at least this is as good as published
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


class Perturbation(Protocol):
    """A way to change values inside cells, written so that parts can be worked on anywhere."""

    @property
    def scope(self) -> Scope:
        """What a part must hold for ``change`` to be right."""

    @property
    def guarantees(self) -> tuple[str, ...]:
        """What holds afterwards, in words."""

    def fit(self, part: Chunk) -> Summary:
        """What must be known of a part before any part is changed."""

    def merge(self, one: Summary, other: Summary) -> Summary:
        """The summary of two parts together."""

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """What ``change`` needs of the summary of all parts: made once, not once a part."""

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """New values for the part's columns; ``summary`` is the settled one, here and below."""

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences for promises that do not hold between a part and its new values."""

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """Per column, the known values that could not change: their law gives them at least ``PINNED``."""

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """Per row, how probable (or, for a continuous number, how dense) its released values are given its own."""

    def observable_class(self, part: Chunk) -> Rows:
        """Per row, what its released values still show for certain: rows with different numbers are not each other's.

        An attacker who knows the cells is taken to see the cell of a released row wherever its values stay inside.
        """

    @property
    def is_exchangeable(self) -> bool:
        """Whether rows that show the same are alike: each is as likely as any other to hold a released value."""


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


def left_their_place(part: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
    """Sentences for values that left their box, domain or grid, and for missing values that appeared or went."""
    said = []
    for column in part.columns:
        if out := moved_out(part, column, after[column.name]):
            said.append(f"column {column.name!r}: {out} values left their box, domain or grid")
        if lost := missing_moved(column, after[column.name]):
            said.append(f"column {column.name!r}: {lost} values became or ceased to be missing")
    return tuple(said)


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
