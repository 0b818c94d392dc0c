"""The scores of a sweep in a file, so that an interrupted sweep can continue. It holds no value of the table.

It also holds the sweep's secret key and a fingerprint of the table under that key: someone who has the file and knows
every row but one can test guesses at the last. So the file is readable by its owner only.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isnan, nan
from pathlib import Path
from typing import Any, TypeAlias

from leafcover import __version__
from leafcover.errors import LeafcoverError, TableError
from leafcover.keyed_random import Key
from leafcover.metrics.estimates import Estimate, Risk
from leafcover.metrics.suite import plain
from leafcover.table.atomic import atomic_write
from leafcover.tuning.grid import Candidate
from leafcover.tuning.scoring import BaselineScore, Score

FORMAT = 4
ABOUT = "Scores of a sweep and its secret key: do not publish."

Trial: TypeAlias = tuple[Candidate | None, int]  # a candidate, or None for the baselines; and the number of the run
TrialScore: TypeAlias = Score | BaselineScore


@dataclass(frozen=True)
class Identity:
    """The sweep to which scores belong: those of another are never mixed in."""

    fingerprint: str  # of the table's values, under the sweep's key
    target: str
    roles: Mapping[str, str]
    rows: int  # the most that are used
    bins: int | None


@dataclass(frozen=True)
class SavedScores:
    """The contents of a file of scores."""

    key: Key
    identity: Identity
    scores: Mapping[Trial, TrialScore]


def read_scores(path: Path) -> SavedScores:
    """The scores in a file."""
    from pydantic import TypeAdapter, ValidationError

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise TableError(f"The scores in '{path}' cannot be read: {reason}. Choose another file.") from None
    no_scores = f"'{path}' is not a file of scores from `leafcover sweep`. Choose another file."
    try:
        held = json.loads(text)
        if not isinstance(held, dict) or "leafcover_scores" not in held:
            raise TableError(no_scores)
        if held["version"] != __version__ or held["leafcover_scores"] != FORMAT:
            old = f"Leafcover {held['version']}" if held["version"] != __version__ else "an earlier Leafcover"
            raise TableError(
                f"The scores in '{path}' were made by {old}; this is {__version__}, and its scores may differ. "
                "Choose another file."
            )
        scores: dict[Trial, TrialScore] = {}
        for one in held["scores"]:
            candidate = None
            if one["recipe"] is not None:
                candidate = Candidate(one["recipe"], _pairs(one["strength"]), _pairs(one["fixed"]))
            kind: Any = BaselineScore if candidate is None else Score
            score: TrialScore = TypeAdapter(kind).validate_python(_figures(one["score"]))
            if invalid := _invalid_figure(score):
                raise TableError(
                    f"The scores in '{path}' are damaged: {invalid}, which is impossible. "
                    "Delete the file to start over, or choose another file."
                )
            scores[candidate, int(one["run"])] = score
        identity: Identity = TypeAdapter(Identity).validate_python(held["of"])
        return SavedScores(Key(bytes.fromhex(held["key"])), identity, scores)
    except (KeyError, TypeError, ValueError, ValidationError):
        raise TableError(no_scores) from None


def check_identity(saved: Identity, wanted: Identity, path: Path) -> None:
    """Refuse the scores of another sweep, and name the difference."""
    for what, old, new in (
        ("table (or the same one, read with other options)", saved.fingerprint, wanted.fingerprint),
        ("target", saved.target, wanted.target),
        ("choice of roles", dict(saved.roles), dict(wanted.roles)),
        ("choice of rows=...", saved.rows, wanted.rows),
        ("choice of bins=...", saved.bins, wanted.bins),
    ):
        if old != new:
            raise LeafcoverError(f"The scores in '{path}' belong to another {what}. Choose another file.")


def write_scores(saved: SavedScores, path: Path) -> None:
    """Write the scores, and replace those in the file."""
    held = {
        "leafcover_scores": FORMAT,
        "about": ABOUT,
        "version": __version__,
        "key": saved.key.secret.hex(),
        "of": plain(saved.identity),
        "scores": [
            {
                "recipe": None if candidate is None else candidate.recipe,
                "strength": {} if candidate is None else dict(candidate.strength),
                "fixed": {} if candidate is None else dict(candidate.fixed),
                "run": run,
                "score": plain(asdict(score)),
            }
            for (candidate, run), score in saved.scores.items()
        ],
    }
    with atomic_write(path, force=True, private=True) as part:
        part.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _invalid_figure(score: TrialScore) -> str:
    """A figure that no sweep can produce, as text; empty if all are valid.

    A share lies between 0 and 1 and inside its interval; what is above control or false alarms may be below 0.
    """
    figures = [(field.name, getattr(score, field.name)) for field in fields(score)]
    shares = [(name, one, 0.0) for name, one in figures if isinstance(one, Estimate | Risk)]
    above = [(" ".join((one.kind, one.column)), one.risk, -1.0) for one in getattr(score, "attempts", ())]
    for name, figure, least in (*shares, *above):
        interval = [value for value in (figure.low, figure.value, figure.high) if not isnan(value)]
        outside = [value for value in (*interval, getattr(figure, "worst", nan)) if value < least or value > 1]
        if outside or interval != sorted(interval):
            return f"{name} is {figure.value:g} ({figure.low:g} to {figure.high:g})"
    return ""


def _pairs(settings: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(settings.items())


def _figures(score: Mapping[str, Any]) -> dict[str, Any]:
    """A score in the file; null inside a figure is a number that does not exist."""
    return {name: None if held is None else _with_nan(held) for name, held in score.items()}


def _with_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_nan(content) for name, content in value.items()}
    if isinstance(value, list):
        return [_with_nan(content) for content in value]
    return nan if value is None else value
