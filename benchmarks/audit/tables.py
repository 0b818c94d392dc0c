"""The tables of the audit: where they are, what is predicted, how they are split."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from leafcover.table.io import read, sample
from leafcover.table.table import Table, without_unused_levels

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("adult", "wbc", "german_credit", "cps1985")
SMALL = 2_000  # tables with fewer rows are split more often


class NotHere(Exception):
    """A table that may not ship and was not found."""


@dataclass(frozen=True)
class Data:
    """A public table, its target and how often it is released."""

    name: str
    target: str
    file: str = ""
    drop: tuple[str, ...] = ()  # identifiers
    missing: tuple[tuple[str, str], ...] = ()  # numeric columns with a text that stands for a missing value
    unit: str = ""  # rows with the same value, such as a household, are on one side of every split; then dropped
    bins: int | None = None  # classes of a numeric target
    others: tuple[str, ...] = ()  # further columns that are predicted
    released: float = 0.7  # the share of rows, or their number, that is released; the others are the control
    splits: int = 3
    keys: int = 2
    people: int = 4_000  # attacked in a release and in its control

    def read(self) -> Table:
        """The table; raises `NotHere` if it is nowhere."""
        return read(self._path(), drop=list(self.drop), missing=dict(self.missing))

    def _path(self) -> Path:
        if self.name in SHIPPED:
            return Path(sample(self.name))
        for folder in (os.environ.get("LEAFCOVER_DATA"), ROOT.parent / "shared" / "data"):
            for ending in (".csv", ".csv.gz"):
                if folder and (path := Path(folder) / ((self.file or self.name) + ending)).exists():
                    return path
        raise NotHere(f"{self.name} may not ship and is not in $LEAFCOVER_DATA")


OTHERS = ("sex", "marital_status", "education", "occupation", "relationship", "workclass")
ADULT = Data("adult", "income", others=OTHERS, released=22_000, splits=3, keys=5, people=11_000)
NIST_OTHERS = ("SEX", "MSP", "INDP_CAT", "EDU", "PINCP_DECILE")
TABLES = (
    ADULT,
    Data("wbc", "class", drop=("sample_code_number",), splits=30, keys=1),
    Data("german_credit", "class", splits=30, keys=1),
    Data("pima_diabetes", "class", splits=30, keys=1),
    Data("credit_approval", "class", splits=30, keys=1),
    Data("nursery", "class"),
    Data("cps1985", "union", splits=30, keys=1),
    Data("eusilc", "pl030", file="laeken_eusilc", drop=("rb030", "db030")),
    Data("eusilc, by household", "pl030", file="laeken_eusilc", drop=("rb030",), unit="db030"),
    Data("casc_census", "TAXINC", bins=4, splits=30, keys=1),
    Data("census_income_kdd", "income", file="census_income_kdd_train", splits=1, keys=2),
    Data("nist_ma2019", "OWN_RENT", others=NIST_OTHERS, missing=(("PINCP", "N"), ("POVPIP", "N"))),
)


def split(table: Table, data: Data, seed: int) -> tuple[Table, Table]:
    """Rows to release, and the control; both in the order of the table."""
    if data.unit:
        units = table[data.unit].values
        distinct = np.unique(units)
        drawn = np.random.default_rng(seed).permutation(distinct)[: round(data.released * len(distinct))]
        inside = np.isin(units, drawn)
        table = table.select(name for name in table.names if name != data.unit)
    else:
        order = np.random.default_rng(seed).permutation(len(table))
        inside = np.zeros(len(table), bool)
        inside[order[: int(data.released if data.released > 1 else data.released * len(table))]] = True
    return without_unused_levels(table, np.flatnonzero(inside)), table.take(np.flatnonzero(~inside))


def named(names: str) -> Iterator[Data]:
    """The tables with these names, separated by commas; all if empty."""
    wanted = [name for name in names.split(",") if name]
    for name in wanted:
        if name not in [one.name for one in TABLES]:
            raise SystemExit(f"No table is called {name}. There are: {', '.join(one.name for one in TABLES)}.")
    yield from (one for one in TABLES if not wanted or one.name in wanted)
