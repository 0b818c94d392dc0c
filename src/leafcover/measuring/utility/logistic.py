"""Logistic regression by Newton's steps, with standard errors.

A tiny ridge (1e-6 a row) keeps coefficients finite where the outcome can be told without error; elsewhere it changes
the sixth digit. Steps are at most 30, halved while they make things worse.
"""

from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Floats

RIDGE = 1e-6  # times rows: the weight of the squared coefficients, halved
MOST_STEPS = 30
HALVINGS = 20
ROUNDING = 1e-12  # of the loss: no worse but for rounding
CLOSE = 1e-7  # a step that moves no coefficient further ends the search


class Fitted(NamedTuple):
    """A fitted model: what each column adds to the logarithm of the odds, how sure that is, and what is foretold."""

    coefficients: Floats
    errors: Floats  # standard errors
    probabilities: Floats  # of each row


def logistic(matrix: Floats, outcome: Floats) -> Fitted:
    """Fit outcomes of 0 and 1 on the columns of a matrix, which holds its own intercept.

    >>> found = logistic(np.ones((4, 1)), np.array([1.0, 1.0, 1.0, 0.0]))
    >>> found.probabilities.round(3).tolist(), found.errors.round(3).tolist()
    ([0.75, 0.75, 0.75, 0.75], [1.155])
    """
    rows, columns = matrix.shape
    ridge = RIDGE * rows
    found = np.zeros(columns)
    line, loss = matrix @ found, rows * float(np.log(2))
    for _ in range(MOST_STEPS):
        chance = _chance(line)
        slope = matrix.T @ (outcome - chance) - ridge * found
        step = np.linalg.solve(_curvature(matrix, chance, ridge), slope)
        for _ in range(HALVINGS):
            tried = matrix @ (found + step)
            new = _loss(tried, outcome, found + step, ridge)
            if new <= loss + ROUNDING * loss:
                break
            step = step / 2
        found, line, loss = found + step, tried, new
        if np.abs(step).max() < CLOSE:
            break
    chance = _chance(line)
    errors = np.sqrt(np.diag(np.linalg.inv(_curvature(matrix, chance, ridge))))
    return Fitted(found, errors, chance)


def _chance(line: Floats) -> Floats:
    chance: Floats = 0.5 + 0.5 * np.tanh(line / 2)
    return chance


def _curvature(matrix: Floats, chance: Floats, ridge: float) -> Floats:
    weights = chance * (1 - chance)
    curvature: Floats = matrix.T @ (matrix * weights[:, None]) + ridge * np.eye(matrix.shape[1])
    return curvature


def _loss(line: Floats, outcome: Floats, found: Floats, ridge: float) -> float:
    return float(np.logaddexp(0.0, line).sum() - outcome @ line + ridge / 2 * (found @ found))
