"""Who is attacked when a nearest released row is sought for each: everybody, or a seeded sample of a bearable size."""

from collections.abc import Sequence

import numpy as np

from leafcover.fast.arrays import Rows
from leafcover.measuring.gower import Scaled
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import some_rows
from leafcover.table.table import Column

COMPARISONS = 1_000_000_000  # people times released rows, at most about, in one search
FEWEST = 200  # people, however large the release
# By more numbers than this a search must look at most rows: in a million, with 10 numbers 0.8 ms a person was measured,
# with 16 numbers 8 ms, with 10 numbers and 5 categories 0.1 ms.
MANY_NUMBERS = 10
SLOWER = 5


def bearable(most: int, pair: Pair, columns: Sequence[str]) -> int:
    """How many people can be compared with the release by some columns."""
    numbers = sum(name in pair.numbers for name in columns)
    comparisons = COMPARISONS // (SLOWER if numbers > MANY_NUMBERS else 1)
    return min(most, max(FEWEST, comparisons // max(1, len(pair.released))))


def with_value(column: Column, most: int) -> Rows:
    """People who have a value in the column: all, or a sample of ``most``."""
    known = np.flatnonzero(~column.missing)
    return known[some_rows(len(known), most)]


def of_rows(matrix: Scaled, rows: Rows) -> Scaled:
    """Some rows of a matrix."""
    return Scaled(matrix.numbers[rows], matrix.codes[rows])
