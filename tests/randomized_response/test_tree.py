"""Trees from disguised answers: ID3 from plain counts, and no chasing of noise."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import leafcover as lc
from leafcover.errors import LeafcoverError, NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.randomized_response import (
    PAPER,
    DisguisedColumns,
    Groups,
    Kary,
    OneCoin,
    Scheme,
    StoppingRules,
    UnrelatedQuestion,
    Warner,
    disguise,
    grow_tree,
)
from leafcover.randomized_response.tree import noise_p_value, shared_out
from leafcover.randomized_response.tree_counts import Fringe
from leafcover.randomized_response.tree_entries import answers
from leafcover.table.io import sample
from leafcover.table.table import Column, Table
from leafcover.tree.export import text
from leafcover.tree.predict import errors_on
from tests.naive_response_tree import id3, nested
from tests.randomized_response.answers import YES_NO
from tests.randomized_response.mechanisms import DRAWS
from tests.randomized_response.trees import binary, coin_each, letters, one_coin, same
from tests.tables import category, number, table


@given(st.integers(0, 9999), st.integers(1, 60), st.integers(1, 5))
def test_plain_counts_give_id3(seed, rows, columns):
    plain = binary(rows, columns, seed)
    codes = np.stack([plain[name].values for name in letters(columns)]).T.tolist()
    tree = grow_tree(plain, Scheme(), target="class", rules=PAPER)
    expected = id3([row[:-1] for row in codes], [row[-1] for row in codes], [2] * columns, list(range(columns)))
    assert nested(tree) == expected


@settings(max_examples=20)
@given(
    st.integers(0, 9999), st.sampled_from([PAPER, StoppingRules(), StoppingRules(criterion="ratio", significance=0.5)])
)
def test_a_coin_that_always_falls_alike_gives_exactly_the_plain_tree(seed, rules):
    plain = binary(300, 5, seed)
    expected = grow_tree(plain, Scheme(), target="class", rules=rules)
    for theta in (0.0, 1.0):
        groups = Scheme(
            DisguisedColumns(dict.fromkeys(letters(5), YES_NO), Groups(theta, ((0, 3), (1, 5), (2,), (4,))))
        )
        for scheme in (one_coin(theta, 5), coin_each(theta, 5), groups):
            tree = grow_tree(disguise(plain, scheme, DRAWS), scheme, target="class", rules=rules)
            for field in ("tested", "first", "counts", "label", "errors"):
                np.testing.assert_array_equal(getattr(tree, field), getattr(expected, field))


def test_many_levels_without_a_disguise_are_the_plain_tree_too():
    plain = lc.read(sample("adult")).select(["relationship", "education", "sex", "workclass", "income"])
    scheme = Scheme(
        DisguisedColumns({"education": plain["education"].levels}, Kary(1.0, len(plain["education"].levels))),
        DisguisedColumns({"sex": plain["sex"].levels}, UnrelatedQuestion(1.0, alpha=0.5)),
        DisguisedColumns({"relationship": plain["relationship"].levels}, Kary(0.999, 6)),
        DisguisedColumns({"income": plain["income"].levels}, Warner(1.0)),
    )
    expected = grow_tree(plain, Scheme(), target="income")
    assert expected.size > 50
    assert (expected.branches[:1] == 6).all()
    reported = disguise(plain, Scheme(*scheme.parts[:2], scheme.parts[3]), DRAWS)
    same(grow_tree(reported, Scheme(*scheme.parts[:2], scheme.parts[3]), target="income"), expected)
    nearly = grow_tree(disguise(plain, scheme, DRAWS), scheme, target="income")
    assert nearly.tested[0] == expected.tested[0]


def test_by_hand():
    """One coin of 3/4 over x and class; 8 reports. w = 3/2 for a report that meets, -1/2 for its complement.

    Reports (x, class): 11 four times, 00 twice, 10 once, 01 once. Counts of truths: 11: 6 - 1 = 5, 00: 3 - 2 = 1,
    10: 3/2 - 1/2 = 1, 01: 1. So of 8 people 6 have x = 1, five of these class 1.
    """
    x, label = [1, 1, 1, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 0, 0, 1]
    reported = table(category("x", [YES_NO[v] for v in x]), category("class", [YES_NO[v] for v in label]))
    scheme = Scheme(DisguisedColumns({"x": YES_NO, "class": YES_NO}, OneCoin(0.75, 2)))
    tree = grow_tree(reported, scheme, target="class", rules=PAPER)
    np.testing.assert_allclose(tree.counts, [[2, 6], [1, 1], [1, 5]])
    assert text(tree) == "x = no: no (2.0/1.0)\nx = yes: yes (6.0/1.0)\n"


@given(st.integers(0, 999), st.floats(0.55, 0.95))
def test_what_a_tree_shows_is_never_negative_and_adds_up(seed, theta):
    scheme = one_coin(theta, 4)
    reported = disguise(binary(200, 4, seed), scheme, DRAWS.sub(str(seed)))
    tree = grow_tree(reported, scheme, target="class", rules=PAPER)
    assert tree.counts.min() >= 0
    assert tree.counts[0].sum() == pytest.approx(200)
    for node in np.flatnonzero(tree.tested >= 0):
        children = slice(tree.first[node], tree.first[node] + tree.branches[node])
        np.testing.assert_allclose(tree.counts[children].sum(axis=0), tree.counts[node], atol=1e-9)


MECHANISMS = {
    "plain": Scheme,
    "one coin": lambda: one_coin(0.7, 2),
    "one coin, open class": lambda: Scheme(DisguisedColumns({"a": YES_NO, "b": YES_NO}, OneCoin(0.7, 2))),
    "a coin each": lambda: coin_each(0.8, 2),
    "class alone": lambda: Scheme(DisguisedColumns({"class": YES_NO}, Warner(0.7))),
    "unrelated": lambda: Scheme(
        DisguisedColumns({"b": YES_NO}, UnrelatedQuestion(0.5, 0.4)),
        DisguisedColumns({"class": YES_NO}, UnrelatedQuestion(0.6, 0.5)),
    ),
}


@cache
def unrelated(mechanism):
    """Roots of many tables in which nothing has to do with anything else."""
    scheme, found = MECHANISMS[mechanism](), []
    for run in range(400):
        rng = np.random.default_rng(run)
        codes = (rng.random((3, 1500)) < np.array([[0.5], [0.4], [0.35]])).astype(np.int32)
        truth = Table(tuple(Column(n, "category", c, YES_NO) for n, c in zip(("a", "b", "class"), codes, strict=True)))
        reported = disguise(truth, scheme, DRAWS.sub(mechanism, str(run)))
        found.append(Fringe.root(answers(reported, scheme, ("a", "b", "class"))))
    return found


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("deep", [False, True], ids=["root", "below a test"])
def test_noise_alone_is_as_surprising_as_it_is_said_to_be(mechanism, deep):
    """Where column and class have nothing to do with each other, the chances are spread evenly from 0 to 1."""
    chances = []
    for root in unrelated(mechanism):
        fringe = root.children(np.array([0])) if deep else root
        held = np.maximum(fringe.classes().counts[:, 0, :], 0)
        tally = fringe.column(1)
        chances.append(noise_p_value(tally, shared_out(tally.counts, held))[0][0])
    assert stats.kstest(chances, "uniform").pvalue > 1e-4
    spread = (stats.norm.isf(np.array(chances) / 2) ** 2).mean()
    low, high = stats.chi2.ppf([5e-6, 1 - 5e-6], 400) / 400
    assert low < spread < high
    for factor in (0.6, 1.6):  # a noise told that far off is caught
        assert not low < spread * factor < high


@pytest.mark.parametrize("mechanism", [None, Kary(0.5, 4)], ids=["open", "disguised"])
def test_with_many_levels_noise_passes_about_as_often_as_it_is_said_to(mechanism):
    """The correction is one of the first order: 5 % are between 2 and 10 of 100, not 0 and not 20."""
    town, label = (
        DisguisedColumns({"town": tuple("pqrs")}, mechanism or Kary(1.0, 4)),
        DisguisedColumns({"class": YES_NO}, Warner(0.8)),
    )
    scheme, passed = Scheme(town, label) if mechanism else Scheme(label), 0
    for run in range(300):
        rng = np.random.default_rng(run)
        codes = rng.choice(4, 2000, p=[0.7, 0.2, 0.07, 0.03]).astype(np.int32)
        truth = Table(
            (
                Column("town", "category", codes, tuple("pqrs")),
                Column("class", "category", (rng.random(2000) < 0.3).astype(np.int32), YES_NO),
            )
        )
        reported = disguise(truth, scheme, DRAWS.sub(str(run)))
        passed += grow_tree(reported, scheme, target="class", rules=StoppingRules("gain", 0, 0, 0.05)).size > 1
    assert 6 <= passed <= 30


def test_noise_is_not_chased_and_what_is_there_is_found():
    found = {"noise": 0, "signal": 0}
    for run in range(60):
        rng = np.random.default_rng(run)
        codes = (rng.random((9, 4000)) < 0.5).astype(np.int32)
        for kind in found:
            if kind == "signal":
                codes[8] = np.where(rng.random(4000) < 0.5, codes[3], codes[8])
            names = letters(8)
            truth = Table(tuple(Column(n, "category", c, YES_NO) for n, c in zip(names, codes, strict=True)))
            scheme = one_coin(0.7, 8)
            tree = grow_tree(disguise(truth, scheme, DRAWS.sub(str(run))), scheme, target="class")
            found[kind] += tree.size > 1 and (kind == "noise" or tree.tested[0] == 3)
    assert found["noise"] <= 9  # 5 % of 60 is 3; more than 9 has a chance of 0.001
    assert found["signal"] == 60


def test_support_and_its_error_stop_a_tree():
    scheme = one_coin(0.7, 5)
    truth = binary(2000, 5, 3)
    reported = disguise(truth, scheme, DRAWS)
    loose = grow_tree(reported, scheme, target="class", rules=PAPER)
    for rules in (
        StoppingRules(min_support=300, deviations=0, significance=1),
        StoppingRules(min_support=0, deviations=6, significance=1),
    ):
        tree = grow_tree(reported, scheme, target="class", rules=rules)
        assert 1 < tree.size < loose.size
        if rules.min_support:
            assert tree.counts[tree.tested >= 0].sum(axis=1).min() > 250  # clipped and shared out, they move a little
    pure = grow_tree(truth, Scheme(), target="class", rules=StoppingRules("gain", 0, 0, 1, purity=0.8))
    shares = pure.counts.max(axis=1) / pure.counts.sum(axis=1).clip(1)
    assert shares[pure.tested >= 0].max() < 0.8
    assert grow_tree(truth, Scheme(), target="class", rules=StoppingRules(max_depth=0)).size == 1


def test_sound_rules_answer_better_than_the_papers_way():
    adult = lc.read(sample("adult"))
    columns = [adult[name] for name in ("sex", "relationship", "race", "workclass", "income")]
    two = [Column(c.name, "category", (c.values == c.values[0]).astype(np.int32), YES_NO) for c in columns]
    truth = Table(tuple(two))
    scheme = Scheme(DisguisedColumns(dict.fromkeys(truth.names, YES_NO), OneCoin(0.55, 5)))
    wrong = {"paper": 0, "sound": 0}
    for run in range(10):
        reported = disguise(truth.take(np.arange(3000)), scheme, DRAWS.sub(str(run)))
        for name, rules in (("paper", PAPER), ("sound", StoppingRules())):
            wrong[name] += errors_on(grow_tree(reported, scheme, target="income", rules=rules), truth)
    assert wrong["sound"] < wrong["paper"]


def test_the_ratio_prefers_few_levels():
    rng = np.random.default_rng(0)
    rows = 600
    yes = rng.random(rows) < 0.5
    two = np.where(rng.random(rows) < 0.85, yes, ~yes)
    many = np.where(yes, rng.integers(0, 30, rows), rng.integers(22, 52, rows))
    columns = category("many", [f"{v:02d}" for v in many]), category("two", [YES_NO[int(v)] for v in two])
    others = [category(name, rng.choice(YES_NO, rows).tolist()) for name in "uvw"]  # keep the average gain low
    plain = table(*columns, *others, category("class", [YES_NO[int(v)] for v in yes]))
    rules = StoppingRules(min_support=0, deviations=0, significance=1, max_depth=1)
    assert grow_tree(plain, Scheme(), target="class", rules=rules).tested[0] == 0
    assert grow_tree(plain, Scheme(), target="class", rules=StoppingRules("ratio", 0, 0, 1, max_depth=1)).tested[0] == 1


def test_rows_without_a_class_teach_nothing_and_those_without_an_answer_are_shared_out():
    plain = table(
        category("x", ["no", "no", "yes", "yes", None, "yes"]),
        category("class", ["a", "a", "b", "a", "b", None]),
    )
    tree = grow_tree(plain, Scheme(), target="class", rules=PAPER)
    assert tree.counts[0].tolist() == [3, 2]
    # Of class a two answer no and one yes; the one of class b who answers says yes, and so goes the other.
    assert tree.counts[1:].tolist() == [[2, 0], [1, 2]]
    # Gain is that of the rows that answer, times their share: x is known for 4 of 5.
    other = table(*plain.columns, category("z", ["no", "no", "yes", "yes", "yes", None]))
    assert grow_tree(other, Scheme(), target="class", rules=PAPER).tested[0] == 1


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"target": "nothing"}, NameUnknown),
        ({"attributes": ["a", "nothing"]}, NameUnknown),
        ({"attributes": []}, PlanError),
        ({"attributes": ["a", "a"]}, PlanError),
        ({"attributes": ["a", "class"]}, PlanError),
        ({"attributes": ["a", "age"]}, PlanError),
    ],
)
def test_what_no_tree_can_grow_from_is_refused(change, kind):
    given = table(category("a", ["x", "y"]), number("age", [1, 2]), category("class", ["p", "q"]))
    with pytest.raises(kind) as refused:
        grow_tree(given, Scheme(), **({"target": "class", "attributes": ["a"]} | change))
    assert "\n" not in str(refused.value)


def test_a_table_without_classes_and_an_unknown_mechanism_over_several_columns_are_refused():
    empty = table(category("a", ["x", "y"]), category("class", [None, None]))
    with pytest.raises(TableError, match="No row has a value in"):
        grow_tree(empty, Scheme(), target="class")

    class Strange:
        shape = (2, 2)

    with pytest.raises(PlanError, match="one mechanism per column, or columns that share a coin"):
        grow_tree(binary(50, 2, 0), Scheme(DisguisedColumns({"a": YES_NO, "b": YES_NO}, Strange())), target="class")


@pytest.mark.parametrize(
    "wrong",
    [
        {"criterion": "gini"},
        {"min_support": -1},
        {"deviations": float("nan")},
        {"significance": 0},
        {"purity": 1.5},
        {"max_depth": -1},
    ],
)
def test_rules_that_are_none_are_refused(wrong):
    with pytest.raises((ValueOutOfRange, NameUnknown)) as refused:
        StoppingRules(**wrong)
    assert isinstance(refused.value, LeafcoverError)
