"""The base class of perturbations, the chunks of rows they change, their registry, and checks that they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, reduce
from typing import Any, ClassVar, Literal, TypeAlias, TypeGuard, TypeVar, get_args

import numpy as np

from leafcover.arrays import Array, Bools, Codes, Floats, Rows
from leafcover.cells import Cells, LevelSet, Range, intersect_labels
from leafcover.keyed_random import Draws
from leafcover.messages import Catalogue, catalogue
from leafcover.registry import Registry
from leafcover.table.column_rules import level_codes
from leafcover.table.table import Column, Kind, Table
from leafcover.tree.binary import Stage, codings
from leafcover.tree.histogram import code_columns
from leafcover.tree.predict import column_for
from leafcover.tree.tree import Attribute

# What a perturbation needs to change a row: the row; merged counts or moments; its whole cell; the whole table.
Scope: TypeAlias = Literal["row", "counts", "moments", "cell", "table"]
FIXED_PROBABILITY = 0.95  # a value released unchanged with at least this probability counts as fixed (disclosed)
# What holds of a released column as a whole: its values were recoded, partly made missing, made equal to those of
# enough rows, exchanged between rows, averaged, given noise, drawn from a distribution, transformed by one function for
# all rows, computed from other columns, given new numbers, or left unchanged.
Promise: TypeAlias = Literal[
    "recoded",
    "suppressed",
    "shared",
    "permuted",
    "averaged",
    "noise",
    "drawn",
    "transformed",
    "recomputed",
    "renumbered",
    "unchanged",
]
ALL_KINDS: frozenset[Kind] = frozenset(get_args(Kind))
LOOKED_AT = 10_000  # rows that may show already that a number has more distinct values than these:
NEAR_END = 0.1  # of the range allowed, at either end
FEW_VALUES = 20  # distinct values up to which a number is treated as levels
Result = TypeVar("Result")
Summary: TypeAlias = Any  # summary of the chunks; only the perturbation that made it reads it


MOST_SCORE = 4.0  # so that no single person decides on a sum of scores


@dataclass(frozen=True, eq=False)
class Earlier:
    """A column that was released before: the original, and as released."""

    original: Column
    released: Column
    known: dict[bytes, Array] = field(default_factory=dict, repr=False)  # bins by their edges

    def bins(self, attribute: Attribute, edges: Floats) -> Array:
        """The released values in the bins that trees test. Many trees test the same ones."""
        key = edges.tobytes()
        if key not in self.known:
            column = column_for(attribute, Table((self.released,)))
            self.known[key] = code_columns((attribute,), (edges,), (column,), len(self.released))[:, 0].copy()
        return self.known[key]

    @cached_property
    def groups(self) -> tuple[Codes, Codes, int]:
        """Both as codes of a few groups of values, and the number of groups."""
        coding = codings(self.original)[0]
        before, after = (coding.codes(column) for column in (self.original, self.released))
        return before, after, coding.count

    @cached_property
    def group_sizes(self) -> Rows:
        """The original rows of each group."""
        before, _, count = self.groups
        return np.bincount(before, minlength=count)

    @cached_property
    def scores(self) -> tuple[Floats, Floats] | None:
        """Both as standard scores by the released values; None for a category."""
        if self.original.is_category:
            return None
        values = self.released.values
        return standard_scores(self.original.values, values), standard_scores(values, values)

    @cached_property
    def levels(self) -> tuple[Codes, Codes, int]:
        """The same by levels of a category, or of a number with few distinct values, with one for missing."""
        both = (self.original, self.released)
        if self.original.is_category:
            size = len(self.original.levels)
            before, after = (
                np.where(c.values < 0, np.int32(size), c.values) if c.missing.any() else c.values for c in both
            )
        else:
            values = self.original.values
            if len(np.unique(values[:LOOKED_AT])) > FEW_VALUES + 1:  # nan is one value
                return self.groups
            distinct = np.unique(values[~self.original.missing])
            size = len(distinct)
            if size > FEW_VALUES:
                return self.groups
            before, after = (np.searchsorted(distinct, c.values).astype(np.int32) for c in both)  # nan sorts last
        return before, after, size + 1


@dataclass(frozen=True, eq=False)
class LevelsLeft:
    """Which levels of a column that is dealt later the rules allow beside what was released of a row."""

    label: Codes  # (rows,) rows with the same label may have the same levels
    allowed: Bools  # (labels, levels)

    @classmethod
    def every(cls, rows: int, levels: int) -> "LevelsLeft":
        """All levels, before a column with rules was released."""
        return cls(np.zeros(rows, np.int32), np.ones((1, levels), np.bool_))

    def beside(self, codes: Codes, forbidden: Bools) -> "LevelsLeft":
        """Those that are left beside the levels of one more column; (its levels, these levels) are forbidden."""
        width = len(forbidden)
        both = self.label.astype(np.int64) * width + codes
        met = np.zeros(len(self.allowed) * width, np.bool_)
        met[both] = True
        pairs = np.flatnonzero(met)
        sets, label = np.unique(self.allowed[pairs // width] & ~forbidden[pairs % width], axis=0, return_inverse=True)
        number = np.zeros(len(met), np.int32)
        number[pairs] = label.ravel()
        return LevelsLeft(number[both], sets)

    def excludes(self, forbidden: Bools) -> Bools:
        """(labels, its levels) whether a level of another column would be the one that leaves none."""
        left = self.allowed.astype(np.float32) @ (~forbidden).T.astype(np.float32)
        some: Bools = np.asarray(self.allowed.any(axis=1))
        return some[:, None] & (left == 0)


def levels_left(
    left: Mapping[str, LevelsLeft],
    released: Mapping[str, Earlier],
    changed: Iterable[str],
    later: Sequence[str],
    forbidden: Mapping[tuple[str, str], Bools],
) -> dict[str, LevelsLeft]:
    """The levels that are left to columns dealt later, when some more columns were released."""
    found = {name: one for name, one in left.items() if name in later}
    new = {name: released[name] for name in changed}
    for (one, other), pairs in forbidden.items():
        if one in new and other in later:
            codes = level_codes(new[one].released, new[one].original)
            found[other] = found.get(other, LevelsLeft.every(len(codes), pairs.shape[1])).beside(codes, pairs)
    return found


def levels_ahead(
    name: str, left: Mapping[str, LevelsLeft], forbidden: Mapping[tuple[str, str], Bools]
) -> tuple[tuple[Codes, Bools], ...]:
    """For each column dealt later: rows by label, and which levels of this column would leave it none."""
    return tuple(
        (left[other].label, left[other].excludes(pairs))
        for (one, other), pairs in forbidden.items()
        if one == name and other in left
    )


def standard_scores(values: Floats, reference: Floats) -> Floats:
    """How many standard deviations of a reference values are above its mean, at most 4 either way; 0 for missing.

    >>> standard_scores(np.array([2.0, np.nan, 90.0]), np.array([0.0, 2.0])).tolist()
    [1.0, 0.0, 4.0]
    """
    from leafcover.kernels.dealing import score_values

    scale = float(np.nanmax(np.abs(reference), initial=0.0))  # squares of large numbers would overflow
    if scale == 0.0:
        return np.zeros(len(values))
    known = reference / scale
    missing = np.isnan(known)
    known = known[~missing] if missing.any() else known
    scores, mean, spread = np.zeros(len(values)), float(known.mean()), float(known.std())
    if spread > 0:
        score_values(values, scale, mean, spread, MOST_SCORE, scores)
    return scores


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a step's columns. Each column has its domain over the whole table."""

    rows: Rows  # (rows,) row numbers in the table; draws depend only on these
    columns: tuple[Column, ...]
    cells: Cells  # labels of these rows; boxes of all cells
    keep: tuple[Cells, ...] = ()  # further cells whose boxes the new values must stay inside
    stages: tuple[Stage, ...] = ()  # trees that place released rows, for a perturbation that deals
    before: tuple[Earlier, ...] = ()  # columns released before
    given: tuple[Column, ...] = ()  # columns that no step changes, and on which the new values depend
    # By column: which pairs of a level of it and one of the first column here a rule forbids; missing is the last level
    forbidden: Mapping[str, Bools] = field(default_factory=dict, repr=False)
    # Rows by label, and which levels of the first column leave none that a rule allows in a column dealt later
    ahead: tuple[tuple[Codes, Bools], ...] = field(default=(), repr=False)
    known: dict[Any, Any] = field(default_factory=dict, repr=False)  # what was computed from the rows above

    def remembered(self, key: Any, compute: Callable[[], Result]) -> Result:
        """A result that several methods of a perturbation need, computed from these rows once."""
        if key not in self.known:
            self.known[key] = compute()
        found: Result = self.known[key]
        return found

    def __len__(self) -> int:
        return len(self.rows)

    def ranges(self, name: str) -> tuple[Floats, Floats]:
        """For each row, the range that the boxes allow of a number: above low, at most high (infinite where open)."""
        low, high = np.full(len(self), -np.inf), np.full(len(self), np.inf)
        for cells in (self.cells, *self.keep):
            side = cells.box.get(name)
            if isinstance(side, Range):
                low = np.maximum(low, side.low[cells.label])
                high = np.minimum(high, side.high[cells.label])
        return low, high

    def allowed(self, name: str) -> Bools | None:
        """For each row, which levels the boxes allow; None if all are allowed."""
        found: Bools | None = None
        for label, side in self._choices(name):
            here = side.of(label)
            found = here if found is None else found & here
        return found

    def allows(self, name: str, levels: Array) -> Bools:
        """For each row, whether the boxes allow its level."""
        found = np.ones(len(self), np.bool_)
        for label, side in self._choices(name):
            found &= side.allows(label, levels)
        return found

    def _choices(self, name: str) -> Iterator[tuple[Rows, LevelSet]]:
        for cells in (self.cells, *self.keep):
            side = cells.box.get(name)
            if isinstance(side, LevelSet):
                yield cells.label, side

    def take(self, rows: Array) -> "Chunk":
        """A subset of the rows, by position in this chunk."""
        return Chunk(
            self.rows[rows],
            tuple(replace(c, values=c.values[rows], stored=None) for c in self.columns),
            self.cells.take(rows),
            tuple(cells.take(rows) for cells in self.keep),
            given=tuple(replace(c, values=c.values[rows], stored=None) for c in self.given),
        )


