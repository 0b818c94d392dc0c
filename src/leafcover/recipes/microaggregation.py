"""Microaggregation recipes: values are replaced by the average of at least k similar rows."""

from typing import Literal, TypeAlias

from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.partition.base import PartitionMethod
from leafcover.partition.kd_tree import Axes, Cut, Halves, Kd, Scale, Scope, Tie
from leafcover.partition.leaves import MOST_ROWS, Whole
from leafcover.partition.microaggregation import InOrder, KMeans, Mdav, Strata, VariableMdav
from leafcover.perturb.centroid import Centroid
from leafcover.recipes.plan import Names, Plan, Step, chosen_columns, listed_names
from leafcover.recipes.registry import recipe
from leafcover.table.table import Table

Average: TypeAlias = Literal["mean", "median"]
Preset: TypeAlias = Literal["table-4.1", "table-5.1", "table-5.2"]
NUMBERS = ("number", "date", "time")  # kinds that have an average


@recipe("microaggregate")
def microaggregate(
    table: Table,
    *,
    k: int = 3,
    columns: Names | None = None,
    groups: Names | None = None,
    strata: Names | None = None,
    method: Literal["mdav", "v-mdav"] = "mdav",
    gamma: float | None = None,
    average: Average = "mean",
    block: int | None = None,
    on_grid: bool = False,
) -> Plan:
    """Groups of at least k similar rows by MDAV; each value becomes the average of its group, a category its mode.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    k : int, default 3
        The minimum number of rows in a group.
    columns : str or list of str, optional
        The columns to change, as "a,b" or ["a", "b"]; categories too (MDAV-generic). Default: all numbers, dates and
        times except weights.
    groups : str or list of str, optional
        The columns whose rows are grouped jointly, as "a+b,c+d" or ["a+b", "c+d"]; "each" for one column at a time.
        Default: all of them together.
    strata : str or list of str, optional
        Columns, as "a,b" or ["a", "b"]. Groups do not cross their strata of at least k rows.
    method : {"mdav", "v-mdav"}, default "mdav"
        Groups of k rows, or of k to 2k - 1.
    gamma : float, optional
        How readily V-MDAV groups grow. Default: 0.2; about 1.1 suits clustered data.
    average : {"mean", "median"}, default "mean"
        The average that replaces numbers.
    block : int, optional
        The maximum number of rows in the kd blocks that MDAV divides a large table into, 0 for exact groups. Default:
        64,000 above 100,000 rows.
    on_grid : bool, default False
        Round means to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.microaggregate(table, k=5, columns="age,wage", strata="gender")
    >>> len(plan.steps), plan.steps[0].within.start
    (1, Strata(by=('gender',), min_cell=5))
    """
    _check_k("microaggregate", k)
    for name, value, needed in (("gamma", gamma, "v-mdav"), ("block", block, "mdav")):
        if value is not None and method != needed:
            raise PlanError(f"{name} is a setting of method={needed}, but the method is {method}. Leave one out.")
    kinds = NUMBERS if columns is None else (*NUMBERS, "category")
    names = chosen_columns(table, columns, "microaggregate", kinds, without=_strata(strata, table))
    centroid = Centroid(number=average, least=k, on_grid=on_grid)
    start = _start(strata, table, names, k)

    def within(together: tuple[str, ...]) -> Mdav | VariableMdav:
        if method == "v-mdav":
            return VariableMdav(together, k=k, gamma=0.2 if gamma is None else gamma, start=start)
        return Mdav(together, k=k, start=start, block=block)

    return Plan(*(Step(one, within=within(one), perturb=centroid) for one in _together(groups, names)))


