"""Deal the values of a column to the released rows, leaf by leaf of trees grown for it.

The original rows of a leaf give their values to the released rows that reach the same leaf by what was released before.
Inside a leaf the assignment is uniform; what one side has too many of is dealt at the parent, and so on up. Each column
is a permutation of itself, and no released row descends from one person.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Words
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.base import (
    Changed,
    Chunk,
    Described,
    Perturbation,
    Scope,
    Summary,
    methods,
    perturbation,
    standard_scores,
)
from leafcover.perturb.shuffle import same_values, shares_in_cells
from leafcover.table.column_rules import level_codes, level_count
from leafcover.table.recoding import checked_share, shared_values
from leafcover.table.table import Column, Table
from leafcover.tree.binary import COMMON, Stage

MOST_PAIRS = 4_000_000  # pairs of levels of two columns up to which they are compared
SURPRISE = 1 / 32  # the least probability that no row has a pair of levels, when it is described in bits
FAR = 2.0  # standard errors
NO_GROUPS, NO_SCORES = np.empty(0, np.int32), np.empty(0)
STEP = 0.25  # sums of scores are rounded to this many standard deviations of a new sample
MOST_CORRELATED = 0.9999
LEAST_UNEXPLAINED = 0.1  # the share of a number's variance, to which the error of a correlation is compared at least
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
        by their rounded mean with neighbours, or by a neighbour that enough rows hold. 1 leaves them as they are.
    avoid : float, default 0.25
        A pair of levels that no original row has is avoided, if the levels would meet at least this often by chance and
        each has at least 10 rows. Rarer pairs are not: avoiding them would show which pairs exist.
    relate : float, default 0.1
        Where the counts of pairs with a column released before are further from the original's than those of a new
        sample, or the association is, rows of a leaf exchange values until the squared error is at most this many times
        that of a new sample, and this many times what it was. inf exchanges none.
    often : float, default 5
        Only pairs that at least so many rows should share by chance are compared, of levels or groups of at least 10
        rows, so that no rare pair is kept on purpose. At least 1.
    correlated : float, default 0
        Two numbers are compared by their correlation if it is at least so large. From 0 to 1.

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
    correlated: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", checked_share("Deal.share", self.share))
        if not self.avoid >= 0:
            raise ValueOutOfRange("Deal.avoid", self.avoid, "a number of at least 0; inf avoids no pair")
        if not self.relate >= 0:
            raise ValueOutOfRange("Deal.relate", self.relate, "a number of at least 0; inf exchanges no values")
        if not self.often >= 1:
            raise ValueOutOfRange("Deal.often", self.often, "a number of rows of at least 1")
        if not 0 <= self.correlated <= 1:
            raise ValueOutOfRange("Deal.correlated", self.correlated, "a correlation from 0 to 1")

    @property
    def scope(self) -> Scope:
        """The whole table: what is left over in a leaf is dealt further up."""
        return "table"

    @property
    def moves_missing(self) -> bool:
        """Missing is dealt like a value."""
        return True

    @property
    def shared_by(self) -> int:
        """The minimum number of rows that hold a number."""
        return self.share

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        if self.share == 1:
            return ("each column holds the same values as before",)
        few = "or by all rows that have one if there are fewer"
        return (f"each column holds the same values as before, numbers shared by at least {self.share} rows, {few}",)

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("deal", share=self.share if detailed else 0)

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Deal stage by stage."""
        source, found = self._dealt(part, draws), {}
        rows = part.rows.astype(np.int32)[source]  # kept for every column until all are dealt
        for column in part.columns:
            values = self._shared(part, column)
            replaced = None if values is column.values else values
            found[column.name] = Changed(values[source], rows, replaced)
        return found

    def _dealt(self, part: Chunk, draws: Draws) -> Rows:
        """For each released row, the original row whose value it receives."""
        from leafcover.kernels.dealing import deal

        rows = part.rows
        if not part.stages:
            return np.argsort(draws.words(rows), kind="stable")
        released = {one.released.name: one for one in part.before}
        code = np.zeros(len(rows), np.int32)
        source = np.arange(len(rows))
        was_whole = False
        for number, stage in enumerate(part.stages):
            trees, words = stage.trees, lru_cache(lambda at=number: draws.words(rows, at))
            bins = [released[a.name].bins(a, edges) for a, edges in zip(trees.attributes, trees.edges, strict=True)]
            taking, is_whole = trees.place(np.stack(bins).T if bins else code, code), not bins
            if not (is_whole and was_whole):  # dealt over the whole cell before: inside it all is random already
                source, _ = deal(stage.leaf, taking, trees.parent, words())
            code, was_whole = stage.code[source], is_whole
            if self._relate(part, number, taking, source, code, words):
                code = stage.code[source]
            if _decides(part, number) and self._avoid(part, number, taking, source, words):
                code = stage.code[source]
        return source

    def _avoid(self, part: Chunk, number: int, taking: Codes, source: Rows, words: Callable[[], Words]) -> bool:
        """Exchange values between released rows that have a pair of levels which no original row has.

        Pairs that a rule forbids are exchanged with any row that can take them. Returns whether any may have been.
        """
        from leafcover.kernels.dealing import swap_new_pairs

        stage = part.stages[number]
        levels, tables = [], []
        for at, one in enumerate(part.before if self.avoid < np.inf and not stage.is_final else ()):
            _, after, _ = one.levels
            pairs = _pairs(part, number, at, by_levels=True)
            if pairs is not None and (new := pairs.compared(self.avoid) & (pairs.rows == 0)).any():
                levels.append(after)
                tables.append(new.ravel())
        ruled, ruled_tables = _forbidden(part, number)
        of_rules = len(ruled) - len(part.ahead)
        if levels or ruled:
            code, size = stage.code, stage.coding.count
            if _by_levels(part, stage):
                code, size = level_codes(part.columns[0], part.columns[0]), level_count(part.columns[0])
            swap_new_pairs(taking, *stage.bounds(), source, code, levels + ruled, tables + ruled_tables, size, words())
            given = (taking, *stage.bounds(of_rules=True), source, code)  # rules hold even where tables do not
            if ruled and swap_new_pairs(*given, ruled, ruled_tables, size, words(), search_all=True) and of_rules:
                first = ruled[:of_rules], ruled_tables[:of_rules]  # what later columns need comes second
                swap_new_pairs(*given, *first, size, words(), search_all=True)
        return bool(levels or ruled)

    def _relate(
        self, part: Chunk, number: int, taking: Codes, source: Rows, code: Codes, words: Callable[[], Words]
    ) -> bool:
        """Exchange values inside leaves where pairs of columns are further from the original than a new sample's.

        Pairs are compared by the counts of their groups at the first stage, and by sums of scores at every stage.
        ``code`` is what the released rows receive so far. Returns whether any may have been exchanged.
        """
        from leafcover.kernels.dealing import PairCounts, ScoreSums, count_pairs, relate_pairs

        if self.relate == np.inf:
            return False
        stage = part.stages[number]
        counted: list[tuple[Array, Array, Array]] = []
        for at, (_, after, groups) in enumerate(one.groups for one in part.before) if number == 0 else ():
            pairs = _pairs(part, number, at)
            if pairs is not None:
                more = count_pairs(after, code, groups, stage.coding.count) - pairs.rows
                weight = pairs.weight(self.often)
                further = _is_further(more, pairs.rows - pairs.chance, weight, len(part))
                if further or pairs.changes_association(more, self.often):
                    counted.append((after, more.ravel(), weight.ravel()))
        summed: list[tuple[_Sums, Array]] = []
        for one in (compared := self._sums(part, number)):
            more = one.more(code)
            if _is_further(more, one.wanted, one.weight, len(part)):
                summed.append((one, more))
        if not counted and not summed:
            return False
        weights = [weight for _, _, weight in counted], [one.weight for one, _ in summed]
        none, ones = np.zeros(len(part), np.int32), np.ones(len(part))
        counts = PairCounts(
            _rows_of([after for after, _, _ in counted], np.int32),
            *_figures([more for _, more, _ in counted]),
            _figures(weights[0])[1],
        )
        sums = ScoreSums(
            _rows_of([one.groups if len(one.groups) else none for one, _ in summed], np.int32),
            *_figures([more for _, more in summed]),
            _figures(weights[1])[1],
            _rows_of([one.scores if len(one.scores) else ones for one, _ in summed], np.float64),
            compared[0].of_codes if compared else NO_SCORES,
        )
        error = [(more**2 * weight).sum() for _, more, weight in counted]
        error += [(more**2 * one.weight).sum() for one, more in summed]
        figures = [np.count_nonzero(weight) for weight in weights[0] + weights[1]]
        limits = self.relate * np.minimum(error, np.array(figures, np.float64))
        size = stage.coding.count
        relate_pairs(taking, len(stage.trees), source, stage.code, counts, sums, limits, size, words())
        return True

    def _sums(self, part: Chunk, number: int) -> "Sequence[_Sums]":
        """The sums of scores that are compared at a stage; none where the values of a code are dealt."""
        if part.stages[number].is_final:
            return ()
        return part.remembered(("sums", number), lambda: list(self._summed(part, part.stages[number])))

    def _summed(self, part: Chunk, stage: Stage) -> "Iterator[_Sums]":
        from leafcover.kernels.dealing import sum_scores

        of_codes = NO_SCORES
        rows = np.bincount(stage.code, minlength=stage.coding.count)
        if not part.columns[0].is_category:
            values = self._shared(part, part.columns[0])
            scores = part.remembered("scores", lambda: standard_scores(values, values))
            of_codes = sum_scores(NO_GROUPS, scores, stage.code, NO_SCORES, stage.coding.count) / np.maximum(rows, 1)
        variance = (of_codes**2 * rows).sum() / len(part) if len(of_codes) else 1.0
        for earlier in part.before:
            scores_of = earlier.scores
            if not len(of_codes) and scores_of is None:
                continue  # two categories: their counts say it all
            before, after, _ = (NO_GROUPS, NO_GROUPS, 1) if scores_of is not None else earlier.groups
            first, second = scores_of or (NO_SCORES, NO_SCORES)
            support = rows if not len(of_codes) else earlier.group_sizes if scores_of is None else np.array([len(part)])
            exact, spread = sum_scores(before, first, stage.code, of_codes, len(support)), np.sqrt(support * variance)
            if len(of_codes) and scores_of is not None:
                rounded = _rounded_product(float(exact[0]), float(spread[0]), len(part), self.correlated)
            else:
                rounded = _rounded_sums(exact, spread, support >= max(self.often, COMMON))
            yield _Sums(after, second, of_codes, *rounded)

    def described(self, part: Chunk, floor: int) -> Described | None:
        """The trees of each stage, the counts in their leaves, and the pairs that are avoided or compared."""
        given = Table(tuple(one.original for one in part.before))
        trees = counts = bits = 0.0
        own = np.zeros(len(part))
        for number, stage in enumerate(part.stages):
            of_trees, of_counts = stage.described(given, floor)
            trees, counts = trees + of_trees, counts + of_counts
            if stage.trees.attributes:
                own += stage.own_share
            for at in range(len(part.before)) if _decides(part, number) and not stage.is_final else ():
                if self.avoid < np.inf and (levels := _pairs(part, number, at, by_levels=True)) is not None:
                    bits += levels.bits_of_empty(levels.compared(self.avoid))
                if self.relate < np.inf and number == 0 and (groups := _pairs(part, number, at)) is not None:
                    bits += groups.bits_of_counts(groups.compared(self.often))
            if self.relate < np.inf:
                bits += sum(one.bits for one in self._sums(part, number))
        return Described(trees, counts, bits, own)

    def shared(self, column: Column) -> Array:
        """The values of a column, numbers shared by enough rows."""
        if column.is_category or self.share == 1:
            return column.values
        return shared_values(column, self.share)

    def _shared(self, part: Chunk, column: Column) -> Array:
        return part.remembered(("shared", column.name), lambda: self.shared(column))

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about columns that are no permutation of themselves."""
        whole = np.zeros(len(before), np.int64)
        return tuple(
            f"column {c.name!r}: values were lost or gained"
            for c in before.columns
            if not same_values(whole, self._shared(before, c), after[c.name])
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


def _by_levels(part: Chunk, stage: Stage) -> bool:
    """Whether rules are kept by levels and not by codes: a code of the last stage may still stand for many levels."""
    return stage.is_final and part.columns[0].is_category


def _forbidden(part: Chunk, number: int) -> tuple[list[Codes], list[Bools]]:
    """For each column with pairs that a rule forbids: the released levels, and which codes of a stage they exclude.

    A code of several levels is excluded if all its levels are. What columns dealt later need comes last.
    """
    stage = part.stages[number]
    coding = stage.coding
    ruled = [(one, part.forbidden[name]) for one in part.before if (name := one.original.name) in part.forbidden]
    given = [(level_codes(one.released, one.original), pairs) for one, pairs in ruled if pairs.any()]
    levels, tables = [], []
    for released, pairs in (*given, *part.ahead):
        allowed = np.zeros((len(pairs), coding.count), np.bool_)
        if _by_levels(part, stage):
            allowed = ~pairs
        elif coding.attribute.is_number:
            allowed[:] = ~pairs[:, :1]
            allowed[:, coding.number[-1]] = ~pairs[:, 1]
        else:
            for level, code in enumerate(coding.number.tolist()):
                allowed[:, code] |= ~pairs[:, level]
        levels.append(released)
        tables.append(~allowed.ravel())
    return levels, tables


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of a level or group of one column and a code of another."""

    rows: Floats  # (levels, codes) original rows that have both
    chance: Floats  # (levels, codes) the same if the columns were unrelated: a matter of each column's own values
    known: Bools  # (levels, codes) neither is missing

    def weight(self, often: float) -> Floats:
        """What the square of an error counts; 0 for pairs that are not compared."""
        return np.divide(1.0, self.chance, out=np.zeros(self.chance.shape), where=self.compared(often))

    def compared(self, often: float) -> Bools:
        """The pairs that so many rows should share by chance: their counts matter, or that no row has both.

        Not of a rare level: the only pairs of a level that one person has are that person's own.
        """
        common = (self.rows.sum(axis=1)[:, None] >= COMMON) & (self.rows.sum(axis=0) >= COMMON)
        found: Bools = (self.chance >= often) & common
        return found

    def changes_association(self, more: Floats, often: float) -> bool:
        """Whether so many more rows in each pair change the association by more than a standard error of it.

        The association is phi squared, as of Cramér's V, of the known values that are compared: no other count may
        decide. Its error in a new sample follows by the delta method. The squared errors of many pairs may be small,
        and all point towards independence.
        """
        used = self.known & self.compared(often)
        known = self.rows * used
        rows = max(known.sum(), 1.0)
        share = known / rows
        first, second = share.sum(axis=1), share.sum(axis=0)
        both = first[:, None] * second
        ratio = np.divide(share, both, out=np.zeros(both.shape), where=both > 0)
        of_first = np.divide((share * ratio).sum(axis=1), first, out=np.zeros(len(first)), where=first > 0)
        of_second = np.divide((share * ratio).sum(axis=0), second, out=np.zeros(len(second)), where=second > 0)
        influence = 2 * ratio - of_first[:, None] - of_second  # of one row more; its mean is 0
        variance = (share * influence**2).sum()
        change = (more * used * influence).sum() / rows
        return bool(change**2 > max(variance / rows, NEGLIGIBLE**2))

    def bits_of_empty(self, counted: Bools) -> float:
        """The bits that say which of the counted pairs no row has.

        The code expects an empty pair with the probability exp(-chance), mixed with a small constant.
        """
        empty = SURPRISE + (1 - SURPRISE) * np.exp(-self.chance[counted])
        return float(-np.log2(np.where(self.rows[counted] == 0, empty, 1 - empty)).sum())

    def bits_of_counts(self, counted: Bools) -> float:
        """The bits that describe the counts that are compared; a count is a step of one row."""
        middle, scale = np.rint(self.chance[counted]), np.sqrt(self.chance[counted])
        return _bits_of_steps((self.rows[counted] - middle) / scale, 1 / scale)


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of scores over rows: what two columns have in common that needs few figures.

    For two numbers it is the sum of the products of their scores; for a category and a number the sum of the number's
    scores over the rows of each level or group. The score of a code is the mean of its values.
    """

    groups: Codes  # of released rows; none where both have scores
    scores: Floats  # of released rows; none for a category
    of_codes: Floats  # none for a category
    wanted: Floats  # the original's sums, rounded
    weight: Floats  # what the square of an error counts; 0 for sums that are not compared
    bits: float  # that describe the sums that are compared

    def more(self, code: Codes) -> Floats:
        """How far the sums of released rows that receive these codes are above the original's."""
        from leafcover.kernels.dealing import sum_scores

        return sum_scores(self.groups, self.scores, code, self.of_codes, len(self.wanted)) - self.wanted


