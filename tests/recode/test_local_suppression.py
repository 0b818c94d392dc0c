"""Local suppression: k and l on every table, no unnecessary cell, few cells, and nothing that depends on row order."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import LeafcoverError
from leafcover.kernels import suppression as kernel
from leafcover.keyed_random import Draws
from leafcover.recode.local_suppression import column_sets, suppress_cells
from leafcover.table.table import row_hashes
from tests.naive_suppression import (
    greedy,
    greedy_wildcard,
    improved,
    is_valid,
    match,
    one_by_one,
    one_by_one_wildcard,
    optimum,
    restored_wildcard,
)
from tests.tables import category, number, table

DRAWS = Draws(bytes(32))
FEW = settings(max_examples=40)
SIDES = pytest.mark.parametrize("draws", [None, DRAWS], ids=["alike", "drawn"])


@st.composite
def tables(draw, most_rows=24, most_columns=4):
    """Random tables with missing values, constant and distinct columns, numbers and duplicates; k up to all rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows, width = draw(st.integers(2, most_rows)), draw(st.integers(1, most_columns))
    return random_table(rng, rows, width), min(int(rng.choice([1, 2, 2, 3, 3, 4, rows])), rows)


def random_table(rng, rows, width, levels=None):
    columns = []
    for c in range(width):
        count = rng.choice([1, 2, 2, 3, 4, rows]) if levels is None else levels[c]
        values = rng.permutation(rows) if count == rows else rng.integers(0, count, rows)
        known = rng.random(rows) >= rng.choice([0, 0, 0.2])
        if rng.random() < 0.3:
            columns.append(number(f"c{c}", np.where(known, values / 4 - 1, np.nan), decimals=None))
        else:
            columns.append(category(f"c{c}", [f"v{v:02}" if k else None for v, k in zip(values, known, strict=True)]))
    columns.append(category("sensitive", [f"s{v}" for v in rng.integers(0, 3, rows)]))
    return table(*columns, number("other", rng.integers(0, 9, rows)))


def keys(one):
    return [name for name in one.names if name.startswith("c")]


def codes_of(one, names):
    """Codes of each row, 0 for missing."""
    found = []
    for name in names:
        column = one[name]
        known = np.unique(column.values[~column.missing])
        found.append(
            np.where(column.missing, 0, np.searchsorted(known, np.where(column.missing, 0, column.values)) + 1)
        )
    return [tuple(map(int, row)) for row in zip(*found, strict=True)]


def hidden_cells(before, after, names):
    return np.column_stack([after[name].missing & ~before[name].missing for name in names])


def released_codes(rows, hidden):
    return [
        tuple(0 if h else v for v, h in zip(row, hide, strict=True)) for row, hide in zip(rows, hidden, strict=True)
    ]


def alike_records(rows):
    return [(codes, [i for i, row in enumerate(rows) if row == codes]) for codes in sorted(set(rows))]


def drawn_records(one, rows):
    """Every row, equal ones in the order of their secret words."""
    words = DRAWS.words(row_hashes(one).view(np.int64))
    return [(rows[i], [i]) for i in sorted(range(len(rows)), key=lambda i: (rows[i], words[i], i))]


def sets_for(rows, price):
    return column_sets(np.array(price), [len({row[c] for row in rows}) for c in range(len(price))]).tolist()


def shown(column):
    return np.array([*column.levels, ""])[column.values] if column.is_category else column.values


# What is promised.


@SIDES
@given(tables())
def test_every_class_has_k_rows_and_only_quasi_identifiers_lose_cells(draws, given_):
    one, k = given_
    names = keys(one)
    found = suppress_cells(one, names, k, draws=draws)
    released, hidden = codes_of(found.table, names), hidden_cells(one, found.table, names)
    assert min(Counter(released).values()) == found.smallest_after >= k
    assert min(Counter(codes_of(one, names)).values()) == found.smallest_before
    assert found.cells == dict(zip(names, hidden.sum(axis=0).tolist(), strict=True))
    assert found.rows == hidden.any(axis=1).sum()
    for column in one:
        new = found.table[column.name]
        kept = ~new.missing
        assert (shown(column)[kept] == shown(new)[kept]).all()
        assert column.name in names or (new.missing == column.missing).all()


