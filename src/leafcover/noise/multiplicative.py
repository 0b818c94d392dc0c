"""Multiply every number by independent noise of mean 1: large values move far, small ones little, zero not at all.

MN of the literature: Y = X e. The mean stays; the variance grows from s² to s² + c² (m² + s²), where m is the column's
mean and c the deviation of e.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar, Literal

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
from leafcover.noise.law import Normal, between
from leafcover.noise.part import Changed, Part, Reach, Summary, by_missing, pinned_by_likelihood
from leafcover.table.table import Column


@dataclass(frozen=True)
class Multiplicative:
    """A factor of mean 1 and deviation ``spread`` for every value.

    ``law="lognormal"`` keeps every sign; ``"normal"`` may turn it. A zero stays zero under both, and is counted as
    pinned. With ``on_grid`` the product is rounded to the column's grid.
    """

    frozen_id: ClassVar[str] = "multiplicative"
    spread: float
    law: Literal["lognormal", "normal"] = "lognormal"
    on_grid: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.spread <= MOST_SPREAD:
            allowed = f"the deviation of a factor of mean 1, above 0 and at most {MOST_SPREAD:g}"
            raise ValueOutOfRange("Multiplicative.spread", self.spread, allowed)
        if self.law not in ("lognormal", "normal"):
            raise ValueOutOfRange("Multiplicative.law", self.law, "'lognormal' or 'normal'")

    @property
    def reach(self) -> Reach:
        """A row alone."""
        return "row"

    @property
    def promises(self) -> tuple[str, ...]:
        """What holds afterwards."""
        signs = ("no value changes its sign",) if self.law == "lognormal" else ()
        return (*signs, "zero stays zero", *free_promises(self.on_grid))

    def summarise(self, part: Part) -> Summary:
        """Nothing needs to be known before."""
        return None

    def merge(self, one: Summary, other: Summary) -> Summary:
        """Nothing to merge."""
        return None

    def settle(self, summary: Summary, cells: Cells) -> Summary:
        """Nothing to settle."""
        return None

    def change(self, part: Part, summary: Summary, draws: Draws) -> Mapping[str, Changed]:
        """Multiply every known value by a draw."""
        changed = {}
        for column in part.columns:
            known = ~column.missing
            factor = self._factor(draws.sub(column.name).uniform(part.rows[known]))
            values = column.values.copy()
            with np.errstate(over="ignore"):  # what grew too large is refused by broken
                if (grid := grid_for(column, self.on_grid)) is not None:
                    values[known] = on_points(grid, grid.index(values[known]) * factor)
                else:
                    values[known] = values[known] * factor + 0.0  # + 0.0: one zero
            changed[column.name] = Changed(values)
        return changed

    def broken(self, before: Part, after: Mapping[str, Array]) -> tuple[str, ...]:
        """Values off their grid or too large, zeros and signs that moved; missing values that appeared or went."""
        said = []
        for column in before.columns:
            old, new = np.sign(column.values), np.sign(after[column.name])
            moved = (old == 0) & (new != 0)
            if self.law == "lognormal":
                moved |= old * new < 0
            if moved.any():
                said.append(f"column {column.name!r}: {int(moved.sum())} values left zero or changed their sign")
        return (*said, *free_broken(before, after, self.on_grid))

    def pinned(self, part: Part, summary: Summary) -> Mapping[str, Bools]:
        """Zeros, and values so small that they are rounded to themselves."""
        return pinned_by_likelihood(self, part, summary)

    def likelihood(self, part: Part, released: Mapping[str, Array], summary: Summary) -> Floats:
        """The probability of each released value: of its grid point, else of a millionth of the column's largest."""
        return free_likelihood(part, released, self._chance)

    def shown(self, part: Part) -> Rows:
        """Which columns are missing; what the signs say is in the likelihood."""
        return by_missing(np.zeros(len(part), np.int64), part.columns)

    @property
    def uniform(self) -> bool:
        """A value near the released one is likelier to be the row's own."""
        return False

    @property
    def _width(self) -> float:
        """The deviation of the factor's logarithm."""
        return sqrt(log(1 + self.spread**2))

    def _factor(self, u: Floats) -> Floats:
        drawn = Normal().inverse(u)
        if self.law == "normal":
            return 1 + self.spread * drawn
        return np.exp(self._width * drawn - self._width**2 / 2)

    def _chance(self, column: Column, old: Floats, new: Floats) -> Floats:
        zero = old == 0
        found = (new == 0).astype(np.float64)
        old, new = old[~zero], new[~zero]
        if (grid := grid_for(column, self.on_grid)) is not None:
            size, to = grid.index(old).astype(np.float64), grid.index(new).astype(np.float64)
        else:
            step = max(max(abs(end) for end in column.domain) / FINE, SMALLEST_STEP)
            size, to = old / step, new / step
        still = size == 0  # too small to be told from zero on this grid
        chance = (to == 0).astype(np.float64)
        size, to = size[~still], to[~still]
        ends = [(np.copysign(1.0, size) * to + half) / np.abs(size) for half in (-0.5, 0.5)]
        chance[~still] = between(Normal(), *(self._drawn(end) for end in ends))
        found[~zero] = chance
        return found

    def _drawn(self, factor: Floats) -> Floats:
        """The normal draw that gives a factor."""
        if self.law == "normal":
            return (factor - 1) / self.spread
        with np.errstate(divide="ignore"):  # a factor of 0 is never drawn: minus infinity
            return np.log(np.maximum(factor, 0.0)) / self._width + self._width / 2
