"""``leafcover inspect``: what a table holds, before anything is decided."""

import json

import typer

from leafcover.cli.app import Json, app, guarded, warn
from leafcover.cli.reading import Reading, refuse_unknown, with_reading
from leafcover.cli.release import TableFile, Target


@app.command()
@guarded
@with_reading
def inspect(table: TableFile, *, target: Target = None, as_json: Json = False, reading: Reading) -> None:
    """Show kinds, roles, domains, missing values, and how many rows are unique."""
    from leafcover.table.describe import as_json as plain
    from leafcover.table.describe import as_text, describe
    from leafcover.table.guard import identifiers

    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    found = describe(data)
    for words in (*data.warnings, *(suspect.words for suspect in identifiers(data))):
        warn(words)
    typer.echo(json.dumps(plain(found), ensure_ascii=False) if as_json else as_text(found))
