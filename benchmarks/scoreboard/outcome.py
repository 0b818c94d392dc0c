"""What a method gives for one split of the table."""

from dataclasses import dataclass

from leafcover.engine.run import Release
from leafcover.table.table import Table


@dataclass(frozen=True, eq=False)
class Split:
    """The rows that are released and the rows that are set aside, drawn by a seed."""

    seed: int
    train: Table
    test: Table


@dataclass(frozen=True, eq=False)
class Outcome:
    """A release of ours, a table of somebody's, or nothing but a model's answers."""

    cpu: float  # seconds of the method alone, tables read already
    release: Release | None = None  # ours: how it was made is known
    table: Table | None = None  # made by other means
    paired: bool = True  # row i of the table is the person in row i of the training rows
    answers: Table | None = None  # to the test rows, one column a target; no table leaves
    gigabytes: float = 0.0  # peak memory of a process of its own


class CouldNot(Exception):
    """A method that cannot be run here; the page says so and goes on."""