@dataclass(frozen=True)
class Delivered:
    """The noise that numbers got within the range allowed: less than was asked for, if that range is narrow.

    >>> Delivered.of(np.array([0.0, 0.5, 1.0]), np.array([0.2, -0.1, -0.4])).pull.__round__(3)
    0.3
    """

    rows: int
    squares: float  # of the noise, as a share of the range, summed over rows
    near_end: int  # rows whose number was in the outer tenth of its range at either end
    inwards: float  # how far these moved from that end, summed

    @classmethod
    def of(cls, place: Floats, noise: Floats) -> "Delivered":
        """The noise of numbers, both as shares of the range."""
        low, high = place < NEAR_END, place > 1 - NEAR_END
        inwards = float(noise[low].sum() - noise[high].sum())
        return cls(len(noise), float((noise**2).sum()), int(low.sum() + high.sum()), inwards)

    def plus(self, other: "Delivered") -> "Delivered":
        """Both together."""
        both = (getattr(self, one.name) + getattr(other, one.name) for one in fields(self))
        return Delivered(*both)

    @property
    def deviation(self) -> float:
        """The root mean square of the noise, as a share of the range; 0 for no rows."""
        return float(np.sqrt(self.squares / max(self.rows, 1)))

    @property
    def pull(self) -> float:
        """How far numbers near an end moved away from it on average, as a share of the range."""
        return self.inwards / max(self.near_end, 1)


