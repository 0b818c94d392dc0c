"""Formatting of figures under disclosure rules: every figure of a report goes through `DisclosureRules`.

The internal report gives every figure in full. The external report gives no count under five and no share from which
one could be derived; its shares are whole percents.
"""

from dataclasses import dataclass, replace
from math import ceil, floor, isnan, nan
from typing import TypeVar

import numpy as np

from leafcover.engine.run import FEWEST
from leafcover.messages import catalogue
from leafcover.metrics.estimates import WORST, Estimate, Risk, wilson
from leafcover.table.table import Table

FEW = 2 * FEWEST  # of this many tries or fewer no share is published: one of its two sides has at most five
RARE = 0.005  # a level of a smaller share of the rows is not published
say = catalogue("report")
NONE = "–"
HIDDEN = say("figure-suppressed")

Figure = TypeVar("Figure", Risk, Estimate)


@dataclass(frozen=True)
class DisclosureRules:
    """How figures of a table of so many rows are formatted; ``strict`` for the external report."""

    rows: int
    strict: bool

    @property
    def suppressed(self) -> bool:
        """Whether the table has too few rows to publish any share of them."""
        return self.suppresses(self.rows)

    def suppresses(self, tries: int) -> bool:
        """Whether there are too few tries to publish the share that succeeded."""
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
        if self.suppressed:
            return HIDDEN
        return _percent(value, self.rows)

    def kept(self, value: float) -> str:
        """A share that the method may guarantee to be 100%."""
        return "100%" if value == 1 else self.share(value)

    def bar(self, value: float) -> int:
        """A share in whole percents for a bar; 0 or 100 where the share itself is not published."""
        side = 0 if not self.strict else -1 if self.suppressed else _censored(value, self.rows)
        return 0 if side < 0 else 100 if side > 0 else round(100 * value)

    def count(self, value: int) -> str:
        """A number of rows."""
        return under(f"{FEWEST}") if self.strict and value < FEWEST else f"{value:,}"

    def risk(self, risk: Risk) -> tuple[str, str]:
        """A risk and its interval."""
        if not risk.tries:
            return NONE, say("interval-nobody-attacked")
        if self.suppresses(risk.tries):
            return HIDDEN, say("interval-too-few")
        if not self.strict:
            return _finely(risk.value, risk.low, risk.high)
        return self._coarsely(risk, risk.tries)

    def _coarsely(self, figure: Risk | Estimate, tries: int) -> tuple[str, str]:
        """A share and its interval in whole percents; fewer than five successes are written as if they were five."""
        low, high = self.interval_of(figure, tries)
        interval = "" if isnan(low) else span(f"{round(100 * low)}%", f"{round(100 * high)}%")
        return _percent(figure.value, tries), interval

    def interval_of(self, figure: Risk | Estimate, tries: int) -> tuple[float, float]:
        """The interval as it is published, so that a conclusion never rests on figures that are not."""
        low, high = max(0.0, figure.low), min(1.0, figure.high)
        if not self.strict or isnan(figure.low):
            return (nan, nan) if isnan(figure.low) else (low, high)
        if figure.value * tries < FEWEST:
            low, high = 0.0, wilson(min(FEWEST, tries), tries).high
        elif (1 - figure.value) * tries < FEWEST:
            low, high = wilson(max(0, tries - FEWEST), tries).low, 1.0
        return floor(100 * low) / 100, max(1, ceil(100 * high)) / 100

    def can_draw(self, value: float, tries: int) -> bool:
        """Whether a share may be drawn: not where it is published only as under or over a limit."""
        return not isnan(value) and (not self.strict or FEWEST <= value * tries <= tries - FEWEST)

    def rounded(self, figure: Figure) -> Figure:
        """The figure as it may be drawn: in the external report in whole percents."""
        if not self.strict or isnan(figure.value):
            return figure
        low, high = (floor(100 * figure.low) / 100, ceil(100 * figure.high) / 100) if figure.low >= 0 else (nan, nan)
        return replace(figure, value=round(figure.value, 2), low=low, high=high)

    def format_risk(self, risk: Risk) -> str:
        """A risk with its interval, for a sentence."""
        value, interval = self.risk(risk)
        return f"{value} ({interval})" if risk.tries else interval

    def shows(self, risk: Risk | None) -> bool:
        """Whether there is a figure to publish."""
        return risk is not None and bool(risk.tries) and not self.suppresses(risk.tries)

    def worst(self, risk: Risk) -> str:
        """The risk of the most exposed 1 % of people; empty where it is not known row by row."""
        if isnan(risk.worst) or not risk.tries or self.suppresses(risk.tries):
            return ""
        people = ceil(WORST * risk.tries)
        found, missed = risk.worst * people, (1 - risk.worst) * people
        if self.strict and (people < FEWEST or found < FEWEST or 0 < missed < FEWEST):
            return HIDDEN
        if self.strict:
            return under("1%") if 100 * risk.worst < 1 else f"{100 * risk.worst:.0f}%"
        return _fine(risk.worst)

    def estimate(self, estimate: Estimate, tries: int) -> tuple[str, str]:
        """A mean share over so many tries, and its interval or an empty text."""
        if isnan(estimate.value):
            return NONE, ""
        if self.suppresses(tries):
            return HIDDEN, ""
        if self.strict:
            return self._coarsely(estimate, tries)
        low, high = self.interval_of(estimate, tries)
        return f"{estimate.value:.1%}", "" if isnan(low) else span(f"{low:.1%}", f"{high:.1%}")

    def format_estimate(self, estimate: Estimate, tries: int) -> str:
        """A mean share with its interval, for a sentence."""
        value, interval = self.estimate(estimate, tries)
        return f"{value} ({interval})" if interval else value

    def points(self, estimate: Estimate, tries: int) -> tuple[str, str]:
        """A difference of shares and its interval, in percentage points.

        The external report gives it in steps of at least five people.

        >>> DisclosureRules(100, strict=False).points(Estimate(0.021, -0.004, 0.045, 2000), 2000)
        ('+2.1', '−0.4 to +4.5')
        >>> DisclosureRules(100, strict=True).points(Estimate(0.021, -0.004, 0.045, 100), 100)
        ('0', '−5 to +5')
        """
        if isnan(estimate.value):
            return NONE, ""
        if self.suppresses(tries):
            return HIDDEN, say("interval-too-few")
        digits, shown = 0 if self.strict else 1, self.rounded_difference(estimate, tries)
        ends = "" if isnan(shown.low) else span(_signed(shown.low, digits), _signed(shown.high, digits))
        return _signed(shown.value, digits), ends

    def rounded_difference(self, estimate: Estimate, tries: int) -> Estimate:
        """A difference of shares as it is published, and as it may be drawn or sorted by."""
        step = self._step(tries)
        value = step * round(estimate.value / step) if step and not isnan(estimate.value) else estimate.value
        return Estimate(value, *self.difference_interval(estimate, tries), estimate.runs)

    def format_points(self, estimate: Estimate, tries: int) -> str:
        """A difference of shares with its interval, for a sentence.

        >>> DisclosureRules(900, strict=True).format_points(Estimate(0.011, -0.004, 0.035, 900), 900)
        '+1 percentage point (−1 to +4)'
        """
        value, interval = self.points(estimate, tries)
        number = "one" if value.lstrip("+−") == "1" else "other"
        return say("percentage-points", value=value, number=number) + (f" ({interval})" if interval else "")

    def difference_interval(self, estimate: Estimate, tries: int) -> tuple[float, float]:
        """The interval of a difference as it is published."""
        step = self._step(tries)
        low, high = max(-1.0, estimate.low), min(1.0, estimate.high)
        if not step or isnan(estimate.low):
            return (nan, nan) if isnan(estimate.low) else (low, high)
        return max(-1.0, step * floor(low / step)), min(1.0, step * ceil(high / step))

    def _step(self, tries: int) -> float:
        """What published differences are multiples of; 0 where they are not rounded."""
        return max(1, ceil(100 * FEWEST / max(tries, 1))) / 100 if self.strict else 0.0

    def figure(self, value: float) -> str:
        """A figure between -1 and 1 that is not a share, or a distance."""
        if isnan(value):
            return NONE
        text = f"{value:.{2 if self.strict else 3}f}"
        return text.replace("-", "−") if float(text) else text.lstrip("-")

    def coarse(self, value: float) -> str:
        """A figure from which one of the original could be derived: the external report gives it in tenths."""
        if not self.strict or isnan(value):
            return self.figure(value)
        return under("0.05") if abs(value) < 0.05 else say("about", value=f"{abs(value):.1f}")


