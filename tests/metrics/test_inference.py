"""Inference by hand, against its twin and at its two ends; and what `cover` lets through on Adult."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.engine.evaluate import pair_from
from leafcover.engine.run import run
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure import nearest_record as people
from leafcover.metrics.disclosure.attribute_inference import (
    MOST_LEVELS,
    attacked_columns,
    best_guess,
    best_guesses,
    forest_guesses,
    inference,
    inferences,
    reach_of,
    right,
    trusted_columns,
)
from leafcover.metrics.pair import pair_of
from leafcover.recipes import plan_for
from leafcover.table.io import read
from tests.data import table_path
from tests.metrics.attacks import awkward_pairs, check_sound, with_control
from tests.metrics.pairs import apart, copy_of, reordered
from tests.quality import halves
from tests.tables import category, mixed, mixed_tables, number, table


def by_hand():
    original = table(number("age", [10, 26, 30, 40]), category("job", ["a", "b", "b", "a"]))
    released = table(number("age", [10, 22, 30, 38]), category("job", ["b", "b", "a", "a"]))
    control = table(number("age", [21, 39]), category("job", ["b", "b"]))
    return pair_of(original, released, np.arange(4), control=control)


def test_inference_by_hand():
    # 10 finds 10, who says b: wrong. 26 is as near to 22 (b, right) as to 30 (a): a half. 30 finds 30 (a): wrong.
    # 40 finds 38 (a): right. Together 1.5 of 4. Not in the release: 21 finds 22 (right), 39 finds 38 (wrong).
    # The release has two of each, the first is a, which 2 of 4 people have.
    found = inference(by_hand(), "job")
    assert found.nearest.main.value == pytest.approx(1.5 / 4)
    assert found.nearest.control.value == pytest.approx(1 / 2)
    assert found.nearest.above_control.value == pytest.approx(-1 / 8)
    assert found.nearest.baseline.value == pytest.approx(2 / 4)
    assert (found.known, found.rows, found.of, found.tolerance) == (("age",), 4, 4, 0.0)
    # a forest needs ten rows; with fewer it guesses
    assert found.learned.main == found.nearest.baseline


def test_a_number_is_told_within_the_tolerance():
    # The middle 90 % of 0, 1 .. 100 are 5 .. 95, so that 0.05 of their range is 4.5.
    original = table(number("pay", np.arange(101)), category("town", ["t"] * 101))
    assert reach_of(original["pay"]) == pytest.approx(4.5)
    assert reach_of(original["town"]) == 0.0
    # Everybody is tied with everybody: somebody in the middle is told by the 9 values within 4, at the ends by fewer.
    pair = pair_of(original, original, np.arange(101))
    inside = [min(i + 4, 100) - max(i - 4, 0) + 1 for i in range(101)]
    found = inference(pair, "pay")
    assert found.nearest.main.value == pytest.approx(np.mean(inside) / 101)
    # The best one answer is right for 10 values: 9 apart at most.
    assert found.nearest.baseline.value == pytest.approx(10 / 101)
    assert found.tolerance == 0.05
    assert inference(pair, "pay", tolerance=0.0).nearest.main.value == pytest.approx(1 / 101)


def twin(pair, column, known, reach, persons):
    """Every person against every released row."""
    successes = []
    for i in range(len(persons)):
        wanted = persons[column].values[i]
        if persons[column].missing[i]:
            continue
        distances = []
        for j in range(len(pair.released)):
            total = 0.0
            for name in known:
                a, b = persons[name].values[i], pair.released[name].values[j]
                low, high = (0, 0) if persons[name].is_category else pair.original[name].domain
                if persons[name].is_category or np.isnan(a) or np.isnan(b):
                    total += a != b and not (np.isnan(a) and np.isnan(b))
                else:
                    total += abs(a - b) / ((high - low) if high > low else 1.0)
            distances.append(total)
        near = [j for j, d in enumerate(distances) if d <= min(distances) + 1e-9]
        said = [pair.released[column].values[j] for j in near]
        gone = [bool(pair.released[column].missing[j]) for j in near]
        successes.append(np.mean([not g and abs(s - wanted) <= reach for s, g in zip(said, gone, strict=True)]))
    return np.mean(successes) if successes else 0.0


@given(mixed_tables(max_rows=14), st.sampled_from(["cents", "kind", "class"]), st.randoms(use_true_random=False))
def test_inference_is_its_twin(original, column, random):
    rows = len(original)
    released = original.take(np.array([random.randrange(rows) for _ in range(rows)]))
    control = original.take(np.array([random.randrange(rows) for _ in range(5)]))
    pair = pair_of(original, released, np.arange(rows), control=control)
    found = inference(pair, column, known=["whole", "other", "fine"], learned=False)
    reach = reach_of(original[column])
    assert found.nearest.main.value == pytest.approx(twin(pair, column, found.known, reach, pair.original))
    if found.nearest.control is not None:
        assert found.nearest.control.value == pytest.approx(twin(pair, column, found.known, reach, pair.control))
    assert found.learned is None


def test_a_copy_tells_everything_and_columns_shuffled_apart_nothing():
    copied, shuffled = with_control(copy_of, target="class"), with_control(apart, target="class")
    for column in ("job", "class", "pay"):
        told = inference(copied, column)
        assert told.nearest.main.value > 0.99
        assert told.nearest.above_control.low > 0.1
        hidden = inference(shuffled, column)
        for attack in (hidden.nearest, hidden.learned):
            assert attack.main.low <= attack.baseline.high
            assert attack.above_control.low <= 0.0 <= attack.above_control.high


def test_the_forest_remembers_the_people_it_has_seen(monkeypatch):
    # Nobody's job follows from the other columns, so whoever tells it has seen the person's own row.
    pair = with_control(copy_of, rows=1500, target="class")
    monkeypatch.setattr("leafcover.metrics.disclosure.attribute_inference.LEARNED", 400)
    assert inference(pair, "job", most=300).learned.above_control.low > 0.0
    assert inference(replace(pair, paired=False), "job", most=300).learned.above_control.value < 0.2


def test_the_forest_learns_a_rule_that_the_nearest_row_does_not_see():
    # The class is told by age and job alone; three columns of noise lead the nearest row astray.
    rng = np.random.default_rng(3)

    def noisy(seed):
        plain = mixed(seed, rows=1500, missing=0.0)
        noise = [category(f"n{i}", [str(v) for v in rng.integers(0, 9, 1500)]) for i in range(4)]
        return table(*plain, *noise)

    original = noisy(1)
    found = inference(copy_of(original, target="class", control=noisy(2)), "class")
    assert found.learned.control.low > found.nearest.control.high
    assert found.learned.control.low > found.learned.baseline.high


def test_an_exact_column_among_shuffled_ones_is_trusted():
    # Nine columns are dealt out at random and one, a number of each person, is left; job is left, too. A distance over
    # all columns finds nobody, one over the number alone everybody. People outside have numbers of their own.
    rng = np.random.default_rng(5)

    def people(first):
        rows = 600
        noise = [category(f"n{i}", [str(v) for v in rng.integers(0, 9, rows)]) for i in range(9)]
        job = category("job", [str(v) for v in rng.integers(0, 5, rows)])
        return table(number("id", np.arange(first, first + 2 * rows, 2)), job, *noise)

    original, control = people(0), people(1)
    dealt = table(*(c if c.name in ("id", "job") else c.take(rng.permutation(600)) for c in original))
    pair = pair_of(original, dealt, np.arange(600), control=control)
    assert trusted_columns(pair, [n for n in pair.names if n != "job"]) == ("id",)
    for found in (inference(pair, "job"), inferences(pair, columns=["job"])[0]):
        assert found.trusted.main.value > 0.99
        assert found.strongest == found.trusted
        assert found.nearest.main.value < 0.5
        assert found.trusted.control.high < 0.4
    assert inference(replace(pair, paired=False), "job").trusted is None
    by_all = inferences(pair, columns=["id"])[0]
    assert by_all.trusted is None or by_all.trusted.main.value <= by_all.trusted.baseline.high


def test_every_column_is_trusted_when_all_are_alike_in_worth():
    pair = copy_of(mixed(7, rows=500, missing=0.0))
    assert sorted(trusted_columns(pair, pair.names)) == sorted(pair.names)


def test_the_order_of_rows_and_columns_does_not_matter():
    pair = pair_of(mixed(4), mixed(5), np.arange(300), target="class", control=mixed(6))
    for column in ("age", "town"):
        one, other = inference(pair, column, learned=False), inference(reordered(pair), column, learned=False)
        assert one.nearest.main.value == pytest.approx(other.nearest.main.value)
        assert one.nearest.control.value == pytest.approx(other.nearest.control.value)


def test_the_attacker_does_not_look_at_the_pairs():
    pair = pair_of(mixed(4), mixed(5), np.arange(300), target="class", control=mixed(6))
    mixed_up = replace(pair, released=pair.released.take(np.random.default_rng(1).permutation(300)), paired=False)
    for column in ("age", "town"):
        one, other = inference(pair, column, learned=False), inference(mixed_up, column, learned=False)
        assert one.nearest.main.value == pytest.approx(other.nearest.main.value)


def test_columns_attacked_in_turn_are_attacked_as_each_by_itself():
    for missing in (0.0, 0.1):
        original = mixed(4, rows=200, missing=missing)
        pair = pair_of(original, mixed(5, rows=200), np.arange(200), control=mixed(6, rows=100), weight="noise")
        found = inferences(pair, learned=False)
        assert [one.column for one in found] == ["age", "pay", "job", "town", "class"]
        assert found == tuple(inference(pair, one.column, learned=False) for one in found)


def test_awkward_tables_have_figures():
    for name, pair in awkward_pairs():
        check_sound(inferences(pair, learned="copy" in name))


def test_what_is_attacked():
    plain = mixed(1)
    assert attacked_columns(copy_of(plain, target="class"))[0] == "class"
    assert attacked_columns(copy_of(plain, sensitive=["pay"])) == ("pay",)
    assert set(attacked_columns(copy_of(plain, weight="pay"))) == set(plain.names) - {"pay"}
    constant = table(number("x", [1, 1, 1]), number("gone", [np.nan] * 3), number("y", [1, 2, 3]))
    assert attacked_columns(copy_of(constant)) == ("y",)


def test_people_without_a_value_are_not_attacked():
    original = table(number("x", [1, 2, 3, 4]), category("c", ["a", None, "b", None]))
    found = inference(copy_of(original), "c")
    assert (found.nearest.main.value, found.nearest.main.tries, found.rows, found.of) == (1.0, 2, 2, 2)
    assert found.nearest.control is None
    assert found.nearest.above_control is None


def test_large_tables_are_attacked_by_a_sample():
    found = inference(copy_of(mixed(1, rows=2000), target="class"), "class", most=200, learned=False)
    assert (found.rows, found.of, found.nearest.main.tries) == (200, 2000, 200)


def test_fewer_people_are_attacked_in_a_large_release(monkeypatch):
    monkeypatch.setattr(people, "COMPARISONS", 1_000_000)
    monkeypatch.setattr(people, "FEWEST", 10)
    few = copy_of(mixed(1, rows=2000))
    assert people.bearable(3000, few, few.names) == 500
    assert people.bearable(300, few, few.names) == 300
    many = copy_of(table(*(number(f"x{i}", np.arange(2000)) for i in range(11))))
    assert people.bearable(3000, many, many.names) == 100
    assert people.bearable(3000, many, many.names[1:]) == 500
    monkeypatch.setattr(people, "FEWEST", 200)
    assert people.bearable(3000, many, many.names) == 200


def test_wrong_names_are_refused():
    pair = copy_of(mixed(1))
    with pytest.raises(NameUnknown, match="There is no column 'jobb'"):
        inference(pair, "jobb")
    with pytest.raises(NameUnknown, match="There is no column 'agee'"):
        inference(pair, "job", known=["agee"])
    with pytest.raises(ValueOutOfRange, match="other than the one"):
        inference(pair, "job", known=["job"])
    with pytest.raises(ValueOutOfRange, match="tolerance"):
        inference(pair, "job", tolerance=0.7)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=12), st.sampled_from([0.0, 0.5, 2.0]))
def test_no_answer_is_right_more_often_than_the_best_guess(values, reach):
    labels = np.array(values, float)
    best = right(best_guess(labels, reach), labels, reach).sum()
    assert best == max(right(answer, labels, reach).sum() for answer in np.arange(-23, 23, 0.25))
    both = best_guesses(np.stack([labels, labels[::-1]]), reach)
    assert both.tolist() == [best_guess(labels, reach)] * 2


def test_guesses_at_the_ends():
    assert np.isnan(best_guess(np.array([np.nan]), 1.0))
    assert best_guess(np.array([1e308, -1e308, 1e308]), 0.0) == 1e308
    assert right(np.array([1e308, np.nan]), np.array([-1e308, 1.0]), 1.0).tolist() == [0.0, 0.0]
    assert reach_of(number("x", [-1.7e308, 1.7e308])) == pytest.approx(0.1 * 1.7e308)


def test_more_levels_than_the_forest_minds():
    levels = [f"v{i:03d}" for i in range(2 * MOST_LEVELS)]
    texts = [levels[0]] * 400 + levels
    features = table(number("x", [1.0] * 400 + [2.0] * len(levels)))
    codes = category("c", texts).values.astype(float)
    (answers,) = forest_guesses(features, codes, [features.take([0])], is_category=True, reach=0.0)
    assert answers.tolist() == [0.0]


@pytest.mark.parametrize(
    ("recipe", "settings", "occupation", "income"), [("cover", {}, 0.02, 0.02), ("cells", {"k": 20}, 0.08, 0.04)]
)
def test_the_nearest_released_rows_hide_occupation_and_income_on_adult(recipe, settings, occupation, income):
    """22,000 rows released, the others as control; three splits with a key each."""
    original = read(table_path("adult"))
    above = {"occupation": [], "income": []}
    for seed in range(3):
        train, rest = halves(original, 22_000, seed)
        plan = plan_for(train, recipe, target="income", settings=settings)
        pair = pair_from(train, run(train, plan, key=Key.from_seed(seed)), control=rest)
        for column, found in above.items():
            found.append(inference(pair, column, most=4_000, learned=False).nearest.above_control.value)
    assert np.mean(above["occupation"]) <= occupation
    assert np.mean(above["income"]) <= income
