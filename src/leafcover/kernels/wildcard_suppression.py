"""Local suppression where a missing cell matches every value, as in sdcMicro and mu-Argus.

Two records match if they agree in every column that is known in both. This is a weak protection: an attacker who knows
the method knows that suppressed cells belong to rare records. `leafcover.kernels.suppression` has the default.
"""

import numpy as np
from numba import njit

from leafcover.arrays import Rows, Words
from leafcover.kernels import ENTRY, INNER
from leafcover.kernels.suppression import Records, key_of, keys_of, mixed, place_of, power_of_two


def wildcard_columns(records: Records, sets: Rows) -> Rows:
    """The columns to suppress in each record, so that enough rows match it if a missing cell matches every value.

    Greedily: one set of columns after the other is suppressed in all records that have too few matches and then have
    enough. At the end cells that are not needed are restored.
    """
    hidden, need = records.absent.copy(), records.need[0]
    left = np.arange(len(hidden))
    count = matches(records, hidden, left, hidden)
    for columns in sets:
        while True:
            left, count = left[count < need], count[count < need]
            possible = (columns & records.absent[left]) == 0
            more = hidden[left] | columns
            possible[possible] = matches(records, hidden, left[possible], more[possible]) >= need
            if not possible.any():
                break
            at = np.flatnonzero(possible)
            chosen = at[_first_in_group(records, left[at], more[at], count[at])]
            hidden[left[chosen]] = more[chosen]
            count = matches(records, hidden, left, hidden[left])
    _restore_matching(records, hidden)
    return hidden & ~records.absent


def _first_in_group(records: Records, rows: Rows, columns: Rows, count: Rows) -> Rows:
    """Of records that would be equal, as many as give the others enough matches; those with the fewest come first."""
    keys, weight = np.empty(len(rows), np.uint64), np.diff(records.begin)[rows]
    for one in np.unique(columns).tolist():
        keys[columns == one] = keys_of(records, one, rows[columns == one])
    order = np.lexsort((np.arange(len(rows)), count, keys))
    keys, weight = keys[order], weight[order]
    first = np.append(True, keys[1:] != keys[:-1])
    before = np.cumsum(weight) - weight
    before -= np.maximum.accumulate(np.where(first, before, 0))
    return np.sort(order[count[order] + before < records.need[0]])


def matches(records: Records, hidden: Rows, rows: Rows, ours: Rows) -> Rows:
    """How many rows match each of some records, if the columns of ``ours`` are missing in them."""
    weight, found = np.diff(records.begin), np.zeros(len(rows), np.int64)
    for theirs in np.unique(hidden).tolist():
        members = np.flatnonzero(hidden == theirs)
        for own in np.unique(ours).tolist():
            at = np.flatnonzero(ours == own)
            keys, label = np.unique(keys_of(records, theirs | own, members), return_inverse=True)
            wanted = keys_of(records, theirs | own, rows[at])
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            same = keys[place] == wanted
            found[at] += np.where(same, np.bincount(label, weight[members])[place].astype(np.int64), 0)
    return found


def _restore_matching(records: Records, hidden: Rows) -> None:
    """Restore every cell without which all records still have enough matches.

    Records with few missing cells come first: those with many match, and so protect, many others. A record may be
    passed by and has then lost a cell in another order, so this is repeated until nothing changes.
    """
    count = matches(records, hidden, np.arange(len(hidden)), hidden)
    places = power_of_two(2 * len(hidden))
    heads, following, keys = np.empty(places, np.int64), np.empty(len(hidden), np.int64), np.empty(places, np.uint64)
    before = hidden + 1
    while (before != hidden).any():
        before = hidden.copy()
        for columns in sorted(np.unique(before).tolist(), key=lambda one: (one.bit_count(), one)):
            for c in np.argsort(-records.price, kind="stable").tolist():
                stars = np.flatnonzero((hidden == columns) & (records.absent >> c & 1 == 0))
                if columns >> c & 1 and len(stars):
                    keys[:] = 0
                    others = np.union1d(hidden[hidden >> c & 1 == 0], columns & ~(1 << c))
                    restore_column(records, hidden, count, stars, c, others, heads, following, keys)


@njit(**INNER)
def _salted_key(records: Records, record: int, columns: int, theirs: int) -> int:
    return key_of(records, record, columns | theirs) ^ mixed(np.uint64(theirs))


@njit(**ENTRY)
def restore_column(
    records: Records,
    hidden: Rows,
    count: Rows,
    stars: Rows,
    c: int,
    others: Rows,
    heads: Rows,
    following: Rows,
    keys: Words,
) -> None:
    """Restore one column in records that have the same columns missing, each if every record keeps enough matches.

    ``others`` are the sets of columns that are missing in records in which this one is known.
    """
    columns, need = hidden[stars[0]], records.need[0]
    for record in range(len(hidden)):
        if not (hidden[record] >> c) & 1:
            _link(records, record, columns, hidden[record], heads, following, keys)
    for record in stars:
        weight, lost, spared = records.begin[record + 1] - records.begin[record], 0, True
        for turn in range(2):
            for theirs in others:
                at = place_of(keys, _salted_key(records, record, columns, theirs))
                other = heads[at] if keys[at] != np.uint64(0) else -1
                while other >= 0 and spared:
                    if records.change[other, c] != records.change[record, c]:
                        if turn == 0:
                            lost += records.begin[other + 1] - records.begin[other]
                            spared = count[other] - weight >= need
                        else:
                            count[other] -= weight
                    other = following[other]
            spared = spared and (turn == 1 or count[record] - lost >= need)
            if not spared:
                break
        if spared:
            count[record] -= lost
            hidden[record] = columns & ~(np.int64(1) << c)
            _link(records, record, columns, hidden[record], heads, following, keys)


@njit(**INNER)
def _link(records: Records, record: int, columns: int, own: int, heads: Rows, following: Rows, keys: Words) -> None:
    """Add a record to the list of those with its key."""
    key = _salted_key(records, record, columns, own)
    at = place_of(keys, key)
    following[record] = heads[at] if keys[at] != np.uint64(0) else -1
    keys[at], heads[at] = key, record
