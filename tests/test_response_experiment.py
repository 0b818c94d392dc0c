"""The experiment of paper 003 in small: plain trees at the ends, worse ones near the middle, and a true page."""

import numpy as np
import pytest
from benchmarks.response import experiment, page, picture
from benchmarks.response.experiment import READINGS, TARGET, WAYS, adult, coin_each, mislabelled, one_coin, parts

from leafcover.randomized_response import PAPER, Scheme, StoppingRules, grow_tree


@pytest.fixture(scope="module")
def found():
    return experiment.experiment(runs=4, fewer=2, thetas=(0.0, 0.2, 0.51, 0.7, 1.0), rows=3000)


def test_at_the_ends_every_tree_is_the_plain_one(found):
    for (reading, name, theta), one in found.by_theta.items():
        if theta in (0.0, 1.0):
            assert one.same
            assert one.variance == 0
            assert one.mean == pytest.approx(found.plain[reading, name])
        else:
            assert not one.same


def test_far_from_the_middle_trees_are_nearly_as_good_and_at_the_middle_they_are_not(found):
    id3 = found.plain["median", "the paper's way"]
    for name in WAYS:
        for theta in (0.2, 0.7):
            assert found.by_theta["median", name, theta].mean > id3 - 4  # of 3,000 rows, not 10,000
        assert found.by_theta["median", name, 0.51].variance > found.by_theta["median", name, 0.2].variance
    paper, rules = (found.by_theta["median", name, 0.7] for name in ("the paper's way", "rules against noise"))
    assert rules.mean > paper.mean
    assert rules.nodes.max() < paper.nodes.min()
    assert rules.mislabelled.mean() < paper.mislabelled.mean()


def test_the_page_and_the_figure_tell_what_was_found(found, tmp_path):
    told = page.page(found)
    assert "NOT" not in told
    for name, theta in (("the paper's way", 0.2), ("rules against noise", 0.51)):
        assert f"{found.by_theta['median', name, theta].mean:.2f}" in told
    for line in told.splitlines():
        if line.startswith("| 0.2 |"):
            assert line.count("|") in (6, 14)
    picture.picture(found, tmp_path / "one.svg")
    picture.picture(found, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_columns_have_two_levels_as_the_page_says():
    table = adult(READINGS["median"], 2000)
    assert len(table.names) == 15
    assert {column.levels for column in table} == {("no", "yes")}
    assert 0.4 < table["age"].values.mean() <= 0.5
    assert table["sex"].values.mean() > 0.5  # most are men
    assert table[TARGET].values.mean() < 0.3
    assert adult(READINGS["midrange"], 2000)["capital_gain"].values.mean() < 0.02
    assert [len(part) for part in parts(table)] == [1333, 667]
    assert one_coin(0.7, table.names).privacy.epsilon is None
    assert coin_each(0.75, table.names).privacy.epsilon == pytest.approx(15 * np.log(3))


def test_a_leaf_is_mislabelled_when_most_of_its_rows_have_another_class():
    table = adult(READINGS["median"], 1000)
    tree = grow_tree(table, Scheme(), target=TARGET, rules=PAPER)
    assert mislabelled(tree, table) == 0
    leaf = grow_tree(table, Scheme(), target=TARGET, rules=StoppingRules(max_depth=0))
    assert mislabelled(leaf, table) == 0
