"""Tables of shares over several columns, from disguised answers.

Reports are counted and the law of each part is undone along its own axes, one after the other: no matrix is made. The
result of plain inversion is unbiased but may be negative; what is shown is the nearest table that can be (projection
onto the simplex) or the likeliest one (iterative Bayesian update).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.channels.channel import Channel
from leafcover.errors import NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.fast.arrays import MISSING, Floats
from leafcover.response.scheme import Scheme
from leafcover.response.simplex import likeliest, nearest
from leafcover.table.table import Table

Method: TypeAlias = Literal["likeliest", "nearest"]
MOST_CELLS = 1 << 22  # a table of this many shares takes 32 MB


@dataclass(frozen=True, eq=False)
class Joint:
    """Shares of every combination of levels among the rows that answered all columns."""

    columns: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    shares: Floats  # one axis a column; they add up to 1
    rows: int
    missing: int  # rows where one of the columns is missing, counted apart
    settled: bool = True  # False when the likeliest table was not reached in the rounds allowed

    @property
    def counts(self) -> Floats:
        """Expected numbers of rows; with whole people in mind, round them last."""
        return self.shares * self.rows


def joint(table: Table, scheme: Scheme, columns: Sequence[str], *, method: Method = "likeliest") -> Joint:
    """The estimated joint table of some columns, disguised or not; no share is negative.

    >>> from leafcover.channels import Warner
    >>> from leafcover.response.scheme import Part
    >>> from leafcover.table.table import Column
    >>> reported = Table((Column("ill", "category", np.repeat(np.array([0, 1], np.int32), [60, 40]), ("no", "yes")),))
    >>> scheme = Scheme(Part({"ill": ("no", "yes")}, Warner(0.75)))
    >>> joint(reported, scheme, ["ill"]).shares.round(2)
    array([0.7, 0.3])
    """
    if method not in get_args(Method):
        raise NameUnknown("method", method, get_args(Method))
    reported = _reported(table, scheme, columns)
    laws = _laws(scheme, columns)
    if method == "nearest":
        shares = nearest(_along(reported.shares, laws, lambda law: law.unmix))
        return _with(reported, shares)
    found = likeliest(
        reported.counts,
        lambda shares: _along(shares, laws, lambda law: law.mix),
        lambda values: _along(values, laws, lambda law: law.mix_back),
    )
    return _with(reported, found.shares, settled=found.settled)


def joint_inverted(table: Table, scheme: Scheme, columns: Sequence[str]) -> Joint:
    """The joint table by plain inversion: unbiased and additive, but shares may be negative or above 1."""
    reported = _reported(table, scheme, columns)
    return _with(reported, _along(reported.shares, _laws(scheme, columns), lambda law: law.unmix))


Law: TypeAlias = tuple[tuple[int, ...], Channel]  # the axes of a table, and the channel over them


def _reported(table: Table, scheme: Scheme, columns: Sequence[str]) -> Joint:
    if not columns or len(set(columns)) != len(columns):
        raise PlanError(f"A joint table needs different columns. Got {list(columns)}. Name each column once.")
    levels = tuple(scheme.levels(table, name) for name in columns)
    shape = tuple(len(texts) for texts in levels)
    if prod(shape) > MOST_CELLS:
        raise ValueOutOfRange("The number of cells of a joint table", prod(shape), f"at most {MOST_CELLS}")
    codes = np.stack([scheme.codes(table, name) for name in columns])
    answered = (codes != MISSING).all(axis=0)
    rows = int(answered.sum())
    if not rows:
        raise TableError(f"No row answers all of {', '.join(map(repr, columns))}. Ask for fewer columns.")
    cell = np.ravel_multi_index(tuple(codes[:, answered]), shape)
    shares = np.bincount(cell, minlength=prod(shape)).reshape(shape) / rows
    return Joint(tuple(columns), levels, shares, rows, len(table) - rows)


def _laws(scheme: Scheme, columns: Sequence[str]) -> list[Law]:
    laws: list[Law] = []
    for part in scheme.parts:
        places = [place for place, name in enumerate(part.names) if name in columns]
        if places:
            axes = tuple(columns.index(part.names[place]) for place in places)
            laws.append((axes, part.channel.on(places)))
    return laws


def _along(shares: Floats, laws: list[Law], way: Callable[[Channel], Callable[[Floats], Floats]]) -> Floats:
    """A way through each law, along the axes of its own columns."""
    for axes, channel in laws:
        front = tuple(range(len(axes)))
        shares = np.moveaxis(way(channel)(np.moveaxis(shares, axes, front)), front, axes)
    return shares


def _with(reported: Joint, shares: Floats, *, settled: bool = True) -> Joint:
    return Joint(reported.columns, reported.levels, shares, reported.rows, reported.missing, settled)
