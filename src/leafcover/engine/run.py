"""Carry out a plan: all cells from the original, then every step, then the promises checked on the result."""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import isnan
from typing import TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Rows
from leafcover.errors import InvariantViolated, TableError
from leafcover.partition.base import Partition, PartitionMethod, allowed_ranges
from leafcover.perturb.base import Changed, Chunk
from leafcover.recipes.plan import Plan, Step, canonical, check
from leafcover.rng import Draws, Key
from leafcover.table.identifiers import identifiers
from leafcover.table.output import replace_values, take_values
from leafcover.table.table import Column, Table
from leafcover.tree.predict import leaf_membership
from leafcover.tree.tree import LeafMembership, Tree

# Whether groups are as large as was asked: a table with fewer rows than that is one group, and that is said.


FEWEST = 5  # a smaller count is not published


def not_reached(
    plan: Plan, partitions: Mapping[PartitionMethod, Partition], *, published: bool = False
) -> tuple[str, ...]:
    """One sentence for every size that was asked for and that the smallest group has not, or that only all rows have.

    In what is ``published`` a count under five is not told.
    """
    name = "k" if plan.recipe == "cover" else "min_cell"
    found = []
    for one in dict.fromkeys(step.within for step in plan.steps):
        sizes = partitions[one].cells.sizes
        smallest = int(sizes.min())
        if one.groups_similar:
            if len(sizes) == 1 < one.min_rows:
                found.append(f"All rows are one group of k = {one.min_rows:,}: every average is the column's own.")
        elif smallest < one.min_rows:
            few = f"fewer than {FEWEST}" if published and smallest < FEWEST else str(smallest)
            rows = "1 row" if few == "1" else f"{few} rows"
            all_of_it = ", the whole table" if len(sizes) == 1 else ""
            found.append(f"{name} = {one.min_rows:,} was asked for; the smallest group has {rows}{all_of_it}.")
    return tuple(dict.fromkeys(found))


# Refuse to release what names people.


def refuse_identifiers(table: Table) -> None:
    """An identifier must be dropped, or be left unchanged on purpose; the target is known to be none."""
    suspects = [s for s in identifiers(table) if s.severity == "refuse" and table.roles.get(s.column) != "target"]
    if suspects:
        more = [s.column for s in suspects[1:]]
        raise TableError(suspects[0].message + (f" The same holds for {', '.join(more)}." if more else ""))


# A keyed mark of a table's values: equal for equal tables in any format, useless without the key.
#
# A plain hash would let an attacker who knows all rows but one confirm a guess at the last.


PART_ROWS = 65_536  # a constant of the format


def fingerprint(table: Table, key: Key) -> str:
    """Sixty-four hexadecimal digits over names, kinds and values, hashed part by part."""
    mark = hmac.new(key.secret, b"leafcover fingerprint 1", hashlib.sha256)
    for column in table:
        head = repr((column.name, column.kind, len(column))).encode()
        mark.update(len(head).to_bytes(8, "big") + head)
        values = _canonical(column, mark)
        for start in range(0, len(values), PART_ROWS):
            mark.update(hashlib.sha256(values[start : start + PART_ROWS].tobytes()).digest())
    return mark.hexdigest()


def _canonical(column: Column, mark: "hmac.HMAC") -> Array:
    """Values as bytes that do not depend on how the table was stored."""
    if not column.is_category:
        # One bit pattern for every nan and for both zeros.
        return np.where(np.isnan(column.values), np.nan, column.values + 0.0).astype("<f8")
    seen = np.zeros(len(column.levels) + 1, np.bool_)  # the last place takes the missing code -1
    seen[column.values] = True
    for level, there in zip(column.levels, seen[:-1], strict=True):
        if there:  # a level that was declared but does not occur is no part of the data
            data = level.encode("utf-8", "surrogatepass")
            mark.update(len(data).to_bytes(8, "big") + data)
    new = np.append(np.cumsum(seen[:-1]) - 1, MISSING)
    return new[column.values].astype("<i4")


Progress: TypeAlias = Callable[[str, float], None]  # what is being done, and the share that is done

VERSION = "2"  # of the way draws are derived; a change here changes every released value


@dataclass(frozen=True)
class ColumnFact:
    """What happened to a column: shares of all rows."""

    name: str
    changed: float  # the value is another one than before
    fixed: float  # the value could not change: its law gives it at least 0.95 (known values only)
    range_fraction: float = 1.0  # the share of its domain that the boxes allow, as a mean over known values


