"""Dealing, slow and exact: the probability of every released table of a few rows.

Rows are exchangeable: a table is the number of its rows of each type, and so is a release. ``released`` gives the law
of the release, column by column, from the counts in the leaves alone. The twin of `leafcover.perturb.deal`.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement

TRIES = 64  # of an exchange, as in the kernel


@dataclass(frozen=True)
class Chained:
    """How one column is dealt: the leaf of every type of row so far, the leaves' values, and the pairs to avoid."""

    parent: tuple[int, ...]  # of each node; -1 at the root
    leaf: tuple[tuple[tuple, int], ...]  # type so far -> leaf
    holds: tuple[tuple[tuple[int, int], int], ...]  # (leaf, value) -> original rows
    new: frozenset  # (earlier column, its value, value): pairs that no row has and that are avoided


def tables(rows, columns):
    """Every table of so many rows and binary columns, up to the order of its rows."""
    types = [tuple(number >> c & 1 for c in range(columns)) for number in range(2**columns)]
    yield from combinations_with_replacement(types, rows)


def released(first, chain):
    """The law of the release: {sorted rows: probability}. ``first`` is the first column, permuted over all rows."""
    law = {tuple(sorted((value,) for value in first)): 1.0}
    for column in chain:
        found = defaultdict(float)
        for rows, chance in law.items():
            for after, share in _column(rows, column).items():
                found[after] += chance * share
        law = dict(found)
    return law


@cache
def _column(rows, column):
    """The law of the rows with one more column."""
    found = defaultdict(float)
    for dealt, chance in _dealt(rows, column).items():
        for after, share in _exchanged(dealt, column).items():
            found[tuple(sorted((*before, value) for before, value in after))] += chance * share
    return dict(found)


def _dealt(rows, column):
    """The law of who has which value, from the leaves up; what one side has too many of goes to the parent."""
    leaf = dict(column.leaf)
    give, take = defaultdict(list), defaultdict(list)
    for (node, value), count in column.holds:
        give[node] += [value] * count
    for row in rows:
        take[leaf[row]].append(row)
    states = {(_fixed(give), _fixed(take), ()): 1.0}
    for node in reversed(range(len(column.parent))):
        found = defaultdict(float)
        for (givers, takers, done), chance in states.items():
            here, mine = dict(givers).get(node, ()), dict(takers).get(node, ())
            for met, share in _met(here, mine).items():
                pairs, left_givers, left_takers = met
                up = column.parent[node]
                key = (_moved(givers, node, up, left_givers), _moved(takers, node, up, left_takers))
                found[*key, tuple(sorted(done + pairs))] += chance * share
        states = found
    law = defaultdict(float)
    for (_, _, done), chance in states.items():
        law[done] += chance
    return law


def _fixed(sides):
    return tuple(sorted((node, tuple(sorted(found))) for node, found in sides.items() if found))


def _moved(sides, node, up, left):
    found = {at: list(those) for at, those in sides if at != node}
    if left:
        found[up] = [*found.get(up, []), *left]
    return _fixed(found)


@cache
def _met(givers, takers):
    """Givers and takers of one node, matched at random: {(pairs, givers left, takers left): probability}."""
    if not givers or not takers:
        return {((), givers, takers): 1.0}
    found = defaultdict(float)
    if len(takers) <= len(givers):  # the first taker receives a random giver's value
        for at, value in enumerate(givers):
            for (pairs, left, none), share in _met(givers[:at] + givers[at + 1 :], takers[1:]).items():
                found[tuple(sorted((*pairs, (takers[0], value)))), left, none] += share / len(givers)
    else:  # the first giver's value goes to a random taker
        for at, row in enumerate(takers):
            for (pairs, none, left), share in _met(givers[1:], takers[:at] + takers[at + 1 :]).items():
                found[tuple(sorted((*pairs, (row, givers[0])))), none, left] += share / len(takers)
    return dict(found)


def _exchanged(dealt, column):
    """The law after exchanges: rows with a new pair, in random order, exchange values with another below their node."""
    pending = tuple(pair for pair in dealt if _is_new(pair[0], pair[1], column))
    return _exchange(dealt, pending, column) if pending else {dealt: 1.0}


def _is_new(before, value, column):
    return any((c, level, value) in column.new for c, level in enumerate(before))


@cache
def _exchange(pairs, pending, column):
    if not pending:
        return {pairs: 1.0}
    leaf, found = dict(column.leaf), defaultdict(float)
    for at, mine in enumerate(pending):
        rest = pending[:at] + pending[at + 1 :]
        node, missed = leaf[mine[0]], 1.0 / len(pending)
        while node >= 0:
            below = [pair for pair in pairs if _is_below(leaf[pair[0]], node, column.parent)]
            fits = [
                other
                for other in below
                if other[1] != mine[1]
                and not _is_new(mine[0], other[1], column)
                and not _is_new(other[0], mine[1], column)
            ]
            hit = 1 - (1 - len(fits) / len(below)) ** min(TRIES, len(below))
            for other in set(fits):
                after = list(pairs)
                after.remove(mine)
                after.remove(other)
                after += [(mine[0], other[1]), (other[0], mine[1])]
                # The other one may have a new pair as well: is its turn still to come?
                waiting = rest.count(other) / pairs.count(other)
                for left, part in ((_without(rest, other), waiting), (rest, 1 - waiting)):
                    for end, share in _exchange(tuple(sorted(after)), left, column).items() if part else ():
                        found[end] += missed * hit * fits.count(other) / len(fits) * part * share
            missed *= 1 - hit
            node = column.parent[node]
        for end, share in _exchange(pairs, rest, column).items() if missed else ():
            found[end] += missed * share
    return dict(found)


def _without(pairs, one):
    at = pairs.index(one) if one in pairs else len(pairs)
    return pairs[:at] + pairs[at + 1 :]


def _is_below(leaf, node, parent):
    while leaf >= 0 and leaf != node:
        leaf = parent[leaf]
    return leaf == node
