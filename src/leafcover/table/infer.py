"""Infer the kind of a text column from all of its known values.

Kinds are tried in order of cost: numbers from the raw text, numbers from the trimmed text, dates and times, and
finally categories. If a column has few distinct texts, only those are parsed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Bools, Codes, Rows
from leafcover.errors import TableError
from leafcover.table.formatting import (
    PLAIN,
    ParsedNumbers,
    Timestamps,
    infer_grid,
    infer_text_format,
    infer_time_grid,
    parse_numbers,
    parse_timestamps,
    plain_text,
    timestamp_forms,
)
from leafcover.table.separators import (
    NO_CLUE,
    POINT_AND_COMMAS,
    GivenSeparators,
    SeparatorClue,
    Separators,
    SettledSeparators,
    clue_of_points,
    separator_warnings,
    settle,
    usual_decimal,
)
from leafcover.table.table import MAX_GRID_POINTS, Column, Grid, RawColumn, TextFormat

MISSING_TOKENS = ("", "?", "NA", "NaN", "nan")  # in CSV and TSV; ARFF and C4.5 recognise only '?' and the empty cell
MOST = 0.5  # a category in which at least this share of the values are dates or numbers is warned of
LISTED = 3  # rows that a warning lists
COMMA_AND_POINTS = Separators(",", ".")
DATE_LIKE = r"^([0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}|[0-9]{2}[/.][0-9]{2}[/.][0-9]{4})"
FEW_DISTINCT_SHARE = 0.25  # if no larger share of a sample is distinct, only the distinct texts are parsed
SAMPLE = 2000


@dataclass(frozen=True)
class InferredColumn:
    """A column and the warnings about it. Warnings never contain a value, because they appear in published files."""

    column: Column
    warnings: tuple[str, ...] = ()
    clue: SeparatorClue = NO_CLUE
    is_too_long: bool = False  # a category because float64 cannot hold its integers


def from_text(
    name: str,
    stored: Any,
    *,
    tokens: Sequence[str] = MISSING_TOKENS,
    category: bool = False,
    separators: Separators | None = None,
) -> InferredColumn:
    """Infer a column from the raw text of a file; ``category`` declares it a category.

    Without ``separators`` those of numbers are found as far as the column leaves no doubt; `settle_separators` does
    the rest.

    >>> from_text("age", pa.array(["31", "?", "4"])).column.values
    array([31., nan,  4.])
    >>> from_text("job", pa.array(["b", "?", "a"])).column.levels
    ('a', 'b')
    """
    stored = combine_chunks(stored)
    if category:
        return _category(name, stored.dictionary_encode(), tokens, declared=True)
    encoded = stored.dictionary_encode() if _few_distinct(stored) else None
    kept = stored if encoded is None else encoded
    text = stored if encoded is None else encoded.dictionary
    rows = None if encoded is None else np.asarray(encoded.indices)
    missing = None
    # For most columns one cast is enough: they have no missing values, and no number means a missing one.
    numeric = tokens is not MISSING_TOKENS and bool(token_numbers(tokens))
    number = None if numeric else parse_numbers(text, None, separators)
    if number is None:
        missing = is_missing(text, tokens)
        number = _known_numbers(text, missing, tokens, separators) if numeric or missing.any() else None
    if missing is not None and missing.all():
        column = Column(name, "category", np.full(len(stored), MISSING, np.int32), stored=kept)
        return InferredColumn(column, (no_values_warning(name),))
    if number is not None and has_long_integers(number):
        return long_integers(_category(name, stored.dictionary_encode(), tokens, declared=True))
    if number is not None and not number.clue.may_be_code:
        return _number(name, kept, number, rows)
    found = None if number is not None else parse_timestamps(text, missing)
    if found is not None:
        return InferredColumn(text_timestamps(name, kept, found, rows))
    encoded = stored.dictionary_encode() if encoded is None else encoded
    if number is not None:
        return replace(_category(name, encoded, tokens, declared=True), clue=number.clue)
    return _category(name, encoded, tokens)


def settle_separators(
    found: Sequence[InferredColumn], tokens: Mapping[str, Sequence[str]], given: GivenSeparators, delimiter: str
) -> tuple[list[InferredColumn], tuple[str, ...]]:
    """The columns of a text file with the separators that are given or that all of them together make likely."""
    clues = {one.column.name: one.clue for one in found}
    settled = settle(clues, given, delimiter)
    columns = []
    for one in found:
        name = one.column.name
        if name in settled:
            columns.append(_read_again(one, settled[name], tokens.get(name, MISSING_TOKENS)))
        elif one.column.kind == "number" and (mark := usual_decimal(clues, given, name)) != ".":
            columns.append(_with_decimal(one, mark))
        else:
            columns.append(one)
    return columns, tuple(separator_warnings(settled))


def _read_again(found: InferredColumn, settled: SettledSeparators, tokens: Sequence[str]) -> InferredColumn:
    """The column with its separators; most columns have been read with these already."""
    column, wanted = found.column, settled.separators
    if wanted is None and column.is_category:
        return found
    if wanted is not None and column.kind == "number" and wanted == settled.clue.readings[0]:
        return found
    text = plain_text(column.stored)
    return from_text(column.name, text, tokens=tokens, category=wanted is None, separators=wanted)


def _with_decimal(found: InferredColumn, mark: str) -> InferredColumn:
    """Whole numbers, whose means are written with this decimal separator."""
    form = found.column.text_format
    if found.clue.decimal or form is None:
        return found
    return replace(found, column=replace(found.column, text_format=replace(form, decimal=mark)))


def separators_of(columns: Iterable[Column]) -> tuple[str | dict[str, str] | None, dict[str, str] | None]:
    """The decimal and thousands separators with which a text file was read, so that its release is read the same."""
    forms = {c.name: c.text_format for c in columns if c.kind == "number" and c.text_format is not None}
    decimals = {name: form.decimal for name, form in forms.items()}
    thousands = {name: form.thousands for name, form in forms.items() if form.thousands}
    same = next(iter(decimals.values())) if len(set(decimals.values())) == 1 else None
    return same or decimals or None, thousands or None


def text_timestamps(name: str, stored: Any, found: Timestamps, rows: Rows | None = None) -> Column:
    """A column of dates or times that are stored as text; ``rows`` are indices of the parsed values."""
    values = found.values if rows is None else found.values[rows]
    grid = Grid(0) if found.kind == "date" else infer_time_grid(found.values[~np.isnan(found.values)])
    return Column(name, found.kind, values, (), grid, found.text_format, stored)


def token_numbers(tokens: Sequence[str]) -> list[Decimal]:
    """The tokens for missing values that are numbers, such as -9; nan is missing anyway.

    >>> token_numbers(["-9", "?", "NaN", " 1,000"])
    [Decimal('-9'), Decimal('1000')]
    """
    parsed = [parse_numbers(pa.array([token], pa.string()), None) for token in tokens]
    return [Decimal(number.text[0].as_py().strip()) for number in parsed if number is not None]


def _known_numbers(
    text: Any, missing: Bools, tokens: Sequence[str], separators: Separators | None
) -> ParsedNumbers | None:
    """Parse numbers. A token that is a number is missing in any spelling: -9 and -9.0; ``missing`` is updated."""
    number = parse_numbers(text, missing if missing.any() else None, separators)
    sentinels = token_numbers(tokens)
    if number is None or not sentinels:
        return number
    respelt = np.isin(number.values, np.array(sentinels, np.float64))
    if not respelt.any():
        return number
    missing |= respelt
    return parse_numbers(text, missing, separators)


def from_declared(raw: RawColumn, tokens: Sequence[str]) -> InferredColumn:
    """A column with the kind and levels that its file declares; a value outside the declaration is refused."""
    stored = combine_chunks(raw.stored)
    if raw.declared == "number":
        return _declared_number(raw.name, stored, tokens)
    encoded = stored.dictionary_encode()
    missing = is_missing(encoded.dictionary, tokens)
    if raw.levels is None:
        return _category(raw.name, encoded, tokens, declared=True)
    levels = pa.array(raw.levels, pa.string())
    undeclared = ~np.asarray(pc.is_in(encoded.dictionary, value_set=levels), np.bool_) & ~missing
    if undeclared.any():
        row = int(np.argmax(undeclared[np.asarray(encoded.indices)]))
        raise TableError(
            f"Column {raw.name!r} has the undeclared value {stored[row].as_py()!r} in row {row + 1}. "
            f"Declare the value or fix the row."
        )
    # Keep declared levels that never occur: a tree has a branch for each, as in C4.5.
    texts = pa.concat_arrays([levels, encoded.dictionary.filter(pa.array(missing)).cast(pa.string())])
    at = np.asarray(pc.index_in(encoded.dictionary, value_set=texts), np.int32)[np.asarray(encoded.indices)]
    codes = np.where(at < len(levels), at, np.int32(MISSING))
    both = pa.DictionaryArray.from_arrays(pa.array(at), texts)
    return InferredColumn(Column(raw.name, "category", codes, raw.levels, stored=both))


def _declared_number(name: str, stored: Any, tokens: Sequence[str]) -> InferredColumn:
    missing = is_missing(stored, tokens)
    number = _known_numbers(stored, missing, tokens, POINT_AND_COMMAS)
    if missing.all():
        column = Column(
            name, "number", np.full(len(stored), np.nan), grid=Grid(0), text_format=TextFormat(), stored=stored
        )
        return InferredColumn(column, (no_values_warning(name),))
    if number is None:
        plain = pc.match_substring_regex(stored, PLAIN).to_numpy(zero_copy_only=False)
        row = int(np.argmax(~(np.asarray(plain, np.bool_) | missing)))
        raise TableError(
            f"Column {name!r} is declared numeric, but row {row + 1} contains {stored[row].as_py()!r}. "
            f"Fix the row or the declaration."
        )
    if has_long_integers(number):
        return long_integers(_category(name, stored.dictionary_encode(), tokens, declared=True))
    return InferredColumn(_number(name, stored, number, None).column)


def combine_chunks(stored: Any) -> Any:
    """One array instead of chunks, with large offsets only if the text needs them."""
    if not isinstance(stored, pa.ChunkedArray):
        return stored
    if stored.num_chunks == 1:
        return stored.chunk(0)
    if pa.types.is_string(stored.type) and stored.nbytes > 2**31 - 2**20:
        stored = stored.cast(pa.large_string())
    return pa.concat_arrays(stored.chunks) if stored.num_chunks else pa.array([], stored.type)


def _few_distinct(stored: Any) -> bool:
    sample = stored.slice(0, SAMPLE)
    return len(sample) > 0 and len(sample.unique()) <= max(2, len(sample) * FEW_DISTINCT_SHARE)


def is_missing(text: Any, tokens: Sequence[str]) -> Bools:
    """Which texts mean a missing value, ignoring surrounding spaces. The empty cell is always missing."""
    wanted = pa.array([*{"", *(token.strip() for token in tokens)}], text.type)
    trimmed = pc.utf8_trim_whitespace(text)
    return np.asarray(pc.is_in(trimmed, value_set=wanted).to_numpy(zero_copy_only=False), np.bool_)


def _number(name: str, stored: Any, number: ParsedNumbers, rows: Rows | None) -> InferredColumn:
    values = number.values if rows is None else number.values[rows]
    check_finite(name, values)
    known = number.values[~np.isnan(number.values)]
    grid = infer_grid(known)
    text_format = infer_text_format(number, grid)
    warnings = []
    if text_format.width:
        warnings.append(
            f"Column {name!r} has leading zeros and is read as a number; formats with types lose the zeros. "
            f"If it is a code, such as a postal code, read it with category=[{name!r}]."
        )
    clue = number.clue if number.clue.readings else clue_of_points(number.text, text_format.decimals)
    return InferredColumn(Column(name, "number", values, (), grid, text_format, stored), tuple(warnings), clue)


def has_padded_codes(numbers: Any) -> bool:
    """Whether numbers as text are codes: equally many digits each and nothing else, some with leading zeros.

    >>> has_padded_codes(pa.array(["01067", "80331"])), has_padded_codes(pa.array(["007", "12"]))
    (True, False)
    """
    lengths = pc.min_max(pc.binary_length(numbers)).as_py()
    if not lengths["max"] or lengths["min"] != lengths["max"] or lengths["max"] < 2:
        return False
    return pc.any(pc.starts_with(numbers, "0")).as_py() and pc.all(pc.ascii_is_decimal(numbers)).as_py()


PADDED = re.compile(r"0{2,}|[NZ](\d+)(?:\.0?)?|%0(\d+)(?:\.0)?[fg]c?")  # formats of Excel, SPSS, SAS and Stata


def padded(raw: RawColumn, display: str) -> RawColumn:
    """Whole numbers that their file shows with leading zeros as the codes that they are; other columns as they are.

    >>> padded(RawColumn("zip", pa.array([1067, 80331])), "00000").stored.to_pylist()
    ['01067', '80331']
    """
    found = PADDED.fullmatch(display)
    if found is None or not pa.types.is_integer(raw.stored.type) or (pc.min(raw.stored).as_py() or 0) < 0:
        return raw
    width = int(found[1] or found[2] or len(display))
    codes = pc.utf8_lpad(raw.stored.cast(pa.string()), width, "0")
    if not len(codes.drop_null()) or not has_padded_codes(codes.drop_null()):
        return raw
    warning = padded_codes_warning(raw.name)
    return replace(raw, stored=codes, typed=True, warnings=(*raw.warnings, warning))


def padded_codes_warning(name: str) -> str:
    """The warning about codes with leading zeros."""
    return f"Column {name!r} has leading zeros, as codes have, and is read as a category."


def no_values_warning(name: str) -> str:
    """The warning about a column without any known value."""
    return f"Column {name!r} has no known values and is left unchanged."


def has_long_integers(number: ParsedNumbers) -> bool:
    """Whether whole numbers without an exponent are not those that float64 makes of them."""
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(number.values) >= MAX_GRID_POINTS)
    texts = number.text.take(pa.array(large)).to_pylist()
    return any(
        "." not in text and "e" not in text.lower() and np.isfinite(value) and int(text) != int(value)
        for text, value in zip(texts, number.values[large].tolist(), strict=True)
    )


def long_integers(found: InferredColumn) -> InferredColumn:
    """A category of integers that float64 cannot hold, with a warning."""
    name = found.column.name
    warning = (
        f"Column {name!r} has integers beyond 2^53 that float64 cannot hold, so it is read as a category. If it is an "
        f"identifier, read the table with drop=[{name!r}]; if it is a quantity, round it to fewer digits."
    )
    return replace(found, warnings=(*found.warnings, warning), is_too_long=True)


def index_warning(names: Sequence[str]) -> str:
    """The warning about a pandas index with names."""
    return (
        f"The index of pandas ({', '.join(map(repr, names))}) is left out. "
        "Use reset_index() before if it belongs to the table."
    )


def decimal_comma_warning(name: str) -> str:
    """The warning about numbers with decimal commas in a typed column, where text stays text."""
    return (
        f"Column {name!r} has texts that are numbers with decimal commas and is read as a category. "
        f"Convert them to numbers, or accept the category with category=[{name!r}]."
    )


def check_finite(name: str, values: Any) -> None:
    """Refuse infinite numbers, which have no place in a grid, a box or a mean."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite)) + 1
        raise TableError(
            f"Column {name!r} has an infinite number in row {row}. Replace it with a finite number or an empty cell."
        )


