"""Read and write tables in files; the file's suffix determines the format.

    table = read("adult.csv", category=["zip"], drop=["name"])
    write(table, "released.csv")

A file written in the format it was read from keeps the conventions of the original file. The package's sample tables
are listed at the end.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from importlib.resources import files
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast, get_args
from urllib.parse import unquote

from leafcover.errors import NameUnknown, OutputError, TableError, ValueOutOfRange
from leafcover.registry import checks_arguments
from leafcover.table.arrow import from_typed, read_arrow, read_parquet, typed_table, write_arrow, write_parquet
from leafcover.table.atomic import atomic_group
from leafcover.table.csv import header_line, read_delimited, without_row_names, write_delimited
from leafcover.table.infer import (
    MISSING_TOKENS,
    InferredColumn,
    from_declared,
    from_text,
    index_warning,
    separators_of,
    settle_separators,
)
from leafcover.table.legacy_formats import check_c45_output, names_text, read_arff, read_c45, write_arff, write_c45
from leafcover.table.office_formats import excel_cells, read_excel, write_excel
from leafcover.table.output import as_text, as_typed
from leafcover.table.separators import NOTHING_GIVEN, GivenSeparators, SeparatorOption
from leafcover.table.statistical_formats import (
    READERS,
    read_statistical,
    statistical_columns,
    write_statistical,
)
from leafcover.table.table import (
    IntoTable,
    RawColumn,
    ReadingOptions,
    Role,
    Source,
    Table,
    check_names,
    check_rows,
    check_weight,
)

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arff": "arff",
    ".data": "c45",
    ".test": "c45",
    ".xlsx": "excel",
    **dict.fromkeys(READERS, "statistical"),
}
OTHER_WORKBOOKS = (".xls", ".xlsb", ".xlsm", ".ods")  # refused, with what to do

MissingTokens: TypeAlias = Mapping[str, Sequence[str | float] | str | float]  # for each column


# Where a table is: a file, or a table of a database.

Scheme: TypeAlias = Literal["postgresql", "sqlite", "duckdb"]
ADDRESS = re.compile(r"(?P<scheme>postgres(?:ql)?|sqlite|duckdb)://(?P<rest>.*)", re.DOTALL)
FILES: dict[str, Scheme] = {".sqlite": "sqlite", ".sqlite3": "sqlite", ".db": "sqlite", ".duckdb": "duckdb"}
# Whatever else is in an address may be part of a password with characters that must be written as %-codes.
POSTGRESQL = re.compile(
    r"(?P<address>postgresql://(?:(?P<user>[^:@/?#]*)(?::(?P<password>[^:@/?#]*))?@)?(?P<host>[^@?#]*)"
    r"(?:\?(?P<query>[^?#]*))?)(?:#(?P<name>[^@/?#]*))?"
)
SECRET = re.compile("(ssl)?password=", re.IGNORECASE)


@dataclass(frozen=True)
class DatabaseTable:
    """A database and, if it is named, one of its tables. As text it has no password."""

    scheme: Scheme
    address: str = field(repr=False)  # for the driver: a path, or a URL that may hold a password
    name: str = ""
    folder: Path = field(default=Path(), compare=False)  # of companion files, if the database is not a file

    def __str__(self) -> str:
        end = f"#{self.name}" if self.name else ""
        if self.path is not None:
            return f"{self.scheme}:///{self.path}{end}"
        parts = POSTGRESQL.fullmatch(self.address)
        if parts is None:
            return f"{self.scheme}://..."
        user = f"{parts['user']}@" if parts["user"] else ""
        query = "&".join(one for one in (parts["query"] or "").split("&") if not SECRET.match(one))
        return f"{self.scheme}://{user}{parts['host']}{query and '?' + query}{end}"

    @property
    def path(self) -> Path | None:
        """The file of the database, if it is one."""
        return None if self.scheme == "postgresql" else Path(self.address)

    @property
    def companion(self) -> Path:
        """The path to which the names of companion files are added: beside the file, or in the current folder."""
        name = re.sub(r"[^\w.-]", "_", self.name)
        return self.folder / name if self.path is None else self.path.with_name(f"{self.path.name}.{name}")

    def named(self, name: str) -> "DatabaseTable":
        """Another table of the same database."""
        return replace(self, name=name)

    def within(self, folder: Path) -> "DatabaseTable":
        """The same table if paths start from a folder."""
        if self.path is None:
            return replace(self, folder=folder)
        return replace(self, address=str(folder / self.path))

    def resolve(self) -> "DatabaseTable":
        """The same table with an absolute path, to compare it with another."""
        if self.path is None:
            return DatabaseTable(self.scheme, str(self), self.name)
        return DatabaseTable(self.scheme, str(self.path.resolve()), self.name)


Place: TypeAlias = Path | DatabaseTable
PLACES = (str, Path, DatabaseTable)  # what names a place


def place_of(given: "str | Path | DatabaseTable") -> Place:
    """A file, or a table of a database.

    >>> str(place_of("people.csv"))
    'people.csv'
    >>> str(place_of("postgresql://me:secret@host/db#people")), str(place_of("people.duckdb"))
    ('postgresql://me@host/db#people', 'duckdb:///people.duckdb')
    """
    if isinstance(given, DatabaseTable):
        return given
    if isinstance(given, str) and (found := ADDRESS.fullmatch(given)):
        return _database(found["scheme"], found["rest"])
    head, _, name = str(given).partition("#")
    kind = FILES.get(Path(head).suffix.lower())
    if kind is None:
        return Path(given)
    return DatabaseTable("duckdb" if kind == "sqlite" and _is_duckdb(Path(head)) else kind, head, name)


def place_within(folder: Path, given: str) -> Place:
    """The same for a text in a file of a folder, from which paths start."""
    if not ADDRESS.fullmatch(given):
        return place_of(folder / given)
    place = place_of(given)
    return place if isinstance(place, Path) else place.within(folder)


def _database(scheme: str, rest: str) -> DatabaseTable:
    if scheme in ("sqlite", "duckdb"):
        path, _, name = rest.removeprefix("/").partition("#")
        return DatabaseTable(cast(Scheme, scheme), path, unquote(name))
    parts = POSTGRESQL.fullmatch(f"postgresql://{rest}")
    if parts is None:  # what is a password in it cannot be told
        return DatabaseTable("postgresql", "")
    return DatabaseTable("postgresql", parts["address"], unquote(parts["name"] or ""))


def _is_duckdb(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"
    return False


def is_workbook(place: Place) -> bool:
    """Whether a place is a workbook, which has sheets."""
    return isinstance(place, Path) and SUFFIXES.get(place.suffix.lower()) == "excel"


# Reading and writing.


def format_of(path: Path) -> str:
    """The table format that corresponds to a file's suffix.

    >>> format_of(Path("adult.csv.gz"))
    'csv'
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    last = suffixes[:-1] if packed else suffixes
    found = SUFFIXES.get(last[-1]) if last else None
    if last and last[-1] in OTHER_WORKBOOKS:
        raise TableError(f"'{path}' is a {last[-1]} workbook, which is not supported. Save it as .xlsx, and give that.")
    if found is None or (packed and found != "csv"):
        given = f"the suffix {''.join(suffixes[-2:] if packed else suffixes[-1:])!r}" if suffixes else "no suffix"
        raise TableError(
            f"'{path}' has {given}, so its format is unknown. Use {', '.join(SUFFIXES)}, .csv.gz, .tsv.gz, "
            "or a database: .sqlite, .duckdb or postgresql://."
        )
    return found


