"""Noise on numbers as plans: simple additive noise (SADP, also SAN) and multiplicative noise (MN)."""

from leafcover.partition.leaves import Whole
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.recipes.plan import Names, Plan, Step, chosen_columns
from leafcover.recipes.registry import recipe
from leafcover.table.table import Table


@recipe("additive")
def additive(table: Table, *, spread: float = 0.5, columns: Names | None = None) -> Plan:
    """Simple additive noise (SAN) with ``spread`` times the standard deviation of each column.

    Means are preserved. Variances grow by the factor 1 + spread², correlations shrink, and values leave their original
    range. It protects little: a row stays near its original values, so the nearest row is often the person's own, and
    outliers stay outliers. Categories are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    spread : float, default 0.5
        The standard deviation of the noise, as a multiple of the column's.
    columns : str or list of str, optional
        The columns to perturb, as "a,b" or ["a", "b"]. Default: all numbers, dates and times except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.additive(table, columns="age,wage").columns
    ('age', 'wage')
    """
    names = chosen_columns(table, columns, "additive", ("number", "date", "time"))
    return Plan(Step(names, within=Whole(), perturb=Additive(spread=spread)))


@recipe("multiplicative")
def multiplicative(table: Table, *, spread: float = 0.2, columns: Names | None = None) -> Plan:
    """Multiplicative noise (MN): each value times a lognormal factor with mean 1 and standard deviation ``spread``.

    Means and signs are preserved. Variances grow, most where values are large. It protects little: zeros and small
    values hardly change, and a row stays near its original values. Categories, dates and times are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    spread : float, default 0.2
        The standard deviation of the factor.
    columns : str or list of str, optional
        The columns to perturb, as "a,b" or ["a", "b"]. Default: all numbers except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.multiplicative(table, columns="age,wage").columns
    ('age', 'wage')
    """
    names = chosen_columns(table, columns, "multiplicative", ("number",))
    return Plan(Step(names, within=Whole(), perturb=Multiplicative(spread=spread)))
