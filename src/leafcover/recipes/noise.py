"""Noise on numbers, and geometric transformations of them, as plans.

- Simple additive noise (SADP, also SAN) and multiplicative noise (MN), the usual baselines.
- Correlated and bias-corrected noise (CADP, BCADP): Kim (1986), "A method for limiting disclosure in microdata based on
  random noise and transformation"; Tendick and Matloff (1994), "A modified random perturbation method for database
  security".
- Translation, scaling, rotation and their mix (TDP, SDP, RDP, HDP): Oliveira and Zaiane (2003), "Privacy preserving
  clustering by data transformation". They are reversible, hence not private.
"""

from leafcover.errors import PlanError
from leafcover.partition.leaves import Whole
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.perturb.correlated_noise import Correlated
from leafcover.perturb.geometric_transformation import Geometric, Operation
from leafcover.recipes.plan import Names, Plan, Step, chosen_columns
from leafcover.recipes.registry import recipe
from leafcover.table.table import Table


@recipe("additive")
def additive(table: Table, *, spread: float = 0.5, columns: Names | None = None) -> Plan:
    """Simple additive noise (SADP, SAN) with ``spread`` times the standard deviation of each column.

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


@recipe("correlated")
def correlated(table: Table, *, spread: float = 0.5, columns: Names | None = None) -> Plan:
    """Correlated noise (CADP): normal noise whose covariance is ``spread``² times that of the columns.

    Means and correlations among the columns are preserved. Variances grow by the factor 1 + spread², correlations with
    other columns shrink by its root, and values leave their original range. Categories are unchanged.

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
    >>> lc.recipes.correlated(table, columns="age,wage").columns
    ('age', 'wage')
    """
    names = chosen_columns(table, columns, "correlated", ("number", "date", "time"))
    return Plan(Step(names, within=Whole(), perturb=Correlated(spread=spread)))


@recipe("bias-corrected")
def bias_corrected(table: Table, *, spread: float = 0.5, columns: Names | None = None) -> Plan:
    """Bias-corrected noise (BCADP): correlated noise, then shrunk towards the mean so that variances stay, too.

    Means, variances and correlations among the columns are preserved. Correlations with other columns shrink by the
    root of 1 + spread². Categories are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    spread : float, default 0.5
        The standard deviation of the noise before shrinking, as a multiple of the column's.
    columns : str or list of str, optional
        The columns to perturb, as "a,b" or ["a", "b"]. Default: all numbers, dates and times except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.bias_corrected(table, columns="age,wage").columns
    ('age', 'wage')
    """
    names = chosen_columns(table, columns, "bias-corrected", ("number", "date", "time"))
    return Plan(Step(names, within=Whole(), perturb=Correlated(spread=spread, bias_corrected=True)))


@recipe("translate")
def translate(table: Table, *, spread: float = 1.0, columns: Names | None = None) -> Plan:
    """Translation (TDP): a secret constant is added to each column. Not private: one known row reveals it.

    Distances between rows are preserved exactly. Categories, dates and times are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    spread : float, default 1
        How far columns are moved: between half as many standard deviations and 1.5 times as many, up or down.
    columns : str or list of str, optional
        The columns to perturb, as "a,b" or ["a", "b"]. Default: all numbers except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.translate(table, columns="age,wage").columns
    ('age', 'wage')
    """
    return _geometric(table, columns, "translate", Geometric("translate", spread=spread))


@recipe("scale")
def scale(table: Table, *, spread: float = 1.0, columns: Names | None = None) -> Plan:
    """Scaling (SDP): each column is multiplied by a secret constant. Not private: one known row reveals it.

    Distances between standard scores are preserved. Categories, dates and times are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    spread : float, default 1
        How far columns are stretched or shrunk: by a power of two between half of it and 1.5 times it.
    columns : str or list of str, optional
        The columns to perturb, as "a,b" or ["a", "b"]. Default: all numbers except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.scale(table, columns="age,wage").columns
    ('age', 'wage')
    """
    return _geometric(table, columns, "scale", Geometric("scale", spread=spread))


@recipe("rotate")
def rotate(table: Table, *, standardised: bool = False, columns: Names | None = None) -> Plan:
    """Rotation (RDP): pairs of columns are rotated by secret angles. Not private: a few known rows reveal them.

    Distances between rows are preserved. Categories, dates and times are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    standardised : bool, default False
        Rotate standard scores, and preserve the distances between these.
    columns : str or list of str, optional
        The columns to perturb, as "a,b" or ["a", "b"]. Default: all numbers except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.rotate(table, columns="age,wage").columns
    ('age', 'wage')
    """
    return _geometric(table, columns, "rotate", Geometric("rotate", standardised=standardised))


@recipe("hybrid")
def hybrid(table: Table, *, spread: float = 1.0, standardised: bool = False, columns: Names | None = None) -> Plan:
    """A mix (HDP): each column is translated, scaled or rotated. Not private: a few known rows reveal how.

    Rows that are near stay near. Categories, dates and times are unchanged.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    spread : float, default 1
        How far columns are translated, stretched or shrunk, as in ``translate`` and ``scale``.
    standardised : bool, default False
        Rotate standard scores.
    columns : str or list of str, optional
        The columns to perturb, as "a,b" or ["a", "b"]. Default: all numbers except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.hybrid(table, columns="age,wage").columns
    ('age', 'wage')
    """
    return _geometric(table, columns, "hybrid", Geometric("hybrid", spread=spread, standardised=standardised))


def _geometric(table: Table, columns: Names | None, name: Operation, method: Geometric) -> Plan:
    names = chosen_columns(table, columns, name, ("number",))
    if name == "rotate" and len(names) < 2:
        raise PlanError(f"Recipe 'rotate' rotates pairs of columns, and got {names[0]!r} alone. Name another number.")
    return Plan(Step(names, within=Whole(), perturb=method))
