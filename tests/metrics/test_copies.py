"""Copies: its laws, a slow twin, groups by hand, and the bad releases that it finds by itself."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import comb, isnan

import jsonschema
import numpy as np
import pytest
from scipy.stats import binomtest

import leafcover as lc
from leafcover.messages import catalogue
from leafcover.metrics.disclosure import copies as module
from leafcover.metrics.disclosure.copies import Copies, copies, near_unique
from leafcover.metrics.disclosure.rare_values import worst_attached
from leafcover.metrics.pair import pair_of
from leafcover.metrics.suite import plain, schema
from leafcover.metrics.summary import copied_part, copies_alone
from leafcover.table.table import Column
from tests.data import table_path
from tests.metrics.attacks import awkward_pairs, check_sound
from tests.metrics.bad_releases import AMOUNT_COPIES, CODE_COPIES, FEW, TARGET, adult, cases, coded, shared
from tests.metrics.pairs import apart, copy_of
from tests.tables import category, mixed, number, table

FOUND = {
    "copy",
    "copy with tiny noise",
    "shuffled rows",
    "half copy",
    "3 % verbatim",
    "40 outliers verbatim",
    "all but the target one block",
    "near-unique column untouched",
    "true rows, target permuted",
    "permuted apart, amount exact",
    "chain without price",
    "extremes coded",
    "k-anonymous in two columns",
    *AMOUNT_COPIES,
    *CODE_COPIES,
}  # the others need an attacker who compares distances or counts


@pytest.fixture(scope="module")
def found():
    """What `copies` finds in each of the bad and good releases."""
    return {name: (case, copies(case.pair())) for name, case in cases().items()}


def coarse(seed, rows=60, columns=6, levels=3):
    """A table of categories and whole numbers with few values and some missing ones; no column is near-unique."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, levels, (columns, rows)) * (rng.random((columns, rows)) < 0.4)
    hidden = rng.random((columns, rows)) < 0.1
    made = []
    for c, (row, gone) in enumerate(zip(values, hidden, strict=True)):
        if c % 2:
            made.append(number(f"n{c}", np.where(gone, np.nan, row)))
        else:
            made.append(category(f"c{c}", [None if g else f"v{v}" for g, v in zip(gone, row, strict=True)]))
    return table(*made)


# A slow twin, with records as tuples of plain values.


def records(table_, names):
    columns = [[None if gone else v for v, gone in zip(table_[n].values.tolist(), table_[n].missing, strict=True)]
               for n in names]  # fmt: skip
    return list(zip(*columns, strict=True))


def fisher(a, n, b, m):
    """At least ``a`` of the a + b successes fall to the n members, of all ways to draw n of n + m people."""
    ways = sum(comb(a + b, i) * comb(n + m - a - b, n - i) for i in range(a, min(n, a + b) + 1) if n - i >= 0)
    return ways / comb(n + m, n)


def shares(one):
    return one.attack.main.value, one.attack.control.value, one.attack.baseline.value


@pytest.mark.parametrize("seed", range(8))
def test_matches_are_their_twin(seed):
    original, released, control = coarse(seed), coarse(seed + 100), coarse(seed + 200, rows=45)
    if seed % 2:
        released = original.take(np.random.default_rng(seed).integers(0, 60, 60))
    pair = pair_of(original, released, control=control)
    names, got = pair.names, copies(pair)
    assert (got.columns, got.near_unique, got.values) == (names, (), ())
    ours, theirs = records(pair.original, names), records(pair.control, names)
    there, pool, own = set(records(pair.released, names)), Counter(ours + theirs), Counter(ours)
    inside, outside = [r in there for r in ours], [r in there for r in theirs]
    assert shares(got.records) == pytest.approx(
        (np.mean(inside), np.mean(outside), np.mean([own[r] > 1 for r in ours]))
    )
    assert got.records.p == pytest.approx(fisher(sum(inside), 60, sum(outside), 45))
    alone = [r in there for r in ours if pool[r] == 1], [r in there for r in theirs if pool[r] == 1]
    assert shares(got.unique) == pytest.approx((np.mean(alone[0]), np.mean(alone[1]), 0.0))
    assert got.unique.p == pytest.approx(fisher(sum(alone[0]), len(alone[0]), sum(alone[1]), len(alone[1])))


