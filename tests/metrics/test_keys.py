"""k, l and t against figures worked out by hand or printed in the literature, and against slow twins."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.engine.evaluate import pair_from
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure import k_anonymity as alike
from leafcover.metrics.disclosure.k_anonymity import (
    RULES,
    anonymity,
    classes_of,
    closeness,
    diversity,
    homogeneity,
    k_anonymity,
    matching_sizes,
)
from leafcover.metrics.pair import pair_of
from leafcover.metrics.summary import homogeneous_sentences
from leafcover.table.units import sensitive_groups
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.metrics.surveys import respondents
from tests.tables import category, mixed_tables, number, table

NAMES = ["whole", "cents", "kind", "other"]


def key_of(row_table, row, names):
    return tuple(None if row_table[n].missing[row] else row_table[n].values[row] for n in names)


def naive_sizes(row_table, names, rule):
    keys = [key_of(row_table, i, names) for i in range(len(row_table))]
    if rule == "drop":
        keys = [key for key in keys if None not in key]
    if rule == "matches":
        return [
            sum(all(a is None or b is None or a == b for a, b in zip(x, y, strict=True)) for y in keys) for x in keys
        ]
    return [keys.count(key) for key in keys]


def naive_mover(shares, overall, ordered):
    """The earth mover's distance, from the definition over all values."""
    if not ordered:
        return sum(abs(a - b) for a, b in zip(shares, overall, strict=True)) / 2
    if len(overall) < 2:
        return 0.0
    return sum(abs(sum(shares[: i + 1]) - sum(overall[: i + 1])) for i in range(len(overall))) / (len(overall) - 1)


@settings(max_examples=60)
@given(mixed_tables(max_rows=20), st.sampled_from(sorted(RULES)), st.integers(1, 4))
def test_class_sizes_are_their_twin(original, rule, count):
    pair = pair_of(original, original, None, quasi_identifiers=NAMES[:count])
    expected = naive_sizes(original, NAMES[:count], rule)
    found = anonymity(pair, rule=rule)
    assert found.smallest == min(expected, default=0)
    assert found.unique.tries == len(expected)
    for risk, fewer in ((found.unique, 2), (found.below_three, 3), (found.below_five, 5)):
        assert risk.value == pytest.approx(np.mean([n < fewer for n in expected]) if expected else 0.0)


@settings(max_examples=40)
@given(mixed_tables(max_rows=20))
def test_people_asked_one_by_one_match_as_many_rows(original):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alike, "MOST_MATCHES", 0)
        people, sizes = matching_sizes(original, NAMES)
    assert list(people) == list(range(len(original)))
    assert list(sizes) == naive_sizes(original, NAMES, "matches")


def test_many_patterns_of_missing_values_are_sampled_and_say_so(monkeypatch):
    monkeypatch.setattr(alike, "MOST_MATCHES", 0)
    monkeypatch.setattr(alike, "PEOPLE", 50)
    original = tables()["with missing values"]
    pair = pair_of(original, original, None, quasi_identifiers=["town", "job", "class"])
    found = anonymity(pair, rule="matches")
    assert found.how == "a sample of 50 of 400 rows"
    assert found.unique.tries == 50


def test_the_ten_respondents_of_the_practice_guide():
    # sample frequencies 2 2 1 2 1 2 1 1 2 2: four rows violate 2-anonymity, all ten 3-anonymity
    found = anonymity(respondents())
    assert found.smallest == 1
    assert found.unique.value == pytest.approx(0.4)
    assert found.below_three.value == 1.0


def test_a_missing_value_under_each_rule():
    # male complete employed; male incomplete employed; male ? employed. The guide's frequencies are 2, 2, 3 when the
    # missing value may be either; as a value of its own each row is alone; dropped, two rows are left, each alone.
    original = table(
        category("gender", ["m", "m", "m"]),
        category("education", ["complete", "incomplete", None]),
        category("c", "eee"),
    )
    assert list(matching_sizes(original, original.names)[1]) == [2, 2, 3]
    pair = pair_of(original, original, None)
    matches, own, drop = (anonymity(pair, rule=rule) for rule in ("matches", "own", "drop"))
    assert (matches.smallest, own.smallest, drop.smallest) == (2, 1, 1)
    assert (matches.unique.value, own.unique.value, drop.unique.value) == (0.0, 1.0, 1.0)
    assert (matches.unique.tries, own.unique.tries, drop.unique.tries) == (3, 3, 2)


