"""What is proved of dealing, by enumeration: every table of a few rows and three binary columns is equally likely.

Trees are grown by the real code for every table, or fixed beforehand. The law of the release is exact
(`tests.naive_dealing`), so what an attacker gains is exact, too.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise, product
from math import comb, exp, factorial, inf, log, log2, prod

import numpy as np
import pytest
from scipy.stats import chi2

import leafcover as lc
from leafcover.engine.manifest import external
from leafcover.engine.run import partitions_of, whole_part
from leafcover.engine.statement import upwards
from leafcover.keyed_random import Draws
from leafcover.perturb.base import Earlier
from leafcover.table.table import Column, Table
from tests.naive_dealing import Chained, released, tables
from tests.tables import category, mixed, number, table

NAMES = "abc"
ROWS = [2, 3, 4, *(pytest.param(rows, marks=pytest.mark.slow) for rows in (5, 6))]
SETTINGS = [(k, price, avoid) for k in (1, 2, 3) for price, avoid in ((0.0, inf), (0.6, 0.25))]


@pytest.fixture(autouse=True)
def no_level_is_rare(monkeypatch):
    """Tables that can be enumerated have rare levels only; what is proved holds whatever counts as rare."""
    for name in ("tree.binary.COMMON", "tree.binary.FEW", "perturb.deal.COMMON"):
        monkeypatch.setattr(f"leafcover.{name}", 1)


def as_table(rows):
    def column(at, name):
        return Column(name, "category", np.array([row[at] for row in rows], np.int32), levels=("0", "1"))

    return Table(tuple(column(at, name) for at, name in enumerate(NAMES[: len(rows[0])])))


def plan_of(k, price, avoid):
    deal = lc.Deal(share=1, avoid=avoid, relate=inf)  # the tables are too small for counts of pairs to be compared
    first = lc.Step("a", within=lc.Whole(), perturb=deal)
    later = (
        lc.Step(name, within=lc.Conditional(name, tuple(NAMES[:at]), min_cell=k, price=price), perturb=deal)
        for at, name in ((1, "b"), (2, "c"))
    )
    return lc.Plan(first, *later)


@dataclass(frozen=True)
class Described:
    """A table, how its columns are dealt, and how many bits describe that beyond the columns' own values."""

    rows: tuple
    chain: tuple  # for the slow twin
    bits: float

    @cached_property
    def margins(self):
        return tuple(sum(column) for column in zip(*self.rows, strict=True))

    @cached_property
    def orders(self):
        """In how many orders the rows can be: people are told apart."""
        return factorial(len(self.rows)) // prod(factorial(count) for count in Counter(self.rows).values())

    @cached_property
    def law(self):
        return _law(tuple(sorted(row[0] for row in self.rows)), self.chain)


@cache
def _law(first, chain):
    return released(first, chain)


def described(rows, k, price, avoid, fixed=None):
    """Grow the trees of a table by the real code, or take fixed ones, which are known beforehand."""
    known = (tuple(sorted(row[: at + 1] for row in rows)) for at in (1, 2))
    dealt = [_dealt(some, at, k, price, avoid, fixed) for at, some in enumerate(known, 1)]
    return Described(rows, tuple(chained for chained, _ in dealt), sum(bits for _, bits in dealt))


@cache
def _dealt(rows, at, k, price, avoid, fixed):
    """How a column is dealt, and the bits that describe it: it and the columns before it decide."""
    original, step = as_table(rows), plan_of(k, price, avoid).steps[at]
    cells = step.within.cells(original)
    (stage,) = cells.stages
    if fixed is not None:
        trees = trees_of(fixed)[at - 1]
        leaf = trees.place(trees.codes(original), stage.start)
        cells = replace(cells, stages=(stage := replace(stage, trees=trees, leaf=leaf),))
    part = whole_part(original, step, {step.within: cells}, {c.name: Earlier(c, c) for c in original})
    found = step.perturb.described(part, step.within.min_rows)
    bits = found.counts + found.pairs + (found.trees if fixed is None else 0.0)
    return _chained(rows, at, stage, original, step.perturb), bits


@pytest.mark.parametrize(("k", "price", "avoid"), SETTINGS)
def test_how_a_column_is_dealt_depends_on_it_and_the_columns_before_it_alone(k, price, avoid):
    for rows in tables(3, 3):
        alone = _dealt(tuple(sorted(row[:2] for row in rows)), 1, k, price, avoid, None)
        assert _dealt(rows, 1, k, price, avoid, None) == (alone[0], pytest.approx(alone[1]))


