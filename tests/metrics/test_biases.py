"""Biases of known noises follow the theory, from both sides; information loss is worked out by hand."""

from math import isnan, sqrt

import numpy as np
import pytest

from leafcover.metrics.pair import pair_of, say
from leafcover.metrics.utility.information_loss import biases, correlation_matrix, il1s, information_loss
from tests.metrics.pairs import apart, copy_of
from tests.tables import category, mixed, number, table

ROWS, NOISE = 40_000, 0.5  # the noise's variance, in variances of the column


def noises():
    """Two sensitive columns and one that is not, multivariate normal, and three additive noises of the papers."""
    rng = np.random.default_rng(17)
    covariance = np.array([[4.0, 2.4, 1.0], [2.4, 9.0, -0.9], [1.0, -0.9, 1.0]])
    centre = np.array([10.0, -5.0, 0.0])
    original = rng.multivariate_normal(centre, covariance, ROWS)
    hidden, inner = original[:, :2], covariance[:2, :2]
    apart_ = hidden + rng.normal(size=(ROWS, 2)) * np.sqrt(NOISE * np.diag(inner))
    together = hidden + rng.multivariate_normal([0, 0], NOISE * inner, ROWS)
    corrected = centre[:2] + (together - centre[:2]) / sqrt(1 + NOISE)
    made = {"simple": apart_, "correlated": together, "bias-corrected": corrected}
    return original, {name: np.column_stack([values, original[:, 2]]) for name, values in made.items()}


def as_table(values):
    return table(*(number(name, column, None) for name, column in zip("xys", values.T, strict=True)))


def measured(name):
    original, made = noises()
    return biases(pair_of(as_table(original), as_table(made[name]), sensitive=["x", "y"]))


@pytest.mark.parametrize(
    ("name", "spread", "among", "across"),
    [
        # A: √(1+d) - 1. B: 0.4·(1/(1+d) - 1). C: correlations 0.5 and -0.3 shrink by 1/√(1+d), 0.4 on average
        ("simple", sqrt(1.5) - 1, 0.4 * (1 / 1.5 - 1), 0.4 * (1 - 1 / sqrt(1.5))),
        ("correlated", sqrt(1.5) - 1, 0.0, 0.4 * (1 - 1 / sqrt(1.5))),
        ("bias-corrected", 0.0, 0.0, 0.4 * (1 - 1 / sqrt(1.5))),
    ],
)
def test_additive_noises_have_the_biases_theory_gives_them(name, spread, among, across):
    found = measured(name)
    assert found.spread.mean == pytest.approx(spread, abs=0.01)
    assert found.abisd == found.spread.signed == pytest.approx(spread, abs=0.01)
    assert found.among.signed == pytest.approx(among, abs=0.015)
    assert found.across.mean == pytest.approx(across, abs=0.015)
    assert found.across.signed == pytest.approx(-across / 4, abs=0.015)  # one shrinks from above, one from below
    assert found.among.count == 1
    assert found.across.count == 2
    assert found.reasons == ()


def test_noise_widens_the_shape_unless_it_is_corrected():
    # quantiles of a normal law spread by √1.5: at 5 % by 1.645·(√1.5 - 1) standard deviations
    assert measured("simple").quantiles.largest == pytest.approx(1.645 * (sqrt(1.5) - 1), abs=0.03)
    assert measured("simple").distance.mean > 0.04
    assert measured("bias-corrected").distance.mean < 0.02
    assert measured("bias-corrected").quantiles.largest < 0.05


def test_li_and_sarkars_figures_by_hand():
    # x: 1 2 3 (sd 1) becomes 0 2 4 (sd 2); y: 1 3 2 stays. Correlation 1/2 both times. ABISD (1 + 0)/2, ABICO 0.
    before = table(number("x", [1, 2, 3]), number("y", [1, 3, 2]))
    after = table(number("x", [0, 2, 4]), number("y", [1, 3, 2]))
    found = biases(pair_of(before, after))
    assert found.abisd == pytest.approx(0.5)
    assert found.abico == pytest.approx(0.0)
    # y turned to 3 1 2: the correlation is -1/2, so |-1 / (1/2)| = 2
    turned = biases(pair_of(before, before.replace([number("y", [3, 1, 2])]), sensitive=["y"]))
    assert turned.abico == pytest.approx(2.0)
    assert turned.across.signed == pytest.approx(-1.0)


