"""How often a tree is right, from a disguised test set (Du and Zhan 2003, § 4.3).

A row counts, over all leaves, what it counts for being in the leaf with the leaf's class. Its expectation over the
coins is 1 where the tree answers the true row rightly, else 0. With one coin that is the paper's formula.
"""

import numpy as np

from leafcover.response.estimate import Estimate, of_weights
from leafcover.response.scheme import Scheme
from leafcover.response.tree.walk import answers_for, depths, right_answers
from leafcover.table.table import Table
from leafcover.tree.tree import Tree


def accuracy(tree: Tree, table: Table, scheme: Scheme) -> Estimate:
    """The share of rows that a tree answers rightly: raw, clipped, and with its errors; other rows than it grew from.

    Rows that do not answer the class and every column that the tree tests are counted apart.
    """
    found = answers_for(tree, table, scheme)
    right = np.zeros(found.rows)
    for nodes, fringe in depths(tree, found):
        leaf = np.append(tree.tested[nodes] < 0, False)[fringe.entries.node]
        counted = right_answers(fringe, tree.label[nodes])
        right += np.bincount(fringe.rows_of(leaf), counted[leaf], found.rows)
    return of_weights(right, len(table) - found.rows)
