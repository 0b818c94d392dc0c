"""Predictions of trees and forests, and the leaves that rows reach.

At a test, a row whose value is missing or did not occur in training follows every branch that has training rows,
weighted by the branch's share of them. So a row reaches a *set* of leaves, usually with one member.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Codes, Floats, Rows, Words
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.table.formatting import text_of
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Attribute, LeafMembership, Training, Tree, classes_of

if TYPE_CHECKING:
    from leafcover.kernels.forest_cells import TreeArrays


Columns = Sequence[Array]  # one array per attribute of a tree: float64 with nan, or codes of the tree's levels

_BLOCK = 8192  # rows processed at a time, so that their values stay in the cache


def match_columns(tree: Tree, table: Table, *, tested: Collection[int] | None = None) -> tuple[Array, ...]:
    """The columns of a table that correspond to the tree's attributes, with levels matched by their text.

    A level unknown to the tree becomes missing. An attribute that the table lacks is an error only if the tree tests it
    (or if it is in ``tested``, when given).
    """
    tested = set(tree.tested.tolist() if tested is None else tested)
    return tuple(
        column_for(attribute, table)
        if number in tested or attribute.name in table.names
        else np.full(len(table), np.nan)
        for number, attribute in enumerate(tree.attributes)
    )


def column_for(attribute: Attribute, table: Table) -> Array:
    """The column of a table that corresponds to an attribute; a level unknown to the attribute becomes missing."""
    if attribute.name not in table.names:
        raise NameUnknown("column", attribute.name, table.names)
    column = table[attribute.name]
    if attribute.is_number:
        if column.is_category:
            raise TableError(
                f"Column {attribute.name!r} was numeric in training but has values that are not numbers, "
                f"such as {column.levels[0]!r}. Fix these values or declare them missing."
            )
        return column.values
    names, codes = _levels_of(column)
    if names == attribute.levels:
        return codes
    code_of = {level: code for code, level in enumerate(attribute.levels)}
    # the extra last element is found by code -1, a missing value
    new = np.array([*(code_of.get(name, MISSING) for name in names), MISSING], np.int32)
    return new[codes]


def _levels_of(column: Column) -> tuple[tuple[str, ...], Codes]:
    """Levels and codes of any column; the levels of a number are its values as text."""
    if column.is_category:
        return column.levels, column.values.astype(np.int32)
    missing = column.missing
    distinct, place = np.unique(column.values[~missing], return_inverse=True)
    codes = np.full(len(column), MISSING, np.int32)
    codes[~missing] = place
    return tuple(text_of(column, distinct)), codes


def _kernel_tree(tree: Tree) -> tuple["TreeArrays", Array]:
    """The tree as kernel arrays, and the attributes that it tests."""
    from leafcover.kernels.forest_cells import TreeArrays

    used = np.unique(tree.tested[tree.tested >= 0])
    place = np.full(len(tree.attributes) + 1, -1, np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    number = np.array([*(a.is_number for a in tree.attributes), True], np.bool_)
    kernel_tree = TreeArrays(
        tested=place[tree.tested],
        is_number=number[tree.tested],
        cut=tree.cut,
        first=tree.first.astype(np.int32),
        branches=tree.branches.astype(np.int32),
        weight=tree.counts.sum(axis=1).astype(np.float32),
    )
    return kernel_tree, used


def _blocks(tree: Tree, columns: Columns, rows: int, used: Array) -> Iterator[tuple[int, Floats]]:
    """The tested values (rows, attributes) of some thousand rows at a time, with the number of the first row."""
    for begin in range(0, rows, _BLOCK):
        end = min(begin + _BLOCK, rows)
        values = np.empty((end - begin, len(used)), np.float64)
        for place, a in enumerate(used):
            values[:, place] = columns[a][begin:end]
            if not tree.attributes[a].is_number:
                values[values[:, place] < 0, place] = np.nan
        yield begin, values


def _columns(tree: Tree, rows: Table | Training | Columns) -> tuple[Columns, int]:
    """One array per attribute of the tree, and the number of rows."""
    if isinstance(rows, Table):
        return match_columns(tree, rows), len(rows)
    if isinstance(rows, Training):
        return rows.columns, len(rows.labels)
    return rows, len(rows[0]) if len(rows) else 0


def classify(tree: Tree, rows: Table | Training | Columns) -> Codes:
    """The class code that the tree predicts for each row; if classes tie, the first."""
    from leafcover.kernels.forest_cells import SEVERAL, class_weights, find_leaves

    columns, count = _columns(tree, rows)
    kernel_tree, used = _kernel_tree(tree)
    counts, label = tree.counts.astype(np.float32), tree.label.astype(np.int32)
    answer = np.where(kernel_tree.weight > 0, counts.argmax(axis=1), label).astype(np.int32)
    classes = np.empty(count, np.int32)
    leaf = np.empty(_BLOCK, np.int32)
    for begin, values in _blocks(tree, columns, count, used):
        find_leaves(kernel_tree, values, leaf)
        found = leaf[: len(values)]
        classes[begin : begin + len(values)] = answer[found]
        several = np.flatnonzero(found == SEVERAL)
        if len(several):
            sums = class_weights(kernel_tree, counts, label, values, several)
            classes[begin + several] = sums.argmax(axis=1)
    return classes


def leaf_membership(tree: Tree, rows: Table | Training | Columns) -> LeafMembership:
    """The set of leaves that each row reaches. The numbering of sets does not depend on the order of rows."""
    from leafcover.kernels.forest_cells import SEVERAL, find_leaves, reachable_leaves

    columns, count = _columns(tree, rows)
    kernel_tree, used = _kernel_tree(tree)
    number = np.full(tree.size, -1, np.int32)
    number[tree.leaves] = np.arange(len(tree.leaves), dtype=np.int32)
    place, found_sets = np.empty(count, np.int64), [_NO_SETS]
    leaf, sets = np.empty(_BLOCK, np.int32), 0
    for begin, values in _blocks(tree, columns, count, used):
        find_leaves(kernel_tree, values, leaf)
        found = leaf[: len(values)]
        place[begin : begin + len(values)] = number[found]
        several = np.flatnonzero(found == SEVERAL)
        if len(several):
            ends, reached, marks = reachable_leaves(kernel_tree, values, several)
            distinct, of_rows = _distinct_sets(_Sets(marks, np.append(0, ends), reached))
            place[begin + several] = len(tree.leaves) + sets + of_rows
            found_sets.append(distinct._replace(leaves=number[distinct.leaves]))
            sets += len(distinct.marks)
    return _number_sets(place, found_sets, len(tree.leaves))


class _Sets(NamedTuple):
    """Sets of leaves in the order of a walk down the tree, which is the same for every row.

    Sets with the same hash are the same (wrong with probability 2^-64).
    """

    marks: Words  # (sets,) the hash of each set
    start: Rows  # (sets + 1,) set s is leaves[start[s]:start[s + 1]]
    leaves: Codes


_NO_SETS = _Sets(np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int32))


def _distinct_sets(sets: _Sets) -> tuple[_Sets, Rows]:
    """Each set once, and which one each of the given sets is."""
    marks, first, which = np.unique(sets.marks, return_index=True, return_inverse=True)
    start, leaves = _taken(sets.start, sets.leaves, first)
    return _Sets(marks, start, leaves), which


def _taken(start: Rows, leaves: Codes, sets: Rows) -> tuple[Rows, Codes]:
    """The start of some sets in a list of their leaves, and that list."""
    sizes = np.diff(start)[sets]
    begins = np.append(0, np.cumsum(sizes))
    at = np.repeat(start[sets] - begins[:-1], sizes) + np.arange(begins[-1])
    return begins, leaves[at]


def _number_sets(place: Rows, found: Sequence[_Sets], leaves: int) -> LeafMembership:
    """Number the sets with several leaves after the single leaves, in order of their content."""
    sizes = np.concatenate([np.diff(one.start) for one in found])
    every = _Sets(
        np.concatenate([one.marks for one in found]),
        np.append(0, np.cumsum(sizes)),
        np.concatenate([one.leaves for one in found]),
    )
    sets, which = _distinct_sets(every)
    sizes = np.diff(sets.start)
    ascending = sets.leaves[np.lexsort((sets.leaves, np.repeat(np.arange(len(sizes)), sizes)))]
    text, bounds = ascending.astype(">i4").tobytes(), (4 * sets.start).tolist()
    keys = [text[begin:end] for begin, end in pairwise(bounds)]
    several = np.array(sorted(np.flatnonzero(sizes > 1).tolist(), key=keys.__getitem__), np.int64)
    new = np.empty(leaves + len(keys), np.int32)
    new[:leaves] = np.arange(leaves)
    new[leaves:] = ascending[sets.start[:-1]]  # right for a set of one leaf
    new[leaves + several] = np.arange(leaves, leaves + len(several))
    start, members = _taken(sets.start, ascending, several)
    number, single = np.append(new[:leaves], new[leaves:][which]), np.arange(leaves)
    return LeafMembership(number[place], np.append(single, leaves + start), np.append(new[:leaves], members))


def training_errors(tree: Tree, training: Training) -> int:
    """The number of training rows that the tree misclassifies."""
    return int(np.count_nonzero(classify(tree, training) != training.labels))


def errors_on(tree: Tree, table: Table) -> int:
    """The number of rows with a known target that the tree misclassifies in another table.

    A class that did not occur in training always counts as an error.
    """
    return count_errors(tree, table, classify(tree, table))


def count_errors(tree: Tree, table: Table, answers: Codes) -> int:
    """The number of rows with a known target whose predicted class code is wrong."""
    names, codes = classes_of(table[tree.target])
    known = np.flatnonzero(codes != MISSING)
    code_of = {name: code for code, name in enumerate(tree.classes)}
    truth = np.array([code_of.get(name, MISSING) for name in names], np.int32)[codes[known]]
    return int(np.count_nonzero(answers[known] != truth))


def distribution(tree: Tree, rows: Table | Training | Columns) -> Floats:
    """The class shares (rows, classes) in the leaves that each row reaches; each row sums to one.

    An empty leaf counts fully for the class of its parent. `classify` returns the class with the largest share.
    """
    from leafcover.kernels.forest_cells import SEVERAL, class_weights, find_leaves

    columns, count = _columns(tree, rows)
    kernel_tree, used = _kernel_tree(tree)
    counts, label = tree.counts.astype(np.float32), tree.label.astype(np.int32)
    answer = counts.astype(np.float64)
    empty = np.flatnonzero(kernel_tree.weight <= 0)
    answer[empty, label[empty]] = 1.0
    shares = np.empty((count, len(tree.classes)))
    leaf = np.empty(_BLOCK, np.int32)
    for begin, values in _blocks(tree, columns, count, used):
        find_leaves(kernel_tree, values, leaf)
        found = leaf[: len(values)]
        shares[begin : begin + len(values)] = answer[found]
        several = np.flatnonzero(found == SEVERAL)
        if len(several):
            shares[begin + several] = class_weights(kernel_tree, counts, label, values, several)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def leaf_of(tree: Tree, rows: Table | Training | Columns) -> Codes:
    """The node number of the leaf that each row reaches; -1 if a missing value leads to several leaves."""
    found = leaf_membership(tree, rows)
    leaves = tree.leaves.astype(np.int32)
    single = found.set_of_row < len(leaves)
    return np.where(single, leaves[np.where(single, found.set_of_row, 0)], MISSING).astype(np.int32)


# Predictions of forests. A forest is a non-empty sequence of trees with the same attributes and classes.


Forest: TypeAlias = Sequence[Tree]
Voting: TypeAlias = Literal["majority", "most-accurate-leaf", "combined"]

VOTING_RULES: tuple[Voting, ...] = ("majority", "most-accurate-leaf", "combined")

_FOREST_BLOCK = 65_536  # rows processed at a time, so that class shares are never stored for all rows


def match_forest_columns(trees: Forest, rows: Table | Training | Columns) -> Columns:
    """One array per attribute of the trees; the columns of a table are matched once for all trees."""
    if isinstance(rows, Table):
        tested = set(np.concatenate([tree.tested for tree in trees]).tolist())
        return match_columns(trees[0], rows, tested=tested)
    return rows.columns if isinstance(rows, Training) else rows


def votes(trees: Forest, rows: Table | Training | Columns) -> Floats:
    """The number of trees that predict each class (rows, classes); each row sums to the number of trees."""
    return np.concatenate([_vote_counts(trees, block)[0] for block in _forest_blocks(trees, rows)])


def classify_forest(trees: Forest, rows: Table | Training | Columns, *, voting: Voting = "majority") -> Codes:
    """The class code that the forest predicts for each row.

    "majority": the class with the most votes; if classes tie, the one with the larger sum of its shares in the leaves
    that voted for it (for two classes this is SysFor's own rule), then the first. The other two rules are experimental,
    because SysFor's authors only name them. "most-accurate-leaf": the leaf in which its class has the largest share
    decides; if leaves tie, the one with more training rows, then the earlier tree. "combined": the class with the
    largest sum of those shares.
    """
    check_voting(voting)
    found = []
    for block in _forest_blocks(trees, rows):
        if voting == "most-accurate-leaf":
            found.append(_most_accurate_shares(trees, block).argmax(axis=1))
            continue
        counts, support = _vote_counts(trees, block)
        if voting == "majority":
            support[counts < counts.max(axis=1, keepdims=True)] = -1.0
        found.append(support.argmax(axis=1))
    return np.concatenate(found).astype(np.int32)


def forest_shares(trees: Forest, rows: Table | Training | Columns, *, voting: Voting = "majority") -> Floats:
    """The support of each class (rows, classes); each row sums to one.

    "majority": the share of votes. "combined": the share of the summed class shares. "most-accurate-leaf": the class
    shares in that leaf.
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
    """The number of training rows that the forest misclassifies."""
    return int(np.count_nonzero(classify_forest(trees, training, voting=voting) != training.labels))


def forest_errors_on(trees: Forest, table: Table, *, voting: Voting = "majority") -> int:
    """The number of rows with a known target that the forest misclassifies in another table."""
    return count_errors(trees[0], table, classify_forest(trees, table, voting=voting))


def _forest_blocks(trees: Forest, rows: Table | Training | Columns) -> Iterator[list[Array]]:
    """The columns of some thousand rows at a time; one empty block if there are no rows."""
    columns = match_forest_columns(trees, rows)
    if not columns and isinstance(rows, (Table, Training)):
        # without attributes, a placeholder column that no tree tests carries the number of rows
        columns = [np.empty(len(rows) if isinstance(rows, Table) else len(rows.labels))]
    count = len(columns[0]) if columns else 0
    for begin in range(0, max(count, 1), _FOREST_BLOCK):
        yield [column[begin : begin + _FOREST_BLOCK] for column in columns]


def _vote_counts(trees: Forest, columns: Columns) -> tuple[Floats, Floats]:
    """The votes for each class, and the sum of its shares in the leaves that voted for it (both rows, classes)."""
    shares = distribution(trees[0], columns)
    counts, support, line = np.zeros_like(shares), np.zeros_like(shares), np.arange(len(shares))
    for number, tree in enumerate(trees):
        if number:
            shares = distribution(tree, columns)
        predicted = shares.argmax(axis=1)
        counts[line, predicted] += 1
        support[line, predicted] += shares[line, predicted]
    return counts, support


def _most_accurate_shares(trees: Forest, columns: Columns) -> Floats:
    """The class shares (rows, classes) in the most accurate leaf that each row reaches."""
    best: Floats = distribution(trees[0], columns)
    support = _support(trees[0], columns)
    for tree in trees[1:]:
        shares, rows = distribution(tree, columns), _support(tree, columns)
        new, old = shares.max(axis=1), best.max(axis=1)
        better = (new > old) | ((new == old) & (rows > support))
        best[better], support[better] = shares[better], rows[better]
    return best


def _support(tree: Tree, columns: Columns) -> Floats:
    """The number of training rows in the leaves that each row reaches."""
    found = leaf_membership(tree, columns)
    sizes = tree.counts[tree.leaves].sum(axis=1)
    sums: Floats = np.add.reduceat(sizes[found.leaves], found.start[:-1])
    return sums[found.set_of_row]


def check_voting(voting: str) -> None:
    """Refuse an unknown voting rule."""
    if voting not in VOTING_RULES:
        raise ValueOutOfRange("voting", voting, " or ".join(repr(name) for name in VOTING_RULES))
