"""Slow, obvious twins of the joint refinement and of association inside cells."""

from collections import Counter
from math import log2

CHANCE = 0.7213475204444817


def n_log_n(n):
    return n * log2(n) if n > 0 else 0.0


def spread(values):
    """Rows times entropy, in bits."""
    return n_log_n(len(values)) - sum(n_log_n(c) for c in Counter(values).values())


def information(one, other, label):
    """The sum over cells of rows times mutual information."""
    total = 0.0
    for cell in sorted(set(label)):
        a = [v for v, c in zip(one, label, strict=True) if c == cell]
        b = [v for v, c in zip(other, label, strict=True) if c == cell]
        total += spread(a) + spread(b) - spread(list(zip(a, b, strict=True)))
    return total


def order_of(rows, bins, classes, is_number, j, live):
    """The bins of a column in the order that is cut."""
    present = sorted({bins[j][r] for r in rows})
    if is_number[j]:
        return present
    told = {}
    for t in live:
        if t != j:
            pairs = [(bins[j][r], classes[t][r]) for r in rows]
            told[t] = -spread(pairs) + spread([classes[t][r] for r in rows])
    if not told:
        return present
    chosen = max(told, key=lambda t: (round(told[t], 9), -t))
    counts = Counter(classes[chosen][r] for r in rows)
    common = min(v for v in counts if counts[v] == max(counts.values()))

    def share(level):
        held = [classes[chosen][r] for r in rows if bins[j][r] == level]
        return held.count(common) / len(held)

    return sorted(present, key=share)


def best_cut(rows, bins, classes, is_number, floor):
    """The score and the two sides of the best cut; None when nothing is gained."""
    live = [t for t in range(len(bins)) if len({classes[t][r] for r in rows}) > 1]
    best = None
    for j in live:
        ordered = order_of(rows, bins, classes, is_number, j, live)
        cuts = []
        for p in range(len(ordered) - 1):
            first = set(ordered[: p + 1])
            left = [r for r in rows if bins[j][r] in first]
            right = [r for r in rows if bins[j][r] not in first]
            if len(left) >= floor and len(right) >= floor:
                cuts.append((left, right))
        if not cuts:
            continue
        price = log2(len(cuts)) if is_number[j] else len(ordered) - 1.0
        for left, right in cuts:
            score = -price
            for t in live:
                if t != j:
                    gain = sum(
                        sign * spread([classes[t][r] for r in part])
                        for sign, part in ((1, rows), (-1, left), (-1, right))
                    )
                    score += gain - CHANCE * (len({classes[t][r] for r in rows}) - 1)
            if score > 1e-9 and (best is None or score > best[0] + 1e-9):
                best = (score, left, right)
    return best


def refine(rows, bins, classes, is_number, floor):
    """The parts of one cell, in order."""
    if len(rows) < 2 * floor:
        return [rows]
    found = best_cut(rows, bins, classes, is_number, floor)
    if found is None:
        return [rows]
    _, left, right = found
    return refine(left, bins, classes, is_number, floor) + refine(right, bins, classes, is_number, floor)