def test_zero_and_minus_zero_are_one_value_and_bins_cut_at_quantiles_of_the_original():
    original = table(number("x", [0.0, -0.0, 1.0, 2.0, 3.0, 4.0, 5.0, np.nan]))
    assert list(classes_of(original, ["x"]).of_row) == [2, 2, 1, 1, 1, 1, 1, 1]
    # two bins: seven known values, the 4th (2.0) is the median; 0 0 1 2 | 3 4 5 | missing
    assert list(classes_of(original, ["x"], bins=2).of_row) == [4, 4, 4, 4, 3, 3, 3, 1]
    # the release is cut where the original is
    released = table(number("x", [9.0] * 7 + [1.0]))
    pair = pair_of(original, released, None, quasi_identifiers=["x"])
    assert anonymity(pair, of="release", bins=2).smallest == 1
    assert anonymity(pair, of="release", bins=2).unique.value == pytest.approx(1 / 8)
    with pytest.raises(ValueOutOfRange, match="bins"):
        anonymity(pair, bins=1)
    with pytest.raises(NameUnknown):
        anonymity(pair, columns=["y"])


def test_closeness_of_the_salaries_in_the_paper():
    # Li, Li and Venkatasubramanian 2007, section 3: of the salaries 3k .. 11k the class {3k, 4k, 5k} has the distance
    # 0.375, the class {6k, 8k, 11k} has 0.167. The third class, {7k, 9k, 10k}, by hand: cumulative shares at the
    # first eight values 0 0 0 0 3 3 6 9 (ninths), of the table 1 2 3 4 5 6 7 8: 1+2+3+4+2+3+1+1 = 17, 17/9/8 = 0.236.
    original = table(
        category("key", "aaabbbccc"), number("salary", [3, 4, 5, 6, 8, 11, 7, 9, 10]), category("class", "yyyyyyyyy")
    )
    pair = pair_of(original, original, None, target="class", quasi_identifiers=["key"], sensitive=["salary"])
    (found,) = closeness(pair)
    assert found.column == "salary"
    assert found.farthest == pytest.approx(0.375)
    assert found.mean == pytest.approx((0.375 + 1 / 6 + 17 / 72) / 3)
    assert found.worst == pytest.approx(0.375)


def test_diversity_and_closeness_of_a_category_by_hand():
    # class a: flu flu cold; class b: flu; class c: flu, missing. Table: flu 4/5, cold 1/5.
    # l: a has 2 values, b and c 1: smallest 1; rows told: b's and c's known one, 2 of 5
    # entropy of b is 0, so exp(0) = 1
    # t: a: (|2/3 - 4/5| + |1/3 - 1/5|) / 2 = 2/15; b and c: (1/5 + 1/5) / 2 = 1/5
    original = table(category("key", "aaabcc"), category("ill", ["flu", "flu", "cold", "flu", "flu", None]))
    pair = pair_of(original, original, None, target="ill")
    (diverse,), (close,) = diversity(pair), closeness(pair)
    assert (diverse.distinct, diverse.entropy) == (1, pytest.approx(1.0))
    assert diverse.told.value == pytest.approx(2 / 5)
    assert diverse.told.tries == 5
    assert close.farthest == pytest.approx(1 / 5)
    assert close.mean == pytest.approx((3 * 2 / 15 + 2 / 5) / 5)
    # only class a: two values, 2/3 and 1/3: exp of the entropy is 1.8899
    (alone,) = diversity(pair_of(original.take([0, 1, 2]), original.take([0, 1, 2]), None, target="ill"))
    assert (alone.distinct, alone.entropy) == (2, pytest.approx(1.88988, abs=1e-5))
    assert alone.told.value == 0.0


@settings(max_examples=50)
@given(mixed_tables(max_rows=20), st.sampled_from(["whole", "kind"]))
def test_diversity_and_closeness_are_their_twins(original, secret):
    pair = pair_of(original, original, None, quasi_identifiers=["other", "class"], sensitive=[secret])
    (diverse,), (close,) = diversity(pair), closeness(pair)
    known = [i for i in range(len(original)) if not original[secret].missing[i]]
    if not known:
        assert diverse.distinct == 0
        return
    value = original[secret].values
    levels = sorted({value[i] for i in known}) if secret == "whole" else range(len(original[secret].levels))
    overall = [np.mean([value[i] == level for i in known]) for level in levels]
    distinct, entropies, distances = [], [], []
    for i in known:
        alike = [
            j
            for j in known
            if key_of(original, j, pair.quasi_identifiers) == key_of(original, i, pair.quasi_identifiers)
        ]
        shares = [np.mean([value[j] == level for j in alike]) for level in levels]
        distinct.append(sum(share > 0 for share in shares))
        entropies.append(-sum(share * np.log(share) for share in shares if share > 0))
        distances.append(naive_mover(shares, overall, secret == "whole"))
    assert diverse.distinct == min(distinct)
    assert diverse.entropy == pytest.approx(np.exp(min(entropies)))
    assert diverse.told.value == pytest.approx(np.mean([n == 1 for n in distinct]))
    assert close.farthest == pytest.approx(max(distances))
    assert close.mean == pytest.approx(np.mean(distances))


