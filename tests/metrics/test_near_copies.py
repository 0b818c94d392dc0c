"""Near-copies: slow twins, the exact test, and two-sided tests of what it finds, with stated power."""

from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest

import leafcover as lc
from leafcover.kernels.neighbors import most_agreeing
from leafcover.metrics.disclosure import near_copies as module
from leafcover.metrics.disclosure.copies import copies
from leafcover.metrics.disclosure.near_copies import mixed_excess, mixed_tails, near_copies
from leafcover.metrics.disclosure.rare_values import SIGNIFICANT
from leafcover.metrics.pair import pair_of
from leafcover.metrics.summary import decisive_risks, exceeds
from tests.metrics.attacks import awkward_pairs
from tests.metrics.bad_releases import outlying
from tests.metrics.near_copies import TARGETS, chosen, planted, samples
from tests.tables import category, number, table

PEOPLE = 40  # 1 % of the rows


def corrected(original, released, control=None):
    """The probability of the near-copies, corrected; 1 if no rows stand out."""
    found = near_copies(pair_of(original, released, control=control))
    return 1.0 if found is None else min(1.0, found.p * found.tests)


# Twins.


@pytest.mark.parametrize("seed", range(3))
def test_the_kernel_is_its_twin(seed):
    rng = np.random.default_rng(seed)
    rows, columns, count = 700, 5, 4
    ranks = rng.integers(-1, 6, (columns, rows)).astype(np.int32)
    low, high = ranks - rng.integers(0, 2, ranks.shape), ranks + rng.integers(0, 2, ranks.shape)
    weights = rng.integers(1, 9, ranks.shape).astype(np.float32)
    queries = rng.permutation(rows)[:40]
    best, who = most_agreeing(ranks, low.astype(np.int32), high.astype(np.int32), weights, queries, count)
    for query, found, first in zip(queries, best, who, strict=True):
        agree = (low[:, [query]] <= ranks) & (ranks <= high[:, [query]])
        total = (agree * weights[:, [query]]).sum(axis=0)
        total[query] = -1
        assert found.tolist() == sorted(total.tolist(), reverse=True)[:count]
        assert first == total.argmax()


@pytest.mark.parametrize(("members", "near", "released"), [(0, 3, 0), (1, 2, 1), (2, 1, 0), (0, 2, 2), (1, 3, 0)])
def test_the_exact_test_counts_all_ways_to_pair_the_rows(members, near, released):
    labels = "m" * (2 * members + near) + "r" * (2 * released + near)
    ways = [sum(one != two for one, two in zip(w[::2], w[1::2], strict=True)) for w in permutations(labels)]
    assert len(ways) == factorial(len(labels))
    at_most, at_least = mixed_tails(members, near, released)
    assert at_most == pytest.approx(np.mean([one <= near for one in ways]))
    assert at_least == mixed_excess(members, near, released) == pytest.approx(np.mean([one >= near for one in ways]))


def test_all_pairs_of_one_each_are_as_unlikely_as_they_are():
    assert mixed_excess(0, 20, 0) == pytest.approx(2**20 / comb(40, 20))


def test_what_agrees():
    made = table(
        number("amount", [0.0, 100.0, 101.9, 103.0, 200.0] * 10, decimals=1),
        number("year", [1990, 1991, 1995, 2000, 2001] * 10),
        category("kind", ["a", "a", "a", "b", None] * 10),
    )
    ranks, low, high, information = module._agreement([made], made.names, np.arange(50), 0.02)
    agreeing = (low[:, :5, None] <= ranks[:, None, :5]) & (ranks[:, None, :5] <= high[:, :5, None])
    assert agreeing[0].tolist() == np.isin(np.arange(25).reshape(5, 5), [0, 6, 7, 11, 12, 13, 17, 18, 24]).tolist()
    assert agreeing[1].tolist() == np.eye(5, dtype=bool).tolist()  # years have no size of their own
    assert np.exp(-information[:, 0]) == pytest.approx([0.2, 0.2, 0.6])
    assert np.exp(-information[:, 2]) == pytest.approx([0.6, 0.2, 0.6])


def test_rare_levels_agree_with_each_other_and_rare_numbers_with_their_neighbours():
    made = table(category("code", ["x"] * 30 + ["y"] * 6 + ["z"] * 5), number("n", [*range(40), 1000]))
    ranks, low, high, information = module._agreement([made], made.names, np.arange(41), 0.01)
    agreeing = ((low[:, :, None] <= ranks[:, None]) & (ranks[:, None] <= high[:, :, None])).sum(axis=2)
    assert agreeing[0].tolist() == [30] * 30 + [11] * 11
    assert agreeing[1].min() >= module.COMMON // 2
    assert np.exp(-information) == pytest.approx(agreeing / 41)


# Laws.


