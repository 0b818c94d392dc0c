"""Steps and plans: plain data, checked when created and again against the table.

A step names some columns, says which rows share a cell, and changes values only within each cell. A plan is a list of
steps that all read the original table; each column is written once. The module also says which columns the rules of a
plan tie and which pairs of levels they forbid, encodes plans for the derivation of draws, and selects the columns that
a recipe may change.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

from leafcover.arrays import Bools
from leafcover.errors import NameUnknown, PlanError
from leafcover.partition.base import PARTITIONS, Partition, PartitionMethod, is_partition
from leafcover.perturb.base import PERTURBATIONS, Perturbation, Promise, is_perturbation
from leafcover.recode.base import Recoding, apply_all, fit_all, is_recoding
from leafcover.registry import checks_arguments
from leafcover.table.column_rules import ColumnRule, level_count
from leafcover.table.recoding import FEWEST, Pooled, checked_share, pool_levels, share_numbers, with_levels
from leafcover.table.rule_search import NEAR_UNIQUE, is_near_unique
from leafcover.table.table import Column, Table, check_weight
from leafcover.table.tied_columns import TiedColumns, tied_columns
from leafcover.table.unit_layout import UnitLayout
from leafcover.table.weights import KeptTables, ReleasedWeights, check_kept


@dataclass(frozen=True)
class Step:
    """Change some columns within cells.

    Parameters
    ----------
    columns : str or sequence of str
        The columns to change.
    within : PartitionMethod
        Which rows share a cell, such as ``Leaves(of="income")``.
    perturb : Perturbation
        How values change within a cell, such as ``Shuffle()``.
    keep : sequence of PartitionMethod, optional
        Further trees whose leaves the rows must keep: a category resampled within the leaves of its own tree can
        be kept inside the leaves of the target's tree.

    Examples
    --------
    >>> from leafcover.partition.leaves import Leaves
    >>> from leafcover.perturb.shuffle import Shuffle
    >>> Step("job", within=Leaves(of="income"), perturb=Shuffle()).columns
    ('job',)
    """

    columns: tuple[str, ...]
    within: PartitionMethod
    perturb: Perturbation
    keep: tuple[PartitionMethod, ...] = ()

    @checks_arguments("self", "within", "perturb", of="Step")
    def __init__(
        self,
        columns: str | Sequence[str],
        within: PartitionMethod,
        perturb: Perturbation,
        keep: Sequence[PartitionMethod] = (),
    ) -> None:
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        if not names:
            raise PlanError("A step names no column. Give it at least one.")
        if len(set(names)) < len(names):
            raise PlanError(f"A step names a column twice: {', '.join(names)}. Name each once.")
        if not is_partition(within):
            raise PlanError(f"within must be a partition, such as Leaves(of=...). Got {type(within).__name__}.")
        if not is_perturbation(perturb):
            raise PlanError(f"perturb must be a perturbation, such as Shuffle(). Got {type(perturb).__name__}.")
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "within", within)
        object.__setattr__(self, "perturb", perturb)
        object.__setattr__(self, "keep", tuple(keep))

    @property
    def partitions(self) -> tuple[PartitionMethod, ...]:
        """Every partition the step needs."""
        return (self.within, *self.keep)


@dataclass(frozen=True, eq=False)
class Made:
    """The cells that a recipe computed while it wrote a plan, so that a run need not recompute them."""

    table: Table
    partitions: Mapping[PartitionMethod, Partition]

    def of(self, table: Table) -> Mapping[PartitionMethod, Partition]:
        """The cells, if the table has the values they were computed from."""
        return self.partitions if table is self.table or table.equals(self.table) else {}


@dataclass(frozen=True)
class Plan:
    """Recodings, and a list of steps, each of which writes columns that no other step writes.

    Parameters
    ----------
    *steps : Step
        What to do, in any order: every step reads the original table, recoded.
    recipe : str, optional
        The recipe that wrote the plan.
    target : str, optional
        The column whose rules the plan preserves.
    settings : mapping, optional
        The settings of the recipe, so that it can write the plan for other rows of the table; None for a plan that was
        read from a file or written by hand.
    made : Made, optional
        The cells that the recipe computed.
    rules : sequence of ColumnRule, optional
        Relations between columns that every released row keeps. Columns that they tie to others are computed, or dealt
        as differences; steps read and change the remaining ones.
    found_rules : sequence of ColumnRule, optional
        Relations that were found in the table; at least as many released rows keep them as before.
    recode : sequence of Recoding, optional
        How values become coarser or missing before anything else happens, one recoding after the other.
    pools : sequence of Pooled, optional
        Levels of categories that become one level before any step, after the recodings.
    share : int, default 1
        The minimum number of rows that hold a number. Before a step, neighbours in rank take their rounded mean.
    units : UnitLayout, optional
        How the rows of each unit become one row, if several rows belong to one person or household. Steps then read and
        change the columns of that table.
    weights : ReleasedWeights, optional
        How the columns of survey weights leave: dropped, in classes, or calibrated. Without it they leave as the steps
        change them.
    keep_tables : sequence of sequences of str, optional
        The columns of each table whose weighted totals calibrated weights keep. Its numbers of rows are kept by steps
        within ``Conditional`` cells that say so.
    recode_as_given : sequence of Recoding, optional
        The recodings that a recipe was given, not yet fitted to the table, so that it can fit them to other rows of it.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> ages = lc.Step("age", within=lc.Leaves(of="union"), perturb=lc.Bounded())
    >>> unions = lc.Step("union", within=lc.Leaves(of="union"), perturb=lc.Shuffle())
    >>> plan = lc.Plan(ages, unions, target="union")
    >>> plan.columns, len(plan.partitions)
    (('age', 'union'), 1)
    """

    steps: tuple[Step, ...]
    recipe: str = field(default="")
    target: str = field(default="")
    settings: Mapping[str, Any] | None = field(default=None, compare=False)
    made: Made | None = field(default=None, compare=False, repr=False)
    rules: tuple[ColumnRule, ...] = field(default=())
    found_rules: tuple[ColumnRule, ...] = field(default=())
    units: UnitLayout | None = field(default=None)
    pools: tuple[Pooled, ...] = field(default=())
    share: int = field(default=1)
    weights: ReleasedWeights | None = field(default=None)
    keep_tables: KeptTables = field(default=())
    recode: tuple[Recoding, ...] = field(default=())
    recode_as_given: tuple[Recoding, ...] | None = field(default=None, compare=False, repr=False)

    @checks_arguments("self", "recode", "share", of="Plan")
    def __init__(
        self,
        *steps: Step,
        recipe: str = "",
        target: str = "",
        settings: Mapping[str, Any] | None = None,
        made: Made | None = None,
        rules: Sequence[ColumnRule] = (),
        found_rules: Sequence[ColumnRule] = (),
        units: UnitLayout | None = None,
        pools: Sequence[Pooled] = (),
        share: int = 1,
        weights: ReleasedWeights | None = None,
        keep_tables: Sequence[Sequence[str]] = (),
        recode: Sequence[Recoding] = (),
        recode_as_given: Sequence[Recoding] | None = None,
    ) -> None:
        same = {"recipe": recipe, "target": target, "settings": settings, "made": made, "units": units}
        for name, value in {"steps": tuple(steps), "weights": weights, **same}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "recode", checked_recodings(recode))
        object.__setattr__(self, "recode_as_given", None if recode_as_given is None else tuple(recode_as_given))
        object.__setattr__(self, "pools", tuple(pools))
        object.__setattr__(self, "share", checked_share("A plan's share", share))
        object.__setattr__(self, "keep_tables", tuple(tuple(names) for names in keep_tables))
        object.__setattr__(self, "rules", tuple(dict.fromkeys(rules)))
        object.__setattr__(self, "found_rules", tuple(rule for rule in dict.fromkeys(found_rules) if rule not in rules))
        if not steps and not recode:
            raise PlanError("The plan has no step and no recoding, so nothing would change. Add one.")
        writer: dict[str, int] = {}
        for number, step in enumerate(self.steps, 1):
            for name in step.columns:
                if name in writer:
                    raise PlanError(
                        f"Column {name!r} is written by step {writer[name]} and by step {number}. Write it once."
                    )
                writer[name] = number

    def replaced(self, **changes: Any) -> "Plan":
        """The same plan with some of its parameters replaced.

        Parameters
        ----------
        **changes : any
            New values of recipe, target, settings, made, rules, found_rules, units, pools, share, weights,
            keep_tables, recode or recode_as_given.

        Returns
        -------
        Plan

        Examples
        --------
        >>> import leafcover as lc
        >>> plan = lc.Plan(lc.Step("age", within=lc.Whole(), perturb=lc.Shuffle()))
        >>> plan.replaced(target="union").target
        'union'
        """
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "steps"}
        return Plan(*self.steps, **given | changes)

    @property
    def published(self) -> "Plan":
        """The same plan without the names of levels that the release does not have."""
        recode = [one.published() for one in self.recode]
        return self.replaced(recode=recode, pools=[Pooled(one.column, (), one.into) for one in self.pools])

    def fitted(self, table: Table) -> "Plan":
        """The same plan with its recodings fitted to a table; one whose recodings are fitted stays as it is.

        Parameters
        ----------
        table : Table
            The table to release.

        Returns
        -------
        Plan

        Examples
        --------
        >>> import leafcover as lc
        >>> plan = lc.Plan(recode=[lc.Intervals("age", count=3)])
        >>> plan.fitted(lc.read(lc.sample("cps1985"))).recode[0].edges
        (31.0, 41.0)
        """
        found = fit_all(self.recode, table)[0] if self.recode else ()
        given = self.recode if self.recode_as_given is None else self.recode_as_given
        return self if found == self.recode else self.replaced(recode=found, recode_as_given=given)

    @property
    def recodings(self) -> tuple[str, ...]:
        """A sentence about each column whose rare levels are pooled, without naming them, and about shared numbers."""
        said = [f"{len(one.levels)} levels of column {one.column!r} were pooled as {one.into!r}." for one in self.pools]
        if self.share > 1:
            said.append(f"Numbers that fewer than {self.share} rows held became the rounded mean of neighbours.")
        return tuple(said)

    def tied(self, table: Table) -> TiedColumns:
        """How the rules tie the columns of a table.

        Parameters
        ----------
        table : Table
            The table to release.

        Returns
        -------
        TiedColumns

        Examples
        --------
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("cps1985"))
        >>> lc.recipes.cover(table, target="union", rules=["experience <= age"]).tied(table).differences
        ('age',)
        """
        whose, by = ((), None) if self.units is None else (self.units.numbered, self.units.sequence)
        return tied_columns(self.rules, self.found_rules, table, target=self.target, units=whose, sequence=by)

    @property
    def weighed(self) -> tuple[str, ...]:
        """The columns of weights that leave in classes or calibrated."""
        return () if self.weights is None else self.weights.treated

    @property
    def least_rows(self) -> int:
        """The rows that a cell of a table must have to be kept: as many as the largest minimum of a step's cells."""
        return max([FEWEST, *(step.within.min_rows for step in self.steps)])

    @property
    def all_rules(self) -> tuple[ColumnRule, ...]:
        """The declared rules and those that were found."""
        return (*self.rules, *self.found_rules)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that some step writes."""
        return tuple(name for step in self.steps for name in step.columns)

    @property
    def partitions(self) -> tuple[PartitionMethod, ...]:
        """Every partition that some step needs, each once."""
        return tuple(dict.fromkeys(one for step in self.steps for one in step.partitions))

    @property
    def descends(self) -> bool:
        """Whether a released row keeps values of one original row: some step does not deal, or there is no step."""
        return not self.steps or any(step.perturb.descends for step in self.steps)

    @property
    def bins(self) -> int | None:
        """The number of classes that trees divide a numeric target into; None for a categorical target."""
        targets = (self.target,) if self.units is None or not self.target else self.units.columns_at(self.target)
        found = (one.tree_bins for one in self.partitions if one.tree_target in targets)
        return next((bins for bins in found if bins), None)


def checked_recodings(recode: Sequence[Recoding]) -> tuple[Recoding, ...]:
    """The recodings of a plan, if they are that."""
    found = (recode,) if is_recoding(recode) or not isinstance(recode, Iterable) else tuple(recode)
    if wrong := [one for one in found if not is_recoding(one)]:
        raise PlanError(f"A plan's recodings must be that, such as Round('wage', 0.5). Got {type(wrong[0]).__name__}.")
    return found


def check(plan: Plan, table: Table) -> None:
    """Raise an error if the plan does not fit the table that its steps change."""
    for number, step in enumerate(plan.steps, 1):
        needed = (*step.columns, *step.perturb.given, *(name for one in step.partitions for name in one.needs))
        if unknown := [name for name in needed if name not in table.names]:
            raise NameUnknown("column", unknown[0], table.names, f"that step {number} of the plan needs")
        called = type(step.perturb).__name__
        _check_dealing(plan, number, called)
        if wrong := [name for name in step.perturb.given if name in plan.columns]:
            raise PlanError(f"Step {number} uses {wrong[0]!r} as given, which a step changes. Give unchanged columns.")
        if step.keep and not step.perturb.keeps_boxes:
            raise PlanError(
                f"Step {number} keeps the leaves of another tree, which {called} cannot do. "
                f"Leave out keep, or use {_named(p for p in PERTURBATIONS if PERTURBATIONS[p].keeps_boxes)}."
            )
        for name in step.columns:
            if (kind := table[name].kind) not in step.perturb.kinds:
                raise PlanError(
                    f"Step {number} changes column {name!r} by {called}, which does not accept a {kind}. "
                    f"Use {_named(p for p in PERTURBATIONS if kind in PERTURBATIONS[p].kinds)}, or change the kind."
                )
            if table.roles.get(name) == "unchanged":
                raise PlanError(
                    f"Step {number} changes column {name!r}, which has the role unchanged. Drop one of them."
                )


def _check_dealing(plan: Plan, number: int, called: str) -> None:
    """Raise an error if a step cannot place the rows that earlier steps released."""
    step = plan.steps[number - 1]
    if step.perturb.descends:
        return
    if not step.within.places_released:
        raise PlanError(
            f"Step {number} uses {called}, which needs cells that can place released rows. "
            f"Use {_named(p for p in PARTITIONS if PARTITIONS[p].places_released)}."
        )
    later = {name for one in plan.steps[number - 1 :] for name in one.columns}
    if waiting := [name for name in step.within.needs_released if name in later]:
        raise PlanError(
            f"Step {number} deals {step.columns[0]!r} given {waiting[0]!r}, which is not released before. "
            "Change the order of the steps."
        )


def _named(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def tied_by(plan: Plan, table: Table) -> TiedColumns:
    """How the rules of a plan tie the columns of a table; an error if a rule does not fit the table or a step."""
    unpooled = with_levels(table, plan.pools)  # a rule may name a level that is pooled: no released row has it
    for rule in plan.all_rules:
        rule.check(unpooled)
    tied = plan.tied(table)
    for number, step in enumerate(plan.steps, 1):
        if ruled := [name for name in step.columns if name in tied.computed]:
            raise PlanError(
                f"Step {number} changes column {ruled[0]!r}, which a rule of the plan computes. "
                "Leave out the step or the rule."
            )
    return tied


def check_weights(plan: Plan, table: Table) -> None:
    """Raise an error if the weights do not fit the table."""
    for name in dict.fromkeys((*table.with_role("weight"), *(plan.weights.columns if plan.weights else ()))):
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "that the weights of the plan need")
        check_weight(table[name])


def checked_table(plan: Plan, table: Table) -> Table:
    """The recoded table, if the weights and the tables to keep fit it."""
    check_weights(plan, table)
    table = recoded_table(plan, table)
    for names in plan.keep_tables:
        check_kept(names, table)
    return table


def recoded_table(plan: Plan, table: Table, original: Table | None = None) -> Table:
    """The table recoded and with its rare levels pooled, without weights that are dropped.

    ``original`` is the table that was released, if this is another one, such as a control.
    """
    return _pooled(plan, apply_all(plan.recode, table, original) if plan.recode else table)


def _pooled(plan: Plan, table: Table) -> Table:
    """The table with its rare levels pooled, without weights that are dropped."""
    dropped = () if plan.weights is None else plan.weights.dropped
    table = table.select(name for name in table.names if name not in dropped) if dropped else table
    return pool_levels(table, plan.pools) if plan.pools else table


def step_table(
    plan: Plan,
    table: Table,
    tied: TiedColumns | None = None,
    *,
    original: Table | None = None,
    released: bool = False,
) -> Table:
    """The table whose columns the steps name: recoded, without computed columns, with one row for each unit.

    A control is recoded and tied as the original is; a ``released`` table has been recoded, and its rows are in order.
    """
    table = _pooled(plan, table) if released else recoded_table(plan, table, original)
    untied = (tied_by(plan, table) if tied is None else tied).untie(table)
    if plan.units is not None:
        return share_numbers((plan.units.as_released if released else plan.units).unfold(untied), plan.share)
    rows = untied.select(name for name in untied.names if untied.roles.get(name) != "unit")
    return share_numbers(rows, plan.share)


def forbidden_pairs(plan: Plan, tied: TiedColumns, table: Table) -> dict[tuple[str, str], Bools]:
    """Which pairs of levels of two columns the rules forbid; a pair of columns stands in both orders.

    ``table`` has the computed columns. What rules say of them becomes a rule about the columns they are computed from.
    """
    found: dict[tuple[str, str], Bools] = {}
    for rule in (*plan.all_rules, *tied.implied):
        for first, second, table_of in () if rule.ties else rule.forbidden_pairs(table):
            for one, other, pairs in tied.between_sources(first, second, table_of, table):
                found[one, other] = found.get((one, other), False) | pairs
                found[other, one] = found[one, other].T
    return found if plan.units is None else _at_positions(found, plan.units)


def exposed_rules(plan: Plan, table: Table) -> Iterator[ColumnRule]:
    """The rules that a dealt release may keep at the price of true records: few rows share what they tie together.

    Numbers that enough rows hold are no such values. If values descend from people anyway, rules add nothing to that.
    """
    exact = {name for step in plan.steps if step.perturb.shared_by == 1 for name in step.columns}
    exact = exact if plan.units is None else {plan.units.column_of(name) for name in exact}
    for rule in () if plan.descends else plan.all_rules:
        rare = max(level_count(table[name]) for name in rule.columns) * FEWEST > len(table) * NEAR_UNIQUE
        if (bool(exact & set(rule.columns)) if rule.ties else rare) and is_near_unique(rule, table):
            yield rule


def _at_positions(found: Mapping[tuple[str, str], Bools], units: UnitLayout) -> dict[tuple[str, str], Bools]:
    """The same pairs of columns in every row of a unit."""
    return {
        (units.at(one, at), units.at(other, at)): pairs
        for (one, other), pairs in found.items()
        if not {one, other} & set(units.rising)
        for at in units.places
    }


def column_promises(plan: Plan, table: Table, tied: TiedColumns) -> dict[str, tuple[Promise, ...]]:
    """What holds of each column of a recoded table when it is released, in the order in which it came about."""
    steps = {name: step for step in plan.steps for name in step.columns}
    if plan.units is not None:
        steps = {plan.units.column_of(name): step for name, step in steps.items()}
    coarser = coarser_columns(plan)
    return {c.name: (*coarser.get(c.name, ()), *_promised(plan, c, steps.get(c.name), tied)) for c in table}


def coarser_columns(plan: Plan) -> dict[str, tuple[Promise, ...]]:
    """The columns that a plan recodes, and what holds of them before a step changes them."""
    found: dict[str, tuple[Promise, ...]] = {}
    both: list[tuple[str, Promise]] = [(name, one.promise) for one in plan.recode for name in one.columns]
    for name, promise in (*both, *((one.column, "recoded") for one in plan.pools)):
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), promise)))
    return found


def _promised(plan: Plan, column: Column, step: Step | None, tied: TiedColumns) -> tuple[Promise, ...]:
    """What holds after recoding. Weights in classes are shared by the people of a class."""
    rising, numbered = ((), ()) if plan.units is None else (plan.units.rising, plan.units.numbered)
    if plan.weights is not None and column.name in plan.weighed:
        return ("shared",) if plan.weights.leave == "classes" else ("recomputed",)
    if column.name in (*tied.computed, *tied.differences, *rising):
        return ("recomputed",)
    if column.name in numbered:
        return ("renumbered",)
    return ("unchanged",) if step is None else step.perturb.promises(column)


def canonical(plan: Plan) -> bytes:
    """The plan as bytes that identify it, for the derivation of draws.

    Frozen ids represent partitions, perturbations and parameters, so that another name or file format changes no
    released value. A parameter that is None is left out, so that new parameters can be added later.
    """
    steps = [
        [list(step.columns), _frozen(step.within), _frozen(step.perturb), [_frozen(one) for one in step.keep]]
        for step in plan.steps
    ]
    whole: list[Any] = [steps, [rule.text for rule in plan.all_rules]] if plan.all_rules else steps
    whole = whole if plan.units is None else [whole, _frozen(plan.units)]
    whole = [whole, "recode", [_frozen(one) for one in plan.recode]] if plan.recode else whole
    whole = [whole, [_frozen(one) for one in plan.pools]] if plan.pools else whole
    whole = [whole, "share", plan.share] if plan.share > 1 else whole
    whole = whole if plan.weights is None else [whole, _frozen(plan.weights)]
    whole = [whole, [list(names) for names in plan.keep_tables]] if plan.keep_tables else whole
    return json.dumps(whole, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=_frozen).encode()


def _frozen(value: Any) -> list[Any]:
    """An object as its frozen id, or otherwise its class name, and its parameters in the same way."""
    given = getattr(value, "__dict__", {})
    if is_dataclass(value):  # fields alone: what an object has computed since and holds does not identify it
        given = {f.metadata.get("frozen_id", f.name): getattr(value, f.name) for f in fields(value)}
    return [
        getattr(type(value), "frozen_id", type(value).__qualname__),
        {name: _number(content) for name, content in given.items() if content is not None},
    ]


def _number(content: Any) -> Any:
    """A whole number as an integer, however it was written."""
    return int(content) if isinstance(content, float) and content.is_integer() else content


Names: TypeAlias = str | list[str]  # column names: a list, or comma-separated text from a command line


def listed_names(names: Names, table: Table) -> list[str]:
    """The columns named by a list or by comma-separated text; text equal to a column's name means that column."""
    if isinstance(names, str):
        return [names] if names in table.names else [n.strip() for n in names.split(",") if n.strip()]
    return list(names)


