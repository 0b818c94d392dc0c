"""Detection of direct identifiers, and a summary of a table's columns for the data steward.

A column that identifies people cannot be protected by perturbation. The user must drop it or keep it deliberately.
Considering known values only, a column looks like an identifier if it is

- text or digits with the pattern of e-mail addresses, telephone numbers, IBANs, national or card numbers, UUIDs or
  URLs, however many rows share each;
- text of which half of the distinct values, or at least five and 5 %, contain e-mail addresses, telephone numbers or
  IBANs. Of fewer, and of names of persons in at least two values, there is a warning;
- a column whose name says so (ssn, email, iban, passport, patient_id), with more than 20 distinct values;
- text of which at least 90 % is distinct (dates excepted; fewer than five values are no evidence), or free text: more
  than three words on average, with each text shared by fewer than ten rows on average. The number of words alone would
  also match code books ('Native- Born in the United States'), but many rows share each label of a code book;
- whole numbers in at least 50 rows, at least 90 % distinct, that increase strictly in file order or whose column name
  suggests an identifier. Without either there is only a warning, if nearly all have the same number of digits;
- a column whose name is that of an id, a number, a person or a household, with more than 20 distinct values and 1.5 to
  50 rows for each, within which other columns are constant: the rows of one person. Two of these columns must be
  unrelated if the name speaks of no person, because a code book has constant columns too; names of places do not
  count. Under any other name three columns must be constant, and there is only a warning;
- moments, at least 90 % distinct or constant like that, and exact coordinates.

Other decimal numbers are measurements and are never identifiers. Declared as a quasi-identifier or as sensitive, a
column is an attribute, unless its values have a pattern or its name leaves no doubt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import Array, Bools
from leafcover.table.column_rules import AbsentPairs, Pairs
from leafcover.table.formatting import has_decimal_commas, is_text, text_of
from leafcover.table.identifier_patterns import (
    BARE_NAMES,
    COORDINATE_DECIMALS,
    COORDINATE_WORDS,
    DATE_REGEX,
    INNOCENT_WORDS,
    LEAST_BARE,
    LOOKS_LIKE_ONE,
    MANY_VALUES,
    MIN_TEXTS,
    MOST_MATCH,
    NEARLY_ALL,
    PERSON_NUMBERS,
    PERSONS,
    PLACES,
    contained,
    digit_texts,
    name_words,
    named_people,
    pattern_of,
    share_of,
    telling_name,
)
from leafcover.table.recoding import FEWEST, Pooled, rare_levels
from leafcover.table.rule_search import FoundRule, find_rules
from leafcover.table.table import Column, Grid, Kind, Role, Source, Table, row_hashes
from leafcover.table.unit_layout import unit_layout
from leafcover.table.units import HomogeneousGroups, owners, repeated_rows, sensitive_groups, units_of

DISTINCT_SHARE = 0.9
SECONDS_OF_A_DAY = 86_400
MIN_ROWS = 50  # whole numbers in fewer rows are not checked
MAX_MEAN_WORDS = 3.0
MIN_DIGITS = 7  # of whole numbers with a weak name
LEAST_DIGITS = 4  # of whole numbers without one
MIN_ROWS_PER_LABEL = 10  # a code book's label is shared by at least this many rows on average
IDENTIFIER_WORDS = frozenset({"id", "key", "code", "number", "no", "nr", "uuid", "ssn"})
EXEMPT_ROLES = frozenset({"identifier", "unchanged", "unit", "weight"})  # roles that settle the question
ATTRIBUTE_ROLES = frozenset({"quasi-identifier", "sensitive"})  # roles that settle it unless the evidence is strong
ROWS_OF_ONE = (1.5, 50)  # the mean number of rows of a person or household
CONSTANT = 0.95  # the share of neighbouring rows of a person that agree in a column that is constant for people
LEAST_CONSTANT = 3  # columns that are constant for people, if the name of a column does not speak of them
LEAST_CONTAINED = 0.05  # of the distinct texts, from which addresses or numbers in five of them are refused
LEAST_VARIED = 0.8  # a column in which two rows agree more often by chance says nothing


@dataclass(frozen=True)
class Suspect:
    """A column that may be a direct identifier. Severity "refuse" stops a release, "warn" does not."""

    column: str
    severity: Literal["refuse", "warn"]
    message: str
    by_pattern: bool = False  # its values have the pattern of an identifier: refused as a target too
    is_sure: bool = False  # by a pattern, or by a name that leaves no doubt
    reason: str = ""  # why, as a part of the message
    is_unit: bool = False  # perhaps of a person or household with several rows


def identifiers(table: Table) -> tuple[Suspect, ...]:
    """The columns that look like direct identifiers, in table order."""
    found = []
    for column in table:
        role = table.roles.get(column.name)
        suspect = None if role in EXEMPT_ROLES else _check_column(column)
        if role not in EXEMPT_ROLES | ATTRIBUTE_ROLES and (suspect is None or suspect.severity == "warn"):
            suspect = _check_rows(column, table) or suspect
        if suspect is not None and (suspect.is_sure or role not in ATTRIBUTE_ROLES):
            found.append(suspect)
    return tuple(found)


def hidden_people(table: Table, suspects: Sequence[Suspect]) -> tuple[str, ...]:
    """A warning if rows look like several rows of the same people, and no column seems to say whose they are."""
    found = None if any(one.is_unit for one in suspects) else repeated_rows(table)
    return () if found is None else (str(found),)


def _check_column(column: Column) -> Suspect | None:
    known = column.values[~column.missing]
    if column.is_category:
        counts = np.bincount(known, minlength=len(column.levels))
        levels = column.levels if counts.all() else tuple(np.array(column.levels, object)[counts > 0])
        found = _check_pattern(column, levels) or _check_name(column, levels, known) or _check_text(column, counts)
        return found or _check_contained(column, levels)
    if column.kind == "time":
        return _check_moments(column, known)
    if column.kind == "number" and _is_coordinate(column, known):
        return _refusal(column, "it has exact coordinates", by_pattern=True)
    if column.kind == "number" and len(known) and _is_whole(column):
        large = np.abs(known).max() >= LEAST_BARE
        found = _check_pattern(column, digit_texts(column, known)) if large else None
        return found or _check_name(column, (), known) or _check_integers(column, known)
    return None


def _check_pattern(column: Column, levels: tuple[str, ...]) -> Suspect | None:
    words = pattern_of(levels)
    if not words:
        return None
    return _refusal(column, f"its {len(levels):,} distinct values have the pattern of {words}", by_pattern=True)


def _check_contained(column: Column, levels: tuple[str, ...]) -> Suspect | None:
    """Whether some levels, however few there are, contain an address, a number or a name of a person."""
    words, count = contained(levels)
    if not words:
        return None
    reason = f"{count:,} of its {len(levels):,} distinct values contain{'s' if count == 1 else ''} {words}"
    sure = words != "names of persons"
    if sure and (people := named_people(levels)):
        reason += f", and {people:,} names of persons"
    if sure and (2 * count >= len(levels) or (count >= MIN_TEXTS and count >= LEAST_CONTAINED * len(levels))):
        return _refusal(column, reason, by_pattern=True)
    message = (
        f"Column {column.name!r} may disclose people: {reason}. If so, read the table with drop=[{column.name!r}], or "
        "put other words in their place."
    )
    return Suspect(column.name, "warn", message, is_sure=sure, reason=reason)


def _is_coordinate(column: Column, known: Array) -> bool:
    """Whether a column is called a latitude or longitude and is exact to about ten metres."""
    exact = column.grid is None or column.grid.decimals >= COORDINATE_DECIMALS
    named = COORDINATE_WORDS & {*name_words(column.name)}
    return bool(named and exact and len(np.unique(known)) > MANY_VALUES and np.abs(known).max() <= 180)


def _check_moments(column: Column, known: Array) -> Suspect | None:
    share = len(np.unique(known)) / max(len(known), 1)
    if len(known) < MIN_ROWS or share < DISTINCT_SHARE or not (known % SECONDS_OF_A_DAY).any():  # days alone are dates
        return None
    return _refusal(column, f"{_percent(share)} of its moments are distinct")


def _check_rows(column: Column, table: Table) -> Suspect | None:
    """Whether the rows of each value are those of one person or household: other columns are constant within them."""
    words = name_words(column.name)
    person = _names_person(words) or column.kind == "time"
    named = person or bool({*words} & (IDENTIFIER_WORDS | {"name", "num"}))
    if not named and table.with_role("unit"):
        return None
    if {*words} & (PLACES if person else PLACES | INNOCENT_WORDS):
        return None
    known, distinct = np.flatnonzero(~column.missing), _few_rows_each(column)
    if not distinct:
        return None
    values = column.values[known]
    if person and not column.is_category and bool((values[1:] >= values[:-1]).all()):
        return _refusal(column, f"its {distinct:,} distinct values increase, each over several rows", unit=True)
    constant = _constant_within(column, table)
    if len(constant) < (1 if named else LEAST_CONSTANT) or (not person and not _unrelated(constant)):
        return None
    reason = _same_within(column, distinct, constant)
    if named:
        return _refusal(column, reason, unit=True)
    what = f"Column {column.name!r} may say which rows belong to one person or household: {reason}."
    message = f"{what} If so, read the table with roles={{{column.name!r}: 'unit'}}."
    return Suspect(column.name, "warn", message, reason=reason, is_unit=True)


def _few_rows_each(column: Column) -> int:
    """The number of distinct values, if several rows, but not many, have each of them; otherwise 0."""
    known = column.values[~column.missing]
    whole = column.is_category or column.kind == "time" or (column.kind == "number" and _is_whole(column))
    distinct = len(np.unique(known)) if whole else 0
    fits = distinct > MANY_VALUES and ROWS_OF_ONE[0] <= len(known) / distinct <= ROWS_OF_ONE[1]
    return distinct if fits else 0


def _constant_within(column: Column, table: Table) -> list[Column]:
    """The other columns that agree in rows with the same value."""
    others = [one for one in table if one.name != column.name and table.roles.get(one.name) not in EXEMPT_ROLES]
    known = np.flatnonzero(~column.missing)
    order = np.argsort(column.values[known], kind="stable")
    values = column.values[known][order]
    return [one for one in others if _is_constant(one, known[order], values[1:] == values[:-1])]


def _same_within(column: Column, distinct: int, constant: Sequence[Column]) -> str:
    rows = np.count_nonzero(~column.missing) / distinct
    names = " and ".join(repr(one.name) for one in constant[:2])
    return f"{rows:.1f} rows have each of its {distinct:,} distinct values, with the same {names}"


def _names_person(words: list[str]) -> bool:
    """Whether a column name is that of a person or household, or of their id, like 'subject', 'hid' and 'familyid'."""
    return any(
        word in PERSONS
        or word in BARE_NAMES
        or any(word == person + number for person in PERSONS for number in PERSON_NUMBERS)
        for word in words
    ) and not INNOCENT_WORDS & {*words}


def _is_constant(column: Column, rows: Array, same: Bools) -> bool:
    """Whether neighbouring rows with the same value agree in another column, though rows in general do not."""
    here, missing = column.values[rows], column.missing[rows]
    agree = ((here[1:] == here[:-1]) | (missing[1:] & missing[:-1]))[same]
    _, counts = np.unique(here[~missing], return_counts=True)
    chance = float((counts / len(here)) @ (counts / len(here))) + float(missing.mean()) ** 2
    return len(agree) >= MANY_VALUES and float(agree.mean()) >= CONSTANT and chance <= LEAST_VARIED


def _unrelated(columns: Sequence[Column]) -> bool:
    """Whether there are two columns of which neither determines the other."""
    coded = [np.unique(column.values, return_inverse=True)[1] for column in columns]
    for at, one in enumerate(coded):
        for other in coded[:at]:
            pairs = len(np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other))
            if pairs > max(int(one.max()), int(other.max())) + 1:
                return True
    return False


def _check_name(column: Column, levels: tuple[str, ...], known: Array) -> Suspect | None:
    word, strong = telling_name(column.name)
    bare = column.name.casefold() in BARE_NAMES
    if not word and not bare:
        return None
    distinct = len(levels) if column.is_category else len(np.unique(known))
    if distinct <= MANY_VALUES or has_decimal_commas(levels):
        return None
    if column.is_category:
        likely = strong or bare or share_of(pc.match_substring_regex(pa.array(levels), LOOKS_LIKE_ONE)) >= MOST_MATCH
    else:
        in_order = bare and bool((known[1:] >= known[:-1]).all())  # the rows of each person follow each other
        likely = strong or in_order or (not bare and _same_length(known))
    if not likely:
        return None
    return _refusal(
        column,
        f"its name contains {word or column.name!r} and it has {distinct:,} distinct values",
        unit=True,
        sure=strong,
    )


def _same_length(known: Array, *, least: int = MIN_DIGITS, share: float = MOST_MATCH) -> bool:
    """Whether most whole numbers have the same number of digits, as telephone numbers do and amounts do not."""
    lengths = np.floor(np.log10(np.maximum(np.abs(known), 1))).astype(np.int64) + 1
    counts = np.bincount(lengths)
    return bool(counts.argmax() >= least and counts.max() >= share * len(known))


def _is_whole(column: Column) -> bool:
    text_format = column.text_format
    if column.grid is None:  # possibly integers beyond 2^53
        stored: Any = column.stored
        typed = stored is not None and not is_text(stored) and pa.types.is_integer(stored.type)
        return typed or (text_format is not None and text_format.fixed and not text_format.decimals)
    return column.grid.decimals == 0 and (text_format is None or not text_format.decimals)


def _check_text(column: Column, counts: Array) -> Suspect | None:
    known, distinct = int(counts.sum()), int((counts > 0).sum())
    if known < MIN_TEXTS or distinct < 2:
        return None
    share = distinct / known
    if share < 1 / MIN_ROWS_PER_LABEL:
        return None
    levels = pa.array(column.levels, pa.string())
    if pc.all(pc.match_substring_regex(levels, DATE_REGEX)).as_py():
        return None
    if share >= DISTINCT_SHARE:
        commas = " texts, numbers with decimal commas" if has_decimal_commas(column.levels) else ""
        return _refusal(column, f"{_percent(share)} of its known values are distinct{commas}", sure=True)
    words = pc.count_substring_regex(levels, r"\S+").to_numpy()
    mean = float(np.average(words, weights=counts))
    if mean > MAX_MEAN_WORDS:
        return _refusal(column, f"it is free text of {mean:.1f} words on average", sure=True)
    return None


def _check_integers(column: Column, known: Array) -> Suspect | None:
    if len(known) < MIN_ROWS:
        return None
    distinct = len(np.unique(known))
    share = distinct / len(known)
    if share < DISTINCT_SHARE:
        return None
    hints = [word for word in name_words(column.name) if word in IDENTIFIER_WORDS]
    reason = f"{_percent(share)} of its known values are distinct"
    if bool((known[1:] > known[:-1]).all()):
        return _refusal(column, f"{reason} and they increase from row to row")
    if hints:
        return _refusal(column, f"{reason} and its name contains {hints[0]!r}")
    if not _same_length(known, least=LEAST_DIGITS, share=NEARLY_ALL):  # sums of money have different lengths
        return None
    message = (
        f"Column {column.name!r} may be an identifier: {reason}, with as many digits each. "
        f"If so, read the table with drop=[{column.name!r}]."
    )
    return Suspect(column.name, "warn", message, reason=f"{reason}, with as many digits each")


def _refusal(
    column: Column, reason: str, *, by_pattern: bool = False, unit: bool = False, sure: bool = False
) -> Suspect:
    name = repr(column.name)
    ways = [f"drop=[{name}] to remove it", f"roles={{{name}: 'unchanged'}} to keep it unchanged"]
    if by_pattern or unit:
        ways.append(f"roles={{{name}: 'unit'}} if several rows belong to one person")
    if not by_pattern and not sure:
        ways.append(f"roles={{{name}: 'sensitive'}} if it is an attribute of people")
    said = f"Read the table with {', with '.join(ways[:-1])}, or with {ways[-1]}."
    what = "a person or household id" if unit else "an identifier"
    message = f"Column {name} looks like {what}: {reason}. {said}"
    return Suspect(column.name, "refuse", message, by_pattern, by_pattern or sure, reason, unit)


def _percent(share: float) -> str:
    return f"{int(share * 1000) / 10:g}%"  # rounded down, so that 100% means all


# The summary, as shown by ``leafcover inspect``: for the data steward, not for publication.


@dataclass(frozen=True)
class ColumnFacts:
    """Summary of a column: the range of a number, or the most common levels of a category."""

    name: str
    kind: Kind
    role: Role | None
    distinct: int  # number of distinct known values
    missing: int
    domain: tuple[str, str] | None  # in the column's own text format
    common: tuple[tuple[str, int], ...]  # (level, rows), most common first
    grid: Grid | None
    label: str = ""  # of the column, in a file of Stata, SPSS or SAS
    labelled: tuple[tuple[str, str, int], ...] = ()  # (number, label, rows) of a number that has labels for some values


@dataclass(frozen=True)
class UnitFacts:
    """Summary of the people or households that the rows belong to."""

    column: str
    count: int
    rows: tuple[int, int, int]  # of a unit: fewest, median, most
    sequence: str | None  # the column by which the rows of a unit follow each other; None: the order of the table
    constant: tuple[str, ...]  # columns with one value in each unit
    rising: tuple[str, ...]  # columns that never fall from one row of a unit to the next
    member: str | None = None  # the column of the members of a unit, such as the people of a household
    members: int = 0

    def __str__(self) -> str:
        fewest, median, most = self.rows
        size = f"{fewest:,} rows" if fewest == most else f"{fewest:,} to {most:,} rows (median {median:,})"
        order = "in the order of the table" if self.sequence is None else f"sorted by {self.sequence}"
        lines = [f"{self.count:,} units ({self.column}) of {size}, {order}."]
        lines += [f"  {self.members:,} members ({self.member})"] if self.member else []
        lines += [f"  constant within a unit: {', '.join(self.constant)}"] if self.constant else []
        lines += [f"  never falling within a unit: {', '.join(self.rising)}"] if self.rising else []
        return "\n".join(lines)


@dataclass(frozen=True)
class TableFacts:
    """Summary of a table: its size, its columns, and how many rows are unique over all columns."""

    rows: int
    unique_rows: int
    columns: tuple[ColumnFacts, ...]
    warnings: tuple[str, ...]
    identifiers: tuple[Suspect, ...] = ()  # columns that look like direct identifiers
    rules: tuple[FoundRule, ...] = ()  # relations between columns that nearly all rows keep
    units: UnitFacts | None = None  # if a column has the role "unit"
    rare: tuple[Pooled, ...] = ()  # levels that few people have, and what `release` pools them as
    absent: tuple[AbsentPairs, ...] = ()  # what the rule about pairs of levels says
    homogeneous: tuple[HomogeneousGroups, ...] = ()  # for each sensitive attribute

    def __str__(self) -> str:
        return _fact_lines(self)


def describe(table: Table, *, levels: int = 5) -> TableFacts:
    """Summarise a table, with the ``levels`` most common levels of each category."""
    facts = tuple(
        _with_labels(_column_facts(column, table.roles.get(column.name), levels), column, table) for column in table
    )
    rows = table.select(name for name in table.names if table.roles.get(name) != "unit")
    suspects = identifiers(table)
    refused = [one.column for one in suspects if one.severity == "refuse"]
    rules = find_rules(rows)
    return TableFacts(
        len(table),
        unique_rows(table),
        facts,
        (*table.warnings, *hidden_people(table, suspects)),
        suspects,
        rules,
        _unit_facts(table),
        tuple(one for one in rare_levels(table) if one.column not in refused),
        tuple(one for found in rules if isinstance(found.rule, Pairs) for one in found.rule.absent(rows)),
        sensitive_groups(table),
    )


def _unit_facts(table: Table) -> UnitFacts | None:
    if not table.with_role("unit"):
        return None
    layout = unit_layout(table)
    sizes = np.bincount(owners(table))
    spread = int(sizes.min()), int(np.median(sizes)), int(sizes.max())
    members = 0 if layout.member is None else len(units_of(table, layout.numbered, None).sizes)
    return UnitFacts(
        layout.unit, len(sizes), spread, layout.sequence, layout.constant, layout.rising, layout.member, members
    )


def _with_labels(facts: ColumnFacts, column: Column, table: Table) -> ColumnFacts:
    """The same with what the file says of the column and of its values."""
    source = table.source
    about = source.about.get(column.name) if isinstance(source, Source) and source.format == "statistical" else None
    if about is None:
        return facts
    typed = column.kind == "number" and column.stored is not None
    values = np.asarray(column.stored.to_numpy(zero_copy_only=False), np.float64) if typed else np.empty(0)
    coded = {code: label for code, label in about.levels.items() if typed and not isinstance(code, str)}
    rows = tuple((f"{code:g}", label, int((values == code).sum())) for code, label in coded.items())
    return replace(facts, label=about.label, labelled=rows)


def _column_facts(column: Column, role: Role | None, levels: int) -> ColumnFacts:
    missing = column.missing
    known = column.values[~missing]
    gone = int(missing.sum())
    if column.is_category:
        counts = np.bincount(known, minlength=len(column.levels))
        order = np.argsort(-counts, kind="stable")[:levels]
        common = tuple((column.levels[at], int(counts[at])) for at in order if counts[at])
        return ColumnFacts(column.name, column.kind, role, int((counts > 0).sum()), gone, None, common, None)
    distinct = len(np.unique(known))
    domain = None
    if distinct:
        low, high = text_of(column, np.asarray(column.domain))
        domain = (low, high)
    return ColumnFacts(column.name, column.kind, role, distinct, gone, domain, (), column.grid)


def unique_rows(table: Table) -> int:
    """The number of rows that equal no other row; missing values are equal to each other."""
    if not table.columns:
        return 0
    _, counts = np.unique(row_hashes(table), return_counts=True)
    return int((counts == 1).sum())


MAX_LEVEL_LENGTH = 40  # longer levels are shortened
MOST_LISTED = 8  # rare levels of a column
MAX_PAIRS_LENGTH, MOST_ABSENT = 110, 12  # of a line about pairs of levels that no row has; of such lines


def _fact_lines(found: TableFacts) -> str:
    """One aligned line per column."""
    head = ("column", "kind", "role", "distinct", "missing", "values")
    rows = [(c.name, c.kind, c.role or "", f"{c.distinct:,}", f"{c.missing:,}", _values(c)) for c in found.columns]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(5)]
    lines = [
        "  ".join(cell.ljust(w) for cell, w in zip(row, [*widths, 0], strict=True)).rstrip() for row in [head, *rows]
    ]
    count = (
        f"{found.rows:,} rows, {len(found.columns)} {'column' if len(found.columns) == 1 else 'columns'}; "
        f"{found.unique_rows:,} rows are unique over all columns."
    )
    rules = [f"  {one.rule}{_exceptions(one)}" for one in found.rules]
    named = [f"  {one.name}: {_shorten(one.label, MAX_PAIRS_LENGTH)}" for one in found.columns if one.label]
    labelled = [f"  {one.name}: {_labels(one)}" for one in found.columns if one.labelled]
    absent = [f"  {_shorten(str(one), MAX_PAIRS_LENGTH)}" for one in found.absent[:MOST_ABSENT]]
    more = len(found.absent) - MOST_ABSENT
    absent += [f"  and {more:,} more"] if more > 0 else []
    units = [] if found.units is None else ["", str(found.units)]
    rare = [f"  {one.column}: {_listed(one.levels)}" for one in found.rare]
    return "\n".join(
        [
            *[*lines, "", count, *units],
            *(["", *map(str, found.homogeneous)] if found.homogeneous else []),
            *(["", f"Levels that fewer than {FEWEST} people have:", *rare] if rare else []),
            *(["", "Labels of columns:", *named] if named else []),
            *(["", "Numbers that have labels:", *labelled] if labelled else []),
            *(["", "Rules that the rows keep:", *rules] if rules else []),
            *(["", "Pairs of levels that no row has:", *absent] if absent else []),
        ]
    )


def _labels(facts: ColumnFacts) -> str:
    shown = [f"{code} {_shorten(label)} ({rows:,})" for code, label, rows in facts.labelled[:MOST_LISTED]]
    more = len(facts.labelled) - MOST_LISTED
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def _exceptions(found: FoundRule) -> str:
    broken = found.rows - found.kept
    return f"  (all rows but {broken:,})" if broken else ""


def _listed(levels: Sequence[str]) -> str:
    """The first levels, and how many more there are."""
    more = len(levels) - MOST_LISTED
    return ", ".join(_shorten(level) for level in levels[:MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _values(facts: ColumnFacts) -> str:
    if facts.domain is not None:
        return f"{facts.domain[0]} to {facts.domain[1]}{_steps(facts)}"
    shown = ", ".join(f"{_shorten(level)} ({rows:,})" for level, rows in facts.common)
    return shown + (", …" if facts.distinct > len(facts.common) else "")


def _steps(facts: ColumnFacts) -> str:
    if facts.grid is None:
        return ""
    units = {"date": {1.0: "a day"}, "time": {1.0: "a second", 60.0: "a minute", 3_600.0: "an hour", 86_400.0: "a day"}}
    return f" in steps of {units.get(facts.kind, {}).get(facts.grid.step, f'{facts.grid.step:g}')}"


def _shorten(level: str, most: int = MAX_LEVEL_LENGTH) -> str:
    """A level on one line, shortened if it is long; --json shows it in full."""
    text = "".join(letter if letter.isprintable() else "·" for letter in level)
    return text if len(text) <= most else text[: most - 1] + "…"
