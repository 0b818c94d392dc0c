"""A keyed mark of a table's values: equal for equal tables in any format, useless without the key.

A plain hash would let an attacker who knows all rows but one confirm a guess at the last.
"""

import hashlib
import hmac

import numpy as np

from leafcover.draws import Key
from leafcover.fast.arrays import MISSING, Array
from leafcover.table.table import Column, Table

PART_ROWS = 65_536  # a constant of the format


def fingerprint(table: Table, key: Key) -> str:
    """Sixty-four hexadecimal digits over names, kinds and values, hashed part by part."""
    mark = hmac.new(key.secret, b"leafcover fingerprint 1", hashlib.sha256)
    for column in table:
        head = repr((column.name, column.kind, len(column))).encode()
        mark.update(len(head).to_bytes(8, "big") + head)
        values = _canonical(column, mark)
        for start in range(0, len(values), PART_ROWS):
            mark.update(hashlib.sha256(values[start : start + PART_ROWS].tobytes()).digest())
    return mark.hexdigest()


def _canonical(column: Column, mark: "hmac.HMAC") -> Array:
    """Values as bytes that do not depend on how the table was stored."""
    if not column.is_category:
        # One bit pattern for every nan and for both zeros.
        return np.where(np.isnan(column.values), np.nan, column.values + 0.0).astype("<f8")
    seen = np.zeros(len(column.levels) + 1, np.bool_)  # the last place takes the missing code -1
    seen[column.values] = True
    for level, there in zip(column.levels, seen[:-1], strict=True):
        if there:  # a level that was declared but does not occur is no part of the data
            data = level.encode("utf-8", "surrogatepass")
            mark.update(len(data).to_bytes(8, "big") + data)
    new = np.append(np.cumsum(seen[:-1]) - 1, MISSING)
    return new[column.values].astype("<i4")
