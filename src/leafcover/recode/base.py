"""The base classes of recodings, their registry, and how several of them are fitted and applied.

A recoding maps values of some columns to coarser or missing ones. It draws nothing, so an attacker can do the same with
what is known about a person. What it learns from a table, such as quantiles, is fixed once (`Recoding.fitted`), so that
other rows of the population are recoded alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeGuard, TypeVar, get_args

import numpy as np

from leafcover.errors import NameUnknown, PlanError
from leafcover.messages import Catalogue, catalogue
from leafcover.registry import Registry
from leafcover.table.table import Column, Kind, Role, Table

ALL_KINDS: frozenset[Kind] = frozenset(get_args(Kind))
NOT_RECODED: tuple[Role, ...] = ("unchanged", "unit", "weight")  # roles of columns that are left alone


class Recoding(ABC):
    """A way to make values of some columns coarser, or missing.

    A subclass is a frozen dataclass whose fields are its parameters. It must define `columns` and `apply`; everything
    else has a default. Register it with `recoding`, and plan files, the option ``--recode``, checks and reports can use
    it.
    """

    frozen_id: ClassVar[str]  # identifies the class when draws are derived; never changes, even if the class is renamed
    kinds: ClassVar[frozenset[Kind]] = ALL_KINDS  # the kinds of column it accepts
    promise: ClassVar[Literal["recoded", "suppressed"]] = "recoded"  # what holds of its columns afterwards
    main: ClassVar[str] = ""  # the parameter whose name a text may leave out
    uses_other_rows: ClassVar[bool] = False  # whether the result for a row depends on other rows even when fitted

    @property
    def checks_rows(self) -> bool:
        """Whether `violations` compares several columns of a row, which must then not be changed by steps."""
        return False

    @property
    def least(self) -> int:
        """How many people agree at least in all of its columns; 1 if that is not promised."""
        return 1

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns it recodes."""

    @abstractmethod
    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The recoded table.

        ``reference`` is the table that was released, if this is another one: people outside the release are recoded as
        they would have been in it.
        """

    def fitted(self, table: Table) -> "Recoding":
        """The same with all that is learned from a table fixed."""
        return self

    def published(self) -> "Recoding":
        """The same without what a reader of the release must not learn, such as the names of levels that are gone."""
        return self

    def violations(self, released: Table) -> tuple[str, ...]:
        """A sentence for each way in which columns that no step changed do not look recoded."""
        return ()

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value, to complete "each value is"; with parameters if ``detailed``."""
        return f"recoded by {name_of(self)}"

    def check(self, table: Table) -> None:
        """Raise an error if a column does not exist, is of another kind or must be left alone."""
        for name in self.columns:
            if name not in table.names:
                raise NameUnknown("column", name, table.names, f"for the recoding {name_of(self)!r}")
            if (kind := table[name].kind) not in self.kinds and not self._is_recoded(table[name]):
                able = ", ".join(n for n, one in RECODINGS.items() if kind in one.kinds)
                raise PlanError(
                    f"The recoding {name_of(self)!r} does not accept column {name!r}, a {kind}. Use one of {able}, or "
                    "read the column as another kind."
                )
            if (role := table.roles.get(name)) in NOT_RECODED:
                raise PlanError(
                    f"The recoding {name_of(self)!r} would change column {name!r}, which has the role {role}. "
                    "Drop one of them."
                )

    def _is_recoded(self, column: Column) -> bool:
        """Whether a column of another kind is what this recoding made of it."""
        return False


@dataclass(frozen=True)
class ColumnRecoding(Recoding):
    """A recoding of one column, value by value. A subclass defines `recoded`."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The table with the recoded column; a fitted recoding needs no other rows."""
        return table.replace([self.recoded(table[self.column])])

    @abstractmethod
    def recoded(self, column: Column) -> Column:
        """The recoded column; missing stays missing."""


RECODINGS: Registry[type[Recoding]] = Registry(
    "recoding",
    "leafcover.recode.numbers",
    "leafcover.recode.intervals",
    "leafcover.recode.generalise",
    "leafcover.recode.suppress",
)

Method = TypeVar("Method", bound=type[Recoding])


def recoding(name: str) -> Callable[[Method], Method]:
    """Register a recoding under the name that plan files and ``--recode`` use."""
    return RECODINGS.class_decorator(name)


def is_recoding(value: object) -> TypeGuard[Recoding]:
    """Whether something is a recoding."""
    return isinstance(value, Recoding)


def name_of(one: Recoding) -> str:
    """The name of a recoding in plan files."""
    return RECODINGS.name_of(type(one)) or type(one).__name__


def methods() -> Catalogue:
    """The catalogue of sentences that describe methods."""
    return catalogue("methods")


def fit_all(recodings: Iterable[Recoding], table: Table) -> tuple[tuple[Recoding, ...], Table]:
    """Every recoding fitted to the table as the ones before it leave it, and the recoded table."""
    found: list[Recoding] = []
    for one in recodings:
        one.check(table)
        found.append(one.fitted(table))
        table = found[-1].apply(table)
    return tuple(found), table


def apply_all(recodings: Sequence[Recoding], table: Table, reference: Table | None = None) -> Table:
    """The table recoded by fitted recodings, one after the other.

    ``reference`` is the table that was released, if this is another one.
    """
    last = max((number for number, one in enumerate(recodings) if one.uses_other_rows), default=-1)
    for number, one in enumerate(recodings):
        one.check(table)
        table = one.apply(table, reference)
        if reference is not None and number < last:
            reference = one.apply(reference)
    return table


def with_new_coding(table: Table, recoded: Table) -> Table:
    """The table with those columns recoded whose values could not be compared otherwise: other kinds or other levels.

    A number that was rounded is still a number, and a level that became missing is a missing value.
    """
    return table.replace(
        recoded[c.name] for c in table if c.name in recoded.names and is_coded_anew(c, recoded[c.name])
    )


def is_coded_anew(column: Column, recoded: Column) -> bool:
    """Whether a recoded column is of another kind, or has levels that the column does not have."""
    return column.kind != recoded.kind or not set(recoded.levels) <= set(column.levels)


def occurring_levels(column: Column) -> tuple[str, ...]:
    """The levels of a category that some row has."""
    return tuple(column.levels[code] for code in np.unique(column.values[~column.missing]).tolist())