@dataclass(frozen=True, eq=False)
class Changed:
    """New values of a column. If values were only exchanged, ``source`` is the row each came from."""

    values: Array
    source: Array | None = None  # row numbers of 32 or 64 bits
    replaced: Array | None = None  # (rows,) the values that were exchanged, if they are not the column's own
    noise: Delivered | None = None  # of numbers that stay in a range

    @classmethod
    def joined(cls, changes: Sequence["Changed"]) -> "Changed":
        """The changes of all parts, in order."""
        if len(changes) == 1:
            return changes[0]
        sources = [one.source for one in changes if one.source is not None]
        noise = [one.noise for one in changes if one.noise is not None]
        values, source = np.concatenate([one.values for one in changes]), np.concatenate(sources) if sources else None
        return cls(values, source, noise=reduce(Delivered.plus, noise) if noise else None)

    def delivered(self, column: Column) -> tuple[int, float | None, float | None]:
        """How many values were replaced before the exchange, and the noise that numbers got, and its pull."""
        known, got = ~column.missing, self.noise
        shared = 0 if self.replaced is None else int(np.count_nonzero(self.replaced[known] != column.values[known]))
        return (shared, None, None) if got is None else (shared, got.deviation, got.pull)

    def taken(self, rows: Rows) -> "Changed":
        """The same if each row takes the value of another one."""
        return replace(self, values=self.values[rows], source=None if self.source is None else self.source[rows])


