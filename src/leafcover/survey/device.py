"""The laws of a survey in whole numbers, for whatever tosses the coins: a browser or a Python program.

Chances become thresholds of 64 random bits, as in ``leafcover.channels.coins``, so a browser that compares the same
integers tosses exactly the coin that the estimates undo.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from leafcover.channels import Kary, OneCoin, Unrelated, Warner
from leafcover.channels.coins import ALL_WORDS
from leafcover.survey.questionnaire import Survey

Below: TypeAlias = Callable[[int], int]  # a whole number from 0 to below the one given, all alike


@dataclass(frozen=True)
class Flip:
    """One coin for some questions of two choices: all as they are when a word is below ``keep``, else all turned."""

    places: tuple[int, ...]
    keep: int
    kind: str = "flip"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """What is reported in the places of this coin."""
        turn = below(ALL_WORDS) >= self.keep
        return {place: codes[place] ^ turn for place in self.places}


@dataclass(frozen=True)
class Among:
    """The answer when a word is below ``keep``, else one of the other levels, all alike."""

    places: tuple[int]
    keep: int
    levels: int
    kind: str = "among"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """What is reported in the place of this draw."""
        (place,) = self.places
        kept, other = below(ALL_WORDS) < self.keep, below(self.levels - 1)  # always both: time tells nothing
        return {place: codes[place] if kept else other + (other >= codes[place])}


@dataclass(frozen=True)
class Harmless:
    """The answer when a word is below ``asked``, else yes when another is below ``yes``."""

    places: tuple[int]
    asked: int
    yes: int
    kind: str = "harmless"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """What is reported in the place of this draw."""
        (place,) = self.places
        asked, harmless = below(ALL_WORDS) < self.asked, int(below(ALL_WORDS) < self.yes)
        return {place: codes[place] if asked else harmless}


Coin: TypeAlias = Flip | Among | Harmless


def coins_of(survey: Survey) -> tuple[Coin, ...]:
    """Every coin of a survey; questions in none of them are open."""
    place = {question.name: number for number, question in enumerate(survey.questions)}
    coins: list[Coin] = []
    for part in survey.scheme.parts:
        places, channel = tuple(place[name] for name in part.names), part.channel
        if isinstance(channel, Warner | OneCoin):
            coins.append(Flip(places, _threshold(channel.theta)))
        elif isinstance(channel, Kary):
            coins.append(Among((places[0],), _threshold(channel.keep), channel.levels))
        elif isinstance(channel, Unrelated):
            coins.append(Harmless((places[0],), _threshold(channel.asked), _threshold(channel.alpha)))
        else:
            raise TypeError(type(channel).__name__)
    return tuple(coins)


def disguised(survey: Survey, codes: Sequence[int], below: Below = secrets.randbelow) -> tuple[int, ...]:
    """The reports for true codes (of an open number: the number). Never call it twice for one person's answers."""
    reports = dict(enumerate(codes))
    for coin in coins_of(survey):
        reports |= coin.toss(codes, below)
    return tuple(reports[place] for place in range(len(codes)))


def as_json(coin: Coin) -> dict[str, Any]:
    """A coin for a browser: thresholds as text, since JavaScript's numbers have 53 bits."""
    return {key: str(value) if key in ("keep", "asked", "yes") else value for key, value in asdict(coin).items()}


def _threshold(chance: float) -> int:
    return int(chance * float(ALL_WORDS))
