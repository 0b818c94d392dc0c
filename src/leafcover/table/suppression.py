"""Local suppression: single cells of the quasi-identifiers become missing, until every class of equal rows is large.

k-anonymity can be counted by two conventions, which differ in what a missing cell is:

- ``"own"``, the default: a value of its own. Rows are in one equivalence class if they have the same quasi-identifiers,
  missing ones in the same columns. Textbooks and ARX count so. Every class has at least k people.
- ``"any"``: equal to every value. A row is safe if at least k rows match it in all columns that are known in both.
  sdcMicro and mu-Argus count so. It takes about a third of the cells and protects little: k - 1 rows without any value
  match all others, so that every other row, unique or not, would be safe as it is. Use it to compare programs.

Which cells are suppressed depends on the quasi-identifiers alone (and on the sensitive attribute, for l-diversity):
not on the order of the rows, nor on other columns. If other columns decided which of several equal rows lose a cell,
an attacker who knows the method could tell from them who in a class belongs to a rare combination. So equal rows are
treated equally, or, which takes fewer cells, a secret key decides.

Missing values of the table count like suppressed ones, and are written like them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb, isfinite, log
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import MISSING, Array, Bools, Floats, Rows, Words
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.table.formatting import is_text, plain_text
from leafcover.table.output import replace_values
from leafcover.table.table import Column, Table, row_hashes, splitmix64
from leafcover.table.units import owners

if TYPE_CHECKING:
    from leafcover.kernels.suppression import Records

MOST_COLUMNS = 62  # a set of columns is the bits of an integer
MOST_SETS = 1024  # of columns that are tried: all sets of ten columns

Convention: TypeAlias = Literal["own", "any"]
Importance: TypeAlias = Sequence[str] | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Suppressed:
    """A table with suppressed cells, and what that took.

    Parameters
    ----------
    table : Table
        The table after suppression.
    cells : mapping of str to int
        Suppressed cells of each quasi-identifier.
    rows : int
        Rows with a suppressed cell.
    smallest_before, smallest_after : int
        People in the smallest equivalence class; with ``missing="any"``, rows that match the row with the fewest.
    values_before, values_after : mapping of str to int
        The fewest distinct known values of each sensitive attribute in a class.
    """

    table: Table
    cells: Mapping[str, int]
    rows: int
    smallest_before: int
    smallest_after: int
    values_before: Mapping[str, int]
    values_after: Mapping[str, int]


def suppress_cells(
    table: Table,
    columns: Sequence[str],
    k: int,
    *,
    importance: Importance | None = None,
    sensitive: str | Sequence[str] = (),
    l: int = 1,  # noqa: E741  # its name in the field
    missing: Convention = "own",
    draws: Draws | None = None,
) -> Suppressed:
    """Suppress as few cells as possible of some quasi-identifiers, so that the table is k-anonymous.

    Parameters
    ----------
    table : Table
        The table. With a unit, people are counted instead of rows.
    columns : sequence of str
        The quasi-identifiers. Numbers are equal if their values are: recode them before, or most are suppressed.
    k : int
        People that each equivalence class must have.
    importance : sequence of str or mapping of str to float, optional
        What a suppressed cell costs; the total is minimised. A mapping gives the cost of a cell of each column, 1 for
        columns that it does not name. A sequence ranks the columns, the most important first (importance 1 in
        sdcMicro): a cell costs more than those of all less important columns together. Columns that it does not name
        come last, equally. Without it, every cell costs 1. Of what costs the same, columns with many values are
        suppressed first.
    sensitive : str or sequence of str, optional
        Sensitive attributes, which are not changed.
    l : int, default 1
        Distinct known values of each sensitive attribute that a class must have.
    missing : {"own", "any"}, default "own"
        Whether a missing cell is a value of its own, or equal to any value. The second protects little.
    draws : Draws, optional
        Secret draws that decide which of several equal rows lose a cell. Without them, equal rows lose the same cells.

    Returns
    -------
    Suppressed

    Notes
    -----
    k-anonymity hides which record is a person's, not what it says: a class may have one value of a sensitive attribute,
    or few likely ones. l-diversity counts values, not how likely they are; and since it depends on them, an attacker
    who knows everybody's quasi-identifiers may learn from what was suppressed.

    Examples
    --------
    Seven people of a practice guide for sdcMicro, of whom the first is unique.

    >>> import pyarrow as pa
    >>> import leafcover as lc
    >>> people = lc.from_frame(pa.table({
    ...     "gender": ["female", "male", "male", "male", "female", "female", "female"],
    ...     "education": ["higher"] * 4 + ["lower"] * 3,
    ... }))
    >>> found = suppress_cells(people, ["gender", "education"], 3, importance=["gender"])
    >>> found.cells, found.rows, found.smallest_before, found.smallest_after
    ({'gender': 0, 'education': 4}, 4, 1, 3)

    If a missing cell matched everything, one would do; but the first person would be the only one without a value.

    >>> found = suppress_cells(people, ["gender", "education"], 3, importance=["gender"], missing="any")
    >>> found.cells, found.smallest_after
    ({'gender': 0, 'education': 1}, 3)
    >>> found.table["education"].missing.tolist()
    [True, False, False, False, False, False, False]
    """
    names = _quasi_identifiers(table, columns)
    attributes = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
    _check(table, names, k, attributes, l, missing)
    owner = owners(table)
    codes = np.column_stack([_codes(table[name]) for name in names])
    values = {name: _codes(table[name]) for name in attributes}
    _check_reachable(owner, values, k, l)
    price = _prices(names, importance)
    sets = column_sets(price, [len(np.unique(codes[:, c])) for c in range(len(names))])
    ties = None if draws is None or missing == "any" else draws.words(row_hashes(table).view(np.int64))
    order = _order(codes, ties)
    begin = _begins(codes[order]) if ties is None else np.arange(len(table) + 1)
    records = _records(codes[order], begin, price, k)
    if missing == "own":
        records = _with_attributes(records, owner[order], {name: code[order] for name, code in values.items()}, l)
    hidden = np.empty(codes.shape, np.bool_)
    hidden[order] = np.repeat(_hidden(records, sets, missing), np.diff(begin), axis=0)
    after = np.where(hidden, 0, codes)
    return Suppressed(
        table.replace(without_values(table[name], hidden[:, c]) for c, name in enumerate(names)),
        {name: int(np.count_nonzero(hidden[:, c])) for c, name in enumerate(names)},
        int(np.count_nonzero(hidden.any(axis=1))),
        _smallest(codes, owner, missing),
        _smallest(after, owner, missing),
        {name: _fewest(codes, code) for name, code in values.items()},
        {name: _fewest(after, code) for name, code in values.items()},
    )


def _quasi_identifiers(table: Table, columns: Sequence[str]) -> tuple[str, ...]:
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names)
        if table.roles.get(name) == "unit":
            raise TableError(f"Column {name!r} is the unit, whose people are counted. Leave it out of columns.")
    if not 0 < len(names) == len(set(names)) <= MOST_COLUMNS:
        raise ValueOutOfRange("columns", list(names), f"1 to {MOST_COLUMNS} different columns")
    return names


def _check(table: Table, names: Sequence[str], k: int, attributes: Sequence[str], l: int, missing: str) -> None:  # noqa: E741
    for parameter, value in (("k", k), ("l", l)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ValueOutOfRange(parameter, value, "a whole number of at least 1")
    if missing not in ("own", "any"):
        raise ValueOutOfRange("missing", missing, "'own' or 'any'")
    for name in attributes:
        if name not in table.names:
            raise NameUnknown("column", name, table.names)
        if name in names:
            raise TableError(f"Column {name!r} cannot be both sensitive and a quasi-identifier. Leave out one of them.")
    if bool(attributes) != (l > 1):
        raise ValueOutOfRange("l", l, "at least 2 with a sensitive attribute, and 1 without")
    if missing == "any" and (attributes or table.with_role("unit")):
        raise ValueOutOfRange("missing", missing, "'own' for tables with a unit and for l-diversity")


def _check_reachable(owner: Rows, values: Mapping[str, Rows], k: int, l: int) -> None:  # noqa: E741
    """Refuse what even a single class of all people would not reach."""
    people = len(np.unique(owner))
    if people < k:
        kind = "rows" if people == len(owner) else "people or households"
        raise TableError(f"k = {k:,} needs at least {k:,} {kind}, but the table has {people:,}. Choose a smaller k.")
    for name, code in values.items():
        distinct = len(np.unique(code[code > 0]))
        if distinct < l:
            raise TableError(
                f"l = {l:,} needs at least {l:,} values of {name!r}, but it has {distinct:,}. Choose a smaller l."
            )


def _prices(names: Sequence[str], importance: Importance | None) -> Floats:
    """What a suppressed cell of each column costs."""
    importance = (importance,) if isinstance(importance, str) else importance
    for name in importance or ():
        if name not in names:
            raise NameUnknown("quasi-identifier", str(name), names, "in importance")
    if isinstance(importance, Mapping):
        for name, price in importance.items():
            if isinstance(price, bool) or not isinstance(price, int | float) or not (isfinite(price) and price > 0):
                raise ValueOutOfRange(f"importance[{name!r}]", price, "a number above 0")
        found = np.array([float(importance.get(name, 1.0)) for name in names])
        return found / found.min()
    ranked = list(dict.fromkeys(importance or ()))[::-1]
    others = 1.0 + len(names) - len(ranked)
    return np.array([others * 2.0 ** ranked.index(name) if name in ranked else 1.0 for name in names])


def column_sets(price: Floats, distinct: Sequence[int]) -> Rows:
    """The sets of columns to try, as bits: the cheapest first, and of these the columns with most values.

    All sets, or of more than ten columns small ones, all columns, and a sequence that leads from one to the other.

    >>> column_sets(np.array([1.0, 1.0]), [2, 9]).tolist()
    [0, 2, 1, 3]
    """
    count = len(price)
    first = sorted(range(count), key=lambda c: (price[c], -distinct[c], c))
    found = {sum(1 << c for c in first[:size]) for size in range(count + 1)}
    for size in range(1, count):
        if len(found) + comb(count, size) > MOST_SETS and 2**count > MOST_SETS:
            break
        found.update(sum(1 << c for c in chosen) for chosen in combinations(range(count), size))

    def order(columns: int) -> tuple[float, float, int]:
        chosen = [c for c in range(count) if columns >> c & 1]
        return float(price[chosen].sum()), -sum(log(distinct[c]) for c in chosen), columns

    return np.array(sorted(found, key=order), np.int64)


# Records: rows that are suppressed alike, in an order that depends on values alone.


def _codes(column: Column) -> Rows:
    """The values as numbers from 1, in their order; 0 is missing."""
    if column.is_category:
        return column.values.astype(np.int64) + 1
    found, known = np.zeros(len(column), np.int64), ~column.missing
    found[known] = np.unique(column.values[known], return_inverse=True)[1].ravel() + 1
    return found


def _order(codes: Rows, ties: Words | None) -> Rows:
    """The rows by their values, equal ones next to each other."""
    by = list(codes.T[::-1])
    return np.lexsort(by if ties is None else [ties, *by])


def _begins(ordered: Rows) -> Rows:
    """Where each run of equal rows begins, and where the last one ends."""
    new = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    return np.concatenate([[0], new, [len(ordered)]])


def _records(ordered: Rows, begin: Rows, price: Floats, k: int) -> "Records":
    from leafcover.kernels.suppression import Records

    first, count = ordered[begin[:-1]], ordered.shape[1]
    words = np.column_stack([_hashes(first[:, c], c) for c in range(count)])
    blank = np.array([_hashes(np.zeros(1, np.int64), c)[0] for c in range(count)])
    absent = ((first == 0) * (np.int64(1) << np.arange(count))).sum(axis=1)
    no_values = np.zeros((len(ordered), 0), np.uint64)
    full: Words = words.sum(axis=1, dtype=np.uint64)
    return Records(full, np.ascontiguousarray(blank - words), absent, begin, no_values, price, np.array([k]))


def _with_attributes(records: "Records", owner: Rows, values: Mapping[str, Rows], l: int) -> "Records":  # noqa: E741
    """The records with what must be distinct in a class: people, if they have several rows, and sensitive values."""
    found, need = [], [int(records.need[0])]
    if len(np.unique(owner)) < len(owner):
        found, need = [_hashes(owner + 1, MOST_COLUMNS)], [1, need[0]]
    for place, code in enumerate(values.values(), MOST_COLUMNS + 1):
        found.append(np.where(code == 0, np.uint64(0), _hashes(code, place)))
        need.append(l)
    if not found:
        return records
    return records._replace(values=np.column_stack(found), need=np.array(need, np.int64))


def _hashes(codes: Rows, place: int) -> Words:
    """A hash of each code, different for each column."""
    return splitmix64(splitmix64(codes.astype(np.uint64)) + np.uint64(place))


def _hidden(records: "Records", sets: Rows, missing: Convention) -> Bools:
    """Whether a cell is suppressed, by record and column."""
    if missing == "own":
        from leafcover.kernels.suppression import suppressed_columns as chosen_columns
    else:
        from leafcover.kernels.wildcard_suppression import wildcard_columns as chosen_columns
    bits = np.int64(1) << np.arange(len(records.price))
    return (chosen_columns(records, sets)[:, None] & bits) != 0


# What was reached.


def _classes(codes: Rows) -> Rows:
    """The number of each row's equivalence class."""
    order = _order(codes, None)
    sizes, found = np.diff(_begins(codes[order])), np.empty(len(codes), np.int64)
    found[order] = np.repeat(np.arange(len(sizes)), sizes)
    return found


