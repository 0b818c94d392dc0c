"""A shrinking spatial index: exact nearest and farthest rows among those that have not been removed.

Rows are stored in blocks of similar rows, and blocks in groups; both have bounding boxes, so that a search examines few
rows. Boxes shrink as rows are removed; after many removals the caller rebuilds the index. Values are stored in single
precision, relative to a centre and in units of the largest distance from it: half the memory to read, and twice as many
rows per vector instruction. They only determine which rows to compare in the matrix.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Floats, Rows, Singles
from leafcover.kernels import ALLOCATES, ENTRY, INNER, ZERO
from leafcover.kernels.kd import halve_into_blocks
from leafcover.kernels.neighbors import squared_distance

ROWS_PER_BLOCK = 64  # measured: 32 cost a tenth more, 16 a quarter
BLOCKS_PER_GROUP = 64  # measured: 32 cost a tenth more, 16 a fifth
_MIN_SQUARED_RADIUS = 1e-280  # smaller squared distances lose precision: all rows count as being at the centre


class BlockBounds(NamedTuple):
    """Bounding boxes of blocks or of groups; inf and -inf for an empty box."""

    low: Singles  # (sets of boxes, columns, boxes): contiguous as it is read
    high: Singles  # (sets of boxes, columns, boxes)
    squared_radius: Singles  # (sets of boxes, boxes) largest squared distance from the centre, -1 if empty


class ShrinkingIndex(NamedTuple):
    """The remaining rows in blocks. The first ``sizes`` places of a block are in use; the others have the value inf."""

    matrix: Floats  # (rows, columns)
    centre: Floats  # (columns,) any point among the rows
    unit: float  # 1 over the largest distance from the centre
    values: Singles  # (blocks, columns, places)
    row: Rows  # (blocks, places)
    squared_radius: Singles  # (blocks, places) squared distance from the centre
    sizes: Rows  # (blocks,)
    place: Rows  # (rows,) block * ROWS_PER_BLOCK + place of the remaining rows
    block: BlockBounds  # one set of boxes per group
    group: BlockBounds  # a single set of boxes


@njit(**(INNER | ALLOCATES))
def build_index(matrix: Floats, rows: Rows, centre: Floats) -> ShrinkingIndex:
    """Build an index over the given rows of a matrix."""
    columns, order = matrix.shape[1], halve_into_blocks(matrix, rows, ZERO + ROWS_PER_BLOCK, ZERO + ROWS_PER_BLOCK)[0]
    groups = max(1, -(-len(rows) // (ROWS_PER_BLOCK * BLOCKS_PER_GROUP)))
    blocks = groups * BLOCKS_PER_GROUP
    index = ShrinkingIndex(
        matrix,
        centre,
        _unit(matrix, rows, centre),
        np.full((blocks, columns, ROWS_PER_BLOCK), np.inf, np.float32),
        np.full((blocks, ROWS_PER_BLOCK), -1),
        np.full((blocks, ROWS_PER_BLOCK), -1.0, np.float32),
        np.zeros(blocks, np.int64),
        np.empty(len(matrix), np.int64),
        _empty_boxes(groups, columns, BLOCKS_PER_GROUP),
        _empty_boxes(1, columns, groups),
    )
    for start in range(0, len(order), ROWS_PER_BLOCK):
        _fill_block(index, order[start : start + ROWS_PER_BLOCK], start // ROWS_PER_BLOCK)
        _bound_block(index, start // ROWS_PER_BLOCK)
    for group in range(groups):
        _bound_group(index, group)
    return index


@njit(**ENTRY)
def _unit(matrix: Floats, rows: Rows, centre: Floats) -> float:
    """1 over the largest distance from the centre."""
    greatest = 0.0
    for row in rows:
        total = 0.0
        for c in range(len(centre)):
            total += (matrix[row, c] - centre[c]) ** 2
        greatest = max(greatest, total)
    return 1.0 / np.sqrt(greatest) if greatest > _MIN_SQUARED_RADIUS else 1.0


@njit(**(INNER | ALLOCATES))
def _empty_boxes(sets: int, columns: int, boxes: int) -> BlockBounds:
    """Empty bounding boxes."""
    shape = (sets, columns, boxes)
    low, high = np.full(shape, np.inf, np.float32), np.full(shape, -np.inf, np.float32)
    return BlockBounds(low, high, np.full((sets, boxes), -1.0, np.float32))


@njit(**INNER)
def _fill_block(index: ShrinkingIndex, rows: Rows, block: int) -> None:
    """Store rows in a block."""
    own, matrix, centre, unit = index.values[block], index.matrix, index.centre, index.unit
    index.sizes[block] = len(rows)
    for i in range(len(rows)):
        squared_radius = 0.0
        for c in range(len(centre)):
            value = (matrix[rows[i], c] - centre[c]) * unit
            own[c, i] = value
            squared_radius += value * value
        index.row[block, i], index.squared_radius[block, i] = rows[i], squared_radius
        index.place[rows[i]] = block * ROWS_PER_BLOCK + i


@njit(**INNER)
def _bound_block(index: ShrinkingIndex, block: int) -> None:
    """Compute the bounding box of a block."""
    boxes, count, group, box = index.block, index.sizes[block], block // BLOCKS_PER_GROUP, block % BLOCKS_PER_GROUP
    for c in range(len(index.centre)):
        boxes.low[group, c, box] = _least(index.values[block, c, :count])
        boxes.high[group, c, box] = _greatest(index.values[block, c, :count], -np.inf)
    boxes.squared_radius[group, box] = _greatest(index.squared_radius[block, :count], -1.0)


@njit(**INNER)
def _bound_group(index: ShrinkingIndex, group: int) -> None:
    """Compute the bounding box of a group from those of its blocks."""
    small, large = index.block, index.group
    for c in range(len(index.centre)):
        large.low[0, c, group] = _least(small.low[group, c])
        large.high[0, c, group] = _greatest(small.high[group, c], -np.inf)
    large.squared_radius[0, group] = _greatest(small.squared_radius[group], -1.0)


@njit(**INNER)
def remove_row(index: ShrinkingIndex, row: int) -> None:
    """Remove a row: the last row of its block takes its place, and boxes shrink if it was on their boundary."""
    at = index.place[row]
    block, place = at // ROWS_PER_BLOCK, at % ROWS_PER_BLOCK
    group, box, last = block // BLOCKS_PER_GROUP, block % BLOCKS_PER_GROUP, index.sizes[block] - 1
    index.sizes[block] = last
    small, large = index.block, index.group
    for c in range(len(index.centre)):
        held = index.values[block, c]
        value = held[place]
        held[place], held[last] = held[last], np.inf
        if value == small.low[group, c, box]:
            small.low[group, c, box] = _least(held[:last])
            if value == large.low[0, c, group]:
                large.low[0, c, group] = _least(small.low[group, c])
        if value == small.high[group, c, box]:
            small.high[group, c, box] = _greatest(held[:last], -np.inf)
            if value == large.high[0, c, group]:
                large.high[0, c, group] = _greatest(small.high[group, c], -np.inf)
    held = index.squared_radius[block]
    squared_radius = held[place]
    held[place], held[last] = held[last], -1.0
    if squared_radius == small.squared_radius[group, box]:
        small.squared_radius[group, box] = _greatest(held[:last], -1.0)
        if squared_radius == large.squared_radius[0, group]:
            large.squared_radius[0, group] = _greatest(small.squared_radius[group], -1.0)
    moved = index.row[block, last]
    index.row[block, place], index.place[moved] = moved, at


@njit(**INNER)
def _least(values: Singles) -> np.float32:
    least = np.float32(np.inf)
    for value in values:
        least = min(least, value)
    return least


@njit(**INNER)
def _greatest(values: Singles, none: float) -> np.float32:
    greatest = np.float32(none)
    for value in values:
        greatest = max(greatest, value)
    return greatest


@njit(**INNER)
def _place_of_least(values: Singles) -> int:
    place = ZERO
    for i in range(1, len(values)):
        if values[i] < values[place]:
            place = i
    return place


@njit(**INNER)
def _place_of_greatest(values: Singles) -> int:
    place = ZERO
    for i in range(1, len(values)):
        if values[i] > values[place]:
            place = i
    return place


# Searches among the remaining rows, exactly as if all were compared.
#
# A vectorised pass in single precision selects the few rows whose exact squared distances are then summed in column
# order; ties go to the lower row. Functions for a block take arrays rather than the whole index, because passing the
# tuple costs twice as much as computing the distances.


_NO_ROW = np.iinfo(np.int64).max  # sorts after every row
_STEEPNESS = 0.5  # half the optimum for a ball without a box (measured: 0.25 or 1 examine up to twice the blocks)
_POSITION_ERROR = 1e-6  # exceeds the rounding of a row and a query, both within one unit of the centre
_SUM_ERROR = 2e-7  # per column, exceeds the relative rounding error of a sum of squares
_ZERO = np.float32(0.0)


@njit(**(INNER | ALLOCATES))
def nearest_remaining(index: ShrinkingIndex, query: Floats, own: int, near: Floats, who: Rows) -> None:
    """Fill ``near`` (squared distances) and ``who`` with the nearest rows, nearest first, excluding ``own``.

    The search starts in the block where row ``own`` is, or was before its removal.
    """
    for i in range(len(near)):
        near[i], who[i] = np.inf, _NO_ROW
    if len(near) == 0:
        return
    matrix, values, row, sizes, unit = index.matrix, index.values, index.row, index.sizes, index.unit
    low, high = index.block.low, index.block.high
    found, bounds, groups = (
        np.empty(ROWS_PER_BLOCK, np.float32),
        np.empty(BLOCKS_PER_GROUP, np.float32),
        _empty_bounds(index.group.squared_radius),
    )
    scaled, home = _to_index_units(query, index.centre, unit), index.place[own] // ROWS_PER_BLOCK
    limit = _search_block(
        query, scaled, matrix, values, row, sizes, unit, home, own, np.float32(np.inf), near, who, found
    )
    _least_distances(scaled, index.group.low, index.group.high, ZERO, groups)
    while True:
        group = _place_of_least(groups)
        if groups[group] == np.inf or groups[group] > limit:
            return
        groups[group] = np.inf
        _least_distances(scaled, low, high, group, bounds)
        start = group * BLOCKS_PER_GROUP
        for block in range(start, start + BLOCKS_PER_GROUP):
            if bounds[block - start] <= limit and block != home:
                limit = _search_block(
                    query, scaled, matrix, values, row, sizes, unit, block, own, limit, near, who, found
                )


@njit(**(INNER | ALLOCATES))
def _empty_bounds(squared_radius: Singles) -> Singles:
    return np.empty(squared_radius.size, np.float32)


@njit(**(INNER | ALLOCATES))
def _to_index_units(query: Floats, centre: Floats, unit: float) -> Singles:
    """The query in the units of the index."""
    scaled = np.empty(len(query), np.float32)
    for c in range(len(query)):
        scaled[c] = (query[c] - centre[c]) * unit
    return scaled


@njit(**INNER)
def _search_block(
    query: Floats, scaled: Singles, matrix: Floats, values: Singles, row: Rows, sizes: Rows, unit: float, block: int,
    own: int, limit: np.float32, near: Floats, who: Rows, found: Singles,
) -> np.float32:  # fmt: skip
    """Insert the rows of a block that are among the nearest so far; return the new limit in single precision."""
    _distances(scaled, values, block, found)
    if _count_within(found, limit) == 0:
        return limit
    for i in range(sizes[block]):
        if found[i] > limit or row[block, i] == own:
            continue
        other, distance, place = row[block, i], squared_distance(matrix, row[block, i], query), len(near) - 1
        if distance > near[place] or (distance == near[place] and other > who[place]):
            continue
        while place > 0 and (distance < near[place - 1] or (distance == near[place - 1] and other < who[place - 1])):
            near[place], who[place] = near[place - 1], who[place - 1]
            place -= 1
        near[place], who[place] = distance, other
        root = (np.sqrt(near[-1]) * unit + _POSITION_ERROR) * (1.0 + _SUM_ERROR * (len(query) + 4))
        limit = np.float32(root * root)
    return limit


@njit(**ENTRY)
def _distances(scaled: Singles, values: Singles, block: int, found: Singles) -> None:
    """Squared distances to the rows of a block, column by column, so that the loop vectorises."""
    for i in range(len(found)):
        found[i] = _ZERO
    for c in range(len(scaled)):
        value = scaled[c]
        for i in range(len(found)):
            apart = values[block, c, i] - value
            found[i] += apart * apart


@njit(**INNER)
def _count_within(found: Singles, limit: np.float32) -> int:
    """The number of distances within the limit; a loop without an early exit vectorises."""
    count = 0
    for i in range(len(found)):
        count += found[i] <= limit
    return count


@njit(**INNER)
def _count_at_least(found: Singles, rows: int, limit: np.float32) -> int:
    count = 0
    for i in range(rows):
        count += found[i] >= limit
    return count


@njit(**INNER)
def _least_distances(scaled: Singles, low: Singles, high: Singles, among: int, found: Singles) -> None:
    """Lower bounds on the distances to the boxes of a set, summed as in `_distances`, so that rounding is safe."""
    for i in range(len(found)):
        found[i] = _ZERO
    for c in range(len(scaled)):
        value = scaled[c]
        for i in range(len(found)):
            below, above = low[among, c, i] - value, value - high[among, c, i]
            apart = below if below > above else above
            apart = apart if apart > _ZERO else _ZERO
            found[i] += apart * apart


@njit(**(INNER | ALLOCATES))
def farthest_remaining(index: ShrinkingIndex, query: Floats) -> int:
    """The remaining row that is farthest from a point."""
    matrix, values, row, sizes, unit = index.matrix, index.values, index.row, index.sizes, index.unit
    low, high, squared_radius, wide = index.block.low, index.block.high, index.block.squared_radius, index.group
    found, bounds, groups = (
        np.empty(ROWS_PER_BLOCK, np.float32),
        np.empty(BLOCKS_PER_GROUP, np.float32),
        _empty_bounds(wide.squared_radius),
    )
    scaled, from_centre = _to_index_units(query, index.centre, unit), _ZERO
    greatest_squared_radius = _greatest(wide.squared_radius[0], -1.0)
    for c in range(len(scaled)):
        from_centre += scaled[c] * scaled[c]
    steepness = np.float32(
        _STEEPNESS * np.sqrt(from_centre / greatest_squared_radius)
        if from_centre * greatest_squared_radius > 0.0
        else 1.0
    )
    _greatest_distances(scaled, steepness, wide.low, wide.high, wide.squared_radius, ZERO, groups)
    farthest, who, limit = -1.0, -1, _ZERO
    while True:
        group = _place_of_greatest(groups)
        if groups[group] < limit:
            return who
        groups[group] = -1.0
        _greatest_distances(scaled, steepness, low, high, squared_radius, group, bounds)
        start = group * BLOCKS_PER_GROUP
        for block in range(start, start + BLOCKS_PER_GROUP):
            if bounds[block - start] < limit:
                continue
            _distances(scaled, values, block, found)
            if _count_at_least(found, sizes[block], limit) == 0:
                continue
            for i in range(sizes[block]):
                if found[i] < limit:
                    continue
                distance, other = squared_distance(matrix, row[block, i], query), row[block, i]
                if distance > farthest or (distance == farthest and other < who):
                    farthest, who = distance, other
                    root = np.sqrt(farthest) * unit * (1.0 - _SUM_ERROR * (len(query) + 4)) - _POSITION_ERROR
                    limit = np.float32(root * root if root > 0.0 else 0.0)


@njit(**INNER)
def _greatest_distances(
    scaled: Singles,
    steepness: np.float32,
    low: Singles,
    high: Singles,
    squared_radius: Singles,
    among: int,
    found: Singles,
) -> None:
    """Upper bounds on the distances to the boxes of a set; -1 for an empty box.

    A row y, relative to the centre, is in its box, and y² is at most the squared radius r². So for any steepness s >= 0
    (q - y)² = q² + y² - 2qy <= q² + (1 + s) r² - (s y² + 2qy), and the last term is smallest, column by column, at the
    point of the box closest to -q / s. Using only the corners of boxes, a search examines twice as many blocks.
    """
    for i in range(len(found)):
        found[i] = _ZERO
    square = _ZERO
    for c in range(len(scaled)):
        twice, best = scaled[c] + scaled[c], -scaled[c] / steepness
        square += scaled[c] * scaled[c]
        for i in range(len(found)):
            least, greatest = low[among, c, i], high[among, c, i]
            point = least if least > best else best
            point = greatest if greatest < point else point
            found[i] -= point * (steepness * point + twice)
    slack, more = np.float32(1.0 + 4.0 * _SUM_ERROR * (len(scaled) + 4)), np.float32(1.0 + steepness)
    for i in range(len(found)):
        whole = square + more * squared_radius[among, i]
        found[i] = whole * slack + found[i] if squared_radius[among, i] >= _ZERO else np.float32(-1.0)
