"""Geometric data transformations of Oliveira and Zaiane (2003): translation, scaling, rotation, and a mix of them.

One function with secret parameters changes the numbers of all rows, so that clusters stay as they are: translations and
rotations keep the distances between rows. They are not private. All values are an affine function of the original ones,
and an attacker who knows a few rows computes it, and with it everybody's numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Floats
from leafcover.cells import Cells
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws
from leafcover.perturb.additive import ExactMoments, free_broken, free_promises, moments_of, on_points
from leafcover.perturb.base import Changed, Chunk, Perturbation, Promise, Scope, Summary, methods, perturbation
from leafcover.table.table import Grid, Kind

Operation: TypeAlias = Literal["translate", "scale", "rotate", "hybrid"]

MOST_SPREAD = 10.0  # more would leave few digits of a value
ANGLE = (
    np.pi / 6
)  # a rotation is at least so far from one that leaves the columns as they are, or only turns their signs
UNKNOWN = 0.5  # the likelihood of any value to an attacker who does not know the function: all are alike


@perturbation("geometric")
@dataclass(frozen=True)
class Geometric(Perturbation):
    """One secret translation, scaling or rotation for all rows. Not private: a few known rows reveal it.

    A translation adds a constant to each column, between 0.5 and 1.5 times ``spread`` standard deviations up or down,
    in whole steps of the column's grid. A scaling multiplies each column by 2 to the power of a number between 0.5 and
    1.5 times ``spread``, or divides by it. A rotation turns pairs of columns by an angle that is at least 30° from a
    turn or a half turn; of an odd number of columns the last is paired with the first, which was turned before. A
    hybrid draws one of the three for each column, a translation if no other column is to be rotated. Constant columns
    stay. A missing value stays missing, and counts as the column's mean where its partner is rotated.

    Parameters
    ----------
    operation : {"translate", "scale", "rotate", "hybrid"}
        What is done to the columns.
    spread : float, default 1
        How far values are translated, and by what they are multiplied.
    standardised : bool, default False
        Rotate standard scores, so that columns of large numbers do not dominate the others. Distances between the
        standard scores are kept, and values stay in the units of their column.
    on_grid : bool, default False
        Round to the column's grid, such as whole years or cents; distances are then kept up to rounding.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine"))
    >>> step = lc.Step(["alcohol", "ash"], within=lc.Whole(), perturb=lc.Geometric("rotate"))
    >>> release = lc.release(table, lc.Plan(step), seed=7, keep_order=True)
    >>> lengths = [(t["alcohol"].values ** 2 + t["ash"].values ** 2).sum() for t in (table, release.table)]
    >>> bool(abs(lengths[1] / lengths[0] - 1) < 1e-12)
    True
    """

    frozen_id: ClassVar[str] = "geometric"
    new_values: ClassVar[Promise] = "transformed"
    kinds: ClassVar[frozenset[Kind]] = frozenset({"number"})
    uses_cells: ClassVar[bool] = False
    joint: ClassVar[bool] = True
    reversible: ClassVar[bool] = True
    operation: Operation
    spread: float = 1.0
    standardised: bool = False
    on_grid: bool = False

    def __post_init__(self) -> None:
        if self.operation not in ("translate", "scale", "rotate", "hybrid"):
            allowed = "'translate', 'scale', 'rotate' or 'hybrid'"
            raise ValueOutOfRange("Geometric.operation", self.operation, allowed)
        if not 0 < self.spread <= MOST_SPREAD:
            raise ValueOutOfRange("Geometric.spread", self.spread, f"above 0 and at most {MOST_SPREAD:g}")

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value."""
        return methods()("geometric", operation=self.operation)

    @property
    def why_fixed(self) -> str:
        """Only constant columns stay."""
        return methods()("fixed-constant")

    @property
    def scope(self) -> Scope:
        """The mean and the standard deviation of each column."""
        return "moments"

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees."""
        return ("a number that is constant in the table stays", *free_promises(self.on_grid))

    def fit(self, part: Chunk) -> Summary:
        """Exact sums, so that the result does not depend on the chunks."""
        return {column.name: moments_of(column.values[~column.missing]) for column in part.columns}

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Add the sums."""
        return {name: one[name].plus(other[name]) for name in one}

    def finalize(self, summary: Summary, cells: Cells) -> Summary:
        """The means and deviations."""
        return _Columns.of(summary)

    def change(self, part: Chunk, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """The same function of every row."""
        if self.operation == "rotate" and summary.varied.sum() == 1:
            raise PlanError(
                f"A rotation needs two columns that vary. Of {', '.join(summary.names)} one does. "
                "Add another column, or translate that one."
            )
        matrix, shift = self._function(summary, [c.grid for c in part.columns], draws)
        filled = [np.where(c.missing, m, c.values) for c, m in zip(part.columns, summary.means, strict=True)]
        changed = {}
        for at, column in enumerate(part.columns):
            new, only = np.full(len(part), shift[at]), not np.delete(matrix[at], at).any() and matrix[at, at] == 1
            with np.errstate(over="ignore", invalid="ignore"):  # what grew too large is refused by violations
                for one in np.flatnonzero(matrix[at]):
                    new += matrix[at, one] * filled[one]
                if column.grid is not None and (self.on_grid or only):
                    new = on_points(column.grid, column.grid.index(new))
            changed[column.name] = Changed(
                np.where(column.missing, np.nan, new if summary.varied[at] else column.values)
            )
        return changed

    def violations(self, before: Chunk, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Sentences about values off their grid or too large, and about missing values that appeared or disappeared."""
        return free_broken(before, after, self.on_grid)

    def fixed(self, part: Chunk, summary: Summary) -> Mapping[str, Bools]:
        """The values of constant columns."""
        constant = {name: not varied for name, varied in zip(summary.names, summary.varied, strict=True)}
        return {c.name: ~c.missing & constant[c.name] for c in part.columns}

    def likelihood(self, part: Chunk, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The same for all values, as the function is secret; a constant value stays.

        An attacker who knows rows has no use for a likelihood: the function is known then, and with it every value.
        """
        found = np.ones(len(part))
        for column in part.columns:
            found[column.missing != np.isnan(released[column.name])] = 0.0
        constant = [c for c in part.columns if not summary.varied[summary.names.index(c.name)]]
        for column in constant:
            found[~column.missing & (column.values != released[column.name])] = 0.0
        return found if len(constant) == len(part.columns) else found * UNKNOWN

    def _function(self, columns: "_Columns", grids: Sequence[Grid | None], draws: Draws) -> tuple[Floats, Floats]:
        """The matrix and the shift of the affine function of a row."""
        count = len(columns.names)
        matrix, shift = np.eye(count), np.zeros(count)
        turned = []
        for at in np.flatnonzero(columns.varied).tolist():
            sign, size, which = draws.sub("function", columns.names[at]).uniform(np.arange(3))
            far = (0.5 + size) * self.spread * (1 if sign > 0.5 else -1)
            operation = (
                ("translate", "scale", "rotate")[int(which * 3)] if self.operation == "hybrid" else self.operation
            )
            if operation == "rotate":
                turned.append(at)
            elif operation == "scale":
                matrix[at, at] = 2.0**far
            else:
                shift[at] = _on_steps(far * columns.deviations[at], grids[at])
        if len(turned) == 1:
            far = (0.5 + draws.sub("function", "alone").uniform(np.arange(1))[0]) * self.spread
            shift[turned[0]] = _on_steps(far * columns.deviations[turned[0]], grids[turned[0]])
            return matrix, shift
        pairs = [*zip(turned[::2], turned[1::2], strict=False), *([(turned[-1], turned[0])] if len(turned) % 2 else [])]
        for i, j in pairs:
            quarter, within = draws.sub("angle", columns.names[i], columns.names[j]).uniform(np.arange(2))
            angle = ANGLE + within * (np.pi - 2 * ANGLE) + (np.pi if quarter > 0.5 else 0.0)
            turn, move = columns.rotation(i, j, angle, standardised=self.standardised)
            matrix, shift = turn @ matrix, turn @ shift + move
        return matrix, shift


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns of a step, before an attacker knows the function."""

    names: tuple[str, ...]
    means: Floats
    deviations: Floats

    @classmethod
    def of(cls, moments: Mapping[str, ExactMoments]) -> "_Columns":
        found = moments.values()
        return cls(tuple(moments), np.array([m.mean for m in found]), np.array([m.deviation for m in found]))

    @property
    def varied(self) -> Bools:
        """Which columns have more than one value."""
        return self.deviations > 0

    def rotation(self, i: int, j: int, angle: float, *, standardised: bool) -> tuple[Floats, Floats]:
        """The matrix and the shift that turn two columns: about zero, or as standard scores about their means."""
        turn, move = np.eye(len(self.names)), np.zeros(len(self.names))
        cosine, sine = np.cos(angle), np.sin(angle)
        ratio = self.deviations[i] / self.deviations[j] if standardised else 1.0
        turn[i, i], turn[i, j], turn[j, i], turn[j, j] = cosine, sine * ratio, -sine / ratio, cosine
        if standardised:
            both = [i, j]
            move[both] = self.means[both] - turn[np.ix_(both, both)] @ self.means[both]
        return turn, move


def _on_steps(shift: float, grid: Grid | None) -> float:
    """A shift in whole steps of a grid, at least one."""
    if grid is None:
        return shift
    return float(np.copysign(max(round(abs(shift) / grid.step), 1) * grid.step, shift))