def free_columns(table: Table, target: str | None = None) -> list[Column]:
    """Columns a recipe may change: not the target, not unchanged or unit columns, and not constant ones."""
    return [
        c
        for c in table
        if c.name != target and table.roles.get(c.name) not in ("unchanged", "unit", "identifier") and _varies(c)
    ]


def _varies(column: Column) -> bool:
    known = column.values[~column.missing]
    return len(known) > 0 and bool((known != known[0]).any())


def chosen_columns(
    table: Table, columns: Names | None, recipe: str, kinds: tuple[str, ...], *, without: Sequence[str] = ()
) -> list[str]:
    """The columns named (a list, or text "a,b"); by default all that a recipe may change of some kinds except weights.

    ``without`` names columns with another purpose, which are included only if they are named.
    """
    if columns is None:
        free = [c for c in free_columns(table) if table.roles.get(c.name) != "weight" and c.name not in without]
        found = [c.name for c in free if c.kind in kinds]
        if not found:
            what = "categories" if kinds == ("category",) else "numbers"
            raise PlanError(f"Recipe {recipe!r} changes {what}, and the table has none that vary. Choose another.")
        return found
    names = listed_names(columns, table)
    if not names:
        raise PlanError(f"Recipe {recipe!r} got no column. Name them as columns=a,b, or leave the setting out.")
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, f"for recipe {recipe!r}")
        if table[name].kind not in kinds:
            raise PlanError(f"Recipe {recipe!r} cannot change column {name!r}, a {table[name].kind}. Leave it out.")
    return list(dict.fromkeys(names))