def test_a_column_to_be_learned_is_not_a_key():
    original = tables()["full"]
    pair = pair_of(original, original, None, quasi_identifiers=["town", "job"], sensitive=["job"])
    alone = pair_of(original, original, None, quasi_identifiers=["town"], sensitive=["job"])
    assert diversity(pair) == diversity(alone)
    assert diversity(pair)[0].distinct > 1
    assert closeness(pair_of(original, original, None)) == ()


@pytest.mark.parametrize("name", awkward())
def test_awkward_tables_give_finite_figures(name):
    for pair in (copy_of(awkward()[name], target="class"), apart(awkward()[name], target="class")):
        for of in ("original", "release"):
            found = k_anonymity(pair, of=of, bins=3)
            assert all(
                np.isfinite([a.unique.value, a.below_five.value]).all() for a in found.anonymity if a.unique.tries
            )
            assert np.isfinite([(d.distinct, d.entropy) for d in found.diversity]).all()
            assert all(0 <= c.mean <= c.worst <= c.farthest + 1e-12 <= 1 + 1e-9 for c in found.closeness)
    alone = k_anonymity(copy_of(awkward()["every row unique"], target="class"))
    assert alone.anonymity[0].unique.value == 1.0
    assert alone.diversity[0].told.value == 1.0


@pytest.mark.parametrize("name", tables())
def test_order_does_not_matter_and_a_copy_has_the_originals_classes(name):
    pair = copy_of(tables()[name], target="class", quasi_identifiers=["age", "job", "town"])
    first = k_anonymity(pair, bins=4)
    again = k_anonymity(reordered(pair), bins=4)
    assert again.anonymity == first.anonymity
    assert again.diversity == first.diversity
    assert again.closeness[0].mean == pytest.approx(first.closeness[0].mean)
    copied = k_anonymity(pair, of="release", bins=4)
    assert copied.anonymity == first.anonymity
    assert copied.label == "not protection"
    assert "attacks" in copied.why
    assert k_anonymity(pair, of="release", perturbed=False).label == first.label == ""


@settings(max_examples=60, deadline=None)
@given(given=mixed_tables(), column=st.sampled_from(["whole", "kind"]))
def test_homogeneous_groups_agree_with_counting(given, column):
    pair = replace(copy_of(given), quasi_identifiers=("cents", "other", column), sensitive=(column,))
    keys = [key_of(given, i, ["cents", "other"]) for i in range(len(given))]
    values = [key_of(given, i, [column]) for i in range(len(given))]
    groups = {key: [values[i] for i in range(len(given)) if keys[i] == key] for key in keys}
    same = {key: size for key, found in groups.items() if len({*found}) == 1 and found[0] != (None,)
            for size in [len(found)]}  # fmt: skip
    for of in ("original", "release"):
        (found,) = homogeneity(pair, of=of)
        assert (found.column, found.quasi_identifiers, found.of) == (column, ("cents", "other"), len(given))
        assert found.people == sum(size for size in same.values() if size > 1)
        assert found.alone == sum(size for size in same.values() if size == 1)
    assert k_anonymity(pair).homogeneous == homogeneity(pair, of="original")
    assert homogeneity(replace(pair, sensitive=())) == ()


def test_the_groups_of_a_unit_count_people_and_not_rows():
    frame = {
        "person": ["a", "a", "b", "b", "c", "d", "d", "e"],
        "town": ["x", "x", "x", "x", "y", "z", "z", "z"],
        "ill": ["yes", "yes", "yes", "yes", "no", "yes", "yes", "no"],
    }
    read = lc.read(pa.table(frame), roles={"person": "unit", "town": "quasi-identifier", "ill": "sensitive"})
    (found,) = sensitive_groups(read)
    assert (found.people, found.alone, found.of) == (2, 1, 5)
    assert sensitive_groups(replace(read, roles={})) == ()


def test_summary_and_measures_say_how_many_are_in_homogeneous_groups():
    roles = {"sector": "sensitive", "age": "quasi-identifier", "gender": "quasi-identifier"}
    read = lc.read(lc.sample("cps1985"), roles=roles)
    release = lc.release(read, "additive", seed=7)
    (after,), (before,) = homogeneity(pair_from(read, release)), lc.inspect(read).homogeneous
    assert str(before) in str(lc.inspect(read))
    for text in (str(release), "\n".join(homogeneous_sentences([after], [before]))):
        assert "Attribute disclosure of sector" in text
        assert f"{after.people} of 534 rows" in text
        assert f"{before.people} and {before.alone} people" in text
    assert "Attribute disclosure of" not in str(lc.release(lc.read(lc.sample("cps1985")), "additive", seed=7))
