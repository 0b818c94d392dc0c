"""Attacks on released counts: differencing, and averaging over the tables that a count is in.

The differencing attacker wants to know in which category a person is, and has counts that differ by this person: with
and without, or one of them from knowledge of everybody else. The attacker knows the method and the probabilities of the
noise, but not the key, and weighs each category by the probability of all that was released (Bayes). If only one
category is possible, the person is recovered with certainty.

Averaging: a count is also the sum of the cells of every other table that divides it further, each with other noise
(Asghar and Kaafar 2020). The attacker takes the mean of these sums, the more of it the fewer cells a sum has.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from leafcover.arrays import Bools, Floats, Rows
from leafcover.metrics.estimates import Estimate, Risk, risk_of, share_of

Likelihood: TypeAlias = Callable[[Rows, Rows], Floats]  # of true counts and released ones
CONFIDENT = 0.99  # the probability that the attacker gives to a category


@dataclass(frozen=True)
class Differencing:
    """How often an attacker finds the category of a person by differencing; shares of the tries."""

    certain: Risk  # no other category is possible
    confident: Risk  # the attacker gives it 99 % or more
    correct: Estimate  # it is the most probable one
    guessing: Risk  # it is the most frequent one: without the tables
    tries: int
    keys: int  # releases of the same tables, each with another key
    categories: int


@dataclass(frozen=True, eq=False)
class Inference:
    """What an attacker infers of people in one release; the true categories are known here."""

    certain: Bools
    chance: Floats  # that the attacker gives to the true category
    correct: Floats  # a part where several categories are equally probable
    guessing: Floats


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one table says of each person and category: two log-likelihoods, (tries, categories) each."""

    inside: Floats  # of the counts in question, if the person is in this category
    outside: Floats  # if not


def infer(evidence: Iterable[Evidence], shares: Floats, truth: Rows) -> Inference:
    """Infer the category of each person; ``shares`` are those of all people, and ``truth`` is each true category.

    >>> sure = Evidence(np.array([[0.0, -1.0]]), np.array([[-np.inf, -1.0]]))
    >>> found = infer([sure], np.array([0.2, 0.8]), np.array([0]))
    >>> found.certain.tolist(), found.correct.tolist(), found.guessing.tolist()
    ([True], [1.0], [0.0])
    """
    score = np.tile(np.log(shares), (len(truth), 1))
    for one in evidence:
        score = score + _scores(one)
    people = np.arange(len(truth))
    best, frequent = score == score.max(1, keepdims=True), shares == shares.max()
    weight = np.exp(score - score.max(1, keepdims=True))
    return Inference(
        certain=np.isfinite(score).sum(1) == 1,
        chance=weight[people, truth] / weight.sum(1),
        correct=best[people, truth] / best.sum(1),
        guessing=frequent[truth] / frequent.sum(),
    )


def over_keys(found: Sequence[Inference], categories: int) -> Differencing:
    """The success over releases with different keys; under one key people of the same cell have the same noise."""
    certain, chance, guessing = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("certain", "chance", "guessing")
    )
    return Differencing(
        certain=risk_of(certain.astype(np.float64)),
        confident=risk_of((chance >= CONFIDENT).astype(np.float64)),
        correct=share_of([one.correct for one in found]),
        guessing=risk_of(guessing),
        tries=len(certain),
        keys=len(found),
        categories=categories,
    )


def _scores(evidence: Evidence) -> Floats:
    """The log-likelihood of all categories' counts if the person is in each; impossible ones are counted apart."""
    gone, away = np.isneginf(evidence.inside), np.isneginf(evidence.outside)
    outside = np.where(away, 0.0, evidence.outside)
    impossible = away.sum(1, keepdims=True) - away + gone
    found = np.where(gone, 0.0, evidence.inside) + outside.sum(1, keepdims=True) - outside
    return np.where(impossible > 0, -np.inf, found)


def knowing_others(likelihood: Likelihood, others: Rows, released: Rows, same: Rows | None = None) -> Evidence:
    """Evidence for an attacker who knows how many other people are in each cell.

    ``same`` has the released count of another cell of the same other people, or -1: where cells of the same people
    have the same noise, a different count proves that the person is in the cell.
    """
    outside = likelihood(others, released)
    if same is not None:
        outside = np.where(same >= 0, same == released, outside)
    return Evidence(_log(likelihood(others + 1, released)), _log(outside))


def knowing_weights(likelihood: Likelihood, others: Rows, released: Floats, means: tuple[Floats, Floats]) -> Evidence:
    """The same for weighted counts: the mean weight of each cell with the person and without is known, too.

    A released count is a perturbed number of people, and a part of a person, times the mean weight.
    """
    with_person, without = means
    inside = likelihood(others + 1, np.rint(released / with_person).astype(np.int64))
    outside = likelihood(others, np.rint(released / without).astype(np.int64))
    return Evidence(_log(inside / with_person), _log(outside / without))


def with_and_without(
    likelihood: Likelihood, first: Rows, second: Rows, *, reach: int, same_noise: bool = False
) -> Evidence:
    """Evidence from two released tables, with the person and without, for an attacker who knows no records.

    The true counts are unknown, all equally likely. With ``same_noise`` cells of the same people have the same noise.
    """
    count = second + np.arange(-reach, reach + 1).reshape(-1, *[1] * second.ndim)
    without = likelihood(count, second)
    inside = (likelihood(count + 1, first) * without).sum(0)
    outside = np.where(first == second, without, 0.0) if same_noise else likelihood(count, first) * without
    return Evidence(_log(inside), _log(outside.sum(0)))


def _log(chances: Floats | Bools) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log(chances)


@dataclass(frozen=True)
class Averaging:
    """How well cells are estimated by averaging over all tables that divide them further."""

    cells: int
    sums: int  # for each cell, the cell itself included
    error: float  # root mean square, of the released counts
    averaged_error: float  # of the averages
    exact: float  # share of the released counts that are the true ones
    averaged_exact: float  # share of the averages that round to the true counts


def averaging(released: Rows, sums: Sequence[tuple[Rows, int]], truth: Rows) -> Averaging:
    """Average the released count of each cell with sums of other cells; each sum comes with its number of cells.

    >>> found = averaging(np.array([5, 9]), [(np.array([8, 11]), 2)], np.array([6, 10]))
    >>> found.error, found.averaged_exact
    (1.0, 1.0)
    """
    total, weight = released.astype(np.float64), 1.0
    for one, cells in sums:
        total, weight = total + one / cells, weight + 1 / cells
    mean = total / weight
    return Averaging(
        cells=len(truth),
        sums=len(sums) + 1,
        error=_root(released - truth),
        averaged_error=_root(mean - truth),
        exact=float(np.mean(released == truth)),
        averaged_exact=float(np.mean(np.rint(mean) == truth)),
    )


def _root(errors: Floats | Rows) -> float:
    return float(np.sqrt(np.mean(np.square(errors, dtype=np.float64)))) if len(errors) else 0.0


def decides_right(tables: float, variance: float) -> float:
    """How often an attacker who knows everybody else tells which of two equally likely categories a person is in.

    The person's cells are in so many tables with noise of this variance; for counts that are not small.

    >>> round(decides_right(1, 2.0), 3), round(decides_right(8, 2.0), 3)
    (0.691, 0.921)
    """
    return NormalDist().cdf(sqrt(tables / (2 * variance))) if variance > 0 else 1.0
