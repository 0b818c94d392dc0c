"""Rules between columns of people with several rows: they hold, dates keep their order, and the release is verified."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import PlanError
from leafcover.recipes import RECIPES
from leafcover.recipes.plan import recoded_table
from leafcover.table.units import is_constant, is_rising, units_of

START = np.datetime64("2015-01-01")
TAKE_UNITS = [name for name, one in RECIPES.items() if one.takes_units]
RULES = {
    "start <= end": ("start", "end"),
    "asked <= start": ("asked", "start"),
    "stay == end - start": ("start", "end", "stay"),
    "born <= start": ("born", "start"),
    "born < asked": ("born", "asked"),
    "year == year(start)": ("start", "year"),
    "wait == start - asked": ("asked", "start", "wait"),
    "cost == 100 * stay + fee": ("cost", "stay", "fee"),
    "fee <= cost": ("fee", "cost"),
    "joined == birth_year + age_joined": ("joined", "birth_year", "age_joined"),
    "missing(end, stay)": ("end", "stay"),
    "ward -> code": ("ward", "code"),
}


def stays(rng, units, *, members=False):
    """Stays of people in a hospital, shuffled: dates in order with gaps, sums of them, some values missing.

    Stays of one person do not overlap, but a stay may be asked for before an earlier one begins.
    """
    rows = rng.integers(1, 5, units)
    who = np.repeat(np.arange(units), rows)
    place = np.arange(len(who)) - np.repeat(np.cumsum(rows) - rows, rows)
    start = rng.integers(0, 900, units)[who] + 40 * place + rng.integers(0, 10, len(who))
    length, wait = rng.integers(0, 30, len(who)), rng.integers(0, 90, len(who))
    gone = rng.random(len(who)) < rng.choice([0.0, 0.2])
    born = (rng.integers(-30_000, -7_000, units))[who]
    birth_year, joined = rng.integers(1940, 2000, units)[who], rng.integers(2001, 2010, units)[who]
    ward = rng.integers(0, 6, len(who))
    stay = pd.Series(length.astype(float)).mask(gone)
    fee = rng.integers(0, 50, len(who))
    frame = pd.DataFrame(
        {
            "who": 1000 + 7 * who,
            "asked": START + (start - wait).astype("timedelta64[D]"),
            "start": START + start.astype("timedelta64[D]"),
            "end": pd.Series(START + (start + length).astype("timedelta64[D]")).mask(gone),
            "stay": stay,
            "wait": wait,
            "born": START + born.astype("timedelta64[D]"),
            "birth_year": birth_year,
            "joined": joined,
            "age_joined": joined - birth_year,
            "fee": fee,
            "cost": 100 * stay + fee,
            "year": pd.Series(START + start.astype("timedelta64[D]")).dt.year,
            "ward": np.array([f"w{one}" for one in range(6)])[ward],
            "code": np.array([f"c{one // 2}" for one in range(6)])[ward],
            "y": np.array(["no", "yes"])[rng.integers(0, 2, len(who))],
        }
    )
    for name in ("asked", "start", "end", "born"):
        frame[name] = frame[name].astype("date32[pyarrow]")
    if members:
        frame.insert(0, "home", 50 + who // 2)
    return frame.sample(frac=1, random_state=int(rng.integers(1000))).reset_index(drop=True)


def table_of(frame, columns):
    """Some columns of the table, in a random order."""
    frame = frame[columns]
    roles = {name: "unit" if name in ("home", "who") else "sensitive" for name in frame.columns if name != "y"}
    return lc.read(frame, roles=roles, category=["y"])


def checked(table, tmp, recipe="cover", **asked):
    """Release a table and check everything; None if it is refused."""
    try:
        made = lc.release(table, recipe, target="y", seed=1, **asked)
    except PlanError as error:
        assert "cannot be kept together" in str(error)  # noqa: PT017 - other errors fail
        return None
    made.save(tmp / "out.parquet", force=True)
    checks = lc.verify(tmp / "out.parquet", original=table, key=lc.Key.from_seed(1))
    bad = [(one.what, one.detail) for one in checks if not one.holds]
    assert [what for what, _ in bad] == ["made with a secret key, rows in a secret order"], bad
    for fact in made.rules:
        assert not fact.broken or fact.found, fact
        assert fact.after >= fact.before or any(repr(fact.text) in one for one in made.warnings), fact
    keeps_shape(table, made)
    return made


def keeps_shape(table, made):
    """Columns with one value for each unit keep one; the column by which rows are sorted never falls, nor do others."""
    layout = made.plan.units
    for level in range(1, len(layout.numbered) + 1):
        before, after = (units_of(one, layout.numbered[:level], None) for one in (table, made.table))
        for column in made.table:
            if column.name not in layout.numbered and is_constant(table[column.name], before):
                assert is_constant(column, after), column.name
    inner = layout.numbered if layout.members else layout.numbered[:1]
    tied = made.plan.tied(recoded_table(made.plan, table))
    rows = units_of(made.table, inner, None)
    for name in (layout.sequence, *layout.rising):
        if name is not None and (name == layout.sequence or name not in tied.differences):
            assert is_rising(made.table[name], rows), name
    assert layout.sequence is None or layout.sequence in (*layout.rising, *layout.constant, *layout.member_constant)


@pytest.mark.parametrize("rule", ["start <= end", "asked <= start", "born <= start", "stay == end - start"])
def test_a_declared_rule_does_not_change_the_order_of_rows(tmp, rule):
    """Dates of a rule were once dealt row by row, so that a unit's second row could begin before its first."""
    frame = stays(np.random.default_rng(3), 90)
    table = table_of(frame, ["who", "start", "y", *dict.fromkeys(n for n in RULES[rule] if n != "start")])
    for sequence in (None, "start"):
        assert checked(table, tmp, rules=[rule], find_rules=False, sequence=sequence) is not None


