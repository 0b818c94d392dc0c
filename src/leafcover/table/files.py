"""Tables in files: the suffix says the format, and a released file looks like the one that was read.

    table = read("adult.csv", category=["zip"], drop=["name"])
    write(table, "released.csv")
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leafcover.errors import NameUnknown, OutputError, TableError
from leafcover.table.delimited import read_delimited, write_delimited
from leafcover.table.infer import TOKENS, Read, from_text
from leafcover.table.output import as_text, as_typed
from leafcover.table.schema import Role
from leafcover.table.source import Source, check_names, check_rows
from leafcover.table.table import Table
from leafcover.table.whole import whole

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arff": "arff",
    ".data": "c45",
    ".test": "c45",
}


def format_of(path: Path) -> str:
    """The format a file's suffix names."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    found = SUFFIXES.get(suffix)
    if found is None or (packed and found != "csv"):
        shown = "".join(path.suffixes[-2:]) if packed else path.suffix
        raise TableError(
            f"'{path}' has the suffix {shown!r}, which names no table format. "
            f"Use {', '.join(SUFFIXES)}, .csv.gz or .tsv.gz."
        )
    return found


def read(
    path: str | Path,
    *,
    missing: Mapping[str, Sequence[str]] | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    roles: Mapping[str, Role] | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> Table:
    """The table in a file.

    ``missing`` gives a column its own tokens in place of ``?``, ``NA``, ``NaN``; the empty cell is always missing.
    ``category`` names columns that are codes, whatever they look like; ``drop`` names columns to leave out.
    """
    place = Path(path)
    kind = format_of(place)
    _check_readable(place)
    try:
        names, readers, source = _columns(place, kind, encoding=encoding, delimiter=delimiter)
    except OSError as error:
        raise TableError(f"'{place}' cannot be read: {error.strerror or error}. Check the file.") from error
    check_names(names, place)
    _check_known(names, (*(missing or {}), *category, *drop, *(roles or {})))
    ...


def write(table: Table, path: str | Path, *, force: bool = False) -> None: ...
