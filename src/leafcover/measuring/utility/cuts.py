"""Where two trees cut the same attribute, and how far each cut moved."""

from dataclasses import dataclass
from math import nan

import numpy as np

from leafcover.fast.arrays import Bools, Floats, Rows
from leafcover.measuring.utility.rules import Allowed
from leafcover.table.table import Table
from leafcover.tree.tree import Tree


@dataclass(frozen=True)
class CutMoves:
    """The distinct cuts of one number in two trees; moves are shares of its domain, so no cut is told."""

    attribute: str
    matched: int  # cuts of the original's tree that have a partner within what is allowed
    unmoved: int  # of these, the ones that did not move at all
    mean: float  # how far the matched ones moved; nan when there are none
    largest: float  # the furthest of them; nan when there are none
    only_original: int
    only_released: int


def cut_moves(original: Tree, released: Tree, table: Table, allowed: Allowed) -> tuple[CutMoves, ...]:
    """The moves of every number that either tree cuts, by name."""
    names = {a.name for tree in (original, released) for a in tree.attributes if a.is_number}
    found = (_moves_of(name, original, released, table, allowed) for name in sorted(names & set(table.names)))
    return tuple(moves for moves in found if moves is not None)


def _moves_of(name: str, original: Tree, released: Tree, table: Table, allowed: Allowed) -> CutMoves | None:
    ours, theirs = _cuts(original, name), _cuts(released, name)
    if not len(ours) + len(theirs):
        return None
    one, other = matched_cuts(ours, theirs, allowed.get(name, 0.0))
    low, high = table[name].domain
    half = high / 2 - low / 2 if high > low else 0.5  # halves, since 1e308 less -1e308 is too much
    moved = np.abs(ours[one] / 2 - theirs[other] / 2) / half
    return CutMoves(
        attribute=name,
        matched=len(moved),
        unmoved=int(np.count_nonzero(moved == 0)),
        mean=float(moved.mean()) if len(moved) else nan,
        largest=float(moved.max()) if len(moved) else nan,
        only_original=len(ours) - len(moved),
        only_released=len(theirs) - len(moved),
    )


def _cuts(tree: Tree, name: str) -> Floats:
    """The distinct cuts of a number, ascending."""
    tested = [number for number, a in enumerate(tree.attributes) if a.name == name and a.is_number]
    return np.unique(tree.cut[np.isin(tree.tested, tested)])


def matched_cuts(ours: Floats, theirs: Floats, limit: float) -> tuple[Rows, Rows]:
    """Partners among two ascending lists of cuts, the closest two first, none further apart than the limit.

    >>> matched_cuts(np.array([1.0, 5.0, 9.0]), np.array([2.0, 5.0, 6.0]), 1.0)
    (array([0, 1]), array([0, 1]))
    """
    free = np.ones(len(ours), np.bool_), np.ones(len(theirs), np.bool_)
    one, other = [], []
    while free[0].any() and free[1].any():
        a, b = _mutual(ours, theirs, *free)
        near = np.abs(ours[a] / 2 - theirs[b] / 2) <= limit * (1 + 1e-9) / 2
        one.append(a[near])
        other.append(b[near])
        free[0][a], free[1][b] = False, False  # those beyond the limit have no nearer partner either
    none: list[Rows] = [np.empty(0, np.int64)]
    first, second = np.concatenate(one + none), np.concatenate(other + none)
    order = np.argsort(first)
    return first[order], second[order]


def _mutual(ours: Floats, theirs: Floats, free: Bools, open_: Bools) -> tuple[Rows, Rows]:
    """The free cuts that are each other's nearest; there is always one such pair, the closest of all."""
    a, b = np.flatnonzero(free), np.flatnonzero(open_)
    to_theirs, to_ours = _nearest(ours[a], theirs[b]), _nearest(theirs[b], ours[a])
    back = to_ours[to_theirs] == np.arange(len(a))
    return a[back], b[to_theirs[back]]


def _nearest(values: Floats, among: Floats) -> Rows:
    """For each value the place of the nearest of some ascending ones; the lower of two as near."""
    above = np.minimum(np.searchsorted(among, values), len(among) - 1)
    below = np.maximum(above - 1, 0)
    lower = np.abs(values / 2 - among[below] / 2) <= np.abs(among[above] / 2 - values / 2)
    return np.where(lower, below, above)
