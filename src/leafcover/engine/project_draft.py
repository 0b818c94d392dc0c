"""The first draft of a project file: what can be decided from a table, with a comment that says why.

Direct identifiers are dropped, columns that say whose the rows are become units, survey weights are known by their
names. Quasi-identifiers and sensitive attributes are not guessed: without any, attacks assume that every column but the
target is known and that none may be inferred, which is the strictest assumption. Target and audience are for the
steward to decide. No comment holds a value of the table.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.engine.audience import AUDIENCES, AudienceName, threshold_sentence
from leafcover.engine.project_file import UNDECIDED, VERSION
from leafcover.errors import LeafcoverError, TableError
from leafcover.messages import catalogue
from leafcover.recipes.plan_file import toml_value
from leafcover.table.formatting import PLAIN
from leafcover.table.identifier_patterns import name_words
from leafcover.table.inspection import Suspect, hidden_people, identifiers
from leafcover.table.recoding import FEWEST, rare_levels
from leafcover.table.rule_search import find_rules
from leafcover.table.separators import SeparatorOption
from leafcover.table.statistical_formats import missing_codes
from leafcover.table.table import Column, Role, Source, Table
from leafcover.table.unit_layout import unit_layout

WEIGHT_WORDS = frozenset((
    "fnlwgt", "wgt", "pwgtp", "wgtp", "perwt", "hhwt", "sampwt", "finalwt", "pweight", "svyweight", "wtfinl", "asecwt",
    "hochrechnungsfaktor",
))  # fmt: skip
WEIGHT_NAMES = ("survey weight", "sampling weight", "sample weight", "design weight", "person weight",
    "household weight", "final weight", "rb050", "rb060", "db080", "db090", "pb040")  # fmt: skip  # the last of EU-SILC
BARE_WEIGHTS = frozenset({"weight", "weights", "wt", "gewicht", "poids", "peso"})  # or of a body, or a parcel
ROWS_OF_ONE = 1.5  # rows that a person or household has at least, on average, if a column is a unit
FEW, MANY = 2, 10  # distinct values of a column that may be a target
MOST_LISTED = 5  # names or warnings
CLASSES = 4  # of a numeric target
MANY_NUMBERS = 50  # distinct values from which a column of numbers and one or two texts is no column of codes
MOST_MISSING_TEXTS = 2

CodeReason: TypeAlias = Literal["given", "zeros", "mixed"]

say = catalogue("project")


@dataclass(frozen=True)
class DraftNote:
    """Something that was decided about the table, or that the steward must decide.

    Attributes
    ----------
    kind : str
        What it is about: "drop", "unit", "weight", "category", "missing", "bins", "rules", "rare" or "undecided".
    name : str
        The column, or the key of the file.
    message : str
        Why, as a sentence.
    """

    kind: str
    name: str
    message: str


@dataclass(frozen=True)
class DraftOptions:
    """What the steward decided before the draft."""

    file: str  # the table, relative to the project file, or the address of a database
    output: str
    report: str
    title: str
    target: str | None = None
    audience: AudienceName | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    category: Mapping[str, CodeReason] = field(default_factory=dict)  # why each is read as a category
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing_labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # what codes of `missing` mean
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | int | None = None
    query: str | None = None
    decimal: SeparatorOption = None
    thousands: SeparatorOption = None


@dataclass(frozen=True)
class Draft:
    """The text of a project file, and what was decided in it."""

    text: str
    notes: tuple[DraftNote, ...]


@dataclass(frozen=True)
class _DraftRoles:
    """The role of each column that has one, and why."""

    roles: Mapping[str, str]
    reasons: Mapping[str, DraftNote]


@dataclass(frozen=True)
class _Left:
    """The table as it would be released, and what was found in it."""

    table: Table
    rules: int  # between columns, that were found
    rare: Mapping[str, int]  # levels that few people have, by column
    bins: int | None  # the classes of a numeric target


def draft(table: Table, options: DraftOptions) -> Draft:
    """The draft for a table that was read without roles."""
    decided = _roles(table, options)
    kept = _with_roles(table, decided.roles, options.target)
    if not kept.columns:
        raise TableError("Every column looks like an identifier or is dropped, so nothing is left to release.")
    rules = len(find_rules(kept))
    rare = {one.column: len(one.levels) for one in rare_levels(kept)}
    left = _Left(kept, rules, rare, _bins(kept, options.target))
    undecided = tuple(_undecided(left, options))
    lines = [
        *_head(left, options),
        *_input(table, options),
        *_columns(table, decided),
        *_method(left),
        *_limits(),
        *_output(options),
    ]
    return Draft("\n".join(lines) + "\n", (*decided.reasons.values(), *_found(left, options), *undecided))


# Roles.


def _roles(table: Table, options: DraftOptions) -> _DraftRoles:
    """What was given, then identifiers and units, then weights."""
    roles, reasons = dict(options.roles), dict[str, DraftNote]()
    for column in table:
        if column.name not in roles and column.name != options.target and _is_weight(column):
            roles[column.name] = "weight"
            reasons[column.name] = DraftNote("weight", column.name, say("why-weight"))
    while found := _refused(table, roles, options.target):
        for suspect in found:
            if suspect.column == options.target:
                raise TableError(suspect.message)
            units = [table[name] for name, role in roles.items() if role == "unit"]
            same = any(_same_groups(table[suspect.column], unit) for unit in units)
            kind = "unit" if _has_units(table, suspect) and not same else "drop"
            roles[suspect.column] = kind
            why = say("why-unit", reason=suspect.reason) if kind == "unit" else say("why-drop", reason=suspect.reason)
            reasons[suspect.column] = DraftNote(kind, suspect.column, why)
    for suspect in identifiers(_with_roles(table, roles, options.target)):
        if suspect.severity == "refuse" or not suspect.is_unit or suspect.column == options.target:
            continue
        roles[suspect.column] = UNDECIDED
        reasons[suspect.column] = _perhaps_a_unit(suspect.column, say("doubt-unit", reason=suspect.reason))
    if not _fits(table, roles, options.target):  # two columns that are no people of households, for instance
        for name in [name for name, role in roles.items() if role == "unit" and name in reasons]:
            roles[name] = UNDECIDED
            reasons[name] = _perhaps_a_unit(name, reasons[name].message)
    return _DraftRoles(roles, reasons)


def _perhaps_a_unit(name: str, reason: str) -> DraftNote:
    return DraftNote("undecided", f"columns.{name}", say("decide-unit", reason=reason))


def _refused(table: Table, roles: Mapping[str, str], target: str | None) -> list[Suspect]:
    """The columns that a release would refuse as identifiers."""
    kept = _with_roles(table, roles, target)
    suspects = [one for one in identifiers(kept) if one.severity == "refuse" and roles.get(one.column) != UNDECIDED]
    return [one for one in suspects if one.by_pattern or one.column != target]


def _with_roles(table: Table, roles: Mapping[str, str], target: str | None) -> Table:
    """The columns that are left, with their roles."""
    known: dict[str, Role] = {n: r for n, r in roles.items() if r not in ("", "drop", UNDECIDED)}  # type: ignore[misc]
    kept = table.select(name for name in table.names if roles.get(name) != "drop")
    return replace(kept, roles={**known, **({} if target is None or target in known else {target: "target"})})


def _has_units(table: Table, suspect: Suspect) -> bool:
    """Whether several rows have each value of a column, as those of one person or household."""
    column = table[suspect.column]
    known = column.values[~column.missing]
    return suspect.is_unit and column.kind != "time" and len(known) / len(np.unique(known)) >= ROWS_OF_ONE


def _same_groups(one: Column, other: Column) -> bool:
    """Whether two columns are ids of the same persons or households."""
    codes = [np.unique(column.values, return_inverse=True)[1].astype(np.int64) for column in (one, other)]
    pairs = len(np.unique(codes[0] * (int(codes[1].max()) + 1) + codes[1]))
    return pairs == int(codes[0].max()) + 1 == int(codes[1].max()) + 1


def _fits(table: Table, roles: Mapping[str, str], target: str | None) -> bool:
    """Whether a release could treat the units."""
    kept = _with_roles(table, roles, target)
    if not kept.with_role("unit"):
        return True
    try:
        unit_layout(kept)
    except LeafcoverError:
        return False
    return True


def _is_weight(column: Column) -> bool:
    """Whether a column of numbers has the name of a survey weight.

    >>> [bool(WEIGHT_WORDS & {*name_words(name)}) for name in ("fnlwgt", "PWGTP", "weight_kg")]
    [True, True, False]
    """
    words = name_words(column.name)
    named = bool(WEIGHT_WORDS & {*words}) or any(f" {one} " in f" {' '.join(words)} " for one in WEIGHT_NAMES)
    coded = column.name.lower() in WEIGHT_NAMES
    return (named or coded) and column.kind == "number" and not bool((column.values < 0).any())


def missing_texts(column: Column) -> list[str]:
    """Texts that mean a missing value, in a column that is otherwise of many different numbers.

    >>> numbers = [str(number) for number in range(60)]
    >>> missing_texts(Column("pay", "category", np.arange(61), levels=tuple(sorted([*numbers, "N"]))))
    ['N']
    """
    texts = _texts(column)
    many = column.is_category and len(column.levels) > MANY_NUMBERS
    return texts if many and len(texts) <= MOST_MISSING_TEXTS else []


def labelled_missing(table: Table) -> dict[str, dict[str, str]]:
    """Numbers that their labels in a file of Stata, SPSS or SAS say are missing values, with the labels, by column."""
    source = table.source
    if not isinstance(source, Source) or source.format != "statistical":
        return {}
    numbers = [column for column in table if column.kind == "number" and source.about[column.name].levels]
    found = {column.name: missing_codes(column.stored, source.about[column.name].levels) for column in numbers}
    return {name: codes for name, codes in found.items() if codes}


def _codes_text(options: DraftOptions, name: str) -> str:
    return ", ".join(f"{code} {label}" for code, label in options.missing_labels[name].items())


def code_reason(column: Column) -> CodeReason | None:
    """Why a column should be read as a category in any case: it has leading zeros, or numbers among texts."""
    if column.is_category:
        return "mixed" if 0 < len(_texts(column)) < len(column.levels) else None
    return "zeros" if column.text_format is not None and column.text_format.width else None


def _texts(column: Column) -> list[str]:
    """The levels that are no numbers."""
    numbers = pc.match_substring_regex(pa.array(column.levels, pa.string()), PLAIN)
    return [level for level, is_number in zip(column.levels, numbers.to_pylist(), strict=True) if not is_number]


# What is left to the steward.


def _undecided(left: _Left, options: DraftOptions) -> Iterator[DraftNote]:
    if options.audience is None:
        yield DraftNote("undecided", "audience", say("about-audience"))
    if options.target is None:
        yield DraftNote("undecided", "target", _about_target(left))


def _about_target(left: _Left) -> str:
    """What a target is, and the columns with few distinct values; often it is one of the last."""
    free = [column for column in left.table if left.table.roles.get(column.name) not in ("unit", "weight", "unchanged")]
    few = [column.name for column in reversed(free) if FEW <= _distinct(column) <= MANY]
    return say("about-target", columns=_listed(few, MOST_LISTED) or "none")


def _found(left: _Left, options: DraftOptions) -> Iterator[DraftNote]:
    for name, reason in options.category.items():
        if reason != "given":
            yield DraftNote("category", name, say("why-category", reason=reason))
    for name, tokens in options.missing.items():
        if name in options.missing_labels:
            yield DraftNote("missing", name, say("why-missing-codes", codes=_codes_text(options, name)))
        else:
            yield DraftNote("missing", name, say("why-missing", tokens=", ".join(tokens)))
    if left.bins is not None:
        yield DraftNote("bins", options.target or "", say("why-bins", classes=left.bins))
    if left.rules:
        yield DraftNote("rules", "", say("found-rules", count=left.rules))
    for name, count in left.rare.items():
        yield DraftNote("rare", name, say("found-rare", count=count))


def _bins(kept: Table, target: str | None) -> int | None:
    """The classes of a numeric target with many values."""
    if target is None or kept[target].is_category or _distinct(kept[target]) <= MANY:
        return None
    return CLASSES


def _distinct(column: Column) -> int:
    return len(np.unique(column.values[~column.missing]))


# The file.


def _line(key: str, value: object, comment: str = "") -> str:
    return f"{key} = {toml_value(value)}" + (f"  {_comment(comment)}" if comment else "")


def _comment(text: str) -> str:
    """A comment, whatever characters a name in it has."""
    return "# " + "".join(letter if letter.isprintable() else "·" for letter in text)


def _head(left: _Left, options: DraftOptions) -> Iterator[str]:
    for sentence in (say("head-1", file=options.file), say("head-2"), say("head-3"), say("head-4")):
        yield _comment(sentence)
    yield from ("", _line("version", VERSION), _line("title", options.title, say("about-title")))
    yield _line("audience", options.audience or UNDECIDED, say("about-audience"))
    about = _about_target(left) if options.target is None else say("about-target", columns="none")
    yield _line("target", options.target or UNDECIDED, about)


def _input(table: Table, options: DraftOptions) -> Iterator[str]:
    yield from (
        "",
        "[input]",
        _line("file", options.file, say("about-file", rows=len(table), columns=len(table.names))),
    )
    for key in ("encoding", "delimiter", "sheet", "query", "decimal", "thousands"):
        if (given := getattr(options, key)) is not None:
            yield _line(
                key, given if isinstance(given, str | int) else {toml_key(n): mark for n, mark in given.items()}
            )
    if options.category:
        yield _line("category", list(options.category), say("about-category"))
    if options.missing:
        tokens = {toml_key(name): list(texts) for name, texts in options.missing.items()}
        yield _line("missing", tokens, say("about-missing"))
    for name in options.missing_labels:
        yield _comment(f"{name}: {_codes_text(options, name)}")
    for warning in table.warnings[:MOST_LISTED]:
        yield _comment(say("read-warning", warning=warning))
    if more := table.warnings[MOST_LISTED:]:
        yield _comment(say("read-warning", warning=say("and-more", count=len(more))))
    yield from map(_comment, hidden_people(table, identifiers(table)))


def _columns(table: Table, decided: _DraftRoles) -> Iterator[str]:
    yield from ("", "[columns]")
    for sentence in (say("columns-1"), say("columns-2"), say("columns-3")):
        yield _comment(sentence)
    suspects = {one.column: one for one in identifiers(table)}
    rows = [(toml_key(column.name), toml_value(decided.roles.get(column.name, "")), column) for column in table]
    width = max(len(key) + len(role) for key, role, _ in rows)
    for key, role, column in rows:
        about = say("about-column", kind=column.kind, values=_distinct(column))
        why = decided.reasons[column.name].message if column.name in decided.reasons else ""
        if not why and column.name not in decided.roles:
            why = _doubt(column, suspects.get(column.name))
        gap = " " * (width - len(key) - len(role))
        yield f"{key} = {role}{gap}  {_comment(f'{about}. {why[0].upper()}{why[1:]}' if why else about)}"


def _doubt(column: Column, suspect: Suspect | None) -> str:
    """What the steward should think about, though nothing was decided."""
    if suspect is not None and suspect.severity == "warn":
        return say("doubt-identifier", reason=suspect.reason)
    counts = np.unique(column.values[~column.missing], return_counts=True)[1]
    if column.kind == "number" and MANY >= len(counts) > FEW and counts.min() < FEWEST:
        return say("doubt-codes", fewest=FEWEST)
    return say("doubt-weight") if BARE_WEIGHTS & {*name_words(column.name)} and column.kind == "number" else ""


def _method(left: _Left) -> Iterator[str]:
    yield from ("", "[method]", _line("recipe", "cover", say("about-recipe")))
    yield f"# settings = {{ k = 100 }}  # {say('about-settings')}"
    if left.bins is not None:
        yield _line("bins", left.bins, say("why-bins", classes=left.bins))
    yield _line("find_rules", True, say("about-rules", count=left.rules))
    rare = _listed([*left.rare], MOST_LISTED) or "none"
    yield _line("rare", "pool", say("about-rare", columns=rare))
    if left.table.with_role("unit"):
        yield _line("unit_numbers", True, say("about-unit-numbers"))
    if left.table.with_role("weight"):
        yield _line("weights", "calibrated", say("about-weights"))
    yield f"# hold_out = 0.3  # {say('about-hold-out')}"


def _limits() -> Iterator[str]:
    yield from ("", "[limits]", f"# {say('about-limits')}")
    for audience, thresholds in AUDIENCES.items():
        for name in asdict(thresholds):
            yield f"#   {audience}: {threshold_sentence(audience, name)}"


def _output(options: DraftOptions) -> Iterator[str]:
    yield from ("", "[output]", _line("table", options.output, say("about-table")))
    yield _line("report", options.report, say("about-report"))
    yield _line("ledger", True, say("about-ledger"))
    yield f'# key_file = "people.key"  # {say("about-key-file")}'
    yield f"# publish_tree = true  # {say('about-publish-tree')}"


def toml_key(name: str) -> str:
    """A name as a key of TOML.

    >>> toml_key("age"), toml_key("pay slip")
    ('age', '"pay slip"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_value(name)


def _listed(names: Sequence[str], most: int) -> str:
    more = [say("and-more", count=len(names) - most)] if len(names) > most else []
    return ", ".join([*names[:most], *more])
