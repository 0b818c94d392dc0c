"""Where rows stand in a tree: their leaves, and the class it answers them.

A row whose value is missing at a test, or never met in training, takes every branch that training rows took,
each by its share. So a row stands in a *set* of leaves, mostly of one.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Codes, Floats
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.table.formatting import text_of
from leafcover.table.table import Column, Table
from leafcover.tree.training import Training, classes_of
from leafcover.tree.tree import Attribute, LeafMembership, Tree

if TYPE_CHECKING:
    from leafcover.kernels.forest_cells import LeafSets, TreeArrays


Columns = Sequence[Array]  # one array per attribute of a tree: float64 with nan, or codes of the tree's levels

_BLOCK = 8192  # rows walked at once: their values stay in the cache


def match_columns(tree: Tree, table: Table, *, tested: Collection[int] | None = None) -> tuple[Array, ...]:
    """The tree's attributes in a table, whose levels may be others: matched by their text.

    A level the tree has never met is as good as missing; an attribute the table lacks is an error only when
    the tree tests it, or when it is one of those ``tested``.
    """
    tested = set(tree.tested.tolist() if tested is None else tested)
    return tuple(
        _column_for(attribute, table)
        if number in tested or attribute.name in table.names
        else np.full(len(table), np.nan)
        for number, attribute in enumerate(tree.attributes)
    )


def _column_for(attribute: Attribute, table: Table) -> Array:
    if attribute.name not in table.names:
        raise NameUnknown("column", attribute.name, table.names)
    column = table[attribute.name]
    if attribute.is_number:
        if column.is_category:
            raise TableError(
                f"Column {attribute.name!r} is a number where the tree grew, but not every value parses here "
                f"(for instance {column.levels[0]!r}). Mend these values or mark them missing."
            )
        return column.values
    names, codes = _levels_of(column)
    if names == attribute.levels:
        return codes
    code_of = {level: code for code, level in enumerate(attribute.levels)}
    # one more place at the end: code -1, missing, finds it
    new = np.array([*(code_of.get(name, MISSING) for name in names), MISSING], np.int32)
    return new[codes]


def _levels_of(column: Column) -> tuple[tuple[str, ...], Codes]:
    """Levels and codes of any column; a number's levels are its texts."""
    if column.is_category:
        return column.levels, column.values.astype(np.int32)
    missing = column.missing
    distinct, place = np.unique(column.values[~missing], return_inverse=True)
    codes = np.full(len(column), MISSING, np.int32)
    codes[~missing] = place
    return tuple(text_of(column, distinct)), codes