@dataclass(frozen=True, eq=False)
class Described:
    """How long a prefix code describes what dealt values depend on beyond the values of each column, in bits."""

    trees: float
    counts: float  # of codes in the leaves
    pairs: float  # of levels that no row has, and of how often groups of values meet
    own: Floats  # (rows,) log of the share of a row's own codes over what the others of its leaves predict


class Perturbation(ABC):
    """A way to change the values of some columns within cells, chunk by chunk.

    A subclass is a frozen dataclass whose fields are its parameters. It declares what it accepts and preserves, and
    must define `change`, `likelihood` and `observable_class`; everything else has a default. Register it with
    `perturbation`, and plan files, recipes, checks, attacks and reports can use it.
    """

    frozen_id: ClassVar[str]  # identifies the class when draws are derived; never changes, even if the class is renamed
    kinds: ClassVar[frozenset[Kind]] = ALL_KINDS  # the kinds of column it accepts
    keeps_boxes: ClassVar[bool] = False  # whether values stay inside the boxes of their cell, and of further trees
    uses_cells: ClassVar[bool] = True  # whether it uses the cells
    deterministic: ClassVar[bool] = False  # whether it uses no random numbers
    descends: ClassVar[bool] = True  # whether a released row comes from one original row; dealing assigns rows anew
    moves_rows: ClassVar[bool] = False  # whether it only exchanges values between rows, all columns of a step together
    joint: ClassVar[bool] = False  # whether the columns of a step are changed together, so that their likelihood is one
    reversible: ClassVar[bool] = False  # whether an attacker who knows a few rows can compute all others
    new_values: ClassVar[Promise] = "drawn"  # what it does to values if it does not exchange them

    @property
    def scope(self) -> Scope:
        """What a chunk must contain for ``change`` to be correct."""
        return "table"

    @property
    def moves_missing(self) -> bool:
        """Whether a missing value may move to another row."""
        return False

    @property
    def given(self) -> tuple[str, ...]:
        """Columns of the table that are released unchanged, and on which the new values depend."""
        return ()

    @property
    def shared_by(self) -> int:
        """The minimum number of rows that hold a number in the release, where rarer numbers are replaced; 1 if none."""
        return 1

    def shared(self, column: Column) -> Array:
        """The values of a column that rows exchange, with rare numbers replaced."""
        return column.values

    def promises(self, column: Column) -> tuple[Promise, ...]:
        """What holds of a released column as a whole, in the order in which it came about."""
        if not self.moves_rows:
            return (self.new_values,)
        return ("permuted",) if column.is_category or self.shared_by == 1 else ("shared", "permuted")

    @property
    def average(self) -> Literal["mean", "median"] | None:
        """The average that replaces the numbers of a cell, if any."""
        return None

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees, in words."""
        return () if self.moves_missing else ("missing stays missing",)

    @property
    def not_guaranteed(self) -> tuple[str, ...]:
        """What the published method is said to preserve and this one does not, in words."""
        return ()

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value, to complete "each value is"; with parameters if ``detailed``."""
        return f"changed by {PERTURBATIONS.name_of(type(self)) or type(self).__name__}"

    @property
    def why_fixed(self) -> str:
        """Why a value is fixed, for the report."""
        return methods()("fixed-cell")

    def fit(self, part: Chunk) -> Summary:
        """What must be known about a chunk before any chunk is changed."""
        return None

    def merge(self, one: Summary, other: Summary) -> Summary:
        """The merged summary of two chunks."""
        return one

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """What ``change`` needs from the summary of all chunks; computed once."""
        return summary

    @abstractmethod
    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """New values for the chunk's columns; ``summary`` is the result of `prepare`, here and below."""

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """One sentence for each guarantee that does not hold between a chunk and its new values."""
        if self.keeps_boxes:
            return left_their_place(before, after)
        return () if self.moves_missing else became_missing(before, after)

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """For each column, the known values that are fixed: unchanged with at least ``FIXED_PROBABILITY``."""
        return fixed_by_likelihood(self, part, summary)

    @abstractmethod
    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """For each row, the probability (or density, for a continuous number) of its released values given its own."""

    def observable_class(self, part: Chunk) -> Rows:
        """For each row, a number for what its released values reveal for certain; rows that match have equal numbers.

        An attacker who knows the cells is assumed to see the cell of a released row if its values stay inside it.
        """
        label = part.cells.label if self.uses_cells else np.zeros(len(part), np.int64)
        return label if self.moves_missing else by_missing(label, part.columns)

    def described(self, part: Chunk, floor: int) -> Described | None:
        """The description of what the released values depend on beyond the values of each column; None if unknown.

        ``floor`` is the minimum number of rows in a cell. Given this description and the columns' own values, the
        released values must not depend on who has which values.
        """
        return None

    @property
    def is_exchangeable(self) -> bool:
        """Whether all rows of an observable class are equally likely to be the source of a released value."""
        return False


