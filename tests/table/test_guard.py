"""The identifier guard: names and numbers of people are caught, what was measured is not."""

import numpy as np
import pyarrow as pa
import pytest

from leafcover.table.frames import from_frame
from leafcover.table.identifier_patterns import contained
from leafcover.table.inspection import identifiers
from leafcover.table.io import read, sample

SHARED = {
    "laeken_eusilc.csv": ["rb030"],
    "wbc.csv": ["sample_code_number"],
    "adult_train.csv.gz": [],
    "adult_test.csv.gz": [],
    "boston.csv": [],
    "casc_census.csv": [],
    "casc_tarragona.csv": [],
    "census_income_kdd_train.csv.gz": [],
    "cps1985.csv": [],
    "credit_approval.csv": [],
    "german_credit.csv": [],
    "nist_ma2019.csv.gz": [],
    "nursery.csv": [],
    "pima_diabetes.csv": [],
    "wine.csv": [],
    "c45/golf.data": [],
    "c45/labor-neg.data": [],
    "c45/vote.data": [],
    "c45/crx.data": [],
}


def refused(table):
    return [suspect.column for suspect in identifiers(table) if suspect.severity == "refuse"]


def of(values, name="x", **roles):
    return from_frame(pa.table({name: values, "other": [i % 2 for i in range(len(values))]}), roles=roles)


def verdict(values, name="x"):
    found = [suspect.severity for suspect in identifiers(of(values, name)) if suspect.column == name]
    return found[0] if found else None


@pytest.mark.parametrize("name", SHARED)
def test_on_the_shared_data_only_identifiers_are_caught(name, shared):
    assert refused(read(shared(name))) == SHARED[name]


@pytest.mark.parametrize("name", SHARED)
def test_no_level_of_the_shared_data_contains_a_person(name, shared):
    table = read(shared(name))
    assert [c.name for c in table if c.is_category and contained(c.levels)[1]] == []


@pytest.mark.parametrize("name", ["adult", "boston", "cps1985", "german_credit", "wbc", "wine"])
def test_on_the_samples_only_an_identifier_is_caught(name):
    assert refused(read(sample(name))) == (["sample_code_number"] if name == "wbc" else [])


def test_long_labels_of_a_code_book_are_no_identifier_in_a_sample_either(shared):
    table = read(shared("census_income_kdd_train.csv.gz"))
    assert refused(table.take(np.arange(1000))) == []


def test_a_refusal_names_both_ways_out():
    (suspect,) = identifiers(read(sample("wbc")))
    assert "drop=['sample_code_number']" in suspect.message
    assert "roles={'sample_code_number': 'unchanged'}" in suspect.message
    assert "\n" not in suspect.message


def test_distinct_text_is_refused_and_dates_are_not():
    assert verdict([f"person {i}" for i in range(20)]) == "refuse"
    assert verdict([f"person {i % 17}" for i in range(20)]) is None
    assert verdict([f"{i + 1:02d}/02/2020" for i in range(12)]) is None  # days or months: still a date
    assert verdict([f"2020-01-{i + 1:02d} 12:30" for i in range(20)]) is None
    assert verdict(["a", "b"]) is None


def test_free_text_is_refused_though_it_repeats():
    texts = [f"was seen at the clinic of {i % 12} today" for i in range(60)]
    assert verdict(texts) == "refuse"
    assert verdict([f"clinic {i % 12}" for i in range(60)]) is None


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        (list(range(50)), "x", "refuse"),  # increasing
        (list(range(49)), "x", None),  # too few rows to say
        (list(range(60, 0, -1)), "x", None),  # numbers of different lengths: sums of money
        (list(range(1060, 1000, -1)), "x", "warn"),
        (list(range(60, 0, -1)), "patient_id", "refuse"),
        (list(range(60, 0, -1)), "PatientNo", "refuse"),
        (list(range(60, 0, -1)), "SSN", "refuse"),
        (list(range(1060, 1000, -1)), "idle", "warn"),  # a token is a whole word
        ([i % 30 for i in range(60)], "id", "refuse"),  # two rows each, in which the other column is constant
        ([i % 29 for i in range(60)], "id", None),
        ([i + 0.5 for i in range(60)], "id", None),  # decimals never
        ([2**60 + i for i in range(60)], "x", "refuse"),  # beyond what float64 can tell apart
        ([2**60 - i for i in range(60)], "x", "refuse"),  # a category of distinct levels
        ([None, *range(60)], "x", "refuse"),
    ],
)
def test_whole_numbers_need_order_or_a_name_to_be_refused(values, name, expected):
    assert verdict(values, name) == expected


