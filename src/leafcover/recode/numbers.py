"""Recodings of numbers, dates and times that stay what they are: rounding, top and bottom coding, periods of dates."""

from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa

from leafcover.arrays import Bools, Floats
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.recode.base import ColumnRecoding, methods, recoding
from leafcover.table.formatting import format_values, infer_grid, infer_time_grid, parse_timestamps
from leafcover.table.output import replace_values
from leafcover.table.table import MAX_DECIMALS, MAX_GRID_POINTS, Column, Grid, Kind, Table

Moment: TypeAlias = float | str  # a number, or a date or time as text
Period: TypeAlias = Literal["hour", "day", "week", "month", "quarter", "year"]
MOST_DIGITS = 15  # significant digits of a float64
ORDERED: frozenset[Kind] = frozenset({"number", "date", "time"})
FURTHEST = 290  # decimal places; scales beyond would overflow
THURSDAY = 3  # the weekday of day 0, 1970-01-01, counted from Monday


def with_numbers(column: Column, values: Floats, grid: Grid | None) -> Column:
    """The column with coarser numbers, written anew; what is stored of it holds no other value."""
    values = np.where(column.missing, np.nan, values)
    return replace(replace_values(column, values), grid=grid, declared=None)


@recoding("round")
@dataclass(frozen=True)
class Round(ColumnRecoding):
    """Round numbers to the nearest multiple, or to significant digits; a number half way goes to the even multiple.

    Parameters
    ----------
    column : str
        The column of numbers.
    to : float, optional
        The multiple, such as 0.5 or 1000.
    digits : int, optional
        The number of significant digits instead: 2 makes 1,234 of 1,200.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> release = lc.release(table, lc.Plan(recode=[lc.Round("wage", to=0.5)]), seed=7)
    >>> sorted(set(release.table["wage"].values.tolist()))[:4]
    [1.0, 2.0, 3.0, 3.5]
    """

    frozen_id: ClassVar[str] = "round"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number"})
    main: ClassVar[str] = "to"
    to: float | None = None
    digits: int | None = None

    def __post_init__(self) -> None:
        if (self.to is None) == (self.digits is None):
            raise PlanError("Round needs a multiple or a number of digits. Give one of to and digits.")
        if self.to is not None and _multiple(self.to) is None:
            raise ValueOutOfRange("Round.to", self.to, f"a multiple above 0 with at most {MAX_DECIMALS} decimal places")
        if self.digits is not None and not 1 <= self.digits <= MOST_DIGITS:
            raise ValueOutOfRange("Round.digits", self.digits, f"a number of digits from 1 to {MOST_DIGITS}")

    def recoded(self, column: Column) -> Column:
        """Rounded numbers."""
        values = column.values[~column.missing]
        rounded = column.values.copy()
        multiple = None if self.to is None else _multiple(self.to)
        if multiple is None:
            rounded[~column.missing] = significant(values, self.digits or 1)
            return with_numbers(column, rounded, infer_grid(rounded[~column.missing]))
        rounded[~column.missing] = _to_multiple(values, column.grid, multiple)
        return with_numbers(column, rounded, multiple)

    def violations(self, released: Table) -> tuple[str, ...]:
        """Numbers that rounding would change."""
        return changed_by(self, released)

    def describe(self, *, detailed: bool = True) -> str:
        """To what numbers are rounded."""
        to = "none" if self.to is None else plain(self.to)
        return methods()("round", to=to, digits=self.digits or 0, detailed="yes" if detailed else "no")


def _multiple(to: float) -> Grid | None:
    """The multiples of a number as a grid; None unless it is a positive number of few decimal places.

    >>> _multiple(0.5), _multiple(1000.0), _multiple(-1.0)
    (Grid(decimals=1, every=5), Grid(decimals=0, every=1000), None)
    """
    if not 0 < to < MAX_GRID_POINTS:
        return None
    exact = Decimal(repr(float(to))).normalize()
    places = max(0, -int(exact.as_tuple().exponent))
    return Grid(places, int(exact.scaleb(places))) if places <= MAX_DECIMALS else None


