"""Decision trees from randomised answers: ID3 from estimated counts (Du and Zhan 2003), with tests against noise.

`grow_tree` grows a tree, `pruned` prunes it on a test set, and `accuracy` estimates how often it is correct. The grower
never reads a row: a `Counter` gives it the estimated counts of levels and classes in the nodes of one depth, and the
counter of their branches. Estimated counts are additive, so they can be used like plain counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.randomized_response.estimate import ProportionEstimate, Scheme, of_weights
from leafcover.randomized_response.tree_counts import Cubes, Fringe, answers_for, depths, fits, right_answers
from leafcover.randomized_response.tree_entries import Tally, answers
from leafcover.table.table import Table
from leafcover.tree.c45 import subtree_errors
from leafcover.tree.tree import Attribute, Tree, attribute_names, breadth_first

# Information gain from counts that may be negative: they are clipped, and rescaled so that branches sum to their node.


ROUNDING = 1e-7  # rows: a smaller estimated count is a rounding error


def clipped(counts: Floats) -> Floats:
    """The counts with 0 for negative ones."""
    return np.where(counts > ROUNDING, counts, 0.0)


def shared_out(counts: Floats, node: Floats) -> Floats:
    """Counts of branches (nodes, levels, classes) without negative ones that sum to their node's (nodes, classes).

    Each class of the node is distributed in proportion to its positive counts. So are rows with a missing answer, which
    are in no branch. A class without a positive count is distributed by the size of the branches.

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
    # Where nothing was clipped the counts stay as they are: integers remain integers.
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


# The significance of an association, given the randomness of the reports.
#
# The counts of a node and its margins give Pearson's X² = Σ d² / (n p q). For open answers its expectation is
# (levels - 1)(classes - 1) when column and class are independent. Randomised answers make it larger, by a factor that
# follows from the squared weights. X² divided by this factor is compared with the chi-squared distribution, as Rao and
# Scott (1981) do for weighted samples. For two levels and two classes only the normal approximation remains.


def noise_p_value(tally: Tally, branches: Floats) -> tuple[Floats, Floats]:
    """For each node the p-value of the association, and the expected gain of noise in bits.

    ``branches`` are the clipped counts (nodes, levels, classes), whose margins are the expected shares. The p-value is
    1 where nothing can be tested. To first order X² is 2 n ln 2 times the gain, and so are their expectations.
    """
    from scipy.special import gammaincc

    whole = branches.sum(axis=(1, 2))
    whole = np.where(whole > 0, whole, 1.0)
    shares, classes = branches.sum(axis=2) / whole[:, None], branches.sum(axis=1) / whole[:, None]
    freedom = ((shares > 0).sum(axis=1) - 1) * ((classes > 0).sum(axis=1) - 1)
    strength, noise = _strength(tally.counts, shares, classes), tally.noise(shares, classes)
    testable = (freedom > 0) & (noise > 0)
    scaled = np.divide(strength * freedom, noise, out=np.zeros_like(noise), where=testable)
    chance = np.ones(len(noise))
    chance[testable] = gammaincc(freedom[testable] / 2, scaled[testable] / 2)
    return chance, noise / (2 * log(2) * whole**2)


def _strength(counts: Floats, shares: Floats, classes: Floats) -> Floats:
    """Σ d² / (p q), where d is a count minus its expectation from the margins."""
    rows, columns, whole = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    apart = (
        counts
        - rows[:, :, None] * classes[:, None, :]
        - shares[:, :, None] * columns[:, None, :]
        + shares[:, :, None] * classes[:, None, :] * whole[:, None, None]
    )
    expected = shares[:, :, None] * classes[:, None, :]
    return np.divide(apart**2, expected, out=np.zeros_like(apart), where=expected > 0).sum(axis=(1, 2))


# The stopping rules, which keep a tree from fitting the randomness of the answers.


Criterion: TypeAlias = Literal["gain", "ratio"]


