"""Set rows aside before anything is learned from the table."""

import numpy as np

from leafcover.draws import Draws, Key
from leafcover.errors import TableError
from leafcover.table.table import Table


def hold_out(table: Table, share: float | None, key: Key) -> tuple[Table, Table | None]:
    """The table without a random share of its rows, and those rows; nothing is set aside without a share."""
    if share is None:
        return table, None
    rows = np.arange(len(table), dtype=np.int64)
    order = np.argsort(Draws(key.secret).sub("leafcover hold out").words(rows), kind="stable")
    count = round(share * len(table))
    if count < 1 or len(table) - count < 2:
        raise TableError(f"Holding out {share} of {len(table)} rows leaves too few on one side. Choose another share.")
    return table.take(np.sort(order[count:])), table.take(np.sort(order[:count]))