def _to_multiple(values: Floats, grid: Grid | None, multiple: Grid) -> Floats:
    """The nearest multiples; on a decimal grid in whole numbers, so that 0.15 is half way between 0.1 and 0.2."""
    places = max(multiple.decimals, 0 if grid is None else grid.decimals)
    size = float(np.abs(values).max(initial=0.0))
    if grid is None or size * 10.0**places >= MAX_GRID_POINTS:
        nearest = np.rint(values / multiple.step)
        exact = np.abs(nearest) < MAX_GRID_POINTS
        return np.where(exact, multiple.value(np.where(exact, nearest, 0).astype(np.int64)), values)
    step = multiple.every * 10 ** (places - multiple.decimals)
    below, rest = np.divmod(Grid(places).index(values), step)
    up = (2 * rest > step) | ((2 * rest == step) & (below % 2 == 1))
    return multiple.value(below + up)


def significant(values: Floats, digits: int) -> Floats:
    """Numbers rounded to significant digits.

    Numbers near the largest or the smallest that there are stay as they are.

    >>> significant(np.array([1234.0, -0.05678, 0.0]), 2).tolist()
    [1200.0, -0.057, 0.0]
    """
    found = values.copy()
    with np.errstate(divide="ignore"):
        first = np.where(values == 0, 0, np.floor(np.log10(np.abs(values)))).astype(np.int64)
    for place in np.unique(first):
        rows = first == place
        if abs(place) > FURTHEST:
            continue
        scale = 10.0 ** abs(int(place) - digits + 1)
        larger = place >= digits
        found[rows] = np.rint(values[rows] / scale) * scale if larger else np.rint(values[rows] * scale) / scale
    return found


# Top and bottom coding.


@dataclass(frozen=True)
class _Coded(ColumnRecoding):
    """Coding of one end of a column: values at or beyond a threshold become one value."""

    kinds: ClassVar[frozenset[Kind]] = ORDERED
    main: ClassVar[str] = "at"
    at: Moment | None = None
    share: float | None = None
    rows: int | None = None
    to: Literal["threshold", "mean"] | Moment = "threshold"

    @property
    def _top(self) -> bool:
        raise NotImplementedError

    def __post_init__(self) -> None:
        name = type(self).__name__
        if sum(one is not None for one in (self.at, self.share, self.rows)) != 1:
            raise PlanError(f"{name} needs a threshold. Give one of at, share and rows.")
        if self.share is not None and not 0 < self.share < 1:
            raise ValueOutOfRange(f"{name}.share", self.share, "a share of the rows above 0 and below 1")
        if self.rows is not None and self.rows < 1:
            raise ValueOutOfRange(f"{name}.rows", self.rows, "a number of rows, at least 1")

    def fitted(self, table: Table) -> "_Coded":
        """The same with the threshold and the value as they are for this table."""
        column = table[self.column]
        at, to = self.at, self.to
        if at is None:
            at = as_given(column, self._quantile(column))
        if to == "mean":
            coded = self._beyond(column, at)
            mean = column.values[coded] if coded.any() else np.array([as_number(column, at)])
            to = as_given(column, _on_grid(column, mean_of(mean)))
        if to != "threshold" and not self._is_beyond(as_number(column, to), as_number(column, at)):
            raise ValueOutOfRange(f"{type(self).__name__}.to", to, f"at or beyond the threshold {at}")
        return replace(self, at=at, share=None, rows=None, to=to)

    def _quantile(self, column: Column) -> float:
        """The threshold at or beyond which enough rows lie."""
        known = np.sort(column.values[~column.missing])
        if not len(known):
            raise PlanError(
                f"Column {column.name!r} has no values to code. Leave out the recoding, or drop the column."
            )
        wanted = self.rows if self.share is None else ceil(self.share * len(known))
        at = min(wanted or 1, len(known))
        if self._top:
            value = known[len(known) - at]
            return roundest(column, known[known < value].max(initial=-np.inf), value)
        value = known[at - 1]
        return -roundest(column, -known[known > value].min(initial=np.inf), -value)

    def _is_beyond(self, value: float, at: float) -> bool:
        return value >= at if self._top else value <= at

    def _beyond(self, column: Column, at: Moment) -> Any:
        threshold = as_number(column, at)
        with np.errstate(invalid="ignore"):
            return column.values >= threshold if self._top else column.values <= threshold

    def recoded(self, column: Column) -> Column:
        """Every value at or beyond the threshold becomes one value."""
        if self.at is None or self.to == "mean":
            raise PlanError(f"{type(self).__name__} of {column.name!r} is not fitted to a table yet. Use fitted().")
        value = as_number(column, self.at if self.to == "threshold" else self.to)
        values = np.where(self._beyond(column, self.at), value, column.values)
        return with_numbers(column, values, _grid_of(column, values))

    def may_hold(self, column: Column) -> Bools:
        """The values that are the one value."""
        to = self.at if self.to == "threshold" else self.to
        return np.zeros(len(column), np.bool_) if to is None else column.values == as_number(column, to)

    def violations(self, released: Table) -> tuple[str, ...]:
        """Values beyond the threshold that are not the one value."""
        return changed_by(self, released)

    def describe(self, *, detailed: bool = True) -> str:
        """The threshold and the value."""
        at = "none" if self.at is None else plain(self.at)
        message = "top-code" if self._top else "bottom-code"
        return methods()(message, at=at, to=plain(self.to), detailed="yes" if detailed else "no")


