"""Releases of people with several rows: everything counts people, and nobody's rows are found by their unit."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree

import leafcover as lc
from leafcover.engine.evaluate import hold_out
from leafcover.metrics.disclosure.membership_inference import placements
from leafcover.metrics.utility.propensity import propensity_of_trees
from leafcover.table.units import owners
from tests.table.test_units import panel, visits

SEED = 3


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(11)
    found = visits(rng, units=400, most=4)
    # weight depends on sex, and stays near a person's own
    own = dict(zip(found["patient"].unique(), rng.normal(scale=8, size=found["patient"].nunique()), strict=True))
    found["weight"] = (found["sex"].map({"f": 62.0, "m": 80.0}) + found["patient"].map(own)).round(1) + rng.integers(
        -2, 3, len(found)
    )
    return found


@pytest.fixture(scope="module")
def released(frame):
    return lc.release(lc.read(frame, roles={"patient": "unit"}), "cover", target="code", seed=SEED)


def test_a_release_has_units_of_the_same_sizes_under_new_numbers(frame, released):
    after = released.frame
    before = frame["patient"].value_counts().value_counts().sort_index()
    now = after["patient"].value_counts().value_counts().sort_index()
    assert before.tolist() == now.tolist()
    assert not set(after["patient"]) & set(frame["patient"])
    assert list(after.columns) == list(frame.columns)
    assert after["patient"].dtype == frame["patient"].dtype


def test_constant_columns_stay_constant_and_dates_stay_in_order(frame, released):
    after = released.frame
    assert (after.groupby("patient")["sex"].nunique() == 1).all()
    assert (after.groupby("patient")["day"].diff().dropna() >= pd.Timedelta(0)).all()
    assert after["day"].max() <= frame["day"].max()
    steps = frame.sort_values(["patient", "day"]).groupby("patient")["day"].diff().dropna().dt.days
    assert after.groupby("patient")["day"].diff().dropna().dt.days.mean() == pytest.approx(steps.mean(), abs=0.5)


def test_what_belongs_to_a_person_stays_together(frame, released):
    def within(table):
        rows = table.sort_values(["patient", "day"])
        return rows["weight"].corr(rows.groupby("patient")["weight"].shift())

    def between(table):
        return table.groupby("sex")["weight"].mean().diff().iloc[1]

    assert within(frame) > 0.85
    assert within(released.frame) > 0.6
    assert between(released.frame) == pytest.approx(between(frame), abs=3)


def test_each_position_keeps_its_values(frame, released):
    def at(table, position):
        ordered = table.sort_values(["patient", "day"], kind="stable")
        return ordered[ordered.groupby("patient").cumcount() == position]["code"].value_counts().to_dict()

    for position in range(4):
        assert at(frame, position) == at(released.frame, position)


def test_attacks_count_units(frame, released):
    units = frame["patient"].nunique()
    pair = released._compared.pair
    assert len(pair.for_attacks.original) == units == len(released.step_table)
    assert len(pair.original) == len(frame)
    assert "rows per patient" in pair.for_attacks.names
    assert "patient" not in pair.names
    for test in released._compared.tests:
        inside, outside = test.for_attacks.original, test.for_attacks.control
        assert len(inside) + len(outside) == units


def in_common(frame):
    """What an attacker may know of all rows of each person together."""
    rows = frame.assign(days=(frame["day"] - pd.Timestamp("2020-01-01")).dt.days).groupby("patient")
    found = pd.DataFrame({"rows": rows.size(), "first": rows["days"].min(), "last": rows["days"].max()})
    found["sum"], found["gaps"] = rows["weight"].sum(), rows["code"].apply(lambda one: one.isna().sum())
    return found


def area_by_what_rows_have_in_common(released, inside, outside):
    """The area under the curve of an attacker who looks for the nearest released unit; 0.5 is chance."""
    spread = in_common(inside).std()
    tree = cKDTree(in_common(released) / spread)
    return placements(*(tree.query(in_common(one) / spread)[0] for one in (inside, outside))).mean()


def test_people_are_not_found_by_what_their_rows_have_in_common(frame):
    """By the number of their rows, first and last date, a sum, and how many values are missing."""
    chosen = frame["patient"].isin(np.random.default_rng(2).permutation(frame["patient"].unique())[:200])
    inside, outside = frame[chosen], frame[~chosen]
    made = lc.release(lc.read(inside, roles={"patient": "unit"}), "cover", target="code", seed=SEED)
    assert area_by_what_rows_have_in_common(inside, inside, outside) > 0.95
    # 200 people on either side: the deviation of an area is 0.03
    assert area_by_what_rows_have_in_common(made.frame, inside, outside) < 0.6


def test_hold_out_takes_whole_units(frame):
    table = lc.read(frame, roles={"patient": "unit"})
    kept, held = hold_out(table, 0.25, lc.Key.from_seed(1))
    assert not set(frame["patient"].iloc[kept]) & set(frame["patient"].iloc[held])
    assert frame["patient"].iloc[held].nunique() == round(0.25 * frame["patient"].nunique())
    made = lc.release(table, "cover", target="code", seed=SEED, hold_out=0.25)
    assert set(owners(made.held_out).tolist()) == set(range(round(0.25 * frame["patient"].nunique())))


@pytest.mark.parametrize("held", [None, 0.2])
def test_a_saved_release_is_verified_byte_for_byte(tmp_path, frame, held):
    source = tmp_path / "visits.csv"
    frame.to_csv(source, index=False)
    made = lc.release(
        lc.read(source, roles={"patient": "unit"}), "cover", target="code", key=lc.Key.from_seed(1), hold_out=held
    )
    made.save(tmp_path / "released.csv")
    checks = lc.verify(tmp_path / "released.csv", original=source, key=lc.Key.from_seed(1))
    assert [check.what for check in checks if not check.holds] == ["made with a secret key, rows in a secret order"]
    assert "the same key gives the same bytes" in [check.what for check in checks]
    loaded = lc.load(tmp_path / "released.csv", original=source)
    assert len(loaded.compared.pair.for_attacks.original) == len(made.step_table)
    manifest = json.loads((tmp_path / "released.csv.manifest.json").read_text())
    assert manifest["units"]["column"] == "patient"
    assert manifest["target"] == "code"


def test_no_date_is_after_the_last_one_and_the_last_days_have_no_more_rows_than_before(tmp_path):
    """Long gaps are dealt to people who come late, too; the last day is not where they all end."""
    rng = np.random.default_rng(4)
    person = np.repeat(np.arange(900), rng.integers(1, 4, 900))
    day = rng.integers(0, 300, 900)[person] + rng.exponential(60, len(person)).astype(int)
    frame = pd.DataFrame({"person": person, "day": np.datetime64("2020-01-01") + day, "code": person % 3})
    frame = frame[day < 300].sort_values(["person", "day"]).astype({"code": str})
    frame.to_csv(tmp_path / "visits.csv", index=False)
    made = lc.release(lc.read(tmp_path / "visits.csv", roles={"person": "unit"}), "cover", target="code", seed=SEED)
    made.save(tmp_path / "out.csv")
    checks = lc.verify(tmp_path / "out.csv", original=tmp_path / "visits.csv")
    assert [check.what for check in checks if not check.holds] == ["made with a secret key, rows in a secret order"]
    after, before = pd.read_csv(tmp_path / "out.csv")["day"], frame["day"].astype(str)
    assert after.max() == before.max()
    last = before.sort_values().iloc[-60]
    assert (after >= last).sum() == pytest.approx((before >= last).sum(), abs=25)
    assert (after == before.max()).sum() < 15


@pytest.mark.parametrize("rare", ["allow", "pool"])
def test_a_level_that_few_units_have_in_a_row_is_dealt_to_units_with_that_row(tmp_path, rare):
    """Not to any unit without a value: there it would be lost."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(300), rng.integers(1, 4, 300))
    few = rng.choice(len(person), 12, replace=False)  # two or three in the third rows of people
    frame = pd.DataFrame({"person": person, "code": person % 2})
    frame.loc[few, "seen"] = rng.choice(["x", "y"], 12)
    frame.to_csv(tmp_path / "in.csv", index=False)
    table = lc.read(tmp_path / "in.csv", roles={"person": "unit"}, category=["code"])
    made = lc.release(table, "cover", target="code", seed=SEED, rare=rare)
    made.save(tmp_path / "out.csv")
    checks = lc.verify(tmp_path / "out.csv", original=tmp_path / "in.csv")
    assert [check.what for check in checks if not check.holds] == ["made with a secret key, rows in a secret order"]
    assert int((~made.table["seen"].missing).sum()) == 12


