"""The identifier guard: names and numbers of people are caught, what was measured is not."""

import numpy as np
import pyarrow as pa
import pytest

from leafcover.table.frames import from_frame
from leafcover.table.identifiers import identifiers
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
        (list(range(60, 0, -1)), "x", "warn"),
        (list(range(60, 0, -1)), "patient_id", "refuse"),
        (list(range(60, 0, -1)), "PatientNo", "refuse"),
        (list(range(60, 0, -1)), "SSN", "refuse"),
        (list(range(60, 0, -1)), "idle", "warn"),  # a token is a whole word
        ([i % 30 for i in range(60)], "id", None),
        ([i + 0.5 for i in range(60)], "id", None),  # decimals never
        ([2**60 + i for i in range(60)], "x", "refuse"),  # beyond what float64 can tell apart
        ([2**60 - i for i in range(60)], "x", "warn"),
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
