"""Randomised rows on their way through a tree: answers as codes, weights, and the entries that carry them.

`Answers` are the columns as codes, with the mechanisms that randomise them. `Weights` are the weights of entries,
`Tally` the estimated counts in the nodes, `Paths` what has been tested above each node, and `Entries` the rows in the
nodes. A `ColumnMechanism` covers one column, or several two-level columns that share a coin; reading one report as
flipped then flips the other reports of the same coin too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leafcover.arrays import MISSING, Array, Bools, Codes, Floats, Rows
from leafcover.errors import PlanError, TableError
from leafcover.randomized_response.estimate import Scheme
from leafcover.randomized_response.mechanism import Mechanism, inverse
from leafcover.randomized_response.mechanisms import Groups, OneCoin
from leafcover.table.table import Table

OPEN = -1  # the mechanism of an open column


@dataclass(frozen=True, eq=False)
class ColumnMechanism:
    """The weight of a report for each true level; several ``columns`` share a coin."""

    columns: tuple[int, ...]
    inverse: Floats  # (true levels, reports); its columns sum to 1


@dataclass(frozen=True, eq=False)
class Answers:
    """Rows with a known class, as codes: the attributes, and the class last."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    codes: Array  # (columns, rows) unsigned; the number of levels where a value is missing
    mechanisms: tuple[ColumnMechanism, ...]
    mechanism_of: tuple[int, ...]  # for each column the number of its mechanism, or OPEN

    @property
    def attributes(self) -> int:
        """The number of columns that can be tested."""
        return len(self.names) - 1

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[1])

    @property
    def sizes(self) -> Array:
        """The number of levels of each column."""
        return np.array([len(texts) for texts in self.levels])

    @cached_property
    def bins(self) -> tuple[int, ...]:
        """The number of codes of each column: its levels, and one more where values are missing."""
        return tuple(len(t) + int(c.max() == len(t)) for t, c in zip(self.levels, self.codes, strict=True))

    def complete(self) -> "Answers":
        """The rows without missing values."""
        full = np.ones(self.rows, np.bool_)
        for texts, column in zip(self.levels, self.codes, strict=True):
            full &= column < len(texts)
        return replace(self, codes=self.codes[:, full])


def answers(
    table: Table, scheme: Scheme, names: Sequence[str], levels: Mapping[str, tuple[str, ...]] | None = None
) -> Answers:
    """The rows of a table with a known class, the last of ``names``.

    ``levels`` may give the levels of columns and their order; any other value of an open column becomes missing.
    """
    given = levels or {}
    columns = [_column(table, scheme, name, given.get(name)) for name in names]
    known = columns[-1][1] != MISSING
    if not known.any():
        raise TableError(f"No row has a value in {names[-1]!r}. Choose another target, or wait for answers.")
    most = max(len(texts) for texts, _ in columns)
    codes = np.empty((len(names), int(known.sum())), np.uint8 if most < 256 else np.uint32)
    for place, (texts, column) in enumerate(columns):
        codes[place] = np.where(column[known] == MISSING, len(texts), column[known])
    mechanisms = tuple(
        mechanism for part in scheme.parts for mechanism in _mechanisms(part.mechanism, part.names, names)
    )
    mechanism_of = [OPEN] * len(names)
    for number, mechanism in enumerate(mechanisms):
        for place in mechanism.columns:
            mechanism_of[place] = number
    return Answers(tuple(names), tuple(texts for texts, _ in columns), codes, mechanisms, tuple(mechanism_of))


def _column(table: Table, scheme: Scheme, name: str, levels: tuple[str, ...] | None) -> tuple[tuple[str, ...], Codes]:
    """The levels of a column, as requested or as declared, and the codes of its values."""
    own, codes = scheme.levels(table, name), scheme.codes(table, name)
    if levels is None or own == levels:
        return own, codes
    if any(name in part.columns for part in scheme.parts):
        raise PlanError(
            f"The scheme declares other levels of column {name!r} than the tree, or in another order. "
            "Declare the levels that the tree was grown with."
        )
    places = {text: code for code, text in enumerate(levels)}
    moved = np.array([*(places.get(text, MISSING) for text in own), MISSING], np.int32)  # the last serves code -1
    return levels, moved[codes]


