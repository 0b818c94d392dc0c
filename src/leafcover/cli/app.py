"""The command-line application: options shared by commands, error handling, warnings and progress bars."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any

import typer

from leafcover import __version__
from leafcover.cli.interrupt import check_interrupt, stoppable
from leafcover.errors import LeafcoverError

app = typer.Typer(
    name="leafcover",
    help="Release perturbed microdata, and measure its utility and disclosure risk.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local variables would print original values.
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite outputs that exist.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leafcover {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Release perturbed microdata, and measure its utility and disclosure risk."""


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Print a user error as one line and exit with its code, never with a traceback."""

    @wraps(command)
    def run(*args: Any, **given: Any) -> None:
        try:
            with stoppable():
                command(*args, **given)
        except LeafcoverError as error:
            typer.echo(f"error: {as_options(' '.join(str(error).split()))}", err=True)
            raise typer.Exit(error.exit_code) from None
        except MemoryError:
            typer.echo("error: There is not enough memory for this table. Release fewer rows or columns.", err=True)
            raise typer.Exit(1) from None

    return run


SECONDS = 5  # between two lines of progress where there is no terminal

# Library messages name parameters; people at a command line know options.
PARAMETERS = re.compile(r"\b(max_risk|keep_order|key_file|hold_out|publish_tree|original)(?:\b=\.\.\.|(?<!original)\b)")
FIRST = re.compile(
    r"^(n_trees|min_records|confidence|goodness|separation|bins|delimiter|encoding|runs|rows|jobs|recipes|error|share"
    r"|answers|count|first|significance|min_support|test_share)(?= must be )"
)


def as_options(message: str) -> str:
    """A library message with parameters written as options.

    >>> as_options("max_risk must be a share from 0 to 1. Got 3.")
    '--max-risk must be a share from 0 to 1. Got 3.'
    >>> as_options("n_trees must be an integer from 1 to 1,000. Got 0.")
    '--trees must be an integer from 1 to 1,000. Got 0.'
    """
    message = FIRST.sub(lambda found: "--" + found[1].removeprefix("n_").replace("_", "-"), message)
    return PARAMETERS.sub(lambda found: "--" + found[1].replace("_", "-"), message)


def warn(words: str) -> None:
    """Print a warning on standard error, so that results can be piped."""
    typer.echo(f"warning: {words}", err=True)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """A progress bar on a terminal, now and then a line elsewhere; every step checks for a Ctrl-C that was lost."""
    if quiet or sys.stderr is None:
        yield lambda words, share: check_interrupt()
        return
    if not sys.stderr.isatty():
        yield _lines_of_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1.0)

        def tell(words: str, share: float) -> None:
            check_interrupt()
            bar.update(task, description=words, completed=share)

        yield tell


def _lines_of_progress() -> Callable[[str, float], None]:
    """For logs: a line for a step that begins `SECONDS` or more after the last line, so that short work is silent."""
    began = last = time.monotonic()

    def tell(words: str, share: float) -> None:
        nonlocal last
        check_interrupt()
        now = time.monotonic()
        if now - last >= SECONDS:
            last = now
            typer.echo(f"[{now - began:.0f} s] {words}", err=True)

    return tell
