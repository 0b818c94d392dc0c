"""Slow, obvious twin of the cells where the leaves of several trees meet."""

from itertools import groupby
from math import inf


def shares(tree, table, row, node=0):
    """Every leaf (node number) that a row reaches, and its share of the row."""
    if tree.tested[node] < 0:
        return {node: 1.0}
    attribute, first = tree.attributes[tree.tested[node]], int(tree.first[node])
    column = table[attribute.name]
    if not column.missing[row]:
        if attribute.is_number:
            return shares(tree, table, row, first + int(column.values[row] > tree.cut[node]))
        level = column.levels[column.values[row]]
        if level in attribute.levels:
            return shares(tree, table, row, first + attribute.levels.index(level))
    found = {}
    for child in range(first, first + int(tree.branches[node])):
        share = tree.counts[child].sum() / tree.counts[node].sum()
        if share > 0:
            for leaf, part in shares(tree, table, row, child).items():
                found[leaf] = part * share
    return found


def place(tree, table, row):
    """The leaves of a row; single leaves sort before sets of several."""
    leaves = tuple(sorted(shares(tree, table, row)))
    return len(leaves) > 1, leaves


def tuples(table, trees):
    """The places of every row in all trees."""
    return [tuple(place(tree, table, row) for tree in trees) for row in range(len(table))]


def meeting(table, trees, min_cell, window=300):
    """Lists of rows, cell by cell."""
    rows_of = {}
    for row, stands in enumerate(tuples(table, trees)):
        rows_of.setdefault(stands, []).append(row)
    pools = []
    waiting = _pooled(sorted(rows_of), 0, rows_of, min_cell, window, pools)
    pools = pools or [[]]
    others = sorted(other for pool in pools for other in pool)
    for one in waiting:
        nearest = min(others, key=lambda other, one=one: differences(one, other), default=None)
        next(pool for pool in pools if nearest in pool or not others).append(one)
    return [sorted(row for one in pool for row in rows_of[one]) for pool in pools]


def _pooled(cells, tree, rows_of, min_cell, window, pools):
    """Pool the cells that are alike in all trees before this one; return those that wait for others."""
    if tree == len(cells[0]):
        if len(rows_of[cells[0]]) < min_cell:
            return cells
        pools.append(cells)
        return []
    waiting = []
    for _, alike in groupby(cells, key=lambda cell: cell[tree]):
        waiting += _pooled(list(alike), tree + 1, rows_of, min_cell, window, pools)
    while sum(len(rows_of[cell]) for cell in waiting) >= min_cell:
        held = [sum(len(rows_of[cell]) for cell in waiting[:end]) for end in range(len(waiting) + 1)]
        end = max(window, next(end for end in range(len(held)) if held[end] >= min_cell))
        pool, further, waiting = waiting[:1], waiting[end:], waiting[1:end]
        while sum(len(rows_of[cell]) for cell in pool) < min_cell:
            agreed = [t for t in range(len(pool[0])) if all(cell[t] == pool[0][t] for cell in pool)]
            breaks = [sum(cell[t] != pool[0][t] for t in agreed) for cell in waiting]
            pool.append(waiting.pop(breaks.index(min(breaks))))
        pools.append(pool)
        waiting += further
    return waiting


def differences(one, other):
    return sum(a != b for a, b in zip(one, other, strict=True))


def demands(tree, leaf):
    """Per attribute tested on the way to a leaf: (low, high) of a number, True for a category."""
    found = {}
    while leaf:
        above = int(tree.parent[leaf])
        attribute = tree.attributes[tree.tested[above]]
        if attribute.is_number:
            low, high = found.get(attribute.name, (-inf, inf))
            cut = float(tree.cut[above])
            found[attribute.name] = (low, min(high, cut)) if leaf == tree.first[above] else (max(low, cut), high)
        else:
            found[attribute.name] = True
        leaf = above
    return found


def row_box(table, trees, row, name):
    """What all leaves of a row leave of a column it knows: (low, high), or a set of levels."""
    asked = [demands(tree, leaf) for tree in trees for leaf in shares(tree, table, row)]
    asked = [one[name] for one in asked if name in one]
    column = table[name]
    if column.is_category:
        return {int(column.values[row])} if asked else set(range(len(column.levels)))
    return max([-inf, *(low for low, _ in asked)]), min([inf, *(high for _, high in asked)])


def cell_box(table, trees, rows, name):
    """What is left to any row of a cell that has a value; None when none has."""
    boxes = [row_box(table, trees, row, name) for row in rows if not table[name].missing[row]]
    if not boxes:
        return None
    if table[name].is_category:
        return set().union(*boxes)
    return min(low for low, _ in boxes), max(high for _, high in boxes)
