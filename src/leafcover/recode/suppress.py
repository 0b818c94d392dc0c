"""The recoding that makes some values of a column missing: all, levels or numbers, or where a condition holds."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Array, Bools
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.recode.base import ColumnRecoding, methods, recoding
from leafcover.recode.numbers import as_number
from leafcover.registry import is_of
from leafcover.table.column_rules import LevelCondition
from leafcover.table.formatting import is_text, plain_text
from leafcover.table.output import replace_values
from leafcover.table.rule_text import parse_condition
from leafcover.table.table import Column, Table


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
    values: tuple[str, ...] | None = field(default=None, metadata={"own": True})
    where: str | None = None
    every: bool = False

    def __post_init__(self) -> None:
        if (self.values is not None) + (self.where is not None) + self.every != 1:
            raise PlanError("Suppress needs to know what becomes missing. Give one of values, where and every.")
        if self.values is not None:
            given: Any = self.values
            listed: Sequence[Any] = [given] if isinstance(given, str | int | float) else given
            if not is_of(tuple[str | float, ...], listed):
                raise ValueOutOfRange("Suppress.values", given, "a list of levels, numbers or dates")
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

    def may_hold(self, column: Column) -> Bools:
        """No value: it makes values missing."""
        return np.zeros(len(column), np.bool_)

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
    """The column with some values missing; of a number, the domain is that of the values that are left."""
    gone = gone & ~column.missing
    if not gone.any():
        return column
    new = without_values(column, gone)
    return new if column.is_category else replace(new, declared=None)


def without_values(column: Column, rows: Bools) -> Column:
    """The column with missing values in these rows, written like those that were missing before.

    All missing values are written the same way, and levels that no row has any more are removed, so that neither shows
    what was suppressed.

    >>> codes, texts = np.array([0, 1, -1], np.int32), pa.array(["Graz", "Linz", "?"])
    >>> town = Column("town", "category", codes, ("Graz", "Linz"), stored=texts)
    >>> without_values(town, np.array([True, False, False])).stored.to_pylist()
    ['?', 'Linz', '?']
    """
    missing = column.missing | rows
    new = replace_values(column, np.where(missing, MISSING if column.is_category else np.nan, column.values))
    if new.stored is not None and missing.any():
        new = replace(new, stored=_blanked(column, new.stored, missing))
    return _without_lost_levels(new, column) if column.is_category else new


def _blanked(column: Column, stored: Any, missing: Bools) -> Any:
    """The stored form in which all missing cells are equal: null, or the most common text of those in the column."""
    if not is_text(stored):
        return pc.if_else(pa.array(missing), None, stored)
    text, token = plain_text(stored), None
    if column.missing.any() and is_text(column.stored):
        found = plain_text(column.stored).filter(pa.array(column.missing)).drop_null().value_counts().to_pylist()
        token = min(found, key=lambda one: (-one["counts"], one["values"]), default={"values": None})["values"]
    return pc.if_else(pa.array(missing), pa.scalar(token, text.type), text)


def _without_lost_levels(new: Column, old: Column) -> Column:
    """The column without levels whose last rows were suppressed; declared levels that never occurred stay."""
    lost = np.setdiff1d(old.values, new.values)
    lost = lost[lost != MISSING]
    if not len(lost):
        return new
    kept = np.setdiff1d(np.arange(len(old.levels)), lost)
    lookup: Array = np.full(len(old.levels) + 1, MISSING, np.int32)
    lookup[kept] = np.arange(len(kept))
    return replace(new, values=lookup[new.values], levels=tuple(old.levels[code] for code in kept))
