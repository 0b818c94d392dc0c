"""What did not move: values that stand in the release as they stood in the original, column by column.

How much of a column could not change at all, how narrow its known interval is and how small or pure its cells are is
known only to the plan that made the release; whoever has it hands those figures in.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Bools
from leafcover.measuring.figures import Risk, risk_of, wilson
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import SEED
from leafcover.table.table import Column


@dataclass(frozen=True)
class Stayed:
    """What stayed of one column."""

    column: str
    unchanged: Risk  # known values that were released as they are
    chance: float  # the share that would be equal had the column been dealt out at random
    missing: Risk | None  # missing values that are still missing; None when the original has none
    pinned: float | None  # the share of known values that could not change; None when nobody said
    width: float | None  # of the interval in which a value is known to lie, as a share of the domain; None likewise


@dataclass(frozen=True)
class Unmoved:
    """What stayed of the table."""

    columns: tuple[Stayed, ...]
    values: Risk  # the share of a row's values that stayed, missing ones too: the mean over rows, and the worst rows
    whole: Risk  # rows of which every value stayed
    single_cells: float | None  # the share of rows that stand alone in a cell; None when nobody said
    pure_cells: float | None  # the share of rows whose class is told by their cell
    rows: int


def unmoved(
    pair: Pair,
    *,
    pinned: Mapping[str, float] | None = None,
    widths: Mapping[str, float] | None = None,
    single_cells: float | None = None,
    pure_cells: float | None = None,
) -> Unmoved | None:
    """Compare each person's two rows, all of them; None when it is not known which rows belong together."""
    if not pair.paired:
        return None
    rows = len(pair.original)
    stayed, kept = [], np.zeros(rows)
    for before in pair.original:
        after = pair.released[before.name]
        same = same_values(before, after)
        kept += same
        known = ~before.missing
        dealt = np.random.default_rng(SEED).permutation(rows)
        other = same_values(before, after.take(dealt))
        stayed.append(
            Stayed(
                before.name,
                risk_of(same[known].astype(np.float64)),
                float(other[known].mean()) if known.any() else 0.0,
                None if known.all() else wilson(float(same[~known].sum()), int((~known).sum())),
                (pinned or {}).get(before.name),
                (widths or {}).get(before.name),
            )
        )
    shares = kept / max(len(stayed), 1)
    whole = risk_of((kept == len(stayed)).astype(np.float64))
    return Unmoved(tuple(stayed), risk_of(shares), whole, single_cells, pure_cells, rows)


def same_values(before: Column, after: Column) -> Bools:
    """Rows with the same value in both, a missing one equal to a missing one."""
    same: Bools = (before.values == after.values) | (before.missing & after.missing)
    return same
