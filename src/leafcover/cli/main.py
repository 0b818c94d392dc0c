"""The entry point of the command line: one-line errors, the right exit code, and all output written."""

import errno
import os
import sys
from typing import TYPE_CHECKING

from leafcover.cli.interrupt import install_handler, interrupted, stop

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line."""
    install_handler()  # before the imports, which take longer than many commands
    try:
        code = _run()
    except KeyboardInterrupt:
        raise stop() from None
    if interrupted():
        raise stop() from None
    sys.exit(code)


def application() -> "typer.Typer":
    """The application with all commands; each module registers its own on import."""
    from leafcover.cli import measure, release, survey, sweep, tree  # noqa: F401
    from leafcover.cli.app import app

    return app


def _run() -> str | int | None:
    """The exit code of the command, after all output has been written."""
    try:
        app = application()
        try:
            app()
        except SystemExit as end:
            if sys.stdout is not None:  # None if it was closed
                sys.stdout.flush()
            return end.code
    except OSError as error:
        if interrupted():
            return None
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # buffered output would fail again at exit
        if error.errno != errno.EPIPE and sys.stderr is not None:  # the reader, such as `head`, has closed the pipe
            print(f"error: {_why(error)}", file=sys.stderr)
        return 1
    return 0


def _why(error: OSError) -> str:
    """A one-line error for a system error: about the file it names, or standard output."""
    reason = error.strerror or type(error).__name__
    if error.filename is not None:
        return f"'{error.filename}' cannot be used: {reason}. Name another file."
    return f"Cannot write to standard output: {reason}. Redirect it elsewhere."
