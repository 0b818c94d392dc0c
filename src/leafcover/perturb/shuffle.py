"""Permute the values of a column, or of a block of columns together, among the rows of each cell.

This is the Random Perturbation Technique (RPT) that Islam and Brankovic (2004) use for a class, and the perturbation of
the recipe ``cover``. Every count in every cell is preserved exactly; the assignment of values to rows is a uniform
random permutation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Words
from leafcover.keyed_random import Draws
from leafcover.perturb.base import (
    FIXED_PROBABILITY,
    Changed,
    Chunk,
    Earlier,
    Perturbation,
    Scope,
    Summary,
    methods,
    missing_moved,
    perturbation,
)
from leafcover.table.column_rules import level_codes, level_count
from leafcover.table.table import Column


@perturbation("shuffle")
@dataclass(frozen=True)
class Shuffle(Perturbation):
    """Permute values inside each cell; the columns of a block move together.

    Parameters
    ----------
    missing : {"stays", "moves"}, default "stays"
        With "stays" a missing value stays with its row; the others are permuted among rows with the same missing
        columns of the block. With "moves" missing is treated as a value, so that a missing value in the release
        reveals nothing about its row beyond the cell.

    Examples
    --------
    A permutation preserves the values of a column exactly.

    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> step = lc.Step("wage", within=lc.Leaves(of="occupation"), perturb=lc.Shuffle())
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> sorted(release.table["wage"].values) == sorted(table["wage"].values)
    True
    """

    frozen_id: ClassVar[str] = "shuffle"
    moves_rows: ClassVar[bool] = True
    missing: Literal["stays", "moves"] = "stays"

    @property
    def moves_missing(self) -> bool:
        """Whether ``missing`` is "moves"."""
        return self.missing == "moves"

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("shuffle")

    @property
    def scope(self) -> Scope:
        """The whole cell is needed: a row may take its value from any row of its cell."""
        return "cell"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        counts = "each cell holds the same values as before, block by block"
        return (counts,) if self.missing == "moves" else (counts, "missing stays missing")

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Take the values of each row's block from a row of its cell."""
        source = shuffle(self.observable_class(part), draws.words(part.rows))
        return {c.name: Changed(c.values[source], part.rows[source]) for c in part.columns}

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about cells that no longer contain the same values."""
        label = self.observable_class(before)
        found = [
            f"column {c.name!r}: a cell lost or gained values"
            for c in before.columns
            if not same_values(label, c.values, after[c.name])
        ]
        if self.missing == "stays":
            moved = [c.name for c in before.columns if missing_moved(c, after[c.name])]
            found += [f"column {name!r}: missing values moved" for name in moved]
        return tuple(found)

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """Values shared by nearly every row of the cell."""
        from leafcover.kernels.dealing import has_majority_value, rows_by_cell

        label = self.observable_class(part)
        order, starts = rows_by_cell(label, int(label.max()) + 1)
        return {
            c.name: ~c.missing & has_majority_value(order, starts, _comparable(c.values), FIXED_PROBABILITY)
            for c in part.columns
        }

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The share of the rows in the cell that have the released block."""
        return shares_in_cells(self.observable_class(part), part.columns, released)

    @property
    def is_exchangeable(self) -> bool:
        """All rows of a cell are equally likely to receive a value."""
        return True


def shuffle(label: Rows, words: Array) -> Rows:
    """For each row, the row with the same label that it takes its value from; uses one random word per row.

    >>> shuffle(np.array([0, 1, 0, 0]), np.array([7, 1, 9, 3], np.uint64))
    array([3, 1, 0, 2])
    """
    from leafcover.kernels.dealing import permute_within_cells, rows_by_cell

    if not len(label):
        return np.empty(0, np.int64)
    order, starts = rows_by_cell(label, int(label.max()) + 1)
    source: Rows = permute_within_cells(order, starts, words)
    return source


def shares_in_cells(label: Rows, columns: tuple[Column, ...], released: Mapping[str, Array]) -> Floats:
    """For each row, the share of the rows with its label that have the released values."""
    ours = np.column_stack([label, *(_comparable(c.values) for c in columns)])
    theirs = np.column_stack([label, *(_comparable(released[c.name]) for c in columns)])
    both = np.concatenate([ours, theirs])
    _, place = np.unique(both, axis=0, return_inverse=True)
    place = place.ravel()
    seen = np.bincount(place[: len(label)], minlength=int(place.max()) + 1 if len(place) else 0)
    shared: Floats = seen[place[len(label) :]] / np.bincount(label)[label]
    return shared


def _comparable(values: Array) -> Array:
    """Bits that are equal exactly when the values are (a missing number is one value)."""
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.int64)  # + 0.0 turns -0.0 into 0.0


def same_values(label: Rows, before: Array, after: Array) -> bool:
    """Whether each cell contains the same values, in any order (wrong with probability 2^-64 per cell)."""
    from leafcover.kernels.dealing import hash_by_cell

    count = int(label.max()) + 1 if len(label) else 0
    old = hash_by_cell(label, _comparable(before), count)
    return bool((old == hash_by_cell(label, _comparable(after), count)).all())


# Rules: the last exchange, when every column is dealt. A row that breaks a rule takes another value of a column, whose
# holder takes another one, and so on in a ring of rows; or it exchanges several columns that rules bind together with
# one row. Which rows is a matter of chance; no original row is looked at.


