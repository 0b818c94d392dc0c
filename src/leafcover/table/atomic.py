"""An output appears whole or not at all: written beside its place, synced, renamed."""

import contextlib
import errno
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from leafcover.errors import OutputError

StageFile: TypeAlias = Callable[[Path, bool], Path]  # of a place, and whether it is private: the file to write to

NO_SPACE_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PERMISSION_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def atomic_write(path: str | Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """A file to write to that becomes ``path`` when the block ends well, and vanishes when it does not.

    ``private`` gives it mode 0600 (where the system has modes), from its first byte on. A link stays a link: the file
    it points at is replaced.
    """
    check_output_path(Path(path), force=force)
    target = Path(os.path.realpath(path))
    part = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
    try:
        # Exclusive, so that nobody's file is followed; the system's mask decides the mode of a public file.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
        yield part
        _sync(part)
        # Between the check above and now another program may have written the target.
        check_output_path(target, force=force)
        part.replace(target)
    except OSError as error:
        raise _output_error(Path(path), error) from error
    finally:
        with defer_sigint(), contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every file system can sync a directory
        _sync(target.parent)


@contextmanager
def atomic_group(*, force: bool = False) -> Iterator[StageFile]:
    """Several outputs that appear all or none, the first one asked for last: Ctrl-C cannot come between them."""
    with ExitStack() as after, ExitStack() as parts:

        def part(path: Path, private: bool) -> Path:
            return parts.enter_context(atomic_write(path, force=force, private=private))

        yield part
        after.enter_context(defer_sigint())


@contextmanager
def defer_sigint() -> Iterator[None]:
    """A short block that Ctrl-C does not break: it takes effect when the block has ended."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    pressed: list[Any] = []
    signal.signal(signal.SIGINT, lambda *got: pressed.append(got))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def check_output_path(target: Path, *, force: bool) -> None:
    """Say no to a place that cannot be written to: before the work is done, not after."""
    if target == Path("-"):
        raise OutputError(
            "Output '-' is no file name, and this does not go to standard output. Give the name of a file."
        )
    if target.is_dir():
        raise OutputError(f"Output '{target}' is a directory. Give the name of a file in it.")
    if target.exists() and (not target.is_file() or _is_stream(target)):
        raise OutputError(
            f"Output '{target}' is a device or a pipe, which cannot be replaced. Give the name of a file."
        )
    if target.exists() and not force:
        raise OutputError(f"Output '{target}' exists. Add --force to overwrite it.")
    if not target.parent.is_dir():
        raise OutputError(f"Output '{target}' cannot be written: there is no directory '{target.parent}'. Create it.")


def _is_stream(target: Path) -> bool:
    """Whether a name such as /dev/stdout stands for what is open: replaced, that would be lost, be it a file."""
    parts = target.absolute().parts
    return parts[1:2] in (("proc",), ("dev",)) and parts[2:3] != ("shm",)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows syncs only what it may write
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _output_error(target: Path, error: OSError) -> OutputError:
    why = error.strerror or str(error).splitlines()[0]
    todo = "Choose another place"
    if error.errno in NO_SPACE_ERRNOS or error.errno is None:  # arrow tells no number
        todo = "Free the space or choose another place"
    elif error.errno in PERMISSION_ERRNOS:
        todo = "Choose a place where you may write"
    return OutputError(f"Output '{target}' cannot be written: {why}. {todo}.")