def test_what_cannot_be_measured_says_why():
    pair = copy_of(mixed(1))
    found = biases(pair)
    assert found.sensitive == ("age", "pay", "noise")
    assert isnan(found.across.mean)
    assert found.reasons == (say("reason-bias-c-all-sensitive"),)
    one = biases(copy_of(mixed(1), sensitive=["age", "job"]))
    assert one.sensitive == ("age",)
    assert [reason[0] for reason in one.reasons] == ["B"]
    assert one.across.count == 2  # age with pay and with noise; pay with noise is nobody's secret
    none = biases(copy_of(mixed(1), sensitive=["job"]))
    assert none.spread.count == 0
    assert none.reasons == (say("reason-no-sensitive-number"),)
    alone = table(number("x", [1, 2]), category("c", ["a", "b"]))
    assert len(biases(copy_of(alone, sensitive=["x"])).reasons) == 2


def test_data_mining_bias_is_held_as_handed_in():
    found = biases(copy_of(mixed(1)), accuracy_difference=-0.02, rule_similarity=0.8)
    assert (found.accuracy_difference, found.rule_similarity) == (-0.02, 0.8)
    assert isnan(biases(copy_of(mixed(1))).rule_similarity)


def test_information_loss_by_hand():
    # x: 0 2 4 has sd 2, y: 1 2 3 has sd 1. Moves of x: 0, 2, missing; of y: 0, 0, 1.
    # rows, in √2·SD: row 1 (0 + 0)/2; row 2 (1/√2 + 0)/2; row 3 (1 + 1/√2)/2, a value lost counting 1.
    before = table(number("x", [0, 2, 4]), number("y", [1, 2, 3]), category("c", ["a", "b", "c"]))
    after = table(number("x", [0, 4, np.nan]), number("y", [1, 2, 4]), category("c", ["a", "a", "a"]))
    found = information_loss(pair_of(before, after, np.arange(3)))
    assert found.il1s == pytest.approx((1 / sqrt(2) + 1 + 1 / sqrt(2)) / 6)
    assert found.il1s == il1s(pair_of(before, after, np.arange(3)))
    assert found.il1s_worst == pytest.approx((1 + 1 / sqrt(2)) / 2)
    # SSE: x (2/2)² = 1, y 1² = 1. SST: x (known in both) (-1)² + 0, y 1 + 0 + 1.
    assert found.squares == pytest.approx(2 / 3)
    # eigenvalues 0, 2 before; after, x and y are known together in two rows and rise together: 0, 2 again
    assert found.eigenvalues == pytest.approx(0, abs=1e-12)


def test_rows_put_back_in_place_count_as_pairs_not_as_order():
    before = mixed(5, missing=0.0)
    source = np.random.default_rng(1).permutation(300)
    assert il1s(pair_of(before, before.take(source), source)) == 0
    assert il1s(pair_of(before, before.take(source), np.arange(300))) > 0.3


def test_independent_rows_move_as_far_as_normal_ones_should():
    # two independent normal values: E|x - x'| = 2σ/√π, so IL1s = √(2/π); E(x - x')² = 2σ², so SSE/SST = 2
    rng = np.random.default_rng(6)
    pair = apart(table(number("x", rng.normal(3, 5, 50_000), None), number("y", rng.normal(size=50_000), None)))
    found = information_loss(pair)
    assert found.il1s == pytest.approx(sqrt(2 / np.pi), abs=0.01)
    assert found.squares == pytest.approx(2.0, abs=0.04)


def test_without_pairs_only_eigenvalues_are_known():
    before, after = mixed(1), mixed(2)
    found = information_loss(pair_of(before, after))
    assert isnan(found.il1s)
    assert found.reason == say("reason-no-pairs")
    assert 0 <= found.eigenvalues < 0.3
    assert information_loss(copy_of(mixed(1).select(["job", "town"]))).reason == say("reason-no-numbers")


def test_eigenvalues_see_a_turned_relation_only_by_its_strength():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(2, 5000))
    before = table(number("x", x, None), number("y", 0.8 * x + 0.6 * y, None))
    # correlation 0.8: eigenvalues 0.2 and 1.8; apart: 1 and 1, so (0.8 + 0.8)/2
    assert information_loss(apart(before)).eigenvalues == pytest.approx(0.8, abs=0.05)
    turned = before.replace([number("y", -(0.8 * x + 0.6 * y), None)])
    assert information_loss(pair_of(before, turned)).eigenvalues == pytest.approx(0.0, abs=1e-9)
    assert np.diag(correlation_matrix([x, np.full(5000, 3.0)])).tolist() == [1.0, 1.0]


def test_many_numbers_have_eigenvalues_of_a_choice():
    rng = np.random.default_rng(3)
    many = table(*(number(f"n{i:02}", rng.normal(size=30), None) for i in range(70)))
    found = information_loss(copy_of(many))
    assert (found.numbers, found.eigenvalue_numbers) == (70, 60)
    assert found.eigenvalues == pytest.approx(0, abs=1e-9)
