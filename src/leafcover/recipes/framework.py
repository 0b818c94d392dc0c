"""Published perturbation methods as plans: Framework, DETECTIVE, Random Technique and Forest Framework.

- Framework: Islam and Brankovic (2004), "A Framework for Privacy Preserving Classification in Data Mining".
- DETECTIVE: Islam and Brankovic (2005), "DETECTIVE: A Decision Tree Based Categorical Value Clustering and Perturbation
  Technique for Preserving Privacy in Data Mining".
- Random Technique and Forest Framework: Fletcher and Islam (2015), "An anonymization technique using intersected
  decision trees".
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from leafcover.errors import PlanError
from leafcover.partition.forest import Forest
from leafcover.partition.leaves import Leaves, Whole
from leafcover.perturb.bounded import Boundary, Bounded, Where
from leafcover.perturb.bounded_normal import BoundedGadp
from leafcover.perturb.redraw import Redraw
from leafcover.perturb.shuffle import Shuffle
from leafcover.recipes.plan import Names, Plan, Step, chosen_columns, free_columns
from leafcover.recipes.registry import recipe
from leafcover.table.table import Column, Table, column_name

ClassNoise: TypeAlias = Literal["rpt", "ppt", "alpt"]
Scale: TypeAlias = Literal["auto", "range", "rank", "value"]

MOST_CLASSES = 300  # maximum number of levels of a category with its own tree
HEAP = 0.05  # a value in more than this share of rows is a heap
SKEW = 1.0  # with a larger skewness the range is mostly empty, and noise by range would fill it


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
    innocent: Where = "all",
    influential: Where = "all",
    distribution: str = "normal",
    scale: Scale = "auto",
    boundary: Boundary = "redraw",
    preserve_leaf: bool = True,
    bins: int | None = None,
) -> Plan:
    """The Framework of Islam and Brankovic (2004) with DETECTIVE for categories, and safer defaults.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    target : str
        The column whose rules the release preserves. It may be left out if a column has the role "target".
    spread : float, default 0.276
        The standard deviation of the noise on numbers, as a share of the allowed range.
    min_cell : int, default 5
        The minimum number of rows in a cell. Smaller leaves are pooled.
    siblings : float, default 0.2
        The probability that a category becomes a majority value of another leaf with the same parent: DETECTIVE's p.
    cousins : int, default 1
        With 2, 3, ... the probability ``siblings`` is also divided among more distant leaves.
    others : float, default 0
        The probability that a category becomes any other value: DETECTIVE's v.
    class_noise : {"rpt", "ppt", "alpt"}, default "rpt"
        How the target is perturbed within a cell: permuted, drawn by its frequencies there, or drawn as the majority
        except with the table's overall minority share.
    innocent : {"all", "heterogeneous", "none"}, default "all"
        Where numbers that a leaf does not test are perturbed: in all cells, in cells with more than one class, or
        nowhere.
    influential : {"all", "heterogeneous", "none"}, default "all"
        The same for numbers that a leaf tests.
    distribution : str, default "normal"
        The noise on numbers: "normal", "uniform", "laplace", "figure-2" (the paper's, in steps of 5 %), or a symmetric
        table of noise and weights, such as "-20:1 -10:3 0:4 10:3 20:1".
    scale : {"auto", "range", "rank", "value"}, default "auto"
        Whether noise is measured by the range of a number, by ranks, or as a share of each value. "auto" uses ranks if
        a number is skewed or heaped, otherwise the range.
    boundary : {"redraw", "reflect", "wrap", "clip"}, default "redraw"
        How noise is kept inside the allowed range: drawn until the value is inside, mirrored at the end, continued
        from the other end, or cut off at the end.
    preserve_leaf : bool, default True
        Keep categories inside the leaves of the target's tree.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.framework(table, target="union", spread=0.1)
    >>> plan.recipe, dict(plan.settings)
    ('framework', {'spread': 0.1})
    """
    target = column_name("target", target)
    within = Leaves(of=target, min_cell=min_cell, bins=bins)
    changes = _Perturbations(
        _noise(spread, boundary, innocent, influential, distribution),
        Redraw(siblings=siblings, cousins=cousins, others=others),
        class_noise,
        scale,
    )
    return Plan(*steps_within(table, target, within, changes, keep=preserve_leaf))


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
    innocent: Where = "all",
    influential: Where = "all",
    distribution: str = "normal",
    scale: Literal["range", "value"] = "range",
    boundary: Boundary = "redraw",
    preserve_leaf: bool = True,
    bins: int | None = None,
) -> Plan:
    """The Framework as published: noise by range, and no pooling of leaves. Small leaves give little protection.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    target : str
        The column whose rules the release preserves. It may be left out if a column has the role "target".
    spread : float, default 0.276
        The standard deviation of the noise on numbers, as a share of the allowed range.
    siblings : float, default 0.2
        The probability that a category becomes a majority value of another leaf with the same parent: DETECTIVE's p.
    cousins : int, default 1
        With 2, 3, ... the probability ``siblings`` is also divided among more distant leaves.
    others : float, default 0
        The probability that a category becomes any other value: DETECTIVE's v.
    class_noise : {"rpt", "ppt", "alpt"}, default "rpt"
        How the target is perturbed within a cell: permuted, drawn by its frequencies there, or drawn as the majority
        except with the table's overall minority share.
    innocent : {"all", "heterogeneous", "none"}, default "all"
        Where numbers that a leaf does not test are perturbed: in all cells, in cells with more than one class, or
        nowhere.
    influential : {"all", "heterogeneous", "none"}, default "all"
        The same for numbers that a leaf tests.
    distribution : str, default "normal"
        The noise on numbers: "normal", "uniform", "laplace", "figure-2" (the paper's, in steps of 5 %), or a symmetric
        table of noise and weights, such as "-20:1 -10:3 0:4 10:3 20:1".
    scale : {"range", "value"}, default "range"
        Whether noise is a share of the allowed range or of each value.
    boundary : {"redraw", "reflect", "wrap", "clip"}, default "redraw"
        How noise is kept inside the allowed range: drawn until the value is inside, mirrored at the end, continued
        from the other end, or cut off at the end.
    preserve_leaf : bool, default True
        Keep categories inside the leaves of the target's tree.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.framework_paper(table, target="union")
    >>> {one.min_rows for one in plan.partitions}
    {1}
    """
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
        influential=influential,
        distribution=distribution,
        scale=scale,
        boundary=boundary,
        preserve_leaf=preserve_leaf,
        bins=bins,
    )
    return Plan(*plan.steps)


@recipe("framework-gadp")
def framework_gadp(
    table: Table,
    *,
    target: str,
    similarity: float = 0.35,
    min_cell: int = 5,
    own_from: int = 20,
    siblings: float = 0.2,
    cousins: int = 1,
    others: float = 0.0,
    class_noise: ClassNoise = "rpt",
    bins: int | None = None,
) -> Plan:
    """The extended Framework of Islam and Brankovic (2004): GADP in every leaf keeps correlations; rows stay there.

    All numbers of a leaf are drawn together with its means and correlations, inside the leaf and the domain. DETECTIVE
    perturbs categories, and the class is permuted within its leaf.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    target : str
        The column whose rules the release preserves. It may be left out if a column has the role "target".
    similarity : float, default 0.35
        How much of the difference between a number and the mean of its leaf is released: their correlation, at least 0
        and below 1.
    min_cell : int, default 5
        The minimum number of rows in a cell. Smaller leaves are pooled.
    own_from : int, default 20
        A leaf of at least so many rows has its own covariance. A smaller one has a mean of its own covariance and that
        within all leaves, in proportion to its rows.
    siblings : float, default 0.2
        The probability that a category becomes a majority value of another leaf with the same parent: DETECTIVE's p.
    cousins : int, default 1
        With 2, 3, ... the probability ``siblings`` is also divided among more distant leaves.
    others : float, default 0
        The probability that a category becomes any other value: DETECTIVE's v.
    class_noise : {"rpt", "ppt", "alpt"}, default "rpt"
        How the target is perturbed within a cell: permuted, drawn by its frequencies there, or drawn as the majority
        except with the table's overall minority share.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.framework_gadp(table, target="union")
    >>> plan.steps[0].columns, type(plan.steps[0].perturb).__name__
    (('wage', 'education', 'experience', 'age'), 'BoundedGadp')
    """
    target = column_name("target", target)
    within = Leaves(of=target, min_cell=min_cell, bins=bins)
    numbers = [c.name for c in free_columns(table, target) if not c.is_category]
    gadp = BoundedGadp(similarity=similarity, own_from=own_from)
    drawn = [Step(numbers, within=within, perturb=gadp)] if numbers else []
    redraw = Redraw(siblings=siblings, cousins=cousins, others=others)
    return Plan(*drawn, *_label_steps(table, target, within, redraw, class_noise, keep=True))


@recipe("detective")
def detective(
    table: Table,
    *,
    target: str | None = None,
    columns: Names | None = None,
    siblings: float = 0.2,
    cousins: int = 1,
    others: float = 0.0,
    min_cell: int = 5,
) -> Plan:
    """DETECTIVE, Islam and Brankovic (2005): each category within the leaves of its own tree; numbers are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    target : str, optional
        The class, which is unchanged unless ``columns`` names it. Default: the column with the role "target", if any.
    columns : str or list of str, optional
        The categories to change, as "a,b" or ["a", "b"]. Default: all but the class.
    siblings : float, default 0.2
        The probability that a category becomes a majority value of another leaf with the same parent: DETECTIVE's p.
    cousins : int, default 1
        With 2, 3, ... the probability ``siblings`` is also divided among more distant leaves.
    others : float, default 0
        The probability that a category becomes any other value: DETECTIVE's v.
    min_cell : int, default 5
        The minimum number of rows in a cell. Smaller leaves are pooled.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.detective(table, target="union")
    >>> [name in plan.columns for name in ("occupation", "wage", "union")]
    [True, False, False]
    """
    redraw = Redraw(siblings=siblings, cousins=cousins, others=others)
    without = [name for name in (target,) if name is not None and columns is None]
    names = chosen_columns(table, columns, "detective", ("category",), without=without)
    many = Redraw(
        distribution="own", others=siblings
    )  # too many levels for a tree: any other value, with the probability of a sibling's
    steps = [
        Step(c.name, within=_own_leaves(table, c.name, min_cell), perturb=redraw)
        if len(c.levels) <= MOST_CLASSES
        else Step(c.name, within=Whole(), perturb=many)
        for c in (table[name] for name in names)
    ]
    return Plan(*steps)


@recipe("random")
def random(
    table: Table,
    *,
    spread: float = 0.276,
    others: float = 0.2,
    boundary: Boundary = "redraw",
    distribution: str = "uniform",
) -> Plan:
    """The Random Technique of Fletcher and Islam (2015), a baseline: uniform perturbation that ignores patterns.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    spread : float, default 0.276
        The standard deviation of the noise on numbers, as a share of a column's range.
    others : float, default 0.2
        The probability that a category becomes any other value.
    boundary : {"redraw", "reflect", "wrap", "clip"}, default "redraw"
        How noise is kept inside the allowed range: drawn until the value is inside, mirrored at the end, continued
        from the other end, or cut off at the end.
    distribution : str, default "uniform"
        The noise on numbers: "uniform", "normal", "laplace", or a symmetric table of noise and weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.random(table, others=0.1)
    >>> [type(step.perturb).__name__ for step in plan.steps]
    ['Bounded', 'Redraw']
    """
    columns = free_columns(table, None)
    numbers = [c.name for c in columns if not c.is_category]
    categories = [c.name for c in columns if c.is_category]
    steps = []
    if numbers:
        steps.append(
            Step(numbers, within=Whole(), perturb=Bounded(spread=spread, distribution=distribution, boundary=boundary))
        )
    if categories:
        steps.append(Step(categories, within=Whole(), perturb=Redraw(distribution="own", others=others)))
    return Plan(*steps)


def _noise(spread: float, boundary: Boundary, innocent: Where, influential: Where, distribution: str) -> Bounded:
    """Noise on numbers; all influential ones are perturbed where nothing else is asked for."""
    where = None if influential == "all" else influential
    return Bounded(spread, boundary=boundary, distribution=distribution, innocent=innocent, influential=where)


@dataclass(frozen=True)
class _Perturbations:
    """The perturbations of numbers, of categories and of the class."""

    numbers: Bounded
    categories: Redraw
    target: ClassNoise
    scale: Scale  # scale of the noise on numbers; "auto": by ranks if they are skewed or heaped


def steps_within(
    table: Table, target: str, within: Leaves | Forest, changes: _Perturbations, *, keep: bool = True
) -> list[Step]:
    """Perturb numbers and the class within the cells, categories within their own trees (and the cells: ``keep``)."""
    numbers = [c for c in free_columns(table, target) if not c.is_category]
    by_rank = {c.name for c in numbers if changes.scale == "rank" or (changes.scale == "auto" and _needs_ranks(c))}
    ranges = [c.name for c in numbers if c.name not in by_rank]
    ranks = [c.name for c in numbers if c.name in by_rank]
    by_range = replace(changes.numbers, scale="value" if changes.scale == "value" else "range")
    steps = [Step(ranges, within=within, perturb=by_range)] if ranges else []
    steps += [Step(ranks, within=within, perturb=replace(changes.numbers, scale="rank"))] if ranks else []
    return [*steps, *_label_steps(table, target, within, changes.categories, changes.target, keep=keep)]


def _label_steps(
    table: Table, target: str, within: Leaves | Forest, redraw: Redraw, noise: ClassNoise, *, keep: bool
) -> list[Step]:
    """Perturb categories within their own trees (and the cells: ``keep``), and the class within the cells."""
    categories = [c for c in free_columns(table, target) if c.is_category]
    steps = [
        Step(
            c.name,
            within=_own_leaves(table, c.name, within.min_cell),
            perturb=redraw,
            keep=[within] if keep else [],
        )
        for c in categories
        if len(c.levels) <= MOST_CLASSES
    ]
    # A category with more levels gets no tree: its values are permuted within the cells.
    steps += [Step(c.name, within=within, perturb=Shuffle()) for c in categories if len(c.levels) > MOST_CLASSES]
    if table.roles.get(target) != "unchanged":
        steps.append(_class_step(table[target], within, noise))
    return steps


def _own_leaves(table: Table, name: str, min_cell: int) -> Leaves:
    """The leaves of a category's own tree; in a large table, branches of at least one in fifty thousand rows.

    A category that no column explains would otherwise get a tree of half a million leaves: a million rows and 30 levels
    took 20 s instead of 3 s.
    """
    finest = len(table) // 50_000
    return Leaves(of=name, min_cell=min_cell, min_records=finest if finest > max(2, min_cell) else None)


def _class_step(target: Column, within: Leaves | Forest, noise: ClassNoise) -> Step:
    if noise == "rpt":
        return Step(target.name, within=within, perturb=Shuffle())
    if not target.is_category:
        raise PlanError(
            f"class_noise={noise!r} draws classes, but {target.name!r} is a {target.kind}. "
            f"Read it with category=[{target.name!r}], or use class_noise=rpt."
        )
    return Step(target.name, within=within, perturb=Redraw(distribution="shares" if noise == "ppt" else "all-leaves"))


def _needs_ranks(column: Column) -> bool:
    """Whether a number is so skewed or heaped that noise by range would distort its distribution."""
    known = column.values[~column.missing]
    # Scale by a power of two, which is exact: squares of values above 1e154 overflow.
    known = np.ldexp(known, -int(np.frexp(np.abs(known).max(initial=0.0))[1]))
    spread = known.std()
    if spread == 0:
        return False
    skewed = abs(float((((known - known.mean()) / spread) ** 3).mean())) > SKEW
    heaped = np.unique(known, return_counts=True)[1].max() > HEAP * len(known)
    return skewed or bool(heaped)


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
    innocent: Where = "all",
    influential: Where = "all",
    distribution: str = "normal",
    scale: Scale = "auto",
    boundary: Boundary = "redraw",
    goodness: float = 0.3,
    separation: float = 0.3,
    min_records: int = 10,
    confidence: float = 0.25,
    bins: int | None = None,
) -> Plan:
    """The Forest Framework of Fletcher and Islam (2015): every row keeps its leaf in every tree of a SysFor forest.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    target : str
        The column whose rules the release preserves. It may be left out if a column has the role "target".
    n_trees : int, default 60
        The maximum number of trees. There are fewer if the table has fewer good tests.
    min_cell : int, default 5
        The minimum number of rows in a cell. Smaller cells are pooled, and their rows may change some of their leaves.
        1 preserves every rule of every tree and leaves most rows as singletons.
    spread : float, default 0.276
        The standard deviation of the noise on numbers, as a share of the allowed range.
    siblings : float, default 0.2
        The probability that a category becomes a majority value of another leaf with the same parent: DETECTIVE's p.
    cousins : int, default 1
        With 2, 3, ... the probability ``siblings`` is also divided among more distant leaves.
    others : float, default 0
        The probability that a category becomes any other value: DETECTIVE's v.
    class_noise : {"rpt", "ppt", "alpt"}, default "rpt"
        How the target is perturbed within a cell: permuted, drawn by its frequencies there, or drawn as the majority
        except with the table's overall minority share.
    innocent : {"all", "heterogeneous", "none"}, default "all"
        Where numbers that a leaf does not test are perturbed: in all cells, in cells with more than one class, or
        nowhere.
    influential : {"all", "heterogeneous", "none"}, default "all"
        The same for numbers that a leaf tests.
    distribution : str, default "normal"
        The noise on numbers: "normal", "uniform", "laplace", "figure-2" (the paper's, in steps of 5 %), or a symmetric
        table of noise and weights, such as "-20:1 -10:3 0:4 10:3 20:1".
    scale : {"auto", "range", "rank", "value"}, default "auto"
        Whether noise is measured by the range of a number, by ranks, or as a share of each value. "auto" uses ranks if
        a number is skewed or heaped, otherwise the range.
    boundary : {"redraw", "reflect", "wrap", "clip"}, default "redraw"
        How noise is kept inside the allowed range: drawn until the value is inside, mirrored at the end, continued
        from the other end, or cut off at the end.
    goodness : float, default 0.3
        How far the gain ratio of a root test may fall below the best one.
    separation : float, default 0.3
        The minimum distance between two root cuts of the same number, as a fraction of its range.
    min_records : int, default 10
        At least two branches of every test must have this many rows.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate used for pruning. Smaller values prune more.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.forest(table, target="union", n_trees=10)
    >>> plan.partitions[0].n_trees
    10
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
    changes = _Perturbations(
        _noise(spread, boundary, innocent, influential, distribution),
        Redraw(siblings=siblings, cousins=cousins, others=others),
        class_noise,
        scale,
    )
    return Plan(*steps_within(table, target, within, changes))