@dataclass(frozen=True)
class TreeFact:
    """What happened to a tree: the share of rows that stand in the same leaves as before."""

    target: str
    leaves: int
    kept: float


def mean_kept(trees: Sequence[TreeFact]) -> float:
    """The share of rows in the same leaf as before, as a mean over trees."""
    return float(np.mean([tree.kept for tree in trees]))


def least_kept(trees: Sequence[TreeFact]) -> float:
    """The same in the tree that was kept least."""
    return min(tree.kept for tree in trees)


@dataclass(frozen=True)
class CellFact:
    """The cells of one step."""

    columns: tuple[str, ...]
    count: int
    smallest: int
    median: int
    single: float  # the share of rows that stand alone in their cell
    pooled: int  # rows in pools of small leaves


@dataclass(frozen=True, eq=False)
class Release:
    """A released table and what is known about how it came to be; ``source`` is secret."""

    table: Table
    plan: Plan
    source: Rows  # (rows,) the original row of each released row
    columns: tuple[ColumnFact, ...]
    trees: tuple[TreeFact, ...]
    cells: tuple[CellFact, ...]
    warnings: tuple[str, ...]
    fingerprint: str  # keyed: says nothing without the key
    publishable: bool
    kept_order: bool
    unprotected: tuple[str, ...]  # columns that left as they came in
    partitions: Mapping[PartitionMethod, Partition]

    @property
    def singletons(self) -> float:
        """The share of rows that share their cell with nobody, in the step with most of them."""
        return max((cell.single for cell in self.cells), default=0.0)


