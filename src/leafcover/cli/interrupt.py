"""Ctrl-C ends every command with one line and exit code 130, whatever was under way.

Python raises KeyboardInterrupt wherever it stands. Compiled code may lose it (while a kernel is loaded, in a callback)
or turn it into an error of its own. So it is remembered that Ctrl-C was pressed, and asked for again: at every step of
progress, before anything is written, and when the command ends.
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

INTERRUPTED = 130
WORDS = "no output was left half-written"


@dataclass
class _State:
    """What has happened in this process."""

    pressed: bool = False
    told: bool = False


_state = _State()


def install_handler() -> None:
    """From now on remember Ctrl-C; a process that was started to ignore it goes on doing so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _press)
        sys.unraisablehook = _silent


def check_interrupt() -> None:
    """Raise KeyboardInterrupt again when it was pressed and lost."""
    if _state.pressed:
        raise KeyboardInterrupt


@contextmanager
def stoppable(words: Callable[[], str] = lambda: WORDS) -> Iterator[None]:
    """A block that Ctrl-C ends with one line; an error that follows from it is not shown."""
    try:
        yield
        check_interrupt()
    except (Exception, KeyboardInterrupt) as error:
        if not (_state.pressed or isinstance(error, KeyboardInterrupt)):
            raise
        raise stop(words()) from None


def stop(words: str = WORDS) -> SystemExit:
    """Print the line, once, and give the end of the process to raise."""
    if _state.pressed:  # nobody shall interrupt the tidying up, which is short
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not _state.told and sys.stderr is not None:
        print(f"stopped; {words}.", file=sys.stderr)
        _state.told = _state.pressed
    return SystemExit(INTERRUPTED)


def interrupted() -> bool:
    """Whether Ctrl-C was pressed."""
    return _state.pressed


def _press(number: int, frame: FrameType | None) -> None:
    _state.pressed = True
    raise KeyboardInterrupt


def _silent(lost: Any) -> None:
    """Where Python can only report an error: the interrupt needs no report, since it is remembered."""
    if not (_state.pressed and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
