"""CPU seconds of intersecting the leaves of a forest, compared with scoring its trees, in one run.

Run as a script it prints the table of `text`; with the folder of a table and a ``min_cell``, the peak memory in MB of a
process that reads the table, grows the forest and computes the cells.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from timing import cpu

ROWS = (100_000, 1_000_000)
TREES, GROWN = 60, 50_000  # trees, and the rows they grow from
MIN_CELLS = (1, 5, 20)
MISSING = 0.1  # share of values that are missing, in the table with missing values


def table_and_trees(folder):
    """A bench table, and a forest grown from some of its rows."""
    from leafcover.table.frames import from_frame
    from leafcover.tree.sysfor import grow_forest

    table = from_frame(pd.read_parquet(Path(folder) / "train.parquet"))
    rows = np.arange(GROWN) * len(table) // GROWN
    return table, grow_forest(table.take(rows), target="y", n_trees=TREES)


def with_missing(table):
    """The same table with some values missing."""
    from dataclasses import replace

    draws = np.random.default_rng(1)
    columns = []
    for column in table.columns[:-1]:
        gone = draws.random(len(table)) < MISSING
        new = np.where(gone, -1 if column.is_category else np.nan, column.values).astype(column.values.dtype)
        columns.append(replace(column, values=new, stored=None))
    return table.replace(columns)


def compared(table, trees, folder=None):
    """Scoring all trees, and the cells for each ``min_cell``."""
    from leafcover.partition.forest import meeting
    from leafcover.tree.predict import classify

    times = 2 if len(table) < 1_000_000 else 1
    classes = table["y"].values
    scoring, _ = cpu(lambda: [classify(tree, table) for tree in trees], times)
    found = []
    for min_cell in MIN_CELLS:
        used, made = cpu(lambda m=min_cell: meeting(table, trees, min_cell=m, classes=classes), times)
        words = [sys.executable, __file__, str(folder), str(min_cell)]
        peak = float(subprocess.run(words, check=True, capture_output=True, text=True).stdout) if folder else None
        found.append(
            {
                "rows": len(table), "trees": len(trees), "min_cell": min_cell, "scoring": scoring, "used": used,
                "cells": made.cells.count, "smallest": made.cells.smallest, "peak": peak,
            }
        )  # fmt: skip
    return found


def text(found):
    """A section for the page of results."""
    whole, gaps = found
    lines = [
        "## Where the leaves of a forest meet",
        "",
        f"{TREES} SysFor trees grown from {GROWN:,} rows. *Scoring* is one answer of every tree for every row; *cells* "
        "walks all trees and makes cells and boxes. Peak memory is that of a process that reads the table, grows the "
        "forest and makes the cells.",
        "",
        "| rows | min_cell | scoring | cells | cells / scoring | number of cells | smallest | peak memory, MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [_line(f) for f in whole]
    lines += ["", f"The same with {MISSING:.0%} of all values missing:", "", *lines[4:6], *(_line(f) for f in gaps)]
    return "\n".join(lines) + "\n"


def _line(f):
    peak = "" if f["peak"] is None else f"{f['peak']:,.0f}"
    return (
        f"| {f['rows']:,} | {f['min_cell']} | {f['scoring']:.2f} | {f['used']:.2f} | {f['used'] / f['scoring']:.1f} "
        f"| {f['cells']:,} | {f['smallest']} | {peak} |"
    )


def results(tables):
    """All measurements, with kernels compiled first; ``tables`` returns the folder of the table with that many rows."""
    whole, gaps = [], []
    for rows in ROWS:
        table, trees = table_and_trees(tables(rows))
        if not whole:
            few = table.take(np.arange(2000))
            for one in (few, with_missing(few)):
                compared(one, trees[:2])
        whole += compared(table, trees, tables(rows))
        if rows == ROWS[0]:
            gaps += compared(with_missing(table), trees)
    return whole, gaps


def peak(folder, min_cell):
    """Peak memory in MB of reading a table, growing a forest and computing the cells."""
    from leafcover.partition.forest import meeting

    table, trees = table_and_trees(folder)
    meeting(table, trees, min_cell=min_cell, classes=table["y"].values)
    return next(int(s.split()[1]) / 1024 for s in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in s)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(peak(sys.argv[1], int(sys.argv[2])))
    else:
        from run import tables

        print(text(results(tables)))