@recipe("microaggregate-univariate")
def microaggregate_univariate(
    table: Table,
    *,
    k: int = 3,
    columns: Names | None = None,
    strata: Names | None = None,
    sizes: Literal["optimal", "fixed"] = "optimal",
    average: Average = "mean",
    on_grid: bool = False,
) -> Plan:
    """Univariate microaggregation: k to 2k - 1 neighbours in the order of each number become their average.

    Little information is lost and little is protected: the groups of several columns together often single out a
    person to an attacker who knows k.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    k : int, default 3
        The minimum number of rows in a group.
    columns : str or list of str, optional
        The columns to change, as "a,b" or ["a", "b"]. Default: all numbers, dates and times except weights.
    strata : str or list of str, optional
        Columns, as "a,b" or ["a", "b"]. Groups do not cross their strata of at least k rows.
    sizes : {"optimal", "fixed"}, default "optimal"
        Groups of k to 2k - 1 rows with the least variance, or of k rows.
    average : {"mean", "median"}, default "mean"
        The average that replaces numbers.
    on_grid : bool, default False
        Round means to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.microaggregate_univariate(table, k=5, columns="age,wage")
    >>> [step.columns for step in plan.steps]
    [('age',), ('wage',)]
    """
    _check_k("microaggregate-univariate", k)
    names = chosen_columns(table, columns, "microaggregate-univariate", NUMBERS, without=_strata(strata, table))
    centroid = Centroid(number=average, least=k, on_grid=on_grid)
    start = _start(strata, table, names, k)
    return Plan(*(Step(name, within=InOrder(name, k=k, sizes=sizes, start=start), perturb=centroid) for name in names))


@recipe("perturbation-tree")
def perturbation_tree(
    table: Table,
    *,
    k: int | None = None,
    columns: Names | None = None,
    tree: Literal["kd", "halves"] = "kd",
    split_on: Literal["all", "others"] = "all",
    own_tree: bool = False,
    scale: Scale | None = None,
    cut: Cut = "midrange",
    scope: Scope = "node",
    reuse: bool = True,
    leaf: int | None = None,
    tie: Tie = "left",
    axes: Axes = "variance",
    average: Average = "mean",
    groups: Literal["cells", "mdav", "k-means"] = "cells",
    on_grid: bool = False,
    preset: Preset | None = None,
) -> Plan:
    """The perturbation tree: sensitive numbers averaged in kd cells of at least k rows (3 by default).

    See Roy, Performance Analysis of Clustering in Privacy Preserving Data Mining. ``cut``, ``scope``, ``reuse``,
    ``tie`` and ``axes`` apply to a kd tree only.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    k : int, optional
        The minimum number of rows in a cell. Default: 3.
    columns : str or list of str, optional
        The sensitive attributes, as "a,b" or ["a", "b"]. Default: the numbers with that role, or else all numbers.
    tree : {"kd", "halves"}, default "kd"
        Cells of a kd tree, or halves along the first principal component.
    split_on : {"all", "others"}, default "all"
        Whether the tree tests all numbers, or only those that are not averaged.
    own_tree : bool, default False
        Give each sensitive attribute a tree of its own that does not test it.
    scale : {"minmax", "max", "raw", "z"}, optional
        What a column is divided by before variances are compared: its range, its largest absolute value, nothing, or
        its standard deviation. Default: "minmax", or "z" for halves.
    cut : {"midrange", "median"}, default "midrange"
        Where a node is split.
    scope : {"node", "global"}, default "node"
        Whether a midrange is that of the node's rows or of all rows.
    reuse : bool, default True
        Whether a path may test a column more than once.
    leaf : int, optional
        A cell of more rows than this is split. Default: the larger of k and 3.
    tie : {"left", "right"}, default "left"
        The side of values equal to the threshold.
    axes : {"variance", "cycle"}, default "variance"
        Whether a kd tree cuts the column with the largest variance, or the columns in turn.
    average : {"mean", "median"}, default "mean"
        The average that replaces numbers.
    groups : {"cells", "mdav", "k-means"}, default "cells"
        Average whole cells, or groups of k inside them, by MDAV or by k-means as Roy does.
    on_grid : bool, default False
        Round means to the column's grid, such as whole years or cents. Dates and times are always rounded.
    preset : {"table-4.1", "table-5.1", "table-5.2"}, optional
        The settings of one of Roy's tables. "table-5.2" publishes values of single rows unchanged, as the paper does.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.perturbation_tree(table, k=5, columns="wage", split_on="others")
    >>> plan.columns, plan.steps[0].within.by
    (('wage',), ('education', 'experience', 'age'))
    """
    given = (k, leaf, tree, own_tree, cut, scope, reuse, tie)
    if preset is not None and given != (None, None, "kd", False, "midrange", "node", True, "left"):
        raise PlanError(f"preset={preset} sets k, leaf, tree, own_tree, cut, scope, reuse and tie. Leave these out.")
    if preset == "table-5.2" and groups != "cells":
        raise PlanError(f"preset={preset} sets groups, too. Leave it out.")
    if tree == "halves" and (cut, scope, reuse, tie, axes) != ("midrange", "node", True, "left", "variance"):
        raise PlanError(
            "cut, scope, reuse, tie and axes apply to a kd tree, but tree=halves was chosen. Leave one out."
        )
    if preset == "table-4.1":
        k, leaf = 2, 3
    if preset == "table-5.1":
        k, leaf, own_tree, scope, reuse = 2, 7, True, "global", False
    if preset == "table-5.2":
        k, leaf, own_tree, scope, reuse, groups = 2, 7, True, "global", False, "k-means"
    k = 3 if k is None else k
    _check_k("perturbation-tree", k)
    if leaf is not None and not k <= leaf <= MOST_ROWS:
        raise ValueOutOfRange("perturbation-tree's leaf", leaf, f"a whole number of rows from k = {k} to {MOST_ROWS:,}")
    unit: Scale = scale or ("z" if tree == "halves" else "minmax")
    numbers = chosen_columns(table, None, "perturbation-tree", NUMBERS)
    sensitive = table.with_role("sensitive")
    marked = [name for name in numbers if name in sensitive]
    if columns is None and sensitive and not marked:
        raise PlanError(
            "Recipe 'perturbation-tree' averages numbers, but no sensitive attribute is a number that varies: "
            f"{', '.join(sensitive)}. Name columns=..., or use another recipe."
        )
    names = marked if columns is None and marked else chosen_columns(table, columns, "perturbation-tree", NUMBERS)
    asked = [name for name in numbers if split_on == "all" or name not in names]
    alone = preset == "table-5.2"  # each attribute in groups of its own values, which may be single rows
    centroid = Centroid(number=average, least=1 if alone else k, on_grid=on_grid)

    def within(by: list[str], together: tuple[str, ...]) -> PartitionMethod:
        if not by:
            raise PlanError("No number is left for the tree to test. Use split_on=all, or name fewer columns.")
        cells: Kd | Halves = Kd(
            tuple(by),
            scale=unit,
            cut=cut,
            scope=scope,
            reuse=reuse,
            leaf_max=leaf or max(k, 3),
            min_child=k,
            tie=tie,
            axes=None if axes == "variance" else axes,
        )
        if tree == "halves":
            cells = Halves(tuple(by), fewer_than=max(2 * k, (leaf or 0) + 1), scale=unit)
        if groups == "cells":
            return cells
        if groups == "mdav":
            return Mdav(together, k=k, start=cells)
        return KMeans(together, most=max(k, 3), k=1 if alone else k, start=cells)

    every = tuple(names)
    if own_tree:
        both = ((name, (name,) if alone else every) for name in names)
        return Plan(*(Step(name, within([n for n in asked if n != name], own), centroid) for name, own in both))
    return Plan(Step(names, within(asked, every), centroid))


