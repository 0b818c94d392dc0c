"""From figures to places in the drawing: risk on a logarithmic scale, agreement on a plain one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan, log10

DECADES = 3.0  # shown at most: smaller risks stand at the edge
NARROWEST = 0.5  # decades shown at least
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)  # between lines of agreement


@dataclass(frozen=True)
class Format:
    """How large a map is drawn, and its margins."""

    width: float
    height: float
    letters: float
    left: float
    right: float
    top: float
    bottom: float


WIDE = Format(860.0, 470.0, 14.0, 54.0, 22.0, 34.0, 56.0)  # for a screen
NARROW = Format(390.0, 430.0, 13.5, 46.0, 14.0, 34.0, 56.0)  # for a phone


@dataclass(frozen=True)
class Scale:
    """What the ends of a drawing stand for."""

    form: Format
    left: float  # the logarithm of the least risk shown
    right: float
    bottom: float
    top: float

    def x(self, risk: float) -> float:
        """Where a risk stands; beyond the ends at the end."""
        share = (log10(max(risk, 1e-12)) - self.left) / (self.right - self.left)
        return self.form.left + min(max(share, 0.0), 1.0) * (self.form.width - self.form.left - self.form.right)

    def beyond_x(self, risk: float) -> bool:
        """Whether a risk lies outside the drawing, rounding apart."""
        return not self.left - 1e-9 <= log10(max(risk, 1e-12)) <= self.right + 1e-9

    def beyond_y(self, utility: float) -> bool:
        """Whether an agreement lies outside the drawing, rounding apart."""
        return not self.bottom - 1e-9 <= utility <= self.top + 1e-9

    def y(self, utility: float) -> float:
        """Where an agreement stands; beyond the ends at the end."""
        share = (utility - self.bottom) / (self.top - self.bottom)
        height = self.form.height - self.form.top - self.form.bottom
        return self.form.top + (1 - min(max(share, 0.0), 1.0)) * height


def scale_of(form: Format, risks: Sequence[float], utilities: Sequence[float]) -> Scale:
    """Ends that leave a little room around all figures, on lines of the grid."""
    right = min(0.0, log10(max([*risks, 1e-12])) + 0.15)
    left = max(log10(max(min(risks), 1e-12)) - 0.2, right - DECADES)
    left = min(left, right - NARROWEST)
    shown = [utility for utility in utilities if not isnan(utility)]
    low, high = min(shown), max(shown)
    step = _step(high - low)
    bottom = max(0.0, floor((low - 0.25 * step) / step + 1e-9) * step)
    top = min(1.0, ceil((high + 0.5 * step) / step - 1e-9) * step)
    return Scale(form, left, right, bottom, top if top > bottom else bottom + step)


def ticks_between(bottom: float, top: float) -> list[float]:
    """The lines of agreement, few enough to read.

    >>> ticks_between(0.85, 0.95)
    [0.86, 0.88, 0.9, 0.92, 0.94]
    """
    step = _step(top - bottom)
    return [round(i * step, 4) for i in range(ceil(bottom / step - 1e-9), floor(top / step + 1e-9) + 1)]


def risk_ticks(scale: Scale) -> list[float]:
    """Round risks: 1, 2 and 5 of every decade, or fewer where there is no room."""
    found = [digit * 10.0**decade for decade in range(-12, 1) for digit in (1, 2, 5)]
    shown = [risk for risk in found if scale.left - 1e-9 <= log10(risk) <= scale.right + 1e-9]
    room = (scale.form.width - scale.form.left - scale.form.right) / (3.4 * scale.form.letters)
    if len(shown) > room:
        shown = [risk for risk in shown if abs(log10(risk) - round(log10(risk))) < 1e-9 or len(shown) <= 1.5 * room]
    return [float(f"{risk:.1g}") for risk in shown]


def _step(span: float) -> float:
    return next((step for step in STEPS if span / step <= 6), STEPS[-1])
