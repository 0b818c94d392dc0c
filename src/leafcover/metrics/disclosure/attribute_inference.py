"""Attribute inference: how well an attacker who knows a person's other values infers a sensitive one.

Three attackers. The first takes the value of the released record nearest to the known values (Gower's distance, ties
averaged), as in Giomi and others (2023). The second knows the perturbation, and searches only by the columns that link
people best. The third predicts the value with a random forest grown on the release. All also attack people outside the
release (the control): success there comes from patterns that hold for everybody, and only success above it is due to
the person's own record.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows, Singles
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure.nearest_record import (
    ScaledTable,
    bearable,
    closer_than_own,
    matches_among_nearest,
    of_rows,
    scaled,
    searchable,
    with_value,
)
from leafcover.metrics.disclosure.probabilistic_linkage import information
from leafcover.metrics.disclosure.record_linkage import chance_among
from leafcover.metrics.estimates import Attack, Risk, risk_of
from leafcover.metrics.models import forest_of
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Column, Table

if TYPE_CHECKING:
    from leafcover.kernels.neighbors import NeighborTree


# The columns that link people best, for an attacker who knows the perturbation.
#
# In a distance over all columns, columns that were shuffled hide the information of a few that hardly changed. An
# attacker who knows the perturbation ignores the shuffled ones.


ROWS = 10_000  # in which people are searched for, to choose the columns
PEOPLE = 500  # searched for with each choice
MORE = 1.5  # each choice has this many times the columns of the previous one


def trusted_columns(pair: Pair, columns: Sequence[str]) -> tuple[str, ...]:
    """The most informative columns, as many as link most people; all of them without pairs.

    Columns are ordered by how much better a person's own two values match than those of different people. Among
    choices that link equally many people, the one with most columns is taken.
    """
    if not pair.paired or len(pair.original) < 2 or len(columns) < 2:
        return tuple(columns)
    rows = sample_rows(len(pair.original), ROWS)
    ordered = sorted(columns, key=lambda name: -information(pair, name, rows))
    sizes = _sizes(len(ordered))
    tables = pair.original.take(rows), pair.released.take(rows)
    found = [_found(tables, ordered[:size]) for size in sizes]
    return tuple(ordered[: max(size for size, share in zip(sizes, found, strict=True) if share == max(found))])


def _sizes(columns: int) -> list[int]:
    """How many columns are tried: 1, 2, 3, 4, 6, 9, ... and all."""
    sizes = [1]
    while sizes[-1] < columns:
        sizes.append(min(columns, max(sizes[-1] + 1, int(sizes[-1] * MORE))))
    return sizes


def _found(tables: tuple[Table, Table], columns: Sequence[str]) -> float:
    """The share of people whose own row is nearest."""
    ours, theirs = scaled(tables, columns)
    people = sample_rows(len(tables[0]), PEOPLE)
    return risk_of(chance_among(1, *closer_than_own(of_rows(ours, people), theirs, people, enough=1))).value


# The attack by a random forest (Breiman 2001), grown on the release.
#
# Each tree names some of the rows in the person's leaf; the answer is the best guess among the values of all these
# rows. So one method serves categories and numbers, with the same definition of a right answer.


TREES = 16
SMALLEST = 5  # rows in a leaf
MATES = 6  # rows that a tree names at most
MOST_LEVELS = 64  # that the forest is grown with; rarer ones are merged


def forest_guesses(
    learned: Table, labels: Floats, asked: Sequence[Table], *, is_category: bool, reach: float
) -> list[Floats]:
    """The answers for every row of some tables, from rows with known labels.

    All tables have the same columns. Without any label the answer is nan.
    """
    known = np.flatnonzero(~np.isnan(labels))
    learned, labels = learned.take(known), labels[known]
    if len(labels) < 2 * SMALLEST or not learned.columns:
        alone = best_guess(labels, reach)
        return [np.full(len(table), alone) for table in asked]
    features = _features(learned, learned)
    forest = _forest(features, labels, is_category=is_category)
    shared = _by_leaf(_leaves(forest, features))
    return [
        best_guesses(labels[_mates(shared, _leaves(forest, _features(learned, table)))], reach)
        if len(table)
        else np.empty(0)
        for table in asked
    ]


def _forest(features: Singles, labels: Floats, *, is_category: bool) -> list[Any]:
    settings = {"max_features": 0.5, "min_samples_leaf": SMALLEST}
    if not is_category:
        return forest_of(features, _ranks(np.sort(labels), labels), TREES, SEED, is_category=False, **settings)
    levels, place, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(levels) > MOST_LEVELS:
        place = np.where(np.isin(place, np.argsort(-counts, kind="stable")[:MOST_LEVELS]), place, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about levels with few rows
        return forest_of(features, place, TREES, SEED, is_category=True, **settings)


def _leaves(forest: Sequence[Any], features: Singles) -> Rows:
    """(rows, trees) the leaf of each row in each tree."""
    return np.column_stack([tree.apply(features) for tree in forest])


def _by_leaf(leaves: Rows) -> list[tuple[Rows, Rows]]:
    """For each tree the training rows by leaf, and their leaves in this order; rows of one leaf are in random order."""
    mixed = np.random.default_rng(SEED).permutation(len(leaves))
    orders = [mixed[np.argsort(learned[mixed], kind="stable")] for learned in leaves.T]
    return [(order, learned[order]) for order, learned in zip(orders, leaves.T, strict=True)]


def _mates(shared: Sequence[tuple[Rows, Rows]], asked: Rows) -> Rows:
    """Training rows that share a leaf with each person, equally many from every tree: (people, TREES x MATES).

    ``asked`` is (people, trees), the leaf of each person in each tree.
    """
    found = []
    for (order, learned), wanted in zip(shared, asked.T, strict=True):
        start = np.searchsorted(learned, wanted)
        size = np.searchsorted(learned, wanted, side="right") - start
        found.append(order[start[:, None] + np.arange(MATES) % size[:, None]])
    return np.hstack(found)


def _features(learned: Table, table: Table) -> Singles:
    """Columns as a matrix: codes, and the ranks of numbers among the training values, so that none is too large.

    A tree needs no more; one feature for every level would take several times as long.
    """
    both = zip(learned, table, strict=True)
    return np.column_stack([_feature(seen, column) for seen, column in both]).astype(np.float32)


def _feature(seen: Column, column: Column) -> Floats:
    if column.is_category:
        return column.values.astype(np.float64)
    return np.where(column.missing, -1.0, _ranks(np.sort(seen.values[~seen.missing]), column.values))


def _ranks(ordered: Array, values: Array) -> Floats:
    """The middle rank of each value among ordered ones."""
    below, upto = np.searchsorted(ordered, values), np.searchsorted(ordered, values, side="right")
    ranks: Floats = (below + upto) / 2
    return ranks


# What counts as a right answer, and the best single answer from the frequencies of values alone.
#
# An answer about a category is right if it is equal. An answer about a number is right within a tolerance: a share of
# the range of the middle 90 % of the original values, so that a few extreme values do not make every answer right.


TOLERANCE = 0.05  # of the range between the 5 % and the 95 % quantile
OUTSIDE = 0.05
ROUNDING = 1e-15  # of the largest value: values that differ by less are equal


def labels_of(column: Column) -> Floats:
    """The values as numbers, codes for a category, nan where missing."""
    values = column.values.astype(np.float64)
    values[column.missing] = np.nan
    return values


def reach_of(column: Column, tolerance: float = TOLERANCE) -> float:
    """How far a right answer may be from the value of this original column; 0 for a category.

    If the middle 90 % of the values are one value, only that value is right.
    """
    if not 0 <= tolerance <= 0.5:
        raise ValueOutOfRange("tolerance", tolerance, "a share of the range of the values, from 0 to 0.5")
    known = column.values[~column.missing]
    if column.is_category or not len(known):
        return 0.0
    low, high = np.quantile(known, [OUTSIDE, 1 - OUTSIDE], method="inverted_cdf")
    half = high / 2 - low / 2  # halves, since 1e308 minus -1e308 overflows
    return float(2 * tolerance * half + ROUNDING * np.abs(known).max())


def right(answers: Floats | float, wanted: Floats, reach: float) -> Floats:
    """1 for each right answer, 0 for the others; no answer (nan) is wrong."""
    with np.errstate(over="ignore"):
        near: Bools = np.abs(answers - wanted) <= reach
    return near.astype(np.float64)


def best_guess(labels: Floats, reach: float) -> float:
    """The answer that is right for most labels (the lowest of equals); nan if there is no label.

    >>> best_guess(np.array([1.0, 7.0, 8.0, 9.0]), 1.0)
    8.0
    """
    ordered = np.sort(labels[~np.isnan(labels)])
    if not len(ordered):
        return float("nan")
    with np.errstate(over="ignore"):
        last = np.searchsorted(ordered, ordered + 2 * reach, side="right") - 1
    first = int(np.argmax(last - np.arange(len(ordered))))
    return float(ordered[first] / 2 + ordered[last[first]] / 2)


def best_guesses(pools: Floats, reach: float) -> Floats:
    """The same for each row of labels, without missing ones: (people, labels) to (people,)."""
    ordered = np.ascontiguousarray(np.sort(pools, axis=1).T)
    within = np.zeros(ordered.shape, np.int16)  # labels above this one that one answer covers with it
    for step in range(1, len(ordered)):
        with np.errstate(over="ignore"):
            near = ordered[step:] - ordered[:-step] <= 2 * reach
        if not near.any():
            break
        within[:-step] += near
    first = within.argmax(axis=0)
    people = np.arange(ordered.shape[1])
    middle: Floats = ordered[first, people] / 2 + ordered[first + within[first, people], people] / 2
    return middle


MOST = 3_000  # people attacked
LEARNED = 6_000  # released rows that the forest is grown on; more do not improve it
COLUMNS = 16  # attacked if no sensitive attribute is named
NO_CODE = -2  # differs from every level and from missing


@dataclass(frozen=True)
class Inference:
    """Attribute inference of one column from the others. People without a value there are not attacked."""

    column: str
    known: tuple[str, ...]  # what the attacker knows about the person
    nearest: Attack  # by the nearest released record
    trusted: Attack | None  # the same by the columns that link people best; None if those are all, or without pairs
    learned: Attack | None  # by a random forest grown on the release; None if not requested
    tolerance: float  # for a number, the error allowed, as a share of the middle range; 0 for a category
    rows: int  # people attacked
    of: int  # people who have a value

    @property
    def strongest(self) -> Attack:
        """The attack with the highest success above its control, or above guessing without a control."""
        return max((a for a in (self.nearest, self.trusted, self.learned) if a is not None), key=_beyond)


@dataclass(frozen=True, eq=False)
class _Question:
    """The column that is inferred, and its released values."""

    column: str
    known: tuple[str, ...]
    is_category: bool
    reach: float  # an answer within this distance is right
    labels: Floats  # (released rows,)


@dataclass(frozen=True, eq=False)
class _Side:
    """The people of one table who are attacked, and the right answers."""

    table: Table
    people: Rows
    wanted: Floats


@dataclass(frozen=True, eq=False)
class _Search:
    """The release indexed by some columns, and the tables of people to search for."""

    names: tuple[str, ...]
    released: "NeighborTree"
    tables: tuple[ScaledTable, ...]  # the original, and the control if there is one


def inference(
    pair: Pair,
    column: str,
    *,
    known: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    learned: bool = True,
) -> Inference:
    """Infer one column from all the others, or from those named as known."""
    names = _known(pair, column, known)
    # Chosen as in `inferences`, so that the figures are the same.
    trusted = _search_by_trust(pair, _all_but_weight(pair) if known is None else names)
    searches = _search(pair, names), _without(pair, trusted, column)
    return _inference(pair, column, names, searches, tolerance, most, learned)


def inferences(
    pair: Pair,
    *,
    columns: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    learned: bool = True,
) -> tuple[Inference, ...]:
    """Infer the columns named, or those that `attacked_columns` chooses, each from all the others."""
    chosen = attacked_columns(pair) if columns is None else tuple(columns)
    names = _all_but_weight(pair)
    whole, trusted = _search(pair, names), _search_by_trust(pair, names)
    found = []
    for column in chosen:
        known = _known(pair, column, None)
        searches = _without(pair, whole, column) or _search(pair, known), _without(pair, trusted, column)
        found.append(_inference(pair, column, known, searches, tolerance, most, learned))
    return tuple(found)


def attacked_columns(pair: Pair) -> tuple[str, ...]:
    """The sensitive attributes; without any, the target and then other columns with more than one value."""
    if pair.sensitive:
        return pair.sensitive
    others = [name for name in pair.names if name not in (pair.target, pair.weight)]
    names = [pair.target, *others] if pair.target else others
    return tuple(name for name in names if _varies(pair.original[name]))[:COLUMNS]


def _known(pair: Pair, column: str, known: Sequence[str] | None) -> tuple[str, ...]:
    for name in (column, *(known or ())):
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    if known is None:
        return tuple(name for name in _all_but_weight(pair) if name != column)
    if column in known:
        raise ValueOutOfRange("known", column, "columns other than the one that is attacked")
    return tuple(known)


def _varies(column: Column) -> bool:
    values = column.values[~column.missing]
    return bool(len(values)) and bool((values != values[0]).any())


def _inference(
    pair: Pair,
    column: str,
    known: tuple[str, ...],
    searches: tuple[_Search, _Search | None],
    tolerance: float,
    most: int,
    learned: bool,
) -> Inference:
    original, labels = pair.original[column], labels_of(pair.released[column])
    question = _Question(column, known, original.is_category, reach_of(original, tolerance), labels)
    most = bearable(most, pair, known)
    sides = [_side(pair.original, column, most)]
    if pair.control is not None and not pair.control[column].missing.all():
        sides.append(_side(pair.control, column, most))
    guess = risk_of(right(best_guess(labels, question.reach), sides[0].wanted, question.reach))
    whole, trusted = searches
    return Inference(
        column,
        known,
        _attack(_by_nearest(whole, question, sides), guess),
        None if trusted is None else _attack(_by_nearest(trusted, question, sides), guess),
        _attack(_by_forest(pair, question, sides), guess) if learned and known else None,
        0.0 if original.is_category else tolerance,
        len(sides[0].people),
        int((~original.missing).sum()),
    )


def _side(table: Table, column: str, most: int) -> _Side:
    people = with_value(table[column], most)
    return _Side(table, people, labels_of(table[column])[people])


def _search(pair: Pair, names: tuple[str, ...]) -> _Search:
    aside = [] if pair.control is None else [pair.control]
    people, released, *control = scaled([pair.original, pair.released, *aside], names)
    return _Search(names, searchable(released), (people, *control))


def _search_by_trust(pair: Pair, names: tuple[str, ...]) -> _Search | None:
    """The release indexed by the columns that link people best; None if those are all."""
    trusted = trusted_columns(pair, names)
    return None if len(trusted) == len(names) else _search(pair, trusted)


def _without(pair: Pair, search: _Search | None, column: str) -> _Search | None:
    """A search from which the column can be left out; None if no column would be left."""
    if search is None or search.names == (column,):
        return None
    if column not in search.names or _can_be_left_out(pair.released[column]):
        return search
    return _search(pair, tuple(name for name in search.names if name != column))


def _all_but_weight(pair: Pair) -> tuple[str, ...]:
    return tuple(name for name in pair.names if name != pair.weight)


def _by_nearest(search: _Search, question: _Question, sides: Sequence[_Side]) -> list[Floats]:
    found = []
    for table, side in zip(search.tables, sides, strict=False):  # a control without values is not attacked
        people = of_rows(table, side.people)
        if question.column in search.names:
            people = _left_out(people, search, question.column, side.table)
        found.append(
            matches_among_nearest(people, search.released, side.wanted, question.labels, tolerance=question.reach)
        )
    return found


def _can_be_left_out(column: Column) -> bool:
    """Whether values can be placed equally far from every released one: not with missing numbers, which match."""
    return column.is_category or not column.missing.any()


def _left_out(people: ScaledTable, search: _Search, column: str, table: Table) -> ScaledTable:
    """The people without one column: every distance grows by 1, so that the nearest rows stay the nearest.

    So one index over all columns serves for every column that is inferred.
    """
    is_category = table[column].is_category
    place = [name for name in search.names if table[name].is_category == is_category].index(column)
    numbers, codes = people.numbers.copy(), people.codes.copy()
    if is_category:
        codes[:, place] = NO_CODE
    else:
        numbers[:, place] = np.nan
    return ScaledTable(numbers, codes)


def _by_forest(pair: Pair, question: _Question, sides: Sequence[_Side]) -> list[Floats]:
    rows = sample_rows(len(pair.released), LEARNED)
    if pair.paired and len(rows) < len(pair.released):
        # An attacker would train on every row, those of the people attacked included.
        own = sides[0].people[:LEARNED]
        rows = np.union1d(own, sample_rows(len(pair.released), LEARNED - len(own)))
    answers = forest_guesses(
        pair.released.select(question.known).take(rows),
        question.labels[rows],
        [side.table.select(question.known).take(side.people) for side in sides],
        is_category=question.is_category,
        reach=question.reach,
    )
    return [right(answer, side.wanted, question.reach) for answer, side in zip(answers, sides, strict=True)]


def _beyond(attack: Attack) -> float:
    above = attack.above_control
    return attack.main.value - attack.baseline.value if above is None else above.value


def _attack(successes: Sequence[Floats], guess: Risk) -> Attack:
    return Attack(risk_of(successes[0]), risk_of(successes[1]) if len(successes) > 1 else None, guess)
