"""Survey weights as they leave: dropped, in classes, or calibrated; and tables whose counts and totals are kept.

A weight is a number that hardly anybody else has, and often says in which stratum a person was drawn. So no weight
leaves as it is. In *classes* it is the mean weight of at least five people. *Calibrated* weights begin as classes and
are multiplied by a factor for each group, so that weighted totals by group are those of the original: raking, after
Deming and Stephan (1940), for people or for units whose rows share one weight (Lemaître and Dufour 1987).

An exact total gives its members away: of people whose weights are known, few sets have just this total. So totals are
kept to about half the difference between the largest and the smallest weight in a group. In groups of 20 people of whom
10 are released, exact totals let an attacker who knows all weights find 78 % of the members at 1 % false alarms, and
rounded ones 2 %.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from math import ceil, floor, log10
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.messages import catalogue
from leafcover.table.output import replace_values
from leafcover.table.recoding import FEWEST
from leafcover.table.table import Column, Table
from leafcover.table.units import distinct_numbers

Leave: TypeAlias = Literal["drop", "classes", "calibrated"]
LEAVE: Leave = "calibrated"  # unless something else is asked for
BETWEEN = " x "  # the columns of a table, in text
MOST_VALUES = 20  # of a number that divides rows into groups
FEWEST_IN_GROUP = 10  # people of the original whose weighted total is kept by itself,
LEAST_LEFT = 0.3  # if the release has at least this many rows for each of them
ROUNDS, INNER_ROUNDS = 40, 100
REACHED, KEPT = 1e-11, 1e-6  # relative difference of a total: when raking ends, and when the total counts as kept
EXACT = 1e-14
DIGITS = 10  # of a released weight
REFINED = 3  # rounds in which the nearest totals are found
LEAST_STEP = 0.01  # of the largest step: how far a total may move that needs no rounding
TINY = 1e-300
MOST_FACTOR = 10.0  # by which a weight is multiplied or divided
FURTHEST = 3.0  # the logarithm of a factor changes by at most this in a round


@dataclass(frozen=True)
class ReleasedWeights:
    """How weights leave: dropped, as the mean of a class, or calibrated so that totals by group are kept.

    Examples
    --------
    >>> ReleasedWeights(("w",), "classes").leave
    'classes'
    """

    columns: tuple[str, ...]
    leave: Leave = LEAVE

    def __post_init__(self) -> None:
        if self.leave not in get_args(Leave):
            raise ValueOutOfRange("weights", self.leave, f"one of {', '.join(get_args(Leave))}")

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that do not leave."""
        return self.columns if self.leave == "drop" else ()

    @property
    def treated(self) -> tuple[str, ...]:
        """The columns that leave, changed."""
        return () if self.leave == "drop" else self.columns


def weights_of(table: Table, leave: Leave | None) -> ReleasedWeights | None:
    """How the weights of a table leave; None if it has none."""
    named = table.with_role("weight")
    if leave is not None:
        ReleasedWeights(named, leave)
        if not named:
            raise PlanError(
                f"weights={leave!r} was given, but no column has the role weight. Name it, or leave it out."
            )
    return ReleasedWeights(named, leave or LEAVE) if named else None


KeptTables: TypeAlias = tuple[tuple[str, ...], ...]


def kept_tables(given: Iterable[str | Sequence[str]], table: Table, what: str = "table to keep") -> KeptTables:
    """The columns of each table to keep, each checked; text such as ``"sex x region"`` names them, too."""
    found = []
    for one in [given] if isinstance(given, str) else given:
        names = (one,) if isinstance(one, str) and one in table.names else one
        names = tuple(part.strip() for part in names.split(BETWEEN)) if isinstance(names, str) else tuple(names)
        check_kept(names, table, what)
        found.append(names)
    return tuple(dict.fromkeys(found))


def check_kept(names: Sequence[str], table: Table, what: str = "table to keep") -> None:
    """Raise an error if columns do not divide the rows of a table into groups."""
    text = BETWEEN.join(names)
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, f"of the {what} {text!r}")
        if table.roles.get(name) in ("unit", "weight", "identifier"):
            raise PlanError(f"Column {name!r} is the {table.roles[name]}: it cannot be part of a {what}.")
        count = 0 if table[name].is_category else len(np.unique(table[name].values[~table[name].missing]))
        if count > MOST_VALUES:
            raise PlanError(
                f"Column {name!r} has {count:,} distinct numbers, so {text!r} is no table of groups. Cut it into at "
                f"most {MOST_VALUES} groups in another column, and name that one."
            )
    if not names or len(set(names)) < len(names):
        needs = f"needs columns, each named once, such as 'sex{BETWEEN}region'"
        raise PlanError(f"A {what} {needs}. Got {text!r}.")