Forbidden: TypeAlias = Mapping[tuple[str, str], Bools]  # by two columns in both orders: (levels, levels)
Ring: TypeAlias = tuple[list[int], tuple[str, ...]]  # rows, each of which takes the values of the next; the columns
ROUNDS = 3
TRIED = 8192  # holders of a level that may take part
PARTNERS = 512  # rows with which several columns may be exchanged


def exchange_forbidden(
    after: Mapping[str, Changed],
    released: Mapping[str, Earlier],
    dealt: Sequence[str],
    forbidden: Forbidden,
    draws: Draws,
    room: Mapping[str, Bools] | None = None,
) -> dict[str, Changed]:
    """The changed columns, after rows with a forbidden pair of levels exchanged values of ``dealt`` columns.

    ``room`` says of some columns which rows may have a value: the others keep none.
    """
    names = dict.fromkeys(name for both in forbidden for name in both)
    if not names:
        return dict(after)
    levels = {name: level_codes(released[name].released, released[name].original) for name in names}
    for name, has_room in (room or {}).items():
        if name in levels:
            known = np.arange(level_count(released[name].original)) < level_count(released[name].original) - 1
            levels[there := f"room of {name}"] = has_room.astype(np.int32)
            pairs = np.stack([known, np.zeros_like(known)])
            forbidden = {**forbidden, (there, name): pairs, (name, there): pairs.T}
    words = draws.words(np.arange(len(levels[next(iter(names))])))
    moved = exchanged_rows(levels, forbidden, dealt, words)
    return {name: one.taken(moved[name]) if name in moved else one for name, one in after.items()}


def exchanged_rows(
    levels: Mapping[str, Codes], forbidden: Forbidden, free: Sequence[str], words: Words
) -> dict[str, Rows]:
    """For each column that changes, the row from which each row takes its value, so that fewer rows break a rule.

    Only ``free`` columns change, and no row breaks a rule that it kept. The word of a row says where the search for
    others begins.
    """
    now = {name: codes.copy() for name, codes in levels.items()}
    source: dict[str, Rows] = {}
    rows = np.arange(len(words))  # that may have a forbidden pair
    for _ in range(ROUNDS):
        broken: set[int] = set()
        for (one, other), table in forbidden.items():
            for row in rows[table[now[one][rows], now[other][rows]]].tolist() if other in free else ():
                if not table[now[one][row], now[other][row]]:
                    continue  # another row has exchanged it
                broken.add(row)
                beside = {name: pairs for (own, name), pairs in forbidden.items() if own == other}
                ring = _ring(row, other, now, beside, int(words[row]))
                ring = ring or _bound_ring(row, one, other, now, forbidden, free, int(words[row]))
                members, columns = ring or ([], ())
                for name in columns:
                    for values in (now[name], source.setdefault(name, np.arange(len(words)))):
                        values[members] = values[np.roll(members, -1)]
        rows = np.array(sorted(broken), np.int64)
    return source


def _ring(row: int, name: str, levels: Mapping[str, Codes], beside: Mapping[str, Bools], word: int) -> Ring | None:
    """The smallest ring found in which rows take values of one column, so that none has a forbidden pair by it.

    A search in breadth over levels (an augmenting path): from those that the row may take to its own.
    """
    own = levels[name]
    holder: dict[int, tuple[int, int]] = {}  # by level: a row that may take it, and the level that the row holds
    waiting = np.flatnonzero(_may_take(np.array([row]), levels, beside)[0]).tolist()
    seen = set(waiting)
    while waiting:
        level = waiting.pop(0)
        held = _some(np.flatnonzero(own == level), word)
        may = _may_take(held, levels, beside)
        for new in np.flatnonzero(may.any(axis=0)).tolist():
            if new not in seen:
                seen.add(new)
                holder[new] = int(held[may[:, new].argmax()]), level
                waiting.append(new)
        if int(own[row]) in holder:
            ring, at = [], int(own[row])
            while at in holder:
                taker, at = holder[at]
                ring.append(taker)
            return [row, *reversed(ring)], (name,)
    return None


def _may_take(rows: Rows, levels: Mapping[str, Codes], beside: Mapping[str, Bools]) -> Bools:
    """(rows, levels) the levels of a column that rules allow rows to have."""
    return ~np.logical_or.reduce([table[:, levels[name][rows]].T for name, table in beside.items()])


def _some(rows: Rows, word: int) -> Rows:
    """Some rows, from a place that a word says."""
    return np.roll(rows, -(word % max(len(rows), 1)))[:TRIED]


def _bound_ring(
    row: int, one: str, other: str, levels: Mapping[str, Codes], forbidden: Forbidden, free: Sequence[str], word: int
) -> Ring | None:
    """A row with which to exchange the second of two columns and all that rules bind to it, but not the first one."""
    able = np.flatnonzero(~forbidden[one, other][levels[one][row], levels[other]])
    found = [([row, at], _bound(row, at, other, levels, forbidden)) for at in _some(able, word)[:PARTNERS].tolist()]
    found = [ring for ring in found if one not in ring[1] and set(ring[1]) <= set(free)]
    return min(found, key=lambda ring: len(ring[1]), default=None)


def _bound(row: int, partner: int, first: str, levels: Mapping[str, Codes], forbidden: Forbidden) -> tuple[str, ...]:
    """The columns that two rows must exchange together with a first one, so that no forbidden pair is new."""
    waiting, found = [first], {first: None}
    while waiting:
        own = waiting.pop()
        for (one, name), table in forbidden.items():
            if one == own and name not in found:
                here, there = levels[own][row], levels[own][partner]
                if table[there, levels[name][row]] or table[here, levels[name][partner]]:
                    found[name] = None
                    waiting.append(name)
    return tuple(found)
