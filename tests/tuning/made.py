"""Scores and points made up for tests, and a stand-in for the work of scoring."""

from math import nan

from leafcover.metrics.estimates import Estimate, Risk, wilson
from leafcover.metrics.summary import DecisiveRisk
from leafcover.tuning import sweep as work
from leafcover.tuning.scoring import Baselines, BaselineScore, Point, Score
from leafcover.tuning.sweep import Sweep


def share(value, half=0.01):
    return Estimate(value, value - half, value + half, 100)


def risk(value, half=0.01):
    return Risk(value, max(0.0, value - half), min(1.0, value + half), 100, min(1.0, 5 * value))


def decisive(linked, inferred, found=0.0, copied=False):
    """The risks of a point: of record linkage unless it is None, of inference, of membership, and perhaps of copies."""
    return (
        *([] if linked is None else [DecisiveRisk("linkage", risk(linked))]),
        DecisiveRisk("inference", share(inferred), "class", "granted"),
        DecisiveRisk("membership", share(found), method="granted"),
        *([DecisiveRisk("copies", share(0.01))] if copied else []),
    )


def point(name, linked, agreement, *, inferred=0.0, found=0.0, copied=False, others=0.5, on_front=False):
    recipe, _, strength = name.partition(" ")
    settings = dict([strength.split("=")]) if strength else {}
    return Point(
        name=name,
        recipe=recipe,
        settings=settings,
        strength=settings,
        agreement=share(agreement),
        other_agreement=share(others),
        accuracy=share(0.8),
        record_linkage=None if linked is None else risk(linked),
        nearest_record=None if linked is None else risk(linked / 2),
        risks=decisive(linked, inferred, found, copied),
        runs=2,
        on_front=on_front,
    )


def swept(*points, max_risk=None, skipped=(), majority=0.55):
    return Sweep(
        target="class",
        points=tuple(points),
        baselines=Baselines(share(0.9), share(0.6), share(0.85), share(0.5), share(majority)),
        skipped=tuple(skipped),
        max_risk=max_risk,
        other_targets=("age", "town"),
        quasi_identifiers=(),
        runs=2,
        released_rows=100,
        rows=150,
        table_rows=150,
        version="1",
    )


def scored_by(linked, agreement):
    accuracy = Estimate(0.8, nan, nan, 1)
    return Score(share(agreement), share(0.5), accuracy, wilson(100 * linked, 100), risk(linked), decisive(None, 0.0))


class Counted:
    """Counts the trials, and scores them by a quick rule: few people are linked under cover, many under the others."""

    def __init__(self, monkeypatch, stop_after=None, majority=0.55):
        self.scores, self.floors, self.stop_after, self.majority = [], [], stop_after, majority
        monkeypatch.setattr(work, "score", self.score)
        monkeypatch.setattr(work, "score_baselines", self.score_baselines)

    def score(self, task, candidate, run):
        if self.stop_after is not None and len(self.scores) >= self.stop_after:
            raise KeyboardInterrupt
        self.scores.append((candidate.name, run))
        name, strength = next(iter(candidate.settings.items()), ("k", 30))
        rows = 10 * strength if name == "price" else strength
        linked = 1 / rows if candidate.recipe in ("cover", "cells") else 1 - strength
        return scored_by(linked + run / 1000, 0.7 + linked / 4)

    def score_baselines(self, task, run):
        self.floors.append(run)
        return BaselineScore(share(0.9), share(0.6), share(0.85), share(0.5), share(self.majority))
