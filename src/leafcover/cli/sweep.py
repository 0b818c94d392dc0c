"""``leafcover sweep``: many ways to release a table are tried, and a map shows which hides most for what it keeps."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leafcover.cli.app import Force, Json, Quiet, app, guarded, progress, warn
from leafcover.cli.interrupt import stoppable
from leafcover.cli.options import Reading, refuse_unknown, with_reading
from leafcover.cli.release import Bins, TableFile
from leafcover.errors import OutputError, PlanError, RiskTooHigh, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.tuning.sweep import Sweep

Names = list[str]

WHAT_IS_SHOWN = """★ on the front: nothing else has less risk and as much agreement
linkage, up to: people found by an attacker who knows all but the key, and the upper end of the interval
learned: how much is learned above control, the upper end
agrees, others: answers like the original's, for the target and for other columns"""


@app.command()
@guarded
@with_reading
def sweep(
    table: TableFile,
    *,
    target: Annotated[str, typer.Option("--target", metavar="COL", help="The column whose rules are kept.")],
    recipes: Annotated[
        Names, typer.Option("--recipes", metavar="NAME,NAME", help="Which recipes. [default: all that can run]")
    ] = [],  # noqa: B006  # typer reads it, nobody writes it
    grid: Annotated[
        Names,
        typer.Option(metavar="NAME=V,V", help="Strengths to try, such as k=5,20,100 or framework:spread=0.1,0.3."),
    ] = [],  # noqa: B006
    settings: Annotated[
        Names, typer.Option("--set", metavar="NAME=VALUE", help="A parameter that stays the same, such as cousins=2.")
    ] = [],  # noqa: B006
    bins: Bins = None,
    max_risk: Annotated[
        float | None, typer.Option(metavar="R", help="Recommend the most useful way below this; exit 3 if none is.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="R.html", help="Also write the map as a page.", readable=False)
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="S.json", help="Keep scores here, and go on from those that are there.", readable=False),
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", help="How often each way is tried.")] = 3,
    rows: Annotated[int, typer.Option(metavar="N", help="Rows used at most, a sample of a larger table.")] = 30_000,
    seed: Annotated[int | None, typer.Option(help="For experiments: the same figures every time.")] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Processes at once. [default: one for each processor]")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: Reading,
) -> None:
    """Try recipes and strengths on TABLE: a map of risk against utility, and what to take of it."""
    from leafcover.metrics.suite import plain
    from leafcover.table.atomic import atomic_write, check_output_path
    from leafcover.tuning.grid import grid_of
    from leafcover.tuning.report import report as page
    from leafcover.tuning.report import report_tools, what_then, what_to_take
    from leafcover.tuning.sweep import sweep as tried

    _check_files(table, report, scores)
    if report is not None:
        check_output_path(report, force=force)
        report_tools()
    if scores is not None:
        check_output_path(scores, force=True)
    original = reading.read(table, target=target)
    refuse_unknown(original, reading, target)
    for words in () if quiet else original.warnings:
        warn(words)
    with stoppable(lambda: _kept(scores)), progress(quiet or as_json) as tell:
        found = tried(
            original,
            target=target,
            recipes=_names(recipes) if recipes else None,
            grid=grid_of(grid),
            settings=_settings(settings),
            bins=bins,
            max_risk=max_risk,
            runs=runs,
            rows=rows,
            seed=seed,
            jobs=_processors() if jobs is None else jobs,
            scores=scores,
            progress=tell,
        )
    if report is not None:
        with atomic_write(report, force=force) as part:
            part.write_text(page(found), "utf-8")
    if as_json:
        typer.echo(json.dumps(plain(found), ensure_ascii=False))
    elif not quiet:
        _show(found, table, report, scores)
    if max_risk is not None and found.recommended is None:
        raise RiskTooHigh(f"{what_to_take(found)} {what_then(found)}")


def _kept(scores: Path | None) -> str:
    """What an interrupted sweep leaves behind."""
    kept = scores is not None and scores.exists()
    return f"the scores so far are in {scores}; the same command goes on" if kept else "nothing was kept"


def _check_files(table: Path, report: Path | None, scores: Path | None) -> None:
    if report is not None and report.suffix not in (".html", ".htm"):
        raise OutputError(f"The report '{report}' must be called something.html.")
    named = {"the table": table, "the report": report, "the scores": scores}
    taken: dict[str, str] = {}
    for words, path in named.items():
        if path is not None:
            place = str(path.resolve())
            if place in taken:
                raise OutputError(f"'{path}' would be both {taken[place]} and {words}. Give them different names.")
            taken[place] = words


def _names(texts: Names) -> Names:
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def _settings(texts: Names) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ValueOutOfRange("--set", text, "NAME=VALUE, such as --set cousins=2")
        if name in found:
            raise PlanError(f"--set {name} was given twice. Give it once, or several values by --grid.")
        found[name] = value
    return found


def _processors() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _show(found: "Sweep", table: Path, report: Path | None, scores: Path | None) -> None:
    """A short table, the recommendation, and where the rest is."""
    from rich.console import Console
    from rich.table import Table as Lines

    from leafcover.tuning.report import reasons, what_to_take

    lines = Lines(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name in ("", "way", "linkage", "up to", "learned", "agrees", "others", "accuracy"):
        lines.add_column(name, no_wrap=True, justify="left" if name in ("", "way") else "right")
    chosen = found.recommended
    for point in found.points:
        mark = "→" if point is chosen else "★" if point.on_front else ""
        shares = (point.agreement.value, point.others.value, point.accuracy.value)
        figures = (point.informed.value, point.informed.high, point.learned, *shares)
        bold = "bold" if point is chosen else ""
        lines.add_row(mark, point.name, *(f"{figure:.3f}" for figure in figures), style=bold)
    for one in found.left_out:
        lines.add_row("", one.name, "left out")
    floor = found.standard
    lines.add_row("", "a fresh sample", "", "", "", f"{floor.floor.value:.3f}", f"{floor.others.value:.3f}", "")
    lines.add_row("", "the commonest answer", "", "", "", f"{floor.commonest.value:.3f}", "", "")
    screen = Console()
    screen = screen if screen.is_terminal else Console(width=200)
    with screen.capture() as drawn:
        screen.print(lines)
    typer.echo(f"{drawn.get()}\n{WHAT_IS_SHOWN}")
    for one in found.left_out:
        warn(f"{one.name} was left out. {one.why}")
    if found.max_risk is None or chosen is not None:
        typer.echo("\n" + "\n".join([what_to_take(found), *reasons(found)]))
    if chosen is not None:
        given = "".join(f" --set {name}={value}" for name, value in chosen.settings.items())
        typer.echo(
            f"\nnext      leafcover release {table} -o OUT --target {found.target} --recipe {chosen.recipe}{given}"
        )
    if report is not None:
        typer.echo(f"report    {report}")
    if scores is not None:
        typer.echo(f"private   {scores}: scores and the key of this sweep, never publish it")