def read(
    path: str | Place,
    *,
    missing: MissingTokens | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    roles: Mapping[str, Role] | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: SeparatorOption = None,
    thousands: SeparatorOption = None,
    sheet: str | int | None = None,
    query: str | None = None,
) -> Table:
    """Read a table from a file or a database. `leafcover.read` documents the parameters."""
    path = place_of(path)
    columns: dict[str, Any] = {"missing": missing, "category": category, "drop": drop, "roles": roles}
    if sheet is not None and not is_workbook(path):
        raise TableError(f"A sheet is for an .xlsx workbook, and '{path}' has no sheets. Leave out sheet=....")
    if isinstance(path, DatabaseTable):
        from leafcover.table.sql import read_database

        raws, source = read_database(path, query=query, drop=drop)
        table = build_table(raws, source, path, **columns)
        return replace(table, reading=replace(table.reading, name=source.relation or "query", query=query))
    if query is not None:
        raise TableError(f"A query is for a database, and '{path}' is a file. Leave out query=....")
    if path.is_dir():
        raise TableError(f"'{path}' is a directory. Give a file inside it.")
    kind = format_of(path)
    if not path.exists():
        raise TableError(f"There is no file '{path}'. Check its name and directory.")
    try:
        tokens = {name: _tokens(name, given) for name, given in (missing or {}).items()}
        if kind == "excel":
            raws, source = read_excel(path, sheet=sheet, missing=tokens, category=category, drop=drop)
        elif kind == "statistical":
            raws, source = read_statistical(path, encoding=encoding, missing=tokens)
        else:
            raws, source = _read_raw(path, kind, encoding, delimiter)
    except OSError as error:
        raise TableError(f"'{path}' cannot be read: {error.strerror or error}. Check the file.") from error
    named = {*(missing or ()), *category, *drop, *(roles or ())}
    raws, dropped = without_row_names(raws, path, named) if kind == "csv" else without_index(raws, named)
    given = GivenSeparators(decimal, thousands)
    table = build_table(raws, source, path, **columns, given=given)
    reading = replace(table.reading, name=path.name, encoding=encoding, delimiter=delimiter, sheet=sheet)
    return replace(table, reading=reading, warnings=(*dropped, *table.warnings))


