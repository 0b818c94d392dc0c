"""What `leafcover init` decides about a table."""

import numpy as np
import pandas as pd
import pytest

import leafcover as lc
from leafcover.engine.project_draft import DraftOptions, draft
from leafcover.engine.project_file import parse_project
from leafcover.errors import TableError
from tests.tables import category, number, table

UNITS, ROWS_EACH = 60, 3


def options(**given):
    return DraftOptions(file="t.csv", output="t.released.csv", report="r.html", title="t", **given)


def drafted(*columns, **given):
    """The file that is drafted for a table, and the text of it."""
    made = draft(table(*columns), options(**given))
    return parse_project(made.text), made


def per_unit(rng, levels):
    return np.repeat(rng.choice(levels, UNITS), ROWS_EACH).tolist()


@pytest.fixture
def household():
    """Columns that agree within each of 60 households of three rows, and one that does not."""
    rng = np.random.default_rng(1)
    return [
        category("region", per_unit(rng, ["n", "s", "w"])),
        category("tenure", per_unit(rng, ["own", "rent"])),
        category("heating", per_unit(rng, ["gas", "oil", "wood"])),
        number("age", rng.integers(0, 90, UNITS * ROWS_EACH)),
        category("sex", rng.choice(["f", "m"], UNITS * ROWS_EACH).tolist()),
    ]


def ids(name, start=0):
    return number(name, np.repeat(np.arange(UNITS) + start, ROWS_EACH))


def test_an_id_of_households_is_a_unit_and_its_double_is_dropped(household):
    found, _ = drafted(ids("household_id", 500), ids("hid", 9000), *household)
    assert (found.columns["household_id"], found.columns["hid"]) == ("unit", "drop")
    assert set(found.undecided) == {"audience", "target"}


def test_a_column_whose_rows_are_those_of_a_household_is_left_to_the_steward(household):
    found, made = drafted(ids("v17"), *household)
    assert found.columns["v17"] == "?"
    assert "columns.v17" in found.undecided
    assert next(one.name for one in made.notes if one.kind == "undecided") == "columns.v17"


def test_neither_a_sorted_nor_a_shuffled_column_is_taken_for_one(household):
    rng = np.random.default_rng(2)
    shuffled = number("v17", rng.permutation(np.repeat(np.arange(UNITS), ROWS_EACH)))
    independent = [number(f"x{n}", rng.integers(0, 50, UNITS * ROWS_EACH)) for n in range(3)]
    assert drafted(shuffled, *household)[0].columns["v17"] == ""
    assert drafted(ids("v17"), *independent)[0].columns["v17"] == ""


def test_given_roles_come_first(household):
    found, _ = drafted(ids("household_id"), *household, roles={"household_id": "drop", "age": "sensitive"})
    assert (found.columns["household_id"], found.columns["age"]) == ("drop", "sensitive")


@pytest.mark.parametrize(
    ("name", "role"), [("fnlwgt", "weight"), ("PWGTP", "weight"), ("survey_weight", "weight"), ("weight_kg", "")]
)
def test_survey_weights_are_known_by_their_names(name, role):
    rng = np.random.default_rng(3)
    weights = number(name, rng.integers(50, 90, 80))
    assert drafted(weights, category("c", ["a", "b"] * 40))[0].columns[name] == role


def test_a_numeric_target_gets_classes_and_an_identifier_is_no_target():
    rng = np.random.default_rng(4)
    pay, job = number("pay", rng.integers(0, 500, 90)), category("job", ["a", "b", "c"] * 30)
    found, _ = drafted(pay, job, target="pay", audience="public")
    assert (found.method.bins, found.target, found.undecided) == (4, "pay", ())
    mails = category("mail", [f"a{n}@b.org" for n in range(90)])
    with pytest.raises(TableError, match="mail"):
        drafted(mails, job, target="mail")
    with pytest.raises(TableError, match="nothing is left"):
        drafted(mails)


def test_no_value_of_the_table_is_in_the_file():
    rng = np.random.default_rng(5)
    names = category("job title", ["xqz-baker", *(["clerk", "nurse"] * 40)])
    pay = number("pay", [987654.0, *rng.integers(0, 9, 80)])
    text = drafted(names, pay)[1].text
    assert "xqz" not in text
    assert "987654" not in text


def test_hostile_names_of_columns_are_read_back():
    names = ['a"b', "a\nb", "c#d", "?", "[x]", "é ü", "a.b", " ", "\\", "\x7f"]
    columns = [category(name, ["x", "y"] * 20) for name in names]
    assert list(drafted(*columns)[0].columns) == names


def test_a_panel_without_an_id_is_noticed():
    rng = np.random.default_rng(2)
    wave = np.tile(np.arange(5), 300)
    person = np.repeat(np.arange(300), 5)
    columns = [
        number("born", rng.integers(1940, 2000, 300)[person]),
        category("region", rng.choice(list("abcdefgh"), 300)[person].tolist()),
        category("sex", rng.choice(["f", "m"], 300)[person].tolist()),
        number("wave", wave),
    ]
    comment = "# Rows look like repeated rows of the same people"
    assert comment in drafted(*columns)[1].text
    assert comment not in drafted(*columns[:3], number("wave", rng.permutation(wave)))[1].text


def test_numbers_that_a_typed_file_stores_as_text_are_not_promised_to_be_numbers(tmp_path):
    pay = [str(at * 7 % 60 * 10) for at in range(240)] + ["none"] * 30
    for ending, kind in (("csv", "number"), ("parquet", "category"), ("dta", "category"), ("xlsx", "category")):
        path = tmp_path / f"in.{ending}"
        lc.write(pd.DataFrame({"pay": pay, "class": ["a", "b"] * 135}), path)
        project = lc.init(path, tmp_path / "leafcover.toml", target="class", force=True)
        assert project.table()["pay"].kind == kind, ending
        assert ("pay" in project.settings.input.missing) == (kind == "number"), ending
        assert ("pay" in project.settings.input.category) == (kind == "category"), ending
