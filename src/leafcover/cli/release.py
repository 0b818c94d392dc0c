"""The commands ``release``, ``counts``, ``verify`` and ``demo``."""

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
    as_options,
    guarded,
    place,
    progress,
    warn,
    with_reading,
)
from leafcover.cli.project import AudienceOption, Given, read_original, with_project
from leafcover.errors import OutputError, PlanError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.engine.manifest import ReleasePaths
    from leafcover.recipes.plan import Plan
    from leafcover.released import Released


TableFile = Annotated[
    Place | None,
    typer.Argument(
        metavar="[TABLE]",
        help="A table: .csv .tsv (.gz) .parquet .arrow .xlsx .dta .sav .sas7bdat .xpt .arff .data, or of a database: "
        "postgresql://host/db#people [that of the project]",
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
Recodings = Annotated[
    list[str],
    typer.Option(
        "--recode",
        metavar="'COL: HOW'",
        help="Make values coarser or missing first, such as 'wage: round 0.5', 'age: intervals 18, 65' or "
        "'birth: truncate month'.",
    ),
]
PublishTree = Annotated[
    bool,
    typer.Option(
        "--publish-tree", help="Show plan and tree in the external report; their thresholds are original values."
    ),
]
Bins = Annotated[
    int | None, typer.Option("--bins", metavar="N", help="Divide a numeric target into N classes of about equal size.")
]


@app.command()
@guarded
@with_project("folder")
@with_reading
def release(
    table: TableFile = None,
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
    recode: Recodings = [],  # noqa: B006
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
    sample: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Release a secret random sample of this share of the rows; hold out the rest."
        ),
    ] = None,
    max_risk: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Write nothing and exit with code 3 if record linkage, inference of a column above control (upper "
            "ends) or members found beyond 1% false alarms (lower end) is above R, or copies are significant.",
        ),
    ] = None,
    audience: AudienceOption = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Release people again, and say what averaging all their releases gains."),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Overwrite an earlier release that was never given away, in the ledger of the project too.",
        ),
    ] = False,
    publish_tree: PublishTree = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Overwrite outputs that exist; also release singletons (rows alone in their cell)."
        ),
    ] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: Reading,
    given: Given,
) -> None:
    """Release TABLE, or the table of the project: perturb its values, and summarise the result."""
    from leafcover.api import release as release_table
    from leafcover.engine.evaluate import MOST_SINGLETONS
    from leafcover.engine.files import check_outputs
    from leafcover.engine.manifest import ReleasePaths, default_output
    from leafcover.table.io import check_output_format, format_of
    from leafcover.table.office_formats import formula_columns

    chosen = _plan(plan, recipe, settings, bins, has_rules=bool(rules) or find_rules is not None)
    source = read_original(given, table, reading, target, decided=True)
    original, project = source.table, source.project
    if project is None:
        arguments: dict[str, Any] = {
            "plan": chosen.plan,
            "target": target,
            "settings": chosen.settings,
            "rules": rules,
            "find_rules": find_rules,
            "sequence": sequence,
            "most_rows": most_rows,
            "unit_numbers": not no_unit_numbers,
            "rare": rare,
            "share": share,
            "weights": weights,
            "keep_tables": keep_tables,
            "recode": recode,
            "key_file": key_file,
            "hold_out": hold_out,
            "sample": sample,
            "max_risk": max_risk,
            "audience": audience,
            "max_singletons": MOST_SINGLETONS if audience is None else None,
            "project": given.folder,
        }
        outputs: dict[str, Any] = {"path": out or default_output(source.place), "report": report, "title": title}
        outputs |= {"date": date, "key_file": key_file, "publish_tree": publish_tree}
    else:
        from leafcover.project import EXPERIMENT

        arguments, outputs = project.arguments, project.outputs
        arguments |= EXPERIMENT if seed is not None else {}
    paths, report = ReleasePaths.of(outputs["path"]), outputs["report"]
    arguments |= {"seed": seed}
    arguments |= {"max_singletons": 1.0} if force else {}
    arguments |= {"again": again, "replaces": paths.table.name if replace else None}
    force = force or replace
    aside = any(arguments.get(name) is not None for name in ("hold_out", "sample"))
    files = {"report": report, "key_file": arguments["key_file"], "held_out": aside}
    check_outputs(source.place, paths, **files, force=force)
    check_output_format(paths.place, original)
    if report is not None:
        from leafcover.reporting.html_page import require_report

        require_report()
    warn_all(original.warnings, quiet)
    with progress(quiet or as_json) as tell:
        made = release_table(original, **arguments, keep_order=keep_order, progress=tell)
        if made.singletons > MOST_SINGLETONS:
            warn(
                f"{made.singletons:.1%} of the rows are singletons (alone in their cell), released because of --force."
            )
        manifest = made.save(**{**outputs, "key_file": arguments["key_file"]}, force=force, progress=tell)
    if as_json:
        typer.echo(json.dumps({**manifest, "ledger": made.ledger}, ensure_ascii=False))
    elif not quiet:
        warn_all(tuple(w for w in made.warnings if w not in original.warnings and w not in str(made)), quiet)
        text = paths.database is None and format_of(paths.table) == "csv"
        if formulas := formula_columns(made.table) if text else ():
            warn(
                f"{', '.join(map(repr, formulas))}: texts begin with =, +, - or @, and a spreadsheet may take them for "
                "formulas. Tell readers to import the file as text, or release an .xlsx workbook."
            )
        limits = made.limits
        _print(made, paths, report, decided=limits is not None and limits.used.max_risk is not None)