def _kernel_tree(tree: Tree) -> tuple["TreeArrays", Array]:
    """The tree for kernels, and which attributes it tests."""
    from leafcover.kernels.forest_cells import TreeArrays

    used = np.unique(tree.tested[tree.tested >= 0])
    place = np.full(len(tree.attributes) + 1, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    number = np.array([*(a.is_number for a in tree.attributes), True], np.bool_)
    ways = TreeArrays(
        tested=place[tree.tested],
        is_number=number[tree.tested],
        cut=tree.cut,
        first=tree.first.astype(np.int32),
        branches=tree.branches.astype(np.int32),
        weight=tree.counts.sum(axis=1).astype(np.float32),
    )
    return ways, used


def _blocks(tree: Tree, columns: Columns, rows: int, used: Array) -> Iterator[tuple[int, Floats]]:
    """Row by row the tested values of some thousand rows at a time: (first row, values)."""
    for begin in range(0, rows, _BLOCK):
        end = min(begin + _BLOCK, rows)
        values = np.empty((end - begin, len(used)), np.float64)
        for place, a in enumerate(used):
            values[:, place] = columns[a][begin:end]
            if not tree.attributes[a].is_number:
                values[values[:, place] < 0, place] = np.nan
        yield begin, values


def _columns(tree: Tree, rows: Table | Training | Columns) -> tuple[Columns, int]:
    """One array per attribute of the tree, and how many rows there are."""
    if isinstance(rows, Table):
        return match_columns(tree, rows), len(rows)
    if isinstance(rows, Training):
        return rows.columns, len(rows.labels)
    return rows, len(rows[0]) if len(rows) else 0


def classify(tree: Tree, rows: Table | Training | Columns) -> Codes:
    """The class (code) the tree answers each row; of classes with equal weight the first."""
    from leafcover.kernels.forest_cells import SEVERAL, class_weights, find_leaves

    columns, count = _columns(tree, rows)
    ways, used = _kernel_tree(tree)
    counts, label = tree.counts.astype(np.float32), tree.label.astype(np.int32)
    answer = np.where(ways.weight > 0, counts.argmax(axis=1), label).astype(np.int32)
    classes = np.empty(count, np.int32)
    leaf = np.empty(_BLOCK, np.int32)
    for begin, values in _blocks(tree, columns, count, used):
        find_leaves(ways, values, leaf)
        found = leaf[: len(values)]
        classes[begin : begin + len(values)] = answer[found]
        several = np.flatnonzero(found == SEVERAL)
        if len(several):
            sums = class_weights(ways, counts, label, values, several)
            classes[begin + several] = sums.argmax(axis=1)
    return classes


def leaf_membership(tree: Tree, rows: Table | Training | Columns) -> LeafMembership:
    """For each row the set of leaves it reaches; the sets do not depend on the order of the rows."""
    from leafcover.kernels.forest_cells import SEVERAL, add_sets, empty_sets, find_leaves, reachable_leaves

    columns, count = _columns(tree, rows)
    ways, used = _kernel_tree(tree)
    number = np.full(tree.size, -1, np.int32)
    number[tree.leaves] = np.arange(len(tree.leaves), dtype=np.int32)
    place = np.empty(count, np.int32)
    sets = empty_sets()
    leaf = np.empty(_BLOCK, np.int32)
    for begin, values in _blocks(tree, columns, count, used):
        find_leaves(ways, values, leaf)
        found = leaf[: len(values)]
        place[begin : begin + len(values)] = number[found]
        several = np.flatnonzero(found == SEVERAL)
        if len(several):
            ends, reached = reachable_leaves(ways, values, several)
            sets, of_rows = add_sets(sets, ends, number[reached])
            place[begin + several] = len(tree.leaves) + of_rows
    return _number_sets(place, sets, len(tree.leaves))


def _number_sets(place: Codes, sets: "LeafSets", leaves: int) -> LeafMembership:
    """Number the sets of several leaves after the single leaves, by content."""
    text = sets.leaves.astype(">i4").tobytes()
    bounds = (4 * sets.start).tolist()
    keys = [text[begin:end] for begin, end in pairwise(bounds)]
    several = sorted((s for s, key in enumerate(keys) if len(key) > 4), key=keys.__getitem__)
    new = np.empty(leaves + len(keys), np.int32)
    new[:leaves] = np.arange(leaves)
    new[leaves:] = sets.leaves[sets.start[:-1]]  # right for a set of one leaf
    new[leaves + np.array(several, np.int64)] = np.arange(leaves, leaves + len(several))
    members = np.frombuffer(b"".join(keys[s] for s in several), ">i4").astype(np.int32)
    start = np.arange(leaves + len(several) + 1)
    start[leaves + 1 :] = leaves + np.cumsum([len(keys[s]) // 4 for s in several])
    return LeafMembership(new[place], start, np.concatenate([np.arange(leaves, dtype=np.int32), members]))


def training_errors(tree: Tree, training: Training) -> int:
    """How many training rows the tree, asked anew, answers wrongly."""
    return int(np.count_nonzero(classify(tree, training) != training.labels))


def errors_on(tree: Tree, table: Table) -> int:
    """How many rows of another table with a known target the tree answers wrongly.

    A class the tree has never met is always an error.
    """
    return count_errors(tree, table, classify(tree, table))


def count_errors(tree: Tree, table: Table, answers: Codes) -> int:
    """How many rows of a table with a known target got another class (a code of the tree's)."""
    names, codes = classes_of(table[tree.target])
    known = np.flatnonzero(codes != MISSING)
    code_of = {name: code for code, name in enumerate(tree.classes)}
    truth = np.array([code_of.get(name, MISSING) for name in names], np.int32)[codes[known]]
    return int(np.count_nonzero(answers[known] != truth))


def distribution(tree: Tree, rows: Table | Training | Columns) -> Floats:
    """The share of each class (rows, classes) in the leaves that a row reaches; each row sums to one.

    An empty leaf gives everything to its parent's class. The largest share is that of the class in `classify`.
    """
    from leafcover.kernels.forest_cells import SEVERAL, class_weights, find_leaves

    columns, count = _columns(tree, rows)
    ways, used = _kernel_tree(tree)
    counts, label = tree.counts.astype(np.float32), tree.label.astype(np.int32)
    answer = counts.astype(np.float64)
    empty = np.flatnonzero(ways.weight <= 0)
    answer[empty, label[empty]] = 1.0
    shares = np.empty((count, len(tree.classes)))
    leaf = np.empty(_BLOCK, np.int32)
    for begin, values in _blocks(tree, columns, count, used):
        find_leaves(ways, values, leaf)
        found = leaf[: len(values)]
        shares[begin : begin + len(values)] = answer[found]
        several = np.flatnonzero(found == SEVERAL)
        if len(several):
            shares[begin + several] = class_weights(ways, counts, label, values, several)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def leaf_of(tree: Tree, rows: Table | Training | Columns) -> Codes:
    """The node number of the leaf each row reaches; -1 for a row that reaches several, for want of a value."""
    found = leaf_membership(tree, rows)
    leaves = tree.leaves.astype(np.int32)
    alone = found.set_of_row < len(leaves)
    return np.where(alone, leaves[np.where(alone, found.set_of_row, 0)], MISSING).astype(np.int32)


# What a forest answers: its trees are asked one by one, and each has a vote.
#
# A forest is a tuple of trees with the same attributes and classes, so that they can be walked alike. It is never
# empty.


Forest: TypeAlias = Sequence[Tree]
Voting: TypeAlias = Literal["majority", "most-accurate-leaf", "combined"]

VOTING_RULES: tuple[Voting, ...] = ("majority", "most-accurate-leaf", "combined")

_FOREST_BLOCK = 65_536  # rows asked at once: shares of many classes need not stand in memory for all of them


def match_forest_columns(trees: Forest, rows: Table | Training | Columns) -> Columns:
    """One array for each attribute of the trees; of a table they are matched once for all trees."""
    if isinstance(rows, Table):
        tested = set(np.concatenate([tree.tested for tree in trees]).tolist())
        return match_columns(trees[0], rows, tested=tested)
    return rows.columns if isinstance(rows, Training) else rows


def votes(trees: Forest, rows: Table | Training | Columns) -> Floats:
    """How many trees answer each class (rows, classes): one vote a tree, so each row sums to their number."""
    return np.concatenate([_vote_counts(trees, block)[0] for block in _forest_blocks(trees, rows)])


def classify_forest(trees: Forest, rows: Table | Training | Columns, *, voting: Voting = "majority") -> Codes:
    """The class (code) that the trees answer each row together.

    "majority": the class with most votes. Of classes with equally many, the one whose trees are surer: with the
    larger sum of its shares in the leaves that voted for it (for two classes this is SysFor's own rule); then the
    first. Experimental, for the paper's own rules are known by name only: "most-accurate-leaf", the tree in whose leaf
    the share of its class is largest decides, of equal ones that with more training rows, then the earlier tree;
    "combined", the class with the largest sum of those shares, as in a tie of votes.
    """
    check_voting(voting)
    found = []
    for block in _forest_blocks(trees, rows):
        if voting == "most-accurate-leaf":
            found.append(_most_accurate_shares(trees, block).argmax(axis=1))
            continue
        ballots, sureness = _vote_counts(trees, block)
        if voting == "majority":
            sureness[ballots < ballots.max(axis=1, keepdims=True)] = -1.0
        found.append(sureness.argmax(axis=1))
    return np.concatenate(found).astype(np.int32)


def forest_shares(trees: Forest, rows: Table | Training | Columns, *, voting: Voting = "majority") -> Floats:
    """For each class what speaks for it (rows, classes), each row summing to one.

    "majority": the share of the votes; "combined": of the summed shares; "most-accurate-leaf": the shares of classes in
    that leaf.
    """
    check_voting(voting)
    found = []
    for block in _forest_blocks(trees, rows):
        if voting == "most-accurate-leaf":
            found.append(_most_accurate_shares(trees, block))
        else:
            chosen = _vote_counts(trees, block)[0 if voting == "majority" else 1]
            found.append(chosen / chosen.sum(axis=1, keepdims=True))
    return np.concatenate(found)


def forest_errors(trees: Forest, training: Training, *, voting: Voting = "majority") -> int:
    """How many training rows the trees together answer wrongly."""
    return int(np.count_nonzero(classify_forest(trees, training, voting=voting) != training.labels))


def forest_errors_on(trees: Forest, table: Table, *, voting: Voting = "majority") -> int:
    """How many rows of another table with a known target they answer wrongly."""
    return count_errors(trees[0], table, classify_forest(trees, table, voting=voting))


def _forest_blocks(trees: Forest, rows: Table | Training | Columns) -> Iterator[list[Array]]:
    """The columns of some thousand rows at a time; one empty block when there are no rows."""
    columns = match_forest_columns(trees, rows)
    if not columns and isinstance(rows, (Table, Training)):
        # no attributes, yet rows to answer: they are counted by a column that no tree tests
        columns = [np.empty(len(rows) if isinstance(rows, Table) else len(rows.labels))]
    count = len(columns[0]) if columns else 0
    for begin in range(0, max(count, 1), _FOREST_BLOCK):
        yield [column[begin : begin + _FOREST_BLOCK] for column in columns]


def _vote_counts(trees: Forest, columns: Columns) -> tuple[Floats, Floats]:
    """For each class its votes, and the sum of its shares where it won the vote (both rows, classes)."""
    shares = distribution(trees[0], columns)
    ballots, sureness, line = np.zeros_like(shares), np.zeros_like(shares), np.arange(len(shares))
    for number, tree in enumerate(trees):
        if number:
            shares = distribution(tree, columns)
        answer = shares.argmax(axis=1)
        ballots[line, answer] += 1
        sureness[line, answer] += shares[line, answer]
    return ballots, sureness


def _most_accurate_shares(trees: Forest, columns: Columns) -> Floats:
    """The shares of classes (rows, classes) in the most accurate leaf that each row reaches."""
    best: Floats = distribution(trees[0], columns)
    support = _support(trees[0], columns)
    for tree in trees[1:]:
        shares, rows = distribution(tree, columns), _support(tree, columns)
        mine, other = shares.max(axis=1), best.max(axis=1)
        better = (mine > other) | ((mine == other) & (rows > support))
        best[better], support[better] = shares[better], rows[better]
    return best


def _support(tree: Tree, columns: Columns) -> Floats:
    """The training rows in the leaves that each row reaches."""
    found = leaf_membership(tree, columns)
    held = tree.counts[tree.leaves].sum(axis=1)
    sums: Floats = np.add.reduceat(held[found.leaves], found.start[:-1])
    return sums[found.set_of_row]


def check_voting(voting: str) -> None:
    """Refuse a voting that there is not."""
    if voting not in VOTING_RULES:
        raise ValueOutOfRange("voting", voting, " or ".join(repr(name) for name in VOTING_RULES))
