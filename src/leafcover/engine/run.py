"""Execute a plan: compute all cells from the original, carry out every step, check the guarantees, and summarise."""

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import isnan
from typing import TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from leafcover.arrays import MISSING, Array, Bools, Rows
from leafcover.engine.audience import Limits
from leafcover.engine.statement import (
    RuleFact,
    Statement,
    computed_sentence,
    dealt_share,
    less_kept,
    noise_sentence,
    not_reached,
    recoding_sentences,
    refuse_broken,
    refuse_copied,
    refuse_lost,
    reversible_sentence,
    rooms,
    rule_facts,
    statement,
)
from leafcover.errors import InvariantViolated, PlanError, TableError
from leafcover.keyed_random import Draws, Key
from leafcover.messages import Catalogue, catalogue
from leafcover.metrics.disclosure.record_linkage import Informed
from leafcover.partition.base import Partition, PartitionMethod, allowed_ranges
from leafcover.perturb.base import Changed, Chunk, Described, Earlier, LevelsLeft, Promise, levels_ahead, levels_left
from leafcover.perturb.shuffle import exchange_forbidden
from leafcover.recipes.plan import (
    Plan,
    Step,
    canonical,
    check,
    checked_table,
    coarser_columns,
    column_promises,
    forbidden_pairs,
    step_table,
    tied_by,
)
from leafcover.table.inspection import hidden_people, identifiers
from leafcover.table.output import replace_values, take_values
from leafcover.table.recoding import extremes_lost
from leafcover.table.table import Column, Kind, Table, in_codes_of
from leafcover.table.weights import KeptFact, in_classes, kept_facts, weighed, weight_sentences
from leafcover.tree.predict import leaf_membership
from leafcover.tree.tree import LeafMembership, Tree

FEWEST = 5  # a smaller count is not published


def refuse_identifiers(table: Table) -> tuple[str, ...]:
    """Raise an error for a direct identifier that is neither dropped nor explicitly unchanged.

    The target is exempt, unless its values have the pattern of an identifier. Returns warnings of other suspects.
    """
    found = [s for s in identifiers(table) if s.by_pattern or table.roles.get(s.column) != "target"]
    suspects = [s for s in found if s.severity == "refuse"]
    if suspects:
        more = [s.column for s in suspects[1:]]
        raise TableError(suspects[0].message + (f" Also refused as identifiers: {', '.join(more)}." if more else ""))
    return (*(s.message for s in found), *hidden_people(table, found))


# A keyed fingerprint of a table's values: equal for equal tables in any format, and useless without the key. A plain
# hash would let an attacker who knows all rows but one confirm a guess at the last row.


PART_ROWS = 65_536  # a constant of the format


def fingerprint(table: Table, key: Key) -> str:
    """Sixty-four hexadecimal digits from names, kinds and values."""
    mark = hmac.new(key.secret, b"leafcover fingerprint 1", hashlib.sha256)
    for column in table:
        head = repr((column.name, column.kind, len(column))).encode()
        mark.update(len(head).to_bytes(8, "big") + head)
        values = _canonical(column, mark)
        for start in range(0, len(values), PART_ROWS):
            mark.update(hashlib.sha256(values[start : start + PART_ROWS].tobytes()).digest())
    return mark.hexdigest()


def _canonical(column: Column, mark: "hmac.HMAC") -> Array:
    """Values in a form that does not depend on how the table was stored."""
    if not column.is_category:
        # One bit pattern for every nan and for both zeros.
        return np.where(np.isnan(column.values), np.nan, column.values + 0.0).astype("<f8")
    seen = np.zeros(len(column.levels) + 1, np.bool_)  # the last entry is for the missing code -1
    seen[column.values] = True
    for level, there in zip(column.levels, seen[:-1], strict=True):
        if there:  # a declared level that does not occur is not part of the data
            data = level.encode("utf-8", "surrogatepass")
            mark.update(len(data).to_bytes(8, "big") + data)
    new = np.append(np.cumsum(seen[:-1]) - 1, MISSING)
    return new[column.values].astype("<i4")


Progress: TypeAlias = Callable[[str, float], None]  # called with the current task and the share that is done

VERSION = "2"  # of the derivation of draws; a change here changes every released value


