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
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb, isfinite, log
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Bools, Floats, Rows, Words
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.recode.base import Recoding, methods, recoding
from leafcover.recode.suppress import without, without_values
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


# The recoding, which people outside a release undergo too.


Costs: TypeAlias = tuple[tuple[str, float], ...]


@recoding("local-suppression")
@dataclass(frozen=True)
class LocalSuppression(Recoding):
    """Make values of some columns missing, as few as possible, until at least k people agree in all of them.

    A missing value is a value of its own: people agree if the same columns are missing and the others are equal.

    Parameters
    ----------
    columns : sequence of str, optional
        The quasi-identifiers. Default: the columns with that role.
    k : int, default 3
        The minimum number of people who agree.
    importance : sequence of str, optional
        The columns whose values shall stay, the most important first.
    costs : mapping of str to float, optional
        What a missing value of a column counts instead, compared with 1.
    sensitive : str or sequence of str, optional
        Sensitive attributes of which people who agree shall have several values (l-diversity).
    l : int, optional
        How many different values of each.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> few = lc.LocalSuppression(["region", "occupation", "ethnicity"], k=3).apply(table)
    >>> sum(int(few[name].missing.sum()) for name in few.names)
    14
    """

    frozen_id: ClassVar[str] = "local-suppression"
    promise: ClassVar[Literal["recoded", "suppressed"]] = "suppressed"
    main: ClassVar[str] = "k"
    uses_other_rows: ClassVar[bool] = True
    made: ClassVar["tuple[Table, Table] | None"] = None  # the table that it was fitted to, and what it made of it
    columns: tuple[str, ...] = ()
    k: int = 3
    importance: tuple[str, ...] = ()
    costs: Costs = field(default=(), metadata={"maps": True, "plan_type": dict[str, float]})
    sensitive: tuple[str, ...] = ()
    l: int | None = None  # noqa: E741  # its name in the literature

    def __post_init__(self) -> None:
        for field_name in ("columns", "importance", "sensitive"):
            named: Any = getattr(self, field_name)
            names = (named,) if isinstance(named, str) else tuple(named or ())
            object.__setattr__(self, field_name, names)
            if len(set(names)) < len(names):
                raise PlanError(f"Local suppression names a column twice: {', '.join(names)}. Name each once.")
        if self.importance and self.costs:
            raise PlanError("Local suppression got importance and costs, which say the same. Give one of them.")
        if self.k < 2:
            raise ValueOutOfRange("LocalSuppression.k", self.k, "a number of people, at least 2")
        if bool(self.sensitive) != (self.l is not None):
            raise PlanError("Local suppression needs a sensitive attribute and l, the number of its values. Give both.")
        if self.l is not None and self.l < 2:
            raise ValueOutOfRange("LocalSuppression.l", self.l, "a number of values, at least 2")
        given: Any = self.costs
        pairs = given.items() if isinstance(given, Mapping) else given
        object.__setattr__(self, "costs", tuple(sorted((str(name), float(cost)) for name, cost in pairs)))
        for name, cost in self.costs:
            if not 0 < cost < np.inf:
                raise ValueOutOfRange(f"LocalSuppression.costs of {name!r}", cost, "a number above 0")

    @property
    def least(self) -> int:
        """How many people agree."""
        return self.k

    @property
    def checks_rows(self) -> bool:
        """Whether several columns of a row are compared."""
        return True

    def check(self, table: Table) -> None:
        """Refuse other columns that are unknown, and quasi-identifiers that are sensitive."""
        super().check(table)
        for name in (*self.importance, *(name for name, _ in self.costs)):
            if self.columns and name not in self.columns:
                raise NameUnknown("column", name, self.columns, "among those of local suppression")
        for name in self.sensitive:
            if name not in table.names:
                raise NameUnknown("column", name, table.names, "for local suppression")
            if name in self.columns:
                raise PlanError(f"Column {name!r} is a quasi-identifier and sensitive. Name it once.")

    def fitted(self, table: Table) -> "LocalSuppression":
        """The same with its columns named; what it makes of the table is kept, since that takes longest."""
        names = self.columns or table.with_role("quasi-identifier")
        if not names:
            raise PlanError("Local suppression names no column, and none is a quasi-identifier. Name some.")
        found = replace(self, columns=names)
        found.check(table)
        kept = self.made if self.made is not None and found == self else None
        if kept is None or not found._is_same(table, kept[0]):
            kept = table, found._suppressed(table)
        object.__setattr__(found, "made", kept)
        return found

    def _is_same(self, one: Table, other: Table) -> bool:
        """Whether two tables have the same values of all columns that count."""
        names = [*self.columns, *self.sensitive]
        if one is other:
            return True
        if not {*names} <= {*one.names} & {*other.names}:
            return False
        return one.select(names).equals(other.select(names)) and np.array_equal(owners(one), owners(other))

    def _suppressed(self, table: Table) -> Table:
        importance = self.importance or dict(self.costs) or None
        return suppress_cells(
            table, self.columns, self.k, importance=importance, sensitive=self.sensitive, l=self.l or 1
        ).table

    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The table with missing cells; people outside a release have those that they would have beside its people."""
        if not self.columns:
            raise PlanError("Local suppression is not fitted to a table yet. Use fitted().")
        if reference is not None:
            return self._beside(table, reference)
        if self.made is not None and self._is_same(table, self.made[0]):
            after = self.made[1]
            return table.replace(without(table[name], after[name].missing) for name in self.columns)
        return self._suppressed(table)

    def _beside(self, table: Table, reference: Table) -> Table:
        """The table as if its people were in the reference, too."""
        unit = [name for name in reference.with_role("unit") if name in table.names]
        names = [*self.columns, *self.sensitive, *unit]
        both = Table(tuple(stacked(reference[name], table[name]) for name in names), roles=dict.fromkeys(unit, "unit"))
        after = self._suppressed(both)
        rows = np.arange(len(reference), len(both))
        return table.replace(without(table[name], after[name].missing[rows]) for name in self.columns)

    def violations(self, released: Table) -> tuple[str, ...]:
        """Classes of too few people, or of too few sensitive values."""
        label = _classes(np.column_stack([_codes(released[name]) for name in self.columns]))
        small = int((_distinct(label, owners(released))[label] < self.k).sum())
        found = [f"{small} rows are in classes of fewer than {self.k} people"] if small else []
        for name in self.sensitive:
            column = released[name]
            known = ~column.missing
            values = np.unique(column.values[known], return_inverse=True)[1].ravel()
            counts = _distinct(label[known], values, int(label.max(initial=-1)) + 1)
            few = int((counts[label] < (self.l or 1)).sum())
            found += [f"{few} rows are in classes of fewer than {self.l} values of {name!r}"] if few else []
        return tuple(found)

    def describe(self, *, detailed: bool = True) -> str:
        """How many people agree."""
        return methods()("local-suppression", k=self.k, l=self.l or 0, sensitive=", ".join(self.sensitive))


def stacked(one: Column, other: Column) -> Column:
    """The values of two columns, one below the other, in the codes of both."""
    if not one.is_category:
        return Column(one.name, one.kind, np.concatenate([one.values, other.values]), grid=one.grid)
    levels = tuple(sorted({*one.levels, *other.levels}))
    number = {level: at for at, level in enumerate(levels)}
    codes = [np.array([*(number[n] for n in c.levels), -1], np.int32)[c.values] for c in (one, other)]
    return Column(one.name, "category", np.concatenate(codes), levels)
