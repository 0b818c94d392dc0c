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
from leafcover.perturb.base import Changed, Chunk, Perturbation, Scope, Summary, methods, perturbation
from leafcover.perturb.shuffle import same_values, shares_in_cells
from leafcover.table.table import Column, Table
from leafcover.tree.binary import Stage

MOST_PAIRS = 4_000_000  # pairs of levels of two columns up to which they are compared
MOST_SHARE = 1_000_000
FAR = 2.0  # standard errors
OFTEN = 5.0  # rows that should share a pair by chance, for its count to be compared


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
    relate : float, default 0.5
        Where the counts of pairs with a column released before are further from the original's than those of a new
        sample, rows of a leaf exchange values until the squared error is this many times that of a new sample. Pairs
        that fewer than five rows should share by chance are not compared. inf exchanges none.

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
    relate: float = 0.5

    def __post_init__(self) -> None:
        if not 1 <= self.share <= MOST_SHARE:
            raise ValueOutOfRange("Deal.share", self.share, f"a whole number of rows from 1 to {MOST_SHARE:,}")
        if not self.avoid >= 0:
            raise ValueOutOfRange("Deal.avoid", self.avoid, "a number of at least 0; inf avoids no pair")
        if not self.relate >= 0:
            raise ValueOutOfRange("Deal.relate", self.relate, "a number of at least 0; inf exchanges no values")

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
        source, coding = np.arange(len(rows)), None
        for number, stage in enumerate(part.stages):
            trees = stage.trees
            taking = trees.place(trees.codes(released), code)
            words = draws.words(rows, number)
            source, _ = deal(stage.leaf, taking, trees.parent, words)
            if stage.coding is not coding:  # otherwise the last stage of a number, which keeps its group
                self._relate(part, stage, taking, source, words)
                self._avoid(part, stage, taking, source, words)
            code, coding = stage.code[source], stage.coding
        return source

    def _avoid(self, part: Chunk, stage: Stage, taking: Rows, source: Rows, words: Words) -> None:
        """Exchange values between released rows that have a pair of levels which no original row has."""
        from leafcover.kernels.dealing import swap_new_pairs

        if self.avoid == np.inf:
            return
        size = stage.coding.count
        levels, tables = [], []
        for one in part.before:
            before, after, count = one.levels
            if count * size > MOST_PAIRS:
                continue
            had, often = _counts(before, stage.code, count, size)
            if (new := (had == 0) & (often >= self.avoid)).any():
                levels.append(after)
                tables.append(new)
        if levels:
            trees = stage.trees
            swap_new_pairs(taking, trees.parent, trees.first, source, stage.code, levels, tables, size, words)

    def _relate(self, part: Chunk, stage: Stage, taking: Rows, source: Rows, words: Words) -> None:
        """Exchange values inside leaves where pairs of columns are further from the original than a new sample's.

        Counts are compared for groups of values that at least `OFTEN` rows should share by chance, so that no rare pair
        is kept on purpose.
        """
        from leafcover.kernels.dealing import relate_pairs

        if self.relate == np.inf:
            return
        size = stage.coding.count
        groups, excess, weight, limits = [], [], [], []
        for before, after, count in (one.groups for one in part.before):
            if count * size > MOST_PAIRS:
                continue
            had, often = _counts(before, stage.code, count, size)
            more = _counts(after, stage.code[source], count, size)[0] - had
            counted = often >= OFTEN
            inverse = np.divide(1.0, often, out=np.zeros(len(often)), where=counted)
            if _is_further(more, had - often, inverse, int(counted.sum())):
                groups.append(after)
                excess.append(more)
                weight.append(inverse)
                limits.append(self.relate * counted.sum())
        if groups:
            relate_pairs(taking, len(stage.trees), source, stage.code, groups, excess, weight, limits, size, words)

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


def _counts(code: Codes, value: Rows, count: int, size: int) -> tuple[Floats, Floats]:
    """How often each code and value occur together, and how often they would by chance."""
    from leafcover.kernels.dealing import count_pairs

    found = count_pairs(code, value, count, size)
    often = found.sum(axis=1)[:, None] * (found.sum(axis=0) / max(len(value), 1))[None]
    return found.ravel(), often.ravel()


def _is_further(more: Floats, association: Floats, inverse: Floats, cells: int) -> bool:
    """Whether counts are further from the original's than those of a new sample, in all or along the association.

    The error of a new sample is about chi-squared with as many degrees of freedom as cells, and normal along the
    original's own departure from independence: an association that was lost is found there.
    """
    along = (more * association * inverse).sum() ** 2
    return bool(
        (more**2 * inverse).sum() > cells + FAR * np.sqrt(2 * cells)
        or along > FAR**2 * (association**2 * inverse).sum()
    )


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
