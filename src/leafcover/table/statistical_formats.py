"""Stata, SPSS and SAS files: .dta, .sav, .zsav and .xpt; .por and .sas7bdat can only be read.

    table = read("survey.sav")      # codes with value labels are a category
    write(table, "survey.dta")      # the same codes, labels and variable labels

A column of numbers in which every value that occurs has a label is a category: its levels are the labels, and the
output has the codes and labels of the levels that occur, and no others. If only some values have a label, the column
is a number. Values declared missing (97 to 99 in SPSS, .a to .z in Stata) are missing, and missing alone is written.

Variable labels, display formats and SPSS measurement levels are kept. File labels, notes, multiple response sets,
declarations of missing values and the time of writing are not: the output has a fixed time.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Bools, Floats
from leafcover.errors import OutputError, TableError, install
from leafcover.table.formatting import as_floats, is_text, plain_text
from leafcover.table.infer import padded
from leafcover.table.output import as_text, as_typed, duration_seconds, observed_levels, seconds_of_day
from leafcover.table.table import MAX_GRID_POINTS, Column, RawColumn, Source, Table

Family: TypeAlias = Literal["stata", "spss", "sas"]
Code: TypeAlias = Any  # a number or a text
Class: TypeAlias = Literal["number", "date", "datetime", "time", "duration", "text"]

READERS: dict[str, tuple[Family, str]] = {
    ".dta": ("stata", "read_dta"),
    ".sav": ("spss", "read_sav"),
    ".zsav": ("spss", "read_sav"),
    ".por": ("spss", "read_por"),
    ".xpt": ("sas", "read_xport"),
    ".sas7bdat": ("sas", "read_sas7bdat"),
}
INSTEAD = {".por": ".sav", ".sas7bdat": ".xpt"}  # formats that are only read, and what to write instead

DAY = 86_400.0
EPOCH_DAYS = {"stata": 3_653.0, "spss": 141_428.0, "sas": 3_653.0}  # 1960-01-01 and 1582-10-14, before 1970
FIRST_DAY, LAST_DAY = -719_162.0, 2_932_896.0  # the years 1 to 9999
LONGEST_SPSS_LABEL = 120  # bytes
LARGEST_SAS = 7.2e75  # of its transport format
STATA_LONG = (-2_147_483_647, 2_147_483_620)  # beyond it, codes mean missing


@dataclass(frozen=True)
class StatisticalColumn:
    """What a Stata, SPSS or SAS file says of a column besides its values."""

    family: Family
    label: str = ""  # of the variable
    display: str = ""  # format, as the file spells it
    kind: Class = "number"
    measure: str = ""  # nominal, ordinal or scale; SPSS only
    levels: Mapping[Code, str] = field(default_factory=dict)  # the labels of the values that occur


# Reading.


def library() -> Any:
    """Pyreadstat, or a one-line error."""
    try:
        import pyreadstat
    except ImportError as error:
        raise TableError(f"Stata, SPSS and SAS files need {error.name}. {install('office')}") from None
    return pyreadstat


def read_statistical(
    path: Path, *, encoding: str = "utf-8", missing: Mapping[str, Sequence[str]] | None = None
) -> tuple[list[RawColumn], Source]:
    """The columns of a Stata, SPSS or SAS file. An encoding other than UTF-8 replaces the one that the file names.

    ``missing`` are codes that mean a missing value, by column: the others decide whether the column is a category.
    """
    family, reader = READERS[path.suffix.lower()]
    frame, meta = _parsed(path, reader, None if encoding.lower() in ("utf-8", "utf8") else encoding)
    raws, about = [], {}
    for name in meta.column_names:
        raw, about[name] = _raw_column(name, frame.pop(name), meta, family, (missing or {}).get(name, ()))
        raws.append(padded(raw, about[name].display))
    return raws, Source("statistical", about=about)


def _parsed(path: Path, reader: str, encoding: str | None) -> tuple[dict[str, Any], Any]:
    tool = library()
    options: dict[str, Any] = {"output_format": "dict", "disable_datetime_conversion": True}
    if reader not in ("read_por", "read_xport"):
        options["user_missing"] = True
    read = getattr(tool, reader)
    if encoding is not None and reader != "read_por" and not _is_utf8(path, read):
        options["encoding"] = encoding
    try:
        frame, meta = read(str(path), **options)
    except (tool.ReadstatError, tool.PyreadstatError, UnicodeDecodeError) as error:
        reason = str(error).strip().rstrip(".")
        advice = "Set encoding=... to its encoding" if "encod" in reason or "convert" in reason else "Export it again"
        kind = path.suffix.lower()
        raise TableError(f"'{path}' cannot be read as a {kind} file ({reason}). {advice}.") from error
    return frame, meta


def _is_utf8(path: Path, read: Any) -> bool:
    """Whether a file says, by its version or an entry, that its text is UTF-8, or is UTF-8 where no file can say so."""
    if path.suffix.lower() == ".dta":
        with path.open("rb") as file:
            return re.match(rb"<stata_dta><header><release>(11[89]|1[2-9]\d)<", file.read(40)) is not None
    try:
        meta = read(str(path), metadataonly=path.suffix.lower() != ".xpt", output_format="dict")[1]
    except Exception:  # the caller reads the file again and says what is wrong
        return False
    return path.suffix.lower() == ".xpt" or meta.file_encoding == "UTF-8"


def _raw_column(
    name: str, values: list[Any], meta: Any, family: Family, tokens: Sequence[str]
) -> tuple[RawColumn, StatisticalColumn]:
    display = meta.original_variable_types.get(name) or ""
    label = meta.column_names_to_labels.get(name) or ""
    labels = {code: text for code, text in meta.variable_value_labels.get(name, {}).items() if text.strip()}
    declared = meta.missing_ranges.get(name, ())
    if meta.readstat_variable_types[name] == "string":
        stored, gone = _texts(values, declared)
        kind: Class = "text"
    else:
        known = set(meta.missing_user_values.get(name, ()))
        numbers, gone = _numbers(values, known, declared)
        kind = _class(display, family, numbers)
        stored = _typed(name, numbers, kind, family, meta.readstat_variable_types[name], display)
    measure = meta.variable_measure.get(name, "")
    warnings = [_declared_missing(name)] if gone else []
    levels, some = _levels(stored, labels) if kind in ("number", "text") else ({}, False)
    if levels and tokens and kind == "number":
        stored, levels, some = _without_codes(stored, levels, labels, tokens)
    if some and kind == "number":
        unsaid = {code: label for code, label in levels.items() if f"{code:g}" not in tokens}
        warnings += [_partly_labelled(name, bool(missing_codes(stored, unsaid)))] if unsaid else []
    elif levels and not some:
        stored = _labelled(stored, levels, ordered=measure == "ordinal")
    about = StatisticalColumn(family, label, display, kind, measure if measure != "unknown" else "", levels)
    return RawColumn(name, stored, typed=True, warnings=tuple(warnings)), about


def _texts(values: list[Any], declared: Sequence[Mapping[str, Any]]) -> tuple[Any, bool]:
    """Text, missing where it is empty or declared missing, and whether some was declared missing."""
    codes = {str(one["lo"]).rstrip() for one in declared}
    texts = pa.array(values, pa.string())
    gone = pc.is_in(pc.utf8_rtrim_whitespace(texts), value_set=pa.array(sorted(codes), pa.string()))
    found = bool(codes) and bool(pc.any(gone).as_py())
    empty = pc.or_(gone, pc.equal(texts, ""))
    return pc.if_else(empty, None, texts), found


def _numbers(values: list[Any], tags: set[str], declared: Sequence[Mapping[str, Any]]) -> tuple[Floats, bool]:
    """Numbers, nan where missing, and whether some were declared missing."""
    tagged = [isinstance(value, str) for value in values] if tags else []
    if tags:
        values = [None if tag else value for value, tag in zip(values, tagged, strict=True)]
    numbers = np.array(values, np.float64)
    gone: Bools = np.zeros(len(numbers), np.bool_)
    for one in declared:
        gone |= (numbers >= one["lo"]) & (numbers <= one["hi"])
    numbers[gone] = np.nan
    return numbers, any(tagged) or bool(gone.any())


DATES = {
    "spss": r"(DATE|ADATE|EDATE|JDATE|SDATE|QYR|MOYR|WKYR)[\d.]*",
    "sas": r"(DATE|DDMMYY[BCDNPS]?|MMDDYY[BCDNPS]?|YYMMDD[BCDNPS]?|[BE]8601D[AN]|IS8601DA|JULIAN|MONYY|MMYY[CDNPS]?"
    r"|YYMM[CDNPS]?|YYMON|WEEKDATX?|WORDDATX?|YYQ|NLDATE|EURDFDD|EURDFDE)[\d.]*",
    "stata": r"%-?(d|td).*",
}
DATETIMES = {
    "spss": r"(DATETIME|YMDHMS)[\d.]*",
    "sas": r"(DATETIME|[BE]8601D[TZ]|IS8601DT|DATEAMPM|MDYAMPM|NLDATM)[\d.]*",
    "stata": r"%-?tc.*",
}
TIMES = {
    "spss": r"(TIME|MTIME)[\d.]*",
    "sas": r"(TIME|TIMEAMPM|HHMM|TOD|[BE]8601TM|IS8601TM|NLTIME)[\d.]*",
    "stata": r"%-?tc[Hh]{2}(?!.*([CYNDJQW]|[Mm]on)).*",
}
DURATIONS = {"spss": r"DTIME[\d.]*", "sas": r"MMSS[\d.]*", "stata": "$^"}


def _class(display: str, family: Family, numbers: Floats) -> Class:
    """What the numbers of a column mean, by its display format.

    >>> [_class(one, "stata", np.array([1.0])) for one in ("%td", "%tcHH:MM:SS", "%tc", "%tm")]
    ['date', 'time', 'datetime', 'number']
    """
    form = display if family == "stata" else display.upper()
    if re.fullmatch(TIMES[family], form):
        known = numbers[~np.isnan(numbers)]
        return "time" if family == "stata" or ((known >= 0) & (known < DAY)).all() else "duration"
    for kind, patterns in (("date", DATES), ("datetime", DATETIMES), ("duration", DURATIONS)):
        if re.fullmatch(patterns[family], form):
            return kind  # type: ignore[return-value]
    return "number"


def _typed(name: str, numbers: Floats, kind: Class, family: Family, storage: str, display: str) -> Any:
    """The numbers of a file as the type that they mean."""
    missing = np.isnan(numbers)
    if kind == "number":
        return _typed_numbers(numbers, missing, family, storage, display)
    mask = missing if missing.any() else None
    counts = np.where(missing, 0.0, numbers)
    scale = 1.0 if family == "stata" and kind != "date" else 1000.0
    if kind == "date":
        days = counts / (DAY if family == "spss" else 1.0)
        if (np.rint(days) == days).all():
            days -= np.where(missing, 0.0, EPOCH_DAYS[family])
            _check_days(name, days)
            return pa.array(days.astype(np.int32), pa.int32(), mask=mask).cast(pa.date32())
        counts, kind = counts * (DAY if family != "spss" else 1.0), "datetime"
    # Thousandths of a second: seconds since 1582 leave a float64 no more than two millionths.
    thousandths = np.rint(counts * scale)
    if kind == "datetime":
        thousandths -= np.where(missing, 0.0, EPOCH_DAYS[family] * DAY * 1000.0)
        _check_days(name, thousandths / (DAY * 1000.0))
        return pa.array(thousandths.astype(np.int64), pa.timestamp("ms"), mask=mask)
    if kind == "duration":
        return pa.array(thousandths.astype(np.int64), pa.duration("ms"), mask=mask)
    return pa.array(thousandths.astype(np.int32), pa.time32("ms"), mask=mask)


def _typed_numbers(numbers: Floats, missing: Bools, family: Family, storage: str, display: str) -> Any:
    """Integers if the file stores them, or shows whole numbers without decimal places; otherwise floats."""
    mask = missing if missing.any() else None
    if storage in ("int8", "int16", "int32"):
        return pa.array(np.where(missing, 0, numbers).astype(storage), mask=mask)
    known = numbers[~missing]
    whole = bool(len(known)) and bool((np.rint(known) == known).all()) and abs(known).max() < MAX_GRID_POINTS
    if family != "stata" and whole and not re.search(r"\.[1-9]", display):
        return pa.array(np.where(missing, 0, numbers).astype(np.int64), mask=mask)
    return pa.array(numbers.astype(np.float32 if storage == "float" else np.float64), mask=mask)


def _check_days(name: str, days: Floats) -> None:
    if ((days < FIRST_DAY) | (days > LAST_DAY)).any():
        raise TableError(f"Column {name!r} has dates outside the years 1 to 9999. Correct them, or drop the column.")


def _levels(stored: Any, labels: Mapping[Code, str]) -> tuple[dict[Code, str], bool]:
    """The labels of the values that occur, in the order of the values, and whether some value has none.

    Levels of values with the same label also have their codes.
    """
    occurring = sorted(stored.unique().drop_null().to_pylist()) if labels else []
    found = {code: labels[code] for code in occurring if code in labels}
    times = Counter(found.values())
    shown = {code: code if isinstance(code, str) else f"{code:g}" for code in found}
    levels = {code: label if times[label] == 1 else f"{label} [{shown[code]}]" for code, label in found.items()}
    return levels, bool(found) and len(found) < len(occurring)


def _without_codes(
    stored: Any, levels: dict[Code, str], labels: Mapping[Code, str], tokens: Sequence[str]
) -> tuple[Any, dict[Code, str], bool]:
    """A column without codes that mean a missing value, if all other values have labels; otherwise as it is."""
    codes = [code for code in levels if f"{code:g}" in tokens]
    gone = pc.is_in(stored, value_set=pa.array(codes, stored.type))
    known = pc.if_else(gone, None, stored)
    found, some = _levels(known, labels)
    return (known, found, False) if found and not some else (stored, levels, True)


MISSING_LABELS = re.compile(
    r"refus|do(es)?n.?t know|not know|\bdk\b|no answer|not applic|inapplic|missing|unknown|not stated|\bn/?a\b"
    r"|wei(ß|ss) nicht|verweiger|keine angabe|keine antwort|trifft nicht zu|nicht erhoben|unbekannt|fehlt"
    r"|ne sait pas|sans réponse|non[ -]réponse|no sabe|no contesta|no responde|non sa\b|non risponde|onbekend|vet ej",
    re.IGNORECASE,
)


def missing_codes(stored: Any, levels: Mapping[Code, str]) -> dict[str, str]:
    """Codes among numbers that mean a missing value, with their labels: by the label, or below zero where no number is.

    >>> missing_codes(pa.array([1200, -9, 0, 1]), {-9: "refused", 1: "one"})
    {'-9': 'refused'}
    """
    coded = [code for code in levels if not isinstance(code, str)]
    others = pc.min(stored.filter(pc.invert(pc.is_in(stored, value_set=pa.array(coded, stored.type))))).as_py()
    positive = others is not None and others >= 0
    return {f"{c:g}": levels[c] for c in coded if MISSING_LABELS.search(levels[c]) or (positive and c < 0)}


def _labelled(stored: Any, levels: Mapping[Code, str], *, ordered: bool) -> Any:
    codes = pa.array(list(levels), stored.type)
    indices = pc.index_in(stored, value_set=codes)
    return pa.DictionaryArray.from_arrays(indices, pa.array(list(levels.values())), ordered=ordered)


def _declared_missing(name: str) -> str:
    return (
        f"Column {name!r} has values that its file declares missing. They are missing here and in the release, "
        "which does not say why."
    )


def _partly_labelled(name: str, looks_missing: bool) -> str:
    advice = f"If its values are codes, read it with category=[{name!r}]."
    if looks_missing:
        advice = "Some of them look like codes for missing values: declare these with missing=...."
    return f"Column {name!r} has labels for some of its values only and is read as a number. {advice}"


# Writing.


@dataclass(frozen=True, eq=False)
class _OutputColumn:
    """A column as a file holds it: numbers or text, with what the file says of them."""

    values: Any  # float64 with nan, or an Arrow array of text
    whole: bool = False
    display: str = ""
    labels: Mapping[Code, str] = field(default_factory=dict)
    label: str = ""
    measure: str = ""


def write_statistical(table: Table, target: Path, suffix: str) -> None:
    """Write a Stata, SPSS or SAS file; ``suffix`` determines the format. The same table gives the same bytes."""
    columns = statistical_columns(table, suffix)
    tool, family = library(), READERS[suffix][0]
    options: dict[str, Any] = {
        "column_labels": {name: one.label for name, one in columns.items() if one.label},
        "variable_format": {name: one.display for name, one in columns.items() if one.display},
    }
    if family != "sas":
        options["variable_value_labels"] = {name: dict(one.labels) for name, one in columns.items() if one.labels}
    frame = _frame(columns)
    try:
        if family == "stata":
            tool.write_dta(frame, str(target), version=14, **options)
        elif family == "spss":
            measures = {name: one.measure for name, one in columns.items() if one.measure}
            tool.write_sav(frame, str(target), compress=suffix == ".zsav", variable_measure=measures, **options)
        else:
            tool.write_xport(frame, str(target), file_format_version=_transport_version(columns), **options)
    except (tool.ReadstatError, tool.PyreadstatError) as error:
        reason = str(error).strip().rstrip(".")
        raise OutputError(f"The table cannot be written as {suffix} ({reason}). Write another format.") from error
    _fix_time(target, family)


def statistical_columns(table: Table, suffix: str) -> dict[str, _OutputColumn]:
    """How a format holds each column; an error if it cannot."""
    _check_names(suffix, table.names)
    family = READERS[suffix][0]
    own = isinstance(table.source, Source) and table.source.format == "statistical"
    about = table.source.about if own else {}
    found = {column.name: _output(column, table, about.get(column.name), family) for column in table}
    for name, one in found.items() if family == "spss" else ():
        if any(len(label.encode()) > LONGEST_SPSS_LABEL for label in one.labels.values()):
            raise OutputError(
                f"Column {name!r} has a value label of more than {LONGEST_SPSS_LABEL} bytes, the most in SPSS. "
                f"Shorten it, or read the column as text with category=[{name!r}]."
            )
    return found


def _output(column: Column, table: Table, about: StatisticalColumn | None, family: Family) -> _OutputColumn:
    """How a format holds a column: with the labels and formats of its file, as far as it was of the same family."""
    own_type = isinstance(table.source, Source) and table.source.is_typed
    array = as_typed(column, own_type=own_type)
    label = about.label if about is not None else ""
    found = _coded(column, about, family)
    if found is None and pa.types.is_dictionary(array.type) and array.type.ordered and family != "sas":
        levels = array.dictionary.cast(pa.string()).to_pylist()
        found = _numbered(array.indices, dict(enumerate(levels, 1)), "ordinal")
    if found is None and pa.types.is_boolean(array.type) and family != "sas":
        labels = {code: text for code, text in ((0, "false"), (1, "true")) if text in observed_levels(column)}
        found = _OutputColumn(as_floats(array.cast(pa.int8())), whole=True, labels=labels, measure="nominal")
    if found is None:
        found = _plain(column, array, about, family, own_tokens=own_type)
    measure = about.measure if about is not None and about.measure else found.measure
    return replace(found, label=label, measure=measure if family == "spss" else "")


def _coded(column: Column, about: StatisticalColumn | None, family: Family) -> _OutputColumn | None:
    """A category by the codes of its levels; a level that the file did not have gets the next free code."""
    if about is None or not column.is_category or family == "sas":
        return None
    code_of = {level: code for code, level in about.levels.items()}
    occurring = observed_levels(column)
    if not any(level in code_of for level in occurring):
        return None
    if about.kind == "text":
        codes = {level: code_of.get(level, level) for level in column.levels}
        if family != "spss":
            return None
        values = pa.array([codes[level] for level in column.levels], pa.string())
        texts = values.take(pa.array(column.values, mask=column.values == MISSING))
        return _OutputColumn(texts, labels={codes[level]: level for level in occurring if level in code_of})
    numbers = {level: float(code_of[level]) for level in occurring if level in code_of}
    free = max(float(code) for code in code_of.values()) // 1
    for place, level in enumerate([level for level in occurring if level not in numbers], 1):
        numbers[level] = free + place
    if family == "stata" and not all(code == int(code) for code in numbers.values()):  # labels are for integers only
        numbers = {level: place for place, level in enumerate(sorted(numbers, key=lambda level: numbers[level]), 1)}
    lookup = np.array([numbers.get(level, np.nan) for level in column.levels] + [np.nan])
    whole = all(code == int(code) for code in numbers.values())
    labels = {int(code) if whole else code: level for level, code in sorted(numbers.items(), key=lambda one: one[1])}
    display = about.display if about.family == family else ("F8.0" if family == "spss" and whole else "")
    return _OutputColumn(lookup[column.values], whole, display, labels, measure="nominal")


def _numbered(indices: Any, levels: Mapping[int, str], measure: str) -> _OutputColumn:
    """The levels of an ordered category as the codes 1, 2, 3 ..."""
    return _OutputColumn(as_floats(indices) + 1.0, whole=True, labels=dict(levels), measure=measure)


def _plain(
    column: Column, array: Any, about: StatisticalColumn | None, family: Family, *, own_tokens: bool
) -> _OutputColumn:
    kind = array.type
    if pa.types.is_time(kind):
        return _moments("time", seconds_of_day(array), about, family)
    if column.kind == "date" and not is_text(array):
        return _moments("date", column.values, about, family)
    if column.kind == "time" and not is_text(array):
        return _moments("datetime", column.values, about, family)
    if pa.types.is_duration(kind) and family == "spss":
        return _moments("duration", duration_seconds(array), about, family)
    if is_text(array) or pa.types.is_boolean(kind) or pa.types.is_dictionary(kind):
        return _text(column, about, family, own_tokens=own_tokens)
    return _number(column, array, about, family)


def _text(column: Column, about: StatisticalColumn | None, family: Family, *, own_tokens: bool) -> _OutputColumn:
    """A text that means a missing value stays as the user declared it; that of a text file is empty."""
    texts = plain_text(as_text(column))
    if (gone := column.missing).any():
        empty = gone & np.asarray(pc.equal(texts, "")) if own_tokens else gone
        texts = pc.if_else(pa.array(empty), None, texts)
    labels = {}
    if about is not None and about.kind == "text" and family == "spss":
        labels = {code: label for code, label in about.levels.items() if code in observed_levels(column)}
    return _OutputColumn(texts, labels=labels, measure="nominal")


def _number(column: Column, array: Any, about: StatisticalColumn | None, family: Family) -> _OutputColumn:
    numbers = duration_seconds(array) if pa.types.is_duration(array.type) else as_floats(array)
    if column.kind == "number":  # the nearest float64 of decimals, and the shortest text of float32
        numbers = np.where(column.missing, numbers, column.values)
    known = numbers[~np.isnan(numbers)]
    whole = bool((np.rint(known) == known).all())
    if len(known) and abs(known).max() >= MAX_GRID_POINTS and pa.types.is_integer(array.type):
        raise OutputError(
            f"Column {column.name!r} has whole numbers beyond 2^53, which Stata, SPSS and SAS cannot hold. "
            f"Read it as text with category=[{column.name!r}], or drop it."
        )
    if family == "sas" and len(known) and abs(known).max() > LARGEST_SAS:
        raise OutputError(f"Column {column.name!r} has numbers beyond 7e75, which an .xpt file cannot hold. Drop it.")
    labels = {}
    if about is not None and about.kind == "number" and family != "sas":
        labels = {code: label for code, label in about.levels.items() if not isinstance(code, str) and code in known}
        if family == "stata" and not all(code == int(code) for code in labels):
            labels = {}
    display = _number_display(column, known, about, family, whole=whole)
    return _OutputColumn(
        numbers, whole, display, {int(code) if whole else code: one for code, one in labels.items()}, measure="scale"
    )


def _number_display(
    column: Column, known: Floats, about: StatisticalColumn | None, family: Family, *, whole: bool
) -> str:
    """The format that the file had, unless it would hide decimal places."""
    own = about.display if about is not None and about.family == family and about.kind == "number" else ""
    if own and (whole or family == "sas" or not re.fullmatch(r"[A-Z]+\d+(\.0)?|%[\d,]+\.0fc?", own)):
        return own
    if family != "spss":
        return ""
    decimals = 0 if whole else min(column.grid.decimals, 9) if column.grid else 6
    digits = len(str(int(abs(known).max()))) if len(known) else 1
    return f"F{min(max(8, digits + decimals + 2), 40)}.{decimals}"


DISPLAYS = {
    ("stata", "date"): "%td",
    ("stata", "datetime"): "%tc",
    ("stata", "time"): "%tcHH:MM:SS",
    ("spss", "date"): "DATE11",
    ("spss", "datetime"): "DATETIME23.3",
    ("spss", "time"): "TIME12.3",
    ("spss", "duration"): "DTIME16.3",
    ("sas", "date"): "DATE9",
    ("sas", "datetime"): "DATETIME23.3",
    ("sas", "time"): "TIME12.3",
}


def _moments(kind: Class, values: Floats, about: StatisticalColumn | None, family: Family) -> _OutputColumn:
    """Dates (days), date times, times of day and durations (seconds) as the numbers of a format."""
    own = about is not None and about.family == family and about.kind == kind and about.display
    display = own or DISPLAYS[family, kind]
    if kind == "date":
        numbers = (values + EPOCH_DAYS[family]) * (DAY if family == "spss" else 1.0)
    else:
        seconds = values + (EPOCH_DAYS[family] * DAY if kind == "datetime" else 0.0)
        numbers = np.rint(seconds * 1000.0) / (1.0 if family == "stata" else 1000.0)
    return _OutputColumn(numbers, display=display, measure="scale")


def _frame(columns: Mapping[str, _OutputColumn]) -> Any:
    """A pandas frame, which is what pyreadstat writes."""
    try:
        import pandas
    except ImportError:
        raise OutputError(f"Writing Stata, SPSS and SAS files needs pandas. {install('office')}") from None
    return pandas.DataFrame({name: _series(pandas, one.values, whole=one.whole) for name, one in columns.items()})


def _series(pandas: Any, values: Any, *, whole: bool) -> Any:
    if not isinstance(values, np.ndarray):  # a missing text is an empty one; pyreadstat fails on long texts and None
        return pandas.Series(["" if one is None else one for one in values.to_pylist()], dtype="str")
    missing = np.isnan(values)
    known = values[~missing]
    if whole and len(known) and STATA_LONG[0] <= known.min() and known.max() <= STATA_LONG[1]:
        return pandas.Series(pandas.arrays.IntegerArray(np.where(missing, 0, values).astype(np.int32), missing))
    return pandas.Series(values)


# Names of variables. The library's own errors do not say which column is meant.

NAMES: dict[str, tuple[str, str]] = {
    "stata": (r"(?!str\d+$)[^\W\d]\w{0,31}", "1 to 32 letters, digits and underscores, not beginning with a digit"),
    "spss": (
        r"[^\W\d_][\w.@#$]{0,62}[\w@#$]|[^\W\d_]",
        "1 to 64 letters, digits and . _ @ # $, beginning with a letter",
    ),
    "sas": (r"[A-Za-z_][A-Za-z0-9_]{0,31}", "1 to 32 letters without accents, digits and underscores"),
}
RESERVED = {
    "stata": "_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|strL|using|with",
    "spss": "ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH",
    "sas": "_N_|_ERROR_|_NUMERIC_|_CHARACTER_|_ALL_",
}
PROGRAMS = {"stata": "Stata", "spss": "SPSS", "sas": "SAS"}


def _check_names(suffix: str, names: Sequence[str]) -> None:
    """Refuse a format that is only read, or a name that it does not permit."""
    library()
    if suffix in INSTEAD:
        raise OutputError(f"{suffix} files can be read, but not written. Write {INSTEAD[suffix]} instead.")
    family = READERS[suffix][0]
    pattern, allowed = NAMES[family]
    taken: dict[str, str] = {}
    for name in names:
        plain = name if family == "stata" else name.upper()
        reserved = re.fullmatch(RESERVED[family], plain)
        if reserved or not re.fullmatch(pattern, name):
            why = "is reserved there" if reserved else f"must be {allowed}"
            raise OutputError(
                f"{PROGRAMS[family]} does not permit the column name {name!r}: it {why}. Rename the column."
            )
        if plain in taken:
            raise OutputError(
                f"{PROGRAMS[family]} cannot tell the columns {taken[plain]!r} and {name!r} apart. Rename one of them."
            )
        taken[plain] = name


def _transport_version(columns: Mapping[str, _OutputColumn]) -> int:
    """SAS transport version 5, which every program reads; 8 if a name, label or text is too long for it."""
    short = all(len(name) <= 8 and len(one.label.encode()) <= 40 for name, one in columns.items())
    texts = (one.values for one in columns.values() if not isinstance(one.values, np.ndarray))
    return 5 if short and all((pc.max(pc.binary_length(one)).as_py() or 0) <= 200 for one in texts) else 8


def _fix_time(target: Path, family: Family) -> None:
    """Put a fixed time where the library writes the present one: the same table gives the same bytes."""
    with target.open("r+b") as file:
        head = file.read(1024)
        if family == "spss":
            fixed = head[:92] + b"01 Jan 80" + b"00:00:00" + head[109:]
        elif family == "stata":
            fixed = re.sub(rb"(<timestamp>\x11).{17}", rb"\g<1>01 Jan 1980 00:00", head)
        else:
            fixed = re.sub(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d", b"01JAN80:00:00:00", head)
        file.seek(0)
        file.write(fixed)
