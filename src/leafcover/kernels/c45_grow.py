"""Grow the unpruned tree of C4.5, with the sort order of every number passed from parent to child.

Rows are kept in two stacks. A node's rows are a segment of one stack, stored once per number in the order of its values
and once in row order (the last line). Children are written to the top of the other stack, so that one stable pass per
order replaces sorting, and the memory of the parent is free while its children are processed. Lines consist of
records (see `c45_rows`), so that only the branch of a row is looked up by row number.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Singles, Words
from leafcover.kernels import ENTRY, INNER, ZERO
from leafcover.kernels.c45_criterion import (
    EPSILON,
    NO_GAIN,
    choose,
    count_levels,
    score_category,
    score_category_whole,
    score_number,
    score_number_whole,
    whole_terms,
)
from leafcover.kernels.c45_rows import (
    Halves,
    Packing,
    branch_by_level,
    branch_by_number,
    count_halves,
    double,
    known_end,
    label_of,
    partition_rows,
    partition_rows_in_two,
    row_of,
    share_weights,
    weigh_branches,
    words_of,
)

# Input and working memory.


class Inputs(NamedTuple):
    """The training rows in the form that the kernels need."""

    packing: Packing
    classes: int
    slot: Codes  # (attributes,) index among the numbers or among the categories
    levels: Codes  # (attributes,) number of levels; 0 for a number
    orders: Codes  # (numbers, rows) rows sorted by value, missing last
    ascending: Singles  # (numbers, rows) values in this order, nan if missing
    codes: Array  # (rows, categories) -1 if missing; 16 bits unless there are more levels
    branch_of: Array  # (rows,) working memory for the branch of each row, of the same type as codes
    in_average: Bools  # (attributes,) whether its gain counts towards the average
    min_records: float


class Forced(NamedTuple):
    """Prescribed tests of the root (node 0) and, if the arrays are longer, of its children (nodes 1, 2, …)."""

    tested: Codes  # (nodes,) attribute, -1 where C4.5 chooses
    cut: Singles  # (nodes,) cut of a number, one of its values


class Workspace(NamedTuple):
    """Working memory that is reused for every node."""

    terms: Floats  # (rows + 1,) n log2 n
    weight: Singles  # (rows,) weights of the node's rows
    gains: Singles  # (attributes,)
    infos: Singles
    places: Codes  # (attributes,) position in a number's order after which it is cut
    knowns: Rows  # (attributes,) number of rows with a known value
    used: Bools  # (attributes,) whether an ancestor tests it
    try_bits: Singles  # (rows,) remaining bits of each candidate cut
    try_low: Singles
    try_place: Codes
    level_counts: Singles  # (levels + 1 of all categories, classes)
    level_parts: Singles
    totals: Rows  # (classes,)
    low: Rows
    sums: Singles  # (3, classes) weights by class: missing, low and high
    active: Rows  # (attributes,) categories to count
    starts: Rows


class Nodes(NamedTuple):
    """The nodes so far, with the columns from TESTED and CUT on."""

    whole: Codes  # (nodes, 6)
    figures: Singles  # (nodes, 2 + classes)


class Branches(NamedTuple):
    """Working memory for the branches of one node."""

    shares: Singles  # (branches,)
    sizes: Rows
    items: Singles
    counts: Singles  # (branches, classes)
    begins: Rows
    steps: Rows
    ends: Rows


@njit(**INNER)
def is_forced(forced: Forced, node: int) -> bool:
    """Whether the test of a node is prescribed."""
    return node < len(forced.tested) and forced.tested[node] >= 0


def _allocate(inputs: Inputs) -> tuple[Workspace, Branches]:
    """Allocate working memory for the largest possible node."""
    rows, attributes, classes = inputs.orders.shape[1], len(inputs.slot), inputs.classes
    most = int(max(2, inputs.levels.max(initial=0)))
    lines = int(inputs.levels.sum()) + attributes
    terms = np.empty(rows + 1)
    whole_terms(terms)
    work = Workspace(
        terms=terms,
        weight=np.ones(rows, np.float32),
        gains=np.empty(attributes, np.float32),
        infos=np.empty(attributes, np.float32),
        places=np.empty(attributes, np.int32),
        knowns=np.empty(attributes, np.int64),
        used=np.empty(attributes, np.bool_),
        try_bits=np.empty(rows, np.float32),
        try_low=np.empty(rows, np.float32),
        try_place=np.empty(rows, np.int32),
        level_counts=np.empty((lines, classes), np.float32),
        level_parts=np.empty(most + 1, np.float32),
        totals=np.empty(classes, np.int64),
        low=np.empty(classes, np.int64),
        sums=np.empty((3, classes), np.float32),
        active=np.empty(attributes, np.int64),
        starts=np.empty(attributes, np.int64),
    )
    branches = Branches(
        shares=np.empty(most, np.float32),
        sizes=np.empty(most, np.int64),
        items=np.empty(most, np.float32),
        counts=np.empty((most, classes), np.float32),
        begins=np.empty(most, np.int64),
        steps=np.empty(most, np.int64),
        ends=np.empty(most, np.int64),
    )
    return work, branches


def _root_records(inputs: Inputs) -> Words:
    """The root's records in the first stack: sorted by each number, and in row order with a weight of one.

    Each line has space for one more record, the discarded ones.
    """
    numbers, rows = inputs.orders.shape
    words = np.empty((2 * (numbers + 1), rows + 1, 2), np.uint32)
    singles = words.view(np.float32)
    lower = words_of(inputs.packing)
    for j in range(numbers):  # one at a time stays in the cache
        words[j, :rows, 0], singles[j, :rows, 1] = lower[inputs.orders[j]], inputs.ascending[j]
    words[numbers, :rows, 0], singles[numbers, :rows, 1] = lower, 1.0
    return words.reshape(-1).view(np.uint64)


def _widen(records: Words, lines: int) -> Words:
    """The same lines, each with space for twice as many records."""
    old = records.reshape(lines, -1)
    new = np.zeros((lines, 2 * old.shape[1]), np.uint64)
    new[:, : old.shape[1]] = old
    return new.reshape(-1)


TESTED, FIRST, BRANCHES, PARENT, LABEL, WHOLE = range(6)  # columns of a node's integers
CUT, ITEMS, COUNTS = range(3)  # columns of its 32-bit floats; class counts start at COUNTS


@njit(**INNER)
def _cut_after(inputs: Inputs, number: int, singles: Singles, base: int, place: int, known: int) -> np.float32:
    """The cut after a position in a node's order: the largest value of all training data up to the midpoint."""
    lower, upper = singles[2 * (base + place) + 1], singles[2 * (base + place) + 3]
    middle = np.float32(np.float32(lower + upper) / np.float32(2.0))
    low, high = 0, inputs.ascending.shape[1]
    while low < high:
        at = (low + high) // 2
        if inputs.ascending[number, at] <= middle:  # false if missing
            low = at + 1
        else:
            high = at
    cut = inputs.ascending[number, low - 1]
    # Rounded to 32 bits, the midpoint can equal the upper value; a cut at the last value would leave no rows above it.
    return lower if cut >= singles[2 * (base + known) - 1] else cut


