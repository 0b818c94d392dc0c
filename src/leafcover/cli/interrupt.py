"""Ctrl-C ends every command with one line and exit code 130, at any time.

Python raises KeyboardInterrupt wherever it is executing. Compiled code may lose it (while a kernel is loaded, in a
callback) or turn it into another error. So Ctrl-C is recorded and checked for later: at every step of progress, before
anything is written, and when the command ends.
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
    """The state of this process."""

    pressed: bool = False
    told: bool = False


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
    """Handle errors that Python cannot raise: an interrupt needs no report, because it is recorded."""
    if not (_state.pressed and issubclass(lost.exc_type, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)
