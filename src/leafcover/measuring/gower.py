"""Rows as matrices for Gower's distance: numbers by their original range, categories by code."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from leafcover.fast.arrays import Array, Codes, Floats
from leafcover.table.table import Column, Table


class Scaled(NamedTuple):
    """Numbers between 0 and 1 (nan where missing; beyond when a value lies outside the original range), and codes."""

    numbers: Floats  # (rows, numbers)
    codes: Codes  # (rows, categories) -1 where missing


def scaled(tables: Sequence[Table], columns: Sequence[str]) -> list[Scaled]:
    """Each table's columns as matrices; the first table is the original, whose ranges hold for all."""
    original = tables[0]
    numbers = [name for name in columns if not original[name].is_category]
    codes = [name for name in columns if original[name].is_category]
    limits = {name: original[name].domain for name in numbers}
    found = []
    for table in tables:
        wide = [_share(table[name], *limits[name]) for name in numbers]
        coded = [table[name].values for name in codes]
        found.append(Scaled(_matrix(wide, len(table), np.float64), _matrix(coded, len(table), np.int32)))
    return found


def _share(column: Column, low: float, high: float) -> Floats:
    width = high / 2 - low / 2 if high > low else 0.5  # halves, since 1e308 less -1e308 is too much
    share: Floats = (column.values / 2 - low / 2) / width
    return share


def _matrix(columns: list[Array], rows: int, kind: type) -> Array:
    return np.ascontiguousarray(np.column_stack(columns), kind) if columns else np.empty((rows, 0), kind)
