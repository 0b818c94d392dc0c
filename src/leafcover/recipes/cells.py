"""``cells``, the predecessor of ``cover``: cells refined for many columns, blocks of columns permuted inside them.

Each cell has at least k rows if the table has. Permutation preserves every marginal and every count in every cell
exactly, and the combinations of values inside a block. This does not make the released table k-anonymous; what an
attacker learns is measured. The module also finds the blocks: pairs of columns that are associated inside cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.cells import Cells
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.partition.forest import Forest, Refine, explained_shares, level_codes
from leafcover.partition.leaves import Leaves
from leafcover.perturb.shuffle import Shuffle, shuffle
from leafcover.recipes.cover import MOST_K
from leafcover.recipes.plan import Made, Names, Plan, Step, listed_names
from leafcover.recipes.registry import recipe
from leafcover.table.table import Table, column_name
from leafcover.tree.histogram import quantile_codes

LARGE = 5_000  # tables with at least this many rows get the larger k
LEAST_EXPLAINED = 0.01  # minimum share of a column's entropy inside the leaves that its own tree explains
SAMPLE = 20_000  # rows on which that is estimated


@recipe("cells")
def cells(
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
    """Cells of the target's tree, refined for other columns, never below k rows; each block is permuted separately.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    target : str
        The column whose rules the release preserves. It may be left out if a column has the role "target".
    k : int, optional
        The minimum number of rows in a cell. Default: 20, or 10 below 5,000 rows.
    within : {"tree", "forest"}, default "tree"
        The initial cells: the leaves of one tree, or the intersections of the leaves of several SysFor trees. The
        latter preserves more rules of the target and leaves less to refine for other columns.
    n_trees : int, optional
        The number of trees of the forest. Default: 60.
    blocks : str or list of str, optional
        The columns to permute together, as "a+b,c+d" or ["a+b", "c+d"]; "none" for every column separately. By default
        pairs of columns that are associated inside the cells.
    refine : str or list of str, optional
        The columns to refine the cells for, as "a,b" or ["a", "b"]; "none" for no refinement. By default those whose
        own trees explain part of them.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.cells(table, target="union", k=20, blocks="age+experience")
    >>> plan.recipe, plan.steps[0].columns
    ('cells', ('age', 'experience'))
    """
    target = column_name("target", target)
    k = (20 if len(table) >= LARGE else 10) if k is None else k
    if not 2 <= k <= MOST_K:
        raise ValueOutOfRange("cells' k", k, f"a whole number of rows from 2 to {MOST_K:,}")
    made: dict[PartitionMethod, Partition] = {}
    # Branches of at least 2k rows give cells of 2k to 4k. With k the nearest row was a person's own twice as often.
    leaves = _leaves(target, within, n_trees, k, bins)
    made[leaves] = leaves.cells(table)
    by = _chosen(table, made[leaves].cells, 2 * k) if refine is None else _named(refine, table)
    within_cells: Leaves | Forest | Refine = leaves
    if by:
        within_cells = Refine(leaves, by=by, floor=2 * k)
        made[within_cells] = within_cells.refined(table, made[leaves])
    names = [n for n in table.names if table.roles.get(n) not in ("unchanged", "unit", "identifier")]
    free = [n for n in names if n != target]
    together = (
        found_blocks(table, free, made[within_cells].cells, k=k) if blocks is None else _blocks(blocks, free, table)
    )
    if target in names:
        together.append((target,))
    mix = Shuffle(missing="moves")
    steps = (Step(block, within=within_cells, perturb=mix) for block in together)
    return Plan(*steps, made=Made(table, made))


def _leaves(
    target: str, within: Literal["tree", "forest"], n_trees: int | None, k: int, bins: int | None
) -> Leaves | Forest:
    """The initial cells: every branch of a test has at least 2k rows."""
    if within == "forest":
        return Forest(of=target, n_trees=n_trees or 60, min_cell=k, min_records=max(2 * k, 10), bins=bins)
    if n_trees is not None:
        raise PlanError("n_trees is a setting of within=forest, but within is tree. Leave one out.")
    return Leaves(of=target, min_cell=k, min_records=2 * k, bins=bins)


def _chosen(table: Table, cells: Cells, floor: int) -> tuple[str, ...]:
    """The columns whose own trees explain part of their variation inside the target's leaves."""
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
    """The blocks that the user gave; every other column is a block of its own."""
    blocks = given.split(",") if isinstance(given, str) else given
    written = [] if _is_none(given) else [block.split("+") for block in blocks]
    found = [tuple(name.strip() for name in block if name.strip()) for block in written]
    taken: set[str] = set()
    for name in (name for block in found for name in block):
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "for a block")
        if name not in free:
            raise PlanError(f"Column {name!r} cannot be in a block: it is the target or stays unchanged.")
        if name in taken:
            raise PlanError(f"Column {name!r} is in two blocks. Name it once.")
        taken.add(name)
    return [block for block in found if block] + [(name,) for name in free if name not in taken]


