"""The nodes of a tree, divided one after the other; rows held out are divided beside those that grow it."""

from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.response.additive.gini import Split, best_split
from leafcover.response.additive.sample import Coding, Sample, divided, placed_anew
from leafcover.response.additive.ways import Rules

LEAST_ROWS = 100.0  # of a class in a node: fewer reports keep the bins they had


@dataclass(frozen=True, eq=False)
class Node:
    """Counts of classes, among the growing rows and those held out; without a split it is a leaf."""

    counts: Floats
    held: Floats
    label: int
    split: Split | None = None
    first: int = -1
    branches: int = 0


def grown(growing: Sample, held: Sample, coding: Coding, rules: Rules) -> list[Node]:
    """All nodes, the root first, the children of a node side by side and after it."""
    nodes = [_leaf(growing, held, coding, label=0)]
    waiting = deque([(0, 0, growing, held)])
    while waiting:
        number, depth, growing, held = waiting.popleft()
        counts = nodes[number].counts
        if depth == rules.max_depth or np.count_nonzero(counts) < 2 or counts.sum() < 2 * rules.min_records:
            continue
        anew = rules.way == "local" and depth > 0
        if anew:
            growing = placed_anew(growing, coding, rules.stop, by_class=True, least=LEAST_ROWS)
        split = best_split(growing.tables(coding), coding.is_number, rules.min_records)
        if split is None:
            continue
        if anew:  # of rows held out, only what is tested counts
            only = (split.attribute,)
            held = placed_anew(held, coding, rules.stop, by_class=True, least=LEAST_ROWS, only=only)
        size = coding.sizes[split.attribute]
        parts = list(zip(divided(growing, split, size), divided(held, split, size), strict=True))
        nodes[number] = replace(nodes[number], split=split, first=len(nodes), branches=len(parts))
        for one, other in parts:
            waiting.append((len(nodes), depth + 1, one, other))
            nodes.append(_leaf(one, other, coding, nodes[number].label))
    return nodes


def _leaf(growing: Sample, held: Sample, coding: Coding, label: int) -> Node:
    """A leaf answers its most frequent class, and an empty one the ``label`` of its parent."""
    counts = growing.counts(coding)
    return Node(counts, held.counts(coding), int(counts.argmax()) if counts.any() else label)
