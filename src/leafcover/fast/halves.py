"""Halve rows again and again at the median of their first principal component."""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows, Words
from leafcover.fast.select import select

_MOST_SQUARES = 60
_STEADY = 1e-12  # gain of a squaring below which the directions that are left explain equally much


class _Room(NamedTuple):
    """What is reckoned of one node."""

    mean: Floats  # (columns,)
    matrix: Floats  # (columns, columns) covariance, then its powers
    square: Floats  # (columns, columns)
    direction: Floats  # (columns,)
    score: Floats  # (rows,) the projections
    moved: Floats  # (rows,) the same in any order
    values: Floats  # (rows, columns) rows on their way to the right
    order: Rows  # (rows,)
    marks: Words  # (rows,)


@njit(cache=True)
def halve(values: Floats, order: Rows, marks: Words, most: int) -> Rows:
    """Halve every span of at least ``most`` rows; all are moved, and where each span starts is returned.

    Rows must come by ascending mark, and equal ones have equal marks. Equal rows stay together: a cut moves to the
    nearer end of their run, if each side keeps ``most // 2`` rows, and else the span is not cut.
    """
    rows, columns = values.shape
    least = max(1, most // 2)
    starts = np.zeros(rows // least + 2, np.int64)
    stack = np.zeros((rows // least + 2, 2), np.int64)
    room = _Room(
        np.empty(columns), np.empty((columns, columns)), np.empty((columns, columns)), np.empty(columns),
        np.empty(rows), np.empty(rows), np.empty((rows, columns)), np.empty(rows, np.int64),
        np.empty(rows, np.uint64),
    )  # fmt: skip
    stack[0, 1], height, count = rows, 1, 0
    while height:
        height -= 1
        start, stop = stack[height, 0], stack[height, 1]
        left = 0
        if stop - start >= max(most, 2):
            left = _halve_one(values[start:stop], order[start:stop], marks[start:stop], least, room)
        if left == 0:
            starts[count] = start
            count += 1
            continue
        stack[height, 0], stack[height, 1] = start + left, stop
        stack[height + 1, 0], stack[height + 1, 1] = start, start + left
        height += 2
    return starts[:count].copy()


@njit(cache=True)
def _halve_one(values: Floats, order: Rows, marks: Words, least: int, room: _Room) -> int:
    """Part one span; how many rows are on the left, 0 when it is not cut."""
    _component(values, room)
    score, rows = room.score[: len(values)], len(values)
    for i in range(rows):
        total = 0.0
        for c in range(values.shape[1]):
            total += (values[i, c] - room.mean[c]) * room.direction[c]
        score[i] = room.moved[i] = total
    half = rows // 2
    middle = select(room.moved[:rows], half)
    below, equal = 0, 0
    for i in range(rows):
        below += score[i] < middle
        equal += score[i] == middle
    left = _end_of_run(score, marks, middle, below, equal, half, least)
    if left > 0:
        _part(values, order, marks, middle, left - below, room)
    return left


@njit(cache=True)
def _end_of_run(score: Floats, marks: Words, middle: float, below: int, equal: int, half: int, least: int) -> int:
    """Where to cut so that equal rows stay together, as near to the half as can be; 0 for nowhere.

    Rows stand by score, those with the middle score by mark: places ``below`` to ``below + equal``.
    """
    if half == below:
        return half
    tied = np.empty(equal, np.uint64)
    at = 0
    for i in range(len(score)):
        if score[i] == middle:
            tied[at] = marks[i]
            at += 1
    first = last = half - below
    while first > 0 and tied[first - 1] == tied[first]:
        first -= 1
    while last < equal and tied[last] == tied[first]:
        last += 1
    first, last = below + first, below + last
    if first >= least and (half - first <= last - half or len(score) - last < least):
        return first
    return last if len(score) - last >= least else 0


@njit(cache=True)
def _part(values: Floats, order: Rows, marks: Words, middle: float, ties: int, room: _Room) -> None:
    """Rows below the middle score and the first so many of those at it go left; each side keeps its order."""
    left = right = 0
    for i in range(len(values)):
        goes = room.score[i] < middle
        if room.score[i] == middle and ties > 0:
            goes, ties = True, ties - 1
        if goes:
            _move(values, order, marks, i, values, order, marks, left)
            left += 1
        else:
            _move(values, order, marks, i, room.values, room.order, room.marks, right)
            right += 1
    for i in range(right):
        _move(room.values, room.order, room.marks, i, values, order, marks, left + i)


@njit(cache=True)
def _move(
    values: Floats, order: Rows, marks: Words, at: int, to_values: Floats, to_order: Rows, to_marks: Words, to: int
) -> None:
    for c in range(values.shape[1]):
        to_values[to, c] = values[at, c]
    to_order[to], to_marks[to] = order[at], marks[at]


@njit(cache=True)
def _component(values: Floats, room: _Room) -> None:
    """The direction in which the rows vary most; its largest part (of equal ones the first) is positive.

    The covariance squared again and again becomes the projection on that direction, or on all that explain equally
    much: then the one nearest to a column.
    """
    mean, matrix = room.mean, room.matrix
    rows, columns = values.shape
    for c in range(columns):
        mean[c] = 0.0
        for other in range(columns):
            matrix[c, other] = 0.0
    for i in range(rows):
        for c in range(columns):
            mean[c] += values[i, c]
    for c in range(columns):
        mean[c] /= rows
    for i in range(rows):
        for c in range(columns):
            away = values[i, c] - mean[c]
            for other in range(c + 1):
                matrix[c, other] += away * (values[i, other] - mean[other])
    trace = 0.0
    for c in range(columns):
        trace += matrix[c, c]
        for other in range(c):
            matrix[other, c] = matrix[c, other]
    before = 0.0
    for _ in range(_MOST_SQUARES):
        if trace <= 0.0:
            break
        trace = _square(matrix, trace, room.square)
        if trace - before < _STEADY:
            break
        before = trace
    largest = 0
    for c in range(columns):
        if matrix[c, c] > matrix[largest, largest] * (1.0 + _STEADY):
            largest = c
    for c in range(columns):
        room.direction[c] = matrix[largest, c]


@njit(cache=True)
def _square(matrix: Floats, trace: float, square: Floats) -> float:
    """Divide the matrix by its trace and multiply it by itself; the new trace."""
    size = len(matrix)
    for i in range(size):
        for j in range(size):
            matrix[i, j] /= trace
            square[i, j] = 0.0
    for i in range(size):
        for k in range(size):
            for j in range(size):
                square[i, j] += matrix[i, k] * matrix[k, j]
    trace = 0.0
    for i in range(size):
        trace += square[i, i]
        for j in range(size):
            matrix[i, j] = square[i, j]
    return trace
