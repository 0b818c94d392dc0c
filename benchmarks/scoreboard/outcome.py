"""The outcome of a method on one split of the table into rows to release and rows set aside."""

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
    """A release of ours, a table from another method, or only the predictions of a model."""

    cpu: float  # CPU seconds of the method, without reading tables
    release: Release | None = None  # our release, with known plan
    table: Table | None = None  # table from another method
    paired: bool = True  # row i of the table is the person in row i of the training rows
    attacked: bool = True  # whether its disclosure risk is measured
    answers: Table | None = None  # predictions for the test rows, one column per target; no table is released
    gigabytes: float = 0.0  # peak memory of a separate process


class CouldNot(Exception):
    """A method that cannot be run here; the page says so and goes on."""
