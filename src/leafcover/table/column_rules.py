"""Rules between columns: sums, orders, dates, columns that determine others, values that are missing together.

A rule is written as text, in plan files and on the command line:

    total == food + rent + other            a column is a sum
    start <= end                            an order
    date == day(time)                       the same moment twice; also month(...) and year(...)
    city -> state                           the city determines the state
    if employed == "no" then wage is missing
    pairs(sex, diagnosis)                   no pair of levels that is absent though chance would give it
    missing(allele_1, allele_2)             missing together, or not at all

A name that is not one word stands in quotes. Text is parsed, never executed.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Codes, Floats
from leafcover.errors import NameUnknown, PlanError
from leafcover.table.table import Column, Table

Relation: TypeAlias = Literal["==", "<=", "<"]
DAY = 86_400.0  # seconds
TOLERANCE = 1e-9  # of the largest term: sums of decimals are not exact in binary


class ColumnRule(ABC):
    """A relation between columns that rows of a table keep or break."""

    ties: ClassVar[bool] = False  # whether one of its columns can be computed, or is at least as large as others

    @property
    def computes(self) -> bool:
        """Whether one of its columns can be computed from the others."""
        return self.ties

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns, each once."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The rule as `parse_rule` reads it."""

    @abstractmethod
    def applies(self, table: Table) -> Bools:
        """The rows that could break the rule: usually those in which all values are known."""

    @abstractmethod
    def holds(self, table: Table, original: Table) -> Bools:
        """The rows that keep the rule. ``original`` decides on pairs that occur and on what determines what."""

    def check(self, table: Table) -> None:
        """Raise an error if a column does not exist or has the wrong kind."""
        for name in self.columns:
            if name not in table.names:
                raise NameUnknown("column", name, table.names, f"in the rule {self.text!r}")

    def forbidden_pairs(self, original: Table) -> Iterator[tuple[str, str, Bools]]:
        """Two columns and which pairs of their levels are forbidden, as `level_codes` numbers them; none by default."""
        yield from ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Sum:
    """A sum of columns, each times a coefficient, and a constant."""

    terms: tuple[tuple[float, str], ...]
    constant: float = 0.0

    def __str__(self) -> str:
        parts = [(one, f"{_figure(abs(one))} * {name_text(name)}" if abs(one) != 1 else name_text(name))
                 for one, name in self.terms]  # fmt: skip
        if self.constant or not parts:
            parts.append((self.constant, _figure(abs(self.constant))))
        text = "".join(f" {'-' if sign < 0 else '+'} {part}" for sign, part in parts)
        return text[3:] if parts[0][0] >= 0 else "-" + text[3:]

    def values(self, table: Table) -> Floats:
        """The sum in each row; nan where a value is missing."""
        found = np.full(len(table), self.constant)
        for coefficient, name in self.terms:
            found += coefficient * table[name].values
        return found


