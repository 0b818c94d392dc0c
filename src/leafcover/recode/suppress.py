"""Recodings that make values missing: some of a column, or as few as possible until enough people agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from leafcover.arrays import MISSING, Array, Bools
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.recode.base import ColumnRecoding, Recoding, methods, recoding
from leafcover.recode.numbers import as_number
from leafcover.table.column_rules import LevelCondition
from leafcover.table.output import compact, replace_values
from leafcover.table.rule_text import parse_condition
from leafcover.table.suppression import suppress_cells
from leafcover.table.table import Column, Table
from leafcover.table.units import owners


@recoding("suppress")
@dataclass(frozen=True)
class Suppress(ColumnRecoding):
    """Make some values of a column missing.

    Parameters
    ----------
    column : str
        The column.
    values : sequence of str or float, optional
        The levels, numbers or dates that become missing.
    where : str, optional
        A condition on the levels of a column instead: values of rows that fulfil it become missing, such as
        ``"job == 'pilot'"``, ``"job in ('pilot', 'diver')"`` or ``"job is missing"``.
    every : bool, default False
        Make all values missing instead. To leave the column out, drop it when you read the table.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> few = lc.Suppress("occupation", values=["sales"])
    >>> int(few.apply(table)["occupation"].missing.sum())
    38
    """

    frozen_id: ClassVar[str] = "suppress"
    promise: ClassVar[Literal["recoded", "suppressed"]] = "suppressed"
    main: ClassVar[str] = "values"
    values: tuple[str, ...] | None = None
    where: str | None = None
    every: bool = False

    def __post_init__(self) -> None:
        if (self.values is not None) + (self.where is not None) + self.every != 1:
            raise PlanError("Suppress needs to know what becomes missing. Give one of values, where and every.")
        if self.values is not None:
            given: Any = self.values
            listed: Sequence[Any] = [given] if isinstance(given, str | int | float) else given
            object.__setattr__(self, "values", tuple(one if isinstance(one, str) else f"{one:.17g}" for one in listed))
        if self.where is not None:
            parse_condition(self.where)

    def check(self, table: Table) -> None:
        """Refuse unknown columns and levels too."""
        super().check(table)
        if self.where is not None:
            condition = parse_condition(self.where, table.names)
            if condition.column not in table.names:
                raise NameUnknown("column", condition.column, table.names, f"in the condition {self.where!r}")

    def fitted(self, table: Table) -> "Suppress":
        """The same, if all that it names occurs."""
        column = table[self.column]
        if self.values is not None and column.is_category:
            for value in self.values:
                if value not in column.levels:
                    raise NameUnknown("level", value, column.levels, f"of column {self.column!r}")
        elif self.values is not None:
            for value in self.values:
                as_number(column, value)
        elif self.where is not None:
            condition = parse_condition(self.where, table.names)
            condition.check(table, self.where)
        return self

    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The table with missing values in place of some."""
        column = table[self.column]
        if self.where is not None:
            condition = parse_condition(self.where, table.names)
            return table.replace([without(column, fulfils(condition, table[condition.column]))])
        return super().apply(table)

    def recoded(self, column: Column) -> Column:
        """The column without some values."""
        if self.every:
            return without(column, ~column.missing)
        if column.is_category:
            gone = np.isin(column.levels, self.values or ())
            return without(column, np.append(gone, False)[column.values])
        return without(column, np.isin(column.values, [as_number(column, one) for one in self.values or ()]))

    @property
    def checks_rows(self) -> bool:
        """Whether a condition looks at another column."""
        return self.where is not None

    def published(self) -> "Suppress":
        """The same without what became missing."""
        return self if self.every else replace(self, values=(), where=None)

    def violations(self, released: Table) -> tuple[str, ...]:
        """Values that should be missing."""
        again = self.apply(released)[self.column]
        rows = int((again.missing & ~released[self.column].missing).sum())
        return (f"column {self.column!r}: {rows} values are not missing",) if rows else ()

    def describe(self, *, detailed: bool = True) -> str:
        """That some values are missing."""
        count = len(self.values or ()) if detailed else 0
        return methods()("suppress", count=-1 if self.every else count)


def fulfils(condition: LevelCondition, column: Column) -> Bools:
    """Which values fulfil a condition."""
    codes = column.values if column.is_category else np.where(column.missing, 1, 0)
    found: Bools = condition.levels_of(column)[codes]  # a missing value, -1, is the last
    return found


