"""What a table holds, in the words of ``leafcover inspect``: facts for the steward, not for publication."""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Words
from leafcover.table.schema import Grid, Kind, Role
from leafcover.table.table import Column, Table
from leafcover.table.text import text_of


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
    facts = tuple(_column(column, table.roles.get(column.name), levels) for column in table)
    return TableFacts(len(table), unique_rows(table), facts, table.warnings)


def _column(column: Column, role: Role | None, levels: int) -> ColumnFacts:
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
    _, counts = np.unique(row_words(table), return_counts=True)
    return int((counts == 1).sum())


def row_words(table: Table) -> Words:
    """A number for each row, the same for rows that are alike, here and in a table with the same columns and levels.

    Of a million rows two that differ share theirs with a chance of 3e-8.
    """
    words = np.zeros(len(table), np.uint64)
    for column in table:
        words = mixed(words ^ _bits(column.values))
    return words


def _bits(values: Array) -> Words:
    if values.dtype.kind == "f":
        plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one nan, one zero
        return plain.view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def mixed(words: Words) -> Words:
    """splitmix64's finalizer: every bit of the input moves every bit of the output."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