PERTURBATIONS: Registry[type[Perturbation]] = Registry(
    "perturbation",
    "leafcover.perturb.shuffle",
    "leafcover.perturb.bounded",
    "leafcover.perturb.redraw",
    "leafcover.perturb.centroid",
    "leafcover.perturb.additive",
    "leafcover.perturb.correlated_noise",
    "leafcover.perturb.geometric_transformation",
    "leafcover.perturb.deal",
    "leafcover.perturb.conditional_normal",
    "leafcover.perturb.pram",
    "leafcover.perturb.swap",
    "leafcover.perturb.bounded_normal",
    "leafcover.perturb.copula",
)

Method = TypeVar("Method", bound=type[Perturbation])


def perturbation(name: str) -> Callable[[Method], Method]:
    """Register a perturbation under the name that plan files use."""
    return PERTURBATIONS.class_decorator(name)


def is_perturbation(value: object) -> TypeGuard[Perturbation]:
    """Whether something is a way to change values."""
    return isinstance(value, Perturbation)


def methods() -> Catalogue:
    """The catalogue of sentences that describe methods."""
    return catalogue("methods")


def fixed_by_likelihood(perturbation: Perturbation, part: Chunk, summary: Summary) -> dict[str, Bools]:
    """For each column, whether a perturbation leaves each value unchanged with at least ``FIXED_PROBABILITY``."""
    found = {}
    for column in part.columns:
        single = replace(part, columns=(column,))
        found[column.name] = ~column.missing & (
            perturbation.likelihood(single, {column.name: column.values}, summary) >= FIXED_PROBABILITY
        )
    return found


def moved_out(part: Chunk, column: Column, after: Array) -> int:
    """The number of known values outside their box or domain, or off their grid."""
    known = ~column.missing
    if not known.any():
        return 0
    new = after[known]
    if column.is_category:
        if (new >= len(column.levels)).any() or (new < 0).any():
            return int(((new >= len(column.levels)) | (new < 0)).sum())
        return int((known & ~part.allows(column.name, np.where(known, after, 0))).sum())
    low, high = part.ranges(column.name)
    bottom, top = column.domain
    out = (new <= low[known]) | (new > high[known]) | (new < bottom) | (new > top)
    if column.grid is not None:
        out |= column.grid.value(column.grid.index(new)) != new
    return int(out.sum())


def became_missing(part: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
    """Sentences about missing values that appeared or disappeared."""
    lost = {column.name: missing_moved(column, after[column.name]) for column in part.columns}
    return tuple(f"column {n!r}: {rows} values became or ceased to be missing" for n, rows in lost.items() if rows)


def left_their_place(part: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
    """Sentences about values that left their box, domain or grid, and about changes of missing values."""
    out = {column.name: moved_out(part, column, after[column.name]) for column in part.columns}
    left = tuple(f"column {n!r}: {rows} values left their box, domain or grid" for n, rows in out.items() if rows)
    return (*left, *became_missing(part, after))


def by_missing(label: Rows, columns: tuple[Column, ...]) -> Rows:
    """Labels divided further by which of the columns are missing."""
    found = label
    for column in columns:
        missing = column.missing
        if missing.any():
            found = intersect_labels(found, missing)
    return found


def missing_moved(column: Column, after: Array) -> int:
    """The number of rows that changed between known and missing."""
    gone = (after < 0) if column.is_category else np.isnan(after)
    return int((gone != column.missing).sum())
