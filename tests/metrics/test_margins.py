"""Margins and associations against a bootstrap sample: slow twins, both ends, and a sample as the release."""

from collections import Counter
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leafcover as lc
from leafcover.metrics.pair import SEED, pair_of
from leafcover.metrics.utility.bivariate import relations
from leafcover.metrics.utility.margins import bootstrap_distance, column_triples, margins, relation_errors
from tests.metrics.pairs import apart, copy_of, tables
from tests.tables import category, mixed, number, table


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=5))
def test_the_expected_distance_is_that_over_all_bootstrap_samples(values):
    """Every sample with replacement, one after the other."""
    counts, rows = Counter(values), len(values)
    distances = []
    for drawn in product(values, repeat=rows):
        other = Counter(drawn)
        distances.append(sum(abs(counts[v] - other[v]) for v in counts) / rows / 2)
    assert bootstrap_distance(np.array(list(counts.values()))) == pytest.approx(np.mean(distances))


def few_valued(seed, rows=60):
    rng = np.random.default_rng(seed)
    letters = [
        None if h else str(v) for h, v in zip(rng.random(rows) < 0.1, rng.choice(list("abc"), rows), strict=True)
    ]
    return table(
        category("c", letters),
        number("n", np.where(rng.random(rows) < 0.1, np.nan, rng.integers(0, 4, rows))),
        category("d", [str(v) for v in rng.choice(list("xy"), rows)]),
        number("m", rng.integers(0, 3, rows)),
    )


@pytest.mark.parametrize("ways", [2, 3])
def test_the_score_is_its_twin(ways):
    pair = pair_of(few_valued(1), few_valued(2))
    rows = {
        side: [_texts(one, i) for i in range(len(one))]
        for side, one in zip("or", (pair.original, pair.released), strict=True)
    }
    distances = []
    for places in combinations(range(4), ways):
        ours, theirs = (Counter(tuple(row[p] for p in places) for row in rows[side]) for side in "or")
        distances.append(sum(abs(ours[cell] - theirs[cell]) for cell in ours | theirs) / 60 / 2)
    found = margins(pair)
    score = found.pairs if ways == 2 else found.triples
    assert score.score == pytest.approx(1000 * (1 - np.mean(distances)))
    assert (score.margins, score.of, found.rows) == (comb(4, ways), comb(4, ways), 60)


def _texts(one, row):
    return [str(c.values[row]) for c in one]


def test_a_copy_has_every_margin_and_columns_apart_lose_them():
    for name, original in tables().items():
        copied, shuffled = margins(copy_of(original)), margins(apart(original))
        assert copied.pairs.score == copied.triples.score == 1000, name
        assert shuffled.pairs.score < shuffled.pairs.expected
        worst = shuffled.triples.worst[0]
        assert worst.distance - worst.expected == max(m.distance - m.expected for m in shuffled.triples.worst)


def test_a_bootstrap_sample_has_the_expected_score_and_a_half_sample_does_not():
    original = mixed(3, rows=2_000)
    rng = np.random.default_rng(4)
    sampled = [margins(pair_of(original, original.take(rng.integers(0, 2_000, 2_000)))).triples for _ in range(5)]
    assert np.mean([one.score for one in sampled]) == pytest.approx(sampled[0].expected, abs=3)
    poorer = original.take(np.repeat(rng.integers(0, 2_000, 1_000), 2))
    assert margins(pair_of(original, poorer)).triples.score < sampled[0].expected - 10


def test_many_triples_are_a_fixed_choice_by_name():
    names = [f"c{i:02}" for i in range(20)]
    assert column_triples(names, 50) == column_triples(names[::-1], 50)
    assert len(column_triples(names, 50)) == 50
    original = mixed(5, rows=100)
    assert margins(pair_of(original, original), most=2).triples.margins == 2
    assert margins(pair_of(original, original), most_rows=40).rows == 40
    few = original.select(original.names[:2])
    assert np.isnan(margins(pair_of(few, few)).triples.score)


def test_relation_errors_are_their_twin():
    """Each bootstrap sample as a table of its own, compared as a release."""
    original = mixed(6, rows=300)
    pair, rows = apart(original), 300
    errors = {}
    for sample in range(7):
        drawn = np.random.default_rng([SEED, sample]).integers(0, rows, rows)
        for entry in relations(pair_of(pair.original, pair.original.take(drawn))).entries:
            errors.setdefault((entry.first, entry.second, entry.figure), []).append(abs(entry.difference))
    found = relation_errors(pair, resamples=7)
    changed = {(e.first, e.second, e.figure): e.difference for e in relations(pair).entries}
    assert {(e.first, e.second, e.figure) for e in found.entries} == {k for k in changed if k[2] != "covariance"}
    for entry in found.entries:
        key = entry.first, entry.second, entry.figure
        assert entry.resampled == pytest.approx(np.mean(errors[key]))
        assert entry.ratio == pytest.approx(abs(changed[key]) / np.mean(errors[key]))
    assert found.largest == found.entries[0].ratio == max(e.ratio for e in found.entries)
    assert found.mean == pytest.approx(np.mean([e.ratio for e in found.entries]))


def test_a_bootstrap_sample_has_ratio_one_a_copy_zero_and_columns_apart_more():
    original = mixed(7, rows=1_000)
    rng = np.random.default_rng(8)
    sampled = [relation_errors(pair_of(original, original.take(rng.integers(0, 1_000, 1_000)))) for _ in range(8)]
    assert np.mean([one.mean for one in sampled]) == pytest.approx(1.0, abs=0.25)
    assert relation_errors(copy_of(original)).largest == pytest.approx(0, abs=1e-9)
    assert relation_errors(apart(original)).largest > 5


def test_columns_that_determine_each_other_have_a_finite_ratio():
    letters = list("abcd") * 30
    original = table(category("c", letters), category("d", [v.upper() for v in letters]))
    broken = table(category("c", letters), category("d", [v.upper() for v in letters[1:] + letters[:1]]))
    assert relation_errors(pair_of(original, original)).largest == 0
    assert relation_errors(pair_of(original, broken)).largest == 0  # another mapping is as strong
    mixed_up = table(category("c", letters), category("d", [v.upper() for v in sorted(letters)]))
    assert 10 < relation_errors(pair_of(original, mixed_up)).largest < np.inf


def test_large_tables_use_fewer_samples_then_fewer_rows():
    pair = copy_of(mixed(9, rows=500))
    pairs = comb(len(pair.names), 2)
    assert relation_errors(pair, most_work=pairs * 500 * 20).resamples == 20
    found = relation_errors(pair, most_work=pairs * 12 * 100)
    assert (found.resamples, found.rows, found.of) == (12, 100, 500)


def test_they_can_be_asked_for_by_name():
    original = mixed(10, rows=200)
    release = lc.release(original, "random", seed=1)
    found = lc.measure(original, release, only=["margins", "relation_errors"])
    assert set(found) == {"margins", "relation_errors"}
