"""Disguised rows in a tree that has been grown: what they count in each of its nodes."""

from collections.abc import Iterator

import numpy as np

from leafcover.errors import PlanError, TableError
from leafcover.fast.arrays import Array, Floats
from leafcover.response.scheme import Scheme
from leafcover.response.tree.fringe import Fringe
from leafcover.response.tree.laws import Answers, answers
from leafcover.table.table import Table
from leafcover.tree.box import levels
from leafcover.tree.tree import Tree


def answers_for(tree: Tree, table: Table, scheme: Scheme) -> Answers:
    """The rows that answer the class and all columns a tree tests, in the order and with the levels of the tree."""
    used = [tree.attributes[number] for number in np.unique(tree.tested[tree.tested >= 0])]
    for attribute in used:
        if attribute.is_number:
            raise PlanError(f"The tree cuts the number {attribute.name!r}. Grow it from categories, by grow_tree.")
    wanted = {attribute.name: attribute.levels for attribute in used}
    others = tuple(text for text in scheme.levels(table, tree.target) if text not in tree.classes)
    wanted[tree.target] = tree.classes + others  # a class the tree has never met is one it gets wrong
    found = answers(table, scheme, tuple(wanted), wanted).complete()
    if not found.rows:
        asked = ", ".join(map(repr, wanted))
        raise TableError(f"No row answers all of {asked}. Test with rows that do.")
    return found


def depths(tree: Tree, found: Answers) -> Iterator[tuple[Array, Fringe]]:
    """The nodes of each depth of a tree, and the fringe of the rows in them."""
    places = np.full(len(tree.attributes) + 1, -1)
    names = [attribute.name for attribute in tree.attributes]
    for place, name in enumerate(found.names[:-1]):
        places[names.index(name)] = place
    fringe = Fringe.root(found, by_row=True)
    for nodes in levels(tree):
        yield nodes, fringe
        tested = places[tree.tested[nodes]]
        if (tested >= 0).any():
            fringe = fringe.children(tested)


def right_answers(fringe: Fringe, labels: Array) -> Floats:
    """For each entry a number whose expectation is 1 where the row is in the node and has the node's label, else 0."""
    entries, axis = fringe.entries, fringe.paths.axis(-1)
    alone, label = np.append(axis.alone, False)[entries.node], np.append(labels, 0)[entries.node]
    report = entries.codes[-1]
    counted = np.where(alone, axis.inverse[label, report], label == report)
    counted[entries.node >= fringe.nodes] = 0.0
    return counted * entries.weights.each().values
