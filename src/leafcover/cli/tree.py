"""The commands ``leafcover tree``, ``leafcover forest`` and ``leafcover inspect``."""

import json
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from leafcover.cli.app import Json, Place, Quiet, Reading, app, guarded, place, warn, with_reading
from leafcover.cli.project import Given, Predicted, read_original, read_with_target, with_project
from leafcover.cli.release import Bins, TableFile, Target
from leafcover.errors import ValueOutOfRange

if TYPE_CHECKING:
    pass


class TreeFormat(StrEnum):
    """Output format of a tree."""

    text = "text"
    rules = "rules"
    json = "json"
    svg = "svg"


class Grower(StrEnum):
    """The algorithm that grows a tree."""

    auto = "auto"
    exact = "exact"
    histogram = "histogram"


@app.command()
@guarded
@with_project()
@with_reading
def tree(
    table: TableFile = None,
    *,
    target: Predicted = None,
    form: Annotated[TreeFormat, typer.Option("--format", help="Output format.")] = TreeFormat.text,
    test: Annotated[
        Place | None, typer.Option(metavar="FILE", help="Also count errors on the rows of this file.", parser=place)
    ] = None,
    no_prune: Annotated[bool, typer.Option("--no-prune", help="Show the tree before pruning.")] = False,
    min_records: Annotated[int, typer.Option(help="Minimum rows in at least two branches of a test.")] = 2,
    confidence: Annotated[float, typer.Option(help="Confidence level of pruning; smaller prunes more.")] = 0.25,
    grower: Annotated[Grower, typer.Option(help="auto: histogram above 200,000 rows, otherwise exact.")] = Grower.auto,
    bins: Bins = None,
    quiet: Quiet = False,
    reading: Reading,
    given: Given,
) -> None:
    """Grow a C4.5 decision tree (Release 8) that predicts one column from the others."""
    from leafcover.table.inspection import identifiers
    from leafcover.tree.c45 import grow_with_unpruned
    from leafcover.tree.export import as_json, picture, rules, text
    from leafcover.tree.predict import errors_on
    from leafcover.tree.tree import training

    source, target = read_with_target(given, table, reading, target)
    data = source.table
    rows = training(data, target, bins=source.bins(bins))
    if not quiet:
        for message in (*data.warnings, *(suspect.message for suspect in identifiers(data))):
            warn(message)
    both = grow_with_unpruned(rows, min_records=min_records, confidence=confidence, grower=grower.value)
    shown = both.unpruned if no_prune else both.pruned
    other = None if test is None else source.read_alike(test, reading)
    if form is TreeFormat.json:
        unpruned = None if no_prune else both.unpruned
        typer.echo(json.dumps(as_json(shown, rows, unpruned=unpruned, test=other, confidence=confidence)))
    elif form is TreeFormat.svg:
        typer.echo(picture(shown, table=data))
    elif form is TreeFormat.rules:
        typer.echo(rules(shown, table=data))
    else:
        typer.echo(text(shown, table=data))
        found = as_json(shown, rows, test=other, confidence=confidence)
        share = found["train_errors"] / len(rows.labels)
        figures = f"size {found['size']}, {found['leaves']} leaves, errors {found['train_errors']} ({share:.1%})"
        typer.echo(f"\n{figures}, estimate {found['estimated_error']:.1%}")
        if other is not None:
            typer.echo(f"on {test}: errors {errors_on(shown, other)} of {int((~other[target].missing).sum())}")


# leafcover forest


class ForestFormat(StrEnum):
    """Output format of a forest."""

    text = "text"
    rules = "rules"
    json = "json"


class Incomplete(StrEnum):
    """How rows with missing values are treated."""

    auto = "auto"
    drop = "drop"
    share = "share"


@app.command()
@guarded
@with_project()
@with_reading
def forest(
    table: TableFile = None,
    *,
    target: Predicted = None,
    form: Annotated[ForestFormat, typer.Option("--format", help="Output format.")] = ForestFormat.text,
    trees: Annotated[int, typer.Option(help="Maximum number of trees.")] = 60,
    goodness: Annotated[float, typer.Option(help="How far a root's gain ratio may fall below the best.")] = 0.3,
    separation: Annotated[
        float, typer.Option(help="Minimum distance of two root cuts of a number, as a fraction of its range.")
    ] = 0.3,
    min_records: Annotated[int, typer.Option(help="Minimum rows in at least two branches of a test.")] = 10,
    confidence: Annotated[float, typer.Option(help="Confidence level of pruning; smaller prunes more.")] = 0.25,
    incomplete: Annotated[
        Incomplete,
        typer.Option(help="Rows with missing values: drop, share among branches, or auto (drop if half are complete)."),
    ] = Incomplete.auto,
    test: Annotated[
        Place | None, typer.Option(metavar="FILE", help="Also count errors on the rows of this file.", parser=place)
    ] = None,
    bins: Bins = None,
    quiet: Quiet = False,
    reading: Reading,
    given: Given,
) -> None:
    """Grow a SysFor forest, in which each tree starts from another good test, and show the rules the trees share."""
    from leafcover.table.inspection import identifiers
    from leafcover.tree.export import ForestExport, forest_json, forest_rules, forest_text
    from leafcover.tree.sysfor import grow_forest_from
    from leafcover.tree.tree import training

    if bins is not None and test is not None:
        raise ValueOutOfRange("--test", test.name, "omitted with --bins, because the bins belong to the training table")
    source, target = read_with_target(given, table, reading, target)
    data = source.table
    rows = training(data, target, bins=source.bins(bins))
    if not quiet:
        for message in (*data.warnings, *(suspect.message for suspect in identifiers(data))):
            warn(message)
    grown = grow_forest_from(
        rows,
        n_trees=trees,
        goodness=goodness,
        separation=separation,
        min_records=min_records,
        confidence=confidence,
        incomplete=incomplete.value,
    )
    other = None if test is None else source.read_alike(test, reading)
    shown = ForestExport(grown, rows, table=data, test=other, test_name=str(test))
    if form is ForestFormat.json:
        typer.echo(json.dumps(forest_json(shown, confidence=confidence)))
    else:
        typer.echo(forest_rules(shown) if form is ForestFormat.rules else forest_text(shown), nl=False)


# leafcover inspect


@app.command()
@guarded
@with_project()
@with_reading
def inspect(
    table: TableFile = None, *, target: Target = None, as_json: Json = False, reading: Reading, given: Given
) -> None:
    """Show the kind, role, domain and missing values of each column, and how many rows are unique."""
    from leafcover.api import inspect as inspect_table

    source = read_original(given, table, reading, target)
    found = inspect_table(source.table)
    for message in (*found.warnings, *(suspect.message for suspect in found.identifiers)):
        warn(message)
    facts = {name: content for name, content in asdict(found).items() if name not in ("identifiers", "rules")}
    facts["rules"] = [{"rule": one.rule.text, "rows": one.rows, "kept": one.kept} for one in found.rules]
    typer.echo(json.dumps(facts, ensure_ascii=False) if as_json else str(found))
