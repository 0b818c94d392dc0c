"""The scores of a sweep in a file, so that it can go on where it stopped. No value of the table stands in it.

It holds the sweep's secret key as well, and with that key a mark of the table: whoever has the file and knows every
row but one can try guesses at the last. So it is written for its owner alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isnan, nan
from pathlib import Path
from typing import Any, TypeAlias

from leafcover import __version__
from leafcover.errors import LeafcoverError, TableError
from leafcover.metrics.suite import plain
from leafcover.rng import Key
from leafcover.table.atomic import atomic_write
from leafcover.tuning.grid import Candidate
from leafcover.tuning.scoring import Benchmark, Score

FORMAT = 2
WORDS = "Scores of a sweep, with its secret key: for you alone."

Place: TypeAlias = tuple[Candidate | None, int]  # a candidate, or None for what all are compared with; and the run
Found: TypeAlias = Score | Benchmark


@dataclass(frozen=True)
class Identity:
    """What scores belong to: those of another sweep are never mixed in."""

    mark: str  # of the table's values, under the sweep's key
    target: str
    roles: Mapping[str, str]
    rows: int  # that are used at most
    bins: int | None


@dataclass(frozen=True)
class Kept:
    """What a file of scores holds."""

    key: Key
    identity: Identity
    scores: Mapping[Place, Found]


def read_scores(path: Path) -> Kept:
    """The scores in a file."""
    from pydantic import TypeAdapter, ValidationError

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise TableError(f"The scores in '{path}' cannot be read: {why}. Name another --scores.") from None
    no_scores = f"'{path}' is no file of scores that `leafcover sweep` wrote. Name another --scores."
    try:
        held = json.loads(text)
        if not isinstance(held, dict) or "leafcover_scores" not in held:
            raise TableError(no_scores)
        if held["version"] != __version__ or held["leafcover_scores"] != FORMAT:
            old = f"Leafcover {held['version']}" if held["version"] != __version__ else "an earlier Leafcover"
            raise TableError(
                f"The scores in '{path}' were made by {old}, this is {__version__}, which may score otherwise. "
                "Name another --scores."
            )
        scores: dict[Place, Found] = {}
        for one in held["scores"]:
            candidate = None
            if one["recipe"] is not None:
                candidate = Candidate(one["recipe"], _pairs(one["strength"]), _pairs(one["fixed"]))
            kind: Any = Benchmark if candidate is None else Score
            score: Found = TypeAdapter(kind).validate_python(_with_nan(one["score"]))
            if impossible := _impossible(score):
                raise TableError(
                    f"The scores in '{path}' are damaged: {impossible}, which cannot be. "
                    "Delete the file to begin anew, or name another --scores."
                )
            scores[candidate, int(one["run"])] = score
        identity: Identity = TypeAdapter(Identity).validate_python(held["of"])
        return Kept(Key(bytes.fromhex(held["key"])), identity, scores)
    except (KeyError, TypeError, ValueError, ValidationError):
        raise TableError(no_scores) from None


def check_identity(kept: Identity, asked: Identity, path: Path) -> None:
    """Refuse the scores of another sweep, and say in which way it is another."""
    for what, old, new in (
        ("table (or it was read in another way)", kept.mark, asked.mark),
        ("target", kept.target, asked.target),
        ("choice of roles", dict(kept.roles), dict(asked.roles)),
        ("choice of --rows", kept.rows, asked.rows),
        ("choice of --bins", kept.bins, asked.bins),
    ):
        if old != new:
            raise LeafcoverError(f"The scores in '{path}' belong to another {what}. Name another --scores.")


def write_scores(kept: Kept, path: Path) -> None:
    """Put the scores in place of those that were there."""
    held = {
        "leafcover_scores": FORMAT,
        "about": WORDS,
        "version": __version__,
        "key": kept.key.secret.hex(),
        "of": plain(kept.identity),
        "scores": [
            {
                "recipe": None if candidate is None else candidate.recipe,
                "strength": {} if candidate is None else dict(candidate.strength),
                "fixed": {} if candidate is None else dict(candidate.fixed),
                "run": run,
                "score": plain(found),
            }
            for (candidate, run), found in kept.scores.items()
        ],
    }
    with atomic_write(path, force=True, private=True) as part:
        part.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _impossible(score: Found) -> str:
    """A figure that no sweep can have found, in words; empty when there is none.

    A share lies between 0 and 1 and inside its interval; what is learned above control may be below 0.
    """
    figures = [(field.name, getattr(score, field.name)) for field in fields(score)]
    shares = [(name, figure, 0.0) for name, figure in figures if not isinstance(figure, Mapping)]
    above = [(n, one, -1.0) for _, held in figures if isinstance(held, Mapping) for n, one in held.items()]
    for name, figure, least in (*shares, *above):
        told = [value for value in (figure.low, figure.value, figure.high) if not isnan(value)]
        outside = [value for value in (*told, getattr(figure, "worst", nan)) if value < least or value > 1]
        if outside or told != sorted(told):
            return f"{name} is {figure.value:g} ({figure.low:g} to {figure.high:g})"
    return ""


def _pairs(settings: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(settings.items())


def _with_nan(value: Any) -> Any:
    """A figure that does not exist is null in the file."""
    if isinstance(value, dict):
        return {name: _with_nan(content) for name, content in value.items()}
    return nan if value is None else value
