"""Recoding: levels that few people have become one level, and numbers that few rows hold their mean.

A rare level is a value that stands out: its holder is known to be in the table. So levels of fewer than five people or
households become the level "other". If they are fewer than five people in all, they become the least common of the
other levels instead: four values at most are then wrong, where a pool of their own would be as rare as they are. A
number in cents stands out in the same way; neighbours in rank take their mean, at the ends of a column too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Array, Rows
from leafcover.errors import PlanError, TableError, ValueOutOfRange
from leafcover.table.formatting import plain_text
from leafcover.table.table import MAX_GRID_POINTS, Column, Table
from leafcover.table.units import owners

FEWEST = 5  # people or households that a released level must have
OTHER = "other"
MOST_SHARE = 1000  # rows that a number is shared by, at most
HUGE = 1e290  # squares and sums of such numbers overflow
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


def with_levels(table: Table, pools: Iterable[Pooled]) -> Table:
    """The pooled table, in which the pooled levels exist again but no row has them."""
    return table.replace(
        replace(column, levels=(*column.levels, *one.levels))
        for one in pools
        if (column := table[one.column]).is_category
    )


def refuse_rare(pools: Sequence[Pooled]) -> None:
    """Raise an error that names the columns with rare levels, not the levels."""
    if pools:
        listed = ", ".join(repr(one.column) for one in pools)
        raise TableError(
            f"Levels of fewer than {FEWEST} people occur in {listed}. Pool them (rare='pool'), drop the columns, or "
            "release the levels as they are (rare='allow')."
        )


# Numbers that few rows hold.


def checked_share(name: str, share: Any) -> int:
    """A number of rows that hold a number; not an integer of NumPy, which plans would not write alike."""
    try:
        found = 0 if isinstance(share, bool) else index(share)
    except TypeError:
        found = 0
    if not 1 <= found <= MOST_SHARE:
        raise ValueOutOfRange(name, share, f"a whole number of rows from 1 to {MOST_SHARE:,}")
    return found


def share_numbers(table: Table, share: int, reference: Table | None = None) -> Table:
    """The table with numbers that at least ``share`` rows hold; another table takes the nearest of a reference."""
    names = [c.name for c in table if not c.is_category and table.roles.get(c.name) not in (*STAYS, "weight")]
    if share == 1:
        return table
    return table.replace(_with_shared(table[name], share, (reference or table)[name]) for name in names)


def _with_shared(column: Column, share: int, reference: Column) -> Column:
    values = shared_values(reference, share)
    if column is not reference and not reference.missing.all():
        known = np.flatnonzero(~reference.missing)
        known = known[np.argsort(reference.values[known])]
        cuts = reference.values[known][:-1] / 2 + reference.values[known][1:] / 2
        nearest = values[known[np.searchsorted(cuts, np.where(column.missing, 0.0, column.values))]]
        values = np.where(column.missing, column.values, nearest)
    return column if values is column.values else replace(column, values=values, stored=None)


def shared_values(column: Column, share: int) -> Array:
    """Numbers such that each is held by at least ``share`` rows; fewer rows in all hold one value.

    Rare neighbours take their mean, on the grid of the column, or the value among them that enough rows hold. The
    result is the column's own array if nothing changes.
    """
    from leafcover.kernels.microaggregation import optimal_groups

    known = np.flatnonzero(~column.missing)
    order = np.argsort(column.values) if len(known) == len(column) else known[np.argsort(column.values[known])]
    ordered = column.values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])  # of each distinct value
    held = np.diff(np.append(first, len(ordered)))
    distinct = ordered[first]
    # Beyond 2^53 the stored text may tell integers apart that are one value here, so all are written anew.
    if not len(first) or (held.min() >= share and np.abs(distinct[[0, -1]]).max() < MAX_GRID_POINTS):
        return column.values
    scale = float(np.abs(distinct[[0, -1]]).max()) or 1.0  # sums and squares of large numbers would overflow
    group = optimal_groups(distinct / scale, share, held)  # does not reach across a gap if there is another way
    begin = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    scale = scale if scale > HUGE else 1.0
    new = np.add.reduceat(distinct / scale * held, begin) / np.add.reduceat(held, begin) * scale
    if column.grid is not None:
        new = column.grid.value(column.grid.index(new))
    most = np.maximum.reduceat(held, begin)
    common = np.flatnonzero((held >= share) & (held == most[group]))[::-1]  # of equals the lowest
    new[group[common]] = distinct[common]
    values = column.values.copy()
    values[order] = np.repeat(new[group], held)
    return values
