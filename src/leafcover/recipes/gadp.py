"""Recipes that draw confidential numbers anew, given columns that are released unchanged: GADP and its family.

- GADP: Muralidhar, Parsa and Sarathy (1999), "A General Additive Data Perturbation Method for Database Security".
- EGADP: Muralidhar and Sarathy (2005), "An Enhanced Data Perturbation Approach for Small Data Sets".
- IPSO: Burridge (2003), "Information Preserving Statistical Obfuscation".
- CGADP: Sarathy, Muralidhar and Parsa (2002), "Perturbing Nonnormal Confidential Attributes: The Copula Approach".
- Data shuffling: Muralidhar and Sarathy (2006), "Data Shuffling: A New Masking Approach for Numerical Data".
"""

from collections.abc import Callable, Iterable
from functools import partial

from leafcover.errors import NameUnknown, PlanError
from leafcover.partition.leaves import Whole
from leafcover.perturb.base import Perturbation
from leafcover.perturb.conditional_normal import Egadp, Gadp
from leafcover.perturb.copula import Cgadp, DataShuffle
from leafcover.perturb.covariance import given_width
from leafcover.recipes.plan import Names, Plan, Step, chosen_columns, free_columns, listed_names
from leafcover.recipes.registry import recipe
from leafcover.table.table import Column, Table

NUMBERS = ("number", "date", "time")
MOST_LEVELS = 50  # of a category that is given unless the user decides
ROWS_EACH = 10  # rows for each number or level that is given unless the user decides


@recipe("gadp")
def gadp(
    table: Table,
    *,
    columns: Names | None = None,
    given: Names | None = None,
    similarity: float = 0.0,
    on_grid: bool = True,
) -> Plan:
    """GADP, Muralidhar, Parsa and Sarathy (1999): numbers drawn given the columns that are released unchanged.

    Means, variances and all correlations are preserved on average. Values leave their original range, and numbers
    that are skewed or heaped become normal given the others.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    columns : str or list of str, optional
        The confidential numbers, as "a,b" or ["a", "b"]. Default: the numbers, dates and times with the role
        "sensitive", or else all of them.
    given : str or list of str, optional
        The columns with which relations are preserved, of any kind; they are released unchanged.
        An empty list means no column.
        Default: the other columns, as far as there are 10 rows for each number and level.
    similarity : float, default 0
        How much of what a number is beyond the columns given is released: its correlation with the released number, at
        least 0 and below 1. With 0 the released number depends on the person's own only through the columns given.
    on_grid : bool, default True
        Round new values to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.gadp(table, columns="wage", given="education,gender")
    >>> plan.columns, plan.steps[0].perturb.given
    (('wage',), ('education', 'gender'))
    """
    return _drawn(table, "gadp", columns, given, partial(Gadp, similarity=similarity, on_grid=on_grid))


@recipe("egadp")
def egadp(
    table: Table,
    *,
    columns: Names | None = None,
    given: Names | None = None,
    similarity: float = 0.0,
    on_grid: bool = False,
) -> Plan:
    """EGADP, Muralidhar and Sarathy (2005): GADP with exact means and covariances, even in small tables.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    columns : str or list of str, optional
        The confidential numbers, as "a,b" or ["a", "b"]. Default: the numbers, dates and times with the role
        "sensitive", or else all of them.
    given : str or list of str, optional
        The columns with which relations are preserved, of any kind; they are released unchanged.
        An empty list means no column.
        Default: the other columns, as far as there are 10 rows for each number and level.
    similarity : float, default 0
        How much of what a number is beyond the columns given is released: its correlation with the released number, at
        least 0 and below 1.
    on_grid : bool, default False
        Round new values to the column's grid, which makes means and covariances inexact. Dates and times are always
        rounded.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.egadp(table, columns="wage", given=[])
    >>> plan.columns, plan.steps[0].perturb.given
    (('wage',), ())
    """
    return _drawn(table, "egadp", columns, given, partial(Egadp, similarity=similarity, on_grid=on_grid))


@recipe("ipso")
def ipso(table: Table, *, columns: Names | None = None, given: Names | None = None, on_grid: bool = False) -> Plan:
    """IPSO, Burridge (2003): numbers of a normal regression on the columns given, with exact means and covariances.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    columns : str or list of str, optional
        The confidential numbers, as "a,b" or ["a", "b"]. Default: the numbers, dates and times with the role
        "sensitive", or else all of them.
    given : str or list of str, optional
        The columns with which relations are preserved, of any kind; they are released unchanged.
        An empty list means no column.
        Default: the other columns, as far as there are 10 rows for each number and level.
    on_grid : bool, default False
        Round new values to the column's grid, which makes means and covariances inexact. Dates and times are always
        rounded.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.ipso(table, columns="wage").steps[0].perturb.uncorrelated
    False
    """
    return _drawn(table, "ipso", columns, given, partial(Egadp, uncorrelated=False, on_grid=on_grid))


