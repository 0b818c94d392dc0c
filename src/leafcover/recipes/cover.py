"""``cover``, our own recipe: cells refined for many columns, blocks of columns shuffled inside them.

Each value is hidden among at least k rows that obey the same rule; every marginal and every count of every cell stays
exact; no impossible pair is made inside a block.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leafcover.arrays import Codes, Floats, Rows
from leafcover.cells import Cells
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.partition.forest import Forest
from leafcover.partition.leaves import Leaves
from leafcover.partition.refine import Refine
from leafcover.perturb.shuffle import Shuffle, shuffle
from leafcover.recipes.plan import Made, Names, Plan, Step, listed_names
from leafcover.recipes.registry import recipe
from leafcover.table.table import Table, column_name
from leafcover.tree.histogram import quantile_codes
from leafcover.tree.joint import level_codes

MOST_K = 1_000_000
LARGE = 5_000  # rows from which a table can afford the larger k
LEAST_EXPLAINED = 0.01  # share of a column's entropy inside the leaves that its own tree must explain
SAMPLE = 20_000  # rows on which that is tried


@recipe("cover")
def cover(
    table: Table,
    *,
    target: str,
    k: int | None = None,
    within: Literal["tree", "forest"] = "tree",
    n_trees: int | None = None,
    blocks: Names | None = None,
    refine: Names | None = None,
    bins: int | None = None,
) -> Plan:
    """Cells of the target's tree, refined for other columns, never below k rows; every block shuffled on its own.

    k is 20, or 10 below 5,000 rows. With ``within=forest`` cells begin where the leaves of ``n_trees`` SysFor trees for
    the target meet (60 if not given), instead of with the leaves of one tree: more of its rules are kept, and less is
    left to refine for other columns. ``blocks`` ("a+b,c+d") and ``refine`` ("a,b", or "none") override what is found.
    """
    target = column_name("target", target)
    k = (20 if len(table) >= LARGE else 10) if k is None else k
    if not 2 <= k <= MOST_K:
        raise ValueOutOfRange("cover's k", k, f"a whole number of rows from 2 to {MOST_K:,}")
    made: dict[PartitionMethod, Partition] = {}
    # Tests that leave 2k rows, cells of 2k to 4k: with k the nearest released row was one's own twice as often.
    leaves = _leaves(target, within, n_trees, k, bins)
    made[leaves] = leaves.cells(table)
    by = _chosen(table, made[leaves].cells, 2 * k) if refine is None else _named(refine, table)
    cells: Leaves | Forest | Refine = leaves
    if by:
        cells = Refine(leaves, by=by, floor=2 * k)
        made[cells] = cells.refined(table, made[leaves])
    names = [n for n in table.names if table.roles.get(n) not in ("unchanged", "unit", "identifier")]
    free = [n for n in names if n != target]
    together = found_blocks(table, free, made[cells].cells, k=k) if blocks is None else _blocks(blocks, free, table)
    if target in names:
        together.append((target,))
    mix = Shuffle(missing="moves")
    steps = (Step(block, within=cells, perturb=mix) for block in together)
    return Plan(*steps, made=Made(table, made))


def _leaves(
    target: str, within: Literal["tree", "forest"], n_trees: int | None, k: int, bins: int | None
) -> Leaves | Forest:
    """The cells to begin with: no test may leave fewer than 2k rows in its branches."""
    if within == "forest":
        return Forest(of=target, n_trees=n_trees or 60, min_cell=k, min_records=max(2 * k, 10), bins=bins)
    if n_trees is not None:
        raise PlanError("n_trees is a setting of within=forest, but within is tree. Leave one out.")
    return Leaves(of=target, min_cell=k, min_records=2 * k, bins=bins)


def _chosen(table: Table, cells: Cells, floor: int) -> tuple[str, ...]:
    """The columns whose own trees explain something of them inside the target's leaves."""
    from leafcover.tree.joint import explained_shares

    every = max(1, -(-len(table) // SAMPLE))
    rows = np.arange(0, len(table), every)
    columns = [c for c in table if table.roles.get(c.name) != "unit"]
    shares = explained_shares([c.take(rows) for c in columns], cells.label[rows], cells.count, floor=floor)
    return tuple(c.name for c, share in zip(columns, shares, strict=True) if share >= LEAST_EXPLAINED)


def _named(given: Names, table: Table) -> tuple[str, ...]:
    names = [] if _is_none(given) else listed_names(given, table)
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "to refine for")
    return tuple(names)


def _is_none(given: Names) -> bool:
    return isinstance(given, str) and given.strip().lower() == "none"


def _blocks(given: Names, free: Sequence[str], table: Table) -> list[tuple[str, ...]]:
    """Blocks as the user wrote them; every other column alone."""
    blocks = given.split(",") if isinstance(given, str) else given
    written = [] if _is_none(given) else [block.split("+") for block in blocks]
    found = [tuple(name.strip() for name in block if name.strip()) for block in written]
    taken: set[str] = set()
    for name in (name for block in found for name in block):
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "for a block")
        if name not in free:
            raise PlanError(f"Column {name!r} cannot stand in a block: it is the target or stays unchanged.")
        if name in taken:
            raise PlanError(f"Column {name!r} stands in two blocks. Name it once.")
        taken.add(name)
    return [block for block in found if block] + [(name,) for name in free if name not in taken]


# Columns that belong together: those that still tell much of each other inside the cells.
#
# A shuffle inside cells destroys what two columns say of each other there. So what counts is the association *within*
# the final cells, beyond what chance alone would show in cells so small; pairs with the largest share are shuffled
# together.


NUMBER_GROUPS = 8  # a number is compared in this many groups
LEAST = 0.10  # share of the smaller entropy inside cells that two columns must share
MOST_COLUMNS = 2  # in a block: a pair that is released together is a true pair, so blocks stay small
CHANCE_ROUNDS = 20  # shuffles that show what chance alone would give
DEVIATIONS = 4.0  # beyond chance, else the pair counts as unrelated
LEAST_BITS = 0.02  # entropy a row that a column must still have inside cells
MOST_WORK = 2_000_000  # pairs of columns times rows; beyond that whole cells are left out, evenly


@dataclass(frozen=True, eq=False)
class CellAssociation:
    """The share of the smaller entropy that each pair of columns shares inside cells, beyond chance."""

    names: tuple[str, ...]
    share: Floats  # (columns, columns), symmetric, 0 where it may be chance


def found_blocks(table: Table, names: Sequence[str], cells: Cells, *, k: int) -> list[tuple[str, ...]]:
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


def association(table: Table, names: Sequence[str], cells: Cells) -> CellAssociation:
    """Measure every pair on whole cells, as many as the work allows."""
    from leafcover.kernels.joint import pair_bits, value_bits
    from leafcover.kernels.permute import rows_by_cell

    if len(names) < 2:
        return CellAssociation(tuple(names), np.zeros((len(names), len(names))))
    rows, label = _sampled(cells, len(names))
    codes, sizes = _codes(table, names, rows)
    order, starts = rows_by_cell(label, int(label.max()) + 1)
    counts = np.arange(int(np.diff(starts).max()) + 1, dtype=np.float64)
    terms = counts * np.log2(np.maximum(counts, 1))
    growth = np.diff(terms, prepend=0.0)  # what the n-th row of a value adds to n log2 n
    whole = value_bits(np.zeros(len(rows), np.int32), 1, order, starts, growth)
    alone = np.array([value_bits(codes[i], int(sizes[i]), order, starts, growth) for i in range(len(names))])
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
    return CellAssociation(tuple(names), share + share.T)


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
