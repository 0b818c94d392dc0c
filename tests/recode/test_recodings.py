"""What holds of every recoding, on random tables; and what each of them makes of its values."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import LeafcoverError
from leafcover.recode.base import RECODINGS, apply_all, fit_all, parse_recoding
from leafcover.recode.intervals import labels_of
from leafcover.table.table import Column, Grid, Table
from tests.tables import category, number


def moments(name, kind, values):
    grid = Grid(0) if kind == "date" else Grid(0, every=60)
    return Column(name, kind, np.array(values, np.float64), grid=grid)


@st.composite
def people(draw):
    """Numbers, dates, times and categories with ties and missing values."""
    size = draw(st.integers(3, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    hide = rng.random((6, size)) < draw(st.sampled_from([0.0, 0.2]))
    hide[:, 0] = False

    def some(at, values):
        return np.where(hide[at], np.nan, values)

    zips = [None if gone else f"{rng.integers(100):05d}" for gone in hide[4]]
    return Table(
        (
            number("age", some(0, rng.integers(0, 90, size))),
            number("pay", some(1, np.round(rng.lognormal(3, 2, size) - 5, 2)), 2),
            number("rate", some(2, rng.normal(0, 1, size)), None),
            moments("birth", "date", some(3, rng.integers(-9000, 9000, size))),
            moments("seen", "time", some(3, 60.0 * rng.integers(-(10**6), 10**6, size))),
            category("zip", zips),
        )
    )


def fitting(one, table):
    """A recoding fitted to a table, which may be too small for it."""
    try:
        return one.fitted(table)
    except LeafcoverError:
        return None


EVERY = (
    lc.Round("age", to=5),
    lc.Round("pay", to=0.25),
    lc.Round("rate", to=0.1),
    lc.Round("pay", digits=2),
    lc.TopCode("age", at=65),
    lc.TopCode("pay", share=0.2, to="mean"),
    lc.TopCode("birth", rows=3),
    lc.BottomCode("rate", rows=4, to="mean"),
    lc.BottomCode("seen", share=0.5),
    lc.Intervals("age", edges=[18, 65]),
    lc.Intervals("pay", count=4),
    lc.Intervals("birth", edges=["1970-01-01", "1985-06-01"]),
    lc.Intervals("age", width=10),
    lc.Intervals("age", count=3, to="midpoint"),
    lc.Intervals("rate", count=3, to="mean"),
    lc.Truncate("birth", "quarter"),
    lc.Truncate("birth", "week"),
    lc.Truncate("seen", "hour"),
    lc.Truncate("seen", "month"),
    lc.Generalise("zip", prefix=3),
    lc.Generalise("zip", groups={"low": [f"{at:05d}" for at in range(50)]}, others="high"),
    lc.Generalise("zip", groups={"first": ["00000", "00001"]}),
    lc.LocalSuppression(("age", "zip"), k=2),
    lc.LocalSuppression(("birth", "zip"), k=3, costs={"zip": 2.0}, sensitive="pay", l=2),
    lc.Suppress("age", where="zip is missing"),
    lc.Suppress("seen", every=True),
    lc.Suppress("pay", values=[-4.0, "3"]),
    lc.Suppress("zip", where="zip != '00003'"),
)


def test_every_recoding_is_tested():
    assert {type(one) for one in EVERY} == set(RECODINGS.values())


@pytest.mark.parametrize("one", EVERY, ids=str)
@settings(max_examples=15, deadline=None)
@given(table=people())
def test_a_recoding_keeps_what_every_recoding_keeps(one, table):
    fitted = fitting(one, table)
    if fitted is None:
        return
    assert fitted.fitted(table) == fitted
    after = fitted.apply(table)
    for name in table.names:
        if name not in one.columns:
            assert after[name] is table[name]
            continue
        before, new = table[name], after[name]
        if one.promise == "suppressed":
            assert (new.missing >= before.missing).all()
            continue
        np.testing.assert_array_equal(before.missing, new.missing)
        same = fitted.apply(after)[name]
        assert same.levels == new.levels
        np.testing.assert_array_equal(same.values, new.values)  # recoded twice is recoded once
        assert fitted.violations(after) == ()
        is_monotone(before, new)
    rows = np.arange(0, len(table), 2)  # other rows are recoded alike
    if not one.uses_other_rows:
        assert equal_texts(fitted.apply(table.take(rows)), after.take(rows), one.columns)
    again = lc.parse_plan(lc.plan_text(lc.Plan(recode=[one, fitted]))).recode
    assert again == (one, fitted)


def texts(column):
    return np.array([*column.levels, None], object)[column.values] if column.is_category else column.values


def equal_texts(one, other, names):
    return all(pd.Series(texts(one[name])).equals(pd.Series(texts(other[name]))) for name in names)


def is_monotone(before, new):
    """Equal values stay equal, so that nothing is refined; the order of numbers is kept."""
    values, first = np.unique(before.values[~before.missing], return_index=True)
    made = pd.Series(texts(new)[~before.missing])
    assert (made.groupby(before.values[~before.missing], dropna=False).nunique(dropna=False) <= 1).all()
    if not before.is_category and not new.is_category:
        assert (np.diff(made.iloc[first].to_numpy(float)) >= 0).all()
    elif not before.is_category:  # the values of an interval are neighbours
        codes = made.iloc[first].to_numpy()
        assert (codes[1:] != codes[:-1]).sum() == len(set(codes)) - 1 or not len(values)


# What each of them does.


def numbers(values, decimals=0):
    return Table((number("x", values, decimals),))


@pytest.mark.parametrize(
    ("to", "values", "rounded"),
    [
        (5, [1, 2, 3, 7.0, 8, -3], [0, 0, 5, 5, 10, -5]),
        (0.1, [0.15, 0.25, 0.35], [0.2, 0.2, 0.4]),  # half way: to the even multiple, in decimals
        (0.25, [1.1, 1.2, 0.13], [1.0, 1.25, 0.25]),
        (1000, [1500, 2500, 499], [2000, 2000, 0]),
    ],
)
def test_numbers_become_the_nearest_multiple(to, values, rounded):
    after = lc.Round("x", to=to).apply(numbers(values, 2))["x"]
    assert after.values.tolist() == rounded
    np.testing.assert_array_equal(after.grid.value(after.grid.index(after.values)), after.values)


def test_significant_digits():
    after = lc.Round("x", digits=2).apply(numbers([1234, 99.6, 0.05678, 0, -1250], 5))["x"]
    assert after.values.tolist() == [1200, 100, 0.057, 0, -1200]


def test_huge_numbers_are_left_as_they_are():
    huge = Table((number("x", [1e300, 2.0**60, 3.0], None),))
    assert lc.Round("x", to=0.5).apply(huge)["x"].values.tolist() == [1e300, 2.0**60, 3.0]


@settings(max_examples=40)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 20))
def test_at_least_so_many_rows_are_coded(values, rows):
    table = numbers(values)
    for one, beyond in ((lc.TopCode("x", rows=rows), np.greater_equal), (lc.BottomCode("x", rows=rows), np.less_equal)):
        at = one.fitted(table).at
        assert beyond(values, at).sum() >= min(rows, len(values))
        new = one.fitted(table).apply(table)["x"].values
        assert (new[beyond(values, at)] == at).all()
        assert (new[~beyond(values, at)] == np.array(values)[~beyond(values, at)]).all()


def test_coded_values_take_their_mean():
    table = numbers([1, 2, 3, 90, 100])
    assert lc.TopCode("x", at=50, to="mean").fitted(table).to == 95
    assert lc.TopCode("x", at=50, to=60).fitted(table).apply(table)["x"].values.tolist() == [1, 2, 3, 60, 60]
    with pytest.raises(LeafcoverError, match="at or beyond"):
        lc.TopCode("x", at=50, to=40).fitted(table)


@pytest.mark.parametrize(
    ("edges", "column", "labels"),
    [
        ([0, 18, 65], number("x", [1.0]), ("under 0", "0-17", "18-64", "65 or more")),
        ([5, 6], number("x", [1.0]), ("under 5", "5", "6 or more")),
        ([-5, 0], number("x", [1.0]), ("under -5", "-5 to -1", "0 or more")),
        ([1.5, 2], number("x", [1.0], 2), ("under 1.5", "1.5 to under 2", "2 or more")),
        ([17.5, 20], number("x", [1.0]), ("under 17.5", "17.5 to under 20", "20 or more")),
        (
            [0, 31],
            moments("x", "date", [0.0]),
            ("before 1970-01-01", "1970-01-01 to 1970-01-31", "1970-02-01 or later"),
        ),
    ],
)
def test_labels_are_readable(edges, column, labels):
    assert labels_of(column, np.array(edges, float)) == labels


def test_intervals_of_equal_frequency_never_split_equal_values():
    table = numbers([1] * 50 + [2] * 3 + [3] * 40)
    column = lc.Intervals("x", count=4).fitted(table).apply(table)["x"]
    assert np.bincount(column.values).tolist() in ([50, 43], [43, 50])


def test_intervals_of_a_width_join_the_ends_that_few_rows_have():
    table = numbers([*np.repeat(np.arange(20, 60), 2), 1, 99])
    assert lc.Intervals("x", width=10).fitted(table).edges == (30.0, 40.0, 50.0)


def test_typed_columns_keep_the_order_of_intervals():
    frame = pd.DataFrame({"x": [3, 12, 7, None, 25]})
    made = lc.release(frame, lc.Plan(recode=[lc.Intervals("x", edges=[5, 10, 20])]), seed=1).frame["x"]
    assert made.cat.ordered
    assert made.cat.categories.tolist() == ["under 5", "5-9", "10-19", "20 or more"]
    assert sorted(made.dropna().astype(str)) == ["10-19", "20 or more", "5-9", "under 5"]


def test_a_text_table_keeps_its_tokens_of_missing_values(tmp_path):
    (tmp_path / "in.csv").write_text("x,y\n3,a\n?,b\n25,a\n12,b\n")
    made = lc.release(lc.read(tmp_path / "in.csv"), lc.Plan(recode=[lc.Intervals("x", edges=[5, 20])]), seed=1)
    made.save(tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert sorted(lines) == ["20 or more,a", "5-19,b", "?,b", "under 5,a"]


def test_recodings_of_sdcmicro():
    """Facts of its manual: intervals closed on the right, values above a limit replaced, levels joined under a name."""
    ages = np.arange(2.0, 101.0)
    breaks = [1, 9, 19, 29, 39, 49, 59, 69, 100]
    theirs = [sum(age > one for one in breaks) for age in ages]  # the number of "(1,9]" is 1
    after = lc.Intervals("x", edges=[one + 1 for one in breaks[1:-1]]).apply(numbers(ages))["x"]
    assert after.levels[:2] == ("10-19", "20-29")
    assert pd.crosstab(texts(after), np.array(theirs)).gt(0).sum().tolist() == [1] * 8
    debts = np.array([12.0, 8999.0, 9001.0, 20_000.0])
    above = np.where(debts > 9000, 9100, debts)
    assert lc.TopCode("x", at=9000, to=9100).apply(numbers(debts))["x"].values.tolist() == above.tolist()
    groups = Table((category("age", ["AGE4", "AGE5", "AGE6"]),))
    joined = lc.Generalise("age", groups={"AGE5_6": ["AGE5", "AGE6"]}).apply(groups)["age"]
    assert levels_of(joined) == ["AGE4", "AGE5_6", "AGE5_6"]


# Levels and hierarchies.


def jobs():
    return Table((category("job", ["baker", "clerk", "smith", None, "clerk"]), number("pay", [1, 2, 3, 4, 5])))


LINES = "baker;craft;all\nsmith;craft;all\nclerk;office;all\n"
NESTED = {"all": {"craft": ["baker", "smith"], "office": ["clerk"]}}


def levels_of(column):
    return [None if code < 0 else column.levels[code] for code in column.values]


@pytest.mark.parametrize("how", ["csv", "commas", "toml", "nested"])
def test_a_hierarchy_is_read_from_files_and_mappings(how, tmp_path):
    written = {
        "csv": LINES,
        "commas": "\ufeff" + LINES.replace(";", ", "),
        "toml": '[all]\ncraft = ["baker", "smith"]\noffice = ["clerk"]',
    }
    path = tmp_path / f"jobs.{'toml' if how == 'toml' else 'csv'}"
    path.write_text(written.get(how, ""), "utf-8")
    for level, made in ((1, ["craft", "office", "craft", None, "office"]), (2, ["all", "all", "all", None, "all"])):
        one = lc.Generalise("job", NESTED if how == "nested" else str(path), level=level).fitted(jobs())
        assert levels_of(one.apply(jobs())["job"]) == made
        assert one.hierarchy is None
        assert lc.parse_plan(lc.plan_text(lc.Plan(recode=[one]))).recode == (one,)
    with pytest.raises(LeafcoverError, match="1 to 2"):
        lc.Generalise("job", NESTED if how == "nested" else str(path), level=3).fitted(jobs())


@pytest.mark.parametrize(
    "text",
    ["", "baker", "baker;craft\nclerk", "baker;craft\nbaker;office", "baker;craft\nclerk;office", "baker;\nclerk;a"],
)
def test_a_wrong_hierarchy_is_one_line(text, tmp_path):
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(LeafcoverError) as error:
        lc.Generalise("job", str(tmp_path / "h.csv")).fitted(jobs())
    assert "\n" not in str(error.value)


def test_levels_without_a_coarser_one():
    groups = {"craft": ["baker"]}
    assert levels_of(lc.Generalise("job", groups=groups).apply(jobs())["job"]) == [
        "craft",
        "clerk",
        "smith",
        None,
        "clerk",
    ]
    other = lc.Generalise("job", groups=groups, others="else").apply(jobs())["job"]
    assert levels_of(other) == ["craft", "else", "else", None, "else"]
    strict = lc.Generalise("job", groups=groups, others="refuse")
    with pytest.raises(LeafcoverError, match="'clerk', 'smith'"):
        strict.fitted(jobs())
    assert levels_of(strict.apply(jobs(), jobs())["job"])[1] == "clerk"  # of people outside the release
    for wrong in ({}, {"a": ["b"], "c": ["b"]}, {"a": ["b"], "b": ["c"]}):
        with pytest.raises(LeafcoverError):
            lc.Generalise("job", groups=wrong)


def test_levels_that_are_coarser_already_stay(tmp_path):
    """A hierarchy that is given for a column which is at its level, or above, changes nothing."""
    (tmp_path / "jobs.csv").write_text("smith;metal;craft\nbaker;food;craft\nclerk;files;office\n")
    for levels in (["craft", "office"], ["metal", "office"], ["smith", "craft", "files"]):
        table = lc.from_frame(pd.DataFrame({"job": levels * 20}))
        one = lc.Generalise("job", hierarchy=str(tmp_path / "jobs.csv"), level=1).fitted(table)
        after = one.apply(table)["job"]
        wanted = {"smith": "metal"}
        assert after.levels == tuple(sorted({wanted.get(level, level) for level in levels}))


def test_codes_keep_their_first_characters():
    codes = Table((category("zip", ["12345", "12399", "1", None]),))
    assert levels_of(lc.Generalise("zip", prefix=3).apply(codes)["zip"]) == ["123**", "123**", "1", None]
    assert levels_of(lc.Generalise("zip", prefix=0).apply(codes)["zip"]) == ["*****", "*****", "*", None]


def test_what_is_published_names_no_level_that_is_gone():
    for one in (lc.Generalise("job", groups={"craft": ["baker"]}), lc.Suppress("job", values=["baker"])):
        assert "baker" not in lc.plan_text(lc.Plan(recode=[one.published()]))


@pytest.mark.parametrize(
    "make", [pd.DataFrame, lambda d: pd.DataFrame(d).astype({"job": "category"}), pl.DataFrame, pa.table]
)
def test_suppressed_levels_are_nowhere_in_a_frame(make):
    frame = make({"job": ["pilot", "baker", "clerk", "baker"], "pay": [9, 2, 3, 4]})
    recode = [lc.Suppress("pay", where="job == 'pilot'"), lc.Suppress("job", values=["pilot"])]
    made = lc.release(frame, lc.Plan(recode=recode), seed=1)
    assert "pilot" not in str(made.frame) + str(made.table["job"].levels)
    assert made.table["pay"].missing.sum() == made.table["job"].missing.sum() == 1
    if isinstance(made.frame, pd.DataFrame) and hasattr(made.frame["job"], "cat"):
        assert "pilot" not in made.frame["job"].cat.categories


# Texts.


def test_a_text_is_the_same_recoding():
    names = ["wage", "a: b", "x, y"]
    assert parse_recoding("wage: round 0.5") == lc.Round("wage", to=0.5)
    assert parse_recoding("wage: top share=0.05 to=mean") == lc.TopCode("wage", share=0.05, to="mean")
    assert parse_recoding("wage:intervals 18,  65,to=midpoint").to == "midpoint"
    assert parse_recoding("a: b: round 5", names).column == "a: b"
    assert parse_recoding("x, y: round 5", names).column == "x, y"
    assert parse_recoding('"odd: name" : truncate year').column == "odd: name"
    assert parse_recoding("zip: generalise prefix=3") == lc.Generalise("zip", prefix=3)
    assert parse_recoding("job: generalise 'my jobs.csv' level=2").hierarchy == "my jobs.csv"
    assert parse_recoding('job: suppress pilot, "a, b"').values == ("pilot", "a, b")
    assert parse_recoding("pay: suppress where=\"job == 'pilot'\"").where == "job == 'pilot'"
    assert parse_recoding("wage: BOTTOM 5", names) == lc.BottomCode("wage", at="5")


@pytest.mark.parametrize(
    "text",
    [
        "wage", "wage round 3", "wage: rund 3", "wage:", "wage: round", "wage: round x", "wage: round 1, 2",
        "wage: round to=1 to=2", "wage: round of=3", "wage: round -1", "wage: top", "wage: top share=2", ": round 3",
        "wage: intervals", "wage: intervals 3, 2", "wage: intervals count=1", "a, b: round 3", "wage: truncate age",
        "wage: truncate year", "job: round 3", "nobody: round 3", "wage: intervals 2, 2", "wage: intervals nan",
        "wage: round nan", "wage: round inf", "wage: top at=x", "wage: intervals width=0", "wage: round digits=0",
    ],
)  # fmt: skip
def test_a_wrong_text_is_one_line(text):
    table = Table((number("wage", np.arange(20.0)), category("job", ["a", "b"] * 10)))
    with pytest.raises(LeafcoverError) as error:
        fit_all([parse_recoding(text, table.names)], table)
    assert "\n" not in str(error.value)
    assert "Traceback" not in str(error.value)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30), st.sampled_from(["", "wage:", "wage: round ", "wage: intervals ", "a, b: "]))
def test_no_text_is_anything_but_a_recoding_or_one_line(text, begin):
    table = Table((number("wage", np.arange(20.0)),))
    with suppress(LeafcoverError):
        recodings, after = fit_all([parse_recoding(begin + text, table.names)], table)
        assert len(apply_all(recodings, after)) == 20


def test_columns_that_must_stay_are_not_recoded():
    table = replace(numbers([1, 2, 3]), roles={"x": "unchanged"})
    with pytest.raises(LeafcoverError, match="unchanged"):
        fit_all([lc.Round("x", to=5)], table)