def _category(name: str, encoded: Any, tokens: Sequence[str], *, declared: bool = False) -> InferredColumn:
    missing = is_missing(encoded.dictionary, tokens)
    column = category_column(name, encoded, missing)
    if not column.levels:
        return InferredColumn(column, (no_values_warning(name),))
    return InferredColumn(column, () if declared else odd_values_warnings(column))


def category_column(name: str, encoded: Any, missing: Bools) -> Column:
    """A category column from dictionary-encoded text: levels in code point order, followed by the missing tokens."""
    texts = encoded.dictionary
    # UTF-8 sorts by code point. Known texts come first, so that the index of a known value is its code.
    order = np.lexsort((np.asarray(pc.rank(texts, tiebreaker="first")), missing))
    place = np.empty(len(texts), np.int32)
    place[order] = np.arange(len(texts), dtype=np.int32)
    known = len(texts) - int(missing.sum())
    indices = encoded.indices
    empty = indices.is_null()
    at: Codes = place[np.asarray(indices.fill_null(0))] if len(texts) else np.zeros(len(indices), np.int32)
    nulls = np.asarray(empty.to_numpy(zero_copy_only=False), np.bool_)
    sorted_texts = texts.take(pa.array(order))
    stored = pa.DictionaryArray.from_arrays(pa.array(at, mask=nulls if nulls.any() else None), sorted_texts)
    codes = np.where(nulls | (at >= known), np.int32(MISSING), at)
    return Column(name, "category", codes, tuple(sorted_texts[:known].to_pylist()), stored=stored)


