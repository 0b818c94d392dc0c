"""The columns a tree may test, as codes, and which of them one coin disguises together.

A mechanism covers one column, by any mechanism, or several columns of two levels that share a coin. Its inverse says what a
report counts for a truth. Where a coin is shared, a report read against its coin turns the others of that coin too.
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

OPEN = -1  # the mechanism of a column that is not disguised


@dataclass(frozen=True, eq=False)
class ColumnMechanism:
    """What a report counts for each truth; ``columns`` are more than one where they share a coin."""

    columns: tuple[int, ...]
    inverse: Floats  # (truths, reports); its columns sum to 1


@dataclass(frozen=True, eq=False)
class Answers:
    """Rows with a known class as codes: the attributes, and the class last."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    codes: Array  # (columns, rows) unsigned; the number of levels where an answer is missing
    mechanisms: tuple[ColumnMechanism, ...]
    mechanism_of: tuple[int, ...]  # for each column the number of its mechanism, or OPEN

    @property
    def attributes(self) -> int:
        """How many columns may be tested."""
        return len(self.names) - 1

    @property
    def rows(self) -> int:
        """How many rows have a known class."""
        return int(self.codes.shape[1])

    @property
    def sizes(self) -> Array:
        """How many levels each column has."""
        return np.array([len(texts) for texts in self.levels])

    @cached_property
    def bins(self) -> tuple[int, ...]:
        """How many codes each column holds: its levels, and one more where answers are missing."""
        return tuple(len(t) + int(c.max() == len(t)) for t, c in zip(self.levels, self.codes, strict=True))

    def complete(self) -> "Answers":
        """The rows that answer everything."""
        full = np.ones(self.rows, np.bool_)
        for texts, column in zip(self.levels, self.codes, strict=True):
            full &= column < len(texts)
        return replace(self, codes=self.codes[:, full])


def answers(
    table: Table, scheme: Scheme, names: Sequence[str], levels: Mapping[str, tuple[str, ...]] | None = None
) -> Answers:
    """The rows of a table that answer the last of ``names``, the class.

    ``levels`` may say which levels columns have, in which order; an open answer that is none of them is missing.
    """
    given = levels or {}
    columns = [_column(table, scheme, name, given.get(name)) for name in names]
    known = columns[-1][1] != MISSING
    if not known.any():
        raise TableError(f"No row has an answer to {names[-1]!r}. Choose another target, or wait for answers.")
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
    """The levels of a column, as wanted or as they are, and the codes of its answers among them."""
    own, codes = scheme.levels(table, name), scheme.codes(table, name)
    if levels is None or own == levels:
        return own, codes
    if any(name in part.columns for part in scheme.parts):
        raise PlanError(
            f"The scheme names other levels of column {name!r} than the tree does, or in another order. "
            "Give the levels that the tree was grown with."
        )
    places = {text: code for code, text in enumerate(levels)}
    moved = np.array([*(places.get(text, MISSING) for text in own), MISSING], np.int32)  # the last serves code -1
    return levels, moved[codes]


def _mechanisms(mechanism: Mechanism, given: Sequence[str], names: Sequence[str]) -> Iterator[ColumnMechanism]:
    """The mechanisms of a part, one a coin, for those of its columns that are wanted."""
    if isinstance(mechanism, Groups):
        for group in mechanism.groups:
            yield from _mechanisms(OneCoin(mechanism.theta, len(group)), [given[column] for column in group], names)
        return
    places = tuple(names.index(name) for name in given if name in names)
    if len(given) > 1 and not isinstance(mechanism, OneCoin):
        raise PlanError(
            f"A tree reads one column a mechanism, or several that share a coin. Got a {type(mechanism).__name__} over "
            f"{', '.join(map(repr, given))}. Disguise these by OneCoin or Groups."
        )
    if places:
        yield ColumnMechanism(places, inverse(mechanism.on([0])))


# What entries count. Most weigh one of a few values, so that they are counted as whole numbers and weighed after.
#
# A value and its square are kept apart: entries that are put together add up both.