@pytest.mark.parametrize("unit", [True, False])
def test_missing_values_are_spelled_alike_wherever_they_were_missing(tmp_path, unit):
    """With the token only where the original row of the same place had it, the release would show its gaps."""
    rng = np.random.default_rng(2)
    person = np.repeat(np.arange(300), 2)
    start, stay = rng.integers(0, 300, 600), rng.integers(0, 20, 600).astype(object)
    stay[rng.random(600) < 0.3] = "?"
    end = ["?" if t == "?" else s + t for s, t in zip(start, stay, strict=True)]
    frame = pd.DataFrame({"person": person, "start": start, "stay": stay, "end": end, "code": start % 2})
    frame = frame if unit else frame.drop(columns="person")
    frame.to_csv(tmp_path / "in.csv", index=False)
    roles = {"person": "unit"} if unit else {}
    table = lc.read(tmp_path / "in.csv", roles=roles, category=["code"])
    made = lc.release(table, "cover", target="code", seed=SEED, rules=["end == start + stay"])
    made.save(tmp_path / "out.csv")
    after = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    for name in ("stay", "end"):
        assert (after[name] == "?").sum() == (frame["stay"] == "?").sum()
        assert not (after[name] == "").any()


def test_measures_of_utility_take_samples_of_rows(released):
    """They count rows, of which there are more than units."""
    pair = released._compared.pair
    assert propensity_of_trees(pair, most=len(pair.original) - 1, permutations=2).rows == len(pair.original) - 1


