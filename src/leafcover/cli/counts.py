"""The command ``counts``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from leafcover.cli.app import Force, Json, Quiet, Reading, app, guarded, with_reading
from leafcover.cli.project import Given, read_original, with_project
from leafcover.cli.release import TableFile, warn_all


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
    check_outputs(source.path, paths, report=None, key_file=key_file, held_out=False, force=force)
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
