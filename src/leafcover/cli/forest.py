"""``leafcover forest``: the SysFor forest of a table."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from leafcover.cli.app import Quiet, app, guarded, warn
from leafcover.cli.reading import Reading, refuse_unknown, with_reading
from leafcover.cli.release import Bins, TableFile
from leafcover.errors import ValueOutOfRange


class Format(StrEnum):
    """How a forest is shown."""

    text = "text"
    rules = "rules"
    json = "json"


class Incomplete(StrEnum):
    """What becomes of rows without some value."""

    auto = "auto"
    drop = "drop"
    share = "share"


@app.command()
@guarded
@with_reading
def forest(
    table: TableFile,
    *,
    target: Annotated[str, typer.Option("--target", metavar="COL", help="The column to predict.")],
    form: Annotated[Format, typer.Option("--format", help="How to show it.")] = Format.text,
    trees: Annotated[int, typer.Option(help="Trees at most.")] = 60,
    goodness: Annotated[float, typer.Option(help="How much less than the best a root may gain (as a ratio).")] = 0.3,
    separation: Annotated[float, typer.Option(help="How far apart two cuts of a number are, of its range.")] = 0.3,
    min_records: Annotated[int, typer.Option(help="Rows that at least two branches of a test must hold.")] = 10,
    confidence: Annotated[float, typer.Option(help="Of pruning; smaller prunes more.")] = 0.25,
    incomplete: Annotated[
        Incomplete, typer.Option(help="Rows without some value; auto: dropped while half of all are complete.")
    ] = Incomplete.auto,
    test: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Count errors on these rows too.", readable=False)
    ] = None,
    bins: Bins = None,
    quiet: Quiet = False,
    reading: Reading,
) -> None:
    """Grow the forest of SysFor: trees that begin with one good test after the other, and the rules they share."""
    from leafcover.table.guard import identifiers
    from leafcover.tree.show_forest import Shown, forest_json, rules, text
    from leafcover.tree.sysfor import grow_forest_from
    from leafcover.tree.training import training

    if bins is not None and test is not None:
        raise ValueOutOfRange("--test", test.name, "left out beside --bins: groups of a number are those of the table")
    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    rows = training(data, target, bins=bins)
    if not quiet:
        for words in (*data.warnings, *(suspect.sentence for suspect in identifiers(data))):
            warn(words)
    grown = grow_forest_from(
        rows,
        n_trees=trees,
        goodness=goodness,
        separation=separation,
        min_records=min_records,
        confidence=confidence,
        incomplete=incomplete.value,
    )
    other = None if test is None else reading.read(test, target=target)
    shown = Shown(grown, rows, table=data, test=other, test_name=str(test))
    if form is Format.json:
        typer.echo(json.dumps(forest_json(shown, confidence=confidence)))
    else:
        typer.echo(rules(shown) if form is Format.rules else text(shown), nl=False)
