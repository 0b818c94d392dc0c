"""Attacks on noise and on transformations recover what theory says, and not what is not there."""

import numpy as np
import pytest

import leafcover as lc
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from tests.tables import category, number, table

ROWS, SPREAD = 20_000, 0.6
D = SPREAD**2


def factors(rank, count=6, seed=1, rows=ROWS):
    """Normal columns of variance 1 that ``rank`` factors determine."""
    rng = np.random.default_rng(seed)
    loads = rng.normal(size=(count, rank))
    values = loads @ rng.normal(size=(rank, rows))
    return values / np.sqrt((loads**2).sum(axis=1, keepdims=True)), loads / np.sqrt(
        (loads**2).sum(axis=1, keepdims=True)
    )


def as_table(values):
    return table(*(number(f"n{at}", one, None) for at, one in enumerate(values)))


def attacked(values, recipe):
    original = as_table(values)
    plan = lc.recipes.plan_for(original, recipe, settings={"spread": SPREAD})
    release = lc.release(original, plan, seed=3, keep_order=True)
    return lc.noise_filtering(original, release.table, spread=SPREAD, noise=recipe)


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_filtering_leaves_the_noise_in_the_space_of_the_data(rank):
    """Of six columns of some rank the projection leaves so many sixths of the noise; Bayes leaves less."""
    values, loads = factors(rank)
    found = attacked(values, "additive")
    assert found.released == pytest.approx(SPREAD, rel=0.02)
    covariance = loads @ loads.T
    variances = np.linalg.eigvalsh(covariance)
    kept = int((variances > D).sum())
    assert found.components == kept
    expected_pca = (D * kept + variances[variances <= D].sum()) / 6
    expected_bayes = (np.maximum(variances, 0) * D / (np.maximum(variances, 0) + D)).sum() / 6
    assert found.pca**2 == pytest.approx(expected_pca, rel=0.03)
    assert found.bayes**2 == pytest.approx(expected_bayes, rel=0.03)
    assert found.pca**2 != pytest.approx(1.2 * expected_pca, rel=0.03)
    assert found.bayes < found.released


def test_independent_columns_give_filtering_nothing():
    found = attacked(np.random.default_rng(2).normal(size=(4, ROWS)), "additive")
    assert found.pca == pytest.approx(SPREAD, rel=0.02)
    assert found.bayes**2 == pytest.approx(D / (1 + D), rel=0.02)


@pytest.mark.parametrize("recipe", ["correlated", "bias-corrected"])
def test_correlated_noise_is_only_shrunk(recipe):
    """PCA leaves all of the noise, and Bayes d / (1 + d) of the variance, however the columns are correlated."""
    found = attacked(factors(2)[0], recipe)
    assert found.pca == pytest.approx(SPREAD, rel=0.03)
    assert found.bayes**2 == pytest.approx(D / (1 + D), rel=0.03)
    assert found.bayes**2 != pytest.approx(0.8 * D / (1 + D), rel=0.03)


def test_bias_corrected_values_are_off_by_less_than_the_noise():
    """Y - X = (s - 1)(X - m) + s e with s = 1 / √(1 + d): a variance of (1 - s)² + s² d."""
    found = attacked(factors(2)[0], "bias-corrected")
    s = 1 / np.sqrt(1 + D)
    assert found.released**2 == pytest.approx((1 - s) ** 2 + s**2 * D, rel=0.03)


def test_missing_values_constant_columns_and_few_rows_are_no_obstacle():
    values, _ = factors(2, rows=200)
    values[0, :20] = np.nan
    original = table(*as_table(values), number("same", np.full(200, 3.0)), category("c", list("ab") * 100))
    names = [f"n{at}" for at in range(6)]
    release = lc.release(original, lc.recipes.additive(original, columns=names), seed=1, keep_order=True)
    found = lc.noise_filtering(original, release.table, spread=0.5, columns=[*names, "same"])
    assert found.rows == 180
    assert found.columns[-1].bayes == 0
    few = original.take(np.arange(100, 104))
    noisy = release.table.take(np.arange(100, 104))
    assert np.isfinite(lc.noise_filtering(few, noisy, spread=0.5).bayes)


def test_what_cannot_be_attacked_is_refused():
    original = as_table(np.random.default_rng(1).normal(size=(2, 10)))
    other = original.replace([number("n0", np.zeros(10), None)])
    with pytest.raises(ValueOutOfRange, match="one of additive, correlated"):
        lc.noise_filtering(original, other, spread=0.5, noise="uniform")
    with pytest.raises(ValueOutOfRange, match="spread"):
        lc.noise_filtering(original, other, spread=0)
    with pytest.raises(TableError, match="do not pair"):
        lc.noise_filtering(original, other.take(np.arange(9)), spread=0.5)
    with pytest.raises(TableError, match="No number differs"):
        lc.noise_filtering(original, original, spread=0.5)
    with pytest.raises(NameUnknown, match="n9"):
        lc.noise_filtering(original, other, spread=0.5, columns=["n9"])
    both = table(category("c", list("ab") * 5))
    with pytest.raises(TableError, match="is a category"):
        lc.known_sample(both, both, known=2, columns=["c"])


