"""Recipes that only recode: values become coarser or missing, and each row keeps its own.

These are the suppression methods of statistical disclosure control. They draw nothing and move nothing, so an attacker
who knows a person's exact values finds the rows that are equal to them once they are recoded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from math import ceil, prod
from typing import Literal, TypeAlias

import numpy as np

from leafcover.arrays import Rows, Words
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.recipes.plan import Names, Plan, chosen_columns, listed_names
from leafcover.recipes.registry import recipe
from leafcover.recode.base import Recoding
from leafcover.recode.generalise import Generalise, Hierarchy, hierarchy_of
from leafcover.recode.intervals import Intervals, Shown, equal_frequency_edges
from leafcover.recode.local_suppression import LocalSuppression
from leafcover.recode.numbers import BottomCode, Period, Round, TopCode, Truncate, as_given
from leafcover.recode.suppress import Suppress
from leafcover.table.recoding import FEWEST
from leafcover.table.table import Column, Table, splitmix64

FINEST = 16  # intervals of a number, which are then joined two by two
RARE = (0.02, 0.1)  # shares below which levels without a hierarchy become "other", step by step
OTHER = "other"
CODE_LENGTHS = (3, 12)  # of levels that are cut character by character
MOST_COMBINATIONS = 5_000_000  # of steps; with more the search is greedy from the beginning
MOST_WORK = 1_000_000_000  # rows that are sorted, in all, before the search becomes greedy: about 20 seconds

TIMES: tuple[Period, ...] = ("day", "month", "year")
DATES: tuple[Period, ...] = ("month", "quarter", "year")
Steps: TypeAlias = tuple[int, ...]  # of each column; 0 leaves it as it is
MOST_K = 100_000
Hierarchies: TypeAlias = str | Mapping[str, str]  # files by column; on a command line as job=jobs.csv,zip=zip.csv


def _columns(table: Table, columns: Names | None, recipe: str, kinds: Sequence[str]) -> list[Column]:
    """The columns named, or those of some kinds that vary."""
    return [table[name] for name in chosen_columns(table, columns, recipe, tuple(kinds))]


@recipe("round", recodes=True)
def round(  # noqa: A001  # the recipe is called so
    table: Table, *, digits: int = 2, to: float | None = None, period: Period = "month", columns: Names | None = None
) -> Plan:
    """Round numbers to significant digits, and dates and times to the beginning of their month.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    digits : int, default 2
        The number of significant digits.
    to : float, optional
        The multiple to round to, instead.
    period : {"hour", "day", "week", "month", "quarter", "year"}, default "month"
        The period of dates and times.
    columns : str or list of str, optional
        The columns to round, as "a,b" or ["a", "b"]. Default: all numbers, dates and times except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.plan_for(table, "round", settings={"digits": 1, "columns": "wage"}).recode
    (Round(column='wage', to=None, digits=1),)
    """
    found: list[Recoding] = []
    for column in _columns(table, columns, "round", ("number", "date", "time")):
        if column.kind == "number":
            found.append(Round(column.name, digits=digits) if to is None else Round(column.name, to=to))
        else:
            found.append(Truncate(column.name, "day" if column.kind == "date" and period == "hour" else period))
    return Plan(recode=found)


@recipe("top-code", recodes=True)
def top_code(
    table: Table,
    *,
    share: float = 0.01,
    ends: Literal["both", "top", "bottom"] = "both",
    to: Literal["mean", "threshold"] = "mean",
    columns: Names | None = None,
) -> Plan:
    """Replace the largest and the smallest numbers by their mean: a share of the rows at each end, at least 5.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    share : float, default 0.01
        The share of the rows with a value that is coded at each end.
    ends : {"both", "top", "bottom"}, default "both"
        Which ends are coded.
    to : {"mean", "threshold"}, default "mean"
        What coded values become. Means keep the mean of the column.
    columns : str or list of str, optional
        The columns to code, as "a,b" or ["a", "b"]. Default: all numbers, dates and times except weights.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.top_code(table, columns="wage", share=0.02)
    >>> [(type(one).__name__, one.at, one.to) for one in plan.recode]
    [('TopCode', 23.0, 26.81), ('BottomCode', 3.35, 2.99)]
    """
    if not 0 < share < 1:
        raise ValueOutOfRange("top-code's share", share, "a share of the rows above 0 and below 1")
    found: list[Recoding] = []
    for column in _columns(table, columns, "top-code", ("number", "date", "time")):
        known = np.sort(column.values[~column.missing])
        rows = min(max(FEWEST, ceil(share * len(known))), len(known))
        if ends != "bottom" and known[-rows] < known[-1]:  # otherwise enough rows have the largest value
            found.append(TopCode(column.name, rows=rows, to=to))
        if ends != "top" and known[0] < known[rows - 1]:
            found.append(BottomCode(column.name, rows=rows, to=to))
    if not found:
        raise PlanError("Recipe 'top-code' would change nothing: enough rows have the extremes. Use a larger share.")
    return Plan(recode=found)


@recipe("intervals", recodes=True)
def intervals(table: Table, *, count: int = 5, to: Shown = "label", columns: Names | None = None) -> Plan:
    """Replace numbers and dates by intervals that hold about equally many rows.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    count : int, default 5
        The number of intervals of each column.
    to : {"label", "midpoint", "mean"}, default "label"
        What values become: the label of the interval, such as "20-24", its middle or its mean.
    columns : str or list of str, optional
        The columns to divide, as "a,b" or ["a", "b"]. Default: all numbers and dates except weights and the target.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.intervals(table, columns="age", count=3).recode[0].edges
    (31.0, 41.0)
    """
    named = _columns(table, columns, "intervals", ("number", "date"))
    chosen = [c for c in named if columns is not None or table.roles.get(c.name) != "target"]
    if not chosen:
        raise PlanError("Recipe 'intervals' divides numbers, and only the target is one. Name columns, or use another.")
    return Plan(recode=[Intervals(column.name, count=count, to=to) for column in chosen])


def quasi_identifiers(table: Table, columns: Names | None, recipe: str) -> list[str]:
    """The columns named, or those with that role; without any, all that an attacker may know."""
    if columns is not None:
        names = listed_names(columns, table)
        if missing := [name for name in names if name not in table.names]:
            chosen_columns(table, missing, recipe, ("number", "category", "date", "time"))
        return names
    roles = ("target", "sensitive", "weight", "unit", "unchanged", "identifier")
    return list(table.with_role("quasi-identifier")) or [n for n in table.names if table.roles.get(n) not in roles]


@recipe("generalise", recodes=True)
def generalise(
    table: Table,
    *,
    k: int = 5,
    columns: Names | None = None,
    hierarchies: Hierarchies | None = None,
    most_suppressed: float = 0.05,
) -> Plan:
    """Generalise quasi-identifiers as little as possible until k rows are equal in them (full-domain generalisation).

    A category follows its hierarchy; without one, codes lose their last characters, and rare levels become "other".
    Numbers become intervals, dates the beginning of a month, quarter or year. A share of the rows may stay in smaller
    classes: some of their values are made missing.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    k : int, default 5
        The minimum number of rows that are equal in all quasi-identifiers.
    columns : str or list of str, optional
        The quasi-identifiers, as "a,b" or ["a", "b"]. Default: the columns with that role; without any, all but the
        target, sensitive attributes and weights.
    hierarchies : mapping of str to str, optional
        The file of the hierarchy of a column, as {"job": "jobs.csv"} or "job=jobs.csv,zip=zip.csv".
    most_suppressed : float, default 0.05
        The share of the rows that may be in smaller classes before values are made missing.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.generalise(table, columns="age,occupation,gender", k=5)
    >>> [(type(one).__name__, *one.columns) for one in plan.recode]
    [('Intervals', 'age'), ('LocalSuppression', 'age', 'occupation', 'gender')]
    """
    _check_k("generalise", k)
    if not 0 <= most_suppressed < 1:
        raise ValueOutOfRange("generalise's most_suppressed", most_suppressed, "a share from 0 to below 1")
    names = quasi_identifiers(table, columns, "generalise")
    given = _hierarchies(hierarchies, names)
    search = Search(
        tuple(ladder_of(table, name, given.get(name)) for name in names), k, int(most_suppressed * len(table))
    )
    steps = search.best()
    chosen: list[Recoding] = [
        ladder.recodings[step - 1] for ladder, step in zip(search.ladders, steps, strict=True) if step
    ]
    if search.in_small_classes(steps):
        chosen.append(LocalSuppression(tuple(names), k=k))
    if not chosen:
        raise PlanError(
            f"There is nothing to make coarser: in {', '.join(names)} every row equals at least {k - 1} others. "
            "Name more columns, a larger k, or a recipe that changes values, such as cover."
        )
    return Plan(recode=chosen)


def _hierarchies(given: Hierarchies | None, names: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchy of each column that has one."""
    pairs = [one.partition("=")[::2] for one in given.split(",")] if isinstance(given, str) else (given or {}).items()
    found = {}
    for name, file in pairs:
        if name.strip() not in names:
            raise NameUnknown("column", name.strip(), names, "among the quasi-identifiers, to have a hierarchy")
        found[name.strip()] = hierarchy_of(file.strip() if isinstance(file, str) else file)
    return found


