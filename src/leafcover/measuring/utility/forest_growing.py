"""SysFor's forest for the target of a table, and where rows stand in its trees."""

from dataclasses import dataclass

import numpy as np

from leafcover.measuring.models import SYSFOR
from leafcover.measuring.utility.growing import tree_for
from leafcover.table.table import Table
from leafcover.tree.forest import Forest
from leafcover.tree.sysfor import grow_forest
from leafcover.tree.training import attribute_names
from leafcover.tree.walk import Places, places


@dataclass(frozen=True)
class Growth:
    """How forests are grown: SysFor's own settings, but for the number of trees."""

    n_trees: int = SYSFOR
    goodness: float = 0.3
    separation: float = 0.3
    min_records: int = 10
    confidence: float = 0.25


@dataclass(frozen=True, eq=False)
class Walked:
    """A forest, and the places of the rows of one table in each tree."""

    trees: Forest
    places: tuple[Places, ...]


def forest_for(table: Table, target: str, growth: Growth | None = None) -> Forest:
    """SysFor for a category from all other columns; a single leaf where fewer than two classes are known.

    Of attributes that are equally good the first by name comes first, so that the order of columns cannot matter.
    """
    growth = growth or Growth()
    names = tuple(sorted(attribute_names(table, target)))
    column = table[target]
    if not names or len(np.unique(column.values[~column.missing])) < 2:
        return (tree_for(table, target),)
    return grow_forest(
        table,
        target=target,
        n_trees=growth.n_trees,
        goodness=growth.goodness,
        separation=growth.separation,
        min_records=growth.min_records,
        confidence=growth.confidence,
        attributes=names,
    )


def walked(trees: Forest, table: Table) -> Walked:
    """Lead the rows of a table down every tree."""
    return Walked(trees, tuple(places(tree, table) for tree in trees))
