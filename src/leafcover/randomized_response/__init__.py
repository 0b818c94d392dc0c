"""Randomised response: answers are disguised before they leave the person who gives them, and still add up."""

from leafcover.randomized_response.estimate import (
    Estimate,
    Joint,
    Part,
    Scheme,
    disguise,
    estimate,
    joint,
    joint_inverted,
)
from leafcover.randomized_response.mechanism import Channel, Privacy, matrix
from leafcover.randomized_response.mechanisms import Groups, Kary, OneCoin, Unrelated, Warner
from leafcover.randomized_response.tree import PAPER, Rules, accuracy, grow_tree, pruned

__all__ = [
    "PAPER",
    "Channel",
    "Estimate",
    "Groups",
    "Joint",
    "Kary",
    "OneCoin",
    "Part",
    "Privacy",
    "Rules",
    "Scheme",
    "Unrelated",
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
