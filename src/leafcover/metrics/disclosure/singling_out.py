"""Singling out, and linkability.

Singling out: whether a predicate that matches exactly one released row matches exactly one original row.

Predicate singling out is defined by Cohen and Nissim (2020); main and control attack are as in Giomi and others (2023).
The predicates are ours: a released row and some of its columns. A category must equal the row's; a number must be so
near to the row's that no other released row matches, within half the distance of the next one that would.

Whether a predicate matches exactly one row depends on the number of rows. The release and the original are whole. A
control of fewer rows shows how often predicates match nobody, one person, two and so on among them; the distribution of
their weights that fits these counts best says how often exactly one of as many people as the original has would match.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, inf, isnan, nan
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from leafcover.arrays import Bools, Floats, Rows
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure.nearest_record import (
    TIE,
    ScaledTable,
    bearable,
    closer_than_own,
    nearest,
    of_rows,
    scaled,
    searchable,
)
from leafcover.metrics.estimates import Attack, Risk, risk_of, wilson
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Table

if TYPE_CHECKING:
    from leafcover.kernels.neighbors import NeighborTree

MOST = 50_000  # rows of a release for all predicates; fewer predicates of a larger one
FEWEST = 100  # rows of a control that is smaller than the original; predicates, however large the release
SMALLEST = 0.2  # of the original's rows that such a control has
WEIGHTS, STEPS = 40, 1500  # weights of predicates, and steps in which their distribution is fitted
PREDICATES = 1_000
WIDEST = 4  # columns of one predicate
TRIES = 4  # predicates tried for each one wanted

MANY = 20  # rows that a predicate matches; more are counted as so many


@dataclass(frozen=True)
class SinglingOut:
    """How often a predicate that matches one released row matches one original row. Tries are predicates, not people.

    The baseline is the chance that a predicate of the same width matches exactly one of as many random rows with
    independent columns (the trivial attacker of Cohen and Nissim); it is at most about 0.37.
    """

    univariate: Attack  # by one column
    multivariate: Attack  # by two to four columns
    rows: int  # of the original and of the release
    control_rows: int  # from which the control is scaled to as many rows as the original has; 0 without control


class _Condition(NamedTuple):
    """A column's values from low to high, both included; both nan: a missing value."""

    column: int
    low: float
    high: float


_Predicate: TypeAlias = tuple[_Condition, ...]  # a conjunction


@dataclass(frozen=True, eq=False)
class _View:
    """A table by columns: first the scaled numbers, nan where missing, then the codes of categories."""

    columns: tuple[Floats, ...]
    numbers: int
    rows: int

    @cached_property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The lowest and the highest value of each number; nan without values."""
        known = [column[~np.isnan(column)] for column in self.columns[: self.numbers]]
        return tuple((float(one.min()), float(one.max())) if len(one) else (nan, nan) for one in known)


def singling_out(pair: Pair, *, predicates: int = PREDICATES, widest: int = WIDEST, most: int = MOST) -> SinglingOut:
    """Make predicates from the release and count the original rows, and the control's, that each one matches.

    A larger control is cut to the rows of the original; a figure for a smaller one is scaled to them. A control of
    fewer than 100 rows, or than a fifth of the original's, is not used if it is smaller than the original.
    """
    if predicates < 1 or widest < 2:
        raise ValueOutOfRange("predicates and widest", (predicates, widest), "at least 1 and at least 2")
    original, released, control = _views(pair)
    if released.rows > most:
        predicates = max(FEWEST, predicates * most // released.rows)
    alone = _by_one_column(released, predicates)
    together = _by_more(released, predicates, widest)
    return SinglingOut(
        _attack(alone, original, released, control),
        _attack(together, original, released, control),
        original.rows,
        0 if control is None else control.rows,
    )


def _views(pair: Pair) -> tuple[_View, _View, _View | None]:
    """Original, release and control; the control at most as large as the original, or None if it is too small."""
    original, control = pair.original, pair.control
    if control is not None:
        enough = len(control) >= min(len(original), max(FEWEST, SMALLEST * len(original)))
        control = control.take(sample_rows(len(control), len(original))) if enough else None
    names = [name for name in pair.names if name != pair.weight]
    tables = [original, pair.released, *([] if control is None else [control])]
    views = [_view(pair.original, table, names) for table in tables]
    return views[0], views[1], views[2] if len(views) > 2 else None


def _view(original: Table, table: Table, names: Sequence[str]) -> _View:
    matrix = scaled([original, table], names)[1]
    columns = [*matrix.numbers.T, *matrix.codes.T]
    return _View(tuple(np.ascontiguousarray(c, np.float64) for c in columns), matrix.numbers.shape[1], len(table))


def _by_one_column(released: _View, wanted: int) -> list[_Predicate]:
    """Values that exactly one released row has: all of them, or a sample."""
    single = []
    for place, column in enumerate(released.columns):
        _, first, counts = np.unique(column, return_index=True, return_counts=True)
        single += [(int(row), place) for row in first[counts == 1]]
    chosen = (single[i] for i in sample_rows(len(single), wanted))
    return [d for row, place in chosen if (d := _predicate(released, row, [place]))]


def _by_more(released: _View, wanted: int, widest: int) -> list[_Predicate]:
    """Random rows by random columns, if a predicate matches no other row."""
    found: list[_Predicate] = []
    width = min(widest, len(released.columns))
    if width < 2 or not released.rows:
        return found
    rng = np.random.default_rng(SEED)
    for _ in range(TRIES * wanted):
        columns = rng.choice(len(released.columns), rng.integers(2, width + 1), replace=False)
        made = _predicate(released, int(rng.integers(released.rows)), columns.tolist())
        if made:
            found.append(made)
        if len(found) == wanted:
            break
    return found


def _predicate(released: _View, row: int, columns: Sequence[int]) -> _Predicate:
    """The widest predicate that matches this released row and no other; empty if there is no such predicate."""
    free = [c for c in columns if c < released.numbers and not np.isnan(released.columns[c][row])]
    exact = tuple(_Condition(c, *[float(released.columns[c][row])] * 2) for c in columns if c not in free)
    matching = _fits(released, exact)
    matching[row] = False
    others = np.flatnonzero(matching)
    if not len(others):
        return exact
    if not free:
        return ()
    apart = [np.abs(released.columns[c][others] - released.columns[c][row]) for c in free]
    gap = float(np.where(np.isnan(apart), np.inf, apart).max(axis=0).min())
    return (*exact, *(_around(released, row, c, gap / 2) for c in free)) if gap > 0 else ()


def _around(released: _View, row: int, column: int, reach: float) -> _Condition:
    """Within this distance of the row's number; open beyond the lowest and highest released number."""
    value, (lowest, highest) = float(released.columns[column][row]), released.ends[column]
    return _Condition(column, -inf if value == lowest else value - reach, inf if value == highest else value + reach)


