"""Each published method as a function that returns a plan, and the list of them all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from leafcover.errors import NameUnknown, PlanError
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.recipes.cover import cover
from leafcover.recipes.framework import additive, detective, forest, framework, framework_paper, multiplicative, random
from leafcover.recipes.microaggregation import microaggregate, microaggregate_univariate, perturbation_tree
from leafcover.recipes.plan import Plan, checked
from leafcover.table.frames import as_table
from leafcover.table.table import Table, column_name


@dataclass(frozen=True)
class Recipe:
    """A recipe and what the list says of it."""

    name: str
    make: Callable[..., Plan]
    source: str
    keeps: str
    hides: str

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """What ``--set`` may give, by name."""
        return {n: p for n, p in signature(self.make).parameters.items() if n not in ("table", "target", "made")}

    @property
    def needs_target(self) -> bool:
        """Whether the recipe asks for a target."""
        return "target" in signature(self.make).parameters


RECIPES: Mapping[str, Recipe] = {
    r.name: r
    for r in (
        Recipe(
            "cover",
            cover,
            "Leafcover",
            "every count of every cell; the target's rules; most rules of other columns",
            "which of the k or more rows of a cell has which value, block by block",
        ),
        Recipe(
            "framework",
            framework,
            "paper 001 with 000, sound defaults",
            "every row's leaf of the target's tree, every leaf's class counts",
            "numbers within their leaf's range, categories among similar ones, the class within its leaf",
        ),
        Recipe(
            "framework-paper",
            framework_paper,
            "paper 001 with 000, as printed",
            "every row's leaf, every leaf's class counts",
            "as framework, but leaves of one or two rows hide almost nothing",
        ),
        Recipe(
            "forest",
            forest,
            "paper 002, sound defaults",
            "every row's leaf and every leaf's class counts in many trees at once, as far as cells have min_cell rows",
            "numbers and categories where all leaves of a row meet, the class within its cell",
        ),
        Recipe(
            "detective",
            detective,
            "paper 000",
            "the similarity of categories as their own trees see it",
            "categories only; numbers leave as they came in",
        ),
        Recipe(
            "random",
            random,
            "paper 002 (RT), a benchmark",
            "nothing on purpose",
            "every value a little, patterns and people alike",
        ),
        Recipe(
            "perturbation-tree",
            perturbation_tree,
            "paper 004",
            "every mean (unless average=median or on_grid), and that near rows are near",
            "which of the k or more rows of a kd cell has which number; other columns leave as they came in",
        ),
        Recipe(
            "microaggregate",
            microaggregate,
            "MDAV (Domingo-Ferrer and others)",
            "every mean (unless average=median or on_grid), most relations among the numbers",
            "numbers among the k or more most similar rows; other columns leave as they came in",
        ),
        Recipe(
            "microaggregate-univariate",
            microaggregate_univariate,
            "Hansen and Mukherjee 2003",
            "every mean (unless average=median or on_grid), nearly every value",
            "little: the groups of several columns together show most people to who knows k",
        ),
        Recipe(
            "additive",
            additive,
            "paper 004's comparison (SAN)",
            "means on average; not variances (times 1 + spread²), and correlations only in part",
            "little: numbers move near where they were, the nearest row is often the person's own; categories stay",
        ),
        Recipe(
            "multiplicative",
            multiplicative,
            "paper 004's comparison (MN)",
            "means on average, and signs; not variances, which grow most where values are large",
            "little: as additive; zeros stay, small values hardly move, dates and categories stay",
        ),
    )
}


def recipe_named(name: str) -> Recipe:
    """The recipe of a name."""
    if name not in RECIPES:
        raise NameUnknown("recipe", name, RECIPES)
    return RECIPES[name]


def plan_for(
    table: Table,
    recipe: str = "cover",
    *,
    target: str | None = None,
    settings: Mapping[str, Any] | None = None,
    made: dict[PartitionMethod, Partition] | None = None,
) -> Plan:
    """The plan a recipe writes for a table; ``settings`` may be text, as a command line gives it.

    Cells that the recipe makes on the way are put into ``made``, for `run` to use.
    """
    table, chosen = as_table(table), recipe_named(recipe)
    given = {name: _setting(chosen, name, value) for name, value in (settings or {}).items()}
    if chosen.needs_target:
        if target is None:
            raise PlanError(f"Recipe {recipe!r} keeps the rules for a target. Add --target COLUMN.")
        if column_name("target", target) not in table.names:
            raise NameUnknown("column", target, table.names)
        given["target"] = target
    if "made" in signature(chosen.make).parameters:
        given["made"] = made
    plan = chosen.make(table, **given)
    return Plan(*plan.steps, recipe=plan.recipe, target=target or "", settings=plan.settings)


def _setting(recipe: Recipe, name: str, value: Any) -> Any:
    """A parameter's value, read by the type the recipe declares."""
    from typing import get_type_hints

    if name not in recipe.parameters:
        raise NameUnknown("parameter", name, recipe.parameters, f"of recipe {recipe.name!r}")
    hint = get_type_hints(recipe.make)[name]
    if isinstance(value, str) and value.lower() in ("none", ""):
        value = None
    return checked(f"Parameter {name} of recipe {recipe.name!r}", hint, value, from_text=True)
