"""The Framework (paper 001), DETECTIVE (paper 000) and the Random Technique (paper 002) as plans."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from leafcover.errors import PlanError
from leafcover.partition.forest import Forest
from leafcover.partition.leaves import Leaves, Whole
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.perturb.bounded import Boundary, Bounded
from leafcover.perturb.redraw import Redraw
from leafcover.perturb.shuffle import Shuffle
from leafcover.recipes.plan import Names, Plan, Step, chosen_columns, free_columns
from leafcover.recipes.registry import recipe
from leafcover.table.table import Column, Table, column_name

ClassNoise: TypeAlias = Literal["rpt", "ppt", "alpt"]
Scale: TypeAlias = Literal["auto", "range", "rank"]

MOST_CLASSES = 300  # levels of a category that gets a tree of its own
HEAP = 0.05  # a value held by more than this share of rows is a heap
SKEW = 1.0  # beyond this the range is mostly empty and range noise would fill it


@recipe("framework")
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
    scale: Scale = "auto",
    boundary: Boundary = "redraw",
    preserve_leaf: bool = True,
    bins: int | None = None,
) -> Plan:
    """The Framework of paper 001 with DETECTIVE for categories, and sound defaults.

    No leaf smaller than ``min_cell`` rows stands alone; skewed or heaped numbers move by ranks.
    """
    target = column_name("target", target)
    within = Leaves(of=target, min_cell=min_cell, bins=bins)
    noise = Noises(
        Bounded(spread=spread, boundary=boundary, innocent=innocent),
        Redraw(siblings=siblings, cousins=cousins, others=others),
        class_noise,
        scale,
    )
    return Plan(*steps_within(table, target, within, noise, keep=preserve_leaf))


@recipe("framework-paper")
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
    boundary: Boundary = "redraw",
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
        boundary=boundary,
        preserve_leaf=preserve_leaf,
        bins=bins,
    )
    return Plan(*plan.steps)


@recipe("detective")
def detective(
    table: Table,
    *,
    siblings: float = 0.2,
    cousins: int = 1,
    others: float = 0.0,
    min_cell: int = 5,
) -> Plan:
    """DETECTIVE of paper 000: each category within the leaves of its own tree; numbers are left as they are."""
    redraw = Redraw(siblings=siblings, cousins=cousins, others=others)
    columns = [c for c in free_columns(table, None) if c.is_category]
    if not columns:
        raise PlanError("DETECTIVE changes categories, and the table has none that vary. Choose another recipe.")
    many = Redraw(distribution="own", others=siblings)  # no tree to speak of: any other value, as likely as a sibling's
    steps = [
        Step(c.name, within=_own_leaves(table, c.name, min_cell), perturb=redraw)
        if len(c.levels) <= MOST_CLASSES
        else Step(c.name, within=Whole(), perturb=many)
        for c in columns
    ]
    return Plan(*steps)


@recipe("random")
def random(table: Table, *, spread: float = 0.276, others: float = 0.2, boundary: Boundary = "redraw") -> Plan:
    """The Random Technique of paper 002, a benchmark: uniform noise on everything, whatever the patterns."""
    columns = free_columns(table, None)
    numbers = [c.name for c in columns if not c.is_category]
    categories = [c.name for c in columns if c.is_category]
    steps = []
    if numbers:
        steps.append(
            Step(numbers, within=Whole(), perturb=Bounded(spread=spread, distribution="uniform", boundary=boundary))
        )
    if categories:
        steps.append(Step(categories, within=Whole(), perturb=Redraw(distribution="own", others=others)))
    return Plan(*steps)


@dataclass(frozen=True)
class Noises:
    """What happens to numbers, to categories and to the class."""

    numbers: Bounded
    categories: Redraw
    target: ClassNoise
    scale: Scale  # by which numbers move: "auto" by ranks where they are skewed or heaped


def steps_within(table: Table, target: str, within: Leaves | Forest, noise: Noises, *, keep: bool = True) -> list[Step]:
    """Numbers and the class move within the cells, categories by their own trees; ``keep``: not out of the cells."""
    numbers = [c for c in free_columns(table, target) if not c.is_category]
    by_rank = {c.name for c in numbers if noise.scale == "rank" or (noise.scale == "auto" and _needs_ranks(c))}
    ranges = [c.name for c in numbers if c.name not in by_rank]
    ranks = [c.name for c in numbers if c.name in by_rank]
    steps = [Step(ranges, within=within, perturb=replace(noise.numbers, scale="range"))] if ranges else []
    steps += [Step(ranks, within=within, perturb=replace(noise.numbers, scale="rank"))] if ranks else []
    categories = [c for c in free_columns(table, target) if c.is_category]
    steps += [
        Step(
            c.name,
            within=_own_leaves(table, c.name, within.min_cell),
            perturb=noise.categories,
            keep=[within] if keep else [],
        )
        for c in categories
        if len(c.levels) <= MOST_CLASSES
    ]
    # A category with more levels has no tree to speak of: its values change places within the cells.
    steps += [Step(c.name, within=within, perturb=Shuffle()) for c in categories if len(c.levels) > MOST_CLASSES]
    if table.roles.get(target) != "unchanged":
        steps.append(_class_step(table[target], within, noise.target))
    return steps


def _own_leaves(table: Table, name: str, min_cell: int) -> Leaves:
    """The leaves of a category's own tree; of a large table no finer than one leaf in fifty thousand rows.

    A category that nothing explains would otherwise get a tree of half a million leaves: a million rows and 30 levels
    took 20 s instead of 3.
    """
    finest = len(table) // 50_000
    return Leaves(of=name, min_cell=min_cell, min_records=finest if finest > max(2, min_cell) else None)


def _class_step(target: Column, within: Leaves | Forest, noise: ClassNoise) -> Step:
    if noise == "rpt":
        return Step(target.name, within=within, perturb=Shuffle())
    if not target.is_category:
        raise PlanError(
            f"class_noise={noise!r} draws classes, but {target.name!r} is a {target.kind}. "
            f"Add --category {target.name}, or use class_noise=rpt."
        )
    return Step(target.name, within=within, perturb=Redraw(distribution="shares" if noise == "ppt" else "all-leaves"))


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


# The Forest Framework (paper 002) as a plan: values move only where the leaves of many trees meet.


@recipe("forest")
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
    boundary: Boundary = "redraw",
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
    target = column_name("target", target)
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
        Bounded(spread=spread, boundary=boundary, innocent=innocent),
        Redraw(siblings=siblings, cousins=cousins, others=others),
        class_noise,
        scale,
    )
    return Plan(*steps_within(table, target, within, noise))


# Noise on every number, whatever the patterns: the two methods most others are compared with.


@recipe("additive")
def additive(table: Table, *, spread: float = 0.5, columns: Names | None = None) -> Plan:
    """Simple additive noise (SAN): ``spread`` times a column's deviation is added to each of its values.

    Means stay. Variances grow by 1 + spread², correlations shrink, values leave the range they had. It hides little: a
    row stays near where it was, so the nearest row is often the person's own; outliers stay outliers. Categories leave
    as they came in. ``columns`` ("a,b") names the columns; without it all numbers, dates and times but weights move.
    """
    names = chosen_columns(table, columns, "additive", ("number", "date", "time"))
    return Plan(Step(names, within=Whole(), perturb=Additive(spread=spread)))


@recipe("multiplicative")
def multiplicative(table: Table, *, spread: float = 0.2, columns: Names | None = None) -> Plan:
    """Multiplicative noise (MN): each value times a lognormal factor of mean 1 and deviation ``spread``.

    Means and signs stay. Variances grow, most where values are large. It hides little: zeros and small values hardly
    move, and a row stays near where it was. Categories, dates and times leave as they came in. ``columns`` ("a,b")
    names the columns; without it all numbers but weights move.
    """
    names = chosen_columns(table, columns, "multiplicative", ("number",))
    return Plan(Step(names, within=Whole(), perturb=Multiplicative(spread=spread)))
