"""Tables of counts: what is counted, which noise a cell has, and what differencing recovers."""

import json
import stat

import numpy as np
import pandas as pd
import polars as pl
import pytest

import leafcover as lc
from leafcover.engine.count_attacks import attacks
from leafcover.errors import LeafcoverError, NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.metrics.disclosure.differencing import decides_right

EXACT = {"max_noise": 0, "variance": 0}
ILLNESSES = ["cold", "flu", "gout", "none"]


def people(rows=1200, seed=0, regions=8):
    """People of some regions; in every second region one woman."""
    rng = np.random.default_rng(seed)
    region = rng.integers(0, regions, rows)
    sex = np.where((region % 2 == 0) | (rng.random(rows) < 0.5), "m", "f")
    for one in range(0, regions, 2):
        sex[np.flatnonzero(region == one)[0]] = "f"
    illness = rng.choice(ILLNESSES, rows, p=[0.2, 0.2, 0.2, 0.4])
    return pd.DataFrame({"region": region.astype(str), "sex": sex, "illness": illness, "id": np.arange(rows)})


@pytest.fixture(scope="module")
def frame():
    return people()


def counts_of(release):
    """The released counts by their labels."""
    *labels, _ = release.table.names
    rows = release.frame.astype(object).where(release.frame.notna(), None)
    return {tuple(row[:-1]): row[-1] for row in rows[[*labels, "count"]].itertuples(index=False)}


# What is counted.


def test_exact_counts_and_totals_are_those_of_pandas(frame):
    found = counts_of(lc.count_table(frame, ["sex x illness"], rare="allow", **EXACT))
    table = pd.crosstab(frame["sex"], frame["illness"], margins=True, margins_name="Total")
    assert found == {(sex, illness): table.loc[sex, illness] for sex in table.index for illness in table.columns}


def test_a_missing_value_is_a_level_and_numbers_are_their_text(frame):
    gaps = frame.assign(rooms=np.where(frame["id"] % 10 == 0, np.nan, frame["id"] % 3), sex=frame["sex"])
    found = counts_of(lc.count_table(gaps, "rooms", totals="none", **EXACT))
    assert found == {("0",): 360, ("1",): 360, ("2",): 360, (None,): 120}


def test_the_frame_is_of_the_library_that_came_in(frame):
    for given, kind in ((frame, pd.DataFrame), (pl.from_pandas(frame), pl.DataFrame)):
        assert isinstance(lc.count_table(given, "sex", seed=1).frame, kind)


def test_totals_are_own_cells_or_sums_or_left_out(frame):
    own, total, none = (lc.count_table(frame, ["sex x illness"], totals=how, seed=2) for how in ("own", "sum", "none"))
    cells, sums = counts_of(total), counts_of(own)
    for sex in "fm":
        assert cells[sex, "Total"] == sum(cells[sex, one] for one in ILLNESSES)
    gaps = [sums[sex, "Total"] - sum(sums[sex, one] for one in ILLNESSES) for sex in "fm"]
    assert max(map(abs, gaps)) <= own.figures["largest_gap"] > 0
    assert total.figures["largest_gap"] == 0
    inner = {label: count for label, count in cells.items() if "Total" not in label}
    assert counts_of(none) == inner == {label: sums[label] for label in inner}


def test_somebody_with_several_rows_counts_once_in_a_cell(frame):
    visits = pd.concat([frame, frame.iloc[:300], frame.iloc[:100].assign(illness="gout")])
    table = lc.read(visits, roles={"id": "unit"})
    made = lc.count_table(table, ["sex x illness"], **EXACT)
    distinct = visits.drop_duplicates(["id", "sex", "illness"])
    assert counts_of(made)["m", "gout"] == ((distinct["sex"] == "m") & (distinct["illness"] == "gout")).sum()
    assert counts_of(made)["m", "Total"] == (frame["sex"] == "m").sum()
    assert made.attacks is not None
    with pytest.raises(PlanError, match="totals"):
        lc.count_table(table, ["sex x illness"], totals="sum")


def test_rare_levels_are_pooled_and_appear_nowhere(frame, tmp_path):
    secret = frame.assign(illness=np.where(frame["id"] == 5, "plague-of-one", frame["illness"]))
    made = lc.count_table(secret, ["sex x illness"])
    made.save(tmp_path / "c.csv")
    public = [tmp_path / "c.csv", tmp_path / "c.csv.manifest.json"]
    assert not any("plague" in path.read_text() for path in public)
    assert ("plague-of-one",) in counts_of(lc.count_table(secret, "illness", rare="allow", seed=1))
    with pytest.raises(TableError):
        lc.count_table(secret, "illness", rare="refuse")