# Which columns to permute together: those that are still associated inside the cells. Permuting columns separately
# destroys their association inside cells. So the association is measured *within* the final cells, beyond what chance
# produces in cells of this size, and the most strongly associated pairs are permuted together.


NUMBER_GROUPS = 8  # number of groups that a number is divided into
LEAST = 0.10  # minimum mutual information inside cells, as a share of the smaller entropy
MOST_COLUMNS = 2  # columns in a block; a pair released together is a true pair, so blocks are small
CHANCE_ROUNDS = 20  # permutations that estimate the association by chance
DEVIATIONS = 4.0  # beyond chance; otherwise the pair counts as unrelated
LEAST_BITS = 0.02  # minimum entropy per row of a column inside cells
MOST_WORK = 2_000_000  # column pairs times rows; beyond that, cells are sampled evenly


@dataclass(frozen=True, eq=False)
class CellAssociation:
    """The mutual information of each pair of columns inside cells beyond chance, as a share of the smaller entropy."""

    names: tuple[str, ...]
    share: Floats  # (columns, columns), symmetric; 0 where chance may explain it


def found_blocks(table: Table, names: Sequence[str], cells: Cells, *, k: int) -> list[tuple[str, ...]]:
    """The columns in blocks of at most two, strongest pairs first; a nearly unique column has a block of its own.

    An attacker who knows the value of a nearly unique column could look up the other value of its block.
    """
    nearly_unique = {name for name in names if _distinct(table, name) * k > len(table)}
    found = association(table, [name for name in names if name not in nearly_unique], cells)
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
    """Measure every pair on whole cells, on as many as the work limit allows."""
    from leafcover.kernels.dealing import rows_by_cell
    from leafcover.kernels.joint import pair_bits, value_bits

    if len(names) < 2:
        return CellAssociation(tuple(names), np.zeros((len(names), len(names))))
    rows, label = _sampled(cells, len(names))
    codes, sizes = _codes(table, names, rows)
    order, starts = rows_by_cell(label, int(label.max()) + 1)
    counts = np.arange(int(np.diff(starts).max()) + 1, dtype=np.float64)
    terms = counts * np.log2(np.maximum(counts, 1))
    growth = np.diff(terms, prepend=0.0)  # increment of n log2 n for the n-th row of a value
    memory = np.zeros(int(sizes.max()), np.int64)
    whole = value_bits(np.zeros(len(rows), np.int64), order, starts, growth, memory)
    single = np.array([value_bits(codes[i], order, starts, growth, memory) for i in range(len(names))])
    entropy = whole - single  # bits over all rows
    same = np.arange(len(rows), dtype=np.int64)

    def information(source: Rows) -> Floats:
        pairs = pair_bits(codes, sizes, order, starts, source, growth)
        return pairs + whole - single[:, None] - single[None, :]

    rng = np.random.default_rng(0)  # fixed seed: the plan depends only on the table
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


def _codes(table: Table, names: Sequence[str], rows: Rows) -> tuple[Rows, Rows]:
    """Columns as codes from 0, with one more code for missing."""
    found, sizes = [], []
    for name in names:
        column = table[name]
        if column.is_category:
            codes, count = level_codes(column)
        else:
            codes, count = quantile_codes(column.values, bins=NUMBER_GROUPS)
        found.append(np.where(codes[rows] < 0, count, codes[rows]).astype(np.int64))
        sizes.append(count + 1)
    return np.ascontiguousarray(np.array(found)), np.array(sizes, np.int64)
