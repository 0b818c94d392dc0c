"""The trees of a pair: its target as the same classes in both tables, and C4.5 grown for them on each."""

from dataclasses import dataclass, replace

import numpy as np

from leafcover.errors import TableError
from leafcover.fast.arrays import MISSING, Codes, Rows
from leafcover.measuring.classes import BINS, classes_for
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import how, some_rows
from leafcover.table.table import Column, Table
from leafcover.tree.assemble import assemble
from leafcover.tree.grow import chosen, grow_from
from leafcover.tree.training import MOST_CLASSES_OF_A_NUMBER, Training, attribute_names, classes_of, training
from leafcover.tree.tree import Attribute, Tree

MOST_GROWN = 1_000_000  # rows that each tree is grown on
MOST_JUDGED = 200_000  # rows that are led down both trees


@dataclass(frozen=True, eq=False)
class TwoTrees:
    """The trees of a pair, and the original rows to judge them by, their target as classes.

    Cuts are original values: this is for the steward alone.
    """

    original: Tree
    released: Tree
    table: Table
    grown_on: int
    of: int

    @property
    def how(self) -> str:
        """In words, what the trees and the figures rest on."""
        grower = chosen("auto", self.grown_on)
        grown, judged = how(self.grown_on, self.of), how(len(self.table), self.of)
        return f"trees by the {grower} grower on {grown}, judged by {judged}"


def two_trees(
    pair: Pair,
    *,
    min_records: int = 2,
    confidence: float = 0.25,
    bins: int | None = None,
    most: int = MOST_GROWN,
    judged: int = MOST_JUDGED,
) -> TwoTrees:
    """C4.5 for the target on both tables, each grown on at most ``most`` rows and judged by at most ``judged``."""
    pair = with_classes(pair, bins=bins)
    rows = len(pair.original)
    grown, seen = some_rows(rows, most), some_rows(rows, judged)
    ours, theirs = (
        tree_for(some(table, grown), pair.target, min_records=min_records, confidence=confidence)
        for table in (pair.original, pair.released)
    )
    return TwoTrees(ours, theirs, some(pair.original, seen), len(grown), rows)


def some(table: Table, rows: Rows) -> Table:
    """Some rows of a table, with the domains that all of them span."""
    if len(rows) == len(table):
        return table
    taken = table.take(rows)
    return taken.replace(replace(c, declared=table[c.name].domain) for c in taken if not c.is_category)


def with_classes(pair: Pair, *, bins: int | None = None) -> Pair:
    """The pair with its target as a category in both tables, and without its weights.

    A number with ten or fewer distinct values in the original has these as classes, and a released value belongs to
    the nearest. Any other number has ``bins`` groups of equal size in the original (four unless told), and the
    release is cut at the same values.
    """
    if not pair.target:
        raise TableError("Trees are compared for a target, and this pair has none. Choose one with --target.")
    kept = [name for name in pair.names if name != pair.weight]
    before, after = pair.original.select(kept), pair.released.select(kept)
    if not before[pair.target].is_category:
        ours, theirs = _classes_of_both(before[pair.target], after[pair.target], bins or BINS)
        before, after = before.replace([ours]), after.replace([theirs])
    return replace(pair, original=before, released=after)


def _classes_of_both(ours: Column, theirs: Column, bins: int) -> tuple[Column, Column]:
    known = ~ours.missing
    few = len(np.unique(ours.values[known])) <= MOST_CLASSES_OF_A_NUMBER
    names, codes = classes_of(ours, bins=None if few else bins)
    classes = classes_for(ours, bins=bins)
    # classes are numbered by value, names by code point; the last place is that of missing values, -1
    lookup: Codes = np.full(len(names) + 1, MISSING, np.int32)
    lookup[classes.of(ours)[known]] = codes[known]
    found = lookup[classes.of(theirs)]
    return Column(ours.name, "category", codes, names), Column(theirs.name, "category", found, names)


def tree_for(
    table: Table,
    target: str,
    *,
    without: tuple[str, ...] = (),
    min_records: int = 2,
    confidence: float = 0.25,
) -> Tree:
    """The tree for a category from all other columns but some; a single leaf where fewer than two classes are known.

    Of attributes with the same gain ratio the first by name is tested, so that the order of columns cannot matter.
    """
    names = tuple(sorted(name for name in attribute_names(table, target) if name not in without))
    column = table[target]
    if names and len(np.unique(column.values[~column.missing])) > 1:
        rows = training(table, target, attributes=names)
        return grow_from(rows, min_records=min_records, confidence=confidence)
    return _leaf(table, target, names)


def _leaf(table: Table, target: str, names: tuple[str, ...]) -> Tree:
    """A tree that answers the most frequent class, whatever it is asked."""
    column = table[target]
    classes = column.levels or ("no known class",)
    counts = np.bincount(column.values[~column.missing], minlength=len(classes))
    attributes = tuple(Attribute(c.name, c.levels, not c.is_category) for c in (table[name] for name in names))
    return assemble(
        Training(target, classes, np.empty(0, np.int32), attributes, (), np.empty(0, np.int64)),
        tested=np.array([-1]),
        cut=np.array([np.nan]),
        first=np.array([-1]),
        branches=np.array([0]),
        counts=counts[None, :],
        label=np.array([counts.argmax()]),
        estimate=np.zeros(1),
    )