@dataclass(frozen=True)
class ColumnFact:
    """How a column changed, as shares of rows but for the last."""

    name: str
    changed: float  # the value differs from the original
    fixed: float  # unchanged with a probability of at least 0.95 (known values only)
    range_fraction: float = 1.0  # the share of its domain that the boxes allow, as a mean over known values
    shared: int = 0  # rows whose number was too rare, and was replaced before it was dealt
    noise: float | None = None  # the standard deviation that numbers got, as a share of the range allowed
    pull: float | None = None  # how far numbers near an end of that range moved away from it


@dataclass(frozen=True)
class TreeFact:
    """How a tree was preserved: the share of rows in the same leaves as before."""

    target: str
    leaves: int
    kept: float


def mean_kept(trees: Sequence[TreeFact]) -> float:
    """The share of rows in the same leaf as before, as a mean over trees."""
    return float(np.mean([tree.kept for tree in trees]))


def least_kept(trees: Sequence[TreeFact]) -> float:
    """The same for the least preserved tree."""
    return min(tree.kept for tree in trees)


@dataclass(frozen=True)
class CellFact:
    """The cells of one step."""

    columns: tuple[str, ...]
    count: int
    smallest: int
    median: int
    single: float  # the share of rows that are singletons
    pooled: int  # rows in pools of small leaves


@dataclass(frozen=True, eq=False)
class Release:
    """A released table and how it was made; ``source`` is secret, so a notebook must not show it."""

    table: Table = field(repr=False)
    plan: Plan
    source: Rows = field(repr=False)  # (rows,) the original row of each released row
    columns: tuple[ColumnFact, ...]
    trees: tuple[TreeFact, ...]
    cells: tuple[CellFact, ...]
    warnings: tuple[str, ...]
    fingerprint: str  # keyed: reveals nothing without the key
    publishable: bool
    kept_order: bool
    unprotected: tuple[str, ...]  # columns with values that were released unchanged
    partitions: Mapping[PartitionMethod, Partition] = field(repr=False)
    statement: Statement | None = field(default=None, repr=False)  # what is proved, where every column was dealt
    rules: tuple[RuleFact, ...] = ()
    promises: Mapping[str, tuple[Promise, ...]] = field(default_factory=dict)  # what holds of each column
    kept: tuple[KeptFact, ...] = ()  # of tables that were to be kept
    classed: Table | None = field(default=None, repr=False)  # the release with weights in classes, if it has weights
    unit_table: Table | None = field(default=None, repr=False)  # the release with one row for each unit
    original_kinds: Mapping[str, Kind] = field(default_factory=dict)  # of columns that recoding gave another kind
    sampled: float | None = None  # the share of the rows that was released, if a secret sample was asked for
    limits: Limits | None = None  # the audience and its thresholds, if one was named

    @property
    def step_table(self) -> Table:
        """The released table whose columns the steps of the plan name."""
        return self.table if self.unit_table is None else self.unit_table

    @property
    def no_values(self) -> tuple[str, ...]:
        """The columns in which every value is missing: whatever a step says, nothing in them can change."""
        return tuple(column.name for column in self.table if column.missing.all())

    @property
    def descends(self) -> bool:
        """Whether a released row keeps values of one original row; if every column was dealt, none does."""
        return self.plan.descends or bool(self.unprotected or self.only_recoded)

    @property
    def only_recoded(self) -> tuple[str, ...]:
        """The columns in which each row has its own value, recoded."""
        own = (n for n, words in self.promises.items() if len(words) > 1 and words[-1] == "unchanged")
        return tuple(name for name in own if name not in self.no_values)

    @property
    def singletons(self) -> float:
        """The share of rows that are alone in their cell, in the step with the most of them."""
        return max((cell.single for cell in self.cells), default=0.0)


@threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]  # last digits depend on the number of threads
def run(
    table: Table,
    plan: Plan,
    *,
    key: Key,
    keep_order: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Release a table by a plan. The row order is random, derived from the key, unless ``keep_order``."""
    tell = progress or (lambda words, share: None)
    if len(table) < 2:
        raise TableError(f"A release needs at least 2 rows. Got {len(table)}.")
    whole = table
    if plan.units is None:
        whole = table.select(name for name in table.names if table.roles.get(name) != "unit")
    suspected = refuse_identifiers(whole)
    mark, given = fingerprint(whole, key), whole
    plan = plan.fitted(whole)
    whole = checked_table(plan, whole)
    tied = tied_by(plan, whole)
    rows_of_units = tied.untie(whole)
    table = step_table(plan, whole, tied, released=True)
    made = None if plan.made is None else plan.made.of(table)
    check(plan, table)
    dealt = is_dealt(plan, table)
    if keep_order and dealt:
        raise PlanError(
            "keep_order was given, but the plan deals every column: no released row descends from one original row, so "
            "there is no order to keep. Leave it out, or use another recipe."
        )
    root = Draws(key.secret).sub(f"leafcover {VERSION}", mark, canonical(plan))
    partitions = partitions_of(table, plan, tell, made)
    rows = np.arange(len(table), dtype=np.int64)
    order = rows if keep_order else np.argsort(root.sub("order").words(rows), kind="stable")
    after, fixed, blocks = _carry_out(table, plan, partitions, forbidden_pairs(plan, tied, whole), root, tell)

    tell("checking what was preserved", 0.9)
    allowed = _range_fractions(table, plan, partitions)
    changed = tuple(_column(c, after.get(c.name), order) for c in table)
    untied = Table(changed, roles=table.roles, source=whole.source, units=table.units)
    if plan.units is not None:
        refuse_lost(untied, plan.units)
        untied = plan.units.in_range(untied, rows_of_units)
    released = tied.tie(untied if plan.units is None else plan.units.fold(untied, rows_of_units), whole)
    classed = None
    kept_rows = whole if plan.units is None else whole.take(plan.units.kept(rows_of_units))
    unit = None if plan.units is None else plan.units.unit
    if plan.weights is not None:
        owner = rows if plan.units is None else np.repeat(rows, untied[plan.units.size].values.astype(np.int64))
        classed = in_classes(plan.weights, released, owner)
        released = weighed(plan.weights, plan.keep_tables, kept_rows, classed, owner, unit)
    if plan.units is not None and plan.units.unnumbered:  # nor does the order of rows say which belong together
        released = released.take(np.argsort(root.sub("rows").words(np.arange(len(released))), kind="stable"))
    computed = {*tied.computed, *tied.differences, *plan.weighed} if plan.units is None else ()
    columns = tuple(
        ColumnFact(c.name, _share_changed(c.take(order), released[c.name].values), 0.0)
        if c.name in computed
        else ColumnFact(
            c.name, _share_changed(c, after[c.name].values), fixed[c.name], allowed[c.name], *after[c.name].delivered(c)
        )
        if c.name in after
        else ColumnFact(c.name, 0.0, share_fixed(c, ~c.missing))
        for c in (whole if plan.units is None else table)
    )
    columns = tuple(_since_recoding(fact, given, released, order, plan) for fact in columns)
    trees = _tree_facts(table, after, partitions)
    rules = rule_facts(plan, whole, released, tied)
    refuse_broken(rules)
    refuse_copied(plan, whole, released)
    facts = (plan.keep_tables, plan.weights, kept_rows, released, plan.least_rows, unit)
    kept = kept_facts(*facts) if plan.keep_tables else ()
    return Release(
        table=released,
        plan=plan,
        source=order,
        columns=columns,
        trees=trees,
        cells=tuple(_cell_fact(step, partitions[step.within]) for step in plan.steps),
        warnings=(
            *suspected,
            *_warnings(table, plan, partitions),
            *plan.recodings,
            *less_kept(rules),
            *extremes_lost((c.name, c.values, new) for c in table if (new := _replaced(after, c.name)) is not None),
            *dict.fromkeys(note for fact in kept for note in fact.notes),
        ),
        fingerprint=mark,
        publishable=key.publishable,
        kept_order=keep_order,
        unprotected=tuple(n for n in not_written(table, plan) if n not in coarser_columns(plan)),
        partitions=partitions,
        statement=statement(blocks, len(table)) if dealt else None,
        rules=rules,
        promises=column_promises(plan, whole, tied),
        kept=kept,
        classed=classed,
        unit_table=None if plan.units is None else untied,
        original_kinds={c.name: c.kind for c in given if c.name in whole.names and whole[c.name].kind != c.kind},
    )


def _carry_out(
    table: Table,
    plan: Plan,
    partitions: Mapping[PartitionMethod, Partition],
    forbidden: Mapping[tuple[str, str], Bools],
    root: Draws,
    tell: Progress,
) -> tuple[dict[str, Changed], dict[str, float], list[tuple[Column, Described | None]]]:
    """Every step: the changed columns, their shares of fixed values, and what describes each block if all are dealt.

    What is remembered of earlier columns, 20 MB each for a million rows, is freed before the release is put together.
    """
    after: dict[str, Changed] = {}
    fixed: dict[str, float] = {}
    dealt, so_far = is_dealt(plan, table), {c.name: Earlier(c, c) for c in table}
    blocks: list[tuple[Column, Described | None]] = []
    left: dict[str, LevelsLeft] = {}
    for number, step in enumerate(plan.steps, 1):
        tell(f"changing {_listed(step.columns)}", 0.5 + 0.4 * (number - 1) / len(plan.steps))
        whole = whole_part(table, step, partitions, so_far, forbidden, left)
        changed, fixed_shares = _change(whole, step, root.sub(f"step {number}", *step.columns))
        broken = step.perturb.violations(whole, {name: one.values for name, one in changed.items()})
        if broken:
            raise InvariantViolated(f"Step {number} violated a guarantee, so nothing is written: {'; '.join(broken)}.")
        after.update(changed)
        so_far |= {n: Earlier(c := table[n], replace(c, values=changed[n].values, stored=None)) for n in changed}
        fixed.update(fixed_shares)
        left = levels_left(left, so_far, changed, [n for n in plan.columns if n not in after], forbidden)
        if dealt:
            described = step.perturb.described(whole, step.within.min_rows)
            blocks.append((so_far[step.columns[0]].released, described))
    single = [step.columns[0] for step in plan.steps if len(step.columns) == 1 and not step.perturb.descends]
    room = {} if plan.units is None else rooms([one.released for one in so_far.values()], plan.units)
    return exchange_forbidden(after, so_far, single, forbidden, root.sub("rules"), room), fixed, blocks


def not_written(table: Table, plan: Plan) -> tuple[str, ...]:
    """The columns with values that no step changes."""
    return tuple(c.name for c in table if c.name not in plan.columns and not c.missing.all())


def is_dealt(plan: Plan, table: Table) -> bool:
    """Whether a plan deals every column with values: no released row descends from one original row."""
    return not plan.descends and not not_written(table, plan)


def _warnings(table: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition]) -> tuple[str, ...]:
    notes = [note for partition in partitions.values() for note in partition.notes]
    return tuple(dict.fromkeys([*table.warnings, *not_reached(table, plan, partitions), *notes]))


def partitions_of(
    table: Table, plan: Plan, tell: Progress, made: Mapping[PartitionMethod, Partition] | None = None
) -> dict[PartitionMethod, Partition]:
    """Every partition of the plan, computed once from the original."""
    methods = plan.partitions
    found: dict[PartitionMethod, Partition] = {}
    for number, one in enumerate(methods):
        tell(f"grouping rows: {one.describe()}", 0.5 * number / len(methods))
        found[one] = made[one] if made and one in made else one.cells(table)
    return found


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def whole_part(
    table: Table,
    step: Step,
    partitions: Mapping[PartitionMethod, Partition],
    so_far: Mapping[str, Earlier] | None = None,
    forbidden: Mapping[tuple[str, str], Bools] | None = None,
    left: Mapping[str, LevelsLeft] | None = None,
) -> Chunk:
    """Every row of a step's columns, with the cells and limits of the step, and what was released before."""
    within, own, ruled = partitions[step.within], step.columns[0], forbidden or {}
    return Chunk(
        rows=np.arange(len(table), dtype=np.int64),
        columns=_with_domains(table, step.columns),
        cells=within.cells,
        keep=tuple(partitions[partition].cells for partition in step.keep),
        stages=within.stages,
        given=_with_domains(table, step.perturb.given),
        before=tuple(one for name, one in (so_far or {}).items() if name in step.within.needs_released),
        forbidden={one: pairs for (one, other), pairs in ruled.items() if other == own},
        ahead=levels_ahead(own, left or {}, ruled),
    )


def _with_domains(table: Table, names: Iterable[str]) -> tuple[Column, ...]:
    """Columns that keep their domain over the whole table in every part of it."""
    found = (table[name] for name in names)
    return tuple(replace(c, stored=None, declared=None if c.is_category else c.domain) for c in found)


def _change(whole: Chunk, step: Step, draws: Draws) -> tuple[dict[str, Changed], dict[str, float]]:
    """Change a step's columns, chunk by chunk if the scope of the perturbation permits."""
    perturbation = step.perturb
    parts = [whole]
    if perturbation.scope not in ("cell", "table"):
        starts = range(0, len(whole), PART_ROWS)
        parts = [whole.take(np.arange(start, min(start + PART_ROWS, len(whole)))) for start in starts]
    summary = perturbation.finalize(reduce(perturbation.merge, [perturbation.fit(part) for part in parts]), whole.cells)
    changes = [perturbation.change(part, summary, draws) for part in parts]
    is_fixed = [perturbation.fixed(part, summary) for part in parts]
    changed = {c.name: Changed.joined([change[c.name] for change in changes]) for c in whole.columns}
    share = {c.name: share_fixed(c, np.concatenate([one[c.name] for one in is_fixed])) for c in whole.columns}
    return changed, share


def share_fixed(column: Column, is_fixed: Bools) -> float:
    """The share of the known values that are fixed; 0 if no value is known."""
    known = ~column.missing
    return float((is_fixed & known).sum()) / max(int(known.sum()), 1)


def _column(column: Column, changed: Changed | None, order: Rows) -> Column:
    """The released column in released order; a value that was only exchanged keeps its stored form."""
    if changed is None:
        return column.take(order)
    if changed.source is not None:
        # Replaced before the exchange, so that a missing value keeps its token wherever it goes.
        own = column if changed.replaced is None else replace_values(column, changed.replaced)
        return take_values(own, changed.source[order])
    return replace_values(column, changed.values).take(order)


def _share_changed(column: Column, values: Array) -> float:
    same = column.values == values
    if not column.is_category:
        same |= np.isnan(column.values) & np.isnan(values)
    return float((~same).mean())


def _since_recoding(fact: ColumnFact, original: Table, released: Table, order: Rows, plan: Plan) -> ColumnFact:
    """The fact of a column that was recoded, with all changes counted, those of the recoding too."""
    if fact.name not in coarser_columns(plan) or fact.name not in original.names or len(original) != len(order):
        return fact
    before, after = original[fact.name].take(order), released[fact.name]
    if before.kind == after.kind:
        return replace(fact, changed=_share_changed(before, in_codes_of(before, after)))
    return replace(fact, changed=float((~before.missing | ~after.missing).mean()))


def _replaced(after: Mapping[str, Changed], name: str) -> Array | None:
    return after[name].replaced if name in after else None


def _range_fractions(table: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition]) -> dict[str, float]:
    """The share of each written column's domain that the narrowest boxes of its step allow."""
    found = dict.fromkeys(plan.columns, 1.0)
    for step in plan.steps:
        written = table.select(step.columns)
        for partition in step.partitions:
            for one in allowed_ranges(written, partitions[partition].cells):
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
        facts.append(TreeFact(tree.target, len(tree.leaves), _share_in_same_leaves(before, now)))
    return tuple(facts)


