"""What every test may use."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.survey.postgresql import Server, programs


@pytest.fixture(scope="session", autouse=True)
def kernels_compiled_once(tmp_path_factory):
    """Where two processes run tests, one compiles a kernel and the other waits for it: together they take minutes."""
    if "PYTEST_XDIST_WORKER" not in os.environ or sys.platform == "win32":
        yield
        return
    import fcntl

    from numba.core.dispatcher import Dispatcher

    shared = tmp_path_factory.getbasetemp().parent
    compiled = Dispatcher.compile

    def compiled_in_turn(self, signature):
        if self._cache.cache_path is None:  # compiled within another kernel
            return compiled(self, signature)
        with (shared / f"{self.py_func.__module__}.{self.py_func.__name__}.lock").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            return compiled(self, signature)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compiled_in_turn)
        yield


@pytest.fixture(scope="session")
def shared():
    """The path of a table that may not ship: in $LEAFCOVER_DATA, else in ../shared/data; skips when in neither."""

    def find(name: str) -> Path:
        beside = Path(__file__).resolve().parents[2] / "shared" / "data"
        for folder in (os.environ.get("LEAFCOVER_DATA"), beside):
            if folder and (path := Path(folder) / name).exists():
                return path
        return pytest.skip(f"The table {name} may not ship. Put it into $LEAFCOVER_DATA to run this test.")

    return find


@pytest.fixture(scope="session")
def postgresql():
    """A real PostgreSQL server, stopped when the tests end."""
    pytest.importorskip("psycopg", reason="needs the package psycopg: make test installs it")
    if (found := programs()) is None:
        pytest.skip("needs a PostgreSQL server: make postgresql installs it")
    server = Server(found)
    yield server
    server.stop()


def browser_path():
    """The browser that pages are opened in, if any: without windows of its own chromium takes half of the CPU time."""
    named = os.environ.get("LEAFCOVER_BROWSER")
    return named or shutil.which("chromium-headless-shell") or shutil.which("chromium")


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window; per module, since it holds the thread's event loop while it is open."""
    driver = pytest.importorskip("playwright.sync_api", reason="needs the package playwright: make test installs it")
    path = browser_path()
    if path is None:
        pytest.skip("needs chromium to open pages: make browser installs it, or name one in $LEAFCOVER_BROWSER")
    with driver.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()
