"""What an attacker who knows how a release was made is told by that alone, before he looks at a single released row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Array, Floats, Rows
from leafcover.noise.centroid import Centroid
from leafcover.noise.part import Part
from leafcover.releasing.plan import Plan
from leafcover.releasing.run import partitions_of, share_stuck, whole_part
from leafcover.split.partition import Partition, Split
from leafcover.table.table import Column, Table


@dataclass(frozen=True, eq=False)
class Known:
    """A table that was released, the plan, and the cells it made."""

    table: Table  # the rows that were released, in their original order
    plan: Plan
    partitions: Mapping[Split, Partition]

    @classmethod
    def made_anew(cls, table: Table, plan: Plan) -> "Known":
        """The same from the original and the plan alone."""
        return cls(table, plan, partitions_of(table, plan, lambda words, share: None))


def pinned(known: Known) -> dict[str, float]:
    """Per column the share of its known values that could not change: their law gives them at least 0.95."""
    found = {column.name: share_stuck(column, ~column.missing) for column in known.table}
    for step in known.plan.steps:
        part = whole_part(known.table, step, known.partitions)
        summary = step.noise.settle(step.noise.summarise(part), part.cells)
        stuck = step.noise.pinned(part, summary)
        found |= {column.name: share_stuck(column, stuck[column.name]) for column in part.columns}
    return found


def widths(known: Known) -> dict[str, float]:
    """Per column how wide the range is that a row's value is known to lie in, against the column's, on average.

    0 says that the value is known, 1 that nothing is. For a category it is the share of its levels that are possible.
    """
    found = {column.name: 0.0 for column in known.table}
    for step in known.plan.steps:
        part = whole_part(known.table, step, known.partitions)
        for column in part.columns:
            wide = _choices(part, column, step.noise.uniform) if column.is_category else None
            if wide is None:
                wide = _range(part, column, step.noise.uniform)
            found[column.name] = float(wide.mean()) if len(wide) else 0.0
    return found


def alone(known: Known) -> float:
    """The share of rows that stand alone in a cell of some step."""
    single = np.zeros(len(known.table), bool)
    for step in known.plan.steps:
        cells = known.partitions[step.within].cells
        single |= cells.sizes[cells.label] == 1
    return float(single.mean())


def disclosed(known: Known) -> float:
    """The share of rows whose class the cell of the target gives away, because all its rows have the same."""
    step = next((s for s in known.plan.steps if known.plan.target in s.columns), None)
    if step is None or not known.plan.target:
        return 1.0 if known.plan.target else 0.0
    label = known.partitions[step.within].cells.label
    values = known.table[known.plan.target].values
    low, high = _ends(label, _comparable(values))
    return float((low == high)[label].mean())


def averaged(known: Known) -> Iterator[tuple[tuple[str, ...], Rows, bool]]:
    """Of each step that puts averages in the place of values: its columns, each row's group, whether they are means."""
    for step in known.plan.steps:
        if isinstance(step.noise, Centroid):
            yield step.columns, known.partitions[step.within].cells.label, step.noise.number == "mean"


def _range(part: Part, column: Column, among: bool) -> Floats:
    """The known range of each number; among the rows of a cell when values only change places there."""
    bottom, top = column.domain
    rows = ~column.missing
    if not rows.any() or top <= bottom:
        return np.zeros(0)
    if among:
        label = np.unique(part.cells.label[rows], return_inverse=True)[1].ravel()
        low, high = (end[label] for end in _ends(label, column.values[rows]))
    else:
        low, high = (np.clip(end[rows], bottom, top) for end in part.ranges(column.name))
    return (high / 2 - low / 2) / (top / 2 - bottom / 2)  # halves: 1e308 less -1e308 is too much


def _choices(part: Part, column: Column, among: bool) -> Floats:
    """The share of the levels that occur which each row's own may be, apart from none."""
    occurring = np.unique(column.values[~column.missing])
    rows = ~column.missing
    if len(occurring) < 2:
        return np.zeros(0)
    if among:
        seen = np.zeros((part.cells.count, len(column.levels)), bool)
        seen[part.cells.label[rows], column.values[rows]] = True
        possible = seen[part.cells.label[rows]]
    else:
        allowed = part.allowed(column.name)
        if allowed is None:
            return np.ones(int(rows.sum()))
        possible = allowed[rows]
    return (possible[:, occurring].sum(axis=1) - 1) / (len(occurring) - 1)


def _ends(label: Rows, values: Array) -> tuple[Array, Array]:
    """The least and the greatest value of each label."""
    order = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[order], np.arange(int(label.max()) + 1))
    return np.minimum.reduceat(values[order], starts), np.maximum.reduceat(values[order], starts)


def _comparable(values: Array) -> Array:
    """Missing as a value of its own."""
    return values if values.dtype.kind != "f" else np.nan_to_num(values, nan=np.inf)
