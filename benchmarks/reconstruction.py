"""How accurate reconstruction is: shares of known shapes, and the published experiment with trees.

make reconstruction        writes the figures of docs/explanation/reconstruction.md
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np
from benchmarks.agrawal import FUNCTIONS, RANGES, people

from leafcover.keyed_random import Draws, Key
from leafcover.randomized_response.additive_noise import (
    GaussianNoise,
    LaplaceNoise,
    Noisy,
    UniformNoise,
    add_noise,
    reconstruct,
)
from leafcover.randomized_response.additive_tree import grow_reconstructed
from leafcover.table.table import Column, Table
from leafcover.tree.predict import errors_on

PAGE = ROOT / "docs" / "explanation" / "reconstruction.md"
BEGIN, END = "<!-- figures: make reconstruction -->", "<!-- end of the figures -->"
DISTRIBUTIONS = (UniformNoise, GaussianNoise, LaplaceNoise)
SETTINGS = ((2_000, 60), (2_000, 20), (20_000, 50))  # reports and bins
ROUNDS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 900, 1280, 2000)
TRAINING, TEST = 100_000, 5_000  # people, as published
TRIED = ("noise ignored", "midpoints, `change`", "`change`", "`halves`", "2,000 rounds", "best round")
ALGORITHMS = ("original", "randomized", "global", "byclass", "local")

Rng = np.random.Generator


def two_bells(rng: Rng, rows: int) -> np.ndarray:
    return np.where(rng.random(rows) < 0.5, rng.normal(0.25, 0.07, rows), rng.normal(0.72, 0.09, rows))


def two_blocks(rng: Rng, rows: int) -> np.ndarray:
    return np.where(rng.random(rows) < 0.5, rng.uniform(0.1, 0.3, rows), rng.uniform(0.6, 0.9, rows))


def triangle(rng: Rng, rows: int) -> np.ndarray:
    return rng.triangular(0, 0.5, 1, rows)


def flat(rng: Rng, rows: int) -> np.ndarray:
    return rng.random(rows)


def skewed(rng: Rng, rows: int) -> np.ndarray:
    return rng.exponential(0.15, rows)


SHAPES = (two_bells, two_blocks, triangle, flat, skewed)


def errors_of_shares(shape, distribution, rows: int, bins: int, seed: int) -> list[float]:
    """Sums of absolute errors: noise ignored, for each stopping rule, at the end, and at the best of many rounds."""
    noisy = Noisy.with_privacy(1.0, 0, 1, distribution=distribution)
    truth = noisy.admitted(shape(np.random.default_rng(seed), rows))
    table = Table((Column("x", "number", truth),))
    reports = add_noise(table, {"x": noisy}, Draws(Key.from_seed(seed).secret))["x"].values
    edges = noisy.edges(bins)
    shares = np.histogram(truth, edges)[0] / rows

    def error(found: np.ndarray) -> float:
        return float(abs(found - shares).sum())

    def at(rounds: int) -> float:
        return error(reconstruct(reports, noisy, bins=bins, stop="never", most_rounds=rounds).shares)

    rules = [error(reconstruct(reports, noisy, bins=bins, stop=stop).shares) for stop in ("change", "halves")]
    midpoint = error(reconstruct(reports, noisy, bins=bins, stop="change", method="midpoint").shares)
    along = [at(rounds) for rounds in ROUNDS]
    return [error(np.histogram(reports, edges)[0] / rows), midpoint, *rules, along[-1], min(along)]


def accuracies(distribution, function: int, seed: int, rows: int) -> list[float]:
    """The accuracy of each tree on people without noise."""
    truth, test = people(rows, function, seed), people(TEST, function, seed + 1000)
    noisy = {
        n: Noisy.with_privacy(1.0, low, high, distribution=distribution, step=step)
        for n, (low, high, step) in RANGES.items()
    }
    reported = add_noise(truth, noisy, Draws(Key.from_seed(seed).secret))
    trees = [grow_reconstructed(truth, {}, target="group"), grow_reconstructed(reported, {}, target="group")]
    trees += [grow_reconstructed(reported, noisy, target="group", algorithm=algorithm) for algorithm in ALGORITHMS[2:]]
    return [1 - errors_on(tree, test) / TEST for tree in trees]


def main() -> None:
    """Run everything and write the figures into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of every shape")
    parser.add_argument("--tree-runs", type=int, default=3, help="of every function, at least 2")
    parser.add_argument("--rows", type=int, default=TRAINING, help="that grow a tree")
    asked = parser.parse_args()
    figures = f"{shares_table(asked.runs)}\n{trees_table(asked.tree_runs, asked.rows)}"
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{figures}{END}{rest.partition(END)[2]}", "utf-8")


def shares_table(runs: int) -> str:
    """Mean errors over the shapes, a row for every distribution and size."""
    lines = [
        f"Mean sum of absolute errors of the shares, over {len(SHAPES)} shapes (two bells, two blocks, a triangle, "
        f"flat, skewed) and {runs} runs each, noise of 100% of the range at 95%:",
        "",
        f"| distribution | reports, bins | {' | '.join(TRIED)} |",
        f"|---|---|{'---|' * len(TRIED)}",
    ]
    for distribution in DISTRIBUTIONS:
        for rows, bins in SETTINGS:
            found = [
                errors_of_shares(shape, distribution, rows, bins, seed) for shape in SHAPES for seed in range(runs)
            ]
            means = " | ".join(f"{mean:.2f}" for mean in np.mean(found, axis=0))
            lines.append(f"| {name_of(distribution)} | {rows:,}, {bins} | {means} |")
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def trees_table(runs: int, rows: int) -> str:
    """Mean accuracy, a row for every function and distribution."""
    lines = [
        f"Accuracy in per cent on {TEST:,} people without noise, for trees from {rows:,}, all nine columns with "
        f"noise of 100% of their range at 95%, mean of {runs} runs (deviation between runs):",
        "",
        f"| distribution | function | {' | '.join(ALGORITHMS)} |",
        f"|---|---|{'---|' * len(ALGORITHMS)}",
    ]
    for distribution in (UniformNoise, GaussianNoise):
        for function in FUNCTIONS:
            found = 100 * np.array([accuracies(distribution, function, seed, rows) for seed in range(runs)])
            lines.append(f"| {name_of(distribution)} | {function} | {' | '.join(cells(found))} |")
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def name_of(distribution) -> str:
    """The name of a distribution, as the paper writes it."""
    return distribution.__name__.removesuffix("Noise")


def cells(found: np.ndarray) -> list[str]:
    """The mean of every column with its deviation between runs, (runs, columns)."""
    return [f"{mean:.1f} ({spread:.1f})" for mean, spread in zip(found.mean(0), found.std(0, ddof=1), strict=True)]


if __name__ == "__main__":
    main()
