"""The models of attackers who know the method: against slow twins, on harmless and on harmful releases, on Adult."""

from dataclasses import replace

import numpy as np
import pytest

import leafcover as lc
from leafcover.engine.attacker import Known
from leafcover.engine.descent_model import place_in
from leafcover.engine.evaluate import attacker_of, pair_from
from leafcover.engine.release_model import cells_model, dealt_model, granted_model
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.informed_inference import Test, informed_attacks, successes
from leafcover.metrics.pair import pair_of
from leafcover.recipes.plan import recoded_table
from leafcover.tree.binary import Coding
from leafcover.tree.tree import Attribute
from tests.tables import category, mixed, number, table


def released(some, rows, recipe="cover", seed=1, **settings):
    """A release of some rows, and the test of attackers with the others as control."""
    part, rest = some.take(rows), some.take(np.setdiff1d(np.arange(len(some)), rows))
    plan = lc.recipes.plan_for(part, recipe, target="class", settings=settings)
    made = run(part, plan, key=Key.from_seed(seed))
    return made, pair_from(part, made, rest), Known(part, plan, made.partitions, part)


def texts(column):
    return [None if m else (column.levels[int(v)] if column.is_category else float(v))
            for v, m in zip(column.values, column.missing, strict=True)]  # fmt: skip


def test_leaf_shares_are_those_of_the_twin():
    """Two categories before a third: the probability of each level is counted by hand in the released leaves."""
    some = mixed(5, rows=900, missing=0.0).select(["job", "town", "class"])
    made, _, _ = released(some, np.arange(600), k=20, price=0.1)
    model = dealt_model(made.table, made.plan, made.partitions)
    people, smoothing = some.take(np.arange(600, 640)), 0.5
    for target in model.columns:
        candidates = texts(model.candidates(target))
        scores = model.scores(people, target, [smoothing])[0]
        for person in range(len(people)):
            row = {name: texts(people[name])[person] for name in people.names}
            found = [twin(made, {**row, target: value}, target, smoothing) for value in candidates]
            assert scores[person] - scores[person].mean() == pytest.approx(np.array(found) - np.mean(found), abs=1e-6)


def twin(made, row, target, smoothing):
    """The sum of log leaf shares that depend on the target, from the released rows one by one."""
    total = 0.0
    for step in made.plan.steps:
        name = step.columns[0]
        stages = made.partitions[step.within].stages if step.within in made.partitions else ()
        tests = stages[0].trees.names if stages else ()
        if target != name and target not in tests:
            continue
        values = texts(made.table[name])
        share = (values.count(row[name]) + 1e-5) / (len(values) + 1e-5 * len(set(values) | {None}))
        if stages:
            trees = stages[0].trees
            one = table(*(category_like(made.table[n], row[n]) for n in made.table.names))
            leaf = trees.place(trees.codes(one), np.zeros(1, np.int64))[0]
            placed = trees.place(trees.codes(made.table), np.zeros(len(made.table), np.int64))
            inside = [values[i] for i in np.flatnonzero(placed == leaf)]
        else:
            inside = values
        total += np.log((inside.count(row[name]) + smoothing * share) / (len(inside) + smoothing))
    return total


def category_like(column, text):
    return lc.Table((column,))[column.name].__class__(
        column.name, "category", np.array([column.levels.index(text)], np.int32), levels=column.levels
    )


def test_a_shuffle_of_one_cell_is_its_shares():
    some = table(category("a", list("xxyz") * 5), category("b", list("ppqq") * 5))
    model = cells_model(some, [("a",), ("b",)], np.zeros(20, np.int64))
    scores = np.exp(model.scores(some.take(np.arange(1)), "a", [1e-9])[0])[0]
    assert scores / scores.sum() == pytest.approx([0.5, 0.25, 0.25], abs=1e-6)


def test_the_cell_comes_from_the_other_blocks_and_the_share_from_the_partner():
    """Two cells, counted by hand; columns asked one after the other about the same people agree with single ones."""
    some = table(category("a", list("xxxxyyyy")), category("b", list("ppqqpqqq")), category("c", list("ssttsttt")))
    label = np.repeat([0, 1], 4)
    model = cells_model(some, [("a", "b"), ("c",)], label)
    person = some.take(np.array([2]))  # x, q, t
    scores = {name: np.exp(model.scores(person, name, [1e-9])[0])[0] for name in ("a", "b", "c")}
    # P(cell | t) is 2 : 3; with q the first cell has two rows of x, the second three of y
    assert scores["a"] / scores["a"].sum() == pytest.approx([2 * 2 / 13, 3 * 3 / 13], abs=1e-5)
    assert scores["b"] / scores["b"].sum() == pytest.approx([0.5, 0.5], abs=1e-5)
    for name, found in scores.items():
        alone = np.exp(cells_model(some, [("a", "b"), ("c",)], label).scores(person, name, [1e-9])[0])[0]
        assert found / found.sum() == pytest.approx(alone / alone.sum(), abs=1e-6)


