"""What two forests, grown by SysFor on a table and on its release, have in common: rules, leaves, room for values.

One tree shows one set of rules; a forest shows far more of what a miner may look for.
"""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Rows
from leafcover.measuring.models import rows_of_forest, work_of_forest
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import SEED, how, some_rows
from leafcover.measuring.utility.forest_growing import Growth, forest_for, walked
from leafcover.measuring.utility.forest_leaves import LeafCounts, leaf_counts
from leafcover.measuring.utility.forest_rules import ForestRules, forest_rules
from leafcover.measuring.utility.gains import Gains, edusc
from leafcover.measuring.utility.growing import some, with_classes
from leafcover.measuring.utility.rooms import Overlap, eduds
from leafcover.measuring.utility.rules import allowance

MOST_ROWS = 50_000  # that grow the forests and are led down them
MOST_RESAMPLED = 2_000_000  # work of the forests that floors rest on, all together
MOST_RESAMPLES = 8


@dataclass(frozen=True)
class ForestComparison:
    """What two forests and the attributes alone say of the target, before and after."""

    rules: ForestRules
    leaves: LeafCounts
    eduds: Overlap
    edusc: Gains
    trees: tuple[int, int]  # in the forest of the original and of the release
    resamples: int  # that floors are a mean of
    rows: int
    of: int
    how: str


def forests(
    pair: Pair, growth: Growth | None = None, *, bins: int | None = None, most: int = MOST_ROWS
) -> ForestComparison:
    """Compare SysFor's forests for the target of a pair, grown on at most so many rows of each table.

    They are fewer where a row costs much: of very many columns, classes or missing values.
    """
    pair = with_classes(pair, bins=bins)
    attributes = [column for column in pair.original if column.name != pair.target]
    work = work_of_forest(attributes, len(np.unique(pair.original[pair.target].values)))
    rows = some_rows(len(pair.original), min(most, rows_of_forest(work)))
    before, after = some(pair.original, rows), some(pair.released, rows)
    target, drawn = before[pair.target], resamples(len(rows), work)
    shuffled = target.take(np.random.default_rng(SEED).permutation(len(rows)))
    ours, theirs, by_chance, *resampled = (
        forest_for(table, pair.target, growth)
        for table in (before, after, before.replace([shuffled]), *(before.take(chosen) for chosen in drawn))
    )
    original = walked(ours, before)
    labels = target.values, after[pair.target].values
    return ForestComparison(
        rules=forest_rules(original, theirs, resampled, by_chance, allowance(before)),
        leaves=leaf_counts(original, walked(ours, after), labels, drawn, shuffled.values),
        eduds=eduds(original, walked(theirs, before), walked(by_chance, before), before),
        edusc=edusc(before, after, pair.target),
        trees=(len(ours), len(theirs)),
        resamples=len(drawn),
        rows=len(rows),
        of=len(pair.original),
        how=how(len(rows), len(pair.original)),
    )


def resamples(rows: int, work: int) -> list[Rows]:
    """Row numbers drawn with replacement; the fewer rows, the more often, for luck weighs more there.

    ``work`` is what each row costs.
    """
    runs = max(1, min(MOST_RESAMPLES, MOST_RESAMPLED // (rows * work)))
    return [np.random.default_rng([SEED, run]).integers(0, rows, rows) for run in range(runs)]
