"""Tables of units: one row for each person or household, and the rows again."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.engine.run import refuse_identifiers
from leafcover.table.frames import from_frame, to_frame
from leafcover.table.io import SAMPLES, sample
from leafcover.table.units import LEAST_UNITS, exchanged, owners, repeated_rows
from tests.table.test_guard import SHARED


def visits(rng, units=60, most=4):
    """Patients with 1 to ``most`` visits each: a constant column, dates in order, numbers and categories with gaps."""
    sizes = rng.integers(1, most + 1, units)
    owner = np.repeat(np.arange(units), sizes)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    start = rng.integers(0, 300, units)[owner]
    frame = pd.DataFrame(
        {
            "patient": np.array([f"P{7 * one + 1000}" for one in range(units)])[owner],
            "sex": np.array(["f", "m"])[rng.integers(0, 2, units)][owner],
            "day": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(start + 10 * place + rng.integers(0, 5, len(owner)), "D"),
            "weight": np.round(60 + 5 * rng.normal(size=len(owner)), 1),
            "code": np.array(["A", "B", "C", None], object)[rng.integers(0, 4, len(owner))],
        }
    )
    frame["weight"] = frame["weight"].mask(rng.random(len(frame)) < 0.1)
    return frame.sample(frac=1, random_state=int(rng.integers(1000))).reset_index(drop=True)


def read(frame):
    return lc.read(frame, roles={"patient": "unit"})


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 6))
def test_rows_come_back_as_they_were(seed, most):
    table = read(visits(np.random.default_rng(seed), most=most))
    layout = lc.unit_layout(table)
    units = layout.unfold(table)
    back = to_frame(layout.fold(units, table)).drop(columns="patient")
    kept = to_frame(table.take(layout.kept(table)))
    # both unit by unit in the order of first occurrence, rows by date
    first = {patient: at for at, patient in enumerate(dict.fromkeys(to_frame(table)["patient"]))}
    kept = kept.assign(at=kept["patient"].map(first)).sort_values(["at", "day"], kind="stable")
    same = kept.drop(columns=["patient", "at"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(back, same, check_dtype=False)
    assert len(units) == len(kept["patient"].unique())
    assert set(np.unique(units[layout.size].values, return_counts=True)[1] >= LEAST_UNITS) == {True}


def test_columns_are_constant_rising_or_varying():
    layout = lc.unit_layout(read(visits(np.random.default_rng(1))))
    assert (layout.constant, layout.rising, layout.varying) == (("sex",), ("day",), ("weight", "code"))
    assert layout.sequence == "day"


def test_rare_numbers_of_rows_are_cut():
    sizes = [1] * 12 + [3] * 25 + [9] * 3 + [40] + [7] * 8
    frame = pd.DataFrame({"patient": np.repeat(np.arange(len(sizes)), sizes)})
    frame["x"] = np.random.default_rng(0).normal(size=len(frame))
    table = read(frame)
    layout = lc.unit_layout(table)
    assert layout.lengths == (1, 3, 7)  # 12 units have at least 7 rows
    notes = layout.unfold(table).warnings
    assert len(notes) == 1
    assert "39 of" in notes[0]  # 3 * 2 + 33
    assert len(layout.kept(table)) == 12 + 25 * 3 + 12 * 7


def test_units_with_rare_few_rows_are_left_out():
    sizes = [1] * 3 + [5] * 30
    frame = pd.DataFrame({"patient": np.repeat(np.arange(len(sizes)), sizes), "x": np.arange(153) % 7})
    table = read(frame)
    layout = lc.unit_layout(table)
    assert layout.lengths == (5,)
    assert len(layout.unfold(table)) == 30
    assert "3 of 33 units" in layout.unfold(table).warnings[0]


def test_ten_people_are_the_least():
    frame = pd.DataFrame({"patient": [at // 2 for at in range(18)], "x": range(18)})
    with pytest.raises(lc.errors.TableError, match="9 values"):
        lc.unit_layout(read(frame))


def test_rows_of_nobody_are_refused():
    frame = pd.DataFrame({"patient": [None] + [str(at // 2) for at in range(39)], "x": range(40)})
    with pytest.raises(lc.errors.TableError, match="1 rows have no value in the unit 'patient'"):
        lc.unit_layout(read(frame))


def test_a_name_that_looks_like_a_position_is_an_error_or_not_mixed_up():
    frame = visits(np.random.default_rng(5)).assign(**{"rows per patient": 1.0})
    layout = lc.unit_layout(read(frame))
    assert layout.size not in frame.columns


@given(seed=st.integers(0, 10**6), units=st.integers(1, 40), missing=st.booleans())
def test_first_values_are_exchanged_so_that_nobody_ends_late(seed, units, missing):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 30, units).astype(float)
    later = [np.where(rng.random(units) < 0.5, np.nan, rng.integers(0, 20, units)) for _ in range(2)]
    if missing:
        first[rng.random(units) < 0.2] = np.nan
    found = exchanged(first, later, 30.0)
    np.testing.assert_array_equal(np.sort(found), np.sort(first))
    assert (np.isnan(found) == np.isnan(first)).all()
    span = np.nansum(later, axis=0)
    late, was = (one + span > 30 for one in (found, first))
    assert not (late & ~was).any()
    for unit in np.flatnonzero(late):  # nobody could have changed places with it
        assert not ((found + span[unit] <= 30) & (found[unit] + span <= 30)).any()
    if not was.any():
        np.testing.assert_array_equal(found, first)


def test_owners_count_units_in_the_order_of_the_table():
    frame = pd.DataFrame({"patient": ["b", "a", "b", "c"], "x": range(4)})
    assert owners(read(frame)).tolist() == [0, 1, 0, 2]
    assert owners(lc.read(frame)).tolist() == [0, 1, 2, 3]


def panel(rng, households=200, most=4, within=False):
    """Households of 1 to ``most`` people who answer in 1 to 3 years; people are numbered within households, or not."""
    people = rng.integers(1, most + 1, households)
    household = np.repeat(np.arange(households), people)
    years = rng.integers(1, 4, len(household))
    person = np.repeat(np.arange(len(household)), years)
    place = np.arange(len(person)) - np.repeat(np.cumsum(years) - years, years)
    number = np.arange(len(household)) - np.repeat(np.cumsum(people) - people, people)
    return pd.DataFrame(
        {
            "household": 50 + household[person],
            "person": (1 + number if within else 7000 + np.arange(len(household)))[person],
            "region": np.array(["north", "south"])[rng.integers(0, 2, households)][household[person]],
            "born": (1940 + rng.integers(0, 60, len(household)))[person],
            "year": 2000 + place,
            "income": np.round(rng.normal(30, 5, len(person)), 1),
        }
    )


def read_panel(frame):
    return lc.read(frame, roles={"household": "unit", "person": "unit"})


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 5), within=st.booleans())
def test_rows_of_members_come_back_as_they_were(seed, most, within):
    frame = panel(np.random.default_rng(seed), most=most, within=within)
    table = read_panel(frame)
    layout = lc.unit_layout(table)
    units = layout.unfold(table)
    kept = layout.kept(table)
    back = to_frame(layout.fold(units, table))
    numbers = ["household", "person"]
    same = frame.iloc[kept].reset_index(drop=True)
    pd.testing.assert_frame_equal(back.drop(columns=numbers), same.drop(columns=numbers), check_dtype=False)
    assert (back.groupby(numbers, sort=False).ngroup() == same.groupby(numbers, sort=False).ngroup()).all()
    if within and most > 1:
        assert (back["person"] == same["person"]).all()
    assert len(units) == same["household"].nunique()
    assert set(units.names) == {n for c in table.names[2:] for n in layout.columns_at(c)} | set(layout.sizes)
    for size in layout.sizes:
        assert np.unique(units[size].values[~units[size].missing], return_counts=True)[1].min() >= LEAST_UNITS
    assert (~np.isnan(units[layout.columns_at("born")[-1]].values)).sum() >= LEAST_UNITS


def test_the_household_is_the_unit_in_whatever_order_the_columns_are():
    rng = np.random.default_rng(1)
    for within in (False, True):
        frame = panel(rng, within=within)
        for names in (frame.columns, frame.columns[::-1]):
            layout = lc.unit_layout(read_panel(frame[list(names)]))
            assert layout.numbered == ("household", "person")
            assert layout.constant == ("region",)
            assert layout.member_constant == ("born",)
            assert (layout.rising, layout.varying) == (("year",), ("income",))


def test_members_with_one_row_each_are_rows_of_their_household():
    frame = panel(np.random.default_rng(2)).drop_duplicates("person")
    layout = lc.unit_layout(read_panel(frame))
    assert layout.member == "person"
    assert not layout.members
    back = to_frame(layout.fold(layout.unfold(read_panel(frame)), read_panel(frame)))
    assert back["person"].is_unique


def test_a_member_of_two_households_is_refused():
    frame = panel(np.random.default_rng(3))
    frame = pd.concat([frame, frame.iloc[:1].assign(household=frame["household"].iloc[-1])])
    with pytest.raises(lc.errors.TableError, match="more than one 'household'"):
        lc.unit_layout(read_panel(frame))


def test_near_columns_of_members():
    layout = lc.unit_layout(read_panel(panel(np.random.default_rng(4))))
    near = layout.is_near
    assert near("income [2] [2]", "region")
    assert near("income [2] [2]", "born [2]")
    assert near("income [2] [2]", "income [1] [2]")
    assert near("income [2] [2]", "income [2] [1]")
    assert not near("income [2] [2]", "income [1] [1]")
    assert not near("income [1] [3]", "born [1]")
    assert layout.presence("income [2] [1]") == ("rows per person [1]", 2)
    assert layout.presence("income [1] [2]") == ("person per household", 2)
    assert layout.presence("income [1] [1]") is None


def waves_of(people=400, waves=5, *, time="wave", age=False, missed=0.0, seed=0):
    """People who were asked several times, without their id: sex, year of birth and region stay, the rest varies."""
    rng = np.random.default_rng(seed)
    person, wave = np.repeat(np.arange(people), waves), np.tile(np.arange(waves), people)
    born = rng.integers(1940, 2000, people)[person]
    times = {
        "wave": wave + 1,
        "v7": wave + 1,
        "year": 2015 + wave,
        "seen": np.datetime64("2015-03-01") + 365 * wave + rng.integers(0, 60, len(person)),
    }
    frame = pd.DataFrame(
        {
            "sex": np.array(["f", "m"])[rng.integers(0, 2, people)][person],
            "age" if age else "born": times["year"] - born if age else born,
            "region": np.array(list("abcdefghijklmnop"))[rng.integers(0, 16, people)][person],
            "answer": rng.integers(0, 5, len(person)),
            "income": rng.lognormal(3, 1, len(person)).round(),
            time: times[time],
        }
    )
    return frame[rng.random(len(frame)) >= missed].sample(frac=1, random_state=1)


@pytest.mark.parametrize(
    ("given", "others"),
    [
        ({}, 4.0),
        ({"missed": 0.3}, 2.8),
        ({"waves": 2}, 1.0),
        ({"people": 60}, 4.0),
        ({"time": "year"}, 4.0),
        ({"time": "year", "age": True}, 4.0),
        ({"time": "seen"}, 4.0),
        ({"time": "v7"}, 4.0),
    ],
)
def test_rows_of_the_same_people_are_found_without_their_id(given, others):
    table = from_frame(waves_of(**given))
    found = repeated_rows(table)
    assert {"age minus year" if given.get("age") else "born", "region"} <= {*found.same}
    assert not {"answer", "income"} & {*found.same}
    assert found.wave == given.get("time", "wave")
    assert found.others == pytest.approx(others, abs=0.25)
    assert str(found) in lc.inspect(table).warnings
    assert str(found) in refuse_identifiers(table)


def test_a_release_warns_of_them():
    release = lc.release(waves_of(), target="answer", seed=1, settings={"k": 50})
    assert any("'unit'" in one and "'born'" in one for one in release.warnings)


@pytest.mark.parametrize("time", ["wave", "year", "seen"])
@pytest.mark.parametrize("seed", range(10))
def test_other_people_in_each_wave_are_no_repeated_rows(seed, time):
    frame = waves_of(time=time, seed=seed)
    frame[time] = np.random.default_rng(seed + 100).permutation(frame[time])
    assert repeated_rows(from_frame(frame)) is None


def test_an_id_or_a_unit_answers_the_question():
    frame = waves_of(people=100).sort_index()
    frame["person"] = np.arange(len(frame)) // 5 + 1000
    declared = lc.inspect(lc.read(frame, roles={"person": "unit"}))
    assert not any("repeated rows" in one for one in declared.warnings)
    assert not any("repeated rows" in one for one in lc.inspect(frame).warnings)
    assert any(one.is_unit for one in lc.inspect(frame).identifiers)


@pytest.mark.parametrize("name", [*SHARED, *SAMPLES])
def test_other_tables_have_no_repeated_rows(name, request):
    table = lc.read(sample(name) if name in SAMPLES else request.getfixturevalue("shared")(name))
    assert repeated_rows(table.select(n for n in table.names if n not in ("patient", "db030", "rb030"))) is None
