"""Cross-tabulation: how many rows, people or households have each combination of levels of some columns.

A table of counts has a *cell* for every combination of levels, also for those that nobody has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from leafcover.arrays import MISSING, Bools, Floats, Rows, Words
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.table.formatting import text_of
from leafcover.table.recoding import FEWEST, pool_levels, rare_levels, refuse_rare
from leafcover.table.table import Column, Table, check_weight
from leafcover.table.units import owners, unit_columns
from leafcover.table.weights import BETWEEN

Totals: TypeAlias = Literal["own", "sum", "none"]
Rare: TypeAlias = Literal["allow", "pool", "refuse"]
Levels: TypeAlias = tuple[str | None, ...]  # None: missing
EVERY = slice(None)


@dataclass(frozen=True, eq=False)
class CountedPeople:
    """Who is counted: one entry for each row, or for each person or household and combination of levels."""

    names: tuple[str, ...]  # of the columns, in order of their first use
    levels: Mapping[str, Levels]
    codes: Mapping[str, Rows]  # the level of each entry
    owner: Rows  # (entries,) the row, person or household
    is_once: bool  # whether each has one entry
    weight: Floats | None
    record_keys: Words | None  # for summed cell keys
    impossible: tuple[Mapping[str, str], ...]  # combinations of levels that nobody can have

    def cells_of(self, columns: Sequence[str], entries: Rows | slice = EVERY) -> Rows:
        """The cell of each entry, or of some, in the table of some columns."""
        found = np.zeros(len(self.owner[entries]), np.int64)
        for name in columns:
            found = found * len(self.levels[name]) + self.codes[name][entries]
        return found


@dataclass(frozen=True, eq=False)
class CountedTable:
    """One table of counts; cells are in the order of the levels of its columns."""

    columns: tuple[str, ...]
    levels: tuple[Levels, ...]
    counts: Rows  # the true ones
    impossible: Bools  # cells that nobody can be in
    is_own: bool = True  # perturbed on its own, not a sum of other cells
    record_keys: Words | None = None  # the sum in each cell, for summed cell keys
    weights: Floats | None = None  # the sum in each cell

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of levels of each column."""
        return tuple(len(one) for one in self.levels)

    @property
    def mean_weights(self) -> Floats:
        """The mean weight in each cell, or of the whole table for an empty one."""
        assert self.weights is not None
        whole = self.weights.sum() / max(int(self.counts.sum()), 1)
        return np.where(self.counts > 0, self.weights / np.maximum(self.counts, 1), whole or 1.0)

    def summed(self, values: Any, columns: Sequence[str]) -> Any:
        """The sums of the cells over the columns that are not named."""
        away = tuple(at for at, name in enumerate(self.columns) if name not in columns)
        return values.reshape(self.shape).sum(axis=away).ravel()


def counted(people: CountedPeople, columns: tuple[str, ...], *, is_own: bool = True) -> CountedTable:
    """Count the entries of each cell; somebody with several entries in a cell counts once."""
    levels = tuple(people.levels[name] for name in columns)
    cells, size = people.cells_of(columns), prod(len(one) for one in levels)
    chosen: Any = EVERY
    if not people.is_once:
        width = int(people.owner.max(initial=0)) + 1
        chosen = np.unique(cells * width + people.owner, return_index=True)[1]
    counts = np.bincount(cells[chosen], minlength=size)
    weights = None if people.weight is None else np.bincount(cells[chosen], people.weight[chosen], size).astype(float)
    keys = None
    if people.record_keys is not None:
        keys = np.zeros(size, np.uint64)
        np.add.at(keys, cells[chosen], people.record_keys[chosen])  # modulo 2^64
    impossible = _impossible(people, columns, size)
    if (counts * impossible).any():
        raise PlanError(
            f"{int((counts * impossible).sum()):,} rows have levels that were declared impossible in the table "
            f"{BETWEEN.join(columns)!r}. Correct them, or declare fewer combinations."
        )
    return CountedTable(columns, levels, counts, impossible, is_own, keys, weights)


def counted_from(finer: CountedTable, people: CountedPeople, columns: tuple[str, ...], *, is_own: bool) -> CountedTable:
    """The same from a table with more columns, if everybody has one entry."""
    levels = tuple(people.levels[name] for name in columns)
    impossible = _impossible(people, columns, prod(len(one) for one in levels))
    counts, keys, weights = (
        None if one is None else finer.summed(one, columns) for one in (finer.counts, finer.record_keys, finer.weights)
    )
    assert counts is not None
    return CountedTable(columns, levels, counts, impossible, is_own, keys, weights)


def _impossible(people: CountedPeople, columns: Sequence[str], size: int) -> Bools:
    found = np.zeros([len(people.levels[name]) for name in columns], np.bool_)
    for one in people.impossible:
        if set(one) <= set(columns):
            at = [people.levels[name].index(one[name]) if name in one else slice(None) for name in columns]
            found[tuple(at)] = True
    return found.reshape(size)


# Who is counted, and in which tables.


