"""How good is a test: gain and split information of one attribute at one node (C4.5 Release 8).

Rows of weight one are counted in whole numbers and need no logarithm; fractional rows are summed in 32 bits in
the order given, for their sums depend on it.
"""

import numpy as np
from numba import njit

from leafcover.fast.arrays import Bools, Codes, Floats, Rows, Singles
from leafcover.fast.information import term, total_information

NO_GAIN = np.float32(-1e-3)  # an attribute that offers no test
EPSILON = 1e-3
GAP = 1e-5  # two neighbouring values that differ by no more cannot be told apart


@njit(cache=True)
def least_side(known: float, classes: int, min_records: float) -> np.float32:
    """The rows that must stand on each side of a cut: a tenth of a class's share, between min_records and 25."""
    least = np.float32(0.1 * known / classes)
    if least <= min_records:
        return np.float32(min_records)
    if least > 25.0:
        return np.float32(25.0)
    return least


@njit(cache=True)
def _best_of(tries: int, gains: Singles, items: np.float32) -> tuple[int, np.float32]:
    """The first cut of highest gain after all cuts paid ``log2(tries) / N``; -1 when none stays above 0."""
    cost = np.float32(np.log(tries) / np.log(2.0) / np.float64(items)) if tries > 0 else np.float32(0.0)
    best, found = np.float32(0.0), -1
    for i in range(tries):
        gain = np.float32(gains[i] - cost)
        if gain > best:
            best, found = gain, i
    return found, best


@njit(cache=True)
def _bits_of_two(rows: int, ones: int, terms: Floats) -> np.float32:
    """Total information of two classes by whole counts."""
    sums = np.float32(np.float64(np.float32(terms[rows - ones])) + terms[ones])
    return np.float32(terms[rows] - np.float64(sums))


@njit(cache=True)
def _bits(counts: Rows, rows: int, terms: Floats) -> np.float32:
    """Total information of any number of classes by whole counts."""
    sums = np.float32(0.0)
    for c in range(len(counts)):
        sums = np.float32(np.float64(sums) + terms[counts[c]])
    return np.float32(terms[rows] - np.float64(sums))


@njit(cache=True)
def _scan_two(
    order: Codes, begin: int, end: int, known: int, share: np.float32, base: np.float32,
    values: Singles, labels: Codes, totals: Rows, terms: Floats, gains: Singles, places: Codes,
) -> int:  # fmt: skip
    """Gains of all cuts behind places begin..end of two classes; the counts stay in registers."""
    ones, tries, weight = 0, 0, np.float32(known)
    for i in range(begin):
        ones += labels[order[i]]
    after = values[order[begin]]
    for i in range(begin, end):
        ones += labels[order[i]]
        value = after
        after = values[order[i + 1]]
        if np.float64(value) < np.float64(after) - GAP:
            below = _bits_of_two(i + 1, ones, terms)
            above = _bits_of_two(known - i - 1, totals[1] - ones, terms)
            gains[tries] = share * np.float32(base - np.float32(np.float32(below + above) / weight))
            places[tries] = i
            tries += 1
    return tries


@njit(cache=True)
def _scan(
    order: Codes, begin: int, end: int, known: int, share: np.float32, base: np.float32,
    values: Singles, labels: Codes, totals: Rows, terms: Floats, gains: Singles, places: Codes,
) -> int:  # fmt: skip
    """The same for any number of classes."""
    tries, weight = 0, np.float32(known)
    low, high = np.zeros(len(totals), np.int64), np.empty(len(totals), np.int64)
    for i in range(begin):
        low[labels[order[i]]] += 1
    after = values[order[begin]]
    for i in range(begin, end):
        low[labels[order[i]]] += 1
        value = after
        after = values[order[i + 1]]
        if np.float64(value) < np.float64(after) - GAP:
            for c in range(len(totals)):
                high[c] = totals[c] - low[c]
            bits = np.float32(_bits(low, i + 1, terms) + _bits(high, known - i - 1, terms))
            gains[tries] = share * np.float32(base - np.float32(bits / weight))
            places[tries] = i
            tries += 1
    return tries


@njit(cache=True)
def score_number_whole(
    order: Codes, known: int, values: Singles, labels: Codes, totals: Rows, terms: Floats, min_records: float,
    gains: Singles, places: Codes,
) -> tuple[np.float32, np.float32, int]:  # fmt: skip
    """Gain, split information and place of the best cut when all weights are one.

    ``order`` holds the node's rows by value, the ``known`` ones first; ``totals`` counts the known ones by
    class. The cut stands behind ``order[place]``; the place is -1 when no cut is worth its cost.
    """
    items = len(order)
    if known < 2 * min_records:
        return NO_GAIN, np.float32(0.0), -1
    base = np.float32(_bits(totals, known, terms) / np.float32(known))
    share = np.float32(1.0) - np.float32(1.0 - np.float64(np.float32(known) / np.float32(items)))
    least = least_side(np.float64(known), len(totals), min_records)
    begin = int(np.ceil(least)) - 1  # the first place with enough rows at or below it
    end = min(int(np.floor(np.float32(known) - least)), known - 1)  # behind the last with enough above
    if begin >= end or values[order[begin]] == values[order[end]]:
        return NO_GAIN, np.float32(0.0), -1
    if len(totals) == 2:
        tries = _scan_two(order, begin, end, known, share, base, values, labels, totals, terms, gains, places)
    else:
        tries = _scan(order, begin, end, known, share, base, values, labels, totals, terms, gains, places)
    found, gain = _best_of(tries, gains, np.float32(items))
    if found < 0:
        return NO_GAIN, np.float32(0.0), -1
    parts = np.array([items - known, places[found] + 1, known - places[found] - 1], np.float32)
    return gain, np.float32(total_information(parts) / np.float32(items)), places[found]


