"""How a value is written: the text of numbers, dates and times, spelled as their column spells them."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.fast.arrays import Floats, Rows
from leafcover.table.dates import date_text, time_text
from leafcover.table.schema import MOST_POINTS, Grid, Spelling
from leafcover.table.table import Column

FEW = 32  # values looked up one by one


def text_of(column: Column, values: Floats) -> list[str]:
    """The text of some values of a number, date or time column, as the file has it.

    A value that stands in the column is given by its own text there (the shortest, when it is written in
    several ways, so that the order of rows cannot matter); others are spelled as the column spells.
    """
    wanted = np.asarray(values, np.float64)
    texts: list[str] = spelled(column, wanted).to_pylist()
    if column.stored is None or not is_text(column.stored) or column.kind != "number":
        return texts
    if len(wanted) <= FEW:  # a tree asks for one cut at a time, of a column with a million rows
        own = [_shortest_text(column.stored.take(np.flatnonzero(column.values == value))) for value in wanted]
    else:
        own = _own_texts(column, wanted)
    return [text if mine is None else mine for text, mine in zip(texts, own, strict=True)]


def _shortest_text(stored: Any) -> str | None:
    found = [text.strip() for text in distinct_texts(stored).to_pylist()]
    return min(found, key=lambda text: (len(text.encode()), text), default=None)


def _own_texts(column: Column, wanted: Floats) -> list[str | None]:
    """What `_shortest_text` says of each value, for many values at once."""
    known = np.flatnonzero(~column.missing)
    first = column.stored.take(known).dictionary_encode() if len(known) else None
    if first is None:
        return [None] * len(wanted)
    texts = first.dictionary
    value = np.empty(len(texts))
    value[np.asarray(first.indices)] = column.values[known]
    short = pc.utf8_trim_whitespace(texts)
    order = np.lexsort((np.asarray(pc.rank(short, tiebreaker="first")), np.asarray(pc.binary_length(short)), value))
    place = np.searchsorted(value[order], wanted)
    at = order[np.minimum(place, len(order) - 1)]
    own: list[str | None] = short.take(pa.array(at)).to_pylist()
    return [text if value[row] == asked else None for text, row, asked in zip(own, at, wanted, strict=True)]


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
    """The texts that occur in a stored text array (a dictionary may hold some that no longer do)."""
    if pa.types.is_dictionary(stored.type):
        return stored.dictionary.take(stored.indices.unique().drop_null())
    return stored.unique().drop_null()


def spelled(column: Column, values: Floats) -> Any:
    """A pyarrow array of text for values of a number, date or time column; nan becomes null.

    >>> price = Column("price", "number", np.array([]), grid=Grid(1), spelling=Spelling(2, thousands=True))
    >>> spelled(price, np.array([1234.5, -7.0, 1 / 3])).to_pylist()
    ['1,234.50', '-7.00', '0.3333333333333333']
    """
    known = ~np.isnan(values)
    if not known.all():
        places = np.where(known, np.cumsum(known) - 1, 0)
        return spelled(column, values[known]).take(pa.array(places, mask=~known))
    if column.kind == "date":
        return date_text(values, column.spelling)
    if column.kind == "time":
        return time_text(values, column.spelling)
    spelling = column.spelling or Spelling(decimals=column.grid.decimals if column.grid else 0, fixed=False)
    if column.grid is None:
        return _whole_floats(values) if spelling.fixed and not spelling.decimals else _shortest(values)
    index = column.grid.index(values)
    off = column.grid.value(index) != values  # a mean may stand between the grid's points
    text = _on_grid(index, column.grid, spelling)
    if off.any():
        text = pc.replace_with_mask(text, pa.array(off), _shortest(values[off]))
    return text


def _on_grid(index: Rows, grid: Grid, spelling: Spelling) -> Any:
    size = np.abs(index)
    scale = 10**grid.decimals
    whole = _grouped(size // scale) if spelling.thousands else pa.array(size // scale).cast(pa.string())
    if spelling.width:
        whole = pc.utf8_lpad(whole, spelling.width, "0")
    sign = pc.if_else(pa.array(index < 0), "-", "")
    parts = [sign, whole]
    if grid.decimals:
        places = pa.array(size % scale).cast(pa.string())
        parts += [".", pc.utf8_lpad(places, grid.decimals, "0")]
    extra = spelling.decimals - grid.decimals
    if spelling.fixed and extra > 0:
        parts += ["0" * extra if grid.decimals else "." + "0" * extra]
    text = pc.binary_join_element_wise(*parts, "")
    if not spelling.fixed and grid.decimals:
        text = pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".")
    return text


def _grouped(size: Rows) -> Any:
    """Whole numbers with a comma before every third digit."""
    text = pa.array(size).cast(pa.string())
    if not len(size) or size.max() < 1000:
        return text
    last = pc.utf8_lpad(pa.array(size % 1000).cast(pa.string()), 3, "0")
    return pc.if_else(pa.array(size < 1000), text, pc.binary_join_element_wise(_grouped(size // 1000), last, ","))


def _shortest(values: Floats) -> Any:
    return pa.array(values).cast(pa.string())


def _whole_floats(values: Floats) -> Any:
    """Whole numbers beyond 2^53: all digits, no exponent."""
    if len(values) and np.abs(values).max() >= MOST_POINTS * 512:  # no longer an int64
        return pa.array([str(int(value)) if value == int(value) else repr(value) for value in values.tolist()])
    whole = np.rint(values)
    text = pa.array(whole.astype(np.int64)).cast(pa.string())
    off = whole != values
    return pc.replace_with_mask(text, pa.array(off), _shortest(values[off])) if off.any() else text