@dataclass(frozen=True)
class Linear(ColumnRule):
    """A comparison of two sums of numbers, dates or times."""

    ties: ClassVar[bool] = True

    left: Sum
    relation: Relation
    right: Sum

    @property
    def computes(self) -> bool:
        """Whether it is an equation."""
        return self.relation == "=="

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of both sides."""
        return tuple(dict.fromkeys(name for side in (self.left, self.right) for _, name in side.terms))

    @property
    def text(self) -> str:
        """Both sides and the relation."""
        return f"{self.left} {self.relation} {self.right}"

    @property
    def difference(self) -> Sum:
        """The left side minus the right side, each column once."""
        found: dict[str, float] = {}
        for sign, side in ((1.0, self.left), (-1.0, self.right)):
            for coefficient, name in side.terms:
                found[name] = found.get(name, 0.0) + sign * coefficient
        terms = tuple((coefficient, name) for name, coefficient in found.items() if coefficient)
        return Sum(terms, self.left.constant - self.right.constant)

    def solved_for(self, column: str) -> Sum:
        """The sum that an equation says a column is."""
        sums = self.difference
        own = next(coefficient for coefficient, name in sums.terms if name == column)
        terms = tuple((-coefficient / own, name) for coefficient, name in sums.terms if name != column)
        return Sum(terms, -sums.constant / own)

    def check(self, table: Table) -> None:
        """Refuse categories, and an equation in which every column cancels out."""
        super().check(table)
        for name in self.columns:
            if table[name].is_category:
                raise PlanError(
                    f"The rule {self.text!r} calculates with {name!r}, a category. Use numbers, dates or times."
                )
        if not self.difference.terms:
            raise PlanError(f"In the rule {self.text!r} both sides have the same columns. Correct it.")

    def applies(self, table: Table) -> Bools:
        """Rows in which every value is known."""
        return ~np.isnan(self.difference.values(table))

    def holds(self, table: Table, original: Table) -> Bools:
        """Rows in which the comparison is true, but for rounding of the last binary digit."""
        sums = self.difference
        apart = sums.values(table)
        scale = np.full(len(table), abs(sums.constant))
        for coefficient, name in sums.terms:
            scale = np.fmax(scale, np.abs(coefficient * table[name].values))
        near = TOLERANCE * np.fmax(scale, TOLERANCE)
        if self.relation == "==":
            return np.abs(apart) <= near
        return apart <= near if self.relation == "<=" else apart < -near


@dataclass(frozen=True)
class Moment(ColumnRule):
    """A column that repeats the day, month or year of a date or time."""

    FUNCTIONS: ClassVar[tuple[str, ...]] = ("day", "month", "year")
    ties: ClassVar[bool] = True

    column: str
    function: Literal["day", "month", "year"]
    of: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Both columns."""
        return (self.column, self.of)

    @property
    def text(self) -> str:
        """The column equals the function."""
        return f"{name_text(self.column)} == {self.function}({name_text(self.of)})"

    def check(self, table: Table) -> None:
        """The second column must be a date or time; the first a date for a day, otherwise a number."""
        super().check(table)
        if table[self.of].kind not in ("date", "time"):
            raise PlanError(f"The rule {self.text!r} needs a date or time, but {self.of!r} is a {table[self.of].kind}.")
        wanted = "date" if self.function == "day" else "number"
        if (kind := table[self.column].kind) != wanted:
            raise PlanError(f"In the rule {self.text!r} column {self.column!r} must be a {wanted}. It is a {kind}.")

    def values(self, table: Table) -> Floats:
        """What the function gives in each row; nan where the date or time is missing."""
        column = table[self.of]
        days = np.floor(column.values / DAY) if column.kind == "time" else column.values
        if self.function == "day":
            return np.asarray(days)
        known = ~np.isnan(days)
        dates = np.where(known, days, 0).astype("datetime64[D]")
        years = dates.astype("datetime64[Y]").astype(np.int64) + 1970
        months = dates.astype("datetime64[M]").astype(np.int64) % 12 + 1
        return np.where(known, years if self.function == "year" else months, np.nan)

    def applies(self, table: Table) -> Bools:
        """Rows in which both are known."""
        return ~(table[self.column].missing | table[self.of].missing)

    def holds(self, table: Table, original: Table) -> Bools:
        """Rows in which they agree."""
        return np.asarray(table[self.column].values == self.values(table))


@dataclass(frozen=True)
class SeveralColumns(ColumnRule):
    """A rule about any two of several columns, in every row; ``word`` stands before their names."""

    word: ClassVar[str]
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return self.names

    @property
    def text(self) -> str:
        """The columns in brackets."""
        return f"{self.word}({', '.join(name_text(name) for name in self.names)})"

    def applies(self, table: Table) -> Bools:
        """Every row."""
        return np.ones(len(table), np.bool_)


@dataclass(frozen=True)
class MissingTogether(SeveralColumns):
    """Columns whose values are all missing in a row, or all known."""

    word: ClassVar[str] = "missing"

    def holds(self, table: Table, original: Table) -> Bools:
        """Rows in which all columns agree with the first."""
        first = table[self.names[0]].missing
        return np.logical_and.reduce([table[name].missing == first for name in self.names])

    def forbidden_pairs(self, original: Table) -> Iterator[tuple[str, str, Bools]]:
        """A missing value beside a known one."""
        is_missing = {
            name: np.arange(level_count(original[name])) == level_count(original[name]) - 1 for name in self.names
        }
        for one, other in combinations(self.names, 2):
            yield one, other, is_missing[one][:, None] != is_missing[other]


