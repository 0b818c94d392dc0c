"""The scores of several runs as one point of the map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from leafcover.measuring.figures import Estimate, Risk
from leafcover.sweeping.candidates import Candidate, Value
from leafcover.sweeping.scoring import Benchmark, Score


@dataclass(frozen=True)
class Learned:
    """How much better an attacker tells a column of people in the release than of people who are not."""

    column: str
    above_control: Estimate


@dataclass(frozen=True)
class Point:
    """One recipe at one strength: what its release is good for, and whom it gives away."""

    name: str
    recipe: str
    settings: Mapping[str, Value]
    strength: Mapping[str, Value]  # the settings that differ between the points of a recipe
    agreement: Estimate  # for the target
    others: Estimate  # mean over other columns
    accuracy: Estimate  # of a tree grown on the release, for the target
    informed: Risk
    gower: Risk
    inference: tuple[Learned, ...]
    runs: int
    on_front: bool = False

    @property
    def learned(self) -> float:
        """The upper end of what is learned above control, of the column where it is highest; nan when not known."""
        return max((one.above_control.high for one in self.inference), default=nan)

    @property
    def highest_risk(self) -> float:
        """The upper interval end that a limit is compared with: of informed linkage or of inference above control."""
        return max([self.informed.high, *(one.above_control.high for one in self.inference)])


@dataclass(frozen=True)
class Standard:
    """What every point is compared with."""

    floor: Estimate  # agreement of a resample of the original, for the target
    others: Estimate  # the same, mean over other columns
    accuracy: Estimate  # of a tree grown on the original
    chance: (
        Estimate  # agreement of two trees that answer by the original's shares and know nothing of each other (Cohen's)
    )
    commonest: Estimate  # agreement of always giving the commonest answer; never below chance


def point_of(candidate: Candidate, scores: Sequence[Score]) -> Point:
    """The runs of one candidate taken together."""
    columns = dict.fromkeys(name for one in scores for name in one.inference)
    return Point(
        name=candidate.name,
        recipe=candidate.recipe,
        settings=candidate.settings,
        strength=dict(candidate.strength),
        agreement=over_runs([one.agreement for one in scores]),
        others=over_runs([one.others for one in scores]),
        accuracy=over_runs([one.accuracy for one in scores]),
        informed=risk_over_runs([one.informed for one in scores]),
        gower=risk_over_runs([one.gower for one in scores]),
        inference=tuple(
            Learned(name, over_runs([one.inference[name] for one in scores if name in one.inference]))
            for name in columns
        ),
        runs=len(scores),
    )


def standard_of(found: Sequence[Benchmark]) -> Standard:
    """The runs of what is compared with, taken together."""
    return Standard(
        floor=over_runs([one.floor for one in found]),
        others=over_runs([one.others for one in found]),
        accuracy=over_runs([one.accuracy for one in found]),
        chance=over_runs([one.chance for one in found]),
        commonest=over_runs([one.commonest for one in found]),
    )


def over_runs(runs: Sequence[Estimate]) -> Estimate:
    """The mean over runs, from the lowest lower end to the highest upper end of any run.

    What will be published is one release, not the mean of several; so runs never make the interval narrower.

    >>> print(over_runs([Estimate(0.8, 0.7, 0.9, 100), Estimate(0.9, 0.8, 1.0, 100)]))
    0.850 (0.700 to 1.000)
    """
    return Estimate(*_widest(runs), len(runs))


def risk_over_runs(runs: Sequence[Risk]) -> Risk:
    """The same for a risk; its worst rows are those of the worst run."""
    return Risk(*_widest(runs), sum(one.tries for one in runs), max(one.worst for one in runs))


def _widest(runs: Sequence[Estimate] | Sequence[Risk]) -> tuple[float, float, float]:
    known = [one for one in runs if not isnan(one.value)]
    if not known:
        return nan, nan, nan
    mean = float(np.mean([one.value for one in known]))
    return mean, min(one.low for one in known), max(one.high for one in known)
