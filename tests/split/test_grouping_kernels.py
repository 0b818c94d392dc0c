"""Kernels that make groups, beside twins that look at every row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.fast.mdav import mdav
from tests import naive_groups

SIZES = (1, 2, 3, 10)


@st.composite
def matrices(draw, most=300):
    """Grids full of ties, duplicates, constant columns, and numbers far from zero; one column or more."""
    rows, columns = draw(st.integers(1, most)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["normal", "grid", "duplicates", "skewed", "offset", "tiny"]))
    if kind == "grid":
        values = rng.integers(0, draw(st.integers(1, 6)), (rows, columns)).astype(float)
    elif kind == "duplicates":
        values = rng.normal(size=(rows, columns))[rng.integers(0, max(1, rows // 5), rows)]
    elif kind == "skewed":
        values = np.exp(3 * rng.normal(size=(rows, columns)))
    else:
        values = rng.normal(size=(rows, columns)) * (1e-160 if kind == "tiny" else 1.0)
        values += 1e9 if kind == "offset" else 0.0
    if draw(st.booleans()):
        values[:, draw(st.integers(0, columns - 1))] = draw(st.sampled_from([0.0, 0.1, -7.0]))
    return values


def standardised(path):
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)


def loss(values, label):
    """Squares inside groups in percent of all squares."""
    count = np.bincount(label)
    means = np.column_stack([np.bincount(label, column) / count for column in values.T])
    return 100 * ((values - means[label]) ** 2).sum() / ((values - values.mean(axis=0)) ** 2).sum()


@given(matrices(), st.sampled_from(SIZES))
def test_mdav_makes_the_groups_of_its_twin(values, k):
    assert mdav(values, k).tolist() == naive_groups.mdav(values, k).tolist()


@pytest.mark.parametrize("columns", [2, 10])
@pytest.mark.parametrize("digits", [0, 1, 12])
def test_mdav_makes_the_groups_of_its_twin_in_a_larger_table(columns, digits):
    values = np.random.default_rng(columns + digits).normal(size=(3000, columns)).round(digits)
    assert mdav(values, 3).tolist() == naive_groups.mdav(values, 3).tolist()


@given(matrices(), st.sampled_from(SIZES))
def test_groups_of_mdav_have_k_rows_and_the_last_up_to_twice_as_many(values, k):
    counts = np.bincount(mdav(values, k))
    assert (counts[:-1] == k).all()
    assert min(k, len(values)) <= counts[-1] < 2 * k


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("casc_tarragona.csv", {3: 16.9326, 4: 19.546, 5: 22.462, 10: 33.193}),
        ("casc_census.csv", {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559}),
    ],
)
def test_mdav_loses_what_is_known_of_the_reference_tables(shared, name, expected):
    values = standardised(shared(name))
    for k, known in expected.items():
        digits = len(str(known).split(".")[1])
        assert round(loss(values, mdav(values, k)), digits) == known
