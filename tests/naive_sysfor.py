"""SysFor written to be read: good attributes from lists of cases, and trees below forced tests by the twin of C4.5.

A case is (row, weight); a good test is (attribute, middle, ratio), its middle None for a category.
"""

import math
from itertools import pairwise

import numpy as np

from leafcover.tree.tree import Training
from tests import naive_tree as tree

NEARLY = 1e-9


def values_of(training, a):
    """32-bit numbers as C4.5 reads them, or codes; None for missing."""
    column = training.columns[a]
    if training.attributes[a].is_number:
        return [None if math.isnan(v) else float(np.float32(v)) for v in column]
    return [None if v < 0 else int(v) for v in column]


def total(cases):
    return math.fsum(weight for _, weight in cases)


def entropy(weights):
    whole = math.fsum(weights)
    return -math.fsum(w / whole * math.log2(w / whole) for w in weights if w > 0)


def class_entropy(training, cases):
    weights = [
        math.fsum(w for row, w in cases if training.labels[row] == c) for c in range(len(training.classes))
    ]  # fmt: skip
    return entropy(weights)


def gain_ratio(training, known, unknown, branches):
    """Plain, without any cost; cases without a value lower the gain and are one more part."""
    whole = total(known) + total(unknown)
    after = math.fsum(total(b) / total(known) * class_entropy(training, b) for b in branches if b)
    gain = total(known) / whole * (class_entropy(training, known) - after)
    return max(round(gain / entropy([total(b) for b in (*branches, unknown)]), 12), 0.0)


def good_attributes(training: Training, cases, goodness, separation, least):
    if len({int(training.labels[row]) for row, _ in cases}) < 2:
        return []
    pool = []
    for a, attribute in enumerate(training.attributes):
        values = values_of(training, a)
        known = [case for case in cases if values[case[0]] is not None]
        unknown = [case for case in cases if values[case[0]] is None]
        if not attribute.is_number:
            branches = [[c for c in known if values[c[0]] == level] for level in range(len(attribute.levels))]
            if sum(total(b) >= least - NEARLY for b in branches) >= 2:
                pool.append((a, None, gain_ratio(training, known, unknown, branches)))
            continue
        everywhere = [v for v in values if v is not None]
        distinct = sorted({values[row] for row, _ in known})
        candidates = []
        for low, high in pairwise(distinct):
            middle = (low + high) / 2
            sides = [[c for c in known if (values[c[0]] > middle) == side] for side in (False, True)]
            if all(total(side) >= least - NEARLY for side in sides):
                candidates.append((a, middle, gain_ratio(training, known, unknown, sides)))
        while candidates:
            best = max(candidates, key=lambda c: (c[2], -c[1]))
            pool.append(best)
            span = max(everywhere) - min(everywhere)
            candidates = [c for c in candidates if abs(c[1] - best[1]) / span > separation]
    pool.sort(key=lambda good: -good[2])
    return [good for good in pool if pool[0][2] - good[2] <= goodness]


def branch_parts(training, cases, good):
    """The cases of each branch; those without the value in every branch that has others, by its share."""
    a, middle, _ = good
    values = values_of(training, a)
    number = training.attributes[a].is_number
    forks = 2 if number else len(training.attributes[a].levels)
    taken = [None if values[r] is None else int(values[r] > middle) if number else values[r] for r, _ in cases]
    whole = math.fsum(w for (_, w), t in zip(cases, taken, strict=True) if t is not None)
    parts = []
    for b in range(forks):
        inside = [case for case, t in zip(cases, taken, strict=True) if t == b]
        share = total(inside) / whole
        shared = [(row, w * share) for (row, w), t in zip(cases, taken, strict=True) if t is None]
        parts.append(inside + (shared if inside else []))
    return parts


def forced_tests(training: Training, n_trees, goodness, separation, least):
    """All lists of forced tests: of the root alone, then of the root and of each of its branches."""
    cases = [(row, 1.0) for row in range(len(training.labels))]
    roots = good_attributes(training, cases, goodness, separation, least)[:n_trees]
    lists = [[root] for root in roots] or [[]]
    for root in roots:
        parts = branch_parts(training, cases, root)
        goods = [good_attributes(training, part, goodness, separation, least) for part in parts]
        mean = sum(len(g) * total(p) for g, p in zip(goods, parts, strict=True)) / sum(map(total, parts))
        for x in range(math.floor(mean + NEARLY)):
            chosen = [g[x + 1] if x + 1 < len(g) else g[0] if g else None for g in goods]
            if any(x + 1 < len(g) for g in goods):  # else it is the tree of level 0, or nearly
                lists.append([root, *chosen])
    return lists


def forest(training: Training, n_trees, goodness, separation, least):
    """The trees, told as the twin of C4.5 tells them; one that has been there before is left out."""
    found = []
    for tests in forced_tests(training, n_trees, goodness, separation, least):
        told = tree.told(grow(training, tests, least))
        if told not in found:
            found.append(told)
        if len(found) == n_trees:
            break
    return found


def grow(training: Training, tests, least):
    """C4.5's tree below the forced tests, which are neither collapsed nor pruned."""
    table = tree._Table(training)
    cases = [(row, tree.F(1)) for row in range(len(training.labels))]
    if not tests:
        return tree.prune(training, tree.grow(training, least))
    return _forced(table, cases, tests[0], [[t] for t in tests[1:]], least, frozenset(), 0)


def _forced(table, cases, test, below, least, used, label):
    if test is None:
        if not cases:
            return tree._leaf([tree.F(0)] * table.classes, label, tree.F(0)) | {"estimate": tree.F(0)}
        return tree._prune(table, tree._grow(table, cases, least, used), cases)
    a, middle, _ = test
    cut = None if middle is None else max(v for v in table.columns[a] if v is not None and float(v) <= middle)
    node = tree.as_leaf(table, {"label": 0}, cases)
    parts = tree.deal(table, a, cut, cases)
    under = used if table.is_number(a) else used | {a}
    below = below or [[None]] * len(parts)
    children = [
        _forced(table, part, tests[0], [], least, under, node["label"])
        for part, tests in zip(parts, below, strict=True)
    ]
    return node | {"attribute": a, "cut": cut, "children": children}
