"""Recodings of categories: levels that become coarser ones, by a map, a hierarchy or their first characters.

A hierarchy says which coarser levels each level belongs to. A CSV file has a line for each level, as ARX writes it: the
level, then its coarser levels, the coarsest last. A TOML file has a table for each coarse level, and lists inside:

    baker;craft;all            [craft]
    smith;craft;all            metal = ["smith"]
    clerk;office;all           food = ["baker"]
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING
from leafcover.errors import PlanError, TableError, ValueOutOfRange
from leafcover.recode.base import ColumnRecoding, methods, occurring_levels, recoding
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
    hierarchy: str | None = field(default=None, metadata={"own": True})
    level: int = 1
    groups: Groups | None = field(default=None, metadata={"maps": True, "plan_type": dict[str, tuple[str, ...]]})
    prefix: int | None = None
    others: str | None = None

    def __post_init__(self) -> None:
        given: Any = self.hierarchy
        if given is not None and not isinstance(given, str | Path | Mapping):
            raise ValueOutOfRange("Generalise.hierarchy", given, "a file or a mapping of coarser levels")
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
            hierarchy = hierarchy_of(self.hierarchy)
            groups = hierarchy.groups(self.level) | hierarchy.coarser(self.level, occurring_levels(table[self.column]))
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


# Hierarchies.


Nested: TypeAlias = Mapping[str, Any]  # of coarse levels; inside other mappings, lists of levels, or one level
DELIMITERS = ";,\t"


@dataclass(frozen=True)
class Hierarchy:
    """The coarser levels of each level, the coarsest last."""

    above: Mapping[str, tuple[str, ...]]
    name: str = "the hierarchy"

    @property
    def depth(self) -> int:
        """How many coarser levels there are."""
        return max((len(levels) for levels in self.above.values()), default=0)

    def groups(self, level: int) -> dict[str, tuple[str, ...]]:
        """The levels that become each coarser one; a level with fewer coarser ones becomes its coarsest."""
        if not 1 <= level <= self.depth:
            raise ValueOutOfRange(f"The level of {self.name}", level, f"a whole number from 1 to {self.depth}")
        found: dict[str, list[str]] = {}
        for value, levels in self.above.items():
            coarse = levels[min(level, len(levels)) - 1] if levels else value
            found.setdefault(coarse, []).append(value)
        return {coarse: tuple(sorted(values)) for coarse, values in sorted(found.items())}

    def coarser(self, level: int, occurring: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The levels that occur and are coarser already than a level asks for: they stay."""
        higher = {coarse for levels in self.above.values() for coarse in levels[level:]}
        return {one: () for one in occurring if one in higher and one not in self.groups(level)}


def hierarchy_of(given: str | Path | Nested | Hierarchy) -> Hierarchy:
    """A hierarchy from a file or from nested mappings.

    >>> hierarchy_of({"craft": {"metal": ["smith"], "food": ["baker"]}, "office": ["clerk"]}).above["smith"]
    ('metal', 'craft')
    """
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, Mapping):
        return Hierarchy(_flat(given, "the hierarchy"))
    path = Path(given)
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise TableError(f"There is no hierarchy '{path}'. Name a CSV or TOML file of levels.") from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise TableError(f"The hierarchy '{path}' cannot be read as text ({type(error).__name__}).") from None
    if path.suffix == ".toml":
        try:
            return Hierarchy(_flat(tomllib.loads(text), f"'{path.name}'"), f"'{path.name}'")
        except tomllib.TOMLDecodeError as error:
            raise TableError(f"The hierarchy '{path}' is not valid TOML: {error}. Correct the file.") from None
    return Hierarchy(_of_lines(text, path), f"'{path.name}'")


def _of_lines(text: str, path: Path) -> dict[str, tuple[str, ...]]:
    """The lines of a CSV file; the delimiter is the first of ; , and tab that occurs in the first line."""
    first = text.partition("\n")[0]
    delimiter = next((sign for sign in DELIMITERS if sign in first), ";")
    found: dict[str, tuple[str, ...]] = {}
    width = 0
    for number, line in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), 1):
        cells = tuple(cell.strip() for cell in line)
        if not any(cells):
            continue
        width = width or len(cells)
        if len(cells) != width or width < 2 or not all(cells):
            raise TableError(
                f"Line {number} of the hierarchy '{path}' has {len(cells)} cells. Write a level and its coarser levels "
                f"in each line, separated by {delimiter!r}."
            )
        if cells[0] in found:
            raise TableError(f"The hierarchy '{path}' has the level {cells[0]!r} twice. Write it once.")
        found[cells[0]] = cells[1:]
    if not found:
        raise TableError(f"The hierarchy '{path}' is empty. Write a level and its coarser levels in each line.")
    return found


def _flat(nested: Nested, name: str, above: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """Each level with its coarser ones, the nearest first."""
    found: dict[str, tuple[str, ...]] = {}
    for coarse, inside in nested.items():
        over = (str(coarse), *above)
        if isinstance(inside, Mapping):
            more = _flat(inside, name, over)
        elif isinstance(inside, Sequence) and all(isinstance(value, str) for value in inside):
            more = dict.fromkeys([inside] if isinstance(inside, str) else inside, over)
        else:
            raise PlanError(f"{name.capitalize()} has no list of levels under {coarse!r}. Write texts in a list.")
        if twice := sorted(found.keys() & more.keys()):
            raise PlanError(f"{name.capitalize()} has the level {twice[0]!r} twice. Write it once.")
        found |= more
    if not found:
        raise PlanError(f"{name.capitalize()} names no level. Write lists of levels.")
    return found
