"""One node as sums over all combinations of the answers that it may still ask for.

A cell is a class and an answer to each column that was not tested on the way. It holds the sum of the weights of the
rows that report this, and the sum of their squares. A branch is a linear image of its node's cells.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from leafcover.fast.arrays import Array, Floats, Rows
from leafcover.response.tree.laws import Answers, Law

BLOCK = 1 << 16  # rows whose cells are numbered at once: they stay in the cache


@dataclass(frozen=True, eq=False)
class Cube:
    """The cells of a node, the first column's answers outermost."""

    columns: tuple[int, ...]  # that have not been tested, in order
    bins: tuple[int, ...]  # how many answers to each can be told apart
    sums: Floats  # (2, classes, cells) of weights, and of their squares


def counted(answers: Answers) -> Cube:
    """All rows, each with the weight 1."""
    classes, columns = len(answers.levels[-1]), range(answers.attributes)
    cells = np.empty(answers.rows, np.int64)
    for begin in range(0, answers.rows, BLOCK):
        here = cells[begin : begin + BLOCK]
        here[:] = answers.codes[-1, begin : begin + BLOCK]
        for column in columns:
            here *= answers.bins[column]
            here += answers.codes[column, begin : begin + BLOCK]
    bins = answers.bins[:-1]
    found = np.bincount(cells, minlength=classes * prod(bins)).astype(np.float64)
    return Cube(tuple(columns), bins, np.stack([found, found]).reshape(2, classes, -1))


def margins(sums: Floats, bins: Sequence[int]) -> list[Floats]:
    """For every column the sums over all others (2, classes, bins).

    Columns are halved again and again, so that all of them together cost little more than two sums over the cells.

    >>> [one[0].tolist() for one in margins(np.arange(1.0, 7.0).reshape(1, 1, 6), [2, 3])]
    [[[6.0, 15.0]], [[5.0, 7.0, 9.0]]]
    """
    if len(bins) < 2:
        return [sums] * len(bins)
    half = len(bins) // 2
    folded = sums.reshape(*sums.shape[:2], prod(bins[:half]), prod(bins[half:]))
    return margins(folded.sum(axis=3), bins[:half]) + margins(folded.sum(axis=2), bins[half:])


def branches(cube: Cube, column: int, answers: Answers, law: Law | None) -> Iterator[Cube]:
    """The branch of each level of a column; ``law`` is the column's where it is still to be undone."""
    place, classes = cube.columns.index(column), cube.sums.shape[1]
    columns, bins = (one[:place] + one[place + 1 :] for one in (cube.columns, cube.bins))
    folded = cube.sums.reshape(2, classes, prod(bins[:place]), cube.bins[place], prod(bins[place:]))
    # Taken, not sliced: slices of the last columns are copied by twos, which takes three times as long.
    reports = [folded.take(code, axis=3).reshape(2, classes, -1) for code in range(len(answers.levels[column]))]
    if law is None:
        for report in reports:
            yield Cube(columns, bins, report)
        return
    others = reports
    if len(law.columns) > 1:
        turn = _turned(columns, bins, law)
        label = _turned_codes(classes) if answers.attributes in law.columns else np.arange(classes)
        others = [report[:, label].take(turn, axis=2) for report in reports]
    for truth, weights in enumerate(np.stack([law.inverse, law.inverse**2], axis=2)):
        sums = np.zeros_like(reports[0])
        for code, weight in enumerate(weights):
            sums += weight[:, None, None] * (reports if code == truth else others)[code]
        yield Cube(columns, bins, sums)


def _turned(columns: Sequence[int], bins: Sequence[int], law: Law) -> Rows:
    """For each cell the one whose answers to the columns of a coin are the others."""
    cells = np.zeros(1, np.int64)
    for column, count in zip(columns, bins, strict=True):
        codes = _turned_codes(count) if column in law.columns else np.arange(count)
        cells = np.add.outer(cells * count, codes).ravel()
    return cells


def _turned_codes(count: int) -> Array:
    """Two levels change places; a missing answer stays missing."""
    return np.array([1, 0, 2])[:count]
