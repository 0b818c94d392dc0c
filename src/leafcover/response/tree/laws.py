"""The columns a tree may test, as codes, and which of them one coin disguises together.

A law covers one column, by any channel, or several columns of two levels that share a coin. Its inverse says what a
report counts for a truth. Where a coin is shared, a report read against its coin turns the others of that coin too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from leafcover.channels.channel import Channel, inverse
from leafcover.channels.groups import Groups
from leafcover.channels.onecoin import OneCoin
from leafcover.errors import PlanError, TableError
from leafcover.fast.arrays import MISSING, Array, Codes, Floats
from leafcover.response.scheme import Scheme
from leafcover.table.table import Table

OPEN = -1  # the law of a column that is not disguised


@dataclass(frozen=True, eq=False)
class Law:
    """What a report counts for each truth; ``columns`` are more than one where they share a coin."""

    columns: tuple[int, ...]
    inverse: Floats  # (truths, reports); its columns sum to 1


@dataclass(frozen=True, eq=False)
class Answers:
    """Rows with a known class as codes: the attributes, and the class last."""

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    codes: Array  # (columns, rows) unsigned; the number of levels where an answer is missing
    laws: tuple[Law, ...]
    law_of: tuple[int, ...]  # for each column the number of its law, or OPEN

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
    laws = tuple(law for part in scheme.parts for law in _laws(part.channel, part.names, names))
    law_of = [OPEN] * len(names)
    for number, law in enumerate(laws):
        for place in law.columns:
            law_of[place] = number
    return Answers(tuple(names), tuple(texts for texts, _ in columns), codes, laws, tuple(law_of))


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


def _laws(channel: Channel, given: Sequence[str], names: Sequence[str]) -> Iterator[Law]:
    """The laws of a part, one a coin, for those of its columns that are wanted."""
    if isinstance(channel, Groups):
        for group in channel.groups:
            yield from _laws(OneCoin(channel.theta, len(group)), [given[column] for column in group], names)
        return
    places = tuple(names.index(name) for name in given if name in names)
    if len(given) > 1 and not isinstance(channel, OneCoin):
        raise PlanError(
            f"A tree reads one column a channel, or several that share a coin. Got a {type(channel).__name__} over "
            f"{', '.join(map(repr, given))}. Disguise these by OneCoin or Groups."
        )
    if places:
        yield Law(places, inverse(channel.on([0])))
