"""The original and its release as one object, the input of every measure; and seeded samples of rows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from leafcover.arrays import MISSING, Array, Rows
from leafcover.errors import NameUnknown, TableError
from leafcover.messages import catalogue
from leafcover.recode.base import with_new_coding
from leafcover.table.recoding import Pooled, pool_levels, share_numbers, with_shared
from leafcover.table.table import Column, Table
from leafcover.table.tied_columns import TiedColumns
from leafcover.table.unit_layout import UnitLayout
from leafcover.table.weights import nearest_weights

# Recodes a table as the release was: the rows that were released alone, or other rows with those as the second table.
Recode: TypeAlias = Callable[[Table, Table | None], Table]


@dataclass(frozen=True, eq=False)
class Raw:
    """Original and control of a release that was recoded: before recoding, and with every column recoded."""

    original: Table
    control: Table | None
    recoded: Table
    recoded_control: Table | None

    @classmethod
    def of(cls, original: Table, control: Table | None, recode: Recode) -> "Raw":
        """Both recoded; rows of the control as they would have been in the release."""
        return cls(original, control, recode(original, None), None if control is None else recode(control, original))

    def take(self, rows: Rows) -> "Raw":
        """Some of the people."""
        return replace(self, original=self.original.take(rows), recoded=self.recoded.take(rows))


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables with the same columns in the same order and the same codes for the levels of categories.

    If ``paired``, row i of the release belongs to the person in row i of the original (only the score of an attack may
    use that, never the attack). ``control`` holds rows of the same population that are not in the release. Where
    recoding gave a column another kind or other levels, original and control are recoded too.
    """

    original: Table
    released: Table
    paired: bool
    target: str = ""  # "" if there is no target
    quasi_identifiers: tuple[str, ...] = ()  # what an attacker is assumed to know
    sensitive: tuple[str, ...] = ()  # what must not be inferred about a person
    weight: str = ""  # the column of survey weights, or ""
    control: Table | None = None
    untied: "Pair | None" = None  # the same without columns that rules compute, and with a row for each unit
    raw: Raw | None = None  # original and control before recoding, if the release was recoded

    @property
    def for_attacks(self) -> "Pair":
        """The pair that attacks work on: columns that rules tie to others count once, and units, not rows, count."""
        return self.untied or self

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that both tables have."""
        return self.original.names

    @property
    def numbers(self) -> tuple[str, ...]:
        """Numeric columns, dates and times among them; without the weight."""
        return tuple(c.name for c in self.original if not c.is_category and c.name != self.weight)

    @property
    def categories(self) -> tuple[str, ...]:
        """Categorical columns."""
        return tuple(c.name for c in self.original if c.is_category)

    def take(self, rows: Rows) -> "Pair":
        """Some of the rows of both tables, for utility. Attacks take samples of their own: they may count units."""
        raw = None if self.raw is None else self.raw.take(rows)
        found = replace(self, original=self.original.take(rows), released=self.released.take(rows))
        return replace(found, untied=None, raw=raw)

    def without_ties(
        self, tied: TiedColumns, pools: Sequence[Pooled] = (), share: int = 1, dealt_share: int = 1
    ) -> "Pair":
        """The same pair, with the one that attacks work on: levels and numbers are recoded as in the release.

        Where recoding changed released differences, attacks see the nearest of those that at least ``dealt_share`` rows
        shared as they were dealt.
        """
        if not tied and not pools and share == 1 and self.raw is None:
            return self
        recoded, released, control = self._as_released()
        before = tied.untie(pool_levels(recoded, pools))
        aside = None if control is None else tied.untie(pool_levels(control, pools))
        names, most = set(self.names) - set(tied.computed), max(share, dealt_share)
        after = tied.untie(pool_levels(released, pools))
        near = [with_shared(after[name], most, before[name]) for name in tied.recoded_differences(recoded)]
        found = replace(
            self,
            original=share_numbers(before, share),
            released=after.replace(near),
            target=self.target if self.target in names else "",
            quasi_identifiers=tuple(name for name in self.quasi_identifiers if name in names),
            sensitive=tuple(name for name in self.sensitive if name in names),
            weight=self.weight if self.weight in names else "",
            control=None if aside is None else share_numbers(aside, share, before),
        )
        return replace(self, untied=found)

    def _as_released(self) -> tuple[Table, Table, Table | None]:
        """Original, release and control with every column recoded."""
        if self.raw is None:
            return self.original, self.released, self.control
        tables = [self.raw.recoded, self.released, *([] if self.control is None else [self.raw.recoded_control])]
        found = same_levels([bare(table) for table in tables if table is not None])
        return found[0], found[1], None if self.control is None else found[2]

    def with_nearest_weights(self, shown: Table) -> "Pair":
        """The same pair; attacks see these weights of the released rows, and compare those of people with the nearest.

        Calibrated weights differ by the factors of groups, which an attacker can divide out: so attacks see classes.
        """
        pair = self.for_attacks
        if not shown.columns:
            return self
        bare = [replace(pair.released[c.name], values=c.values, grid=c.grid) for c in shown]
        before = nearest_weights(pair.original, shown, shown.names)
        control = None if pair.control is None else nearest_weights(pair.control, shown, shown.names)
        found = replace(pair, original=before, released=pair.released.replace(bare), control=control, untied=None)
        return replace(self, untied=found)

    def of_units(self, units: UnitLayout, original: Table, released: Table, control: Table | None) -> "Pair":
        """The same pair of rows; attacks work on a pair of tables with one row for each unit."""
        there = {units.column_of(name) for name in original.names}  # not those that rules compute

        def every(names: Sequence[str]) -> list[str]:
            return [at for name in names if name in there for at in units.columns_at(name) if at in original.names]

        target = units.columns_at(self.target)[0] if self.target else ""
        more = list(units.sizes) if set(self.quasi_identifiers) >= set(self.names) - {self.target, self.weight} else []
        found = pair_of(
            original,
            released,
            target=target if target in original.names else "",
            quasi_identifiers=[name for name in every(self.quasi_identifiers) if name != target] + more,
            sensitive=every(self.sensitive),
            weight=self.weight if self.weight in original.names else "",
            control=control,
        )
        return replace(self, untied=found)


def pair_of(
    original: Table,
    released: Table,
    source: Rows | None = None,
    *,
    target: str = "",
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    weight: str = "",
    control: Table | None = None,
    recode: Recode | None = None,
) -> Pair:
    """Make a pair of two tables; ``source`` is the original row of each released row, if that is known.

    Original rows without a released row were held out; they become the control unless one is given. Columns of the
    control that the original has and the release lacks, such as a unit, are ignored.
    """
    names = _shared_names(original, released, kinds=recode is None)
    _check_names(names, target=target, quasi_identifiers=quasi_identifiers, sensitive=sensitive, weight=weight)
    before, after, aside = original.select(names), released.select(names), control
    if source is not None:
        before, after, left = _by_source(before, after, source)
        if control is None and len(left):
            aside = left
    elif len(before) != len(after):
        raise TableError(
            f"The release has {len(after)} rows, the original {len(before)}, and there are no pairs to match them. "
            "Give pairs=..., or the original rows that were released."
        )
    if aside is not None:
        aside = aside.select(n for n in aside.names if n in names or n not in original.names)
        aside = aside.select(_shared_names(before, aside, "control"))
        if aside.names != before.names:
            lost = [name for name in before.names if name not in aside.names]
            raise TableError(f"The control has no column {lost[0]!r}. Give rows with the columns of the original.")
    raw = None if recode is None else Raw.of(before, aside, recode)
    if raw is not None:
        before = with_new_coding(before, raw.recoded)
        aside = None if aside is None or raw.recoded_control is None else with_new_coding(aside, raw.recoded_control)
        _shared_names(before, after)
    tables = same_levels([bare(t) for t in (before, after, aside) if t is not None])
    known = tuple(quasi_identifiers) or tuple(n for n in names if n not in (target, weight))
    return Pair(
        tables[0],
        tables[1],
        source is not None,
        target,
        known,
        tuple(sensitive),
        weight,
        None if aside is None else tables[2],
        raw=raw,
    )


def source_of(pairs: Any) -> Rows:
    """Check pairs: the original row of each released row, counted from 0.

    >>> source_of([2, 0, 1])
    array([2, 0, 1])
    """
    try:
        given = np.asarray(pairs)
        if given.ndim == 1 and given.dtype.kind in "iuf":
            with np.errstate(invalid="ignore"):  # a value that does not fit becomes another number, and is refused
                found = given.astype(np.int64)
            if (found == given).all():
                return found
        got = f"{type(pairs).__name__} of {given.dtype}" if given.ndim == 1 else type(pairs).__name__
    except (TypeError, ValueError, OverflowError):
        got = type(pairs).__name__
    raise TableError(
        f"Pairs must be a list of integers, the original row of each released row, counted from 0. Got {got}."
    )


def _shared_names(original: Table, other: Table, word: str = "release", *, kinds: bool = True) -> tuple[str, ...]:
    """The other table's columns in the original's order; an unknown column, or another kind, is an error."""
    for column in other:
        if column.name not in original.names:
            raise TableError(
                f"The {word} has a column {column.name!r} that the original does not have. "
                f"The original has: {', '.join(original.names)}."
            )
        ours = original[column.name]
        if kinds and ours.kind != column.kind and not ours.missing.all() and not column.missing.all():
            raise TableError(
                f"Column {column.name!r} is a {ours.kind} in the original and a {column.kind} in the {word}. "
                f"Read both the same way, for instance with category=[{column.name!r}]."
            )
    names = tuple(name for name in original.names if name in other.names)
    if not names:
        raise TableError(f"The {word} has no column of the original. Is it the right file?")
    return names


def _check_names(names: Iterable[str], **roles: str | Sequence[str]) -> None:
    known = tuple(names)
    for given in roles.values():
        for name in [given] if isinstance(given, str) else given:
            if name and name not in known:
                raise NameUnknown("column", name, known, "that original and release share")


def _by_source(before: Table, after: Table, source: Rows) -> tuple[Table, Table, Table]:
    """Original rows that were released, the release in the same order, and the original rows that were not."""
    if len(source) != len(after):
        raise TableError(
            f"The pairs name {len(source)} rows, the release has {len(after)}. Give the pairs of this release."
        )
    outside = source[(source < 0) | (source >= len(before))]
    if len(outside):
        raise TableError(
            f"The pairs name row {int(outside[0])}, but the original's {len(before)} rows are 0 to {len(before) - 1} "
            "(row 0 is the first). Give the pairs and the table of this release."
        )
    order = np.argsort(source, kind="stable")
    rows = source[order]
    if len(np.unique(rows)) < len(rows):
        raise TableError("The pairs name an original row twice. Give the pairs of this release.")
    left = np.ones(len(before), bool)
    left[rows] = False
    return before.take(rows), after.take(order), before.take(np.flatnonzero(left))


def bare(table: Table) -> Table:
    """The table without stored text, which measures do not need."""
    return replace(table, columns=tuple(replace(c, stored=None) for c in table))


def same_levels(tables: list[Table]) -> list[Table]:
    """The same tables with one list of levels for each category; an empty column takes the kind of the others."""
    columns: list[list[Column]] = [[] for _ in tables]
    for name in tables[0].names:
        same = [table[name] for table in tables]
        if any(c.is_category for c in same):
            levels = tuple(sorted({level for c in same for level in c.levels}))
            number = {level: i for i, level in enumerate(levels)}
            same = [_with_levels(c, levels, number) for c in same]
        for place, column in zip(columns, same, strict=True):
            place.append(column)
    return [replace(table, columns=tuple(found)) for table, found in zip(tables, columns, strict=True)]


def _with_levels(column: Column, levels: tuple[str, ...], number: dict[str, int]) -> Column:
    if not column.is_category:  # an empty column
        return Column(column.name, "category", np.full(len(column), MISSING, np.int32), levels)
    lookup: Array = np.array([number[level] for level in column.levels] + [MISSING], np.int32)
    return replace(column, values=lookup[column.values], levels=levels)


def say(message: str, /, **values: Any) -> str:
    """A sentence of the catalogue ``measures``."""
    return catalogue("measures")(message, **values)


# Seeded samples of rows, for measures that are too slow for every row of a large table; each says so.


SEED = 20_040_401  # measures need no secret randomness: the same tables give the same figures


def sample_rows(rows: int, most: int, *, seed: int = SEED) -> Rows:
    """All row numbers, or a sorted random sample of ``most`` of them.

    >>> sample_rows(3, 5)
    array([0, 1, 2])
    """
    if rows <= most:
        return np.arange(rows, dtype=np.int64)
    chosen: Rows = np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    return chosen


def coverage_note(used: int, rows: int) -> str:
    """As text, whether a figure is computed from every row.

    >>> coverage_note(500, 20000)
    'a sample of 500 of 20,000 rows'
    """
    return say("coverage-all") if used >= rows else say("coverage-sample", used=int(used), rows=int(rows))
