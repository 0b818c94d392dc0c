"""Laws of every statistic: best for a copy, finite on awkward tables, blind to order, and no table is changed."""

from dataclasses import fields, is_dataclass, replace
from math import isinf, isnan

import numpy as np
import pytest

from leafcover.metrics.pair import pair_of
from leafcover.metrics.suite import plain
from leafcover.metrics.utility.bivariate import relations, value_pairs
from leafcover.metrics.utility.information_loss import biases, information_loss
from leafcover.metrics.utility.margins import margins, relation_errors
from leafcover.metrics.utility.propensity import propensity, propensity_of_trees, totals
from leafcover.metrics.utility.regression import regression
from leafcover.metrics.utility.univariate import Differences, columns, heaps, tails
from tests.metrics.pairs import apart, awkward, copy_of, reordered, tables
from tests.tables import number, table

STATISTICS = [columns, heaps, tails, relations, margins, value_pairs]
EXACT = [*STATISTICS, biases, information_loss, propensity, regression, totals]
MEASURES = [*EXACT, propensity_of_trees, relation_errors]
names = pytest.mark.parametrize("name", [*awkward(), *tables()])


def original(name):
    found = {**awkward(), **tables()}[name]
    weights = np.random.default_rng(8).integers(1, 9, len(found))
    return table(*found, number("w", weights))


def pair_for(make, name):
    return make(original(name), target="class", weight="w")


def pieces(value, path=""):
    """Every plain piece of a result with its path; lists in an order that knows no order of columns."""
    if is_dataclass(value):
        for field in fields(value):
            yield from pieces(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple):
        for i, item in enumerate(sorted(value, key=label)):
            yield from pieces(item, f"{path}[{i}]")
    else:
        yield path, value


def label(item):
    """What a list's item is called; numbers without a name keep their place."""
    if isinstance(item, str):
        return item
    return "|".join(str(getattr(item, f.name)) for f in fields(item) if f.type is str) if is_dataclass(item) else ""


def undefined(value, excused=False):
    """Figures that are nan or infinite though nothing excuses them: no count, no known value, no reason."""
    if is_dataclass(value):
        excused = (
            excused
            or (isinstance(value, Differences) and value.count == 0)
            or bool(getattr(value, "reason", "") or getattr(value, "reasons", ""))
            or "gone" in (getattr(value, "name", ""), getattr(value, "column", ""))  # a column without any value
        )
        for field in fields(value):
            if field.name not in ("accuracy_difference", "rule_similarity"):  # handed in by others
                yield from undefined(getattr(value, field.name), excused)
    elif isinstance(value, tuple):
        for item in value:
            yield from undefined(item, excused)
    elif isinstance(value, float) and (isinf(value) or (isnan(value) and not excused)):
        yield value


@pytest.mark.parametrize("measure", MEASURES)
@names
@pytest.mark.parametrize("make", [copy_of, apart])
def test_every_figure_that_can_be_defined_is_finite(measure, name, make):
    found = measure(pair_for(make, name))
    assert list(undefined(found)) == []
    plain(found)


@pytest.mark.parametrize("measure", EXACT)
@names
def test_the_order_of_rows_and_columns_does_not_matter(measure, name):
    pair = pair_for(apart, name)
    one, other = dict(pieces(measure(pair))), dict(pieces(measure(reordered(pair))))
    assert one.keys() == other.keys()
    for path, value in one.items():
        if isinstance(value, float):
            assert other[path] == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), path
        else:
            assert other[path] == value, path


@pytest.mark.parametrize("measure", [m for m in EXACT if m is not information_loss])
@names
def test_no_pairs_of_rows_are_needed(measure, name):
    pair = pair_for(apart, name)
    order = np.random.default_rng(3).permutation(len(pair.released))
    bare = pair_of(pair.original, pair.released.take(order), target="class", weight="w")
    one, other = dict(pieces(measure(pair))), dict(pieces(measure(bare)))
    for path, value in one.items():
        if isinstance(value, float):
            assert other[path] == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), path
        else:
            assert other[path] == value, path


@names
def test_a_copy_is_the_best_release_there_is(name):
    pair = pair_for(copy_of, name)

    def best(found):
        for path, value in pieces(found):
            if path.endswith((".largest", "difference")) and not isnan(value):
                yield value

    for measure in (columns, heaps, tails, relations, biases, totals):
        assert list(best(measure(pair))) == pytest.approx([0.0] * len(list(best(measure(pair)))), abs=1e-9)
    pairs = value_pairs(pair)
    assert (pairs.new, pairs.rows_with_new, pairs.lost, pairs.entries) == (0, 0, 0, ())
    loss = information_loss(pair)
    assert [v for v in (loss.il1s, loss.il1s_worst, loss.squares) if not isnan(v)] in ([0, 0, 0], [])
    assert isnan(loss.eigenvalues) or loss.eigenvalues == pytest.approx(0, abs=1e-9)
    assert propensity(pair).value == pytest.approx(0, abs=1e-9)
    assert propensity_of_trees(pair).value == pytest.approx(0, abs=1e-9)
    found = regression(pair)
    assert found.reason or found.overlap == pytest.approx(1)


@pytest.mark.parametrize("name", tables())
def test_columns_apart_keep_their_own_figures_and_lose_the_others(name):
    pair = pair_for(apart, name)
    assert columns(pair).number_distances.largest == 0
    assert columns(pair).category_distances.largest == 0
    assert heaps(pair).gone == heaps(pair).new == 0
    assert tails(pair).highest.largest == pytest.approx(0, abs=1e-12)
    assert relations(pair).every.largest > 0.4
    assert information_loss(pair).il1s > 0.3
    assert regression(pair).overlap < regression(pair_for(copy_of, name)).overlap
    assert totals(pair).means.largest > 0


@pytest.mark.parametrize("measure", MEASURES)
def test_no_table_is_changed(measure):
    pair = pair_for(apart, "with missing values")
    before = [c.values.copy() for t in (pair.original, pair.released) for c in t]
    measure(pair)
    after = [c.values for t in (pair.original, pair.released) for c in t]
    assert all(np.array_equal(a, b, equal_nan=a.dtype == np.float64) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("measure", MEASURES)
def test_a_column_of_weights_is_no_column_to_measure(measure):
    if measure is totals:
        return
    pair = pair_for(apart, "full")
    assert "'w'" not in str(measure(pair))
    other = replace(pair, released=pair.released.replace([number("w", np.arange(400))]))
    assert str(measure(other)) == str(measure(pair))
