"""Rules between columns: text and meaning, what is found in a table, and what survives untying and tying."""

import re
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import NameUnknown, PlanError
from leafcover.table.column_rules import Determines, Implies, Linear, MissingTogether, Moment, Pairs, Sum, level_text
from leafcover.table.frames import from_frame
from leafcover.table.inspection import describe
from leafcover.table.rule_search import check_rule, find_rules
from leafcover.table.rule_text import parse_rule
from leafcover.table.tied_columns import tied_columns

WRITTEN = (
    "total == food + rent",
    "start <= end",
    "a - b == 3",
    "-a + 2 * b < 0.25",
    "60 * minutes == end - start",
    "date == day(time)",
    "city -> state",
    'if employed == "no" then wage is missing',
    'if a != "x" then b in ("y", "z")',
    'if a not in ("x", "y") then b is known',
    "pairs(sex, diagnosis, age)",
    "missing(a, b, c)",
    '"hours-per-week" <= "a \\"b\\" \\\\"',
)


@pytest.mark.parametrize("text", WRITTEN)
def test_a_rule_reads_back_as_it_was_written(text):
    assert parse_rule(text).text == text


@pytest.mark.parametrize(
    ("text", "same"),
    [("a = b", "a == b"), ("a >= b", "b <= a"), ("a > b + 1", "b + 1 < a"), ("`a b` < 'c d'", '"a b" < "c d"')],
)
def test_other_ways_to_write_a_rule(text, same):
    assert parse_rule(text).text == same


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).filter(str.strip)


@given(one=NAMES, other=NAMES, level=st.text(max_size=8))
def test_hostile_names_and_levels_survive_the_text(one, other, level):
    for rule in (
        Linear(Sum(((1.0, one),)), "<=", Sum(((2.0, other),))),
        Determines(one, other),
        Pairs((one, other)) if one != other else Determines(one, other),
        parse_rule(f"if a == {level_text(level)} then b is missing"),
    ):
        assert parse_rule(rule.text) == rule


@given(st.text(max_size=30))
def test_any_text_is_a_rule_or_a_one_line_error(text):
    with suppress(PlanError):  # any other error fails
        parse_rule(text, ["a", "b c"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a ==",
        "a == b c",
        "a == b == c",
        "__import__('os')",
        "missing(a)",
        "pairs(a, a)",
        "a == day(b, c)",
        "1 < 2",
    ],
)
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(PlanError):
        parse_rule(text)


def test_known_names_with_signs_need_no_quotes():
    names = ("education-num", "education", "num", "age")
    assert parse_rule("education-num <= age", names).columns == ("education-num", "age")
    assert parse_rule("education - num <= age", names).columns == ("education", "num", "age")


def people(rows=400, seed=1):
    draws = np.random.default_rng(seed)
    start = pd.Timestamp("2020-01-01") + pd.to_timedelta(draws.integers(0, 900, rows), unit="D")
    stay = draws.integers(0, 30, rows)
    food, rent = draws.integers(0, 500, rows) / 100, draws.integers(100, 900, rows) / 100
    city = draws.integers(0, 12, rows)
    gone = draws.random(rows) < 0.3
    sex = draws.choice(["f", "m"], rows)
    return pd.DataFrame(
        {
            "start": start,
            "end": start + pd.to_timedelta(stay, unit="D"),
            "stay": stay,
            "year": start.year,
            "food": food,
            "rent": rent,
            "total": (food + rent).round(2),
            "city": [f"city {c}" for c in city],
            "state": [f"state {c // 4}" for c in city],
            "one": np.where(gone, np.nan, draws.normal(size=rows)),
            "two": np.where(gone, None, draws.choice(["x", "y"], rows)),
            "sex": sex,
            "pregnant": np.where(sex == "m", "no", draws.choice(["no", "yes"], rows)),
        }
    )


def test_the_rules_of_a_table_are_found():
    table = from_frame(people())
    found = {one.rule.text: one for one in find_rules(table)}
    assert all(one.kept == one.rows > 0 for one in found.values())
    for wanted in ("total == food + rent", "missing(one, two)", "city -> state"):
        assert wanted in found
    assert any(isinstance(one.rule, Moment) and one.rule.function == "year" for one in found.values())
    equation = next(one.rule for one in found.values() if isinstance(one.rule, Linear) and "stay" in one.rule.columns)
    assert set(equation.columns) == {"stay", "start", "end"}
    pairs = next(one.rule for one in found.values() if isinstance(one.rule, Pairs))
    assert set(pairs.columns) == {"sex", "pregnant"}  # what is missing together is a rule of its own


