"""``leafcover inspect``: what a table holds, before anything is decided."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from leafcover.cli.app import Json, app, guarded, warn
from leafcover.cli.reading import Reading, refuse_unknown, with_reading
from leafcover.cli.release import TableFile, Target

if TYPE_CHECKING:
    from leafcover.table.describe import ColumnFacts, TableFacts

LONGEST = 40  # letters of a level that are shown


@app.command()
@guarded
@with_reading
def inspect(table: TableFile, *, target: Target = None, as_json: Json = False, reading: Reading) -> None:
    """Show kinds, roles, domains, missing values, and how many rows are unique."""
    from leafcover.table.describe import describe
    from leafcover.table.guard import identifiers

    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    found = describe(data)
    for words in (*data.warnings, *(suspect.sentence for suspect in identifiers(data))):
        warn(words)
    typer.echo(json.dumps(asdict(found), ensure_ascii=False) if as_json else _lines(found))


def _lines(found: "TableFacts") -> str:
    """One line a column, aligned."""
    head = ("column", "kind", "role", "distinct", "missing", "values")
    rows = [(c.name, c.kind, c.role or "", f"{c.distinct:,}", f"{c.missing:,}", _values(c)) for c in found.columns]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(5)]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in [head, *rows]
    ]
    count = (
        f"{found.rows:,} rows, {len(found.columns)} columns; {found.unique_rows:,} rows are unique over all columns."
    )
    return "\n".join([*lines, "", count])


def _values(facts: "ColumnFacts") -> str:
    if facts.domain is not None:
        return f"{facts.domain[0]} to {facts.domain[1]}{_steps(facts)}"
    shown = ", ".join(f"{_short(level)} ({rows:,})" for level, rows in facts.common)
    return shown + (", …" if facts.distinct > len(facts.common) else "")


def _steps(facts: "ColumnFacts") -> str:
    if facts.grid is None:
        return ""
    units = {"date": {1.0: "a day"}, "time": {1.0: "a second", 60.0: "a minute", 3_600.0: "an hour", 86_400.0: "a day"}}
    return f" in steps of {units.get(facts.kind, {}).get(facts.grid.step, f'{facts.grid.step:g}')}"


def _short(level: str) -> str:
    """A level on one line, cut where it would fill the screen; --json tells it whole."""
    text = "".join(letter if letter.isprintable() else "·" for letter in level)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
