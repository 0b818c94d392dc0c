"""Groups of similar rows: never below k, inside their strata, with the figures others found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leafcover as lc
from leafcover.errors import LeafcoverError
from leafcover.partition.kd_tree import Halves, Kd
from leafcover.partition.microaggregation import InOrder, KMeans, Mdav, Strata, VariableMdav, joined, k_means, points
from tests.data import table_path
from tests.tables import category, mixed, mixed_tables, number, table

WAYS = {
    "mdav": lambda names, k: Mdav(names, k=k),
    "mdav in blocks": lambda names, k: Mdav(names, k=k, block=4 * k),
    "v-mdav": lambda names, k: VariableMdav(names, k=k),
    "in order": lambda names, k: InOrder(names[0], k=k),
    "in order, fixed": lambda names, k: InOrder(names[0], k=k, sizes="fixed"),
    "k-means": lambda names, k: KMeans(names, k=k, most=2 * k),
    "mdav in kd cells": lambda names, k: Mdav(names, k=k, start=Kd(names, leaf_max=5 * k, min_child=k)),
}


def sizes_of(partition):
    sizes = partition.cells.sizes
    assert partition.cells.count == len(sizes)
    assert (sizes > 0).all()
    return sizes


@pytest.mark.parametrize("way", WAYS)
@given(table_=mixed_tables(), k=st.integers(1, 6))
def test_no_group_is_smaller_than_k(way, table_, k):
    numbers = [c.name for c in table_ if not c.is_category]
    if not numbers:
        return
    sizes = sizes_of(WAYS[way](tuple(numbers), k).cells(table_))
    assert sizes.sum() == len(table_)
    assert sizes.min() >= min(k, len(table_))
    if way in ("mdav", "in order", "in order, fixed"):
        assert sizes.max() < max(2 * k, 2)


@pytest.mark.parametrize("way", WAYS)
def test_ties_duplicates_and_constants(way):
    for values in (np.zeros(23), np.repeat([1.0, 2.0], [20, 3]), np.arange(23) // 4):
        both = table(number("x", values), number("y", np.full(23, 7.0)))
        assert sizes_of(WAYS[way](("x", "y"), 3).cells(both)).min() >= 3


def test_categories_are_one_apart():
    both = table(category("c", ["a", "b", "a", None]), number("x", [1.0, 1.0, 1.0, 1.0]))
    where = points(both, ("c", "x"))
    apart = ((where[:, None] - where[None]) ** 2).sum(axis=2)
    assert apart == pytest.approx(np.array([[0, 1, 0, 1], [1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 0]]))


def test_mixed_columns_make_groups_of_the_same_kind():
    # Two kinds of people who share no number and no letter: no group holds both.
    rng = np.random.default_rng(1)
    kind = np.repeat([0, 1], 30)
    both = table(number("x", rng.normal(size=60) / 10 + 5 * kind), category("c", [f"{v}" for v in kind]))
    label = Mdav(("x", "c"), k=3).cells(both).cells.label
    assert all(len(set(kind[label == one])) == 1 for one in np.unique(label))


def test_strata_are_not_crossed():
    original = mixed(1, rows=200, missing=0.0)
    strata = Strata(("job",), min_cell=3)
    outer = strata.cells(original).cells.label
    inner = Mdav(("age", "pay"), k=3, start=strata).cells(original).cells.label
    assert all(len(set(outer[inner == one])) == 1 for one in np.unique(inner))


def test_small_strata_stand_together():
    original = table(category("c", list("aaaabccccd")), number("x", np.arange(10)))
    found = Strata(("c",), min_cell=3).cells(original)
    # b and d hold one row each: with the next smallest, a, they are enough.
    assert found.cells.label.tolist() == [1, 1, 1, 1, 1, 0, 0, 0, 0, 1]
    assert "3 strata of c" in found.notes[0]
    assert "6 rows" in found.notes[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("casc_tarragona", {3: 16.9326, 4: 19.546, 5: 22.462, 10: 33.193}),
        ("casc_census", {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559}),
    ],
)
def test_mdav_loses_what_others_found(name, expected):
    original = lc.read(table_path(name))
    for k, loss in expected.items():
        assert lost(original, Mdav(original.names, k=k)) == pytest.approx(loss, abs=10.0 ** -_digits(loss) / 2 * 1.001)


def test_variable_groups_lose_what_others_found():
    original = lc.read(table_path("casc_census"))
    for k, loss in {3: 5.662, 4: 7.514, 5: 9.007, 10: 14.073}.items():
        assert lost(original, VariableMdav(original.names, k=k, gamma=0.2)) == pytest.approx(loss, abs=6e-4)


def lost(original, split):
    """100·SSE/SST of standardised columns when groups become their means."""
    where = points(original, original.names)
    label = split.cells(original).cells.label
    means = np.array([where[label == one].mean(axis=0) for one in range(label.max() + 1)])
    return 100 * ((where - means[label]) ** 2).sum() / (where**2).sum()


def _digits(value):
    return len(str(value).split(".")[1])


def test_k_means_by_hand():
    where = np.array([[0.0], [0.1], [0.2], [5.0], [9.0], [9.2]])
    label = k_means(where, 3)
    assert [set(np.flatnonzero(label == one).tolist()) for one in range(3)] == [{4, 5}, {0, 1, 2}, {3}]
    # The row that stands alone joins the nearer centre, 9.1.
    assert joined(where, label, 2).tolist() == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Mdav((), k=3),
        lambda: Mdav(("age",), k=0),
        lambda: Mdav(("age",), k=5, block=7),
        lambda: VariableMdav(("age",), gamma=-1.0),
        lambda: KMeans(("age",), k=5, most=3),
        lambda: KMeans((), k=5),
        lambda: Strata(()),
        lambda: Strata(("c",), min_cell=0),
        lambda: InOrder("job").cells(mixed(1)),
    ],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(LeafcoverError):
        wrong()


@pytest.mark.parametrize("method", [Mdav, VariableMdav, KMeans, Kd, Halves, Strata])
def test_one_column_may_be_named_without_a_list(method):
    assert method("age").by == ("age",)
    assert method(["age", "pay"]).by == ("age", "pay")
