"""C4.5 Release 8 written to be read: lists, recursion, single precision spelled out. The twin of the kernels.

A case is (row, weight). A node is a dict; a leaf has no "attribute".
"""

import math
from itertools import pairwise

import numpy as np

from leafcover.tree.tree import Training, Tree

F = np.float32
EPSILON = 1e-3


def bits(n):
    return float(n) * (math.log(n) / math.log(2)) if n > 0 else 0.0


def information(counts):
    terms, total = F(0), F(0)
    for n in counts:
        terms = F(float(terms) + bits(n))
        total = F(total + n)
    return F(bits(total) - float(terms))


def added(numbers):
    total = F(0)
    for n in numbers:
        total = F(total + n)
    return total


def grow(training: Training, min_records: int):
    """The tree before pruning, collapse included."""
    cases = [(row, F(1)) for row in range(len(training.labels))]
    return _grow(_Table(training), cases, min_records, frozenset())


class _Table:
    """Values as C4.5 sees them: 32-bit numbers, codes of levels, None for missing."""

    def __init__(self, training):
        self.training, self.labels, self.classes = training, training.labels, len(training.classes)
        self.columns = []
        for attribute, column in zip(training.attributes, training.columns, strict=True):
            if attribute.is_number:
                self.columns.append([None if math.isnan(v) else F(v) for v in column])
            else:
                self.columns.append([None if v < 0 else int(v) for v in column])

    def is_number(self, a):
        return self.training.attributes[a].is_number

    def levels(self, a):
        return len(self.training.attributes[a].levels)

    def counts(self, cases):
        sums = [F(0)] * self.classes
        for row, weight in cases:
            sums[self.labels[row]] = F(sums[self.labels[row]] + weight)
        return sums


def _leaf(counts, label, items):
    return {"counts": counts, "label": label, "items": items, "errors": F(items - counts[label])}


def _grow(table, cases, least, used):
    items, counts = added(w for _, w in cases), table.counts(cases)
    label = max(range(table.classes), key=lambda c: (counts[c], -c))
    node = _leaf(counts, label, items)
    if counts[label] == items or items < 2 * least:
        return node
    scores = [
        score_number(table, a, cases, least)
        if table.is_number(a)
        else (F(-EPSILON), F(0), None)
        if a in used
        else score_category(table, a, cases, least)
        for a in range(len(table.columns))
    ]
    best = choose(table, scores)
    if best is None:
        return node
    cut = scores[best][2]
    below = used if table.is_number(best) else used | {best}
    children = []
    for part in deal(table, best, cut, cases):
        empty = _leaf([F(0)] * table.classes, label, F(0))
        children.append(_grow(table, part, least, below) if part else empty)
    errors = added(child["errors"] for child in children)
    if errors >= float(node["errors"]) - EPSILON:
        return node
    return node | {"attribute": best, "cut": cut, "children": children, "errors": errors}


def branch_of(table, a, cut, row):
    value = table.columns[a][row]
    if value is None:
        return None
    return int(value > cut) if table.is_number(a) else value


def deal(table, a, cut, cases):
    """The cases of each branch in row order; unknown ones in every branch that has known ones."""
    forks = 2 if table.is_number(a) else table.levels(a)
    taken = [branch_of(table, a, cut, row) for row, _ in cases]
    known = [added(w for (_, w), t in zip(cases, taken, strict=True) if t == b) for b in range(forks)]
    total = added(w for (_, w), t in zip(cases, taken, strict=True) if t is not None)
    parts = []
    for b in range(forks):
        part = [
            (row, weight if t == b else F(weight * F(known[b] / total)))
            for (row, weight), t in zip(cases, taken, strict=True)
            if t in (b, None)
        ]
        parts.append(part if b in taken else [])
    return parts


def score_category(table, a, cases, least):
    values = table.columns[a]
    groups = [[c for c in cases if values[c[0]] == v] for v in (None, *range(table.levels(a)))]
    counts = [table.counts(group) for group in groups]
    parts = [added(row) for row in counts]
    if sum(part >= least for part in parts[1:]) < 2:
        return F(-EPSILON), F(0), None
    items = added(w for _, w in cases)
    known = F(items - parts[0])
    by_class = [added(row[c] for row in counts[1:]) for c in range(table.classes)]
    base = F((bits(known) - sum(bits(n) for n in by_class)) / float(known))
    rest = F(added(information(row) for row in counts[1:]) / known)
    gain = F(F(F(1) - F(parts[0] / items)) * F(base - rest))
    return gain, F(information(parts) / items), None


