"""A decision tree as data: flat arrays of nodes, the root first, the children of a node side by side."""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Floats


@dataclass(frozen=True)
class Attribute:
    """A column a tree may test: a number (no levels) or a category with its levels in order."""

    name: str
    levels: tuple[str, ...] = ()
    is_number: bool = True


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in breadth-first order; child b of node i is node ``first[i] + b``.

    A number is tested by ``value <= cut`` (child 0) against ``value > cut`` (child 1); a category has
    one child per level, in level order. A kd tree has no target and the one class "rows".
    """

    target: str
    classes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    tested: Array  # (nodes,) int32: index of the attribute tested, -1 at a leaf
    cut: Floats  # (nodes,) the cut of a number, nan elsewhere; a value of the data (a kd tree's may stand between two)
    first: Array  # (nodes,) int32: the first child, -1 at a leaf
    branches: Array  # (nodes,) int32: how many children, 0 at a leaf
    parent: Array  # (nodes,) int32: -1 at the root
    counts: Floats  # (nodes, classes) weighted training rows of each class
    label: Array  # (nodes,) int32: the class a leaf answers; an empty leaf answers its parent's
    errors: Floats  # (nodes,) weighted training errors of the node as it stands (its subtree's)
    estimate: Floats  # (nodes,) pessimistic errors of the node as it stands; nan before pruning

    @property
    def size(self) -> int:
        """All nodes, empty leaves included: C4.5's count."""
        return len(self.tested)

    @property
    def answers(self) -> bool:
        """Whether leaves answer a class; those of a kd tree only hold rows together."""
        return bool(self.target)

    @property
    def is_leaf(self) -> Array:
        """Which nodes are leaves."""
        return self.tested < 0

    @property
    def leaves(self) -> Array:
        """The node numbers of the leaves."""
        return np.flatnonzero(self.tested < 0)