def _chained(rows, at, stage, original, deal):
    types = list(product((0, 1), repeat=at))
    leaf = stage.trees.place(stage.trees.codes(as_table(types)), np.zeros(len(types), np.int64)).tolist()
    leaf_of = dict(zip(types, leaf, strict=True))
    new = set()
    for c, level, value in product(range(at), (0, 1), (0, 1)) if deal.avoid < inf else ():
        chance = sum(r[c] == level for r in rows) * sum(r[at] == value for r in rows) / len(rows)
        if chance >= deal.avoid and not any(r[c] == level and r[at] == value for r in rows):
            new.add((c, level, value))
    holds = Counter((leaf_of[row[:at]], row[at]) for row in rows)
    parent = tuple(stage.trees.parent.tolist())
    return Chained(parent, tuple(sorted(leaf_of.items())), tuple(sorted(holds.items())), frozenset(new))


@cache
def everything(rows, k, price, avoid, fixed=None):
    return tuple(described(one, k, price, avoid, fixed) for one in tables(rows, 3))


@cache
def trees_of(kind):
    """Fixed trees: ask every column before ("full": every cell of earlier values is a leaf), or one each ("half")."""
    types = list(product((0, 1), repeat=3)) * 4
    related = [(a, a ^ (at % 4 == 0), a ^ b if at % 5 else a) for at, (a, b, _) in enumerate(types)]
    if kind == "half":
        related = [(a, b, b) for a, b, _ in related]
    steps = plan_of(1, 0.0, inf).steps[1:]
    found = tuple(step.within.cells(as_table(related)).stages[0].trees for step in steps)
    assert [trees.leaves for trees in found] == [2, 4 if kind == "full" else 2]
    return found


FIXED = ("full", "half")


# What an attacker learns, exactly.


def grouped(made, *, figure=True):
    """Tables that an attacker who knows the margins, and the published figure, cannot tell apart beforehand."""
    groups = defaultdict(list)
    for one in made:
        shown = upwards(one.bits / len(one.rows)) if figure else None
        groups[one.margins, shown].append(one)
    return groups


def gain(group, law):
    """The information of the release about the people, in bits: I(X; R) for equally likely tables of a group."""
    total = sum(one.orders for one in group)
    mixed_law = defaultdict(float)
    for one in group:
        for out, chance in law(one).items():
            mixed_law[out] += one.orders / total * chance
    return sum(
        one.orders / total * chance * log2(chance / mixed_law[out]) for one in group for out, chance in law(one).items()
    )


def gains_about(group, law):
    """The same about a person's row, for an attacker who knows the rows of 0, 1, ... others: I(X_i; R | X_others)."""
    told = [_gain_about_first(group, law, people) for people in range(len(group[0].rows) + 1)]
    return [more - less for less, more in pairwise(told)]


def _gain_about_first(group, law, people):
    """I(X_1 ... X_m; R)."""
    joint, seen, out_law = defaultdict(float), defaultdict(float), defaultdict(float)
    total = sum(one.orders for one in group)
    for one in group:
        for rows, share in _first_rows(one.rows, people).items():
            for out, chance in law(one).items():
                joint[rows, out] += one.orders / total * share * chance
    for (rows, out), chance in joint.items():
        seen[rows] += chance
        out_law[out] += chance
    return sum(chance * log2(chance / seen[rows] / out_law[out]) for (rows, out), chance in joint.items())


@cache
def _first_rows(rows, people):
    """The rows of the first few people, in the order of the people: {rows: probability}."""
    if people == 0:
        return {(): 1.0}
    found = defaultdict(float)
    for at, row in enumerate(rows):
        for rest, share in _first_rows(rows[:at] + rows[at + 1 :], people - 1).items():
            found[(row, *rest)] += share / len(rows)
    return dict(found)


def law_of(one):
    return one.law


def weak_law(one):
    """A planted weak dealing: one time in two it releases the original rows."""
    found = defaultdict(float, {out: chance / 2 for out, chance in one.law.items()})
    found[tuple(sorted(one.rows))] += 0.5
    return found