@njit(**INNER)
def _score_all(
    inputs: Inputs, work: Workspace, nodes: Nodes, node: int, words: Halves, singles: Singles, base: int, width: int,
    rows: int,
) -> None:  # fmt: skip
    """Gain and split information of every attribute at one node; ``base`` is the start of its first line."""
    # Unpack fields once: numba counts references at each field access, which costs 8 % of the time inside the loop.
    packing, slots, levels_of, classes = inputs.packing, inputs.slot, inputs.levels, inputs.classes
    gains, infos, places, knowns, used, weight = (
        work.gains,
        work.infos,
        work.places,
        work.knowns,
        work.used,
        work.weight,
    )
    terms, totals, low, bits, lows, try_place = (
        work.terms, work.totals, work.low, work.try_bits, work.try_low, work.try_place,
    )  # fmt: skip
    level_counts, parts = work.level_counts, work.level_parts
    figures, links = nodes.figures, nodes.whole
    items, least, line, whole = figures[node, ITEMS], inputs.min_records, 0, links[node, WHOLE] == 1
    for a in range(len(used)):
        used[a] = False
    above = links[node, PARENT]
    while above >= 0:
        used[links[above, TESTED]] = True
        above = links[above, PARENT]
    if inputs.codes.shape[1]:
        in_rows = base + inputs.orders.shape[0] * width
        count_levels(
            words, singles, in_rows, rows, packing, inputs.codes, levels_of, slots, used, work.active, work.starts,
            level_counts,
        )  # fmt: skip
    for a in range(len(slots)):
        gains[a], infos[a], places[a] = NO_GAIN, 0.0, -1
        slot, levels = slots[a], levels_of[a]
        for c in range(classes):
            totals[c] = int(figures[node, COUNTS + c])
        if levels > 0:
            if not used[a]:
                counts = level_counts[line : line + levels + 1]
                if whole:
                    gain, info = score_category_whole(counts, items, least, parts, totals, terms)
                else:
                    gain, info = score_category(counts, items, least, parts)
                gains[a], infos[a] = gain, info
            line += levels + 1
            continue
        at = base + slot * width
        known = known_end(singles, at, rows)
        if whole:
            for i in range(at + known, at + rows):
                totals[label_of(words[2 * i], packing)] -= 1
            gain, info, place = score_number_whole(
                words, singles, at, known, rows, packing, totals, terms, least, low, bits, try_place
            )
        else:
            gain, info, place = score_number(
                words,
                singles,
                at,
                known,
                rows,
                packing,
                classes,
                weight,
                items,
                least,
                bits,
                lows,
                try_place,
                work.sums,
            )
        gains[a], infos[a], places[a], knowns[a] = gain, info, place, known