@njit(cache=True)
def score_number(
    order: Codes, known: int, values: Singles, labels: Codes, classes: int, weight: Singles, items: np.float32,
    min_records: float, gains: Singles, lows: Singles, places: Codes,
) -> tuple[np.float32, np.float32, int]:  # fmt: skip
    """The same for rows of any weight; ``weight`` is by row number and ``items`` the weight of all rows."""
    missing = np.zeros(classes, np.float32)
    for i in range(known, len(order)):
        missing[labels[order[i]]] += weight[order[i]]
    unknown = np.float32(0.0)
    for c in range(classes):
        unknown = np.float32(unknown + missing[c])
    known_items = np.float32(items - unknown)
    if known_items < 2 * min_records:
        return NO_GAIN, np.float32(0.0), -1
    high, low = np.zeros(classes, np.float32), np.zeros(classes, np.float32)
    for i in range(known):
        high[labels[order[i]]] += weight[order[i]]
    base = np.float32(total_information(high) / known_items)
    known_share = np.float32(1.0) - np.float32(1.0 - np.float64(known_items / items))
    least = least_side(np.float64(known_items), classes, min_records)
    tries, below = 0, np.float32(0.0)
    for i in range(known - 1):
        row = order[i]
        low[labels[row]] += weight[row]
        high[labels[row]] -= weight[row]
        below = np.float32(below + weight[row])
        if below < least:
            continue
        if below > np.float32(known_items - least):
            break
        if np.float64(values[row]) < np.float64(values[order[i + 1]]) - GAP:
            bits = np.float32(total_information(low) + total_information(high))
            gains[tries] = known_share * np.float32(base - np.float32(bits / known_items))
            lows[tries] = below
            places[tries] = i
            tries += 1
    found, gain = _best_of(tries, gains, items)
    if found < 0:
        return NO_GAIN, np.float32(0.0), -1
    parts = np.array([unknown, lows[found], np.float32(known_items - lows[found])], np.float32)
    return gain, np.float32(total_information(parts) / items), places[found]


@njit(cache=True)
def _weighed(counts: Singles, parts: Singles, min_records: float) -> bool:
    """Sum the classes of each level; whether two levels hold enough rows (row 0 is the missing ones)."""
    reasonable = 0
    for v in range(counts.shape[0]):
        part = np.float32(0.0)
        for c in range(counts.shape[1]):
            part = np.float32(part + counts[v, c])
        parts[v] = part
        if v > 0 and part >= min_records:
            reasonable += 1
    return reasonable >= 2


@njit(cache=True)
def score_category(
    counts: Singles, items: np.float32, min_records: float, parts: Singles
) -> tuple[np.float32, np.float32]:
    """Gain and split information of a multiway test; row 0 of ``counts`` (levels + 1, classes) is missing."""
    branches, classes = counts.shape
    if not _weighed(counts, parts, min_records):
        return NO_GAIN, np.float32(0.0)
    known = np.float32(items - parts[0])
    sums = 0.0
    for c in range(classes):
        count = np.float32(0.0)
        for v in range(1, branches):
            count = np.float32(count + counts[v, c])
        sums += term(np.float64(count))
    base = np.float32((term(np.float64(known)) - sums) / np.float64(known))
    bits = np.float32(0.0)
    for v in range(1, branches):
        bits = np.float32(bits + total_information(counts[v]))
    unknown_share = np.float32(parts[0] / items)
    gain = np.float32(np.float32(1.0) - unknown_share) * np.float32(base - np.float32(bits / known))
    return gain, np.float32(total_information(parts[:branches]) / items)


@njit(cache=True)
def score_category_whole(
    counts: Singles, items: np.float32, min_records: float, parts: Singles, totals: Rows, terms: Floats
) -> tuple[np.float32, np.float32]:
    """The same when all weights are one; ``totals`` counts all rows by class and is changed."""
    branches, classes = counts.shape
    if not _weighed(counts, parts, min_records):
        return NO_GAIN, np.float32(0.0)
    known, sums = np.float32(items - parts[0]), 0.0
    for c in range(classes):
        totals[c] -= int(counts[0, c])
        sums += terms[totals[c]]
    base = np.float32((terms[int(known)] - sums) / np.float64(known))
    bits, split = np.float32(0.0), np.float32(terms[int(parts[0])])
    for v in range(1, branches):
        part = terms[int(parts[v])]
        level = np.float32(0.0)
        for c in range(classes):
            level = np.float32(np.float64(level) + terms[int(counts[v, c])])
        bits = np.float32(bits + np.float32(part - np.float64(level)))
        split = np.float32(np.float64(split) + part)
    unknown_share = np.float32(parts[0] / items)
    gain = np.float32(np.float32(1.0) - unknown_share) * np.float32(base - np.float32(bits / known))
    return gain, np.float32(np.float32(terms[int(items)] - np.float64(split)) / items)


@njit(cache=True)
def choose(gains: Singles, infos: Singles, in_average: Bools) -> int:
    """The attribute of highest gain ratio among those of at least average gain; -1 for none, ties to the first."""
    total, possible = np.float32(0.0), 0
    for a in range(len(gains)):
        if gains[a] > -EPSILON and in_average[a]:
            total = np.float32(total + gains[a])
            possible += 1
    average = np.float32(total / np.float32(possible)) if possible else np.float32(1e6)
    best, found = np.float32(-EPSILON), -1
    for a in range(len(gains)):
        if gains[a] > -EPSILON and gains[a] >= np.float64(average) - EPSILON and infos[a] > EPSILON:
            ratio = np.float32(gains[a] / infos[a])
            if ratio > best:
                best, found = ratio, a
    return found
