"""Tables in files: the suffix says the format, and a released file looks like the one that was read.

table = read("adult.csv", category=["zip"], drop=["name"])
write(table, "released.csv")
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from leafcover.errors import NameUnknown, OutputError, TableError
from leafcover.table.arrow import from_typed, read_arrow, read_parquet, write_arrow, write_parquet
from leafcover.table.atomic import atomic_group
from leafcover.table.csv import header_line, read_delimited, write_delimited
from leafcover.table.infer import MISSING_TOKENS, InferredColumn, from_declared, from_text
from leafcover.table.legacy_formats import names_text, read_arff, read_c45, write_arff, write_c45
from leafcover.table.output import as_text, as_typed
from leafcover.table.table import RawColumn, Role, Source, Table, check_names, check_rows

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
    """The format that a file's suffix names.

    >>> format_of(Path("adult.csv.gz"))
    'csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    last = suffixes[:-1] if packed else suffixes
    found = SUFFIXES.get(last[-1]) if last else None
    if found is None or (packed and found != "csv"):
        shown = f"the suffix {''.join(suffixes[-2:] if packed else suffixes[-1:])!r}" if suffixes else "no suffix"
        raise TableError(
            f"'{path}' has {shown}, which names no table format. Use {', '.join(SUFFIXES)}, .csv.gz or .tsv.gz."
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
    if not place.exists():
        raise TableError(f"There is no file '{place}'. Check the name and the folder.")
    if place.is_dir():
        raise TableError(f"'{place}' is a directory. Give a file in it.")
    try:
        raws, source = _read_raw(place, kind, encoding, delimiter)
    except OSError as error:
        raise TableError(f"'{place}' cannot be read: {error.strerror or error}. Check the file.") from error
    return build_table(raws, source, place, missing=missing, category=category, drop=drop, roles=roles)


def _read_raw(place: Path, kind: str, encoding: str, delimiter: str | None) -> tuple[list[RawColumn], Source]:
    if kind == "parquet":
        return read_parquet(place)
    if kind == "arrow":
        return read_arrow(place)
    if kind == "arff":
        return read_arff(place, encoding=encoding)
    if kind == "c45":
        return read_c45(place, encoding=encoding)
    return read_delimited(place, encoding=encoding, delimiter=delimiter)


def build_table(
    raws: list[RawColumn],
    source: Source,
    where: str | Path,
    *,
    missing: Mapping[str, Sequence[str]] | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    roles: Mapping[str, Role] | None = None,
) -> Table:
    """A table from raw columns; ``raws`` is emptied on the way, so that each column's memory is freed."""
    tokens, roles = missing or {}, roles or {}
    names = [raw.name for raw in raws]
    check_names(names, where)
    for name in (*tokens, *category, *drop, *roles):
        if name not in names:
            raise NameUnknown("column", name, names)
    if not raws or len(set(drop)) == len(names):
        raise TableError(f"'{where}' has no column left. Keep at least one.")
    check_rows(len(raws[0].stored), where)
    reads = []
    raws.reverse()
    while raws:
        raw = raws.pop()
        if raw.name not in drop:
            found = _infer_column(raw, tokens.get(raw.name), category=raw.name in category)
            reads.append(replace(found, warnings=(*raw.warnings, *found.warnings)))
    return Table(
        columns=tuple(found.column for found in reads),
        roles={name: role for name, role in roles.items() if name not in drop},
        warnings=tuple(warning for found in reads for warning in found.warnings),
        source=source,
    )


def _infer_column(raw: RawColumn, tokens: Sequence[str] | None, *, category: bool) -> InferredColumn:
    if raw.typed:
        return from_typed(raw.name, raw.stored, tokens=tokens, category=category)
    known = tokens if tokens is not None else raw.tokens if raw.tokens is not None else MISSING_TOKENS
    if raw.declared is not None and not category:
        return from_declared(raw, known)
    return from_text(raw.name, raw.stored, tokens=known, category=category)


def write(table: Table, path: str | Path, *, force: bool = False) -> None:
    """Write a table in the format of the path's suffix; the file appears whole or not at all."""
    place = Path(path)
    try:
        format_of(place)
    except TableError as error:
        raise OutputError(str(error)) from error
    with atomic_group(force=force) as part:
        table_part = part(place, False)  # asked for first, so that the table itself appears last
        for companion, text in companion_files(table, place).items():
            part(companion, False).write_text(text, "utf-8")
        write_to(table, place, table_part)


def companion_files(table: Table, place: Path) -> dict[Path, str]:
    """The texts a format needs beside its file: the ``.names`` of C4.5 (a ``.test`` uses the one that is there)."""
    declaration = place.with_suffix(".names")
    if format_of(place) != "c45" or (place.suffix.lower() == ".test" and declaration.exists()):
        return {}
    return {declaration: names_text(table)}


def write_to(table: Table, place: Path, part: Path) -> None:
    """Write a table into ``part``, as the suffix of ``place`` says; for callers that hold `whole` open."""
    kind, names = format_of(place), list(table.names)
    if kind in ("parquet", "arrow"):
        own_type = isinstance(table.source, Source) and table.source.is_typed
        typed = [as_typed(column, own_type=own_type) for column in table]
        (write_parquet if kind == "parquet" else write_arrow)(names, typed, part)
    elif kind == "arff":
        write_arff(table, part)
    elif kind == "c45":
        write_c45(table, part)
    else:
        packed = place.suffix.lower() == ".gz"
        source = _text_source(table, place)
        columns = [as_text(column) for column in table]
        write_delimited(header_line(names, source), columns, source, part, packed=packed)


def _text_source(table: Table, place: Path) -> Source:
    """How to write a CSV: as it was read if it was one, else with commas (tabs for .tsv)."""
    source = table.source if isinstance(table.source, Source) and table.source.format == "csv" else Source("csv")
    tabs = ".tsv" in [suffix.lower() for suffix in place.suffixes]
    return replace(source, delimiter="\t" if tabs else source.delimiter or ",")


# The small real tables that ship with the package; their sources and licences stand beside them.


SAMPLES = {
    "adult": "adult.csv.gz",
    "boston": "boston.csv",
    "cps1985": "cps1985.csv",
    "german_credit": "german_credit.csv",
    "wbc": "wbc.csv",
    "wine": "wine.csv",
}


def sample(name: str) -> Path:
    """The path of a shipped table.

    >>> sample("wine").name
    'wine.csv'
    """
    if name not in SAMPLES:
        raise NameUnknown("shipped table", name, SAMPLES)
    return Path(str(files("leafcover").joinpath("data", SAMPLES[name])))