@njit(**INNER)
def _write_child(whole: Codes, figures: Singles, child: int, branches: Branches, b: int, parent: int) -> None:
    """Write a child as a leaf; an empty leaf predicts the class of its parent."""
    counts, best = branches.counts, 0
    whole[child, TESTED], whole[child, FIRST], whole[child, BRANCHES] = -1, -1, 0
    whole[child, PARENT], whole[child, LABEL] = parent, whole[parent, LABEL]
    figures[child, CUT], figures[child, ITEMS] = np.nan, branches.items[b]
    for c in range(counts.shape[1]):
        figures[child, COUNTS + c] = counts[b, c]
        if counts[b, c] > counts[b, best]:
            best = c
    if branches.sizes[b] > 0:
        whole[child, LABEL] = best


@njit(**INNER)
def _is_final(whole: Codes, figures: Singles, node: int, min_records: float) -> bool:
    """Whether a node cannot be split: it has one class only, or too few rows for two branches."""
    items = figures[node, ITEMS]
    return figures[node, COUNTS + whole[node, LABEL]] == items or items < 2 * min_records


@njit(**INNER)
def _assign_branches(
    inputs: Inputs, work: Workspace, branches: Branches, forced: Forced, figures: Singles, node: int, best: int,
    whole: bool, words: Halves, singles: Singles, base: int, width: int, rows: int,
) -> int:  # fmt: skip
    """Set the branch of each row at a node and the weight of each branch; returns the number of unknown rows."""
    packing, branch_of, slot = inputs.packing, inputs.branch_of, inputs.slot[best]
    in_rows = base + inputs.orders.shape[0] * width
    if inputs.levels[best] > 0:
        branch_by_level(words, in_rows, rows, inputs.codes, slot, packing, branch_of)
    else:
        at = base + slot * width
        if is_forced(forced, node):
            known, cut = known_end(singles, at, rows), forced.cut[node]
        else:
            known = work.knowns[best]
            cut = _cut_after(inputs, slot, singles, at, work.places[best], known)
        figures[node, CUT] = cut
        low = branch_by_number(words, singles, at, known, rows, cut, packing, branch_of)
        if whole and known == rows:
            for c in range(inputs.classes):
                work.totals[c] = int(figures[node, COUNTS + c])
            count_halves(words, at, low, packing, work.totals, branches.sizes, branches.items, branches.counts)
            return 0
    return weigh_branches(
        words, singles, in_rows, rows, packing, branch_of, max(2, inputs.levels[best]), branches.shares,
        branches.sizes, branches.items, branches.counts,
    )  # fmt: skip


