"""Start the command line, and see that it ends as it says: one line, the right exit code, nothing left unsaid."""

import errno
import os
import sys
from typing import TYPE_CHECKING

from leafcover.cli.interrupt import install_handler, interrupted, stop

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line."""
    install_handler()  # before the imports, which take longer than many a command
    try:
        code = _run()
    except KeyboardInterrupt:
        raise stop() from None
    if interrupted():
        raise stop() from None
    sys.exit(code)


def application() -> "typer.Typer":
    """The application with every command: each module adds its own when it is imported."""
    from leafcover.cli import measure, release, survey, sweep, tree  # noqa: F401
    from leafcover.cli.app import app

    return app


def _run() -> str | int | None:
    """The exit code of the command, once all that it said has arrived."""
    try:
        app = application()
        try:
            app()
        except SystemExit as end:
            if sys.stdout is not None:  # it is None when it was closed
                sys.stdout.flush()
            return end.code
    except OSError as error:
        if interrupted():
            return None
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what still waits would fail again when Python ends
        if error.errno != errno.EPIPE and sys.stderr is not None:  # whoever read it, as `head` does, has seen enough
            print(f"error: {_why(error)}", file=sys.stderr)
        return 1
    return 0


def _why(error: OSError) -> str:
    """One line for what the system refused: a file that it names, or else standard output."""
    said = error.strerror or type(error).__name__
    if error.filename is not None:
        return f"'{error.filename}' cannot be used: {said}. Name another file."
    return f"Standard output takes no more: {said}. Send it elsewhere."
