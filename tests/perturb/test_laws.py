"""Laws that every noise keeps inside every kind of cells; a new noise joins by one line."""

from dataclasses import replace
from functools import cache, reduce
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from leafcover.keyed_random import Draws, Key
from leafcover.partition.forest import Refine
from leafcover.partition.leaves import Leaves, Whole
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.perturb.base import Chunk
from leafcover.perturb.bounded import Bounded
from leafcover.perturb.bounded_normal import BoundedGadp
from leafcover.perturb.centroid import Centroid
from leafcover.perturb.conditional_normal import Egadp, Gadp
from leafcover.perturb.copula import Cgadp, DataShuffle
from leafcover.perturb.correlated_noise import Correlated
from leafcover.perturb.deal import Deal
from leafcover.perturb.geometric_transformation import Geometric
from leafcover.perturb.pram import Pram
from leafcover.perturb.redraw import Redraw
from leafcover.perturb.shuffle import Shuffle
from leafcover.perturb.swap import BoundedSwap, RankSwap
from tests.tables import mixed

NUMBERS, CATEGORIES = ("age", "pay", "noise"), ("job", "town")
NOISES = {
    "shuffle": (Shuffle(), (*NUMBERS, *CATEGORIES)),
    "shuffle, missing moves": (Shuffle(missing="moves"), ("age", "job")),
    "bounded": (Bounded(), NUMBERS),
    "bounded by rank": (Bounded(scale="rank"), NUMBERS),
    "bounded, reflect": (Bounded(boundary="reflect", distribution="laplace"), NUMBERS),
    "bounded, wrap": (Bounded(boundary="wrap", distribution="uniform"), NUMBERS),
    "bounded, clip": (Bounded(boundary="clip", innocent="heterogeneous"), NUMBERS),
    "bounded, a table": (Bounded(distribution="figure-2"), NUMBERS),
    "bounded by value": (Bounded(0.5, scale="value"), NUMBERS),
    "bounded, influential alone": (Bounded(innocent="none", distribution="-1:1 0:1 1:1"), NUMBERS),
    "bounded, innocent alone": (Bounded(influential="none"), NUMBERS),
    "redraw": (Redraw(), CATEGORIES),
    "redraw, all leaves": (Redraw(distribution="all-leaves"), CATEGORIES),
    "redraw, own": (Redraw(distribution="own", others=0.3), CATEGORIES),
    "detective": (Redraw(siblings=0.3, cousins=3, others=0.1), CATEGORIES),
    "centroid": (Centroid(), (*NUMBERS, *CATEGORIES)),
    "centroid of five": (Centroid(least=5), (*NUMBERS, *CATEGORIES)),
    "centroid, median": (Centroid("median", least=7, on_grid=True), NUMBERS),
    "additive": (Additive(0.5), NUMBERS),
    "additive, laplace": (Additive(0.3, distribution="laplace", on_grid=False), NUMBERS),
    "multiplicative": (Multiplicative(0.2), NUMBERS),
    "correlated": (Correlated(0.5), NUMBERS),
    "bias-corrected": (Correlated(0.7, bias_corrected=True), NUMBERS),
    "translate": (Geometric("translate"), NUMBERS),
    "scale": (Geometric("scale"), NUMBERS),
    "rotate": (Geometric("rotate"), NUMBERS),
    "rotate scores": (Geometric("rotate", standardised=True, on_grid=True), NUMBERS),
    "hybrid": (Geometric("hybrid"), NUMBERS),
    "deal": (Deal(), (*NUMBERS, *CATEGORIES)),
    "deal, rare numbers too": (Deal(share=1), (*NUMBERS, *CATEGORIES)),
    "bounded gadp": (BoundedGadp(), NUMBERS),
    "bounded gadp, small cells": (BoundedGadp(similarity=0.0, own_from=1000), NUMBERS),
    "gadp": (Gadp(), NUMBERS),
    "gadp, given": (Gadp(given=("job", "town"), similarity=0.3), NUMBERS),
    "egadp": (Egadp(given=("town",), similarity=0.3), NUMBERS),
    "cgadp": (Cgadp(given=("town",), similarity=0.3), NUMBERS),
    "data shuffle": (DataShuffle(given=("town",), similarity=0.3), NUMBERS),
    "ipso": (Egadp(uncorrelated=False, on_grid=True), NUMBERS),
    "pram": (Pram(0.3), CATEGORIES),
    "pram, two stages": (Pram(0.3, invariant="two-stage"), CATEGORIES),
    "pram, not invariant": (Pram(0.3, invariant="none"), CATEGORIES),
    "rank swap": (RankSwap(0.2), NUMBERS),
    "rank swap, far": (RankSwap(0.6), NUMBERS),
    "bounded swap": (BoundedSwap(3), NUMBERS),
    "bounded swap, half": (BoundedSwap(150), NUMBERS),
    "multiplicative, normal": (Multiplicative(0.5, distribution="normal", on_grid=False), NUMBERS),
}
SPLITS = {
    "whole": Whole(),
    "leaves": Leaves(of="class"),
    "every leaf": Leaves(of="class", min_cell=1),
    "refined": Refine(Leaves(of="class", min_cell=10), by=("town", "age"), floor=10),
}
REVERSIBLE = {name for name, (noise, _) in NOISES.items() if noise.reversible}  # no values are likelier than others
DRAWS_NOTHING = {name for name, (noise, _) in NOISES.items() if noise.deterministic}
CONTINUOUS = {"additive, laplace", "multiplicative, normal"}  # no value comes twice; their own tests ask for shares
# Exact moments and ranks bind the rows of a small part, whose likelihood is that of many rows.
EXACT = {"egadp", "ipso", "cgadp", "data shuffle"}
IMPOSSIBLE = {("detective", "whole"), ("detective", "refined")}  # siblings need leaves of a tree
IMPOSSIBLE |= {("bounded, influential alone", "whole")}  # no number is tested
DEALT = {name for name, (noise, _) in NOISES.items() if not noise.descends}  # needs cells that place released rows
IMPOSSIBLE |= {(name, where) for name in DEALT for where in SPLITS if not SPLITS[where].places_released}
TABLE = mixed(3)


