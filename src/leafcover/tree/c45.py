"""Grow and prune the decision tree of C4.5 Release 8; large tables use the faster histogram grower.

Quinlan (1993, 1996): the best gain ratio among tests with at least average gain, a penalty of log2(tries)/N for cuts,
fractional rows for missing values, one branch per level of a category, and pessimistic pruning with subtree raising.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Singles
from leafcover.errors import TableError, ValueOutOfRange
from leafcover.registry import checks_arguments
from leafcover.table.table import IntoTable, target_of
from leafcover.tree.tree import Attribute, Training, Tree, breadth_first, training

if TYPE_CHECKING:
    from leafcover.kernels.c45_grow import Forced, Inputs


_NONE_KEPT: Bools = np.zeros(0, np.bool_)


def prune_tree(tree: Tree, training: Training, *, confidence: float = 0.25, kept: Bools = _NONE_KEPT) -> Tree:
    """Prune a tree: replace a subtree by a leaf or by its largest branch if that has no more estimated errors.

    ``training`` must be the data that the tree was grown from. ``kept`` marks which of the first nodes, counted from
    the root, keep their tests in any case. ``estimate`` of the result is the pessimistic number of errors.
    """
    from leafcover.kernels import c45_prune as pruning
    from leafcover.kernels.c45_prune import squared_deviation

    check_confidence(confidence)
    used = np.unique(tree.tested[tree.tested >= 0])
    place = np.zeros(len(tree.attributes) + 1, np.int32)
    place[used] = np.arange(len(used))
    tested = np.where(tree.tested >= 0, place[tree.tested], -1)
    figures = np.zeros((tree.size, pruning.COUNTS + len(tree.classes)), np.float32)
    figures[:, pruning.ITEMS] = tree.counts.sum(axis=1)
    figures[:, pruning.COUNTS :] = tree.counts
    state = pruning.PruneState(
        links=np.column_stack([tested, tree.first, tree.branches, tree.label]).astype(np.int32),
        figures=figures,
        cut=tree.cut.copy(),
        is_number=np.array([tree.attributes[a].is_number for a in used], np.bool_),
        values=stack_columns(tree.attributes, training.columns, used),
        labels=np.ascontiguousarray(training.labels, np.int32),
        kept=kept,
        bound=np.array([confidence, squared_deviation(confidence)], np.float32).astype(np.float64),
    )
    pruning.prune_nodes(state)
    left = state.links[:, pruning.TESTED]
    return assemble(
        training,
        tested=np.where(left >= 0, used[left] if len(used) else -1, -1),
        cut=state.cut,
        first=state.links[:, pruning.FIRST],
        branches=state.links[:, pruning.BRANCHES],
        counts=figures[:, pruning.COUNTS :],
        label=state.links[:, pruning.LABEL],
        estimate=figures[:, pruning.ESTIMATE],
    )


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level outside (0, 1]."""
    if not 0 < confidence <= 1:
        raise ValueOutOfRange("confidence", confidence, "above 0 and at most 1")


def stack_columns(attributes: tuple[Attribute, ...], columns: tuple[Array, ...], used: Array) -> Floats:
    """The used columns as rows of a float64 matrix: numbers as they are, categories as codes, nan for missing."""
    rows = len(columns[0]) if columns else 0
    values = np.empty((len(used), rows), np.float64)
    for place, a in enumerate(used):
        values[place] = columns[a] if attributes[a].is_number else np.where(columns[a] < 0, np.nan, columns[a])
    return values


Grower: TypeAlias = Literal["auto", "exact", "histogram"]

MAX_ROWS_EXACT = 200_000  # "auto" uses the histogram grower for larger tables
MANY_LEVELS_SHARE = 0.3  # a category with more levels than this share of the rows is left out of the average gain


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """A tree before and after pruning."""

    unpruned: Tree
    pruned: Tree


