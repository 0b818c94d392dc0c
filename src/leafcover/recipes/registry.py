"""The registry of recipes: what each preserves and protects, where it comes from, and checks of its parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

from leafcover.errors import NameUnknown, PlanError, PluginError, TableError, ValueOutOfRange
from leafcover.messages import catalogue
from leafcover.recipes.plan import Made, Plan, exposed_rules, recoded_table
from leafcover.recode.base import Recoding, fit_all, parse_recodings
from leafcover.registry import Registry, allowed_types, blamed, checked, checks_arguments, is_plugin
from leafcover.table.column_rules import ColumnRule
from leafcover.table.frames import from_frame
from leafcover.table.recoding import (
    FEWEST,
    Pooled,
    checked_share,
    pool_levels,
    rare_levels,
    refuse_rare,
    share_numbers,
)
from leafcover.table.rule_search import find_rules as rules_in
from leafcover.table.rule_search import refuse_unkept
from leafcover.table.rule_text import parse_rule
from leafcover.table.table import IntoTable, Table, target_of
from leafcover.table.tied_columns import sequenced, tied_columns
from leafcover.table.unit_layout import unit_layout
from leafcover.table.weights import Leave, kept_tables, weights_of

FindRules: TypeAlias = bool | Sequence[ColumnRule]  # whether to look for rules, or those that were found before
Rare: TypeAlias = Literal["allow", "pool", "refuse"]
UNCHECKED = ("target", "keep_tables")  # parameters whose values are checked elsewhere


@dataclass(frozen=True)
class Recipe:
    """A recipe and its description; descriptions of built-in recipes are in the catalogue ``recipes``.

    Attributes
    ----------
    name : str
        The name in ``--recipe`` and in plan files.
    make : callable
        The function that writes a plan for a table.
    source_text, keeps_text, hides_text, weaknesses_text : str, optional
        The publication, what it preserves, what it protects and how it is attacked, unless the catalogue says so.
    takes_units : bool, default False
        Whether it can release people or households with several rows each.
    find_rules : bool, default False
        Whether it looks for rules between columns and keeps them, unless the user decides.
    rare : {"allow", "pool", "refuse"}, default "allow"
        What it does to levels that fewer than 5 people have, unless the user decides.
    recodes : bool, default False
        Whether its plan has recodings alone, and no steps.

    Examples
    --------
    >>> import leafcover as lc
    >>> additive = lc.recipes.RECIPES["additive"]
    >>> list(additive.parameters), additive.needs_target
    (['spread', 'columns'], False)
    """

    name: str
    make: Callable[..., Plan]
    source_text: str = ""
    keeps_text: str = ""
    hides_text: str = ""
    takes_units: bool = False
    find_rules: bool = False
    rare: Rare = "allow"
    recodes: bool = False
    weaknesses_text: str = ""

    @property
    def source(self) -> str:
        """The publication: author, year and title."""
        return self.source_text or _words(self.name, "source")

    @property
    def keeps(self) -> str:
        """What a release preserves."""
        return self.keeps_text or _words(self.name, "keeps")

    @property
    def hides(self) -> str:
        """What a release protects."""
        return self.hides_text or _words(self.name, "hides")

    @property
    def weaknesses(self) -> str:
        """How it is attacked, and what it leaves open; empty for a plugin's recipe that does not say."""
        return self.weaknesses_text or ("" if is_plugin(self.make) else _words(self.name, "weaknesses"))

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters that ``--set`` accepts, by name."""
        return {n: p for n, p in signature(self.make).parameters.items() if n not in ("table", *UNCHECKED)}

    @property
    def needs_target(self) -> bool:
        """Whether the recipe needs a target."""
        return self.takes_target and signature(self.make).parameters["target"].default is Parameter.empty

    @property
    def takes_target(self) -> bool:
        """Whether the recipe uses a target if there is one."""
        return "target" in signature(self.make).parameters


def _words(name: str, what: str) -> str:
    return catalogue("recipes")(f"{name}.{what}")


RECIPES: Registry[Recipe] = Registry(
    "recipe",
    "leafcover.recipes.cover",
    "leafcover.recipes.cells",
    "leafcover.recipes.framework",
    "leafcover.recipes.gadp",
    "leafcover.recipes.microaggregation",
    "leafcover.recipes.noise",
    "leafcover.recipes.swapping",
    "leafcover.recipes.recoding",
)


@checks_arguments()
def recipe(
    name: str,
    *,
    source: str = "",
    keeps: str = "",
    hides: str = "",
    weaknesses: str = "",
    units: bool = False,
    find_rules: bool = False,
    rare: Rare = "allow",
    recodes: bool = False,
) -> Callable[[Callable[..., Plan]], Callable[..., Plan]]:
    """Register a function that writes a plan, as a recipe.

    The function takes a table and keyword parameters with types and defaults; their types are checked, and the plan
    records the recipe's name, its target and its settings.

    Parameters
    ----------
    name : str
        The name in ``--recipe`` and in plan files.
    source, keeps, hides, weaknesses : str, optional
        The publication (author, year, title), what it preserves, what it protects and how it is attacked, for the list
        and for reports.
    units : bool, default False
        Whether it can release people or households with several rows each: it is then given a table with one row for
        each unit, whose ``units`` say how it was made.
    find_rules : bool, default False
        Whether it looks for rules between columns and keeps them, unless the user decides. A recipe of a publication
        does what its authors describe.
    rare : {"allow", "pool", "refuse"}, default "allow"
        What it does to levels that fewer than 5 people have, unless the user decides.
    recodes : bool, default False
        Whether its plan has recodings alone: it is then given every column, those that rules compute from others, too.

    Returns
    -------
    callable
        A decorator of the function.

    Examples
    --------
    >>> import leafcover as lc
    >>> @lc.recipe("swap", keeps="marginals", hides="associations")  # doctest: +SKIP
    ... def swap(table: lc.Table) -> lc.Plan:
    ...     steps = (lc.Step(name, lc.Whole(), lc.Shuffle()) for name in table.names)
    ...     return lc.Plan(*steps)
    """

    def register(make: Callable[..., Plan]) -> Callable[..., Plan]:
        known = signature(make).parameters
        own = Recipe(name, make, source, keeps, hides, units, find_rules, rare, recodes, weaknesses)
        write = blamed(make, f"{make.__name__}, the recipe {name!r},") if is_plugin(make) else make

        @wraps(make)
        @checks_arguments()
        def signed(
            table: IntoTable,
            *,
            rules: Sequence[str | ColumnRule] = (),
            find_rules: FindRules | None = None,
            sequence: str | None = None,
            most_rows: int | None = None,
            rare: Rare | None = None,
            share: float | None = None,  # top-code has one of its own
            weights: Leave | None = None,
            keep_tables: Sequence[str | Sequence[str]] = (),
            recode: str | Recoding | Sequence[str | Recoding] = (),
            **given: Any,
        ) -> Plan:
            table = original = from_frame(table)
            asked = parse_recodings(recode, table.names)
            recodings, table = fit_all(asked, table)
            declared = [_rule(one, table, original) for one in rules]
            mild, chosen_target = own.rare if rare is None else rare, target_of(table, given.get("target"))
            pools, unpooled = _pools(table, mild, chosen_target), table
            leave = weights_of(table, weights) if weights is not None or table.with_role("weight") else None
            table = pool_levels(table, pools) if pools else table
            table = table.select(n for n in table.names if leave is None or n not in leave.dropped)
            tables = kept_tables(keep_tables, table) if keep_tables else ()
            _check_units(name, table, units)
            if given.get("target") is None and "target" in known:
                needed = known["target"].default is Parameter.empty
                found = _target(name, table, None) if needed else target_of(table, None)
                given |= {} if found is None else {"target": found}
            hints = {n: hint for n, hint in get_type_hints(make).items() if n not in UNCHECKED}
            given = {n: _checked(name, hints[n], n, v) if n in hints else v for n, v in given.items()}
            target = given.get("target") or ""
            kept = _rules_of(table, own.find_rules if find_rules is None else find_rules)
            if table.with_role("unit"):
                if tables and (leave is None or leave.leave != "calibrated"):
                    raise PlanError(
                        "keep_tables with a unit needs calibrated weights: numbers of rows cannot be kept where units "
                        "are dealt. Name a weight, or leave the tables out."
                    )
                tied, sequence = sequenced(declared, kept, table, target=target, sequence=sequence)
                rows = tied.untie(table)
                layout = unit_layout(rows, sequence=sequence, most_rows=most_rows)
                untied = layout.unfold(rows)
                given |= {"target": layout.columns_at(target)[0]} if target else {}
            elif sequence is not None:
                raise PlanError(f"sequence={sequence!r} sorts the rows of a unit, but no column has the role unit.")
            elif most_rows is not None:
                raise PlanError(f"most_rows={most_rows} counts rows of a unit, but no column has the role unit.")
            else:
                tied, layout = tied_columns(declared, kept, table, target=target), None
                untied = tied.untie(table)
            given |= {"share": share} if share is not None and "share" in known else {}
            least = checked_share("share", share) if share is not None and "share" not in known else 1
            untied = share_numbers(untied, least)
            if "keep_tables" in known:
                given["keep_tables"] = tables if layout is None else ()
            plan = write(unpooled if recodes else untied, **given)
            if not isinstance(plan, Plan):
                raise PluginError(f"The recipe {name!r} must return a Plan. Got {type(plan).__name__}.")
            chosen = {n: v for n, v in given.items() if n not in UNCHECKED and v != known[n].default}
            made = None if plan.made is None else Made(untied, plan.made.partitions)
            kept = tuple(rule for rule in kept if rule in tied.rules or not rule.ties)
            if plan.recode:
                further, unpooled = fit_all(plan.recode, unpooled)
                pools, recodings = _pools(unpooled, mild, chosen_target), (*recodings, *further)
            return plan.replaced(
                recipe=name,
                target=target,
                settings=chosen,
                made=made,
                rules=declared,
                found_rules=kept,
                units=layout,
                pools=pools,
                share=least,
                weights=leave,
                keep_tables=tables,
                recode=recodings,
                recode_as_given=asked,
            )

        RECIPES.register(name, replace(own, make=signed))
        return signed

    return register


def _pools(table: Table, rare: Rare, target: str | None) -> tuple[Pooled, ...]:
    """The levels to pool; an error if there are rare ones and they are refused, or if the target had one level left."""
    if rare not in get_args(Rare):
        raise ValueOutOfRange("rare", rare, f"one of {', '.join(get_args(Rare))}")
    found = () if rare == "allow" else rare_levels(table)
    if rare == "refuse":
        refuse_rare(found)
    last = [one for one in found if one.column == target and {*table[target].levels} <= {*one.levels, one.into}]
    if last and len(table[last[0].column].levels) > 1:
        raise TableError(
            f"Target {target!r} would have one level if those of fewer than {FEWEST} people were pooled. "
            "Choose another target, or let them stay (rare='allow')."
        )
    return tuple(one for one in found if one not in last)


def _check_units(recipe: str, table: Table, takes_units: bool) -> None:
    """Raise an error if a recipe cannot release the units of a table."""
    units = table.with_role("unit")
    if units and not takes_units:
        able = ", ".join(name for name, one in RECIPES.items() if one.takes_units)
        raise PlanError(
            f"Recipe {recipe!r} changes rows one by one, so the rows of one {units[0]!r} would show whose they are. "
            f"Use {able}, or drop the column {units[0]!r} if every row is a different person."
        )
    fixed = [name for name in table.names if table.roles.get(name) == "unchanged"]
    if units and fixed:
        raise PlanError(
            f"Column {fixed[0]!r} cannot stay unchanged: a unit could be found by it. Drop it, or change it."
        )


def _rule(given: str | ColumnRule, table: Table, original: Table) -> ColumnRule:
    """A rule that fits the recoded table, from its text if necessary; then the rows of the original must keep it."""
    if not isinstance(given, str):
        given.check(table)
        return given
    rule = parse_rule(given, table.names)
    rule.check(table)
    refuse_unkept([rule], original)
    return rule


def _rules_of(table: Table, wanted: bool | Sequence[ColumnRule]) -> tuple[ColumnRule, ...]:
    """The rules found before, or now if that is asked for."""
    if not isinstance(wanted, bool):
        return tuple(wanted)
    return tuple(one.rule for one in rules_in(table)) if wanted else ()


def _target(name: str, table: Table, given: str | None) -> str:
    target = target_of(table, given)
    if target is None:
        raise PlanError(f"Recipe {name!r} needs a target column. Add target=COLUMN, or give a column the role target.")
    return target


def _checked(name: str, hint: Any, parameter: str, value: Any) -> Any:
    return checked(f"Parameter {parameter} of recipe {name!r}", hint, value)


def plan_for(
    table: IntoTable,
    recipe: str = "cover",
    *,
    target: str | None = None,
    settings: Mapping[str, Any] | None = None,
    rules: Sequence[str | ColumnRule] = (),
    find_rules: FindRules | None = None,
    sequence: str | None = None,
    most_rows: int | None = None,
    rare: Rare | None = None,
    share: int | None = None,
    weights: Leave | None = None,
    keep_tables: Sequence[str | Sequence[str]] = (),
    recode: str | Recoding | Sequence[str | Recoding] = (),
) -> Plan:
    """The plan that a recipe writes for a table.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    recipe : str, default "cover"
        The name of the recipe.
    target : str, optional
        The column whose rules the release preserves; needed by some recipes. Default: the one with the role "target".
    settings : mapping, optional
        Parameters of the recipe. Values may be text from a command line.
    rules : sequence of str or ColumnRule, optional
        Relations between columns that every released row must keep, such as ``"total == a + b"``.
    find_rules : bool or sequence of ColumnRule, optional
        Whether further rules are looked for in the table and kept, or those that were found before. Default: as the
        recipe does; ``cover`` looks for rules, recipes of publications do not.
    sequence : str, optional
        The column by which the rows of a unit follow each other, if a column has the role "unit".
    most_rows : int, optional
        The largest number of rows that a unit gives.
    rare : {"allow", "pool", "refuse"}, optional
        What happens to levels of categories that fewer than 5 people have: they stay, they become one level, or nothing
        is released. Default: as the recipe does; ``cover`` pools them, recipes of publications let them stay.
    share : int, optional
        The minimum number of rows that hold a number, so that no rare or extreme one is released: neighbours in rank
        take their rounded mean. Default: 5 for ``cover``, 1 for recipes of publications.
    weights : {"drop", "classes", "calibrated"}, optional
        How survey weights leave: not at all, as the mean weight of classes of at least 5 people, or calibrated so that
        weighted totals are kept. Default: calibrated, if a column has the role "weight".
    keep_tables : sequence of str or of sequences of str, optional
        Tables to keep, such as ``"sex x region"`` or ``("sex", "region")``: calibrated weights keep their weighted
        totals, and ``cover`` their numbers of rows.
    recode : sequence of Recoding or str, optional
        How values become coarser or missing before the recipe sees them: ``Round("wage", to=0.5)``, or the same as
        text, ``"wage: round 0.5"``.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> settings = {"k": "5", "columns": "age,wage"}
    >>> lc.recipes.plan_for(table, "microaggregate", settings=settings).columns
    ('age', 'wage')
    """
    table, chosen = from_frame(table), RECIPES.named(recipe)
    given = {name: _setting(chosen, name, value) for name, value in (settings or {}).items()}
    target = _target(recipe, table, target) if chosen.needs_target else target_of(table, target)
    if chosen.takes_target:
        given["target"] = target
    if share is not None and given.setdefault("share", share) != share:
        raise PlanError(f"share={share} and the setting share={given['share']} were given. Use one of them.")
    given |= {"weights": weights, "keep_tables": keep_tables, "most_rows": most_rows}
    given |= {"rules": rules, "sequence": sequence, "rare": rare, "recode": recode}
    try:
        plan = chosen.make(table, find_rules=find_rules, **given)
    except ValueOutOfRange as error:
        raise _as_setting(error, chosen, settings or {}) from None
    exposed = list(exposed_rules(plan, recoded_table(plan, table))) if plan.found_rules else []
    if any(rule in exposed for rule in plan.found_rules):  # a rule that was only found is given up
        plan = chosen.make(table, find_rules=[rule for rule in plan.found_rules if rule not in exposed], **given)
    return plan.replaced(target=target or "")


def _as_setting(error: ValueOutOfRange, chosen: Recipe, settings: Mapping[str, Any]) -> ValueOutOfRange:
    """An error about the parameter of a method, in terms of the setting of the recipe that gave it."""
    name = error.parameter
    if name in settings or (name in chosen.parameters and name not in ALSO_ARGUMENTS):
        return error.called(f"Parameter {name} of recipe {chosen.name!r}")
    return error.called(name) if name in ALSO_ARGUMENTS else error


ALSO_ARGUMENTS = ("share",)  # settings of a recipe that `plan_for` takes, too


def rewritten(plan: Plan, table: Table) -> Plan:
    """The plan that the same recipe writes for other rows of the table; of another plan the recodings are fitted."""
    given = plan.recode if plan.recode_as_given is None else plan.recode_as_given
    if plan.settings is None or plan.recipe not in RECIPES:
        return plan if given == plan.recode else plan.replaced(recode=given, recode_as_given=None)
    return plan_for(
        table,
        plan.recipe,
        target=plan.target or None,
        settings=plan.settings,
        rules=plan.rules,
        find_rules=plan.found_rules,
        sequence=None if plan.units is None else plan.units.sequence,
        most_rows=None if plan.units is None else plan.units.most_rows,
        rare="pool" if plan.pools else "allow",
        share=plan.share if plan.share > 1 else None,
        weights=plan.weights.leave if plan.weights is not None and table.with_role("weight") else None,
        keep_tables=plan.keep_tables,
        recode=given,
    )


def _setting(recipe: Recipe, name: str, value: Any) -> Any:
    """A parameter's value, converted to the type that the recipe declares."""
    if name not in recipe.parameters:
        raise NameUnknown("parameter", name, recipe.parameters, f"of recipe {recipe.name!r}")
    hint = get_type_hints(recipe.make)[name]
    words = ("none", "", *(("auto",) if _is_automatic(hint) else ()))
    if isinstance(value, str) and value.lower() in words and value.lower() not in allowed_types(hint):
        value = None
    return checked(f"Parameter {name} of recipe {recipe.name!r}", hint, value, from_text=True)


def _is_automatic(hint: Any) -> bool:
    """Whether None, which ``leafcover recipes`` lists as auto, leaves the choice to the recipe."""
    return type(None) in allowed_types(hint) and "auto" not in allowed_types(hint)
