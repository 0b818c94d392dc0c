"""SysFor: a forest whose trees differ by design, not by chance (Islam and Giggins 2011).

Level 0: one tree for each good attribute of the whole table, which is its root whatever C4.5 would choose. Level 1:
for each of these roots, trees that go on with the good attributes of its branches. Below, all is C4.5. So the first
tree holds what the best test finds, the others what it hides.
"""

from collections.abc import Iterator, Sequence
from math import floor
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from leafcover.errors import TableError, ValueOutOfRange
from leafcover.fast.arrays import Array
from leafcover.table.table import Table
from leafcover.tree.good import Good, Part, Search, good_attributes, parts_of, spans_of
from leafcover.tree.grow import MOST_ROWS_EXACT, grow_forced, kernel_inputs
from leafcover.tree.prune import check_confidence, pruned
from leafcover.tree.training import Training, take, training
from leafcover.tree.tree import Tree

if TYPE_CHECKING:
    from leafcover.fast.growing_room import Inputs

Incomplete: TypeAlias = Literal["auto", "drop", "share"]
Tests: TypeAlias = tuple[Good | None, ...]  # of the root, and at level 1 of each of its children; None is a leaf

MOST_TREES = 1000
MOST_RECORDS = 1_000_000_000
ENOUGH_COMPLETE = 0.5  # of the rows; with fewer, "auto" shares the incomplete ones


def grow_forest(
    table: Table,
    *,
    target: str,
    n_trees: int = 60,
    goodness: float = 0.3,
    separation: float = 0.3,
    min_records: int = 10,
    confidence: float = 0.25,
    attributes: Sequence[str] | None = None,
    bins: int | None = None,
    incomplete: Incomplete = "auto",
) -> tuple[Tree, ...]:
    """At most ``n_trees`` trees that predict ``target``, all with the same attributes and classes.

    ``goodness``: how much the gain ratio of a root may fall short of the best one. ``separation``: how far apart, as a
    share of the range, two cuts of one number must be. Fewer trees come out when there are not so many good tests; a
    table without any gives the one tree of C4.5, never none.
    """
    rows = training(table, target, attributes=attributes, bins=bins)
    return grow_forest_from(
        rows,
        n_trees=n_trees,
        goodness=goodness,
        separation=separation,
        min_records=min_records,
        confidence=confidence,
        incomplete=incomplete,
    )


def grow_forest_from(
    training: Training,
    *,
    n_trees: int = 60,
    goodness: float = 0.3,
    separation: float = 0.3,
    min_records: int = 10,
    confidence: float = 0.25,
    incomplete: Incomplete = "auto",
) -> tuple[Tree, ...]:
    """The same from arrays.

    ``incomplete`` says what becomes of rows without some value: "drop" leaves them out, as SysFor does; "share" sends
    them down every branch by weight, as C4.5 does; "auto" drops them while at least half of the rows are complete. A
    column without any value makes no row incomplete. Of more than 200,000 rows those evenly spaced by number are
    taken, so that ``counts`` are of this sample.
    """
    check_settings(n_trees, goodness, separation, min_records, confidence)
    _check_incomplete(incomplete)
    used = sample_of(training, incomplete)
    inputs = kernel_inputs(used, min_records)
    trees: list[Tree] = []
    seen: set[bytes] = set()
    for tests in _forced_tests(used, Search(goodness, separation, min_records), n_trees):
        tree = _grown(used, inputs, tests, confidence)
        if (same := _identity(tree)) not in seen:
            seen.add(same)
            trees.append(tree)
        if len(trees) == n_trees:
            break
    return tuple(trees)