@checks_arguments("target")
def grow(
    table: IntoTable,
    *,
    target: str | None = None,
    attributes: Sequence[str] | None = None,
    min_records: int = 2,
    confidence: float = 0.25,
    prune: bool = True,
    grower: Grower = "auto",
    bins: int | None = None,
) -> Tree:
    """Grow a C4.5 decision tree.

    Parameters
    ----------
    table : Table or frame
        The training data: what `leafcover.read` gives, or a pandas, polars or pyarrow frame.
    target : str, optional
        The column to predict. Rows with a missing target are ignored. Default: the column with the role "target".
    attributes : sequence of str, optional
        The columns to predict from. Default: all other columns, except those with the role "unit" or "weight".
    min_records : int, default 2
        At least two branches of every test must have this many rows.
    confidence : float, default 0.25
        Confidence level of the pessimistic error estimate used for pruning. Smaller values prune more.
    prune : bool, default True
        Whether to prune the tree.
    grower : {"auto", "exact", "histogram"}, default "auto"
        "exact" reproduces C4.5. "histogram" bins numbers and is faster. "auto" uses histograms above 200,000 rows.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.

    Returns
    -------
    leafcover.tree.tree.Tree

    Examples
    --------
    >>> import leafcover as lc
    >>> from leafcover.tree.export import text
    >>> tree = lc.grow(lc.read(lc.sample("wine")), target="class", min_records=20)
    >>> tree.size, len(tree.leaves)
    (7, 4)
    """
    from leafcover.table.frames import from_frame

    data = from_frame(table)
    chosen = target_of(data, target)
    if chosen is None:
        raise TableError("A tree needs a column to predict. Give target, or read the column with the role target.")
    rows = training(data, chosen, attributes=attributes, bins=bins)
    return grow_from(rows, min_records=min_records, confidence=confidence, prune=prune, grower=grower)


def grow_from(
    training: Training,
    *,
    min_records: int = 2,
    confidence: float = 0.25,
    prune: bool = True,
    grower: Grower = "auto",
) -> Tree:
    """Grow a C4.5 decision tree from training arrays; see `grow`."""
    _check(min_records, confidence, grower)
    if resolve_grower(grower, len(training.labels)) == "histogram":
        from leafcover.tree.histogram import grow_histogram

        return grow_histogram(training, min_records=min_records, confidence=confidence, prune=prune)
    tree = _grow_exact(training, min_records)
    return prune_tree(tree, training, confidence=confidence) if prune else tree


def grow_with_unpruned(
    training: Training, *, min_records: int = 2, confidence: float = 0.25, grower: Grower = "auto"
) -> GrownTrees:
    """The tree before and after pruning. The exact grower grows it once, the histogram grower twice."""
    _check(min_records, confidence, grower)
    if resolve_grower(grower, len(training.labels)) == "histogram":
        from leafcover.tree.histogram import grow_histogram

        before, after = (
            grow_histogram(training, min_records=min_records, confidence=confidence, prune=prune)
            for prune in (False, True)
        )
        return GrownTrees(before, after)
    tree = _grow_exact(training, min_records)
    return GrownTrees(tree, prune_tree(tree, training, confidence=confidence))


def resolve_grower(grower: Grower, rows: int) -> Literal["exact", "histogram"]:
    """The grower to use for a number of rows, with "auto" resolved."""
    if grower == "auto":
        return "exact" if rows <= MAX_ROWS_EXACT else "histogram"
    return grower


def _check(min_records: int, confidence: float, grower: str) -> None:
    if min_records < 1:
        raise ValueOutOfRange("min_records", min_records, "an integer of at least 1")
    check_confidence(confidence)
    if grower not in ("auto", "exact", "histogram"):
        raise ValueOutOfRange("grower", grower, "'auto', 'exact' or 'histogram'")


def _grow_exact(training: Training, min_records: int) -> Tree:
    from leafcover.kernels.c45_grow import Forced

    nothing = Forced(np.zeros(0, np.int32), np.zeros(0, np.float32))
    return grow_forced(training, kernel_inputs(training, min_records), nothing)


def grow_forced(training: Training, inputs: "Inputs", forced: "Forced") -> Tree:
    """The unpruned tree with the given tests at the root and its children; ``inputs`` can be reused for many trees."""
    from leafcover.kernels import c45_grow as growing

    whole, figures = growing.grow_nodes(inputs, forced)
    growing.collapse(whole, figures, forced, np.empty(len(whole), np.float32))
    tested = whole[:, growing.TESTED]
    return assemble(
        training,
        tested=tested,
        cut=_original_cuts(training, inputs, tested, figures[:, growing.CUT]),
        first=whole[:, growing.FIRST],
        branches=whole[:, growing.BRANCHES],
        counts=figures[:, growing.COUNTS :],
        label=whole[:, growing.LABEL],
    )


