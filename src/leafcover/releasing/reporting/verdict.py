"""A judgement and why; the reasons say every limit that they go by."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Fit: TypeAlias = Literal["yes", "with care", "no", "not known"]
ROUNDING = 1e-9  # a figure this little above its limit is at it


@dataclass(frozen=True)
class Verdict:
    """Whether the release is fit for somebody, and why."""

    fit: Fit
    whom: str
    why: str


def judged(value: float, first: float, second: float) -> Fit:
    """Fit up to the first limit, with care up to the second.

    >>> judged(0.05, 0.05, 0.2), judged(0.0501, 0.05, 0.2), judged(0.3, 0.05, 0.2)
    ('yes', 'with care', 'no')
    """
    return "yes" if value <= first + ROUNDING else "with care" if value <= second + ROUNDING else "no"
