"""Recodings of categories: levels that become coarser ones, by a map, a hierarchy or their first characters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.recode.base import ColumnRecoding, methods, occurring_levels, recoding
from leafcover.recode.hierarchies import hierarchy_of
from leafcover.table.formatting import plain_text
from leafcover.table.table import Column, Kind, Table

Groups: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
HIDDEN = "*"  # stands for a character that is hidden
LISTED = 3  # levels that an error names


@recoding("generalise")
@dataclass(frozen=True)
class Generalise(ColumnRecoding):
    """Replace levels of a category by coarser ones: by a map, a hierarchy, or their first characters.

    Parameters
    ----------
    column : str
        The category.
    hierarchy : str, Path or mapping, optional
        A hierarchy of levels: a CSV file with a level and its coarser levels in each line, a TOML file, or nested
        mappings. A plan holds the map that follows from it, not the file.
    level : int, default 1
        Which of the coarser levels of the hierarchy, counted from the finest.
    groups : mapping of str to sequence of str, optional
        The levels that become each coarser one, instead of a hierarchy.
    prefix : int, optional
        The number of first characters that codes keep, instead of both: 3 makes 123** of 12345.
    others : str, optional
        What levels become that the map does not name: another level, "keep" for themselves, or "refuse" for an error.
        Default: "refuse" with a hierarchy, "keep" with a map.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> work = lc.Generalise("occupation", groups={"office": ["management", "office", "sales"]}, others="other")
    >>> work.apply(table)["occupation"].levels
    ('office', 'other')
    """

    frozen_id: ClassVar[str] = "generalise"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"category"})
    main: ClassVar[str] = "hierarchy"
    hierarchy: str | None = None
    level: int = 1
    groups: Groups | None = field(default=None, metadata={"maps": True, "plan_type": dict[str, tuple[str, ...]]})
    prefix: int | None = None
    others: str | None = None

    def __post_init__(self) -> None:
        given: Any = self.hierarchy
        if isinstance(given, Mapping) and self.groups is None:
            object.__setattr__(self, "groups", tuple(hierarchy_of(given).groups(self.level).items()))
            object.__setattr__(self, "others", self.others or "refuse")
        if given is not None:
            object.__setattr__(self, "hierarchy", None if isinstance(given, Mapping) else str(given))
        if sum(one is not None for one in (self.hierarchy, self.groups, self.prefix)) != 1:
            raise PlanError("Generalise needs to know coarser levels. Give one of hierarchy, groups and prefix.")
        if self.prefix is not None and not 0 <= self.prefix <= 100:
            raise ValueOutOfRange("Generalise.prefix", self.prefix, "a number of characters from 0 to 100")
        if self.level < 1:
            raise ValueOutOfRange("Generalise.level", self.level, "a whole number, at least 1")
        if self.prefix is not None and self.others is not None:
            raise PlanError("Generalise by prefix applies to all levels, so there are no others. Leave one out.")
        if self.groups is not None:
            object.__setattr__(self, "groups", _checked_groups(self.groups))

    def fitted(self, table: Table) -> "Generalise":
        """The same with a map in place of the hierarchy."""
        if self.hierarchy is None:
            found = self if self.prefix is not None else replace(self, others=self.others or "keep")
        else:
            groups = hierarchy_of(self.hierarchy).groups(self.level)
            found = replace(self, hierarchy=None, level=1, groups=tuple(groups.items()), others=self.others or "refuse")
        found._refuse_unknown(table[self.column])
        return found

    def _refuse_unknown(self, column: Column) -> None:
        """Raise an error if a level has no coarser one and must have one."""
        if self.groups is None or self.others != "refuse":
            return
        known = {*(coarse for coarse, _ in self.groups), *(value for _, values in self.groups for value in values)}
        if unknown := [level for level in occurring_levels(column) if level not in known]:
            more = f" and {len(unknown) - LISTED} more" if len(unknown) > LISTED else ""
            raise PlanError(
                f"The hierarchy of column {column.name!r} lacks levels that occur: "
                f"{', '.join(map(repr, unknown[:LISTED]))}{more}. Add them, or name the level that others become."
            )

    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The table with coarser levels; people outside the release may have levels that the map does not name."""
        if reference is None:
            self._refuse_unknown(table[self.column])
        return super().apply(table)

    def recoded(self, column: Column) -> Column:
        """Coarser levels."""
        if self.hierarchy is not None:
            raise PlanError(f"Generalise of {column.name!r} is not fitted to a table yet. Use fitted().")
        return relabelled(column, [self._coarser(level) for level in column.levels])

    def _coarser(self, level: str) -> str:
        if self.prefix is not None:
            return level[: self.prefix] + HIDDEN * (len(level) - self.prefix)
        return self._map.get(level, level if self.others in ("keep", "refuse", None) else self.others)

    @property
    def _map(self) -> dict[str, str]:
        groups = self.groups or ()
        return {one: coarse for coarse, values in groups for one in (*values, coarse)} | (
            {} if self.others is None else {self.others: self.others}
        )

    def published(self) -> "Generalise":
        """The same without the levels that are gone."""
        return self if self.groups is None else replace(self, groups=tuple((name, ()) for name, _ in self.groups))

    def violations(self, released: Table) -> tuple[str, ...]:
        """Levels that would become coarser."""
        column = released[self.column]
        finer = np.array([self._coarser(level) != level for level in (*column.levels, "")], bool)
        rows = int((finer[column.values] & ~column.missing).sum())
        return (f"column {self.column!r}: {rows} values are not recoded",) if rows else ()

    def describe(self, *, detailed: bool = True) -> str:
        """How levels become coarser."""
        groups = len(self.groups or ()) if detailed else 0
        return methods()("generalise", prefix=-1 if self.prefix is None else self.prefix, groups=groups)


def _checked_groups(given: Any) -> Groups:
    """Groups as sorted pairs, if no level is in two of them."""
    pairs: Iterable[Any] = given.items() if isinstance(given, Mapping) else given
    groups = tuple(sorted((str(coarse), tuple(sorted(_listed(values)))) for coarse, values in pairs))
    if not groups:
        raise PlanError("Generalise.groups names no coarser level. Name at least one.")
    taken: dict[str, str] = {coarse: coarse for coarse, _ in groups}
    for coarse, values in groups:
        for value in values:
            if taken.setdefault(value, coarse) != coarse:
                raise PlanError(f"Level {value!r} would become {coarse!r} and {taken[value]!r}. Name it in one group.")
    return groups


def _listed(values: Any) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(map(str, values))


def relabelled(column: Column, names: list[str]) -> Column:
    """The category with other names for its levels; levels with the same name become one."""
    levels = tuple(sorted(set(names)))
    number = {level: at for at, level in enumerate(levels)}
    lookup = np.array([number[name] for name in names] + [MISSING], np.int32)
    stored = column.stored
    if stored is not None and list(column.levels) != names:
        text = plain_text(stored if pa.types.is_string(stored.type) else stored.cast(pa.string()))
        own = pa.array([*names, None], pa.string()).take(pa.array(np.where(column.missing, len(names), column.values)))
        stored = pc.if_else(pa.array(column.missing), text, own) if column.missing.any() else own
    return replace(column, values=lookup[column.values], levels=levels, stored=stored)
