"""How figures are said: every one goes through ``Voice``, which knows who listens.

The steward hears all of it. Others hear no count under five, no share that would tell one, whole percents.
"""

from dataclasses import dataclass, replace
from math import ceil, floor, isnan, nan
from typing import TypeVar

import numpy as np

from leafcover.metrics.estimates import WORST, Estimate, Risk, wilson
from leafcover.table.table import Table

FEWEST = 5  # a count below this is not published
FEW = (
    2 * FEWEST
)  # of so many, or fewer, no share is published: it would tell fewer than five, or that there are as many
RARE = 0.005  # a level of a smaller share of the rows is not published
NONE = "–"
HIDDEN = "not shown"

Drawn = TypeVar("Drawn", Risk, Estimate)


@dataclass(frozen=True)
class DisclosureRules:
    """``strict`` for readers who may not learn a count under five."""

    rows: int
    strict: bool

    @property
    def silent(self) -> bool:
        """Whether there are too few rows to tell any share of them."""
        return self.hides(self.rows)

    def hides(self, tries: int) -> bool:
        """Whether there are too few tries to tell how many of them succeeded."""
        return self.strict and tries <= FEW

    def share(self, value: float) -> str:
        """A share of the rows.

        >>> DisclosureRules(200, strict=True).share(0.01), DisclosureRules(200, strict=False).share(0.01)
        ('under 3%', '1.0%')
        """
        if isnan(value):
            return NONE
        if not self.strict:
            return _fine(value)
        if self.silent:
            return HIDDEN
        least = max(1, ceil(100 * FEWEST / self.rows))
        percent = round(100 * value)
        if percent < least or value * self.rows < FEWEST:
            return f"under {least}%"
        if percent > 100 - least or (1 - value) * self.rows < FEWEST:
            return f"over {100 - least}%"
        return f"{percent}%"

    def kept(self, value: float) -> str:
        """A share that the method may promise to be whole."""
        return "100%" if value == 1 else self.share(value)

    def bar(self, value: float) -> int:
        """A share as whole percents for a bar: nothing where the share is not told exactly."""
        said = self.share(value)
        return 100 if said.startswith("over") else 0 if said.startswith(("under", HIDDEN)) else round(100 * value)

    def count(self, value: int) -> str:
        """A number of rows."""
        return f"under {FEWEST}" if self.strict and value < FEWEST else f"{value:,}"

    def risk(self, risk: Risk) -> tuple[str, str]:
        """A risk and its interval."""
        if not risk.tries:
            return NONE, "nobody to try"
        if self.hides(risk.tries):
            return HIDDEN, "too few tries"
        if not self.strict:
            return _finely(risk.value, risk.low, risk.high)
        return self._coarsely(risk, risk.tries)

    def _coarsely(self, figure: Risk | Estimate, tries: int) -> tuple[str, str]:
        """A share and its interval in whole percents; fewer than five are said as if they were five."""
        low, high = self.ends(figure, tries)
        interval = "" if isnan(low) else f"{round(100 * low)}% to {round(100 * high)}%"
        percent = round(100 * figure.value)
        if figure.value * tries < FEWEST:
            return f"under {max(1, ceil(100 * FEWEST / tries))}%", interval
        if (1 - figure.value) * tries < FEWEST:
            return f"over {min(99, floor(100 - 100 * FEWEST / tries))}%", interval
        return "under 1%" if percent < 1 else "over 99%" if percent > 99 else f"{percent}%", interval

    def ends(self, figure: Risk | Estimate, tries: int) -> tuple[float, float]:
        """The interval as it is told: what is concluded for others rests on nothing that they are not told."""
        low, high = max(0.0, figure.low), min(1.0, figure.high)
        if not self.strict or isnan(figure.low):
            return (nan, nan) if isnan(figure.low) else (low, high)
        if figure.value * tries < FEWEST:
            low, high = 0.0, wilson(min(FEWEST, tries), tries).high
        elif (1 - figure.value) * tries < FEWEST:
            low, high = wilson(max(0, tries - FEWEST), tries).low, 1.0
        return floor(100 * low) / 100, max(1, ceil(100 * high)) / 100

    def draws(self, value: float, tries: int) -> bool:
        """Whether a share may be drawn: not where it is told as under or over another."""
        return not isnan(value) and (not self.strict or FEWEST <= value * tries <= tries - FEWEST)

    def drawn(self, figure: Drawn) -> Drawn:
        """The figure as it may be drawn: whole percents for those who hear whole percents."""
        if not self.strict or isnan(figure.value):
            return figure
        low, high = (floor(100 * figure.low) / 100, ceil(100 * figure.high) / 100) if figure.low >= 0 else (nan, nan)
        return replace(figure, value=round(figure.value, 2), low=low, high=high)

    def said(self, risk: Risk) -> str:
        """A risk with its interval, for a sentence."""
        value, interval = self.risk(risk)
        return f"{value} ({interval})" if risk.tries else interval

    def tells(self, risk: Risk | None) -> bool:
        """Whether there is a figure to make a sentence of."""
        return risk is not None and bool(risk.tries) and not self.hides(risk.tries)

    def worst(self, risk: Risk) -> str:
        """How the worst 1 % fare; empty where nobody knows it row by row."""
        if isnan(risk.worst) or not risk.tries or self.hides(risk.tries):
            return ""
        people = ceil(WORST * risk.tries)
        found, missed = risk.worst * people, (1 - risk.worst) * people
        if self.strict and (people < FEWEST or found < FEWEST or 0 < missed < FEWEST):
            return HIDDEN
        return f"{100 * risk.worst:.0f}%" if self.strict else _fine(risk.worst)

    def estimate(self, estimate: Estimate, tries: int) -> tuple[str, str]:
        """A mean share over so many tries and its interval, empty when it has none."""
        if isnan(estimate.value):
            return NONE, ""
        if self.hides(tries):
            return HIDDEN, ""
        if self.strict:
            return self._coarsely(estimate, tries)
        low, high = self.ends(estimate, tries)
        return f"{estimate.value:.1%}", "" if isnan(low) else f"{low:.1%} to {high:.1%}"

    def told(self, estimate: Estimate, tries: int) -> str:
        """A mean share with its interval, for a sentence."""
        value, interval = self.estimate(estimate, tries)
        return f"{value} ({interval})" if interval else value

    def points(self, estimate: Estimate, tries: int) -> tuple[str, str]:
        """A difference of shares and its interval, in points of a hundred.

        Of so many tries, others are told it in steps of five people at least.

        >>> DisclosureRules(100, strict=False).points(Estimate(0.021, -0.004, 0.045, 2000), 2000)
        ('+2.1', '−0.4 to +4.5')
        >>> DisclosureRules(100, strict=True).points(Estimate(0.021, -0.004, 0.045, 100), 100)
        ('0', '−5 to +5')
        """
        if isnan(estimate.value):
            return NONE, ""
        if self.hides(tries):
            return HIDDEN, "too few tries"
        digits = 0 if self.strict else 1
        step = self._step(tries)
        value = step * round(estimate.value / step) if step else estimate.value
        low, high = self.outer(estimate, tries)
        interval = "" if isnan(low) else f"{_signed(low, digits)} to {_signed(high, digits)}"
        return _signed(value, digits), interval

    def by(self, estimate: Estimate, tries: int) -> str:
        """The same for a sentence.

        >>> DisclosureRules(900, strict=True).by(Estimate(0.011, -0.004, 0.035, 900), 900)
        '+1 point (−1 to +4)'
        """
        value, interval = self.points(estimate, tries)
        return f"{value} point{'' if value.lstrip('+−') == '1' else 's'}{f' ({interval})' if interval else ''}"

    def outer(self, estimate: Estimate, tries: int) -> tuple[float, float]:
        """The interval of a difference as it is told."""
        step = self._step(tries)
        low, high = max(-1.0, estimate.low), min(1.0, estimate.high)
        if not step or isnan(estimate.low):
            return (nan, nan) if isnan(estimate.low) else (low, high)
        return max(-1.0, step * floor(low / step)), min(1.0, step * ceil(high / step))

    def _step(self, tries: int) -> float:
        """What differences are multiples of; 0 for any."""
        return max(1, ceil(100 * FEWEST / max(tries, 1))) / 100 if self.strict else 0.0

    def figure(self, value: float) -> str:
        """A figure between -1 and 1 that is no share, or a distance."""
        if isnan(value):
            return NONE
        said = f"{value:.{2 if self.strict else 3}f}"
        return said.replace("-", "−") if float(said) else said.lstrip("-")

    def coarse(self, value: float) -> str:
        """The same where a single figure of the original could be worked out from it: in tenths for others."""
        if not self.strict or isnan(value):
            return self.figure(value)
        return "less than 0.05" if abs(value) < 0.05 else f"about {abs(value):.1f}"


