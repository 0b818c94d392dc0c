"""An output appears whole or not at all: written beside its place, synced, renamed."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leafcover.errors import OutputError


@contextmanager
def whole(path: str | Path, *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """A file to write to that becomes ``path`` when the block ends well, and vanishes when it does not.

    ``private`` gives it mode 0600 (where the system has modes), from its first byte on.
    """
    target = Path(path)
    check_place(target, force=force)
    part = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
    try:
        # Exclusive, so that nobody's file is followed; the system's mask decides the mode of a public file.
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
    except OSError as error:
        raise _said(target, error) from error
    try:
        yield part
        _sync(part)
        # Between the check above and now another program may have written the target.
        check_place(target, force=force)
        part.replace(target)
    except OSError as error:
        raise _said(target, error) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every file system can sync a directory
        _sync(target.parent)


def check_place(target: Path, *, force: bool) -> None:
    """Say no to a place that cannot be written to: before the work is done, not after."""
    if target.is_dir():
        raise OutputError(f"Output '{target}' is a directory. Give the name of a file in it.")
    if target.exists() and not force:
        raise OutputError(f"Output '{target}' exists. Add --force to overwrite it.")
    if not target.parent.is_dir():
        raise OutputError(f"Output '{target}' cannot be written: there is no directory '{target.parent}'. Create it.")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows syncs only what it may write
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _said(target: Path, error: OSError) -> OutputError:
    why = error.strerror or str(error).splitlines()[0]
    return OutputError(f"Output '{target}' cannot be written: {why}. Free the space or choose another place.")
