"""Real tables for tests: those that ship, and those that may not and are looked for beside the project."""

import os
from pathlib import Path

import pytest

from leafcover.table.io import sample

SHIPPED = {"wbc", "adult", "boston", "cps1985", "wine", "german_credit", "hospital"}


def table_path(name):
    """The path of a table by its name; the test is skipped, with a sentence, when it is nowhere."""
    if name in SHIPPED:
        return sample(name)
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    for folder in (os.environ.get("LEAFCOVER_DATA"), beside):
        for ending in (".csv", ".csv.gz", ""):
            if folder and (path := Path(folder) / (name + ending)).exists():
                return path
    return pytest.skip(f"The table {name} may not ship. Put it into $LEAFCOVER_DATA to run this test.")