@pytest.mark.parametrize("role", ["unchanged", "identifier", "unit", "weight"])
def test_a_column_with_a_role_that_says_so_is_not_asked_again(role):
    assert identifiers(of(list(range(60)), x=role)) == ()


def test_large_numbers_as_text_are_caught_too(tmp_path):
    lines = [f"{2**60 + i},{i % 3}" for i in range(60)]
    (tmp_path / "in.csv").write_text("\n".join(["x,y", *lines, "?,1"]) + "\n")
    assert refused(read(tmp_path / "in.csv")) == ["x"]


def visits(name, *, people=60, rows=4, seed=1):
    """A panel: two columns belong to the person, two to the visit; the rows are in no order."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(people), rows))
    born, sex = rng.integers(1930, 2000, people), rng.choice(["f", "m"], people)
    return {
        name: person + 500,
        "born": born[person],
        "sex": sex[person],
        "cost": rng.lognormal(3, 1, len(person)).round(2),
        "ward": rng.choice(list("abc"), len(person)),
    }


@pytest.mark.parametrize("name", ["id", "subject", "hid", "familyid", "code", "nr", "CaseNumber", "name"])
def test_the_rows_of_one_person_show_that_a_column_is_an_id(name):
    found = identifiers(from_frame(pa.table(visits(name))))
    assert [(one.column, one.severity, one.is_sure) for one in found] == [(name, "refuse", False)]
    as_text = visits(name)
    as_text[name] = [f"k{one}" for one in as_text[name]]
    assert refused(from_frame(pa.table(as_text))) == [name]
    for role in ("sensitive", "quasi-identifier", "unit", "unchanged"):
        assert refused(from_frame(pa.table(visits(name)), roles={name: role})) == []


@pytest.mark.parametrize("name", ["shop", "state_id", "town code", "household_size", "score"])
def test_other_names_and_places_are_no_ids(name):
    assert refused(from_frame(pa.table(visits(name)))) == []


def test_few_people_or_columns_that_vary_are_no_evidence():
    assert refused(from_frame(pa.table(visits("code", people=20, rows=10)))) == []
    rng = np.random.default_rng(2)
    mixed = {name: rng.permutation(values) for name, values in visits("code").items()}
    assert refused(from_frame(pa.table(mixed))) == []
    book = visits("code")  # a code book: groups and groups of groups, of which one determines the other
    book["born"], book["sex"] = book["code"] // 3, book["code"] // 12
    assert refused(from_frame(pa.table(book))) == []


def test_names_of_persons_are_refused_and_other_names_are_not():
    rng = np.random.default_rng(1)
    given, family = rng.choice(["Anna", "Peter", "Maria", "Paul", "Xerxa"], 300), rng.choice(["Abe", "Ode", "Ute"], 300)
    number = rng.choice(["", " B.", " C.", " D."], 300)
    people = [f"{two}, {one}{three}" for one, two, three in zip(given, family, number, strict=True)]
    assert refused(of(people, name="witness")) == ["witness"]
    assert refused(of(people, name="witness", witness="sensitive")) == ["witness"]
    towns = [
        f"{one} {two}"
        for one in ("Bad", "New", "Old", "Port")
        for two in ("Ems", "Hall", "Tölz", "Orb", "Ischl", "Aussee")
    ]
    assert refused(of(towns * 12, name="resort")) == []


def test_exact_places_and_unique_moments_are_refused_until_said():
    rng = np.random.default_rng(1)
    north = np.repeat(rng.uniform(50, 54, 100), 3)
    assert refused(of(north.round(5), name="lat")) == ["lat"]
    assert refused(of(north.round(2), name="lat")) == []
    assert refused(of(north.round(5), name="rate")) == []
    assert refused(of([f"{one:.5f}, 13.40001" for one in north], name="where")) == ["where"]
    moments = np.array("2024-01-01", "datetime64[s]") + rng.permutation(10**6)[:200]
    assert refused(of(moments, name="seen")) == ["seen"]
    assert refused(of(moments, name="seen", seen="sensitive")) == []
    assert refused(of(np.repeat(moments[:50], 4), name="seen")) == []
    assert refused(of(moments.astype("datetime64[D]"), name="seen")) == []