def _fits(view: _View, predicate: _Predicate) -> Bools:
    """Which rows a predicate matches."""
    if not predicate:
        return np.ones(view.rows, bool)
    fits = _holds(view, predicate[0])
    for condition in predicate[1:]:
        fits &= _holds(view, condition)
    return fits


def _holds(view: _View, condition: _Condition) -> Bools:
    values = view.columns[condition.column]
    if isnan(condition.low):
        return np.isnan(values)
    if condition.low == condition.high:
        same: Bools = values == condition.low
        return same
    holds: Bools = (values >= condition.low) & (values <= condition.high)
    return holds


def _attack(predicates: Sequence[_Predicate], original: _View, released: _View, control: _View | None) -> Attack:
    return Attack(
        risk_of((_matching(predicates, original) == 1).astype(np.float64)),
        None if control is None else _scaled(_matching(predicates, control), control.rows, original.rows),
        risk_of(np.array([_trivial(released, one) for one in predicates])),
    )


def _matching(predicates: Sequence[_Predicate], view: _View) -> Rows:
    """How many rows each predicate matches."""
    return np.array([np.count_nonzero(_fits(view, one)) for one in predicates], np.int64)


def _scaled(matching: Rows, rows: int, to: int) -> Risk:
    """How often exactly one of ``to`` rows matches, from how many of fewer rows each predicate matches.

    Predicates have unknown weights: the share of the population that each matches. Their distribution over a grid is
    fitted by maximum likelihood (EM; Laird 1978). The interval is Wilson's for as many tries times the square of the
    share of rows.

    >>> print(_scaled(np.array([0, 1, 1, 2]), 100, 100))
    0.500 (0.150 to 0.850)
    """
    from scipy.stats import binom

    if rows >= to or not len(matching):
        return risk_of((matching == 1).astype(np.float64))
    weights = np.concatenate([[0.0], np.geomspace(0.02 / to, min(1.0, 2 * MANY / rows), WEIGHTS)])
    law = np.vstack([binom.pmf(np.arange(MANY)[:, None], rows, weights), binom.sf(MANY - 1, rows, weights)])
    seen = np.bincount(np.minimum(matching, MANY), minlength=MANY + 1)
    share = np.full(len(weights), 1 / len(weights))
    for _ in range(STEPS):
        share = share * (law.T @ (seen / np.maximum(law @ share, 1e-300))) / len(matching)
    value = min(float(share @ binom.pmf(1, to, weights)), 1.0)
    tries = max(round(len(matching) * (rows / to) ** 2), 1)
    bounds = wilson(value * tries, tries)
    return Risk(value, min(bounds.low, value), max(bounds.high, value), len(matching))


def _trivial(released: _View, predicate: _Predicate) -> float:
    """The chance that exactly one of as many rows matches, with independent columns and the released shares."""
    share = float(np.prod([np.count_nonzero(_holds(released, one)) / released.rows for one in predicate]))
    return released.rows * share * (1 - share) ** (released.rows - 1)


# Linkability (Giomi and others 2023): whether the release helps to join two parties' data about the same people. One
# party holds some columns of a person, another party other columns. For each half the attacker finds the nearest
# released records (Gower's distance); if a record is among the nearest of both halves, the attacker links the halves.
# The score is how often the halves of one person are linked.


MOST_LINKED = 3_000  # people attacked


