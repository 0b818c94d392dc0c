"""When a node is split, and by which column: the rules that keep a tree from chasing the noise of a disguise."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from leafcover.errors import NameUnknown, ValueOutOfRange

Criterion: TypeAlias = Literal["gain", "ratio"]


@dataclass(frozen=True)
class Rules:
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


PAPER = Rules(min_support=0.0, deviations=0.0, significance=1.0)
"""ID3 as Du and Zhan (2003) print it: split while classes are mixed and columns are left, whatever the noise."""
