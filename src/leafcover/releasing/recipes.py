"""Each published method as a function that returns a plan, and the list of them all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, Literal, TypeAlias

import numpy as np

from leafcover.errors import NameUnknown, PlanError
from leafcover.noise.bounded import Bounded
from leafcover.noise.fit import Fit
from leafcover.noise.redraw import Redraw
from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.choosing import free_columns
from leafcover.releasing.cover import cover
from leafcover.releasing.microaggregation import microaggregate, microaggregate_univariate, perturbation_tree
from leafcover.releasing.noises import additive, multiplicative
from leafcover.releasing.plan import Plan, Step, recipe_called
from leafcover.split.partition import Partition, Split
from leafcover.split.trees import Leaves, Whole
from leafcover.table.table import Column, Table, as_table, column_name

ClassNoise: TypeAlias = Literal["rpt", "ppt", "alpt"]

MOST_CLASSES = 300  # levels of a category that gets a tree of its own
HEAP = 0.05  # a value held by more than this share of rows is a heap
SKEW = 1.0  # beyond this the range is mostly empty and range noise would fill it


@recipe_called("framework")
def framework(
    table: Table,
    *,
    target: str,
    spread: float = 0.276,
    min_cell: int = 5,
    siblings: float = 0.2,
    cousins: int = 1,
    others: float = 0.0,
    class_noise: ClassNoise = "rpt",
    innocent: Literal["all", "heterogeneous"] = "all",
    scale: Literal["auto", "range", "rank"] = "auto",
    fit: Fit = "redraw",
    preserve_leaf: bool = True,
    bins: int | None = None,
) -> Plan:
    """The Framework of paper 001 with DETECTIVE for categories, and sound defaults.

    No leaf smaller than ``min_cell`` rows stands alone; skewed or heaped numbers move by ranks.
    """
    table, target = as_table(table), column_name("target", target)
    within = Leaves(of=target, min_cell=min_cell, bins=bins)
    numbers = [c for c in free_columns(table, target) if not c.is_category]
    by_rank = {c.name for c in numbers if scale == "rank" or (scale == "auto" and _needs_ranks(c))}
    steps = []
    for kind, names in (
        ("range", [c.name for c in numbers if c.name not in by_rank]),
        ("rank", [c.name for c in numbers if c.name in by_rank]),
    ):
        if names:
            noise = Bounded(spread=spread, scale="rank" if kind == "rank" else "range", fit=fit, innocent=innocent)
            steps.append(Step(names, within=within, noise=noise))
    redraw = Redraw(siblings=siblings, cousins=cousins, others=others)
    keep = [within] if preserve_leaf else []
    categories = [c for c in free_columns(table, target) if c.is_category]
    steps += [
        Step(c.name, within=_own_leaves(table, c.name, min_cell), noise=redraw, keep=keep)
        for c in categories
        if len(c.levels) <= MOST_CLASSES
    ]
    # A category with more levels has no tree to speak of: its values change places within the target's leaves.
    steps += [Step(c.name, within=within, noise=Shuffle()) for c in categories if len(c.levels) > MOST_CLASSES]
    if table.roles.get(target) != "unchanged":
        steps.append(_class_step(table[target], within, class_noise))
    return Plan(*steps)


@recipe_called("framework-paper")
def framework_paper(
    table: Table,
    *,
    target: str,
    spread: float = 0.276,
    siblings: float = 0.2,
    cousins: int = 1,
    others: float = 0.0,
    class_noise: ClassNoise = "rpt",
    innocent: Literal["all", "heterogeneous"] = "all",
    fit: Fit = "redraw",
    preserve_leaf: bool = True,
    bins: int | None = None,
) -> Plan:
    """The Framework as printed: range noise, every leaf on its own however small. Small leaves hide little."""
    plan = framework(
        table,
        target=target,
        spread=spread,
        min_cell=1,
        siblings=siblings,
        cousins=cousins,
        others=others,
        class_noise=class_noise,
        innocent=innocent,
        scale="range",
        fit=fit,
        preserve_leaf=preserve_leaf,
        bins=bins,
    )
    return Plan(*plan.steps)


@recipe_called("detective")
def detective(
    table: Table,
    *,
    siblings: float = 0.2,
    cousins: int = 1,
    others: float = 0.0,
    min_cell: int = 5,
) -> Plan:
    """DETECTIVE of paper 000: each category within the leaves of its own tree; numbers are left as they are."""
    table = as_table(table)
    redraw = Redraw(siblings=siblings, cousins=cousins, others=others)
    columns = [c for c in free_columns(table, None) if c.is_category]
    if not columns:
        raise PlanError("DETECTIVE changes categories, and the table has none that vary. Choose another recipe.")
    many = Redraw(law="own", others=siblings)  # no tree to speak of: any other value, as likely as a sibling's
    steps = [
        Step(c.name, within=_own_leaves(table, c.name, min_cell), noise=redraw)
        if len(c.levels) <= MOST_CLASSES
        else Step(c.name, within=Whole(), noise=many)
        for c in columns
    ]
    return Plan(*steps)


@recipe_called("random")
def random(table: Table, *, spread: float = 0.276, others: float = 0.2, fit: Fit = "redraw") -> Plan:
    """The Random Technique of paper 002, a benchmark: uniform noise on everything, whatever the patterns."""
    table = as_table(table)
    columns = free_columns(table, None)
    numbers = [c.name for c in columns if not c.is_category]
    categories = [c.name for c in columns if c.is_category]
    steps = []
    if numbers:
        steps.append(Step(numbers, within=Whole(), noise=Bounded(spread=spread, law="uniform", fit=fit)))
    if categories:
        steps.append(Step(categories, within=Whole(), noise=Redraw(law="own", others=others)))
    return Plan(*steps)


def _own_leaves(table: Table, name: str, min_cell: int) -> Leaves:
    """The leaves of a category's own tree; of a large table no finer than one leaf in fifty thousand rows.

    A category that nothing explains would otherwise get a tree of half a million leaves: a million rows and 30 levels
    took 20 s instead of 3.
    """
    finest = len(table) // 50_000
    return Leaves(of=name, min_cell=min_cell, min_records=finest if finest > max(2, min_cell) else None)


def _class_step(target: Column, within: Leaves, noise: ClassNoise) -> Step:
    if noise == "rpt":
        return Step(target.name, within=within, noise=Shuffle())
    if not target.is_category:
        raise PlanError(
            f"class_noise={noise!r} draws classes, but {target.name!r} is a {target.kind}. "
            f"Add --category {target.name}, or use class_noise=rpt."
        )
    return Step(target.name, within=within, noise=Redraw(law="shares" if noise == "ppt" else "all-leaves"))


def _needs_ranks(column: Column) -> bool:
    """Whether a number is so skewed or heaped that noise on its range would not look like it."""
    known = column.values[~column.missing]
    # By a power of two, which changes no digit: the squares of values beyond 1e154 would be infinite.
    known = np.ldexp(known, -int(np.frexp(np.abs(known).max(initial=0.0))[1]))
    spread = known.std()
    if spread == 0:
        return False
    skewed = abs(float((((known - known.mean()) / spread) ** 3).mean())) > SKEW
    heaped = np.unique(known, return_counts=True)[1].max() > HEAP * len(known)
    return skewed or bool(heaped)


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
            "every mean, and that near rows are near",
            "which of the k or more rows of a kd cell has which number; other columns leave as they came in",
        ),
        Recipe(
            "microaggregate",
            microaggregate,
            "MDAV (Domingo-Ferrer and others)",
            "every mean, most relations among the numbers",
            "numbers among the k or more most similar rows; other columns leave as they came in",
        ),
        Recipe(
            "microaggregate-univariate",
            microaggregate_univariate,
            "Hansen and Mukherjee 2003",
            "every mean, nearly every value",
            "little: the groups of several columns together show most people to who knows k",
        ),
        Recipe(
            "additive",
            additive,
            "paper 004's comparison (SAN)",
            "means; not variances (times 1 + spread²), and correlations only in part",
            "little: numbers move near where they were, the nearest row is often the person's own; categories stay",
        ),
        Recipe(
            "multiplicative",
            multiplicative,
            "paper 004's comparison (MN)",
            "means and signs; not variances, which grow most where values are large",
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
    made: dict[Split, Partition] | None = None,
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

    from pydantic import TypeAdapter, ValidationError

    if name not in recipe.parameters:
        raise NameUnknown("parameter", name, recipe.parameters, f"of recipe {recipe.name!r}")
    hint = get_type_hints(recipe.make)[name]
    if isinstance(value, str) and value.lower() in ("none", ""):
        value = None
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        raise PlanError(
            f"Parameter {name} of recipe {recipe.name!r}: {error.errors()[0]['msg'].lower()}. Got {value!r}."
        ) from None