# Known rows.


def transformed(recipe, values, **settings):
    original = as_table(values)
    plan = lc.recipes.plan_for(original, recipe, settings=settings)
    return original, lc.release(original, plan, seed=3, keep_order=True).table


@pytest.mark.parametrize(
    ("recipe", "known", "function"),
    [
        ("translate", 1, "translation"),
        ("scale", 1, "scaling"),
        ("translate", 2, None),
        ("scale", 2, None),
        ("rotate", 7, None),
        ("rotate", 6, "rotation"),
        ("hybrid", 7, None),
        ("scale", 7, "affine"),
    ],
)
def test_few_known_rows_reveal_all_others(recipe, known, function):
    original, after = transformed(recipe, np.random.default_rng(4).normal(5, 2, (6, 300)))
    found = lc.known_sample(original, after, known=known, function=function)
    assert found.right == 1
    assert found.rows == 300 - known
    assert max(one.error for one in found.columns) < 1e-6
    assert min(one.released for one in found.columns) > 0.3


def test_too_few_known_rows_do_not_reveal_a_rotation():
    original, after = transformed("rotate", np.random.default_rng(4).normal(5, 2, (6, 300)))
    assert lc.known_sample(original, after, known=4).right < 0.1


def test_noise_is_not_inverted():
    original, after = transformed("additive", np.random.default_rng(4).normal(5, 2, (6, 300)), spread=0.5)
    found = lc.known_sample(original, after, known=50)
    assert found.right < 0.01
    assert all(one.error > 0.3 for one in found.columns)


def test_known_rows_by_number_and_with_missing_values():
    values = np.random.default_rng(4).normal(5, 2, (3, 40))
    values[0, 0] = np.nan
    original, after = transformed("rotate", values)
    found = lc.known_sample(original, after, known=[0, 5, 7, 8, 20])
    assert (found.known, found.rows, found.right) == (4, 35, 1)
    with pytest.raises(ValueOutOfRange, match="at least 2 without"):
        lc.known_sample(original, after, known=[0, 5])
    with pytest.raises(ValueOutOfRange, match="from 0 to 39"):
        lc.known_sample(original, after, known=[0, 40])
    with pytest.raises(ValueOutOfRange, match="function"):
        lc.known_sample(original, after, known=3, function="shear")
    with pytest.raises(TableError, match="nothing is left"):
        lc.known_sample(original, after, known=list(range(40)))


# A sample of the population, without a known row.


def population(rows, seed):
    """Skewed numbers with different scales, some of which are correlated."""
    base = np.random.default_rng(seed).gamma(2.0, size=(3, rows))
    return np.array([base[0], 3 * base[1] + base[0], 9 * base[2]])


@pytest.mark.parametrize(
    ("recipe", "function"), [("translate", "translation"), ("scale", "scaling"), ("rotate", "rotation")]
)
def test_a_sample_of_the_population_reveals_most_of_a_function(recipe, function):
    original, after = transformed(recipe, population(4000, 1))
    sample = as_table(population(4000, 2))
    found = lc.known_sample(original, after, sample=sample, function=function)
    assert found.known == 0
    assert max(one.error for one in found.columns) < 0.2
    assert min(one.released for one in found.columns) > 0.3
    few = lc.known_sample(original, after, sample=as_table(population(60, 3)), function=function)
    assert max(one.error for one in few.columns) > max(one.error for one in found.columns)


def test_a_rotation_about_means_near_zero_is_recognised_by_its_skewness():
    values = population(4000, 1)
    shift = values.mean(axis=1, keepdims=True)
    original, after = transformed("rotate", values - shift)
    sample = as_table(population(4000, 2) - shift)
    found = lc.known_sample(original, after, sample=sample, function="rotation")
    assert max(one.error for one in found.columns) < 0.1


def test_what_a_sample_is_of_no_use_for_is_refused():
    original, after = transformed("rotate", population(50, 1))
    sample = as_table(population(50, 2))
    for wrong in ({}, {"known": 3, "sample": sample}):
        with pytest.raises(TableError, match="Give one of the two"):
            lc.known_sample(original, after, **wrong)
    for function in (None, "affine"):
        with pytest.raises(ValueOutOfRange, match="translation, scaling or rotation"):
            lc.known_sample(original, after, sample=sample, function=function)
    with pytest.raises(NameUnknown, match="in the sample"):
        lc.known_sample(original, after, sample=as_table(population(50, 2)[:2]), function="rotation")
    with pytest.raises(TableError, match="needs more than 3"):
        lc.known_sample(original, after, sample=sample.take(np.arange(3)), function="rotation")
    with pytest.raises(ValueOutOfRange, match="known must be"):
        lc.known_sample(original, after, known="many")
    with pytest.raises(ValueOutOfRange, match="spread must be"):
        lc.noise_filtering(original, after, spread="much")