def _rounded_sums(exact: Floats, spread: Floats, often: Bools) -> tuple[Floats, Floats, float]:
    """Sums in steps of their spread in a new sample, their weights, and the bits that describe those compared."""
    compared = often & (spread > 0)
    steps = np.zeros(len(exact))
    steps[compared] = np.rint(exact[compared] / (STEP * spread[compared]))
    weight = np.divide(1.0, spread**2, out=np.zeros(len(exact)), where=compared)
    return steps * STEP * spread, weight, _bits_of_steps(STEP * steps[compared], STEP)


def _rounded_product(exact: float, spread: float, rows: int, least: float) -> tuple[Floats, Floats, float]:
    """The same for the sum of products of two numbers' scores, which is as good as their correlation.

    It is rounded in steps of Fisher's transformation of the correlation, whose spread is about the same for all
    correlations. One that is below ``least`` is not compared, and the bits say no more than that.
    """
    if spread == 0:
        return np.zeros(1), np.zeros(1), 0.0
    scale = spread * np.sqrt(rows)  # the sum for a correlation of one
    step = STEP / np.sqrt(rows)
    steps = np.rint(np.arctanh(np.clip(exact / scale, -MOST_CORRELATED, MOST_CORRELATED)) / step)
    near = np.ceil(np.arctanh(min(least, MOST_CORRELATED)) / step) - 1  # steps that are too few
    if abs(steps) <= near:
        return np.zeros(1), np.zeros(1), _bits_of_steps(np.zeros(1), (2 * near + 1) * STEP)
    found = np.tanh(np.array([steps * step]))
    weight = (spread * np.maximum(1 - found**2, LEAST_UNEXPLAINED)) ** -2
    return found * scale, weight, _bits_of_steps(np.array([STEP * steps]), STEP)


