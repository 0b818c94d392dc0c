"""Randomised response: answers are disguised before they leave the person who gives them, and still add up."""

from leafcover.response.estimate import Estimate, estimate
from leafcover.response.joint import Joint, joint, joint_inverted
from leafcover.response.scheme import Part, Scheme, disguise
from leafcover.response.tree.grow import grow_tree
from leafcover.response.tree.prune import pruned
from leafcover.response.tree.rules import PAPER, Rules
from leafcover.response.tree.score import accuracy

__all__ = [
    "PAPER",
    "Estimate",
    "Joint",
    "Part",
    "Rules",
    "Scheme",
    "accuracy",
    "disguise",
    "estimate",
    "grow_tree",
    "joint",
    "joint_inverted",
    "pruned",
]
