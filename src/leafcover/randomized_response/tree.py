"""Grow a tree from counts alone: the ID3 of Du and Zhan (2003) for disguised answers, with rules against noise.

The grower never sees a row. It asks a counter for the counts of levels and classes in the nodes of a depth, chooses
tests, and asks for the counter of their branches; estimated counts, being additive, serve as plain ones do.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.randomized_response.estimate import ProportionEstimate, Scheme, of_weights
from leafcover.randomized_response.tree_counts import Fringe, answers_for, depths, right_answers
from leafcover.randomized_response.tree_cubes import Cubes, fits
from leafcover.randomized_response.tree_entries import Tally, answers
from leafcover.table.table import Table
from leafcover.tree.c45 import subtree_errors
from leafcover.tree.training import attribute_names
from leafcover.tree.tree import Attribute, Tree

# Information gain from counts that may be negative: clipped, and rescaled so that branches add up to their node.


ROUNDING = 1e-7  # rows: an estimated count below this is nothing but what sums of weights leave over


def clipped(counts: Floats) -> Floats:
    """The counts, and 0 for negative ones."""
    return np.where(counts > ROUNDING, counts, 0.0)


def shared_out(counts: Floats, node: Floats) -> Floats:
    """Counts of branches (nodes, levels, classes) without negative ones, adding up to their node's (nodes, classes).

    Each class of the node is shared out in proportion to its positive counts. Rows with a missing answer are in no
    branch, and so are shared out with the others. A class that no branch holds goes by the size of the branches.

    >>> shared_out(np.array([[[30.0, -5.0], [10.0, 25.0]]]), np.array([[40.0, 20.0]]))[0]
    array([[30.,  0.],
           [10., 20.]])
    """
    kept = clipped(counts)
    sums = kept.sum(axis=1, keepdims=True)
    sizes = kept.sum(axis=2, keepdims=True)
    whole = sizes.sum(axis=1, keepdims=True)
    by_size = np.divide(sizes, whole, out=np.zeros_like(sizes), where=whole > 0)
    shares = np.where(sums > 0, np.divide(kept, sums, out=np.zeros_like(kept), where=sums > 0), by_size)
    # Multiplied by 1 where nothing was clipped: whole counts stay whole.
    same = sums == node[:, None, :]
    return np.where(same, kept, shares * node[:, None, :])


def gains(branches: Floats) -> tuple[Floats, Floats]:
    """Information gain and split information in bits, from counts (nodes, levels, classes).

    >>> [figure.round(3).tolist() for figure in gains(np.array([[[4.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [2.0, 2.0]]]))]
    [[1.0, 0.0], [1.0, 0.918]]
    """
    sizes, classes, whole = branches.sum(axis=2), branches.sum(axis=1), branches.sum(axis=(1, 2))
    split = _bits(sizes, whole)
    inside = _times_log(branches).sum(axis=(1, 2)) - _times_log(sizes).sum(axis=1)
    total = np.where(whole > 0, whole, 1.0)
    return np.maximum(_bits(classes, whole) + inside / total, 0.0), split


def _bits(counts: Floats, whole: Floats) -> Floats:
    total = np.where(whole > 0, whole, 1.0)
    return (_times_log(whole) - _times_log(counts).sum(axis=1)) / total


def _times_log(counts: Floats) -> Floats:
    return counts * np.log2(np.where(counts > 0, counts, 1.0))


# How surprising an association is, given the noise of the disguise.
#
# The counts of a node and its margins give Pearson's X² = Σ d² / (n p q). Without a disguise it has the expectation
# (levels - 1)(classes - 1) when column and class have nothing to do with each other; the weights of a disguise make it
# larger, by a factor that the squared weights tell. X² divided by that factor is compared with the chi-squared distribution, as
# Rao and Scott (1981) do for samples with weights. For two levels and two classes that is exact but for the normal distribution.


def chance_of_noise(tally: Tally, branches: Floats) -> tuple[Floats, Floats]:
    """For each node the chance of an association at least this strong by noise alone, and the gain of noise in bits.

    ``branches`` are the clipped counts (nodes, levels, classes), whose margins are the expected shares. The chance is 1
    where nothing is to be told. X² is 2 n ln 2 times the gain, but for higher orders, and so is their expectation.
    """
    from scipy.special import gammaincc

    whole = branches.sum(axis=(1, 2))
    whole = np.where(whole > 0, whole, 1.0)
    shares, classes = branches.sum(axis=2) / whole[:, None], branches.sum(axis=1) / whole[:, None]
    freedom = ((shares > 0).sum(axis=1) - 1) * ((classes > 0).sum(axis=1) - 1)
    strength, noise = _strength(tally.counts, shares, classes), tally.noise(shares, classes)
    told = (freedom > 0) & (noise > 0)
    scaled = np.divide(strength * freedom, noise, out=np.zeros_like(noise), where=told)
    chance = np.ones(len(noise))
    chance[told] = gammaincc(freedom[told] / 2, scaled[told] / 2)
    return chance, noise / (2 * log(2) * whole**2)


def _strength(counts: Floats, shares: Floats, classes: Floats) -> Floats:
    """Σ d² / (p q), where d is a count less what its margins let expect."""
    rows, columns, whole = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    apart = (
        counts
        - rows[:, :, None] * classes[:, None, :]
        - shares[:, :, None] * columns[:, None, :]
        + shares[:, :, None] * classes[:, None, :] * whole[:, None, None]
    )
    expected = shares[:, :, None] * classes[:, None, :]
    return np.divide(apart**2, expected, out=np.zeros_like(apart), where=expected > 0).sum(axis=(1, 2))


# When a node is split, and by which column: the rules that keep a tree from chasing the noise of a disguise.


Criterion: TypeAlias = Literal["gain", "ratio"]


@dataclass(frozen=True)
class StoppingRules:
    """A node is split only where all of these allow it.

    ``criterion``: the column of the largest information gain, or of the largest gain ratio among those of at least
    average gain. ``min_support``: a node and at least two of its branches hold so many rows, as estimated.
    ``deviations``: these are also so many standard errors above 0. ``significance``: the chance that noise alone makes
    the association of column and class as strong as it was estimated, over all columns tried, is at most this; and
    the gain of noise is taken off that of a column. 1 does neither. ``purity``: a node of which one class has this
    share is a leaf. ``max_depth``: at most so many tests on a way.
    """

    criterion: Criterion = "gain"
    min_support: float = 10.0
    deviations: float = 2.0
    significance: float = 0.05
    purity: float = 1.0
    max_depth: int | None = None

    def __post_init__(self) -> None:
        if self.criterion not in get_args(Criterion):
            raise NameUnknown("criterion", self.criterion, get_args(Criterion))
        if not self.min_support >= 0:
            raise ValueOutOfRange("min_support", self.min_support, "a number of rows, at least 0")
        if not self.deviations >= 0:
            raise ValueOutOfRange("deviations", self.deviations, "a number of standard errors, at least 0")
        if not 0 < self.significance <= 1:
            raise ValueOutOfRange("significance", self.significance, "above 0 and at most 1")
        if not 0 < self.purity <= 1:
            raise ValueOutOfRange("purity", self.purity, "a share above 0 and at most 1")
        if self.max_depth is not None and self.max_depth < 0:
            raise ValueOutOfRange("max_depth", self.max_depth, "None or at least 0")


PAPER = StoppingRules(min_support=0.0, deviations=0.0, significance=1.0)
"""ID3 as Du and Zhan (2003) print it: split while classes are mixed and columns are left, whatever the noise."""


# Which column each node of a fringe tests, if any.


TIED = 1e-10  # bits: of columns whose gains are nearer than rounding can tell, the first is taken


class Counter(Protocol):
    """All that a grower asks for: counts in the nodes of a fringe, and the fringe of their branches."""

    @property
    def nodes(self) -> int:
        """How many nodes."""
        ...

    @property
    def rows(self) -> int:
        """How many rows the tree grows from."""
        ...

    @property
    def free(self) -> Bools:
        """(nodes, attributes) that have not been tested on the way."""
        ...

    def classes(self) -> Tally:
        """The count of each class, as those of a column with one level."""
        ...

    def column(self, column: int) -> Tally:
        """The count of each level of a column with each class."""
        ...

    def made(self, tested: Array) -> Array:
        """For each node how much memory its branches take beyond the node's own, in entries."""
        ...

    def children(self, tested: Array) -> "Counter":
        """The branches of every node, in order; ``tested`` names the column that a node tests, -1 for a leaf."""
        ...


@dataclass(frozen=True, eq=False)
class SplitChoice:
    """The test of each node, and the counts of its branches."""

    tested: Array  # (nodes,) column, -1 for a leaf
    branches: Sequence[Floats | None]  # for each column that was tried (nodes, levels, classes)


def choice(counter: Counter, held: Floats, rules: StoppingRules) -> SplitChoice:
    """Choose by the rules; ``held`` are the clipped counts of the nodes (nodes, classes)."""
    whole = counter.classes()
    size = whole.counts.sum(axis=(1, 2))
    pure = held.max(axis=1) >= rules.purity * held.sum(axis=1) - ROUNDING
    may = _enough(whole, counter.rows, rules)[:, 0] & ~pure
    columns = counter.free.shape[1]
    gain, split = np.full((2, columns, counter.nodes), -np.inf)
    allowed = np.zeros((columns, counter.nodes), np.bool_)
    tried: list[Floats | None] = [None] * columns
    for column in range(columns):
        candidate = may & counter.free[:, column]
        if not candidate.any():
            continue
        tally = counter.column(column)
        branches = shared_out(tally.counts, held)
        found, split[column] = gains(branches)
        answered = np.clip(np.divide(tally.counts.sum(axis=(1, 2)), size, out=np.zeros_like(size), where=may), 0.0, 1.0)
        allowed[column] = candidate & (answered > 0) & _enough_branches(tally, counter, rules)
        if rules.significance < 1:
            chance, by_noise = chance_of_noise(tally, branches)
            allowed[column] &= chance * counter.free.sum(axis=1) <= rules.significance
            found = found - by_noise
        gain[column] = np.where(candidate, found * answered, -np.inf)
        tried[column] = branches
    return SplitChoice(_best(gain, split, allowed, rules), tried)


def _enough(tally: Tally, rows: int, rules: StoppingRules) -> Bools:
    """(nodes, levels) that hold enough rows, and surely some."""
    sizes, errors = tally.sizes(rows)
    least = np.maximum(rules.min_support, rules.deviations * errors)
    return (sizes > ROUNDING) & (sizes >= least - ROUNDING)


def _enough_branches(tally: Tally, counter: Counter, rules: StoppingRules) -> Bools:
    if rules.min_support == rules.deviations == 0:
        return np.ones(counter.nodes, np.bool_)
    return _enough(tally, counter.rows, rules).sum(axis=1) >= 2


def _best(gain: Floats, split: Floats, allowed: Bools, rules: StoppingRules) -> Array:
    score = np.where(allowed, gain, -np.inf)
    if rules.criterion == "ratio":
        positive = gain > TIED
        average = np.where(positive, gain, 0.0).sum(axis=0) / np.maximum(positive.sum(axis=0), 1)
        ratio = np.divide(gain, split, out=np.zeros_like(gain), where=(split > 0) & np.isfinite(gain))
        score = np.where(allowed & (gain >= average - TIED), ratio, -np.inf)
    best = score.max(axis=0, initial=-np.inf)
    first = (score >= best - TIED).argmax(axis=0) if len(score) else np.zeros(score.shape[1], np.int64)
    return np.where(np.isfinite(best), first, -1)


MOST_ENTRIES = 1 << 23  # made at once: about half a gigabyte for 20 columns
_SOUND = StoppingRules()


def grow_tree(
    table: Table, scheme: Scheme, *, target: str, attributes: Sequence[str] | None = None, rules: StoppingRules = _SOUND
) -> Tree:
    """The tree that predicts ``target`` from the other columns (or from ``attributes``), disguised or open.

    Its counts are estimates, none negative, and branches add up to their node. Rows without an answer to the target are
    left out; a row without an answer to a test counts in none of its branches, and these share out its node's rows by
    the rows that answered. A number must be binned before: every column is a category.
    """
    chosen = attribute_names(table, target) if attributes is None else tuple(attributes)
    for name in (*chosen, target):
        if name not in table.names:
            raise NameUnknown("column", name, table.names)
    if target in chosen or len(set(chosen)) != len(chosen) or not chosen:
        raise PlanError(f"A tree needs different columns that are not its target. Got {list(chosen)}. Name each once.")
    found = answers(table, scheme, (*chosen, target))
    columns = tuple(
        Attribute(name, levels, is_number=False) for name, levels in zip(chosen, found.levels, strict=False)
    )
    counter = Cubes.root(found) if fits(found) else Fringe.root(found)
    return grown(counter, columns, target, found.levels[-1], rules)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Nodes that are decided together: those of a depth, or a part of them where memory would not hold all."""

    above: Counter | None  # of the nodes above; None for the root
    tested: Array  # what the nodes above test, -1 for those whose branches are others
    counts: Floats
    label: Array
    parent: Array  # number in the tree
    depth: int


@dataclass(frozen=True, eq=False)
class _Decided:
    """The same nodes with their tests."""

    tested: Array
    counts: Floats
    label: Array
    parent: Array


def grown(
    counter: Counter, attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...], rules: StoppingRules
) -> Tree:
    """The tree that a counter's counts give."""
    counts = clipped(counter.classes().counts[:, 0, :])
    counts *= counter.rows / counts.sum()
    waiting = [_Nodes(None, np.zeros(0), counts, _largest(counts), np.array([-1]), 0)]
    decided: list[_Decided] = []
    start = 0
    while waiting:
        nodes = waiting.pop()
        here = counter if nodes.above is None else nodes.above.children(nodes.tested)
        made = SplitChoice(np.full(here.nodes, -1), [])
        if rules.max_depth is None or nodes.depth < rules.max_depth:
            made = choice(here, nodes.counts, rules)
        decided.append(_Decided(made.tested, nodes.counts, nodes.label, nodes.parent))
        for some in _parts(here.made(made.tested), made.tested >= 0):
            tested = np.where(some, made.tested, -1)
            counts, parent = _branches(SplitChoice(tested, made.branches), counts.shape[1])
            label = np.where(counts.sum(axis=1) > 0, _largest(counts), nodes.label[parent])
            waiting.append(_Nodes(here, tested, counts, label, start + parent, nodes.depth + 1))
        start += here.nodes
    return _tree(decided, attributes, target, classes)


def _largest(counts: Floats) -> Array:
    """The class of each node; of those that only rounding tells apart the first."""
    return (counts >= counts.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)


def _parts(made: Array, split: Bools) -> Iterator[Bools]:
    """The nodes that are split, in parts whose branches make about MOST_ENTRIES each, of one node at least."""
    number = np.cumsum(made) // MOST_ENTRIES
    for part in np.unique(number[split]):
        yield split & (number == part)


def _branches(made: SplitChoice, classes: int) -> tuple[Floats, Array]:
    """Counts of the branches of all nodes, in order, and the node each belongs to."""
    levels = np.array([0 if one is None else one.shape[1] for one in made.branches])
    width = np.where(made.tested >= 0, levels[made.tested], 0)
    first = np.cumsum(width) - width
    counts = np.empty((int(width.sum()), classes))
    for column in np.unique(made.tested[made.tested >= 0]).tolist():
        nodes, tried = np.flatnonzero(made.tested == column), made.branches[column]
        if tried is not None:
            counts[first[nodes][:, None] + np.arange(levels[column])] = tried[nodes]
    return counts, np.repeat(np.arange(len(width)), width)


def _tree(decided: list[_Decided], attributes: tuple[Attribute, ...], target: str, classes: tuple[str, ...]) -> Tree:
    """All nodes as a tree, in breadth-first order."""
    from leafcover.kernels.c45_prune import breadth_first

    tested, counts, label, parent = (
        np.concatenate([getattr(one, field) for one in decided]) for field in ("tested", "counts", "label", "parent")
    )
    levels = np.array([len(attribute.levels) for attribute in attributes], np.int32)
    branches = np.where(tested >= 0, levels[tested], 0).astype(np.int32)
    first = np.full(len(tested), -1, np.int32)
    first[parent[:0:-1]] = np.arange(len(tested) - 1, 0, -1)  # of several children the first is written last
    old, first, parent = breadth_first(first, branches)
    tested, label = tested[old].astype(np.int32), label[old].astype(np.int32)
    return Tree(
        target=target,
        classes=classes,
        attributes=attributes,
        tested=tested,
        cut=np.full(len(old), np.nan),
        first=first,
        branches=branches[old],
        parent=parent,
        counts=counts[old],
        label=label,
        errors=subtree_errors(tested, parent, counts[old], label),
        estimate=np.full(len(old), np.nan),
    )


# Reduced-error pruning with a disguised test set: a subtree stays only where it is better than a leaf, and surely so.
#
# Going up from the leaves, every node compares how many rows its subtree, pruned so far, and its own label answer
# rightly, both as estimated. Each row has its own difference, so the standard error of their sum is known.


PRUNING_ROUNDING = 1e-9  # rows: a subtree that is better by less is not better


def pruned(tree: Tree, table: Table, scheme: Scheme, *, deviations: float = 0.0) -> Tree:
    """The tree without subtrees that a test set does not show to be better than a leaf.

    Better means by more than ``deviations`` standard errors; 0 is the paper's way. The rows must be others than the
    tree grew from. Rows that do not answer the class and every column tested are left out.
    """
    if not deviations >= 0:
        raise ValueOutOfRange("deviations", deviations, "a number of standard errors, at least 0")
    found = answers_for(tree, table, scheme)
    each = []
    for nodes, fringe in depths(tree, found):
        alive = fringe.entries.node < fringe.nodes
        node = nodes[fringe.entries.node[alive]]
        each.append((nodes, _Rights(node, fringe.rows_of(alive), right_answers(fringe, tree.label[nodes])[alive])))
    stays = tree.tested >= 0
    subtrees = _Rights(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for nodes, own in reversed(each):
        subtrees = _summed(_Rights(tree.parent[subtrees.node], subtrees.row, subtrees.right), found.rows)
        better = _summed(_joined(subtrees, replace(own, right=-own.right)), found.rows)
        gained, squares = (np.bincount(better.node, one, tree.size) for one in (better.right, better.right**2))
        error = np.sqrt(np.maximum(squares - gained**2 / found.rows, 0.0))
        stays[nodes] &= (gained > deviations * error + PRUNING_ROUNDING)[nodes]
        subtrees = _joined(subtrees.where(stays[subtrees.node]), own.where(~stays[own.node]))
    return _without(tree, stays)


@dataclass(frozen=True, eq=False)
class _Rights:
    """What rows count for being answered rightly in nodes."""

    node: Rows
    row: Rows
    right: Floats

    def where(self, some: Bools) -> "_Rights":
        return _Rights(self.node[some], self.row[some], self.right[some])


def _joined(one: _Rights, other: _Rights) -> _Rights:
    node, row = np.concatenate([one.node, other.node]), np.concatenate([one.row, other.row])
    return _Rights(node, row, np.concatenate([one.right, other.right]))


def _summed(rights: _Rights, rows: int) -> _Rights:
    """One figure for each node and row."""
    key, place = np.unique(rights.node.astype(np.int64) * rows + rights.row, return_inverse=True)
    return _Rights(key // rows, key % rows, np.asarray(np.bincount(place, rights.right, len(key)), np.float64))


def _without(tree: Tree, stays: Bools) -> Tree:
    """The tree with leaves where nodes do not stay."""
    from leafcover.kernels.c45_prune import breadth_first

    branches = np.where(stays, tree.branches, 0).astype(np.int32)
    old, first, parent = breadth_first(tree.first.astype(np.int32), branches)
    tested = np.where(stays, tree.tested, -1)[old].astype(np.int32)
    counts, label = tree.counts[old], tree.label[old]
    return replace(
        tree,
        tested=tested,
        cut=np.full(len(old), np.nan),
        first=first,
        branches=branches[old],
        parent=parent,
        counts=counts,
        label=label,
        errors=subtree_errors(tested, parent, counts, label),
        estimate=np.full(len(old), np.nan),
    )


# How often a tree is right, from a disguised test set (Du and Zhan 2003, § 4.3).
#
# A row counts, over all leaves, what it counts for being in the leaf with the leaf's class. Its expectation over the
# coins is 1 where the tree answers the true row rightly, else 0. With one coin that is the paper's formula.


def accuracy(tree: Tree, table: Table, scheme: Scheme) -> ProportionEstimate:
    """The share of rows that a tree answers rightly: raw, clipped, and with its errors; other rows than it grew from.

    Rows that do not answer the class and every column that the tree tests are counted apart.
    """
    found = answers_for(tree, table, scheme)
    right = np.zeros(found.rows)
    for nodes, fringe in depths(tree, found):
        leaf = np.append(tree.tested[nodes] < 0, False)[fringe.entries.node]
        counted = right_answers(fringe, tree.label[nodes])
        right += np.bincount(fringe.rows_of(leaf), counted[leaf], found.rows)
    return of_weights(right, len(table) - found.rows)
