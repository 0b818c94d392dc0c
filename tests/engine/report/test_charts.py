"""The charts of columns: what may be drawn, and for whom."""

import re
from dataclasses import replace

import numpy as np
import pytest

from leafcover.reporting.charts import bars_of, chart, steps_of
from leafcover.reporting.disclosure_rules import FEWEST
from tests.engine.report.pages import page, released
from tests.tables import category, number, table


def test_columns_that_cannot_be_drawn_have_words_instead():
    rng = np.random.default_rng(3)
    original = table(
        number("empty", [np.nan] * 100),
        number("one", [4.0] * 100),
        category("none", [None] * 100),
        category("y", ["a" if r else "b" for r in rng.random(100) < 0.5]),
        number("x", rng.normal(0, 1, 100), decimals=None),
    )
    for face in ("internal", "external"):
        html = page(original, released(original, target="y"), face)
        assert len(re.findall(r'<p class="none">[^<]+</p>', html)) >= 2


def test_a_strict_histogram_joins_bins_until_five_rows_and_leaves_out_the_ends():
    values = np.concatenate([np.repeat(np.arange(20.0), 6), [500.0, -500.0, 13.37]])
    column = number("x", values, decimals=2)
    steps = steps_of(column, column, strict=True)
    assert not len(steps.before)
    assert steps.edges[0] >= -2
    assert steps.edges[-1] <= 22
    inner = np.sort(values)[FEWEST:-FEWEST]
    counts = np.histogram(inner, steps.edges)[0]
    assert ((counts >= FEWEST) | (counts == 0)).all()
    assert not np.isin(steps.edges, [13.37, 500, -500]).any()


@pytest.mark.parametrize("rare", [1, 4, 5, 30])
def test_strict_bars_never_let_fewer_than_five_rows_be_worked_out(rare):
    texts = ["a"] * 60 + ["b"] * 40 + ["c"] * rare
    column = category("x", texts)
    bars = bars_of(column, column, strict=True)
    assert ("c" in bars.names) == (rare >= FEWEST)
    if rare < FEWEST:
        assert bars.names == ("a", "others")


def test_a_level_common_only_after_the_release_is_still_rare():
    before, after = category("x", ["a"] * 99 + ["b"]), category("x", ["a"] * 80 + ["b"] * 20)
    assert "b" not in bars_of(before, after, strict=True).names


def test_dates_and_times_are_drawn_with_their_own_ticks():
    days = replace(number("day", np.arange(11000, 14000.0, 10)), kind="date")
    seconds = replace(number("at", np.arange(1.5e9, 1.6e9, 1e6)), kind="time")
    assert "2004" in chart(days, days, strict=True)
    assert "2018" in chart(seconds, seconds, strict=False)
