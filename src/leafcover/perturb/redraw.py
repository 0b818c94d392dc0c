"""Resample a category from its cell's frequencies (PPT), also from siblings (DETECTIVE) or from all leaves (ALPT).

DETECTIVE: with probability p a row takes the majority value of a sibling leaf, otherwise a value drawn by its frequency
in the row's own leaf. See Islam and Brankovic (2005), "DETECTIVE: A Decision Tree Based Categorical Value Clustering
and Perturbation Technique for Preserving Privacy in Data Mining". PPT and ALPT perturb a class; see Islam and Brankovic
(2004), "A Framework for Privacy Preserving Classification in Data Mining".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.cells import Cells
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.base import (
    Changed,
    Chunk,
    Perturbation,
    Scope,
    Summary,
    by_missing,
    left_their_place,
    methods,
    perturbation,
)
from leafcover.table.table import Kind


@perturbation("redraw")
@dataclass(frozen=True)
class Redraw(Perturbation):
    """Draw a new value of a category for every row from the distribution of its cell.

    Parameters
    ----------
    distribution : {"shares", "all-leaves", "own"}, default "shares"
        "shares" uses the frequencies of the cell. "all-leaves" gives every row its cell's majority, except with a
        probability equal to the table's overall minority share (ALPT). "own" keeps the row's own value.
    siblings : float, default 0
        The probability of a majority value of another leaf with the same parent: DETECTIVE's p.
    cousins : int, default 1
        With 2, 3, ... the probability ``siblings`` is also divided among more distant leaves, each degree half as
        likely as the one before.
    others : float, default 0
        The probability of any other value of the column: DETECTIVE's v.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> leaves = lc.Leaves(of="occupation")
    >>> step = lc.Step("occupation", within=leaves, perturb=lc.Redraw(siblings=0.2))
    >>> release = lc.release(table, lc.Plan(step), seed=7)
    >>> release.table["occupation"].levels == table["occupation"].levels
    True
    """

    frozen_id: ClassVar[str] = "redraw"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"category"})
    keeps_boxes: ClassVar[bool] = True
    distribution: Literal["shares", "all-leaves", "own"] = field(default="shares", metadata={"frozen_id": "law"})
    siblings: float = 0.0
    cousins: int = 1
    others: float = 0.0

    def __post_init__(self) -> None:
        for name, share in (("siblings", self.siblings), ("others", self.others)):
            if not 0 <= share <= 1:
                raise ValueOutOfRange(f"Redraw.{name}", share, "a probability from 0 to 1")
        if not 1 <= self.cousins <= 20:
            raise ValueOutOfRange("Redraw.cousins", self.cousins, "a degree from 1 (siblings only) to 20")
        if self.distribution == "all-leaves" and self.siblings:
            raise PlanError("Redraw(distribution='all-leaves') already includes other leaves. Leave siblings at 0.")

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        parts = [methods()("redraw", distribution=self.distribution)]
        for name, share in (("redraw-siblings", self.siblings), ("redraw-others", self.others)):
            if share:
                parts.append(methods()(name, share=f"{share:g}" if detailed else "none"))
        return ", ".join(parts)

    @property
    def scope(self) -> Scope:
        """The counts of every cell are needed."""
        return "counts"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return ("every value is a level of its column that its box allows", "missing stays missing")

    def fit(self, part: Chunk) -> Summary:
        """The frequency of each level in each cell."""
        found = {}
        for column in part.columns:
            known = ~column.missing
            at = part.cells.label[known] * len(column.levels) + column.values[known]
            counts = np.bincount(at, minlength=part.cells.count * len(column.levels))
            found[column.name] = counts.reshape(part.cells.count, len(column.levels))
        return found

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Add the counts."""
        return {name: one[name] + other[name] for name in one}

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The distribution of every cell."""
        return {
            name: None if self.distribution == "own" else self._distribution_of_cells(counts, cells)
            for name, counts in summary.items()
        }

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Resample every known value."""
        changed = {}
        for column in part.columns:
            known = np.flatnonzero(~column.missing)
            distribution = self._distribution_of_rows(part, summary, column.name, known)
            values = column.values.copy()
            values[known] = drawn(distribution, draws.sub(column.name).uniform(part.rows[known]))
            changed[column.name] = Changed(values)
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values outside their box, and about missing values that appeared or disappeared."""
        return left_their_place(before, after)

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of each released value."""
        total = np.ones(len(part))
        for column in part.columns:
            new = released[column.name]
            total[column.missing != (new < 0)] = 0.0
            known = np.flatnonzero(~column.missing & (new >= 0))
            total[known] *= chance(self._distribution_of_rows(part, summary, column.name, known), new[known])
        return total

    def observable_class(self, part: Chunk) -> Rows:
        """Which columns are missing. The cell is not observable, because a resampled value may leave it."""
        return by_missing(np.zeros(len(part), np.int64), part.columns)

    def _distribution_of_rows(self, part: Chunk, summary: Summary, name: str, rows: Rows) -> "RowDistributions":
        column = next(c for c in part.columns if c.name == name)
        allowed = part.allowed(name)
        return RowDistributions(
            cell=summary[name],
            label=part.cells.label[rows],
            own=column.values[rows],
            levels=len(column.levels),
            others=self.others,
            allowed=None if allowed is None else allowed[rows],
        )

    def _distribution_of_cells(self, counts: Array, cells: Cells) -> Floats:
        if self.distribution == "all-leaves":
            return all_leaves(counts)
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        if not self.siblings:
            return shares
        if not cells.groups:
            raise PlanError("Redraw(siblings=...) needs leaves of a tree. Use within=Leaves(of=...).")
        return with_siblings(shares, counts, cells.groups[: self.cousins], self.siblings)