def run(
    table: Table,
    plan: Plan,
    *,
    key: Key,
    keep_order: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Release a table by a plan. Rows leave in a keyed random order unless ``keep_order``."""
    tell = progress or (lambda words, share: None)
    if len(table) < 2:
        raise TableError(f"A release needs at least 2 rows. Got {len(table)}.")
    made = None if plan.made is None else plan.made.of(table)
    table = table.select(name for name in table.names if table.roles.get(name) != "unit")
    check(plan, table)
    refuse_identifiers(table)
    mark = fingerprint(table, key)
    root = Draws(key.secret).sub(f"leafcover {VERSION}", mark, canonical(plan))
    partitions = partitions_of(table, plan, tell, made)
    rows = np.arange(len(table), dtype=np.int64)
    order = rows if keep_order else np.argsort(root.sub("order").words(rows), kind="stable")

    after: dict[str, Changed] = {}
    fixed: dict[str, float] = {}
    for number, step in enumerate(plan.steps, 1):
        tell(f"changing {_listed(step.columns)}", 0.5 + 0.4 * (number - 1) / len(plan.steps))
        whole = whole_part(table, step, partitions)
        changed, stuck = _change(whole, step, root.sub(f"step {number}", *step.columns))
        broken = step.perturb.violations(whole, {name: one.values for name, one in changed.items()})
        if broken:
            raise InvariantViolated(
                f"Step {number} did not keep its promise, so nothing is written: {'; '.join(broken)}."
            )
        after.update(changed)
        fixed.update(stuck)

    tell("checking what was kept", 0.9)
    allowed = _range_fractions(table, plan, partitions)
    columns = tuple(
        ColumnFact(c.name, _share_changed(c, after[c.name].values), fixed[c.name], allowed[c.name])
        if c.name in after
        else ColumnFact(c.name, 0.0, share_stuck(c, ~c.missing))
        for c in table
    )
    trees = _tree_facts(table, after, partitions)
    released = Table(tuple(_column(c, after.get(c.name), order) for c in table), roles=table.roles, source=table.source)
    return Release(
        table=released,
        plan=plan,
        source=order,
        columns=columns,
        trees=trees,
        cells=tuple(_cell_fact(step, partitions[step.within]) for step in plan.steps),
        warnings=_warnings(table, plan, partitions),
        fingerprint=mark,
        publishable=key.publishable,
        kept_order=keep_order,
        unprotected=tuple(c.name for c in table if c.name not in after),
        partitions=partitions,
    )


def _warnings(table: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition]) -> tuple[str, ...]:
    notes = [note for partition in partitions.values() for note in partition.notes]
    return tuple(dict.fromkeys([*table.warnings, *not_reached(plan, partitions), *notes]))


def partitions_of(
    table: Table, plan: Plan, tell: Progress, made: Mapping[PartitionMethod, Partition] | None = None
) -> dict[PartitionMethod, Partition]:
    """Every split of the plan, made once from the original."""
    methods = plan.partitions
    found: dict[PartitionMethod, Partition] = {}
    for number, one in enumerate(methods):
        tell(f"making cells: {one.describe()}", 0.5 * number / len(methods))
        found[one] = made[one] if made and one in made else one.cells(table)
    return found


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def whole_part(table: Table, step: Step, partitions: Mapping[PartitionMethod, Partition]) -> Chunk:
    """Every row of a step's columns, with the cells and limits of the step."""
    bare = (table[name] for name in step.columns)
    return Chunk(
        rows=np.arange(len(table), dtype=np.int64),
        columns=tuple(replace(c, stored=None, declared=None if c.is_category else c.domain) for c in bare),
        cells=partitions[step.within].cells,
        keep=tuple(partitions[split].cells for split in step.keep),
    )


def _change(whole: Chunk, step: Step, draws: Draws) -> tuple[dict[str, Changed], dict[str, float]]:
    """Change a step's columns part by part, as far as its noise's reach allows."""
    noise = step.perturb
    parts = [whole]
    if noise.scope not in ("cell", "table"):
        starts = range(0, len(whole), PART_ROWS)
        parts = [whole.take(np.arange(start, min(start + PART_ROWS, len(whole)))) for start in starts]
    summary = noise.finalize(reduce(noise.merge, [noise.fit(part) for part in parts]), whole.cells)
    changes = [noise.change(part, summary, draws) for part in parts]
    stuck = [noise.fixed(part, summary) for part in parts]
    changed = {c.name: _joined([change[c.name] for change in changes]) for c in whole.columns}
    share = {c.name: share_stuck(c, np.concatenate([one[c.name] for one in stuck])) for c in whole.columns}
    return changed, share


def share_stuck(column: Column, stuck: Bools) -> float:
    """The share of the known values that could not change; 0 when none is known."""
    known = ~column.missing
    return float((stuck & known).sum()) / max(int(known.sum()), 1)


def _joined(changes: list[Changed]) -> Changed:
    if len(changes) == 1:
        return changes[0]
    sources = [c.source for c in changes if c.source is not None]
    source = np.concatenate(sources) if sources else None
    return Changed(np.concatenate([c.values for c in changes]), source)


def _column(column: Column, changed: Changed | None, order: Rows) -> Column:
    """The released column in released order; a value that only moved keeps its stored form."""
    if changed is None:
        return column.take(order)
    if changed.source is not None:
        return take_values(column, changed.source[order])
    return replace_values(column, changed.values).take(order)


def _share_changed(column: Column, values: Array) -> float:
    same = column.values == values
    if not column.is_category:
        same |= np.isnan(column.values) & np.isnan(values)
    return float((~same).mean())


def _range_fractions(table: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition]) -> dict[str, float]:
    """Of every column that is written, what the narrowest of its step's boxes leave it."""
    found = dict.fromkeys(plan.columns, 1.0)
    for step in plan.steps:
        written = table.select(step.columns)
        for split in step.partitions:
            for one in allowed_ranges(written, partitions[split].cells):
                if not isnan(one.width):
                    found[one.column] = min(found[one.column], one.width)
    return found


def _tree_facts(
    table: Table, after: Mapping[str, Changed], partitions: Mapping[PartitionMethod, Partition]
) -> tuple[TreeFact, ...]:
    trees: dict[int, Tree] = {id(tree): tree for p in partitions.values() for tree in p.trees}
    new = table.replace(replace(table[name], values=one.values, stored=None) for name, one in after.items())
    facts = []
    for tree in trees.values():
        before, now = leaf_membership(tree, table), leaf_membership(tree, new)
        facts.append(TreeFact(tree.target, len(tree.leaves), _share_alike(before, now)))
    return tuple(facts)


def _share_alike(before: LeafMembership, now: LeafMembership) -> float:
    """The share of rows that reach the same set of leaves in both."""
    number = {before.leaves_of(s).tobytes(): s for s in range(len(before))}
    same = np.array([number.get(now.leaves_of(s).tobytes(), -1) for s in range(len(now))])
    return float((before.set_of_row == same[now.set_of_row]).mean())


def _cell_fact(step: Step, partition: Partition) -> CellFact:
    sizes = partition.cells.sizes
    single = float(sizes[sizes == 1].sum() / sizes.sum())
    return CellFact(
        step.columns, len(sizes), int(sizes.min()), int(np.median(sizes)), single, partition.cells.pooled_rows
    )