def _mechanisms(mechanism: Mechanism, given: Sequence[str], names: Sequence[str]) -> Iterator[ColumnMechanism]:
    """The mechanisms of a part, one per coin, for the requested columns."""
    if isinstance(mechanism, Groups):
        for group in mechanism.groups:
            yield from _mechanisms(OneCoin(mechanism.theta, len(group)), [given[column] for column in group], names)
        return
    places = tuple(names.index(name) for name in given if name in names)
    if len(given) > 1 and not isinstance(mechanism, OneCoin):
        raise PlanError(
            f"A tree needs one mechanism per column, or columns that share a coin. Got {type(mechanism).__name__} for "
            f"{', '.join(map(repr, given))}. Use OneCoin or Groups."
        )
    if places:
        yield ColumnMechanism(places, inverse(mechanism.on([0])))


# The weights of entries. There are often few different weights; entries are then counted as integers and weighted last.
#
# A weight and its square are kept separately, because merging entries adds up both.


FEW = 4  # kinds that are counted separately in one pass; more are summed in two, for values and for squares
MANY = 256  # kinds; above, every entry has its own weight
BLOCK = 1 << 16  # entries counted at once, to fit the cache: halves the time for a million


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of each kind, its square, and the kind of each entry; without kinds every entry has its own weight."""

    values: Floats
    squares: Floats
    kind: Array | None  # (entries,)

    @staticmethod
    def ones(entries: int) -> "Weights":
        """Weight 1 for every entry."""
        return Weights(np.ones(1), np.ones(1), np.zeros(entries, np.uint8))

    @property
    def few(self) -> int:
        """The number of kinds that are counted separately; 0 when weights are summed."""
        return len(self.values) if self.kind is not None and len(self.values) <= FEW else 0

    def take(self, entries: Array) -> "Weights":
        """The weights of some entries."""
        if self.kind is None:
            return Weights(self.values[entries], self.squares[entries], None)
        return Weights(self.values, self.squares, self.kind[entries])

    def each(self) -> "Weights":
        """The same weights with one kind per entry."""
        if self.kind is None:
            return self
        return Weights(self.values[self.kind], self.squares[self.kind], None)

    def times(self, factors: Floats, which: Array) -> "Weights":
        """The weight of each entry times its factor; ``which`` is the number of the factor."""
        if self.kind is None:
            return Weights(self.values * factors[which], self.squares * factors[which] ** 2, None)
        return Weights(
            np.outer(self.values, factors).ravel(),
            np.outer(self.squares, factors**2).ravel(),
            self.kind.astype(np.int32) * len(factors) + which,
        )


def tidied(weights: Weights) -> Weights:
    """The same weights with as few kinds as possible; with too many kinds, one per entry."""
    if weights.kind is None or len(weights.values) > MANY:
        return weights.each()
    used = np.flatnonzero(np.bincount(weights.kind, minlength=len(weights.values)))
    distinct, place = np.unique(np.stack([weights.values, weights.squares])[:, used], axis=1, return_inverse=True)
    new = np.zeros(len(weights.values), np.uint8)
    new[used] = place
    return Weights(distinct[0], distinct[1], new[weights.kind])


def summed(weights: Weights, base: Rows, codes: Array, cells: int, bins: int) -> tuple[Floats, Floats]:
    """The sums of values and of squares (cells, bins) by base and code.

    ``base`` is the cell of an entry; with few kinds, the cell times their number plus the kind.
    """
    if weights.few:
        counted = _counted(base, codes, cells * weights.few, bins).reshape(cells, weights.few, bins).astype(np.float64)
        return np.einsum("ckb,k->cb", counted, weights.values), np.einsum("ckb,k->cb", counted, weights.squares)
    one = weights.each()
    place = base * bins + codes
    values, squares = (np.bincount(place, each, cells * bins) for each in (one.values, one.squares))
    return np.asarray(values.reshape(cells, bins), np.float64), np.asarray(squares.reshape(cells, bins), np.float64)


def _counted(base: Rows, codes: Array, cells: int, bins: int) -> Rows:
    block = max(BLOCK, cells * bins)
    place, total = np.empty(min(block, len(base)), np.int64), np.zeros(cells * bins, np.int64)
    for begin in range(0, len(base), block):
        some = base[begin : begin + block]
        here = np.multiply(some, bins, out=place[: len(some)])
        here += codes[begin : begin + block]
        total += np.bincount(here, minlength=cells * bins)
    return total


# Counts of a column's levels with each class, in many nodes: unbiased, and with their noise.
#
# A row counts in one cell of the reports of a node, so these cells are uncorrelated except for their sum, and the
# second moment of each is the sum of squared weights. The counts of true levels are a linear transformation of them.


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of a table of reports: its mechanism is inverted in the nodes where it is still untested."""

    inverse: Floats  # (true levels, reports)
    alone: Bools  # (nodes,) where the mechanism is not yet inverted

    def spread(self, shares: Floats) -> Floats:
        """For each report Σ (w - p)² / p over true levels, where w is its weight for a level with share p."""
        there = shares > 0
        over = np.divide(1.0, shares, out=np.zeros_like(shares), where=there)
        plain = np.where(there, over - 2, 0.0) + 1
        undone = over @ self.inverse**2 - 2 * (there @ self.inverse) + 1
        return np.where(self.alone[:, None], undone, plain)


