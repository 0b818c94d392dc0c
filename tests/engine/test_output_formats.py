"""A release with a unit, a weight, a rule and shared numbers leaves in every format, whatever it was read from."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import leafcover as lc
from leafcover.errors import OutputError
from leafcover.table.frames import from_frame

INPUTS = ("csv", "parquet", "arrow", "xlsx", "dta", "sav", "xpt", "arff", "data", "sqlite", "duckdb")
OUTPUTS = (*INPUTS, "tsv.gz", "zsav")


def visits(unit):
    """Three visits of each of 70 people, with dates, a total, codes with leading zeros and missing values."""
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(70), 3)
    rows = len(person)
    frame = pd.DataFrame(
        {
            "pid": [f"P{one:03}" for one in person] if unit == "text" else person + 1000,
            "sex": rng.choice(["f", "m"], 70)[person],
            "born": pd.to_datetime(rng.integers(0, 20, 70)[person] * 365, unit="D").date,
            "seen": pd.to_datetime(17_000 * 86_400 + rng.integers(0, 40, rows) * 43_200, unit="s"),
            "zip": rng.choice(["01234", "01235", "99001"], rows),
            "food": rng.integers(10, 99, rows) / 2,
            "rent": rng.integers(10, 99, rows).astype(float),
            "wt": (rng.integers(100, 900, 70) / 4)[person],
            "class": rng.choice(["no", "yes"], rows),
        }
    )
    frame["total"] = frame.food + frame.rent
    frame.loc[::7, "zip"] = None
    frame.loc[::11, ["food", "total"]] = np.nan
    return frame


def place(folder, stem, ending):
    end = "#t" if ending in ("sqlite", "duckdb") else ""
    return f"{folder / stem}.{ending}{end}"


def cells(column):
    """The values as a reader of any format has them: numbers, or text without leading zeros."""
    if not column.is_category:
        return [None if np.isnan(value) else round(value, 6) for value in column.values.tolist()]
    texts = [None if code < 0 else column.levels[code] for code in column.values]
    return [float(text) if text is not None and text.isdecimal() else text for text in texts]


@pytest.mark.parametrize(("ending", "unit"), [*((one, "text") for one in INPUTS), ("xlsx", "number")])
def test_a_release_leaves_in_every_format_that_can_hold_it(ending, unit, tmp_path):
    frame = visits(unit).drop(columns=["born", "seen"] if ending == "data" else [])
    lc.write(frame, place(tmp_path, "original", ending))
    original = lc.read(
        place(tmp_path, "original", ending), roles={"pid": "unit", "wt": "weight"}, category=["zip", "class"]
    )
    release = lc.release(original, "cover", target="class", rules=["total == food + rent"], share=5, seed=1)
    assert [fact.broken for fact in release.rules if fact.text.startswith("total")] == [0]
    for other in OUTPUTS:
        out = place(tmp_path, "released_" + other.replace(".", ""), other)
        if other == "data" and ending != "data":
            with pytest.raises(OutputError, match="'born'"):  # C4.5 has no dates
                release.save(out)
            continue
        release.save(out)
        again = lc.read(out)
        assert again.names == release.table.names
        for column in release.table:
            assert cells(again[column.name]) == cells(column), (ending, other, column.name)
        if other == ending:
            failed = [check for check in lc.verify(out, original=original) if not check.holds]
            assert [check.what.partition(",")[0] for check in failed] == ["made with a secret key"]


NINES = "9" * 17
CANNOT = [
    ("x" * 40_000, "xlsx"),
    ("x" * 121, "sav"),
    (int(NINES), "xlsx"),
    (int(NINES), "dta"),
    (int(NINES), "sav"),
    (1e80, "xpt"),
    (2**63 + 4096, "sqlite"),
    ("two\nlines", "data"),
    ("two words", "dta"),
]


@pytest.mark.parametrize(("value", "ending"), CANNOT)
def test_what_a_format_cannot_hold_is_said_before_anything_is_measured_or_written(value, ending, tmp_path, monkeypatch):
    kind = "uint64" if value == 2**63 + 4096 else None
    few = pd.Series([value, value, *["a", "b"] * 4] if isinstance(value, str) else [value, 1, 2, 3] * 3, dtype=kind)[
        :10
    ]
    few = few.astype(pd.CategoricalDtype([value, "b", "a"], ordered=True)) if value == "x" * 121 else few
    name = "two words" if value == "two words" else "a"
    table = from_frame(pd.DataFrame({name: few, "class": ["x", "y"] * 5}))
    plan = lc.Plan(lc.Step("class", within=lc.Whole(), perturb=lc.Shuffle()))
    release = lc.release(replace(table, roles={name: "unchanged"}), plan, seed=1)
    monkeypatch.setattr(type(release), "_pages", lambda *given: pytest.fail("measured"))
    with pytest.raises(OutputError, match=f"'{name}'"):
        release.save(place(tmp_path, "out", ending), report=tmp_path / "r.html")
    with pytest.raises(OutputError, match=f"'{name}'"):
        lc.write(table, place(tmp_path, "out", ending))
    assert not list(tmp_path.iterdir())


def test_times_of_day_of_a_pandas_file_are_written(tmp_path):
    times = pd.to_datetime(pd.Series([3_600, 45_296, 0] * 10), unit="s").dt.time
    pd.DataFrame({"a": [1, 2, 3] * 10, "t": times}).to_parquet(tmp_path / "in.parquet")
    table = lc.read(tmp_path / "in.parquet")
    lc.write(table, tmp_path / "out.parquet")
    assert cells(lc.read(tmp_path / "out.parquet")["t"]) == cells(table["t"])
    assert pd.read_parquet(tmp_path / "out.parquet")["t"].tolist() == times.tolist()