@dataclass(frozen=True)
class ColumnSets:
    """How often the two halves of a person are linked."""

    one: tuple[str, ...]
    other: tuple[str, ...]
    count: int  # nearest records compared for each half
    attack: Attack  # its baseline picks rows at random
    rows: int  # people attacked
    of: int


def column_sets(
    pair: Pair,
    one: Sequence[str] | None = None,
    other: Sequence[str] | None = None,
    *,
    count: int = 1,
    most: int = MOST_LINKED,
) -> ColumnSets:
    """Link two sets of columns: those named, or the quasi-identifiers as divided by `two_halves`."""
    if count < 1:
        raise ValueOutOfRange("count", count, "a whole number of at least 1")
    halves = _halves(pair, one, other)
    count = min(count, len(pair.released))
    tables = [pair.original, *([] if pair.control is None or not len(pair.control) else [pair.control])]
    most = min(bearable(most, pair, half) for half in halves)
    people = [sample_rows(len(table), most) for table in tables]
    joined = _joined(pair, tables, people, halves, count)
    tries = len(people[0])
    return ColumnSets(
        *halves,
        count,
        Attack(
            risk_of(joined[0]),
            risk_of(joined[1]) if len(joined) > 1 else None,
            wilson(_chance(len(pair.released), count) * tries, tries),
        ),
        tries,
        len(pair.original),
    )


def two_halves(pair: Pair) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The quasi-identifiers assigned alternately to two parties, those with most released values first."""

    def distinct(name: str) -> int:
        column = pair.released[name]
        return len(np.unique(column.values[~column.missing]))

    ranked = sorted(pair.quasi_identifiers, key=lambda name: (-distinct(name), name))
    return tuple(ranked[::2]), tuple(ranked[1::2])


def _halves(
    pair: Pair, one: Sequence[str] | None, other: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if one is None and other is None:
        return two_halves(pair)
    for name in (*(one or ()), *(other or ())):
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    first = tuple(n for n in pair.quasi_identifiers if n not in (other or ())) if one is None else tuple(one)
    second = tuple(n for n in pair.quasi_identifiers if n not in first) if other is None else tuple(other)
    both = set(first) & set(second)
    if both:
        raise ValueOutOfRange("other", min(both), "columns that the first party does not have")
    return first, second


def _joined(
    pair: Pair,
    tables: Sequence[Table],
    people: Sequence[Rows],
    halves: tuple[tuple[str, ...], tuple[str, ...]],
    count: int,
) -> list[Floats]:
    """For each person of each table the chance that the nearest rows of both halves share one, ties at random.

    Ties of the first half are broken by one random order of the released rows; those of the second are averaged.
    """
    order = np.random.default_rng(SEED).permutation(len(pair.released))
    _, mixed, *first = scaled([pair.original, pair.released.take(order), *tables], halves[0])
    _, released, *second = scaled([pair.original, pair.released, *tables], halves[1])
    near = searchable(mixed), searchable(released)
    found = []
    for one, other, rows in zip(first, second, people, strict=True):
        named = order[nearest(of_rows(one, rows), near[0], count=count).row]  # (people, count)
        found.append(_shared(of_rows(other, rows), released, near[1], named, count))
    return found


def _shared(people: ScaledTable, released: ScaledTable, near: "NeighborTree", named: Rows, count: int) -> Floats:
    """The chance that one of the rows named for each person is among the ``count`` nearest.

    A row nearer than the furthest of these is certainly among them. Of the ``tied`` rows at that distance only some are
    ``drawn``, and some were named: ``held``.
    """
    furthest = nearest(people, near, count=count).distance[:, -1:]
    apart = np.column_stack([_distances(people, of_rows(released, rows)) for rows in named.T])
    chance: Floats = np.any(apart < furthest - TIE, axis=1).astype(np.float64)
    level = np.abs(apart - furthest) <= TIE
    unsure = np.flatnonzero((chance == 0) & level.any(axis=1))
    some = named[unsure, level[unsure].argmax(axis=1)]
    closer, beside = closer_than_own(of_rows(people, unsure), near, some)
    tied = beside + 1
    drawn = np.clip(count - closer, 0, tied)  # rounding may move a row out of a tie
    held = np.minimum(level[unsure].sum(axis=1), tied)
    chance[unsure] = [1 - _missed(*map(int, one)) for one in zip(tied, drawn, held, strict=True)]
    return chance


def _missed(rows: int, drawn: int, held: int) -> float:
    """The chance that no row held is among those drawn.

    >>> _missed(4, 2, 1)
    0.5
    """
    return comb(rows - held, drawn) / comb(rows, drawn)


def _distances(people: ScaledTable, others: ScaledTable) -> Floats:
    """Gower's distance of each person to one row."""
    apart = np.abs(people.numbers - others.numbers)
    lost = np.isnan(people.numbers) != np.isnan(others.numbers)
    return np.where(np.isnan(apart), lost, apart).sum(axis=1) + (people.codes != others.codes).sum(axis=1)


def _chance(rows: int, count: int) -> float:
    """The chance that two random sets of so many rows share one."""
    return 1 - _missed(rows, count, count) if rows else 0.0
