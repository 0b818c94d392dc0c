"""The commands ``release``, ``verify``, ``recipes``, ``plan`` and ``demo``."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leafcover.cli.app import (
    Date,
    Force,
    Json,
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
from leafcover.errors import OutputError, PlanError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.engine.manifest import ReleasePaths
    from leafcover.recipes.plan import Plan
    from leafcover.released import Released


TableFile = Annotated[
    Place,
    typer.Argument(
        metavar="TABLE",
        help="A table: .csv .tsv (.gz) .parquet .arrow .xlsx .dta .sav .sas7bdat .xpt .arff .data, or of a database: "
        "postgresql://host/db#people",
        parser=place,
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", metavar="COL", help="The column whose classification rules are preserved.")
]
Settings = Annotated[
    list[str], typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the recipe, such as k=20.")
]
Rules = Annotated[
    list[str],
    typer.Option(
        "--rule",
        metavar="RULE",
        help="A relation between columns that every released row keeps, such as 'total == a + b' or 'start <= end'.",
    ),
]
FindRules = Annotated[
    bool | None,
    typer.Option(
        "--find-rules/--no-rules",
        help="Whether to keep the rules between columns that `leafcover inspect` finds. [cover keeps them]",
        show_default=False,
    ),
]
Sequence = Annotated[
    str | None,
    typer.Option(
        "--sequence",
        metavar="COL",
        help="Sort the rows of a unit by this column. [the first date, or the order of the table]",
    ),
]
MostRows = Annotated[
    int | None,
    typer.Option("--most-rows", metavar="N", help="Release at most N rows of each unit. [as many as 10 units have]"),
]
RareLevels = Annotated[
    str | None,
    typer.Option(
        "--rare",
        metavar="allow|pool|refuse",
        help="Levels that fewer than 5 people have: release them, pool them as 'other', or refuse the table. "
        "[cover pools them]",
    ),
]
Share = Annotated[
    int | None,
    typer.Option(
        "--share",
        metavar="ROWS",
        help="The fewest rows that hold a released number: rarer ones take the mean of their neighbours. [cover: 5]",
    ),
]
LeaveWeights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="drop|classes|calibrated",
        help="How weights leave: not at all, as means of classes of at least 5 people, or calibrated. [calibrated]",
    ),
]
KeepTables = Annotated[
    list[str],
    typer.Option(
        "--keep-table",
        metavar="'A x B'",
        help="A table whose numbers of rows and weighted totals are kept, such as 'sex x region'.",
    ),
]
Bins = Annotated[
    int | None, typer.Option("--bins", metavar="N", help="Divide a numeric target into N classes of about equal size.")
]


@app.command()
@guarded
@with_reading
def release(
    table: TableFile,
    *,
    out: Annotated[
        Place | None,
        typer.Option(
            "-o",
            "--out",
            metavar="OUT",
            help="The path of the released table, or a table of a database. [TABLE.released.csv]",
            parser=place,
        ),
    ] = None,
    target: Target = None,
    recipe: Annotated[str | None, typer.Option(help="The recipe; see `leafcover recipes`. [default: cover]")] = None,
    settings: Settings = [],  # noqa: B006  # typer reads it, nobody writes it
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN.toml", help="A plan file instead of a recipe.", readable=False)
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="R.html", help="Also write an HTML report, and R.external.html to publish.", readable=False
        ),
    ] = None,
    title: Title = None,
    date: Date = None,
    bins: Bins = None,
    rules: Rules = [],  # noqa: B006
    find_rules: FindRules = None,
    sequence: Sequence = None,
    most_rows: MostRows = None,
    no_unit_numbers: Annotated[
        bool, typer.Option("--no-unit-numbers", help="Do not release which rows belong to one unit.")
    ] = False,
    rare: RareLevels = None,
    share: Share = None,
    weights: LeaveWeights = None,
    keep_tables: KeepTables = [],  # noqa: B006
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="K",
            help="Read the secret key from this file, or create it, to repeat this release.",
            readable=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="A fixed seed instead of a secret key, for experiments only: do not publish.")
    ] = None,
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Keep the row order, for experiments only: do not publish.")
    ] = False,
    hold_out: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Hold out this share of the rows, for measuring.")
    ] = None,
    max_risk: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Write nothing and exit with code 3 if a disclosure risk is above R, a share such as 0.05.",
        ),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep a ledger in this folder, and exit with code 3 if 5% of the people were released before.",
            readable=False,
        ),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Release people again, and say what averaging all their releases gains."),
    ] = False,
    publish_tree: Annotated[
        bool,
        typer.Option(
            "--publish-tree", help="Show plan and tree in the external report; their thresholds are original values."
        ),
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Overwrite outputs that exist; also release singletons (rows alone in their cell)."
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: Reading,
) -> None:
    """Release TABLE: perturb its values by a recipe or a plan, and summarise the result."""
    from leafcover.api import release as release_table
    from leafcover.engine.evaluate import MOST_SINGLETONS
    from leafcover.engine.files import check_outputs
    from leafcover.engine.manifest import ReleasePaths
    from leafcover.table.io import check_output_format, format_of
    from leafcover.table.office_formats import formula_columns

    chosen = _plan(plan, recipe, settings, bins, has_rules=bool(rules) or find_rules is not None)
    original = reading.read(table, target=target)
    refuse_unknown(original, reading, target)
    paths = ReleasePaths.of(out if out is not None else _beside(table))
    given = table if isinstance(table, Path) else table.named(original.reading.name)  # also if it was the only one
    check_outputs(given, paths, report=report, key_file=key_file, held_out=hold_out is not None, force=force)
    if paths.database is None:
        check_output_format(paths.table, original)
    if report is not None:
        from leafcover.reporting.html_page import require_report

        require_report()
    _warn_all(original.warnings, quiet)
    with progress(quiet or as_json) as tell:
        made = release_table(
            original,
            chosen.plan,
            target=target,
            settings=chosen.settings,
            rules=rules,
            find_rules=find_rules,
            sequence=sequence,
            most_rows=most_rows,
            unit_numbers=not no_unit_numbers,
            rare=rare,  # type: ignore[arg-type]  # checked there
            share=share,
            weights=weights,  # type: ignore[arg-type]
            keep_tables=keep_tables,
            key_file=key_file,
            seed=seed,
            keep_order=keep_order,
            hold_out=hold_out,
            max_risk=max_risk,
            max_singletons=None if force else MOST_SINGLETONS,
            project=project,
            again=again,
            progress=tell,
        )
        if made.singletons > MOST_SINGLETONS:
            warn(
                f"{made.singletons:.1%} of the rows are singletons (alone in their cell), released because of --force."
            )
        manifest = made.save(
            paths.place,
            report=report,
            title=title,
            date=date,
            key_file=key_file,
            publish_tree=publish_tree,
            force=force,
            progress=tell,
        )
    if as_json:
        typer.echo(json.dumps({**manifest, "ledger": made.ledger}, ensure_ascii=False))
    elif not quiet:
        _warn_all(tuple(w for w in made.warnings if w not in original.warnings and w not in str(made)), quiet)
        text = paths.database is None and format_of(paths.table) == "csv"
        if formulas := formula_columns(made.table) if text else ():
            warn(
                f"{', '.join(map(repr, formulas))}: texts begin with =, +, - or @, and a spreadsheet may take them for "
                "formulas. Tell readers to import the file as text, or release an .xlsx workbook."
            )
        _print(made, paths, report, max_risk)


def _beside(table: "Place") -> Path:
    """The default path of a release: TABLE.released.csv, or in a format that can be written."""
    if not isinstance(table, Path):
        raise OutputError("The table comes from a database. Say with -o where its release goes.")
    from leafcover.table.statistical_formats import INSTEAD

    table = table.with_suffix(INSTEAD.get(table.suffix.lower(), table.suffix))
    stem, *endings = table.name.split(".")
    return table.with_name(".".join([stem, "released", *endings]))


def _print(made: "Released", paths: "ReleasePaths", report: Path | None, max_risk: float | None) -> None:
    typer.echo(str(made))
    if report is not None:
        typer.echo(f"\n{made.measure()}")
    elif max_risk is not None:
        typer.echo(f"Every figure that --max-risk compares with its limit is at most {max_risk:g}.")
    else:  # costlier attacks than this only on request
        from leafcover.metrics.summary import copies_alone

        typer.echo(copies_alone(made.copies))
        typer.echo("Inference, membership and other risks were not measured: add --report or --max-risk.")
    _print_files(made, paths, report)


def _print_files(made: "Released", paths: "ReleasePaths", report: Path | None) -> None:
    from leafcover.engine.files import external_report

    typer.echo(f"\nreleased  {paths.place}\nmanifest  {paths.manifest}")
    if report:
        typer.echo(f"report    {external_report(report)}  (to publish)\n          {report}  (for you alone)")
    private = [paths.internal, *([paths.pairs] if made.descends else [])]
    if made.held_out is not None:
        private += [paths.held_out] if made.descends else [paths.rows, paths.held_out]
    end = ": never publish it" if len(private) == 1 else ": never publish these"
    typer.echo(f"private   {', '.join(path.name for path in private)}{end}")


def _warn_all(warnings: tuple[str, ...], quiet: bool) -> None:
    for words in () if quiet else warnings:
        warn(words)


@dataclass(frozen=True)
class _Chosen:
    """The plan, or the recipe and its settings, from the command line."""

    plan: "Plan | str"
    settings: dict[str, Any] | None = None


def _plan(
    file: Path | None, recipe: str | None, settings: list[str], bins: int | None, *, has_rules: bool
) -> "_Chosen":
    if file is None:
        return chosen_recipe(recipe or "cover", settings, bins)
    from leafcover.recipes.plan_file import read_plan

    if recipe is not None or settings or bins is not None or has_rules:
        raise PlanError(
            "--plan cannot be combined with --recipe, --set, --bins, --rule, --find-rules or --no-rules. "
            "Edit the plan instead, or leave out --plan."
        )
    return _Chosen(read_plan(file))


def chosen_recipe(recipe: str, settings: list[str], bins: int | None) -> _Chosen:
    """The recipe with its settings from the command line."""
    from leafcover.recipes.registry import RECIPES

    given: dict[str, Any] = {}
    for one in settings:
        name, sign, value = one.partition("=")
        if not sign:
            raise ValueOutOfRange("--set", one, "NAME=VALUE, such as --set k=20")
        if name in given:
            raise PlanError(f"--set {name} was given twice. Give it once.")
        given[name] = value
    if bins is not None:
        if "bins" not in RECIPES.named(recipe).parameters:
            raise PlanError(f"Recipe {recipe!r} has no target to put into bins. Leave --bins out.")
        if "bins" in given:
            raise PlanError("--bins and --set bins were both given. Use --bins.")
        given["bins"] = bins
    return _Chosen(recipe, given)


# ``leafcover verify``


@app.command()
@guarded
def verify(
    released: Annotated[
        Place, typer.Argument(metavar="OUT", help="A table that `leafcover release` wrote.", parser=place)
    ],
    original: Annotated[
        Place | None, typer.Option(metavar="TABLE", help="The original: check every guarantee.", parser=place)
    ] = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="K", help="The key: repeat the release byte for byte.", readable=False)
    ] = None,
    manifest: Annotated[
        Path | None,
        typer.Option(metavar="M.json", help="The manifest of a table that was moved. [beside OUT]", readable=False),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Check hash and schema; with the original, all guarantees; with the key, every byte. Exit code 1 if one fails."""
    from leafcover.api import verify as verify_table

    checks = verify_table(released, original=original, key_file=key_file, manifest=manifest)
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False))
    elif not quiet:
        for check in checks:
            mark = "ok    " if check.holds else "FAILED"
            typer.echo(f"{mark}  {check.what}{': ' + check.detail if check.detail else ''}")
    if not all(check.holds for check in checks):
        raise typer.Exit(1)


