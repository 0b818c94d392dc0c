"""Figures that stand behind "at most": rounded up, so that what is said is never less than what is."""

from math import ceil, exp, floor, log10

MOST_DIGITS = 12  # of a chance behind the point: a double holds hardly more


def times(epsilon: float) -> str:
    """How many times odds can change, with two digits.

    >>> times(1.0986122886681098), times(1.5), times(3 * 1.5)
    ('3', '4.5', '91')
    """
    factor = exp(epsilon) * (1 - 1e-9)  # rounding errors of ln 3 must not make 3 times into 3.1
    step = 10.0 ** (floor(log10(factor)) - 1)
    return f"{round(ceil(factor / step) * step, 1):,.10g}"


def upwards(epsilon: float) -> str:
    """An epsilon with two digits, never below what it is.

    >>> upwards(1.0986122886681098), upwards(1.5), upwards(1.5001)
    ('1.10', '1.50', '1.51')
    """
    return f"{ceil(epsilon * 100 - 1e-7) / 100:.2f}"


def percent_upwards(chance: float) -> str:
    """A chance in per cent, never below what it is; the nearer to none or all, the more digits.

    >>> percent_upwards(0.25), percent_upwards(0.3324), percent_upwards(0.00401), percent_upwards(0.99961)
    ('25', '34', '0.41', '99.961')
    """
    if chance >= 1:
        return "100"
    digits = min(max(0, 1 - floor(log10(100 * min(chance, 1 - chance)))), MOST_DIGITS)
    return f"{ceil(chance * 10 ** (digits + 2) - 1e-7) / 10**digits:.{digits}f}"