def test_a_column_with_one_value_for_each_person_is_not_computed_from_others(tmp):
    frame = stays(np.random.default_rng(4), 90)
    frame["back"] = frame["year"] - frame["birth_year"]
    table = table_of(frame, ["who", "start", "back", "birth_year", "year", "y"])
    made = checked(table, tmp, rules=["birth_year == year - back"], find_rules=False)
    assert made.plan.tied(table).computed == ("back",)


@pytest.mark.parametrize("gone", [0.0, 0.6])
def test_no_value_is_exchanged_with_a_unit_that_has_no_row_for_it(tmp, gone):
    """Pairs of levels that no row has are exchanged away, but not into rows that do not exist."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        frame = stays(rng, 45)
        for name in ("end", "cost"):
            frame[name] = frame[name].mask(rng.random(len(frame)) < gone)
        columns = ["who", "start", "end", "cost", "ward", "asked", "fee", "y", "born", "birth_year"]
        assert checked(table_of(frame, columns), tmp, rules=["asked <= start"], find_rules=False) is not None


@st.composite
def asked_of(draw):
    """Rules, the columns that a table has, and what is asked for."""
    declared = draw(st.lists(st.sampled_from(list(RULES)), max_size=4, unique=True))
    needed = {name for rule in declared for name in RULES[rule]}
    more = draw(st.lists(st.sampled_from(sorted({name for names in RULES.values() for name in names})), unique=True))
    columns = draw(st.permutations(sorted({*needed, *more, "who", "y"})))
    dates = [name for name in ("asked", "start", "wait", "year") if name in columns]
    return columns, {
        "rules": declared,
        "find_rules": draw(st.booleans()),
        "sequence": draw(st.sampled_from([None, None, *dates])),
        "most_rows": draw(st.sampled_from([None, None, 2])),
    }


@settings(max_examples=8)
@given(asked_of(), st.sampled_from(TAKE_UNITS), st.integers(40, 150), st.integers(0, 2**32), st.booleans())
def test_releases_of_units_are_verified_and_keep_rules_and_the_order_of_dates(tmp, asked, recipe, units, seed, members):
    columns, options = asked
    frame = stays(np.random.default_rng(seed), units, members=members)
    checked(table_of(frame, [*(["home"] if members else []), *columns]), tmp, recipe, **options)


@pytest.mark.slow
@settings(max_examples=600)
@given(asked_of(), st.sampled_from(TAKE_UNITS), st.integers(40, 150), st.integers(0, 2**32), st.booleans())
def test_the_same_on_many_tables(tmp, asked, recipe, units, seed, members):
    columns, options = asked
    frame = stays(np.random.default_rng(seed), units, members=members)
    checked(table_of(frame, [*(["home"] if members else []), *columns]), tmp, recipe, **options)


@pytest.fixture(scope="module")
def tmp(tmp_path_factory):
    return tmp_path_factory.mktemp("released")