@recipe("suppress", recodes=True)
def suppress(
    table: Table,
    *,
    k: int = 3,
    columns: Names | None = None,
    importance: Names | None = None,
    sensitive: Names | None = None,
    l: int | None = None,  # noqa: E741  # its name in the literature
) -> Plan:
    """Make as few values of quasi-identifiers missing as possible until k people agree in them (local suppression).

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    k : int, default 3
        The minimum number of rows that agree in all quasi-identifiers.
    columns : str or list of str, optional
        The quasi-identifiers, as "a,b" or ["a", "b"]. Default: the columns with that role; without any, all but the
        target, sensitive attributes and weights.
    importance : str or list of str, optional
        The quasi-identifiers whose values shall stay, the most important first.
    sensitive : str or list of str, optional
        Sensitive attributes of which people who agree shall have several values (l-diversity).
    l : int, optional
        How many different values of each.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.recipes.suppress(table, columns="region,occupation,gender").recode[0].columns
    ('region', 'occupation', 'gender')
    """
    _check_k("suppress", k)
    names = quasi_identifiers(table, columns, "suppress")
    first, hidden = ([] if one is None else listed_names(one, table) for one in (importance, sensitive))
    return Plan(recode=[LocalSuppression(names, k=k, importance=first, sensitive=hidden, l=l)])  # type: ignore[arg-type]


