"""Reconstruction of originals from released rows: by hand, and at its two ends."""

import numpy as np
import pytest

from leafcover.errors import NameUnknown
from leafcover.metrics.disclosure.reconstruction import reconstruction
from leafcover.metrics.estimates import wilson
from leafcover.metrics.pair import pair_of
from tests.metrics.attacks import awkward_pairs, check_sound
from tests.metrics.pairs import apart, copy_of, tables
from tests.tables import category, mixed, number, table


def by_name(found):
    return {one.column: one for one in found.columns}


def test_noise_that_can_be_undone_is_undone():
    # Numbers are turned round and letters exchanged: no released value is the answer, every one can be worked out.
    # Of 0 .. 99, the middle 90 % are 4 .. 94, so that an answer may be 4.5 off: x and 99 - x are that near for
    # x = 48 .. 51, 4 in 100 as they stand.
    rows = 2000
    x = np.arange(rows) % 100
    letters = np.where(np.arange(rows) // 100 % 4 == 0, "a", "b")
    original = table(number("x", x), category("c", [str(v) for v in letters]))
    released = table(number("x", 99 - x), category("c", ["b" if v == "a" else "a" for v in letters]))
    pair = pair_of(original, released, np.arange(rows))
    found = by_name(reconstruction(pair))
    assert found["c"].attack.main.value == 1.0
    assert found["c"].as_released.value == 0.0
    assert found["c"].attack.baseline.low <= 0.75 <= found["c"].attack.baseline.high
    assert found["x"].attack.main.value > 0.98
    assert found["x"].as_released.low <= 0.04 <= found["x"].as_released.high
    assert found["x"].attack.baseline.low <= 0.10 <= found["x"].attack.baseline.high
    assert found["x"].attack.control is None
    assert reconstruction(pair).most_told.column == "x"  # 0.98 beyond 0.1, against 1 beyond 0.75


def test_half_of_the_people_are_attacked():
    found = reconstruction(copy_of(mixed(1, rows=301, missing=0.0)))
    assert (found.rows, found.of) == (301, 301)
    assert {one.attack.main.tries for one in found.columns} == {151}
    assert reconstruction(copy_of(mixed(1, rows=301)), most=100).rows == 100


def test_a_copy_is_told_and_columns_shuffled_apart_are_not():
    for original in (mixed(11, rows=1500, missing=0.0), mixed(12, rows=1500)):
        for one in reconstruction(copy_of(original)).columns:
            assert one.as_released.value == 1.0
            assert one.attack.main.value > 0.9  # far values, with few others near, are harder
        for one in reconstruction(apart(original)).columns:
            assert one.attack.main.low <= one.attack.baseline.high + 0.02  # both are measured
            assert one.as_released.low <= one.attack.baseline.high
            assert one.attack.main.value > one.attack.baseline.value - 0.15  # it learns noise, but not much


def test_a_value_told_by_other_columns_is_found():
    # The column itself is gone from the release; another one says the same.
    rows = 800
    code = np.random.default_rng(1).integers(0, 5, rows)
    letters = category("c", [str(v) for v in code])
    original = table(letters, number("x", code))
    released = table(category("c", ["0", "1", "2", "3", "4"] * (rows // 5)), number("x", code))
    found = by_name(reconstruction(pair_of(original, released, np.arange(rows))))["c"]
    assert found.attack.main.value == 1.0
    assert found.as_released.high < 0.3


def test_missing_values_are_not_asked_for():
    original = table(number("x", np.arange(40)), category("c", ["a", None] * 20))
    found = by_name(reconstruction(copy_of(original)))
    assert found["c"].attack.main.tries < found["x"].attack.main.tries == 20
    assert found["c"].attack.main.value == 1.0
    gone = table(number("x", np.arange(40)), number("gone", [np.nan] * 40))
    assert by_name(reconstruction(copy_of(gone)))["gone"].attack.main == wilson(0, 0)


def test_without_pairs_there_is_none():
    assert reconstruction(pair_of(mixed(1), mixed(1))) is None
    with pytest.raises(NameUnknown, match="There is no column 'agee'"):
        reconstruction(copy_of(mixed(1)), columns=["agee"])


def test_awkward_tables_have_figures():
    for _, pair in awkward_pairs():
        if pair.paired:
            check_sound(reconstruction(pair))


def test_the_same_tables_give_the_same_figures():
    for original in tables().values():
        assert reconstruction(copy_of(original)) == reconstruction(copy_of(original))


def test_hundreds_of_levels_are_looked_up():
    # A code for each of 400 villages: the forest pools the rare ones, a list of what each code mostly was does not.
    rng = np.random.default_rng(2)
    rows = 6000
    village, code = rng.integers(0, 400, rows), rng.permutation(400)
    original = table(category("village", [f"v{v}" for v in village]), number("x", rng.normal(size=rows), None))
    released = table(category("village", [f"c{code[v]}" for v in village]), original["x"])
    found = by_name(reconstruction(pair_of(original, released, np.arange(rows))))["village"]
    assert found.attack.main.value < 0.9
    assert found.looked_up.value == found.best.value > 0.99
    apart_ = by_name(reconstruction(apart(original)))["village"]
    assert apart_.looked_up.low <= apart_.attack.baseline.high