class PairRule(ColumnRule):
    """A rule that forbids some pairs of levels of two columns; missing counts as a level."""

    @abstractmethod
    def forbidden(self, original: Table) -> Bools:
        """Which pairs of levels of its two columns are forbidden."""

    def forbidden_pairs(self, original: Table) -> Iterator[tuple[str, str, Bools]]:
        """The two columns and their forbidden pairs."""
        one, other = self.columns
        yield one, other, self.forbidden(original)

    def holds(self, table: Table, original: Table) -> Bools:
        """Rows without a forbidden pair."""
        one, other = self.columns
        pairs = self.forbidden(original)
        return ~pairs[level_codes(table[one], original[one]), level_codes(table[other], original[other])]

    def applies(self, table: Table) -> Bools:
        """Every row."""
        return np.ones(len(table), np.bool_)


@dataclass(frozen=True)
class LevelCondition:
    """Some levels of a column; None stands for a missing value. A number is only known or missing."""

    column: str
    levels: tuple[str | None, ...]
    negated: bool = False

    def __str__(self) -> str:
        name = name_text(self.column)
        if self.levels == (None,):
            return f"{name} is {'known' if self.negated else 'missing'}"
        texts = [level_text(level) for level in self.levels if level is not None]
        if len(texts) == 1:
            return f"{name} {'!=' if self.negated else '=='} {texts[0]}"
        return f"{name} {'not in' if self.negated else 'in'} ({', '.join(texts)})"

    def levels_of(self, column: Column) -> Bools:
        """Whether each level fulfils the condition; missing is the last."""
        names = (*column.levels, None) if column.is_category else ("", None)
        found = np.array([name in self.levels for name in names])
        return ~found if self.negated else found

    def check(self, table: Table, rule: str) -> None:
        """Refuse a level that does not occur, and levels of a number."""
        named = [level for level in self.levels if level is not None]
        column = table[self.column]
        if named and not column.is_category:
            raise PlanError(
                f"The rule {rule!r} names a level of {self.column!r}, which is a {column.kind}. "
                "Compare numbers by <= or ==, or read the column as a category."
            )
        for level in named:
            if level not in column.levels:
                raise NameUnknown("level", level, column.levels, f"of column {self.column!r} in the rule {rule!r}")


@dataclass(frozen=True)
class Implies(PairRule):
    """If one column has some levels, another one has some levels."""

    condition: LevelCondition
    then: LevelCondition

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of both sides."""
        return (self.condition.column, self.then.column)

    @property
    def text(self) -> str:
        """If ... then ..."""
        return f"if {self.condition} then {self.then}"

    def check(self, table: Table) -> None:
        """Both sides must name levels that exist, of different columns."""
        super().check(table)
        if self.condition.column == self.then.column:
            raise PlanError(f"The rule {self.text!r} names one column twice. Name two columns.")
        for side in (self.condition, self.then):
            side.check(table, self.text)

    def applies(self, table: Table) -> Bools:
        """Rows that fulfil the condition."""
        column = table[self.condition.column]
        return self.condition.levels_of(column)[level_codes(column, column)]

    def forbidden(self, original: Table) -> Bools:
        """The condition without the conclusion."""
        first = self.condition.levels_of(original[self.condition.column])
        return first[:, None] & ~self.then.levels_of(original[self.then.column])


@dataclass(frozen=True)
class Pairs(SeveralColumns):
    """No pair of levels of any two of the columns that is absent from the original though chance would give it."""

    word: ClassVar[str] = "pairs"

    def forbidden_pairs(self, original: Table) -> Iterator[tuple[str, str, Bools]]:
        """Pairs that no row has, or hardly any of the rows that would have it by chance."""
        codes = {name: level_codes(original[name], original[name]).astype(np.int64) for name in self.names}
        count = {name: level_count(original[name]) for name in self.names}
        for one, other in combinations(self.names, 2):
            pairs = impossible(pair_counts(codes[one], count[one], codes[other], count[other]))
            if pairs.any():
                yield one, other, pairs

    def holds(self, table: Table, original: Table) -> Bools:
        """Rows without such a pair."""
        codes = {name: level_codes(table[name], original[name]) for name in self.names}
        found = np.ones(len(table), np.bool_)
        for one, other, pairs in self.forbidden_pairs(original):
            found &= ~pairs[codes[one], codes[other]]
        return found

    def absent(self, original: Table) -> Iterator["AbsentPairs"]:
        """The pairs, for people to read: of two columns the one that needs fewer lines comes first."""
        for first, second, table in self.forbidden_pairs(original):
            turned = np.count_nonzero(table.any(axis=0)) < np.count_nonzero(table.any(axis=1))
            one, other, pairs = (second, first, table.T) if turned else (first, second, table)
            texts, others = _code_texts(original[one]), _code_texts(original[other])
            for level in np.flatnonzero(pairs.any(axis=1)):
                never = tuple(others[code] for code in np.flatnonzero(pairs[level]))
                yield AbsentPairs(one, texts[level], other, never)


@dataclass(frozen=True)
class AbsentPairs:
    """A level of a column, and the levels of another one that no row has with it, as text."""

    column: str
    level: str
    other: str
    levels: tuple[str, ...]

    def __str__(self) -> str:
        return f"{name_text(self.column)} {self.level} with {name_text(self.other)} {', '.join(self.levels)}"


def _code_texts(column: Column) -> list[str]:
    """What the codes of a column stand for, levels in quotes."""
    return [*(level_text(level) for level in column.levels if column.is_category), *_KNOWN[column.is_category :]]


_KNOWN = ("known", "missing")  # a number is only known or missing


@dataclass(frozen=True)
class Determines(PairRule):
    """The level of one column determines that of another."""

    by: str
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The determining column first."""
        return (self.by, self.column)

    @property
    def text(self) -> str:
        """An arrow between them."""
        return f"{name_text(self.by)} -> {name_text(self.column)}"

    def check(self, table: Table) -> None:
        """Both must be categories."""
        super().check(table)
        for name in self.columns:
            if not table[name].is_category:
                raise PlanError(
                    f"In the rule {self.text!r} column {name!r} is a {table[name].kind}. Read it as a category, "
                    "or write the rule as an equation."
                )

    def forbidden(self, original: Table) -> Bools:
        """All but the most frequent level for each determining level that occurs."""
        by, column = original[self.by], original[self.column]
        counts = pair_counts(level_codes(by, by), level_count(by), level_codes(column, column), level_count(column))
        found = np.repeat((counts.sum(axis=1) > 0)[:, None], counts.shape[1], axis=1)
        found[np.arange(len(counts)), counts.argmax(axis=1)] = False
        return found