def under(value: str) -> str:
    """A figure that is published only as below a limit."""
    return say("under", value=value)


def over(value: str) -> str:
    """A figure that is published only as above a limit."""
    return say("over", value=value)


def span(low: str, high: str) -> str:
    """An interval."""
    return say("interval", low=low, high=high)


def _least_percent(tries: int) -> int:
    """The smallest whole percent of so many tries that is at least five of them."""
    return max(1, ceil(100 * FEWEST / tries))


def _censored(value: float, tries: int) -> int:
    """-1 for a share published only as under a limit, 1 for one published as over a limit, else 0."""
    least, percent = _least_percent(tries), round(100 * value)
    if percent < least or value * tries < FEWEST:
        return -1
    return 1 if percent > 100 - least or (1 - value) * tries < FEWEST else 0


def _percent(value: float, tries: int) -> str:
    """A share in whole percents, from which no count under five follows.

    >>> _percent(5 / 120, 120), _percent(6 / 120, 120), _percent(116 / 120, 120)
    ('under 5%', '5%', 'over 95%')
    """
    side, least = _censored(value, tries), _least_percent(tries)
    return under(f"{least}%") if side < 0 else over(f"{100 - least}%") if side > 0 else f"{round(100 * value)}%"


def _fine(value: float) -> str:
    if value in (0, 1):
        return f"{value:.0%}"
    if value < 0.001 or value > 0.999:
        return under("0.1%") if value < 0.5 else over("99.9%")
    return f"{value:.1%}" if value < 0.1 or value > 0.9 else f"{value:.0%}"


