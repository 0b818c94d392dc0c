"""Which columns are disguised together, by which channel; every other column is reported as it is."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leafcover.channels.channel import Channel
from leafcover.channels.privacy import Privacy
from leafcover.draws import Draws
from leafcover.errors import NameUnknown, PlanError
from leafcover.fast.arrays import MISSING, Codes
from leafcover.table.table import Column, Table


@dataclass(frozen=True)
class Part:
    """A channel and the columns it covers, each with all of its levels in the order of the channel's codes."""

    columns: Mapping[str, tuple[str, ...]]
    channel: Channel

    def __post_init__(self) -> None:
        levels = tuple(len(levels) for levels in self.columns.values())
        if levels != self.channel.shape:
            raise PlanError(
                f"The columns {', '.join(map(repr, self.columns))} have {_listed(levels)} levels, but their channel "
                f"takes {_listed(self.channel.shape)}. Name as many columns and levels as it has."
            )
        for name, texts in self.columns.items():
            if len(set(texts)) != len(texts):
                raise PlanError(f"Column {name!r} names a level twice. Name each level once.")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the channel."""
        return tuple(self.columns)


@dataclass(frozen=True)
class Scheme:
    """The parts of a questionnaire; their coins are independent."""

    parts: tuple[Part, ...]

    def __init__(self, *parts: Part) -> None:
        object.__setattr__(self, "parts", parts)
        names = [name for part in parts for name in part.names]
        if twice := [name for name in names if names.count(name) > 1]:
            raise PlanError(f"Column {twice[0]!r} stands in two parts. Two reports of one answer give more away.")

    def levels(self, table: Table, name: str) -> tuple[str, ...]:
        """The levels of a column in the order of ``codes``: as declared, else as observed."""
        for part in self.parts:
            if name in part.columns:
                return part.columns[name]
        column = table[name]
        if not column.is_category:
            raise PlanError(f"Column {name!r} is a {column.kind}, not a category. Bin it, or ask for another column.")
        return column.levels

    def codes(self, table: Table, name: str) -> Codes:
        """The codes of a column among ``levels``; -1 where it is missing."""
        return recoded(table[name], self.levels(table, name))

    @property
    def privacy(self) -> Privacy:
        """All parts together: the epsilons add up, and one part without any leaves none for the whole."""
        each = [part.channel.privacy for part in self.parts]
        known = [one.epsilon for one in each if one.epsilon is not None]
        said = " ".join(f"{', '.join(part.names)}: {one.words}" for part, one in zip(self.parts, each, strict=True))
        rest = "Columns that are in no part are reported as they are."
        return Privacy(sum(known) if len(known) == len(each) else None, f"{said} {rest}".strip())


def disguise(table: Table, scheme: Scheme, draws: Draws, *, start: int = 0) -> Table:
    """The table with every part reported through its channel; the first row tosses the coins of row ``start``.

    Coins must never be tossed twice for one answer: two reports of it tell more than one.
    """
    reported = []
    for part in scheme.parts:
        codes = [scheme.codes(table, name) for name in part.names]
        given = codes[0] if len(codes) == 1 else np.stack(codes)
        reports = part.channel.apply(given, draws.sub("disguise", *part.names), start)
        for (name, levels), column in zip(part.columns.items(), np.atleast_2d(reports), strict=True):
            # A new column: nothing that was stored of the truth may go with it.
            reported.append(recoded_column(name, column, levels))
    return table.replace(reported)


def recoded(column: Column, levels: tuple[str, ...]) -> Codes:
    """The codes of a category among other levels; missing stays missing."""
    if not column.is_category:
        raise PlanError(f"Column {column.name!r} is a {column.kind}. Read it as a category to disguise it.")
    if column.levels == levels:
        return np.asarray(column.values, np.int32)
    places = {text: code for code, text in enumerate(levels)}
    if unknown := [text for text in column.levels if text not in places]:
        raise PlanError(
            f"Column {column.name!r} holds {len(unknown)} levels that its part does not name. Name every level."
        )
    moved = np.array([places[text] for text in column.levels] + [MISSING], np.int32)  # the last serves code -1
    return moved[column.values]


def recoded_column(name: str, codes: Codes, levels: tuple[str, ...]) -> Column:
    """A category of these codes, with its levels in the order a table keeps them."""
    order = tuple(sorted(levels))
    if order == levels:
        return Column(name, "category", codes, levels=levels)
    moved = np.array([order.index(text) for text in levels] + [MISSING], np.int32)
    return Column(name, "category", moved[codes], levels=order)


def code_of(levels: tuple[str, ...], name: str, text: str) -> int:
    """The code of a level that was asked for by its text."""
    if text not in levels:
        raise NameUnknown("level", text, levels, where=f"in column {name!r}")
    return levels.index(text)


def _listed(counts: tuple[int, ...]) -> str:
    return " and ".join(map(str, counts))