@njit(**INNER)
def _partition_lines(
    inputs: Inputs, branches: Branches, records: Words, words: Halves, singles: Singles, side: int, start: int,
    rows: int, n_branches: int, unknown: int,
) -> None:  # fmt: skip
    """Copy all lines of a node to its children in the other stack."""
    begins, steps, ends, branch_of = branches.begins, branches.steps, branches.ends, inputs.branch_of
    lines = inputs.orders.shape[0] + 1
    width, shift = len(records) // (2 * lines), inputs.packing.shift
    for line in range(lines):
        source, target = (side * lines + line) * width + start, ((1 - side) * lines + line) * width
        if n_branches == 2 and unknown == 0:
            low, high = target + begins[0], target + begins[1]
            partition_rows_in_two(records, source, rows, branch_of, shift, low, steps[0], high, steps[1])
        else:
            partition_rows(records, source, rows, branch_of, shift, n_branches, begins, steps, ends, target)
            if unknown and line == lines - 1:
                share_weights(
                    words, singles, source, rows, branch_of, inputs.packing, n_branches, branches.shares, begins, steps,
                    ends, target,
                )  # fmt: skip


def grow_nodes(inputs: Inputs, forced: Forced) -> tuple[Codes, Singles]:
    """All nodes before collapsing and pruning; the children of a node are adjacent and follow their parent.

    The root is node 0 and its children are nodes 1, 2, …, so that prescribed tests are found by node number. Returns
    integers (nodes, 6) and 32-bit floats (nodes, 2 + classes), with the columns from TESTED and CUT on.
    """
    work, branches = _allocate(inputs)
    numbers, rows = inputs.orders.shape
    records = _root_records(inputs)
    # A node that finds no space is scored twice, so there is enough for most trees.
    nodes = Nodes(np.empty((1024, 6), np.int32), np.empty((1024, COUNTS + inputs.classes), np.float32))
    counts = np.bincount(inputs.packing.labels, minlength=inputs.classes)
    label = int(counts.argmax())
    nodes.whole[0] = -1, -1, 0, -1, label, 1
    nodes.figures[0] = np.nan, rows, *counts
    pending = np.zeros((1024, 4), np.int64)  # node, stack, start, stop
    pending[0, 3] = rows
    final = counts[label] == rows or rows < 2 * inputs.min_records
    forced_root = len(forced.tested) > 0 and forced.tested[0] >= 0
    state = np.array([1, 0 if final and not forced_root else 1, 0, 0])
    while True:
        words, singles = records.view(np.uint32), records.view(np.float32)
        lacking = _grow(inputs, forced, work, branches, records, words, singles, nodes, pending, state)
        if lacking == NODES:
            nodes = Nodes(double(nodes.whole), double(nodes.figures))
        elif lacking == PENDING:
            pending = double(pending)
        elif lacking == RECORDS:
            records = _widen(records, 2 * (numbers + 1))
        else:
            return nodes.whole[: state[0]], nodes.figures[: state[0]]


NOTHING, NODES, PENDING, RECORDS = range(4)  # what the kernel has no space for


