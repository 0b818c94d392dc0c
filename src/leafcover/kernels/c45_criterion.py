"""Split criteria: gain and split information of C4.5 Release 8, and the gain ratios that SysFor uses.

Rows of weight one are counted as integers and need no logarithms. Fractional rows are summed in 32 bits in the given
order, because the rounding of their sums depends on it.
"""

import math

import numpy as np
from numba import njit

from leafcover.arrays import Array, Bools, Codes, Floats, Rows, Singles
from leafcover.kernels import ALLOCATES, ENTRY, INNER, ZERO
from leafcover.kernels.c45_rows import UNSIGNED, Halves, Packing, label_of, row_of

NO_GAIN = np.float32(-1e-3)  # gain of an attribute without a valid test
EPSILON = 1e-3
GAP = 1e-5  # adjacent values that differ by no more than this are not separated


@njit(**INNER)
def min_side_weight(known: float, classes: int, min_records: float) -> np.float32:
    """The minimum weight on each side of a cut: a tenth of the average class, between min_records and 25."""
    least = np.float32(0.1 * known / classes)
    if least <= min_records:
        return np.float32(min_records)
    if least > 25.0:
        return np.float32(25.0)
    return least


@njit(**INNER)
def _gain(bits: np.float32, share: np.float32, base: np.float32, weight: np.float32, cost: np.float32) -> np.float32:
    """The gain of a cut that leaves these bits; it decreases monotonically with them, even after rounding."""
    return np.float32(share * np.float32(base - np.float32(bits / weight)) - cost)


@njit(**INNER)
def _best_of(
    tries: int, bits: Singles, fewest: np.float32, share: np.float32, base: np.float32, weight: np.float32,
    items: np.float32,
) -> tuple[int, np.float32]:  # fmt: skip
    """The first cut with the largest gain after a penalty of ``log2(tries) / N``; -1 if no gain is positive.

    Gains are computed only for cuts whose bits are close to the ``fewest``, to find the first of several equal ones.
    """
    if tries == 0:
        return -1, np.float32(0.0)
    cost = np.float32(np.log(tries) / np.log(2.0) / np.float64(items))
    best = _gain(fewest, share, base, weight, cost)
    if not best > 0:
        return -1, np.float32(0.0)
    reach = np.float32(weight * np.float32(1e-6))
    while _gain(np.float32(fewest + reach), share, base, weight, cost) == best:
        reach = np.float32(reach + reach)
    limit, found = np.float32(fewest + reach), 0
    while bits[found] >= limit or _gain(bits[found], share, base, weight, cost) != best:
        found += 1
    return found, best


@njit(**INNER)
def _bits_of_two(rows: int, ones: int, terms: Floats) -> np.float32:
    """Total information of two classes from integer counts."""
    sums = np.float32(np.float64(np.float32(terms[UNSIGNED(rows - ones)])) + terms[UNSIGNED(ones)])
    return np.float32(terms[UNSIGNED(rows)] - np.float64(sums))


@njit(**INNER)
def _bits(counts: Rows, rows: int, terms: Floats) -> np.float32:
    """Total information of any number of classes from integer counts."""
    sums = np.float32(0.0)
    for c in range(len(counts)):
        sums = np.float32(np.float64(sums) + terms[counts[c]])
    return np.float32(terms[rows] - np.float64(sums))


@njit(**INNER)
def _scan_two(
    words: Halves, singles: Singles, base: int, begin: int, end: int, known: int, totals: Rows, terms: Floats,
    bits: Singles, places: Codes,
) -> tuple[int, np.float32]:  # fmt: skip
    """Remaining bits of all cuts after positions begin..end, for two classes; the counts stay in registers."""
    ones, tries, fewest, ones_all = 0, ZERO, np.float32(np.inf), totals[1]
    for i in range(begin):
        ones += int(np.int64(words[UNSIGNED(2 * (base + i))] & np.uint32(1)))
    after = singles[UNSIGNED(2 * (base + begin) + 1)]
    for i in range(begin, end):
        at = UNSIGNED(2 * (base + i))
        ones += int(np.int64(words[at] & np.uint32(1)))
        value = after
        after = singles[at + UNSIGNED(3)]
        if np.float64(value) < np.float64(after) - GAP:
            below = _bits_of_two(i + 1, ones, terms)
            above = _bits_of_two(known - i - 1, ones_all - ones, terms)
            both = np.float32(below + above)
            bits[UNSIGNED(tries)], places[UNSIGNED(tries)] = both, i
            fewest = min(fewest, both)
            tries += 1
    return tries, fewest


