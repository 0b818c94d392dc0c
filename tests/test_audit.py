"""The audit of the default release: averages come before the largest column, limits are judged, a page is written."""

import numpy as np
import pytest
from benchmarks.audit.measuring import measured, split_of
from benchmarks.audit.page import Line, page
from benchmarks.audit.summary import over, summarised
from benchmarks.audit.tables import TABLES, Data, named, split

from leafcover.table.io import read, sample
from tests.tables import category, number, table

CPS = Data("cps1985", "union")


@pytest.fixture(scope="module")
def summary():
    wages, splits = CPS.read(), {}
    for seed in range(2):
        one = split_of(wages, CPS, seed)
        keys = {}
        common = None
        for key in range(2):
            keys[str(key)], common = measured(one, key, common)
        splits[str(seed)] = {"common": common, "keys": keys}
    return summarised(splits, "v1")


def test_a_small_table_is_audited(summary):
    assert (summary["rows"], summary["control"], summary["releases"]) == (373, 161, 4)
    figures = summary["figures"]
    assert figures["above floor"][0] == pytest.approx(figures["agreement"][0] - figures["floor"][0], abs=2e-5)
    assert 0 < figures["three-way"][0] < 1_000
    assert len(summary["worst pairs"]) == 10
    shown = page({"cps1985": summary})
    assert "| cps1985 | 373 x 11 | 4 in 2 |" in shown


def test_the_mean_comes_before_the_largest_column(summary):
    inference = summary["attacks"]["granted"]["inference"]
    assert list(inference.values()) == sorted(inference.values(), key=lambda value: -value[0])
    splits = {
        "0": {"common": {}, "keys": {"0": {"x": 1.0}, "1": {"x": 3.0}}},
        "1": {"common": {}, "keys": {"0": {"x": 6.0}}},
    }
    assert over(splits, lambda release, common: release["x"]) == [4.0, 2.0]  # of 2 and 6
    assert over({"0": splits["0"]}, lambda release, common: release["x"]) == [2.0, 1.0]  # over keys


@pytest.mark.parametrize(
    ("value", "at_least", "verdict"),
    [(0.06, False, "**no**, by 0.010"), (0.0504, False, "yes"), (0.02, False, "aim"), (0.02, True, "**no**, by 0.030")],
)
def test_limits_are_judged_as_they_are_printed(value, at_least, verdict):
    aim = 0.07 if at_least else 0.03
    assert Line("x", [value, None], 0.05, aim, at_least).verdict == verdict


def test_households_stay_on_one_side():
    units = np.repeat(np.arange(20), 3)
    some = table(number("unit", units), number("x", np.arange(60)), category("class", list("ab") * 30))
    inside, outside = split(some, Data("some", "class", unit="unit"), 0)
    assert (len(inside), len(outside)) == (42, 18)
    assert inside.names == ("x", "class")
    assert not {v // 3 for v in inside["x"].values} & {v // 3 for v in outside["x"].values}


def test_tables_are_chosen_by_name():
    assert [one.name for one in named("wbc,adult")] == ["adult", "wbc"]
    assert list(named("")) == list(TABLES)
    with pytest.raises(SystemExit):
        list(named("nowhere"))
    first, rest = split(read(sample("adult")), TABLES[0], 0)
    assert (len(first), len(rest)) == (22_000, 10_561)
