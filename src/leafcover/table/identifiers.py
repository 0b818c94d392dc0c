"""The identifier guard: a column that names people is not noise's business; it must go, or stay on purpose.

What is looked for, on known values only:

- text of which at least 0.9 is distinct (dates excepted; fewer than five are no evidence), or free text: over three
  words on average, each text shared by fewer than ten rows on average. The words alone would catch code books ('Native-
  Born in the United States'); but the labels of a code book are shared by many rows, and what people write is not;
- whole numbers, at least 50 rows and 0.9 distinct, that increase strictly in file order or whose name says so; without
  either only a warning, since incomes look like that too;
- decimals never: they are measured.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import Array, Words
from leafcover.table.formatting import is_text, plain_text, text_of
from leafcover.table.table import Column, Grid, Kind, Role, Table

DISTINCT_SHARE = 0.9
MIN_ROWS = 50  # for whole numbers
MIN_TEXTS = 5  # fewer distinct texts prove nothing
MAX_MEAN_WORDS = 3.0
MIN_ROWS_PER_LABEL = 10  # a text shared by fewer rows than this is nobody's label
IDENTIFIER_WORDS = frozenset({"id", "key", "code", "number", "no", "nr", "uuid", "ssn"})
EXEMPT_ROLES = frozenset({"identifier", "unchanged", "unit", "weight"})  # the user has said what these are
DATE_REGEX = r"^\s*[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}([T ][0-9]{1,2}:[0-9]{2}.*)?\s*$"


@dataclass(frozen=True)
class Suspect:
    """A column that may name people: ``refuse`` stops a release, ``warn`` does not."""

    column: str
    severity: Literal["refuse", "warn"]
    sentence: str


def identifiers(table: Table) -> tuple[Suspect, ...]:
    """The columns that look like identifiers, in table order."""
    found = (_check_column(column) for column in table if table.roles.get(column.name) not in EXEMPT_ROLES)
    return tuple(suspect for suspect in found if suspect is not None)


def name_words(name: str) -> list[str]:
    """The words of a column's name, in lower case.

    >>> name_words("sample_codeNumber"), name_words("PatientID.2")
    (['sample', 'code', 'number'], ['patient', 'id', '2'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+", name)]


def _check_column(column: Column) -> Suspect | None:
    known = column.values[~column.missing]
    if column.is_category:
        return _check_text(column, known)
    if column.kind == "number" and _is_whole(column):
        return _check_integers(column, known)
    return None


def _is_whole(column: Column) -> bool:
    text_format = column.text_format
    if column.grid is None:  # whole numbers beyond 2^53
        stored: Any = column.stored
        typed = stored is not None and not is_text(stored) and pa.types.is_integer(stored.type)
        return typed or (text_format is not None and text_format.fixed and not text_format.decimals)
    return column.grid.decimals == 0 and (text_format is None or not text_format.decimals)


def _check_text(column: Column, known: Array) -> Suspect | None:
    counts = np.bincount(known, minlength=len(column.levels))
    distinct = int((counts > 0).sum())
    if len(known) < MIN_TEXTS or distinct < 2:
        return None
    share = distinct / len(known)
    if share < 1 / MIN_ROWS_PER_LABEL:
        return None
    levels = pa.array(column.levels, pa.string())
    if pc.all(pc.match_substring_regex(levels, DATE_REGEX)).as_py():
        return None
    if share >= DISTINCT_SHARE:
        return _refusal(column, f"{_percent(share)} of its known values are distinct")
    words = pc.count_substring_regex(levels, r"\S+").to_numpy()
    mean = float(np.average(words, weights=counts))
    if mean > MAX_MEAN_WORDS:
        return _refusal(column, f"it is free text of {mean:.1f} words on average")
    return None


def _check_integers(column: Column, known: Array) -> Suspect | None:
    if len(known) < MIN_ROWS:
        return None
    if column.grid is None:
        known = _exact(column, known)
    distinct = len(np.unique(known))
    share = distinct / len(known)
    if share < DISTINCT_SHARE:
        return None
    said = [token for token in name_words(column.name) if token in IDENTIFIER_WORDS]
    why = f"{_percent(share)} of its known values are distinct"
    if bool((known[1:] > known[:-1]).all()):
        return _refusal(column, f"{why} and they increase from row to row")
    if said:
        return _refusal(column, f"{why} and its name says {said[0]!r}")
    sentence = f"Column {column.name!r} may be an identifier: {why}. If it is one, drop it with --drop {column.name}."
    return Suspect(column.name, "warn", sentence)


def _exact(column: Column, known: Array) -> Array:
    """Whole numbers beyond 2^53 as they are stored, since float64 makes neighbours equal."""
    stored = column.stored.filter(pa.array(~column.missing))
    if is_text(stored):
        stored = pc.utf8_trim_whitespace(plain_text(stored))
    try:
        return np.asarray(stored.cast(pa.int64()))
    except pa.ArrowInvalid:  # beyond int64 too: distinct texts will do
        return np.asarray(stored.to_pylist()) if is_text(stored) else known


def _refusal(column: Column, why: str) -> Suspect:
    return Suspect(
        column.name,
        "refuse",
        f"Column {column.name!r} looks like an identifier: {why}. "
        f"Drop it with --drop {column.name}, or say --unchanged {column.name} to keep it as it is.",
    )


def _percent(share: float) -> str:
    return f"{int(share * 1000) / 10:g} %"  # rounded down: 100 % only when all are


# What a table holds, in the words of ``leafcover inspect``: facts for the steward, not for publication.


@dataclass(frozen=True)
class ColumnFacts:
    """One column: lowest and highest value of a number, the most common levels of a category."""

    name: str
    kind: Kind
    role: Role | None
    distinct: int  # known values
    missing: int
    domain: tuple[str, str] | None  # in the column's own spelling
    common: tuple[tuple[str, int], ...]  # (level, rows), most common first
    grid: Grid | None


@dataclass(frozen=True)
class TableFacts:
    """A table: its size, and how many rows no other row equals."""

    rows: int
    unique_rows: int
    columns: tuple[ColumnFacts, ...]
    warnings: tuple[str, ...]


def describe(table: Table, *, levels: int = 5) -> TableFacts:
    """The facts of a table, with the ``levels`` most common levels of each category."""
    facts = tuple(_column_facts(column, table.roles.get(column.name), levels) for column in table)
    return TableFacts(len(table), unique_rows(table), facts, table.warnings)


def _column_facts(column: Column, role: Role | None, levels: int) -> ColumnFacts:
    missing = column.missing
    known = column.values[~missing]
    gone = int(missing.sum())
    if column.is_category:
        counts = np.bincount(known, minlength=len(column.levels))
        order = np.argsort(-counts, kind="stable")[:levels]
        common = tuple((column.levels[at], int(counts[at])) for at in order if counts[at])
        return ColumnFacts(column.name, column.kind, role, int((counts > 0).sum()), gone, None, common, None)
    distinct = len(np.unique(known))
    domain = None
    if distinct:
        low, high = text_of(column, np.asarray(column.domain))
        domain = (low, high)
    return ColumnFacts(column.name, column.kind, role, distinct, gone, domain, (), column.grid)


def unique_rows(table: Table) -> int:
    """How many rows differ from every other row in some column; a missing value equals a missing value."""
    if not table.columns:
        return 0
    _, counts = np.unique(row_hashes(table), return_counts=True)
    return int((counts == 1).sum())


def row_hashes(table: Table) -> Words:
    """A number for each row, the same for rows that are alike, here and in a table with the same columns and levels.

    Of a million rows two that differ share theirs with a chance of 3e-8.
    """
    words = np.zeros(len(table), np.uint64)
    for column in table:
        words = splitmix64(words ^ _bits(column.values))
    return words


def _bits(values: Array) -> Words:
    if values.dtype.kind == "f":
        plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one nan, one zero
        return plain.view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def splitmix64(words: Words) -> Words:
    """splitmix64's finalizer: every bit of the input moves every bit of the output."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
