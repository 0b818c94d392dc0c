"""Attacks by many releases: harmless and harmful programs, the fitted likelihood ratios, two releases of one table."""

import json

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.shadow import _ratios
from leafcover.errors import ValueOutOfRange
from tests.cli.helpers import leafcover
from tests.small_models import small_models
from tests.tables import mixed


def test_who_publishes_rows_unchanged_is_found_and_who_publishes_other_rows_is_not():
    some, others = mixed(3, rows=800, missing=0.0), mixed(4, rows=800, missing=0.0)
    copied = lc.shadow(lambda half: half, some, target="class", releases=8, people=200)
    harmless = lc.shadow(lambda half: others.take(np.arange(len(half))), some, target="class", releases=8, people=200)
    assert copied.area.value > 0.95
    assert copied.found.value > 0.9
    assert abs(harmless.area.value - 0.5) < 0.05
    assert max(abs(one.above.value) for one in harmless.inferences) == 0.0  # the same release with and without people


def _complements(rng):
    halves = [rng.permutation(np.repeat([0, 1], 500)) for _ in range(16)]
    return np.array([side for half in halves for side in (half, 1 - half)])


def test_the_ratio_of_scores_is_that_of_the_distributions_with_and_without():
    """Scores of known distributions reach the area that the normal distribution gives; equal ones that of chance."""
    rng = np.random.default_rng(0)
    inside = np.array([rng.permutation(np.repeat([0, 1], 500)) for _ in range(32)])
    level = 5 * rng.normal(size=1000)  # differs between people: without own means the scores say nothing
    assert _ratios(np.tile(level, (32, 1)), _complements(rng)) == pytest.approx(
        0.0, abs=1e-6
    )  # scores that never change
    for shift, area in ((0.0, 0.5), (1.5, 0.856)):  # Phi(1.5 / sqrt 2)
        ratios = _ratios(level + shift * inside + rng.normal(size=inside.shape), inside)
        members, others = ratios[inside == 1][:4000], ratios[inside == 0][:4000]
        assert (members[:, None] > others[None]).mean() == pytest.approx(area, abs=0.03)


def test_a_shadow_run_by_name_repeats_the_recipe():
    some = mixed(5, rows=900, missing=0.0)
    release = lc.release(some, "cells", target="class", settings={"k": 3}, seed=1)
    found = lc.measure(some, release, only=["shadow"])["shadow"]
    assert (found.releases, found.people) == (16, 500)
    assert found.area.value > 0.7
    assert found.largest.above.low > 0
    few = mixed(5, rows=60, missing=0.0)
    with small_models():
        every = lc.measure(few, lc.release(few, "cells", target="class", settings={"k": 3}, seed=1))
    assert "shadow" not in [one.name for one in every.extra]


def test_two_keys_average_noise_and_a_removed_person_is_recovered_from_exact_marginals():
    some = mixed(6, rows=900, missing=0.0)
    noisy = lc.measure(some, lc.release(some, "additive", settings={"spread": 0.5}, seed=1), only=["two_releases"])
    assert noisy["two_releases"].both.membership.area.value > noisy["two_releases"].one.membership.area.value
    exact = lc.measure(some, lc.release(some, "cells", target="class", seed=1), only=["two_releases"])["two_releases"]
    assert exact.recovered.value == 1.0
    assert exact.recovered_whole.value == 1.0


def test_measures_by_name_on_the_command_line(tmp_path):
    some = mixed(5, rows=300, missing=0.0)
    lc.write(some, tmp_path / "o.csv")
    lc.release(lc.read(tmp_path / "o.csv"), "cells", target="class", seed=1).save(tmp_path / "r.csv")
    names = ["measure", str(tmp_path / "o.csv"), str(tmp_path / "r.csv"), "--quiet"]
    done = leafcover(*names, "--only", "two_releases", "--only", "k_anonymity")
    assert done.exit_code == 0
    assert set(json.loads(done.stdout)) == {"two_releases", "k_anonymity"}
    assert leafcover(*names, "--only", "shadow", "--max-risk", "0.1").exit_code != 0


@pytest.mark.parametrize("releases", [2, 5])
def test_too_few_or_an_odd_number_of_releases_are_refused(releases):
    with pytest.raises(ValueOutOfRange):
        lc.shadow(lambda half: half, mixed(3, rows=100), releases=releases)
