"""Measure the default release of public tables and write docs/results/audit.md.

    python benchmarks/audit/run.py [--tables adult,wbc] [--splits N] [--keys N] [--fresh]

Figures of releases that the same code made before are reused. The page is written from the summaries of all tables in
docs/results/audit.json, so the tables can be measured one at a time. One process at low priority.
"""

import argparse
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from benchmarks.audit.measuring import measured, split_of
from benchmarks.audit.page import PAGE, page
from benchmarks.audit.store import Store, put_summary, summaries
from benchmarks.audit.summary import summarised
from benchmarks.audit.tables import Data, NotHere, named


def audit(data: Data, splits: int, keys: int, fresh: bool) -> None:
    """Measure the releases of a table that are not stored, and store the summary."""
    store = Store(data.name, fresh=fresh)
    table = data.read()
    for number in range(splits):
        one = None
        for key in range(keys):
            if store.has(number, key):
                continue
            began = time.process_time()
            one = one or split_of(table, data, number)
            store.put(number, key, *measured(one, key, store.common(number)))
            print(f"{data.name}, split {number}, key {key}: {time.process_time() - began:.0f} s", flush=True)
    chosen = {str(number): store.splits[str(number)] for number in range(splits)}
    put_summary(data.name, summarised(chosen, store.version))


def main() -> None:
    words = argparse.ArgumentParser(description="Measure the default release of public tables.")
    words.add_argument("--tables", default="", help="names separated by commas; all tables by default")
    words.add_argument("--splits", type=int, help="splits of each table; by default as many as the page asks for")
    words.add_argument("--keys", type=int, help="keys for each split")
    words.add_argument("--fresh", action="store_true", help="measure everything again")
    given = words.parse_args()
    os.nice(10)
    for data in named(given.tables):
        try:
            audit(data, given.splits or data.splits, given.keys or data.keys, given.fresh)
        except NotHere as reason:
            print(f"Left out: {reason}.")
            continue
        PAGE.write_text(page(summaries()), "utf-8")
    print(f"Written: {PAGE}.")


if __name__ == "__main__":
    main()