def without_index(raws: list[RawColumn], named: Collection[str]) -> tuple[list[RawColumn], tuple[str, ...]]:
    """The columns without a pandas index, and a warning if there was one; columns in ``named`` are kept."""
    index = [raw.name for raw in raws if raw.is_index and raw.name not in named]
    if not index or len(index) == len(raws):
        return raws, ()
    return [raw for raw in raws if raw.name not in index], (index_warning(index),)


def _read_raw(path: Path, kind: str, encoding: str, delimiter: str | None) -> tuple[list[RawColumn], Source]:
    if kind == "parquet":
        return read_parquet(path)
    if kind == "arrow":
        return read_arrow(path)
    if kind == "arff":
        return read_arff(path, encoding=encoding)
    if kind == "c45":
        return read_c45(path, encoding=encoding)
    return read_delimited(path, encoding=encoding, delimiter=delimiter)


def build_table(
    raws: list[RawColumn],
    source: Source,
    where: object,
    *,
    missing: MissingTokens | None = None,
    category: Sequence[str] = (),
    drop: Sequence[str] = (),
    roles: Mapping[str, Role] | None = None,
    given: GivenSeparators = NOTHING_GIVEN,
) -> Table:
    """Build a table from raw columns. Empties ``raws``, so that each raw column can be freed once it is converted."""
    for option, value in {"category": category, "drop": drop}.items():
        if isinstance(value, str):
            raise ValueOutOfRange(option, value, f"a list of texts, such as [{value!r}]")
    tokens = {name: _tokens(name, given) for name, given in (missing or {}).items()}
    roles = roles or {}
    for name, role in roles.items():
        if role not in get_args(Role):
            raise ValueOutOfRange(f"The role of {name!r}", role, "one of " + ", ".join(get_args(Role)))
    names = [raw.name for raw in raws]
    check_names(names, where)
    for name in (*tokens, *category, *drop, *roles):
        if name not in names:
            raise NameUnknown("column", name, names)
    if not raws or len(set(drop)) == len(names):
        raise TableError(f"No columns of '{where}' are left. Drop fewer columns.")
    given.check(names)
    check_rows(len(raws[0].stored), where)
    inferred: list[InferredColumn] = []
    doubts: tuple[str, ...] = ()
    raws.reverse()
    while raws:
        raw = raws.pop()
        if raw.name not in drop:
            result = _infer_column(raw, tokens.get(raw.name), category=raw.name in category)
            inferred.append(replace(result, warnings=(*raw.warnings, *result.warnings)))
    if source.format == "csv":
        inferred, doubts = settle_separators(inferred, tokens, given, source.delimiter)
    decimal, thousands = separators_of(one.column for one in inferred) if source.format == "csv" else (".", None)
    for result in inferred:
        if roles.get(result.column.name) == "weight":
            check_weight(result.column)
    return Table(
        columns=tuple(result.column for result in inferred),
        roles={name: role for name, role in roles.items() if name not in drop},
        warnings=(*doubts, *(warning for result in inferred for warning in result.warnings)),
        source=source,
        reading=ReadingOptions(
            drop=tuple(drop),
            category=(*category, *(one.column.name for one in inferred if one.is_too_long)),
            missing=tokens,
            decimal=decimal,
            thousands=thousands,
        ),
    )


