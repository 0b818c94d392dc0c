"""Recoding: levels that few people have become one level before anything else happens.

A rare level is a value that stands out: its holder is known to be in the table. So levels of fewer than five people or
households become the level "other". If they are fewer than five people in all, they become the least common of the
other levels instead: four values at most are then wrong, where a pool of their own would be as rare as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Rows
from leafcover.errors import PlanError, TableError
from leafcover.table.formatting import plain_text
from leafcover.table.table import Column, Table
from leafcover.table.units import owners

FEWEST = 5  # people or households that a released level must have
OTHER = "other"
STAYS = ("unchanged", "unit", "identifier")  # roles of columns that are not recoded


@dataclass(frozen=True)
class Pooled:
    """Levels of a column that become one level.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> rare = Pooled("occupation", ("sales", "services"), "other")
    >>> pool_levels(table, [rare])["occupation"].levels
    ('management', 'office', 'other', 'technical', 'worker')
    """

    column: str
    levels: tuple[str, ...]
    into: str = OTHER


def rare_levels(table: Table, fewest: int = FEWEST) -> tuple[Pooled, ...]:
    """The levels of each column to pool, so that every level has at least ``fewest`` people or households.

    A column in which all levels are rare becomes one level.
    """
    owner = owners(table)
    found = []
    for column in table:
        if column.is_category and table.roles.get(column.name) not in STAYS:
            people = _people(column, owner)
            if ((people > 0) & (people < fewest)).any():
                found.append(_pool(column, people, fewest))
    return tuple(found)


def _people(column: Column, owner: Rows) -> Rows:
    """How many people or households have each level."""
    known = column.values != MISSING
    both = np.unique(np.stack([column.values[known].astype(np.int64), owner[known]]), axis=1)
    return np.bincount(both[0], minlength=len(column.levels))


def _pool(column: Column, people: Rows, fewest: int) -> Pooled:
    """The rare levels of a column, and the level that they become."""
    rare = np.flatnonzero((people > 0) & (people < fewest))
    common = np.flatnonzero(people >= fewest)
    into = next((level for level in column.levels if level.lower() == OTHER), OTHER)
    if into not in [column.levels[at] for at in common] and people[rare].sum() < fewest and len(common):
        into = column.levels[common[np.argmin(people[common])]]
    return Pooled(column.name, tuple(column.levels[at] for at in rare), into)


def pool_levels(table: Table, pools: Iterable[Pooled]) -> Table:
    """The table with these levels pooled; levels that do not occur are ignored."""
    return table.replace(_pooled(table[one.column], one) for one in pools)


def _pooled(column: Column, pool: Pooled) -> Column:
    if not column.is_category:
        raise PlanError(f"Column {column.name!r} is a {column.kind}, so no levels can be pooled. Leave out the pool.")
    gone = [at for at, level in enumerate(column.levels) if level in pool.levels]
    if not gone:
        return column
    levels = tuple(sorted({level for level in column.levels if level not in pool.levels} | {pool.into}))
    number = {level: at for at, level in enumerate(levels)}
    lookup = np.array([number.get(level, number[pool.into]) for level in column.levels] + [MISSING], np.int32)
    stored = column.stored
    if stored is not None:
        text = plain_text(stored if pa.types.is_string(stored.type) else stored.cast(pa.string()))
        stored = pc.if_else(pa.array(np.isin(column.values, gone)), pool.into, text)
    return replace(column, values=lookup[column.values], levels=levels, stored=stored)


def refuse_rare(pools: Sequence[Pooled]) -> None:
    """Raise an error that names the columns with rare levels, not the levels."""
    if pools:
        listed = ", ".join(repr(one.column) for one in pools)
        raise TableError(
            f"Levels of fewer than {FEWEST} people occur in {listed}. Pool them (rare='pool'), drop the columns, or "
            "release the levels as they are (rare='allow')."
        )
