"""Slow, obvious twins of the fast array functions: written to be read, compared on small tables."""

from collections import Counter
from statistics import NormalDist

import numpy as np


def shuffle(label, words):
    """Sort each cell's rows by their word; the i-th row of the cell takes from the i-th of that order."""
    source = [None] * len(label)
    for cell in set(label):
        rows = [i for i, c in enumerate(label) if c == cell]
        for row, other in zip(rows, sorted(rows, key=lambda i: (words[i], i)), strict=True):
            source[row] = other
    return source


def has_majority_value(label, values, share):
    found = []
    for i, cell in enumerate(label):
        mates = [v for v, c in zip(values, label, strict=True) if c == cell]
        found.append(mates.count(values[i]) >= share * len(mates))
    return found


def detective_law(cells, groups, p):
    """The law of DETECTIVE, leaf by leaf, from lists of values; siblings are leaves of the same group."""
    laws = []
    for i, values in enumerate(cells):
        siblings = [j for j in range(len(cells)) if j != i and groups[j] == groups[i] and groups[i] >= 0 and cells[j]]
        law = Counter()
        share = p if siblings else 0
        for value, count in Counter(values).items():
            law[value] += (1 - share) * count / len(values)
        for j in siblings:
            counts = Counter(cells[j])
            majority = min(v for v in counts if counts[v] == max(counts.values()))
            law[majority] += share / len(siblings)
        laws.append(law)
    return laws


def bounded_chances(place, size, spread, fit):
    """The probability of each point 0 .. size - 1 for a normal step rounded to whole points and made to fit."""
    normal = NormalDist()

    def mass(point):
        return normal.cdf((point + 0.5 - place) / spread) - normal.cdf((point - 0.5 - place) / spread)

    far = int(20 * spread) + 2 * size
    chances = np.zeros(size)
    for point in range(place - far, place + far + 1):
        inside = 0 <= point < size
        if fit == "redraw":
            to = point if inside else None
        elif fit == "clip":
            to = min(max(point, 0), size - 1)
        elif fit == "wrap":
            to = point % size
        else:
            to = point
            while not 0 <= to < size:
                to = -1 - to if to < 0 else 2 * size - 1 - to
        if to is not None:
            chances[to] += mass(point)
    return chances / chances.sum()
