"""How well `cover` serves trees that did not guide it, by the functions of tests/quality.py; prints a table."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.data import table_path
from tests.engine.test_quality import OTHERS, SMALL
from tests.quality import agreement, bootstrap, halves, measured

from leafcover.table.io import read

SPLITS, KEYS = 5, 3


def row(name, found, floors):
    agree, accuracy, link = (np.array([getattr(q, f) for q in found]) for f in ("agreement", "accuracy", "linkage"))
    return (
        f"| {name} | {agree.mean():.3f} ({agree.min():.3f} to {agree.max():.3f}) | {np.mean(floors):.3f} "
        f"| {accuracy.mean():.3f} | {link.mean():.3f} |"
    )


def main():
    print("| table | agreement (lowest to highest) | floor | accuracy | linkage |\n|---|---|---|---|---|")
    table = read(table_path("adult"))
    found, floors, other_floors = [], [], []
    for seed in range(SPLITS):
        train, test = halves(table, 22_000, seed)
        rng = np.random.default_rng(seed)
        sample = bootstrap(train, rng)
        floors.append(agreement(train, sample, test, "income", 50)[0])
        other_floors += [agreement(train, sample, test, name, 50)[0] for name in OTHERS]
        for key in range(KEYS):
            given = {"min_leaf": 50, "others": OTHERS, "comparisons": 40_000_000}
            found.append(measured(train, test, "income", 100 * seed + key, **given))
    print(row("Adult, k = 20", found, floors), flush=True)
    others = np.array([q.others for q in found])
    print(
        f"| Adult, six other targets | {others.mean():.3f} ({others.min():.3f} to {others.max():.3f}) "
        f"| {np.mean(other_floors):.3f} | | |",
        flush=True,
    )
    for name, (target, drop) in SMALL.items():
        table = read(table_path(name), drop=drop)
        found, floors = [], []
        for seed in range(SPLITS):
            train, test = halves(table, 0.7, seed)
            rng = np.random.default_rng(seed)
            floors += [agreement(train, bootstrap(train, rng), test, target, 50)[0] for _ in range(4)]
            found += [measured(train, test, target, 100 * seed + key, min_leaf=50, k=10) for key in range(KEYS)]
        print(row(f"{name}, k = 10", found, floors), flush=True)


if __name__ == "__main__":
    main()