def people_of(
    table: Table,
    by: Iterable[Sequence[str]],
    *,
    rare: Rare = "pool",
    impossible: Iterable[str | Mapping[str, str]] = (),
    record_draws: Draws | None = None,
) -> CountedPeople:
    """The people of a table with their levels; numbers are categories of their text.

    With ``record_draws`` each row, person or household has a record key.
    """
    if rare not in get_args(Rare):
        raise ValueOutOfRange("rare", rare, f"one of {', '.join(get_args(Rare))}")
    names = tuple(dict.fromkeys(name for one in by for name in one))
    units, weights = unit_columns(table), table.with_role("weight")
    chosen = table.select([*names, *units])
    chosen = _pooled(chosen.replace(_as_category(chosen[name]) for name in names), names, rare)
    owner = owners(chosen)
    codes = {name: np.where(chosen[name].missing, len(chosen[name].levels), chosen[name].values) for name in names}
    levels: dict[str, Levels] = {
        name: (*chosen[name].levels, *([None] if chosen[name].missing.any() else [])) for name in names
    }
    for name in weights:
        check_weight(table[name])
    weight = np.nan_to_num(table[weights[0]].values) if weights else None
    keys = None
    if record_draws is not None and units:  # the same in every table with this person or household
        keys = record_draws.value_words(table[units[0]].values, table[units[0]].levels or None)
    elif record_draws is not None:
        keys = record_draws.words(np.arange(len(table)))
    found = CountedPeople(names, levels, codes, owner, not units, weight, keys, _conditions(impossible, levels))
    return found if not units else _entries(found)


def _entries(people: CountedPeople) -> CountedPeople:
    """One entry for each person or household and combination of levels."""
    width = int(people.owner.max(initial=0)) + 1
    first = np.unique(people.cells_of(people.names) * width + people.owner, return_index=True)[1]
    return replace(
        people,
        codes={name: codes[first] for name, codes in people.codes.items()},
        owner=people.owner[first],
        is_once=len(first) == width,
        weight=None if people.weight is None else people.weight[first],
        record_keys=None if people.record_keys is None else people.record_keys[first],
    )


def _as_category(column: Column) -> Column:
    if column.is_category:
        return replace(column, stored=None)
    known = column.values[~column.missing]
    distinct = np.unique(known)
    texts = text_of(column, distinct)
    levels = tuple(sorted(set(texts)))
    code = np.array([levels.index(text) for text in texts], np.int32)
    values = np.full(len(column), MISSING, np.int32)
    values[~column.missing] = code[np.searchsorted(distinct, known)]
    return Column(column.name, "category", values, levels)


def _pooled(table: Table, names: Sequence[str], rare: Rare) -> Table:
    """The table with rare levels pooled; a missing value that few people have becomes the least common level."""
    pools = rare_levels(table) if rare != "allow" else ()
    if rare == "refuse":
        refuse_rare(pools)
    if rare != "pool":
        return table
    table, owner, filled = pool_levels(table, pools), owners(table), []
    for column in (table[name] for name in names):
        if 0 < len(np.unique(owner[column.missing])) < FEWEST and len(column.levels):
            held = np.bincount(column.values[~column.missing], minlength=len(column.levels))
            least = np.argmin(np.where(held > 0, held, len(column)))
            filled.append(replace(column, values=np.where(column.missing, np.int32(least), column.values)))
    return table.replace(filled)


def tables_of(by: Sequence[Sequence[str]], totals: Totals) -> dict[tuple[str, ...], bool]:
    """The columns of each table in order of name, and whether it is perturbed on its own; those asked for come first.

    >>> tables_of([("sex", "region")], "sum")
    {('region', 'sex'): True, ('region',): False, ('sex',): False, (): False}
    """
    if totals not in get_args(Totals):
        raise ValueOutOfRange("totals", totals, f"one of {', '.join(get_args(Totals))}")
    found = dict.fromkeys((tuple(sorted(one)) for one in by), True)
    for one in tuple(found) if totals != "none" else ():
        for count in range(len(one) - 1, -1, -1):
            for some in combinations(one, count):
                found.setdefault(some, totals == "own")
    return found


def _conditions(given: Iterable[str | Mapping[str, str]], levels: Mapping[str, Levels]) -> tuple[dict[str, str], ...]:
    """Impossible combinations of levels, each checked."""
    found = []
    for one in given:
        parts = one.split(BETWEEN) if isinstance(one, str) else [f"{name}={level}" for name, level in one.items()]
        pairs = [part.partition("=") for part in parts]
        for name, sign, level in pairs:
            if not sign:
                raise ValueOutOfRange("impossible", one, f"levels of columns, such as 'age=0-14{BETWEEN}married=yes'")
            if name.strip() not in levels:
                raise NameUnknown("column", name.strip(), levels, "of the tables of counts")
            if level.strip() not in levels[name.strip()]:
                known = [one for one in levels[name.strip()] if one is not None]
                raise NameUnknown("level", level.strip(), known, f"of {name.strip()!r}")
        found.append({name.strip(): level.strip() for name, _, level in pairs})
    return tuple(found)
