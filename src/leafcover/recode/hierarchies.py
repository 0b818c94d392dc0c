"""Hierarchies of levels: which coarser levels each level belongs to, from files or nested mappings.

A CSV file has a line for each level, as ARX writes it: the level, then its coarser levels, the coarsest last. A TOML
file has a table for each coarse level, and lists of levels inside:

    baker;craft;all            [craft]
    smith;craft;all            metal = ["smith"]
    clerk;office;all           food = ["baker"]
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from leafcover.errors import PlanError, TableError, ValueOutOfRange

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
