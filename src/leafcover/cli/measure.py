"""``leafcover measure``: an original and its release go in, what that cost and what it hides comes out."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leafcover.cli.app import Force, Quiet, app, guarded, progress, warn
from leafcover.cli.options import (
    Date,
    Reading,
    Title,
    check_report,
    external_report,
    pages,
    refuse_unknown,
    with_reading,
)
from leafcover.errors import OutputError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.engine.files import Recalled
    from leafcover.metrics.suite import Measures

Original = Annotated[Path, typer.Argument(metavar="ORIGINAL", help="The table as it was before.", readable=False)]
STANDARD_OUTPUT = Path("-")
ReleasedFile = Annotated[Path, typer.Argument(metavar="RELEASED", help="The released table.", readable=False)]


@app.command()
@guarded
@with_reading
def measure(
    original: Original,
    released: ReleasedFile,
    *,
    target: Annotated[
        str | None, typer.Option("--target", metavar="COL", help="The column whose rules matter.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(metavar="P", help="Which released row is which original row. [RELEASED.pairs]", readable=False),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows like the original's that were not released.", readable=False),
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
            help="Also write every figure, for machines; - prints them instead of words.",
            readable=False,
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="R.html", help="Also write a report to read.", readable=False)
    ] = None,
    title: Title = None,
    date: Date = None,
    max_risk: Annotated[
        float | None, typer.Option(metavar="R", help="Write nothing and exit 3 when a risk is above this.")
    ] = None,
    publish_tree: Annotated[
        bool, typer.Option("--publish-tree", help="Put plan and tree into the public report; cuts are original values.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    reading: Reading,
) -> None:
    """Measure RELEASED against ORIGINAL: what it still says, whom it still shows.

    Pairs, plan and held-out rows are found beside a table that `leafcover release` wrote.
    """
    from leafcover.engine.evaluate import Comparison, limited_risks, measure_all, refuse_above
    from leafcover.engine.files import read_like, recall
    from leafcover.engine.manifest import load_manifest
    from leafcover.metrics.suite import words as measured_words
    from leafcover.recipes.plan import read_plan

    if max_risk is not None and not 0 <= max_risk <= 1:
        raise ValueOutOfRange("--max-risk", max_risk, "a share from 0 to 1")
    _check_files(original, released, control, json_file, report, force)
    told = load_manifest(released)
    reading, target = _as_told(reading, target, told)
    before = reading.read(original, target=target)
    refuse_unknown(before, reading, target)
    for words in () if quiet else before.warnings:
        warn(words)
    with progress(quiet) as tell:
        found = recall(
            released,
            before,
            read_like(released, before, **reading.arguments(), drop=reading.drop),
            target=target or "",
            pairs=pairs,
            control=None if control is None else read_like(control, before, **reading.arguments(), drop=reading.drop),
            plan=None if plan is None else read_plan(plan),
        )
        compared = Comparison(found.pair, found.known)
        measures = measure_all(compared, tell=tell)
        if max_risk is not None:
            refuse_above(limited_risks(compared, measures), max_risk)
        tell("writing", 1.0)
        titles = (title or original.name, title or released.name)
        _write(json_file, report, found, measures, force=force, publish_tree=publish_tree, titles=titles, date=date)
    if json_file == STANDARD_OUTPUT:
        typer.echo(_figures(measures), nl=False)
    elif not quiet:
        typer.echo(measured_words(measures))
        if json_file:
            typer.echo(f"\nfigures   {json_file}  (for you alone)")
        if report:
            typer.echo(f"report    {external_report(report)}  (to publish)\n          {report}  (for you alone)")


def _as_told(reading: Reading, target: str | None, told: dict[str, Any] | None) -> tuple[Reading, str | None]:
    """How to read, where the user did not say: as the release was read."""
    if told is None:
        return reading, target
    known = told["reading"]
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
    return replace(reading, **filled), target if target is not None else told.get("target")


def _check_files(
    original: Path, released: Path, control: Path | None, json_file: Path | None, report: Path | None, force: bool
) -> None:
    """No output may be an input or another output."""
    from leafcover.table.atomic import check_place

    check_report(report)
    taken = {str(path.resolve()) for path in (original, released, control) if path is not None}
    figures = [json_file] if json_file is not None and json_file != STANDARD_OUTPUT else []
    for path in [*figures, *([report, external_report(report)] if report else [])]:
        if str(path.resolve()) in taken:
            raise OutputError(f"'{path}' is named twice, as an input or another output. Give it another name.")
        taken.add(str(path.resolve()))
        check_place(path, force=force)


def _write(
    json_file: Path | None,
    report: Path | None,
    found: "Recalled",
    measures: "Measures",
    *,
    force: bool,
    publish_tree: bool,
    titles: tuple[str, str],
    date: str | None,
) -> None:
    """All outputs or none."""
    from leafcover.table.atomic import atomic_group

    texts: dict[Path, tuple[str, bool]] = {}
    if json_file is not None and json_file != STANDARD_OUTPUT:
        texts[json_file] = (_figures(measures), True)
    if report is not None:
        texts |= pages(report, found.pair, found.release, measures, publish_tree=publish_tree, titles=titles, date=date)
    with atomic_group(force=force) as part:
        for path, (content, private) in texts.items():
            part(path, private).write_text(content, "utf-8")


def _figures(measures: "Measures") -> str:
    import json

    from leafcover.metrics.suite import plain

    return json.dumps(plain(measures), indent=1, ensure_ascii=False) + "\n"