@dataclass(frozen=True, eq=False)
class Tally:
    """One column in every node of a fringe."""

    counts: Floats  # (nodes, levels, classes) of true values; may be negative
    squares: Floats  # (nodes, levels, classes) of reports: sums of squared weights
    own: Axis
    label: Axis
    together: bool  # one coin randomises the column and the class

    def sizes(self, rows: int) -> tuple[Floats, Floats]:
        """The rows of each branch (nodes, levels) and their standard errors, of ``rows`` in total."""
        sizes, reported = self.counts.sum(axis=2), self.squares.sum(axis=2)
        second = np.where(self.own.alone[:, None], reported @ (self.own.inverse**2).T, reported)
        return sizes, np.sqrt(np.maximum(second - sizes**2 / rows, 0.0))

    def noise(self, shares: Floats, classes: Floats) -> Floats:
        """The expectation of Σ d² / (p q) when column and class are independent.

        d is the count of a cell minus its expectation from the margins; p and q are the shares of levels (nodes,
        levels) and of classes (nodes, classes). For open answers it is (levels - 1)(classes - 1) per row of the node.
        """
        over, across = self.own.spread(shares), self.label.spread(classes)
        alike = over[:, :, None] * across[:, None, :]
        if self.together:
            straight, turned = self.own.inverse[0]
            # Two centred indicators of two levels have the product -1 under these weights, on both axes.
            crossed = (
                straight**2 * self._plain(shares, classes) + turned**2 * self._plain(shares, classes)[:, ::-1, ::-1]
            )
            alike = np.where(self.own.alone[:, None, None], crossed + 2 * straight * turned, alike)
        return (self.squares * alike).sum(axis=(1, 2))

    def _plain(self, shares: Floats, classes: Floats) -> Floats:
        nowhere = np.zeros(len(shares), np.bool_)
        over = Axis(self.own.inverse, nowhere).spread(shares)
        across = Axis(self.label.inverse, nowhere).spread(classes)
        return over[:, :, None] * across[:, None, :]


def undone(reports: Floats, own: Axis, label: Axis, *, together: bool) -> Floats:
    """The counts of true values from sums over reports (nodes, levels, classes)."""
    counts = reports.copy()
    if together:
        straight, turned = own.inverse[0]
        both = reports[own.alone]
        counts[own.alone] = straight * both + turned * both[:, ::-1, ::-1]
        return counts
    counts[own.alone] = own.inverse @ counts[own.alone]
    counts[label.alone] = counts[label.alone] @ label.inverse.T
    return counts


# What has been tested on the path to each node of a fringe.
#
# A column is tested at most once on a path. The first test of a column inverts its mechanism; below it the values of
# that mechanism, in all columns that share a coin, are taken as read.


