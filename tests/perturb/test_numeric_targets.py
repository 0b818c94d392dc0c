"""A numeric target is dealt as one of its classes, then as a part of the class."""

import numpy as np
import pytest

import leafcover as lc
from leafcover.errors import ValueOutOfRange
from leafcover.tree.binary import codings
from tests.tables import category, mixed, number, table


def test_classes_of_a_numeric_target_have_parts():
    some = mixed(4, rows=3000)
    classes, parts = (coding.codes(some["pay"]) for coding in codings(some["pay"], bins=4))
    known = ~some["pay"].missing
    assert np.bincount(classes[known]).tolist() == pytest.approx([known.sum() / 4] * 4, abs=40)
    assert len(np.unique(parts)) > 40
    for part in np.unique(parts):
        assert len(np.unique(classes[parts == part])) == 1


@pytest.mark.parametrize("bins", [2, 190, 200, 254, 255])
def test_a_numeric_target_may_have_many_classes(bins):
    pay = number("pay", np.random.default_rng(1).normal(size=3000), 6)
    found = codings(pay, bins=bins)
    assert found[0].count == bins + 1
    assert len(np.unique(found[0].codes(pay))) == bins
    assert len(found[-1].edges) <= 255


def test_the_parts_of_a_numeric_target_leave_other_columns_their_trees():
    """Age and school explain the target; it must not take the budget of shares for the parts of its classes."""
    rng = np.random.default_rng(1)
    age, school = rng.integers(18, 90, 3000), rng.choice(["low", "mid", "high"], 3000)
    pay = np.exp(9 - 0.01 * age + 0.5 * (school == "high") + 0.5 * rng.normal(size=3000)).round(2)
    some = table(
        number("age", age),
        category("school", school.tolist()),
        category("owner", np.where(rng.random(3000) < age / 100, "yes", "no").tolist()),
        number("hours", np.where(school == "low", rng.integers(0, 30, 3000), rng.integers(20, 60, 3000))),
        number("pay", pay, decimals=2),
    )
    plan = lc.recipes.cover(some, target="pay", bins=4)
    *others, last = [step.within for step in plan.steps]
    prices = {one.price for one in others if isinstance(one, lc.Conditional)}
    assert max(prices) < 1.5
    assert last.part_price == max(prices) > last.price
    assert last.one_level
    release = lc.release(some, plan, seed=1)
    grown = [release.partitions[one].stages for one in others if one.places_released]
    assert sum(any(stage.trees.attributes for stage in stages) for stages in grown) >= 2


def test_the_price_of_parts_is_checked():
    with pytest.raises(ValueOutOfRange):
        lc.Conditional("pay", ("age",), part_price=-1.0)
