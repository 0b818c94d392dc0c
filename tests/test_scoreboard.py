"""The scoreboard's own methods and words: what rivals are measured by must itself be right."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.scoreboard import labels, methods, outside, page, picture, rivals, summary, words, works
from benchmarks.scoreboard.contenders import CONTENDERS, Contender
from benchmarks.scoreboard.methods import (
    group_means,
    mdav,
    sequential_cart,
    standardised,
)
from benchmarks.scoreboard.outcome import CouldNot, Outcome, Split
from benchmarks.scoreboard.score import Attempt, Score, Share
from benchmarks.scoreboard.scoring import OTHERS, Judge
from benchmarks.scoreboard.store import Store
from benchmarks.scoreboard.summary import FIGURES, Summary, front, summarised, verdict
from hypothesis import given
from hypothesis import strategies as st

from leafcover.perturb.pram import Pram
from leafcover.perturb.swap import RankSwap
from leafcover.table.io import read, sample
from tests.data import table_path

FIGURE = {figure.words: figure for figure in FIGURES}


def test_mdav_by_hand():
    """The farthest from the mean 6 is 0 or 12; each takes its two neighbours, and nothing is left."""
    values = np.array([0.0, 10.0, 1.0, 11.0, 2.0, 12.0])
    group = mdav(values[:, None], 3)
    assert group_means(values, group).tolist() == [1.0, 11.0, 1.0, 11.0, 1.0, 11.0]


@given(st.integers(1, 120), st.integers(1, 3), st.integers(1, 10), st.integers(0, 99), st.booleans())
def test_mdav_groups_have_k_rows_at_least_and_fewer_than_2k(rows, columns, k, seed, tied):
    numbers = np.random.default_rng(seed).normal(size=(rows, columns))
    sizes = np.bincount(mdav(numbers.round() if tied else numbers, k))
    assert sizes.sum() == rows
    assert sizes.min() >= min(k, rows)
    assert sizes.max() < 2 * k or rows < 2 * k


@pytest.mark.parametrize(("name", "k", "loss"), [("casc_tarragona", 3, 16.9326), ("casc_census", 10, 14.1559)])
def test_mdav_loses_what_the_literature_prints(name, k, loss):
    """The share of the squared distances that is lost inside groups, in per cent, on the usual two tables."""
    table = read(table_path(name))
    numbers = standardised(np.column_stack([column.values for column in table if not column.is_category]))
    group = mdav(numbers, k)
    means = np.column_stack([group_means(values, group) for values in numbers.T])
    assert 100 * ((numbers - means) ** 2).sum() / (numbers**2).sum() == pytest.approx(loss, abs=0.002)


def test_sequential_cart_keeps_what_a_tree_of_the_columns_before_explains():
    """The second column is the first one's sign, the third their sum: leaves of five rows at least keep both."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=4_000)
    second = (first > 0).astype(np.int32)
    columns = sequential_cart([first, second, first + second, rng.normal(size=4_000)], [False, True, False, False], rng)
    assert (columns[1] == (columns[0] > 0)).all()
    assert np.corrcoef(columns[2], columns[0] + columns[1])[0, 1] > 0.99
    assert abs(np.corrcoef(columns[3], columns[0])[0, 1]) < 0.1
    assert set(columns[0]) <= set(first)
    assert len(set(columns[0])) / 4_000 == pytest.approx(1 - np.exp(-1), abs=0.02)  # drawn with replacement


