"""``leafcover measure``: measure the utility and disclosure risk of a release against its original."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leafcover.cli.app import (
    Date,
    Force,
    Place,
    Quiet,
    Reading,
    Title,
    app,
    guarded,
    place,
    progress,
    refuse_unknown,
    warn,
    with_reading,
)
from leafcover.errors import LeafcoverError, OutputError

if TYPE_CHECKING:
    from leafcover.engine.manifest import Record
    from leafcover.engine.run import Progress
    from leafcover.metrics.suite import Measures
    from leafcover.released import Loaded

Original = Annotated[Place, typer.Argument(metavar="ORIGINAL", help="The original table.", parser=place)]
STANDARD_OUTPUT = Path("-")
ReleasedFile = Annotated[Place, typer.Argument(metavar="RELEASED", help="The released table.", parser=place)]


@app.command()
@guarded
@with_reading
def measure(
    original: Original,
    released: ReleasedFile,
    *,
    target: Annotated[str | None, typer.Option("--target", metavar="COL", help="The column to predict.")] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(metavar="P", help="The original row of each released row. [RELEASED.pairs]", readable=False),
    ] = None,
    control: Annotated[
        Place | None,
        typer.Option(metavar="FILE", help="Rows from the same population that were not released.", parser=place),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="PLAN.toml", help="The plan of the release. [from RELEASED.internal.json]", readable=False
        ),
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json",
            metavar="M.json",
            help="Also write all figures as JSON; - prints them instead of the summary.",
            readable=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="R.html", help="Also write an HTML report, and R.external.html to publish.", readable=False
        ),
    ] = None,
    title: Title = None,
    date: Date = None,
    max_risk: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Write nothing and exit with code 3 if a disclosure risk is above R, a share such as 0.05.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Take only this measure and print it as JSON, such as shadow or two_releases; may be repeated.",
        ),
    ] = None,
    publish_tree: Annotated[
        bool,
        typer.Option(
            "--publish-tree", help="Show plan and tree in the external report; their thresholds are original values."
        ),
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    reading: Reading,
) -> None:
    """Measure the utility and disclosure risk of RELEASED against ORIGINAL.

    For a table that `leafcover release` wrote, pairs, plan and held-out rows are found in the files beside it.
    """
    from leafcover.api import load
    from leafcover.engine.evaluate import check_limit
    from leafcover.engine.files import external_report
    from leafcover.engine.manifest import load_record
    from leafcover.recipes.plan_file import read_plan
    from leafcover.reporting.html_page import require_report

    _check_files(original, released, control, json_file, report, force)
    if only and (max_risk is not None or report is not None or json_file is not None):
        raise OutputError("--only prints single measures. Leave it out for --max-risk, --report and --json.")
    if max_risk is not None:
        check_limit(max_risk)
    if report is not None:
        require_report()
    reading, target = _as_released(reading, target, load_record(released), original)
    before = reading.read(original, target=target)
    refuse_unknown(before, reading, target)
    for words in () if quiet else before.warnings:
        warn(words)
    with progress(quiet) as tell:
        found = load(
            released,
            original=before,
            target=target,
            pairs=pairs,
            control=control,
            plan=None if plan is None else read_plan(plan),
        )
        if only:
            from leafcover.metrics.suite import plain

            some = {name: plain(result) for name, result in found.measure_only(only, progress=tell).items()}
            typer.echo(json.dumps(some, indent=1, ensure_ascii=False))
            return
        measures = found.measure(progress=tell)
        if max_risk is not None:
            _check_risk(found, max_risk, tell, measures if json_file != STANDARD_OUTPUT and not quiet else None)
        figures = None if json_file == STANDARD_OUTPUT else json_file
        found.write(report=report, figures=figures, title=title, date=date, force=force, publish_tree=publish_tree)
    if json_file == STANDARD_OUTPUT:
        typer.echo(measures.to_json(), nl=False)
    elif not quiet:
        typer.echo(str(measures))
        if json_file:
            typer.echo(f"\nfigures   {json_file}  (for you alone)")
        if report:
            typer.echo(f"report    {external_report(report)}  (to publish)\n          {report}  (for you alone)")


def _check_risk(found: "Loaded", limit: float, tell: "Progress", measures: "Measures | None") -> None:
    """Refuse risks that are above the limit or unknown, after the summary of what was measured."""
    try:
        found.check_risk(limit, progress=tell)
    except LeafcoverError:
        if measures is not None:
            typer.echo(str(measures))
        raise


def _as_released(reading: Reading, target: str | None, record: "Record", original: Place) -> tuple[Reading, str | None]:
    """Reading options that the user did not give, from the manifest of the release."""
    if record.internal is None:
        return reading, target
    known = record.internal["reading"]
    roles: dict[str, list[str]] = {}
    for name, role in known.get("roles", {}).items():
        roles.setdefault(role, []).append(name)
    filled: dict[str, Any] = {
        field: tuple(roles.get(field.replace("_", "-"), ()))
        for field in ("unchanged", "quasi_identifier", "sensitive", "unit", "weight")
        if not getattr(reading, field)
    }
    if not reading.category:
        filled["category"] = tuple(known.get("category", ()))
    if not reading.drop:
        filled["drop"] = tuple(known.get("drop", ()))
    if not reading.missing:
        filled["missing"] = tuple(f"{name}={','.join(tokens)}" for name, tokens in known.get("missing", {}).items())
    if reading.encoding == "utf-8":
        filled["encoding"] = known.get("encoding", "utf-8")
    if reading.delimiter is None:
        filled["delimiter"] = known.get("delimiter")
    there = record.options_for(original)
    filled |= {name: there.get(name) for name in ("sheet", "query") if getattr(reading, name) is None}
    return replace(reading, **filled), target if target is not None else record.target or None


def _check_files(
    original: Place, released: Place, control: Place | None, json_file: Path | None, report: Path | None, force: bool
) -> None:
    """Raise an error if an output is also an input or another output."""
    from leafcover.engine.files import check_report_name, external_report
    from leafcover.table.atomic import check_output_path

    check_report_name(report)
    taken = {str(path.resolve()) for path in (original, released, control) if path is not None}
    figures = [json_file] if json_file is not None and json_file != STANDARD_OUTPUT else []
    for path in [*figures, *([report, external_report(report)] if report else [])]:
        if str(path.resolve()) in taken:
            raise OutputError(f"'{path}' is named twice, as an input or another output. Give it another name.")
        taken.add(str(path.resolve()))
        check_output_path(path, force=force)