def _finely(value: float, low: float, high: float) -> tuple[str, str]:
    """A share and its interval with the same number of digits; the interval may be too wide, never too narrow.

    >>> _finely(0.899, 0.892, 0.903), _finely(0.0004, 0.0001, 0.012), _finely(0.9996, 0.999, 0.9999)
    (('89.9%', '89.2% to 90.3%'), ('under 0.1%', '0% to 1.2%'), ('over 99.9%', '99.9% to 100%'))
    """
    digits = 1 if low < 0.1 or high > 0.9 else 0
    ends = [0.0 if low < 0.001 else low, 1.0 if high > 0.999 else high]
    low_text, high_text = (f"{end:.0%}" if end in (0, 1) else f"{end:.{digits}%}" for end in ends)
    text = f"{value:.{digits}%}" if 0.001 <= value <= 0.999 else _fine(value)
    return text, span(low_text, high_text)


def beside(value: float, limit: float, digits: int) -> str:
    """A figure with enough digits to distinguish it from a limit.

    >>> beside(0.0503, 0.05, 3), beside(0.0513, 0.05, 3), beside(0.05, 0.05, 3)
    ('0.0503', '0.051', '0.050')
    """
    texts = (f"{value:.{more}f}" for more in range(digits, digits + 6))
    sides = value > limit, value < limit
    return next((text for text in texts if (float(text) > limit, float(text) < limit) == sides), f"{value:.{digits}f}")


def _signed(value: float, digits: int) -> str:
    text = f"{100 * value:+.{digits}f}".replace("-", "−")
    return text[1:] if text.strip("+−0.") == "" else text


# Values too rare to be published.


def rare_levels(table: Table) -> dict[str, set[str]]:
    """The levels of each category that too few rows have to be published."""
    found = {}
    for column in table:
        if column.is_category:
            counts = np.bincount(column.values[~column.missing], minlength=len(column.levels)).tolist()
            few = max(FEWEST, RARE * len(table))
            found[column.name] = {level for level, n in zip(column.levels, counts, strict=True) if n < few}
    return found


# Names and counts in a sentence.


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Names in a row, with "and".

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    if not names:
        return say("names-none")
    shown = list(names) if len(names) <= most else [*names[:most], say("names-more", count=len(names) - most)]
    return shown[0] if len(shown) == 1 else say("names-listed", names=", ".join(shown[:-1]), last=shown[-1])


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