# Pairs of levels.


SURE = 20.0  # rows that would have a pair by chance, from which its absence is no coincidence (e^-20)
EXCEPTIONS = 0.001  # the share of rows that may break a rule that was found


def level_codes(column: Column, reference: Column) -> Codes:
    """Codes of the levels of a reference column; the last is missing. A number is known (0) or missing (1)."""
    if not column.is_category:
        return column.missing.astype(np.int32)
    if column.levels == reference.levels:
        return np.where(column.values < 0, len(column.levels), column.values).astype(np.int32)
    code_of = {level: code for code, level in enumerate(reference.levels)}
    codes = [code_of.get(level, len(reference.levels)) for level in column.levels]
    return np.array([*codes, len(reference.levels)], np.int32)[column.values]


def level_count(column: Column) -> int:
    """The number of codes that `level_codes` uses."""
    return len(column.levels) + 1 if column.is_category else 2


def pair_counts(one: Array, count: int, other: Array, width: int) -> Array:
    """How many rows have each pair of codes, (count, width)."""
    return np.bincount(one.astype(np.int64, copy=False) * width + other, minlength=count * width).reshape(count, width)


def impossible(counts: Array) -> Bools:
    """Pairs that are absent, or nearly, though chance would give them at least ``SURE`` rows."""
    chance = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / max(counts.sum(), 1)
    return np.asarray((chance >= SURE) & (counts <= EXCEPTIONS * chance))


# Text.


WORDS = frozenset(("if", "then", "is", "in", "not", "missing", "known", "pairs", "day", "month", "year"))
SHORTEST_REPR = 15


def name_text(name: str) -> str:
    """A column name as rules write it: in quotes unless it is one plain word.

    >>> name_text("age"), name_text("hours-per-week"), name_text('a "b"'), name_text("if")
    ('age', '"hours-per-week"', '"a \\\\"b\\\\""', '"if"')
    """
    plain = re.fullmatch(r"[^\W\d]\w*", name) and name not in WORDS
    return name if plain else level_text(name)


def level_text(level: str) -> str:
    """Text in double quotes."""
    return '"' + level.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _figure(number: float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 10**SHORTEST_REPR else repr(float(number))
