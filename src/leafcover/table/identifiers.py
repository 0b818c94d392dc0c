"""Detection of direct identifiers, and a summary of a table's columns for the data steward.

A column that identifies people cannot be protected by perturbation. The user must drop it or keep it deliberately.
Considering known values only, a column looks like an identifier if it is

- text of which at least 90 % is distinct (dates excepted; fewer than five values are no evidence), or free text: more
  than three words on average, with each text shared by fewer than ten rows on average. The number of words alone would
  also match code books ('Native- Born in the United States'), but many rows share each label of a code book;
- whole numbers in at least 50 rows, at least 90 % distinct, that increase strictly in file order or whose column name
  suggests an identifier. Without either there is only a warning, because incomes look the same.

Decimal numbers are measurements and are never identifiers.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import Array, Words
from leafcover.errors import quoted
from leafcover.table.formatting import has_decimal_commas, is_text, plain_text, text_of
from leafcover.table.table import Column, Grid, Kind, Role, Table

DISTINCT_SHARE = 0.9
MIN_ROWS = 50  # whole numbers in fewer rows are not checked
MIN_TEXTS = 5  # fewer texts are no evidence
MAX_MEAN_WORDS = 3.0
MIN_ROWS_PER_LABEL = 10  # a code book's label is shared by at least this many rows on average
IDENTIFIER_WORDS = frozenset({"id", "key", "code", "number", "no", "nr", "uuid", "ssn"})
EXEMPT_ROLES = frozenset({"identifier", "unchanged", "unit", "weight"})  # roles that settle the question
DATE_REGEX = r"^\s*[0-9]{1,4}[-/. ][0-9]{1,2}[-/. ][0-9]{1,4}([T ][0-9]{1,2}:[0-9]{2}.*)?\s*$"


@dataclass(frozen=True)
class Suspect:
    """A column that may be a direct identifier. Severity "refuse" stops a release, "warn" does not."""

    column: str
    severity: Literal["refuse", "warn"]
    message: str


def identifiers(table: Table) -> tuple[Suspect, ...]:
    """The columns that look like direct identifiers, in table order."""
    found = (_check_column(column) for column in table if table.roles.get(column.name) not in EXEMPT_ROLES)
    return tuple(suspect for suspect in found if suspect is not None)


def name_words(name: str) -> list[str]:
    """The words of a column name, in lower case.

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
    if column.grid is None:  # possibly integers beyond 2^53
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
        commas = " texts, numbers with decimal commas" if has_decimal_commas(column.levels) else ""
        return _refusal(column, f"{_percent(share)} of its known values are distinct{commas}")
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
    hints = [word for word in name_words(column.name) if word in IDENTIFIER_WORDS]
    reason = f"{_percent(share)} of its known values are distinct"
    if bool((known[1:] > known[:-1]).all()):
        return _refusal(column, f"{reason} and they increase from row to row")
    if hints:
        return _refusal(column, f"{reason} and its name contains {hints[0]!r}")
    message = f"Column {column.name!r} may be an identifier: {reason}. If so, add --drop {quoted(column.name)}."
    return Suspect(column.name, "warn", message)


def _exact(column: Column, known: Array) -> Array:
    """Integers beyond 2^53 as they are stored, because float64 cannot distinguish them."""
    stored = column.stored.filter(pa.array(~column.missing))
    if is_text(stored):
        stored = pc.utf8_trim_whitespace(plain_text(stored))
    try:
        return np.asarray(stored.cast(pa.int64()))
    except pa.ArrowInvalid:  # beyond int64 too: compare the texts instead
        return np.asarray(stored.to_pylist()) if is_text(stored) else known


def _refusal(column: Column, reason: str) -> Suspect:
    option = quoted(column.name)
    return Suspect(
        column.name,
        "refuse",
        f"Column {column.name!r} looks like an identifier: {reason}. "
        f"Remove it with --drop {option}, or keep it unchanged with --unchanged {option}.",
    )