@cache
def cells_of(split):
    """The cells of the table; made once, since a tree is grown for most."""
    return split.cells(TABLE).cells


def part_of(noise, columns, split, keep=()):
    cells = cells_of(split)
    bare = [TABLE[name] for name in columns]
    declared = tuple(replace(c, declared=None if c.is_category else c.domain) for c in bare)
    given = tuple(TABLE[name] for name in noise.given) if noise else ()
    return Chunk(np.arange(len(TABLE)), declared, cells, tuple(map(cells_of, keep)), given=given)


def changed(noise, part, key=1, pieces=1):
    """The new values, made in pieces: of whole cells where the noise needs them, else of rows in order."""
    draws = Draws(Key.from_seed(key).secret)
    pieces = 1 if noise.scope == "table" else pieces
    by = part.cells.label % pieces if noise.scope == "cell" else np.arange(len(part)) * pieces // len(part)
    parts = [part.take(np.flatnonzero(by == piece)) for piece in range(pieces) if (by == piece).any()]
    summary = noise.finalize(reduce(noise.merge, [noise.fit(p) for p in parts]), part.cells)
    after = {c.name: c.values.copy() for c in part.columns}
    for piece in parts:
        for name, one in noise.change(piece, summary, draws).items():
            after[name][piece.rows] = one.values
    return after, summary


def keeps_its_promises(noise, part):
    after, _ = changed(noise, part)
    assert noise.violations(part, after) == ()


def does_not_change_what_it_was_given(noise, part):
    before = [c.values.copy() for c in part.columns]
    changed(noise, part)
    for old, column in zip(before, part.columns, strict=True):
        np.testing.assert_array_equal(old, column.values)


def repeats_with_the_same_key_only(noise, part):
    one, two, other = (changed(noise, part, key)[0] for key in (1, 1, 2))
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])
    differs = any((one[name] != other[name])[~np.isnan(one[name].astype(float))].any() for name in one)
    assert differs != noise.deterministic


def gives_the_same_in_parts(noise, part):
    whole, _ = changed(noise, part)
    for name, values in changed(noise, part, pieces=7)[0].items():
        np.testing.assert_array_equal(values, whole[name])


def finds_what_it_released_possible(noise, part):
    after, summary = changed(noise, part)
    assert (noise.likelihood(part, after, summary) > 0).all()


def pins_only_values_that_stay(noise, part):
    for column in part.columns:
        alone = replace(part, columns=(column,))
        summary = noise.finalize(noise.fit(alone), alone.cells)
        stuck = noise.fixed(alone, summary)[column.name]
        if not noise.descends:  # no row stays where it was, so none has a value that is fixed
            assert not stuck.any()
            continue
        stays = noise.likelihood(alone, {column.name: column.values}, summary)
        np.testing.assert_array_equal(stuck, ~column.missing & (stays >= 0.95))


