"""What every test may use."""

import os
from pathlib import Path

import pytest


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
