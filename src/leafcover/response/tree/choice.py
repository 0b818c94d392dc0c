"""Which column each node of a fringe tests, if any."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from leafcover.fast.arrays import Array, Bools, Floats
from leafcover.response.tree.chance import chance_of_noise
from leafcover.response.tree.gain import ROUNDING, gains, shared_out
from leafcover.response.tree.rules import Rules
from leafcover.response.tree.tally import Tally

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
class Choice:
    """The test of each node, and the counts of its branches."""

    tested: Array  # (nodes,) column, -1 for a leaf
    branches: Sequence[Floats | None]  # for each column that was tried (nodes, levels, classes)


def choice(counter: Counter, held: Floats, rules: Rules) -> Choice:
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
    return Choice(_best(gain, split, allowed, rules), tried)


def _enough(tally: Tally, rows: int, rules: Rules) -> Bools:
    """(nodes, levels) that hold enough rows, and surely some."""
    sizes, errors = tally.sizes(rows)
    least = np.maximum(rules.min_support, rules.deviations * errors)
    return (sizes > ROUNDING) & (sizes >= least - ROUNDING)


def _enough_branches(tally: Tally, counter: Counter, rules: Rules) -> Bools:
    if rules.min_support == rules.deviations == 0:
        return np.ones(counter.nodes, np.bool_)
    return _enough(tally, counter.rows, rules).sum(axis=1) >= 2


def _best(gain: Floats, split: Floats, allowed: Bools, rules: Rules) -> Array:
    score = np.where(allowed, gain, -np.inf)
    if rules.criterion == "ratio":
        positive = gain > TIED
        average = np.where(positive, gain, 0.0).sum(axis=0) / np.maximum(positive.sum(axis=0), 1)
        ratio = np.divide(gain, split, out=np.zeros_like(gain), where=(split > 0) & np.isfinite(gain))
        score = np.where(allowed & (gain >= average - TIED), ratio, -np.inf)
    best = score.max(axis=0, initial=-np.inf)
    first = (score >= best - TIED).argmax(axis=0) if len(score) else np.zeros(score.shape[1], np.int64)
    return np.where(np.isfinite(best), first, -1)