def _tokens(name: str, given: Any) -> tuple[str, ...]:
    """The texts that mean a missing value; one of them may be given alone, and a number or date as itself.

    >>> _tokens("age", -9), _tokens("age", ["-9", "unknown"])
    (('-9',), ('-9', 'unknown'))
    """
    single = isinstance(given, str | Real | date)
    listed = [given] if single or not isinstance(given, Iterable) else list(given)
    if not all(isinstance(one, str | Real | date) for one in listed):
        raise ValueOutOfRange(f"missing[{name!r}]", given, "a list of texts or numbers, such as ['-9', 'unknown']")
    return tuple(str(one) for one in listed)


def _infer_column(raw: RawColumn, tokens: Sequence[str] | None, *, category: bool) -> InferredColumn:
    if raw.typed:
        return from_typed(raw.name, raw.stored, tokens=tokens, category=category)
    # A format that declares '?' missing always uses it, whatever other tokens the user gives.
    known = MISSING_TOKENS if tokens is None and raw.tokens is None else (*(raw.tokens or ()), *(tokens or ()))
    if raw.declared is not None and not category:
        return from_declared(raw, known)
    return from_text(raw.name, raw.stored, tokens=known, category=category)


class HasTable(Protocol):
    """A release, as far as writing needs to know it."""

    @property
    def table(self) -> Table:
        """The released table."""


@checks_arguments()
def write(table: IntoTable | HasTable, path: str | Place, *, force: bool = False) -> None:
    """Write a table to a file or a database; it appears complete or not at all.

    Parameters
    ----------
    table : Table, release or data frame
        A table, what `leafcover.release` returns, or a pandas, polars or pyarrow frame.
    path : str or Path
        The output file. Its suffix determines the format: .csv, .tsv (both optionally .gz), .parquet, .arrow,
        .feather, .xlsx, .dta, .sav, .zsav, .xpt, .arff, or C4.5's .data and .test with a .names file. Or a table of a
        database, such as "postgresql://host/db#released" or "out.duckdb#released".
    force : bool, default False
        Overwrite an existing file or table.

    Returns
    -------
    None
        When the file or table is complete.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine"))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     lc.write(table, Path(directory) / "wine.parquet")
    ...     len(lc.read(Path(directory) / "wine.parquet"))
    178
    """
    table, path = _table_of(table), place_of(path)
    if isinstance(path, DatabaseTable):
        from leafcover.table.sql import written_table

        with written_table(table, path, force=force):
            return
    check_output_format(path, table)
    with atomic_group(force=force) as stage:
        temporary = stage(path, False)  # opened first, so that the table itself appears last
        for companion, text in companion_files(table, path).items():
            stage(companion, False).write_text(text, "utf-8")
        write_to(table, path, temporary)


