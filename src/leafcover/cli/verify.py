"""``leafcover verify``: is this the table that was released, and does it keep its promises?"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from leafcover.cli.app import Json, Quiet, app, guarded
from leafcover.cli.reading import Reading
from leafcover.errors import PlanError


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
    from leafcover.draws import key_from_file
    from leafcover.releasing.deliver import Places
    from leafcover.releasing.told import check_manifests
    from leafcover.releasing.verify import manifest_of
    from leafcover.releasing.verify import verify as checked

    if key_file is not None and original is None:
        raise PlanError("--key-file needs the table it was used on. Add --original TABLE.")
    if key_file is not None and not key_file.exists():
        raise PlanError(f"There is no key file '{key_file}'. Name the one that the release was made with.")
    check_manifests(released)
    table = None
    if original is not None:
        told = manifest_of(Places(released).internal)["reading"]
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
