"""Noise on every number, whatever the patterns: the two methods most others are compared with."""

from leafcover.noise.additive import Additive
from leafcover.noise.multiplicative import Multiplicative
from leafcover.releasing.choosing import chosen_columns
from leafcover.releasing.plan import Plan, Step, recipe_called
from leafcover.split.trees import Whole
from leafcover.table.table import Table, as_table


@recipe_called("additive")
def additive(table: Table, *, spread: float = 0.5, columns: str | None = None) -> Plan:
    """Simple additive noise (SAN): ``spread`` times a column's deviation is added to each of its values.

    Means stay. Variances grow by 1 + spread², correlations shrink, values leave the range they had. It hides little: a
    row stays near where it was, so the nearest row is often the person's own; outliers stay outliers. Categories leave
    as they came in. ``columns`` ("a,b") names the columns; without it all numbers, dates and times but weights move.
    """
    table = as_table(table)
    names = chosen_columns(table, columns, "additive", ("number", "date", "time"))
    return Plan(Step(names, within=Whole(), noise=Additive(spread=spread)))


@recipe_called("multiplicative")
def multiplicative(table: Table, *, spread: float = 0.2, columns: str | None = None) -> Plan:
    """Multiplicative noise (MN): each value times a lognormal factor of mean 1 and deviation ``spread``.

    Means and signs stay. Variances grow, most where values are large. It hides little: zeros and small values hardly
    move, and a row stays near where it was. Categories, dates and times leave as they came in. ``columns`` ("a,b")
    names the columns; without it all numbers but weights move.
    """
    table = as_table(table)
    names = chosen_columns(table, columns, "multiplicative", ("number",))
    return Plan(Step(names, within=Whole(), noise=Multiplicative(spread=spread)))
