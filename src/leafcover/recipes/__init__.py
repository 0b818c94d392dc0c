"""Recipes: functions that write a plan for a table, one for each published method and for our own.

``leafcover.recipes.cover(table, target="income")``; a plugin's recipe is found by its name too.
"""

from collections.abc import Callable
from typing import Any

from leafcover.recipes.cells import cells
from leafcover.recipes.cover import cover
from leafcover.recipes.framework import detective, forest, framework, framework_gadp, framework_paper, random
from leafcover.recipes.gadp import cgadp, egadp, gadp, ipso, shuffle
from leafcover.recipes.microaggregation import microaggregate, microaggregate_univariate, perturbation_tree
from leafcover.recipes.noise import (
    additive,
    bias_corrected,
    correlated,
    hybrid,
    multiplicative,
    rotate,
    scale,
    translate,
)
from leafcover.recipes.recoding import generalise, intervals, round, suppress, top_code  # noqa: A004  # the recipe is called so
from leafcover.recipes.registry import RECIPES, Recipe, plan_for, recipe
from leafcover.recipes.swapping import bounded_swap, pram, rank_swap

__all__ = [
    "RECIPES",
    "Recipe",
    "additive",
    "bias_corrected",
    "bounded_swap",
    "cells",
    "cgadp",
    "correlated",
    "cover",
    "detective",
    "egadp",
    "forest",
    "framework",
    "framework_gadp",
    "framework_paper",
    "gadp",
    "generalise",
    "hybrid",
    "intervals",
    "ipso",
    "microaggregate",
    "microaggregate_univariate",
    "multiplicative",
    "perturbation_tree",
    "plan_for",
    "pram",
    "random",
    "rank_swap",
    "recipe",
    "rotate",
    "round",
    "scale",
    "shuffle",
    "suppress",
    "top_code",
    "translate",
]


def __getattr__(name: str) -> Callable[..., Any]:
    if (called := name.replace("_", "-")) in RECIPES:
        return RECIPES[called].make
    raise AttributeError(f"module 'leafcover.recipes' has no attribute {name!r}")
