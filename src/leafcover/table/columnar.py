"""Parquet and Arrow files: typed columns in, typed columns out, without metadata or statistics."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from leafcover.errors import TableError
from leafcover.table.source import Raw, Source


def read_parquet(path: Path) -> tuple[list[Raw], Source]:
    """The typed columns of a Parquet file."""
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, "Parquet", error) from error
    return _raws(table), Source("parquet")


def read_arrow(path: Path) -> tuple[list[Raw], Source]:
    """The typed columns of an Arrow file (or stream) or a Feather file."""
    import pyarrow.feather
    import pyarrow.ipc

    try:
        with path.open("rb") as file:
            start = file.read(6)
        if start == b"ARROW1":
            with pa.OSFile(str(path)) as data:
                table = pyarrow.ipc.open_file(data).read_all()
        elif start.startswith(b"FEA1"):
            table = pyarrow.feather.read_table(path, memory_map=False)
        else:
            with pa.OSFile(str(path)) as data:
                table = pyarrow.ipc.open_stream(data).read_all()
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, "Arrow", error) from error
    return _raws(table), Source("arrow")


def _broken(path: Path, kind: str, error: Exception) -> TableError:
    why = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
    return TableError(f"'{path}' is not a whole {kind} file ({why}). Write it again, or use the suffix of its format.")


def _raws(table: Any) -> list[Raw]:
    # A pandas index that was stored as a column is no column of the table.
    hidden = _index_names(table.schema.metadata)
    return [
        Raw(name, plain_type(column), typed=True)
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in hidden
    ]


def _index_names(metadata: dict[bytes, bytes] | None) -> set[str]:
    import json

    if not metadata or b"pandas" not in metadata:
        return set()
    try:
        index = json.loads(metadata[b"pandas"]).get("index_columns", [])
    except ValueError:
        return set()
    return {name for name in index if isinstance(name, str) and name.startswith("__index_level_")}


def plain_type(column: Any) -> Any:
    """The storage of an extension type, and unions of encodings made plain."""
    if isinstance(column.type, pa.BaseExtensionType):
        return column.cast(column.type.storage_type)
    if pa.types.is_run_end_encoded(column.type):
        return column.cast(column.type.value_type)
    return column


def write_parquet(names: list[str], columns: list[Any], target: Path) -> None:
    """Write typed columns as Parquet; time zones other than UTC become UTC, as Parquet itself has no other."""
    import pyarrow.parquet

    pyarrow.parquet.write_table(
        pa.table(columns, names=names), target, write_statistics=False, store_schema=False, compression="zstd"
    )


def write_arrow(names: list[str], columns: list[Any], target: Path) -> None:
    """Write typed columns as an Arrow file (which is a Feather file, version 2)."""
    import pyarrow.ipc

    table = pa.table(columns, names=names)
    with pa.OSFile(str(target), "wb") as file, pyarrow.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
