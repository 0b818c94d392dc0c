"""How figures are said: every one goes through ``Voice``, which knows who listens.

The steward hears all of it. Others hear no count under five, no share that would tell one, whole percents.
"""

from dataclasses import dataclass, replace
from math import ceil, floor, isnan, nan
from typing import TypeVar

from leafcover.measuring.figures import WORST, Estimate, Risk, wilson

FEWEST = 5  # a count below this is not published
RARE = 0.005  # a level of a smaller share of the rows is not published
NONE = "–"

Drawn = TypeVar("Drawn", Risk, Estimate)


@dataclass(frozen=True)
class Voice:
    """``strict`` for readers who may not learn a count under five."""

    rows: int
    strict: bool

    def share(self, value: float) -> str:
        """A share of the rows.

        >>> Voice(200, strict=True).share(0.01), Voice(200, strict=False).share(0.01)
        ('under 3%', '1.0%')
        """
        if isnan(value):
            return NONE
        if not self.strict:
            return _fine(value)
        least = max(1, ceil(100 * FEWEST / self.rows))
        if least >= 50:
            return "not shown"
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
        return 100 if said.startswith("over") else 0 if said.startswith(("under", "not")) else round(100 * value)

    def count(self, value: int) -> str:
        """A number of rows."""
        return f"under {FEWEST}" if self.strict and value < FEWEST else f"{value:,}"

    def risk(self, risk: Risk) -> tuple[str, str]:
        """A risk and its interval."""
        if not risk.tries:
            return NONE, "nobody to try"
        if not self.strict:
            return _fine(risk.value), _between(risk.low, risk.high)
        if risk.value * risk.tries < FEWEST:  # said as if it were five, so that fewer cannot be told apart
            ceiling = wilson(min(FEWEST, risk.tries), risk.tries)
            return f"under {max(1, ceil(100 * ceiling.value))}%", f"0% to {max(1, ceil(100 * ceiling.high))}%"
        if (1 - risk.value) * risk.tries < FEWEST:
            lowest = wilson(max(0, risk.tries - FEWEST), risk.tries)
            return f"over {min(99, floor(100 * lowest.value))}%", f"{floor(100 * lowest.low)}% to 100%"
        percent = round(100 * risk.value)
        value = "under 1%" if percent < 1 else "over 99%" if percent > 99 else f"{percent}%"
        return value, f"{floor(100 * risk.low)}% to {ceil(100 * risk.high)}%"

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

    def worst(self, risk: Risk) -> str:
        """How the worst 1 % fare; empty where nobody knows it row by row."""
        if isnan(risk.worst) or not risk.tries:
            return ""
        people = ceil(WORST * risk.tries)
        found, missed = risk.worst * people, (1 - risk.worst) * people
        if self.strict and (people < FEWEST or found < FEWEST or 0 < missed < FEWEST):
            return "not shown"
        return f"{100 * risk.worst:.0f}%" if self.strict else _fine(risk.worst)

    def estimate(self, estimate: Estimate) -> tuple[str, str]:
        """A mean share and its interval, empty when it has none."""
        if isnan(estimate.value):
            return NONE, ""
        low, high = max(0.0, estimate.low), min(1.0, estimate.high)
        if not self.strict:
            return f"{estimate.value:.1%}", "" if isnan(estimate.low) else f"{low:.1%} to {high:.1%}"
        value = f"{100 * estimate.value:.0f}%"
        return value, "" if isnan(estimate.low) else f"{floor(100 * low)}% to {ceil(100 * high)}%"

    def told(self, estimate: Estimate) -> str:
        """A mean share with its interval, for a sentence."""
        value, interval = self.estimate(estimate)
        return f"{value} ({interval})" if interval else value

    def points(self, estimate: Estimate, tries: int = 0) -> tuple[str, str]:
        """A difference of shares and its interval, in points of a hundred.

        Of so many tries, others are told it in steps of five people at least.

        >>> Voice(100, strict=False).points(Estimate(0.021, -0.004, 0.045, 2000))
        ('+2.1', '−0.4 to +4.5')
        >>> Voice(100, strict=True).points(Estimate(0.021, -0.004, 0.045, 100), tries=100)
        ('0', '−5 to +5')
        """
        if isnan(estimate.value):
            return NONE, ""
        digits = 0 if self.strict else 1
        value, low, high = estimate.value, estimate.low, estimate.high
        if self.strict:
            step = max(1, ceil(100 * FEWEST / tries)) / 100 if tries else 0.01
            value = step * round(value / step)
            if not isnan(low):
                low, high = step * floor(low / step), step * ceil(high / step)
        interval = "" if isnan(low) else f"{_signed(low, digits)} to {_signed(high, digits)}"
        return _signed(value, digits), interval

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


def _between(low: float, high: float) -> str:
    """An interval; of one too narrow to be told the ends in round figures."""
    ends = dict.fromkeys((_fine(low), _fine(high)))
    if len(ends) == 1 and low < high and min(low, 1 - high) < 0.001:
        return "0% to 0.1%" if high < 0.5 else "99.9% to 100%"
    return f"{_fine(low)} to {_fine(high)}"


def _signed(value: float, digits: int) -> str:
    said = f"{100 * value:+.{digits}f}".replace("-", "−")
    return said[1:] if said.strip("+−0.") == "" else said


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Names in a row, with "and".

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def started(words: str) -> str:
    """The words with a capital first."""
    return words[:1].upper() + words[1:]


def counted(number: int, word: str) -> str:
    """A number and its word.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def curled(words: str) -> str:
    """The words with the page's apostrophes."""
    return words.replace("'", "’")
