"""Microaggregation: MDAV, V-MDAV, optimal univariate groups, and the centres of cells.

MDAV (Domingo-Ferrer and Mateo-Sanz 2002): the row r farthest from the centroid of the remaining rows forms a group with
its k - 1 nearest rows, and the row farthest from r forms another, until fewer than 3k rows remain. Squared distances
are summed in column order and the centroid is computed from running sums, so that every search strategy gives the same
groups. Ties go to the lower row.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import MISSING, Codes, Floats, Rows
from leafcover.kernels import ALLOCATES, ENTRY, INNER, ZERO
from leafcover.kernels.kd import halve_into_blocks
from leafcover.kernels.neighbors import squared_distance, squared_distances
from leafcover.kernels.shrinking_index import (
    ShrinkingIndex,
    build_index,
    farthest_remaining,
    nearest_remaining,
    remove_row,
)
from leafcover.kernels.sorting import sort_pairs, sort_values

# Measured on 1,000,000 rows of ten columns with k = 10: blocks of 64,000 rows lose 1.21 times as much information as
# exact groups, in a fifth of the time; blocks of 8,000 rows lose 1.33 times as much, in half of that time.
MAX_BLOCK_ROWS = 64_000
_REBUILD_SHARE = 0.6  # the index is rebuilt when this share of its rows remains (measured: 0.4 to 0.8 cost the same)


@njit(**(ENTRY | ALLOCATES))
def mdav(values: Floats, k: int) -> Rows:
    """The MDAV group of each row of a matrix (rows, columns), in order of creation, with k to 2k - 1 rows each.

    Fewer than 2k rows form one group.
    """
    label = np.full(len(values), -1)
    remaining, group, indexed_rows, rows = len(values), ZERO, len(values), np.arange(len(values))
    sums = np.zeros(values.shape[1])
    for row in range(len(values)):
        for c in range(len(sums)):
            sums[c] += values[row, c]
    near, who, centre = np.empty(k - 1), np.empty(k - 1, np.int64), sums / remaining
    index, by_distance = build_index(values, rows, centre), sort_by_distance(values, rows, centre)
    while remaining >= 2 * k:
        centre = sums / remaining
        if remaining < _REBUILD_SHARE * indexed_rows:
            rows = _unlabelled(rows, label)
            index, indexed_rows = build_index(values, rows, centre), remaining
        if needs_sorting(by_distance, remaining):
            by_distance = sort_by_distance(values, _unlabelled(rows, label), centre)
        seed = farthest_unlabelled(by_distance, values, label, centre)
        _take_group(values, index, seed, label, group, sums, near, who)
        if remaining >= 3 * k:
            opposite = farthest_remaining(index, values[seed])
            _take_group(values, index, opposite, label, group + 1, sums, near, who)
            remaining, group = remaining - k, group + 1
        remaining, group = remaining - k, group + 1
    for row in range(len(label)):
        if label[row] < 0:
            label[row] = group
    return label


@njit(**(INNER | ALLOCATES))
def _unlabelled(rows: Rows, label: Rows) -> Rows:
    """The rows whose label is still -1, in order."""
    kept, count = np.empty(len(rows), np.int64), 0
    for i in range(len(rows)):
        if label[rows[i]] < 0:
            kept[count] = rows[i]
            count += 1
    return kept[:count]


@njit(**(INNER | ALLOCATES))
def _take_group(
    values: Floats, index: ShrinkingIndex, seed: int, label: Rows, group: int, sums: Floats, near: Floats, who: Rows
) -> None:
    """Make a group of a row and its nearest rows, and remove them in this order."""
    nearest_remaining(index, values[seed], seed, near, who)
    for i in range(-1, len(who)):
        row = seed if i < 0 else who[i]
        label[row] = group
        remove_row(index, row)
        for c in range(len(sums)):
            sums[c] -= values[row, c]


def blocked_mdav(values: Floats, k: int, largest: int) -> Rows:
    """MDAV within blocks of at most ``largest`` similar rows (at least 2k - 1); groups still have at least k rows.

    The sizes of all blocks but the last are multiples of k, so only one group is larger than k.
    """
    label, groups = np.empty(len(values), np.int64), 0
    order, starts = halve_into_blocks(values, np.arange(len(values)), k, largest)
    for start, stop in pairwise(starts):
        rows = order[start:stop]
        label[rows] = mdav(values[rows], k) + groups
        groups += max(1, len(rows) // k)
    return label


# V-MDAV (Solanas and Martínez-Ballesté 2006): groups of k rows that absorb rows close to them and far from others.
#
# The centroid is that of all rows; the remaining row farthest from it starts each group.


@njit(**(ENTRY | ALLOCATES))
def vmdav(values: Floats, k: int, gamma: float) -> Rows:
    """The V-MDAV group of each row of a matrix (rows, columns), numbered in order of creation.

    A group of k rows absorbs the row nearest to one of its members while it has fewer than 2k - 1 rows and the distance
    is below gamma times the row's distance to the nearest other ungrouped row (inf without one). If fewer than k
    rows are left over, each joins the group with the nearest centroid, which may then exceed 2k - 1 rows. Fewer than k
    rows in total form one group.
    """
    label, remaining, group, indexed_rows = np.full(len(values), -1), len(values), ZERO, len(values)
    rows, sums = np.arange(len(values)), np.zeros(values.shape[1])
    for row in range(len(values)):
        for c in range(len(sums)):
            sums[c] += values[row, c]
    centre, members = sums / len(values), np.empty(2 * k, np.int64)
    index, seeds, nearness = (
        build_index(values, rows, centre),
        np.arange(len(values)),
        -squared_distances(values, centre),
    )
    sort_pairs(nearness, seeds, np.empty_like(nearness), np.empty_like(seeds), ZERO, len(seeds))
    for seed in seeds:
        if label[seed] >= 0:
            continue
        if remaining < k:
            break
        if remaining < _REBUILD_SHARE * indexed_rows:
            rows = _unlabelled(rows, label)
            index, indexed_rows = build_index(values, rows, centre), remaining
        size = _group_around(values, index, seed, k, gamma, remaining, members)
        for i in range(size):
            label[members[i]] = group
        remaining, group = remaining - size, group + 1
    if remaining > 0:
        _assign_leftovers(values, label, group)
    return label


@njit(**(INNER | ALLOCATES))
def _group_around(
    values: Floats, index: ShrinkingIndex, seed: int, k: int, gamma: float, remaining: int, members: Rows
) -> int:
    """Remove a row, its nearest rows and those that the group absorbs; return the size of the group."""
    nearest_remaining(index, values[seed], seed, np.empty(k - 1), members[1:k])
    members[0] = seed
    for member in members[:k]:
        remove_row(index, member)
    size, left = k, remaining - k
    next_near, next_row = (
        np.full(2 * k, np.inf),
        np.full(2 * k, -1),
    )  # the nearest row outside of each member, once known
    while size < 2 * k - 1 and left > 0:
        for i in range(size):
            if next_row[i] < 0:
                nearest_remaining(index, values[members[i]], members[i], next_near[i : i + 1], next_row[i : i + 1])
        first = 0
        for i in range(1, size):
            tied = next_near[i] == next_near[first] and next_row[i] < next_row[first]
            if next_near[i] < next_near[first] or tied:
                first = i
        row, apart = next_row[first], next_near[first]
        nearest_remaining(index, values[row], row, next_near[size : size + 1], next_row[size : size + 1])
        if gamma == 0.0 or np.sqrt(apart) >= gamma * np.sqrt(next_near[size]):
            break
        remove_row(index, row)
        for i in range(size):
            if next_row[i] == row:
                next_row[i] = -1
        members[size] = row
        size, left = size + 1, left - 1
    return size


@njit(**(INNER | ALLOCATES))
def _assign_leftovers(values: Floats, label: Rows, groups: int) -> None:
    """Assign ungrouped rows to the group with the nearest centroid; ties go to the first."""
    centroids, count = np.zeros((max(groups, 1), values.shape[1])), np.zeros(max(groups, 1))
    for row in range(len(label)):
        if label[row] >= 0:
            count[label[row]] += 1
            for c in range(values.shape[1]):
                centroids[label[row], c] += values[row, c]
    for group in range(groups):
        for c in range(values.shape[1]):
            centroids[group, c] /= count[group]
    for row in range(len(label)):
        if label[row] < 0:
            label[row] = _nearest_centroid(centroids, values[row])


@njit(**INNER)
def _nearest_centroid(centroids: Floats, point: Floats) -> int:
    least, nearest = np.inf, 0
    for group in range(len(centroids)):
        distance = squared_distance(centroids, group, point)
        if distance < least:
            least, nearest = distance, group
    return nearest


# Univariate microaggregation of sorted values: groups of fixed size, or optimal groups.
#
# Hansen and Mukherjee (2003): the groups with the smallest within-group sum of squares have k to 2k - 1 values, so the
# best last group of the first n values is one of k candidates. If a value may be held by several rows, k counts rows: a
# group that ends with k rows has fewer than k before them, or it would be two.


def fixed_groups(count: int, k: int) -> Rows:
    """The group of each of ``count`` sorted values: k values per group, and the remainder in the last."""
    label: Rows = np.minimum(np.arange(count, dtype=np.int64) // k, max(count // k, 1) - 1)
    return label


def optimal_groups(values: Floats, k: int, held: Rows | None = None) -> Rows:
    """The groups of sorted values with the smallest within-group sum of squares, none with fewer than k rows.

    ``held`` is how many rows hold each value, by default one. Fewer than 2k rows form one group. Ties go to the
    smallest last group. Squares are computed relative to the last value of a group, so that values far from zero lose
    no precision.
    """
    count = len(values)
    rows = np.ones(count, np.int64) if held is None else held
    label = np.zeros(count, np.int64)
    if rows.sum() >= 2 * k:
        best = np.full(count + 1, np.inf)
        _optimal_groups(values, rows, np.int64(k), best, np.full(count + 1, count), label)
    return label


@njit(**ENTRY)
def _optimal_groups(values: Floats, held: Rows, k: int, best: Floats, size: Rows, label: Rows) -> None:
    """``best`` is the least sum of the first n values, and ``size`` the number of values in their last group."""
    nearest, rows = ZERO, ZERO  # the shortest last group begins at ``nearest`` and has so many rows
    best[0] = 0.0
    for end in range(1, len(values) + 1):
        if end % (2 * k) == 0:
            # Keep only differences within reach: they would be lost next to the squares of a distant outlier.
            low = np.inf
            for n in range(end - 2 * k + 1, end):
                low = min(low, best[n])
            for n in range(end - 2 * k + 1, end):
                best[n] -= low
        rows += held[end - 1]
        while rows - held[nearest] >= k:
            rows -= held[nearest]
            nearest += 1
        if rows >= k:
            best[end], size[end] = _best_last(values, held, best, end, nearest, rows, k)
    end, group = len(values), 0  # follow the last groups from the end, and number the groups from the start
    while end > 0:
        for n in range(end - size[end], end):
            label[n] = -group
        end -= size[end]
        group += 1
    for n in range(len(values)):
        label[n] += group - 1


@njit(**INNER)
def _best_last(
    values: Floats, held: Rows, best: Floats, end: int, nearest: int, rows: int, k: int
) -> tuple[float, int]:
    """The smallest sum of squares of the values before ``end``, and the size of the last group that attains it."""
    last, total, squares = values[end - 1], 0.0, 0.0
    for i in range(nearest + 1, end):
        apart = last - values[i]
        total += apart * held[i]
        squares += apart * apart * held[i]
    least, size, more, start = np.inf, end - nearest, ZERO, nearest
    while start >= 0 and more < k:  # k rows more would be a group of their own
        apart = last - values[start]
        total += apart * held[start]
        squares += apart * apart * held[start]
        found = best[start] + (squares - total * total / (rows + more))
        if found < least:
            least, size = found, end - start
        start -= 1
        more += held[start] if start >= 0 else ZERO
    return least, size


# The centre of each cell: mean, median or mode.


LARGE = 1e290  # sums of larger numbers could overflow
SHRINK = 2.0**-60  # scale at which they are summed, without relevant loss


@njit(**(ENTRY | ALLOCATES))
def centres_of_cells(
    order: Rows, starts: Rows, values: Floats, divisor: float, median: bool
) -> tuple[Rows, Floats]:  # fmt: skip
    """The number of known values of each cell, and their mean or median over ``divisor`` (nan without any).

    With integers and a divisor, such as cents and 100, the result is rounded once: the mean of 0.1 and 0.3 is 0.2.

    A cell's values are sorted first, so that the order of rows does not matter, and added with compensated summation,
    so that the total error is about one rounding.
    """
    count = len(starts) - 1
    known = np.zeros(count, np.int64)
    centre = np.full(count, np.nan)
    buffer = np.empty(_largest_cell(starts))
    for c in range(count):
        size = 0
        for i in range(starts[c], starts[c + 1]):
            x = values[order[i]]
            if not np.isnan(x):
                buffer[size] = x
                size += 1
        known[c] = size
        if size == 0:
            continue
        here = buffer[:size]
        sort_values(here)
        pair = here[(size - 1) // 2 : size // 2 + 1]
        middle = _mean(pair if median else here, divisor)
        centre[c] = min(max(middle, here[0] / divisor), here[-1] / divisor) + 0.0  # + 0.0: one zero
    return known, centre


@njit(**(ENTRY | ALLOCATES))
def modes_of_cells(order: Rows, starts: Rows, codes: Codes) -> tuple[Rows, Codes]:
    """The number of known codes of each cell, and the mode, the lowest if several tie (-1 without any)."""
    count = len(starts) - 1
    known = np.zeros(count, np.int64)
    mode = np.full(count, MISSING, np.int32)
    buffer = np.empty(_largest_cell(starts), np.int32)
    for c in range(count):
        size = 0
        for i in range(starts[c], starts[c + 1]):
            code = codes[order[i]]
            if code != MISSING:
                buffer[size] = code
                size += 1
        known[c] = size
        here = buffer[:size]
        sort_values(here)
        longest, run = 0, 0
        for i in range(size):
            run = run + 1 if i > 0 and here[i] == here[i - 1] else 1
            if run > longest:
                longest = run
                mode[c] = here[i]
    return known, mode


@njit(**ENTRY)
def _mean(values: Floats, divisor: float) -> float:
    scale = SHRINK if max(abs(values[0]), abs(values[-1])) > LARGE else 1.0
    total, lost = 0.0, 0.0
    for x in values:
        new = total + x * scale
        part = new - total
        lost += (total - (new - part)) + (x * scale - part)  # the exact rounding error of the addition
        total = new
    return (total + lost) / (len(values) * divisor) / scale


@njit(**INNER)
def _largest_cell(starts: Rows) -> int:
    most = 0
    for c in range(len(starts) - 1):
        most = max(most, starts[c + 1] - starts[c])
    return most


# The row farthest from a slowly moving centroid.
#
# Rows are sorted by their distance from an old centroid, farthest first. By the triangle inequality, a row's distance
# from the new centroid is at most that distance plus the distance between the centroids, so a search usually ends soon.


_SLACK = 1.0 + 1e-10  # exceeds the rounding error of a distance
_SORT_COST = 12  # examining this many rows costs about as much as sorting one
_FIRST, _WORK = 0, 1


class DistanceOrder(NamedTuple):
    """Rows sorted by their distance from a centre, farthest first; some may have been grouped since."""

    centre: Floats  # (columns,)
    nearness: Floats  # (rows,) distances below zero, ascending
    row: Rows  # (rows,)
    seen: Rows  # (2,) position of the first ungrouped row; number of rows examined by searches


@njit(**(INNER | ALLOCATES))
def sort_by_distance(values: Floats, rows: Rows, centre: Floats) -> DistanceOrder:
    """Sort rows of a matrix (rows, columns) by their distance from a point."""
    nearness, order = np.empty(len(rows)), np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        nearness[i], order[i] = -np.sqrt(squared_distance(values, rows[i], centre)), rows[i]
    sort_pairs(nearness, order, np.empty(len(rows)), np.empty(len(rows), np.int64), ZERO, len(rows))
    return DistanceOrder(centre, nearness, order, np.zeros(2, np.int64))


@njit(**INNER)
def needs_sorting(by_distance: DistanceOrder, remaining: int) -> bool:
    """Whether searches have cost as much as sorting the remaining rows again."""
    return by_distance.seen[_WORK] > _SORT_COST * remaining


@njit(**INNER)
def farthest_unlabelled(by_distance: DistanceOrder, values: Floats, label: Rows, point: Floats) -> int:
    """The farthest row whose label is still -1; ties go to the lowest row."""
    nearness, row, seen, moved = by_distance.nearness, by_distance.row, by_distance.seen, 0.0
    for c in range(len(point)):
        moved += (point[c] - by_distance.centre[c]) ** 2
    moved = np.sqrt(moved)
    while label[row[seen[_FIRST]]] >= 0:
        seen[_FIRST] += 1
    farthest, root, who, i = -1.0, -1.0, -1, seen[_FIRST]
    while i < len(row) and (moved - nearness[i]) * _SLACK + 1e-150 >= root:
        if label[row[i]] < 0:
            found = squared_distance(values, row[i], point)
            if found > farthest or (found == farthest and row[i] < who):
                farthest, root, who = found, np.sqrt(found), row[i]
        i += 1
    seen[_WORK] += i - seen[_FIRST]
    return who
