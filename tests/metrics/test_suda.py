"""Minimal sample uniques against all subsets, and the scores of the practice guide's example."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafcover.errors import ValueOutOfRange
from leafcover.metrics.disclosure.individual_risk import intrusion, search, suda
from leafcover.metrics.disclosure.k_anonymity import column_marks
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import awkward, copy_of, reordered, tables
from tests.metrics.surveys import KEYS, respondents
from tests.tables import category, mixed_tables, number, table

NAMES = ("whole", "kind", "other", "class")


def naive(rows, largest):
    """Every set of columns and every row: alone on the set and on no proper subset of it."""
    columns = len(rows[0])

    def alone(i, chosen):
        key = [rows[i][c] for c in chosen]
        return sum([row[c] for c in chosen] == key for row in rows) == 1

    scores, sets = [0.0] * len(rows), [0] * largest
    for i in range(len(rows)):
        for size in range(1, largest + 1):
            for chosen in combinations(range(columns), size):
                if alone(i, chosen) and not any(alone(i, c) for n in range(1, size) for c in combinations(chosen, n)):
                    sets[size - 1] += 1
                    scores[i] += prod(columns - k for k in range(size, largest + 1) if k < columns)
    return scores, sets


def marks(original, names):
    return np.array(list(column_marks(original, names)), np.uint64)


@settings(max_examples=40)
@given(mixed_tables(max_rows=12), st.integers(1, 4))
def test_the_search_is_its_twin(original, largest):
    rows = [tuple(str(original[n].values[i]) for n in NAMES) for i in range(len(original))]
    found = search(marks(original, NAMES), largest)
    scores, sets = naive(rows, largest)
    assert list(found.score) == scores
    assert list(found.sets) == sets


def test_the_scores_of_the_practice_guide():
    # four columns, sets of at most three: a single column counts 3*2*1 = 6, two columns 2*1 = 2, three 1. Row 5 is
    # alone as Rural (6) and with three pairs (2 each): 12. Row 8 is alone as Post-secondary (6) and with two pairs: 10.
    found = search(marks(respondents().original, KEYS), 3)
    assert list(found.score) == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    figures = suda(respondents(), columns=KEYS, most_columns=3)
    assert figures.special.value == pytest.approx(0.4)
    assert figures.mean == pytest.approx(3.4)
    assert figures.worst == 12.0
    # one column: primary incomplete, Rural, primary complete, post-secondary. Two: three of row 5 and two of row 8
    assert figures.sets == (4, 5, 0)
    # education holds the three single columns (18) and the two pairs of row 5 with "secondary complete" (4): 22 of 34
    assert figures.contributions[0].column == "education"
    assert figures.contributions[0].share == pytest.approx(22 / 34)


def test_intrusion_by_hand():
    # U = 4 alone, P = 6 in pairs; with a sample of 1 %: 4*0.01 / (4*0.01 + 6*0.99) = 0.04 / 5.98
    assert intrusion(respondents()) == pytest.approx(0.04 / 5.98)
    assert intrusion(respondents(), fraction=1.0) == 1.0
    # the weights sum to 1570, so ten rows are 1/157 of the population: 4 / (4 + 6 * 156)
    assert intrusion(respondents(weight="weight"), columns=KEYS) == pytest.approx(4 / (4 + 6 * 156))
    constant = table(category("c", "aaaa"))
    assert intrusion(pair_of(constant, constant, None)) == 0.0
    with pytest.raises(ValueOutOfRange, match="fraction"):
        intrusion(respondents(), fraction=0.0)


def test_of_many_keys_the_coarsest_are_searched_and_named_ones_in_smaller_sets():
    rng = np.random.default_rng(1)
    original = table(*(number(f"n{c:02}", rng.integers(0, 2 + c, 60)) for c in range(14)))
    found = suda(pair_of(original, original, None))
    assert found.columns == tuple(f"n{c:02}" for c in range(10))
    assert found.largest == 6
    named = suda(pair_of(original, original, None), columns=original.names)
    assert named.columns == original.names
    assert named.largest == 3  # 14 + 91 + 364 sets; with four columns they would be 1,470


def test_a_sample_says_that_it_overstates():
    original = tables()["full"]
    whole = suda(copy_of(original, target="class"))
    part = suda(copy_of(original, target="class"), most=100)
    assert (whole.how, part.how) == (
        "every row",
        "a sample of 100 of 400 rows; a sample has more unique rows than the table",
    )
    assert part.special.tries == 100
    coarse = ["job", "town", "class"]
    assert (
        suda(copy_of(original), columns=coarse, most=40).special.value
        > suda(copy_of(original), columns=coarse).special.value
    )


@pytest.mark.parametrize("name", awkward())
def test_awkward_tables_give_finite_scores(name):
    pair = copy_of(awkward()[name], target="class")
    found = suda(pair)
    assert np.isfinite([found.mean, found.high, found.worst, found.special.value, intrusion(pair)]).all()
    assert found.mean <= found.worst
    assert np.isfinite([c.share for c in found.contributions]).all()


def test_order_does_not_matter():
    pair = copy_of(tables()["with missing values"], target="class")
    first, again = suda(pair), suda(reordered(pair))
    assert first.contributions == again.contributions
    assert (first.mean, first.high, first.worst, first.sets) == (again.mean, again.high, again.worst, again.sets)


def test_every_row_alone_is_the_worst_and_equal_rows_the_best():
    unique = suda(copy_of(awkward()["every row unique"], target="class"))
    assert unique.special.value == 1.0
    constant = table(category("a", "xxxx"), category("b", "yyyy"))
    none = suda(pair_of(constant, constant, None))
    assert (none.special.value, none.mean, none.worst) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueOutOfRange, match="most_columns"):
        suda(copy_of(constant), most_columns=0)