def _share_in_same_leaves(before: LeafMembership, now: LeafMembership) -> float:
    """The share of rows that reach the same set of leaves before and after."""
    number = {before.leaves_of(s).tobytes(): s for s in range(len(before))}
    same = np.array([number.get(now.leaves_of(s).tobytes(), -1) for s in range(len(now))])
    return float((before.set_of_row == same[now.set_of_row]).mean())


def _cell_fact(step: Step, partition: Partition) -> CellFact:
    sizes = partition.cells.sizes
    single = float(sizes[sizes == 1].sum() / sizes.sum())
    return CellFact(
        step.columns, len(sizes), int(sizes.min()), int(np.median(sizes)), single, partition.cells.pooled_rows
    )


# The text summary of a release; its sentences are in the catalogue ``release``.

LISTED = 5  # maximum number of columns named


def _kept(say: Catalogue, trees: list[TreeFact]) -> list[str]:
    """The share of rows that are still in their leaf."""
    if not trees:
        return []
    target = trees[0].target
    if len(trees) == 1:
        return [say("leaf-kept", share=f"{trees[0].kept:.1%}", target=target, leaves=trees[0].leaves)]
    mean, least = f"{mean_kept(trees):.1%}", f"{least_kept(trees):.1%}"
    return [say("leaf-kept-forest", mean=mean, least=least, target=target, trees=len(trees))]


