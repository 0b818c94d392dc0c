"""SERS and the number of candidates, by hand, against a twin, and at their ends."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.metrics.disclosure import nearest_record as measure
from leafcover.metrics.disclosure.nearest_record import candidates, effective_number, sers
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import category, mixed, mixed_tables, number, table

NAMES = ["whole", "cents", "kind", "other"]


def naive_distances(original, released, names):
    found = np.zeros((len(released), len(original)))
    for i in range(len(released)):
        for j in range(len(original)):
            for name in names:
                a, b = released[name].values[i], original[name].values[j]
                low, high = original[name].domain if not original[name].is_category else (0, 0)
                if original[name].is_category:
                    found[i, j] += a != b
                elif np.isnan(a) or np.isnan(b):
                    found[i, j] += np.isnan(a) != np.isnan(b)
                else:
                    found[i, j] += abs(a - b) / (high - low if high > low else 1.0)
    return found


def naive_candidates(distance, own):
    """Bands that end where another twentieth of the own distances lies below; a row's weight is own ones by rows."""
    ascending = sorted(own)
    ends = []
    for twentieth in range(1, 21):
        end = ascending[math.ceil(len(own) * twentieth / 20 - 1e-9) - 1]
        if not ends or end > ends[-1] + 1e-9:
            ends.append(end)

    def band(d):
        return next((b for b, end in enumerate(ends) if d <= end + 1e-9), None)

    ours = [sum(band(d) == b for d in own) for b in range(len(ends))]
    rows = [sum(band(d) == b for d in distance.ravel()) for b in range(len(ends))]
    numbers = []
    for line in distance:
        weights = [ours[band(d)] / rows[band(d)] for d in line if band(d) is not None]
        posterior = [w / sum(weights) for w in weights]
        numbers.append(2 ** -sum(p * np.log2(p) for p in posterior))
    return numbers


@settings(max_examples=40)
@given(mixed_tables(max_rows=12), st.randoms(use_true_random=False))
def test_sers_and_candidates_are_their_twins(original, random):
    rows = len(original)
    released = original.take(np.array([random.randrange(rows) for _ in range(rows)]))
    pair = pair_of(original, released, np.arange(rows))
    distance = naive_distances(original, released, NAMES)
    own = np.diag(distance)
    shares = [sum(distance[i, j] <= own[i] + 1e-9 for j in range(rows) if j != i) / (rows - 1) for i in range(rows)]
    found = sers(pair, columns=NAMES)
    assert found.share.value == pytest.approx(np.mean(shares))
    assert found.worst == pytest.approx(min(shares))
    numbers = naive_candidates(distance, own)
    many = candidates(pair, columns=NAMES)
    assert many.median == pytest.approx(np.median(numbers))
    assert many.few.value == pytest.approx(np.mean([n < 5 - 1e-9 for n in numbers]))  # five alike are not fewer


def small():
    # x in tenths of its range. Released 1 stands for original 0, 4 for 3, 6 for 10.
    original, released = table(number("x", [0, 3, 10])), table(number("x", [1, 4, 6]))
    return pair_of(original, released, np.arange(3))


def test_sers_by_hand():
    # 1: own 0.1 away, others 0.2, 0.9: none as near. 4: own 0.1, others 0.4, 0.6: none. 6: own 0.4, 3 at 0.3 nearer,
    # 0 at 0.6 not: one of two. The mean of 0, 0, 1/2 is 1/6; two of three are nearest to their own.
    found = sers(small())
    assert found.share.value == pytest.approx(1 / 6)
    assert found.nearest.value == pytest.approx(2 / 3)
    assert (found.worst, found.how) == (0.0, "every row")


