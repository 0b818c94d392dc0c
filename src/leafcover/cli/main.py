"""The entry point of the command line: one-line errors, exit codes, Ctrl-C, and all output written."""

import errno
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line."""
    install_handler()  # before the imports, which take longer than many commands
    # Compiling kernels makes millions of objects, few in cycles: a first release takes 27 instead of 29 CPU seconds.
    gc.set_threshold(100_000, 50, 100)
    try:
        code = _run()
    except KeyboardInterrupt:
        raise stop() from None
    if interrupted():
        raise stop() from None
    sys.exit(code)


# The order of commands in the help: as a release is made, checked and compared.
ORDER = (
    *("init", "inspect", "release", "report", "verify", "measure", "sweep", "counts", "plan", "recipes", "tree"),
    *("forest", "demo"),
)


def application() -> "typer.Typer":
    """The application with all commands; each module registers its own on import."""
    from leafcover.cli import measure, project, release, survey, sweep, tree  # noqa: F401
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


# Ctrl-C ends every command with one line and exit code 130, at any time.
#
# Python raises KeyboardInterrupt wherever it is executing. Compiled code may lose it (while a kernel is loaded, in a
# callback) or turn it into another error. So Ctrl-C is recorded and checked for later: at every step of progress,
# before anything is written, and when the command ends.

INTERRUPTED = 130
WORDS = "no output was left half-written"


@dataclass
class _State:
    """The state of this process."""

    pressed: bool = False
    printed: bool = False


_state = _State()


def install_handler() -> None:
    """Record Ctrl-C from now on; a process that was started to ignore it continues to do so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _press)
        sys.unraisablehook = _silent


def check_interrupt() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and lost."""
    if _state.pressed:
        raise KeyboardInterrupt


@contextmanager
def stoppable(words: Callable[[], str] = lambda: WORDS) -> Iterator[None]:
    """End a block with one line on Ctrl-C; an error that results from it is not shown."""
    try:
        yield
        check_interrupt()
    except (Exception, KeyboardInterrupt) as error:
        if not (_state.pressed or isinstance(error, KeyboardInterrupt)):
            raise
        raise stop(words()) from None


def stop(words: str = WORDS) -> SystemExit:
    """Print the line once, and return the exit exception to raise."""
    if _state.pressed:  # the short clean-up must not be interrupted
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not _state.printed and sys.stderr is not None:
        print(f"stopped; {words}.", file=sys.stderr)
        _state.printed = _state.pressed
    return SystemExit(INTERRUPTED)


def interrupted() -> bool:
    """Whether Ctrl-C was pressed."""
    return _state.pressed


def _press(number: int, frame: FrameType | None) -> None:
    _state.pressed = True
    raise KeyboardInterrupt


def _silent(lost: Any) -> None:
    """Handle errors that Python cannot raise: an interrupt needs no report, because it is recorded."""
    if not (_state.pressed and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
