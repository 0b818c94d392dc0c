"""What tests of surveys may use."""

import pytest

from tests.survey.postgresql import Server, programs


@pytest.fixture(scope="session")
def postgresql():
    """A real PostgreSQL server, stopped when the tests end."""
    pytest.importorskip("psycopg", reason="needs the package psycopg: make test installs it")
    if (found := programs()) is None:
        pytest.skip("needs a PostgreSQL server: make postgresql installs it")
    server = Server(found)
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request):
    """Each kind of store."""
    return request.param


@pytest.fixture
def fresh(kind, tmp_path, request):
    """Make the address of an empty store."""
    numbers = iter(range(1_000_000))
    if kind == "postgresql":
        return request.getfixturevalue("postgresql").fresh
    return lambda: str(tmp_path / f"{next(numbers)}.sqlite")