def test_awkward_tables_have_figures_or_none():
    for _, pair in awkward_pairs():
        found = near_copies(pair)
        assert found is None or (0 <= found.p <= 1 and found.people.low <= found.people.value <= found.people.high)


def test_the_order_of_rows_does_not_matter_but_by_ties():
    original, others = samples("mixed", 3, rows=1000)
    released = planted(original, others, chosen(original, PEOPLE, 1), 2)
    mixed_up = released.take(np.random.default_rng(4).permutation(len(released)))
    one, two = (near_copies(pair_of(original, rows)) for rows in (released, mixed_up))
    assert one.people.value == pytest.approx(two.people.value, abs=3)


def test_a_table_of_distinct_rows_is_no_sample_and_not_tested():
    place = np.indices((6, 5, 5, 4, 4)).reshape(5, -1)
    made = table(*(category(f"c{i}", [f"v{v}" for v in row]) for i, row in enumerate(place)))
    assert near_copies(pair_of(made, made)) is None


def test_a_large_table_is_searched_for_some_rows_and_the_estimate_is_for_all():
    original, others = samples("mixed", 5)
    released = planted(original, others, chosen(original, 200, 1), 2)
    pair = pair_of(original, released)
    some = near_copies(pair, comparisons=8000 * 11 * 2000)  # a quarter of the rows
    assert some.p * some.tests < SIGNIFICANT
    assert 120 <= some.people.low <= some.people.value <= 210  # a few near-copies are in dense regions
    assert some.attack.main.tries == pytest.approx(4000 * (1 - 0.75**2), abs=1)


def test_near_copies_are_above_every_limit_and_name_no_value():
    original, others = samples("mixed", 6, rows=2000)
    released = planted(original, others, chosen(original, PEOPLE, 1), 2)
    found = copies(pair_of(original, released))
    (finding,) = (one for one in found.findings if one.kind == "near")
    assert (finding.columns, finding.without) == ((), ())
    risks = decisive_risks(linked=None, inferred=(), informed=None, membership=None, copied=found)
    assert [one.kind for one in risks if exceeds(one.bound, 0.99)] == ["copies"]
    text = str(lc.measure(original, released, only=["copies"])["copies"].near)
    assert not any(f"{value:g}" in text for value in original["income"].values[:20])
    assert 20 <= found.near.people.low <= PEOPLE


def test_with_a_control_its_people_are_compared_with_members():
    original, others = samples("mixed", 7, rows=3000)
    control, released = others.take(np.arange(1500)), samples("mixed", 8, rows=3000)[0]
    bad = planted(original, released, chosen(original, PEOPLE, 1), 2)
    assert corrected(original, released, control) > SIGNIFICANT
    assert corrected(original, bad, control) < SIGNIFICANT
    found = near_copies(pair_of(original, bad, control=control))
    assert found.attack.control.tries == 1500
    assert 0 < found.people.low <= PEOPLE


def test_a_copy_of_the_control_is_no_evidence_against_members():
    original, others = samples("mixed", 9, rows=2000)
    assert corrected(original, planted(others, samples("mixed", 10, rows=2000)[0], np.arange(60), 1), others) > 0.01


# Two-sided tests at the level of 0.001: 40 people of 4,000 are found in so many of the runs or more, an honest release
# is refused in 5 % or fewer. In the table of wages many strangers agree within 2 %: there the power is smaller.


POWER = {"adult": 0.9, "mixed": 0.9, "wages": 0.6}


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_people_released_nearly_whole_are_found(name):
    original, others = samples(name, 0)
    assert corrected(original, others) > 0.01
    people = chosen(original, PEOPLE if name != "wages" else 2 * PEOPLE, 1)
    assert corrected(original, planted(original, others, people, 2)) < SIGNIFICANT


RUNS = 20


def share_found(name, **how):
    """The share of runs in which 40 people among an independent sample are found."""
    hits = 0
    for seed in range(RUNS):
        original, others = samples(name, 100 + seed)
        people = outlying(original) if how.get("outliers") else chosen(original, PEOPLE, seed)
        kind = {key: value for key, value in how.items() if key != "outliers"}
        hits += corrected(original, planted(original, others, people, seed, **kind)) < SIGNIFICANT
    return hits / RUNS


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_power(name):
    assert share_found(name) >= POWER[name]
    assert share_found(name, noise=0.0) >= 0.9
    assert share_found(name, outliers=True) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_false_alarms(name):
    alarms = []
    for seed in range(RUNS):
        original, others = samples(name, 200 + seed)
        alarms.append(corrected(original, others) < SIGNIFICANT)
        for recipe in ("cover", "framework") if seed < RUNS // 2 else ():
            released = lc.release(original, recipe, target=TARGETS[name], seed=seed).table
            alarms.append(corrected(original, released) < SIGNIFICANT)
    assert np.mean(alarms) <= 0.05
