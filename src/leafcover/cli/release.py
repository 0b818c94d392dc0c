"""``leafcover release``: a table goes in, a release comes out."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leafcover.cli.app import Json, Quiet, app, guarded, progress, warn
from leafcover.cli.reading import Reading, refuse_unknown, with_reading
from leafcover.cli.reports import check_report, outward, pages
from leafcover.errors import OutputError, PlanError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.draws import Key
    from leafcover.measuring.measures import Measures
    from leafcover.releasing.deliver import Places
    from leafcover.releasing.plan import Plan
    from leafcover.releasing.run import Progress, Release
    from leafcover.table.table import Table

TableFile = Annotated[
    Path, typer.Argument(metavar="TABLE", help="A table: .csv .tsv (.gz) .parquet .arrow .arff .data", readable=False)
]
Target = Annotated[str | None, typer.Option("--target", metavar="COL", help="The column whose rules are kept.")]
Settings = Annotated[
    list[str], typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the recipe, such as k=20.")
]
Bins = Annotated[
    int | None, typer.Option("--bins", metavar="N", help="Group a number as target into N classes of equal size.")
]


@app.command()
@guarded
@with_reading
def release(
    table: TableFile,
    *,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="OUT", help="Where the released table goes.", readable=False)
    ],
    target: Target = None,
    recipe: Annotated[str | None, typer.Option(help="Which recipe; see `leafcover recipes`. [default: cover]")] = None,
    settings: Settings = [],  # noqa: B006  # typer reads it, nobody writes it
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN.toml", help="A plan file instead of a recipe.", readable=False)
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="R.html", help="Also write a report to read.", readable=False)
    ] = None,
    bins: Bins = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="K", help="Keep the secret key here, to repeat this release.", readable=False)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For experiments only: the release may not be published.")] = None,
    keep_order: Annotated[bool, typer.Option("--keep-order", help="For experiments: rows stay in order.")] = False,
    hold_out: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Set this share of the rows aside first, for measuring.")
    ] = None,
    max_risk: Annotated[
        float | None, typer.Option(metavar="R", help="Write nothing and exit 3 when a risk is above this.")
    ] = None,
    publish_tree: Annotated[
        bool, typer.Option("--publish-tree", help="Put plan and tree into what is published; cuts are original values.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite outputs that exist; release rows that stand alone, too."),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: Reading,
) -> None:
    """Release TABLE: keep its patterns, hide its people, and say what that cost."""
    from leafcover.draws import key_text
    from leafcover.releasing.deliver import Places, deliver
    from leafcover.releasing.hold import hold_out as set_aside
    from leafcover.releasing.limit import MOST_ALONE, certain_linkage, refuse_alone
    from leafcover.releasing.run import run
    from leafcover.releasing.summary import summary
    from leafcover.table.alone import taken_alone
    from leafcover.table.whole import check_place

    _check(max_risk, hold_out, key_file, seed, keep_order)
    places = Places(out)
    _check_files(table, places, report, key_file, hold_out is not None)
    reports = [report, outward(report)] if report else []
    files = [places.table, places.manifest, places.internal, places.pairs, *reports]
    for path in files if hold_out is None else [*files, places.held_out]:
        check_place(path, force=force)
    if key_file is not None:
        check_place(key_file, force=True)  # one that exists is read
    original = reading.read(table, target=target)
    refuse_unknown(original, reading, target)
    _warn_all(original.warnings, quiet)
    key, new_key = _key(key_file, seed)
    kept, held = set_aside(original, hold_out, key)
    aside = original.take(held) if len(held) else None
    original = taken_alone(original, kept) if len(held) else original
    with progress(quiet or as_json) as tell:
        cells: dict[Any, Any] = {}
        chosen = _plan(original, plan, recipe, target, settings, bins, cells)
        made = run(original, chosen, key=key, keep_order=keep_order, progress=tell, made=cells)
        if not force:
            refuse_alone(made)
        elif made.alone > MOST_ALONE:
            warn(f"{made.alone:.1%} of the rows stand alone in their cell; they are released because of --force.")
        measures, texts = _measured(original, made, aside, max_risk, report, publish_tree, tell)
        if key_file is not None and new_key:
            texts[key_file] = (key_text(key), True)
        told = {"table": table.name, "target": target, **reading.arguments(), "roles": reading.roles(target)}
        told["drop"] = list(reading.drop)
        tell("writing", 1.0)
        manifest = deliver(
            made,
            places,
            reading=told,
            rows=kept,
            force=force,
            publish_tree=publish_tree,
            held_out=aside,
            texts=texts,
        )
    if as_json:
        typer.echo(json.dumps(manifest, ensure_ascii=False))
    elif not quiet:
        linked = None if measures else certain_linkage(original, made)
        said = summary(made, linked)
        if not measures and max_risk is not None:
            said += f"\nLinkage by an informed attacker, and inference above control, stay below {max_risk:g}."
        elif not measures and linked is None:  # the law of this plan is costly to weigh, so only when asked for
            said += "\nHow often a person can be found was not measured: add --report or --max-risk."
        _warn_all(tuple(w for w in made.warnings if w not in original.warnings and w not in said), quiet)
        typer.echo(said)
        if measures:
            typer.echo(f"\n{measures}")
        typer.echo(f"\nreleased  {out}\nmanifest  {places.manifest}")
        if report:
            typer.echo(f"report    {outward(report)}  (to publish)\n          {report}  (for you alone)")
        kept_back = [] if aside is None else [places.held_out.name]
        private = ", ".join([places.internal.name, places.pairs.name, *kept_back])
        typer.echo(f"private   {private}: never publish these")


def _check(
    max_risk: float | None, hold_out: float | None, key_file: Path | None, seed: int | None, keep_order: bool
) -> None:
    if max_risk is not None and not 0 <= max_risk <= 1:
        raise ValueOutOfRange("--max-risk", max_risk, "a share from 0 to 1")
    if hold_out is not None and not 0 < hold_out < 1:
        raise ValueOutOfRange("--hold-out", hold_out, "a share above 0 and below 1")
    if max_risk is not None and keep_order:
        raise PlanError(
            "--max-risk and --keep-order were both given. Rows in their order are all found. Use one of them."
        )
    if key_file is not None and seed is not None:
        raise PlanError("--key-file and --seed were both given. Use --key-file to publish, --seed to experiment.")


def _check_files(table: Path, places: "Places", report: Path | None, key_file: Path | None, held_out: bool) -> None:
    """No file of a release may be another of them, or the original."""
    if not places.table.name or places.table.name == "..":
        raise OutputError(f"Output '{places.table}' has no file name. Give one, such as -o released.csv.")
    check_report(report)
    named = {"the original": table, "the released table": places.table, "its manifest": places.manifest}
    named |= {"its internal manifest": places.internal, "its pairs": places.pairs}
    if held_out:
        named["the rows held out"] = places.held_out
    if report is not None:
        named |= {"the report": report, "the public report": outward(report)}
    if key_file is not None:
        named["the key file"] = key_file
    taken: dict[str, str] = {}
    for words, path in named.items():
        place = str(path.resolve())
        if place in taken:
            raise OutputError(f"'{path}' would be both {taken[place]} and {words}. Give them different names.")
        taken[place] = words


def _warn_all(warnings: tuple[str, ...], quiet: bool) -> None:
    for words in () if quiet else warnings:
        warn(words)


def _key(key_file: Path | None, seed: int | None) -> tuple["Key", bool]:
    """The key to use, and whether it is new; a new one is kept only when the release is written."""
    from leafcover.draws import Key, key_from_file

    if seed is not None:
        return Key.from_seed(seed), False
    if key_file is not None and key_file.exists():
        return key_from_file(key_file), False
    return Key.fresh(), True


def _plan(
    table: "Table",
    file: Path | None,
    recipe: str | None,
    target: str | None,
    settings: list[str],
    bins: int | None,
    made: dict[Any, Any],
) -> "Plan":
    from leafcover.releasing.planfile import read_plan

    if file is not None:
        if recipe is not None or settings or bins is not None:
            raise PlanError(
                "--plan and --recipe, --set or --bins were both given. Say it in the plan, or use a recipe."
            )
        plan = read_plan(file)
        if target is not None and plan.target and target != plan.target:
            raise PlanError(f"--target is {target!r}, but the plan was written for {plan.target!r}. Use one of them.")
        return plan
    return plan_from(table, recipe or "cover", target, settings, bins, made)


def plan_from(
    table: "Table",
    recipe: str,
    target: str | None,
    settings: list[str],
    bins: int | None,
    made: dict[Any, Any] | None = None,
) -> "Plan":
    """The plan of a recipe with what the command line set."""
    from leafcover.releasing.recipes import plan_for, recipe_named

    given: dict[str, Any] = {}
    for one in settings:
        name, sign, value = one.partition("=")
        if not sign:
            raise ValueOutOfRange("--set", one, "NAME=VALUE, such as --set k=20")
        if name in given:
            raise PlanError(f"--set {name} was given twice. Give it once.")
        given[name] = value
    if bins is not None:
        if "bins" not in recipe_named(recipe).parameters:
            raise PlanError(f"Recipe {recipe!r} has no target to put into bins. Leave --bins out.")
        if "bins" in given:
            raise PlanError("--bins and --set bins were both given. Use --bins.")
        given["bins"] = bins
    return plan_for(table, recipe, target=target, settings=given, made=made)


def _measured(
    original: "Table",
    made: "Release",
    control: "Table | None",
    max_risk: float | None,
    report: Path | None,
    publish_tree: bool,
    tell: "Progress",
) -> tuple["Measures | None", dict[Path, tuple[str, bool]]]:
    """Hold the release against its limit and write its reports, where either was asked for."""
    if max_risk is None and report is None:
        return None, {}
    from leafcover.releasing.comparison import compared_to

    compared = compared_to(original, made, control)
    if max_risk is not None:
        from leafcover.releasing.limit import limited_risks, refuse_above

        tell("attacking the release", 0.0)
        refuse_above(limited_risks(compared), max_risk)
    if report is None:
        return None, {}
    from leafcover.releasing.measure import measure_all

    measures = measure_all(compared, tell=tell)
    return measures, pages(report, compared.pair, made, measures, publish_tree=publish_tree)
