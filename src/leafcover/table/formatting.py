"""Numbers, dates and times as text: parsing, the grid of possible values, and writing values in a column's own format.

Everything works on whole pyarrow arrays. Callers pass only the distinct texts of a column when these are few.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.table.separators import (
    NO_CLUE,
    POINT,
    POINT_AND_COMMAS,
    SeparatorClue,
    Separators,
    clue_of,
    may_be_numbers,
    possible_separators,
)
from leafcover.table.table import MAX_DECIMALS, MAX_GRID_POINTS, Column, Grid, Kind, TextFormat

PLAIN = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
SPACE_BYTES = b" \t\n\r\x0b\x0c"
SAMPLE = 1000  # values examined before the whole column is


@dataclass(frozen=True, eq=False)
class ParsedNumbers:
    """Numbers parsed from text: the values (nan where missing) and the text they were parsed from."""

    values: Floats
    text: Any  # pyarrow.StringArray, null where missing, with decimal points and nothing else around or between digits
    separators: Separators = POINT
    clue: SeparatorClue = NO_CLUE


def parse_numbers(text: Any, missing: Bools | None, separators: Separators | None = None) -> ParsedNumbers | None:
    """Parse a text array as numbers, or return None if a known value is not a number.

    Surrounding spaces, a sign, an exponent and correctly placed thousands separators are allowed. Infinities are
    parsed; the caller refuses them. ``missing`` marks the texts that mean a missing value (None: there are no such
    texts). Without ``separators`` they are found; of two ways to read the numbers, that with decimal points is taken.

    >>> parse_numbers(pa.array(["1", " +2.50", "?", "1,000"]), np.array([False, False, True, False])).values
    array([   1. ,    2.5,    nan, 1000. ])
    >>> parse_numbers(pa.array(["1.234", "0,5"]), None).values
    array([1.234e+03, 5.000e-01])
    >>> parse_numbers(pa.array(["1", "x"]), None) is None
    True
    """
    known = text if missing is None else pc.if_else(pa.array(missing), None, text)
    usual = separators is None or separators in (POINT, POINT_AND_COMMAS)
    values = _floats(known) if usual else None
    if values is None and has_byte(known, SPACE_BYTES):
        known = pc.utf8_trim_whitespace(known)
        values = _floats(known) if usual else None
    if values is None:
        return _parse_separated(known, separators)
    if int(np.isnan(values).sum()) != known.null_count:  # a text 'nan' that is not a missing token
        return None
    return ParsedNumbers(values, known)


def _parse_separated(known: Any, separators: Separators | None) -> ParsedNumbers | None:
    """Numbers with decimal commas or thousands separators."""
    if separators is None and not may_be_numbers(known):
        return None
    known = pc.utf8_trim_whitespace(known)  # spaces that are not ASCII, too
    if separators is None and (values := _floats(known)) is not None:
        return ParsedNumbers(values, known)
    if separators is None:
        readings = possible_separators(known)
    else:
        readings = (separators,) if separators.match(known) else ()
    if not readings:
        return None
    plain = readings[0].plain(known)
    values = _floats(plain)
    assert values is not None  # the pattern matched
    return ParsedNumbers(values, plain, readings[0], NO_CLUE if separators else clue_of(known, readings))


def has_decimal_commas(levels: Sequence[str]) -> bool:
    """Whether all texts are numbers and some have a decimal comma. Thousands separators alone (1,234) do not count.

    >>> has_decimal_commas(["3,14", "1.234,5", "7"]), has_decimal_commas(["3,14", "x"]), has_decimal_commas(["1,234"])
    (True, False, False)
    """
    if not any("," in level for level in levels):
        return False
    readings = possible_separators(pc.utf8_trim_whitespace(pa.array(levels, pa.string())))
    return bool(readings) and all(read.decimal == "," for read in readings)


def _floats(text: Any) -> Floats | None:
    try:
        # A cast that fails takes 30 times as long as one that does not: 0.57 s for a million texts.
        text[:SAMPLE].cast(pa.float64())
        values = text.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def infer_grid(known: Floats) -> Grid | None:
    """The coarsest decimal grid that contains all values; None if it would need too many decimal places or points.

    The grid is inferred from the values, not from the text, so that a CSV and a Parquet file of the same table agree:
    '2.50' and '3.10' are on a grid of tenths but are still written with two decimal places.

    >>> infer_grid(np.array([2.5, 3.1])), infer_grid(np.array([1 / 3])), infer_grid(np.array([2.0**60]))
    (Grid(decimals=1, every=1), None, None)
    """
    if not len(known):
        return Grid(0)
    first = _decimals(known[:SAMPLE], 0)
    decimals = first if first is None or len(known) <= SAMPLE else _decimals(known, first)
    return None if decimals is None else Grid(decimals)


def infer_time_grid(seconds: Floats) -> Grid | None:
    """The grid of times: whole days if all times are at midnight, otherwise whole hours, minutes or seconds.

    >>> infer_time_grid(np.array([0.0, 172_800.0])), infer_time_grid(np.array([0.0, 90.0]))
    (Grid(decimals=0, every=86400), Grid(decimals=0, every=1))
    """
    grid = infer_grid(seconds)
    if grid is None or grid.decimals or not seconds.any():
        return grid
    return Grid(0, every=next(every for every in (86_400, 3_600, 60, 1) if not np.remainder(seconds, every).any()))


def _decimals(known: Floats, start: int) -> int | None:
    largest = float(max(abs(known.min()), abs(known.max())))
    for decimals in range(start, MAX_DECIMALS + 1):
        scale = float(10**decimals)
        # Range and index must both be exact in float64, or `Grid.index` and `Grid.value` are not inverse.
        if not largest * scale < MAX_GRID_POINTS:
            return None
        if bool(np.array_equal(np.rint(known * scale) / scale, known)):
            return decimals
    return None


def infer_text_format(number: ParsedNumbers, grid: Grid | None) -> TextFormat:
    """How a column writes its numbers: decimal places, leading zeros, separators."""
    text = number.text
    form = TextFormat(**asdict(number.separators))
    if has_byte(text, b"eE"):
        return replace(form, decimals=grid.decimals if grid else 0, fixed=False)
    dotted = has_byte(text, b".")
    if grid is None and dotted:  # written as the shortest text, whatever the number of places
        return replace(form, decimals=MAX_DECIMALS, fixed=False)
    width = _leading_zero_width(text)
    if not dotted:
        return replace(form, width=width)
    least, most = _places(text)
    return replace(form, decimals=most, fixed=least == most, width=width)


def _places(text: Any) -> tuple[int, int]:
    """Smallest and largest number of decimal places, when at least one number has a decimal point."""
    starts, ends, data = spans(text)
    dots = np.flatnonzero(data[starts[0] : ends[-1]] == ord(".")) + starts[0]
    if len(dots) == len(text):  # one per value, in order
        places = ends - 1 - dots
        return int(places.min()), int(places.max())
    places = ends[np.searchsorted(ends, dots, side="right")] - 1 - dots
    without = len(dots) < len(text) - text.null_count
    return (0 if without else int(places.min())), int(places.max())


def _leading_zero_width(text: Any) -> int:
    """Number of digits of the integer part if some value has a leading zero, otherwise 0."""
    starts, ends, data = spans(text)
    if not len(data):
        return 0
    first = data[np.minimum(starts, len(data) - 1)]
    rows = np.flatnonzero((first == ord("0")) | (first == ord("+")) | (first == ord("-")))
    at = starts[rows] + (first[rows] != ord("0"))
    rows, at = rows[at + 1 < ends[rows]], at[at + 1 < ends[rows]]
    digit = data[at + 1]
    rows = rows[(data[at] == ord("0")) & (digit >= ord("0")) & (digit <= ord("9"))]
    if not len(rows):
        return 0
    zeros = text.take(pa.array(rows))
    whole = pc.replace_substring_regex(zeros, r"^[+-]|[.eE].*$", "")
    return int(pc.max(pc.binary_length(whole)).as_py())


def spans(text: Any) -> tuple[Array, Array, Array]:
    """Start and end of every value in the data buffer of a string array, and the buffer itself (no copy)."""
    width = np.int64 if pa.types.is_large_string(text.type) else np.int32
    _, offsets, data = text.buffers()
    if offsets is None or data is None:
        none = np.zeros(len(text), np.int64)
        return none, none, np.zeros(0, np.uint8)
    ends = np.frombuffer(offsets, width)[text.offset : text.offset + len(text) + 1]
    return ends[:-1], ends[1:], np.frombuffer(data, np.uint8)


def has_byte(text: Any, wanted: bytes) -> bool:
    """Whether any of these bytes occurs in a string array."""
    starts, ends, data = spans(text)
    if not len(starts):
        return False
    copied = data[starts[0] : ends[-1]].tobytes()  # a copy and memchr take a third of the time of a numpy comparison
    return any(byte in copied for byte in wanted)


# Writing values: the text of numbers, dates and times in the format of their column.


LOOKUP_LIMIT = 32  # up to this many values are looked up one by one


def text_of(column: Column, values: Floats) -> list[str]:
    """The text of some values of a number, date or time column, as the file writes them.

    A value that occurs in the column gets its text from there (the shortest if there are several, so that the result
    does not depend on the order of rows). Other values are written in the column's format.
    """
    wanted = np.asarray(values, np.float64)
    texts: list[str] = format_values(column, wanted).to_pylist()
    if column.stored is None or not is_text(column.stored) or column.kind != "number":
        return texts
    if len(wanted) <= LOOKUP_LIMIT:  # a tree looks up one cut at a time, in a column of perhaps a million rows
        own = [_shortest_text(column.stored.take(np.flatnonzero(column.values == value))) for value in wanted]
    else:
        own = _own_texts(column, wanted)
    return [text if mine is None else mine for text, mine in zip(texts, own, strict=True)]


def _shortest_text(stored: Any) -> str | None:
    found = [text.strip() for text in distinct_texts(stored).to_pylist()]
    return min(found, key=lambda text: (len(text.encode()), text), default=None)


def _own_texts(column: Column, wanted: Floats) -> list[str | None]:
    """`_shortest_text` for many values at once."""
    known = np.flatnonzero(~column.missing)
    first = column.stored.take(known).dictionary_encode() if len(known) else None
    if first is None:
        return [None] * len(wanted)
    texts = first.dictionary
    value = np.empty(len(texts))
    value[np.asarray(first.indices)] = column.values[known]
    short = pc.utf8_trim_whitespace(texts)
    order = np.lexsort((np.asarray(pc.rank(short, tiebreaker="first")), np.asarray(pc.binary_length(short)), value))
    position = np.searchsorted(value[order], wanted)
    at = order[np.minimum(position, len(order) - 1)]
    own: list[str | None] = short.take(pa.array(at)).to_pylist()
    return [text if value[row] == sought else None for text, row, sought in zip(own, at, wanted, strict=True)]


def is_text(stored: Any) -> bool:
    """Whether a stored array holds text, plain or dictionary-encoded."""
    kind = stored.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def plain_text(stored: Any) -> Any:
    """A text array without its dictionary."""
    if pa.types.is_dictionary(stored.type):
        return stored.dictionary.take(stored.indices)
    return stored


def distinct_texts(stored: Any) -> Any:
    """The texts that occur in a stored text array (its dictionary may hold others)."""
    if pa.types.is_dictionary(stored.type):
        return stored.dictionary.take(stored.indices.unique().drop_null())
    return stored.unique().drop_null()


def format_values(column: Column, values: Floats) -> Any:
    """Format values of a number, date or time column as a pyarrow text array; nan becomes null.

    >>> price = Column("price", "number", np.array([]), grid=Grid(1), text_format=TextFormat(2, thousands=","))
    >>> format_values(price, np.array([1234.5, -7.0, 1 / 3])).to_pylist()
    ['1,234.50', '-7.00', '0.3333333333333333']
    """
    known = ~np.isnan(values)
    if not known.all():
        places = np.where(known, np.cumsum(known) - 1, 0)
        return format_values(column, values[known]).take(pa.array(places, mask=~known))
    if column.kind == "date":
        return date_text(values, column.text_format)
    if column.kind == "time":
        return time_text(values, column.text_format)
    text_format = column.text_format or TextFormat(decimals=column.grid.decimals if column.grid else 0, fixed=False)
    return _with_separators(_number_text(column.grid, values, text_format), text_format)


def _number_text(grid: Grid | None, values: Floats, text_format: TextFormat) -> Any:
    """Numbers with decimal points and without thousands separators."""
    if grid is None:
        return _whole_floats(values) if text_format.fixed and not text_format.decimals else _shortest(values)
    index = grid.index(values)
    off = grid.value(index) != values  # a mean may lie between grid points
    text = _on_grid(index, grid, text_format)
    if off.any():
        text = pc.replace_with_mask(text, pa.array(off), _shortest(values[off]))
    return text


def _on_grid(index: Rows, grid: Grid, text_format: TextFormat) -> Any:
    size = np.abs(index)
    scale = 10**grid.decimals
    whole = pa.array(size // scale).cast(pa.string())
    if text_format.width:
        whole = pc.utf8_lpad(whole, text_format.width, "0")
    sign = pc.if_else(pa.array(index < 0), "-", "")
    parts = [sign, whole]
    if grid.decimals:
        places = pa.array(size % scale).cast(pa.string())
        parts += [".", pc.utf8_lpad(places, grid.decimals, "0")]
    extra = text_format.decimals - grid.decimals
    if text_format.fixed and extra > 0:
        parts += ["0" * extra if grid.decimals else "." + "0" * extra]
    text = pc.binary_join_element_wise(*parts, "")
    if not text_format.fixed and grid.decimals:
        text = pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".")
    return text


def _with_separators(text: Any, text_format: TextFormat) -> Any:
    """Numbers with the separators and the sign of a column instead of decimal points."""
    form = text_format
    if form.thousands or form.before or form.after:
        whole = pc.replace_substring_regex(text, r"^-|[.e].*$", "")
        places = pc.replace_substring_regex(text, r"^-?[0-9]*", "")
        minus = pc.if_else(pc.starts_with(text, "-"), "-", "")
        if form.thousands:
            groups = pc.replace_substring_regex(pc.utf8_reverse(whole), "([0-9]{3})", rf"\1{form.thousands}")
            whole = pc.utf8_reverse(pc.utf8_rtrim(groups, form.thousands))
        places = places if form.decimal == "." else pc.replace_substring(places, ".", form.decimal)
        return pc.binary_join_element_wise(minus, form.before, whole, places, form.after, "")
    return text if form.decimal == "." else pc.replace_substring(text, ".", form.decimal)


def plain_numbers(text: Any, text_format: TextFormat | None) -> Any:
    """The numbers of a column as formats want them that know only decimal points."""
    form = text_format
    return text if form is None else Separators(form.decimal, form.thousands, form.before, form.after).plain(text)


def _shortest(values: Floats) -> Any:
    return pa.array(values).cast(pa.string())


def _whole_floats(values: Floats) -> Any:
    """Whole numbers beyond 2^53: all digits, no exponent."""
    if len(values) and np.abs(values).max() >= MAX_GRID_POINTS * 512:  # no longer an int64
        return pa.array([str(int(value)) if value == int(value) else repr(value) for value in values.tolist()])
    whole = np.rint(values)
    text = pa.array(whole.astype(np.int64)).cast(pa.string())
    off = whole != values
    return pc.replace_with_mask(text, pa.array(off), _shortest(values[off])) if off.any() else text


# Dates and times as text: the patterns that are recognised, and formatting.
#
# A pattern is used only if every known value matches it, so a column never mixes two patterns. If day and month are
# ambiguous (03/04/2020), the column is read as dates only if some value resolves the ambiguity.


SECOND_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
TIME = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?P<between>[T ])[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?P<fraction>\.[0-9]{1,6})?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?$"
)


@dataclass(frozen=True)
class DatePattern:
    """One way to write a date: its strptime pattern, and regular expressions from and to ISO format."""

    pattern: str
    regex: str
    iso: str
    back: str = r"\1-\2-\3"  # from the ISO parts year, month, day


ISO = DatePattern("%Y-%m-%d", r"^([0-9]{4})-([0-9]{2})-([0-9]{2})$", r"\1-\2-\3")
DATE_PATTERNS = (
    ISO,
    DatePattern("%Y/%m/%d", r"^([0-9]{4})/([0-9]{2})/([0-9]{2})$", r"\1-\2-\3", r"\1/\2/\3"),
    DatePattern("%Y.%m.%d", r"^([0-9]{4})\.([0-9]{2})\.([0-9]{2})$", r"\1-\2-\3", r"\1.\2.\3"),
    DatePattern("%d.%m.%Y", r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})$", r"\3-\2-\1", r"\3.\2.\1"),
)
# These two patterns match the same texts: one is used only if the other is impossible for some value.
AMBIGUOUS_DATE_PATTERNS = (
    DatePattern("%d/%m/%Y", r"^([0-9]{2})/([0-9]{2})/([0-9]{4})$", r"\3-\2-\1", r"\3/\2/\1"),
    DatePattern("%m/%d/%Y", r"^([0-9]{2})/([0-9]{2})/([0-9]{4})$", r"\3-\1-\2", r"\2/\3/\1"),
)


@dataclass(frozen=True, eq=False)
class Timestamps:
    """Dates or times parsed from text: days or seconds since 1970, nan where missing."""

    kind: Kind
    values: Floats
    text_format: TextFormat


def parse_timestamps(text: Any, missing: Bools | None) -> Timestamps | None:
    """Parse a text array as dates or as times, or return None if a known value is neither.

    >>> found = parse_timestamps(pa.array(["31.12.1969", "02.01.1970"]), None)
    >>> found.kind, found.values, found.text_format.pattern
    ('date', array([-1.,  1.]), '%d.%m.%Y')
    >>> parse_timestamps(pa.array(["01/02/2020"]), None) is None  # a day in January or in February?
    True
    """
    known = text if missing is None else pc.if_else(pa.array(missing), None, text)
    first = known.drop_null()[:1]
    if not len(first):
        return None
    for form in DATE_PATTERNS:
        if pc.match_substring_regex(first, form.regex)[0].as_py():
            return _date(known, form)
    if pc.match_substring_regex(first, AMBIGUOUS_DATE_PATTERNS[0].regex)[0].as_py():
        read = [date for form in AMBIGUOUS_DATE_PATTERNS if (date := _date(known, form)) is not None]
        return read[0] if len(read) == 1 else None
    parts = pc.extract_regex(first, TIME)[0].as_py()
    return None if parts is None else _time(known, parts)


def _date(known: Any, form: DatePattern) -> Timestamps | None:
    if pc.any(pc.invert(pc.match_substring_regex(known, form.regex))).as_py():
        return None
    iso = known if form is ISO else pc.replace_substring_regex(known, form.regex, form.iso)
    try:
        days = iso.cast(pa.date32()).cast(pa.int32())
    except pa.ArrowInvalid:  # the 30th of February
        return None
    return Timestamps("date", as_floats(days), TextFormat(pattern=form.pattern))


def _time(known: Any, parts: dict[str, str]) -> Timestamps | None:
    places = max(len(parts["fraction"]) - 1, 0)
    zone = parts["zone"]
    fraction = rf"\.[0-9]{{{places}}}" if places else ""
    exact = (
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
        + parts["between"]
        + r"[0-9]{2}:[0-9]{2}:[0-9]{2}"
        + fraction
        + zone.replace("+", r"\+")
        + "$"
    )
    if pc.any(pc.invert(pc.match_substring_regex(known, exact))).as_py():
        return None
    local = pc.utf8_slice_codeunits(known, 0, stop=-len(zone)) if zone else known
    try:
        count = local.cast(pa.timestamp("us" if places else "s")).cast(pa.int64())
    except pa.ArrowInvalid:  # 25 o'clock
        return None
    seconds = as_floats(count) / (1e6 if places else 1.0) - utc_offset(zone)
    pattern = f"%Y-%m-%d{parts['between']}%H:%M:%S" + ("%f" if places else "") + zone
    return Timestamps("time", seconds, TextFormat(decimals=places, pattern=pattern))


def timestamp_forms(texts: Any) -> dict[str, Bools]:
    """Which texts are dates of each pattern, or times, of days that exist; patterns that no text has are left out.

    >>> timestamp_forms(pa.array(["2020-01-05", "31.02.2020", "05.01.2020"]))
    {'%Y-%m-%d': array([ True, False, False]), '%d.%m.%Y': array([False, False,  True])}
    """
    found = {}
    for form in (*DATE_PATTERNS, *AMBIGUOUS_DATE_PATTERNS):
        days = pc.if_else(pc.match_substring_regex(texts, form.regex), texts, None)
        found[form.pattern] = _exist(pc.replace_substring_regex(days, form.regex, form.iso), "%Y-%m-%d")
    moments = pc.if_else(pc.match_substring_regex(texts, TIME), texts, None)
    moments = pc.replace_substring(pc.utf8_slice_codeunits(moments, 0, 19), "T", " ")
    found["%H:%M:%S"] = _exist(moments, "%Y-%m-%d %H:%M:%S")
    return {pattern: fits for pattern, fits in found.items() if fits.any()}


def _exist(iso: Any, pattern: str) -> Bools:
    """Which moments exist: reading the 30th of February gives another day."""
    read = pc.strptime(iso, format=pattern, unit="s", error_is_null=True)
    same = pc.equal(
        pc.strftime(read, format="%Y-%m-%d %H:%M:%S"),
        iso if "%H" in pattern else pc.binary_join_element_wise(iso, "00:00:00", " "),
    )
    return np.asarray(same.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)


def utc_offset(zone: str) -> float:
    """Seconds by which local time is ahead of UTC.

    >>> utc_offset("+01:30"), utc_offset("Z")
    (5400.0, 0.0)
    """
    if not zone or zone == "Z":
        return 0.0
    ahead = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[4:6])
    return -ahead if zone[0] == "-" else ahead


def zone_of(pattern: str) -> str:
    """The time zone at the end of a time pattern: empty, Z or +hh:mm."""
    return pattern.partition("%S")[2].removeprefix("%f")


def as_floats(counts: Any) -> Floats:
    """Integers with nulls as float64 with nan."""
    return np.asarray(counts.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def date_text(days: Floats, text_format: TextFormat | None) -> Any:
    """Format days since 1970 with the column's pattern (ISO if it has none).

    >>> date_text(np.array([-1.0, 1.0]), TextFormat(pattern="%d.%m.%Y")).to_pylist()
    ['31.12.1969', '02.01.1970']
    """
    iso = pa.array(np.rint(days).astype(np.int32)).cast(pa.date32()).cast(pa.string())
    pattern = text_format.pattern if text_format else ""
    for form in (*DATE_PATTERNS[1:], *AMBIGUOUS_DATE_PATTERNS):
        if form.pattern == pattern:
            return pc.replace_substring_regex(iso, ISO.regex, form.back)
    return iso


def time_text(seconds: Floats, text_format: TextFormat | None) -> Any:
    """Format seconds since 1970 with the column's pattern (ISO with a space if it has none).

    >>> time_text(np.array([0.5]), TextFormat(decimals=3, pattern="%Y-%m-%dT%H:%M:%S%fZ")).to_pylist()
    ['1970-01-01T00:00:00.500Z']
    """
    places = text_format.decimals if text_format else 0
    pattern = (text_format.pattern if text_format else "") or "%Y-%m-%d %H:%M:%S"
    zone = zone_of(pattern)
    local = seconds + utc_offset(zone)
    count = np.rint(local * 1e6 if places else local).astype(np.int64)
    text = pa.array(count).cast(pa.timestamp("us" if places else "s")).cast(pa.string())
    if places:
        text = pc.utf8_slice_codeunits(text, 0, stop=places - 6 if places < 6 else None)
    if "T" in pattern:
        text = pc.replace_substring(text, " ", "T")
    return pc.binary_join_element_wise(text, zone, "") if zone else text
