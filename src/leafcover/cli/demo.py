"""``leafcover demo``: the main job on a table that ships with the package."""

from pathlib import Path
from typing import Annotated

import typer

from leafcover.cli.app import Force, app, guarded
from leafcover.errors import OutputError


@app.command()
@guarded
def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where the results go.", readable=False)] = Path(
        "leafcover-demo"
    ),
    force: Force = False,
) -> None:
    """Release the shipped Adult table by `cover`, with a report and a manifest."""
    from leafcover.cli.reading import Reading
    from leafcover.cli.release import release
    from leafcover.table.samples import sample

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"The folder '{folder}' cannot be made: {error.strerror}. Name another one.") from None
    given = {**Reading().__dict__, "table": sample("adult"), "out": folder / "released.csv"}
    release(**given, target="income", report=folder / "report.html", force=force)
