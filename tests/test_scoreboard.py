"""The scoreboard's own methods and words: what rivals are measured by must itself be right."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.scoreboard import labels, methods, outside, page, picture, rivals, summary, words, works
from benchmarks.scoreboard.contenders import CONTENDERS, Contender
from benchmarks.scoreboard.methods import additive_noise, group_means, mdav, post_randomise, rank_swap, standardised
from benchmarks.scoreboard.outcome import CouldNot, Outcome, Split
from benchmarks.scoreboard.score import Score, Share
from benchmarks.scoreboard.scoring import OTHERS, Judge
from benchmarks.scoreboard.store import Store
from benchmarks.scoreboard.summary import FIGURES, Summary, front, summarised, verdict
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

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


def test_rank_swap_by_hand():
    """A quarter of four rows is one rank: the lowest changes with its neighbour, then the third with the fourth."""
    values = np.array([30.0, 10.0, 40.0, 20.0])
    assert rank_swap(values, 0.25, np.random.default_rng(0)).tolist() == [40.0, 20.0, 30.0, 10.0]


@given(st.integers(1, 300), st.floats(0.01, 0.9), st.integers(0, 99))
def test_rank_swap_moves_no_value_further_than_its_reach(rows, reach, seed):
    rng = np.random.default_rng(seed)
    ranks = rng.permutation(rows).astype(float)
    swapped = rank_swap(ranks, reach, rng)
    assert sorted(swapped) == sorted(ranks)
    assert np.abs(swapped - ranks).max() <= max(1, int(reach * rows))
    assert (swapped[np.argsort(ranks)][swapped[np.argsort(ranks)].astype(int)] == np.arange(rows)).all()  # in pairs


def test_rank_swap_uses_its_reach():
    ranks = np.arange(5_000.0)
    moved = np.abs(rank_swap(ranks, 0.1, np.random.default_rng(0)) - ranks)
    assert (moved > 0).mean() > 0.95
    assert 0.3 * 500 < moved.mean() < 0.7 * 500


@pytest.mark.parametrize(("scale", "right"), [(1.0, True), (0.9, False), (1.1, False)])
def test_additive_noise_is_normal_with_its_share_of_the_standard_deviation(scale, right):
    values = np.random.default_rng(1).exponential(7.0, 100_000)
    noise = additive_noise(values, 0.5, np.random.default_rng(2)) - values
    found = kstest(noise / (0.5 * values.std(ddof=1) * scale), "norm").pvalue
    assert (found > 1e-6) == right


def test_post_randomising_keeps_frequencies_and_changes_its_share():
    """A redrawn code equals the old one with the sum of the squared frequencies, here 0.25 + 0.09 + 0.04 = 0.38."""
    codes = np.repeat(np.array([0, 1, 2], np.int32), [50_000, 30_000, 20_000])
    changed = post_randomise(codes, 0.4, np.random.default_rng(0))
    assert np.bincount(changed) / len(codes) == pytest.approx([0.5, 0.3, 0.2], abs=0.005)
    assert (changed != codes).mean() == pytest.approx(0.4 * (1 - 0.38), abs=0.005)
    assert (post_randomise(codes, 0.0, np.random.default_rng(0)) == codes).all()


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
    split = adult(1_500)
    judge = Judge(split)
    same = judge.score(works.by_column(works.as_it_is, works.as_it_is)(split, False))
    assert same.agreement == same.others == 1
    assert same.gower.value > 0.99
    assert same.learned.value > 0.99
    apart = judge.score(works.by_column(works.permuted, works.permuted)(split, False))
    assert apart.agreement < same.agreement
    assert apart.others < 0.8
    assert apart.gower.value < 0.02
    assert apart.learned.value < 0.02
    assert apart.occupation[0].value - apart.occupation[1].value < 0.1 < same.occupation[0].value
    model = judge.score(Outcome(1.0, answers=split.test.select(("income", *OTHERS))))  # the truth as a model
    assert model.accuracy == 1
    assert model.gower is None


def test_microaggregated_numbers_are_shared_by_twenty_rows():
    released = works.microaggregated(adult(500), False).table
    numbers = np.column_stack([column.values for column in released if not column.is_category])
    assert np.unique(numbers, axis=0, return_counts=True)[1].min() >= works.K


def score(agreement, linkage, cpu=1.0, **more):
    risk = {"gower": Share(linkage, 100), "learned": Share(linkage, 100)}
    risk |= {name: (Share(0.5, 100), Share(0.4, 100)) for name in ("occupation", "income")}
    return Score(0.8, agreement, agreement, cpu, **(risk | more))


def row(name, family, *scores):
    return Summary(Contender(name, family, "About it.", None), scores)


def test_a_verdict_needs_a_difference_in_every_direction():
    ours = row("ours", "ours", score(0.9, 0.02), score(0.91, 0.03), score(0.92, 0.02))
    good = row("good", "textbook", score(0.95, 0.01), score(0.955, 0.015), score(0.97, 0.01))
    noisy = row("noisy", "textbook", score(0.8, 0.5), score(1.0, 0.5), score(0.93, 0.5))
    assert verdict(good, ours, FIGURE["agreement"]) == "better"
    assert verdict(ours, good, FIGURE["agreement"]) == "worse"
    assert verdict(good, ours, FIGURE["maximum-knowledge linkage"]) == "better"
    assert verdict(noisy, ours, FIGURE["agreement"]) == "alike"
    assert verdict(noisy, ours, FIGURE["Gower linkage"]) == "worse"
    assert verdict(ours, ours, FIGURE["accuracy"]) == "alike"
    model = row("model", "installed", *(replace(one, gower=None, learned=None) for one in ours.scores))
    assert verdict(model, ours, FIGURE["Gower linkage"]) is None


def test_the_front_holds_those_that_nobody_beats_twice():
    rows = [row(*given) for given in (("a", "ours", score(0.9, 0.02)), ("b", "ours", score(0.95, 0.5)),
            ("beaten", "ours", score(0.89, 0.03)), ("c", "ours", score(0.5, 0.0)))]  # fmt: skip
    assert [one.name for one in front(rows, "agreement")] == ["c", "a", "b"]


def test_the_informed_figure_is_the_better_attackers():
    found = row("a", "ours", score(0.9, 0.02, by_plan=Share(0.1, 50)), score(0.9, 0.02, by_plan=Share(0.2, 50)))
    assert found.informed.value == pytest.approx(0.15)
    assert found.informed.tries == 100
    assert found.above_control("income").value == pytest.approx(0.1)


def board():
    ours = [score(0.94 + x, 0.02 + x, by_plan=Share(0.02 + x, 100)) for x in (0.0, 0.002, 0.001)]
    worse = [score(0.85 + x, 0.4 + x, cpu=9.0) for x in (0.0, 0.001, 0.002)]
    model = [Score(0.75, 0.8, 0.6, 2.0)] * 3
    return [
        row("cover, k = 20", "ours", *ours),
        row("detective", "ours", *worse),
        row("twin", "textbook", *ours),
        row("worse", "installed", *worse),
        row("model", "installed", *model),
        summarised(Contender("broken", "installed", "About it.", None), [ours[0], "could not be installed", ours[0]]),
        row("a fresh sample", "yardstick", *model),
    ]


def test_the_page_says_where_a_rival_is_as_good_and_what_could_not_run():
    text = page.page(board(), 3)
    assert "| twin | *as good* | *as good* | *as good* | *as good* | *as good* |" in text
    assert "| worse | *as good* | worse | worse | worse | worse | *as good* | *as good* | worse |" in text
    assert "| model | worse | worse | worse | – | – | – | – | worse |" in text
    assert "maximum-knowledge linkage at once: twin." in text
    assert "| broken | could not be installed |" in text
    assert "**broken** could not be installed." in text
    assert "| model | releases no table |" in text
    assert "| worse | 0.800 (0.800 to 0.800) | 0.851 (0.849 to 0.853) |" in text
    assert "finds more than 5 % of the people: detective (0.40)" in text
    assert "(floor 0.800)" in text


def test_no_rival_is_said_to_be_as_good_when_none_is():
    text = page.page([one for one in board() if one.name != "twin"], 3)
    assert "No rival is as good as `cover, k = 20`" in text


def test_tables_have_as_many_cells_in_every_line():
    blocks = [block.splitlines() for block in page.page(board(), 3).split("\n\n") if block.startswith("| ")]
    assert len(blocks) == 3
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
    Store(tmp_path / "scores.json").put(contender, 0, score(0.9, 0.1, by_plan=Share(0.1, 5)))
    Store(tmp_path / "scores.json").put(contender, 1, "could not be installed")
    again = Store(tmp_path / "scores.json")
    again.put(contender, 3, score(0.9, 0.1))
    assert again.get(contender, 3) == score(0.9, 0.1)  # before it went through the file, too
    assert again.get(contender, 0) == score(0.9, 0.1, by_plan=Share(0.1, 5))
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
    monkeypatch.setattr(run, "scores", lambda contenders, splits, fresh: [(splits, fresh)])
    monkeypatch.setattr(run, "picture", lambda found, path: path.write_text("drawn", "utf-8"))
    monkeypatch.setattr(run, "page", lambda found, splits: f"{found} {splits}")
    run.main()
    assert (tmp_path / "scoreboard.md").read_text("utf-8") == "[(2, False)] 2"
    assert (tmp_path / "scoreboard.svg").read_text("utf-8") == "drawn"
