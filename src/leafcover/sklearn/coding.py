"""Every column as a category: reports by their text, open numbers by bins of about equally many rows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from leafcover.errors import ValueOutOfRange
from leafcover.fast.arrays import MISSING, Array, Floats
from leafcover.response.scheme import Scheme
from leafcover.table.table import Column, Table
from leafcover.tree.show import short

MOST_BINS = 1000


@dataclass(frozen=True, eq=False)
class Coding:
    """The upper edges of the bins of each open number; columns that a scheme disguises keep their values as levels."""

    edges: Mapping[str, Floats]
    reports: Collection[str]

    def table(self, table: Table) -> Table:
        """The table with categories alone."""
        return Table(tuple(self._column(column) for column in table))

    def _column(self, column: Column) -> Column:
        if column.is_category:
            return Column(column.name, "category", column.values, column.levels)
        if column.name in self.reports:
            return as_levels(column)
        edges = self.edges[column.name]
        codes = np.searchsorted(edges, column.values).astype(np.int32)
        return Column(column.name, "category", np.where(column.missing, MISSING, codes).astype(np.int32), _names(edges))


def coding(table: Table, scheme: Scheme, bins: int) -> Coding:
    """How the columns of a table become categories."""
    if not 2 <= bins <= MOST_BINS:
        raise ValueOutOfRange("bins", bins, f"a whole number from 2 to {MOST_BINS}")
    reports = {name for part in scheme.parts for name in part.names}
    edges = {
        column.name: _edges(column.values[~column.missing], bins)
        for column in table
        if not column.is_category and column.name not in reports
    }
    return Coding(edges, reports)


def as_levels(column: Column) -> Column:
    """A number as a category of its values: 1, not 1.0."""
    known = ~column.missing
    distinct, place = np.unique(column.values[known], return_inverse=True)
    texts = [short(value) for value in distinct.tolist()]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), np.int32)
    rank[order] = np.arange(len(texts), dtype=np.int32)
    codes = np.full(len(column), MISSING, np.int32)
    codes[known] = rank[place]
    return Column(column.name, "category", codes, tuple(texts[number] for number in order))


def _edges(values: Array, bins: int) -> Floats:
    """The largest value of each bin but the last."""
    if not len(values):
        return np.zeros(0)
    wanted = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    return np.unique(wanted[wanted < values.max()])


def _names(edges: Floats) -> tuple[str, ...]:
    texts = [short(edge) for edge in edges.tolist()]
    if not texts:
        return ("any",)
    between = (f"above {low} to {high}" for low, high in pairwise(texts))
    return (f"to {texts[0]}", *between, f"above {texts[-1]}")