def _check_k(recipe: str, k: int) -> None:
    if not 2 <= k <= MOST_K:
        raise ValueOutOfRange(f"{recipe}'s k", k, f"a whole number of rows from 2 to {MOST_K:,}")


# Full-domain generalisation: the least coarse levels of some columns that make enough rows equal in them.
#
# Every column has a ladder of recodings, each coarser than the one before. The search finds the combination of steps
# that loses least among all that reach k-anonymity but for a share of the rows (Samarati 2001; LeFevre and others 2005;
# El Emam and others 2009).


@dataclass(frozen=True, eq=False)
class Ladder:
    """The recodings of a column, each coarser than the one before; the first step changes nothing."""

    column: str
    recodings: tuple[Recoding, ...]
    codes: tuple[Rows, ...]  # (rows,) the value of each row after each step; a missing value is one of its own
    losses: tuple[float, ...]  # of each step, from 0 to 1

    @property
    def top(self) -> int:
        """The number of the last step."""
        return len(self.recodings)


def ladder_of(table: Table, name: str, hierarchy: Hierarchy | None = None) -> Ladder:
    """The ladder of a column: by its hierarchy, or one that suits its kind."""
    column = table[name]
    chosen: list[Recoding] = []
    codes = [codes_of(column)]
    for one in (*_recodings(column, hierarchy), Suppress(name, every=True)):
        code = codes_of(one.apply(table)[name])
        if code.max(initial=0) < codes[-1].max(initial=0):  # otherwise nothing became equal
            chosen.append(one)
            codes.append(code)
    return Ladder(name, tuple(chosen), tuple(codes), tuple(_loss(code, codes[0]) for code in codes))


def _loss(code: Rows, finest: Rows) -> float:
    """The loss of a step: the mean of the share of information that is lost, and its square.

    So two columns that lose half of their information each are better than one that loses all of it.
    """
    whole = entropy(finest)
    share = 0.0 if whole == 0 else 1 - entropy(code) / whole
    return (share + share**2) / 2


