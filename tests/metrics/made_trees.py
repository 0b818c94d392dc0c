"""Trees written down by hand: ``("x", 5.0, left, right)``, ``("job", {level: child, ...})``, or a leaf ``"class"``."""

import numpy as np

from leafcover.tree.tree import Attribute, Tree


def made(nested, classes=("a", "b"), rows=10.0, target="class"):
    """A tree of such tuples; every leaf has as many training rows, all of its class."""
    nodes, parents, waiting = [], [], [(nested, -1)]
    while waiting:
        node, parent = waiting.pop(0)
        parents.append(parent)
        nodes.append(node)
        waiting += [(child, len(nodes) - 1) for child in _children(node)]
    attributes = {}
    for node in nodes:
        if not isinstance(node, str):
            levels = tuple(node[1]) if isinstance(node[1], dict) else ()
            attributes[node[0]] = Attribute(node[0], levels, not levels)
    order = sorted(attributes)
    first, next_child = [], 1
    for node in nodes:
        first.append(next_child if _children(node) else -1)
        next_child += len(_children(node))
    counts = np.zeros((len(nodes), len(classes)))
    for number in range(len(nodes) - 1, -1, -1):
        if isinstance(nodes[number], str):
            counts[number, classes.index(nodes[number])] = rows
        if parents[number] >= 0:
            counts[parents[number]] += counts[number]
    size = len(nodes)
    return Tree(
        target=target,
        classes=tuple(classes),
        attributes=tuple(attributes[name] for name in order),
        tested=np.array([-1 if isinstance(n, str) else order.index(n[0]) for n in nodes], np.int32),
        cut=np.array([n[1] if not isinstance(n, str) and not isinstance(n[1], dict) else np.nan for n in nodes], float),
        first=np.array(first, np.int32),
        branches=np.array([len(_children(n)) for n in nodes], np.int32),
        parent=np.array(parents, np.int32),
        counts=counts,
        label=counts.argmax(axis=1).astype(np.int32),
        errors=np.zeros(size),
        estimate=np.zeros(size),
    )


def _children(node):
    if isinstance(node, str):
        return []
    return list(node[1].values()) if isinstance(node[1], dict) else list(node[2:])