def violations(made, law, *, figure=True):
    """Groups in which the release says more than the statement allows."""
    found = []
    for (margins, _), group in grouped(made, figure=figure).items():
        allowed = sum(one.orders * one.bits for one in group) / sum(one.orders for one in group)
        if figure:
            allowed = max(one.bits for one in group)
        got = gain(group, law)
        if got > allowed + 1e-9:
            found.append((margins, got, allowed))
    return found


# The twin is the real code, and the real code needs nothing but the description.


def simulated(rows, k, price, avoid, runs, seed):
    """How often the real code releases each table."""
    original, plan = as_table(rows), plan_of(k, price, avoid)
    cells = partitions_of(original, plan, lambda words, share: None)
    found = Counter()
    for at in range(runs):
        draws, after, so_far = Draws(bytes([seed, at % 256, at // 256] + [0] * 29)), {}, {}
        for step in plan.steps:
            part = whole_part(original, step, cells, so_far)
            after |= (changed := step.perturb.change(part, None, draws.sub(*step.columns)))
            so_far |= {n: Earlier(c := original[n], replace(c, values=changed[n].values)) for n in changed}
        found[tuple(sorted(zip(*(after[name].values.tolist() for name in NAMES), strict=True)))] += 1
    return found


CASES = [
    (((0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 0), (1, 1, 1)), 3, 0.0, inf),
    (((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 1), (1, 1, 0), (1, 1, 0)), 2, 0.0, 0.25),
    (((0, 0, 1), (0, 0, 1), (0, 1, 0), (1, 1, 0), (1, 1, 0), (1, 1, 1)), 1, 0.6, 0.25),
    (((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (1, 0, 0), (1, 0, 1)), 3, 0.6, 0.25),
]


@pytest.mark.parametrize("case", CASES)
def test_the_twin_has_the_law_of_the_real_code(case):
    runs = 1000
    law, found = described(*case).law, simulated(*case, runs, seed=1)
    assert sum(law.values()) == pytest.approx(1)
    assert set(found) <= set(law)
    common = {out: chance * runs for out, chance in law.items() if chance * runs >= 5}
    rest = runs - sum(common.values())
    spread = sum((found[out] - expected) ** 2 / expected for out, expected in common.items())
    if rest >= 1:
        spread += (runs - sum(found[out] for out in common) - rest) ** 2 / rest
    assert chi2(max(len(common) - (rest < 1), 1)).sf(spread) > 1e-3


def test_tables_with_one_description_have_releases_of_one_law():
    """By the real code: two tables that differ only in what the trees do not ask for."""
    one = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1))
    other = ((0, 0, 0), (0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1))
    case, runs = (3, 50.0, inf), 1000
    assert described(one, *case).chain == described(other, *case).chain
    counts = [simulated(rows, *case, runs, seed) for seed, rows in enumerate((one, other))]
    both = counts[0] + counts[1]
    often = [out for out, count in both.items() if count >= 10]
    spread = sum((counts[0][out] - counts[1][out]) ** 2 / both[out] for out in often)
    assert chi2(len(often)).sf(spread) > 1e-3


# The statement.


@pytest.mark.parametrize(("k", "price", "avoid"), SETTINGS)
@pytest.mark.parametrize("rows", ROWS)
def test_a_release_says_no_more_than_its_description(rows, k, price, avoid):
    """Trees regrown for every table; the attacker knows the margins, and also the published figure or not."""
    made = everything(rows, k, price, avoid)
    assert violations(made, law_of) == []
    assert violations(made, law_of, figure=False) == []


@pytest.mark.parametrize("fixed", FIXED)
@pytest.mark.parametrize("rows", ROWS)
def test_with_fixed_trees_the_bits_of_the_counts_suffice(rows, fixed):
    assert violations(everything(rows, 1, 0.0, inf, fixed), law_of) == []


def test_the_bound_is_nearly_attained():
    groups = grouped(everything(5, 1, 0.0, inf, "half")).values()
    assert max(gain(group, law_of) / group[0].bits for group in groups if group[0].bits) > 0.95


@pytest.mark.parametrize(("k", "price", "avoid"), SETTINGS)
def test_the_description_is_a_prefix_code(k, price, avoid):
    """Kraft: for given margins, the powers of two of the lengths of all descriptions add up to at most one."""
    found = defaultdict(set)
    for one in everything(4, k, price, avoid):
        found[one.margins].add((one.chain, one.bits))
    assert max(sum(2**-bits for _, bits in those) for those in found.values()) <= 1 + 1e-9


@pytest.mark.parametrize(("k", "price", "avoid"), SETTINGS)
def test_the_average_is_over_people_and_over_how_many_others_are_known(k, price, avoid):
    rows = 4
    for group in grouped(everything(rows, k, price, avoid)).values():
        gains = gains_about(group, law_of)
        assert min(gains) >= -1e-9
        assert sum(gains) / rows <= max(one.bits for one in group) / rows + 1e-9


@pytest.mark.parametrize(("k", "price", "avoid"), SETTINGS)
def test_independent_people_share_the_bits_of_description_and_margins(k, price, avoid):
    """Nothing is known beforehand: who knows m others gains at most the mean length over the n - m people left."""
    rows = 4
    made = everything(rows, k, price, avoid)
    mean = sum(one.orders * one.bits for one in made) / sum(one.orders for one in made) + 3 * log2(rows + 1)
    for known, told in enumerate(gains_about(made, law_of)):
        assert told <= mean / (rows - known) + 1e-9


def gain_about_last(made):
    """Per table of the first two columns: the sum over people of I(c of the person; R | a and b of all), and leaves."""
    groups = defaultdict(list)
    for one in made:
        groups[tuple(sorted(row[:2] for row in one.rows))].append(one)
    for known, group in groups.items():
        size = Counter(known)
        ones = [Counter(row[:2] for row in one.rows if row[2]) for one in group]
        weight = [prod(comb(size[z], held[z]) for z in size) / 2 ** len(known) for held in ones]
        total = 0.0
        for z, people in size.items():
            joint = defaultdict(float)
            for one, held, share in zip(group, ones, weight, strict=True):
                for out, chance in one.law.items():
                    joint[1, out] += share * chance * held[z] / people
                    joint[0, out] += share * chance * (1 - held[z] / people)
            total += people * sum(
                p * log(2 * p / (joint[0, out] + joint[1, out])) for (_, out), p in joint.items() if p
            )
        leaf = dict(group[0].chain[1].leaf)
        yield total, len({leaf[z] for z in size})


@pytest.mark.parametrize("fixed", FIXED)
def test_for_fixed_trees_and_people_alike_in_a_leaf_the_last_column_loses_one_nat_a_share(fixed):
    for total, leaves in gain_about_last(everything(4, 1, 0.0, inf, fixed)):
        assert total <= leaves + 1e-9  # two values: one free share in each leaf


# Weak dealings fail, and so do stronger claims.


@pytest.mark.parametrize(
    ("rows", "setting"),
    [(5, (3, 0.0, inf)), (3, (2, 0.0, inf)), (5, (1, 0.0, inf, "half"))],
    ids=["k = 3", "k = 2", "fixed trees"],
)
def test_a_dealing_that_returns_the_original_one_time_in_two_fails(rows, setting):
    made = everything(rows, *setting)
    assert violations(made, law_of) == []
    assert len(violations(made, weak_law)) > 0.2 * len(grouped(made))


def test_one_row_left_as_it_is_fails():
    rest_of = {one.rows: one for one in everything(3, 3, 0.0, inf)}

    def law(one):
        found = defaultdict(float)
        for at, row in enumerate(one.rows):
            for out, chance in rest_of[one.rows[:at] + one.rows[at + 1 :]].law.items():
                found[tuple(sorted((*out, row)))] += chance / len(one.rows)
        return found

    assert len(violations(everything(4, 3, 0.0, inf), law)) > 50


@pytest.mark.parametrize("k", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_copy_of_the_original_fails(k):
    made = everything(5 if k == 2 else 6, k, 0.0, inf)
    assert violations(made, lambda one: {one.rows: 1.0}) != []


def posteriors(made):
    """For an attacker who knows the margins and a and b of a person: odds of c = 1 before and after the release."""
    for group in grouped(made, figure=False).values():
        for z in product((0, 1), repeat=2):
            before, after = [0.0, 0.0], defaultdict(lambda: [0.0, 0.0])
            for one in group:
                for row, count in Counter(one.rows).items():
                    if row[:2] == z:
                        before[row[2]] += one.orders * count
                        for out, chance in one.law.items():
                            after[out][row[2]] += one.orders * count * chance
            if min(before):
                yield from ((before, now) for now in after.values())


@pytest.mark.parametrize("k", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_k_rows_in_a_leaf_hide_nobody_and_bound_no_odds(k):
    found = list(posteriors(everything(2 * k, k, 0.0, inf)))
    certain = [max(before) / sum(before) for before, now in found if min(now) < 1e-12 * max(now)]
    assert min(certain) < 0.8  # certain afterwards, not so before
    odds = [(now[1] / now[0]) / (before[1] / before[0]) for before, now in found if min(now) > 1e-12 * max(now)]
    assert max(odds) > (1 + 1 / k) ** 2


def test_an_attacker_who_knows_nobody_may_gain_more_than_the_average():
    """Given the margins people are not independent, so the first of them may tell most."""
    rows = 4
    groups = grouped(everything(rows, 2, 0.0, inf)).values()
    assert max(gains_about(g, law_of)[0] - g[0].bits / rows for g in groups) > 0.3


# The figures of a release.


def test_own_shares_are_what_leaf_counts_say():
    original = mixed(3, rows=200, missing=0)
    cells = lc.Conditional("job", ("age", "town"), min_cell=10, price=0.0).cells(original)
    (stage,) = cells.stages
    assert stage.trees.leaves > 3
    levels = len(np.unique(stage.code))
    for row in range(0, 200, 7):
        here = stage.leaf == stage.leaf[row]
        same = here & (stage.code == stage.code[row])
        others = (same.sum() - 1 + 1) / (here.sum() - 1 + levels)
        assert stage.own_share[row] == pytest.approx(log(same.sum() / here.sum() / others))
    total = sum((n := int((stage.leaf == leaf).sum())) * log(1 + (levels - 1) / n) for leaf in np.unique(stage.leaf))
    assert stage.own_share.sum() == pytest.approx(total)
    assert total <= (levels - 1) * stage.trees.leaves


def test_a_split_is_described_as_by_hand():
    """Ten rows; the tree asks one of two columns, at the root, where the sizes of both sides are known."""
    original = table(
        category("x", [*"aaaabbbbcc"]), number("y", [1, 2] * 5), category("z", [*"pppqqqqqqq"])
    )  # fmt: skip
    (stage,) = lc.Conditional("z", ("x", "y"), min_cell=4, price=0.0).cells(original).stages
    assert stage.trees.names == ("x",)
    trees, counts = stage.described(original.select(("x", "y")), 4)
    assert trees == pytest.approx(1 + log2(2) + log2(1) + log2(3))  # split; which column; one level; which of three
    assert counts == pytest.approx(log2(3 + 1))  # the rarer value: none to three of its rows on the first side


@pytest.mark.parametrize(("figure", "shown"), [(1.9801, 2.0), (0.0123, 0.013), (0.31, 0.31), (-25.66, -25), (0, 0)])
def test_figures_are_rounded_to_the_safe_side(figure, shown):
    assert upwards(figure) == shown


def test_the_manifest_states_what_is_proved_and_what_it_assumes():
    original = mixed(1, rows=400)
    release = lc.release(original, lc.recipes.cover(original, target="class", k=20), seed=1)
    proved = external(release, file="x", sha256="y")["proved"]
    exact = release.statement
    assert exact.bits / 400 <= proved["bits_per_person"] <= 1.11 * exact.bits / 400
    assert proved["bits_per_person_in_a_copy"] <= exact.copy / 400
    assert exp(exact.own_share) <= proved["own_share_factor"]
    assert exact.own_share <= exact.own_share_most
    assert len(proved["statements"]) == 2
    assert len(proved["assumptions"]) == 4


def test_trees_that_ask_nothing_are_described_by_that_alone():
    original = mixed(1, rows=400)
    plan = lc.recipes.cover(original, target="class", price=1000, k=1000)
    found = lc.release(original, plan, seed=1).statement
    assert (found.trees, found.counts, found.own_share) == (0, 0, 0)


@pytest.mark.parametrize("recipe", ["cells", "framework", "additive"])
def test_nothing_is_proved_of_other_recipes(recipe):
    original = mixed(1, rows=200)
    release = lc.release(original, lc.recipes.plan_for(original, recipe, target="class"), seed=1)
    assert release.statement is None
    assert "proved" not in external(release, file="x", sha256="y")


def test_nothing_is_proved_if_a_column_stays_unchanged():
    original = replace(mixed(1, rows=200), roles={"town": "unchanged"})
    release = lc.release(original, lc.recipes.cover(original, target="class"), seed=1)
    assert release.statement is None