def cells_of(names: Sequence[str], *tables: Table) -> tuple[Rows, ...]:
    """The cell of each row of some tables in the table of these columns: the same number for the same values."""
    ends = np.cumsum([len(table) for table in tables])[:-1]
    code = np.zeros(sum(len(table) for table in tables), np.int64)
    for name in names:
        other = _values_as_codes([table[name] for table in tables])
        code = np.unique(code * (int(other.max(initial=0)) + 1) + other, return_inverse=True)[1].ravel()
    return tuple(np.split(code, ends))


def _values_as_codes(columns: Sequence[Column]) -> Rows:
    """One code for each level or number of some columns; a missing value has a code of its own."""
    if not columns[0].is_category:
        return np.unique(np.concatenate([c.values for c in columns]), return_inverse=True)[1].ravel().astype(np.int64)
    number = {level: at + 1 for at, level in enumerate(sorted({level for c in columns for level in c.levels}))}
    found = [np.array([number[level] for level in c.levels] + [0], np.int64)[c.values] for c in columns]
    return np.concatenate(found)


def class_weights(values: Floats, owner: Rows, fewest: int = FEWEST) -> Floats:
    """The mean weight of classes of at least ``fewest`` people; a weight that enough people have stays.

    >>> class_weights(np.array([1.0, 2.0, 3.0, 7.0, 9.0, np.nan]), np.arange(6), 2).tolist()
    [2.0, 2.0, 2.0, 8.0, 8.0, nan]
    """
    from leafcover.kernels.microaggregation import optimal_groups

    known = np.flatnonzero(~np.isnan(values))
    distinct, place = np.unique(values[known], return_inverse=True)
    place = place.ravel()
    width = int(owner.max(initial=0)) + 1
    held = np.bincount(np.unique(place * width + owner[known]) // width, minlength=len(distinct))
    if not len(held) or held.min() >= fewest:
        return values
    rows = np.bincount(place, minlength=len(distinct))
    scale = float(distinct[-1]) or 1.0
    group = optimal_groups(distinct / scale, fewest, held)
    mean = np.bincount(group, distinct / scale * rows) / np.bincount(group, rows) * scale
    alone = np.bincount(group)[group] == 1
    found = values.copy()
    found[known] = np.where(alone, distinct, mean[group])[place]
    return found


def _none() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class KeptMargin:
    """The groups of a table to keep: its cells, those of too few people pooled with the next one."""

    after: Rows  # (released rows,) the group of each row
    totals: Floats  # (groups,) to keep: those of the original's weights, rounded
    cells: int = 0  # of the original
    pooled: int = 0  # cells that share a group with another
    steps: Floats = field(
        default_factory=_none
    )  # (groups,) of which totals are about multiples; 0 if all weights of a group are equal
    exact: Floats = field(default_factory=_none)  # (groups,) of the original's weights

    @property
    def within(self) -> float:
        """The largest part of a total by which it may be off, as far as the totals that are kept say."""
        multiples = np.where(self.steps > 0, np.rint(self.totals / np.maximum(self.steps, TINY)) * self.steps, 0.0)
        off = np.where(self.steps > 0, self.steps / 2 + np.abs(self.totals - multiples), 0.0)
        return float((off / np.maximum(self.totals, TINY)).max(initial=0.0))


def margins_of(
    tables: KeptTables, original: Table, released: Table, name: str, after: Floats, unit: str | None = None
) -> list[KeptMargin]:
    """The whole table, and the groups of each table to keep; no groups if there is no weight at all.

    ``unit`` is the column that says which rows of the original belong to one person or household.

    If the columns of one table are among those of another, its groups are unions of the other's groups. Otherwise the
    difference of two totals would be the total of a cell that was pooled.
    """
    before = np.nan_to_num(original[name].values, nan=0.0)
    if not before.any() or not after.any():
        return []
    cells = [cells_of(names, original, released) for names in ((), *tables)]
    groups = [
        _groups(_keys(names, (ours, theirs), (original, released)), ours[before > 0], theirs[after > 0])
        for names, (ours, theirs) in zip(((), *tables), cells, strict=True)
    ]
    by_size = sorted(range(len(groups)), key=lambda at: -len(((), *tables)[at]))
    for at, other in combinations(by_size, 2):
        if set(((), *tables)[other]) < set(((), *tables)[at]):
            groups[other] = _coarser(groups[other], cells[other][0], groups[at][cells[at][0]])
    owner = np.arange(len(before)) if unit is None else distinct_numbers(original[unit])
    found = [_margin(group, ours, theirs, before, owner) for group, (ours, theirs) in zip(groups, cells, strict=True)]
    return [replace(one, totals=total) for one, total in zip(found, rounded_totals(found), strict=True)]


def _keys(names: Sequence[str], cells: Sequence[Rows], tables: Sequence[Table]) -> Rows:
    """(cells, columns) the codes of each cell of some tables; cells are in the order of their codes."""
    every = np.concatenate(cells)
    found = np.zeros((int(every.max()) + 1, len(names)), np.int64)
    for at, name in enumerate(names):
        found[every, at] = _values_as_codes([table[name] for table in tables])
    return found


def _groups(keys: Rows, ours: Rows, theirs: Rows) -> Rows:
    """The group of each cell: put together with the next cells until there are enough people, and enough of them left.

    ``ours`` and ``theirs`` are the cells of people and of released rows. The next cell differs in the last column if
    there is one, then in the column before.

    >>> keys = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]])
    >>> people = np.repeat(np.arange(5), [50, 3, 4, 60, 12])
    >>> _groups(keys, people, people).tolist()
    [0, 0, 1, 1, 2]
    """
    people, left = (np.bincount(cells, minlength=len(keys)) for cells in (ours, theirs))

    def is_enough(cells: list[int]) -> bool:
        return bool(people[cells].sum() >= FEWEST_IN_GROUP and left[cells].sum() >= LEAST_LEFT * people[cells].sum())

    groups = [[cell] for cell in range(len(keys))]
    for depth in range(keys.shape[1] - 1, -1, -1):
        alike = groupby(groups, lambda cells, depth=depth: keys[cells[0], :depth].tolist())  # type: ignore[misc]
        groups = [group for _, some in alike for group in _joined(some, is_enough)]
    found = np.zeros(len(keys), np.int64)
    for number, group in enumerate(groups):
        found[group] = number
    return found


def _joined(groups: Iterable[list[int]], is_enough: Callable[[list[int]], bool]) -> list[list[int]]:
    """Groups put together with the next until there is enough in each; the last with the one before."""
    found: list[list[int]] = []
    for group in groups:
        if found and not is_enough(found[-1]):
            found[-1] = found[-1] + group
        else:
            found.append(group)
    if len(found) > 1 and not is_enough(found[-1]):
        found[-2:] = [found[-2] + found[-1]]
    return found


def _coarser(group: Rows, cells: Rows, other: Rows) -> Rows:
    """Groups of cells put together where a group of another table of the same rows has rows of both."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ours, theirs = group[cells], other + int(group.max()) + 1
    size = int(theirs.max()) + 1
    linked = connected_components(coo_array((np.ones(len(ours)), (ours, theirs)), (size, size)), directed=False)[1]
    return np.unique(linked[group], return_inverse=True)[1].ravel()


def _margin(group: Rows, ours: Rows, theirs: Rows, before: Floats, owner: Rows) -> KeptMargin:
    there = np.bincount(ours, minlength=len(group)) > 0
    size = int(group.max()) + 1
    cells = np.bincount(group[there], minlength=size)
    pooled = int(np.count_nonzero(cells[group[there]] > 1))
    totals = np.bincount(group[ours], before, size).astype(np.float64)
    steps = _steps(group[ours], before, owner, size)
    return KeptMargin(group[theirs], totals, int(np.count_nonzero(there)), pooled, steps, totals)


def _steps(group: Rows, weights: Floats, owner: Rows, size: int) -> Floats:
    """Of each group, half the range of what people add to its total, up to the next digit times a power of ten.

    >>> _steps(np.array([0, 0, 0, 1, 1]), np.array([100.0, 113.0, 146.0, 7.0, 7.0]), np.arange(5), 2).tolist()
    [30.0, 0.0]
    """
    pairs, place = np.unique(group * (int(owner.max(initial=0)) + 1) + owner, return_inverse=True)
    added = np.bincount(place.ravel(), weights, len(pairs))
    whose = (pairs // (int(owner.max(initial=0)) + 1))[added > 0]
    most, least = np.zeros(size), np.full(size, np.inf)
    np.maximum.at(most, whose, added[added > 0])
    np.minimum.at(least, whose, added[added > 0])
    half = np.where(most > least * (1 + KEPT), (most - np.minimum(least, most)) / 2, 0.0)
    power = 10.0 ** np.floor(np.log10(np.maximum(half, TINY)) + 1e-9)
    return np.where(half > 0, np.ceil(half / power - 1e-9) * power, 0.0)


def rounded_totals(margins: Sequence[KeptMargin]) -> list[Floats]:
    """The totals of each margin, rounded to their steps, then changed as little as weights that have them all need.

    Totals of groups add up to those of larger groups, but rounded ones do not. So they become the nearest ones that do,
    by least squares with a step as the unit. Nothing but the rounded totals and the groups of released rows decides on
    them: more digits say no more of the original.
    """
    largest = max((float(one.steps.max(initial=0.0)) for one in margins), default=0.0)
    if not largest:
        return [one.totals for one in margins]
    near = [np.where(one.steps > 0, np.rint(one.totals / np.maximum(one.steps, TINY)) * one.steps, one.totals)
            for one in margins]  # fmt: skip
    group = np.unique(np.column_stack([one.after for one in margins]), axis=0)
    size = [len(one.totals) for one in margins]
    trust = [np.maximum(one.steps, LEAST_STEP * largest) ** -2.0 for one in margins]

    def of_cells(figures: Sequence[Floats]) -> Floats:
        return np.asarray(sum((one[group[:, at]] for at, one in enumerate(figures)), np.zeros(len(group))))

    def of_groups(cells: Floats) -> list[Floats]:
        return [np.bincount(group[:, at], cells, count).astype(np.float64) for at, count in enumerate(size)]

    def times(cells: Floats) -> Floats:
        return of_cells([one * part for one, part in zip(trust, of_groups(cells), strict=True)])

    found = np.zeros(len(group))
    for _ in range(REFINED):
        gap = of_cells([one * (part - now) for one, part, now in zip(trust, near, of_groups(found), strict=True)])
        found = found + _solved(times, gap, of_cells(trust))
    return of_groups(found)


def raked(weights: Floats, margins: Sequence[KeptMargin], owner: Rows) -> Floats:
    """Weights that keep the totals of all tables; if no weights can, of all but the last, and so on."""
    for count in range(len(margins), 0, -1):
        found = _raked(weights, margins[:count], owner)
        if found is not None:
            return found
    return weights


def _raked(weights: Floats, margins: Sequence[KeptMargin], owner: Rows) -> Floats | None:
    """Weights times factors of groups, so that the totals of all groups are kept; None if that needs large factors.

    Rows with the same owner keep the same weight if they have it. The factor of a row is exp of the sum of a figure for
    each of its groups; the figures solve a convex problem, by Newton steps with conjugate gradients. Sums are made in
    the order of the rows, so that the same table gives the same bytes on any number of cores.
    """
    owner = owner if _is_constant(weights, owner) else np.arange(len(weights))
    units = int(owner.max(initial=-1)) + 1
    start = np.zeros(units)
    start[owner] = weights
    ends = np.cumsum([len(one.totals) for one in margins])[:-1]
    wanted = np.concatenate([one.totals for one in margins])

    def of_units(figures: Floats) -> Floats:
        parts = np.split(figures, ends)
        rows = sum((part[one.after] for part, one in zip(parts, margins, strict=True)), np.zeros(len(owner)))
        return np.bincount(owner, rows, units).astype(np.float64)

    def of_groups(values: Floats) -> Floats:
        return np.concatenate([np.bincount(one.after, values[owner], len(one.totals)) for one in margins])

    figures, new = np.zeros(len(wanted)), start
    for _ in range(ROUNDS):
        gap = wanted - of_groups(new)
        if (np.abs(gap) <= REACHED * wanted).all():
            break
        step = _solved(lambda v, new=new: of_groups(new * of_units(v)), gap, of_groups(new))  # type: ignore[misc]
        step *= min(1.0, FURTHEST / max(float(np.abs(of_units(step)).max()), 1e-300))
        best = (wanted * figures).sum() - new.sum()
        best -= EXACT * (abs(best) + new.sum())  # sums are rounded
        for _ in range(30):
            new = start * np.exp(of_units(figures + step))
            if (wanted * (figures + step)).sum() - new.sum() >= best:
                break
            step = step / 2
        figures = figures + step
    else:
        return None
    kept = (start > 0) & (new > 0)
    if np.count_nonzero(kept) < np.count_nonzero(start):
        return None
    found: Floats = new[owner]
    return found if (np.abs(np.log(new[kept] / start[kept])) <= np.log(MOST_FACTOR)).all() else None


def _solved(times: Callable[[Floats], Floats], right: Floats, scale: Floats) -> Floats:
    """The solution of a system of a positive semidefinite matrix, by conjugate gradients with a diagonal scale."""
    found, rest = np.zeros(len(right)), right.copy()
    scale = np.maximum(scale, 1e-300)
    way = near = rest / scale
    size = (rest * near).sum()
    first = size
    for _ in range(INNER_ROUNDS):
        image = times(way)
        curved = (way * image).sum()
        if size <= EXACT * first or curved <= EXACT * (way * scale * way).sum():  # groups may determine others
            break
        length = size / curved
        found, rest = found + length * way, rest - length * image
        near = rest / scale
        before, size = size, (rest * near).sum()
        way = near + size / before * way
    return found


def _is_constant(weights: Floats, owner: Rows) -> bool:
    first = np.zeros(int(owner.max(initial=-1)) + 1)
    first[owner] = weights
    return bool((first[owner] == weights).all())


@dataclass(frozen=True)
class KeptFact:
    """How far a table that was to be kept is kept; counts of cells."""

    columns: tuple[str, ...]  # none: the whole table
    cells: int  # that rows of the original are in
    same_rows: int  # of these, with as many released rows
    small: int  # of these, with too few rows to keep
    most_moved: float  # the largest relative change of rows, over cells that are not small
    weight: str = ""  # whose totals the others are about; "" without one
    pooled: int = 0  # cells whose weighted total is kept together with others
    missed: int = 0  # groups of cells whose weighted total is not kept
    weight_moved: float = 0.0  # the largest relative change of a weighted total, over groups
    within: float = 0.0  # the part of a weighted total by which rounding may change it, at most

    @property
    def text(self) -> str:
        """The columns."""
        return BETWEEN.join(self.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what is not kept."""
        found = []
        if self.small:
            found.append(
                f"{self.small:,} of {self.cells:,} cells of the table {self.text!r} have so few rows that their "
                "numbers are not kept on purpose; cells of the same levels may take some of these rows."
            )
        if self.most_moved > 0:
            found.append(
                f"The numbers of rows of the table {self.text!r} are kept in {self.same_rows:,} of {self.cells:,} "
                f"cells; the largest change of a larger cell is {self.most_moved:.1%}."
            )
        if self.pooled:
            found.append(
                f"{self.pooled:,} of {self.cells:,} cells of the table {self.text!r} keep their totals of "
                f"{self.weight!r} only together: some have fewer than {FEWEST_IN_GROUP} people, or none in the release."
            )
        if self.missed:
            found.append(
                f"Weights cannot keep {self.missed:,} totals of {self.weight!r} in the table {self.text!r}; the "
                f"largest change is {self.weight_moved:.1%}. Keep fewer tables, or tables of fewer columns."
            )
        return tuple(found)


def weight_sentences(weights: ReleasedWeights | None, facts: Iterable[KeptFact]) -> Iterator[str]:
    """What became of the weights, and of the tables to keep, for the summary of a release."""
    say = catalogue("release")
    if weights is not None:
        listed = ", ".join(weights.columns)
        yield say("weights", columns=listed, count=len(weights.columns), leave=weights.leave)
    for fact in facts:
        totals = "none" if not fact.weight else "missed" if fact.missed else "pooled" if fact.pooled else "kept"
        cells = {"same": fact.same_rows, "cells": fact.cells}
        within = f"{100 * fact.within:g}%" if fact.within else "none"
        yield say("kept-table", table=fact.text, **cells, totals=totals, weight=fact.weight, within=within)


def rounded(weights: Floats) -> Floats:
    """Weights with as many digits as their totals need: more would only make a long column.

    >>> rounded(np.array([12.838387881381582, 0.0, 17.25])).tolist()
    [12.83838788, 0.0, 17.25]
    """
    found, place = np.unique(weights, return_inverse=True)
    return np.array([float(f"{one:.{DIGITS}g}") for one in found])[place.ravel()]


def in_classes(weights: ReleasedWeights, released: Table, owner: Rows) -> Table:
    """The released table with its weights in classes; ``owner`` is the person or unit of each row."""
    return released.replace(
        replace_values(released[name], rounded(class_weights(released[name].values, owner))) for name in weights.treated
    )


def weighed(
    weights: ReleasedWeights, tables: KeptTables, original: Table, classed: Table, owner: Rows, unit: str | None
) -> Table:
    """The released table with the weights as they leave, from one with weights in classes."""
    if weights.leave != "calibrated":
        return classed
    new = []
    for column in (classed[name] for name in weights.columns):
        start = np.nan_to_num(column.values, nan=0.0)
        margins = margins_of(tables, original, classed, column.name, start, unit)
        values = np.where(column.missing, np.nan, rounded(raked(start, margins, owner)))
        new.append(replace_values(column, values))
    return classed.replace(new)


def kept_facts(
    tables: KeptTables,
    weights: ReleasedWeights | None,
    original: Table,
    released: Table,
    least: int,
    unit: str | None = None,
) -> tuple[KeptFact, ...]:
    """How far each table is kept: its counts of rows, and the weighted totals of each calibrated weight."""
    calibrated = weights.treated if weights is not None and weights.leave == "calibrated" else ()
    found = [_rows_kept(names, original, released, least) for names in tables]
    facts = [fact for name in calibrated for fact in _totals_kept(found, tables, name, original, released, unit)]
    return tuple(facts or found)


def _rows_kept(names: tuple[str, ...], original: Table, released: Table, least: int) -> KeptFact:
    cells = cells_of(names, original, released)
    width = 1 + max(int(one.max(initial=0)) for one in cells)
    ours, theirs = (np.bincount(one, minlength=width) for one in cells)
    there, large = ours > 0, ours >= least
    moved = np.abs(theirs - ours)[large] / ours[large]
    same = int(np.count_nonzero(there & (ours == theirs)))
    small = int(np.count_nonzero(there & ~large))
    return KeptFact(names, int(np.count_nonzero(there)), same, small, float(moved.max(initial=0.0)))


def _totals_kept(
    facts: Sequence[KeptFact], tables: KeptTables, name: str, original: Table, released: Table, unit: str | None
) -> Iterator[KeptFact]:
    after = np.nan_to_num(released[name].values, nan=0.0)
    margins = margins_of(tables, original, released, name, after, unit)[1:]
    for fact, one in zip(facts, margins, strict=bool(margins)):
        found = np.bincount(one.after, after, len(one.totals))
        missed = int(np.count_nonzero(~(np.abs(found - one.totals) <= KEPT * one.totals)))
        moved = float((np.abs(found - one.exact) / one.exact).max())
        yield replace(
            fact, weight=name, pooled=one.pooled, missed=missed, weight_moved=moved, within=_coarse(one.within)
        )


def _coarse(share: float) -> float:
    """A share with one digit, rounded up.

    >>> [_coarse(share) for share in (0.0, 0.0123, 0.2, 0.0071)]
    [0.0, 0.02, 0.2, 0.008]
    """
    if share <= 0:
        return 0.0
    digits = -floor(log10(share) + 1e-9)
    return round(ceil(share * 10.0**digits - 1e-9) / 10.0**digits, digits)


def nearest_weights(table: Table, released: Table, names: Iterable[str]) -> Table:
    """A table whose weights are the nearest ones that were released: what a person's own weight is compared with."""
    return table.replace(_nearest(table[name], released[name]) for name in names if name in released.names)


def _nearest(column: Column, released: Column) -> Column:
    values = np.unique(released.values[~released.missing])
    if not len(values):
        return column
    above = np.clip(np.searchsorted(values, column.values), 1, max(len(values) - 1, 1))
    low, high = values[above - 1], values[np.minimum(above, len(values) - 1)]
    near = np.where(column.values - low <= high - column.values, low, high)
    return replace(column, values=np.where(column.missing, np.nan, near), grid=None, stored=None)