FEW = 4  # kinds that are counted apart, in one pass; more are added up in two, one for values and one for squares
MANY = 256  # kinds, above which every entry has a kind of its own
BLOCK = 1 << 16  # entries counted at once: their cells stay in the cache, which halves the time of a million


@dataclass(frozen=True, eq=False)
class Weights:
    """The value of each kind, its square, and the kind of each entry; without kinds every entry has its own value."""

    values: Floats
    squares: Floats
    kind: Array | None  # (entries,)

    @staticmethod
    def ones(entries: int) -> "Weights":
        """Every entry counts 1."""
        return Weights(np.ones(1), np.ones(1), np.zeros(entries, np.uint8))

    @property
    def few(self) -> int:
        """How many kinds are counted apart; 0 when they are added up."""
        return len(self.values) if self.kind is not None and len(self.values) <= FEW else 0

    def take(self, entries: Array) -> "Weights":
        """The weights of some entries."""
        if self.kind is None:
            return Weights(self.values[entries], self.squares[entries], None)
        return Weights(self.values, self.squares, self.kind[entries])

    def each(self) -> "Weights":
        """The same with one kind an entry."""
        if self.kind is None:
            return self
        return Weights(self.values[self.kind], self.squares[self.kind], None)

    def times(self, factors: Floats, which: Array) -> "Weights":
        """Each entry's value times the factor that ``which`` names for it."""
        if self.kind is None:
            return Weights(self.values * factors[which], self.squares * factors[which] ** 2, None)
        return Weights(
            np.outer(self.values, factors).ravel(),
            np.outer(self.squares, factors**2).ravel(),
            self.kind.astype(np.int32) * len(factors) + which,
        )


def tidied(weights: Weights) -> Weights:
    """The same weights with as few kinds as there are values; above many, with one kind an entry."""
    if weights.kind is None or len(weights.values) > MANY:
        return weights.each()
    used = np.flatnonzero(np.bincount(weights.kind, minlength=len(weights.values)))
    distinct, place = np.unique(np.stack([weights.values, weights.squares])[:, used], axis=1, return_inverse=True)
    new = np.zeros(len(weights.values), np.uint8)
    new[used] = place
    return Weights(distinct[0], distinct[1], new[weights.kind])


def summed(weights: Weights, base: Rows, codes: Array, cells: int, bins: int) -> tuple[Floats, Floats]:
    """The sums of values and of squares (cells, bins) by base and code.

    ``base`` is the number of an entry's cell; when kinds are few, that times their number, plus the kind.
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


# Counts of a column's levels with each class, in many nodes: unbiased, and with the noise they carry.
#
# A row counts in one cell of the reports of a node, so these cells are uncorrelated but for their sum, and the second
# moment of each is the sum of squared weights. The counts of truths are a linear image of them, by the inverse mechanisms.


@dataclass(frozen=True, eq=False)
class Axis:
    """How one axis of a table of reports is read: by the inverse of its mechanism where that is untested, else as it is."""

    inverse: Floats  # (truths, reports)
    alone: Bools  # (nodes,) where the mechanism is still to be undone

    def spread(self, shares: Floats) -> Floats:
        """For each report Σ (w - p)² / p over truths, where w is what it counts for a truth of share p."""
        there = shares > 0
        over = np.divide(1.0, shares, out=np.zeros_like(shares), where=there)
        plain = np.where(there, over - 2, 0.0) + 1
        undone = over @ self.inverse**2 - 2 * (there @ self.inverse) + 1
        return np.where(self.alone[:, None], undone, plain)


@dataclass(frozen=True, eq=False)
class Tally:
    """One column in every node of a fringe."""

    counts: Floats  # (nodes, levels, classes) of truths; they may be negative
    squares: Floats  # (nodes, levels, classes) of reports: sums of squared weights
    own: Axis
    label: Axis
    together: bool  # one coin disguises the column and the class

    def sizes(self, rows: int) -> tuple[Floats, Floats]:
        """The rows of each branch (nodes, levels) and their standard errors, when ``rows`` were asked in all."""
        sizes, reported = self.counts.sum(axis=2), self.squares.sum(axis=2)
        second = np.where(self.own.alone[:, None], reported @ (self.own.inverse**2).T, reported)
        return sizes, np.sqrt(np.maximum(second - sizes**2 / rows, 0.0))

    def noise(self, shares: Floats, classes: Floats) -> Floats:
        """The expectation of Σ d² / (p q) where column and class have nothing to do with each other.

        d is the count of a cell less what its margins let expect, p and q are the shares of levels (nodes, levels) and
        of classes (nodes, classes). By row of the node it is (levels - 1)(classes - 1) without a disguise.
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
    """Counts of truths from sums over reports (nodes, levels, classes)."""
    counts = reports.copy()
    if together:
        straight, turned = own.inverse[0]
        both = reports[own.alone]
        counts[own.alone] = straight * both + turned * both[:, ::-1, ::-1]
        return counts
    counts[own.alone] = own.inverse @ counts[own.alone]
    counts[label.alone] = counts[label.alone] @ label.inverse.T
    return counts


