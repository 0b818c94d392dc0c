"""Which rules of the original's forest the forest of the release holds, in whatever tree.

Two figures stand beside it. The floor: the same for forests grown on bootstrap resamples of the original; a release at
its floor has cost the forest nothing but the luck of a sample. Chance: the same for a forest grown on the original with
its target shuffled; such rules need no relation, a short one that answers the most frequent class is often found.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np

from leafcover.measuring.utility.forest_growing import Walked
from leafcover.measuring.utility.rules import Allowed, Rule, nearest, rows_by_leaf, rules_of
from leafcover.tree.forest import Forest
from leafcover.tree.walk import Places


@dataclass(frozen=True)
class RuleShares:
    """How much of one forest's rules another one holds; 1 when there are none."""

    exact: float  # by the rows that each rule covers, cuts equal
    near: float  # the same, where a cut may move by one step of the grid or 5 % of the domain
    exact_alike: float  # every rule weighing alike, cuts equal
    near_alike: float


@dataclass(frozen=True)
class ForestRules:
    """Rules kept over the whole forest. A rule that stands in several trees counts once; an empty leaf is none."""

    kept: RuleShares  # by the forest of the release
    floor: RuleShares  # by that of a resample, mean over resamples
    chance: RuleShares  # by that of the original with its target shuffled
    rules: int  # of the original's forest
    released: int  # of the release's


def forest_rules(
    original: Walked, released: Forest, resampled: Sequence[Forest], shuffled: Forest, allowed: Allowed
) -> ForestRules:
    """Compare the rules of forests; ``allowed`` is how far a cut of each attribute may move.

    The rows that a rule covers are those that were walked down the original's forest. Forests of one resample at least
    are given, and that of the shuffled target.
    """
    ours, theirs = distinct_rules(original.trees, original.places), distinct_rules(released)
    floors = [shares_held(ours, distinct_rules(trees), allowed) for trees in resampled]
    return ForestRules(
        kept=shares_held(ours, theirs, allowed),
        floor=RuleShares(*np.mean([astuple(shares) for shares in floors], axis=0).tolist()),
        chance=shares_held(ours, distinct_rules(shuffled), allowed),
        rules=len(ours),
        released=len(theirs),
    )


def distinct_rules(trees: Forest, places: Sequence[Places] | None = None) -> tuple[Rule, ...]:
    """Every rule of a forest once, without those of empty leaves; its rows are those of its first tree.

    ``places`` of rows say how many stand in each leaf, else training rows do.
    """
    found: dict[Rule, None] = {}
    for number, tree in enumerate(trees):
        rows = None if places is None else rows_by_leaf(tree, places[number])
        held = tree.counts[tree.leaves].sum(axis=1) > 0
        every = zip(rules_of(tree, rows), held.tolist(), strict=True)
        found |= dict.fromkeys(rule for rule, there in every if there and rule not in found)
    return tuple(found)


def shares_held(ours: Sequence[Rule], theirs: Sequence[Rule], allowed: Allowed) -> RuleShares:
    """How much of some rules is among others."""
    if not ours:
        return RuleShares(1.0, 1.0, 1.0, 1.0)
    others = set(theirs)
    exact = np.array([rule in others for rule in ours])
    near = nearest(ours, theirs, allowed) >= 0
    rows = np.array([rule.rows for rule in ours])
    return RuleShares(
        exact=float(np.average(exact, weights=rows)),
        near=float(np.average(near, weights=rows)),
        exact_alike=float(exact.mean()),
        near_alike=float(near.mean()),
    )
