"""Slow twins of randomised response, written from the words of each scheme."""

from itertools import combinations, product

import numpy as np


def probabilities(mechanism, kind):
    """The chance of every report for every truth, by going through the coins of the scheme one by one."""
    records = list(product(*(range(levels) for levels in mechanism.shape)))
    chances = np.zeros((len(records), len(records)))
    for truth in records:
        for chance, report in REPORTS[kind](mechanism, truth):
            chances[records.index(report), records.index(truth)] += chance
    return chances


def one_coin(mechanism, truth):
    yield mechanism.theta, truth
    yield 1 - mechanism.theta, tuple(1 - answer for answer in truth)


def groups(mechanism, truth):
    for tosses in product((True, False), repeat=len(mechanism.groups)):
        chance, report = 1.0, list(truth)
        for heads, group in zip(tosses, mechanism.groups, strict=True):
            chance *= mechanism.theta if heads else 1 - mechanism.theta
            for column in group:
                report[column] = truth[column] if heads else 1 - truth[column]
        yield chance, tuple(report)


def kary(mechanism, truth):
    yield mechanism.keep, truth
    for level in range(mechanism.levels):
        if level != truth[0]:
            yield (1 - mechanism.keep) / (mechanism.levels - 1), (level,)


def unrelated(mechanism, truth):
    yield mechanism.asked, truth
    yield (1 - mechanism.asked) * mechanism.alpha, (1,)
    yield (1 - mechanism.asked) * (1 - mechanism.alpha), (0,)


REPORTS = {"Warner": one_coin, "OneCoin": one_coin, "Groups": groups, "Kary": kary, "UnrelatedQuestion": unrelated}


def probabilities_of(mechanism):
    return probabilities(mechanism, type(mechanism).__name__)


def nearest(shares):
    """The nearest point of the simplex: the best over every choice of cells that stay above 0."""
    best, distance = None, np.inf
    for size in range(1, len(shares) + 1):
        for kept in combinations(range(len(shares)), size):
            point = np.zeros(len(shares))
            point[list(kept)] = shares[list(kept)] + (1 - shares[list(kept)].sum()) / size
            apart = ((point - shares) ** 2).sum()
            if point.min() >= 0 and apart < distance:
                best, distance = point, apart
    return best


def log_likelihood(counts, matrix, shares):
    expected = matrix @ shares
    seen = counts > 0
    return float((counts[seen] * np.log(expected[seen])).sum())


def likeliest_of_two(counts, matrix, points=20_001):
    """The likeliest share of level 1, on a fine grid."""
    grid = np.linspace(0, 1, points)
    return grid[np.argmax([log_likelihood(counts, matrix, np.array([1 - x, x])) for x in grid])]
