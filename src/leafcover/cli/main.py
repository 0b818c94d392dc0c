"""The entry point of the command line: one-line errors, the right exit code, and all output written."""

import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from leafcover.cli.interrupt import install_handler, interrupted, stop

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line."""
    install_handler()  # before the imports, which take longer than many commands
    # Compiling kernels makes millions of objects, few of them cyclic: a first release takes 27 instead of 29 CPU seconds.
    gc.set_threshold(100_000, 50, 100)
    try:
        code = _run()
    except KeyboardInterrupt:
        raise stop() from None
    if interrupted():
        raise stop() from None
    sys.exit(code)


# The order of commands in the help: as a release is made, checked and compared.
ORDER = ("inspect", "release", "verify", "measure", "sweep", "plan", "recipes", "tree", "forest", "demo")


def application() -> "typer.Typer":
    """The application with all commands; each module registers its own on import."""
    from leafcover.cli import measure, release, survey, sweep, tree  # noqa: F401
    from leafcover.cli.app import app

    app.registered_commands.sort(key=_place)
    return app


def _place(command: Any) -> int:
    name = getattr(command.callback, "__name__", "")
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _run() -> str | int | None:
    """The exit code of the command, after all output has been written."""
    try:
        app = application()
        try:
            code = app(standalone_mode=False)
        except SystemExit as end:
            code = end.code
        except Exception as error:
            if not hasattr(error, "format_message"):  # not a usage error
                raise
            code = usage_error(error, sys.argv[1:])
        if sys.stdout is not None:  # None if it was closed
            sys.stdout.flush()
        return code if isinstance(code, int | str) else 0
    except OSError as error:
        if interrupted():
            return None
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # buffered output would fail again at exit
        if error.errno != errno.EPIPE and sys.stderr is not None:  # the reader, such as `head`, has closed the pipe
            print(f"error: {_why(error)}", file=sys.stderr)
        return 1


# What pydantic says of an option, in plain words.
MISTAKES = (
    (r"Input should be a valid integer.*", "it must be a whole number"),
    (r"Input should be a valid number.*", "it must be a number"),
    (r"Input should be ", "it must be "),
    (r"Value error, ", ""),
)


def usage_error(error: Any, given: Sequence[str]) -> int:
    """Print a mistake in the options as one line, with what was given, and return the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help
        error.show()
        return int(error.exit_code)
    words = error.format_message().strip()
    for pattern, plain in MISTAKES:
        words = re.sub(pattern, plain, words)
    words = words.removesuffix(".").replace("?.", "?")
    option = getattr(getattr(error, "param", None), "opts", ())
    value = next((after for name, after in pairwise(given) if name in option), None)
    if value is not None and repr(value) not in words:
        words += f". Got {value!r}"
    end = "" if words.endswith("?") else "."
    context = getattr(error, "ctx", None)
    print(f"error: {words}{end} See: {context.command_path if context else 'leafcover'} --help", file=sys.stderr)
    return int(error.exit_code)


def _why(error: OSError) -> str:
    """A one-line error for a system error: about the file it names, or standard output."""
    reason = error.strerror or type(error).__name__
    if error.filename is not None:
        return f"'{error.filename}' cannot be used: {reason}. Name another file."
    return f"Cannot write to standard output: {reason}. Redirect it elsewhere."
