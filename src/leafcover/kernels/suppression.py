"""Local suppression to k-anonymity: which cells of which records become missing.

A record is what is suppressed together: a row, or all rows with the same quasi-identifiers. A set of columns is the
bits of a number. Records that agree in all columns but a set, and in which these columns are missing or suppressed, are
an equivalence class; its key is a 64-bit hash, the sum of one word for each cell. A class is valid if it has enough
rows, and enough distinct values of each attribute (people, a sensitive attribute).

The classes are found one set of columns after the other, the cheapest first. `open_classes` makes classes of the
records for which the set is cheaper than what they have; records of other classes help out if that pays.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from leafcover.arrays import Floats, Rows, Words
from leafcover.kernels import ENTRY, INNER, ZERO

SMALLEST_GAIN = 1e-9  # the cheapest cell costs 1
_ADD: int = np.int64(1)  # type: ignore[assignment]  # as `ZERO`: numba would compile twice for literals
_TAKE: int = np.int64(-1)  # type: ignore[assignment]
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of splitmix64


class Records(NamedTuple):
    """Records, equal ones next to each other."""

    full: Words  # (records,) the key of the record as it is
    change: Words  # (records, columns) what is added to the key when a cell is suppressed; 0 if it is missing
    absent: Rows  # (records,) the columns in which it is missing
    begin: Rows  # (records + 1,) where its rows begin
    values: Words  # (rows, attributes) a hash of each value, or 0 for missing, which is no value
    price: Floats  # (columns,) of a suppressed cell
    need: Rows  # (1 + attributes,) rows, and distinct values of each attribute, that a class must have


class Choice(NamedTuple):
    """What is suppressed in each record."""

    columns: Rows  # (records,) the columns that are suppressed
    key: Words  # (records,) the key of its class; meaningless if the cost is infinite
    cost: Floats  # (records,) of one of its rows; infinite while it has no class


class ClassTables(NamedTuple):
    """Hash tables with open addressing, whose lengths are powers of two; a key of 0 is a free place."""

    key: Words
    rows: Rows
    distinct: Rows  # (places, attributes)
    pair: Words  # key of a class and a value
    pair_rows: Rows
    used: Rows  # (2,) places of both tables


class Scratch(NamedTuple):
    """Memory for the groups of one set of columns."""

    key: Words  # hash table as in `ClassTables`
    group: Rows
    place: Rows  # (groups,) in the hash table
    weight: Rows  # (groups,) rows of the records that gain
    begin: Rows  # (groups + 1,)
    group_of: Rows  # (candidates,)
    member: Rows  # (candidates,) records, by group
    taken: Rows  # (records,) records that a new class takes
    seen: Words  # hash table of the values of a new class
    seen_place: Rows
    seen_count: Rows  # (1,)
    distinct: Rows  # (attributes,)


@njit(**INNER)
def mixed(word: np.uint64) -> np.uint64:
    """The finalizer of splitmix64."""
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@njit(**INNER)
def place_of(keys: Words, key: np.uint64) -> np.int64:
    """Where a key is in a hash table, or would be."""
    last = np.uint64(len(keys) - 1)
    at = mixed(key) & last
    while keys[at] != np.uint64(0) and keys[at] != key:
        at = (at + np.uint64(1)) & last
    return np.int64(at)


@njit(**INNER)
def key_of(records: Records, record: int, columns: int) -> np.uint64:
    """The key of a record with these columns suppressed."""
    key, at = records.full[record], 0
    while columns:
        if columns & 1:
            key += records.change[record, at]
        columns >>= 1
        at += 1
    return key


@njit(**INNER)
def _cost(price: Floats, columns: int) -> float:
    total, at = 0.0, 0
    while columns:
        if columns & 1:
            total += price[at]
        columns >>= 1
        at += 1
    return total


@njit(**INNER)
def _count(records: Records, record: int, key: int, sign: int, classes: ClassTables) -> int:
    """Add a record to the class of a key (sign 1), or take it out (-1); the place of the class."""
    at = place_of(classes.key, key)
    if classes.key[at] == np.uint64(0):
        classes.key[at] = key
        classes.used[0] += 1
    classes.rows[at] += sign * (records.begin[record + 1] - records.begin[record])
    for row in range(records.begin[record], records.begin[record + 1]):
        for a in range(records.values.shape[1]):
            value = records.values[row, a]
            if value != np.uint64(0):
                pair = place_of(classes.pair, key ^ value)
                if classes.pair[pair] == np.uint64(0):
                    classes.pair[pair] = key ^ value
                    classes.used[1] += 1
                before = classes.pair_rows[pair]
                classes.pair_rows[pair] = before + sign
                classes.distinct[at, a] += np.int64(before + sign > 0) - np.int64(before > 0)
    return at


@njit(**INNER)
def _is_valid(rows: int, distinct: Rows, need: Rows) -> bool:
    valid = rows >= need[0]
    for a in range(len(distinct)):
        valid &= distinct[a] >= need[1 + a]
    return valid


@njit(**ENTRY)
def count_classes(records: Records, choice: Choice, classes: ClassTables, leave_invalid: bool) -> None:
    """Fill empty hash tables with the classes of all records that have one.

    If asked, the records of classes that are not valid then have none.
    """
    for record in range(len(records.full)):
        if choice.cost[record] < np.inf:
            _count(records, record, choice.key[record], _ADD, classes)
    if leave_invalid:
        for record in range(len(records.full)):
            at = place_of(classes.key, choice.key[record])
            if not _is_valid(classes.rows[at], classes.distinct[at], records.need):
                choice.cost[record] = np.inf


@njit(**INNER)
def _gather(
    records: Records, choice: Choice, columns: int, movers: Rows, donors: Rows, deep: bool, scratch: Scratch
) -> int:
    """Group the records that agree outside the columns, where one of them gains; the number of groups."""
    groups, price = ZERO, _cost(records.price, columns)
    for i in range(len(movers)):
        record, cost = movers[i], price
        if columns & records.absent[record]:
            cost = _cost(records.price, columns & ~records.absent[record])
        scratch.group_of[i] = -1
        if choice.cost[record] > cost + SMALLEST_GAIN:
            key = key_of(records, record, columns)
            at = place_of(scratch.key, key)
            if scratch.key[at] == np.uint64(0):
                scratch.key[at], scratch.group[at], scratch.place[groups] = key, groups, at
                scratch.weight[groups], scratch.begin[groups + 1] = 0, 0
                groups += 1
            scratch.weight[scratch.group[at]] += records.begin[record + 1] - records.begin[record]
            scratch.group_of[i] = scratch.group[at]
        elif deep and choice.cost[record] >= cost - SMALLEST_GAIN:
            scratch.group_of[i] = -2  # neither gains nor loses
    if groups == 0:
        return 0
    for i in range(len(movers) + len(donors)):
        if i >= len(movers) or scratch.group_of[i] == -2:
            record = movers[i] if i < len(movers) else donors[i - len(movers)]
            at = place_of(scratch.key, key_of(records, record, columns))
            scratch.group_of[i] = -1 if scratch.key[at] == np.uint64(0) else scratch.group[at]
    _sort_by_group(movers, donors, groups, scratch)
    return groups


@njit(**INNER)
def _sort_by_group(movers: Rows, donors: Rows, groups: int, scratch: Scratch) -> None:
    """Sort the candidates by group (counting sort): movers before donors, each in the given order."""
    begin, group_of = scratch.begin, scratch.group_of
    begin[0] = 0
    for i in range(len(movers) + len(donors)):
        if group_of[i] >= 0:
            begin[group_of[i] + 1] += 1
    for group in range(groups):
        begin[group + 1] += begin[group]
    total = begin[groups]
    for i in range(len(movers) + len(donors) - 1, -1, -1):
        if group_of[i] >= 0:
            begin[group_of[i] + 1] -= 1
            scratch.member[begin[group_of[i] + 1]] = movers[i] if i < len(movers) else donors[i - len(movers)]
    for group in range(groups):  # where a group ended is now where it begins
        begin[group] = begin[group + 1]
    begin[groups] = total


@njit(**ENTRY)
def open_classes(
    records: Records,
    choice: Choice,
    classes: ClassTables,
    scratch: Scratch,
    columns: int,
    movers: Rows,
    donors: Rows,
    deep: bool,
) -> float:
    """Suppress a set of columns in the records for which that is cheaper, and return what is saved.

    ``movers`` are the records that are suppressed, or have no class. If ``deep``, records for which the set costs what
    they have now, and then unsuppressed ones, complete a class that would have too few rows; ``donors`` are the first
    of each run of equal unsuppressed records.
    """
    groups = _gather(records, choice, columns, movers, donors, deep, scratch)
    saved = 0.0
    for group in range(groups):
        key = scratch.key[scratch.place[group]]
        exists = classes.rows[place_of(classes.key, key)] > 0
        if exists or deep or scratch.weight[group] >= records.need[0]:
            count, gain, valid = _collect(records, choice, classes, scratch, columns, group, deep and not exists)
            valid = exists or (valid and gain > SMALLEST_GAIN)
            for at in range(count):
                record = scratch.taken[at]
                if valid:
                    choice.columns[record] = columns & ~records.absent[record]
                    choice.cost[record] = _cost(records.price, choice.columns[record])
                    choice.key[record] = key
                if choice.cost[record] < np.inf:
                    _count(records, record, choice.key[record], _ADD, classes)
            saved += gain if valid else 0.0
    for group in range(groups):
        scratch.key[scratch.place[group]] = np.uint64(0)
    return saved


@njit(**INNER)
def _collect(
    records: Records, choice: Choice, classes: ClassTables, scratch: Scratch, columns: int, group: int, deep: bool
) -> tuple[int, float, bool]:
    """Take records of a group out of their classes: those that gain and, if ``deep``, as many others as are needed.

    Returns how many there are, what is saved if they become a class, and whether that class is valid.
    """
    count, rows, saved = ZERO, ZERO, 0.0
    for phase in range(3 if deep else 1):  # records that gain, that neither gain nor lose, and unsuppressed ones
        for at in range(scratch.begin[group], scratch.begin[group + 1]):
            record = scratch.member[at]
            while True:
                gain = choice.cost[record] - _cost(records.price, columns & ~records.absent[record])
                weight = records.begin[record + 1] - records.begin[record]
                if phase == 0:
                    fits = gain > SMALLEST_GAIN
                elif phase == 1:
                    fits = abs(gain) <= SMALLEST_GAIN
                else:
                    fits = choice.cost[record] == 0.0 and saved + gain * weight > SMALLEST_GAIN
                fits = fits and (phase == 0 or _helps(records, record, rows, scratch))
                if fits and choice.cost[record] < np.inf:
                    source = _count(records, record, choice.key[record], _TAKE, classes)
                    left = classes.rows[source]
                    if left and not _is_valid(left, classes.distinct[source], records.need):
                        _count(records, record, choice.key[record], _ADD, classes)
                        fits = False
                if fits:
                    scratch.taken[count] = record
                    count, rows, saved = count + 1, rows + weight, saved + gain * weight
                    _see(records, record, scratch)
                record += 1
                if phase < 2 or record == len(records.full) or records.full[record] != records.full[record - 1]:
                    break
    valid = _is_valid(rows, scratch.distinct, records.need)
    _forget(scratch)
    return count, saved, valid


@njit(**INNER)
def _helps(records: Records, record: int, rows: int, scratch: Scratch) -> bool:
    """Whether a new class needs the rows of a record, or its values."""
    if rows < records.need[0]:
        return True
    for row in range(records.begin[record], records.begin[record + 1]):
        for a in range(records.values.shape[1]):
            value = records.values[row, a]
            if scratch.distinct[a] < records.need[1 + a] and value and not scratch.seen[place_of(scratch.seen, value)]:
                return True
    return False


@njit(**INNER)
def _see(records: Records, record: int, scratch: Scratch) -> None:
    """Count the values of a record among those of the new class."""
    for row in range(records.begin[record], records.begin[record + 1]):
        for a in range(records.values.shape[1]):
            value = records.values[row, a]
            at = place_of(scratch.seen, value)
            if value != np.uint64(0) and scratch.seen[at] == np.uint64(0):
                scratch.seen[at] = value
                scratch.seen_place[scratch.seen_count[0]] = at
                scratch.seen_count[0] += 1
                scratch.distinct[a] += 1


@njit(**INNER)
def _forget(scratch: Scratch) -> None:
    for i in range(scratch.seen_count[0]):
        scratch.seen[scratch.seen_place[i]] = np.uint64(0)
    scratch.seen_count[0] = 0
    for a in range(len(scratch.distinct)):
        scratch.distinct[a] = 0


# The search: plain Python around the kernels.

ROUNDS = 4  # of improvements; on five real tables the third changed less than one cell in 10,000


def suppressed_columns(records: Records, sets: Rows) -> Rows:
    """The columns to suppress in each record, so that every class is valid; one class of all records must be.

    ``sets`` are the sets of columns to try, the cheapest first; they begin with none and end with all. Greedily, one
    set after the other is suppressed in all records that it brings into a valid class. Records that are left over take
    in unsuppressed ones, or any; the cheaper way is chosen. Then records move for as long as something is saved.
    """
    count = len(records.full)
    choice, scratch = Choice(np.zeros(count, np.int64), records.full.copy(), np.zeros(count)), _scratch(records)
    _counted(records, choice, leave_invalid=True)
    _sweep(records, choice, scratch, sets, deep=False)
    if not np.isinf(choice.cost).any():
        return _improved(records, choice, scratch, sets).columns
    weight, ways = np.diff(records.begin), []
    for least in (np.inf, SMALLEST_GAIN):
        way = Choice(choice.columns.copy(), choice.key.copy(), choice.cost.copy())
        _sweep(records, way, scratch, sets, deep=True, least=least)
        while np.isinf(way.cost).any():
            _merge_a_class(records, way, sets)
        ways.append(_improved(records, way, scratch, sets))
    return min(ways, key=lambda way: float(way.cost @ weight)).columns


def _improved(records: Records, choice: Choice, scratch: Scratch, sets: Rows) -> Choice:
    """Moves records to cheaper classes; at last no cell can be restored."""
    for turn in range(ROUNDS + 1):
        while _restore(records, choice, scratch):
            pass
        if turn == ROUNDS or not _sweep(records, choice, scratch, sets, deep=True):
            break
    return choice


def power_of_two(least: int) -> int:
    """A length of a hash table for so many keys."""
    return 1 << max(least - 1, 1).bit_length()


def _counted(records: Records, choice: Choice, *, leave_invalid: bool = False) -> ClassTables:
    """The classes of all records, in new hash tables that are at most a quarter full."""
    attributes = records.values.shape[1]
    places, pairs = power_of_two(4 * len(records.full)), power_of_two(4 * records.values.size)
    classes = ClassTables(
        np.zeros(places, np.uint64),
        np.zeros(places, np.int64),
        np.zeros((places, attributes), np.int64),
        np.zeros(pairs, np.uint64),
        np.zeros(pairs, np.int64),
        np.zeros(2, np.int64),
    )
    count_classes(records, choice, classes, leave_invalid)
    return classes


def _scratch(records: Records) -> Scratch:
    count, values = len(records.full), records.values.size
    places = power_of_two(2 * count)
    return Scratch(
        np.zeros(places, np.uint64),
        np.zeros(places, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count + 1, np.int64),
        np.zeros(2 * count, np.int64),
        np.zeros(2 * count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(power_of_two(2 * values), np.uint64),
        np.zeros(values, np.int64),
        np.zeros(1, np.int64),
        np.zeros(records.values.shape[1], np.int64),
    )


def _sweep(
    records: Records, choice: Choice, scratch: Scratch, sets: Rows, *, deep: bool, least: float = SMALLEST_GAIN
) -> float:
    """Open classes with one set of columns after the other, of records that cost at least so much; what is saved."""
    classes, saved = _counted(records, choice), 0.0
    for columns in sets:
        movers = np.flatnonzero(choice.cost >= least)
        if not len(movers):
            break
        classes = _with_room(records, choice, classes)
        donors = _donors(records, choice) if deep else movers[:0]
        saved += open_classes(records, choice, classes, scratch, columns, movers, donors, deep)
    return saved


def _restore(records: Records, choice: Choice, scratch: Scratch) -> float:
    """Restore single cells, where a class exists or enough records agree; what is saved."""
    classes, saved = _counted(records, choice), 0.0
    by_set = np.argsort(choice.columns, kind="stable")
    present, begin = np.unique(choice.columns[by_set], return_index=True)
    for columns, members in zip(present.tolist(), np.split(by_set, begin[1:]), strict=True):
        for c in np.argsort(-records.price, kind="stable").tolist():
            if columns >> c & 1:
                classes = _with_room(records, choice, classes)
                fewer = np.int64(columns & ~(1 << c))
                saved += open_classes(records, choice, classes, scratch, fewer, members, members[:0], False)
    return saved


def _with_room(records: Records, choice: Choice, classes: ClassTables) -> ClassTables:
    """The hash tables, or new ones if keys of former classes fill half of them."""
    full = 2 * classes.used[0] > len(classes.key) or 2 * classes.used[1] > len(classes.pair)
    return _counted(records, choice) if full else classes


def _donors(records: Records, choice: Choice) -> Rows:
    """The first of each run of equal unsuppressed records, those with the fewest rows first."""
    free = np.flatnonzero(choice.cost == 0.0)
    first = free[np.append(True, records.full[free[1:]] != records.full[free[:-1]])[: len(free)]]
    return first[np.argsort(records.begin[first + 1] - records.begin[first], kind="stable")]


def keys_of(records: Records, columns: int, rows: Rows | slice = slice(None)) -> Words:
    """The keys of records with these columns suppressed."""
    keys = records.full[rows].copy()
    for c in range(len(records.price)):
        if columns >> c & 1:
            keys += records.change[rows, c]
    return keys


def _costs(records: Records, columns: int) -> Floats:
    """What it costs to suppress these columns in each record."""
    total = np.zeros(len(records.full))
    for c, price in enumerate(records.price):
        if columns >> c & 1:
            total += np.where(records.absent >> c & 1, 0.0, price)
    return total


def _merge_a_class(records: Records, choice: Choice, sets: Rows) -> None:
    """Give the first record without a class, and all that then are equal to it, the class of others as a whole.

    Needed where no class can spare a record. Of all sets of columns and classes, those that cost least for each record
    that had no class.
    """
    weight, lost = np.diff(records.begin), np.isinf(choice.cost)
    had = np.where(lost, 0.0, choice.cost)
    _, label = np.unique(np.where(lost, np.uint64(0), choice.key), return_inverse=True)
    best, chosen = np.inf, (0, lost)
    for columns in sets.tolist():
        keys, costs = keys_of(records, columns), _costs(records, columns)
        equal = keys == keys[np.argmax(lost)]
        whole = np.bincount(label, ~equal) == 0
        whole[label[lost]] = False
        if whole.any():
            more = np.where(whole, np.bincount(label, weight * (costs - had)), np.inf)
            members = equal & (lost | (label == np.argmin(more)))
            each = (weight * (costs - had))[members].sum() / np.count_nonzero(members & lost)
            if each < best - SMALLEST_GAIN:
                best, chosen = each, (columns, members)
    columns, members = chosen
    choice.columns[members] = columns & ~records.absent[members]
    choice.key[members] = keys_of(records, columns)[members]
    choice.cost[members] = _costs(records, columns)[members]
