"""Classical perturbations of statistical offices: post-randomisation (PRAM), rank swapping and bounded swapping."""

from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.partition.base import PartitionMethod
from leafcover.partition.kd_tree import Halves
from leafcover.partition.leaves import Whole
from leafcover.partition.microaggregation import Strata
from leafcover.perturb.pram import Invariant, Pram
from leafcover.perturb.swap import BoundedSwap, RankSwap
from leafcover.recipes.plan import Names, Plan, Step, chosen_columns, listed_names
from leafcover.recipes.registry import recipe
from leafcover.table.table import Table

NUMBERS = ("number", "date", "time")  # kinds that have ranks


@recipe("pram")
def pram(
    table: Table,
    *,
    probability: float = 0.2,
    invariant: Invariant = "proportional",
    columns: Names | None = None,
    strata: Names | None = None,
) -> Plan:
    """Post-randomisation (PRAM): each value of a category becomes another level with known probabilities.

    The expected frequencies of every column are kept; relations between columns become weaker. Numbers are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    probability : float, default 0.2
        With "proportional" the probability that a value is redrawn, otherwise that it becomes one of the other levels,
        before the matrix is made invariant.
    invariant : {"proportional", "two-stage", "none"}, default "proportional"
        How expected frequencies are kept: values are redrawn by the frequencies of their column, or changed to any
        level and back by Bayes' rule, or not at all.
    columns : str or list of str, optional
        The columns to change, as "a,b" or ["a", "b"]. Default: all categories.
    strata : str or list of str, optional
        Columns, as "a,b" or ["a", "b"]. Frequencies are kept in each of their strata, which stay as they are.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.pram(table, columns="occupation,sector", probability=0.3)
    >>> plan.steps[0].perturb
    Pram(probability=0.3, matrix=None, levels=(), invariant='proportional')
    """
    within = _within(strata, table)
    names = chosen_columns(table, columns, "pram", ("category",), without=within.needs)
    _refuse_strata("pram", names, within)
    return Plan(Step(names, within=within, perturb=Pram(probability, invariant=invariant)))


@recipe("rank-swap")
def rank_swap(table: Table, *, window: float = 0.1, columns: Names | None = None, strata: Names | None = None) -> Plan:
    """Rank swapping of Moore (1996): each number swaps with a random one at most a share of the ranks away.

    The values of every column are kept exactly; relations between columns become weaker. Categories are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    window : float, default 0.1
        The largest difference of ranks, as a share of all ranks.
    columns : str or list of str, optional
        The columns to change, as "a,b" or ["a", "b"]. Default: all numbers, dates and times except weights.
    strata : str or list of str, optional
        Columns, as "a,b" or ["a", "b"]. Values are swapped inside their strata, which stay as they are.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.rank_swap(table, columns="age,wage", window=0.05).columns
    ('age', 'wage')
    """
    within = _within(strata, table)
    names = chosen_columns(table, columns, "rank-swap", NUMBERS, without=within.needs)
    _refuse_strata("rank-swap", names, within)
    return Plan(Step(names, within=within, perturb=RankSwap(window)))


@recipe("bounded-swap")
def bounded_swap(
    table: Table,
    *,
    leaf: int = 20,
    distance: int = 5,
    columns: Names | None = None,
    by: Names | None = None,
) -> Plan:
    """Bounded swapping of Li and Sarkar (2011): numbers swap at a rank distance in cells of similar rows.

    The table is halved along first principal components until a cell has fewer than ``leaf`` rows. In each cell, each
    column by itself, a value swaps with a random one at least ``distance`` ranks away. The values of every column are
    kept exactly, in every cell. Categories are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    leaf : int, default 20
        A cell of at least this many rows is halved.
    distance : int, default 5
        The smallest difference of ranks, less than half of ``leaf``.
    columns : str or list of str, optional
        The columns to change, as "a,b" or ["a", "b"]. Default: the numbers with the role sensitive, or else all.
    by : str or list of str, optional
        The numbers to halve by. Default: all numbers, dates and times except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.bounded_swap(table, columns="wage", leaf=30, distance=8)
    >>> plan.columns, plan.steps[0].within.by
    (('wage',), ('wage', 'education', 'experience', 'age'))
    """
    if not 1 <= distance < leaf / 2:
        raise ValueOutOfRange("bounded-swap's distance", distance, f"from 1 to less than half of leaf = {leaf}")
    numbers = chosen_columns(table, by, "bounded-swap", NUMBERS)
    if columns is None:
        marked = [name for name in numbers if name in table.with_role("sensitive")]
        columns = marked or chosen_columns(table, None, "bounded-swap", NUMBERS)
    names = chosen_columns(table, columns, "bounded-swap", NUMBERS)
    return Plan(Step(names, within=Halves(tuple(numbers), fewer_than=leaf), perturb=BoundedSwap(distance)))


def _within(strata: Names | None, table: Table) -> PartitionMethod:
    """The whole table, or its strata."""
    return Whole() if strata is None else Strata(tuple(listed_names(strata, table)))


def _refuse_strata(recipe_name: str, names: list[str], within: PartitionMethod) -> None:
    """Raise an error if a column that defines the strata would be changed."""
    if both := [name for name in names if name in within.needs]:
        raise PlanError(f"Recipe {recipe_name!r} cannot change {both[0]!r}, which defines strata. Leave it out of one.")