# What has been tested on the way to each node of a fringe, and how answers are read there.
#
# A column is tested once on a way. The first test of a column undoes its mechanism; from there on the answers of that mechanism, of
# all its columns where they share a coin, are read as they stand.


@dataclass(frozen=True, eq=False)
class Paths:
    """The ways to nodes that are numbered from 0."""

    answers: Answers
    touched: Bools  # (nodes, mechanisms) of which a column has been tested
    free: Bools  # (nodes, attributes) that have not been tested

    @staticmethod
    def root(answers: Answers) -> "Paths":
        """The way to the root, where nothing has been tested."""
        return Paths(
            answers,
            touched=np.zeros((1, len(answers.mechanisms)), np.bool_),
            free=np.ones((1, answers.attributes), np.bool_),
        )

    @property
    def nodes(self) -> int:
        """How many nodes."""
        return len(self.free)

    def branched(self, tested: Array) -> "Paths":
        """The ways to the branches of every node, in order; ``tested`` names a column, -1 for a leaf."""
        branches = np.where(tested >= 0, self.answers.sizes[tested], 0)
        parent = np.repeat(np.arange(self.nodes), branches)
        touched, free = self.touched[parent], self.free[parent]
        free[np.arange(len(parent)), tested[parent]] = False
        new = np.flatnonzero(self.fresh(tested)[parent])
        touched[new, np.array(self.answers.mechanism_of)[tested[parent[new]]]] = True
        return Paths(self.answers, touched, free)

    def fresh(self, tested: Array) -> Bools:
        """Which nodes test a column whose mechanism is still to be undone."""
        mechanism = np.where(tested >= 0, np.array(self.answers.mechanism_of)[tested], OPEN)
        fresh = mechanism != OPEN
        fresh[fresh] = ~self.touched[fresh, mechanism[fresh]]
        return fresh

    def axis(self, column: int) -> Axis:
        """How the answers to a column are read in each node; -1 is the class."""
        mechanism = self.answers.mechanism_of[column]
        if mechanism == OPEN:
            return Axis(np.eye(len(self.answers.levels[column])), np.zeros(self.nodes, np.bool_))
        return Axis(self.answers.mechanisms[mechanism].inverse, ~self.touched[:, mechanism])

    def tally(self, values: Floats, squares: Floats, column: int | None = None) -> Tally:
        """Counts of truths from sums over reports (nodes, levels, classes) of weights and of their squares.

        Without a column they are those of the classes, as of a column with one level.
        """
        mechanism = OPEN if column is None else self.answers.mechanism_of[column]
        together = mechanism != OPEN and mechanism == self.answers.mechanism_of[-1]
        own = Axis(np.ones((1, 1)), np.zeros(self.nodes, np.bool_)) if column is None else self.axis(column)
        label = self.axis(-1)
        return Tally(undone(values, own, label, together=together), squares, own, label, together)


# Rows on their way through a tree: an entry is a node, the answers of a row as they are read there, and a weight.
#
# Where a node tests a column whose coin nothing above it tested, an entry goes to every branch, with what its report
# counts for that truth; where a coin is shared, the other answers of the coin are turned with it. From there on the
# answers of that coin are read as they stand, and an entry goes to one branch.


