"""A tree as text, rules, JSON and picture."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings

from leafcover.table.table import Column, Table
from leafcover.tree.c45 import grow, grow_from, grow_with_unpruned
from leafcover.tree.export import WIDTH, as_json, estimates, picture, rules, text
from leafcover.tree.predict import classify
from leafcover.tree.tree import Attribute, Training, training
from tests.tree.strategies import trainings

GOLF_TEXT = """\
outlook = overcast: Play (4.0)
outlook = rain:
|   windy = false: Play (3.0)
|   windy = true: Don't Play (2.0)
outlook = sunny:
|   humidity <= 75 : Play (2.0)
|   humidity > 75 : Don't Play (3.0)
"""
GOLF_RULES = """\
if outlook = overcast then Play (4.0/1.2)
if outlook = rain and windy = false then Play (3.0/1.1)
if outlook = rain and windy = true then Don't Play (2.0/1.0)
if outlook = sunny and humidity <= 75 then Play (2.0/1.0)
if outlook = sunny and humidity > 75 then Don't Play (3.0/1.1)
"""


def golf() -> Table:
    """Quinlan's fourteen days."""
    outlook = [2, 2, 0, 1, 1, 1, 0, 2, 2, 1, 2, 0, 0, 1]
    humidity = [85.0, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80]
    windy = [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1]
    play = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]
    return Table(
        (
            Column("outlook", "category", np.array(outlook, np.int32), ("overcast", "rain", "sunny")),
            Column("humidity", "number", np.array(humidity)),
            Column("windy", "category", np.array(windy, np.int32), ("false", "true")),
            Column("class", "category", np.array(play, np.int32), ("Don't Play", "Play")),
        )
    )


def test_text_is_c45s():
    assert text(grow(golf(), target="class", prune=False)) == GOLF_TEXT


def test_rules_are_one_line_a_leaf():
    assert rules(grow(golf(), target="class")) == GOLF_RULES


def test_a_tree_of_one_leaf_can_be_shown():
    one = Training("y", ("a", "b"), np.array([1, 0, 1], np.int32), (), (), np.arange(3))
    tree = grow_from(one, prune=False)
    assert text(tree) == " b (3.0/1.0)\n"
    assert rules(tree) == "always b (3.0/1.0)\n"
    assert as_json(tree, one)["root"] == {"class": "b", "count": 3.0, "errors": 1.0}
    ElementTree.fromstring(picture(tree))


def test_json_keeps_its_contract():
    table = golf()
    rows = training(table, "class")
    both = grow_with_unpruned(rows)
    found = json.loads(json.dumps(as_json(both.pruned, rows, unpruned=both.unpruned, test=table)))
    assert (found["size"], found["leaves"], found["train_errors"], found["test_errors"]) == (8, 5, 0, 0)
    assert round(found["estimated_error"], 3) == 0.385
    assert found["attributes"] == ["outlook", "humidity", "windy"]
    assert found["unpruned"] == {"size": 8, "leaves": 5, "train_errors": 0, "test_errors": 0}
    root = found["root"]
    assert (root["attribute"], root["values"]) == ("outlook", ["overcast", "rain", "sunny"])
    sunny = root["children"][2]
    assert (sunny["attribute"], sunny["cut"]) == ("humidity", 75.0)
    assert sunny["children"][0] == {"class": "Play", "count": 2.0, "errors": 0.0}


@settings(max_examples=40, deadline=None)
@given(trainings(missing=False))
def test_json_decides_as_the_tree_does(rows):
    tree = grow_from(rows, prune=False)
    root = as_json(tree, rows)["root"]
    names = [attribute.name for attribute in rows.attributes]
    answers = classify(tree, rows.columns)
    for row in range(len(rows.labels)):
        node = root
        while "children" in node:
            a = names.index(node["attribute"])
            value = rows.columns[a][row]
            if "cut" in node:
                node = node["children"][0 if value <= node["cut"] else 1]
            else:
                node = node["children"][node["values"].index(rows.attributes[a].levels[value])]
        assert node["class"] == rows.classes[answers[row]]