# Noise.


def test_the_same_table_has_the_same_noise_in_any_request(frame):
    key = lc.Key.from_seed(3)
    first = counts_of(lc.count_table(frame, ["sex x illness"], key=key))
    shuffled = frame.sample(frac=1, random_state=1)[["illness", "sex"]]
    turned = counts_of(lc.count_table(shuffled, ["illness x sex", "sex"], key=key))
    assert first == {(sex, illness): count for (illness, sex), count in turned.items()}
    wider = counts_of(lc.count_table(frame, ["region x sex x illness"], key=key))
    assert first == {label[1:]: count for label, count in wider.items() if label[0] == "Total"}


def test_without_one_person_every_cell_has_new_noise(frame):
    key = lc.Key.from_seed(3)
    noise = []
    for table in (frame, frame.iloc[1:]):
        made = lc.count_table(table, ["region x illness"], totals="none", key=key)
        noise.append(made.tables[0].released - made.tables[0].table.counts)
    chances = made.noise.chances[-1]
    expected = (chances**2).sum()  # of independent noises to be equal
    assert 0.3 * expected < np.mean(noise[0] == noise[1]) < 3 * expected
    other = lc.count_table(frame, ["region x illness"], totals="none", key=lc.Key.from_seed(4))
    assert not np.array_equal(other.tables[0].released, noise[0] + other.tables[0].table.counts)


def test_noise_over_keys_has_its_mean_and_variance(frame):
    made = lc.count_table(frame, ["region x sex x illness"], totals="none", seed=0)
    runs = [made.with_key(lc.Key.from_seed(seed)).tables[0] for seed in range(150)]
    noise = np.array([one.released - one.table.counts for one in runs])
    large = runs[0].table.counts >= 5
    tries = noise[:, large].size
    assert abs(noise[:, large].mean()) < 4 * np.sqrt(4 / tries)
    assert noise[:, large].var() == pytest.approx(4.0, rel=0.08)
    empty = noise[:, runs[0].table.counts == 0]
    assert empty.min() == 0
    assert empty.mean() == pytest.approx(0.1, abs=4 * np.sqrt(0.3 / empty.size))
    assert 0.03 < (empty > 0).mean() < 0.07


def test_zeros_stay_zero_if_asked_and_where_nobody_can_be(frame):
    kept = lc.count_table(frame, ["region x sex x illness"], zeros=0, seed=1)
    for one in kept.tables:
        assert not one.released[one.table.counts == 0].any()
    healthy = frame[(frame["sex"] == "m") | (frame["illness"] != "gout")]
    for seed in range(20):
        made = counts_of(
            lc.count_table(healthy, ["sex x illness"], zeros=1, impossible=["sex=f x illness=gout"], seed=seed)
        )
        assert made["f", "gout"] == 0
    with pytest.raises(PlanError, match="impossible"):
        lc.count_table(frame, ["sex x illness"], impossible=[{"sex": "f", "illness": "gout"}])


def test_a_minimum_leaves_nothing_between(frame):
    made = lc.count_table(frame, ["region x sex x illness"], minimum=3, seed=1)
    assert not {1, 2} & set(np.concatenate([one.released for one in made.tables]))


def test_weighted_counts_are_right_on_average_and_no_multiples_of_the_mean(frame):
    weights = np.random.default_rng(1).uniform(50, 150, len(frame))
    table = lc.read(frame.assign(w=weights), roles={"w": "weight"})
    made = lc.count_table(table, ["sex x illness"], totals="none", seed=1)
    runs = np.array([made.with_key(lc.Key.from_seed(seed)).tables[0].weighted for seed in range(200)])
    truth, mean = made.tables[0].table.weights, made.tables[0].table.mean_weights
    assert np.abs((runs.mean(0) - truth) / mean).max() < 4 * np.sqrt(4.1 / 200)
    part = (runs / mean) % 1
    assert 0.2 < np.quantile(part, 0.25) < 0.3
    assert 0.7 < np.quantile(part, 0.75) < 0.8
    assert "two_tables" not in made.summary
    assert made.figures["heaviest_person"] < 2


def test_a_person_whose_weight_noise_cannot_hide_is_found(frame):
    heavy = lc.read(
        frame.assign(w=np.where(frame["id"] == 7, 5000.0, 1.0)), roles={"w": "weight", "illness": "sensitive"}
    )
    made = lc.count_table(heavy, ["sex x illness"], seed=1)
    assert made.figures["heaviest_person"] > 5
    assert any("mean weight" in words for words in made.warnings)