@njit(**INNER)
def _scan(
    words: Halves, singles: Singles, base: int, begin: int, end: int, known: int, packing: Packing, totals: Rows,
    terms: Floats, low: Rows, bits: Singles, places: Codes,
) -> tuple[int, np.float32]:  # fmt: skip
    """`_scan_two` for any number of classes; ``totals`` is modified."""
    tries, fewest = ZERO, np.float32(np.inf)
    for c in range(len(totals)):
        low[c] = 0
    after = singles[2 * base + 1]
    for i in range(end):
        label = label_of(words[2 * (base + i)], packing)
        low[label] += 1
        totals[label] -= 1
        value = after
        after = singles[2 * (base + i) + 3]
        if i >= begin and np.float64(value) < np.float64(after) - GAP:
            both = np.float32(_bits(low, i + 1, terms) + _bits(totals, known - i - 1, terms))
            bits[tries], places[tries] = both, i
            fewest = min(fewest, both)
            tries += 1
    return tries, fewest


@njit(**INNER)
def score_number_whole(
    words: Halves, singles: Singles, base: int, known: int, items: int, packing: Packing, totals: Rows,
    terms: Floats, min_records: float, low: Rows, bits: Singles, places: Codes,
) -> tuple[np.float32, np.float32, int]:  # fmt: skip
    """Gain, split information and position of the best cut if all weights are one.

    The records of the node's ``items`` rows start at ``base``, sorted by value, the ``known`` ones first. ``totals``
    counts the known ones by class and is modified. The cut is after record ``base + place``; the place is -1 if no cut
    has a positive gain.
    """
    if known < 2 * min_records:
        return NO_GAIN, np.float32(0.0), -1
    least = min_side_weight(np.float64(known), len(totals), min_records)
    begin = int(np.ceil(least)) - 1  # first position with enough rows up to it
    end = min(int(np.floor(np.float32(known) - least)), known - 1)  # after the last one with enough rows above
    if begin >= end or singles[2 * (base + begin) + 1] == singles[2 * (base + end) + 1]:
        return NO_GAIN, np.float32(0.0), -1
    weight = np.float32(known)
    entropy = np.float32(_bits(totals, known, terms) / weight)
    share = np.float32(1.0) - np.float32(1.0 - np.float64(weight / np.float32(items)))
    if len(totals) == 2:
        tries, fewest = _scan_two(words, singles, base, begin, end, known, totals, terms, bits, places)
    else:
        tries, fewest = _scan(
            words, singles, base, begin, end, known, packing, totals, terms, low, bits, places
        )  # fmt: skip
    found, gain = _best_of(tries, bits, fewest, share, entropy, weight, np.float32(items))
    if found < 0:
        return NO_GAIN, np.float32(0.0), -1
    place = int(places[found])
    split = np.float32(np.float64(np.float32(terms[items - known])) + terms[place + 1])
    split = np.float32(np.float64(split) + terms[known - place - 1])
    info = np.float32(np.float32(terms[items] - np.float64(split)) / np.float32(items))
    return gain, info, place


