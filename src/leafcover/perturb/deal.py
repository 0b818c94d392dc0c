"""Deal the values of a column to the released rows, leaf by leaf of trees grown for it.

The original rows of a leaf give their values to the released rows that reach the same leaf by what was released before.
Inside a leaf the assignment is uniform; what one side has too many of is dealt at the parent, and so on up. Each column
is a permutation of itself, and no released row descends from one person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Words
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.base import Changed, Chunk, Described, Perturbation, Scope, Summary, methods, perturbation
from leafcover.perturb.shuffle import same_values, shares_in_cells
from leafcover.table.table import Column, Table
from leafcover.tree.binary import Stage

FEW_VALUES = 20  # distinct values up to which a number is compared with categories
MOST_PAIRS = 4_000_000  # pairs of levels of two columns up to which they are compared
MOST_SHARE = 1_000_000
SURPRISE = 1 / 32  # the least probability that no row has a pair of levels, when it is described in bits


@perturbation("deal")
@dataclass(frozen=True)
class Deal(Perturbation):
    """Deal values to released rows within the cells that their released values lead to.

    Needs a partition that can place released rows: ``Conditional``, or ``Whole`` for a permutation over all rows.

    Parameters
    ----------
    share : int, default 5
        The minimum number of rows that hold a number (a date, a time) in the release. Rarer numbers are first replaced
        by their mean with neighbours, or by a neighbour that enough rows hold. 1 leaves them as they are.
    avoid : float, default 0.25
        A pair of levels that no original row has is avoided, if the levels would meet at least this often by chance.
        Rarer pairs are not: avoiding them would show which pairs exist.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> first = lc.Step("gender", within=lc.Whole(), perturb=lc.Deal())
    >>> then = lc.Step("occupation", within=lc.Conditional(of="occupation", given=["gender"]), perturb=lc.Deal())
    >>> release = lc.release(table, lc.Plan(first, then), seed=7)
    >>> sorted(release.table["occupation"].values) == sorted(table["occupation"].values)
    True
    """

    frozen_id: ClassVar[str] = "deal"
    descends: ClassVar[bool] = False
    moves_rows: ClassVar[bool] = True
    share: int = 5
    avoid: float = 0.25

    def __post_init__(self) -> None:
        if not 1 <= self.share <= MOST_SHARE:
            raise ValueOutOfRange("Deal.share", self.share, f"a whole number of rows from 1 to {MOST_SHARE:,}")
        if not self.avoid >= 0:
            raise ValueOutOfRange("Deal.avoid", self.avoid, "a number of at least 0; inf avoids no pair")

    @property
    def scope(self) -> Scope:
        """The whole table: what is left over in a leaf is dealt further up."""
        return "table"

    @property
    def moves_missing(self) -> bool:
        """Missing is dealt like a value."""
        return True

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        if self.share == 1:
            return ("each column holds the same values as before",)
        return (f"each column holds the same values as before, numbers shared by at least {self.share} rows",)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("deal", share=self.share if detailed else 0)

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Deal stage by stage."""
        source = self._dealt(part, draws)
        found = {}
        for column in part.columns:
            values = self.shared(column)
            replaced = None if values is column.values else values
            found[column.name] = Changed(values[source], part.rows[source], replaced)
        return found

    def _dealt(self, part: Chunk, draws: Draws) -> Rows:
        """For each released row, the original row whose value it receives."""
        from leafcover.kernels.dealing import deal

        rows = part.rows
        if not part.stages:
            return np.argsort(draws.words(rows), kind="stable")
        released = Table(tuple(after for _, after in part.before))
        code = np.zeros(len(rows), np.int64)
        source = np.arange(len(rows))
        for number, stage in enumerate(part.stages):
            trees = stage.trees
            taking = trees.place(trees.codes(released), code)
            words = draws.words(rows, number)
            source, _ = deal(stage.leaf, taking, trees.parent, words)
            self._avoid(part, stage, taking, source, words)
            code = stage.code[source]
        return source

    def _avoid(self, part: Chunk, stage: Stage, taking: Rows, source: Rows, words: Words) -> None:
        """Exchange values between released rows that have a pair of levels which no original row has."""
        from leafcover.kernels.dealing import swap_new_pairs

        if self.avoid == np.inf or _levels(part.columns[0]) is None:
            return
        value, size = stage.code, stage.coding.count
        before, offsets, tables, used = [], [], [], 0
        for column, after in part.before:
            theirs, pairs = _levels(column, after), self._pairs(column, stage)
            if theirs is None or pairs is None:
                continue
            tables.append((pairs.counted & (pairs.rows == 0)).ravel())
            before.append(theirs[0])
            offsets.append(used)
            used += theirs[1] * size
        if before and any(table.any() for table in tables):
            given, new = np.array(before, np.int32), np.concatenate(tables)
            starts, trees = np.array(offsets, np.int64), stage.trees
            swap_new_pairs(taking, trees.parent, trees.first, source, value, given, starts, new, size, words)

    def _pairs(self, column: Column, stage: Stage) -> "_Pairs | None":
        """How often each level of a column released before and each code of a stage meet; None if they are too many."""
        own, size = _levels(column), stage.coding.count
        if own is None or own[1] * size > MOST_PAIRS:
            return None
        rows = np.bincount(own[0] * np.int64(size) + stage.code, minlength=own[1] * size).reshape(own[1], size)
        chance = rows.sum(axis=1)[:, None] * (rows.sum(axis=0) / max(len(stage.code), 1))[None]
        return _Pairs(rows, chance, chance >= self.avoid)

    def described(self, part: Chunk, floor: int) -> Described | None:
        """The trees of each stage, the counts in their leaves, and the pairs of levels that are avoided."""
        given = Table(tuple(column for column, _ in part.before))
        trees = counts = pairs = 0.0
        own = np.zeros(len(part))
        for stage in part.stages:
            of_trees, of_counts = stage.described(given, floor)
            trees, counts, own = trees + of_trees, counts + of_counts, own + stage.own_share
            if self.avoid < np.inf and _levels(part.columns[0]) is not None:
                pairs += sum(found.bits for c in given if (found := self._pairs(c, stage)) is not None)
        return Described(trees, counts, pairs, own)

    def shared(self, column: Column) -> Array:
        """The values of a column, numbers shared by enough rows."""
        if column.is_category or self.share == 1:
            return column.values
        return shared_values(column, self.share)

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about columns that are no permutation of themselves."""
        whole = np.zeros(len(before), np.int64)
        return tuple(
            f"column {c.name!r}: values were lost or gained"
            for c in before.columns
            if not same_values(whole, self.shared(c), after[c.name])
        )

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """None: no released row descends from one person."""
        return {c.name: np.zeros(len(part), np.bool_) for c in part.columns}

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The share of the rows in the cell that have the released values, numbers shared as they are released."""
        columns = tuple(replace(c, values=self.shared(c), stored=None) for c in part.columns)
        return shares_in_cells(part.cells.label, columns, released)

    def observable_class(self, part: Chunk) -> Rows:
        """The same for all rows: a dealt value says nothing of the row that receives it beyond what it had before."""
        return np.zeros(len(part), np.int64)

    @property
    def is_exchangeable(self) -> bool:
        """All rows of a cell are equally likely to receive a value."""
        return True


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of a level of one column and a code of another."""

    rows: Rows  # (levels, codes) rows that have both
    chance: Floats  # (levels, codes) the same if the columns were unrelated: a matter of each column's own values
    counted: Bools  # (levels, codes) frequent enough by chance to be avoided where no row has both

    @property
    def bits(self) -> float:
        """The bits that say which of the counted pairs no row has.

        The code expects an empty pair with the probability exp(-chance), mixed with a small constant.
        """
        empty = SURPRISE + (1 - SURPRISE) * np.exp(-self.chance[self.counted])
        return float(-np.log2(np.where(self.rows[self.counted] == 0, empty, 1 - empty)).sum())


def _levels(column: Column, after: Column | None = None) -> tuple[Codes, int] | None:
    """A category, or a number with few distinct values, as codes from 0 with one for missing; None for other numbers.

    With ``after``, the codes of another column with the same levels.
    """
    shown = column if after is None else after
    if column.is_category:
        size = len(column.levels)
        return np.where(shown.values < 0, size, shown.values).astype(np.int32), size + 1
    distinct = np.unique(column.values[~column.missing])
    if len(distinct) > FEW_VALUES:
        return None
    codes = np.searchsorted(distinct, shown.values)  # nan sorts last
    return codes.astype(np.int32), len(distinct) + 1


def shared_values(column: Column, share: int) -> Array:
    """Numbers such that each is held by at least ``share`` rows; fewer rows in all hold one value.

    Rare neighbours in rank take their mean, on the grid of the column; next to a value that enough rows hold, they take
    that value. The result is the column's own array if nothing changes.
    """
    from leafcover.kernels.dealing import share_groups

    known = np.flatnonzero(~column.missing)
    order = known[np.argsort(column.values[known])]
    ordered = column.values[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])  # of each distinct value
    held = np.diff(np.append(first, len(ordered)))
    if not len(first) or held.min() >= share:
        return column.values
    distinct, group = ordered[first], share_groups(held, share)
    begin = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    new = np.add.reduceat(distinct * held, begin) / np.add.reduceat(held, begin)
    if column.grid is not None:
        new = column.grid.value(column.grid.index(new))
    most = np.maximum.reduceat(held, begin)
    common = np.flatnonzero((held >= share) & (held == most[group]))[::-1]  # of equals the lowest
    new[group[common]] = distinct[common]
    values = column.values.copy()
    values[order] = np.repeat(new[group], held)
    return values