LAWS = [
    keeps_its_promises,
    does_not_change_what_it_was_given,
    repeats_with_the_same_key_only,
    gives_the_same_in_parts,
    finds_what_it_released_possible,
    pins_only_values_that_stay,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(("name", "where"), [pair for pair in product(NOISES, SPLITS) if pair not in IMPOSSIBLE])
def test_law(law, name, where):
    noise, columns = NOISES[name]
    law(noise, part_of(noise, columns, SPLITS[where]))


UNLIKE_A_FREQUENCY = DRAWS_NOTHING | CONTINUOUS | REVERSIBLE | EXACT | {"bounded, influential alone"}  # few rows move


@pytest.mark.parametrize("name", [name for name in NOISES if name not in UNLIKE_A_FREQUENCY])
def test_likelihood_is_how_often_a_value_is_released(name):
    """Many keys, one small part: the share of keys that release a value against its likelihood, from two sides."""
    noise, columns = NOISES[name]
    small = mixed(5, rows=40, missing=0.0)
    column = replace(small[columns[0]], declared=None if small[columns[0]].is_category else small[columns[0]].domain)
    cells = (Whole() if name in DEALT else Leaves(of="class", min_cell=8)).cells(small).cells
    part = Chunk(np.arange(40), (column,), cells)
    summary = noise.finalize(noise.fit(part), part.cells)
    runs = [noise.change(part, summary, Draws(Key.from_seed(k).secret))[column.name].values for k in range(2500)]
    seen = np.array(runs)
    values = np.unique(seen)
    law = np.array([noise.likelihood(part, {column.name: np.full(40, v)}, summary) for v in values])
    worst = 1.0
    for row in range(0, 40, 8):
        chances = law[:, row]
        counts = (seen[:, row, None] == values).sum(axis=0)
        assert chances.sum() == pytest.approx(1, abs=0.02)
        often = chances * len(seen) >= 5
        observed = np.append(counts[often], counts[~often].sum())
        expected = np.append(chances[often], max(1 - chances[often].sum(), 0)) * len(seen)
        if expected[-1] < 5:
            observed, expected = observed[:-1], expected[:-1]
        if len(expected) < 2:
            continue
        expected = expected / expected.sum() * observed.sum()
        assert chisquare(observed, expected).pvalue > 1e-7
        off = expected * np.where(np.arange(len(expected)) % 2, 1.3, 0.7)
        worst = min(worst, chisquare(observed, off / off.sum() * observed.sum()).pvalue)
    assert worst < 1e-6  # a law 30 % off is caught in some row


def test_every_row_of_a_cell_gives_its_value_to_every_other_equally_often():
    label = np.repeat([0, 1], [6, 5])
    part = Chunk(
        np.arange(11), (TABLE["age"].take(np.arange(11)),), replace(Whole().cells(TABLE).cells, label=label, count=2)
    )
    part = replace(part, columns=(replace(part.columns[0], values=np.arange(11.0)),))
    seen = np.array(
        [Shuffle().change(part, None, Draws(Key.from_seed(k).secret))["age"].values for k in range(6000)]
    ).astype(int)
    for row in range(11):
        mates = np.flatnonzero(label == label[row])
        counts = np.bincount(seen[:, row], minlength=11)
        assert counts.sum() == counts[mates].sum()
        assert chisquare(counts[mates]).pvalue > 1e-6
    # A weak shuffle, which moves each value to the next row only, is caught.
    weak = np.bincount(np.full(6000, 1), minlength=6)
    assert chisquare(weak).pvalue < 1e-6


def test_a_category_kept_in_the_leaves_of_another_tree_stays_there():
    part = part_of(None, ("job",), Leaves(of="job"), keep=(Leaves(of="class", min_cell=1),))
    noise = Redraw(siblings=0.4, others=0.4)
    after, _ = changed(noise, part)
    allowed = part.allowed("job")
    assert allowed is not None
    known = ~part.columns[0].missing
    assert allowed[np.flatnonzero(known), after["job"][known]].all()
    free = changed(noise, replace(part, keep=()))[0]["job"]
    assert not allowed[np.flatnonzero(known), free[known]].all()  # without keep the same noise does leave


def test_a_person_outside_the_table_may_have_a_larger_value_than_everybody_in_it():
    """Ranked as the highest: an attacker asks for the likelihood of people who are not in the table."""
    noise = Bounded(scale="rank")
    part = part_of(noise, ("pay",), Whole())
    after, summary = changed(noise, part)
    highest = float(np.nanmax(part.columns[0].values))
    found = [
        noise.likelihood(
            replace(part, columns=(replace(part.columns[0], values=np.full(len(part), own)),)), after, summary
        )
        for own in (highest, 10 * highest)
    ]
    np.testing.assert_array_equal(*found)
