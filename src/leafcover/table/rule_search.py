"""Find rules between the columns of a table: what (almost) all of its rows keep, and chance would break.

Every kind of rule is proposed by a few rows and then checked on all. A rule counts only if independent columns would
break it in many rows, so that tables of unrelated columns have none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import log

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.errors import PlanError
from leafcover.table.column_rules import (
    EXCEPTIONS,
    SURE,
    ColumnRule,
    Determines,
    Linear,
    MissingTogether,
    Moment,
    Pairs,
    Sum,
    impossible,
    level_codes,
    level_count,
    pair_counts,
)
from leafcover.table.table import Column, Table

LOOKED_AT = 2000  # rows that propose orders and moments
ROWS_A_COLUMN = 4  # rows that each column contributes to the search for sums
EXTRA_ROWS = 30
SORTED_ROWS = 20_000  # in which they are looked for
NEGLIGIBLE = 1e-7  # of a column's spread: what is left of it if it is a sum of others
MOST_TERMS = 12
HUGE = 1e100  # sums of products of such numbers overflow
FEW_VALUES = 10  # distinct values up to which a number may be a code
MOST_LEVELS = 300
LEAST_BROKEN = 0.02  # the share of rows in which independent columns would break an order, from which it is a rule
ROWS_A_LEVEL = 5  # a level that fewer rows have determines what its people have in other columns
NO_RULES_FOR = ("unit", "identifier", "weight")  # roles


@dataclass(frozen=True)
class FoundRule:
    """A rule, and how many of the rows it applies to keep it."""

    rule: ColumnRule
    rows: int
    kept: int

    @property
    def share(self) -> float:
        """The share of rows that keep the rule."""
        return self.kept / self.rows if self.rows else 1.0


def check_rule(rule: ColumnRule, table: Table, original: Table) -> FoundRule:
    """How many rows of a table keep a rule of the original."""
    applies = rule.applies(table)
    return FoundRule(rule, int(applies.sum()), int((applies & rule.holds(table, original)).sum()))


LEAST_KEPT = 0.99  # the share of rows that keep a declared equation or order: the others get new values


def refuse_unkept(rules: Sequence[ColumnRule], table: Table) -> None:
    """Raise an error if a declared equation or order is not what the rows of a table keep, nearly everywhere.

    It would not be kept but made: an equation overwrites a column.
    """
    for rule in rules:
        if not rule.ties or any(name not in table.names or table[name].is_category for name in rule.columns):
            continue  # another error says so
        found = check_rule(rule, table, table)
        if found.share < LEAST_KEPT:
            raise PlanError(
                f"The rule {rule.text!r} does not hold: {found.kept:,} of {found.rows:,} rows keep it, and at least "
                f"{LEAST_KEPT:.0%} must. Correct the rule or the rows, or leave it out."
            )


def find_rules(table: Table) -> tuple[FoundRule, ...]:
    """The rules that almost all rows of a table keep, where chance would break them in many rows.

    Parameters
    ----------
    table : Table
        The table. Units, identifiers and weights have no rules.

    Returns
    -------
    tuple of FoundRule
        Equations first, then dates, orders, values missing together, columns that determine others, pairs of levels.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> [(str(found.rule), found.kept, found.rows) for found in find_rules(table)]
    [('experience <= age', 534, 534)]
    """
    columns = [c for c in table if table.roles.get(c.name) not in NO_RULES_FOR and not c.missing.all()]
    table = table.select(c.name for c in columns)
    numbers = [c for c in columns if not c.is_category and _scale(c) < HUGE]
    equations = list(_equations(numbers, table))
    found: list[ColumnRule] = [*equations, *_moments(numbers, table)]
    found += _orders(numbers, table, equations)
    found += _missing_together(columns)
    found += _between_levels(columns)
    return tuple(check_rule(rule, table, table) for rule in found)


NEAR_UNIQUE = 0.5  # the share of rows whose values in the columns of a rule too few rows have
SHARED_BY_CHANCE = 0.1  # the share of rows whose values somebody else has, from which they occur in any sample


def is_near_unique(rule: ColumnRule, table: Table) -> bool:
    """Whether most rows share their values in the columns of a rule with too few others for them to be published.

    Numbers that a new sample of people would have, too, are no such values.
    """
    _, number, held = np.unique(block_of(rule, table, table), axis=0, return_inverse=True, return_counts=True)
    rows = number.ravel()
    if not len(rows) or (held[rows] < ROWS_A_LEVEL).mean() <= NEAR_UNIQUE:
        return False
    return not rule.ties or bool(np.isin(rows[::2], rows[1::2]).mean() < SHARED_BY_CHANCE)


def block_of(rule: ColumnRule, table: Table, original: Table) -> Floats:
    """The columns of a rule in the rows it applies to, levels as the original numbers them."""
    columns = [level_codes(table[n], original[n]) if table[n].is_category else table[n].values for n in rule.columns]
    return np.column_stack(columns).astype(np.float64)[rule.applies(table)]


def _nearly_all(rule: ColumnRule, table: Table) -> bool:
    """Whether at most a thousandth of the rows break a rule."""
    found = check_rule(rule, table, table)
    return found.rows > 0 and found.rows - found.kept <= EXCEPTIONS * found.rows


def _broken(rule: ColumnRule, table: Table) -> int:
    found = check_rule(rule, table, table)
    return found.rows - found.kept


# Sums. A column that is a linear combination of others in some rows is proposed as an equation. Columns with a small
# spread come first, so that totals are explained by their parts.


def _equations(numbers: Sequence[Column], table: Table) -> Iterator[Linear]:
    spread = {c.name: float(np.nanstd(c.values / _scale(c))) * _scale(c) for c in numbers}
    varying = sorted((c for c in numbers if spread[c.name] > 0), key=lambda c: (spread[c.name], c.name))
    varying = _known_together(varying)
    if len(varying) < 2:
        return
    found: dict[str, Linear] = {}
    for attempt in range(3):  # a row that breaks a rule hides it, so other rows are tried
        rows = _telling_rows(varying, attempt)
        if len(rows) < len(varying) + 10:
            return
        for rule in _dependent([c.values[rows] for c in varying], [c.name for c in varying]):
            own = rule.left.terms[0][1]
            if own not in found and _informative(table[own]) and _nearly_all(rule, table):
                found[own] = rule
                yield rule


def _scale(column: Column) -> float:
    return max(float(np.nanmax(np.abs(column.values), initial=0.0)), np.finfo(np.float64).tiny)


def _known_together(columns: Sequence[Column]) -> list[Column]:
    """The columns without those that leave too few rows in which all are known."""
    kept = list(columns)
    while kept:
        known = np.logical_and.reduce([~c.missing for c in kept])
        if known.sum() >= len(kept) + EXTRA_ROWS:
            break
        kept.remove(max(kept, key=lambda c: int(c.missing.sum())))
    return kept


def _telling_rows(columns: Sequence[Column], attempt: int) -> Rows:
    """Rows in which all columns are known, some for each column with values from low to high.

    Values are sorted in a part of the rows: in all of a million the search would take a seventh of a release. Rows that
    do not have the most frequent value of that part are added, so that a column with few other values shows them.
    """
    known = np.flatnonzero(np.logical_and.reduce([~c.missing for c in columns]))
    shift = (attempt + 1) / 4
    part = _spread(known, SORTED_ROWS, shift)
    chosen = [_spread(known, EXTRA_ROWS, shift)]
    for column in columns:
        values, first, count = np.unique(column.values[part], return_index=True, return_counts=True)
        rare = known[column.values[known] != values[count.argmax()]]
        chosen += [_spread(part[first], ROWS_A_COLUMN, shift), _spread(rare, ROWS_A_COLUMN, shift)]
    return np.unique(np.concatenate(chosen))


def _spread(rows: Rows, count: int, shift: float) -> Rows:
    """So many rows at equal distances; all if there are fewer."""
    if len(rows) <= count:
        return rows
    return rows[((np.arange(count) + shift) * len(rows) / count).astype(np.int64)]


def _dependent(values: Sequence[Floats], names: Sequence[str]) -> Iterator[Linear]:
    """Equations for the columns that are sums of columns before them, by orthogonal steps."""
    basis: list[Floats] = []  # orthonormal
    members: list[int] = []
    triangle: list[Floats] = []  # the coordinates of each member in the basis
    for number, one in enumerate(values):
        centred = one - one.mean()
        length = float(np.sqrt(centred @ centred))
        if not np.isfinite(length) or length == 0:
            continue
        rest, at = centred / length, np.zeros(len(basis))
        for _ in range(2):  # twice is enough for full precision
            for i, direction in enumerate(basis):
                along = float(rest @ direction)
                rest, at[i] = rest - along * direction, at[i] + along
        left = float(np.sqrt(rest @ rest))
        if left > NEGLIGIBLE:
            basis.append(rest / left)
            members.append(number)
            triangle.append(np.append(at, left) * length)
            continue
        whole = np.zeros((len(basis), len(basis)))
        for i, coordinates in enumerate(triangle):
            whole[: len(coordinates), i] = coordinates
        weights = np.linalg.solve(whole, at * length) if basis else np.empty(0)
        rule = _equation(one, [(w, values[m], names[m]) for w, m in zip(weights, members, strict=True)], names[number])
        if rule is not None:
            yield rule


def _equation(own: Floats, terms: Sequence[tuple[float, Floats, str]], name: str) -> Linear | None:
    """The equation with coefficients of a few digits."""
    spread = float(own.std())
    kept = [(_simple(w), values, other) for w, values, other in terms if abs(w) * values.std() > 1e-6 * spread]
    if not kept or len(kept) > MOST_TERMS:
        return None
    constant = float(np.median(own - sum(w * values for w, values, _ in kept)))
    constant = 0.0 if abs(constant) < 1e-7 * max(spread, 1e-300) else _simple(constant)
    return _as_total(Linear(Sum(((1.0, name),)), "==", Sum(tuple((w, other) for w, _, other in kept), constant)))


def _as_total(rule: Linear) -> Linear:
    """The same equation for the column that is a sum of the others, none of them subtracted, if there is one."""
    for name in rule.columns:
        parts = rule.solved_for(name)
        if all(coefficient > 0 for coefficient, _ in parts.terms):
            return Linear(Sum(((1.0, name),)), "==", parts)
    return rule


def _simple(given: float) -> float:
    """A number with few digits, if it is near one; the inverse of a whole number too."""
    number = float(given)
    for digits in range(7):
        if abs(rounded := round(number, digits)) > 0 and abs(rounded - number) <= 1e-6 * abs(number):
            return rounded
    whole = round(1 / number) if number else 0
    return 1 / whole if whole and abs(1 / whole - number) <= 1e-6 * abs(number) else number


def _informative(column: Column) -> bool:
    """Whether enough rows differ from the most frequent value to tell an equation from a coincidence."""
    known = column.values[~column.missing]
    _, counts = np.unique(known, return_counts=True)
    return len(known) - int(counts.max(initial=0)) >= SURE


# Dates and times.


def _moments(numbers: Sequence[Column], table: Table) -> Iterator[Moment]:
    few = table.take(_some_rows(len(table)))
    for of in numbers:
        if of.kind not in ("date", "time"):
            continue
        for column in numbers:
            wanted = {"date": ("day",) if of.kind == "time" else (), "number": ("year", "month")}.get(column.kind, ())
            for function in wanted:
                rule = Moment(column.name, function, of.name)  # type: ignore[arg-type]
                if column is not of and _informative(column) and _nearly_all(rule, few) and _nearly_all(rule, table):
                    yield rule


def _some_rows(rows: int) -> Rows:
    count = min(rows, LOOKED_AT)
    return np.arange(count) * rows // max(count, 1)


# Orders. Where ranges hardly overlap, an order is trivial; only those that independent columns would break are rules.


def _orders(numbers: Sequence[Column], table: Table, equations: Sequence[Linear]) -> list[Linear]:
    few = table.take(_some_rows(len(table)))
    computed = {rule.left.terms[0][1] for rule in equations}
    below: dict[tuple[str, str], Linear] = {}
    rows = len(table)
    free = [c for c in numbers if c.name not in computed and _many_values(few[c.name])]
    for low, high in permutations(free, 2):
        if low.kind != high.kind:
            continue
        rule = Linear(Sum(((1.0, low.name),)), "<=", Sum(((1.0, high.name),)))
        if not _nearly_all(rule, few):
            continue
        chance = rows * _broken_by_chance(few[low.name].values, few[high.name].values)
        if chance >= max(SURE, LEAST_BROKEN * rows) and _broken(rule, table) <= EXCEPTIONS * min(chance, rows):
            below[low.name, high.name] = rule
    return [rule for pair, rule in below.items() if not _follows(pair, below)]


def _many_values(column: Column) -> bool:
    """Whether a number has more than a few values: codes such as 0, 1 and 2 are below most numbers."""
    return len(np.unique(column.values[~column.missing])) > FEW_VALUES


def _broken_by_chance(low: Floats, high: Floats) -> float:
    """The share of rows that would break an order if the columns were independent."""
    known = ~(np.isnan(low) | np.isnan(high))
    low, high = low[known], np.sort(high[known])
    if not len(high):
        return 0.0
    return float(np.searchsorted(high, low, side="left").mean() / len(high)) * float(known.mean())


def _follows(pair: tuple[str, str], below: dict[tuple[str, str], Linear]) -> bool:
    """Whether an order follows from two others."""
    low, high = pair
    return any((low, middle) in below and (middle, high) in below for _, middle in below if middle not in pair)


# Missing values and levels.


def _missing_together(columns: Sequence[Column]) -> Iterator[MissingTogether]:
    groups: dict[bytes, list[str]] = {}
    for column in columns:
        missing = column.missing
        if min(int(missing.sum()), int((~missing).sum())) >= 1:
            groups.setdefault(np.packbits(missing).tobytes(), []).append(column.name)
    count = {name: int(c.missing.sum()) for c in columns for name in (c.name,)}
    rows = len(columns[0]) if columns else 0
    for names in groups.values():
        gone = count[names[0]]
        if len(names) > 1 and 2 * gone * (rows - gone) / rows >= SURE:  # rows that chance would break
            yield MissingTogether(tuple(names))


def _between_levels(columns: Sequence[Column]) -> list[ColumnRule]:
    """Columns that determine others, and columns with pairs of levels that do not occur."""
    leveled = [
        c
        for c in columns
        if (c.is_category and len(c.levels) <= MOST_LEVELS) or (not c.is_category and c.missing.any())
    ]
    codes = {c.name: level_codes(c, c).astype(np.int64) for c in leveled}
    determined: list[ColumnRule] = []
    paired: dict[str, None] = {}
    masks = {c.name: np.packbits(c.missing).tobytes() for c in leveled if c.missing.any()}
    for one, other in combinations(leveled, 2):
        counts = pair_counts(codes[one.name], level_count(one), codes[other.name], level_count(other))
        found = [
            Determines(by.name, column.name)
            for by, column, table in ((one, other, counts), (other, one, counts.T))
            if by.is_category and column.is_category and _determines(table)
        ]
        determined += found
        never = impossible(counts)
        if masks.get(one.name, b"1") == masks.get(other.name, b"2"):  # that rule is a rule of its own
            never[:-1, -1] = never[-1, :-1] = False
        if not found and never.any():
            paired |= {one.name: None, other.name: None}
    names = tuple(c.name for c in columns if c.name in paired)
    return [*determined, Pairs(names)] if names else determined


def _determines(counts: Array) -> bool:
    """Whether nearly all rows with one level have one level of the other column, and chance would not do that."""
    rows, total = counts.sum(axis=1), int(counts.sum())
    held = rows[rows > 0]
    if len(held) < 2 or held.min() < ROWS_A_LEVEL:
        return False
    most = counts.max(axis=1)
    common = float(counts.sum(axis=0).max()) / total
    if common >= 1 or total - int(most.sum()) > EXCEPTIONS * total:
        return False
    return float(np.maximum(most - 1, 0).sum()) * -log(common) >= SURE