# Warnings about columns of dates or numbers that a few other texts make categories.


def odd_values_warnings(column: Column, *, numbers: bool = True) -> tuple[str, ...]:
    """A warning about a text category if most of its known values are dates, times or (with ``numbers``) numbers."""
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    levels = pa.array(column.levels, pa.string())
    first = np.unique(column.values[:SAMPLE])
    some = first[first >= 0]
    if _share(pc.match_substring_regex(levels.take(pa.array(some)), DATE_LIKE), counts[some]) >= MOST / 2:
        forms = timestamp_forms(levels)
        dates = np.logical_or.reduce([np.zeros(len(levels), np.bool_), *forms.values()])
        if _share(dates, counts) >= MOST:
            return (_odd_dates(column, forms, dates, counts),)
    return _odd_numbers(column, levels, counts) if numbers else ()


def _share(fits: Any, counts: Rows) -> float:
    return float(counts @ np.asarray(fits, np.float64) / max(counts.sum(), 1))


def _odd_dates(column: Column, forms: Mapping[str, Bools], dates: Bools, counts: Rows) -> str:
    name = column.name
    main = max(forms, key=lambda pattern: _share(forms[pattern], counts))
    if not forms[main].all():
        form = "with {} in another form" if dates.all() else "except for {}"
        return _except(column, "dates", form, ~forms[main])
    why = "times whose seconds or time zones are written in several ways"
    if "%H" not in main:
        why = "dates in which day and month cannot be distinguished"
    return (
        f"Column {name!r} has {why}, and is read as a category. "
        f"Write them as in 2020-12-31 23:59:59, or accept the category with category=[{name!r}]."
    )


