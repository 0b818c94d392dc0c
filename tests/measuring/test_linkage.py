"""Linkage against its twin, and at its two ends: a copy is linked, independent columns are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.measuring.figures import wilson
from leafcover.measuring.pair import pair_of
from leafcover.measuring.risk.linkage import linkage
from leafcover.table.table import Table
from tests.tables import mixed, mixed_tables


def twin(original, released, source, columns):
    """Every pair of rows, one column after the other."""
    hits = []
    for i in range(len(original)):
        distances = []
        for j in range(len(released)):
            total = 0.0
            for name in columns:
                a, b = original[name].values[i], released[name].values[j]
                if original[name].is_category:
                    total += a != b
                    continue
                low, high = original[name].domain
                if np.isnan(a) or np.isnan(b):
                    total += float(np.isnan(a) != np.isnan(b))
                else:
                    total += abs(a - b) / ((high - low) if high > low else 1.0)
            distances.append(total)
        nearest = [j for j, d in enumerate(distances) if d <= min(distances) + 1e-9]
        own = list(source).index(i)
        hits.append(1 / len(nearest) if own in nearest else 0.0)
    return np.mean(hits)


@given(mixed_tables(max_rows=15), st.randoms(use_true_random=False))
def test_linkage_is_its_twin(table, random):
    source = np.array(random.sample(range(len(table)), len(table)))
    released = table.take(np.array([random.randrange(len(table)) for _ in range(len(table))]))
    names = ["whole", "cents", "kind", "other"]
    found = linkage(pair_of(table, released, source), columns=names)
    assert found.value == pytest.approx(twin(table, released, source, names))


def test_a_copy_is_linked_and_independent_columns_are_not():
    table = mixed(1, rows=400, missing=0.0)
    source = np.random.default_rng(1).permutation(400)
    assert linkage(pair_of(table, table.take(source), source), columns=table.names).value > 0.99
    rng = np.random.default_rng(2)
    apart = Table(tuple(c.take(rng.permutation(400)) for c in table))
    risk = linkage(pair_of(table, apart, source), columns=table.names)
    assert risk.low <= 1 / 400 <= risk.high
    assert risk.value < 0.03


def test_large_tables_are_attacked_by_a_sample():
    table = mixed(1, rows=2000)
    found = linkage(pair_of(table, table, np.arange(2000)), columns=["age", "pay", "noise"], comparisons=200_000)
    assert found.tries == 100


def test_wilsons_interval_holds_its_share():
    rng = np.random.default_rng(3)
    inside = [w.low <= 0.03 <= w.high for w in (wilson(float(rng.binomial(200, 0.03)), 200) for _ in range(4000))]
    assert 0.93 < np.mean(inside) < 0.98
    assert wilson(0, 0).high == 1.0