@dataclass(frozen=True)
class StoppingRules:
    """A node is split only where all rules allow it.

    ``criterion``: the column with the largest information gain, or with the largest gain ratio among those of at least
    average gain. ``min_support``: a node and at least two of its branches need this many rows, as estimated.
    ``deviations``: these counts must also be this many standard errors above 0. ``significance``: the p-value of the
    association of column and class, corrected for the number of columns, must be at most this, and the expected gain
    of noise is subtracted from the gain of a column; 1 does neither. ``purity``: a node in which one class has this
    share is a leaf. ``max_depth``: the largest number of tests from the root to a leaf.
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
"""ID3 as published by Du and Zhan (2003): split while classes are mixed and columns are left, whatever the noise."""


# Which column each node tests, if any.


TIED = 1e-10  # bits: gains that differ by less count as equal, and the first column wins


class Counter(Protocol):
    """What the grower needs: counts in the nodes of a fringe (the unfinished nodes), and the next fringe."""

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        ...

    @property
    def rows(self) -> int:
        """The number of rows that the tree is grown from."""
        ...

    @property
    def free(self) -> Bools:
        """(nodes, attributes) not yet tested on the path to the node."""
        ...

    def classes(self) -> Tally:
        """The count of each class, as for a column with one level."""
        ...

    def column(self, column: int) -> Tally:
        """The count of each level of a column with each class."""
        ...

    def made(self, tested: Array) -> Array:
        """For each node the additional memory of its branches, in entries."""
        ...

    def children(self, tested: Array) -> "Counter":
        """The branches of every node, in order; ``tested`` is the column that a node tests, -1 for a leaf."""
        ...


@dataclass(frozen=True, eq=False)
class SplitChoice:
    """The test of each node, and the counts of its branches."""

    tested: Array  # (nodes,) column, -1 for a leaf
    branches: Sequence[Floats | None]  # for each column that was tried (nodes, levels, classes)


def choice(counter: Counter, held: Floats, rules: StoppingRules) -> SplitChoice:
    """The tests that the rules choose; ``held`` are the clipped counts of the nodes (nodes, classes)."""
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
            chance, by_noise = noise_p_value(tally, branches)
            allowed[column] &= chance * counter.free.sum(axis=1) <= rules.significance
            found = found - by_noise
        gain[column] = np.where(candidate, found * answered, -np.inf)
        tried[column] = branches
    return SplitChoice(_best(gain, split, allowed, rules), tried)


def _enough(tally: Tally, rows: int, rules: StoppingRules) -> Bools:
    """(nodes, levels) that have enough rows, significantly above 0."""
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


MOST_ENTRIES = 1 << 23  # created at once: about half a gigabyte for 20 columns
_SOUND = StoppingRules()


def grow_tree(
    table: Table, scheme: Scheme, *, target: str, attributes: Sequence[str] | None = None, rules: StoppingRules = _SOUND
) -> Tree:
    """The tree that predicts ``target`` from the other columns (or from ``attributes``), randomised or open.

    Its counts are estimates; they are not negative, and branches sum to their node. Rows with a missing target are left
    out. A row with a missing tested value is in no branch; the branches share the rows of their node in proportion to
    the known values. All columns must be categories: bin numbers before.
    """
    chosen = attribute_names(table, target) if attributes is None else tuple(attributes)
    for name in (*chosen, target):
        if name not in table.names:
            raise NameUnknown("column", name, table.names)
    if target in chosen or len(set(chosen)) != len(chosen) or not chosen:
        raise PlanError(f"attributes must be different columns without the target {target!r}. Got {list(chosen)}.")
    found = answers(table, scheme, (*chosen, target))
    columns = tuple(
        Attribute(name, levels, is_number=False) for name, levels in zip(chosen, found.levels, strict=False)
    )
    counter = Cubes.root(found) if fits(found) else Fringe.root(found)
    return grown(counter, columns, target, found.levels[-1], rules)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Nodes that are split together: those of one depth, or a part of them where memory is short."""

    above: Counter | None  # of the nodes above; None for the root
    tested: Array  # the tests of the nodes above, -1 for those without branches here
    counts: Floats
    label: Array
    parent: Array  # number of the parent in the tree
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
    """The tree grown from the counts of a counter."""
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
    """The most frequent class of each node, the first of those that are equal up to rounding."""
    return (counts >= counts.max(axis=1, keepdims=True) - ROUNDING).argmax(axis=1)


def _parts(made: Array, split: Bools) -> Iterator[Bools]:
    """The nodes that are split, in parts whose branches have about MOST_ENTRIES entries, at least one node each."""
    number = np.cumsum(made) // MOST_ENTRIES
    for part in np.unique(number[split]):
        yield split & (number == part)


def _branches(made: SplitChoice, classes: int) -> tuple[Floats, Array]:
    """The counts of the branches of all nodes, in order, and the node that each belongs to."""
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


# Reduced-error pruning with a randomised test set: a subtree stays only where it is significantly better than a leaf.
#
# From the leaves upwards, every node compares the estimated number of rows that its subtree, as pruned so far, and its
# own label classify correctly. The difference is known for each row, and so is the standard error of their sum.


PRUNING_ROUNDING = 1e-9  # rows: a smaller improvement is a rounding error


def pruned(tree: Tree, table: Table, scheme: Scheme, *, deviations: float = 0.0) -> Tree:
    """The tree without subtrees that are no better than a leaf on a test set.

    Better means by more than ``deviations`` standard errors; 0 is the published rule. The test set must not contain the
    rows that the tree was grown from. Rows with a missing class or tested value are left out.
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
    """The weights of rows for being classified correctly in nodes."""

    node: Rows
    row: Rows
    right: Floats

    def where(self, some: Bools) -> "_Rights":
        return _Rights(self.node[some], self.row[some], self.right[some])


def _joined(one: _Rights, other: _Rights) -> _Rights:
    node, row = np.concatenate([one.node, other.node]), np.concatenate([one.row, other.row])
    return _Rights(node, row, np.concatenate([one.right, other.right]))


def _summed(rights: _Rights, rows: int) -> _Rights:
    """One weight for each node and row."""
    key, place = np.unique(rights.node.astype(np.int64) * rows + rights.row, return_inverse=True)
    return _Rights(key // rows, key % rows, np.asarray(np.bincount(place, rights.right, len(key)), np.float64))


def _without(tree: Tree, stays: Bools) -> Tree:
    """The tree with leaves in place of nodes that do not stay."""
    branches = np.where(stays, tree.branches, 0).astype(np.int32)
    old, first, parent = breadth_first(tree.first, branches)
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


# The accuracy of a tree from a randomised test set (Du and Zhan 2003, § 4.3).
#
# The weight of a row is the sum, over all leaves, of its weight for being in the leaf with the leaf's class. Its
# expectation over the coins is 1 where the tree classifies the true row correctly, else 0. With one coin this is the
# published formula.


def accuracy(tree: Tree, table: Table, scheme: Scheme) -> ProportionEstimate:
    """The share of rows that a tree classifies correctly; use other rows than it was grown from.

    Rows with a missing class or tested value are counted separately.
    """
    found = answers_for(tree, table, scheme)
    right = np.zeros(found.rows)
    for nodes, fringe in depths(tree, found):
        leaf = np.append(tree.tested[nodes] < 0, False)[fringe.entries.node]
        counted = right_answers(fringe, tree.label[nodes])
        right += np.bincount(fringe.rows_of(leaf), counted[leaf], found.rows)
    return of_weights(right, len(table) - found.rows)
