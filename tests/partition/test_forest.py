"""Where the leaves of several trees meet: cells, boxes, pools, and what a release inside them keeps."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.cells import LevelSet, Range
from leafcover.engine.run import run
from leafcover.errors import LeafcoverError, PlanError, TableError
from leafcover.keyed_random import Key
from leafcover.partition.base import allowed_ranges
from leafcover.partition.forest import Forest, Refine, meeting
from leafcover.partition.leaves import Whole, leaves
from leafcover.perturb.bounded import Bounded
from leafcover.perturb.redraw import Redraw
from leafcover.perturb.shuffle import Shuffle
from leafcover.recipes.plan import Plan, Step
from leafcover.table.io import read, sample
from leafcover.tree.c45 import grow
from leafcover.tree.predict import leaf_membership
from leafcover.tree.sysfor import grow_forest
from leafcover.tree.tree import classes_of
from tests import naive_forest as naive
from tests.tables import category, mixed, mixed_tables, number, table


@st.composite
def tables_and_trees(draw, min_rows=4, max_rows=40):
    """A mixed table and some unpruned trees over different attributes."""
    one = draw(mixed_tables(min_rows=min_rows, max_rows=max_rows))
    names = [name for name in one.names if name != "class"]
    chosen = draw(st.lists(st.lists(st.sampled_from(names), min_size=1, unique=True), min_size=1, max_size=5))
    return one, tuple(grow(one, target="class", attributes=some, prune=False) for some in chosen)


def met(one, trees, min_cell):
    return meeting(one, trees, min_cell=min_cell, classes=classes_of(one["class"])[1])


def rows_by_cell(cells):
    return {frozenset(np.flatnonzero(cells.label == cell).tolist()) for cell in range(cells.count)}


def leaf_sets(tree, one):
    found = leaf_membership(tree, one)
    return [tuple(found.leaves_of(s)) for s in found.set_of_row]


def redrawn(one, cells, seed):
    """Every known value anywhere in the box of its cell, open ends reaching beyond the domain."""
    rng, new = np.random.default_rng(seed), []
    for name, side in cells.box.items():
        column, known = one[name], np.flatnonzero(~one[name].missing)
        label, values = cells.label[known], one[name].values.copy()
        if isinstance(side, LevelSet):
            ranks = np.where(side.allowed[label], rng.random((len(known), len(column.levels))), -1.0)
            values[known] = ranks.argmax(axis=1) if len(known) else values[known]
        elif len(known):
            bottom, top = column.domain
            low, high = np.maximum(side.low[label], bottom - 9), np.minimum(side.high[label], top + 9)
            drawn = low + (high - low) * rng.choice([0.0, 0.5, 1.0, rng.random()], len(known))
            values[known] = np.clip(drawn, np.nextafter(low, inf), high)
        new.append(replace(column, values=values))
    return one.replace(new)


@given(tables_and_trees(), st.integers(1, 12))
def test_cells_and_boxes_are_the_twins(pair, min_cell):
    one, trees = pair
    cells = met(one, trees, min_cell).cells
    expected = naive.meeting(one, trees, min_cell)
    assert rows_by_cell(cells) == {frozenset(rows) for rows in expected}
    for rows in expected:
        cell = cells.label[rows[0]]
        for name, side in cells.box.items():
            box = naive.cell_box(one, trees, rows, name)
            if isinstance(side, Range):
                assert (side.low[cell], side.high[cell]) == (box or (-inf, inf))
            else:
                every = set(range(len(one[name].levels)))
                assert set(np.flatnonzero(side.allowed[cell]).tolist()) == (every if box is None else box)
    tested = {tree.attributes[a].name for tree in trees for a in tree.tested if a >= 0}
    assert set(cells.box) == tested


@given(tables_and_trees(), st.integers(2, 9), st.integers(1, 6))
def test_a_narrow_window_is_the_twins(pair, min_cell, window):
    one, trees = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leafcover.partition.forest.WINDOW", window)
        cells = met(one, trees, min_cell).cells
    assert rows_by_cell(cells) == {frozenset(rows) for rows in naive.meeting(one, trees, min_cell, window)}


@given(tables_and_trees(), st.integers(1, 60))
def test_no_cell_is_smaller_than_min_cell_and_every_row_lies_in_its_box(pair, min_cell):
    one, trees = pair
    partition = met(one, trees, min_cell)
    cells = partition.cells
    assert cells.smallest >= min(min_cell, len(one))
    assert set(cells.label) == set(range(cells.count))
    for name, side in cells.box.items():
        known = ~one[name].missing
        label, values = cells.label[known], one[name].values[known]
        if isinstance(side, Range):
            assert ((values > side.low[label]) & (values <= side.high[label])).all()
        else:
            assert side.allows(label, values).all()
    own = naive.tuples(one, trees)
    for cell in range(cells.count):
        rows = np.flatnonzero(cells.label == cell)
        assert cells.pooled[cell] == (len({own[row] for row in rows}) > 1)
        assert cells.mixed[cell] == (len(set(one["class"].values[rows])) > 1)
    assert bool(cells.pooled_rows) == any("pooled" in note for note in partition.notes)


@given(tables_and_trees(), st.integers(0, 9))
def test_a_row_that_moves_inside_its_box_keeps_its_leaves_of_every_tree(pair, seed):
    one, trees = pair
    cells = met(one, trees, 1).cells
    after = redrawn(one, cells, seed)
    for tree in trees:
        assert leaf_sets(tree, after) == leaf_sets(tree, one)


@given(tables_and_trees(), st.integers(0, 9))
def test_classes_that_change_places_inside_cells_keep_the_counts_of_every_leaf_of_every_tree(pair, seed):
    one, trees = pair
    cells = met(one, trees, 1).cells
    rng, new = np.random.default_rng(seed), one["class"].values.copy()
    for cell in range(cells.count):
        rows = np.flatnonzero(cells.label == cell)
        new[rows] = new[rng.permutation(rows)]
    for tree in trees:
        before, after = (np.zeros((tree.size, len(one["class"].levels))) for _ in range(2))
        for row in range(len(one)):
            for leaf, share in naive.shares(tree, one, row).items():
                before[leaf, one["class"].values[row]] += share
                after[leaf, new[row]] += share
        assert before == pytest.approx(after, abs=1e-5)


@given(tables_and_trees(), st.integers(1, 12), st.randoms(use_true_random=False))
def test_cells_do_not_depend_on_the_order_of_rows(pair, min_cell, random):
    one, trees = pair
    order = list(range(len(one)))
    random.shuffle(order)
    straight, turned = met(one, trees, min_cell).cells, met(one.take(np.array(order)), trees, min_cell).cells
    assert turned.label.tolist() == straight.label[order].tolist()
    for name, side in straight.box.items():
        other = turned.box[name]
        if isinstance(side, Range):
            assert (side.low.tolist(), side.high.tolist()) == (other.low.tolist(), other.high.tolist())
        else:
            assert side.allowed.tolist() == other.allowed.tolist()


@given(mixed_tables())
def test_one_tree_alone_has_its_leaves(one):
    tree, classes = grow(one, target="class", prune=False), classes_of(one["class"])[1]
    cells, expected = met(one, (tree,), 1).cells, leaves(one, tree, min_cell=1, classes=classes).cells
    assert cells.label.tolist() == expected.label.tolist()
    assert cells.mixed.tolist() == expected.mixed.tolist()
    assert cells.pooled.tolist() == expected.pooled.tolist()
    for name, side in cells.box.items():
        known, other = np.unique(cells.label[~one[name].missing]), expected.box[name]
        if isinstance(side, Range):
            assert (side.low[known] == other.low[known]).all()
            assert (side.high[known] == other.high[known]).all()
        else:
            assert (side.allowed[known] == other.allowed[known]).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("min_cell", [1, 4, 30])
def test_larger_tables_are_the_twins(seed, min_cell):
    one = mixed(seed, rows=250, missing=0.05 * seed)
    names = ("age", "pay", "noise", "job", "town")
    trees = tuple(
        grow(one, target="class", attributes=[n for n in names if n != left_out], prune=False) for left_out in names
    )
    assert min(len(tree.leaves) for tree in trees) > 3
    cells = met(one, trees, min_cell).cells
    expected = naive.meeting(one, trees, min_cell)
    assert len(expected) > 2
    assert rows_by_cell(cells) == {frozenset(rows) for rows in expected}
    for rows in expected[:40]:
        for name, side in cells.box.items():
            box = naive.cell_box(one, trees, rows, name)
            if box is not None and isinstance(side, Range):
                assert (side.low[cells.label[rows[0]]], side.high[cells.label[rows[0]]]) == box
            elif box is not None:
                assert set(np.flatnonzero(side.allowed[cells.label[rows[0]]]).tolist()) == box


@pytest.mark.parametrize(("name", "target"), [("wbc", "class"), ("wine", "class"), ("german_credit", "class")])
def test_a_release_inside_the_boxes_keeps_every_leaf_of_every_tree(name, target):
    one, within = read(sample(name)), Forest(of=target, n_trees=12, min_cell=1)
    one = one.select(n for n in one.names if n != "sample_code_number")
    numbers = [c.name for c in one if not c.is_category and c.name != target]
    levels = [c.name for c in one if c.is_category and c.name != target]
    steps = [Step(numbers, within=within, perturb=Bounded()), Step(target, within=within, perturb=Shuffle())]
    if levels:
        steps.append(Step(levels, within=Whole(), perturb=Redraw(distribution="own", others=1.0), keep=[within]))
    release = run(one, Plan(*steps), key=Key.from_seed(1))
    assert len(release.trees) == 12
    assert [fact.kept for fact in release.trees] == [1.0] * 12
    assert max(fact.changed for fact in release.columns) > 0.3
    pooled = run(one, Plan(Step(numbers, Forest(of=target, n_trees=12, min_cell=20), Bounded())), key=Key.from_seed(1))
    assert pooled.cells[0].smallest >= 20
    assert 0.3 < min(fact.kept for fact in pooled.trees) < 1.0


@settings(max_examples=15)
@given(mixed_tables(min_rows=20), st.integers(1, 12))
def test_a_forest_is_met_in_its_own_trees(one, min_cell):
    partition = Forest(of="class", n_trees=6, min_records=2, min_cell=min_cell).cells(one)
    assert 1 <= len(partition.trees) <= 6
    assert rows_by_cell(partition.cells) == {frozenset(rows) for rows in naive.meeting(one, partition.trees, min_cell)}
    assert any("good tests" in note for note in partition.notes) == (len(partition.trees) < 6)


def test_levels_that_a_tree_has_never_met_keep_their_rows_in_place():
    grown = mixed(3)
    trees = (grow(grown, target="class", prune=False), grow(grown, target="class", attributes=["job", "town"]))
    strange = ["clerk", "tinker", "smith", "tailor", None] * 60
    one = grown.replace([category("job", strange)])
    cells = met(one, trees, 1).cells
    after = redrawn(one, cells, 1)
    assert (after["job"].values != one["job"].values).any()
    for tree in trees:
        assert leaf_sets(tree, after) == leaf_sets(tree, one)


def test_small_cells_join_those_that_share_most_leaves():
    x = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    y = [1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1]
    one = table(
        number("x", x),
        number("y", y),
        category("class", ["a" if a == b else "b" for a, b in zip(x, y, strict=True)]),
        category("by x", [str(v) for v in x]),
        category("by y", [str(v) for v in y]),
    )
    trees = tuple(grow(one, target=f"by {name}", attributes=[name], prune=False, min_records=1) for name in "xy")
    assert [tree.size for tree in trees] == [3, 3]
    cells = met(one, trees, 2).cells
    # The two rows with y = 2 differ in x and stand alone at first: they wait for each other.
    assert rows_by_cell(cells) == {frozenset(range(5)), frozenset({5, 6}), frozenset(range(7, 12))}
    assert (cells.box["x"].low[cells.label[5]], cells.box["x"].high[cells.label[5]]) == (-inf, inf)
    assert (cells.box["y"].low[cells.label[5]], cells.box["y"].high[cells.label[5]]) == (1.0, inf)
    cells = met(one, trees, 3).cells  # together they are still too few
    assert rows_by_cell(cells) == {frozenset(range(6)), frozenset(range(6, 12))}


@pytest.mark.parametrize(
    ("columns", "count"),
    [
        ([number("x", [1.0] * 8), category("kind", ["a"] * 8)], 1),
        ([number("x", [np.nan] * 8), category("kind", [None] * 8)], 1),
        ([number("x", [np.nan] * 4 + [1.0] * 4), category("kind", ["a", "b"] * 4)], None),
        ([number("x", [1e308, -1e308] * 4, decimals=None)], None),
    ],
)
def test_awkward_tables_have_cells(columns, count):
    one = table(*columns, category("class", ["p", "q"] * 4))
    for min_cell in (1, 3, 8, 20):
        partition = Forest(of="class", n_trees=5, min_records=1, min_cell=min_cell).cells(one)
        assert partition.cells.smallest >= min(min_cell, 8)
        assert count is None or partition.cells.count == count
        assert all(0 < room.width <= 1 or np.isnan(room.width) for room in allowed_ranges(one, partition.cells))
        if partition.cells.count == 1:
            assert "one cell" in " ".join(partition.notes)


def test_no_tree_and_another_kind_of_column_are_refused():
    one = mixed(1)
    with pytest.raises(PlanError, match="at least one"):
        met(one, (), 1)
    trees = (grow(one, target="class", attributes=["job"]),)
    with pytest.raises(TableError, match="job"):
        met(one.replace([number("job", range(300))]), trees, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_trees": 0}, {"n_trees": 10**6}, {"min_cell": 0}, {"min_records": 0}, {"goodness": -0.1},
        {"goodness": 1.5}, {"separation": 2.0}, {"confidence": 0.0},
    ],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(LeafcoverError, match=next(iter(wrong))):
        Forest(of="class", **wrong)


def test_a_forest_can_be_refined():
    one = mixed(2, rows=400)
    outer = Forest(of="class", n_trees=4, min_cell=20)
    partition = Refine(outer, by=("town", "pay"), floor=5).cells(one)
    inner, start = partition.cells, outer.cells(one).cells
    assert inner.count > start.count
    assert all(len(set(start.label[inner.label == cell])) == 1 for cell in range(inner.count))
    for name, side in start.box.items():
        if isinstance(side, LevelSet):
            assert (inner.box[name].of(inner.label) == side.of(start.label)).all()


@pytest.mark.parametrize(("name", "target"), [("wbc", "class"), ("wine", "class")])
def test_rooms_shrink_with_every_tree_and_widen_with_min_cell(name, target):
    one = read(sample(name))
    trees = grow_forest(one, target=target, n_trees=6)
    classes = classes_of(one[target])[1]

    def width(some, min_cell):
        found = allowed_ranges(one, meeting(one, some, min_cell=min_cell, classes=classes).cells)
        return np.nanmean([room.width for room in found])

    assert width(trees, 1) < width(trees[:1], 1) < 1
    assert width(trees, 1) < width(trees, 5) < width(trees, 50)
    assert width(trees, len(one)) <= 1


def test_rooms_count_grid_points_lengths_and_levels_that_occur():
    kind = replace(category("kind", ["a", "b", "c", None]), levels=("a", "b", "c", "d"))
    one = table(
        number("whole", [1, 2, 3, 4]), number("fine", [0.0, 1.0, 2.0, np.nan], decimals=None), kind,
        number("free", [1, 2, 3, 4]), number("gone", [np.nan] * 4),
    )  # fmt: skip
    cells = meeting(one, [_stub(one)], min_cell=1, classes=np.zeros(4, np.int32)).cells
    cells = replace(
        cells,
        label=np.array([0, 0, 1, 1]),
        count=2,
        box={
            "whole": Range(np.array([-inf, 2.0]), np.array([2.0, inf])),
            "fine": Range(np.array([-inf, 1.0]), np.array([1.5, inf])),
            "kind": LevelSet(np.array([[True, False, False, True], [True] * 4]), np.array([0, 1])),
            "gone": Range(np.array([-inf, 1.0]), np.array([1.5, inf])),
        },
    )
    widths = {room.column: room.width for room in allowed_ranges(one, cells)}
    assert widths["whole"] == 0.5
    assert widths["fine"] == pytest.approx((0.75 + 0.75 + 0.5) / 3)
    assert widths["kind"] == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)
    assert widths["free"] == 1
    assert np.isnan(widths["gone"])


def _stub(one):
    return grow(one.replace([category("kind", ["a", "b", "a", "b"])]), target="kind", attributes=["free"])
