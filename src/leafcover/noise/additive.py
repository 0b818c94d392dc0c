"""Add independent noise to every number: the simplest noise, with biases that are known.

SAN of the literature: Y = X + e with a deviation of c times the column's own. The mean stays; the variance grows to
1 + c² times itself, correlations between noisy columns shrink by 1 / (1 + c²), with others by 1 / sqrt(1 + c²).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leafcover.cells import Cells
from leafcover.draws import Draws
from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import Array, Bools, Floats, Rows
from leafcover.noise.bounded import FINE
from leafcover.noise.free import (
    MOST_SPREAD,
    SMALLEST_STEP,
    free_broken,
    free_likelihood,
    free_promises,
    grid_for,
    on_points,
)
from leafcover.noise.law import LawName, between, law_named
from leafcover.noise.moments import moments_of
from leafcover.noise.part import Changed, Part, Reach, Summary, by_missing, pinned_by_likelihood
from leafcover.table.table import Column


@dataclass(frozen=True)
class Additive:
    """Noise of deviation ``spread`` times the column's sample deviation, the same for every row of the table.

    Nothing is cut off, since that would bias the mean: values may leave the column's domain and its cells. With
    ``on_grid`` the noise is rounded to whole steps of the column's grid; dates and times always are.
    """

    frozen_id: ClassVar[str] = "additive"
    spread: float
    law: LawName = "normal"
    on_grid: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.spread <= MOST_SPREAD:
            allowed = f"a share of the column's deviation, above 0 and at most {MOST_SPREAD:g}"
            raise ValueOutOfRange("Additive.spread", self.spread, allowed)
        law_named(self.law)

    @property
    def reach(self) -> Reach:
        """The deviation of each column over the whole table."""
        return "moments"

    @property
    def promises(self) -> tuple[str, ...]:
        """What holds afterwards."""
        return free_promises(self.on_grid)

    def summarise(self, part: Part) -> Summary:
        """Exact sums, so that parts do not matter."""
        return {column.name: moments_of(column.values[~column.missing]) for column in part.columns}

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Sums add up."""
        return {name: one[name].plus(other[name]) for name in one}

    def settle(self, summary: Summary, cells: Cells) -> Summary:
        """The deviation of each column's noise."""
        return {name: self.spread * moments.deviation for name, moments in summary.items()}

    def change(self, part: Part, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Add a draw to every known value."""
        law = law_named(self.law)
        changed = {}
        for column in part.columns:
            known = ~column.missing
            noise = law.inverse(draws.sub(column.name).uniform(part.rows[known])) * summary[column.name]
            values = column.values.copy()
            with np.errstate(over="ignore"):  # what grew too large is refused by broken
                if (grid := grid_for(column, self.on_grid)) is not None:
                    values[known] = on_points(grid, grid.index(values[known]) + np.rint(noise / grid.step))
                else:
                    values[known] += noise
            changed[column.name] = Changed(values)
        return changed

    def broken(self, before: Part, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Values off their grid or too large; missing values that appeared or went."""
        return free_broken(before, after, self.on_grid)

    def pinned(self, part: Part, summary: Summary) -> Mapping[str, Bools]:
        """Values whose law gives them at least 0.95: those of a constant column, and where a grid is coarse."""
        return pinned_by_likelihood(self, part, summary)

    def likelihood(self, part: Part, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of each released value: of its grid point, else of a millionth of the column's range."""
        return free_likelihood(
            part, released, lambda column, old, new: self._chance(column, old, new, summary[column.name])
        )

    def shown(self, part: Part) -> Rows:
        """Which columns are missing; a value may land anywhere."""
        return by_missing(np.zeros(len(part), np.int64), part.columns)

    @property
    def uniform(self) -> bool:
        """A value near the released one is likelier to be the row's own."""
        return False

    def _chance(self, column: Column, old: Floats, new: Floats, deviation: float) -> Floats:
        if deviation == 0:
            return (old == new).astype(np.float64)
        with np.errstate(over="ignore"):
            if (grid := grid_for(column, self.on_grid)) is not None:
                apart: Array = grid.index(new) - grid.index(old)
                step = grid.step
            else:
                bottom, top = column.domain
                step = max(top / FINE - bottom / FINE, SMALLEST_STEP)
                apart = (new - old) / step
            points = deviation / step
            return between(law_named(self.law), (apart - 0.5) / points, (apart + 0.5) / points)
