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
    as_options,
    guarded,
    place,
    progress,
    refuse_unknown,
    warn,
    with_reading,
)
from leafcover.cli.project import Given, Predicted, with_project
from leafcover.cli.release import PublishTree
from leafcover.errors import LeafcoverError, OutputError

if TYPE_CHECKING:
    from leafcover.engine.manifest import Record
    from leafcover.engine.run import Progress
    from leafcover.metrics.suite import Measures
    from leafcover.released import Loaded

OriginalFile = Annotated[
    Place | None, typer.Argument(metavar="[ORIGINAL]", help="The original table. [that of the project]", parser=place)
]
STANDARD_OUTPUT = Path("-")
SECOND = 1_000_000_000  # nanoseconds: files of one command are renamed one after the other
ReleasedFile = Annotated[
    Place | None, typer.Argument(metavar="[RELEASED]", help="The released table. [that of the project]", parser=place)
]


@app.command()
@guarded
@with_project("report", "plan", "max_risk")
@with_reading
def measure(
    original: OriginalFile = None,
    released: ReleasedFile = None,
    *,
    target: Predicted = None,
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
            help="Write nothing and exit with code 3 if record linkage, inference of a column above control (upper "
            "ends) or members found beyond 1% false alarms (lower end) is above R, or copies are significant.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Take only this measure and print it as JSON, such as shadow or two_releases; may be repeated.",
        ),
    ] = None,
    publish_tree: PublishTree = False,
    force: Force = False,
    quiet: Quiet = False,
    reading: Reading,
    given: Given,
) -> None:
    """Measure the utility and disclosure risk of RELEASED against ORIGINAL.

    For a table that `leafcover release` wrote, pairs, plan and held-out rows are found in the files beside it.
    """
    from leafcover.api import load
    from leafcover.engine.evaluate import check_limit
    from leafcover.engine.manifest import load_record
    from leafcover.recipes.plan_file import read_plan
    from leafcover.reporting.html_page import require_report

    project = given.project(original, released)
    if project is not None:
        original, released, title, date = (
            project.input,
            project.paths.place,
            project.settings.title,
            project.settings.date,
        )
    assert original is not None
    assert released is not None
    _check_files(original, released, control, json_file, report, force)
    if only and (max_risk is not None or report is not None or json_file is not None):
        raise OutputError("--only prints single measures. Leave it out for --max-risk, --report and --json.")
    if max_risk is not None:
        check_limit(max_risk)
    if report is not None:
        require_report()
    if project is None:
        reading, target = _as_released(reading, target, load_record(released), original)
        before = reading.read(original, target=target)
        refuse_unknown(before, reading, target)
    else:
        before, target = project.table(), project.settings.chosen_target
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
        asked: dict[str, Any] = {"title": title, "date": date, "max_risk": max_risk, "publish_tree": publish_tree}
        found.write(report=report, figures=figures, **asked, force=force)
    if json_file == STANDARD_OUTPUT:
        typer.echo(measures.to_json(), nl=False)
    elif not quiet:
        typer.echo(as_options(f"{found.verdict(max_risk)}\n{measures}"))
        if json_file:
            typer.echo(f"\nfigures   {json_file}  (for you alone)")
        if report:
            _print_report(report)


def _is_newer(report: Path, released: Path) -> bool:
    """Whether a report was written with the release or after it."""
    return report.exists() and released.exists() and report.stat().st_mtime_ns >= released.stat().st_mtime_ns - SECOND


def _print_report(path: Path) -> None:
    from leafcover.engine.files import external_report

    typer.echo(f"report    {external_report(path)}  (to publish)\n          {path}  (for you alone)")


@app.command()
@guarded
@with_project("plan")
@with_reading
def report(
    original: OriginalFile = None,
    released: ReleasedFile = None,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="R.html", help="The report; R.external.html is to publish.", readable=False
        ),
    ] = None,
    target: Predicted = None,
    title: Title = None,
    date: Date = None,
    publish_tree: PublishTree = False,
    force: Force = False,
    quiet: Quiet = False,
    reading: Reading,
    given: Given,
) -> None:
    """Measure RELEASED against ORIGINAL, and write the report for you and the one to publish."""
    from leafcover.api import load
    from leafcover.engine.manifest import beside, load_record
    from leafcover.messages import catalogue
    from leafcover.reporting.html_page import require_report

    project = given.project(original, released)
    if project is not None:
        before, original, released, target = project.table(), project.input, project.paths.place, project.target
        out, title, date = project.report_path, project.settings.title, project.settings.date
        publish_tree = project.settings.output.publish_tree
    else:
        assert original is not None
        assert released is not None
        record = load_record(released)
        out = beside(record.paths.table, "report", ".html") if out is None else out
        reading, target = _as_released(reading, target, record, original)
        before = reading.read(original, target=target)
        refuse_unknown(before, reading, target)
    paths = None if project is None else project.paths
    if paths is not None and not force and _is_newer(out, paths.manifest if paths.database else paths.table):
        say = catalogue("project")
        typer.echo(as_options(say("report-exists")))
        _print_report(out)
        return
    _check_files(original, released, None, None, out, force)
    require_report()
    with progress(quiet) as tell:
        found = load(released, original=before, target=target)
        measures = found.measure(progress=tell)
        found.write(report=out, title=title, date=date, force=force, publish_tree=publish_tree)
    if not quiet:
        typer.echo(as_options(f"{found.verdict()}\n{measures}"))
        _print_report(out)


def _check_risk(found: "Loaded", limit: float, tell: "Progress", measures: "Measures | None") -> None:
    """Refuse risks that are above the limit or unknown, after the summary of what was measured."""
    try:
        found.check_risk(limit, progress=tell)
    except LeafcoverError:
        if measures is not None:
            typer.echo(as_options(f"{found.verdict(limit)}\n{measures}"))
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
    reading = reading.with_separators(known.get("decimal"), known.get("thousands"))
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
