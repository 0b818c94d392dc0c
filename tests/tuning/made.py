"""Scores and points made up for tests, and a stand-in for the work of scoring."""

from math import nan

from leafcover.metrics.estimates import Estimate, Risk, wilson
from leafcover.tuning import sweep as work
from leafcover.tuning.scoring import Benchmark, Learned, Point, Score, Standard
from leafcover.tuning.sweep import Sweep


def share(value, half=0.01):
    return Estimate(value, value - half, value + half, 100)


def risk(value, half=0.01):
    return Risk(value, max(0.0, value - half), min(1.0, value + half), 100, min(1.0, 5 * value))


def point(name, found, agreement, *, learned=0.0, others=0.5, on_front=False):
    recipe, _, strength = name.partition(" ")
    settings = dict([strength.split("=")]) if strength else {}
    return Point(
        name=name,
        recipe=recipe,
        settings=settings,
        strength=settings,
        agreement=share(agreement),
        others=share(others),
        accuracy=share(0.8),
        informed=risk(found),
        gower=risk(found / 2),
        inference=(Learned("class", share(learned)),),
        runs=2,
        on_front=on_front,
    )


def swept(*points, max_risk=None, left_out=(), commonest=0.55):
    return Sweep(
        target="class",
        points=tuple(points),
        standard=Standard(share(0.9), share(0.6), share(0.85), share(0.5), share(commonest)),
        left_out=tuple(left_out),
        max_risk=max_risk,
        others=("age", "town"),
        quasi_identifiers=(),
        attacked=("class",),
        runs=2,
        released=100,
        rows=150,
        of=150,
        version="1",
    )


def scored_by(found, agreement):
    return Score(share(agreement), share(0.5), Estimate(0.8, nan, nan, 1), wilson(100 * found, 100), risk(found), {})


class Counted:
    """Counts what is scored, and scores it by a rule that is quick: cover finds few people, the others many."""

    def __init__(self, monkeypatch, stop_after=None, commonest=0.55):
        self.scores, self.floors, self.stop_after, self.commonest = [], [], stop_after, commonest
        monkeypatch.setattr(work, "score", self.score)
        monkeypatch.setattr(work, "benchmark", self.benchmark)

    def score(self, task, candidate, run):
        if self.stop_after is not None and len(self.scores) >= self.stop_after:
            raise KeyboardInterrupt
        self.scores.append((candidate.name, run))
        strength = float(next(iter(candidate.settings.values())))
        found = 1 / strength if candidate.recipe == "cover" else 1 - strength
        return scored_by(found + run / 1000, 0.7 + found / 4)

    def benchmark(self, task, run):
        self.floors.append(run)
        return Benchmark(share(0.9), share(0.6), share(0.85), share(0.5), share(self.commonest))