class RowDistributions(NamedTuple):
    """The distribution of each row: its cell's (or its own value), then any other value, then limited to the box."""

    cell: Floats | None  # (cells, levels) probability of each level; None: the row keeps its own value
    label: Rows  # (rows,)
    own: Array  # (rows,) the row's own code
    levels: int
    others: float
    allowed: Bools | None  # (rows, levels)

    def masses(self, part: slice) -> Floats:
        """(rows, levels) probability of each level for some of the rows."""
        own = self.own[part]
        rows = np.arange(len(own))
        if self.cell is None:
            mass = np.zeros((len(own), self.levels))
            mass[rows, own] = 1.0
        else:
            mass = self.cell[self.label[part]]
        if self.others and self.levels > 1:
            mass = (1 - self.others) * mass + self.others / (self.levels - 1)
            mass[rows, own] -= self.others / (self.levels - 1)
        if self.allowed is not None:
            mass = mass * self.allowed[part]
            nothing = mass.sum(axis=1) <= 0  # the box excludes every possible value: the row keeps its own
            mass[nothing, own[nothing]] = 1.0
        return mass / mass.sum(axis=1, keepdims=True)


def with_siblings(shares: Floats, counts: Array, groups: tuple[Array, ...], p: float) -> Floats:
    """DETECTIVE's distribution: p over the majority values of sibling leaves, 1 - p over the leaf's own frequencies.

    >>> counts = np.array([[8, 2], [0, 5]])
    >>> with_siblings(counts / counts.sum(axis=1, keepdims=True), counts, (np.array([0, 0]),), 0.2)
    array([[0.64, 0.36],
           [0.2 , 0.8 ]])
    """
    present = counts.sum(axis=1) > 0  # an empty leaf counts as no sibling
    majority = np.zeros(shares.shape)
    majority[np.flatnonzero(present), counts[present].argmax(axis=1)] = 1.0
    seen, distribution, weight = majority.copy(), np.zeros(shares.shape), np.zeros(len(shares))
    for degree, group in enumerate(groups):
        member = group >= 0
        together = np.zeros((int(group.max(initial=0)) + 1, shares.shape[1]))
        np.add.at(together, group[member], majority[member])
        around = np.where(member[:, None], together[np.where(member, group, 0)], seen)
        new = around - seen  # leaves of this degree and no nearer one
        found = new.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            distribution += np.where(found[:, None] > 0, 0.5**degree * new / found[:, None], 0.0)
        weight += np.where(found > 0, 0.5**degree, 0.0)
        seen = around
    share = np.where(weight > 0, p, 0.0)[:, None]  # no siblings: p is 0
    return (1 - share) * shares + share * distribution / np.maximum(weight, 1e-300)[:, None]


def all_leaves(counts: Array) -> Floats:
    """ALPT's distribution: the cell's majority, or one of the others with the table's overall minority share.

    >>> all_leaves(np.array([[3, 1], [4, 0]]))
    array([[0.875, 0.125],
           [0.875, 0.125]])
    """
    majority = counts.argmax(axis=1)
    rows = np.arange(len(counts))
    minority = counts.astype(np.float64)
    minority[rows, majority] = 0.0
    p = minority.sum() / max(counts.sum(), 1)
    everyone = np.tile(counts.sum(axis=0, dtype=np.float64), (len(counts), 1))
    everyone[rows, majority] = 0.0
    chosen = np.where(minority.sum(axis=1, keepdims=True) > 0, minority, everyone)
    distribution = p * chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    distribution[rows, majority] = 1.0 - distribution.sum(axis=1)
    return distribution


BLOCK = 4_000_000  # probabilities computed at once, to limit memory


def _blocks(distribution: RowDistributions) -> Iterator[slice]:
    rows = max(1, BLOCK // max(distribution.levels, 1))
    return (slice(start, start + rows) for start in range(0, len(distribution.own), rows))


def drawn(distribution: RowDistributions, u: Floats) -> Array:
    """One level for each row, by the inverse cdf of the row's distribution."""
    new = np.empty(len(u), np.int32)
    for part in _blocks(distribution):
        mass = distribution.masses(part)
        below = np.cumsum(mass, axis=1)
        # Rounding must not put a uniform number above the last level with positive probability.
        last = mass.shape[1] - 1 - (mass[:, ::-1] > 0).argmax(axis=1)
        new[part] = np.minimum((below <= u[part, None]).sum(axis=1), last)
    return new


def chance(distribution: RowDistributions, released: Array) -> Floats:
    """The probability of each released level."""
    total = np.empty(len(released))
    for part in _blocks(distribution):
        mass = distribution.masses(part)
        total[part] = mass[np.arange(len(mass)), released[part]]
    return total