def score_number(table, a, cases, least):
    values, nothing = table.columns[a], (F(-EPSILON), F(0), None)
    items = added(w for _, w in cases)
    unknown = added(table.counts([c for c in cases if values[c[0]] is None]))
    known = F(items - unknown)
    if known < 2 * least:
        return nothing
    line = sorted((c for c in cases if values[c[0]] is not None), key=lambda c: values[c[0]])
    low, high = [F(0)] * table.classes, table.counts(line)
    base = F(information(high) / known)
    share = F(F(1) - F(1 - float(F(known / items))))
    side = min(max(F(0.1 * float(known) / table.classes), F(least)), max(F(25), F(least)))
    below, tries = F(0), []
    for (row, weight), (after, _) in pairwise(line):
        c = table.labels[row]
        low[c], high[c], below = F(low[c] + weight), F(high[c] - weight), F(below + weight)
        if below < side:
            continue
        if below > F(known - side):
            break
        if float(values[row]) < float(values[after]) - 1e-5:
            rest = F(F(information(low) + information(high)) / known)
            tries.append((F(share * F(base - rest)), below, row, after))
    best, found = F(0), None
    for gain, weight, row, after in tries:
        left = F(gain - F(math.log(len(tries)) / math.log(2) / float(items)))
        if left > best:
            best, found = left, (weight, row, after)
    if found is None:
        return nothing
    weight, row, after = found
    middle = F(F(values[row] + values[after]) / F(2))
    cut = max(v for v in values if v is not None and v <= middle)
    return best, F(information([unknown, weight, F(known - weight)]) / items), cut


def choose(table, scores):
    rows = len(table.labels)
    few = [table.is_number(a) or table.levels(a) < 0.3 * rows for a in range(len(scores))]
    few = few if any(few) else [True] * len(scores)
    possible = [gain for (gain, _, _), fair in zip(scores, few, strict=True) if gain > -EPSILON and fair]
    average = F(added(possible) / F(len(possible))) if possible else F(1e6)
    best, found = F(-EPSILON), None
    for a, (gain, info, _) in enumerate(scores):
        if gain > -EPSILON and gain >= float(average) - EPSILON and info > EPSILON and F(gain / info) > best:
            best, found = F(gain / info), a
    return found


# Pruning


def upper(n, e, confidence=0.25, c=0.479556):
    """Pessimistic errors beyond the e seen among n (spec § 6.1)."""
    if e < 1e-6:
        return n * (1 - confidence ** (1 / n))
    if e < 0.9999:
        return upper(n, 0.0) + e * (upper(n, 1.0) - upper(n, 0.0))
    if e + 0.5 >= n:
        return 0.67 * (n - e)
    half = e + 0.5
    return n * (half + c / 2 + math.sqrt(c * (half * (1 - half / n) + c / 4))) / (n + c) - e


def as_leaf(table, node, cases):
    """The node as a leaf for some cases: its estimate, counts, label and weight."""
    items, counts = added(w for _, w in cases), table.counts(cases)
    label = node["label"]
    for c in range(table.classes):
        if counts[c] > counts[label]:
            label = c
    errors = F(items - counts[label])
    return {
        "counts": counts, "label": label, "items": items, "errors": errors,
        "estimate": F(errors + F(upper(float(items), float(errors)))),
    }  # fmt: skip


def estimate(table, node, cases):
    """Pessimistic errors of a subtree as it stands, for some cases."""
    if "attribute" not in node:
        return as_leaf(table, node, cases)["estimate"]
    parts = deal(table, node["attribute"], node["cut"], cases)
    pairs = zip(node["children"], parts, strict=True)
    return added(estimate(table, child, part) for child, part in pairs if part)


def prune(training: Training, node):
    return _prune(_Table(training), node, [(row, F(1)) for row in range(len(training.labels))])


def _prune(table, node, cases):
    if not cases:
        return node | {"estimate": F(0)}
    leaf = as_leaf(table, node, cases)
    if "attribute" not in node:
        return leaf
    parts = deal(table, node["attribute"], node["cut"], cases)
    children = [_prune(table, c, part) for c, part in zip(node["children"], parts, strict=True)]
    tree = added(child["estimate"] for child in children)
    taken = [branch_of(table, node["attribute"], node["cut"], row) for row, _ in cases]
    known = [added(w for (_, w), t in zip(cases, taken, strict=True) if t == b) for b in range(len(parts))]
    largest = max(range(len(parts)), key=lambda b: (F(known[b] / leaf["items"]), b))
    branch = estimate(table, children[largest], cases)
    if leaf["estimate"] <= float(branch) + 0.1 and leaf["estimate"] <= float(tree) + 0.1:
        return leaf
    if branch <= float(tree) + 0.1:
        return _prune(table, children[largest], cases)
    errors = added(child["errors"] for child in children)
    return node | leaf | {"children": children, "estimate": tree, "errors": errors}


# Comparing


def told(node):
    """A twin's tree in comparable form."""
    counts = [round(float(n), 4) for n in node["counts"]]
    if "attribute" not in node:
        return (int(node["label"]), counts)
    cut = None if node["cut"] is None else float(node["cut"])
    return (node["attribute"], cut, counts, [told(child) for child in node["children"]])


def told_tree(tree: Tree, node: int = 0):
    """The same of a Tree."""
    counts = [round(float(n), 4) for n in tree.counts[node]]
    if tree.tested[node] < 0:
        return (int(tree.label[node]), counts)
    cut = None if np.isnan(tree.cut[node]) else float(np.float32(tree.cut[node]))
    children = range(tree.first[node], tree.first[node] + tree.branches[node])
    return (int(tree.tested[node]), cut, counts, [told_tree(tree, child) for child in children])
