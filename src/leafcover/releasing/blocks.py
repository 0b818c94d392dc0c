"""Columns that belong together: those that still tell much of each other inside the cells.

A shuffle inside cells destroys what two columns say of each other there. So what counts is the association *within* the
final cells, beyond what chance alone would show in cells so small; pairs with the largest share are shuffled together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.cells import Cells
from leafcover.fast.arrays import Codes, Floats, Rows
from leafcover.noise.shuffle import shuffle
from leafcover.table.table import Table
from leafcover.tree.bins import quantile_codes
from leafcover.tree.joint import level_codes

NUMBER_GROUPS = 8  # a number is compared in this many groups
LEAST = 0.10  # share of the smaller entropy inside cells that two columns must share
MOST_COLUMNS = 2  # in a block: a pair that is released together is a true pair, so blocks stay small
CHANCE_ROUNDS = 20  # shuffles that show what chance alone would give
DEVIATIONS = 4.0  # beyond chance, else the pair counts as unrelated
LEAST_BITS = 0.02  # entropy a row that a column must still have inside cells
MOST_WORK = 2_000_000  # pairs of columns times rows; beyond that whole cells are left out, evenly


@dataclass(frozen=True, eq=False)
class Association:
    """The share of the smaller entropy that each pair of columns shares inside cells, beyond chance."""

    names: tuple[str, ...]
    share: Floats  # (columns, columns), symmetric, 0 where it may be chance


def blocks(table: Table, names: Sequence[str], cells: Cells, *, k: int) -> list[tuple[str, ...]]:
    """The columns in blocks of at most two, strongest pairs first; a near-unique column stays alone.

    A partner of a near-unique column could be read off it: whoever knows the one would know the other.
    """
    alone = {name for name in names if _distinct(table, name) * k > len(table)}
    found = association(table, [name for name in names if name not in alone], cells)
    partner: dict[str, str] = {}
    pairs = np.argwhere(np.triu(found.share >= LEAST, 1))
    for i, j in sorted(pairs.tolist(), key=lambda pair: -found.share[pair[0], pair[1]]):
        one, other = found.names[i], found.names[j]
        if one not in partner and other not in partner:
            partner[one], partner[other] = other, one
    done: list[tuple[str, ...]] = []
    for name in names:
        if name not in partner:
            done.append((name,))
        elif (partner[name], name) not in done:
            done.append((name, partner[name]))
    return done


def _distinct(table: Table, name: str) -> int:
    column = table[name]
    known = column.values[~column.missing]
    return len(column.levels) if column.is_category else len(np.unique(known))


def association(table: Table, names: Sequence[str], cells: Cells) -> Association:
    """Measure every pair on whole cells, as many as the work allows."""
    from leafcover.fast.association import bits, pair_bits
    from leafcover.fast.mix import rows_by_cell

    if len(names) < 2:
        return Association(tuple(names), np.zeros((len(names), len(names))))
    rows, label = _sampled(cells, len(names))
    codes, sizes = _codes(table, names, rows)
    order, starts = rows_by_cell(label, int(label.max()) + 1)
    counts = np.arange(int(np.diff(starts).max()) + 1, dtype=np.float64)
    terms = counts * np.log2(np.maximum(counts, 1))
    growth = np.diff(terms, prepend=0.0)  # what the n-th row of a value adds to n log2 n
    whole = bits(np.zeros(len(rows), np.int32), 1, order, starts, growth)
    alone = np.array([bits(codes[i], int(sizes[i]), order, starts, growth) for i in range(len(names))])
    entropy = whole - alone  # bits over all rows
    same = np.arange(len(rows), dtype=np.int64)

    def information(source: Rows) -> Floats:
        pairs = pair_bits(codes, sizes, order, starts, source, growth)
        return pairs + whole - alone[:, None] - alone[None, :]

    rng = np.random.default_rng(0)  # fixed: the plan depends on the table alone
    chance = np.array(
        [information(shuffle(label, rng.integers(0, 2**64, len(rows), dtype=np.uint64))) for _ in range(CHANCE_ROUNDS)]
    )
    found, mean, spread = information(same), chance.mean(axis=0), chance.std(axis=0)
    room = np.minimum(entropy[:, None], entropy[None, :]) - mean
    real = (found - mean > DEVIATIONS * spread) & (room > LEAST_BITS * len(rows))
    share = np.triu(np.where(real, (found - mean) / np.maximum(room, 1e-9), 0.0), 1)
    return Association(tuple(names), share + share.T)


def _sampled(cells: Cells, columns: int) -> tuple[Rows, Rows]:
    """Rows of every n-th cell, and their labels from 0."""
    rows = max(2000, MOST_WORK // max(columns * (columns - 1) // 2, 1))
    every = max(1, -(-len(cells.label) // rows))
    kept = np.flatnonzero(cells.label % every == 0)
    return kept, cells.label[kept] // every


def _codes(table: Table, names: Sequence[str], rows: Rows) -> tuple[Codes, Rows]:
    """Columns as codes from 0, missing as one more."""
    found, sizes = [], []
    for name in names:
        column = table[name]
        if column.is_category:
            codes, count = level_codes(column)
        else:
            codes, count = quantile_codes(column.values, bins=NUMBER_GROUPS)
        found.append(np.where(codes[rows] < 0, count, codes[rows]).astype(np.int32))
        sizes.append(count + 1)
    return np.ascontiguousarray(np.array(found)), np.array(sizes, np.int64)
