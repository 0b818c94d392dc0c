"""Values that too few rows have to be named to others."""

import numpy as np

from leafcover.releasing.reporting.voice import FEWEST, RARE
from leafcover.table.table import Table


def rare_levels(table: Table) -> dict[str, set[str]]:
    """The levels of each category that too few rows have to be named."""
    found = {}
    for column in table:
        if column.is_category:
            counts = np.bincount(column.values[~column.missing], minlength=len(column.levels)).tolist()
            few = max(FEWEST, RARE * len(table))
            found[column.name] = {level for level, n in zip(column.levels, counts, strict=True) if n < few}
    return found
