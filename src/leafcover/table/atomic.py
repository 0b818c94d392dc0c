"""Atomic file writes: write a temporary file in the same directory, sync it, rename it.

An output therefore appears complete or not at all, whether the program fails, is interrupted or is killed.
"""

import contextlib
import errno
import os
import secrets
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from leafcover.errors import OutputError


class StageFile(Protocol):
    """Opens an output and returns the temporary path to write to; with ``replace`` an existing file is replaced."""

    def __call__(self, path: Path, private: bool, *, replace: bool = False) -> Path:
        """The temporary path."""


NO_SPACE_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
PERMISSION_ERRNOS = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def atomic_write(path: str | Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """Yield a temporary file that replaces ``path`` when the block succeeds and is deleted when it fails.

    With ``private`` the file has mode 0600 from its first byte (on systems with modes). A symbolic link stays a link:
    the file it points to is replaced.
    """
    check_output_path(Path(path), force=force)
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
    try:
        # O_EXCL never follows an existing file or link; the umask decides the mode of a public file.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
        yield temporary
        _sync(temporary)
        # Another program may have created the target since the first check.
        check_output_path(target, force=force)
        temporary.replace(target)
    except OSError as error:
        raise _output_error(Path(path), error) from error
    finally:
        with defer_sigint(), contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # some file systems cannot sync a directory
        _sync(target.parent)


@contextmanager
def atomic_group(*, force: bool = False, remove: Iterable[Path] = ()) -> Iterator[StageFile]:
    """Write several outputs together: all of them appear, or none does.

    Yields a function that opens an output and returns its temporary path. Files are renamed in reverse order of
    opening, so the first one opened appears last; just before it, the files in ``remove`` disappear. Ctrl-C is deferred
    until all of them are renamed.
    """
    stale = list(remove)
    with ExitStack() as after, ExitStack() as writes:

        def stage(path: Path, private: bool, *, replace: bool = False) -> Path:
            found = writes.enter_context(atomic_write(path, force=force or replace, private=private))
            while stale:
                writes.enter_context(_removed(stale.pop()))
            return found

        yield stage
        after.enter_context(defer_sigint())


@contextmanager
def _removed(path: Path) -> Iterator[None]:
    """Remove a file when the block succeeds."""
    yield
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _output_error(path, error) from error


@contextmanager
def defer_sigint() -> Iterator[None]:
    """Defer Ctrl-C until the end of a short block."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield
        return
    received: list[Any] = []
    signal.signal(signal.SIGINT, lambda *arguments: received.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time write the files of a folder; others wait. On Windows none waits."""
    handle = os.open(folder, os.O_RDONLY) if os.name == "posix" else None
    try:
        if handle is not None:
            from fcntl import LOCK_EX, flock

            with contextlib.suppress(OSError):  # a file system without locks: files are replaced as a whole
                flock(handle, LOCK_EX)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def check_output_path(target: Path, *, force: bool) -> None:
    """Refuse an output path that cannot be written, before the work is done."""
    if target == Path("-"):
        raise OutputError("Output '-': writing to standard output is not supported. Give a file name.")
    if target.is_dir():
        raise OutputError(f"Output '{target}' is a directory. Give a file name inside it.")
    if target.exists() and (not target.is_file() or _is_stream(target)):
        raise OutputError(f"Output '{target}' is a device or a pipe and cannot be replaced. Give a file name.")
    if target.exists() and not force:
        raise OutputError(f"Output '{target}' already exists. Give another name, or overwrite it with force=True.")
    if not target.parent.is_dir():
        raise OutputError(
            f"Output '{target}' cannot be written: directory '{target.parent}' does not exist. Create it first."
        )


def _is_stream(target: Path) -> bool:
    """Whether a path such as /dev/stdout refers to an open stream, which must not be replaced even if it is a file."""
    parts = target.absolute().parts
    return parts[1:2] in (("proc",), ("dev",)) and parts[2:3] != ("shm",)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows syncs only writable handles
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _output_error(target: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error).splitlines()[0]
    advice = "Choose another path"
    if error.errno in NO_SPACE_ERRNOS or error.errno is None:  # pyarrow's errors have no errno
        advice = "Free some space or choose another path"
    elif error.errno in PERMISSION_ERRNOS:
        advice = "Choose a directory where you may write"
    return OutputError(f"Output '{target}' cannot be written: {reason}. {advice}.")