@SIDES
@given(tables())
def test_no_single_cell_can_be_restored(draws, given_):
    """Where equal rows lose the same cells, no cell of all of them."""
    one, k = given_
    names = keys(one)
    rows = codes_of(one, names)
    hidden = hidden_cells(one, suppress_cells(one, names, k, draws=draws).table, names)
    together = [[i] for i in range(len(one))] if draws else [members for _, members in alike_records(rows)]
    for members in together:
        for c in np.flatnonzero(hidden[members[0]]):
            fewer = hidden.copy()
            fewer[members, c] = False
            assert min(Counter(released_codes(rows, fewer)).values()) < k


@FEW
@given(tables())
def test_no_single_cell_can_be_restored_where_missing_matches_everything(given_):
    one, k = given_
    names = keys(one)
    rows = codes_of(one, names)
    found = suppress_cells(one, names, k, missing="any")
    hidden = hidden_cells(one, found.table, names)

    def least(hidden):
        released = released_codes(rows, hidden)
        return min(sum(match(ours, theirs) for theirs in released) for ours in released)

    assert least(hidden) == found.smallest_after >= k
    assert least(np.zeros_like(hidden)) == found.smallest_before
    for codes, members in alike_records(rows):  # equal rows lose the same cells
        assert len({tuple(hidden[i]) for i in members}) == 1, codes
        for c in np.flatnonzero(hidden[members[0]]):
            fewer = hidden.copy()
            fewer[members, c] = False
            assert least(fewer) < k


@pytest.mark.parametrize("side", ["alike", "drawn", "any"])
@FEW
@given(tables(), st.integers(0, 99))
def test_permuted_rows_permute_the_result(side, given_, seed):
    one, k = given_
    options = {"draws": DRAWS} if side == "drawn" else {"missing": "any"} if side == "any" else {}
    order = np.random.default_rng(seed).permutation(len(one))
    first = suppress_cells(one, keys(one), k, **options).table.take(order)
    second = suppress_cells(one.take(order), keys(one), k, **options).table
    if side == "drawn":  # rows that are equal in every column may change places
        assert Counter(codes_of(first, first.names)) == Counter(codes_of(second, second.names))
    else:
        assert first.equals(second)


@pytest.mark.parametrize("missing", ["own", "any"])
@FEW
@given(tables())
def test_a_second_time_changes_nothing(missing, given_):
    one, k = given_
    names = keys(one)
    found = suppress_cells(one, names, k, missing=missing).table
    assert suppress_cells(found, names, k, missing=missing).table.equals(found)


@FEW
@given(tables())
def test_l_is_reached_and_counted(given_):
    one, k = given_
    names, sensitive = keys(one), one["sensitive"].values
    l = min(2, len(set(sensitive)))  # noqa: E741
    if l < 2:
        return
    for draws in (None, DRAWS):
        found = suppress_cells(one, names, k, sensitive="sensitive", l=l, draws=draws)
        classes = {}
        for code, value in zip(codes_of(found.table, names), sensitive.tolist(), strict=True):
            classes.setdefault(code, []).append(value)
        assert min(map(len, classes.values())) >= k
        assert min(len(set(values)) for values in classes.values()) == found.values_after["sensitive"] >= l


