"""The candidates of a sweep: recipes, each at several strengths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

from leafcover.errors import LeafcoverError, NameUnknown, ValueOutOfRange
from leafcover.messages import catalogue
from leafcover.metrics.pair import sample_rows
from leafcover.recipes import RECIPES, Recipe, plan_for
from leafcover.recode.base import Recoding
from leafcover.table.table import Table

Value: TypeAlias = int | float | str | bool | None
Values: TypeAlias = tuple[tuple[str, Value], ...]  # of parameters, by name

say = catalogue("sweep")

GROUP_SIZES = ("k", "min_cell")  # parameters that set the smallest number of rows in a group
CHECK_ROWS = 2_000  # rows on which settings are checked before the sweep begins

Settings: TypeAlias = Mapping[str, Value]


def _each(name: str, *values: Value) -> tuple[Settings, ...]:
    """The strengths that differ in one parameter."""
    return tuple({name: value} for value in values)


# The strengths at which each recipe is tried; no parameter: its defaults. A recipe without a grid has only those.
GRIDS: Mapping[str, tuple[Settings, ...]] = MappingProxyType(
    {
        # By default cover chooses its price by the table, 0.7 or more.
        "cover": ({}, *_each("price", 0.3, 1.0, 2.0, 4.0), *_each("k", 20, 100)),
        "cells": _each("k", 5, 10, 20, 40, 80),
        "framework": _each("spread", 0.05, 0.1, 0.276, 0.5),
        "framework-paper": _each("spread", 0.05, 0.1, 0.276, 0.5),
        "forest": _each("min_cell", 5, 20, 50),
        "detective": _each("siblings", 0.1, 0.2, 0.4, 0.8),
        "random": _each("spread", 0.05, 0.1, 0.276, 0.5),
        "perturbation-tree": _each("k", 3, 5, 10, 20),
        "microaggregate": _each("k", 3, 5, 10, 20),
        "microaggregate-univariate": _each("k", 3, 5, 10, 20),
        "additive": _each("spread", 0.1, 0.25, 0.5, 1.0),
        "correlated": _each("spread", 0.1, 0.25, 0.5, 1.0),
        "bias-corrected": _each("spread", 0.1, 0.25, 0.5, 1.0),
        "multiplicative": _each("spread", 0.05, 0.1, 0.2, 0.4),
        "translate": _each("spread", 0.5, 2.0),
        "scale": _each("spread", 0.5, 2.0),
        "rotate": _each("standardised", False, True),
        "hybrid": _each("spread", 0.5, 2.0),
        "framework-gadp": _each("similarity", 0.0, 0.3, 0.6, 0.9),
        "gadp": _each("similarity", 0.0, 0.3, 0.6, 0.9),
        "egadp": _each("similarity", 0.0, 0.3, 0.6, 0.9),
        "cgadp": _each("similarity", 0.0, 0.3, 0.6, 0.9),
        "shuffle": _each("similarity", 0.0, 0.3, 0.6, 0.9),
        "ipso": _each("on_grid", False, True),
        "pram": _each("probability", 0.1, 0.2, 0.4, 0.8),
        "rank-swap": _each("window", 0.02, 0.05, 0.1, 0.2),
        "bounded-swap": ({}, {"leaf": 50, "distance": 15}, {"leaf": 200, "distance": 60}),
        "round": _each("digits", 1, 2, 3),
        "top-code": _each("share", 0.01, 0.05, 0.2),
        "intervals": _each("count", 3, 5, 10, 20),
        "generalise": _each("k", 3, 5, 10, 20),
        "suppress": _each("k", 2, 3, 5, 10),
    }
)


@dataclass(frozen=True)
class Candidate:
    """One recipe at one strength.

    >>> Candidate("cover", (("k", 20),), (("bins", 4),)).name, Candidate("cover", ()).name
    ('cover k=20', 'cover')
    """

    recipe: str
    strength: Values  # the settings that differ between the candidates of a recipe
    fixed: Values = ()  # the settings that all of them share

    @property
    def name(self) -> str:
        """The recipe and its strength."""
        return " ".join((self.recipe, *(f"{name}={value_text(value)}" for name, value in self.strength)))

    @property
    def settings(self) -> dict[str, Value]:
        """All settings of the recipe."""
        return dict((*self.strength, *self.fixed))


@dataclass(frozen=True)
class Skipped:
    """A candidate, or a recipe, that cannot run on this table, and the reason."""

    name: str
    reason: str


def candidates(
    table: Table,
    *,
    target: str,
    recipes: Sequence[str] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    recode: Sequence[Recoding] = (),
) -> tuple[tuple[Candidate, ...], tuple[Skipped, ...]]:
    """Every recipe (or those named) at every strength of its grid, and the recipes that cannot run.

    A grid such as ``{"k": [5, 20]}`` applies to every recipe with that parameter, one such as
    ``{"framework:spread": [0.1]}`` to a single recipe; several parameters are combined. ``settings`` are parameters
    with one value, ``recode`` what is recoded before every recipe. A recipe or setting that was requested by name and
    cannot run is an error.
    """
    chosen = [RECIPES.named(name) for name in dict.fromkeys(RECIPES if recipes is None else recipes)]
    if not chosen:
        raise ValueOutOfRange("recipes", "", f"at least one of {', '.join(RECIPES)}")
    for name in (*(grid or ()), *(settings or ())):
        _check_parameter(name, chosen)
    sample = table.take(sample_rows(len(table), CHECK_ROWS))
    found: list[Candidate] = []
    skipped: list[Skipped] = []
    for recipe in chosen:
        requested = recipes is not None or any(_fits(name, recipe) for name in (*(grid or ()), *(settings or ())))
        try:
            found += _of_recipe(recipe, sample, table, target, grid or {}, settings or {}, recode)
        except LeafcoverError as error:
            if requested:
                raise
            skipped.append(Skipped(recipe.name, str(error)))
    return tuple(dict.fromkeys(found)), tuple(skipped)


def feasible(
    found: Sequence[Candidate], *, rows: int, of: int, table: int
) -> tuple[tuple[Candidate, ...], tuple[Skipped, ...]]:
    """The candidates whose groups fit into a release of ``rows`` rows, and those that need larger groups.

    The released rows come from a sample ``of`` so many rows of a table with ``table`` rows.
    """
    skipped: dict[Candidate, Skipped] = {}
    for candidate in found:
        too_large = [(n, v) for n, v in candidate.settings.items() if n in GROUP_SIZES and _above(v, rows)]
        if too_large:
            name, value = too_large[0]
            sampled = "yes" if of < table else "no"
            reason = say("skipped-group-size", parameter=name, value=value, rows=rows, of=of, sampled=sampled)
            skipped[candidate] = Skipped(candidate.name, reason)
    return tuple(one for one in found if one not in skipped), tuple(skipped.values())


def grid_of(texts: Sequence[str]) -> dict[str, list[str]]:
    """A grid from its text on the command line.

    >>> grid_of(["k=5,20", "framework:spread=0.1"])
    {'k': ['5', '20'], 'framework:spread': ['0.1']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, sign, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not sign or not name.strip() or not listed:
            raise ValueOutOfRange("grid", text, "NAME=VALUE,VALUE such as k=5,20,100")
        if name.strip() in found:
            raise ValueOutOfRange("grid", text, f"given once for {name.strip()}, with all its values")
        found[name.strip()] = listed
    return found


def _of_recipe(
    recipe: Recipe,
    sample: Table,
    table: Table,
    target: str,
    grid: Mapping[str, Sequence[Any]],
    settings: Mapping[str, Any],
    recode: Sequence[Recoding] = (),
) -> Iterator[Candidate]:
    axes = {_parameter(name): values for name, values in _specific_last(grid) if _fits(name, recipe)}
    fixed = {_parameter(name): value for name, value in _specific_last(settings) if _fits(name, recipe)}
    for name, listed in axes.items():
        _check_listed(name, listed)
    strengths: Sequence[Mapping[str, Any]] = GRIDS.get(recipe.name, ({},))
    if axes:
        strengths = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    varied = dict.fromkeys(name for strength in strengths for name in strength)
    same = {name: fixed.pop(name) for name in varied if name in fixed}  # one strength: part of the name
    for strength in _unique([{**strength, **same} for strength in strengths]):
        known = _parsed(recipe, sample, table, target, {**strength, **fixed}, recode)
        yield Candidate(
            recipe.name, tuple((name, known[name]) for name in strength), tuple((name, known[name]) for name in fixed)
        )


def _unique(found: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The settings without repetitions, in the order of their first occurrence."""
    return [one for at, one in enumerate(found) if one not in found[:at]]


def _check_listed(name: str, values: Any) -> None:
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise ValueOutOfRange(f"The grid of {name}", values, "a list of at least one value")


def _parsed(
    recipe: Recipe, sample: Table, table: Table, target: str, given: Mapping[str, Any], recode: Sequence[Recoding]
) -> dict[str, Value]:
    """Settings as the recipe reads them, from a plan for a sample of the rows, or for all if the sample fails."""
    asked: dict[str, Any] = {"target": target, "settings": given, "find_rules": False, "rare": "allow"}
    asked["recode"] = recode
    try:
        plan = plan_for(sample, recipe.name, **asked)
    except LeafcoverError:
        plan = plan_for(table, recipe.name, **asked)
    parsed = plan.settings or {}
    return {name: parsed.get(name, recipe.parameters[name].default) for name in given}


def _check_parameter(name: str, chosen: Sequence[Recipe]) -> None:
    recipe, colon, _ = name.rpartition(":")
    if colon and recipe not in [one.name for one in chosen]:
        raise NameUnknown("recipe", recipe, [one.name for one in chosen], "in this sweep")
    if not any(_fits(name, one) for one in chosen):
        searched = [one for one in chosen if not colon or one.name == recipe]
        known = dict.fromkeys(parameter for one in searched for parameter in one.parameters)
        raise NameUnknown("parameter", _parameter(name), known, f"of {' or '.join(one.name for one in searched)}")


def _fits(name: str, recipe: Recipe) -> bool:
    wanted, colon, parameter = name.rpartition(":")
    return parameter in recipe.parameters and (not colon or wanted == recipe.name)


def _above(value: Value, rows: int) -> bool:
    return isinstance(value, int) and value > rows


def _parameter(name: str) -> str:
    """The name of the parameter without that of its recipe."""
    return name.rpartition(":")[2]


def _specific_last(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Values for one recipe come last, so that they replace those for all recipes."""
    return sorted(given.items(), key=lambda item: ":" in item[0])


def value_text(value: Value) -> str:
    """A setting in its shortest form."""
    return f"{value:g}" if isinstance(value, float) else str(value)
