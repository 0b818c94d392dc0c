"""How a table came in, so that it can go out alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from leafcover.errors import TableError

Format: TypeAlias = Literal["csv", "parquet", "arrow", "arff", "c45", "frame"]


@dataclass(frozen=True)
class Source:
    """The format of a file, or the library of a frame, with what each needs to be repeated."""

    format: Format
    delimiter: str = ","  # empty: what the suffix says
    newline: str = "\n"
    encoding: str = "utf-8"
    byte_order_mark: bool = False
    relation: str = ""  # the name an ARFF file gives its table
    library: str = ""  # pandas, polars, pyarrow
    types: Mapping[str, Any] = field(default_factory=dict)  # a frame's own column types
    labels: Mapping[str, Any] = field(default_factory=dict)  # pandas names that are not text

    @property
    def is_typed(self) -> bool:
        """Whether columns came with types of their own, and not as text."""
        return self.format in ("parquet", "arrow", "frame")


@dataclass(frozen=True, eq=False)
class Raw:
    """One column as a file or frame holds it, before it is decided what it is."""

    name: str
    stored: Any  # pyarrow Array or ChunkedArray: text, or typed
    typed: bool = False
    tokens: tuple[str, ...] | None = None  # texts that mean missing, unless the user names others
    declared: Literal["number", "category"] | None = None  # what .names or ARFF says it is
    warnings: tuple[str, ...] = ()
    levels: tuple[str, ...] | None = None  # the values .names or ARFF allows, in code point order


def check_names(names: Sequence[str], where: str | Path) -> None:
    """Refuse a header that cannot tell its columns apart: a name twice, or none."""
    seen: set[str] = set()
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise TableError(f"Column {place} of '{where}' has no name. Give it one in the header.")
        if name in seen:
            raise TableError(f"'{where}' has two columns called {name!r}. Rename one of them.")
        seen.add(name)


def check_rows(rows: int, where: str | Path) -> None:
    """Refuse a table too small to hide anyone in."""
    if rows < 2:
        found = "only a header" if rows == 0 else "only 1 row"
        raise TableError(f"'{where}' has {found}. A table needs at least 2 rows.")