def _is_further(more: Floats, association: Floats, weight: Floats, rows: int) -> bool:
    """Whether figures are further from the original's than a new sample's, in all or along the association.

    The error of a new sample is about chi-squared with as many degrees of freedom as figures, and normal along the
    original's own departure from independence: an association that was lost is found there. In a large table an error
    of negligible size is left, however significant.
    """
    figures, small = np.count_nonzero(weight), NEGLIGIBLE * rows
    along = (more * association * weight).sum() ** 2
    return bool(
        (more**2 * weight).sum() > max(figures + FAR * np.sqrt(2 * figures), small)
        or along > max(FAR**2, small) * (association**2 * weight).sum()
    )


def _bits_of_steps(middle: Floats, step: Floats | float) -> float:
    """The bits that describe figures in steps; both in standard deviations of a new sample from what chance gives.

    The code of a figure has the probabilities of a standard Cauchy distribution, between half a step below and half a
    step above.
    """
    low, high = middle - step / 2, middle + step / 2
    # The difference of two arc tangents, accurate far from the middle.
    return float(-np.log2(np.arctan2(high - low, 1 + high * low) / np.pi).sum())


def _figures(parts: Sequence[Array]) -> tuple[Rows, Floats]:
    """Where the figures of each column begin, and all of them."""
    from leafcover.kernels.dealing import offsets_of

    return offsets_of(parts), np.concatenate([np.empty(0), *parts])