def _check_k(recipe: str, k: int) -> None:
    """Raise an error unless k is at least 2: the average of one row is the row."""
    if not 2 <= k <= MOST_ROWS:
        raise ValueOutOfRange(f"{recipe}'s k", k, f"a whole number of rows from 2 to {MOST_ROWS:,}")


def _start(strata: Names | None, table: Table, names: list[str], k: int) -> Strata | Whole:
    """The cells that no group crosses."""
    by = _strata(strata, table)
    if not by:
        return Whole()
    for name in by:
        if name in names:
            raise PlanError(f"Column {name!r} defines strata, so its groups would not change it. Name it once.")
    return Strata(tuple(by), min_cell=k)


def _strata(strata: Names | None, table: Table) -> list[str]:
    """The columns that define strata."""
    if strata is None:
        return []
    by = listed_names(strata, table)
    for name in by:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "for strata")
    return by


def _together(groups: Names | None, names: list[str]) -> list[tuple[str, ...]]:
    """The columns whose rows are grouped together."""
    if groups is None:
        return [tuple(names)]
    blocks = groups.split(",") if isinstance(groups, str) else groups
    written = [] if groups == "each" else [block.split("+") for block in blocks]
    found = [tuple(name.strip() for name in block if name.strip()) for block in written]
    taken = [name for block in found for name in block]
    if not all(found):
        raise PlanError(f"A group names no column: {groups!r}. Write them as a+b,c+d, or leave the setting out.")
    for name in taken:
        if name not in names:
            raise NameUnknown("column", name, names, "among those that are changed")
    if len(set(taken)) < len(taken):
        raise PlanError(f"A column is in two groups: {groups}. Name each once.")
    return found + [(name,) for name in names if name not in taken]
