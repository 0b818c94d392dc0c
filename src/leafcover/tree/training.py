"""Training data of a tree: attributes as arrays, and the target as class codes in code point order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leafcover.arrays import MISSING, Array, Codes, Rows
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.table.formatting import text_of
from leafcover.table.table import Column, Table
from leafcover.tree.tree import Attribute

MAX_NUMERIC_CLASSES = 10  # a numeric target with more distinct values needs bins
NON_ATTRIBUTE_ROLES = ("unit", "weight")  # roles that describe the sampling, not the individual


@dataclass(frozen=True, eq=False)
class Training:
    """The rows with a known target; ``rows`` are their numbers in the table."""

    target: str
    classes: tuple[str, ...]
    labels: Codes  # (rows,) class of each training row, never missing
    attributes: tuple[Attribute, ...]
    columns: tuple[Array, ...]  # per attribute: float64 with nan, or int32 codes with -1
    rows: Rows  # (rows,) row numbers in the table


def training(
    table: Table, target: str, *, attributes: Sequence[str] | None = None, bins: int | None = None
) -> Training:
    """Training data of a tree that predicts ``target`` from ``attributes`` (default: all other columns)."""
    classes, codes = classes_of(table[target], bins=bins)
    rows = np.flatnonzero(codes != MISSING)
    if len(classes) < 2:
        found = f"only {classes[0]!r}" if classes else "no known values"
        raise TableError(f"Target {target!r} has {found}, so a tree cannot predict it. Choose another --target.")
    chosen = attribute_names(table, target) if attributes is None else tuple(attributes)
    for name in chosen:
        if name not in table.names:
            raise NameUnknown("column", name, table.names)
    columns = [table[name] for name in chosen if name != target]
    every = len(rows) == len(table)
    return Training(
        target=target,
        classes=classes,
        labels=codes if every else codes[rows],
        attributes=tuple(Attribute(c.name, c.levels, not c.is_category) for c in columns),
        columns=tuple(c.values if every else c.values[rows] for c in columns),
        rows=rows,
    )


def take_rows(training: Training, rows: Rows) -> Training:
    """Some of the training rows."""
    return replace(
        training,
        labels=training.labels[rows],
        columns=tuple(column[rows] for column in training.columns),
        rows=training.rows[rows],
    )


def attribute_names(table: Table, target: str) -> tuple[str, ...]:
    """The columns that a tree for ``target`` may test: all others except unit identifiers and weights."""
    return tuple(name for name in table.names if name != target and table.roles.get(name) not in NON_ATTRIBUTE_ROLES)


def classes_of(column: Column, *, bins: int | None = None) -> tuple[tuple[str, ...], Codes]:
    """The classes of a target in code point order, and the class code of each row (-1 where missing).

    The values of a number are classes if there are at most ten distinct ones; otherwise ``bins`` is required.
    """
    if column.is_category:
        if bins is not None:
            raise TableError(f"Target {column.name!r} is a category, and only numbers can be binned. Omit --bins.")
        return _observed_levels(column)
    missing = column.missing
    distinct, place = np.unique(column.values[~missing], return_inverse=True)
    if bins is not None:
        names, place = _equal_frequency(column, distinct, place, bins)
    elif len(distinct) > MAX_NUMERIC_CLASSES:
        raise TableError(
            f"Numeric target {column.name!r} has {len(distinct)} distinct values, too many for classes. "
            f"Add --bins N to predict N groups of about equal size."
        )
    else:
        names = text_of(column, distinct)
    order = sorted(range(len(names)), key=lambda i: names[i])
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    codes = np.full(len(column), MISSING, np.int32)
    codes[~missing] = rank[place]
    return tuple(names[i] for i in order), codes


def _observed_levels(column: Column) -> tuple[tuple[str, ...], Codes]:
    """The levels that occur, and their codes: an unused level is not a class."""
    known = column.values != MISSING
    seen = np.zeros(len(column.levels), np.bool_)
    seen[column.values[known]] = True
    if seen.all():
        return column.levels, column.values.astype(np.int32)
    new = np.cumsum(seen, dtype=np.int32) - 1
    codes = np.full(len(column), MISSING, np.int32)
    codes[known] = new[column.values[known]]
    return tuple(name for name, there in zip(column.levels, seen, strict=True) if there), codes


def _equal_frequency(column: Column, distinct: Array, place: Array, bins: int) -> tuple[list[str], Array]:
    """Groups of about equal size, separated between distinct values and named by their bounds."""
    if not 2 <= bins <= 1000:
        raise ValueOutOfRange("bins", bins, "an integer from 2 to 1000")
    below = np.cumsum(np.bincount(place, minlength=len(distinct)))
    wanted = below[-1] * np.arange(1, bins) / bins
    ends = np.unique(np.searchsorted(below, wanted - 1e-9))  # the last distinct value of each bin but one
    ends = ends[ends < len(distinct) - 1]
    bounds = text_of(column, distinct[ends])
    digits = len(str(len(ends) + 1))  # zero-padded, so that code point order is the order of the bins
    lows, highs = ["", *bounds], [*bounds, ""]
    names = [
        f"{i + 1:0{digits}d}: " + (f"<= {high}" if high else f"> {low}")
        for i, (low, high) in enumerate(zip(lows, highs, strict=True))
    ]
    return names, np.searchsorted(ends, place)
