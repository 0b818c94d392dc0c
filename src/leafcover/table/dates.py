"""Dates and times as text: the forms that are read, and the way back.

A form is taken only when every known value has it, so one column never mixes two. Forms whose day and month
could change places (03/04/2020) are read only when some value settles it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.fast.arrays import Bools, Floats
from leafcover.table.schema import Kind, Spelling

SECOND_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
TIME = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?P<between>[T ])[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?P<fraction>\.[0-9]{1,6})?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?$"
)


@dataclass(frozen=True)
class Form:
    """One way to write a day: its strptime pattern, and regular expressions from and to ISO."""

    pattern: str
    regex: str
    iso: str
    back: str = r"\1-\2-\3"  # from the ISO parts year, month, day


ISO = Form("%Y-%m-%d", r"^([0-9]{4})-([0-9]{2})-([0-9]{2})$", r"\1-\2-\3")
FORMS = (
    ISO,
    Form("%Y/%m/%d", r"^([0-9]{4})/([0-9]{2})/([0-9]{2})$", r"\1-\2-\3", r"\1/\2/\3"),
    Form("%Y.%m.%d", r"^([0-9]{4})\.([0-9]{2})\.([0-9]{2})$", r"\1-\2-\3", r"\1.\2.\3"),
    Form("%d.%m.%Y", r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})$", r"\3-\2-\1", r"\3.\2.\1"),
)
# These two shapes look alike: one is taken only when the other is impossible for some value.
RIVALS = (
    Form("%d/%m/%Y", r"^([0-9]{2})/([0-9]{2})/([0-9]{4})$", r"\3-\2-\1", r"\3/\2/\1"),
    Form("%m/%d/%Y", r"^([0-9]{2})/([0-9]{2})/([0-9]{4})$", r"\3-\1-\2", r"\2/\3/\1"),
)


@dataclass(frozen=True, eq=False)
class Moments:
    """Text that is a column of dates or times: days or seconds since 1970, nan where missing."""

    kind: Kind
    values: Floats
    spelling: Spelling


def moments(text: Any, missing: Bools | None) -> Moments | None:
    """The dates or times a text array holds, or None when some known value is neither.

    >>> found = moments(pa.array(["31.12.1969", "02.01.1970"]), None)
    >>> found.kind, found.values, found.spelling.pattern
    ('date', array([-1.,  1.]), '%d.%m.%Y')
    >>> moments(pa.array(["01/02/2020"]), None) is None  # a day in January or in February?
    True
    """
    known = text if missing is None else pc.if_else(pa.array(missing), None, text)
    first = known.drop_null()[:1]
    if not len(first):
        return None
    for form in FORMS:
        if pc.match_substring_regex(first, form.regex)[0].as_py():
            return _date(known, form)
    if pc.match_substring_regex(first, RIVALS[0].regex)[0].as_py():
        read = [date for form in RIVALS if (date := _date(known, form)) is not None]
        return read[0] if len(read) == 1 else None
    parts = pc.extract_regex(first, TIME)[0].as_py()
    return None if parts is None else _time(known, parts)


def _date(known: Any, form: Form) -> Moments | None:
    if pc.any(pc.invert(pc.match_substring_regex(known, form.regex))).as_py():
        return None
    iso = known if form is ISO else pc.replace_substring_regex(known, form.regex, form.iso)
    try:
        days = iso.cast(pa.date32()).cast(pa.int32())
    except pa.ArrowInvalid:  # the 30th of February
        return None
    return Moments("date", as_floats(days), Spelling(pattern=form.pattern))


def _time(known: Any, parts: dict[str, str]) -> Moments | None:
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
    seconds = as_floats(count) / (1e6 if places else 1.0) - offset(zone)
    pattern = f"%Y-%m-%d{parts['between']}%H:%M:%S" + ("%f" if places else "") + zone
    return Moments("time", seconds, Spelling(decimals=places, pattern=pattern))


def offset(zone: str) -> float:
    """Seconds that local time is ahead of UTC.

    >>> offset("+01:30"), offset("Z")
    (5400.0, 0.0)
    """
    if not zone or zone == "Z":
        return 0.0
    ahead = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[4:6])
    return -ahead if zone[0] == "-" else ahead


def zone_of(pattern: str) -> str:
    """The time zone a time's pattern ends with: empty, Z or +hh:mm."""
    return pattern.partition("%S")[2].removeprefix("%f")


def as_floats(counts: Any) -> Floats:
    """Whole numbers with nulls as float64 with nan."""
    return np.asarray(counts.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


def date_text(days: Floats, spelling: Spelling | None) -> Any:
    """Days since 1970 as text, by the column's pattern (ISO when it has none).

    >>> date_text(np.array([-1.0, 1.0]), Spelling(pattern="%d.%m.%Y")).to_pylist()
    ['31.12.1969', '02.01.1970']
    """
    iso = pa.array(np.rint(days).astype(np.int32)).cast(pa.date32()).cast(pa.string())
    pattern = spelling.pattern if spelling else ""
    for form in (*FORMS[1:], *RIVALS):
        if form.pattern == pattern:
            return pc.replace_substring_regex(iso, ISO.regex, form.back)
    return iso


def time_text(seconds: Floats, spelling: Spelling | None) -> Any:
    """Seconds since 1970 as text, by the column's pattern (ISO with a space when it has none).

    >>> time_text(np.array([0.5]), Spelling(decimals=3, pattern="%Y-%m-%dT%H:%M:%S%fZ")).to_pylist()
    ['1970-01-01T00:00:00.500Z']
    """
    places = spelling.decimals if spelling else 0
    pattern = (spelling.pattern if spelling else "") or "%Y-%m-%d %H:%M:%S"
    zone = zone_of(pattern)
    local = seconds + offset(zone)
    count = np.rint(local * 1e6 if places else local).astype(np.int64)
    text = pa.array(count).cast(pa.timestamp("us" if places else "s")).cast(pa.string())
    if places:
        text = pc.utf8_slice_codeunits(text, 0, stop=places - 6 if places < 6 else None)
    if "T" in pattern:
        text = pc.replace_substring(text, " ", "T")
    return pc.binary_join_element_wise(text, zone, "") if zone else text
