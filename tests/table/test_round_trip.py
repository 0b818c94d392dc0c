"""Every type through every format: the table in docs/reference/file-formats.md is what a run gives.

`python -m tests.table.test_round_trip` rewrites the table, for a change that is meant to change it.
"""

import re
import tempfile
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import openpyxl
import pandas
import pyarrow as pa
import pyreadstat
import pytest

from leafcover.errors import LeafcoverError
from leafcover.table.frames import from_frame, to_frame
from leafcover.table.io import read, write
from leafcover.table.output import as_typed

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "file-formats.md"
BEGIN, END = "<!-- round trip: made by tests/table/test_round_trip.py -->", "<!-- end of round trip -->"

DAY, HOUR = 86_400_000, 3_600_000
COLUMNS = {
    "integer": pa.array([1, -20, 300, 2**40]),
    "integer, some missing": pa.array([1, None, 300, 4]),
    "decimal": pa.array([Decimal("0.69"), None, Decimal("-2.10"), Decimal("3.00")], pa.decimal128(9, 2)),
    "float": pa.array([0.1, None, 1 / 3, -1e-9]),
    "boolean": pa.array([True, None, False, True]),
    "category": pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 1]), ["north", "east", "south"]),
    "ordered category": pa.DictionaryArray.from_arrays(pa.array([2, None, 0, 1]), ["low", "mid", "high"], ordered=True),
    "date": pa.array([0, None, 18_000, 7], pa.date32()),
    "time of day": pa.array([0, None, 8 * HOUR + 500, DAY - 1000], pa.time32("ms")),
    "timestamp": pa.array([0, None, 1_600_000_000_123, 5000], pa.timestamp("ms")),
    "timestamp, time zone": pa.array([0, None, 1_600_000_000_123, 5000], pa.timestamp("ms", "Europe/Berlin")),
    "duration": pa.array([0, None, 30 * HOUR, 1500], pa.duration("ms")),
    "text": pa.array(['say "x", y;\n\tz', None, "=1+1", "Zürich 日本 😀"]),
}
# Names that every format permits.
NAMES = {f"c{place}": name for place, name in enumerate(COLUMNS)}
FILES = ("csv", "tsv", "arff", "data", "parquet", "arrow", "xlsx", "dta", "sav", "xpt")
DATABASES = ("sqlite", "duckdb", "postgresql")
FRAMES = ("pandas", "polars", "pyarrow")
FORMATS = {name: f"`.{name}`" for name in FILES} | {"sqlite": "SQLite", "duckdb": "DuckDB", "postgresql": "PostgreSQL"}
FORMATS |= {name: name for name in FRAMES}


def table_of(names):
    return from_frame(pa.table({name: COLUMNS[NAMES[name]] for name in names}))


def through(name, names, folder, request):
    """The columns after a way through a format."""
    table = table_of(names)
    if name in FRAMES:
        frame = {"pandas": pa.Table.to_pandas, "polars": in_polars, "pyarrow": pa.table}[name](to_frame(table))
        return from_frame(to_frame(from_frame(frame)))
    if name == "data":  # C4.5's format needs a class
        table = from_frame(to_frame(table).append_column("class", pa.array(["a", "b", "a", "b"])))
    place = folder / f"out.{name}"
    if name == "postgresql":
        place = f"{request.getfixturevalue('postgresql').address()}#round_trip"
    elif name in DATABASES:
        pytest.importorskip(name if name == "duckdb" else "sqlite3", reason="make test installs it")
        place = f"{name}:///{place}#round_trip"
    write(table, place, force=True)
    return read(place)


def in_polars(table):
    import polars

    return polars.from_arrow(table)


def outcome(name, folder, request):
    """What becomes of each type: yes, or the type that comes back; in bold if its values differ."""
    try:
        again = through(name, NAMES, folder, request)
        columns = {one: again[one] for one in NAMES}
    except LeafcoverError:  # one of the types is refused: each on its own, beside numbers
        columns = {}
        for one in NAMES:
            try:
                columns[one] = through(name, ["c0", one] if one != "c0" else ["c0"], folder, request)[one]
            except LeafcoverError:
                columns[one] = None
    typed = name not in ("csv", "tsv", "arff", "data")
    return {NAMES[one]: cell(table_of([one])[one], column, typed) for one, column in columns.items()}


def cell(before, after, typed):
    if after is None:
        return "refused"
    found = type_of(after, typed)
    same = before.kind == after.kind and same_values(before, after)
    if same and found == type_of(before, True):
        return "yes"
    return found if same else f"**{found}**"


