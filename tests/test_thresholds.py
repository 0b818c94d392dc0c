"""Every documented threshold has one place, and moving it by a fifth is noticed."""

from dataclasses import replace

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.attacker import Known, singletons
from leafcover.engine.evaluate import MOST_SINGLETONS, refuse_singletons
from leafcover.errors import RiskTooHigh
from leafcover.metrics.disclosure.individual_risk import individual
from leafcover.metrics.pair import pair_of
from leafcover.partition.base import Partition
from leafcover.perturb.base import fixed_by_likelihood
from leafcover.perturb.redraw import Redraw
from leafcover.reporting.disclosure_rules import DisclosureRules
from tests.tables import category, mixed, number, table


def released_with(singletons):
    """A release of 1,000 rows of which so many are alone in their cell."""
    label = np.concatenate([np.arange(singletons), np.full(1000 - singletons, singletons)])
    original = table(category("c", ["a", "b"] * 500))
    made = lc.release(original, lc.Plan(lc.Step("c", within=lc.Whole(), perturb=lc.Shuffle())), seed=1)
    cells = replace(made.cells[0], single=singletons / 1000, count=len(np.unique(label)))
    return replace(made, cells=(cells,))


def test_more_than_one_row_in_twenty_alone_is_refused():
    refuse_singletons(released_with(50))
    with pytest.raises(RiskTooHigh, match=r"5\.1%"):
        refuse_singletons(released_with(51))
    assert MOST_SINGLETONS == 0.05


def test_a_value_that_stays_with_nineteen_in_twenty_is_fixed():
    """A category redrawn as itself, but with probability v as another value: fixed from 1 - v of 0.95 on."""
    from leafcover.cells import one_cell
    from leafcover.perturb.base import Chunk

    column = category("c", ["a", "b"] * 20)
    part = Chunk(np.arange(40), (column,), one_cell(40))
    for others, fixed in ((0.049, True), (0.051, False)):
        noise = Redraw(distribution="own", others=others)
        summary = noise.finalize(noise.fit(part), part.cells)
        assert fixed_by_likelihood(noise, part, summary)["c"].all() == fixed


def test_an_individual_risk_above_one_in_five_is_high():
    """Equivalence classes of five rows have a risk of 0.2, which is not above it; those of four are."""
    for size, high in ((5, 0.0), (4, 1.0)):
        original = table(number("x", np.repeat(np.arange(20.0), size)))
        found = individual(pair_of(original, original, None, quasi_identifiers=["x"]))
        assert found.high.value == high


def test_rows_alone_in_a_cell_of_any_step_are_counted():
    original = mixed(1, rows=100)
    step = lc.Step("age", within=lc.Whole(), perturb=lc.Shuffle())
    cells = replace(lc.Whole().cells(original).cells, label=np.minimum(np.arange(100), 7), count=8)
    known = Known(original, lc.Plan(step), {step.within: Partition(cells)}, original)
    assert singletons(known) == 0.07


def test_a_count_below_five_is_not_published():
    rules = DisclosureRules(1000, True)
    assert rules.count(5) == "5"
    assert rules.count(4) != "4"
