"""Reduced-error pruning: a subtree that errs no less than a leaf would, on rows held out, becomes one."""

from collections.abc import Sequence
from dataclasses import replace

from leafcover.response.additive.nodes import Node


def pruned(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with some subtrees cut off; children stand after their parents, so one way back up is enough."""
    errors = [float(node.held.sum() - node.held[node.label]) for node in nodes]
    left = list(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if node.split is None:
            continue
        below = sum(errors[node.first : node.first + node.branches])
        if errors[number] <= below:
            left[number] = replace(node, split=None, first=-1, branches=0)
        else:
            errors[number] = below
    return left