@recipe("cgadp")
def cgadp(
    table: Table,
    *,
    columns: Names | None = None,
    given: Names | None = None,
    similarity: float = 0.0,
    on_grid: bool = True,
) -> Plan:
    """CGADP, Sarathy, Muralidhar and Parsa (2002): GADP with a normal copula, for numbers of any distribution.

    Distributions and correlations of ranks are preserved on average. Values stay in their range.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    columns : str or list of str, optional
        The confidential numbers, as "a,b" or ["a", "b"]. Default: the numbers, dates and times with the role
        "sensitive", or else all of them.
    given : str or list of str, optional
        The columns with which relations are preserved, of any kind; they are released unchanged.
        An empty list means no column.
        Default: the other columns, as far as there are 10 rows for each number and level.
    similarity : float, default 0
        How much of what a number's score is beyond the columns given is released: its correlation with the new score,
        at least 0 and below 1.
    on_grid : bool, default True
        Round new values to the column's grid, such as whole years or cents. Dates and times are always rounded.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.cgadp(table, columns="wage", given="education").columns
    ('wage',)
    """
    return _drawn(table, "cgadp", columns, given, partial(Cgadp, similarity=similarity, on_grid=on_grid))


@recipe("shuffle")
def shuffle(table: Table, *, columns: Names | None = None, given: Names | None = None, similarity: float = 0.0) -> Plan:
    """Data shuffling, Muralidhar and Sarathy (2006): each column a permutation of itself that keeps rank correlations.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    columns : str or list of str, optional
        The confidential numbers, as "a,b" or ["a", "b"]. Default: the numbers, dates and times with the role
        "sensitive", or else all of them.
    given : str or list of str, optional
        The columns with which relations are preserved, of any kind; they are released unchanged.
        An empty list means no column.
        Default: the other columns, as far as there are 10 rows for each number and level.
    similarity : float, default 0
        How much of what a number's score is beyond the columns given is released: its correlation with the new score,
        at least 0 and below 1.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.shuffle(table, columns="wage", given="education").columns
    ('wage',)
    """
    return _drawn(table, "shuffle", columns, given, partial(DataShuffle, similarity=similarity))


def confidential(table: Table, columns: Names | None, recipe: str) -> list[str]:
    """The numbers named, or else those with the role sensitive, or else all."""
    sensitive = table.with_role("sensitive")
    numbers = chosen_columns(table, columns, recipe, NUMBERS)
    if columns is not None or not sensitive:
        return numbers
    if not (found := [name for name in numbers if name in sensitive]):
        raise PlanError(
            f"Recipe {recipe!r} draws numbers, but no sensitive attribute is a number that varies: "
            f"{', '.join(sensitive)}. Name columns=..., or use another recipe."
        )
    return found


def given_names(table: Table, given: Names | None, names: list[str], recipe: str) -> tuple[str, ...]:
    """The columns that are given: those named, or else as many of the others as the table has rows for."""
    if given is None:
        return tuple(c.name for c in _as_many_as(len(table) // ROWS_EACH, _public(table, names)))
    found = tuple(dict.fromkeys(listed_names(given, table)))
    for name in found:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, f"given to recipe {recipe!r}")
        if name in names:
            raise PlanError(f"Recipe {recipe!r} draws column {name!r} anew, so it cannot be given. Name it once.")
    return found


def _public(table: Table, names: list[str]) -> list[Column]:
    """The other columns that vary, without weights and categories of many levels."""
    varying = {c.name for c in free_columns(table)} | set(table.with_role("unchanged"))
    few = (c for c in table if c.name in varying and c.name not in names and table.roles.get(c.name) != "weight")
    return [c for c in few if not c.is_category or len(c.levels) <= MOST_LEVELS]


def _as_many_as(most: int, columns: Iterable[Column]) -> list[Column]:
    """The columns that fit, in order."""
    found: list[Column] = []
    for column in columns:
        if given_width([*found, column]) <= most:
            found.append(column)
    return found


def _drawn(
    table: Table, recipe: str, columns: Names | None, given: Names | None, perturb: Callable[..., Perturbation]
) -> Plan:
    """The numbers of the whole table, drawn by what the function makes of the columns that are given."""
    names = confidential(table, columns, recipe)
    known = given_names(table, given, names, recipe)
    return Plan(Step(names, within=Whole(), perturb=perturb(given=known)))
