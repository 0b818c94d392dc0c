"""Measure every contender on splits of Adult and write docs/results/scoreboard.md with its picture.

    python benchmarks/scoreboard/run.py [--fresh] [--splits 2] [--only NAME ...] [--stored]

Earlier scores are reused (see store.py) unless --fresh, so a run can be stopped and resumed. --stored writes the page
from the scores that exist. Runs one process at low priority.
"""

import argparse
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one thread, so that CPU seconds are comparable between machines

import numpy as np
from benchmarks.scoreboard.contenders import CONTENDERS, Contender
from benchmarks.scoreboard.outcome import CouldNot, Split
from benchmarks.scoreboard.page import SPLITS, page
from benchmarks.scoreboard.picture import picture
from benchmarks.scoreboard.score import Score
from benchmarks.scoreboard.scoring import Judge
from benchmarks.scoreboard.store import Store
from benchmarks.scoreboard.summary import Summary, summarised

from leafcover.table.io import read, sample
from leafcover.table.table import Table

RELEASED = 22_000
DOCS = ROOT / "docs" / "results"


def split_of(table: Table, seed: int) -> Split:
    """22,000 rows to release, the others to test on."""
    order = np.random.default_rng(seed).permutation(len(table))
    return Split(seed, table.take(np.sort(order[:RELEASED])), table.take(np.sort(order[RELEASED:])))


def measured(contender: Contender, judge: Judge, fresh: bool) -> Score | str:
    """The score of a contender on one split, or the reason why it has no score."""
    began = time.process_time()
    try:
        found: Score | str = judge.score(contender.work(judge.split, fresh))
    except CouldNot as reason:
        found = str(reason)
    words = found if isinstance(found, str) else _words(Summary(contender, (found,)))
    print(f"{judge.split.seed} {contender.name}: {words} [{time.process_time() - began:.0f} s]", flush=True)
    return found


def _words(row: Summary) -> str:
    words = f"agreement {row.estimate('agreement').value:.3f}, others {row.estimate('others').value:.3f}"
    if not row.releases:
        return words
    most, area = row.strongest("inference"), row.strongest("area")
    return f"{words}, {most.column} {most.risk.value:.3f} by {most.attack}, area {area.risk.value:.3f} by {area.attack}"


def scores(contenders: list[Contender], splits: int, fresh: bool, stored: bool) -> list[Summary]:
    """All figures, measured or reused."""
    store, table = Store(), read(sample("adult"))
    for seed in range(0 if stored else splits):
        judge = Judge(split_of(table, seed))
        for contender in contenders:
            if fresh or not isinstance(store.get(contender, seed), Score):
                store.put(contender, seed, measured(contender, judge, fresh))
    return [summarised(one, [store.get(one, seed) for seed in range(splits)]) for one in contenders]


def main() -> None:
    words = argparse.ArgumentParser(description="Compare our recipes with other packages.")
    words.add_argument("--fresh", action="store_true", help="measure everything again")
    words.add_argument("--splits", type=int, default=SPLITS)
    words.add_argument("--only", nargs="*", help="measure only these and write no page")
    words.add_argument("--stored", action="store_true", help="measure nothing, write the page from earlier scores")
    given = words.parse_args()
    os.nice(10)
    chosen = [one for one in CONTENDERS if not given.only or one.name in given.only]
    found = scores(chosen, given.splits, given.fresh, given.stored)
    if given.only:
        return
    picture(found, DOCS / "scoreboard.svg")
    (DOCS / "scoreboard.md").write_text(page(found, given.splits), "utf-8")
    print(f"Written: {DOCS / 'scoreboard.md'} and {DOCS / 'scoreboard.svg'}.")


if __name__ == "__main__":
    main()
