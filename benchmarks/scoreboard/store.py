"""Stored scores by method and split, so that a second run is cheap. Only scores are stored, no tables."""

import json
from pathlib import Path

from benchmarks.scoreboard.contenders import Contender
from benchmarks.scoreboard.outside import FOLDER
from benchmarks.scoreboard.score import VERSION, Score

PLACE = FOLDER / "scores.json"


class Store:
    """A JSON file of scores; a method whose description changed is measured again."""

    def __init__(self, place: Path = PLACE) -> None:
        self.place = place
        self.found = json.loads(place.read_text("utf-8")) if place.exists() else {}

    def get(self, contender: Contender, seed: int) -> Score | str | None:
        """The score, or the reason why it has no score, or None if it was not measured yet."""
        held = self.found.get(_name(contender), {}).get(str(seed))
        return Score.of(held) if isinstance(held, dict) else held

    def put(self, contender: Contender, seed: int, score: Score | str) -> None:
        """Store a score (or the reason why it has no score) and write the file at once."""
        self.found.setdefault(_name(contender), {})[str(seed)] = score if isinstance(score, str) else score.plain()
        self.place.parent.mkdir(parents=True, exist_ok=True)
        self.place.write_text(json.dumps(self.found, indent=1), "utf-8")


def _name(contender: Contender) -> str:
    return f"{VERSION}: {contender.name}: {contender.about}"
