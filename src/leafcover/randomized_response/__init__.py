"""Randomised response: answers are randomised before they are sent, and shares and trees are estimated from them."""

from leafcover.randomized_response.estimate import (
    DisguisedColumns,
    JointDistribution,
    ProportionEstimate,
    Scheme,
    disguise,
    estimate,
    joint,
    joint_inverted,
)
from leafcover.randomized_response.mechanism import Mechanism, Privacy, matrix
from leafcover.randomized_response.mechanisms import Groups, Kary, OneCoin, UnrelatedQuestion, Warner
from leafcover.randomized_response.tree import PAPER, StoppingRules, accuracy, grow_tree, pruned

__all__ = [
    "PAPER",
    "DisguisedColumns",
    "Groups",
    "JointDistribution",
    "Kary",
    "Mechanism",
    "OneCoin",
    "Privacy",
    "ProportionEstimate",
    "Scheme",
    "StoppingRules",
    "UnrelatedQuestion",
    "Warner",
    "accuracy",
    "disguise",
    "estimate",
    "grow_tree",
    "joint",
    "joint_inverted",
    "matrix",
    "pruned",
]
