"""CPU seconds of a forest of 60 trees compared with 60 times one tree, in one run.

Run as a script it prints the table of `text`.
"""

import numpy as np
import pandas as pd
from timing import cpu

TREES = 60
MIN_RECORDS = 10  # minimum rows of a leaf, for both
LARGE = 1_000_000


def measured(name, table, target, times):
    from leafcover.tree.c45 import grow
    from leafcover.tree.predict import votes
    from leafcover.tree.sysfor import grow_forest

    one, _ = cpu(lambda: grow(table, target=target, min_records=MIN_RECORDS), times)
    forest, trees = cpu(lambda: grow_forest(table, target=target, n_trees=TREES, min_records=MIN_RECORDS), times)
    answered, _ = cpu(lambda: votes(trees, table), times)
    return {
        "name": name, "trees": len(trees), "one": one, "forest": forest, "answered": answered,
        "grown from": int(trees[0].counts[0].sum()),
    }  # fmt: skip


def results(tables):
    """Adult and a large table, with kernels compiled first; ``tables`` returns the folder for a number of rows."""
    from leafcover.table.frames import from_frame
    from leafcover.table.io import read, sample

    adult = read(sample("adult"))
    measured("", adult.take(np.arange(3000)), "income", 1)
    large = from_frame(pd.read_parquet(tables(LARGE) / "train.parquet"))
    return [measured("Adult, 32,561 × 14", adult, "income", 3), measured(f"{LARGE:,} × 16", large, "y", 1)]


def text(found):
    """A section for the page of results."""
    lines = [
        f"## A forest of {TREES} trees",
        "",
        "SysFor with its defaults beside C4.5 with as many records a leaf (10). Incomplete rows are dropped, and of "
        "more than 200,000 a forest grows from so many evenly spaced; the one tree of the large table is grown from "
        "histograms of all rows. *Answering* is the vote of all trees on all rows.",
        "",
        f"| table | rows grown from | trees | one tree | {TREES} × one | forest | forest / {TREES} × one | answering |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {f['name']} | {f['grown from']:,} | {f['trees']} | {f['one']:.3f} | {TREES * f['one']:.1f} "
        f"| {f['forest']:.1f} | {f['forest'] / (TREES * f['one']):.2f} | {f['answered']:.1f} |"
        for f in found
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from run import tables

    print(text(results(tables)))