def test_sequential_cart_draws_from_leaves_of_five_rows_at_least():
    """Five rows a level are one leaf: every value of it is drawn, and no other."""
    first = np.repeat(np.arange(40, dtype=np.int32), 5)
    second = np.arange(200.0)
    made = sequential_cart([first, second], [True, False], np.random.default_rng(1))
    apart = np.abs(made[1] // 5 - made[0])
    assert apart.mean() < 1.5  # leaves may hold several neighbouring levels
    assert len(np.unique(made[1])) > 100


def test_a_classical_plan_changes_numbers_and_categories():
    split = adult(1_200)
    made = works.classical(RankSwap(0.1), Pram(0.2))(split, False).release
    assert set(made.plan.columns) == set(split.train.names)
    assert made.promises["age"] == ("permuted",)
    assert made.promises["occupation"] == ("drawn",)


def test_synthesised_rows_are_nobodys_and_look_like_the_table():
    split = adult(600)
    made = works.synthesised(split, False)
    assert not made.paired
    assert made.table.names == split.train.names
    assert set(made.table["occupation"].values) <= set(split.train["occupation"].values)


def test_a_generalised_value_is_mined_by_what_is_published():
    rng = np.random.default_rng(0)
    assert rivals.middle_or_any(np.array([1, 2, 7]), True, rng) == 4
    assert set(rivals.middle_or_any(np.array(["b", "b", "a"] * 50), False, rng)) == {"a", "b"}
    assert rivals.mean_or_most_frequent(np.array([1, 2, 6]), True, rng) == 3
    assert rivals.mean_or_most_frequent(np.array(["b", "a", "b"]), False, rng) == "b"


def test_a_rival_without_its_environment_could_not_be_installed(tmp_path, monkeypatch):
    monkeypatch.setattr(outside, "FOLDER", tmp_path)
    monkeypatch.setattr(outside, "INTERPRETER", tmp_path / "nothing")
    with pytest.raises(CouldNot, match="could not be installed"):
        outside.outside(adult(100), "pram")


def adult(rows):
    table = read(sample("adult"))
    return Split(0, table.take(np.arange(rows)), table.take(np.arange(rows, 2 * rows)))


def test_a_judge_gives_the_original_full_marks_and_apart_columns_none():
    split = adult(800)
    judge = Judge(split)
    same = judge.score(works.by_column(works.as_it_is, works.as_it_is)(split, False))
    assert same.agreement == same.others == 1
    copy = Summary(Contender("copy", "yardstick", "", None), (same,))
    assert copy.value("linkage") > 0.99
    assert copy.value("inference") > 0.5
    assert copy.value("area") > 0.99
    assert copy.value("found") > 0.9
    assert copy.value("copies") > 0.5
    assert "unique" in copy.copied
    apart = judge.score(works.by_column(works.permuted, works.permuted)(split, False))
    assert apart.agreement < same.agreement
    assert apart.others < 0.8
    shuffled = Summary(Contender("apart", "yardstick", "", None), (apart,))
    assert shuffled.value("linkage") < 0.02
    assert shuffled.value("inference", "occupation") < 0.1
    assert shuffled.value("copies") < 0.02
    model = judge.score(Outcome(1.0, answers=split.test.select(("income", *OTHERS))))  # the truth as a model
    assert model.accuracy == 1
    assert model.attempts == ()


def test_a_judge_attacks_our_recipes_with_the_plan_and_synthetic_tables_without_pairs():
    split = adult(400)
    judge = Judge(split)
    ours = judge.score(works.ours("cover")(split, False))
    assert {"plan known", "regrown", "nearest row", "forest"} <= attacks(ours, "inference")
    assert {"plan known", "regrown", "distance", "values", "classifier"} == attacks(ours, "area")
    assert not attacks(ours, "linkage")  # nobody's row
    synthetic = judge.score(works.synthesised(split, False))
    assert {"regrown", "nearest row", "forest"} == attacks(synthetic, "inference")
    assert not attacks(synthetic, "linkage")
    assert not judge.score(works.resampled(split, False)).attempts
    assert Score.of(ours.plain()) == ours


def attacks(score, kind):
    return {one.attack for one in score.attempts if one.kind == kind}


def test_microaggregated_numbers_are_shared_by_twenty_rows():
    released = works.microaggregated(adult(500), False).table
    numbers = np.column_stack([column.values for column in released if not column.is_category])
    assert np.unique(numbers, axis=0, return_counts=True)[1].min() >= works.K


def score(agreement, risk, cpu=1.0, copied=(), **more):
    """Everybody is attacked twice: `risk` above control by the nearest row, half of it by a forest."""
    attempts = [
        Attempt("inference", attack, Share(0.3 + above, 100), Share(0.3, 100), column)
        for column in ("occupation", "income")
        for attack, above in (("forest", risk / 2), ("nearest row", risk))
    ]
    attempts += [Attempt(kind, "distance", Share(0.5 + risk / 2, 100)) for kind in ("area", "found")]
    attempts.append(Attempt("copies", "whole records", Share(0.1 + risk, 100), Share(0.1, 100)))
    return replace(Score(0.8, agreement, agreement, cpu, 0.0, tuple(attempts), copied), **more)


def row(name, family, *scores):
    return Summary(Contender(name, family, "About it.", None), scores)


def test_a_verdict_needs_a_difference_beyond_the_margin():
    ours = row("ours", "ours", score(0.9, 0.05), score(0.91, 0.06))
    good = row("good", "textbook", score(0.95, 0.01), score(0.955, 0.015))
    near = row("near", "textbook", score(0.9, 0.06), score(0.92, 0.07))
    assert verdict(good, ours, FIGURE["agreement"]) == "better"
    assert verdict(ours, good, FIGURE["agreement"]) == "worse"
    assert verdict(good, ours, FIGURE["largest inference"]) == "better"
    assert verdict(ours, good, FIGURE["inference of income"]) == "worse"
    assert verdict(near, ours, FIGURE["agreement"]) == "alike"
    assert verdict(near, ours, FIGURE["largest inference"]) == "alike"
    assert verdict(ours, ours, FIGURE["accuracy"]) == "alike"
    model = row("model", "installed", *(replace(one, attempts=()) for one in ours.scores))
    assert verdict(model, ours, FIGURE["largest inference"]) is None
    assert verdict(row("nothing", "installed"), ours, FIGURE["agreement"]) is None


def test_a_verdict_uses_the_splits_that_both_have():
    ours = row("ours", "ours", score(0.9, 0.05), score(0.8, 0.05))
    assert verdict(row("short", "textbook", score(0.9, 0.05)), ours, FIGURE["agreement"]) == "alike"


def test_the_front_holds_those_that_nobody_beats_twice():
    rows = [row(*given) for given in (("a", "ours", score(0.9, 0.02)), ("b", "ours", score(0.95, 0.5)),
            ("beaten", "ours", score(0.89, 0.03)), ("c", "ours", score(0.5, 0.0)))]  # fmt: skip
    assert [one.name for one in front(rows, "agreement")] == ["c", "a", "b"]


def test_attacks_are_averaged_over_splits_before_the_largest_is_taken():
    def one(column, above):
        return Attempt("inference", "forest", Share(0.3 + above, 100), Share(0.3, 100), column)

    first, second = ((one("sex", 0.3), one("race", 0.1)), (one("sex", -0.1), one("race", 0.15)))
    found = row("a", "ours", score(0.9, 0.1, attempts=first), score(0.9, 0.1, attempts=second))
    assert found.strongest("inference").column == "race"
    assert found.value("inference") == pytest.approx(0.125)
    assert found.value("inference", "sex") == pytest.approx(0.1)
    assert found.strongest("linkage") is None
    assert row("b", "ours", score(0.9, 0.2)).strongest("inference").attack == "nearest row"


def board():
    ours = [score(0.94 + x, 0.02 + x) for x in (0.0, 0.002)]
    worse = [score(0.85 + x, 0.4 + x, cpu=9.0, copied=("unique", "block")) for x in (0.0, 0.001)]
    model = [Score(0.75, 0.8, 0.6, 2.0)] * 2
    return [
        row("cover", "ours", *ours),
        row("detective", "ours", *worse),
        row("twin", "textbook", *ours),
        row("worse", "installed", *worse),
        row("model", "installed", *model),
        summarised(Contender("broken", "installed", "About it.", None), [ours[0], "could not be installed"]),
        summarised(Contender("later", "installed", "About it.", None), [None, None]),
        row("half", "textbook", ours[0]),
        row("a fresh sample", "yardstick", *model),
    ]


def test_the_page_says_where_a_rival_is_as_good_and_what_could_not_run():
    text = page.page(board(), 2)
    assert "| twin |" + " *as good* |" * len(FIGURES) in text
    assert "| worse | *as good* |" + " worse |" * (len(FIGURES) - 1) in text
    assert "| model | worse | worse | worse | – | – | – | – | – | – |" in text
    assert "largest inference at once: twin; half." in text
    assert "| broken | could not be installed |" in text
    assert "**broken** could not be installed." in text
    assert "Not measured yet, and left out of the tables: later." in text
    assert "| later |" not in text
    assert "2 random splits" in text
    assert "Measured on fewer splits: half." in text
    assert "| model | releases no table |" in text
    assert "Our own recipes with a column inferred more than 0.07 above control: detective (0.40" in text
    assert "Other methods with a column inferred more than 0.07 above control: worse (0.40" in text
    assert "Methods without copies that chance does not explain: cover; twin; half." in text
    assert "unique records; parts of records" in text
    assert "occupation, nearest row" in text
    assert "(floor 0.800)" in text


def test_no_rival_is_said_to_be_as_good_when_none_is():
    text = page.page([one for one in board() if one.name not in ("twin", "half")], 2)
    assert "No rival is as good as `cover`" in text


def test_every_kind_of_copies_has_words():
    from typing import get_args

    from leafcover.metrics.disclosure.copies import Kind

    assert set(words.COPIES) == set(get_args(Kind))


def test_tables_have_as_many_cells_in_every_line():
    blocks = [block.splitlines() for block in page.page(board(), 2).split("\n\n") if block.startswith("| ")]
    assert len(blocks) == 4
    for block in blocks:
        assert len({line.count("|") for line in block}) == 1


def test_the_picture_is_the_same_each_time(tmp_path):
    for name in ("one.svg", "two.svg"):
        picture.picture(board(), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_names_find_places_where_they_do_not_overlap():
    """Both names would rather stand at the right, the first one's own left place is taken by something that stays."""
    right, left, away = [0, 0, 4, 1], [-4, 0, 0, 1], [0, 9, 4, 10]
    boxes = np.array([[right, left, away], [[1, 0, 5, 1], [-3, 5, 1, 6], away]], float)
    own = np.array([[0, 101, 2], [0, 1, 2]], float)
    places = labels.chosen(boxes, own)
    assert places.tolist() == [0, 1]
    assert labels.overlaps(boxes[0], boxes[1]).tolist() == [[True, False, False], [False] * 3, [False, False, True]]


def test_scores_are_kept_by_method_and_split(tmp_path):
    contender = Contender("a", "ours", "About it.", None)
    Store(tmp_path / "scores.json").put(contender, 0, score(0.9, 0.2, copied=("unique",)))
    Store(tmp_path / "scores.json").put(contender, 1, "could not be installed")
    again = Store(tmp_path / "scores.json")
    again.put(contender, 3, score(0.9, 0.1))
    assert again.get(contender, 3) == score(0.9, 0.1)  # before it went through the file, too
    assert again.get(contender, 0) == score(0.9, 0.2, copied=("unique",))
    assert again.get(contender, 1) == "could not be installed"
    assert again.get(contender, 2) is None
    assert again.get(replace(contender, about="Otherwise."), 0) is None


def test_every_name_is_there_once():
    names = [contender.name for contender in CONTENDERS]
    assert len(set(names)) == len(names)
    assert {words.OURS, words.FLOOR} <= set(names)


@pytest.mark.parametrize("module", [methods, summary, words])
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_the_command_writes_page_and_picture(monkeypatch, tmp_path):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # the script sets them when it is imported
    from benchmarks.scoreboard import run

    monkeypatch.setattr("sys.argv", ["run.py", "--splits", "2"])
    monkeypatch.setattr(run, "DOCS", tmp_path)
    monkeypatch.setattr(run.os, "nice", lambda by: None)
    monkeypatch.setattr(run, "scores", lambda contenders, splits, fresh, stored: [(splits, fresh)])
    monkeypatch.setattr(run, "picture", lambda found, path: path.write_text("drawn", "utf-8"))
    monkeypatch.setattr(run, "page", lambda found, splits: f"{found} {splits}")
    run.main()
    assert (tmp_path / "scoreboard.md").read_text("utf-8") == "[(2, False)] 2"
    assert (tmp_path / "scoreboard.svg").read_text("utf-8") == "drawn"
