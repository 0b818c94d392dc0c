"""Groups of columns with a coin each: between one coin for all answers and a coin for every answer.

Coins are independent, so the law is the Kronecker product of the groups' laws and the estimator the product of
theirs. Its variance grows like (2θ - 1)⁻² for every group that a question touches.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.channels.channel import checked_codes, checked_literals
from leafcover.channels.onecoin import OneCoin
from leafcover.channels.privacy import Privacy
from leafcover.draws import Draws
from leafcover.errors import PlanError
from leafcover.fast.arrays import Codes, Floats


@dataclass(frozen=True)
class Groups:
    """Columns of two levels in groups; every group tosses its own coin of chance ``theta``.

    >>> Groups(0.8, groups=((0, 2), (1,))).shape
    (2, 2, 2)
    """

    theta: float
    groups: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        placed = sorted(column for group in self.groups for column in group)
        if not placed or placed != list(range(len(placed))) or not all(self.groups):
            raise PlanError(
                f"Groups must hold every column from 0 on once, and none be empty. Got {self.groups}. "
                "Write them like ((0, 2), (1,))."
            )
        for group in self.groups:
            OneCoin(self.theta, len(group))

    @property
    def shape(self) -> tuple[int, ...]:
        """Two levels a column."""
        return (2,) * sum(len(group) for group in self.groups)

    def apply(self, codes: Codes, draws: Draws, start: int = 0) -> Codes:
        """Each group of each record, or its complement."""
        table = np.atleast_2d(checked_codes(codes, self.shape))
        reports = np.empty_like(table)
        for number, group in enumerate(self.groups):
            own = draws.sub("group", str(number))
            reports[list(group)] = OneCoin(self.theta, len(group)).apply(_codes_of(table, group), own, start)
        return reports.reshape(codes.shape)

    def mix(self, shares: Floats) -> Floats:
        """Group by group."""
        return self._each(shares, OneCoin.mix)

    def unmix(self, shares: Floats) -> Floats:
        """Group by group."""
        return self._each(shares, OneCoin.unmix)

    def mix_back(self, values: Floats) -> Floats:
        """The law is its own transpose."""
        return self.mix(values)

    def weights(self, literals: Mapping[int, int], reports: Codes) -> Floats:
        """The product over groups of (θ 1{E} - (1 - θ) 1{complement}) / (2θ - 1)."""
        checked_literals(literals, self.shape)
        table = np.atleast_2d(reports)
        product = np.ones(table.shape[1])
        for group in self.groups:
            own = {place: literals[column] for place, column in enumerate(group) if column in literals}
            if own:
                product *= OneCoin(self.theta, len(group)).weights(own, table[list(group)])
        return product

    def variance(self, shares: Floats, rows: int) -> float:
        """Of an estimated P(E), by the coins alone.

        ``shares`` has an axis of two for every group that E touches: the share of rows whose answers in the group
        are the complement of E's (0) or E's own (1). With t = θ(1 - θ) / (2θ - 1)² a row counts t for every group
        that is turned round and 1 + t for every group that is not, multiplied. Sampling adds P(E)(1 - P(E)) / n.

        >>> round(Groups(0.8, ((0,), (1,))).variance(np.full((2, 2), 0.25), rows=100), 5)
        0.00642
        """
        excess = OneCoin(self.theta, 1).excess
        counted = shares
        for _ in range(shares.ndim):
            counted = np.tensordot(counted, np.array([excess, 1 + excess]), axes=(0, 0))
        return float(counted - shares[(1,) * shares.ndim]) / rows

    def on(self, columns: Sequence[int]) -> "Groups":
        """The coins of some of the columns."""
        if len(set(columns)) != len(columns) or not set(columns) <= set(range(len(self.shape))):
            last = len(self.shape) - 1
            raise PlanError(f"This channel has columns 0 to {last}. Got {list(columns)}. Name each once.")
        left = (tuple(place for place, column in enumerate(columns) if column in group) for group in self.groups)
        return Groups(self.theta, tuple(group for group in left if group))

    @property
    def privacy(self) -> Privacy:
        """The sum of the groups' epsilons where all have one column; else none."""
        each = [OneCoin(self.theta, len(group)).privacy for group in self.groups]
        known = [one.epsilon for one in each if one.epsilon is not None]
        if len(known) == len(each):
            said = f"{len(each)} answers, each with its own coin; the epsilons add up."
            return Privacy(sum(known), said)
        largest = max(self.groups, key=len)
        return Privacy(None, f"in a group of {len(largest)}: {OneCoin(self.theta, len(largest)).privacy.words}")

    def _each(self, shares: Floats, law: Callable[[OneCoin, Floats], Floats]) -> Floats:
        for group in self.groups:
            front = tuple(range(len(group)))
            shares = np.moveaxis(law(OneCoin(self.theta, len(group)), np.moveaxis(shares, group, front)), front, group)
        return shares


def _codes_of(table: Codes, group: tuple[int, ...]) -> Codes:
    return table[group[0]] if len(group) == 1 else table[list(group)]