def _is_block(step: Step) -> bool:
    return step.perturb.moves_rows and len(step.columns) > 1


def summary(release: Release, informed: Informed | None = None) -> str:
    """What was released, what was preserved, and what is not protected."""
    say = catalogue("release")
    rows, columns = len(release.table), len(release.table.names)
    changed = sum(fact.changed for fact in release.columns) / max(columns, 1)
    share = f"{changed:.0%}" if release.descends else "none"
    lines = [say("released", rows=rows, columns=columns, recipe=release.plan.recipe or "none", changed=share)]
    if release.sampled is not None:
        lines.append(say("sampled", share=f"{release.sampled:.0%}"))
    lines += recoding_sentences(release.plan, most=LISTED)
    if (units := release.plan.units) is not None:
        lines.append(say("units", unit=units.unit, count=len(release.step_table), most=units.most))
    if not release.descends:
        lines.append(say("dealt"))
    lines += _kept(say, [tree for tree in release.trees if tree.target and tree.target == release.plan.target])
    if any(step.perturb.uses_cells for step in release.plan.steps):
        smallest = min((cell.smallest for cell in release.cells), default=rows)
        shuffled = all(step.perturb.moves_rows and step.perturb.descends for step in release.plan.steps)
        empty = "some" if release.no_values else "none"
        if shuffled and not release.unprotected:
            lines.append(say("smallest-cell-shuffled", rows=smallest, empty=empty))
        else:
            lines.append(
                say("smallest-cell", rows=smallest) if release.descends else say("smallest-leaf", rows=smallest)
            )
    # Fewest rows first: there a code may be lost, while nearly every value of a continuous column is rare.
    if shared := sorted((f for f in release.columns if f.shared), key=lambda f: f.shared):
        named = (say("shared-column", name=fact.name, rows=fact.shared) for fact in shared[:LISTED])
        more, first, least = len(shared[LISTED:]), shared[0].name, dealt_share(release.plan)
        lines.append(say("shared", columns=", ".join(named), least=least, more=more, first=first))
    lines += not_reached(release.step_table, release.plan, release.partitions)
    if release.singletons:
        lines.append(say("singletons", share=f"{release.singletons:.1%}"))
    if blocks := [" + ".join(step.columns) for step in release.plan.steps if _is_block(step)]:
        lines.append(say("blocks", blocks=", ".join(blocks)))
    if refined := dict.fromkeys(n for step in release.plan.steps for n in step.within.refined_by):
        lines.append(say("refined", columns=", ".join(refined)))
    told = {*release.unprotected, *release.only_recoded}
    lines += noise_sentence({f.name: (f.noise, f.pull) for f in release.columns})
    half_fixed = [f for f in release.columns if f.fixed >= 0.5 and f.name not in told]
    if fixed := sorted(half_fixed, key=lambda f: -f.fixed):
        named = (say("fixed-column", name=fact.name, share=f"{fact.fixed:.0%}") for fact in fixed[:LISTED])
        lines.append(say("fixed", columns=", ".join(named), more=len(fixed[LISTED:])))
    if release.rules:
        lines.append(say("rules", count=len(release.rules), broken=sum(r.after < r.before for r in release.rules)))
        lines += computed_sentence(release.rules)
    if release.plan.weights is not None or release.kept:
        lines += weight_sentences(release.plan.weights, release.kept)
    if not_private := reversible_sentence(release.plan):
        lines.append(not_private)
    if release.only_recoded:
        lines.append(say("only-recoded", columns=", ".join(release.only_recoded)))
    if unchanged := [name for name in release.unprotected if name not in release.plan.weighed]:
        lines.append(say("unprotected", columns=", ".join(unchanged)))
    if own := [name for name in release.unprotected if name in release.plan.weighed]:
        lines.append(say("own-weights", columns=", ".join(own)))
    if release.no_values:
        lines.append(say("no-values", columns=", ".join(release.no_values)))
    if informed is not None:
        lines.append(say("record-linkage", risk=str(informed.first), worst=informed.first.worst_as_text()))
    if not release.publishable:
        lines.append(say("seeded"))
    if release.kept_order:
        lines.append(say("original-order"))
    return "\n".join(lines)
