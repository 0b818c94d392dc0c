"""Rows into the order of their cells, and back to numbers of cells."""

import math

import numpy as np
from numba import njit

from leafcover.fast.arrays import Array, Bools, Codes, Rows
from leafcover.fast.histogram import fill


@njit(cache=True)
def gather(words: Array, target: Codes, labels: Rows, n_labels: int) -> tuple[Array, Codes, Rows, Rows]:
    """Words, classes and row numbers in the order of the labels, and where each label starts."""
    starts = np.zeros(n_labels + 1, np.int64)
    for i in range(labels.size):
        starts[labels[i] + 1] += 1
    place = np.zeros(n_labels + 1, np.int64)
    for k in range(n_labels):
        starts[k + 1] += starts[k]
        place[k] = starts[k]
    moved = np.empty(words.shape, np.uint64)
    classes = np.empty(labels.size, np.int32)
    row = np.empty(labels.size, np.int64)
    for i in range(labels.size):
        to = place[labels[i]]
        place[labels[i]] += 1
        for w in range(words.shape[1]):
            moved[to, w] = words[i, w]
        classes[to] = target[i]
        row[to] = i
    return moved, classes, row, starts


@njit(cache=True)
def bits_of_cells(target: Codes, starts: Rows, classes: int) -> float:
    """Rows times entropy of the classes, summed over cells."""
    bits, rows = 0.0, np.zeros(classes, np.int64)
    for cell in range(starts.size - 1):
        fill(rows, 0, classes, 0)
        for i in range(starts[cell], starts[cell + 1]):
            rows[target[i]] += 1
        for k in range(classes):
            if rows[k]:
                bits += rows[k] * math.log2((starts[cell + 1] - starts[cell]) / rows[k])
    return bits


@njit(cache=True)
def number_cells(begins: Bools, row: Rows) -> tuple[Rows, int]:
    """The number of the cell of each row, cells counted in the order they stand."""
    labels = np.empty(row.size, np.int64)
    cell = -1
    for i in range(row.size):
        cell += begins[i]
        labels[row[i]] = cell
    return labels, cell + 1