@dataclass(frozen=True, eq=False)
class Paths:
    """The paths to nodes numbered from 0."""

    answers: Answers
    touched: Bools  # (nodes, mechanisms) with a column already tested
    free: Bools  # (nodes, attributes) not yet tested

    @staticmethod
    def root(answers: Answers) -> "Paths":
        """The path to the root, where nothing has been tested."""
        return Paths(
            answers,
            touched=np.zeros((1, len(answers.mechanisms)), np.bool_),
            free=np.ones((1, answers.attributes), np.bool_),
        )

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.free)

    def branched(self, tested: Array) -> "Paths":
        """The paths to the branches of every node, in order; ``tested`` is a column, -1 for a leaf."""
        branches = np.where(tested >= 0, self.answers.sizes[tested], 0)
        parent = np.repeat(np.arange(self.nodes), branches)
        touched, free = self.touched[parent], self.free[parent]
        free[np.arange(len(parent)), tested[parent]] = False
        new = np.flatnonzero(self.fresh(tested)[parent])
        touched[new, np.array(self.answers.mechanism_of)[tested[parent[new]]]] = True
        return Paths(self.answers, touched, free)

    def fresh(self, tested: Array) -> Bools:
        """Which nodes test a column whose mechanism is not yet inverted."""
        mechanism = np.where(tested >= 0, np.array(self.answers.mechanism_of)[tested], OPEN)
        fresh = mechanism != OPEN
        fresh[fresh] = ~self.touched[fresh, mechanism[fresh]]
        return fresh

    def axis(self, column: int) -> Axis:
        """How the reports of a column are read in each node; -1 is the class."""
        mechanism = self.answers.mechanism_of[column]
        if mechanism == OPEN:
            return Axis(np.eye(len(self.answers.levels[column])), np.zeros(self.nodes, np.bool_))
        return Axis(self.answers.mechanisms[mechanism].inverse, ~self.touched[:, mechanism])

    def tally(self, values: Floats, squares: Floats, column: int | None = None) -> Tally:
        """The counts of true values from sums over reports (nodes, levels, classes) of weights and of their squares.

        Without a column they are the counts of the classes, as for a column with one level.
        """
        mechanism = OPEN if column is None else self.answers.mechanism_of[column]
        together = mechanism != OPEN and mechanism == self.answers.mechanism_of[-1]
        own = Axis(np.ones((1, 1)), np.zeros(self.nodes, np.bool_)) if column is None else self.axis(column)
        label = self.axis(-1)
        return Tally(undone(values, own, label, together=together), squares, own, label, together)


# Entries: a node, the values of a row as they are read there, and a weight.
#
# Where a node tests a column whose coin is not yet tested above, an entry goes to every branch, with the weight of its
# report for that true level; the other values of a shared coin are flipped with it. From there on the values of that
# coin are taken as read, and an entry goes to one branch.


FEW_ALIVE = 0.5  # entries are compacted when at most this share is in a node


@dataclass(frozen=True, eq=False)
class Entries:
    """Rows in nodes; entries in no node have the number after the last node."""

    node: Rows  # (entries,)
    codes: Array  # (columns, entries) the number of levels where a value is missing
    weights: Weights
    row: Rows | None = None  # (entries,) number of the row, where needed

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, eq=False)
class Move:
    """Some entries that go to a branch."""

    some: Rows  # numbers of the entries
    node: Rows
    factors: Floats  # by which their weights are multiplied
    which: Array  # number of the factor of each entry
    mechanism: ColumnMechanism | None = None
    turned: Bools | None = None  # entries whose values in the mechanism's columns are flipped


def onwards(entries: Entries, tested: Array, first: Array, levels: Array, nodes: int) -> Rows:
    """The branch of each entry by its value; ``nodes`` where nothing is tested or the value is missing.

    ``tested`` is the column of each node, -1 for a leaf, and ``first`` its first branch.
    """
    column = np.append(tested, -1)[entries.node]
    code = entries.codes[column, np.arange(len(column))]
    node = np.append(first, 0)[entries.node]
    node += code
    node[(column < 0) | (code >= levels[column])] = nodes
    return node