@pytest.mark.parametrize(("seed", "columns"), [(0, 5), (1, 9), (2, 10), (3, 11)])
def test_the_worst_block_is_its_twin(seed, columns):
    original, released = coarse(seed, columns=columns), coarse(seed + 100, columns=columns)
    control = coarse(seed + 200, columns=columns, rows=45)
    if seed % 2:  # true rows but for one column
        released = replace(original, columns=(*original.columns[:-1], released.columns[-1]))
    pair = pair_of(original, released, control=control)
    worst, tried = {}, columns + (comb(columns, 2) if columns >= 10 else 0)
    for size in (1, 2) if columns >= 10 else (1,):
        for without in combinations(pair.names, size):
            names = [name for name in pair.names if name not in without]
            there = set(records(pair.released, names))
            inside, outside = (sum(r in there for r in records(t, names)) for t in (pair.original, pair.control))
            worst[without] = fisher(inside, 60, outside, 45), outside / 45 - inside / 60, size
    got = copies(pair)
    assert got.blocks == len(worst) == tried
    assert got.block.p == pytest.approx(min(worst.values())[0])
    assert got.block.without in [w for w, score in worst.items() if score == pytest.approx(min(worst.values()))]
    assert set(got.block.columns) == set(pair.names) - set(got.block.without)


def test_blocks_leave_out_more_columns_one_after_the_other():
    original = coarse(0, rows=300, columns=16)
    strange = coarse(1, rows=300, columns=16)
    moved = ("c0", "n5", "c8")
    released = replace(original, columns=tuple((strange if c.name in moved else original)[c.name] for c in original))
    got = copies(pair_of(original, released, control=coarse(2, rows=300, columns=16)))
    assert got.block.without == moved
    assert got.block.attack.main.value == 1.0
    assert len(got.block.columns) == 13
    assert got.blocks == 16 + comb(16, 2) + 14


def test_values_are_their_twin():
    original, released, control = mixed(1, rows=200), mixed(2, rows=200), mixed(3, rows=150)
    released = replace(released, columns=tuple((original if c.name == "noise" else released)[c.name] for c in released))
    got = copies(pair_of(original, released, control=control))
    assert "noise" in got.near_unique
    assert "class" not in got.near_unique
    assert got.values[0].columns == ("noise",)
    for match in got.values:
        (name,) = match.columns
        rows = Counter(v for (v,) in records(released, [name]) if v is not None)
        for people, risk in ((original, match.attack.main), (control, match.attack.control)):
            known = [v for (v,) in records(people, [name]) if v is not None]
            assert risk.value == pytest.approx(np.mean([1 <= rows[v] < 5 for v in known]))
            assert risk.tries == len(known)


