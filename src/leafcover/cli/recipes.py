"""``leafcover recipes`` and ``leafcover plan``: what can be done, and what would be done."""

import json
from typing import Annotated

import typer

from leafcover.cli.app import Json, app, guarded, warn
from leafcover.cli.reading import Reading, refuse_unknown, with_reading
from leafcover.cli.release import Bins, Settings, TableFile, Target, plan_from


@app.command()
@guarded
def recipes(as_json: Json = False) -> None:
    """List every recipe: where it comes from, what it keeps, what it hides, what --set may give."""
    from leafcover.releasing.recipes import RECIPES

    rows = [
        {
            "name": r.name,
            "source": r.source,
            "keeps": r.keeps,
            "hides": r.hides,
            "needs_target": r.needs_target,
            "parameters": {name: p.default for name, p in r.parameters.items()},
        }
        for r in RECIPES.values()
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for r in RECIPES.values():
        settings = ", ".join(f"{n}={'auto' if p.default is None else p.default}" for n, p in r.parameters.items())
        typer.echo(f"{r.name}  ({r.source})\n  keeps  {r.keeps}\n  hides  {r.hides}\n  --set  {settings}\n")


@app.command()
@guarded
@with_reading
def plan(
    table: TableFile,
    *,
    target: Target = None,
    recipe: Annotated[str, typer.Option(help="Which recipe; see `leafcover recipes`.")] = "cover",
    settings: Settings = [],  # noqa: B006  # typer reads it, nobody writes it
    bins: Bins = None,
    reading: Reading,
) -> None:
    """Print the plan a recipe writes for TABLE, as TOML to read, change and hand to `release --plan`."""
    from leafcover.releasing.planfile import to_toml

    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    for words in data.warnings:
        warn(words)
    typer.echo(to_toml(plan_from(data, recipe, target, settings, bins)), nl=False)