def _recodings(column: Column, hierarchy: Hierarchy | None) -> Iterator[Recoding]:
    """Coarser and coarser recodings of a column, before it is hidden."""
    name, known = column.name, np.sort(column.values[~column.missing])
    if hierarchy is not None:
        for level in range(1, hierarchy.depth + 1):
            yield Generalise(name, groups=tuple(hierarchy.groups(level).items()), others="refuse")
    elif column.is_category:
        yield from _of_levels(column)
    elif column.kind == "time":
        yield from (Truncate(name, period) for period in TIMES)
    elif column.kind == "date" and len(np.unique(known // 365)) > 2:
        yield from (Truncate(name, period) for period in DATES)
    elif len(known) and known[0] < known[-1]:
        edges = equal_frequency_edges(known, FINEST, column)
        while len(edges):
            yield Intervals(name, edges=tuple(as_given(column, float(edge)) for edge in edges))
            edges = edges[1::2]


def _of_levels(column: Column) -> Iterator[Recoding]:
    """Codes are cut character by character; other levels become "other", the rarest first."""
    lengths = {len(level) for level in column.levels}
    low, high = CODE_LENGTHS
    if len(lengths) == 1 and low <= (size := lengths.pop()) <= high and any(c.isdigit() for c in column.levels[0]):
        for prefix in range(size - 1, 0, -1):
            yield Generalise(column.name, prefix=prefix)
        return
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    for share in RARE:
        rare = [level for level, count in zip(column.levels, counts, strict=True) if count < share * len(column)]
        if len(rare) > 1:
            yield Generalise(column.name, groups=((OTHER, tuple(level for level in rare if level != OTHER)),))


def codes_of(column: Column) -> Rows:
    """A number for each distinct value; a missing value has one, too."""
    values = column.values
    comparable = np.where(column.missing, np.inf, values) if values.dtype.kind == "f" else values
    return np.unique(comparable, return_inverse=True)[1].ravel().astype(np.int64)


def entropy(code: Rows) -> float:
    """The entropy of codes in bits."""
    shares = np.bincount(code) / max(len(code), 1)
    shares = shares[shares > 0]
    return float(-(shares * np.log2(shares)).sum())


@dataclass(frozen=True, eq=False)
class Search:
    """Ladders of some columns, and how many rows may be in classes of fewer than k."""

    ladders: tuple[Ladder, ...]
    k: int
    most: int

    @cached_property
    def words(self) -> tuple[tuple[Words, ...], ...]:
        """For each column and step a random word for the value of each row.

        Rows are equal in all columns if their sums of words are: classes are counted by one sort, in a fifth of the
        time that it takes to number them. The probability that any two of a million sums are equal by chance is 3e-8.
        """
        return tuple(
            tuple(splitmix64(code.astype(np.uint64) + np.uint64(number << 40)) for code in ladder.codes)
            for number, ladder in enumerate(self.ladders)
        )

    def loss(self, steps: Steps) -> float:
        """The mean loss of the columns."""
        return sum(one.losses[step] for one, step in zip(self.ladders, steps, strict=True)) / len(steps)

    def in_small_classes(self, steps: Steps) -> int:
        """How many rows are in classes of fewer than k."""
        total = self.words[0][steps[0]].copy()
        for column, step in zip(self.words[1:], steps[1:], strict=True):
            total += column[step]
        total.sort()
        begin = np.flatnonzero(np.append(True, total[1:] != total[:-1]))
        sizes = np.diff(np.append(begin, len(total)))
        return int(sizes[sizes < self.k].sum())

    def fails(self, steps: Steps) -> bool:
        """Whether too many rows are in small classes."""
        return self.in_small_classes(steps) > self.most

    def best(self) -> Steps:
        """The steps that lose least.

        Whatever is as coarse as a combination that fails, or finer, fails, too. So from a combination that fails the
        search climbs to one that fails although every further step would mend it, and goes on beyond that.
        """
        start = tuple(0 for _ in self.ladders)
        waiting, seen = [(0.0, start)], {start}
        failing = np.empty((0, len(start)), np.int64)
        each = sum(ladder.top for ladder in self.ladders) + len(start)  # combinations that are tried for a climb
        most = max(1, MOST_WORK // (each * max(len(self.ladders[0].codes[0]), 1)))
        if prod(ladder.top + 1 for ladder in self.ladders) > MOST_COMBINATIONS:
            most = 0
        while waiting:
            steps = heappop(waiting)[1]
            over = np.flatnonzero((failing >= steps).all(axis=1))
            if len(over):
                ceiling: Steps = tuple(failing[over[0]].tolist())
            elif not self.fails(steps):
                return steps
            elif len(failing) >= most:
                return self._greedy()
            else:
                ceiling = self._climbed(steps)
                failing = np.vstack([failing, ceiling])
            for column, ladder in enumerate(self.ladders):
                if ceiling[column] < ladder.top:
                    after = (*steps[:column], ceiling[column] + 1, *steps[column + 1 :])
                    if after not in seen:
                        seen.add(after)
                        heappush(waiting, (self.loss(after), after))
        raise PlanError(f"The table has fewer than {self.k} rows, so no recoding makes so many equal. Use a smaller k.")

    def _climbed(self, steps: Steps) -> Steps:
        """A combination that is at least as coarse and fails, of which any further step would mend it."""
        for column, ladder in enumerate(self.ladders):
            while steps[column] < ladder.top:
                after = (*steps[:column], steps[column] + 1, *steps[column + 1 :])
                if not self.fails(after):
                    break
                steps = after
        return steps

    def _greedy(self) -> Steps:
        """Steps that do not fail: as coarse as possible, and then finer again where that gains most."""
        steps: Steps = tuple(ladder.top for ladder in self.ladders)
        while True:
            finer = [
                (self.loss(after), after)
                for column, step in enumerate(steps)
                if step and not self.fails(after := (*steps[:column], step - 1, *steps[column + 1 :]))
            ]
            if not finer:
                return steps
            steps = min(finer)[1]