def test_an_unpruned_tree_has_an_estimate_too():
    both = grow_with_unpruned(training(golf(), "class"))
    assert np.isnan(both.unpruned.estimate[0])
    assert estimates(both.unpruned)[0] == pytest.approx(both.pruned.estimate[0], rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(trainings())
def test_every_tree_has_a_picture_that_parses(rows):
    drawn = ElementTree.fromstring(picture(grow_from(rows, min_records=1, prune=False)))
    assert drawn.attrib["viewBox"].split()[2] == str(WIDTH)


def test_names_in_a_picture_are_escaped():
    table = golf()
    hostile = Column("<script>&\"'", "category", table["outlook"].values, ("<b>", "&amp;", '"'))
    tree = grow(Table((hostile, *table.columns[1:])), target="class", prune=False)
    drawn = picture(tree)
    assert "<script>" not in drawn
    assert "<b>" not in drawn
    ElementTree.fromstring(drawn)


def test_a_picture_can_keep_counts_to_itself():
    tree = grow(golf(), target="class", prune=False)
    assert "14 rows" in picture(tree)
    assert "rows" not in picture(tree, counts=False)
    assert " %" not in picture(tree, counts=False)


def test_a_picture_tells_what_it_leaves_out():
    assert "… 2 more leaves" in picture(grow(golf(), target="class", prune=False), depth=1)
    rng = np.random.default_rng(1)
    levels = tuple(f"v{i:02d}" for i in range(30))
    codes = np.repeat(np.arange(20), 40).astype(np.int32)
    labels = (rng.random(800) < codes % 2 * 0.8 + 0.1).astype(np.int32)
    rows = Training("y", ("a", "b"), labels, (Attribute("c", levels, False),), (codes,), np.arange(800))
    assert "… 13 rarer values, 10 without rows" in picture(grow_from(rows, prune=False))


def texts_of(drawn: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(drawn).findall(".//{*}text")]


def test_marked_nodes_have_a_sign_and_a_legend_not_colour_alone():
    tree = grow(golf(), target="class", prune=False)  # 0 outlook, 1 overcast, 2 rain: windy, 3 sunny: humidity, ...
    marks = np.zeros(tree.size, np.bool_)
    marks[[3, 6, 7]] = True
    found = texts_of(picture(tree, marks=marks))
    assert [words for words in found if "◆" in words] == [
        "◆ differs from the other tree; dashed: below a difference",
        "◆ humidity",
        "◆ Play",
        "◆ Don't Play",
    ]
    root = ElementTree.fromstring(picture(tree, marks=marks))
    assert root.attrib["aria-label"].endswith("; 3 nodes differ from the other tree")
    outlined = [box for box in root.findall(".//{*}rect") if "stroke" in box.attrib]
    assert ["stroke-dasharray" in box.attrib for box in outlined] == [False, True, True]
    titles = ["".join(title.itertext()) for title in root.findall(".//{*}title")]
    assert "= sunny humidity (differs from the other tree)" in titles


def test_a_picture_without_differences_says_so():
    tree = grow(golf(), target="class", prune=False)
    assert "No node differs from the other tree" in texts_of(picture(tree, marks=np.zeros(tree.size, np.bool_)))
    assert not any("differ" in words for words in texts_of(picture(tree)))


def test_differences_below_what_is_drawn_are_counted():
    tree = grow(golf(), target="class", prune=False)
    marks = np.zeros(tree.size, np.bool_)
    marks[[3, 6, 7]] = True
    assert "◆ … 2 more leaves" in texts_of(picture(tree, depth=1, marks=marks))
    marks[[3, 6]] = False
    assert "◆ … 1 of 2 leaves" in texts_of(picture(tree, depth=1, marks=marks))
    assert "◆ … 1 of 5 leaves" in texts_of(picture(tree, depth=0, marks=marks))
    levels = tuple(f"v{i:02d}" for i in range(12))
    codes = np.repeat(np.arange(12), 40).astype(np.int32)
    labels = (np.random.default_rng(1).random(480) < codes % 2 * 0.8 + 0.1).astype(np.int32)
    rows = Training("y", ("a", "b"), labels, (Attribute("c", levels, False),), (codes,), np.arange(480))
    wide = grow_from(rows, prune=False)
    marks = np.zeros(wide.size, np.bool_)
    hidden = np.argsort(-wide.counts[1:].sum(axis=1), kind="stable")[7:] + 1  # all but the seven largest branches
    marks[hidden[0]] = True
    assert "◆ … 5 rarer values, 1 differs" in texts_of(picture(wide, marks=marks))
    marks[hidden] = True
    assert "◆ … 5 rarer values" in texts_of(picture(wide, marks=marks))


def test_a_sign_in_a_name_is_not_a_mark():
    table = golf()
    signed = Column("◆ sky", "category", table["outlook"].values, ("◆", "b", "c"))
    drawn = picture(grow(Table((signed, *table.columns[1:])), target="class", prune=False))
    assert 'class="mark"' not in drawn