def test_a_release_may_say_nothing_of_units(tmp_path, frame):
    table = lc.read(frame, roles={"patient": "unit"})
    made = lc.release(table, "cover", target="code", seed=SEED, unit_numbers=False)
    assert "patient" not in made.frame.columns
    same = made.frame["sex"].to_numpy()[1:] == made.frame["sex"].to_numpy()[:-1]
    by_chance = (made.frame["sex"].value_counts(normalize=True) ** 2).sum()
    assert same.mean() == pytest.approx(by_chance, abs=4 * np.sqrt(0.25 / len(same)))  # rows of one are not together
    assert len(made._compared.pair.for_attacks.original) == frame["patient"].nunique()
    made.save(tmp_path / "released.csv")
    with pytest.raises(lc.errors.TableError, match="no column 'patient'"):
        lc.load(tmp_path / "released.csv", original=table)


def test_a_plan_file_writes_the_unit_down(frame):
    table = lc.read(frame, roles={"patient": "unit"})
    plan = lc.recipes.cover(table, target="code")
    again = lc.parse_plan(lc.plan_text(plan))
    assert again == plan
    first, second = (lc.release(table, one, seed=SEED) for one in (plan, again))
    assert first.table.equals(second.table)


def test_other_recipes_refuse_units(frame):
    table = lc.read(frame, roles={"patient": "unit"})
    with pytest.raises(lc.errors.PlanError, match="Use cover, or drop the column 'patient'"):
        lc.release(table, "cells", target="code", seed=SEED)


def test_rules_hold_in_every_row(frame):
    more = frame.assign(fat=(frame["weight"] / 4).round(1))
    more["lean"] = (more["weight"] - more["fat"]).round(1)
    table = lc.read(more, roles={"patient": "unit"})
    made = lc.release(table, "cover", target="code", seed=SEED, rules=["weight == fat + lean"])
    assert np.allclose(made.frame["weight"], made.frame["fat"] + made.frame["lean"])
    assert made.rules[0].broken == 0


def test_a_birth_year_is_drawn_once_for_each_person(frame):
    """Averaging over all rows of a person gains nothing over one row."""
    rng = np.random.default_rng(2)
    people = frame["patient"].unique()
    born = dict(zip(people, rng.integers(1930, 2005, len(people)), strict=True))
    table = lc.read(frame.assign(born=frame["patient"].map(born)), roles={"patient": "unit"})
    after = lc.release(table, "cover", target="code", seed=SEED).frame
    assert (after.groupby("patient")["born"].nunique() == 1).all()


@pytest.fixture(scope="module")
def households():
    rng = np.random.default_rng(5)
    found = panel(rng, households=400)
    found["income"] = (found["income"] + 0.5 * (found["year"] - 2000) + (found["region"] == "north") * 20).round(1)
    return found


def test_households_with_people_with_years(households):
    roles = {"household": "unit", "person": "unit"}
    table = lc.read(households, roles=roles)
    released = lc.release(table, "cover", target="region", seed=SEED)
    after = released.frame
    assert list(after.columns) == list(households.columns)
    for count in (
        lambda f: f.groupby("household")["person"].nunique().value_counts().sort_index().tolist(),
        lambda f: f.groupby("person").size().value_counts().sort_index().tolist(),
    ):
        assert count(after) == count(households)
    assert (after.groupby("person")["household"].nunique() == 1).all()
    assert (after.groupby("household")["region"].nunique() == 1).all()
    assert (after.groupby("person")["born"].nunique() == 1).all()
    assert (after.groupby("person")["year"].diff().dropna() > 0).all()
    means = [f.groupby("region")["income"].mean() for f in (households, after)]
    kept = (means[1]["north"] - means[1]["south"]) / (means[0]["north"] - means[0]["south"])
    assert 0.75 < kept < 1.1  # 400 households have few leaves
    assert not set(after["person"]) & set(households["person"])


def test_a_release_of_households_is_verified_and_measured(households, tmp_path):
    source = tmp_path / "panel.csv"
    households.to_csv(source, index=False)
    roles = {"household": "unit", "person": "unit"}
    table = lc.read(source, roles=roles)
    released = lc.release(table, "cover", target="region", key=lc.Key.from_seed(1), hold_out=0.2)
    released.save(tmp_path / "out.csv")
    checks = lc.verify(tmp_path / "out.csv", original=source, key=lc.Key.from_seed(1))
    assert [check.what for check in checks if not check.holds] == ["made with a secret key, rows in a secret order"]
    assert "the same key gives the same bytes" in [check.what for check in checks]
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert (manifest["units"]["column"], manifest["units"]["member"]) == ("household", "person")
    assert lc.parse_plan(lc.plan_text(released.plan)) == released.plan
    facts = lc.inspect(table)
    assert facts.units.member == "person"
    assert facts.units.members == households["person"].nunique()
    loaded = lc.load(tmp_path / "out.csv", original=source)
    assert len(loaded.compared.pair.for_attacks.original) == len(released.step_table)