# ``leafcover recipes`` and ``leafcover plan``


@app.command()
@guarded
def recipes(as_json: Json = False) -> None:
    """List all recipes: source, what each preserves and protects, and its parameters for --set."""
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
    reading: Reading,
) -> None:
    """Print the plan that a recipe writes for TABLE, as TOML to edit and use with `release --plan`."""
    from leafcover.recipes.plan_file import plan_text
    from leafcover.recipes.registry import plan_for

    data = reading.read(table, target=target)
    refuse_unknown(data, reading, target)
    for words in data.warnings:
        warn(words)
    chosen = chosen_recipe(recipe, settings, bins)
    written = plan_for(
        data,
        recipe,
        target=target,
        settings=chosen.settings,
        rules=rules,
        find_rules=find_rules,
        sequence=sequence,
        most_rows=most_rows,
        rare=rare,  # type: ignore[arg-type]  # checked there
        share=share,
        weights=weights,  # type: ignore[arg-type]
        keep_tables=keep_tables,
    )
    typer.echo(plan_text(written), nl=False)


# ``leafcover demo``


@app.command()
@guarded
def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The folder for the results.", readable=False)] = Path(
        "leafcover-demo"
    ),
    force: Force = False,
) -> None:
    """Release the shipped Adult table by `cover`: first the table and its summary, then the report."""
    from leafcover.api import read
    from leafcover.api import release as release_table
    from leafcover.engine.files import check_outputs, external_report
    from leafcover.engine.manifest import ReleasePaths
    from leafcover.reporting.html_page import require_report
    from leafcover.table.io import sample

    require_report()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder '{folder}' cannot be made: {error.strerror}. Name another one.") from None
    paths, report = ReleasePaths(folder / "released.csv"), folder / "report.html"
    check_outputs(None, paths, report=report, key_file=None, held_out=False, force=force)
    with progress(False) as tell:
        made = release_table(read(sample("adult")), "cover", target="income", progress=tell)
        made.save(paths.table, force=force)
    typer.echo(str(made))
    _print_files(made, paths, None)
    typer.echo("\nMeasuring utility and disclosure risk for the report.")
    with progress(False) as tell:
        made.report(report, title="Adult", force=force, progress=tell)
    typer.echo(f"\n{made.measure()}")
    typer.echo(f"\nreport    {external_report(report)}  (to publish)\n          {report}  (for you alone)")
