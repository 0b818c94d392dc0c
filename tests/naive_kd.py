"""The kd tree in exact fractions, one node at a time: slow and obvious."""

from fractions import Fraction


def known_and_filled(values, decimals):
    """Values as fractions, decimal ones by their decimals; a missing one (None) is the mean, rounded as a float."""
    steps = 10**decimals if decimals is not None else 1

    def exact(value):
        return Fraction(round(value * steps)) if decimals is not None else Fraction(value)

    known = [exact(v) for v in values if v is not None]
    mean = Fraction(float(sum(known) / len(known))) if known else Fraction(0)
    return [(mean if v is None else exact(v)) / steps for v in values]


def variance(values):
    mean = sum(values) / Fraction(len(values))
    return sum((v - mean) ** 2 for v in values) / Fraction(len(values))


def size_of(values, scale):
    """The square of what a column is divided by."""
    if scale == "minmax":
        return (max(values) - min(values)) ** 2
    if scale == "max":
        return max(abs(v) for v in values) ** 2
    return variance(values) if scale == "z" else 1


def median(values):
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def grow(columns, *, scale, cut, scope, reuse, leaf_max, min_child, tie, axes=None):
    """A leaf is its rows in order; a node (column, cut, left, right)."""
    sizes = [size_of(column, scale) for column in columns]
    middles = [(min(column) + max(column)) / 2 for column in columns]

    def cut_of(values, middle):
        midrange = middle if scope == "global" else (min(values) + max(values)) / 2
        for threshold in [median(values)] if cut == "median" else [midrange, median(values)]:
            for side in ("left", "right") if tie == "left" else ("right", "left"):
                first = [v for v in values if v < threshold or (side == "left" and v == threshold)]
                if min(len(first), len(values) - len(first)) >= min_child:
                    return threshold if side == "left" or threshold not in values else max(first)
        return None

    def below(rows, free, depth=0):
        if len(rows) <= leaf_max:
            return rows
        here = {c: [columns[c][row] for row in rows] for c in free}
        spread = {c: variance(here[c]) / sizes[c] for c in free if len(set(here[c])) > 1}
        in_turn = {c: (c - depth) % len(columns) if axes == "cycle" else -spread[c] for c in spread}
        for c in sorted(spread, key=lambda c: (in_turn[c], c)):
            at = cut_of(here[c], middles[c])
            if at is not None:
                left = [row for row in rows if columns[c][row] <= at]
                right = [row for row in rows if columns[c][row] > at]
                then = free if reuse else [other for other in free if other != c]
                return c, float(at), below(left, then, depth + 1), below(right, then, depth + 1)
        return rows

    return below(list(range(len(columns[0]))), list(range(len(columns))))