@njit(**INNER)
def score_number(
    words: Halves, singles: Singles, base: int, known: int, rows: int, packing: Packing, classes: int,
    weight: Singles, items: np.float32, min_records: float, bits: Singles, lows: Singles, places: Codes,
    sums: Singles,
) -> tuple[np.float32, np.float32, int]:  # fmt: skip
    """`score_number_whole` for rows of any weight; ``weight`` is by row number and ``items`` is the total weight."""
    missing, low, high = sums[0], sums[1], sums[2]
    for c in range(classes):
        missing[c], low[c], high[c] = 0.0, 0.0, 0.0
    for i in range(base + known, base + rows):
        missing[label_of(words[2 * i], packing)] += weight[row_of(words[2 * i], packing)]
    unknown = np.float32(0.0)
    for c in range(classes):
        unknown = np.float32(unknown + missing[c])
    known_items = np.float32(items - unknown)
    if known_items < 2 * min_records:
        return NO_GAIN, np.float32(0.0), -1
    for i in range(base, base + known):
        high[label_of(words[2 * i], packing)] += weight[row_of(words[2 * i], packing)]
    entropy = np.float32(total_information(high) / known_items)
    known_share = np.float32(1.0) - np.float32(1.0 - np.float64(known_items / items))
    least = min_side_weight(np.float64(known_items), classes, min_records)
    tries, below, fewest = ZERO, np.float32(0.0), np.float32(np.inf)
    for i in range(known - 1):
        label = label_of(words[2 * (base + i)], packing)
        part = weight[row_of(words[2 * (base + i)], packing)]
        low[label] += part
        high[label] -= part
        below = np.float32(below + part)
        if below < least:
            continue
        if below > np.float32(known_items - least):
            break
        if np.float64(singles[2 * (base + i) + 1]) < np.float64(singles[2 * (base + i) + 3]) - GAP:
            bits[tries] = np.float32(total_information(low) + total_information(high))
            fewest = min(fewest, bits[tries])
            lows[tries], places[tries] = below, i
            tries += 1
    found, gain = _best_of(tries, bits, fewest, known_share, entropy, known_items, items)
    if found < 0:
        return NO_GAIN, np.float32(0.0), -1
    above = np.float32(known_items - lows[found])
    split = np.float32(term(np.float64(unknown)))  # in 32 bits, as `total_information` sums
    split = np.float32(np.float64(split) + term(np.float64(lows[found])))
    split = np.float32(np.float64(split) + term(np.float64(above)))
    total = np.float32(np.float32(unknown + lows[found]) + above)
    info = np.float32(term(np.float64(total)) - np.float64(split))
    return gain, np.float32(info / items), int(places[found])


@njit(**INNER)
def count_levels(
    words: Halves, singles: Singles, base: int, rows: int, packing: Packing, codes: Array, levels: Codes, slots: Codes,
    used: Bools, active: Rows, starts: Rows, counts: Singles,
) -> None:  # fmt: skip
    """Weights by level and class of each category that no ancestor tests, stacked, with missing values first.

    A single pass serves all categories, because the codes of a row are adjacent.
    """
    found, line = 0, 0
    for a in range(len(used)):
        if levels[a] > 0:
            if not used[a]:
                active[found], starts[found] = slots[a], line + 1
                found += 1
            line += levels[a] + 1
    for v in range(line):
        for c in range(counts.shape[1]):
            counts[v, c] = 0.0
    for i in range(base, base + rows):
        word, weight = words[UNSIGNED(2 * i)], singles[UNSIGNED(2 * i + 1)]
        row, label = row_of(word, packing), UNSIGNED(label_of(word, packing))
        for k in range(found):
            counts[UNSIGNED(starts[k] + codes[row, UNSIGNED(active[k])]), label] += weight


@njit(**INNER)
def _sum_levels(counts: Singles, parts: Singles, min_records: float) -> bool:
    """Sum the classes of each level, and return whether two levels have enough rows (row 0 is missing values)."""
    reasonable = 0
    for v in range(counts.shape[0]):
        part = np.float32(0.0)
        for c in range(counts.shape[1]):
            part = np.float32(part + counts[v, c])
        parts[v] = part
        if v > 0 and part >= min_records:
            reasonable += 1
    return reasonable >= 2


@njit(**INNER)
def score_category(
    counts: Singles, items: np.float32, min_records: float, parts: Singles
) -> tuple[np.float32, np.float32]:
    """Gain and split information of a multiway test; row 0 of ``counts`` (levels + 1, classes) is missing values."""
    branches, classes = counts.shape
    if not _sum_levels(counts, parts, min_records):
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


@njit(**INNER)
def score_category_whole(
    counts: Singles, items: np.float32, min_records: float, parts: Singles, totals: Rows, terms: Floats
) -> tuple[np.float32, np.float32]:
    """`score_category` if all weights are one; ``totals`` counts all rows by class and is modified."""
    branches, classes = counts.shape
    if not _sum_levels(counts, parts, min_records):
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


