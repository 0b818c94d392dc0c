"""Dealing: levels of few rows say nothing of the people who have them."""

import numpy as np
import pytest
from scipy.stats import binomtest

import leafcover as lc
from leafcover.metrics.disclosure.rare_values import worst_attached
from leafcover.metrics.pair import pair_of
from leafcover.tree.binary import codings, rare_as_one, stages_of
from leafcover.tree.histogram import bin_columns
from tests.tables import category, number, table


def test_people_with_a_rare_level_are_not_given_away():
    """Neither trees nor avoided pairs put a level that one person has beside that person's other values."""
    draws = np.random.default_rng(5)
    rows, rare = 3000, 60
    common = draws.choice([f"A{i:02d}" for i in range(15)], rows - rare)
    code = np.concatenate([[f"U{i:02d}" for i in range(rare)], common])
    some = table(
        category("code", code),
        category("district", draws.choice(list("abcdef"), rows)),
        category("ill", draws.choice(["no", "yes"], rows)),
    )
    for target, other, chance in (("ill", "district", 1 / 6), ("district", "ill", 1 / 2)):
        for seed in (1, 2):
            released = lc.release(some, "cover", target=target, rare="allow", seed=seed).table
            at = np.array([np.flatnonzero(released["code"].values == some["code"].values[i])[0] for i in range(rare)])
            for name in (other, target):
                share = chance if name == other else (1 / 2 if target == "ill" else 1 / 6)
                same = int((released[name].values[at] == some[name].values[:rare]).sum())
                assert binomtest(same, rare, share, alternative="greater").pvalue > 1e-4, (target, name, same)


def coded(seed, assoc, rows=3000, rare=60):
    """A code that decides a part of the other columns; ``rare`` people have a code of their own."""
    draws = np.random.default_rng(seed)
    code = np.concatenate([15 + np.arange(rare), draws.integers(0, 15, rows - rare)])
    effect = draws.normal(size=15 + rare)[code]

    def other():
        return assoc * effect + np.sqrt(1 - assoc**2) * draws.normal(size=rows)

    return table(
        category("code", [f"c{c:02d}" for c in code]),
        category("district", draws.choice(list("abcdef"), rows)),
        *(category(name, np.where(other() > 0, "yes", "no")) for name in ("ill", "old")),
        number("age", (40 + 15 * other()).round(1), 1),
    )


@pytest.mark.parametrize("target", ["ill", "district"])
@pytest.mark.parametrize("assoc", [0.3, 0.5, 0.9])
def test_trees_for_other_columns_do_not_attach_rare_levels_to_their_people(assoc, target):
    """A rare level takes no side of its own where a column that it decides is dealt, nor a leaf of its own."""
    for seed in (1, 2):
        some = coded(seed, assoc)
        released = lc.release(some, "cover", target=target, seed=seed).table
        match, tests = worst_attached(pair_of(some, released))
        assert match.p * tests > 1e-3, match


def test_rare_levels_are_dealt_as_one_with_the_least_common_level_if_they_are_few():
    column = category("a", ["x"] * 40 + ["y"] * 20 + ["z"] * 3 + ["w"])
    (coding,) = codings(column)
    assert len({coding.number[column.levels.index(level)] for level in "wzy"}) == 1
    assert coding.number[column.levels.index("x")] != coding.number[column.levels.index("y")]
    values, bins = rare_as_one(column)
    assert sorted(column.levels[b - 1] for b in bins) == ["w", "y", "z"]
    assert sorted(np.unique(values, return_counts=True)[1]) == [24, 40]
    stages = stages_of(column, bin_columns([], []), given=(), floor=1, price=0.0)
    assert [stage.is_final for stage in stages] == [False, True]
    assert len(np.unique(stages[-1].code)) == 4
    enough = category("a", ["x"] * 40 + ["y"] * 20 + ["z"] * 3 + ["w"] * 2 + [None] * 7)
    assert sorted(enough.levels[b - 1] for b in rare_as_one(enough)[1]) == ["w", "z"]
