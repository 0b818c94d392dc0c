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

MOST_PAIRS = 4_000_000  # pairs of levels of two columns up to which they are compared
MOST_SHARE = 1_000_000
SURPRISE = 1 / 32  # the least probability that no row has a pair of levels, when it is described in bits
FAR = 2.0  # standard errors
NEGLIGIBLE = 0.0001  # the square of an effect (Cohen's w) that is left


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
    relate : float, default 0.1
        Where the counts of pairs with a column released before are further from the original's than those of a new
        sample, rows of a leaf exchange values until the squared error is this many times that of a new sample. inf
        exchanges none.
    often : float, default 5
        Only pairs that at least so many rows should share by chance are compared, so that no rare pair is kept on
        purpose. At least 1.

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
    relate: float = 0.1
    often: float = 5.0

    def __post_init__(self) -> None:
        if not 1 <= self.share <= MOST_SHARE:
            raise ValueOutOfRange("Deal.share", self.share, f"a whole number of rows from 1 to {MOST_SHARE:,}")
        if not self.avoid >= 0:
            raise ValueOutOfRange("Deal.avoid", self.avoid, "a number of at least 0; inf avoids no pair")
        if not self.relate >= 0:
            raise ValueOutOfRange("Deal.relate", self.relate, "a number of at least 0; inf exchanges no values")
        if not self.often >= 1:
            raise ValueOutOfRange("Deal.often", self.often, "a number of rows of at least 1")

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
        released = Table(tuple(one.released for one in part.before))
        code = np.zeros(len(rows), np.int64)
        source = np.arange(len(rows))
        for number, stage in enumerate(part.stages):
            trees = stage.trees
            taking = trees.place(trees.codes(released), code)
            words = draws.words(rows, number)
            source, _ = deal(stage.leaf, taking, trees.parent, words)
            if number == 0:
                self._relate(part, stage, taking, source, words)
            if _decides(part, number):
                self._avoid(part, stage, taking, source, words)
            code = stage.code[source]
        return source

    def _avoid(self, part: Chunk, stage: Stage, taking: Rows, source: Rows, words: Words) -> None:
        """Exchange values between released rows that have a pair of levels which no original row has."""
        from leafcover.kernels.dealing import swap_new_pairs

        levels, tables = [], []
        for one in part.before if self.avoid < np.inf else ():
            before, after, count = one.levels
            pairs = _pairs(before, count, stage)
            if pairs is not None and (new := pairs.avoided(self.avoid) & (pairs.rows == 0)).any():
                levels.append(after)
                tables.append(new.ravel())
        if levels:
            trees, size = stage.trees, stage.coding.count
            swap_new_pairs(taking, trees.parent, trees.first, source, stage.code, levels, tables, size, words)

    def _relate(self, part: Chunk, stage: Stage, taking: Rows, source: Rows, words: Words) -> None:
        """Exchange values inside leaves where pairs of columns are further from the original than a new sample's."""
        from leafcover.kernels.dealing import count_pairs, relate_pairs

        size = stage.coding.count
        groups, excess, weight, limits = [], [], [], []
        for before, after, count in (one.groups for one in part.before) if self.relate < np.inf else ():
            pairs = _pairs(before, count, stage)
            if pairs is None:
                continue
            more = count_pairs(after, stage.code[source], count, size) - pairs.rows
            inverse = pairs.weight(self.often)
            if pairs.is_further(more, inverse):
                groups.append(after)
                excess.append(more.ravel())
                weight.append(inverse.ravel())
                limits.append(self.relate * np.count_nonzero(inverse))
        if groups:
            relate_pairs(taking, len(stage.trees), source, stage.code, groups, excess, weight, limits, size, words)

    def described(self, part: Chunk, floor: int) -> Described | None:
        """The trees of each stage, the counts in their leaves, and the pairs that are avoided or compared."""
        given = Table(tuple(one.original for one in part.before))
        trees = counts = bits = 0.0
        own = np.zeros(len(part))
        for number, stage in enumerate(part.stages):
            of_trees, of_counts = stage.described(given, floor)
            trees, counts, own = trees + of_trees, counts + of_counts, own + stage.own_share
            for one in part.before if _decides(part, number) else ():
                levels, groups = (_pairs(before, count, stage) for before, _, count in (one.levels, one.groups))
                if self.avoid < np.inf and levels is not None:
                    bits += levels.bits_of_empty(levels.avoided(self.avoid))
                if self.relate < np.inf and number == 0 and groups is not None:
                    bits += groups.bits_of_counts(groups.chance >= self.often)
        return Described(trees, counts, bits, own)

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


def _decides(part: Chunk, number: int) -> bool:
    """Whether a stage decides on levels, or on the groups of a number; later stages of a number choose inside them."""
    return number == 0 or part.columns[0].is_category


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of a level or group of one column and a code of another."""

    rows: Floats  # (levels, codes) original rows that have both
    chance: Floats  # (levels, codes) the same if the columns were unrelated: a matter of each column's own values

    def weight(self, often: float) -> Floats:
        """What the square of an error counts; 0 for pairs that fewer rows should share by chance."""
        return np.divide(1.0, self.chance, out=np.zeros(self.chance.shape), where=self.chance >= often)

    def is_further(self, more: Floats, weight: Floats) -> bool:
        """Whether counts are further from the original's than a new sample's, in all or along the association.

        The error of a new sample is about chi-squared with as many degrees of freedom as cells, and normal along the
        original's own departure from independence: an association that was lost is found there. In a large table an
        error of negligible size is left, however significant.
        """
        cells, association = np.count_nonzero(weight), self.rows - self.chance
        along = (more * association * weight).sum() ** 2
        small = NEGLIGIBLE * self.rows.sum()
        return bool(
            (more**2 * weight).sum() > max(cells + FAR * np.sqrt(2 * cells), small)
            or along > max(FAR**2, small) * (association**2 * weight).sum()
        )

    def avoided(self, often: float) -> Bools:
        """The pairs that are frequent enough by chance to be avoided where no row has both."""
        found: Bools = self.chance >= often
        return found

    def bits_of_empty(self, counted: Bools) -> float:
        """The bits that say which of the counted pairs no row has.

        The code expects an empty pair with the probability exp(-chance), mixed with a small constant.
        """
        empty = SURPRISE + (1 - SURPRISE) * np.exp(-self.chance[counted])
        return float(-np.log2(np.where(self.rows[counted] == 0, empty, 1 - empty)).sum())

    def bits_of_counts(self, counted: Bools) -> float:
        """The bits that describe the counts that are compared.

        The code of a count has the probabilities of a Cauchy distribution around what chance gives, with the standard
        deviation of a sample as its scale, between half a row below and half a row above.
        """
        middle, scale = np.rint(self.chance[counted]), np.sqrt(self.chance[counted])
        low, high = ((self.rows[counted] - middle + half) / scale for half in (-0.5, 0.5))
        # The difference of two arc tangents, accurate far from the middle.
        return float(-np.log2(np.arctan2(high - low, 1 + high * low) / np.pi).sum())


def _pairs(before: Codes, count: int, stage: Stage) -> _Pairs | None:
    """How often each level or group of a column released before meets each code of a stage; None if they are many."""
    from leafcover.kernels.dealing import count_pairs

    if count * stage.coding.count > MOST_PAIRS:
        return None
    rows = count_pairs(before, stage.code, count, stage.coding.count)
    return _Pairs(rows, rows.sum(axis=1)[:, None] * (rows.sum(axis=0) / max(len(before), 1))[None])


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