def test_the_pairs_of_levels_that_no_row_has_are_shown():
    frame = people(600)
    frame["week"] = np.where(frame["pregnant"] == "yes", np.arange(600), np.nan)
    facts = describe(from_frame(frame))
    shown = {(one.column, one.level, one.other): one.levels for one in facts.absent}
    assert shown == {
        ("sex", '"m"', "pregnant"): ('"yes"',),
        ("sex", '"m"', "week"): ("known",),
        ("pregnant", '"no"', "week"): ("known",),
        ("pregnant", '"yes"', "week"): ("missing",),
    }
    assert all(str(one) in str(facts) for one in facts.absent)


def test_a_few_rows_may_break_a_rule_that_is_found():
    frame = people(4000)
    frame.loc[[5, 700], "total"] += 1
    assert ("total == food + rent", 3998) in {(one.rule.text, one.kept) for one in find_rules(from_frame(frame))}


def random_table(seed):
    """Unrelated columns of every kind, some with missing values, many with few values or large shares of one."""
    draws = np.random.default_rng(seed)
    rows = int(draws.integers(30, 800))
    frame = {}
    for number in range(int(draws.integers(3, 12))):
        kind = draws.integers(0, 7)
        if kind == 0:
            values = draws.normal(size=rows) * 10 ** draws.integers(0, 4)
        elif kind == 1:
            values = draws.integers(0, 10 ** draws.integers(1, 5), rows).astype(float)
        elif kind == 2:
            values = np.where(draws.random(rows) < 0.95, 0.0, draws.integers(1, 100, rows))
        elif kind == 3:
            values = draws.exponential(size=rows).round(2)
        elif kind == 4:
            values = pd.Timestamp("2000-01-01") + pd.to_timedelta(draws.integers(0, 5000, rows), unit="D")
        else:
            shares = draws.dirichlet(np.full(draws.integers(2, 30), 0.4))
            values = np.array([f"l{i}" for i in range(len(shares))], object)[draws.choice(len(shares), rows, p=shares)]
        column = pd.Series(values)
        if draws.random() < 0.4:
            column = column.mask(draws.random(rows) < draws.uniform(0.01, 0.6))
        frame[f"c{number}"] = column
    return from_frame(pd.DataFrame(frame))


def test_unrelated_columns_have_no_rules():
    found = {seed: [str(one.rule) for one in find_rules(random_table(seed))] for seed in range(200)}
    assert {seed: rules for seed, rules in found.items() if rules} == {}


def test_what_is_wrong_with_a_rule_is_said():
    table = from_frame(people())
    for text, error in (
        ("totl == food", NameUnknown),
        ("city <= food", PlanError),
        ("food == year(rent)", PlanError),
        ("food -> city", PlanError),
        ('if city == "nowhere" then sex is missing', NameUnknown),
        ('if food == "1" then sex is missing', PlanError),
        ('if sex == "f" then sex == "f"', PlanError),
        ("food == food", PlanError),
    ):
        with pytest.raises(error):
            parse_rule(text).check(table)


def test_rows_that_break_rules_are_counted():
    frame = people()
    table = from_frame(frame)
    broken = frame.copy()
    broken.loc[:9, "total"] += 1
    broken.loc[:4, "end"] = broken.loc[:4, "start"] - pd.Timedelta(days=1)
    broken.loc[:2, "one"] = np.where(broken.loc[:2, "one"].isna(), 1.0, np.nan)
    released = from_frame(broken)
    for text, count in (("total == food + rent", 10), ("start <= end", 5), ("missing(one, two)", 3)):
        found = check_rule(parse_rule(text), released, table)
        assert found.rows - found.kept == count
    men = broken[broken["sex"] == "m"].index[:7]
    broken.loc[men, "pregnant"] = "yes"
    for text in ("pairs(sex, pregnant)", 'if sex == "m" then pregnant == "no"'):
        found = check_rule(parse_rule(text), from_frame(broken), table)
        assert found.rows - found.kept == 7


# Untie and tie.


@st.composite
def ruled_tables(draw):
    rows = draw(st.integers(3, 40))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32)))
    decimals = draw(st.integers(0, 3))
    low = numbers.integers(-500, 500, rows) / 10**decimals
    gaps = numbers.integers(0, 50, (3, rows)) / 10**decimals
    frame = pd.DataFrame({"low": low, "middle": low + gaps[0], "part": gaps[1], "date": 1.0})
    frame["high"] = np.maximum(frame["middle"], frame["part"]) + gaps[2]
    frame["date"] = pd.Timestamp("1999-12-30") + pd.to_timedelta(numbers.integers(0, 900, rows), unit="D")
    frame["year"] = frame["date"].dt.year
    frame["sum"] = 2 * frame["low"] - frame["part"] + 7
    frame[["low", "middle", "high", "sum"]] = frame[["low", "middle", "high", "sum"]].round(decimals)
    return frame


RULES = ("low <= middle", "middle <= high", "part <= high", "sum == 2 * low - part + 7", "year == year(date)")


