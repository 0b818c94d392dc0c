"""Numbers as text: how a column's text is parsed, which grid its values stand on, how it spells them.

Everything works on whole arrow arrays; a column with few distinct texts is handed in as those texts only.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.fast.arrays import Array, Bools, Floats
from leafcover.table.schema import MOST_DECIMALS, MOST_POINTS, Grid, Spelling

PLAIN = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$"
GROUPED = r"^\s*[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?\s*$"  # 1,234,567.8
SAMPLE = 1000  # values looked at before the whole column is


@dataclass(frozen=True, eq=False)
class Parsed:
    """Text that is a column of numbers: the values (nan where missing) and the text they were parsed from."""

    values: Floats
    text: Any  # pyarrow.StringArray, null where missing, without spaces around
    thousands: bool


def parsed(text: Any, missing: Bools | None) -> Parsed | None:
    """The numbers a text array holds, or None when some known value is not a number.

    Spaces around, a sign and an exponent are allowed; so are correct thousands commas. Infinities are
    parsed, for the caller to refuse; ``missing`` says which texts stand for no value (None: not one).

    >>> parsed(pa.array(["1", " +2.50", "?", "1,000"]), np.array([False, False, True, False])).values
    array([   1. ,    2.5,    nan, 1000. ])
    >>> parsed(pa.array(["1", "x"]), None) is None
    True
    """
    known = text if missing is None else pc.if_else(pa.array(missing), None, text)
    values = _floats(known)
    thousands = False
    if values is None and has_byte(known, b" \t\n\r\x0b\x0c"):
        known = pc.utf8_trim_whitespace(known)
        values = _floats(known)
    if values is None and has_byte(known, b","):
        grouped = pc.match_substring_regex(known, GROUPED)
        if not pc.all(pc.or_(grouped, pc.match_substring_regex(known, PLAIN))).as_py():
            return None
        values, thousands = _floats(pc.replace_substring(known, ",", "")), True
    if values is None:
        return None
    nan = np.isnan(values)
    if int(nan.sum()) != known.null_count:  # a text 'nan' that is not one of the missing tokens
        return None
    return Parsed(values, known, thousands)


def _floats(text: Any) -> Floats | None:
    try:
        values = text.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def grid_of(known: Floats) -> Grid | None:
    """The coarsest decimal grid all values stand on; None when it would need too many places or points.

    The grid comes from the values and not from the text, so that CSV and Parquet of one table agree:
    '2.50' and '3.10' stand on tenths, and are still written with two places.

    >>> grid_of(np.array([2.5, 3.1])), grid_of(np.array([1 / 3])), grid_of(np.array([2.0**60]))
    (Grid(decimals=1, every=1), None, None)
    """
    if not len(known):
        return Grid(0)
    first = _decimals(known[:SAMPLE], 0)
    decimals = first if first is None or len(known) <= SAMPLE else _decimals(known, first)
    return None if decimals is None else Grid(decimals)


def time_grid(seconds: Floats) -> Grid | None:
    """The grid of times: whole days where all stand at midnight, whole hours or minutes where all do.

    >>> time_grid(np.array([0.0, 172_800.0])), time_grid(np.array([0.0, 90.0]))
    (Grid(decimals=0, every=86400), Grid(decimals=0, every=1))
    """
    grid = grid_of(seconds)
    if grid is None or grid.decimals or not seconds.any():
        return grid
    return Grid(0, every=next(every for every in (86_400, 3_600, 60, 1) if not np.remainder(seconds, every).any()))


def _decimals(known: Floats, start: int) -> int | None:
    largest = float(max(abs(known.min()), abs(known.max())))
    for decimals in range(start, MOST_DECIMALS + 1):
        scale = float(10**decimals)
        # Both the range and every index must be countable, or index and value stop being inverse.
        if not largest * scale < MOST_POINTS:
            return None
        if bool(np.array_equal(np.rint(known * scale) / scale, known)):
            return decimals
    return None


def spelling_of(number: Parsed, grid: Grid | None) -> Spelling:
    """How the text of a number column is written: places, leading zeros, thousands."""
    text = number.text
    if has_byte(text, b"eE"):
        return Spelling(decimals=grid.decimals if grid else 0, fixed=False, thousands=number.thousands)
    dotted = has_byte(text, b".")
    if grid is None and dotted:  # shortest text; nobody asks how many places there were
        return Spelling(decimals=MOST_DECIMALS, fixed=False, thousands=number.thousands)
    width = _leading_zero_width(text)
    if not dotted:
        return Spelling(width=width, thousands=number.thousands)
    least, most = _places(text)
    return Spelling(decimals=most, fixed=least == most, width=width, thousands=number.thousands)


def _places(text: Any) -> tuple[int, int]:
    """Fewest and most decimal places of numbers of which some have a point."""
    starts, ends, data = spans(text)
    dots = np.flatnonzero(data[starts[0] : ends[-1]] == ord(".")) + starts[0]
    if len(dots) == len(text):  # one each, in order
        places = ends - 1 - dots
        return int(places.min()), int(places.max())
    places = ends[np.searchsorted(ends, dots, side="right")] - 1 - dots
    without = len(dots) < len(text) - text.null_count
    return (0 if without else int(places.min())), int(places.max())


def _leading_zero_width(text: Any) -> int:
    """Digits of the whole part where a zero stands before another digit; 0 when it never does."""
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
    whole = pc.replace_substring_regex(zeros, r"^[+-]|[,]|[.eE].*$", "")
    return int(pc.max(pc.binary_length(whole)).as_py())


def spans(text: Any) -> tuple[Array, Array, Array]:
    """Start and end of every value in the bytes of a string array, and those bytes (no copy)."""
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
    part = data[starts[0] : ends[-1]].tobytes()  # a copy and memchr: a third of the time of comparing in numpy
    return any(byte in part for byte in wanted)