@njit(**INNER)
def choose(gains: Singles, infos: Singles, in_average: Bools) -> int:
    """The attribute with the largest gain ratio among those with at least average gain, or -1; ties go to the first."""
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


# Information in single precision, as computed by C4.5 Release 8.
#
# Every partial sum is rounded to 32 bits while logarithms use 64 bits. The resulting trees depend on it.


LN2 = math.log(2.0)


@njit(**ENTRY)
def term(count: float) -> float:
    """``count * log2(count)``, and 0 for a count of 0.

    >>> term(8.0)
    24.0
    """
    if count <= 0.0:
        return 0.0
    return count * (math.log(count) / LN2)


@njit(**ENTRY)
def whole_terms(terms: Floats) -> None:
    """Set ``terms`` to ``n * log2(n)`` for n = 0, 1, …, so that rows of weight one need no logarithms."""
    for n in range(len(terms)):
        terms[n] = term(np.float64(n))


@njit(**ENTRY)
def total_information(counts: Singles) -> np.float32:
    """``N log2 N - sum of n log2 n``: the entropy of the classes times the number of rows, in bits.

    >>> float(total_information(np.array([2, 2], np.float32)))
    4.0
    """
    terms = np.float32(0.0)
    total = np.float32(0.0)
    for count in counts:
        terms = np.float32(np.float64(terms) + term(np.float64(count)))
        total = np.float32(total + count)
    return np.float32(term(np.float64(total)) - np.float64(terms))


# Gain ratios without corrections, as used by SysFor: of every cut of a number, and of a category.
#
# Sums are in double precision: there is no reference program to match bit by bit, and rows may have any weight.


_SLACK = 1e-9  # fractional weights add up to integers only approximately


@njit(**(ENTRY | ALLOCATES))
def cut_ratios(
    values: Singles, labels: Codes, weights: Floats, classes: int, least: float
) -> tuple[Floats, Floats]:  # fmt: skip
    """Midpoint and gain ratio of every cut that leaves a weight of ``least`` on both sides, in ascending order.

    Rows are sorted by value, with missing values last; these count as one more branch in the split information.
    """
    low, high = np.zeros(classes), np.zeros(classes)
    below, above, unknown, known = 0.0, 0.0, 0.0, 0
    for i in range(len(values)):
        if np.isnan(values[i]):
            unknown += weights[i]
            continue
        known += 1
        high[labels[i]] += weights[i]
        above += weights[i]
    before, whole = term(above), term(above + unknown)
    for c in range(classes):
        before -= term(high[c])
    middles, ratios, found = np.empty(known), np.empty(known), 0
    for i in range(known - 1):
        low[labels[i]] += weights[i]
        high[labels[i]] -= weights[i]
        below += weights[i]
        above -= weights[i]
        if values[i + 1] == values[i] or min(below, above) < least - _SLACK:
            continue
        after = term(below) + term(above)
        info = whole - after - term(unknown)
        for c in range(classes):
            after -= term(low[c]) + term(high[c])
        middles[found] = (np.float64(values[i]) + np.float64(values[i + 1])) / 2.0
        ratios[found] = (before - after) / info
        found += 1
    return middles[:found], ratios[:found]


@njit(**(ENTRY | ALLOCATES))
def level_ratio(counts: Floats, least: float) -> float:
    """The gain ratio of a category, or -1 unless two of its levels have a weight of ``least``.

    ``counts`` (levels + 1, classes) are weights; the last row is missing values.

    >>> level_ratio(np.array([[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]]), 1.0)
    1.0
    """
    levels, classes = counts.shape[0] - 1, counts.shape[1]
    known, after, parts, large = 0.0, 0.0, 0.0, 0
    for b in range(levels + 1):
        size, inside = 0.0, 0.0
        for c in range(classes):
            size += counts[b, c]
            inside += term(counts[b, c])
        parts += term(size)
        if b < levels:
            known += size
            after += term(size) - inside
            large += size >= least - _SLACK
    if large < 2:
        return -1.0
    before = term(known)
    for c in range(classes):
        before -= term(counts[:levels, c].sum())
    return max((before - after) / (term(known + counts[levels].sum()) - parts), 0.0)