FEW_ALIVE = 0.5  # entries are moved together when no more than this share stands in a node


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries that count in no node stand in a node after the last."""

    node: Rows  # (entries,)
    codes: Array  # (columns, entries) the number of levels where an answer is missing
    weights: Weights
    row: Rows | None = None  # (entries,) where they come from, if somebody asks

    def __len__(self) -> int:
        return len(self.node)


@dataclass(frozen=True, eq=False)
class Move:
    """Some entries on their way to a branch."""

    some: Rows  # among the entries
    node: Rows
    factors: Floats  # what they count there, times what they counted
    which: Array  # the number of an entry's factor
    mechanism: ColumnMechanism | None = None
    turned: Bools | None = None  # whose answers to the mechanism's columns are turned round


def onwards(entries: Entries, tested: Array, first: Array, levels: Array, nodes: int) -> Rows:
    """The branch of each entry by the answer it holds; ``nodes`` where nothing is tested or the answer is missing.

    ``tested`` is the column of each node, -1 where none is, and ``first`` its first branch.
    """
    column = np.append(tested, -1)[entries.node]
    code = entries.codes[column, np.arange(len(column))]
    node = np.append(first, 0)[entries.node]
    node += code
    node[(column < 0) | (code >= levels[column])] = nodes
    return node


def branch_moves(entries: Entries, column: int, mechanism: ColumnMechanism, first: Array) -> Iterator[Move]:
    """For every truth of a column the entries that count for it, in the nodes that have a first branch here."""
    here = np.flatnonzero((np.append(first, -1)[entries.node] >= 0) & (entries.codes[column] < len(mechanism.inverse)))
    report, branch = entries.codes[column, here], first[entries.node[here]]
    for truth, counted in enumerate(mechanism.inverse):
        some = slice(None) if counted.all() else np.flatnonzero(counted[report])
        turned = report[some] != truth if len(mechanism.columns) > 1 else None
        yield Move(here[some], branch[some] + truth, counted, report[some], mechanism, turned)


def moved(entries: Entries, moves: Sequence[Move]) -> Entries:
    """All entries where they go; answers are copied once."""
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
    """All factors once, and the number of each entry's."""
    starts = np.cumsum([0, *(len(move.factors) for move in moves)])
    factors, place = np.unique(np.concatenate([move.factors for move in moves]), return_inverse=True)
    which = np.concatenate(
        [place.astype(np.int32)[start:][move.which] for move, start in zip(moves, starts, strict=False)]
    )
    return factors, which


def kept(entries: Entries, node: Rows, nodes: int) -> Entries:
    """The entries in other nodes; when many stand in none, without these."""
    alive = np.flatnonzero(node < nodes)
    if len(alive) > FEW_ALIVE * len(node):
        return Entries(node, entries.codes, entries.weights, entries.row)
    row = None if entries.row is None else entries.row[alive]
    return Entries(node[alive], entries.codes.take(alive, axis=1), entries.weights.take(alive), row)


# Entries that differ in nothing a node will still ask for are one entry, with their weights added up.
#
# A coin for every column sends each entry to all branches, so entries would double with every depth; but each test also
# leaves a column less to tell them apart. Merged, they are no more than the combinations of answers that are left.


MOST_CELLS = 2.0**62  # that a number of 64 bits can tell apart


def merged(entries: Entries, bins: Sequence[int], asked: Bools) -> Entries:
    """The entries, merged when that surely makes them fewer.

    ``bins`` are the codes that each column may hold, and ``asked`` (nodes, columns) the columns still to be read.
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
    """Node and answers in one number; a column that is not asked in a node tells nothing apart there."""
    key = entries.node.copy()
    for column, count in enumerate(bins):
        if not asked[:, column].any():
            continue
        key *= count
        codes = entries.codes[column]
        # Most columns are asked in all nodes: looking up each entry's would take half of the time.
        key += codes if asked[:, column].all() else codes * asked[:, column].take(entries.node)
    return key


def _added(values: Floats, starts: Rows) -> Floats:
    return np.add.reduceat(values, starts) if len(starts) else values
