"""Groups of at least k similar rows: what microaggregation makes of a table before it takes averages.

With ``start`` the groups are made inside the cells of another split: strata, or the cells of a kd tree. A table (or a
stratum) of fewer than 2k rows is one group.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from leafcover.cells import inside
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.fast.arrays import Floats, Rows
from leafcover.split.halves import Halves
from leafcover.split.kd import Kd
from leafcover.split.partition import Partition
from leafcover.split.points import at_the_mean, points, standardised
from leafcover.split.strata import Strata
from leafcover.split.trees import MOST_ROWS, Leaves, Whole
from leafcover.table.table import Table

Start: TypeAlias = Whole | Strata | Kd | Halves | Leaves
WHOLE = Whole()
EXACT = 100_000  # rows of a cell up to which MDAV is exact unless it is told otherwise


@dataclass(frozen=True)
class Mdav:
    """Groups of k by MDAV on the columns ``by``: numbers by their deviations, categories by their levels.

    ``block`` is the most rows of the kd blocks that a cell is cut into first; without it a cell of up to 100,000 rows
    is grouped exactly and a larger one in blocks of up to 64,000. 0 is exact whatever it costs.
    """

    frozen_id: ClassVar[str] = "mdav"
    by: tuple[str, ...]
    k: int = 3
    start: Start = WHOLE
    block: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", columns_named("Mdav", self.by))
        check_k("Mdav", self.k)
        if self.block is not None and self.block and not 2 * self.k <= self.block <= MOST_ROWS:
            raise ValueOutOfRange("Mdav.block", self.block, f"0, or at least 2k = {2 * self.k} rows")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that make rows similar, and those of the outer cells."""
        return needed(self.start, self.by)

    def cells(self, table: Table) -> Partition:
        """Make the groups inside every outer cell."""
        return grouped(table, self.start, self.by, points(table, self.by), self._labels)

    def _labels(self, some: Floats) -> Rows:
        from leafcover.fast.mdav import BLOCK, blocked_mdav, mdav

        block = (0 if len(some) <= EXACT else max(BLOCK, 2 * self.k)) if self.block is None else self.block
        return blocked_mdav(some, self.k, block) if block else mdav(some, self.k)


@dataclass(frozen=True)
class VariableMdav:
    """Groups of k to 2k - 1 rows by V-MDAV: a row joins a group when it is ``gamma`` times nearer to it than to others.

    A gamma of about 0.2 suits scattered data, about 1.1 clustered ones. What is left over joins the nearest group.
    """

    frozen_id: ClassVar[str] = "variable-mdav"
    by: tuple[str, ...]
    k: int = 3
    gamma: float = 0.2
    start: Start = WHOLE

    def __post_init__(self) -> None:
        object.__setattr__(self, "by", columns_named("VariableMdav", self.by))
        check_k("VariableMdav", self.k)
        if not 0 <= self.gamma <= 100:
            raise ValueOutOfRange("VariableMdav.gamma", self.gamma, "from 0 to 100")

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns that make rows similar, and those of the outer cells."""
        return needed(self.start, self.by)

    def cells(self, table: Table) -> Partition:
        """Make the groups inside every outer cell."""
        from leafcover.fast.vmdav import vmdav

        return grouped(table, self.start, self.by, points(table, self.by), lambda some: vmdav(some, self.k, self.gamma))


@dataclass(frozen=True)
class InOrder:
    """Groups of neighbours in the order of one number: of k each (fixed), or of k to 2k - 1 with the least spread.

    The best groups are found exactly (Hansen and Mukherjee). A row without a value stands at the mean.
    """

    frozen_id: ClassVar[str] = "in-order"
    by: str
    k: int = 3
    sizes: Literal["optimal", "fixed"] = "optimal"
    start: Start = WHOLE

    def __post_init__(self) -> None:
        check_k("InOrder", self.k)

    @property
    def needs(self) -> tuple[str, ...]:
        """The column that orders rows, and those of the outer cells."""
        return needed(self.start, (self.by,))

    def cells(self, table: Table) -> Partition:
        """Make the groups inside every outer cell."""
        from leafcover.fast.univariate import fixed_groups, optimal_groups

        column = table[self.by]
        if column.is_category:
            raise PlanError(f"InOrder sorts rows by {self.by!r}, but it is a category. Name a number.")

        def labels(some: Floats) -> Rows:
            order = np.argsort(some[:, 0], kind="stable")
            found = np.empty(len(order), np.int64)
            values = np.ascontiguousarray(some[order, 0])
            optimal = self.sizes == "optimal"
            found[order] = optimal_groups(values, self.k) if optimal else fixed_groups(len(values), self.k)
            return found

        return grouped(table, self.start, (self.by,), standardised(column)[:, None], labels)


def grouped(
    table: Table, start: Start, by: Sequence[str], where: Floats, labels: Callable[[Floats], Rows]
) -> Partition:
    """Group the points of every outer cell on its own; ``by`` names the columns they come from."""
    outer = start.cells(table)
    order = np.argsort(outer.cells.label, kind="stable")
    ends = np.cumsum(outer.cells.sizes)
    label = np.empty(len(table), np.int64)
    count = 0
    for rows in np.split(order, ends[:-1]):
        found = labels(where[rows])
        label[rows] = found + count
        count += int(found.max(initial=-1)) + 1
    cells = inside(outer.cells, label, count)
    if outer.cells.count > 1:  # groups of one outer cell are siblings
        of_group = np.empty(count, np.int64)
        of_group[label] = outer.cells.label
        cells = replace(cells, groups=(of_group,))
    return Partition(cells, outer.trees, (*outer.notes, *at_the_mean(table, by)))


def needed(start: Start, by: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of the outer cells and those that make rows similar, each once."""
    return tuple(dict.fromkeys((*start.needs, *by)))


def columns_named(name: str, by: Sequence[str]) -> tuple[str, ...]:
    """The columns by which a split finds rows similar; at least one."""
    if not by or isinstance(by, str):
        raise PlanError(f"{name} names no column by which rows are similar. Give a list in by=...")
    return tuple(by)


def check_k(name: str, k: int) -> None:
    """Refuse a size of groups that no table has."""
    if not 1 <= k <= MOST_ROWS:
        raise ValueOutOfRange(f"{name}.k", k, f"a whole number of rows from 1 to {MOST_ROWS:,}")
