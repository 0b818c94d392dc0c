"""The commands ``recipes``, ``plan`` and ``sweep``: which recipes there are, what they would do, how they compare."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leafcover.cli.app import Force, Json, Place, Quiet, Reading, app, guarded, progress, warn, with_reading
from leafcover.cli.main import stoppable
from leafcover.cli.project import AudienceOption, Given, Original, read_original, read_with_target, with_project
from leafcover.cli.release import (
    Bins,
    FindRules,
    KeepTables,
    LeaveWeights,
    MostRows,
    RareLevels,
    Recodings,
    Rules,
    Sequence,
    Settings,
    Share,
    TableFile,
    Target,
    chosen_recipe,
)
from leafcover.errors import OutputError, PlanError, RiskTooHigh, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.project import Project
    from leafcover.tuning.sweep import Sweep

Names = list[str]

LABEL = 10  # width of a label, in characters


@app.command()
@guarded
@with_project("report", "settings")
@with_reading
def sweep(
    table: TableFile = None,
    *,
    target: Target = None,
    recipes: Annotated[
        Names, typer.Option("--recipes", metavar="NAME,NAME", help="Recipes to compare. [default: all that can run]")
    ] = [],  # noqa: B006  # typer reads it, nobody writes it
    grid: Annotated[
        Names,
        typer.Option(metavar="NAME=V,V", help="Strengths to try, such as k=5,20,100 or framework:spread=0.1,0.3."),
    ] = [],  # noqa: B006
    settings: Annotated[
        Names, typer.Option("--set", metavar="NAME=VALUE", help="A parameter with one value, such as cousins=2.")
    ] = [],  # noqa: B006
    bins: Bins = None,
    recode: Recodings = [],  # noqa: B006
    max_risk: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Recommend the most useful candidate with risks of at most R; without one, exit with code 3.",
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="R.html", help="Also write the map as an HTML page.", readable=False)
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="S.json", help="Save scores here, and continue from those already saved.", readable=False),
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", help="Trials of each candidate.")] = 3,
    rows: Annotated[int, typer.Option(metavar="N", help="The most rows to use; a larger table is sampled.")] = 30_000,
    seed: Annotated[
        int | None, typer.Option(help="A fixed seed, for experiments only: the same figures every time.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Parallel processes. [default: one for each processor]")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: Reading,
    given: Given,
) -> None:
    """Compare recipes and strengths on TABLE: a risk-utility map and a recommendation."""
    from leafcover.metrics.suite import plain
    from leafcover.table.atomic import atomic_write, check_output_path
    from leafcover.tuning.grid import grid_of
    from leafcover.tuning.report import advice, recommendation, report_tools
    from leafcover.tuning.report import report as page
    from leafcover.tuning.sweep import sweep as run_sweep

    source, target = read_with_target(given, table, reading, target)
    original, project = source.table, source.project
    bins = source.bins(bins)
    max_risk = max_risk if project is None else project.max_risk
    _check_files(source.path, report, scores)
    if report is not None:
        check_output_path(report, force=force)
        report_tools()
    if scores is not None:
        check_output_path(scores, force=True)
    for message in () if quiet else original.warnings:
        warn(message)
    with stoppable(lambda: _stopped(scores)), progress(quiet or as_json) as show_progress:
        found = run_sweep(
            original,
            target=target,
            recipes=_names(recipes) if recipes else None,
            grid=grid_of(grid),
            settings=_settings(settings),
            bins=bins,
            recode=recode,
            max_risk=max_risk,
            runs=runs,
            rows=rows,
            seed=seed,
            jobs=_processors() if jobs is None else jobs,
            scores=scores,
            progress=show_progress,
            estimate=lambda words: None if quiet or as_json else typer.echo(words, err=True),
        )
    if report is not None:
        with atomic_write(report, force=force) as part:
            part.write_text(page(found), "utf-8")
    if as_json:
        typer.echo(json.dumps(plain(found), ensure_ascii=False))
    elif not quiet:
        _show(found)
        _show_files(found, source, reading, report, scores)
    if max_risk is not None and found.recommended is None:
        raise RiskTooHigh(f"{recommendation(found)} {advice(found)}")
    if found.recommended is not None and project is not None:
        given.chosen["method"] = _as_method(found, project)


def _as_method(found: "Sweep", project: "Project") -> dict[str, Any]:
    """The recommended recipe and its settings, in place of those of the project file."""
    chosen = found.recommended
    assert chosen is not None
    settings = {**dict.fromkeys(project.settings.method.settings), **chosen.settings}
    return {"recipe": chosen.recipe, "plan": None, "settings": settings}


def _stopped(scores: Path | None) -> str:
    """A message about the scores that an interrupted sweep saved."""
    from leafcover.messages import catalogue

    say = catalogue("sweep")
    if scores is not None and scores.exists():
        return say("stopped-saved", file=str(scores))
    return say("stopped-unsaved")


def _check_files(table: Place, report: Path | None, scores: Path | None) -> None:
    if report is not None and report.suffix not in (".html", ".htm"):
        raise OutputError(f"The report '{report}' must end in .html.")
    named = {"the table": table, "the report": report, "the scores": scores}
    taken: dict[str, str] = {}
    for what, path in named.items():
        if path is not None:
            place = str(path.resolve())
            if place in taken:
                raise OutputError(f"'{path}' would be both {taken[place]} and {what}. Give them different names.")
            taken[place] = what


def _names(texts: Names) -> Names:
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def _settings(texts: Names) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise ValueOutOfRange("--set", text, "NAME=VALUE, such as --set cousins=2")
        if name in found:
            raise PlanError(f"--set {name} was given twice. Give it once, or give several values with --grid.")
        found[name] = value
    return found


def _processors() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _show(found: "Sweep") -> None:
    """The table of candidates, and the recommendation."""
    from math import nan

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as Lines

    from leafcover.messages import catalogue
    from leafcover.metrics.estimates import known
    from leafcover.tuning.report import reasons, recommendation

    say = catalogue("sweep")
    lines = Lines(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name in ("", say("text-candidate")):
        lines.add_column(name, no_wrap=True, justify="left")
    for name in (say("text-risk"), say("text-upper")):
        lines.add_column(name, no_wrap=True, justify="right")
    lines.add_column(say("text-of"), overflow="fold")
    for name in (say("text-membership"), say("text-agreement"), say("text-others"), say("text-accuracy")):
        lines.add_column(name, no_wrap=True, justify="right")
    chosen = found.recommended
    for point in found.points:
        mark = "→" if point is chosen else "★" if point.on_front else ""
        member = nan if point.membership is None else point.membership.risk.value
        shares = (member, point.agreement.value, point.other_agreement.value, point.accuracy.value)
        risks, further = (
            [f"{figure:.3f}".replace("-", "−") if known(figure) else "–" for figure in figures]
            for figures in ((point.risk.risk.value, point.risk.risk.high), shares)
        )
        of = point.risk.column or say("text-linkage")
        of = say("text-copies", of=of) if point.copied else of
        bold = "bold" if point is chosen else ""
        lines.add_row(mark, point.name, *risks, escape(of), *further, style=bold)
    for one in found.skipped:
        lines.add_row("", one.name, say("text-skipped"))
    floor, others, majority = (
        f"{figure.value:.3f}"
        for figure in (found.baselines.floor, found.baselines.other_agreement, found.baselines.majority)
    )
    lines.add_row("", say("row-resample"), "", "", "", "", floor, others, "")
    lines.add_row("", say("row-majority"), "", "", "", "", majority, "", "")
    screen = Console()
    screen = screen if screen.is_terminal else Console(width=200)
    with screen.capture() as drawn:
        screen.print(lines)
    typer.echo(drawn.get())
    for sentence in (
        *([] if chosen is None else [say("text-legend-recommended")]),
        say("text-legend-front"),
        say("text-legend-risk"),
        say("text-legend-membership"),
        *([say("text-legend-copies")] if any(point.copied for point in found.points) else []),
        say("text-legend-agreement"),
    ):
        typer.echo(sentence)
    for one in found.skipped:
        warn(say("warning-skipped", name=one.name, reason=one.reason))
    if found.max_risk is None or chosen is not None:
        typer.echo("\n" + "\n".join([recommendation(found), *reasons(found)]))


def _show_files(found: "Sweep", source: Original, reading: Reading, report: Path | None, scores: Path | None) -> None:
    """The command that makes the recommended release, and the files that were written."""
    from leafcover.messages import catalogue

    say = catalogue("sweep")
    if found.recommended is not None:
        typer.echo(f"\n{say('text-next'):<{LABEL}}{_release_command(found, source, reading)}")
    if report is not None:
        typer.echo(f"{say('text-report'):<{LABEL}}{report}")
    if scores is not None:
        typer.echo(f"{say('text-private'):<{LABEL}}{say('text-private-scores', file=str(scores))}")


def _release_command(found: "Sweep", source: Original, reading: Reading) -> str:
    """The command that makes the recommended release, quoted for a shell, with every reading option that was given."""
    chosen = found.recommended
    assert chosen is not None
    settings = [part for name, value in chosen.settings.items() for part in ("--set", f"{name}={value}")]
    command = ["leafcover", "release"]
    if source.project is None:
        command += [str(source.path), "-o", "OUT", "--target", found.target, *reading.options()]
    return shlex.join([*command, "--recipe", chosen.recipe, *settings])


# ``leafcover recipes`` and ``leafcover plan``


@app.command()
@guarded
def recipes(as_json: Json = False) -> None:
    """List all recipes: source, what each preserves and protects, how it is attacked, and its parameters for --set."""
    from leafcover.recipes import RECIPES

    rows = [
        {
            "name": r.name,
            "source": r.source,
            "keeps": r.keeps,
            "hides": r.hides,
            "weaknesses": r.weaknesses,
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
        typer.echo(f"{r.name}  ({r.source})\n  keeps  {r.keeps}\n  hides  {r.hides}")
        typer.echo(f"  weak   {r.weaknesses}\n  --set  {settings}\n" if r.weaknesses else f"  --set  {settings}\n")


@app.command()
@guarded
@with_project()
@with_reading
def plan(
    table: TableFile = None,
    *,
    target: Target = None,
    recipe: Annotated[str, typer.Option(help="The recipe; see `leafcover recipes`.")] = "cover",
    settings: Settings = [],  # noqa: B006  # typer reads it, nobody writes it
    bins: Bins = None,
    rules: Rules = [],  # noqa: B006
    find_rules: FindRules = None,
    sequence: Sequence = None,
    most_rows: MostRows = None,
    rare: RareLevels = None,
    share: Share = None,
    weights: LeaveWeights = None,
    keep_tables: KeepTables = [],  # noqa: B006
    recode: Recodings = [],  # noqa: B006
    audience: AudienceOption = None,
    reading: Reading,
    given: Given,
) -> None:
    """Print the plan that a recipe writes for TABLE, as TOML to edit and use with `release --plan`."""
    from leafcover.engine.audience import audience_named, plan_within
    from leafcover.recipes.plan_file import plan_text

    source = read_original(given, table, reading, target)
    for words in source.table.warnings:
        warn(words)
    if source.project is not None:
        written = source.project.plan(source.table)
    else:
        chosen = chosen_recipe(recipe, settings, bins)
        asked: dict[str, Any] = {"target": target, "settings": chosen.settings, "rules": rules}
        asked |= {
            "find_rules": find_rules,
            "sequence": sequence,
            "most_rows": most_rows,
            "rare": rare,
            "share": share,
            "weights": weights,
        }
        within = None if audience is None else audience_named(audience)
        written = plan_within(source.table, recipe, within, {**asked, "keep_tables": keep_tables, "recode": recode})
    typer.echo(plan_text(written), nl=False)
