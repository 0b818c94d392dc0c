"""The Forest Framework (paper 002) as a plan: values move only where the leaves of many trees meet."""

from typing import Literal

from leafcover.noise.bounded import Bounded
from leafcover.noise.fit import Fit
from leafcover.noise.redraw import Redraw
from leafcover.releasing.framework import ClassNoise, Noises, Scale, steps_within
from leafcover.releasing.plan import Plan, recipe_called
from leafcover.split.forest import Forest
from leafcover.table.table import Table, as_table, column_name


@recipe_called("forest")
def forest(
    table: Table,
    *,
    target: str,
    n_trees: int = 60,
    min_cell: int = 5,
    spread: float = 0.276,
    siblings: float = 0.2,
    cousins: int = 1,
    others: float = 0.0,
    class_noise: ClassNoise = "rpt",
    innocent: Literal["all", "heterogeneous"] = "all",
    scale: Scale = "auto",
    fit: Fit = "redraw",
    goodness: float = 0.3,
    separation: float = 0.3,
    min_records: int = 10,
    confidence: float = 0.25,
    bins: int | None = None,
) -> Plan:
    """The Forest Framework of paper 002: a SysFor forest of ``n_trees``, every row kept in its leaf of every tree.

    That holds for cells of at least ``min_cell`` rows; smaller ones are pooled, and their rows may change some of their
    leaves. ``min_cell=1`` keeps every rule of every tree and leaves most rows alone in their cell. ``goodness``,
    ``separation``, ``min_records`` and ``confidence`` are the forest's; the noises are those of ``framework``.
    """
    table, target = as_table(table), column_name("target", target)
    within = Forest(
        of=target,
        n_trees=n_trees,
        min_cell=min_cell,
        goodness=goodness,
        separation=separation,
        min_records=min_records,
        confidence=confidence,
        bins=bins,
    )
    noise = Noises(
        Bounded(spread=spread, fit=fit, innocent=innocent),
        Redraw(siblings=siblings, cousins=cousins, others=others),
        class_noise,
        scale,
    )
    return Plan(*steps_within(table, target, within, noise))