def without(column: Column, gone: Bools) -> Column:
    """The column with some values missing, and without the levels that no row has any more."""
    gone = gone & ~column.missing
    if not gone.any():
        return column
    if not column.is_category:
        return replace(replace_values(column, np.where(gone, np.nan, column.values)), declared=None)
    new = replace_values(column, np.where(gone, np.int32(MISSING), column.values))
    before, after = (np.unique(one.values[~one.missing]) for one in (column, new))
    kept = np.setdiff1d(np.arange(len(column.levels)), np.setdiff1d(before, after))
    lookup = np.full(len(column.levels) + 1, MISSING, np.int32)
    lookup[kept] = np.arange(len(kept))
    stored = new.stored if new.stored is None or not pa.types.is_dictionary(new.stored.type) else compact(new.stored)
    return replace(new, values=lookup[new.values], levels=tuple(column.levels[at] for at in kept), stored=stored)


# Local suppression: as few cells of several columns as possible.


Costs: TypeAlias = tuple[tuple[str, float], ...]


@recoding("local-suppression")
@dataclass(frozen=True)
class LocalSuppression(Recoding):
    """Make values of some columns missing, as few as possible, until at least k people agree in all of them.

    A missing value is a value of its own: people agree if the same columns are missing and the others are equal.

    Parameters
    ----------
    columns : sequence of str, optional
        The quasi-identifiers. Default: the columns with that role.
    k : int, default 3
        The minimum number of people who agree.
    importance : sequence of str, optional
        The columns whose values shall stay, the most important first.
    costs : mapping of str to float, optional
        What a missing value of a column counts instead, compared with 1.
    sensitive : str or sequence of str, optional
        Sensitive attributes of which people who agree shall have several values (l-diversity).
    l : int, optional
        How many different values of each.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> few = lc.LocalSuppression(["region", "occupation", "ethnicity"], k=3).apply(table)
    >>> sum(int(few[name].missing.sum()) for name in few.names)
    14
    """

    frozen_id: ClassVar[str] = "local-suppression"
    promise: ClassVar[Literal["recoded", "suppressed"]] = "suppressed"
    main: ClassVar[str] = "k"
    uses_other_rows: ClassVar[bool] = True
    made: ClassVar["tuple[Table, Table] | None"] = None  # the table that it was fitted to, and what it made of it
    columns: tuple[str, ...] = ()
    k: int = 3
    importance: tuple[str, ...] = ()
    costs: Costs = field(default=(), metadata={"maps": True, "plan_type": dict[str, float]})
    sensitive: tuple[str, ...] = ()
    l: int | None = None  # noqa: E741  # its name in the literature

    def __post_init__(self) -> None:
        for field_name in ("columns", "importance", "sensitive"):
            named: Any = getattr(self, field_name)
            names = (named,) if isinstance(named, str) else tuple(named or ())
            object.__setattr__(self, field_name, names)
            if len(set(names)) < len(names):
                raise PlanError(f"LocalSuppression names a column twice: {', '.join(names)}. Name each once.")
        if self.importance and self.costs:
            raise PlanError("LocalSuppression got importance and costs, which say the same. Give one of them.")
        if self.k < 2:
            raise ValueOutOfRange("LocalSuppression.k", self.k, "a number of people, at least 2")
        if bool(self.sensitive) != (self.l is not None):
            raise PlanError("LocalSuppression needs a sensitive attribute and l, the number of its values. Give both.")
        if self.l is not None and self.l < 2:
            raise ValueOutOfRange("LocalSuppression.l", self.l, "a number of values, at least 2")
        given: Any = self.costs
        pairs = given.items() if isinstance(given, Mapping) else given
        object.__setattr__(self, "costs", tuple(sorted((str(name), float(cost)) for name, cost in pairs)))
        for name, cost in self.costs:
            if not 0 < cost < np.inf:
                raise ValueOutOfRange(f"LocalSuppression.costs of {name!r}", cost, "a number above 0")

    @property
    def least(self) -> int:
        """How many people agree."""
        return self.k

    @property
    def checks_rows(self) -> bool:
        """Whether several columns of a row are compared."""
        return True

    def check(self, table: Table) -> None:
        """Refuse other columns that are unknown, and quasi-identifiers that are sensitive."""
        super().check(table)
        for name in (*self.importance, *(name for name, _ in self.costs)):
            if self.columns and name not in self.columns:
                raise NameUnknown("column", name, self.columns, "among those of local suppression")
        for name in self.sensitive:
            if name not in table.names:
                raise NameUnknown("column", name, table.names, "for local suppression")
            if name in self.columns:
                raise PlanError(f"Column {name!r} is a quasi-identifier and sensitive. Name it once.")

    def fitted(self, table: Table) -> "LocalSuppression":
        """The same with its columns named; what it makes of the table is kept, since that takes longest."""
        names = self.columns or table.with_role("quasi-identifier")
        if not names:
            raise PlanError("Local suppression names no column, and none is a quasi-identifier. Name some.")
        found = replace(self, columns=names)
        found.check(table)
        kept = self.made if self.made is not None and found == self else None
        if kept is None or not found._is_same(table, kept[0]):
            kept = table, found._suppressed(table)
        object.__setattr__(found, "made", kept)
        return found

    def _is_same(self, one: Table, other: Table) -> bool:
        """Whether two tables have the same values of all columns that count."""
        names = [*self.columns, *self.sensitive]
        if one is other:
            return True
        if not {*names} <= {*one.names} & {*other.names}:
            return False
        return one.select(names).equals(other.select(names)) and np.array_equal(owners(one), owners(other))

    def _suppressed(self, table: Table) -> Table:
        importance = self.importance or dict(self.costs) or None
        return suppress_cells(
            table, self.columns, self.k, importance=importance, sensitive=self.sensitive, l=self.l or 1
        ).table

    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The table with missing cells; people outside a release have those that they would have beside its people."""
        if not self.columns:
            raise PlanError("Local suppression is not fitted to a table yet. Use fitted().")
        if reference is not None:
            return self._beside(table, reference)
        if self.made is not None and self._is_same(table, self.made[0]):
            after = self.made[1]
            return table.replace(without(table[name], after[name].missing) for name in self.columns)
        return self._suppressed(table)

    def _beside(self, table: Table, reference: Table) -> Table:
        """The table as if its people were in the reference, too."""
        unit = [name for name in reference.with_role("unit") if name in table.names]
        names = [*self.columns, *self.sensitive, *unit]
        both = Table(tuple(stacked(reference[name], table[name]) for name in names), roles=dict.fromkeys(unit, "unit"))
        after = self._suppressed(both)
        rows = np.arange(len(reference), len(both))
        return table.replace(without(table[name], after[name].missing[rows]) for name in self.columns)

    def violations(self, released: Table) -> tuple[str, ...]:
        """Classes of too few people, or of too few sensitive values."""
        label = np.zeros(len(released), np.int64)
        for name in self.columns:
            column = released[name]
            code = np.unique(np.where(column.missing, np.inf, column.values), return_inverse=True)[1].ravel()
            label = np.unique(label * (int(code.max(initial=0)) + 1) + code, return_inverse=True)[1].ravel()
        small = int((distinct_of(label, owners(released))[label] < self.k).sum())
        found = [f"{small} rows are in classes of fewer than {self.k} people"] if small else []
        for name in self.sensitive:
            column = released[name]
            known = ~column.missing
            values = np.unique(column.values[known], return_inverse=True)[1].ravel()
            counts = distinct_of(label[known], values, int(label.max(initial=-1)) + 1)
            few = int((counts[label] < (self.l or 1)).sum())
            found += [f"{few} rows are in classes of fewer than {self.l} values of {name!r}"] if few else []
        return tuple(found)

    def describe(self, *, detailed: bool = True) -> str:
        """How many people agree."""
        return methods()("local-suppression", k=self.k, l=self.l or 0, sensitive=", ".join(self.sensitive))


def distinct_of(label: Array, values: Array, count: int | None = None) -> Array:
    """How many distinct values the rows of each label have."""
    both = np.unique(np.stack([label, values]), axis=1)
    return np.bincount(both[0], minlength=int(label.max(initial=-1)) + 1 if count is None else count)


def stacked(one: Column, other: Column) -> Column:
    """The values of two columns, one below the other, in the codes of both."""
    if not one.is_category:
        return Column(one.name, one.kind, np.concatenate([one.values, other.values]), grid=one.grid)
    levels = tuple(sorted({*one.levels, *other.levels}))
    number = {level: at for at, level in enumerate(levels)}
    codes = [np.array([*(number[n] for n in c.levels), -1], np.int32)[c.values] for c in (one, other)]
    return Column(one.name, "category", np.concatenate(codes), levels)
