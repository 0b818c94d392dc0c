"""Local suppression of public tables: cells, time, and what attackers single out, by both conventions.

make suppression       writes docs/results/suppression.md
"""

import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from timing import cpu

import leafcover as lc
from leafcover.kernels import suppression as kernel
from leafcover.keyed_random import Draws
from leafcover.recode.local_suppression import suppress_cells
from leafcover.table.table import Table

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("LEAFCOVER_DATA", ROOT.parent / "shared" / "data"))
PAGE = ROOT / "docs" / "results" / "suppression.md"
SIZES = (3, 5)  # k


@dataclass(frozen=True)
class Data:
    """A table and its quasi-identifiers."""

    name: str
    file: str
    columns: tuple[str, ...]
    rows: int | None = None
    coarse: tuple[str, ...] = ()  # numbers in steps of ten


ADULT = ("age", "workclass", "education", "marital_status", "race", "sex", "native_country")
CENSUS = (
    "age",
    "sex",
    "race",
    "education",
    "marital_stat",
    "class_of_worker",
    "state_of_previous_residence",
    "country_of_birth_self",
)
TABLES = (
    Data("Adult", "adult_train.csv.gz", ADULT),
    Data("Adult, tens of years", "adult_train.csv.gz", ADULT, coarse=("age",)),
    Data("NIST, Massachusetts", "nist_ma2019.csv.gz", ("PUMA", "AGEP", "SEX", "MSP", "RAC1P", "EDU", "HISP")),
    Data("EU-SILC", "laeken_eusilc.csv", ("db040", "hsize", "age", "rb090", "pb220a", "pl030")),
    Data("Census-Income, 100,000 rows", "census_income_kdd_train.csv.gz", CENSUS[:6], rows=100_000),
    Data("Census-Income", "census_income_kdd_train.csv.gz", CENSUS),
)


def main() -> None:
    """Measure everything and write the page."""
    found = [measured(data, k) for data in TABLES for k in SIZES]
    cold = [(data.name, first_time(data)) for data in TABLES[-2:]]
    PAGE.write_text(page(found, cold), "utf-8")
    print(PAGE.read_text("utf-8"))


def read(data: Data) -> Table:
    table = lc.read(DATA / data.file)
    table = table if data.rows is None else table.take(np.arange(data.rows))
    return table.replace(
        replace(table[name], values=np.floor(table[name].values / 10) * 10, stored=None) for name in data.coarse
    )


def measured(data: Data, k: int) -> dict:
    table, columns = read(data), list(data.columns)
    suppress_cells(table.take(np.arange(200)), columns, 2)  # compile
    suppress_cells(table.take(np.arange(200)), columns, 2, missing="any")
    used, own = cpu(lambda: suppress_cells(table, columns, k), 2)
    used_any, wildcard = cpu(lambda: suppress_cells(table, columns, k, missing="any"), 2)
    drawn = suppress_cells(table, columns, k, draws=Draws(bytes(32)))
    codes, after = (codes_of(one, table, columns) for one in (table, wildcard.table))
    small = sizes(codes) < k
    print(data.name, k, used, own.cells, flush=True)
    return {
        "name": data.name,
        "rows": len(table),
        "columns": len(columns),
        "k": k,
        "unsafe": small.mean(),
        "bound": bound(codes, k),
        "greedy": greedy(table, columns, k),
        "own": sum(own.cells.values()),
        "drawn": sum(drawn.cells.values()),
        "any": sum(wildcard.cells.values()),
        "used": used,
        "used any": used_any,
        "small any": (sizes(after) < k).mean(),
        "found own": found_by_values(codes, codes_of(own.table, table, columns), small),
        "found any": found_by_values(codes, after, small),
        "found before": found_by_values(codes, codes, small),
    }


def codes_of(one: Table, original: Table, columns: list[str]) -> np.ndarray:
    """Numbers from 1 for values, 0 for missing, the same for both tables."""
    found = []
    for name in columns:
        column = original[name]
        known = np.unique(column.values[~column.missing])
        code = np.searchsorted(known, np.where(column.missing, known[0], column.values)) + 1
        found.append(np.where(one[name].missing, 0, code))
    return np.column_stack(found)


def labels(codes: np.ndarray, kept: list[int]) -> np.ndarray:
    key = np.zeros(len(codes), np.int64)
    for c in kept:
        key = key * (int(codes[:, c].max()) + 1) + codes[:, c]
    return np.unique(key, return_inverse=True)[1]


def sizes(codes: np.ndarray) -> np.ndarray:
    """The size of each row's equivalence class, where missing is a value of its own."""
    label = labels(codes, list(range(codes.shape[1])))
    return np.bincount(label)[label]


def found_by_values(codes: np.ndarray, after: np.ndarray, people: np.ndarray) -> float:
    """The share of some people that an attacker finds who knows their quasi-identifiers and nothing of others.

    Of the released rows that match a person, those with the fewest missing cells; one of them by chance.
    """
    pattern = (after == 0) @ (1 << np.arange(codes.shape[1]))
    share, open_ = np.zeros(len(codes)), people & (codes > 0).all(axis=1)
    people = open_.copy()
    by_size: dict[int, list[int]] = {}
    for one in np.unique(pattern).tolist():
        by_size.setdefault(one.bit_count(), []).append(one)
    for _, some in sorted(by_size.items()):
        count, own = np.zeros(len(codes), np.int64), np.zeros(len(codes), np.bool_)
        for one in some:
            kept = [c for c in range(codes.shape[1]) if not one >> c & 1]
            label = labels(codes, kept)
            count += np.bincount(label[pattern == one], minlength=label.max() + 1)[label]
            own |= pattern == one
        share += np.where(open_ & own, 1 / np.maximum(count, 1), 0)
        open_ &= count == 0
    return float(share[people].mean())


