"""What the plan singletons tells of the original, worked out by hand."""

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.attacker import Known, disclosed, fixed, singletons, widths
from tests.tables import category, mixed, number, table


def test_ranges_known_by_the_box_and_by_the_rows_of_a_cell():
    # A tree for the class cuts x at 4: boxes (-inf, 4] and (4, inf) of the domain 1..9.
    original = table(
        number("x", [1, 2, 3, 4, 6, 7, 8, 9]),
        number("y", [5, 6, 5, 6, 1, 9, 1, 9]),
        category("class", list("aaaabbbb")),
    )
    leaves = lc.Leaves(of="class", min_cell=1)
    plan = lc.Plan(
        lc.Step("x", leaves, lc.Bounded()),
        lc.Step("y", leaves, lc.Shuffle()),
        lc.Step("class", leaves, lc.Shuffle()),
        target="class",
    )
    known = Known.rebuilt(original, plan)
    found = widths(known)
    assert found["x"] == pytest.approx(((4 - 1) / 8 + (9 - 4) / 8) / 2)  # the boxes within 1..9
    assert found["y"] == pytest.approx((1 / 8 + 8 / 8) / 2)  # 5..6 in one leaf, 1..9 in the other
    assert found["class"] == 0.0  # each leaf has one class
    assert fixed(known)["class"] == 1.0
    assert disclosed(known) == 1.0
    assert singletons(known) == 0.0


def test_columns_that_no_step_writes_are_known():
    original = mixed(1)
    known = Known.rebuilt(original, lc.Plan(lc.Step("age", lc.Whole(), lc.Shuffle()), target="class"))
    assert (widths(known)["pay"], fixed(known)["pay"], disclosed(known)) == (0.0, 1.0, 1.0)
    assert widths(known)["age"] == 1.0


def test_a_category_that_may_be_anything_is_not_known():
    original = table(category("c", ["a", "b", None, "c"]), category("class", list("pqpq")))
    plan = lc.Plan(lc.Step("c", lc.Whole(), lc.Redraw(distribution="own", others=0.5)))
    assert widths(Known.rebuilt(original, plan))["c"] == 1.0
    assert disclosed(Known.rebuilt(original, plan)) == 0.0  # no target, nothing to disclose


@pytest.mark.parametrize("recipe", ["cells", "framework", "detective", "random", "additive", "multiplicative"])
def test_figures_are_those_of_the_release(recipe):
    original = mixed(2)
    plan = lc.recipes.plan_for(original, recipe, target="class")
    release = lc.release(original, plan, seed=1)
    known = Known(original, plan, release.partitions, original)
    shares = fixed(known)
    assert shares == pytest.approx({fact.name: fact.fixed for fact in release.columns})
    assert all(0 <= width <= 1 for width in widths(known).values())
    assert all(np.isfinite(list(widths(known).values())))