def _percent(share: float) -> str:
    return f"{int(share * 1000) / 10:g}%"  # rounded down, so that 100% means all


# Summary of a table, as shown by ``leafcover inspect``: for the data steward, not for publication.


@dataclass(frozen=True)
class ColumnFacts:
    """Summary of a column: the range of a number, or the most common levels of a category."""

    name: str
    kind: Kind
    role: Role | None
    distinct: int  # number of distinct known values
    missing: int
    domain: tuple[str, str] | None  # in the column's own text format
    common: tuple[tuple[str, int], ...]  # (level, rows), most common first
    grid: Grid | None


@dataclass(frozen=True)
class TableFacts:
    """Summary of a table: its size, its columns, and how many rows are unique over all columns."""

    rows: int
    unique_rows: int
    columns: tuple[ColumnFacts, ...]
    warnings: tuple[str, ...]
    identifiers: tuple[Suspect, ...] = ()  # columns that look like direct identifiers

    def __str__(self) -> str:
        return _fact_lines(self)


def describe(table: Table, *, levels: int = 5) -> TableFacts:
    """Summarise a table, with the ``levels`` most common levels of each category."""
    facts = tuple(_column_facts(column, table.roles.get(column.name), levels) for column in table)
    return TableFacts(len(table), unique_rows(table), facts, table.warnings, identifiers(table))


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
    """The number of rows that equal no other row; missing values are equal to each other."""
    if not table.columns:
        return 0
    _, counts = np.unique(row_hashes(table), return_counts=True)
    return int((counts == 1).sum())


def row_hashes(table: Table) -> Words:
    """A 64-bit hash of each row: equal rows have equal hashes, also across tables with the same columns and levels.

    The probability that any two different rows among a million collide is 3e-8.
    """
    hashes = np.zeros(len(table), np.uint64)
    for column in table:
        hashes = splitmix64(hashes ^ _bits(column.values))
    return hashes


def _bits(values: Array) -> Words:
    if values.dtype.kind == "f":
        plain = np.where(np.isnan(values), np.nan, values + 0.0)  # a single nan and a single zero
        return plain.view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def splitmix64(words: Words) -> Words:
    """The finalizer of splitmix64: every input bit affects every output bit."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


MAX_LEVEL_LENGTH = 40  # longer levels are shortened


def _fact_lines(found: TableFacts) -> str:
    """One aligned line per column."""
    head = ("column", "kind", "role", "distinct", "missing", "values")
    rows = [(c.name, c.kind, c.role or "", f"{c.distinct:,}", f"{c.missing:,}", _values(c)) for c in found.columns]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(5)]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in [head, *rows]
    ]
    count = (
        f"{found.rows:,} rows, {len(found.columns)} {'column' if len(found.columns) == 1 else 'columns'}; "
        f"{found.unique_rows:,} rows are unique over all columns."
    )
    return "\n".join([*lines, "", count])


def _values(facts: ColumnFacts) -> str:
    if facts.domain is not None:
        return f"{facts.domain[0]} to {facts.domain[1]}{_steps(facts)}"
    shown = ", ".join(f"{_shorten(level)} ({rows:,})" for level, rows in facts.common)
    return shown + (", …" if facts.distinct > len(facts.common) else "")


def _steps(facts: ColumnFacts) -> str:
    if facts.grid is None:
        return ""
    units = {"date": {1.0: "a day"}, "time": {1.0: "a second", 60.0: "a minute", 3_600.0: "an hour", 86_400.0: "a day"}}
    return f" in steps of {units.get(facts.kind, {}).get(facts.grid.step, f'{facts.grid.step:g}')}"


def _shorten(level: str) -> str:
    """A level on one line, shortened if it is long; --json shows it in full."""
    text = "".join(letter if letter.isprintable() else "·" for letter in level)
    return text if len(text) <= MAX_LEVEL_LENGTH else text[: MAX_LEVEL_LENGTH - 1] + "…"
