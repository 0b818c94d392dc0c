"""Correct attribution: by hand, against a twin, and at both ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure.reconstruction import attribution, few_keys
from leafcover.metrics.pair import pair_of
from tests.metrics.attacks import awkward_pairs, check_sound, with_control
from tests.metrics.pairs import apart, copy_of, reordered
from tests.tables import category, mixed, mixed_tables, number, table


def test_attribution_by_hand():
    original = table(category("key", list("uuvvw")), category("aim", list("ynyyn")))
    released = table(category("key", list("uuuvv")), category("aim", list("yynny")))
    control = table(category("key", list("uw")), category("aim", list("yy")))
    pair = pair_of(original, released, np.arange(5), target="aim", control=control)
    found = attribution(pair)
    # u, y: 2 of the 3 released u. u, n: 1 of 3. v, y twice: 1 of 2 each. w: nobody, left out. 2 of 4 together.
    assert found.attack.main.value == pytest.approx(2 / 4)
    assert found.attack.main.tries == 4
    assert found.undefined.value == pytest.approx(1 / 5)
    # The release has y in 3 of 5, n in 2 of 5; the people are y, n, y, y, n.
    assert found.attack.baseline.value == pytest.approx((3 * 0.6 + 2 * 0.4) / 5)
    # Of the original itself u says y and n by half, v says y for sure, w says n for sure.
    assert found.ceiling.value == pytest.approx((0.5 + 0.5 + 1 + 1 + 1) / 5)
    # Of the control only u has a key of the release: 2 of 3 say y.
    assert found.attack.control.value == pytest.approx(2 / 3)
    # No key is sure; from 0.6 on u is, of whose two people 2/3 and 1/3 are told.
    assert found.targeted.tries == 0
    assert attribution(pair, sure=0.6).targeted.value == pytest.approx(1 / 2)
    assert (found.target, found.keys, found.rows) == ("aim", ("key",), 5)


def test_numbers_are_cut_into_bins():
    # Two bins of 1 .. 10: up to 5 and above. Released rows say low for the one, high for the other.
    original = table(number("x", np.arange(1, 11)), category("aim", ["low"] * 5 + ["high"] * 5))
    released = table(number("x", [2, 3, 1, 2, 5, 9, 8, 7, 10, 6]), category("aim", ["low"] * 5 + ["high"] * 5))
    pair = pair_of(original, released, np.arange(10), target="aim")
    assert attribution(pair, bins=2).attack.main.value == 1.0
    aimed = attribution(pair, target="x", keys=["aim"], bins=2)
    assert aimed.attack.main.value == 1.0


def twin(people, released, keys, target):
    found = []
    for i in range(len(people)):
        if people[target].missing[i]:
            continue
        same = [j for j in range(len(released)) if all(released[k].values[j] == people[k].values[i] for k in keys)]
        if same:
            found.append(np.mean([released[target].values[j] == people[target].values[i] for j in same]))
    return np.mean(found) if found else 0.0


@given(mixed_tables(max_rows=20), st.sampled_from(["class", "kind"]), st.randoms(use_true_random=False))
def test_attribution_is_its_twin(original, target, random):
    rows = len(original)
    released = original.take(np.array([random.randrange(rows) for _ in range(rows)]))
    keys = [n for n in ("kind", "other", "class") if n != target]
    pair = pair_of(original, released, np.arange(rows), target=target, control=released)
    found = attribution(pair, keys=keys)
    assert found.attack.main.value == pytest.approx(twin(pair.original, pair.released, keys, target))
    assert found.attack.control.value == pytest.approx(twin(pair.released, pair.released, keys, target))
    assert found.ceiling.value == pytest.approx(twin(pair.original, pair.original, keys, target))


def test_a_copy_reaches_the_ceiling_and_columns_shuffled_apart_do_not():
    copied = attribution(with_control(copy_of, rows=1000, target="class"), keys=["age", "job", "town"])
    assert copied.attack.main.value == pytest.approx(copied.ceiling.value)
    assert copied.attack.main.low > copied.attack.baseline.high
    assert copied.undefined.value == 0.0
    assert copied.targeted.value == 1.0
    alone = attribution(with_control(copy_of, target="class"), keys=["pay"], bins=1000)
    assert alone.attack.main.value > 0.95
    shuffled = attribution(with_control(apart, rows=1000, target="class"), keys=["age", "job", "town"])
    assert shuffled.attack.main.low <= shuffled.attack.baseline.high
    assert shuffled.attack.baseline.low <= shuffled.attack.main.high
    assert shuffled.attack.above_control.low <= 0.0 <= shuffled.attack.above_control.high


def test_the_order_of_rows_and_columns_does_not_matter():
    pair = pair_of(mixed(4), mixed(5), np.arange(300), target="class", control=mixed(6))
    one, other = attribution(pair), attribution(reordered(pair))
    assert one.keys == other.keys
    for first, second in ((one.attack.main, other.attack.main), (one.targeted, other.targeted)):
        assert first.value == pytest.approx(second.value)


def test_which_columns_are_taken():
    pair = copy_of(mixed(1), target="class")
    assert few_keys(pair, "class") == ("job", "town", "noise", "pay")
    assert attribution(copy_of(mixed(1), sensitive=["pay"])).target == "pay"
    assert attribution(copy_of(mixed(1))).target == "class"  # the last column
    assert attribution(copy_of(table(number("x", [1, 2])))).keys == ()


def test_wrong_names_are_refused():
    with pytest.raises(NameUnknown, match="There is no column 'agee'"):
        attribution(copy_of(mixed(1)), keys=["agee"])
    with pytest.raises(ValueOutOfRange, match="bins"):
        attribution(copy_of(mixed(1)), bins=1)


def test_awkward_tables_have_figures():
    for _, pair in awkward_pairs():
        check_sound(attribution(pair))
