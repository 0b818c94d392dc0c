"""What the grower works on: the training rows, forced tests, and room that every node uses anew."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Bools, Codes, Floats, Rows, Singles, Words
from leafcover.fast.dealing import Packing, word_of
from leafcover.fast.information import whole_terms


class Inputs(NamedTuple):
    """The training rows as kernels see them."""

    packing: Packing
    classes: int
    slot: Codes  # (attributes,) which of the numbers or of the categories the attribute is
    levels: Codes  # (attributes,) how many levels; 0 for a number
    orders: Codes  # (numbers, rows) rows by value, missing last
    ascending: Singles  # (numbers, rows) their values in this order, nan when missing
    codes: Array  # (rows, categories) -1 when missing; 16 bits unless there are more levels
    branch_of: Array  # (rows,) room for the branch of each row, as narrow as codes
    in_average: Bools  # (attributes,) whether its gain counts for the average
    min_records: float


class Forced(NamedTuple):
    """Tests that stand whatever they gain: of the root, node 0, and if longer of its children, nodes 1 and on."""

    tested: Codes  # (nodes,) the attribute, -1 where C4.5 chooses
    cut: Singles  # (nodes,) of a number, one of its values


class Work(NamedTuple):
    """Room that every node uses anew."""

    terms: Floats  # (rows + 1,) n log2 n
    weight: Singles  # (rows,) of the node's rows
    gains: Singles  # (attributes,)
    infos: Singles
    places: Codes  # (attributes,) behind which place of its order a number is cut
    knowns: Rows  # (attributes,) rows of the node with a value
    used: Bools  # (attributes,) tested above
    try_bits: Singles  # (rows,) of each cut
    try_low: Singles
    try_place: Codes
    level_counts: Singles  # (levels + 1 of all categories, classes)
    level_parts: Singles
    totals: Rows  # (classes,)
    low: Rows
    active: Rows  # (attributes,) categories to count
    starts: Rows


class Branches(NamedTuple):
    """Room for the branches of one node."""

    shares: Singles  # (branches,)
    sizes: Rows
    items: Singles
    counts: Singles  # (branches, classes)
    begins: Rows
    steps: Rows
    ends: Rows


@njit(cache=True)
def is_forced(forced: Forced, node: int) -> bool:
    """Whether the test of a node is given."""
    return node < len(forced.tested) and forced.tested[node] >= 0


@njit(cache=True)
def make_room(inputs: Inputs) -> tuple[Work, Branches]:
    """Room for the largest node there can be."""
    rows, attributes, classes = inputs.orders.shape[1], len(inputs.slot), inputs.classes
    most, lines = 2, 0
    for a in range(attributes):
        most = max(most, inputs.levels[a])
        lines += inputs.levels[a] + 1
    work = Work(
        whole_terms(rows), np.ones(rows, np.float32),
        np.empty(attributes, np.float32), np.empty(attributes, np.float32), np.empty(attributes, np.int32),
        np.empty(attributes, np.int64), np.empty(attributes, np.bool_),
        np.empty(rows, np.float32), np.empty(rows, np.float32), np.empty(rows, np.int32),
        np.empty((lines, classes), np.float32), np.empty(most + 1, np.float32),
        np.empty(classes, np.int64), np.empty(classes, np.int64), np.empty(attributes, np.int64),
        np.empty(attributes, np.int64),
    )  # fmt: skip
    branches = Branches(
        np.empty(most, np.float32), np.empty(most, np.int64), np.empty(most, np.float32),
        np.empty((most, classes), np.float32), np.empty(most, np.int64), np.empty(most, np.int64),
        np.empty(most, np.int64),
    )  # fmt: skip
    return work, branches


@njit(cache=True)
def root_records(inputs: Inputs, width: int) -> Words:
    """All rows in the lines of the first stack: by each number, and in row order with a weight of one."""
    numbers, rows = inputs.orders.shape
    records = np.empty(2 * (numbers + 1) * width, np.uint64)
    words, singles = records.view(np.uint32), records.view(np.float32)
    for j in range(numbers):
        for i in range(rows):
            at = 2 * (j * width + i)
            words[at], singles[at + 1] = word_of(inputs.orders[j, i], inputs.packing), inputs.ascending[j, i]
    for i in range(rows):
        at = 2 * (numbers * width + i)
        words[at], singles[at + 1] = word_of(i, inputs.packing), 1.0
    return records
