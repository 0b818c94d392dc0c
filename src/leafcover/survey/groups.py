"""The share of an answer within each group of people, where the groups are the answers to another question.

Both shares are means of weights, and their ratio r has the variance of mean((w - r g)²) / (n mean(g)²), with w the
weight of "answer and group" and g that of "group".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from leafcover.errors import PlanError
from leafcover.response import Estimate
from leafcover.response.estimate import of_weights, weights
from leafcover.survey.listing import side_by_side
from leafcover.survey.questionnaire import Survey
from leafcover.survey.results import LEAST_ANSWERS, checked_number, estimate_json, percent, question_named
from leafcover.table.table import Table


@dataclass(frozen=True)
class Group:
    """People who gave one answer to the question that makes the groups."""

    choice: str
    size: Estimate  # their share of all
    within: Estimate | None  # the share asked for among them; None where there are too few to say


def by_group(survey: Survey, table: Table, name: str, literals: Mapping[str, str | float]) -> tuple[Group, ...]:
    """The share of people who gave all these answers, in each group."""
    checked_number(table)
    if name in literals:
        raise PlanError(f"Question {name!r} makes the groups, so it cannot be asked for in them. Name another one.")
    groups = []
    for choice in question_named(survey, name).choices:
        group = weights(table, survey.scheme, {name: choice})
        both = weights(table, survey.scheme, {name: choice, **literals})
        size = of_weights(group)
        if size.raw_count < LEAST_ANSWERS or size.interval[0] <= 0:  # a group that may be empty has no share
            groups.append(Group(choice, size, None))
            continue
        ratio, rows = float(both.sum() / group.sum()), len(group)
        error = sqrt(float(np.square(both - ratio * group).mean()) / rows) / size.raw
        groups.append(Group(choice, size, Estimate(ratio, error, error, round(size.raw_count), 0)))
    return tuple(groups)


def as_text(groups: tuple[Group, ...]) -> str:
    """The groups as plain text."""
    rows = []
    for group in groups:
        found = group.within
        shown = (f"about {max(0, round(group.size.raw_count)):,}", f"fewer than {LEAST_ANSWERS} or none", "")
        if found is not None:
            shown = (shown[0], percent(found.share), "{} to {}".format(*map(percent, found.sampling_interval)))
        rows.append((group.choice, *shown))
    return side_by_side(("group", "people", "share", "95 % interval"), rows)


def as_json(groups: tuple[Group, ...]) -> list[dict[str, Any]]:
    """The groups for machines."""
    return [
        {
            "group": group.choice,
            "size": estimate_json(group.size),
            "share": None if group.within is None else group.within.share,
            "interval": None if group.within is None else list(group.within.sampling_interval),
            "within": None if group.within is None else estimate_json(group.within),
        }
        for group in groups
    ]