def same_values(before, after):
    if before.is_category:
        return texts(before) == texts(after)
    return np.array_equal(before.values, after.values, equal_nan=True)


def texts(column):
    return [None if code < 0 else column.levels[code] for code in column.values]


def type_of(column, typed):
    """The type that a column has, or would have in a typed format."""
    kind = as_typed(column, own_type=typed).type
    if pa.types.is_dictionary(kind):
        return "ordered category" if kind.ordered else "category"
    if pa.types.is_timestamp(kind):
        return "timestamp" if not kind.tz else "timestamp, UTC" if kind.tz == "UTC" else "timestamp, time zone"
    for test, name in (
        (pa.types.is_boolean, "boolean"),
        (pa.types.is_integer, "integer"),
        (pa.types.is_decimal, "decimal"),
        (pa.types.is_floating, "float"),
        (pa.types.is_date, "date"),
        (pa.types.is_time, "time of day"),
        (pa.types.is_duration, "duration"),
    ):
        if test(kind):
            return name
    return "text"


def lines(outcomes):
    """The table as Markdown, a line for each format."""
    head = [f"| | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    return head + [f"| {FORMATS[name]} | {' | '.join(found.values())} |" for name, found in outcomes.items()]


@cache
def documented():
    text = PAGE.read_text("utf-8")
    block = text.partition(BEGIN)[2].partition(END)[0].strip().splitlines()
    return {line.split(" | ")[0].strip("| "): line for line in block[2:]}


@pytest.mark.parametrize("name", FORMATS)
def test_the_page_says_what_becomes_of_every_type(name, tmp_path, request):
    if name in ("pandas", "polars"):
        pytest.importorskip(name)
    line = lines({name: outcome(name, tmp_path, request)})[-1]
    assert documented()[FORMATS[name]] == line, "Run python -m tests.table.test_round_trip if it is meant to change."


def test_the_page_has_every_format_once():
    assert list(documented()) == list(FORMATS.values())


def test_a_plain_column_survives_everywhere():
    """Numbers, text and dates without surprises: kind and values are the same in every format."""
    for line in documented().values():
        cells = dict(zip(COLUMNS, re.split(r" \| ", line.strip("| "))[1:], strict=True))
        assert not any(
            cells[name].startswith(("**", "refused")) for name in ("integer", "float", "decimal", "category")
        )


def rewrite():
    from tests.survey.postgresql import Server, programs

    server = Server(programs())
    request = type("Request", (), {"getfixturevalue": lambda self, name: server})()
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = lines({name: outcome(name, Path(folder), request) for name in FORMATS})
    finally:
        server.stop()
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    block = "\n".join([BEGIN, "", *found, "", END])
    PAGE.write_text(before + block + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    rewrite()


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "xlsx", "dta", "sav", "xpt", "arff", "sqlite", "duckdb"])
def test_codes_with_leading_zeros_are_the_same_text_in_every_format(ending, tmp_path):
    texts = ["01067", "80331", "00042", None] * 5
    (tmp_path / "in.csv").write_text("zip,pay\n" + "".join(f"{text or ''},{at}\n" for at, text in enumerate(texts)))
    assert "'zip' has leading zeros" in read(tmp_path / "in.csv").warnings[0]
    table = read(tmp_path / "in.csv", category=["zip"])
    out = f"{tmp_path / 'out'}.{ending}" + ("#t" if ending in ("sqlite", "duckdb") else "")
    write(table, out)
    again = read(out, category=["zip"])["zip"]
    assert [None if code < 0 else again.levels[code] for code in again.values] == texts


@pytest.mark.parametrize(("ending", "display"), [("sav", "N5"), ("dta", "%05.0f"), ("xpt", "Z5."), ("xlsx", "00000")])
def test_numbers_that_a_file_shows_with_leading_zeros_are_codes(ending, display, tmp_path):
    path, numbers = tmp_path / f"in.{ending}", [1067, 80331, 42]
    if ending == "xlsx":
        book = openpyxl.Workbook()
        for at, number in enumerate(["zip", *numbers], 1):
            book.active.cell(at, 1, number).number_format = display
        book.save(path)
    else:
        kind = {"sav": pyreadstat.write_sav, "dta": pyreadstat.write_dta, "xpt": pyreadstat.write_xport}[ending]
        frame = pandas.DataFrame({"zip": pandas.Series(numbers, dtype="int32")})
        kind(frame, str(path), variable_format={"zip": display})
    assert read(path)["zip"].levels == ("00042", "01067", "80331")
