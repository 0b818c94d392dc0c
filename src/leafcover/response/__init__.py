"""Randomised response: answers are disguised before they leave the person who gives them, and still add up."""

from leafcover.response.estimate import Estimate, estimate
from leafcover.response.joint import Joint, joint, joint_inverted
from leafcover.response.scheme import Part, Scheme, disguise

__all__ = ["Estimate", "Joint", "Part", "Scheme", "disguise", "estimate", "joint", "joint_inverted"]
