"""What an attacker who knows the plan can do: by hand, at both ends, and on the real releases."""

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.attacker import Known, evidence_of
from leafcover.engine.evaluate import pair_from
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.record_linkage import informed, linkage
from leafcover.metrics.pair import pair_of
from leafcover.recipes import plan_for
from leafcover.table.io import read
from tests.data import table_path
from tests.tables import category, mixed, number, table


def attacked(original, plan, *, seed=1, keys=None, **given):
    release = run(original, plan, key=Key.from_seed(seed))
    pair = pair_from(original, release)
    evidence = evidence_of(
        Known(original, plan, release.partitions, original), pair.released, keys or pair.quasi_identifiers
    )
    return pair, informed(evidence, **given)


def test_what_is_released_as_it_is_finds_the_person():
    original = mixed(1, missing=0.0)
    _, found = attacked(original, lc.Plan(lc.Step("class", lc.Whole(), lc.Shuffle()), target="class"))
    assert found.first.value > 0.99


def test_columns_shuffled_apart_leave_a_guess():
    original = mixed(1)
    steps = [lc.Step(name, lc.Whole(), lc.Shuffle(missing="moves")) for name in original.names]
    _, found = attacked(original, lc.Plan(*steps, target="class"))
    assert found.first.value == pytest.approx(1 / len(original))
    assert found.smallest_crowd == len(original)


def test_missing_values_that_stay_tell_rows_apart():
    original = table(number("x", [1, 2, np.nan, 4]), category("class", list("abab")))
    stays = lc.Plan(lc.Step(["x", "class"], lc.Whole(), lc.Shuffle()), target="class")
    _, found = attacked(original, stays)
    assert found.first.value == pytest.approx((3 * (1 / 3) + 1) / 4)  # the third row alone has no x
    moves = lc.Plan(lc.Step(["x", "class"], lc.Whole(), lc.Shuffle(missing="moves")), target="class")
    assert attacked(original, moves)[1].first.value == pytest.approx(1 / 4)


def test_scores_are_likelihoods_against_the_background():
    # Each value is kept with 0.7 and becomes the other with 0.3; both occur twice, so the background is 0.5 and 0.5.
    original = table(category("x", list("aabb")), category("class", list("pqpq")))
    plan = lc.Plan(lc.Step("x", lc.Whole(), lc.Redraw(distribution="own", others=0.3)), target="class")
    release = run(original, plan, key=Key.from_seed(3))
    pair = pair_from(original, release)
    evidence = evidence_of(Known(original, plan, release.partitions, original), pair.released, ["x"])
    scores = evidence.scores(np.array([0, 3]), np.arange(4))[1]
    shown = pair.released["x"].values
    for row, person in enumerate((0, 3)):
        own = original["x"].values[person]
        expected = [np.log((0.7 if shown[j] == own else 0.3) / 0.5) for j in range(4)]
        assert scores[row] == pytest.approx(expected)


@pytest.mark.parametrize(
    "recipe", ["cells", "framework", "framework-paper", "forest", "random", "detective", "additive", "multiplicative"]
)
def test_the_own_row_is_never_ruled_out(recipe):
    original = mixed(7, rows=500)
    plan = plan_for(original, recipe, target="class")
    release = run(original, plan, key=Key.from_seed(2))
    pair = pair_from(original, release)
    evidence = evidence_of(Known(original, plan, release.partitions, original), pair.released, pair.quasi_identifiers)
    assert len(evidence.groups) == 500
    if not evidence.is_exchangeable:
        for person in range(0, 500, 7):
            own = evidence.scores(np.array([person]), np.array([person]))
            assert own[2][0, 0] > -100


def test_more_noise_and_larger_cells_give_less_risk():
    original = mixed(3, rows=800, missing=0.0)
    risks = []
    for spread in (0.02, 0.1, 0.6):
        names = ["age", "pay", "noise"]
        plan = lc.Plan(lc.Step(names, lc.Whole(), lc.Bounded(spread=spread)), target="class")
        risks.append(attacked(original, plan, keys=names)[1].first.value)
    assert risks[0] > risks[1] > risks[2]
    cells = [attacked(original, plan_for(original, "cells", target="class", settings={"k": k}))[1] for k in (5, 40)]
    assert cells[0].first.value > cells[1].first.value
    assert cells[0].smallest_crowd >= 5
    assert cells[1].smallest_crowd >= 40


@pytest.mark.parametrize("spread", [0.0005, 0.01, 0.1, 0.276])
def test_knowing_the_law_is_never_worse_than_distance(spread):
    rng = np.random.default_rng(5)
    base = rng.normal(size=500)
    original = table(
        number("x", base, None),
        number("y", base + 0.3 * rng.normal(size=500), None),
        number("z", rng.normal(size=500), None),
        category("class", list("pq") * 250),
    )
    plan = lc.Plan(lc.Step(["x", "y", "z"], lc.Whole(), lc.Bounded(spread=spread)), target="class")
    pair, found = attacked(original, plan)
    assert found.first.value >= linkage(pair).value - 0.01


def test_the_joint_weight_is_bayes_for_two_people():
    # Two people and two correlated columns: the ratio of the products decides, not the product of ratios.
    original = table(category("x", list("ab")), category("y", list("ab")), category("class", list("pq")))
    plan = lc.Plan(lc.Step(["x", "y"], lc.Whole(), lc.Redraw(distribution="own", others=0.3)), target="class")
    release = run(original, plan, key=Key.from_seed(3))
    pair = pair_from(original, release)
    evidence = evidence_of(Known(original, plan, release.partitions, original), pair.released, ["x", "y"])
    joint = evidence.scores(np.arange(2), np.arange(2))[0]
    for person in range(2):
        for row in range(2):
            shown = [pair.released[name].values[row] for name in ("x", "y")]
            chance = [np.prod([0.7 if value == who else 0.3 for value in shown]) for who in range(2)]
            assert joint[person, row] == pytest.approx(np.log(chance[person] / sum(chance)))


def test_knowing_the_law_beats_distance_on_a_framework_release_of_adult():
    original = read(table_path("adult")).take(np.arange(0, 32_561, 4))
    pair, found = attacked(original, plan_for(original, "framework", target="income"), most=800)
    assert found.first.low > linkage(pair, comparisons=8_000_000).high  # of 982 people, about as many as above


def test_cells_hides_people_of_adult_from_the_informed_attacker():
    original = read(table_path("adult"))
    _, found = attacked(original, plan_for(original, "cells", target="income", settings={"k": 20}))
    assert found.rows == len(original)  # every person, exactly
    assert found.first.high <= 0.06
    assert found.first.worst <= 1 / 20
    assert found.smallest_crowd >= 20


def test_held_out_rows_with_levels_of_their_own_change_nothing():
    original = table(number("x", [1, 2, 3, 4, 5, 6]), category("c", list("aabbab")), category("class", list("pqpqpq")))
    more = table(number("x", [9]), category("c", ["A"]), category("class", ["p"]))
    plan = lc.Plan(lc.Step("c", lc.Whole(), lc.Redraw(distribution="own", others=0.3)), target="class")
    release = run(original, plan, key=Key.from_seed(1))
    pair = pair_of(original, release.table, release.source, target="class", control=more)
    plain = pair_from(original, release)
    scores = [
        evidence_of(Known(original, plan, release.partitions, original), p.released, ["c"]).scores(
            np.arange(6), np.arange(6)
        )[0]
        for p in (pair, plain)
    ]
    assert scores[0] == pytest.approx(scores[1])