def test_candidates_by_hand():
    # own distances 0.1, 0.1, 0.4: a band up to 0.1 with 2 of 3 own originals, one up to 0.4 with 1 of 3.
    # 1: rows at 0.1, 0.2, 0.9. 4: at 0.1, 0.4, 0.6. 6: at 0.3, 0.4, 0.6. So the bands hold 2 and 4 rows: the weights
    # are 2/2 and 1/4, and nothing beyond. 1 and 4: 1 and 1/4, shares 0.8 and 0.2, entropy 0.72193, 2^ that 1.64938.
    # 6: two rows alike, 2.
    found = candidates(small())
    assert found.median == pytest.approx(1.64938, abs=1e-5)
    assert found.fifth == pytest.approx(1.64938, abs=1e-5)
    assert found.few.value == 1.0
    assert found.typical == pytest.approx(0.1)


def test_a_distance_may_stand_for_many_rows():
    # both distances lie in the only band; one stands for seven rows, so eight rows are as likely
    numbers = effective_number(np.array([[0.7, 0.6]]), np.array([[1.0, 7.0]]), np.array([0.7]))
    assert numbers[0] == pytest.approx(8.0)


@pytest.mark.parametrize("shuffled", [apart, copy_of])
def test_a_sample_of_the_far_rows_stands_for_all(monkeypatch, shuffled):
    pair = shuffled(mixed(1, rows=900, missing=0.0))
    exact = candidates(pair)
    monkeypatch.setattr(measure, "EXACT", 200)
    monkeypatch.setattr(measure, "NEAR", 50)
    monkeypatch.setattr(measure, "FEW", 1.2)  # a near row that the sample holds too must not count twice
    sampled = candidates(pair)
    assert sampled.few.value == float(shuffled is copy_of)
    assert sampled.median == pytest.approx(exact.median, rel=0.1)
    assert sampled.fifth == pytest.approx(exact.fifth, rel=0.1)
    alike = copy_of(table(category("c", "a" * 900)))
    assert candidates(alike).median == pytest.approx(900)


@pytest.mark.parametrize("name", tables())
def test_a_copy_has_one_candidate_and_shuffled_columns_many(name):
    original = tables()[name]
    near = sers(copy_of(original))
    assert near.share.value < 0.001
    assert near.nearest.value > 0.99
    one = candidates(copy_of(original))
    assert (one.median, one.fifth, one.few.value) == (pytest.approx(1.0), pytest.approx(1.0), 1.0)
    far = sers(apart(original))
    assert far.share.low < 0.5 < far.share.high + 0.02
    assert far.nearest.value < 0.02
    many = candidates(apart(original))
    assert many.fifth > 100
    assert many.few.value == 0.0


@pytest.mark.parametrize("name", awkward())
def test_awkward_tables_give_finite_figures(name):
    original = awkward()[name]
    for pair in (copy_of(original), apart(original), copy_of(original.take([0]))):
        found, many = sers(pair), candidates(pair)
        assert np.isfinite([found.share.value, found.worst, found.nearest.value]).all()
        assert 1 - 1e-9 <= many.worst <= many.fifth <= many.median <= len(pair.original) + 1e-6


def test_rows_alike_cannot_be_told_apart():
    constant = table(category("c", "aaaaaaaa"))
    found, many = sers(copy_of(constant)), candidates(copy_of(constant))
    assert (found.share.value, found.nearest.value) == (1.0, 1 / 8)
    assert (many.median, many.few.value) == (pytest.approx(8.0), 0.0)


def test_order_does_not_matter_and_samples_and_pairs_are_told():
    pair = apart(tables()["with missing values"])
    first, again = sers(pair), sers(reordered(pair))
    assert first.share.value == pytest.approx(again.share.value)
    assert first.nearest.value == pytest.approx(again.nearest.value)
    assert candidates(pair).median == pytest.approx(candidates(reordered(pair)).median)
    assert sers(pair, most=40).how == candidates(pair, most=40).how == "a sample of 40 of 400 rows"
    unpaired = pair_of(pair.original, pair.released, None)
    assert sers(unpaired) is None
    assert candidates(unpaired) is None
