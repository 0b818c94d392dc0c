"""What a plan says of its target's trees."""

from leafcover.releasing.plan import Plan
from leafcover.split.forest import Forest
from leafcover.split.refine import Refine
from leafcover.split.trees import Leaves


def leaves_of(plan: Plan) -> list[Leaves | Forest]:
    """Every split of the plan that is, or starts with, the leaves of a tree or of many."""
    splits = [split for step in plan.steps for split in step.splits]
    starts = [split.start if isinstance(split, Refine) else split for split in splits]
    return [start for start in starts if isinstance(start, Leaves | Forest)]


def bins_of(plan: Plan) -> int | None:
    """Into how many classes the plan puts a number as target; None when it is none, or has classes of its own."""
    return next((leaves.bins for leaves in leaves_of(plan) if leaves.of == plan.target and leaves.bins), None)