def _rows_of(parts: Sequence[Array], kind: type) -> Array:
    """(rows, columns) in memory row by row."""
    return np.column_stack(parts) if parts else np.empty((0, 0), kind)


def _pairs(part: Chunk, number: int, at: int, *, by_levels: bool = False) -> _Pairs | None:
    """How often each level or group of a column released before meets each code of a stage; None if they are many."""
    earlier, stage = part.before[at], part.stages[number]
    before, _, count = earlier.levels if by_levels else earlier.groups
    if count * stage.coding.count > MOST_PAIRS:
        return None
    is_same = before is earlier.groups[0]

    def counted() -> _Pairs:
        from leafcover.kernels.dealing import count_pairs

        rows = count_pairs(before, stage.code, count, stage.coding.count)
        chance = rows.sum(axis=1)[:, None] * (rows.sum(axis=0) / max(len(before), 1))[None]
        known = _known(before, count, earlier.original)[:, None]
        return _Pairs(rows, chance, known & _known(stage.code, stage.coding.count, part.columns[0]))

    return part.remembered(("pairs", number, at, is_same), counted)


def _known(code: Codes, count: int, column: Column) -> Bools:
    """Which codes are not those of missing values alone: a code may stand for rare levels and missing values."""
    missing = column.missing
    found = np.ones(count, np.bool_)
    if missing.any():
        found[code[missing]] = False
        found[code[~missing]] = True
    return found
