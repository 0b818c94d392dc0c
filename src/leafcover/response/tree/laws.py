"""The columns a tree may test, as codes, and which of them one coin disguises together.

A law covers one column, by any channel, or several columns of two levels that share a coin. Its inverse says what a
report counts for a truth. Where a coin is shared, a report read against its coin turns the others of that coin too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.channels.channel import Channel, inverse
from leafcover.channels.groups import Groups
from leafcover.channels.onecoin import OneCoin
from leafcover.errors import PlanError, TableError
from leafcover.fast.arrays import MISSING, Array, Floats
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


def answers(table: Table, scheme: Scheme, names: Sequence[str]) -> Answers:
    """The rows of a table that answer the last of ``names``, the class."""
    levels = tuple(scheme.levels(table, name) for name in names)
    known = scheme.codes(table, names[-1]) != MISSING
    if not known.any():
        raise TableError(f"No row has an answer to {names[-1]!r}. Choose another target, or wait for answers.")
    most = max(len(texts) for texts in levels)
    codes = np.empty((len(names), int(known.sum())), np.uint8 if most < 256 else np.uint32)
    for place, name in enumerate(names):
        column = scheme.codes(table, name)[known]
        codes[place] = np.where(column == MISSING, len(levels[place]), column)
    laws = tuple(law for part in scheme.parts for law in _laws(part.channel, part.names, names))
    law_of = [OPEN] * len(names)
    for number, law in enumerate(laws):
        for place in law.columns:
            law_of[place] = number
    return Answers(tuple(names), levels, codes, laws, tuple(law_of))


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
