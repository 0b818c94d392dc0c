"""``leafcover release``: a table goes in, a release comes out."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leafcover.cli.app import Force, Json, Quiet, app, guarded, progress, warn
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
from leafcover.errors import OutputError, PlanError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.engine.manifest import ReleasePaths
    from leafcover.engine.run import Progress, Release
    from leafcover.metrics.suite import Measures
    from leafcover.recipes.plan import Plan
    from leafcover.rng import Key
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
    title: Title = None,
    date: Date = None,
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
    from leafcover.engine.evaluate import MOST_ALONE, certain_linkage, refuse_alone
    from leafcover.engine.evaluate import hold_out as set_aside
    from leafcover.engine.files import deliver
    from leafcover.engine.manifest import ReleasePaths
    from leafcover.engine.run import run
    from leafcover.engine.summary import summary
    from leafcover.rng import key_text
    from leafcover.table.atomic import check_place
    from leafcover.table.table import without_unused_levels

    _check(max_risk, hold_out, key_file, seed, keep_order)
    places = ReleasePaths(out)
    _check_files(table, places, report, key_file, hold_out is not None)
    reports = [report, external_report(report)] if report else []
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
    original = without_unused_levels(original, kept) if len(held) else original
    with progress(quiet or as_json) as tell:
        cells: dict[Any, Any] = {}
        chosen = _plan(original, plan, recipe, target, settings, bins, cells)
        made = run(original, chosen, key=key, keep_order=keep_order, progress=tell, made=cells)
        if not force:
            refuse_alone(made)
        elif made.alone > MOST_ALONE:
            warn(f"{made.alone:.1%} of the rows stand alone in their cell; they are released because of --force.")
        titles = (title or table.name, title or out.name)
        measures, texts = _measured(original, made, aside, max_risk, report, publish_tree, titles, date, tell)
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
            typer.echo(f"report    {external_report(report)}  (to publish)\n          {report}  (for you alone)")
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


def _check_files(
    table: Path, places: "ReleasePaths", report: Path | None, key_file: Path | None, held_out: bool
) -> None:
    """No file of a release may be another of them, or the original."""
    if not places.table.name or places.table.name == "..":
        raise OutputError(f"Output '{places.table}' has no file name. Give one, such as -o released.csv.")
    check_report(report)
    named = {"the original": table, "the released table": places.table, "its manifest": places.manifest}
    named |= {"its internal manifest": places.internal, "its pairs": places.pairs}
    if held_out:
        named["the rows held out"] = places.held_out
    if report is not None:
        named |= {"the report": report, "the public report": external_report(report)}
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
    from leafcover.rng import Key, key_from_file

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
    from leafcover.recipes.plan import read_plan

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
    from leafcover.recipes import plan_for, recipe_named

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
    titles: tuple[str, str],
    date: str | None,
    tell: "Progress",
) -> tuple["Measures | None", dict[Path, tuple[str, bool]]]:
    """Hold the release against its limit and write its reports, where either was asked for."""
    if max_risk is None and report is None:
        return None, {}
    from leafcover.engine.evaluate import compared_to, limited_risks, measure_all, refuse_above

    compared = compared_to(original, made, control)
    measures = None if report is None else measure_all(compared, tell=tell)
    if max_risk is not None:
        tell("attacking the release", 0.0)
        refuse_above(limited_risks(compared, measures), max_risk)
    if report is None or measures is None:
        return None, {}
    return measures, pages(report, compared.pair, made, measures, publish_tree=publish_tree, titles=titles, date=date)


# ``leafcover verify``: is this the table that was released, and does it keep its promises?


@app.command()
@guarded
def verify(
    released: Annotated[
        Path, typer.Argument(metavar="OUT", help="A table that `leafcover release` wrote.", readable=False)
    ],
    original: Annotated[
        Path | None, typer.Option(metavar="TABLE", help="The original: check every promise.", readable=False)
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="K", help="The key: release it again, byte by byte.", readable=False)
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Check hash and schema; with the original every promise; with the key every byte. Exit 1 when one fails."""
    from leafcover.engine.manifest import ReleasePaths, check_manifests, manifest_of
    from leafcover.engine.verify import verify as checked
    from leafcover.rng import key_from_file

    if key_file is not None and original is None:
        raise PlanError("--key-file needs the table it was used on. Add --original TABLE.")
    if key_file is not None and not key_file.exists():
        raise PlanError(f"There is no key file '{key_file}'. Name the one that the release was made with.")
    check_manifests(released)
    table = None
    if original is not None:
        told = manifest_of(ReleasePaths(released).internal)["reading"]
        roles = told["roles"]
        lists = {role: tuple(n for n, r in roles.items() if r == role) for role in set(roles.values()) - {"target"}}
        reading = Reading(
            drop=tuple(told["drop"]),
            category=tuple(told["category"]),
            missing=tuple(f"{name}={','.join(tokens)}" for name, tokens in told["missing"].items()),
            encoding=told["encoding"],
            delimiter=told["delimiter"],
            **lists,
        )
        table = reading.read(original, target=told["target"])
    checks = checked(released, original=table, key=None if key_file is None else key_from_file(key_file))
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False))
    elif not quiet:
        for check in checks:
            mark = "ok    " if check.holds else "FAILED"
            typer.echo(f"{mark}  {check.what}{': ' + check.detail if check.detail else ''}")
    if not all(check.holds for check in checks):
        raise typer.Exit(1)


# ``leafcover recipes`` and ``leafcover plan``: what can be done, and what would be done.


@app.command()
@guarded
def recipes(as_json: Json = False) -> None:
    """List every recipe: where it comes from, what it keeps, what it hides, what --set may give."""
    from leafcover.recipes import RECIPES

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
    from leafcover.recipes.plan import to_toml

    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    for words in data.warnings:
        warn(words)
    typer.echo(to_toml(plan_from(data, recipe, target, settings, bins)), nl=False)


# ``leafcover demo``: the main job on a table that ships with the package.


@app.command()
@guarded
def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the results go.", readable=False)] = Path(
        "leafcover-demo"
    ),
    force: Force = False,
) -> None:
    """Release the shipped Adult table by `cover`, with a report and a manifest."""
    from leafcover.cli.options import Reading
    from leafcover.table.io import sample

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder '{folder}' cannot be made: {error.strerror}. Name another one.") from None
    given = {**Reading().__dict__, "table": sample("adult"), "out": folder / "released.csv"}
    release(**given, target="income", report=folder / "report.html", force=force)