def sample_of(training: Training, incomplete: Incomplete = "auto") -> Training:
    """The rows a forest is grown from: without incomplete ones where these are dropped, and at most 200,000."""
    complete = np.ones(len(training.labels), np.bool_)
    for attribute, column in zip(training.attributes, training.columns, strict=True):
        missing = np.isnan(column) if attribute.is_number else column < 0
        if not missing.all():
            complete &= ~missing
    if incomplete == "drop" and not complete.any():
        raise TableError("Every row lacks some value, so none is left to grow a forest from. Share incomplete rows.")
    share = incomplete == "share" or (incomplete == "auto" and complete.mean() < ENOUGH_COMPLETE)
    rows = np.arange(len(complete)) if share else np.flatnonzero(complete)
    if len(rows) > MOST_ROWS_EXACT:
        rows = rows[np.arange(MOST_ROWS_EXACT) * len(rows) // MOST_ROWS_EXACT]
    return training if len(rows) == len(complete) else take(training, rows)


def _forced_tests(training: Training, search: Search, n_trees: int) -> Iterator[Tests]:
    """The tests that each tree must begin with, tree by tree; at first the roots, then with those of their children.

    No two trees get the same tests. A tree of level 1 in which every branch would go on with its own best test is
    left out, for it is nearly that of level 0 again.
    """
    spans = spans_of(training)
    whole = Part(np.arange(len(training.labels)), np.ones(len(training.labels)))
    roots = good_attributes(training, whole, spans, search)[:n_trees]
    yield from ((root,) for root in roots)
    if not roots:
        yield ()
    for root in roots:
        goods, sizes = [], []
        for part in parts_of(training, whole, root):
            goods.append(good_attributes(training, part, spans, search))
            sizes.append(float(part.weight.sum()))
        mean = sum(len(good) * size for good, size in zip(goods, sizes, strict=True)) / sum(sizes)
        for turn in range(1, floor(mean + 1e-9) + 1):  # the mean of equal numbers may fall short by rounding
            if all(len(good) <= turn for good in goods):
                continue
            yield (root, *(good[turn] if turn < len(good) else good[0] if good else None for good in goods))


def _grown(training: Training, inputs: "Inputs", tests: Tests, confidence: float) -> Tree:
    from leafcover.fast.growing_room import Forced

    tested = np.array([-1 if test is None else test.attribute for test in tests], np.int32)
    cut = np.array([_cut(inputs, test) for test in tests], np.float32)
    tree = grow_forced(training, inputs, Forced(tested, cut))
    return pruned(tree, training, confidence=confidence, kept=tested >= 0)


def _cut(inputs: "Inputs", test: Good | None) -> float:
    """The largest value of all training rows up to the middle, which is where C4.5 cuts."""
    if test is None or np.isnan(test.middle):
        return np.nan
    ascending: Array = inputs.ascending[inputs.slot[test.attribute]]
    known = len(ascending) - np.isnan(ascending).sum()
    return float(ascending[np.searchsorted(ascending[:known].astype(np.float64), test.middle, side="right") - 1])


def _identity(tree: Tree) -> bytes:
    """What two trees share when they are the same node for node."""
    return b"".join(array.tobytes() for array in (tree.tested, tree.cut, tree.first, tree.label))


def check_settings(n_trees: int, goodness: float, separation: float, min_records: int, confidence: float) -> None:
    """Refuse settings that no forest has."""
    for name, number, most in (("n_trees", n_trees, MOST_TREES), ("min_records", min_records, MOST_RECORDS)):
        if not _is(Integral, number) or not 1 <= number <= most:
            raise ValueOutOfRange(name, number, f"a whole number from 1 to {most:,}")
    for name, share, what in (
        ("goodness", goodness, "a difference of gain ratios"),
        ("separation", separation, "a share of a number's range"),
    ):
        if not _is(Real, share) or not 0 <= share <= 1:
            raise ValueOutOfRange(name, share, f"{what} from 0 to 1")
    check_confidence(confidence)


def _is(kind: type, value: object) -> bool:
    """Whether a value is a number of some kind, which a truth value is not."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _check_incomplete(incomplete: str) -> None:
    if incomplete not in ("auto", "drop", "share"):
        raise ValueOutOfRange("incomplete", incomplete, "'auto', 'drop' or 'share'")
