"""Searches for near rows in a tree of boxes: exact, ties counted."""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Floats, Rows
from leafcover.fast.near_tree import LEAF, Boxes, distances, next_leaf

TIE = 1e-9  # distances this close are equal but for rounding


@njit(cache=True)
def nearest_rows(queries: Floats, boxes: Boxes, own: Rows, count: int) -> tuple[Floats, Rows]:
    """The nearest rows of each query, by distance in whole units of TIE, then by row; row ``own`` is left out.

    They come as a heap, the last of them first; inf and -1 where there are fewer.
    """
    near, rows = np.full((len(queries), count), np.inf), np.full((len(queries), count), -1)
    nodes, least, block = np.empty(boxes.depth + 3, np.int64), np.empty(boxes.depth + 3), np.empty(LEAF)
    for i in range(len(queries)):
        query, best, who = queries[i], near[i], rows[i]
        nodes[0], nodes[1], least[1] = 1, 0, 0.0
        while True:
            leaf = next_leaf(query, boxes, nodes, least, best[0] + TIE)
            if leaf < 0:
                break
            for start in range(boxes.start[leaf], boxes.stop[leaf], LEAF):
                for j in range(distances(query, boxes, leaf, start, best[0] + TIE, block)):
                    if block[j] <= best[0] + TIE and boxes.order[start + j] != own[i]:
                        _insert(best, who, block[j], boxes.order[start + j])
    return near, rows


@njit(cache=True)
def _insert(best: Floats, who: Rows, distance: float, row: int) -> None:
    """Put a row in the place of the last of the nearest, if it comes before it, and keep the heap."""
    if not _before(distance, row, best[0], who[0]):
        return
    place, child = 0, 1
    while child < len(best):
        if child + 1 < len(best) and _before(best[child], who[child], best[child + 1], who[child + 1]):
            child += 1
        if not _before(distance, row, best[child], who[child]):
            break
        best[place], who[place] = best[child], who[child]
        place, child = child, 2 * child + 1
    best[place], who[place] = distance, row


@njit(cache=True)
def _before(distance: float, row: int, other: float, other_row: int) -> bool:
    key, other_key = np.rint(distance / TIE), np.rint(other / TIE)
    return key < other_key or (key == other_key and row < other_row)


@njit(cache=True)
def shares_among_nearest(
    queries: Floats, boxes: Boxes, own: Rows, wanted: Floats, tolerance: Floats, labels: Floats
) -> Floats:
    """For each query the share of the nearest rows whose label is the wanted one; row ``own`` is left out."""
    found = np.zeros(len(queries))
    nodes, least, block = np.empty(boxes.depth + 3, np.int64), np.empty(boxes.depth + 3), np.empty(LEAF)
    for i in range(len(queries)):
        query, best, unclear = queries[i], np.inf, True
        while unclear:
            ties, hits, farthest, unclear = 0, 0, -np.inf, False
            nodes[0], nodes[1], least[1] = 1, 0, 0.0
            while True:
                leaf = next_leaf(query, boxes, nodes, least, best + TIE)
                if leaf < 0:
                    break
                for start in range(boxes.start[leaf], boxes.stop[leaf], LEAF):
                    for j in range(distances(query, boxes, leaf, start, best + TIE, block)):
                        distance, row = block[j], boxes.order[start + j]
                        if distance > best + TIE or row == own[i]:
                            continue
                        if distance < best:
                            if best > distance + TIE:
                                ties, hits, farthest, unclear = 0, 0, distance, False
                            elif farthest > distance + TIE:
                                unclear = True  # some counted rows tie no longer: search again from the new best
                            best = distance
                        farthest = max(farthest, distance)
                        ties += 1
                        hits += _alike(labels[row], wanted[i], tolerance[i])
        if ties > 0:
            found[i] = hits / ties
    return found


@njit(cache=True)
def _alike(label: float, wanted: float, tolerance: float) -> bool:
    return label == wanted or abs(label - wanted) <= tolerance or (np.isnan(label) and np.isnan(wanted))


@njit(cache=True)
def rows_before_own(queries: Floats, boxes: Boxes, own: Rows, enough: int) -> tuple[Floats, Floats]:
    """How many rows are nearer than a query's own, and how many others are tied with it.

    The search of a query ends at ``enough`` nearer rows; ties are then not counted.
    """
    closer, tied = np.zeros(len(queries)), np.zeros(len(queries))
    nodes, least, block = np.empty(boxes.depth + 3, np.int64), np.empty(boxes.depth + 3), np.empty(LEAF)
    home, place = _homes(boxes)
    for i in range(len(queries)):
        query, before, ties = queries[i], 0, 0
        distances(query, boxes, home[own[i]], place[own[i]], np.inf, block)
        limit = block[0]
        nodes[0], nodes[1], least[1] = 1, 0, 0.0
        while before < enough:
            leaf = next_leaf(query, boxes, nodes, least, limit + TIE)
            if leaf < 0:
                break
            for start in range(boxes.start[leaf], boxes.stop[leaf], LEAF):
                for j in range(distances(query, boxes, leaf, start, limit + TIE, block)):
                    before += block[j] < limit - TIE
                    ties += abs(block[j] - limit) <= TIE
        if before < enough:
            closer[i], tied[i] = before, ties - 1
        else:
            closer[i] = enough
    return closer, tied


@njit(cache=True)
def _homes(boxes: Boxes) -> tuple[Rows, Rows]:
    """The leaf of each row, and its place."""
    home, place = np.empty(len(boxes.order), np.int64), np.empty(len(boxes.order), np.int64)
    for node in range(len(boxes.start)):
        if boxes.child[node] < 0:
            for there in range(boxes.start[node], boxes.stop[node]):
                home[boxes.order[there]], place[boxes.order[there]] = node, there
    return home, place