def _odd_numbers(column: Column, levels: Any, counts: Rows) -> tuple[str, ...]:
    """Numbers with one kind of separators among other texts."""
    texts = pc.utf8_trim_whitespace(levels)
    if not pc.any(pc.match_substring_regex(texts, "^[+-]?[.,]?[0-9][0-9.,]*")).as_py():
        return ()
    kinds = [pc.match_substring_regex(texts, read.pattern) for read in (POINT_AND_COMMAS, COMMA_AND_POINTS)]
    fits = np.asarray(max(kinds, key=lambda kind: _share(kind, counts)), np.bool_)
    if fits.any() and _share(fits, counts) >= MOST:
        return (_except(column, "numbers", "except for {}", ~fits),)
    if fits.any():
        return (f"Column {column.name!r} mixes numbers and text and is read as a category.",)
    return ()


def _except(column: Column, what: str, form: str, odd: Bools) -> str:
    known = column.values >= 0
    rows = np.flatnonzero(known & odd[column.values]) + 1
    more = ", ..." if len(rows) > LISTED else ""
    where = f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:LISTED]))}{more}"
    exception = form.format(f"{len(rows):,} of {int(known.sum()):,} values ({where})")
    return (
        f"Column {column.name!r} has {what} {exception}, and is read as a category. "
        f"Correct them, or declare what they hold missing with missing={{{column.name!r}: 'TEXT'}}."
    )