def test_near_unique_columns_and_the_weight_are_no_part_of_a_record():
    ids = np.arange(100)
    made = table(
        number("amount", np.where(ids < 85, 0, ids)),  # mostly zero, other values unique
        number("age", ids // 5),
        category("name", [f"p{i}" for i in ids]),
        number("weight", ids // 10),
    )
    assert near_unique(made) == ("amount", "name")
    got = copies(copy_of(made, weight="weight"))
    assert got.columns == ("age",)
    assert [one.columns for one in got.values] == [("name",), ("amount",)]
    assert got.values[1].attack.main.value == pytest.approx(0.15)  # 0 is shared and no evidence


def test_groups_by_hand():
    rows = 2000
    place = np.arange(rows)
    kind = ["odd" if i in (5, 6, 7) else "few" if i < 12 else "many" for i in range(rows)]
    made = table(number("x", place // 8), category("kind", kind), category("other", ["a"] * rows))
    control = made.take(place[1000:])
    got = copies(pair_of(made.take(place[:1000]), made.take(place[:1000]), control=control))
    groups = {(one.kind, one.columns): one.attack for one in got.groups}
    # the lowest 10 people of 2000, filled up to 16 by ties; 3 odd and 9 few; nobody holds a number alone
    assert set(groups) == {
        ("lowest", ("x",)),
        ("highest", ("x",)),
        ("rarest", ("kind",)),
        ("rare", ()),
        ("extreme", ()),
    }
    assert (groups["lowest", ("x",)].main.tries, groups["lowest", ("x",)].control.tries) == (16, 0)
    assert (groups["highest", ("x",)].main.tries, groups["highest", ("x",)].control.tries) == (0, 16)
    assert groups["rarest", ("kind",)].main.tries == 12
    assert groups["rare", ()].main.tries == 3
    assert (groups["extreme", ()].main.tries, groups["extreme", ()].control.tries) == (16, 16)
    assert got.records.attack.main.value == 1.0
    assert got.records.attack.control.value == 0.0


# Laws.


def test_a_copy_is_found_and_columns_apart_are_not():
    for missing in (0.0, 0.2):
        original, control = mixed(21, rows=800, missing=missing), mixed(22, rows=800, missing=missing)
        copied = copies(copy_of(original, control=control))
        assert copied.records.attack.main.value == 1.0
        assert copied.findings[0].p < 1e-20
        assert {"records", "value"} <= {one.kind for one in copied.findings}
        names = [name for name in original.names if name not in copied.near_unique]
        moved = copies(apart(original.select(names), control=control.select(names)))
        assert moved.findings == ()


@pytest.mark.parametrize("seed", range(4))
def test_good_releases_give_no_finding(seed):
    original, control, sample = adult(seed)
    for released in (shared(original, np.random.default_rng(seed)), sample):
        got = copies(pair_of(original, released, control=control))
        assert got.findings == ()
        assert got.records.attack.above_control.low <= 0.01


def test_the_test_is_exact_under_chance():
    # members and control of one population, and a release that knows neither: p below 0.05 in 5 % of the tries or fewer
    rng = np.random.default_rng(3)
    population = coarse(7, rows=20_000, levels=5)
    low = []
    for _ in range(200):
        rows = rng.choice(20_000, 450, replace=False)
        pair = pair_of(population.take(rows[:150]), population.take(rows[150:300]), control=population.take(rows[300:]))
        got = copies(pair)
        low.append([got.records.p < 0.05, got.unique.p < 0.05, bool(got.findings)])
    assert (np.mean(low, axis=0) <= [0.1, 0.1, 0.0]).all()


# Rare records that a release holds exactly as often as the original.


def naive_reproduced(ours, theirs):
    """Rare records, those held as often by both, the mean chance, and the probability of at least so many."""
    held, released, rows = Counter(ours), Counter(theirs), len(ours)
    rare = [count for count in held.values() if count < 5]
    chance = [comb(rows, c) * (c / rows) ** c * (1 - c / rows) ** (rows - c) for c in rare]
    equal = sum(released[record] == count for record, count in held.items() if count < 5)
    law = [1.0]
    for one in chance:
        law = [x * (1 - one) + y * one for x, y in zip([*law, 0.0], [0.0, *law], strict=True)]
    return len(rare), equal, np.mean(chance), sum(law[equal:])


@pytest.mark.parametrize("seed", range(6))
def test_reproduced_records_are_their_twin(seed):
    original = coarse(seed, columns=4)
    released = original.take(np.random.default_rng(seed).permutation(60)) if seed % 2 else coarse(seed + 100, columns=4)
    pair = pair_of(original, released)
    got = copies(pair)
    rare, equal, chance, p = naive_reproduced(records(pair.original, pair.names), records(pair.released, pair.names))
    assert (got.reproduced.attack.main.tries, got.tests) == (rare, 1)
    assert shares(got.reproduced) == pytest.approx((equal / rare, chance, chance))
    assert got.reproduced.p == pytest.approx(p)


def test_records_without_one_column_are_counted_too():
    original, strange = coarse(0, rows=400), coarse(1, rows=400)
    released = replace(original, columns=(*original.columns[:-1], strange.columns[-1]))
    got = copies(pair_of(original, released))
    assert (got.reproduced.without, got.tests) == ((original.names[-1],), 1 + 6)
    assert got.reproduced.attack.main.value == 1.0
    assert got.findings[0].kind == "reproduced"


def test_of_large_tables_the_same_records_of_both_are_compared(monkeypatch):
    pair = copy_of(coarse(1, rows=500))
    whole = copies(pair)
    monkeypatch.setattr(module, "MOST_COUNTED", 250)
    some = copies(pair)
    assert some.reproduced == whole.reproduced
    names = [name for name in pair.names if name != "c0"]
    ours = module._sampled(module.row_marks(pair.original, names), 500)
    assert len(np.unique(ours)) < len(np.unique(module.row_marks(pair.original, names)))
    assert module._reproduced(ours, ours, 500, tuple(names)).attack.main.value == 1.0


def test_independent_draws_reproduce_no_more_than_the_test_allows():
    # The hardest case: draws from the original itself. Every record has the mean count that it has in the original.
    rng = np.random.default_rng(5)
    original = coarse(7, rows=600, columns=4, levels=5)
    drawn = (original.take(rng.integers(0, 600, 600)) for _ in range(400))
    p = np.array([copies(pair_of(original, one)).reproduced.p for one in drawn])
    assert np.mean(p < 0.05) < 0.08  # 0.05 and three standard errors
    assert np.mean(p < 0.5) < 0.58


def test_reproduction_30_percent_above_chance_is_found():
    rng = np.random.default_rng(6)
    original = table(*(category(f"c{i}", [f"v{v}" for v in rng.integers(0, 12, 2000)]) for i in range(4)))
    drawn = rng.integers(0, 2000, 2000)
    kept = rng.random(2000) < 0.18  # rows as they are; the rest drawn from the others
    rows = np.where(kept, np.arange(2000), rng.permutation(np.flatnonzero(~kept))[drawn % (~kept).sum()])
    got = copies(pair_of(original, original.take(rows))).reproduced
    assert got.attack.main.value / got.attack.control.value == pytest.approx(1.3, abs=0.1)
    assert got.p < 1e-6


def test_a_table_that_has_every_combination_once_is_no_sample_and_no_finding():
    sizes = (3, 5, 4, 4, 3, 2, 3)
    place = np.indices(sizes).reshape(len(sizes), -1)
    original = table(*(category(f"c{i}", [f"v{v}" for v in row]) for i, row in enumerate(place)))
    for seed in range(3):
        got = copies(apart(original, seed=seed))
        assert got.findings == ()
        assert got.reproduced.attack.main.value == pytest.approx(got.reproduced.attack.control.value, rel=0.15)


@pytest.mark.parametrize("name", ["few", "cps1985", "german_credit", "wbc", "nursery"])
def test_rare_records_of_honest_releases_are_not_reproduced(name):
    target = {"few": TARGET, "cps1985": "sector"}.get(name, "class")
    original = adult(2)[0].select(FEW) if name == "few" else lc.read(table_path(name))
    original = original.select([one for one in original.names if one != "sample_code_number"])
    plan = lc.recipes.cover(original, target=target)
    found = [copies(pair_of(original, lc.release(original, plan, seed=seed).table)) for seed in range(4)]
    assert not any(one.findings for one in found)
    assert np.median([one.reproduced.p for one in found]) > 0.05


@pytest.mark.parametrize("levels", [60, 700])
def test_near_unique_columns_of_a_dealt_release_are_reproduced_only_if_they_are_categories(levels):
    rng = np.random.default_rng(levels)
    code = [f"v{v}" for v in rng.integers(0, levels, 1500)]
    common = rng.normal(size=1500)
    numbers = (number(f"x{i}", (common + rng.normal(size=1500)).round(3), 3) for i in range(3))
    original = table(category("code", code), *numbers, category("class", np.where(common > 0, "a", "b")))
    plan = lc.recipes.cover(original, target="class", rare="allow")
    got = copies(pair_of(original, lc.release(original, plan, seed=1).table))
    assert set(got.near_unique) == {"x0", "x1", "x2", *(["code"] if levels == 700 else [])}
    assert [one.columns for one in got.findings] == ([("code",)] if levels == 700 else [])


def test_a_release_and_its_measures_agree_on_a_category_of_many_rare_levels():
    rng = np.random.default_rng(3)
    code = category("code", [f"v{v}" for v in rng.integers(0, 400, 900)])
    original = table(code, category("class", rng.choice(["a", "b"], 900)))
    release = lc.release(original, "cover", target="class", rare="allow", seed=1)
    measured = release.measure_only(["copies"])["copies"]  # with a control, from repeated releases
    assert (measured.records.attack.control is None, release.copies.records.attack.control is None) == (False, True)
    for found in (release.copies, measured):
        assert {one.columns for one in found.findings} == {("code",)}
        assert found.findings[0].members == 1.0


def test_of_records_that_are_all_reproduced_the_longest_is_named():
    original = mixed(1, rows=400)
    assert copies(copy_of(original)).reproduced.columns == original.names
    amounts = original.select(near_unique(original))
    assert copies(copy_of(amounts)).reproduced.columns == amounts.names


def test_bad_releases_that_copies_finds(found):
    assert {name for name, (case, got) in found.items() if case.refused and got.findings} == FOUND
    assert {name for name, (case, got) in found.items() if not case.refused and got.findings} == set()


def test_a_summary_of_copies_alone_counts_what_was_found(found):
    say = catalogue("measures")
    for name in ("copy", "permuted apart, shared", "near-unique column untouched"):
        copied = found[name][1]
        most = copied_part(one.kind, one.columns, one.without) if (one := next(iter(copied.findings), None)) else ""
        assert copies_alone(copied) == say("copies-alone", found=len(copied.findings), most=most)
    assert copies_alone(found["copy"][1]) != copies_alone(found["permuted apart, shared"][1])
    common = table(number("a", [1, 2] * 5), number("b", [3, 4] * 5))
    assert copies_alone(copies(pair_of(common, common))) == say("copies-untested")


def test_findings_name_what_was_copied(found):
    def kinds(name):
        return {one.kind for one in found[name][1].findings}

    assert {"records", "unique", "block", "value"} <= kinds("copy")
    assert {"records", "unique"} <= kinds("3 % verbatim")
    outliers = found["40 outliers verbatim"][1].findings[0]
    assert (outliers.kind, outliers.columns, outliers.members) == ("highest", ("capital_gain",), 1.0)
    for name in ("near-unique column untouched", "permuted apart, amount exact"):
        assert {(one.kind, one.columns) for one in found[name][1].findings} == {
            ("value", ("fnlwgt",)),
            ("reproduced", ("fnlwgt",)),
        }
    (chain,) = found["chain without price"][1].findings
    assert (chain.kind, chain.members, chain.without) == ("reproduced", 1.0, ())
    assert chain.p < 1e-15
    for name in ("all but the target one block", "true rows, target permuted"):
        block = found[name][1].block
        assert (block.without, block.attack.main.value) == (("income",), 1.0)
        assert block.attack.control.value < 0.1


def test_shares_of_the_bad_releases(found):
    assert found["half copy"][1].records.attack.main.value == pytest.approx(0.5, abs=0.03)
    assert found["3 % verbatim"][1].unique.attack.above_control.value == pytest.approx(0.03, abs=0.01)
    sample = found["independent sample"][1].records.attack
    assert sample.main.value == pytest.approx(sample.baseline.value, abs=0.01)  # what the baseline estimates


def test_the_order_of_rows_does_not_matter(found):
    copied, shuffled = found["copy"][1], found["shuffled rows"][1]
    assert copied == shuffled


def test_without_control_there_are_shares_and_only_counts_are_tested():
    got = copies(copy_of(mixed(1, rows=400)))
    assert {one.kind for one in got.findings} == {"reproduced", "attached", "near"}
    whole, with_near_unique = 1, 1 + 6 + 2  # of the three near-unique columns, two have mostly rare values
    attached = 3 * 5  # the rare values of these, and every other column
    assert (got.tests, got.records.attack.main.value) == (whole + with_near_unique + attached, 1.0)
    others = [one for one in got.matches if one.kind not in ("reproduced", "attached", "near")]
    assert all(isnan(one.p) and one.attack.control is None for one in others)
    assert got.values[0].attack.main.value == 1.0


def test_a_control_without_rows_is_no_evidence():
    original = coarse(1)
    got = copies(copy_of(original, control=original.take(np.arange(0))))
    assert {one.kind for one in got.findings} == {"near", "reproduced"}


def test_fewer_people_and_parts_of_the_release(monkeypatch):
    pair = copy_of(coarse(1, rows=500), control=coarse(2, rows=400))
    whole = copies(pair)
    monkeypatch.setattr(module, "PART", 64)
    assert copies(pair) == whole
    some = copies(pair, most=100)
    assert (some.block.attack.main.tries, some.block.attack.control.tries) == (100, 100)
    assert (some.records, some.groups) == (whole.records, whole.groups)


def test_tables_of_one_kind():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3, 500))
    numbers = table(*(number(f"x{i}", row, None) for i, row in enumerate(values)))
    got = copies(copy_of(numbers.take(np.arange(300)), control=numbers.take(np.arange(300, 500))))
    assert (got.columns, got.records, got.unique, got.block, got.groups) == ((), None, None, None, ())
    assert {one.columns for one in got.findings if one.kind not in ("attached", "near")} == {
        ("x0",), ("x1",), ("x2",), ("x0", "x1", "x2"),
    }  # fmt: skip
    kinds = table(*(category(f"c{i}", [f"v{v:.0f}" for v in row * 2]) for i, row in enumerate(values)))
    got = copies(copy_of(kinds.take(np.arange(300)), control=kinds.take(np.arange(300, 500))))
    assert got.values == ()
    assert "records" in {one.kind for one in got.findings}


def test_awkward_and_tiny_tables_have_figures():
    for _, pair in awkward_pairs():
        check_sound(copies(pair))
    for rows in (1, 2, 5):
        small = mixed(1, rows=rows)
        got = copies(pair_of(small, small, control=mixed(2, rows=1)))
        check_sound(got)
        assert got.findings == ()


def test_figures_are_plain(found):
    jsonschema.validate(plain(found["copy"][1]), schema(Copies))
    jsonschema.validate(plain(copies(copy_of(mixed(1)))), schema(Copies))


# Attached values: people with a rare value, whose other values stand beside it in the release.


def attached_twin(original, released, first, second, kinds):
    """The probability, for each rare value, that a person and a released row that hold it agree, and by chance."""
    ours, theirs = ([*zip(*(records(t, (n,)) for n in (first, second)), strict=True)] for t in (original, released))
    held = Counter(value for value, _ in ours)
    rare = [v for v, rows in held.items() if v != (None,) and rows < 5 and v in {one for one, _ in theirs}]

    def spread(rows, value):
        chosen = Counter(kinds(other) for one, other in rows if one == value)
        return {kind: count / sum(chosen.values()) for kind, count in chosen.items()}

    pairs = [(spread(ours, value), spread(theirs, value)) for value in rare]
    agree = [sum(share * two.get(kind, 0) for kind, share in one.items()) for one, two in pairs]
    chance = [sum(share * two.get(kind, 0) for kind, share in one.items()) for one, _ in pairs for _, two in pairs]
    return len(rare), sum(agree), sum(chance) / max(len(rare), 1) ** 2


@pytest.mark.parametrize("seed", range(6))
def test_attached_values_are_their_twin(seed):
    rng = np.random.default_rng(seed)
    original = table(
        category("a", [f"v{v}" for v in rng.geometric(0.03, 300)]),
        category("b", [None if rng.random() < 0.1 else v for v in rng.choice(list("xyz"), 300)]),
    )
    released = apart(original).released
    rare, agree, chance = attached_twin(original, released, "a", "b", lambda one: one)
    match, tests = worst_attached(pair_of(original, released))
    assert (match.columns, tests) == (("a", "b"), 1)
    assert (match.hits, match.values) == (int(agree + 1e-9), rare)
    assert match.chance == pytest.approx(chance)
    assert match.p == pytest.approx(binomtest(int(agree + 1e-9), rare, chance, alternative="greater").pvalue)


def test_rare_levels_with_their_peoples_values_are_found_and_named(found):
    (finding,) = found[CODE_COPIES[0]][1].findings
    assert (finding.kind, finding.columns, finding.members) == ("attached", ("code", "ill"), 1.0)
    assert finding.control == pytest.approx(0.5, abs=0.1)


def test_columns_apart_attach_no_more_than_the_test_allows():
    smallest = []
    for seed in range(100):
        match, tests = worst_attached(pair_of(*coded(np.random.default_rng(seed), kept="")))
        assert tests == 2
        smallest.append(match.p * tests)
    assert 1 <= sum(one < 0.2 for one in smallest) <= 30
    assert min(smallest) > 1e-4


@pytest.mark.parametrize("with_control", [False, True])
def test_what_people_with_one_level_have_in_common_is_no_finding(with_control):
    """Samples of a population in which the level nearly decides on another column: a rare one does, too."""
    rng = np.random.default_rng(8)
    weights = 1 / np.arange(1, 401)
    decided = rng.choice(list("wxyz"), 400)

    def sample(rows):
        level = rng.choice(400, rows, p=weights / weights.sum())
        other = np.where(rng.random(rows) < 0.9, decided[level], rng.choice(list("wxyz"), rows))
        return table(
            Column("a", "category", level.astype(np.int32), levels=tuple(f"v{i:03d}" for i in range(400))),
            category("b", other),
        )

    original, released = sample(2000), sample(2000)
    control = {"control": sample(1000)} if with_control else {}
    got = copies(pair_of(original, released, **control))
    assert got.attached.attack.main.value > 0.7
    assert got.attached.attack.control.value > 0.7
    assert got.findings == ()


def test_a_single_rare_level_cannot_be_tested():
    original = table(category("a", ["x"] * 50 + ["y"] * 50 + ["z"]), category("b", ["u", "v"] * 50 + ["w"]))
    assert copies(pair_of(original, original)).attached is None


def test_with_nobody_to_compare_with_an_association_of_the_population_is_no_finding():
    """Hardly any value is held twice, so people with one value cannot be compared with others."""
    for seed in range(12):
        draws = np.random.default_rng(seed)

        def sample(draws=draws):
            common = draws.normal(size=1000)
            other = (common + draws.normal(size=1000)).round(3)
            return table(number("x", np.rint(20_000 * common)), number("y", other, 3))

        assert copies(pair_of(sample(), sample())).findings == ()


def residents(rows, seed):
    """A sample of a population: an amount in cents that age and school explain in part, and unrelated columns."""
    rng = np.random.default_rng(seed)
    age, school = rng.integers(18, 90, rows), rng.choice(["low", "mid", "high"], rows, p=[0.3, 0.5, 0.2])
    amount = np.exp(9 - 0.01 * age + 0.5 * (school == "high") + 0.5 * rng.normal(size=rows)).round(2)
    return table(
        number("age", age),
        number("amount", amount, decimals=2),
        category("school", school.tolist()),
        category("region", rng.choice(list("abcdefgh"), rows).tolist()),
        category("job", [f"job {one}" for one in rng.integers(0, 25, rows)]),
        category("health", rng.choice(["good", "bad"], rows).tolist()),
    )


@pytest.mark.parametrize("which", ["largest amounts", "a few"])
def test_a_dozen_people_copied_into_a_sample_are_found_by_their_rare_numbers(which):
    """Also without control: nobody shares an amount, but people with neighbouring amounts have little in common."""
    original, fresh = residents(1500, 1), residents(1500, 2)
    rows = np.argsort(original["amount"].values)[-15:] if which == "largest amounts" else np.arange(12)
    keep = np.arange(1500) >= len(rows)
    copied = table(*(replace(c, values=np.concatenate([original[c.name].values[rows], c.values[keep]])) for c in fresh))
    for control in (None, residents(1500, 3)):
        assert copies(pair_of(original, fresh, target="health", control=control)).findings == ()
        found = copies(pair_of(original, copied, target="health", control=control)).findings
        assert [one.columns[0] for one in found if one.kind == "attached"] == ["amount"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_a_rare_number_decides_in_the_population_is_no_finding(seed):
    """Two samples of a population in which an amount in whole units has a rate and a class: they share many amounts."""

    def sample(own):
        rng = np.random.default_rng(own)
        amount = rng.integers(0, 20_000, 3000)
        rate = amount * 0.19 + rng.normal(size=3000)
        return table(
            number("amount", amount),
            number("rate", rate.round(2), decimals=2),
            category("class", np.where(amount > 12_000, "high", "low").tolist()),
            category("other", rng.choice(["x", "y"], 3000).tolist()),
        )

    match, tests = worst_attached(pair_of(sample(seed), sample(seed + 10)))
    assert match is None or match.p * tests > 1e-3