def kernel_inputs(training: Training, min_records: int) -> "Inputs":
    """The training rows in the form that the kernels need: packed, and sorted by each number."""
    from leafcover.kernels.c45_grow import Inputs
    from leafcover.kernels.c45_rows import packing_of
    from leafcover.kernels.sorting import stable_order

    rows = len(training.labels)
    is_number = [attribute.is_number for attribute in training.attributes]
    numbers = [to_float32(c) for c, number in zip(training.columns, is_number, strict=True) if number]
    codes = [c for c, number in zip(training.columns, is_number, strict=True) if not number]
    levels = np.array([0 if a.is_number else len(a.levels) for a in training.attributes], np.int32)
    slot = np.where(is_number, np.cumsum(is_number), np.cumsum(~np.array(is_number, np.bool_))) - 1
    few = levels < MANY_LEVELS_SHARE * rows
    narrow = np.int16 if levels.max(initial=0) <= np.iinfo(np.int16).max else np.int32
    orders = [stable_order(column) for column in numbers]
    return Inputs(
        packing=packing_of(np.ascontiguousarray(training.labels, np.int32), len(training.classes)),
        classes=len(training.classes),
        slot=slot.astype(np.int32),
        levels=np.where(is_number, 0, np.maximum(levels, 1)).astype(np.int32),
        orders=_stack_rows(orders, rows, np.int32),
        ascending=_stack_rows([c[o] for c, o in zip(numbers, orders, strict=True)], rows, np.float32),
        codes=np.ascontiguousarray(_stack_rows(codes, rows, narrow).T),
        branch_of=np.empty(rows, narrow),
        in_average=few if few.any() else np.ones(len(few), np.bool_),
        min_records=float(min_records),
    )


def to_float32(column: Floats) -> Singles:
    """Numbers in single precision, as in C4.5, clipped to its range."""
    largest = np.finfo(np.float32).max / 2  # halved, so that the sum of two values (for a cut) does not overflow
    return np.clip(column, -largest, largest).astype(np.float32)


def _stack_rows(columns: Sequence[Array], rows: int, dtype: type) -> Array:
    stack: Array = np.empty((len(columns), rows), dtype)
    for place, column in enumerate(columns):
        stack[place] = column
    return stack


def _original_cuts(training: Training, inputs: "Inputs", tested: Array, cut: Singles) -> Floats:
    """For each single-precision cut, the largest original value at or below it.

    With these cuts, ``float(text) <= cut`` gives the same result for every training row as single precision.
    """
    exact = np.full(len(cut), np.nan)
    for a, attribute in enumerate(training.attributes):
        nodes = np.flatnonzero(tested == a)
        if not attribute.is_number or not len(nodes):
            continue
        number = inputs.slot[a]
        cuts, place = np.unique(cut[nodes], return_inverse=True)
        order, ascending = inputs.orders[number], inputs.ascending[number]
        begins, ends = (np.searchsorted(ascending, cuts, side) for side in ("left", "right"))  # nan is last
        largest = [training.columns[a][order[begin:end]].max() for begin, end in zip(begins, ends, strict=True)]
        exact[nodes] = np.array(largest)[place]
    return exact


def assemble(
    training: Training,
    *,
    tested: Array,
    cut: Array,
    first: Array,
    branches: Array,
    counts: Array,
    label: Array,
    estimate: Array | None = None,
) -> Tree:
    """A tree in breadth-first order from kernel arrays, with only the nodes that can be reached from node 0."""
    old, new_first, parent = breadth_first(first, branches)
    tested, label, counts = tested[old].astype(np.int32), label[old].astype(np.int32), counts[old].astype(np.float64)
    return Tree(
        target=training.target,
        classes=training.classes,
        attributes=training.attributes,
        tested=tested,
        cut=cut[old].astype(np.float64),
        first=new_first,
        branches=branches[old].astype(np.int32),
        parent=parent,
        counts=counts,
        label=label,
        errors=subtree_errors(tested, parent, counts, label),
        estimate=np.full(len(old), np.nan) if estimate is None else estimate[old].astype(np.float64),
    )


def subtree_errors(tested: Array, parent: Array, counts: Floats, label: Array) -> Floats:
    """Weighted training errors of each node's subtree; every node must precede its children."""
    from leafcover.kernels.c45_prune import add_to_ancestors

    errors: Floats = counts.sum(axis=1) - counts[np.arange(len(label)), label]
    errors[tested >= 0] = 0.0
    add_to_ancestors(errors, parent.astype(np.int32))
    return errors