@njit(**ENTRY)
def _grow(
    inputs: Inputs, forced: Forced, work: Workspace, branches: Branches, records: Words, words: Halves,
    singles: Singles, nodes: Nodes, pending: Rows, state: Rows,
) -> int:  # fmt: skip
    """Split all pending nodes, or return what needs more space.

    ``state`` is the number of nodes and of pending nodes, and the top of each stack.
    """
    whole, figures = nodes.whole, nodes.figures
    begins, steps, sizes = branches.begins, branches.steps, branches.sizes
    numbers = inputs.orders.shape[0]
    lines = numbers + 1
    width = len(records) // (2 * lines)
    while state[1]:
        count, waiting = state[0], state[1] - 1
        node, side, start, stop = pending[waiting, 0], pending[waiting, 1], pending[waiting, 2], pending[waiting, 3]
        state[2 + side] = start
        rows, is_whole, base = stop - start, whole[node, WHOLE] == 1, side * lines * width + start
        if not is_whole:  # in a whole node every weight is still one
            for i in range(base + numbers * width, base + numbers * width + rows):
                work.weight[row_of(words[2 * i], inputs.packing)] = singles[2 * i + 1]
        if is_forced(forced, node):
            best = ZERO + forced.tested[node]
        else:
            _score_all(inputs, work, nodes, node, words, singles, base, width, rows)
            best = choose(work.gains, work.infos, inputs.in_average)
        if best < 0:
            state[1] = waiting
            continue
        n_branches = max(ZERO + 2, ZERO + inputs.levels[best])
        if count + n_branches > len(whole):
            return NODES
        if waiting + n_branches > len(pending):
            return PENDING
        unknown = _assign_branches(
            inputs, work, branches, forced, figures, node, best, is_whole, words, singles, base, width, rows
        )
        other = 1 - side
        begin = state[2 + other]
        for b in range(n_branches):
            child = count + b
            _write_child(whole, figures, child, branches, b, node)
            whole[child, WHOLE] = 1 if is_whole and unknown == 0 else 0
            steps[b] = 0
            settled = _is_final(whole, figures, child, inputs.min_records) and not is_forced(forced, child)
            if sizes[b] > 0 and not settled:  # else a leaf: its rows are not needed again
                begins[b], steps[b] = begin, 1
                begin += sizes[b] + unknown
        if begin >= width:
            return RECORDS
        whole[node, TESTED], whole[node, FIRST], whole[node, BRANCHES] = best, count, n_branches
        for b in range(n_branches):
            if steps[b]:
                pending[waiting, 0], pending[waiting, 1], pending[waiting, 2] = count + b, other, begins[b]
                pending[waiting, 3] = begins[b] + sizes[b] + unknown
                waiting += 1
            else:
                begins[b] = begin  # after everything else: discarded
        if begin > state[2 + other]:
            _partition_lines(inputs, branches, records, words, singles, side, start, rows, n_branches, unknown)
            state[2 + other] = begin
        state[0], state[1] = count + n_branches, waiting
    return NOTHING


@njit(**ENTRY)
def collapse(whole: Codes, figures: Singles, forced: Forced, errors: Singles) -> None:
    """Replace every subtree that has no fewer errors than a leaf by that leaf, except prescribed tests.

    ``errors`` is memory for each node.
    """
    for node in range(len(whole) - 1, -1, -1):
        alone = np.float32(figures[node, ITEMS] - figures[node, COUNTS + whole[node, LABEL]])
        errors[node] = alone
        if whole[node, TESTED] < 0:
            continue
        below = np.float32(0.0)
        for b in range(whole[node, BRANCHES]):
            below = np.float32(below + errors[whole[node, FIRST] + b])
        if below >= np.float64(alone) - EPSILON and not is_forced(forced, node):
            whole[node, TESTED], whole[node, FIRST], whole[node, BRANCHES] = -1, -1, 0
            figures[node, CUT] = np.nan
        else:
            errors[node] = below
