"""``leafcover tree``: the C4.5 tree of a table."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from leafcover.cli.app import Quiet, app, guarded, warn
from leafcover.cli.reading import Reading, refuse_unknown, with_reading
from leafcover.cli.release import Bins, TableFile


class Format(StrEnum):
    """How a tree is shown."""

    text = "text"
    rules = "rules"
    json = "json"
    svg = "svg"


class Grower(StrEnum):
    """Who grows it."""

    auto = "auto"
    exact = "exact"
    histogram = "histogram"


@app.command()
@guarded
@with_reading
def tree(
    table: TableFile,
    *,
    target: Annotated[str, typer.Option("--target", metavar="COL", help="The column to predict.")],
    form: Annotated[Format, typer.Option("--format", help="How to show it.")] = Format.text,
    test: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Count errors on these rows too.", readable=False)
    ] = None,
    no_prune: Annotated[bool, typer.Option("--no-prune", help="Show the tree before pruning.")] = False,
    min_records: Annotated[int, typer.Option(help="Rows that at least two branches of a test must hold.")] = 2,
    confidence: Annotated[float, typer.Option(help="Of pruning; smaller prunes more.")] = 0.25,
    grower: Annotated[Grower, typer.Option(help="auto: histograms above 200,000 rows.")] = Grower.auto,
    bins: Bins = None,
    quiet: Quiet = False,
    reading: Reading,
) -> None:
    """Grow the tree of C4.5 Release 8 that predicts a column from the others."""
    from leafcover.table.guard import identifiers
    from leafcover.tree.grow import grown
    from leafcover.tree.picture import picture
    from leafcover.tree.show import as_json, rules, text
    from leafcover.tree.training import training
    from leafcover.tree.walk import errors_on

    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    rows = training(data, target, bins=bins)
    if not quiet:
        for words in (*data.warnings, *(suspect.sentence for suspect in identifiers(data))):
            warn(words)
    both = grown(rows, min_records=min_records, confidence=confidence, grower=grower.value)
    shown = both.unpruned if no_prune else both.pruned
    other = None if test is None else reading.read(test, target=target)
    if form is Format.json:
        unpruned = None if no_prune else both.unpruned
        typer.echo(json.dumps(as_json(shown, rows, unpruned=unpruned, test=other, confidence=confidence)))
    elif form is Format.svg:
        typer.echo(picture(shown, table=data))
    elif form is Format.rules:
        typer.echo(rules(shown, table=data))
    else:
        typer.echo(text(shown, table=data))
        found = as_json(shown, rows, test=other, confidence=confidence)
        share = found["train_errors"] / len(rows.labels)
        words = f"size {found['size']}, {found['leaves']} leaves, errors {found['train_errors']} ({share:.1%})"
        typer.echo(f"\n{words}, estimate {found['estimated_error']:.1%}")
        if other is not None:
            typer.echo(f"on {test}: errors {errors_on(shown, other)} of {int((~other[target].missing).sum())}")
