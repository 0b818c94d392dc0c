"""Do a release again on some of the rows, so that the others can tell what it says of people it never saw."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from leafcover.draws import Key
from leafcover.errors import LeafcoverError
from leafcover.fast.arrays import Rows
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import SEED, some_rows
from leafcover.releasing.known import Known
from leafcover.releasing.pairing import pair_from
from leafcover.releasing.plan import Plan
from leafcover.releasing.recipes import RECIPES, plan_for
from leafcover.releasing.run import run
from leafcover.split.partition import Partition, Split
from leafcover.table.alone import taken_alone
from leafcover.table.table import Table

MOST_ROWS = (
    60_000  # released again at most: two thirds of them go into a release, the others are attacked and predicted
)


@dataclass(frozen=True, eq=False)
class Again:
    """A release of some of the rows, with the others as control, and how it was made."""

    pair: Pair
    known: Known


def again(table: Table, plan: Plan, rows: Rows, *, seed: int) -> Again:
    """Release these rows alone, by the plan written anew from them; the other rows are the pair's control.

    A plan that no recipe wrote is carried out as it is: its trees and cells are made anew from these rows all the same.
    """
    table = table.select(name for name in table.names if table.roles.get(name) != "unit")  # never released
    inside = np.zeros(len(table), bool)
    inside[rows] = True
    part = taken_alone(table, rows)
    made: dict[Split, Partition] = {}
    written = plan
    if plan.settings is not None and plan.recipe in RECIPES:
        written = plan_for(part, plan.recipe, target=plan.target or None, settings=plan.settings, made=made)
    # These rows never leave the machine, so that a fixed seed may make the same figures come out twice.
    release = run(part, written, key=Key.from_seed(seed), made=made)
    pair = pair_from(part, release, control=table.take(np.flatnonzero(~inside)))
    return Again(pair, Known(part, written, release.partitions))


def folds(
    table: Table,
    plan: Plan,
    *,
    count: int = 3,
    most: int = MOST_ROWS,
    tell: Callable[[float], None] = lambda share: None,
) -> Iterator[Again]:
    """Releases of the table without one fold each, whose rows are the control; large tables are cut to a sample.

    A fold whose rows the plan refuses is left out.
    """
    table = table.take(some_rows(len(table), most))
    order = np.random.default_rng(SEED).permutation(len(table))
    for number, fold in enumerate(np.array_split(order, count)):
        rest = np.setdiff1d(order, fold)
        tell(number / count)
        try:
            yield again(table, plan, rest, seed=SEED + number)
        except LeafcoverError:
            continue
