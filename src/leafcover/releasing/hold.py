"""Set rows aside before anything is learned from the table."""

import numpy as np

from leafcover.draws import Draws, Key
from leafcover.errors import TableError
from leafcover.fast.arrays import Rows
from leafcover.table.table import Table


def hold_out(table: Table, share: float | None, key: Key) -> tuple[Rows, Rows]:
    """The rows to release and those set aside at random, both in table order; none is set aside without a share."""
    rows = np.arange(len(table), dtype=np.int64)
    if share is None:
        return rows, rows[:0]
    order = np.argsort(Draws(key.secret).sub("leafcover hold out").words(rows), kind="stable")
    count = round(share * len(table))
    if count < 1 or len(table) - count < 2:
        raise TableError(f"Holding out {share} of {len(table)} rows leaves too few on one side. Choose another share.")
    return np.sort(order[count:]), np.sort(order[:count])
