"""Summary of a table, as shown by ``leafcover inspect``: for the data steward, not for publication."""

from dataclasses import dataclass, replace

import numpy as np

from leafcover.table.formatting import text_of
from leafcover.table.identifier_patterns import exact_integers
from leafcover.table.identifiers import Suspect, identifiers
from leafcover.table.rule_search import FoundRule, find_rules
from leafcover.table.table import MAX_GRID_POINTS, Column, Grid, Kind, Role, Table, row_hashes


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
    rules: tuple[FoundRule, ...] = ()  # relations between columns that nearly all rows keep

    def __str__(self) -> str:
        return _fact_lines(self)


def describe(table: Table, *, levels: int = 5) -> TableFacts:
    """Summarise a table, with the ``levels`` most common levels of each category."""
    facts = tuple(_column_facts(column, table.roles.get(column.name), levels) for column in table)
    return TableFacts(len(table), unique_rows(table), facts, table.warnings, identifiers(table), find_rules(table))


def _column_facts(column: Column, role: Role | None, levels: int) -> ColumnFacts:
    missing = column.missing
    known = column.values[~missing]
    gone = int(missing.sum())
    if column.is_category:
        counts = np.bincount(known, minlength=len(column.levels))
        order = np.argsort(-counts, kind="stable")[:levels]
        common = tuple((column.levels[at], int(counts[at])) for at in order if counts[at])
        return ColumnFacts(column.name, column.kind, role, int((counts > 0).sum()), gone, None, common, None)
    distinct = len(np.unique(exact_integers(column, known) if _is_large(column) else known))
    domain = None
    if distinct:
        low, high = text_of(column, np.asarray(column.domain))
        domain = (low, high)
    return ColumnFacts(column.name, column.kind, role, distinct, gone, domain, (), column.grid)


def unique_rows(table: Table) -> int:
    """The number of rows that equal no other row; missing values are equal to each other."""
    if not table.columns:
        return 0
    exact = table.replace(_coded(column) for column in table if _is_large(column))
    _, counts = np.unique(row_hashes(exact), return_counts=True)
    return int((counts == 1).sum())


def _is_large(column: Column) -> bool:
    """Whether a column has integers beyond 2^53, of which float64 may make one value of several."""
    if column.kind != "number" or column.grid is not None:
        return False
    known = column.values[~column.missing]
    return bool(len(known) and np.abs(known).max() >= MAX_GRID_POINTS and (np.rint(known) == known).all())


def _coded(column: Column) -> Column:
    """Large integers with a number for each distinct one as their value."""
    values = column.values.copy()
    values[~column.missing] = np.unique(exact_integers(column, values[~column.missing]), return_inverse=True)[1]
    return replace(column, values=values)


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
    rules = [f"  {one.rule}{'' if one.kept == one.rows else f'  ({one.share:.2%} of the rows)'}" for one in found.rules]
    return "\n".join([*lines, "", count, *(["", "Rules that the rows keep:", *rules] if rules else [])])


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