@recoding("top-code")
@dataclass(frozen=True)
class TopCode(_Coded):
    """Replace the largest values by one value, so that no extreme one is released.

    Parameters
    ----------
    column : str
        The column of numbers, dates or times.
    at : float or str, optional
        The threshold: values at or above it become one value. A date is text such as "2010-12-31".
    share, rows : float, int, optional
        The share, or the number, of the known values that shall lie at or above the threshold at least, instead of it.
    to : {"threshold", "mean"} or float, default "threshold"
        What they become: the threshold, their mean, or another value above the threshold.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> top = lc.TopCode("wage", share=0.05, to="mean").fitted(table)
    >>> top.at, top.to
    (19.9, 23.41)
    """

    frozen_id: ClassVar[str] = "top-code"

    @property
    def _top(self) -> bool:
        return True


@recoding("bottom-code")
@dataclass(frozen=True)
class BottomCode(_Coded):
    """Replace the smallest values by one value, so that no extreme one is released.

    Parameters
    ----------
    column : str
        The column of numbers, dates or times.
    at : float or str, optional
        The threshold: values at or below it become one value. A date is text such as "1940-01-01".
    share, rows : float, int, optional
        The share, or the number, of the known values that shall lie at or below the threshold at least, instead of it.
    to : {"threshold", "mean"} or float, default "threshold"
        What they become: the threshold, their mean, or another value below the threshold.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.BottomCode("age", rows=10).fitted(table).at
    19.0
    """

    frozen_id: ClassVar[str] = "bottom-code"

    @property
    def _top(self) -> bool:
        return False


def mean_of(values: Floats) -> float:
    """The mean; the sum of large numbers would overflow."""
    scale = float(np.abs(values).max()) or 1.0
    return float((values / scale).mean() * scale)


def _on_grid(column: Column, value: float) -> float:
    """The nearest value that the column can have."""
    if column.grid is None:
        return value
    return float(column.grid.value(column.grid.index(np.array([value])))[0])


def _grid_of(column: Column, values: Floats) -> Grid | None:
    """The column's grid if the values are on it, or else the one that they are on."""
    known = values[~np.isnan(values)]
    if column.grid is not None and np.array_equal(column.grid.value(column.grid.index(known)), known):
        return column.grid
    return infer_grid(known) if column.kind == "number" else infer_time_grid(known)


def roundest(column: Column, low: float, high: float) -> float:
    """Of the values above one and at most another one, the number with the fewest digits; of dates the latest.

    A threshold between two values of a table is as good as either, is easier to read, and is nobody's value.

    >>> roundest(Column("pay", "number", np.empty(0)), 1734.2, 1851.9)
    1800.0
    """
    if column.kind != "number" or not np.isfinite(low) or low >= high:
        return float(high)
    size = max(abs(low), abs(high))
    if not 10.0**-FURTHEST < size < 10.0**FURTHEST:
        return float(high)
    for place in range(int(np.floor(np.log10(size))) + 1, -MOST_DIGITS, -1):
        step = 10.0 ** abs(place)
        found = float(np.floor(high / step) * step if place >= 0 else np.floor(high * step) / step)
        if low < found <= high:
            return found
    return float(high)


# Values of a column in plans and texts: numbers as numbers, dates and times as ISO text.


