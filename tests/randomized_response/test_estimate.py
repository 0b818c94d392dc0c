"""Estimates: unbiased, with the derived variance from both sides, additive, and never negative when shown."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import leafcover as lc
from leafcover.errors import NameUnknown, PlanError, TableError
from leafcover.randomized_response import (
    DisguisedColumns,
    Groups,
    Kary,
    OneCoin,
    ProportionEstimate,
    Scheme,
    UnrelatedQuestion,
    Warner,
    disguise,
    estimate,
)
from leafcover.randomized_response.estimate import of_weights, weights
from leafcover.table.table import Column, Table
from tests.randomized_response.answers import QUESTIONS, SCHEME, TOWNS, YES_NO, meets, people
from tests.randomized_response.mechanisms import DRAWS, any_mechanism, as_codes
from tests.tables import category, number, table

RUNS, ROWS = 600, 400
LOW, HIGH = stats.chi2.ppf([5e-7, 1 - 5e-7], RUNS - 1) / (RUNS - 1)


def within(variances_ratio):
    return LOW < variances_ratio < HIGH


ASKED = (*QUESTIONS, {"sex": "f", "ill": "yes", "town": "south"}, {"a": "yes", "b": "yes", "c": "no"}, {"drinks": "no"})
asked_each = pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join(f"{k}={v}" for k, v in asked.items()))


@cache
def questionnaires(same):
    """What people reported, each time with coins of its own: the same people, or others each time."""
    several = (people(ROWS) if same else people(ROWS, seed=1000 + run) for run in range(RUNS))
    return [disguise(truth, SCHEME, DRAWS.sub(str(run))) for run, truth in enumerate(several)]


def runs(asked, *, same):
    """Estimates and errors over many questionnaires."""
    found = [estimate(reported, SCHEME, asked) for reported in questionnaires(same)]
    return np.array([(one.raw, one.error, one.sampling_error) for one in found]).T


@cache
def everybody():
    return people(400_000, seed=2)


@asked_each
def test_coins_alone_unbiased_with_the_error_that_is_told(asked):
    truth = people(ROWS)
    share = meets(truth, asked).mean()
    raw, error, sampling_error = runs(asked, same=True)
    z = (raw.mean() - share) / (raw.std(ddof=1) / np.sqrt(RUNS))
    assert abs(z) < 5
    told = (error**2).mean()
    assert within(raw.var(ddof=1) / told)
    for factor in (0.6, 1.6):  # an error that far off is caught
        assert not within(raw.var(ddof=1) / (told * factor))
    assert (sampling_error >= error).all()


@asked_each
def test_with_sampling_the_error_is_that_of_the_population(asked):
    population = meets(everybody(), asked).mean()
    raw, _, error = runs(asked, same=False)
    assert abs(raw.mean() - population) < 5 * raw.std(ddof=1) / np.sqrt(RUNS)
    told = (error**2).mean()
    assert within(raw.var(ddof=1) / told)
    for factor in (0.6, 1.6):
        assert not within(raw.var(ddof=1) / (told * factor))
    covered = (abs(raw - population) < 1.959964 * error).mean()
    assert 0.91 < covered < 0.98


@given(any_mechanism(), st.data())
def test_the_formula_of_the_variance_is_the_exact_one(mechanism, data):
    """By going through every truth and report: E over coins of (w - 1{E})²."""
    from tests.naive_response import probabilities_of

    probabilities = probabilities_of(mechanism)
    cells = len(probabilities)
    truths = np.random.default_rng(data.draw(st.integers(0, 999))).dirichlet(np.ones(cells))
    codes = as_codes(mechanism, np.arange(cells))
    literals = dict.fromkeys(range(len(mechanism.shape)), 1)
    met = np.atleast_2d((np.atleast_2d(codes) == 1).all(axis=0)).ravel()
    w = mechanism.weights(literals, codes)
    exact = sum(truths[x] * (probabilities[:, x] @ (w - met[x]) ** 2) for x in range(cells)) / 50
    share = float(truths[met].sum())
    turned = float(truths[(np.atleast_2d(codes) == 0).all(axis=0)].sum())
    match mechanism:
        case Warner():
            told = mechanism.variance(50)
        case OneCoin():
            told = mechanism.variance(share, turned, 50)
        case Groups():
            told = mechanism.variance(patterns(mechanism, truths), 50)
        case Kary() | UnrelatedQuestion():
            told = mechanism.variance(share, 50)
    assert told == pytest.approx(exact, rel=1e-7, abs=1e-12)


def patterns(mechanism, truths):
    """The share of truths by whether each group is all ones (1) or all zeros (0); others count for nothing."""
    shares = np.zeros((2,) * len(mechanism.groups))
    for record, share in zip(np.ndindex(*mechanism.shape), truths, strict=True):
        seen = [{record[column] for column in group} for group in mechanism.groups]
        if all(len(values) == 1 for values in seen):
            shares[tuple(values.pop() for values in seen)] += share
    return shares


def test_the_variance_of_groups_grows_with_every_coin():
    # Halving 2θ - 1 costs four times the answers for one coin, sixteen for two, and so on.
    for coins in (1, 2, 3, 4):
        near, far = (
            Groups(theta, tuple((c,) for c in range(coins))).variance(np.full((2,) * coins, 0.5**coins), rows=1)
            for theta in (0.51, 0.52)
        )
        assert near / far == pytest.approx(4.0**coins, rel=0.03)


def test_by_hand():
    # θ = 3/4; of 8 reports 5 yes: P* = 5/8, (3/4 · 5/8 - 1/4 · 3/8) / (1/2) = 3/4.
    reported = table(category("ill", ["yes"] * 5 + ["no"] * 3))
    found = estimate(reported, Scheme(DisguisedColumns({"ill": YES_NO}, Warner(0.75))), {"ill": "yes"})
    assert found.raw == pytest.approx(0.75)
    assert found.error == pytest.approx(np.sqrt(3 / 16 / (8 / 4)))  # θ(1 - θ) / (n (2θ - 1)²)
    assert found.sampling_error == pytest.approx(np.sqrt(15 / 64 / (8 / 4)))  # λ(1 - λ) / (n (2θ - 1)²), Warner's own
    assert found.count == pytest.approx(6)
    assert estimate(reported, Scheme(DisguisedColumns({"ill": YES_NO}, Warner(0.75))), {}).raw == 1


def test_the_papers_estimate_with_an_open_class():
    scheme = Scheme(DisguisedColumns({"x": YES_NO, "y": YES_NO}, OneCoin(0.7, 2)))
    truth = people(5000).select(["cheats", "evades", "sex"])
    renamed = Table(tuple(Column(n, "category", c.values, c.levels) for n, c in zip("xyk", truth, strict=True)))
    reported = disguise(renamed, scheme, DRAWS)
    x, y, k = (reported[name].values for name in "xyk")
    e, turned = ((x == 1) & (y == 0) & (k == 0)).mean(), ((x == 0) & (y == 1) & (k == 0)).mean()
    found = estimate(reported, scheme, {"x": "yes", "y": "no", "k": "f"})
    assert found.raw == pytest.approx((0.7 * e - 0.3 * turned) / 0.4)
    assert found.error**2 == pytest.approx(((0.49 * e + 0.09 * turned) / 0.16 - found.raw) / 5000)


@given(st.integers(0, 999), st.sampled_from(ASKED), st.sampled_from(["ill", "b", "sex", "evades", "town", "drinks"]))
def test_additivity(seed, asked, name):
    truth = people(60, seed, missing=0.1)
    reported = disguise(truth, SCHEME, DRAWS.sub(str(seed)))
    rest = {column: text for column, text in asked.items() if column != name}
    whole = weights(reported, SCHEME, rest).sum()
    parts = [weights(reported, SCHEME, rest | {name: text}).sum() for text in (*truth[name].levels, None)]
    assert sum(parts) == pytest.approx(whole, abs=1e-9)


def test_a_wrong_coin_is_caught():
    # Nobody is ill, and everybody: with the coin that was tossed the estimate is fine, with another it cannot be.
    for text, other in (("no", "yes"), ("yes", "no")):
        truth = Table((Column("ill", "category", np.full(20_000, YES_NO.index(text), np.int32), YES_NO),))
        reported = disguise(truth, Scheme(DisguisedColumns({"ill": YES_NO}, Warner(0.75))), DRAWS)
        right, wrong = (
            estimate(reported, Scheme(DisguisedColumns({"ill": YES_NO}, Warner(theta))), {"ill": other})
            for theta in (0.75, 0.7)
        )
        assert right.outside < 4 < wrong.outside
        below = estimate(reported, Scheme(DisguisedColumns({"ill": YES_NO}, Warner(0.8))), {"ill": other})
        assert below.raw > 5 * below.error  # too trusting: people are made up


@given(st.floats(-2, 3), st.floats(0, 1), st.floats(0, 1))
def test_what_is_shown_is_never_negative_nor_above_one(raw, error, more):
    found = ProportionEstimate(raw, error, error + more, 100, 0)
    for low, high in (found.interval, found.sampling_interval):
        assert 0 <= low <= found.share <= high <= 1
    assert 0 <= found.count <= 100
    assert "-" not in str(found)
    if not 0 <= raw <= 1:
        assert found.outside > 0


def test_an_estimate_far_outside_is_not_shown_as_certain():
    low, high = ProportionEstimate(-0.06, 0.02, 0.02, 400, 0).interval  # three errors below 0
    assert low == 0
    assert 0.015 < high < 0.02
    low, high = ProportionEstimate(1.06, 0.02, 0.02, 400, 0).interval
    assert high == 1
    assert 0.98 < low < 0.985


def test_missing_answers_are_counted_apart():
    truth = people(30_000, missing=0.2)
    reported = disguise(truth, SCHEME, DRAWS)
    for name in reported.names:
        np.testing.assert_array_equal(reported[name].missing, truth[name].missing)
    asked = {"cheats": "yes", "town": "north"}
    known = ~truth["cheats"].missing & ~truth["town"].missing
    found = estimate(reported, SCHEME, asked)
    assert (found.rows, found.missing) == (known.sum(), (~known).sum())
    assert abs(found.raw - meets(truth, asked)[known].mean()) < 5 * found.error
    gone = estimate(reported, SCHEME, {"cheats": None, "evades": "yes"})
    expected = (truth["cheats"].missing & (truth["evades"].values == 1)).sum()
    assert abs(gone.raw_count - expected) < 5 * gone.error * gone.rows


def test_a_table_read_back_with_fewer_levels_gives_the_same():
    scheme = Scheme(DisguisedColumns({"town": TOWNS}, Kary(0.6, 3)))
    reported = table(category("town", ["south"] * 6 + ["north"] * 4))  # nobody reported east
    shares = [estimate(reported, scheme, {"town": town}).raw for town in TOWNS]
    assert shares == pytest.approx([1.0, -0.5, 0.5])  # (λ - 0.2) / 0.4
    assert estimate(reported, scheme, {"town": "east"}).share == 0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_disguised_table_survives_its_file(tmp_path, suffix):
    reported = disguise(people(300, missing=0.1), SCHEME, DRAWS)
    lc.write(reported, tmp_path / f"answers.{suffix}")
    again = lc.read(tmp_path / f"answers.{suffix}")
    for asked in ASKED:
        assert estimate(again, SCHEME, asked) == estimate(reported, SCHEME, asked)


def test_numbers_asked_openly_count_too():
    reported = table(number("age", [30, 30, 40, np.nan]), category("ill", ["yes", "no", "yes", "yes"]))
    scheme = Scheme(DisguisedColumns({"ill": YES_NO}, Warner(1.0)))
    assert estimate(reported, scheme, {"age": 30, "ill": "yes"}).raw == pytest.approx(1 / 3)


def test_disguising_keeps_nothing_of_the_truth():
    import pyarrow as pa

    texts = ["yes", "no"] * 500
    column = Column("ill", "category", np.array([1, 0] * 500, np.int32), YES_NO, stored=pa.array(texts))
    truth = table(column, category("open", ["x"] * 1000))
    reported = disguise(truth, Scheme(DisguisedColumns({"ill": YES_NO}, Warner(0.6))), DRAWS)
    assert reported["ill"].stored is None
    assert 300 < (reported["ill"].values != column.values).sum() < 500
    assert reported["open"] is truth["open"]
    assert column.values.tolist() == [1, 0] * 500


def test_of_no_spread_the_error_is_zero_and_not_negative():
    found = of_weights(np.array([0.0156, 0.0156]))  # two groups turned round: w² < w
    assert (found.error, found.outside) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({"ill": "maybe"}, NameUnknown),
        ({"ill": 1.0}, PlanError),
        ({"nothing": "yes"}, NameUnknown),
        ({"sex": "secret"}, PlanError),
        ({"sex": 3.0}, PlanError),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, kind):
    with pytest.raises(kind) as refused:
        estimate(people(10), SCHEME, asked)
    assert "\n" not in str(refused.value)


def test_schemes_that_contradict_themselves_are_refused():
    for make in (
        lambda: DisguisedColumns({"x": ("a", "b", "c")}, Warner(0.7)),
        lambda: DisguisedColumns({"x": ("a", "a")}, Warner(0.7)),
        lambda: DisguisedColumns({"x": YES_NO}, OneCoin(0.7, 2)),
        lambda: Scheme(DisguisedColumns({"x": YES_NO}, Warner(0.7)), DisguisedColumns({"x": YES_NO}, Warner(0.8))),
        lambda: disguise(table(number("x", [1, 2])), Scheme(DisguisedColumns({"x": ("1", "2")}, Warner(0.7))), DRAWS),
    ):
        with pytest.raises(PlanError):
            make()
    with pytest.raises(PlanError) as refused:
        disguise(table(category("x", ["hush", "no"])), Scheme(DisguisedColumns({"x": YES_NO}, Warner(0.7))), DRAWS)
    assert "hush" not in str(refused.value)
    with pytest.raises(TableError, match="No row has a value"):
        estimate(table(category("x", [None, None])), Scheme(DisguisedColumns({"x": YES_NO}, Warner(0.7))), {"x": "yes"})


def test_privacy_of_a_scheme_adds_up_or_is_none():
    two = Scheme(DisguisedColumns({"x": YES_NO}, Warner(0.75)), DisguisedColumns({"y": TOWNS}, Kary(0.6, 3)))
    assert two.privacy.epsilon == pytest.approx(2 * np.log(3))
    assert SCHEME.privacy.epsilon is None
    assert "reported unchanged" in SCHEME.privacy.words