def greedy(table: Table, columns: list[str], k: int) -> int:
    """Cells of the greedy search with which ours begins; the tests have its slow twin."""
    sweep, improved = kernel._sweep, kernel._improved
    kernel._sweep = lambda *given, deep, least=0.0: sweep(*given, deep=deep, least=np.inf if deep else 1.0)
    kernel._improved = lambda _, choice, *__: choice
    try:
        return sum(suppress_cells(table, columns, k).cells.values())
    finally:
        kernel._sweep, kernel._improved = sweep, improved


def bound(codes: np.ndarray, k: int) -> float | None:
    """No suppression takes fewer cells: each class is paid for by its rows that were in too small a class before.

    A class with a set of columns suppressed has at least k rows, and at most u of them were in too small a class, where
    u counts such rows that agree in the other columns. So each of these pays for max(1, k / u) rows at least.
    """
    if not codes.all():
        return None  # missing cells cost nothing
    unsafe, least = sizes(codes) < k, np.full(len(codes), np.inf)
    for columns in range(1, 1 << codes.shape[1]):
        label = labels(codes, [c for c in range(codes.shape[1]) if not columns >> c & 1])
        paying = np.maximum(np.bincount(label, unsafe), 1)
        price = np.where(np.bincount(label) >= k, columns.bit_count() * np.maximum(1, k / paying), np.inf)
        least = np.minimum(least, price[label])
    return float(least[unsafe].sum())


def first_time(data: Data) -> float:
    """CPU seconds of a new process that compiles all kernels and suppresses, without starting and reading."""
    words = [sys.executable, __file__, str([one.name for one in TABLES].index(data.name))]
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            words, check=True, capture_output=True, text=True, env=os.environ | {"NUMBA_CACHE_DIR": folder}
        )
    return float(run.stdout)


def page(found: list[dict], cold: list[tuple[str, float]]) -> str:
    lines = [HEAD]
    lines += [
        f"| {f['name']} | {f['rows']:,} × {f['columns']} | {f['k']} | {f['unsafe']:.1%} | {_count(f['bound'])} "
        f"| {f['greedy']:,} | {f['own']:,} | {f['drawn']:,} | {f['own'] / f['rows'] / f['columns']:.1%} "
        f"| {f['used']:.2f} |"
        for f in found
    ]
    times = ", ".join(f"{seconds:.1f} for {name}" for name, seconds in cold)
    lines += [
        "",
        f"In a new installation, which compiles the kernels, k = 5 takes in CPU seconds: {times}.",
        "",
        SECOND,
    ]
    lines += [
        f"| {f['name']} | {f['k']} | {f['own']:,} | {f['any']:,} | {f['unsafe']:.2%} | {f['small any']:.2%} "
        f"| {f['found before']:.1%} | {f['found any']:.1%} | {f['found own']:.1%} | {f['used any']:.2f} |"
        for f in found
    ]
    return "\n".join([*lines, "", f"Python {platform.python_version()}, {platform.machine()}.\n"])


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


HEAD = """# Local suppression

Made by `make suppression`: cells of quasi-identifiers that become missing until every equivalence class has k rows, if
they are suppressed as few as possible, all at the same cost. *In small classes*: rows that need it. *No fewer than*: a
lower bound that no suppression can go below; it exists where no value is missing. *Greedy* suppresses one set of
columns after the other, the cheapest first, in all rows that are safe with it. *Ours* begins there, and moves rows to
cheaper classes until nothing is saved. Equal rows lose the same cells, or a key decides (*with a key*).

| table | size | k | in small classes | no fewer than | greedy | ours | with a key | of all cells | CPU s |
|---|---|---|---|---|---|---|---|---|---|"""
SECOND = """## What a missing cell is

`missing="own"` counts a missing cell as a value of its own; `missing="any"` lets it match every value, as sdcMicro and
mu-Argus do. The second takes fewer cells, and protects next to nobody. *Everybody known*: the share of rows that an
attacker narrows down to fewer than k, who knows everybody's quasi-identifiers and the method. He can compute what is
suppressed in whom, so the rows with the same cells missing are all that remain; by the first convention they
are at least k. *One person known*: how many of those in small classes are found by an attacker who knows one person's
quasi-identifiers and chooses the row that matches with the fewest missing cells.

| table | k | cells, own | any | everybody known: before | any | one person known: before | any | own | CPU s, any |
|---|---|---|---|---|---|---|---|---|---|"""

if __name__ == "__main__":
    if len(sys.argv) > 1:
        chosen = TABLES[int(sys.argv[1])]
        one = read(chosen)
        print(cpu(lambda: suppress_cells(one, list(chosen.columns), 5), 1)[0])
    else:
        main()