@FEW
@given(tables(), st.integers(1, 5))
def test_people_are_counted_rather_than_rows(given_, each):
    one, _ = given_
    owner = np.arange(len(one)) % max(len(one) // each, 2)
    k = min(3, len(set(owner)))
    with_unit = table(*one, number("who", owner), who="unit")
    for draws in (None, DRAWS):
        found = suppress_cells(with_unit, keys(one), k, draws=draws)
        classes = {}
        for code, who in zip(codes_of(found.table, keys(one)), owner.tolist(), strict=True):
            classes.setdefault(code, set()).add(who)
        assert min(map(len, classes.values())) == found.smallest_after >= k


# Few cells.


@SIDES
@FEW
@given(tables(most_rows=16), st.booleans())
def test_the_search_is_that_of_its_slow_twin_and_never_worse_than_greedy(draws, given_, diverse):
    one, k = given_
    names = keys(one)
    rows, price = codes_of(one, names), [1.0 + c % 2 for c in range(len(names))]
    sensitive = one["sensitive"].values.tolist()
    diverse = diverse and len(set(sensitive)) > 1
    options = {"sensitive": "sensitive", "l": 2} if diverse else {}
    needs = [(k, None), (2, sensitive)] if diverse else [(k, None)]
    importance = dict(zip(names, price, strict=True))
    found = suppress_cells(one, names, k, importance=importance, draws=draws, **options)
    hidden, sets = hidden_cells(one, found.table, names), sets_for(rows, price)
    records = alike_records(rows) if draws is None else drawn_records(one, rows)
    slow = improved(records, price, needs, sets, 4)
    for (_, members), columns in zip(records, slow.chosen, strict=True):
        assert {sum(1 << c for c in np.flatnonzero(hidden[i]).tolist()) for i in members} == {columns}
    assert all(is_valid(slow.class_of(i), needs) for i in range(len(records)))
    assert (hidden * price).sum() <= greedy(records, price, needs, sets).total() + 1e-9


@FEW
@given(tables(most_rows=16))
def test_with_matching_missing_cells_the_search_is_that_of_its_slow_twin(given_):
    one, k = given_
    names = keys(one)
    rows, price = codes_of(one, names), [1.0] * len(names)
    weight = Counter(rows)
    now = {record: record for record in sorted(weight)}
    greedy_wildcard(now, weight, k, sets_for(rows, price))
    most = sum(weight[one] * (np.array(one) != codes).sum() for one, codes in now.items())
    restored_wildcard(now, weight, k, price)
    found = suppress_cells(one, names, k, missing="any")
    assert codes_by_value(one, found.table, names) == [now[row] for row in rows]
    assert sum(found.cells.values()) <= most


def codes_by_value(before, after, names):
    """The codes of the first table, without the cells that are missing in the second."""
    return released_codes(codes_of(before, names), hidden_cells(before, after, names))


def test_it_takes_fewer_cells_than_row_by_row_and_few_more_than_the_optimum():
    rng = np.random.default_rng(5)
    least = ours = in_turn = 0
    for _ in range(20):
        one = random_table(rng, 9, 3, levels=[2, 3, 4])
        rows = codes_of(one, keys(one))
        least += optimum(rows, [1.0] * 3, 3)
        ours += sum(suppress_cells(one, keys(one), 3, draws=DRAWS).cells.values())
        each = sorted((codes, [i]) for i, codes in enumerate(rows))
        in_turn += one_by_one(each, [1.0] * 3, 3, sets_for(rows, [1.0] * 3)).total()
    assert least <= ours <= 1.1 * least
    assert ours <= in_turn


def test_with_matching_missing_cells_it_takes_fewer_than_row_by_row():
    rng = np.random.default_rng(6)
    ours = in_turn = 0
    for _ in range(5):
        one = random_table(rng, 50, 3, levels=[3, 4, 6])
        rows = codes_of(one, keys(one))
        weight = Counter(rows)
        now = {record: record for record in sorted(weight)}
        one_by_one_wildcard(now, weight, 3, sets_for(rows, [1.0] * 3))
        in_turn += sum(weight[one] * (np.array(one) != codes).sum() for one, codes in now.items())
        ours += sum(suppress_cells(one, keys(one), 3, missing="any").cells.values())
    print(ours, in_turn)
    assert ours <= in_turn


def test_more_important_columns_lose_fewer_cells():
    rng = np.random.default_rng(7)
    lost = Counter()
    for _ in range(12):
        one = random_table(rng, 60, 3, levels=[4, 4, 4])
        for name, importance in (("", None), ("first", ["c0"]), ("priced", {"c0": 1.5}), ("order", ["c0", "c2"])):
            for column, cells in suppress_cells(one, keys(one), 3, importance=importance).cells.items():
                lost[name, column] += cells
                lost[name, "all"] += cells
    assert lost["first", "c0"] <= lost["priced", "c0"] < lost["", "c0"]
    assert lost["order", "c0"] < lost["order", "c2"] < lost["order", "c1"]
    assert lost["", "all"] < lost["priced", "all"] <= lost["first", "all"] <= lost["order", "all"]


def test_of_equal_cost_columns_with_many_values_are_suppressed_first():
    assert column_sets(np.ones(3), [2, 9, 4]).tolist() == [0, 2, 4, 1, 6, 3, 5, 7]
    many = column_sets(np.array([1.0] * 20 + [2.0]), [3] * 21)
    assert len(many) <= 1024
    assert many[0] == 0
    assert many[-1] == 2**21 - 1
    assert len(set(many.tolist())) == len(many)


@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_many_columns(seed):
    rng = np.random.default_rng(seed)
    one = random_table(rng, 40, 14, levels=rng.integers(1, 4, 14))
    names = keys(one)
    rows = codes_of(one, names)
    hidden = hidden_cells(one, suppress_cells(one, names, 3).table, names)
    assert min(Counter(released_codes(rows, hidden)).values()) >= 3
    for at in np.argwhere(hidden):
        fewer = hidden.copy()
        fewer[tuple(at)] = False
        assert min(Counter(released_codes(rows, fewer)).values()) < 3


def test_new_hash_tables_change_nothing(monkeypatch):
    """They are made when keys of former classes fill half of them; here before every step."""
    one = random_table(np.random.default_rng(9), 80, 4, levels=[2, 3, 4, 6])
    before = suppress_cells(one, keys(one), 3, draws=DRAWS).table
    monkeypatch.setattr(kernel, "_with_room", lambda records, choice, _: kernel._counted(records, choice))
    assert suppress_cells(one, keys(one), 3, draws=DRAWS).table.equals(before)


# What an attacker can do with it.


def test_a_key_decides_which_of_equal_rows_lose_a_cell():
    """One rare row and nine equal ones, which differ in another column: each helps out equally often."""
    one = table(category("c0", ["a"] * 9 + ["b"]), category("c1", ["x"] * 10), number("other", range(10)))
    alike = suppress_cells(one, ["c0", "c1"], 3)
    assert alike.cells == {"c0": 10, "c1": 0}
    lost = np.zeros(10)
    for i in range(400):
        found = suppress_cells(one, ["c0", "c1"], 3, draws=DRAWS.sub(str(i)))
        assert found.cells == {"c0": 3, "c1": 0}
        lost += found.table["c0"].missing
    expected = 400 * 2 / 9
    assert lost[9] == 400
    assert ((lost[:9] - expected) ** 2 / expected).sum() < 27  # chi-squared, 8 degrees of freedom: p = 0.001
    assert len({int(n) for n in lost[:9]}) > 1


@given(tables(), st.integers(0, 99))
@settings(max_examples=20)
def test_other_columns_decide_nothing(given_, seed):
    """Otherwise they would show an attacker who of several equal rows was chosen."""
    one, k = given_
    mixed = one["other"].take(np.random.default_rng(seed).permutation(len(one)))
    first, second = (suppress_cells(some, keys(one), k).table for some in (one, one.replace([mixed])))
    assert first.select(keys(one)).equals(second.select(keys(one)))


def test_rows_without_values_protect_nobody_though_they_match_everybody():
    """Where a missing cell matches everything, two rows without values make any table 3-anonymous."""
    blank = table(category("c0", [None, None, "a", "b", "c"]), number("c1", [np.nan, np.nan, 1, 2, 3]))
    found = suppress_cells(blank, ["c0", "c1"], 3, missing="any")
    assert sum(found.cells.values()) == 0
    assert found.smallest_before == 3
    assert suppress_cells(blank, ["c0", "c1"], 3).rows == 3


def test_where_missing_matches_everything_nearly_all_unique_people_stay_unique():
    one = random_table(np.random.default_rng(8), 400, 3, levels=[4, 6, 8])
    names = keys(one)

    def in_small_classes(some):
        rows = codes_of(some, names)
        return sum(count for count in Counter(rows).values() if count < 3)

    before = in_small_classes(one)
    assert before > 50
    assert in_small_classes(suppress_cells(one, names, 3, missing="any").table) > 0.9 * before
    assert in_small_classes(suppress_cells(one, names, 3).table) == 0


# Facts of others.


def test_the_example_of_sdcmicro_takes_the_proven_optimum():
    """Two cells: the data set francdat with its columns 4 to 6, k = 2; its optimum is a fact of sdcMicro's tests."""
    one = table(
        number("Key2", [2, 2, 2, 3, 3, 3, 2, 2]),
        number("Key3", [5, 1, 1, 1, 1, 1, 1, 5]),
        number("Key4", [1, 1, 1, 5, 4, 1, 5, 1]),
    )
    found = suppress_cells(one, one.names, 2, missing="any")
    assert sum(found.cells.values()) == 2
    assert (found.smallest_before, found.smallest_after) == (1, 2)
    rows = codes_of(one, one.names)
    assert sum(suppress_cells(one, one.names, 2, draws=DRAWS).cells.values()) == optimum(rows, [1.0] * 3, 2) == 4


# Formats, and what is refused.


def test_all_missing_cells_are_written_alike_and_lost_levels_are_gone(tmp_path):
    text = "town,age,pay\nGraz,30.0,1\nGraz,30,1\nLinz,NA,2\nGraz,?,3\nGraz,?,4\nWien,40,5\n"
    (tmp_path / "in.csv").write_text(text)
    found = suppress_cells(lc.read(tmp_path / "in.csv"), ["town", "age"], 2)
    lc.write(found.table, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    shown = Counter(line.rsplit(",", 1)[0] for line in lines)
    assert min(shown.values()) >= 2
    assert "Wien" not in found.table["town"].levels
    assert {"", "?", "NA"} & {line.split(",")[1] for line in lines} == {"?"}


@pytest.mark.parametrize(
    ("columns", "k", "options", "message"),
    [
        (["c0"], 11, {}, "11.*10.*smaller k"),
        (["c0"], 0, {}, "k.*0"),
        (["c0"], 2.5, {}, "k.*2.5"),
        ([], 2, {}, "columns"),
        (["c0", "c0"], 2, {}, "columns"),
        (["c9"], 2, {}, "c9.*c0"),
        (["unit"], 2, {}, "unit"),
        (["c0"], 2, {"importance": ["c1"]}, "c1.*importance"),
        (["c0"], 2, {"importance": {"c0": 0}}, "importance.*0"),
        (["c0"], 2, {"missing": "all"}, "missing.*all"),
        (["c0"], 2, {"missing": "any"}, "missing.*any"),
        (["c0"], 2, {"l": 2}, "l.*2"),
        (["c0"], 2, {"sensitive": "c1"}, "l.*1"),
        (["c0"], 2, {"sensitive": "c0", "l": 2}, "c0"),
        (["c0"], 2, {"sensitive": "c8", "l": 2}, "c8"),
        (["c0"], 2, {"sensitive": "c1", "l": 3}, "3.*c1.*2"),
    ],
)
def test_impossible_requests_are_refused_in_one_line(columns, k, options, message):
    one = table(
        category("c0", list("aabbccddee")),
        category("c1", list("xyxyxyxyxy")),
        number("unit", range(10)),
        unit="unit",
    )
    with pytest.raises(LeafcoverError, match=message) as caught:
        suppress_cells(one, columns, k, **options)
    assert "\n" not in str(caught.value)