def as_number(column: Column, given: Moment) -> float:
    """A value as the column holds it."""
    if column.kind == "number":
        try:
            return float(given)
        except ValueError:
            raise ValueOutOfRange(f"A value of column {column.name!r}", given, "a number") from None
    return moment_number(column, str(given))


def moment_number(column: Column, text: str) -> float:
    """A date or time as the column holds it, from ISO text: days or seconds since 1970."""
    longer = text + " 00:00:00" if column.kind == "time" and len(text.strip()) <= len("2000-01-01") else text
    found = parse_timestamps(pa.array([longer.strip()]), None)
    if found is None or found.kind != column.kind:
        example = "2010-12-31" if column.kind == "date" else "2010-12-31 08:00:00"
        raise ValueOutOfRange(f"A value of column {column.name!r}", text, f"a {column.kind} such as {example}")
    return float(found.values[0])


def as_given(column: Column, value: float) -> Moment:
    """A value of a column as a plan holds it."""
    return value if column.kind == "number" else moment_text(column, value)


def moment_text(column: Column, value: float) -> str:
    """A date or time in ISO format."""
    plain_column = replace(column, text_format=None, stored=None)
    text: str = format_values(plain_column, np.array([value]))[0].as_py()
    return text


def plain(value: Moment) -> str:
    """A value in its shortest form.

    >>> plain(40.0), plain(0.5), plain("2010-12-31")
    ('40', '0.5', '2010-12-31')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# Dates and times as the beginning of a period.


@recoding("truncate")
@dataclass(frozen=True)
class Truncate(ColumnRecoding):
    """Replace dates and times by the beginning of their period, such as the first day of the month.

    Parameters
    ----------
    column : str
        The column of dates or times.
    to : {"hour", "day", "week", "month", "quarter", "year"}
        The period. A week begins on Monday; hours and days are periods of times only.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import leafcover as lc
    >>> from datetime import date
    >>> table = lc.from_frame(pa.table({"birth": [date(1985, 5, 17), date(1990, 1, 2)]}))
    >>> lc.Truncate("birth", "quarter").apply(table)["birth"].stored.to_pylist()
    [datetime.date(1985, 4, 1), datetime.date(1990, 1, 1)]
    """

    frozen_id: ClassVar[str] = "truncate"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"date", "time"})
    main: ClassVar[str] = "to"
    to: Period = "month"

    def __post_init__(self) -> None:
        if self.to not in get_args(Period):
            raise ValueOutOfRange("Truncate.to", self.to, f"one of {', '.join(get_args(Period))}")

    def recoded(self, column: Column) -> Column:
        """The beginning of each period."""
        known = ~column.missing
        values = column.values.copy()
        if column.kind == "date":
            values[known] = begin_of(values[known], self.to)
            return with_numbers(column, values, column.grid)
        day = np.floor(values[known] / DAY)
        begin = begin_of(day, self.to) * DAY if self.to != "hour" else np.floor(values[known] / HOUR) * HOUR
        values[known] = begin
        return with_numbers(column, values, infer_time_grid(values[known]))

    def violations(self, released: Table) -> tuple[str, ...]:
        """Dates inside a period."""
        return changed_by(self, released)

    def describe(self, *, detailed: bool = True) -> str:
        """The period."""
        return methods()("truncate", period=self.to)


DAY, HOUR = 86_400.0, 3_600.0  # seconds


def begin_of(days: Floats, period: Period) -> Floats:
    """The first day of each period; days are counted from 1970.

    >>> begin_of(np.array([45.0]), "month"), begin_of(np.array([45.0]), "week")
    (array([31.]), array([39.]))
    """
    if period == "week":
        found: Floats = days - np.remainder(days + THURSDAY, 7)
        return found
    if period in ("hour", "day"):
        return days
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    step = {"month": 1, "quarter": 3, "year": 12}[period]
    return (months // step * step).astype("datetime64[M]").astype("datetime64[D]").astype(np.float64)


def changed_by(one: ColumnRecoding, released: Table) -> tuple[str, ...]:
    """A sentence if a recoding would still change released values."""
    before, after = released[one.column], one.recoded(released[one.column])
    same = (before.values == after.values) | before.missing
    rows = int((~same).sum())
    return (f"column {one.column!r}: {rows} values are not recoded",) if rows else ()