# Differencing.


def sick(frame, **settings):
    table = lc.read(frame, roles={"illness": "sensitive", **settings.pop("roles", {})})
    return lc.count_table(table.select([n for n in table.names if n != "id" or table.roles.get("id")]), **settings)


def test_differencing_recovers_nobody_in_a_thousand_tries(frame):
    found = sick(frame, by=["region x sex x illness"], seed=5).attacks
    assert (found.column, found.tables) == ("illness", 4)
    for attack in (found.here, found.knowing, found.two_tables):
        assert attack.tries == 1000
        assert attack.certain.value == 0
        assert attack.certain.high < 0.005
    assert found.knowing.confident.value < 0.01
    # Four tables tell something, and no more than four do where counts are large.
    assert found.knowing.guessing.value + 0.05 < found.knowing.correct.value < 0.75


def test_exact_counts_recover_everybody(frame):
    found = attacks(sick(frame, by=["sex x illness"], **EXACT), tries=200)
    for attack in (found.here, found.knowing, found.two_tables):
        assert attack.certain.value == 1


def test_summed_keys_recover_most_people_from_two_tables(frame):
    """Cells of the same people have the same noise, as published: a different count proves who is in the cell."""
    given = {"by": ["sex x illness"], "cell_keys": "summed", "roles": {"id": "unit"}, "seed": 5}
    found = attacks(sick(frame, **given), tries=200)
    assert found.two_tables.certain.value > 0.6
    # The one woman of a region is the difference between two cells of the same release.
    given = {"by": ["region x sex x illness"], "seed": 5}
    alone = attacks(sick(people(regions=40), cell_keys="summed", **given), tries=20)
    assert alone.knowing.certain.value > 0.4
    assert attacks(sick(people(regions=40), **given), tries=20).knowing.certain.value == 0


def test_summed_keys_give_cells_of_the_same_people_the_same_count(frame):
    copy = frame.assign(gender=frame["sex"].map({"f": "w", "m": "m"}))
    found = counts_of(lc.count_table(copy, ["sex x gender"], cell_keys="summed", seed=1))
    assert found["f", "w"] == found["f", "Total"] == found["Total", "w"]


def test_record_keys_of_a_unit_are_the_same_in_another_table(frame):
    key = lc.Key.from_seed(2)
    given = {"totals": "none", "cell_keys": "summed", "key": key}
    first, second = (
        counts_of(lc.count_table(lc.read(table, roles={"id": "unit"}), "illness", **given))
        for table in (frame, frame[frame["id"] != 5])
    )
    changed = [one for one in first if first[one] != second[one]]
    assert set(changed) <= {(frame["illness"][5],)}


def test_zeros_that_stay_prove_who_is_there():
    """Of the women who are alone in their region about half have a positive count."""
    found = attacks(sick(people(regions=40), by=["region x sex x illness"], zeros=0, seed=5), tries=20)
    assert found.knowing.certain.value > 0.2


def test_noise_of_a_narrow_limit_proves_some_counts(frame):
    found = attacks(sick(frame, by=["sex x illness"], max_noise=2, variance=1.5, seed=5), tries=300)
    assert found.knowing.certain.value > 0.1


def test_the_attack_succeeds_as_often_as_the_formula_says():
    even = people(4000).assign(illness=np.random.default_rng(2).choice(["a", "b"], 4000))
    found = attacks(sick(even, by=["illness"], seed=5, totals="none"))
    assert found.decides == decides_right(1, 4.0)
    assert found.knowing.correct.low < found.decides < found.knowing.correct.high


