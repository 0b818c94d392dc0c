"""CGADP and data shuffling: marginals, correlations of ranks, what a regression gains, and bad input."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ks_2samp, spearmanr

import leafcover as lc
from leafcover.cells import one_cell
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.perturb.base import Chunk
from leafcover.perturb.conditional_normal import Gadp, interval_chance, normal_chance
from leafcover.perturb.copula import Cgadp, DataShuffle, Ranked
from tests.tables import category, number, table

ROWS = 20_000


def part_of(columns, given=()):
    fixed = [tuple(replace(c, declared=None if c.is_category else c.domain) for c in some) for some in (columns, given)]
    return Chunk(np.arange(len(columns[0])), fixed[0], one_cell(len(columns[0])), given=fixed[1])


def released(noise, part, seed=5):
    summary = noise.finalize(noise.fit(part), part.cells)
    return {n: one.values for n, one in noise.change(part, summary, Draws(Key.from_seed(seed).secret)).items()}


CORRELATIONS = [[1, 0.6, 0.5], [0.6, 1, -0.3], [0.5, -0.3, 1]]
KINDS = [Cgadp(given=("s",)), DataShuffle(given=("s",)), DataShuffle(given=("s",), similarity=0.6)]


def skewed(rows=ROWS):
    """Two skewed numbers and one that is given; the copula of all three is normal."""
    x, y, s = np.random.default_rng(1).multivariate_normal([0, 0, 0], CORRELATIONS, rows).T
    return [number("x", np.exp(x), None), number("y", y**3, None), number("s", np.exp(s / 2), None)]


@pytest.mark.parametrize("noise", KINDS)
def test_marginals_and_the_correlations_of_ranks_are_kept(noise):
    x, y, s = skewed()
    after = released(noise, part_of([x, y], [s]))
    before, now = (spearmanr(np.column_stack([*some, s.values]))[0] for some in ((x.values, y.values), after.values()))
    assert np.abs(now - before).max() < 4 / np.sqrt(ROWS)
    for column in (x, y):
        if noise.frozen_id == "data-shuffle":
            np.testing.assert_array_equal(np.sort(after[column.name]), np.sort(column.values))
        else:
            assert ks_2samp(after[column.name], column.values).statistic < 1.63 * np.sqrt(2 / ROWS)
            assert len(np.intersect1d(after[column.name], column.values)) < 0.01 * ROWS
    gadp = released(Gadp(given=("s",)), part_of([x, y], [s]))
    assert ks_2samp(gadp["x"], x.values).statistic > 10 * np.sqrt(2 / ROWS)  # what the copula is for


@pytest.mark.parametrize("kind", [Cgadp, DataShuffle])
@pytest.mark.parametrize("similarity", [0.0, 0.5])
def test_beyond_what_is_given_scores_are_correlated_as_much_as_it_says(kind, similarity):
    x, y, s = skewed()
    after = released(kind(given=("s",), similarity=similarity), part_of([x, y], [s]))

    def beyond(values):
        scores, given = Ranked.of(number("v", values, None)).scores(values), np.log(s.values)
        return scores - np.polyval(np.polyfit(given, scores, 1), given)

    found, error = np.corrcoef(beyond(after["x"]), beyond(x.values))[0, 1], 1 / np.sqrt(ROWS)
    assert abs(found - similarity) < 4 * error
    assert abs(found - (0.8 * similarity - 0.1)) > 4 * error


@pytest.mark.parametrize("noise", [Cgadp(), DataShuffle(), Cgadp(similarity=0.4), DataShuffle(similarity=0.4)])
def test_bad_input_gives_numbers(noise):
    """Heaps, constant columns, columns that depend on each other, fewer rows than columns, and missing values."""
    rng = np.random.default_rng(2)
    gaps = np.where(rng.random(60) < 0.3, np.nan, rng.normal(size=60))
    x = rng.integers(0, 3, 60).astype(float)
    columns = [number("x", x), number("twice", 2 * x), number("same", np.full(60, 7)), number("gaps", gaps, None)]
    columns += [number(f"w{at}", rng.normal(size=60), None) for at in range(4)] + [number("none", np.full(60, np.nan))]
    columns.append(number("huge", 1e300 * rng.normal(size=60), None))
    given = (category("job", ["a", None, "b"] * 20), number("part", gaps, None))
    noise = replace(noise, given=("job", "part"))
    part = part_of(columns, given)
    after = released(noise, part)
    assert noise.violations(part, after) == ()
    summary = noise.finalize(noise.fit(part), part.cells)
    assert (noise.likelihood(part, after, summary) > 0).all()
    assert after["same"].tolist() == [7] * 60
    np.testing.assert_array_equal(np.isnan(after["gaps"]), np.isnan(gaps))
    few = part_of([number(f"w{at}", rng.normal(size=4), None) for at in range(6)])
    assert all(np.isfinite(one).all() for one in released(replace(noise, given=()), few).values())
    short = [[replace(c, values=c.values[:5]) for c in some] for some in (columns[:3], given)]
    with pytest.raises(PlanError, match="rows without missing values"):
        released(noise, part_of(*short))


def test_equal_numbers_and_scores_are_ordered_by_a_draw():
    """A column that what is given determines: equal values must not keep the order of rows."""
    given = number("s", np.repeat([1.0, 2.0], 500))
    x = number("x", np.concatenate([np.arange(500.0), 500 + np.arange(500.0)]))
    part = part_of([x], [given])
    after = released(DataShuffle(given=("s",)), part)["x"]
    assert abs(np.corrcoef(after[:500], np.arange(500))[0, 1]) < 0.2


def test_the_violations_are_seen():
    part = part_of([number("x", [1, 2, 3, 9])])
    assert DataShuffle().violations(part, {"x": np.array([9.0, 2, 3, 1])}) == ()
    assert "permutation" in DataShuffle().violations(part, {"x": np.array([9.0, 2, 3, 2])})[0]
    assert "range or grid" in Cgadp().violations(part, {"x": np.array([9.5, 2, 3, 1])})[0]
    assert "range or grid" in Cgadp().violations(part, {"x": np.array([2.5, 2, 3, 1])})[0]
    assert "missing" in Cgadp().violations(part, {"x": np.array([np.nan, 2, 3, 1])})[0]
    for kind in (Cgadp, DataShuffle):
        with pytest.raises(ValueOutOfRange, match="similarity"):
            kind(similarity=-0.1)


def test_the_likelihood_is_that_of_the_ranks():
    """Over all values of a large column it adds up to one; a similar person is likelier."""
    x, _, s = skewed(4000)
    noise, part = DataShuffle(given=("s",), similarity=0.7), part_of([x], [s])
    summary = noise.finalize(noise.fit(part), part.cells)
    one = part.take(np.full(4000, 11))
    chances = noise.likelihood(one, {"x": x.values}, summary)
    assert chances.sum() == pytest.approx(1, abs=1e-6)
    after = released(noise, part)
    assert (
        np.log(noise.likelihood(part, after, summary)).mean()
        > np.log(noise.likelihood(part, {"x": np.roll(after["x"], 1)}, summary)).mean() + 0.2
    )


def test_an_interval_is_the_same_as_a_step():
    covariance = np.array([[1.0, 0.5], [0.5, 2.0]])
    apart, steps = np.array([[0.3], [-1.0]]), np.array([0.4, 0.2])
    half = steps[:, None] / 2
    found = interval_chance(apart - half, apart, apart + half, covariance, steps / np.sqrt(12))
    assert found == pytest.approx(normal_chance(apart, covariance, steps))


@pytest.mark.parametrize("recipe", ["cgadp", "shuffle"])
def test_the_recipes_release_what_they_name(recipe):
    original = table(*skewed(300), category("job", list("abc") * 100), x="sensitive")
    release = lc.release(original, recipe, seed=1)
    assert release.plan.columns == ("x",)
    assert release.plan.steps[0].perturb.given == ("y", "s", "job")
    assert release.promises["x"] == (("drawn",) if recipe == "cgadp" else ("permuted",))
