"""What averages of small groups give away: groups of one value, groups one row makes up, and the last of a group.

For releases that put a group's average in the place of its values (microaggregation, perturbation trees). Which rows
stand in a group is known to the plan alone; whoever has it hands the groups in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Bools, Rows
from leafcover.measuring.pair import Pair
from leafcover.table.table import Column

MOST_OF = 0.5  # of the sum of a group's values, whatever their sign: one row makes most of the average


@dataclass(frozen=True)
class Averaged:
    """One column. Shares are of rows that have a value there."""

    column: str
    alike: float  # rows whose group holds one value only: the average is everybody's own value
    dominated: float  # rows of groups in which one row makes most of the sum; 0 for a category
    smallest: int  # the fewest values that a released average rests on


@dataclass(frozen=True)
class Averages:
    """The groups of one step."""

    columns: tuple[Averaged, ...]
    groups: int
    smallest: int  # rows of the smallest group: one less, together, learn the last one's values
    median: int
    at_smallest: float  # rows that stand in a group of that size
    parted: float  # rows that values missing beside the averages leave among fewer rows than the smallest group has
    means: bool  # whether averages are means: of a median the others learn less
    rows: int


def most_alike(steps: Sequence[Averages]) -> Averaged:
    """The column with most rows in groups of one value."""
    return max((one for step in steps for one in step.columns), key=lambda one: one.alike)


def most_dominated(steps: Sequence[Averages]) -> Averaged:
    """The column with most rows in groups that one row makes up."""
    return max((one for step in steps for one in step.columns), key=lambda one: one.dominated)


def averages(pair: Pair, names: tuple[str, ...], label: Rows, *, means: bool = True) -> Averages:
    """What the averages of some columns give away; ``label`` is the group of each original row. Exact."""
    sizes = np.bincount(label)
    own = sizes[label]
    smallest = int(own.min()) if len(own) else 0
    return Averages(
        tuple(_averaged(pair.original[name], label) for name in names),
        int((sizes > 0).sum()),
        smallest,
        int(np.median(sizes[sizes > 0])) if len(own) else 0,
        float((own == smallest).mean()) if len(own) else 0.0,
        _parted(pair, names, label, smallest),
        means,
        len(label),
    )


def _parted(pair: Pair, names: tuple[str, ...], label: Rows, smallest: int) -> float:
    """Missing stays missing, so rows of one group that miss other columns can be told apart."""
    alike = label
    for name in names:
        missing = pair.original[name].missing
        if missing.any():
            alike = np.unique(2 * alike + missing, return_inverse=True)[1].ravel()
    return float((np.bincount(alike)[alike] < smallest).mean()) if len(label) else 0.0


def _averaged(column: Column, label: Rows) -> Averaged:
    known = ~column.missing
    if not known.any():
        return Averaged(column.name, 0.0, 0.0, 0)
    group = np.unique(label[known], return_inverse=True)[1].ravel()
    values = column.values[known]
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(group[order]) > 0])
    ordered = values[order]
    alike = np.minimum.reduceat(ordered, starts) == np.maximum.reduceat(ordered, starts)
    dominated: Bools = np.zeros(len(starts), bool)
    if not column.is_category:
        weight = np.abs(ordered / max(float(np.abs(ordered).max()), 1e-300))  # by the largest: sums stay finite
        largest, total = np.maximum.reduceat(weight, starts), np.add.reduceat(weight, starts)
        dominated = ~alike & (largest > MOST_OF * total)
    sizes = np.diff(np.r_[starts, len(ordered)])
    return Averaged(column.name, float(alike[group].mean()), float(dominated[group].mean()), int(sizes.min()))