@given(ruled_tables(), st.integers(0, 2**32))
@settings(max_examples=60)
def test_rules_hold_whatever_happens_to_the_columns_that_are_left(frame, seed):
    table = from_frame(frame)
    rules = [parse_rule(text) for text in RULES]
    tied = tied_columns(rules, (), table)
    assert tied.computed == ("sum", "year")
    assert tied.differences == ("middle", "high")
    untied = tied.untie(table)
    assert untied.names == ("low", "middle", "part", "date", "high")
    back = tied.tie(untied, table)
    assert back.names == table.names
    for name in table.names:
        assert np.array_equal(back[name].values, table[name].values), name
        assert back[name].stored.equals(table[name].stored), name
    draws = np.random.default_rng(seed)
    mixed = untied.replace([c.take(draws.permutation(len(table))) for c in untied])
    released = tied.tie(mixed, table)
    for rule in rules:
        found = check_rule(rule, released, table)
        assert found.kept == found.rows == len(table), rule
    again = tied.untie(released)
    for name in mixed.names:
        assert np.array_equal(again[name].values, mixed[name].values)


def test_missing_values_of_ordered_columns_stay_missing():
    frame = people().assign(end=lambda f: f["end"].mask(f.index % 3 == 0))
    table = from_frame(frame)
    tied = tied_columns([parse_rule("start <= end")], (), table)
    assert tied.differences == ("end",)
    assert (tied.tie(tied.untie(table), table)["end"].missing == table["end"].missing).all()


def test_rules_that_contradict_each_other_tie_nothing_or_are_refused():
    table = from_frame(people())
    rules = [parse_rule("food <= rent"), parse_rule("rent <= food")]
    assert tied_columns((), rules, table).differences == ("rent",)
    with pytest.raises(PlanError):
        tied_columns(rules, (), table)


def test_the_target_and_unchanged_columns_are_not_computed():
    frame = people()
    rule = parse_rule("total == food + rent")
    assert tied_columns([rule], (), from_frame(frame), target="total").computed == ("rent",)
    kept = from_frame(frame, roles={"total": "unchanged", "rent": "unchanged"})
    assert tied_columns([rule], (), kept).computed == ("food",)


def test_an_order_whose_floor_is_missing_is_not_tied():
    frame = people().assign(start=lambda f: f["start"].mask(f.index % 5 == 0))
    rule = parse_rule("start <= end")
    assert not tied_columns((), [rule], from_frame(frame))
    with pytest.raises(PlanError):
        tied_columns([rule], (), from_frame(frame))


def test_kinds_of_rules_are_told_apart():
    kinds = (
        Linear,
        Linear,
        Linear,
        Linear,
        Linear,
        Moment,
        Determines,
        Implies,
        Implies,
        Implies,
        Pairs,
        MissingTogether,
    )
    assert all(isinstance(parse_rule(text), kind) for text, kind in zip(WRITTEN, kinds, strict=False))


def test_two_columns_that_are_computed_are_missing_together_as_their_sources_are():
    frame = people()
    gone = frame.index % 3 == 0
    frame["food"] = frame["food"].mask(gone)
    frame["total"] = frame["food"] + frame["rent"]
    frame["double"] = 2 * frame["food"]
    table = from_frame(frame)
    tied = tied_columns([parse_rule("total == food + rent"), parse_rule("double == 2 * food")], (), table)
    assert set(tied.computed) == {"total", "double"}
    ((one, other, pairs),) = list(parse_rule("missing(total, double)").forbidden_pairs(table))
    assert not list(tied.between_sources(one, other, pairs, table))  # both are missing where food is
    frame["rent"] = frame["rent"].mask(gone)
    table = from_frame(frame)
    found = list(tied.between_sources(one, other, pairs, table))
    assert [(a, b, p.tolist()) for a, b, p in found] == [("rent", "food", [[False, False], [True, False]])]


@pytest.mark.parametrize(
    "text", ["age < 15 implies job == none", "if age < 15 then job == 'none'", "a => b", "if job == 'x' then age > 3"]
)
def test_an_implication_that_cannot_be_read_says_what_one_may_say(text):
    with pytest.raises(PlanError) as caught:
        parse_rule(text)
    said = str(caught.value)
    assert "\n" not in said
    assert "is missing" in said
    for example in re.findall(r"'(if [^']*)'", said):
        assert parse_rule(example).columns


def test_an_implication_about_a_number_can_name_its_intervals():
    rng = np.random.default_rng(0)
    age = rng.integers(5, 80, 400)
    job = np.where(age < 15, "none", rng.choice(["none", "a", "b"], 400))
    people = pa.table({"age": age, "job": job, "good": rng.choice(["u", "v"], 400)})
    rule, recode = 'if age == "under 15" then job == "none"', ["age: intervals 15"]
    assert lc.release(people, "cover", target="good", rules=[rule], recode=recode, seed=1).rules[0].broken == 0
