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
from numpy.lib.stride_tricks import sliding_window_view

from leafcover.arrays import MISSING, Array, Floats, Rows
from leafcover.errors import PlanError, TableError, ValueOutOfRange
from leafcover.table.formatting import is_text, plain_text
from leafcover.table.output import as_recoded
from leafcover.table.table import MAX_GRID_POINTS, Column, Grid, Table
from leafcover.table.units import owners

FEWEST = 5  # people or households that a released level must have
OTHER = "other"
MOST_SHARE = 1000  # rows that a number is shared by, at most
FAR = 0.1  # a change of the standard deviation by sharing that is named
MOST_NAMED = 5  # columns in one sentence
AROUND = 4  # groups on either side whose widths say how far a mean is rounded
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
    codes, people = column.values[known].astype(np.int64), owner[known]
    if not np.array_equal(owner, np.arange(len(owner))):  # several rows each
        width = int(owner.max()) + 1
        codes = np.unique(codes * width + people) // width
    return np.bincount(codes, minlength=len(column.levels))


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
    if stored is not None and pa.types.is_dictionary(stored.type) and is_text(stored):
        stored = _pooled_dictionary(stored, pool)
    elif stored is not None:
        text = plain_text(stored if pa.types.is_string(stored.type) else stored.cast(pa.string()))
        stored = pc.if_else(pa.array(np.isin(column.values, gone)), pool.into, text)
    return replace(column, values=lookup[column.values], levels=levels, stored=stored)


def _pooled_dictionary(stored: Any, pool: Pooled) -> Any:
    """A dictionary with its levels in their order, the pooled one last if it is new."""
    old = stored.dictionary.to_pylist()
    kept = [level for level in old if level is not None and (level not in pool.levels or level == pool.into)]
    new = kept if pool.into in kept else [*kept, pool.into]
    place = {level: at for at, level in enumerate(new)}
    into = [None if level is None else place.get(level, place[pool.into]) for level in old]
    at = pa.array(into, stored.type.index_type).take(stored.indices)
    return pa.DictionaryArray.from_arrays(at, pa.array(new, stored.type.value_type), ordered=stored.type.ordered)


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
    return table.replace(with_shared(table[name], share, (reference or table)[name]) for name in names)


def with_shared(column: Column, share: int, reference: Column) -> Column:
    """The column with the nearest of the numbers that at least ``share`` rows of a reference hold."""
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

    Rare neighbours take their mean, rounded about as far as they are apart and on the grid of the column, or the value
    among them that enough rows hold. In a recoded column the mean is recoded. The result is the column's own array if
    nothing changes.
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
    most = np.maximum.reduceat(held, begin)
    common = np.flatnonzero((held >= share) & (held == most[group]))[::-1]  # of equals the lowest
    fixed = np.full(len(begin), np.nan)
    fixed[group[common]] = distinct[common] / scale
    new = as_recoded(column, _rounded_means(distinct / scale, held, begin, fixed, column.grid) * scale)
    new[group[common]] = distinct[common]
    values = column.values.copy()
    values[order] = np.repeat(new[group], held)
    return values


def extremes_lost(pairs: Iterable[tuple[str, Array, Array]]) -> tuple[str, ...]:
    """A sentence about the columns whose spread changed as numbers became shared: few values lay far from all others.

    Each column is given by its name and its numbers before and after.
    """
    lost = {name: change for name, before, after in pairs if (change := _spread_lost(before, after)) > FAR}
    if not lost:
        return ()
    names = sorted(lost, key=lambda name: -lost[name])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (
        f"Few rows of {', '.join(map(repr, names[:MOST_NAMED]))}{more} have values far from all others. Sharing them "
        f"changed the standard deviation by up to {max(lost.values()):.0%}: totals are not those of the original. "
        f"To keep them apart, top-code first, such as with recode=[{f'{names[0]}: top-code rows=10'!r}].",
    )


def _spread_lost(before: Array, after: Array) -> float:
    """By what part the standard deviation changed."""
    scale = max(float(np.nanmax(np.abs(before), initial=0.0)), 1e-300)
    spread, left = (float(np.nanstd(values / scale)) for values in (before, after))
    return abs(left / spread - 1) if spread > 0 else 0.0


def _rounded_means(distinct: Floats, held: Rows, begin: Rows, fixed: Floats, grid: Grid | None) -> Floats:
    """The mean of each group of neighbours, rounded to a digit times a power of ten; ``fixed`` ones stay as they are.

    An exact mean gives its members away: of people whose values are known, few sets have just this mean. So it is
    rounded to at least half the width of its group, and to the median width of the groups around it. With 1,500
    salaries in cents of which half are released, exact means let an attacker who knows all salaries find 92 % of the
    members at 1 % false alarms, means rounded to half the width of the group alone 6 %, and as here 1 %. The order of
    the groups is kept, and no value is outside the range of the old ones.
    """
    last = np.append(begin[1:], len(distinct)) - 1
    means = np.add.reduceat(distinct * held, begin) / np.add.reduceat(held, begin)
    widths = distinct[last] - distinct[begin]
    unit = 1.0 if grid is None else grid.step
    least = widths / 2 / unit
    if len(widths) > 2 * AROUND:
        around = np.median(sliding_window_view(widths, 2 * AROUND + 1), axis=1) / unit
        least = np.maximum(least, around[np.clip(np.arange(len(widths)) - AROUND, 0, len(around) - 1)])
    least = np.where(np.isnan(fixed) & (least > 0), least if grid is None else np.maximum(least, 1.0), 1.0)
    power = np.floor(np.log10(least) + 1e-9)
    leading = np.ceil(least / 10.0**power - 1e-9)
    steps = leading * 10.0**power * unit
    lowest, highest = np.ceil(distinct[0] / steps), np.floor(distinct[-1] / steps)
    middle = len(means) // 2
    places = np.rint(means / steps)
    places[: middle + 1] = np.maximum(places, lowest)[: middle + 1]
    places[middle:] = np.minimum(places, highest)[middle:]
    places = np.where(lowest <= highest, places, means / steps)
    # One division of whole numbers is the number that the decimal text stands for.
    new = places * leading * unit * 10.0 ** np.maximum(power, 0) / 10.0 ** np.maximum(-power, 0)
    if grid is not None:
        new = grid.value(grid.index(new))
    # Whatever was rounded past the next group towards the middle becomes its value, such as the mean of an outlier.
    before = np.maximum.accumulate(np.where(np.isnan(fixed), -np.inf, fixed))
    after = np.minimum.accumulate(np.where(np.isnan(fixed), np.inf, fixed)[::-1])[::-1]
    new = np.clip(new, before, after)
    new[middle:] = np.maximum.accumulate(new[middle:])
    new[: middle + 1] = np.minimum.accumulate(new[middle::-1])[::-1]
    return new
