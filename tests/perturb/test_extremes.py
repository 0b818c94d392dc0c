"""Very small noise and very distant values: right figures, and no warning (which is an error here)."""

import numpy as np
import pytest

from leafcover.perturb.bounded import distribution_named, fitted, probability
from leafcover.table.table import OFF_GRID, Grid

PLACE, SIZE = np.array([0.0, 5.0, 2.0**52]), np.array([1.0, 10.0, 2.0**53])
U = np.array([1e-16, 0.5, 1 - 1e-16])


@pytest.mark.parametrize("law", ["normal", "uniform", "laplace"])
@pytest.mark.parametrize("fit", ["redraw", "reflect", "wrap", "clip"])
@pytest.mark.parametrize("spread", [0.0, 1e-310, 1e-250, 1e-20])
def test_noise_that_moves_nothing_surely_stays_where_it_is(law, fit, spread):
    deviation = np.full(3, spread)
    assert fitted(PLACE, SIZE, deviation, U, distribution_named(law), fit).tolist() == PLACE.tolist()
    assert probability(PLACE, PLACE, SIZE, deviation, distribution_named(law), fit).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("law", ["normal", "uniform", "laplace"])
def test_what_is_far_outside_is_never_drawn(law):
    chance = probability(PLACE, np.full(3, OFF_GRID), SIZE, np.zeros(3), distribution_named(law), "redraw")
    assert chance.tolist() == [0.0, 0.0, 0.0]


def test_a_grid_puts_what_is_unknown_or_too_far_beyond_every_point():
    values = np.array([0.07, np.nan, 1e300, -1e300, 1e308])
    assert Grid(2).index(values).tolist() == [7, 2**62, 2**62, -(2**62), 2**62]
    assert Grid(9).index(np.array([2.0**23])).tolist() == [2**23 * 10**9]