def _fine(value: float) -> str:
    if value in (0, 1):
        return f"{value:.0%}"
    if value < 0.001 or value > 0.999:
        return "under 0.1%" if value < 0.5 else "over 99.9%"
    return f"{value:.1%}" if value < 0.1 or value > 0.9 else f"{value:.0%}"


def _finely(value: float, low: float, high: float) -> tuple[str, str]:
    """A share and its interval, all with as many digits; an interval may be said too wide, never too narrow.

    >>> _finely(0.899, 0.892, 0.903), _finely(0.0004, 0.0001, 0.012), _finely(0.9996, 0.999, 0.9999)
    (('89.9%', '89.2% to 90.3%'), ('under 0.1%', '0% to 1.2%'), ('over 99.9%', '99.9% to 100%'))
    """
    digits = 1 if low < 0.1 or high > 0.9 else 0
    ends = [0.0 if low < 0.001 else low, 1.0 if high > 0.999 else high]
    told = [f"{end:.0%}" if end in (0, 1) else f"{end:.{digits}%}" for end in ends]
    said = f"{value:.{digits}%}" if 0.001 <= value <= 0.999 else _fine(value)
    return said, f"{told[0]} to {told[1]}"


def beside(value: float, limit: float, digits: int) -> str:
    """A figure with as many digits as tell it from the limit that it stands beside.

    >>> beside(0.0503, 0.05, 3), beside(0.0513, 0.05, 3), beside(0.05, 0.05, 3)
    ('0.0503', '0.051', '0.050')
    """
    told = (f"{value:.{more}f}" for more in range(digits, digits + 6))
    sides = value > limit, value < limit
    return next((said for said in told if (float(said) > limit, float(said) < limit) == sides), f"{value:.{digits}f}")


def _signed(value: float, digits: int) -> str:
    said = f"{100 * value:+.{digits}f}".replace("-", "−")
    return said[1:] if said.strip("+−0.") == "" else said


# Values that too few rows have to be named to others.


def rare_levels(table: Table) -> dict[str, set[str]]:
    """The levels of each category that too few rows have to be named."""
    found = {}
    for column in table:
        if column.is_category:
            counts = np.bincount(column.values[~column.missing], minlength=len(column.levels)).tolist()
            few = max(FEWEST, RARE * len(table))
            found[column.name] = {level for level, n in zip(column.levels, counts, strict=True) if n < few}
    return found


# Words and numbers put together so that they read well.


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Names in a row, with "and".

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    if not names:
        return "none"
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def started(words: str) -> str:
    """The words with a capital first."""
    return words[:1].upper() + words[1:]


def counted(number: int, word: str, words: str = "") -> str:
    """A number and its word.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "leaf", "leaves")
    ('1 row', '1,200 rows', '2 leaves')
    """
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def curled(words: str) -> str:
    """The words with the page's apostrophes."""
    return words.replace("'", "’")