def _smallest(codes: Rows, owner: Rows, missing: Convention) -> int:
    """People in the smallest class, or rows that match the row with the fewest."""
    if missing == "own":
        return int(_distinct(_classes(codes), owner).min())
    from leafcover.kernels.wildcard_suppression import matches

    order = _order(codes, None)
    records = _records(codes[order], _begins(codes[order]), np.ones(codes.shape[1]), 1)
    return int(matches(records, records.absent, np.arange(len(records.full)), records.absent).min())


def _fewest(codes: Rows, values: Rows) -> int:
    """The fewest distinct known values in a class."""
    classes = _classes(codes)
    known = values > 0
    return int(_distinct(classes[known], values[known], int(classes.max()) + 1).min())


def _distinct(classes: Rows, values: Rows, count: int = 0) -> Rows:
    """How many distinct values each class has."""
    pairs = np.unique(classes * (int(values.max(initial=0)) + 1) + values)
    return np.bincount(pairs // (int(values.max(initial=0)) + 1), minlength=count)


def without_values(column: Column, rows: Bools) -> Column:
    """The column with missing values in these rows, written like those that were missing before.

    All missing values are written the same way, and levels that no row has any more are removed, so that neither shows
    what was suppressed.

    >>> codes, texts = np.array([0, 1, -1], np.int32), pa.array(["Graz", "Linz", "?"])
    >>> town = Column("town", "category", codes, ("Graz", "Linz"), stored=texts)
    >>> without_values(town, np.array([True, False, False])).stored.to_pylist()
    ['?', 'Linz', '?']
    """
    missing = column.missing | rows
    new = replace_values(column, np.where(missing, MISSING if column.is_category else np.nan, column.values))
    if new.stored is not None and missing.any():
        new = replace(new, stored=_blanked(column, new.stored, missing))
    return _without_lost_levels(new, column) if column.is_category else new


def _blanked(column: Column, stored: Any, missing: Bools) -> Any:
    """The stored form in which all missing cells are equal: null, or the most common text of those in the column."""
    if not is_text(stored):
        return pc.if_else(pa.array(missing), None, stored)
    text, token = plain_text(stored), ""
    if column.missing.any() and is_text(column.stored):
        found = plain_text(column.stored).filter(pa.array(column.missing)).drop_null().value_counts().to_pylist()
        token = min(found, key=lambda one: (-one["counts"], one["values"]), default={"values": ""})["values"]
    return pc.if_else(pa.array(missing), pa.scalar(token, text.type), text)


def _without_lost_levels(new: Column, old: Column) -> Column:
    """The column without levels whose last rows were suppressed; declared levels that never occurred stay."""
    lost = np.setdiff1d(old.values, new.values)
    lost = lost[lost != MISSING]
    if not len(lost):
        return new
    kept = np.setdiff1d(np.arange(len(old.levels)), lost)
    lookup: Array = np.full(len(old.levels) + 1, MISSING, np.int32)
    lookup[kept] = np.arange(len(kept))
    return replace(new, values=lookup[new.values], levels=tuple(old.levels[code] for code in kept))
