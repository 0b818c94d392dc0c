"""Dealing: the kernels against slow twins, the guarantees of a step, and shared numbers."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chisquare

import leafcover as lc
from leafcover.errors import PlanError, ValueOutOfRange
from leafcover.kernels.dealing import PairCounts, ScoreSums, deal, relate_pairs, swap_new_pairs
from leafcover.kernels.histogram_refine import Splits
from leafcover.kernels.microaggregation import optimal_groups
from leafcover.perturb.base import Earlier, standard_scores
from leafcover.perturb.deal import STEP, _bits_of_steps, _is_further, _Pairs, _rounded_product, shared_values
from leafcover.recipes.plan import canonical
from leafcover.table.table import Grid
from leafcover.tree.binary import _pruned, codings, grow_binary, stages_of
from leafcover.tree.histogram import bin_columns
from leafcover.tree.tree import Attribute
from tests.tables import category, mixed, mixed_tables, number, table

PARENT = np.array([-1, 0, 0, 1, 1], np.int32)  # a root, two children, and two below the first of them
LEAVES = (2, 3, 4)


def codes(rng, count, rows):
    """Random codes of 32 bits, as stages have: kernels are compiled for these alone."""
    return rng.integers(0, count, rows).astype(np.int32)


def words(seed, rows):
    return np.random.default_rng(seed).integers(0, 2**64, rows, dtype=np.uint64)


def ancestors(node):
    found = [node]
    while PARENT[found[-1]] >= 0:
        found.append(int(PARENT[found[-1]]))
    return found


@given(
    st.lists(st.tuples(st.sampled_from(LEAVES), st.sampled_from(LEAVES)), min_size=1, max_size=40), st.integers(0, 9)
)
def test_as_many_as_possible_meet_at_each_node(pairs, seed):
    giving, taking = (np.array(side, np.int32) for side in zip(*pairs, strict=True))
    source, met = deal(giving, taking, PARENT, words(seed, len(pairs)))
    assert sorted(source) == list(range(len(pairs)))
    for taker, giver in enumerate(source):
        assert met[taker] in ancestors(taking[taker])
        assert met[taker] in ancestors(giving[giver])
    givers, takers = Counter(giving.tolist()), Counter(taking.tolist())
    for node in (4, 3, 2, 1, 0):  # the twin: how many meet, from the leaves up
        here = min(givers[node], takers[node])
        assert int((met == node).sum()) == here
        if node:
            givers[int(PARENT[node])] += givers[node] - here
            takers[int(PARENT[node])] += takers[node] - here


def test_every_giver_of_a_leaf_is_equally_likely():
    """Three givers and two takers in one leaf, two givers and three takers in its sibling."""
    giving, taking = np.array([[3, 3, 3, 4, 4, 2], [3, 3, 4, 4, 4, 2]], np.int32)
    counts = np.zeros((6, 6), int)
    runs = 6000
    for seed in range(runs):
        source, _ = deal(giving, taking, PARENT, words(seed, 6))
        counts[np.arange(6), source] += 1
    assert (counts[5] == [0, 0, 0, 0, 0, runs]).all()
    for taker in (0, 1):  # two of the three givers of leaf 3 are dealt there
        assert chisquare(counts[taker, :3]).pvalue > 1e-3
        assert counts[taker, 3:].sum() == 0
    for taker in (2, 3, 4):  # two takers of leaf 4 get its givers, the third what is left over in leaf 3
        assert chisquare(counts[taker, 3:5]).pvalue > 1e-3
        assert counts[taker, :3].sum() == pytest.approx(runs / 3, abs=4 * np.sqrt(runs * 2 / 9))


@pytest.mark.parametrize("rows", [4, 8, 30])
def test_every_row_of_a_node_goes_to_every_place(rows):
    """A word that decides twice ties released rows to the order of the original: 30 rows then correlate by 0.3."""
    one, root = np.zeros(rows, np.int32), np.array([-1], np.int32)
    counts, runs = np.zeros((rows, rows), int), 200 * rows
    for seed in range(runs):
        counts[np.arange(rows), deal(one, one, root, words(seed, rows))[0]] += 1
    spread = ((counts - runs / rows) ** 2).sum() / (runs / rows) * (rows - 1) / rows
    assert chi2((rows - 1) ** 2).sf(spread) > 1e-3


def test_an_unseen_pair_is_swapped_away_where_another_taker_permits():
    """Men and women in one leaf; only men are husbands."""
    before = np.array([0, 0, 0, 1, 1, 1], np.int32)
    value, source = np.array([0, 0, 1, 1, 1, 1], np.int32), np.array([2, 0, 3, 1, 4, 5])  # taker 3, a woman, got 0
    new = np.array([False, False, True, False])  # (before, value): level 0 does not occur with 1
    root = np.array([-1], np.int32)
    left = swap_new_pairs(np.zeros(6, np.int32), root, root, source, value, [before], [new], 2, words(1, 6))
    assert left == 0
    assert not (before * (value[source] == 0)).any()
    assert sorted(source) == list(range(6))


def excesses(groups, source, value, original):
    """How many more takers than givers have each pair, by counting them one by one."""
    found = np.zeros((3, 4))
    for taker, giver in enumerate(source):
        found[groups[taker], value[giver]] += 1
        found[original[giver], value[giver]] -= 1
    return found


def pair_counts(groups, more, weight):
    size = len(more[0]) if more else 0
    rows = np.column_stack(groups) if groups else np.empty((0, 0), np.int32)
    flat = [np.concatenate([np.empty(0), *one]) for one in (more, weight)]
    return PairCounts(rows, size * np.arange(len(more)), *flat)


def score_sums(groups=(), scores=(), more=(), weight=(), of_codes=()):
    found = pair_counts(groups, more, weight)
    rows = np.column_stack(scores) if len(scores) else np.empty((0, 0))
    return ScoreSums(*found, rows, np.array(of_codes, float))


@given(st.integers(0, 30))
def test_exchanges_bring_pair_counts_nearer_and_keep_the_counts_of_leaves(seed):
    rng = np.random.default_rng(seed)
    rows = 120
    taking, value = codes(rng, 3, rows), codes(rng, 4, rows)
    columns = [(codes(rng, 3, rows), (value + rng.integers(0, 2, rows)) % 3) for _ in range(2)]
    source = rng.permutation(rows)
    before = [excesses(now, source, value, old) for now, old in columns]
    dealt = source.copy()
    pairs = pair_counts([now for now, _ in columns], [one.ravel() for one in before], [np.full(12, 0.1)] * 2)
    relate_pairs(taking, 3, dealt, value, pairs, score_sums(), np.zeros(2), 4, words(seed, rows))
    after = [excesses(now, dealt, value, old) for now, old in columns]
    assert sum((one**2).sum() for one in after) < sum((one**2).sum() for one in before)
    assert np.concatenate([one.ravel() for one in after]).tolist() == pairs.more.tolist()
    for leaf in range(3):
        assert sorted(value[source[taking == leaf]]) == sorted(value[dealt[taking == leaf]])


def sums_of(groups, scores, code, of_codes):
    """(2, 4) sums of two columns by adding up row by row."""
    found = np.zeros((2, 4))
    for column in range(2):
        for row, one in enumerate(code):
            by_code = not len(of_codes)
            at = one if by_code else groups[column][row]
            found[column, at] += scores[column][row] * (1.0 if by_code else of_codes[one])
    return found


@pytest.mark.parametrize("of_codes", [(), (-1.5, -0.2, 0.3, 2.0)])
@given(st.integers(0, 30))
def test_exchanges_bring_sums_of_scores_nearer(of_codes, seed):
    """Two columns: a number (one group, scores), and groups with scores of one, or another number."""
    rng = np.random.default_rng(seed)
    rows = 120
    taking, value, source = codes(rng, 3, rows), codes(rng, 4, rows), rng.permutation(rows)
    groups = [np.zeros(rows, np.int32), codes(rng, 4 if of_codes else 1, rows)]
    scores = [rng.normal(size=rows), np.ones(rows) if of_codes else rng.normal(size=rows)]
    wanted = sums_of(groups, scores, value[source], of_codes) + rng.normal(scale=20, size=(2, 4))
    before = sums_of(groups, scores, value[source], of_codes) - wanted
    dealt, limit = source.copy(), np.full(2, 0.01)
    sums = score_sums(groups, scores, list(before.copy()), [np.full(4, 1 / rows)] * 2, of_codes)
    relate_pairs(taking, 3, dealt, value, pair_counts([], [], []), sums, limit, 4, words(seed, rows))
    after = sums_of(groups, scores, value[dealt], of_codes) - wanted
    assert sums.more.reshape(2, 4) == pytest.approx(after)  # kept up to date, exchange by exchange
    assert (after**2).sum() < (before**2).sum()
    for leaf in range(3):
        assert sorted(value[source[taking == leaf]]) == sorted(value[dealt[taking == leaf]])


def test_columns_near_enough_are_left_alone():
    rng = np.random.default_rng(1)
    source, value = rng.permutation(50), codes(rng, 2, 50)
    dealt, group, score = source.copy(), codes(rng, 2, 50), rng.normal(size=50)
    more = excesses(group, source, value, group)[:2, :2].ravel()
    error, one, two = float((more**2).sum()), np.ones(4), np.ones(2)
    for limits, same in (((error, 2.0), True), ((0.0, 2.0), False), ((error, 0.0), False)):
        dealt = source.copy()
        pairs = pair_counts([group], [more], [one])
        sums = score_sums([np.zeros(50, np.int32)], [score], [np.array([1.0, -1.0])], [two])
        relate_pairs(np.zeros(50, np.int32), 1, dealt, value, pairs, sums, np.array(limits), 2, words(1, 50))
        assert (dealt == source).all() == same


def binned_of(*columns):
    return bin_columns([Attribute(c.name, c.levels, not c.is_category) for c in columns], [c.values for c in columns])


def follow(trees, row, start):
    """The slow twin of placing: one row, test by test, by values."""
    node = start
    while trees.tested[node] >= 0:
        attribute, edges = trees.attributes[trees.tested[node]], trees.edges[trees.tested[node]]
        value = row[attribute.name]
        if value is None:
            code = 0
        elif attribute.is_number:
            code = 1 + sum(edge < value for edge in edges[:-1])
        else:
            code = 1 + attribute.levels.index(value)
        bit = int(trees.side[node, code // 64]) >> (code % 64) & 1
        node = int(trees.first[node]) + (0 if bit else 1)
    return node


@given(mixed_tables(min_rows=20), st.booleans())
def test_rows_are_placed_as_by_the_twin(some, one_level):
    columns = [c for c in some if c.name != some.names[-1]]
    target = some[some.names[-1]]
    code = codings(target)[0].codes(target)
    start = np.arange(len(some), dtype=np.int32) % 2
    trees, leaf = grow_binary(
        binned_of(*columns), code, int(code.max()) + 1, start, 2,
        given=[c.name for c in columns], floor=3, price=0.5 * one_level, one_level=one_level,
    )  # fmt: skip
    texts = {c.name: [None if m else (c.levels[int(v)] if c.is_category else v) for v, m in
                      zip(c.values, c.missing, strict=True)] for c in columns}  # fmt: skip
    placed = trees.place(trees.codes(some), start)
    assert leaf.tolist() == placed.tolist()
    for row in range(len(some)):
        assert placed[row] == follow(trees, {name: values[row] for name, values in texts.items()}, int(start[row]))
    sizes = np.bincount(placed, minlength=len(trees))[trees.tested < 0]
    split = len(trees) > 2
    assert not split or sizes[sizes > 0].min() >= min(3, np.bincount(start).min())


def test_a_tree_that_is_not_worth_its_price_is_not_grown():
    some = mixed(3, rows=2000, missing=0.0)
    unrelated, related = ["noise"], ["age"]
    town = some["town"]
    for given_names, splits in ((unrelated, False), (related, True)):
        stages = stages_of(town, binned_of(*(some[n] for n in given_names)), given=given_names, floor=20, price=1.0)
        assert (stages[0].trees.leaves > 1) == splits


def test_codes_go_from_coarse_to_fine():
    some = mixed(4, rows=3000)
    pay = codings(some["pay"])
    coarse, fine = (coding.codes(some["pay"]) for coding in pay)
    assert [coding.count for coding in pay] == [9, 65]
    for code in np.unique(fine):
        assert len(np.unique(coarse[fine == code])) == 1
    known = ~some["pay"].missing
    order = np.argsort(some["pay"].values[known])
    assert (np.diff(fine[known][order]) >= 0).all()
    assert (coarse[~known] == 8).all()
    many = category("many", [f"v{i % 40:02d}" for i in range(3000)])
    assert [coding.count for coding in codings(many)] == [16, 41]


def test_the_few_values_that_decide_a_correlation_have_a_group_of_their_own():
    gain = number("gain", [0.0] * 9200 + list(range(10, 15_010, 20)) + [99_999.0] * 50)
    coarse, fine = (coding.codes(gain) for coding in codings(gain))
    assert len(set(coarse[-50:])) == len(set(coarse[:9200])) == 1
    assert not {*coarse[-50:]} & {*coarse[:-50]}
    assert len(set(fine[9200:-50])) > 10


@given(st.integers(0, 200), st.integers(1, 3))
def test_branches_are_kept_if_their_splits_pay_together(seed, cells):
    rng = np.random.default_rng(seed)
    test, first = [-1] * cells, [-1] * cells
    for node in rng.integers(0, 12, 8):
        if node < len(test) and test[node] < 0:
            test[node], first[node] = 0, len(test)
            test, first = [*test, -1, -1], [*first, -1, -1]
    net = np.where(np.array(test) >= 0, rng.normal(size=len(test)), 0.0)
    side = np.arange(len(test), dtype=np.uint64)[:, None]  # marks each node
    splits = Splits(np.array(test, np.int32), np.array(first, np.int32), side, net)

    def worth(node):
        return 0.0 if test[node] < 0 else max(0.0, net[node] + worth(first[node]) + worth(first[node] + 1))

    kept, number = _pruned(splits, cells)
    assert kept.side[:cells, 0].tolist() == list(range(cells))
    assert kept.net[kept.test >= 0].sum() == pytest.approx(sum(worth(cell) for cell in range(cells)))
    for node in np.flatnonzero(kept.test >= 0):
        old = int(kept.side[node, 0])
        assert worth(old) > 0
        assert kept.side[kept.first[node] : kept.first[node] + 2, 0].tolist() == [first[old], first[old] + 1]
    assert len(kept.test) == cells + 2 * (kept.test >= 0).sum()
    above = {first[node] + child: node for node in range(len(test)) if test[node] >= 0 for child in (0, 1)}
    for node in range(len(test)):  # each node leads to itself, or to the nearest kept one above it
        there = node
        while there not in kept.side[:, 0].tolist():
            there = above[there]
        assert kept.side[number[node], 0] == there


def test_a_branch_that_pays_only_below_its_first_split_is_grown():
    """Two columns decide together: neither explains anything alone."""
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    columns = [category(name, v.astype(str).tolist()) for name, v in (("one", one), ("two", two))]
    both = category("both", (one ^ two).astype(str).tolist())
    for one_level, leaves in ((False, 1), (True, 4)):
        stage = stages_of(both, binned_of(*columns), given=["one", "two"], floor=10, price=1.0, one_level=one_level)[0]
        assert stage.trees.leaves == leaves


def chain_of(some, *names, **settings):
    steps = [lc.Step(names[0], within=lc.Whole(), perturb=lc.Deal(**settings))]
    for at, name in enumerate(names[1:], 1):
        cells = lc.Conditional(of=name, given=names[:at], min_cell=10, price=0.1)
        steps.append(lc.Step(name, within=cells, perturb=lc.Deal(**settings)))
    return lc.Plan(*steps)


@given(mixed_tables(min_rows=2), st.integers(0, 3))
def test_each_column_is_a_permutation_of_itself(some, seed):
    release = lc.release(some, chain_of(some, *some.names, share=1), seed=seed)
    for column in some:
        ours, theirs = (Counter(np.nan_to_num(c.values.astype(float), nan=-9e9).tolist())
                        for c in (column, release.table[column.name]))  # fmt: skip
        assert ours == theirs


def test_the_counts_of_a_leaf_are_kept_but_for_what_is_left_over():
    some = mixed(6, rows=4000, missing=0.05)
    plan = chain_of(some, "job", "town", "class", avoid=np.inf)
    release = lc.release(some, plan, seed=3)
    last = plan.steps[-1].within
    stage = last.cells(some).stages[0]
    here = stage.trees.place(stage.trees.codes(release.table), np.zeros(len(some), np.int64))
    moved = np.abs(np.bincount(stage.leaf, minlength=len(stage.trees)) - np.bincount(here, minlength=len(stage.trees)))
    for code in (0, 1):
        ours = np.bincount(stage.leaf[some["class"].values == code], minlength=len(stage.trees))
        theirs = np.bincount(here[release.table["class"].values == code], minlength=len(stage.trees))
        assert (np.abs(ours - theirs) <= moved.sum() / 2 + moved).all()
    assert moved.sum() / 2 < 0.05 * len(some)


def test_association_is_kept_and_rows_are_new():
    some = mixed(7, rows=4000, missing=0.0)
    release = lc.release(some, "cover", target="class", seed=1)
    for names in (("age", "town"), ("job", "class")):
        shares = []
        for one in (some, release.table):
            numbers = [one[n].values >= np.median(some[n].values) for n in names]
            shares.append(np.bincount(numbers[0] * 2 + numbers[1], minlength=4) / len(some))
        assert np.abs(shares[0] - shares[1]).max() < 0.02
    assert not release.descends


def related(rows, seed):
    """Columns of which each depends a little on all before it: too little for any split of a small leaf."""
    rng = np.random.default_rng(seed)
    found, total = [], np.zeros(rows)
    for name in "abcdefgh":
        value = (rng.normal(size=rows) + 0.35 * total > 0.8).astype(int) + (rng.normal(size=rows) > 1)
        total += value
        found.append(category(name, value.astype(str).tolist()))
    return table(*found)


def test_pairs_that_no_tree_asked_for_are_related_as_in_a_new_sample():
    """Against an independent sample as large: the error of all pair counts, in squares over what chance gives."""
    some, fresh = related(6000, 1), related(6000, 2)

    def error(other):
        found = []
        for one, two in combinations(some.names, 2):
            counts = [np.bincount(t[one].values * 3 + t[two].values, minlength=9).reshape(3, 3) for t in (some, other)]
            chance = counts[0].sum(axis=1)[:, None] * counts[0].sum(axis=0)[None] / 6000
            found.append(((counts[1] - counts[0]) ** 2 / chance).sum())
        return np.mean(found)

    def dealt(relate):
        steps, names = [lc.Step("a", lc.Whole(), lc.Deal())], some.names
        for at, name in enumerate(names[1:], 1):
            blind = lc.Conditional(of=name, given=names[:at], price=1000.0)
            steps.append(lc.Step(name, blind, lc.Deal(relate=relate)))
        return lc.release(some, lc.Plan(*steps), seed=3).table

    lost, kept = error(dealt(np.inf)), error(dealt(0.1))
    assert lost > 2 * error(fresh)
    assert kept < error(fresh)
    assert kept > 0.02 * error(fresh)  # and not a copy of the counts


def test_the_counts_that_are_compared_are_described_by_a_prefix_code():
    for chance in (5.0, 7.3, 40.0, 1000.0):
        known = np.ones((1, 1), bool)
        pairs = (_Pairs(np.array([[c]], float), np.array([[chance]]), known) for c in range(8_000))
        bits = [one.bits_of_counts(one.chance >= 5) for one in pairs]
        assert 0.98 - 2 / np.sqrt(chance) < sum(2.0**-one for one in bits) <= 1.0
    rare = _Pairs(np.array([[3.0]]), np.array([[4.9]]), known)
    assert rare.bits_of_counts(rare.chance >= 5) == 0
    assert not _is_further(np.array([[50.0]]), np.array([[9.0]]), rare.weight(5.0), 100)


def test_sums_of_scores_are_described_by_a_prefix_code():
    steps = np.arange(-40_000, 40_001)
    assert 0.999 < sum(2.0 ** -_bits_of_steps(np.array([STEP * one]), STEP) for one in steps) <= 1.0


@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
def test_correlations_are_described_by_a_prefix_code(least):
    rows, spread = 400, 20.0
    grid = np.tanh(STEP / np.sqrt(rows) * np.arange(-390, 391))  # one correlation in every step
    found = [_rounded_product(float(one * spread * np.sqrt(rows)), spread, rows, least) for one in grid]
    left = [bits for _, weight, bits in found if weight[0] == 0]
    own = [bits for _, weight, bits in found if weight[0] > 0]
    assert 0.98 < sum(2.0**-bits for bits in own + left[:1]) <= 1.0
    assert len(set(left)) == (least > 0)
    for one, (wanted, weight, _) in zip(grid, found, strict=True):
        assert weight[0] == 0 or wanted[0] == pytest.approx(one * spread * np.sqrt(rows))
        assert weight[0] == 0 if abs(one) < 0.99 * least else least == 1.0 or weight[0] > 0


def test_correlations_of_many_numbers_are_kept_in_a_small_table():
    """12 numbers have 66 pairs, each compared at two stages: more than one for every four of 500 rows."""
    rng = np.random.default_rng(5)

    def sample():
        return (0.8 * rng.normal(size=500)[:, None] + 0.6 * rng.normal(size=(500, 12))).T

    def far(one, other):
        return np.abs(np.corrcoef(one) - np.corrcoef(other)).sum() / (12 * 11)

    values, new = sample(), sample()
    some = table(*(number(f"x{i}", v, 4) for i, v in enumerate(values)), category("kind", ["a", "b"] * 250))
    plan = lc.recipes.cover(some, target="kind")
    deal = plan.steps[0].perturb
    pairs = np.abs(np.corrcoef(values))[np.triu_indices(12, 1)]
    assert 100 <= 2 * np.count_nonzero(pairs >= deal.correlated) <= 130  # the strongest, as many as the budget permits
    out = lc.release(some, plan, seed=3).table
    assert far([out[f"x{i}"].values for i in range(12)], values) < far(new, values)


def test_no_single_person_decides_on_a_score():
    plain = np.arange(1000.0)
    rich = np.where(plain == 999, 1e9, plain)
    earlier = Earlier(number("pay", rich), number("pay", shared_values(number("pay", rich), 5)))
    original, released = earlier.scores
    assert np.abs(original).max() <= 4.0
    assert np.abs(released).max() <= 4.0
    assert standard_scores(np.array([1.0, np.nan]), np.array([1.0, 1.0])).tolist() == [0.0, 0.0]
    assert Earlier(category("a", ["x", "y"]), category("a", ["x", "y"])).scores is None


def test_numbers_are_related_as_in_a_new_sample_where_no_tree_is_grown():
    """Of three numbers and a category in a small table, no split pays; the sums of their scores are kept."""

    def sample(seed):
        rng = np.random.default_rng(seed)
        first = rng.normal(size=300)
        second, third = (0.6 * first + 0.8 * rng.normal(size=300) for _ in range(2))
        kind = np.where(first + rng.normal(size=300) > 0, "a", "b").tolist()
        return table(
            category("kind", kind), *(number(n, v, 4) for n, v in zip("xyz", (first, second, third), strict=True))
        )

    def figures(some):
        values = np.array([some["kind"].values, *(some[n].values for n in "xyz")])
        return np.corrcoef(values)[np.triu_indices(4, 1)]

    some = sample(1)

    def dealt(relate):
        steps, names = [lc.Step("kind", lc.Whole(), lc.Deal())], some.names
        for at, name in enumerate(names[1:], 1):
            blind = lc.Conditional(of=name, given=names[:at], price=1000.0)
            steps.append(lc.Step(name, blind, lc.Deal(relate=relate, often=150)))
        return lc.release(some, lc.Plan(*steps), seed=3).table

    new = np.abs(figures(sample(2)) - figures(some)).mean()
    assert np.abs(figures(dealt(np.inf)) - figures(some)).mean() > 4 * new
    assert np.abs(figures(dealt(0.1)) - figures(some)).mean() < new


def test_new_pairs_are_avoided_only_where_absence_is_no_chance():
    rng = np.random.default_rng(1)
    sex = rng.choice(["f", "m"], 2000)
    role = np.where(sex == "m", rng.choice(["husband", "single"], 2000), rng.choice(["wife", "single"], 2000))
    region = rng.choice(list("abcdefgh"), 2000)
    some = table(category("sex", sex.tolist()), category("region", region.tolist()), category("role", role.tolist()))
    steps = [lc.Step(["sex"], lc.Whole(), lc.Deal()), lc.Step(["region"], lc.Whole(), lc.Deal())]
    blind = lc.Conditional(of="role", given=["sex", "region"], price=1000.0)
    for avoid, expected in ((0.25, 0), (np.inf, 400)):
        plan = lc.Plan(*steps, lc.Step(["role"], blind, lc.Deal(avoid=avoid, relate=np.inf)))
        out = lc.release(some, plan, seed=4).table
        pairs = Counter(zip(out["sex"].values.tolist(), out["role"].values.tolist(), strict=True))
        new = pairs[0, 0] + pairs[1, 2]  # husbands among women, wives among men
        assert (new == 0) if not expected else (new > expected)


@given(st.lists(st.one_of(st.none(), st.integers(0, 30)), min_size=1, max_size=60), st.integers(1, 6))
def test_a_shared_number_is_held_by_enough_rows(values, share):
    column = number("x", [np.nan if v is None else v for v in values])
    new = shared_values(column, share)
    known = ~column.missing
    assert (np.isnan(new) == column.missing).all()
    counts = Counter(new[known].tolist())
    assert all(rows >= min(share, int(known.sum())) for rows in counts.values())
    old = column.values[known]
    order = np.argsort(old, kind="stable")
    assert (np.diff(new[known][order]) >= 0).all()
    held = Counter(old.tolist())
    if all(rows >= share for rows in held.values()):
        assert new is column.values
    assert (new[known] == np.rint(new[known])).all()  # on the grid


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 7)), min_size=1, max_size=9, unique_by=lambda v: v[0]))
def test_groups_of_shared_numbers_have_the_least_sum_of_squares(pairs):
    values, held = (np.array(x) for x in zip(*sorted(pairs), strict=True))
    share = 5

    def squares(group):
        means = np.bincount(group, values * held) / np.bincount(group, held)
        return float(((values - means[group]) ** 2 * held).sum())

    cuts = product((0, 1), repeat=len(values) - 1)
    every = (np.cumsum((0, *cut)) for cut in cuts)
    allowed = [squares(group) for group in every if np.bincount(group, held).min() >= min(share, held.sum())]
    found = optimal_groups(values.astype(np.float64), share, held)
    assert np.bincount(found, held).min() >= min(share, held.sum())
    assert squares(found) == pytest.approx(min(allowed))


def test_a_common_value_is_not_moved_by_rare_neighbours():
    column = number("gain", [0.0] * 90 + [3.0] * 2 + [7.0] * 8)
    assert Counter(shared_values(column, 5).tolist()) == {0.0: 92, 7.0: 8}
    income = number("income", [float(v) for v in range(0, 290)] + [99_999.0] * 40)
    assert Counter(shared_values(income, 5).tolist())[99_999.0] == 40  # a code is not joined across a gap
    huge = number("huge", [1.7e308, 1.6e308, 1.5e308, 1.4e308, -1.7e308, 1.7e308], None)
    assert np.isfinite(shared_values(huge, 3)).all()
    cents = replace(number("pay", [1.01, 1.02, 1.05, 9.5, 9.7], 2), grid=Grid(2))
    assert set(shared_values(cents, 5).tolist()) == {5.0}  # a mean of 4.46, rounded to multiples of 5


def test_integers_that_are_one_number_are_written_alike():
    """Beyond 2^53 the texts of a file tell apart what is one number here."""
    texts = pa.array([str(10**25 + i) for i in range(40)])
    some = table(replace(number("i", [1e25] * 40), stored=texts), category("kind", ["a", "b"] * 20))
    out = lc.release(some, lc.Plan(lc.Step("i", lc.Whole(), lc.Deal())), seed=1).table["i"]
    assert len(set(out.stored.to_pylist())) == 1


def test_an_integer_of_numpy_is_an_integer():
    deal_it = lc.Deal(share=np.int64(7))
    assert type(deal_it.share) is int
    assert repr(deal_it) == repr(lc.Deal(share=7))
    assert canonical(lc.Plan(lc.Step("a", lc.Whole(), deal_it))) == canonical(
        lc.Plan(lc.Step("a", lc.Whole(), lc.Deal(share=7)))
    )


def test_settings_out_of_range_are_refused():
    with pytest.raises(ValueOutOfRange, match="share"):
        lc.Deal(share=0)
    for wrong in (2.5, "x", True, None, np.float64(5), np.array([5, 6])):
        with pytest.raises(ValueOutOfRange, match="share"):
            lc.Deal(share=wrong)
    some = table(category("a", ["x", "y"] * 20), category("b", ["u", "v"] * 20))
    for order in (["a", "a"], "b"):
        with pytest.raises(PlanError, match="order"):
            lc.recipes.cover(some, target="b", order=order)
    with pytest.raises(ValueOutOfRange, match="avoid"):
        lc.Deal(avoid=-1)
    with pytest.raises(ValueOutOfRange, match="relate"):
        lc.Deal(relate=-1)
    with pytest.raises(ValueOutOfRange, match="often"):
        lc.Deal(often=0)
    with pytest.raises(ValueOutOfRange, match="correlated"):
        lc.Deal(correlated=1.5)
    with pytest.raises(ValueOutOfRange, match="price"):
        lc.Conditional(of="a", given=["b"], price=-1)
    with pytest.raises(PlanError, match="column to predict"):
        lc.Conditional(of="a", given=["a"])


def test_a_deal_needs_cells_that_place_released_rows():
    some = mixed(1)
    plan = lc.Plan(lc.Step("job", within=lc.Leaves(of="class"), perturb=lc.Deal()))
    with pytest.raises(PlanError, match="place released rows"):
        lc.release(some, plan)
    late = lc.Plan(
        lc.Step("job", within=lc.Conditional(of="job", given=["town"]), perturb=lc.Deal()),
        lc.Step("town", within=lc.Whole(), perturb=lc.Deal()),
    )
    with pytest.raises(PlanError, match="not released before"):
        lc.release(some, late)


def test_draws_of_another_key_deal_otherwise():
    some = mixed(2)
    found = defaultdict(list)
    for seed in (1, 1, 2):
        out = lc.release(some, "cover", target="class", seed=seed).table
        found[seed].append([out[name].values.tobytes() for name in out.names])
    assert found[1][0] == found[1][1] != found[2][0]