def branch_moves(entries: Entries, column: int, mechanism: ColumnMechanism, first: Array) -> Iterator[Move]:
    """For every true level of a column the entries with a weight for it, in the nodes with a first branch here."""
    here = np.flatnonzero((np.append(first, -1)[entries.node] >= 0) & (entries.codes[column] < len(mechanism.inverse)))
    report, branch = entries.codes[column, here], first[entries.node[here]]
    for truth, counted in enumerate(mechanism.inverse):
        some = slice(None) if counted.all() else np.flatnonzero(counted[report])
        turned = report[some] != truth if len(mechanism.columns) > 1 else None
        yield Move(here[some], branch[some] + truth, counted, report[some], mechanism, turned)


def moved(entries: Entries, moves: Sequence[Move]) -> Entries:
    """The entries in their branches; values are copied once."""
    some = np.concatenate([move.some for move in moves])
    codes, end = entries.codes.take(some, axis=1), 0
    for move in moves:
        begin, end = end, end + len(move.some)
        if move.mechanism is not None and move.turned is not None:
            for column in move.mechanism.columns:
                part = codes[column, begin:end]
                part ^= move.turned & (part < 2)
    return Entries(
        np.concatenate([move.node for move in moves]),
        codes,
        tidied(entries.weights.take(some).times(*_one_table(moves))),
        None if entries.row is None else entries.row[some],
    )


def _one_table(moves: Sequence[Move]) -> tuple[Floats, Array]:
    """The distinct factors, and the number of the factor of each entry."""
    starts = np.cumsum([0, *(len(move.factors) for move in moves)])
    factors, place = np.unique(np.concatenate([move.factors for move in moves]), return_inverse=True)
    which = np.concatenate(
        [place.astype(np.int32)[start:][move.which] for move, start in zip(moves, starts, strict=False)]
    )
    return factors, which


def kept(entries: Entries, node: Rows, nodes: int) -> Entries:
    """The entries in their new nodes; without those in no node when there are many."""
    alive = np.flatnonzero(node < nodes)
    if len(alive) > FEW_ALIVE * len(node):
        return Entries(node, entries.codes, entries.weights, entries.row)
    row = None if entries.row is None else entries.row[alive]
    return Entries(node[alive], entries.codes.take(alive, axis=1), entries.weights.take(alive), row)


# Merging entries that are equal in all columns still to be tested; their weights are added.
#
# With a coin per column each entry goes to all branches, so their number would grow with every depth. But each test
# also leaves one column fewer that distinguishes them: merged, they are at most the combinations of the remaining
# values.


MOST_CELLS = 2.0**62  # that a 64-bit number can distinguish


def merged(entries: Entries, bins: Sequence[int], asked: Bools) -> Entries:
    """The entries, merged when that is certain to reduce their number.

    ``bins`` are the numbers of codes of the columns, and ``asked`` (nodes, columns) the columns still to be read.
    """
    if entries.row is not None or len(asked) * np.prod(np.array(bins, np.float64)) > MOST_CELLS:
        return entries
    if np.where(asked, np.array(bins, np.float64), 1.0).prod(axis=1).sum() > len(entries):
        return entries
    key = _key(entries, bins, asked)
    order = np.argsort(key)
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    weights = entries.weights.each()
    values, squares = (_added(one[order], starts) for one in (weights.values, weights.squares))
    some = order[starts]
    return Entries(entries.node[some], entries.codes.take(some, axis=1), Weights(values, squares, None))


def _key(entries: Entries, bins: Sequence[int], asked: Bools) -> Rows:
    """Node and values as one number, without the columns that a node no longer reads."""
    key = entries.node.copy()
    for column, count in enumerate(bins):
        if not asked[:, column].any():
            continue
        key *= count
        codes = entries.codes[column]
        # Most columns are read in all nodes; a lookup for each entry would take half of the time.
        key += codes if asked[:, column].all() else codes * asked[:, column].take(entries.node)
    return key


def _added(values: Floats, starts: Rows) -> Floats:
    return np.add.reduceat(values, starts) if len(starts) else values
