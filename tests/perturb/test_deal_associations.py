"""When dealing restores an association: what of it decides, and what counts as missing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import leafcover as lc
from leafcover.perturb.deal import _known, _Pairs
from leafcover.tree.binary import codings, stages_of
from leafcover.tree.histogram import bin_columns
from tests.tables import category, table


def test_an_association_is_compared_with_that_of_new_samples():
    """Exactly the deviations that bootstrap samples of the table exceed in a third of the cases are too large."""
    draws = np.random.default_rng(2)
    first = draws.integers(0, 4, 3000)
    second = np.where(draws.random(3000) < 0.3, first, draws.integers(0, 5, 3000))

    def counts(rows):
        found = np.zeros((5, 6))
        np.add.at(found, (first[rows], second[rows]), 1)
        return found

    rows = counts(np.arange(3000))
    known = np.ones(rows.shape, bool)
    known[-1] = known[:, -1] = False
    pairs = _Pairs(rows, rows.sum(axis=1)[:, None] * rows.sum(axis=0) / 3000, known)
    assert not pairs.changes_association(np.zeros(rows.shape), 5)

    def of_sample():
        """With the margins of the original, as released rows have: the change of the association is the same."""
        drawn = counts(draws.integers(0, 3000, 3000))
        share, expected = drawn / drawn.sum(axis=1, keepdims=True).clip(1), drawn.sum(axis=0) / 3000
        effect = np.divide(share**2, expected, out=np.zeros(rows.shape), where=expected > 0).sum(axis=1)
        return float((drawn.sum(axis=1) / 3000 * effect).sum() - 1)

    exact = float((rows**2 / np.where(pairs.chance > 0, pairs.chance, 1)).sum() / 3000 - 1)
    spread = np.std([of_sample() for _ in range(400)])
    towards = pairs.chance - rows  # what independence would change
    for share, expected in ((0.5, False), (2.0, True)):
        more = towards * share * spread / (2 * exact)
        assert pairs.changes_association(more, 5) == expected


@given(st.integers(0, 500))
def test_only_counts_that_are_compared_decide_whether_an_association_changed(seed):
    draws = np.random.default_rng(seed)
    rows, chance = draws.integers(20, 60, (4, 5)).astype(float), draws.uniform(2, 40, (4, 5))
    more, known = draws.normal(0, 4, rows.shape).round(), np.ones(rows.shape, bool)
    pairs = _Pairs(rows, chance, known)
    other = _Pairs(np.where(chance < 5, draws.integers(20, 60, rows.shape), rows), chance, known)
    moved = np.where(chance < 5, draws.normal(0, 9, rows.shape), more)
    assert pairs.changes_association(more, 5) == other.changes_association(moved, 5)


def test_fewer_known_values_are_no_change_of_an_association():
    """Released rows may have a missing value where original ones had none; among the known ones all is as before."""
    draws = np.random.default_rng(3)
    rows = np.pad(draws.integers(50, 150, (3, 4)).astype(float), (0, 1))
    known = np.pad(np.ones((3, 4), bool), (0, 1))
    rows[:-1, -1] = rows[:-1, :-1].sum(axis=1)  # as many missing as known
    pairs = _Pairs(rows, rows.sum(axis=1)[:, None] * rows.sum(axis=0) / rows.sum(), known)
    fewer = np.where(known, -0.3 * rows, 0.0)
    fewer[:-1, -1] = -fewer.sum(axis=1)[:-1]
    assert not pairs.changes_association(fewer, 5)


def test_a_code_of_rare_levels_and_missing_values_counts_as_known():
    for missing, expected in ((2, True), (40, False)):
        column = category("a", ["x"] * 60 + ["y"] * 30 + ["z"] * 3 + [None] * missing)
        (coding,) = codings(column)
        known = _known(coding.codes(column), coding.count, column)
        assert known[coding.number[-1]] == expected
        assert known[coding.number[:-1]].all()


def test_rules_about_rare_levels_are_kept_in_a_category_of_a_thousand_levels():
    draws = np.random.default_rng(4)
    code = np.concatenate([np.repeat(np.arange(1200), 7), draws.integers(0, 40, 800)])  # below ten rows: rare
    side = np.where(code % 2 == 0, "even", "odd")
    some = table(category("side", side.tolist()), category("code", [f"{one:04}" for one in code]))
    rules = [f'if code == "{one:04}" then side == "{"odd" if one % 2 else "even"}"' for one in (0, 7, 900, 1101)]
    release = lc.release(some, "cover", target="code", rules=rules, seed=1)
    assert [fact.broken for fact in release.rules] == [0] * len(rules)


def test_a_stage_without_trees_takes_no_bits():
    column = category("a", ["x"] * 40 + ["y"] * 20 + ["z"] * 3 + ["w"] * 3)
    some = table(category("b", ["p", "q"] * 33), column)
    stages = stages_of(column, bin_columns([], []), given=(), floor=1, price=0.0)
    assert [stage.is_final for stage in stages] == [False, True]
    assert stages[1].described(some.select(("b",)), 1) == (0.0, 0.0)