def check_output_format(path: Place, table: Table) -> None:
    """Refuse a format that cannot be written, or cannot hold the table."""
    if isinstance(path, DatabaseTable):
        from leafcover.table.sql import check_database_columns

        check_database_columns(path, table)
        return
    try:
        kind = format_of(path)
    except TableError as error:
        raise OutputError(str(error)) from error
    if kind == "statistical":
        statistical_columns(table, path.suffix.lower())
    elif kind == "excel":
        excel_cells(table)
    elif kind == "c45":
        check_c45_output(table)


def _table_of(given: Any) -> Table:
    """The table of a release or of a data frame; a table is returned unchanged."""
    table = getattr(given, "table", given)
    if isinstance(table, Table):
        return table
    from leafcover.table.frames import from_frame

    return from_frame(given)


def companion_files(table: Table, path: Path) -> dict[Path, str]:
    """Texts that a format keeps next to the table: C4.5's ``.names`` (a ``.test`` file reuses an existing one)."""
    declaration = path.with_suffix(".names")
    if format_of(path) != "c45" or (path.suffix.lower() == ".test" and declaration.exists()):
        return {}
    return {declaration: names_text(table)}


def write_to(table: Table, path: Path, temporary: Path) -> None:
    """Write a table to ``temporary`` in the format of ``path``, for callers that manage an `atomic_group`."""
    kind, names = format_of(path), list(table.names)
    if kind in ("parquet", "arrow"):
        own_type = isinstance(table.source, Source) and table.source.is_typed
        columns = [as_typed(column, own_type=own_type) for column in table]
        typed = typed_table(names, columns, table.source if own_type else Source("parquet"))
        (write_parquet if kind == "parquet" else write_arrow)(typed, temporary)
    elif kind == "arff":
        write_arff(table, temporary)
    elif kind == "c45":
        write_c45(table, temporary)
    elif kind == "excel":
        write_excel(table, temporary)
    elif kind == "statistical":
        write_statistical(table, temporary, path.suffix.lower())
    else:
        packed = path.suffix.lower() == ".gz"
        source = _text_source(table, path)
        columns = [as_text(column) for column in table]
        write_delimited(header_line(names, source), columns, source, temporary, packed=packed)


def _text_source(table: Table, path: Path) -> Source:
    """How to write a CSV file: like the input if that was CSV, otherwise with commas (tabs for .tsv)."""
    source = table.source if isinstance(table.source, Source) and table.source.format == "csv" else Source("csv")
    tabs = ".tsv" in [suffix.lower() for suffix in path.suffixes]
    return replace(source, delimiter="\t" if tabs else source.delimiter or ",")


# Sample tables that ship with the package, with their sources and licences: real data sets, and a generated hospital.


SAMPLES = {
    "adult": "adult.csv.gz",
    "boston": "boston.csv",
    "cps1985": "cps1985.csv",
    "german_credit": "german_credit.csv",
    "hospital": "hospital.csv.gz",
    "wbc": "wbc.csv",
    "wine": "wine.csv",
}


@checks_arguments()
def sample(name: str) -> Path:
    """The path of a sample table that ships with the package.

    Parameters
    ----------
    name : str
        One of "adult", "boston", "cps1985", "german_credit", "hospital" (generated visits of people who do not exist,
        with names and numbers that a release must not have), "wbc" and "wine".

    Returns
    -------
    Path
        The file, ready for `leafcover.read`.

    Examples
    --------
    >>> sample("wine").name
    'wine.csv'
    """
    if name not in SAMPLES:
        raise NameUnknown("sample table", name, SAMPLES)
    return Path(str(files("leafcover").joinpath("data", SAMPLES[name])))
