"""The ledger of a project finds people who are released again, and nothing of it is published."""

import json
import os
import stat
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafcover as lc
from leafcover.engine.ledger import (
    MOST_OVERLAP,
    SKETCH_MARKS,
    Entry,
    MarkedTable,
    Sketch,
    _compared,
    _Marks,
    column_sets,
    overlap_of,
)
from leafcover.errors import LedgerError, OutputError, PlanError, RepeatedRelease
from leafcover.keyed_random import Draws
from tests.data import table_path
from tests.small_models import small_models
from tests.tables import category, mixed, mixed_tables, number, table

DRAWS = Draws(bytes(32))


def marks(one, names=None, draws=DRAWS):
    return MarkedTable(one, draws).marks("rows", tuple(one.names if names is None else names)).words


def entry(one, draws=DRAWS):
    return Entry(1, "a.csv", "cover", None, "", "", MarkedTable(one, draws).sketches())


def excess(earlier, new):
    """The overlap of two tables above chance; None if no set of columns is in both."""
    found = _compared(MarkedTable(new, DRAWS), entry(earlier))
    return None if found is None else found.excess


def rows(one, *which):
    return one.take(np.arange(*which))


# Marks


@given(mixed_tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(one, random):
    names, order = list(one.names), list(range(len(one)))
    random.shuffle(names)
    random.shuffle(order)
    other = one.take(np.array(order)).select(names)
    assert np.array_equal(marks(one), marks(other))
    assert len(np.unique(marks(one))) == len(one)  # equal rows have marks of their own


@given(mixed_tables())
def test_without_the_key_marks_say_nothing(one):
    assert not set(marks(one).tolist()) & set(marks(one, draws=Draws(b"1" * 32)).tolist())


def test_a_number_is_the_same_as_a_number_and_as_text_and_a_date_as_a_time():
    typed = lc.from_frame(
        pd.DataFrame({"n": [7.0, 0.5, None, -0.0], "when": [datetime(2020, 1, day) for day in (1, 2, 3, 4)]})
    )
    text = table(category("n", ["7.00", "0.5", None, "0"]), typed["when"])
    when = typed["when"]
    dates, times = (
        replace(when, kind=kind, values=np.arange(18262.0, 18266.0) * scale)
        for kind, scale in (("date", 1), ("time", 86_400))
    )
    assert np.array_equal(marks(table(dates)), marks(table(times)))
    assert np.array_equal(marks(table(dates)), marks(table(when)))
    assert np.array_equal(marks(typed), marks(text))
    assert not np.array_equal(marks(typed), marks(table(category("n", ["7", "0.5", "missing", "0"]), typed["when"])))


def test_equal_rows_count_as_often_as_they_occur():
    ten, three = table(number("a", [1] * 10)), table(number("a", [1, 1, 1]))
    sketch = MarkedTable(three, DRAWS).sketches()[0]
    share, of_earlier = overlap_of(sketch, MarkedTable(ten, DRAWS).marks("rows", ("a",)))
    assert (share.value, of_earlier.value) == (0.3, 1.0)
    assert share.low == share.high


# The estimate


def sampled(rng, size, earlier, both):
    """The shares that a sketch gives for marks of two tables, and the true ones."""
    words = rng.integers(0, 2**64, size + earlier - both, dtype=np.uint64)
    old, new = np.sort(words[:earlier]), np.sort(words[earlier - both :])
    sketch = Sketch("rows", ("a",), earlier, 0.0, old[:SKETCH_MARKS])
    return zip(overlap_of(sketch, _Marks(new, 0.0)), (both / size, both / earlier), strict=True)


def test_the_estimate_is_unbiased_and_its_interval_covers_the_truth_as_often_as_it_says():
    rng, errors, covered = np.random.default_rng(1), [], []
    for _ in range(400):
        size, earlier = (int(n) for n in rng.integers(5_000, 40_000, 2))
        both = int(rng.integers(0.02 * min(size, earlier), 0.98 * min(size, earlier)))
        for share, true in sampled(rng, size, earlier, both):
            errors.append((share.value - true) / (share.high - share.low))
            covered.append(share.low <= true <= share.high)
            assert 0 <= share.low <= share.value <= share.high <= 1
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(len(errors) / 2)  # the two shares go together
    assert 0.92 < np.mean(covered) < 0.98
    # Were every share a tenth larger, the same test would say so.
    biased = [error + 0.1 for error in errors]
    assert abs(np.mean(biased)) > 4 * np.std(biased) / np.sqrt(len(biased) / 2)


@given(st.integers(1, SKETCH_MARKS), st.integers(1, 9000), st.data())
@settings(max_examples=30)
def test_up_to_4096_marks_are_compared_exactly(earlier, size, data):
    both = data.draw(st.integers(0, min(earlier, size)))
    for share, true in sampled(np.random.default_rng(both), size, earlier, both):
        assert (share.value, share.low, share.high) == (true, true, true)


def test_the_error_of_a_share_of_5_percent_is_below_one_percentage_point():
    for share, true in sampled(np.random.default_rng(2), 1_000_000, 1_000_000, 50_000):
        assert 0.01 < share.high - share.low < 0.015
        assert abs(share.value - true) < 0.015


# Which people are found


@pytest.fixture(scope="module")
def wages():
    return lc.read(table_path("cps1985"))


def test_people_are_found_whichever_column_is_left_out_renamed_or_changed(wages):
    assert len(column_sets(MarkedTable(wages, DRAWS))) > 1
    earlier = entry(wages)
    for name in wages.names:
        column = wages[name]
        without = wages.select(n for n in wages.names if n != name)
        renamed = lc.Table((*without.columns, replace(column, name="new")))
        changed = wages.replace([replace(column, values=np.roll(column.values, 1))])
        for other in (without, renamed, changed):
            assert _compared(MarkedTable(other, DRAWS), earlier).excess > 0.9


def test_people_are_found_with_more_columns_and_in_smaller_and_larger_tables(wages):
    more = lc.Table((*wages.columns, number("one", range(534)), category("two", ["a", "b"] * 267)))
    assert excess(wages, more) == 1
    assert excess(rows(wages, 100), wages) == 1
    assert excess(wages, rows(wages, 100)) == 1
    assert excess(rows(wages, 300), rows(wages, 250, 534)) >= MOST_OVERLAP


def test_other_people_are_not_found():
    adult = lc.read(table_path("adult")).take(np.arange(12_000))
    assert excess(rows(adult, 6000), rows(adult, 6000, 12_000)) < 0.02
    assert excess(rows(adult, 2000), rows(adult, 2000, 12_000)) < MOST_OVERLAP
    assert excess(rows(adult, 6300), rows(adult, 5600, 12_000)) > MOST_OVERLAP


def test_rows_that_all_have_twins_are_found_only_as_a_whole():
    rng = np.random.default_rng(3)
    answers = table(*(category(name, rng.choice(["no", "yes"], 4000).tolist()) for name in "abcd"))
    assert excess(rows(answers, 2000), rows(answers, 2000, 4000)) < MOST_OVERLAP
    assert excess(answers, answers) == 1


def test_tables_without_common_columns_are_not_compared():
    assert excess(table(number("a", range(9))), table(number("b", range(9)))) is None


def people(ids, **columns):
    return lc.from_frame(pd.DataFrame({"who": ids, **columns}), roles={"who": "unit"})


def test_units_are_found_by_their_ids_with_other_columns_another_name_and_other_types():
    rng = np.random.default_rng(4)
    ids = np.repeat(np.arange(100, 200), 3)
    earlier = people(ids, weight=rng.normal(size=300))
    later = lc.from_frame(
        pd.DataFrame({"patient": [f"{one:05}" for one in np.repeat(np.arange(150, 250), 2)], "sick": ["a", "b"] * 100}),
        roles={"patient": "unit"},
        category=["patient"],
    )
    found = _compared(MarkedTable(later, DRAWS), entry(earlier))
    assert (found.of, found.share.value, found.share_of_earlier.value) == ("units", 0.5, 0.5)
    without = later.select(["sick"])
    assert _compared(MarkedTable(without, DRAWS), entry(earlier)) is None


# Releases


def release(one, project, **given):
    return lc.release(one, given.pop("recipe", "cells"), target="class", project=project, **given)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def ledger(project):
    return json.loads((project / ".leafcover" / "ledger.json").read_text())["releases"]


def test_a_release_is_entered_when_it_is_saved_and_found_by_the_next(tmp_path, project):
    one = mixed(1)
    made = release(one, project)
    assert (made.ledger["compared"], made.ledger["overlaps"]) == (0, [])
    assert list(project.iterdir()) == []
    made.save(tmp_path / "a.csv")
    made.save(tmp_path / "b.parquet")  # the same values: no other release
    (only,) = ledger(project)
    assert (only["number"], only["name"], only["recipe"]) == (1, "a.csv", "cells")
    for path, mode in ((".", 0o700), ("ledger.json", 0o600), ("ledger.key", 0o600)):
        assert stat.S_IMODE((project / ".leafcover" / path).stat().st_mode) == mode
    with pytest.raises(RepeatedRelease, match=r"release 1 \('a.csv'\): 100.0% of these rows") as refused:
        release(one, project)
    assert refused.value.exit_code == 3
    with pytest.raises(RepeatedRelease):
        release(rows(one, 150), project)
    release(mixed(2), project).save(tmp_path / "c.csv")  # other people
    assert [found["number"] for found in ledger(project)] == [1, 2]


def test_what_averaging_gains_is_said(tmp_path, project):
    one = mixed(1, missing=0.0)
    for at, name in enumerate(("a.csv", "b.csv", "c.csv")):
        made = release(one, project, again=at > 0)
        made.save(tmp_path / name)
    assert made.ledger["averaging"] == {"releases": 3, "error": pytest.approx(3**-0.5), "bits_per_person": None}
    assert [found["number"] for found in made.ledger["overlaps"]] == [1, 2]
    assert made.ledger["overlaps"][0]["share"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    inner = json.loads((tmp_path / "c.csv.internal.json").read_text())["ledger"]
    assert inner == {"number": 3, **made.ledger}
    assert "58%" in str(made)


def test_bounds_of_dealt_releases_add_up(tmp_path, project):
    one, bits = mixed(1), []
    for name in ("a.csv", "b.csv"):
        made = release(one, project, recipe="cover", again=bool(bits))
        bits.append(made.save(tmp_path / name)["proved"]["bits_per_person"])
    assert made.ledger["averaging"]["bits_per_person"] == pytest.approx(sum(bits))


def test_the_same_release_is_allowed_and_another_one_with_the_same_key_is_not(tmp_path, project):
    one, key = mixed(1), lc.Key.fresh()
    release(one, project, key=key).save(tmp_path / "a.csv")
    same = release(one, project, key=key)
    assert same.ledger["same_as"] == 1
    assert same.ledger["averaging"] is None
    same.save(tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert len(ledger(project)) == 1
    for changed in ({"settings": {"k": 9}}, {"recipe": "random"}, {"key": lc.Key.fresh()}):
        with pytest.raises(RepeatedRelease):
            release(one, project, **{"key": key, **changed})


def test_only_released_rows_are_entered(tmp_path, project):
    release(mixed(1), project, hold_out=0.5).save(tmp_path / "a.csv")
    assert {found["count"] for found in ledger(project)[0]["sketches"]} == {150}


def test_of_two_releases_at_the_same_time_the_second_is_refused(tmp_path, project):
    release(mixed(9), project).save(tmp_path / "first.csv")
    one, other, third = (release(mixed(1), project, again=again) for again in (False, False, True))
    one.save(tmp_path / "a.csv")
    with pytest.raises(RepeatedRelease):
        other.save(tmp_path / "b.csv")
    assert not list(tmp_path.glob("b.csv*"))
    third.save(tmp_path / "c.csv")
    inner = json.loads((tmp_path / "c.csv.internal.json").read_text())["ledger"]
    assert (inner["number"], inner["compared"], inner["averaging"]["releases"]) == (3, 2, 2)


def test_two_first_releases_at_the_same_time_do_not_share_a_ledger_with_two_keys(tmp_path, project):
    one, other = release(mixed(1), project), release(mixed(2), project)
    one.save(tmp_path / "a.csv")
    with pytest.raises(LedgerError, match="another key"):
        other.save(tmp_path / "b.csv")
    assert not (tmp_path / "b.csv").exists()


def test_a_release_that_cannot_be_written_is_not_entered(tmp_path, project):
    (tmp_path / "a.csv").write_text("mine")
    with pytest.raises(OutputError, match="already exists"):
        release(mixed(1), project).save(tmp_path / "a.csv")
    assert list(project.iterdir()) == []


def test_nothing_of_the_ledger_is_published(tmp_path, project):
    one = mixed(1)
    for name in ("a.csv", "b.csv"):
        made = release(one, project, again=name == "b.csv")
        made.save(tmp_path / name, publish_tree=True)
    with small_models():
        made.write(report=tmp_path / "r.html", publish_tree=True)
    secret = (project / ".leafcover" / "ledger.key").read_text().strip()
    words = [secret, "ledger", "released before", ".leafcover", str(project)]
    for found in ledger(project):
        words += [found["source"], found["content"], found["check"], *(s["smallest"][:40] for s in found["sketches"])]
    for public in ("b.csv", "b.csv.manifest.json", "r.external.html"):
        text = (tmp_path / public).read_text().lower()
        assert [word for word in words if word.lower() in text] == []
    inner = (tmp_path / "b.csv.internal.json").read_text()
    assert [word for word in words if word in inner] == ["ledger"]
    assert [path.name for path in tmp_path.rglob(".leafcover")] == [".leafcover"]


# A ledger that cannot be used


@pytest.fixture
def kept(tmp_path, project):
    release(mixed(1), project).save(tmp_path / "a.csv")
    return project / ".leafcover"


def refused(kept):
    with pytest.raises(LedgerError) as found:
        release(mixed(2), kept.parent)
    assert "\n" not in str(found.value)
    return str(found.value)


@pytest.mark.skipif(os.name != "posix", reason="no modes")
@pytest.mark.parametrize("name", ["ledger.key", "ledger.json"])
def test_a_ledger_that_others_can_read_is_refused(kept, name):
    (kept / name).chmod(0o640)
    assert "can be read by others" in refused(kept)


def test_a_ledger_without_its_key_is_refused(kept):
    (kept / "ledger.key").unlink()
    assert "is missing" in refused(kept)


@pytest.mark.parametrize("content", ["", "00" * 31, "zz" * 32, "\x00"])
def test_a_damaged_key_is_refused(kept, content):
    (kept / "ledger.key").write_text(content)
    assert "hexadecimal" in refused(kept)


def test_another_key_is_refused(kept):
    (kept / "ledger.key").write_text("00" * 32)
    assert "another key" in refused(kept)


@pytest.mark.parametrize("spoil", [lambda text: text[:-9], lambda text: "[]", lambda text: text.replace("a.csv", "b")])
def test_a_damaged_ledger_is_refused(kept, spoil):
    path = kept / "ledger.json"
    path.write_text(spoil(path.read_text()))
    assert "damaged" in refused(kept)


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_any_changed_byte_is_refused_or_changes_nothing(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("spoilt")
    release(mixed(1), folder).save(folder / "a.csv")
    path = folder / ".leafcover" / "ledger.json"
    text = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] = data.draw(st.integers(1, 127).filter(lambda byte: byte != text[at]))
    path.write_bytes(bytes(text))
    with pytest.raises((LedgerError, RepeatedRelease)):
        release(mixed(1), folder)


def test_a_newer_format_is_refused(kept):
    path = kept / "ledger.json"
    path.write_text(path.read_text().replace('"leafcover_ledger": 1', '"leafcover_ledger": 2'))
    assert "format 1" in refused(kept)


def test_an_entry_can_be_taken_out_by_hand(tmp_path, kept):
    path = kept / "ledger.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "releases": []}))
    release(mixed(1), kept.parent).save(tmp_path / "b.csv")


def test_a_project_must_be_a_folder_and_again_needs_one(tmp_path):
    with pytest.raises(LedgerError, match="no project folder"):
        release(mixed(1), tmp_path / "nowhere")
    with pytest.raises(PlanError, match="again"):
        lc.release(mixed(1), "cells", target="class", again=True)


def test_without_a_project_the_release_says_that_there_is_no_ledger():
    made = lc.release(mixed(1), "cells", target="class")
    assert made.repeats is None
    assert made.ledger["kept"] is False
    assert str(made).splitlines()[-1] == made.ledger["note"]