def test_known_rows_are_subtracted():
    """Who knows everybody else in a cell knows the last value."""
    some = table(category("a", list("xxxy") * 3), category("b", ["p"] * 4 + ["q"] * 4 + ["r"] * 4))
    label = np.repeat(np.arange(3), 4)
    model = cells_model(some, [("a",), ("b",)], label)
    last, others = np.array([3]), np.array([0, 1, 2])
    before = model.scores(some.take(last), "a", [1e-6])[0][0]
    after = model.without(some.take(others), others).scores(some.take(last), "a", [1e-6])[0][0]
    assert before.argmax() == 0
    assert after.argmax() == 1


def test_a_value_of_known_rows_only_is_rare_and_not_impossible():
    some = table(category("a", list("xxxy") * 3), category("b", list("pqr") * 4))
    model = cells_model(some, [("a",), ("b",)], np.zeros(12, np.int64))
    for known in (np.array([3, 7, 11]), np.arange(12)):  # every y; everybody
        left = model.without(some.take(known), known)
        scores = left.scores(some, "b", [0.3])[0]
        assert np.isfinite(scores).all()
        assert np.isfinite(left.membership(some, [0.3], some)).all()
    assert np.ptp(scores) == pytest.approx(0.0, abs=1e-9)  # nothing is left to learn from


def independent(rows, seed):
    rng = np.random.default_rng(seed)
    return table(
        category("class", rng.choice(list("ab"), rows, p=[0.7, 0.3]).tolist()),
        category("job", rng.choice(list("cdef"), rows, p=[0.5, 0.25, 0.15, 0.1]).tolist()),
        number("pay", rng.geometric(0.05, rows)),  # the best single answers do not depend on who is in the release
    )


def test_independent_columns_reveal_nobody():
    """From two sides: the differences are within their errors, and neither all above nor all below zero."""
    found = []
    for seed in range(6):
        some = independent(4000, seed)
        _, pair, known = released(some, np.arange(2500), seed=seed)
        attacks = informed_attacks([attacker_of(pair, known, regrow=True)], background=(0.5,), trained=False)
        for attack in (attacks.granted, attacks.regrown, *attacks.background):
            # the marginals are exact, and a sample of the population shows where they are off
            assert abs(attack.membership.area.value - 0.5) < 0.09
            found += [one.above_control.value for one in attack.inferences]
    assert abs(np.mean(found)) < 0.01
    assert min(found) < 0 < max(found)


def test_a_copy_with_its_target_permuted_reveals_members():
    """All columns but the target move as one block in cells: an attacker who regrows trees finds the members."""
    some = mixed(9, rows=1200, missing=0.0)
    rows = np.arange(720)
    part = some.take(rows)
    rng = np.random.default_rng(0)
    shuffled = part["class"].take(rng.permutation(len(part)))
    made = part.replace([shuffled]).take(rng.permutation(len(part)))
    pair = pair_of(part, made, target="class", control=some.take(np.arange(720, 1200)))
    label = np.zeros(len(part), np.int64)
    blocks = [("class",), tuple(n for n in part.names if n != "class")]
    test = Test(pair, cells_model(pair.released, blocks, label), None)
    attacks = informed_attacks([test], background=(), trained=False)
    assert attacks.granted.membership.found.value > 0.9
    assert max(one.above_control.value for one in attacks.granted.inferences) > 0.2


def test_answers_about_numbers_are_the_most_probable_windows():
    candidates = number("pay", [0.0, 1.0, 2.0, 10.0])
    scores = np.log([[0.3, 0.25, 0.25, 0.2], [0.1, 0.1, 0.1, 0.7]])
    assert successes(scores, candidates, number("pay", [2.0, 10.5]), 1.0).tolist() == [1.0, 1.0]
    assert successes(scores, candidates, number("pay", [10.0, 0.0]), 1.0).tolist() == [0.0, 0.0]


def test_every_recipe_has_a_granted_model():
    some = mixed(4, rows=400)
    for recipe, known in lc.recipes.RECIPES.items():
        plan = lc.recipes.plan_for(some, recipe, target="class" if known.needs_target else None)
        made = run(some, plan, key=Key.from_seed(1), keep_order=plan.descends)
        shown = recoded_table(plan, some)
        model = granted_model(made.table, Known(shown, plan, made.partitions, some))
        people = shown.take(np.arange(5))
        for name in model.columns:
            scores = model.scores(people, name, [0.1, 1.0])
            assert scores.shape == (2, 5, len(model.candidates(name)))
            assert np.isfinite(scores).all()
        assert np.isfinite(model.membership(people, [0.1])).all()


