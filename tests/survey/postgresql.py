"""A PostgreSQL server of the tests' own: made in a folder, reached through a socket there, durable as in real use."""

import os
import pwd
import select
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

SETTINGS = {
    "listen_addresses": "",  # the socket in its own folder is the only way in
    "fsync": "on",
    "max_connections": "30",
    "shared_buffers": "16MB",
}


def programs() -> Path | None:
    """The folder with the server's programs, of the newest version there is."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in folders), key=lambda path: float(path.parent.name), default=None)


class Server:
    """A running server. It refuses to run as root, so root runs it as another user."""

    def __init__(self, bin_folder: Path) -> None:
        self._programs = bin_folder
        self._numbers = count()
        # Not under pytest's folder: only its owner may enter that.
        self.folder = Path(tempfile.mkdtemp(prefix="leafcover-postgresql-"))
        self._user = _other_user() if os.getuid() == 0 else None
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._watch = self._watching()
        self._call("initdb", "--no-sync", "--auth=trust", "--username=tests", "--locale=C", "--encoding=UTF8")
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def address(self, schema: str = "public") -> str:
        """The address of a schema; with another for each test they do not see each other's tables."""
        return f"postgresql://tests@/postgres?host={quote(str(self.folder), safe='')}&options=-csearch_path%3D{schema}"

    def fresh(self) -> str:
        """The address of an empty schema."""
        import psycopg

        name = f"fresh_{next(self._numbers)}"
        with psycopg.connect(self.address()) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return self.address(name)

    def start(self) -> None:
        """Start it and wait until it answers; after a crash it first mends its files."""
        words = " ".join(f"-c {name}='{value}'" for name, value in SETTINGS.items())
        options = f"-k {self.folder} {words}"
        self._call("pg_ctl", "start", "--wait", "--silent", f"--log={self.folder / 'log'}", f"--options={options}")

    def stop(self) -> None:
        """Stop it and remove its files."""
        assert self._watch.stdin is not None
        self._watch.stdin.close()
        self._watch.wait()

    def kill(self) -> None:
        """End every process of it at once, as a failing machine would."""
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        children = [int(number) for number in Path(f"/proc/{first}/task/{first}/children").read_text().split()]
        for number in (first, *children):
            with suppress(ProcessLookupError):
                watched = os.pidfd_open(number)
                os.kill(number, signal.SIGKILL)
                select.select([watched], [], [])  # until it is gone
                os.close(watched)
        # The number of a process just ended can still seem to be that of a server.
        for lock in (self.data / "postmaster.pid", self.folder / ".s.PGSQL.5432.lock"):
            lock.unlink()

    def _watching(self) -> "subprocess.Popen[bytes]":
        """A process that stops the server when its input ends, be it that the tests were killed."""
        words = 'read _; "$0" --pgdata="$1/data" --mode=immediate --wait stop; rm -rf "$1"'
        command = ["sh", "-c", words, str(self._programs / "pg_ctl"), str(self.folder)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, **self._alone)

    def _call(self, program: str, *words: str) -> None:
        command = [str(self._programs / program), f"--pgdata={self.data}", *words]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, **self._alone)

    @property
    def _alone(self) -> dict[str, Any]:
        """How its programs run: as its user, and without a pipe, which the server would hold open."""
        who = {} if self._user is None else {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        return {"cwd": "/", "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **who}


def _other_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")
