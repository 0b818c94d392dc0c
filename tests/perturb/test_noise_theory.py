"""Noise on normal numbers has the biases A, B, C and D that theory gives it; other factors are noticed.

A release has ROWS rows. A figure is a mean over RUNS releases; it is accepted within LIMIT of its standard errors. A
factor that is 20 % off, or where the bias is 0 by a fifth of that of simple additive noise, must be rejected in at
least POWER of the TRIES tries. All figures and tries are made once, with fixed keys.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from leafcover.cells import one_cell
from leafcover.keyed_random import Draws, Key
from leafcover.perturb.additive import Additive
from leafcover.perturb.base import Chunk
from leafcover.perturb.correlated_noise import Correlated
from tests.tables import number

ROWS, RUNS, TRIES = 1000, 40, 20
LIMIT, POWER = 3.5, 0.9
SPREAD = 0.8
D = SPREAD**2
AMONG, ACROSS = 0.6, 0.5  # correlations of the two changed columns, and of the first with a third that stays
METHODS = {
    "additive": Additive(SPREAD, on_grid=False),
    "correlated": Correlated(SPREAD, on_grid=False),
    "bias-corrected": Correlated(SPREAD, bias_corrected=True, on_grid=False),
}
# The bias of each type: by how much the logarithm of the standard deviation, the two correlations, and a quantile
# (5 %, in original standard deviations) change.
WIDER = np.sqrt(1 + D)
THEORY = {
    "additive": {"A": WIDER - 1, "B": AMONG * (1 / (1 + D) - 1), "C": ACROSS * (1 / WIDER - 1), "D": WIDER - 1},
    "correlated": {"A": WIDER - 1, "B": 0.0, "C": ACROSS * (1 / WIDER - 1), "D": WIDER - 1},
    "bias-corrected": {"A": 0.0, "B": 0.0, "C": ACROSS * (1 / WIDER - 1), "D": 0.0},
}
for theory in THEORY.values():
    theory["D"] *= float(norm.ppf(0.95))  # the 95 % quantile of a normal law moves by so much


def biases(method, seed):
    """The biases of one release of new normal rows, each relative to the rows themselves."""
    rng = np.random.default_rng(seed)
    x, y, s = rng.multivariate_normal(
        np.zeros(3), [[1, AMONG, ACROSS], [AMONG, 1, 0.3], [ACROSS, 0.3, 1]], ROWS, method="cholesky"
    ).T
    part = Chunk(np.arange(ROWS), (number("x", 50 + 9 * x, None), number("y", 2 * y, None)), one_cell(ROWS))
    summary = method.finalize(method.fit(part), part.cells)
    after = method.change(part, summary, Draws(Key.from_seed(seed).secret))
    new_x, new_y = (after["x"].values - 50) / 9, after["y"].values / 2

    def correlation(one, other):
        return np.corrcoef(one, other)[0, 1]

    return {
        "A": new_x.std(ddof=1) / x.std(ddof=1) - 1,
        "B": correlation(new_x, new_y) - correlation(x, y),
        "C": correlation(new_x, s) - correlation(x, s),
        "D": (np.quantile(new_x, 0.95) - new_x.mean() - np.quantile(x, 0.95) + x.mean()) / x.std(ddof=1),
    }


@cache
def tries(name):
    """For each try, the mean and its standard error of every bias."""
    runs = [biases(METHODS[name], 1000 * at + 7) for at in range(RUNS * TRIES)]
    found = {kind: np.array([run[kind] for run in runs]).reshape(TRIES, RUNS) for kind in "ABCD"}
    return {kind: (values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(RUNS)) for kind, values in found.items()}


@pytest.mark.parametrize("kind", ["A", "B", "C", "D"])
@pytest.mark.parametrize("name", METHODS)
def test_a_bias_is_that_of_theory_and_another_is_noticed(name, kind):
    mean, error = tries(name)[kind]
    true = THEORY[name][kind]
    assert abs(mean[0] - true) < LIMIT * error[0]
    assert (np.abs(mean - true) < LIMIT * error).mean() >= POWER
    off = 0.2 * THEORY["additive"][kind] if true == 0 else 0.2 * true
    for wrong in (true + off, true - off):
        assert (np.abs(mean - wrong) > LIMIT * error).mean() >= POWER, wrong


@pytest.mark.parametrize("name", METHODS)
def test_means_stay(name):
    """Over 800 releases the mean of the first column moves by nothing; a hundredth of a deviation is noticed."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, ROWS))
    part = Chunk(np.arange(ROWS), (number("x", x, None), number("y", x + y, None)), one_cell(ROWS))
    method = METHODS[name]
    summary = method.finalize(method.fit(part), part.cells)
    moved = np.array(
        [
            method.change(part, summary, Draws(Key.from_seed(seed).secret))["x"].values.mean() - x.mean()
            for seed in range(800)
        ]
    )
    error = moved.std(ddof=1) / np.sqrt(len(moved))
    assert abs(moved.mean()) < LIMIT * error
    assert abs(moved.mean() - 0.01) > LIMIT * error