def test_a_row_is_found_by_the_other_columns_and_its_value_by_the_columns_own_law():
    """A redrawn and an unchanged category: the probability of each level, counted row by row."""
    rng = np.random.default_rng(3)
    some = table(
        category("a", rng.choice(list("xyz"), 60).tolist()), category("b", rng.choice(list("pqr"), 60).tolist())
    )
    plan = lc.Plan(lc.Step("a", within=lc.Whole(), perturb=lc.Redraw(distribution="own", others=0.3)))
    made = run(some, plan, key=Key.from_seed(1), keep_order=True)
    model = granted_model(made.table, Known(some, plan, made.partitions, some))
    found = np.exp(model.scores(some, "a", [0.0])[0])
    levels = [texts(model.candidates("a")), texts(some["a"]), texts(made.table["a"]), texts(some["b"])]
    candidates, own, shown, known = levels
    prior = np.array([own.count(one) for one in candidates]) + 0.5
    for person in range(10):
        total = np.zeros(3)
        for row in range(60):
            if known[row] == known[person]:
                chance = np.array([0.7 if one == shown[row] else 0.15 for one in candidates]) * prior
                total += chance / chance.sum()
        assert found[person] / found[person].sum() == pytest.approx(total / total.sum(), abs=1e-4)


def test_people_are_placed_in_the_cells_of_the_original():
    some = mixed(5, rows=900, missing=0.0)
    cells = lc.Leaves(of="class", min_cell=20).cells(some).cells
    assert cells.count > 3
    placed = place_in(cells, {name: some[name].values for name in some.names})
    assert (placed == cells.label).mean() > 0.99


def test_noise_that_leaves_categories_unchanged_reveals_them_and_great_noise_does_not():
    some = mixed(9, rows=1200, missing=0.0)
    weak, strong = (released(some, np.arange(720), recipe, **settings) for recipe, settings in
                    (("additive", {"spread": 0.05}), ("random", {})))  # fmt: skip
    attacks = [
        informed_attacks([attacker_of(pair, known, regrow=False)], background=(), trained=False)
        for _, pair, known in (weak, strong)
    ]
    above = [max(one.above_control.value for one in attack.granted.inferences) for attack in attacks]
    assert above[0] > 0.3 > 3 * max(above[1], 0.0)
    assert attacks[0].granted.membership.area.value > 0.9
    assert attacks[1].granted.membership.area.value < 0.6


def test_a_trained_attack_finds_members_of_a_weak_release_and_none_of_a_harmless_one():
    weak = released(mixed(9, rows=1200, missing=0.0), np.arange(720), "cells", k=3)
    harmless = released(independent(3000, 1), np.arange(1800))
    found = {}
    for name, made in (("cells", weak), ("cover", harmless)):
        found[name] = informed_attacks([attacker_of(made[1], made[2], regrow=True)], background=()).trained
    assert found["cells"].area.value > 0.8
    assert abs(found["cover"].area.value - 0.5) < 0.04
    assert found["cover"].found.value < 0.03


def adult_attacked(recipe, settings, split, *, regrow):
    """The attacks on a release of 22,000 rows of Adult, with the others as control."""
    adult = lc.read(lc.sample("adult"))
    order = np.random.default_rng(split).permutation(len(adult))
    part, rest = adult.take(np.sort(order[:22000])), adult.take(np.sort(order[22000:]))
    plan = lc.recipes.plan_for(part, recipe, target="income", settings=settings)
    made = run(part, plan, key=Key.from_seed(1))
    known = Known(part, plan, made.partitions, part)
    return informed_attacks([attacker_of(pair_from(part, made, rest), known, regrow=regrow)], background=())


def occupation(attack):
    return next(one.above_control.value for one in attack.inferences if one.column == "occupation")


@pytest.mark.slow
def test_the_attacks_find_what_cells_of_adult_give_away():
    """As strong as the audit: over five splits, for occupation differs between splits by 0.07."""
    found = [adult_attacked("cells", {"k": 20}, split, regrow=True) for split in range(5)]
    assert np.mean([occupation(one.granted) for one in found]) > 0.25
    assert np.mean([occupation(one.regrown) for one in found]) > 0.20
    assert min(one.granted.membership.area.value for one in found) > 0.99
    assert min(one.regrown.membership.area.value for one in found) > 0.95


@pytest.mark.slow
def test_the_attacks_find_what_a_chain_without_a_price_gives_away():
    found = adult_attacked("cover", {"k": 20, "price": 0.0}, 0, regrow=False)
    assert occupation(found.granted) > 0.15
    assert found.granted.membership.area.value > 0.75


def test_a_column_without_released_values_is_not_attacked():
    """Such as the fourth visit of patients, if all who have one are held out: these have values."""
    coding = Coding(Attribute("late"), np.empty(0), np.zeros(1, np.int32), 1)
    assert coding.codes(number("late", [1.0, np.nan, 7.0])).tolist() == [0, 0, 0]
    _, pair, known = released(mixed(9, rows=600, missing=0.0), np.arange(360))
    test = attacker_of(pair, known, regrow=False)
    model, name = test.granted, next(c.name for c in pair.original if c.kind == "number")
    shown = model.released[name]
    shown = model.released.replace([replace(shown, values=np.full(len(shown), np.nan), stored=None)])
    bare = replace(model, released=shown, _kept=type(model._kept)())
    found = informed_attacks([replace(test, granted=bare)], background=(), trained=False).granted
    assert {one.column for one in found.inferences} == set(model.columns) - {name}