def test_sums_of_finer_tables_average_noise_out(frame):
    coded = frame.assign(**{f"v{at}": np.where(frame["id"] // 2**at % 2, "yes", "no") for at in range(6)})
    found = sick(coded, by=[f"v{at} x illness" for at in range(6)], seed=5)
    mean = attacks(found, tries=50).averaging
    assert mean.sums == 7  # the total of each illness, and six sums of two cells
    assert mean.averaged_error == pytest.approx(mean.error / 2, rel=0.15)
    assert mean.averaged_exact > mean.exact + 0.1


# Files.


@pytest.fixture(scope="module")
def saved(frame, tmp_path_factory):
    """A folder with an original, its counts and the key; not to be changed."""
    folder = tmp_path_factory.mktemp("counts")
    frame[["sex", "illness"]].to_csv(folder / "in.csv", index=False)
    made = lc.count_table(lc.read(folder / "in.csv"), ["sex x illness"], key_file=folder / "k.key")
    made.save(folder / "c.csv", key_file=folder / "k.key")
    return folder


def broken(checks):
    return [check.what for check in checks if not check.holds]


def test_a_release_of_counts_verifies_to_the_byte(saved):
    checks = lc.verify(saved / "c.csv", original=saved / "in.csv", key_file=saved / "k.key")
    assert len(checks) == 8
    assert broken(checks) == []
    for name in ("c.csv.internal.json", "k.key"):
        assert stat.S_IMODE((saved / name).stat().st_mode) == 0o600


def test_a_changed_count_another_original_and_a_seed_fail(saved, frame, tmp_path):
    for name in ("c.csv", "c.csv.manifest.json", "c.csv.internal.json"):
        (tmp_path / name).write_text((saved / name).read_text())
    lines = (saved / "c.csv").read_text().splitlines()
    label, _, count = lines[1].rpartition(",")
    (tmp_path / "c.csv").write_text("\n".join([lines[0], f"{label},{int(count) + 60}", *lines[2:]]) + "\n")
    checks = lc.verify(tmp_path / "c.csv", original=saved / "in.csv")
    assert broken(checks) == [
        "the file is byte for byte the one that was released",
        "every count is one that the noise permits",
    ]
    assert "the cells are those of the original" in broken(
        lc.verify(saved / "c.csv", original=frame[["sex", "illness"]].replace("gout", "mumps"))
    )
    lc.count_table(frame, "sex", seed=1).save(tmp_path / "d.csv")
    assert broken(lc.verify(tmp_path / "d.csv")) == ["made with a secret key"]


def test_sums_are_verified_and_every_format_is_written(saved, frame, tmp_path):
    made = lc.count_table(frame[["sex", "illness"]], ["sex x illness"], totals="sum", key_file=saved / "k.key")
    for name in ("c.parquet", "c.arrow", "c.tsv.gz"):
        made.save(tmp_path / name)
        checks = lc.verify(tmp_path / name, original=frame[["sex", "illness"]], key_file=saved / "k.key")
        assert len(checks) == 9
        assert broken(checks) == []


def test_manifests_hold_no_true_count_and_no_key(saved):
    public = json.loads((saved / "c.csv.manifest.json").read_text())
    assert public["counts"]["tables"] == [["sex", "illness"]]
    assert not {"figures", "settings", "reading", "warnings"} & set(public)
    secret = (saved / "k.key").read_text().strip()
    assert secret not in (saved / "c.csv.internal.json").read_text()
    inner = json.loads((saved / "c.csv.internal.json").read_text(), parse_constant=pytest.fail)
    assert inner["figures"]["attacks"]["here"]["certain"]["value"] == 0


def test_counts_are_loaded_but_not_measured(saved):
    assert len(lc.load(saved / "c.csv").table) == 15
    with pytest.raises(TableError, match="table of counts"):
        lc.load(saved / "c.csv", original=saved / "in.csv")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"by": []}, PlanError),
        ({"by": ["sex x gender"]}, NameUnknown),
        ({"by": "id"}, PlanError),
        ({"by": "sex", "totals": "both"}, ValueOutOfRange),
        ({"by": "sex", "rare": "hide"}, ValueOutOfRange),
        ({"by": "sex", "cell_keys": "none"}, ValueOutOfRange),
        ({"by": "sex", "impossible": ["sex"]}, ValueOutOfRange),
        ({"by": "sex", "impossible": ["sex=x"]}, NameUnknown),
        ({"by": "sex", "impossible": ["age=1"]}, NameUnknown),
        ({"by": "sex", "seed": 1, "key_file": "k"}, PlanError),
    ],
)
def test_what_cannot_be_counted_is_refused(frame, given, kind):
    with pytest.raises(kind):
        lc.count_table(frame, **given)


def test_names_that_the_output_needs_are_refused(frame):
    for clash in (frame.rename(columns={"sex": "count"}), frame.replace({"sex": {"f": "Total"}})):
        with pytest.raises(LeafcoverError, match="Rename"):
            lc.count_table(clash, [clash.columns[1]])


def test_tables_of_too_many_cells_are_refused():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame({name: rng.integers(0, 60, 4000).astype(str) for name in "abcd"}).astype("category")
    with pytest.raises(PlanError, match="cells"):
        lc.count_table(lc.read(wide), [("a", "b", "c", "d")], rare="allow")