def _print(made: "Released", paths: "ReleasePaths", report: Path | None, *, decided: bool) -> None:
    copied = made.copies if report is None and not decided else None  # costlier attacks than this only on request
    typer.echo(as_options(str(made)))
    if report is not None:
        typer.echo(f"\n{as_options(str(made.measure()))}")
    elif copied is not None:
        from leafcover.metrics.summary import copies_alone

        typer.echo(copies_alone(copied))
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


def warn_all(warnings: tuple[str, ...], quiet: bool) -> None:
    """Print warnings, unless the command is to be quiet."""
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


# ``leafcover counts``


@app.command()
@guarded
@with_project("rare", "key_file")
@with_reading
def counts(
    table: TableFile = None,
    *,
    by: Annotated[
        list[str], typer.Option("--by", metavar="'A x B'", help="A table of counts: a column, or several. Repeatable.")
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="OUT", help="The path of the released counts.", readable=False)
    ],
    totals: Annotated[
        str,
        typer.Option(
            metavar="own|sum|none",
            help="Totals perturbed on their own, as the sums of perturbed cells, or left out.",
        ),
    ] = "own",
    max_noise: Annotated[int, typer.Option(metavar="D", help="The largest noise; 0 for exact counts.")] = 20,
    variance: Annotated[float, typer.Option(metavar="V", help="The variance of the noise.")] = 4.0,
    zeros: Annotated[
        float, typer.Option(metavar="P", help="The probability to perturb a zero like a one; 0: zeros stay zero.")
    ] = 0.1,
    minimum: Annotated[int, typer.Option(metavar="N", help="The smallest count that is released, apart from 0.")] = 1,
    impossible: Annotated[
        list[str],
        typer.Option(
            metavar="'A=a x B=b'", help="Levels that nobody can have together: these zeros stay zero. Repeatable."
        ),
    ] = [],  # noqa: B006  # typer reads it, nobody writes it
    cell_keys: Annotated[
        str,
        typer.Option(
            metavar="drawn|summed",
            help="Noise drawn for each table, or by the people in the cell as published (unsafe by differencing).",
        ),
    ] = "drawn",
    rare: Annotated[
        str,
        typer.Option(
            metavar="pool|allow|refuse", help="Levels that fewer than 5 people have: pool, release, or refuse them."
        ),
    ] = "pool",
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="K",
            help="Read the secret key from this file, or create it, for the same noise in later tables.",
            readable=False,
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="A fixed seed instead of a secret key, for experiments only: do not publish.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
    reading: Reading,
    given: Given,
) -> None:
    """Count the rows, people or households of TABLE, perturb the counts, and run the differencing attack."""
    from leafcover.engine.counts import count_table
    from leafcover.engine.files import check_outputs
    from leafcover.engine.manifest import ReleasePaths

    source, paths = read_original(given, table, reading, None), ReleasePaths(out)
    data = source.table
    check_outputs(source.place, paths, report=None, key_file=key_file, held_out=False, force=force)
    warn_all(data.warnings, quiet)
    made = count_table(
        data,
        by,
        totals=totals,  # type: ignore[arg-type]  # checked there
        max_noise=max_noise,
        variance=variance,
        zeros=zeros,
        minimum=minimum,
        cell_keys=cell_keys,  # type: ignore[arg-type]
        rare=rare,  # type: ignore[arg-type]
        impossible=impossible,
        key_file=key_file,
        seed=seed,
    )
    manifest = made.save(paths.table, key_file=key_file, force=force)
    if as_json:
        typer.echo(json.dumps({**manifest, "figures": made.figures}, ensure_ascii=False))
    elif not quiet:
        warn_all(made.warnings, quiet)
        typer.echo(made.summary)
        typer.echo(f"\ncounts    {paths.table}\nmanifest  {paths.manifest}")
        typer.echo(f"private   {paths.internal.name}: never publish it")


# ``leafcover verify``


@app.command()
@guarded
@with_project("key_file")
def verify(
    released: Annotated[
        Place | None, typer.Argument(metavar="[OUT]", help="A table that `leafcover release` wrote.", parser=place)
    ] = None,
    *,
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
    every: Annotated[bool, typer.Option("--all", help="List every check, also those that hold.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
    given: Given,
) -> None:
    """Check hash and schema; with the original, all guarantees; with the key, every byte. Exit code 1 if one fails."""
    from leafcover.api import verify as verify_table
    from leafcover.engine.verify import in_groups

    project = given.project(released)
    if project is not None:
        released, original, key_file = project.paths.place, original or project.input, key_file or project.key_file
    assert released is not None
    checks = verify_table(released, original=original, key_file=key_file, manifest=manifest)
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks], ensure_ascii=False))
    elif not quiet:
        typer.echo("\n".join(map(str, checks)) if every else in_groups(checks))
    if not all(check.holds for check in checks):
        raise typer.Exit(1)


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
    typer.echo(as_options(str(made)))
    _print_files(made, paths, None)
    typer.echo("\nMeasuring utility and disclosure risk for the report.")
    with progress(False) as tell:
        made.report(report, title="Adult", force=force, progress=tell)
    typer.echo(f"\n{as_options(str(made.verdict()))}\n{as_options(str(made.measure()))}")
    typer.echo(f"\nreport    {external_report(report)}  (to publish)\n          {report}  (for you alone)")
