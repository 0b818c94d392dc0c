"""Slow, readable twins of the histogram growers: lists, dictionaries and recursion, one row at a time."""

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

EPSILON = 1e-3
SLACK = 1e-6  # by which shares of rows may miss a limit


def n_log_n(n: float) -> float:
    """n·log2 n on the grid of 2^-20, on which sums are exact and equal splits tie."""
    return round(n * math.log2(n) * 2**20) / 2**20 if n > 0 else 0.0


def bits(counts) -> float:
    """Rows times entropy."""
    return n_log_n(sum(counts)) - sum(n_log_n(c) for c in counts)


# ------------------------------------------------------------------------------------------------- refining


def complexity(classes: int, rows: int) -> float:
    """log2 of the multinomial's normaliser, from Szpankowski's series for two classes."""
    if classes < 2:
        return 0.0
    before, now = 1.0, math.sqrt(rows * math.pi / 2) + 2 / 3 + math.sqrt(2 * math.pi / rows) / 24
    for k in range(1, classes - 1):
        before, now = now, now + rows / k * before
    return math.log2(now)


def exact_complexity(classes: int, rows: int) -> float:
    """The same by its definition: the likelihood of every possible sample, fitted to itself, added up."""

    def add_up(left: int, rest: int) -> float:
        if left == 1:
            return (rest / rows) ** rest
        return sum(
            math.comb(rest, here) * (here / rows) ** here * add_up(left - 1, rest - here) for here in range(rest + 1)
        )

    return math.log2(add_up(classes, rows))


def two_sided_splits(codes, target, is_number):
    """Every split of one attribute that refining considers, as (codes on the first side, price in bits)."""
    found = sorted(set(codes))
    if is_number:
        return found, None
    main = min(Counter(target).items(), key=lambda item: (-item[1], item[0]))[0]

    def share(code):
        here = [t for c, t in zip(codes, target, strict=True) if c == code]
        return here.count(main) / len(here)

    return sorted(found, key=lambda code: (share(code), code)), float(len(found) - 1)


def best_two_sided(table, target, is_number, floor, one_level=False):
    """(value, gain, attribute, first side) of the best split of these rows, or None."""
    best = None
    for a in range(table.shape[1]):
        codes = list(table[:, a])
        order, price = two_sided_splits(codes, target, is_number[a])
        firsts = [set(order[: i + 1]) for i in range(len(order) - 1)]
        if one_level and not is_number[a]:
            firsts, price = [{code} for code in sorted(set(codes))], None
        options = []
        for i, first in enumerate(firsts):
            left = Counter(t for c, t in zip(codes, target, strict=True) if c in first)
            right = Counter(t for c, t in zip(codes, target, strict=True) if c not in first)
            if min(sum(left.values()), sum(right.values())) >= floor:
                options.append((bits(left.values()) + bits(right.values()), i, first))
        if not options:
            continue
        left_over, _, first = min(options, key=lambda option: option[:2])
        gain = bits(Counter(target).values()) - left_over
        value = gain - (math.log2(len(options)) if price is None else price)
        if gain > 0 and (best is None or value > best[0]):
            best = (value, gain, a, first)
    return best


def refine(table, target, labels, is_number, floor, min_gain_bits, one_level=False):
    """New labels and the bits gained."""
    gains = np.zeros(table.shape[1])

    def cells_of(rows):
        split = None
        if len(rows) >= 2 * floor:
            split = best_two_sided(table[rows], [int(t) for t in target[rows]], is_number, floor, one_level)
        if split is None:
            return [rows]
        value, gain, a, first = split
        left = [r for r in rows if table[r, a] in first]
        right = [r for r in rows if table[r, a] not in first]
        classes = len(set(target[rows].tolist()))
        price = sum(complexity(classes, len(side)) for side in (left, right)) - complexity(classes, len(rows))
        if value - price < min_gain_bits:
            return [rows]
        gains[a] += gain
        return cells_of(left) + cells_of(right)

    new, count = np.full(len(table), -1), 0
    for label in sorted(set(labels.tolist())):
        for cell in cells_of([r for r in range(len(table)) if labels[r] == label]):
            new[cell] = count
            count += 1
    return new, gains


# ------------------------------------------------------------------------------------------------- C4.5


@dataclass
class Node:
    counts: list
    label: int
    errors: float
    attribute: int = -1
    cut: float = math.nan
    children: list = field(default_factory=list)

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children)


def c45(columns, is_number, levels, target, classes, min_records=2, log=n_log_n):
    """C4.5's tree before pruning, in double precision; a case is (row, weight)."""
    total_rows = len(target)
    known_of = [
        (lambda row, a=a: not math.isnan(columns[a][row])) if is_number[a] else (lambda row, a=a: columns[a][row] >= 0)
        for a in range(len(columns))
    ]

    def spread(counts):
        return log(sum(counts)) - sum(log(c) for c in counts)

    def class_counts(cases):
        counts = [0.0] * classes
        for row, weight in cases:
            counts[target[row]] += weight
        return counts

    def number(a, known, weight):
        known_weight = sum(w for _, w in known)
        if known_weight < 2 * (min_records - SLACK):
            return None
        small = 0.1 * known_weight / classes
        small = min_records if small <= min_records else min(small, 25)
        values = sorted({columns[a][row] for row, _ in known})
        tries, best = 0, None
        before = spread(class_counts(known))
        for low, high in pairwise(values):
            left = [case for case in known if columns[a][case[0]] <= low]
            right = [case for case in known if columns[a][case[0]] > low]
            sides = [sum(class_counts(side)) for side in (left, right)]
            if min(sides) < small - SLACK or high - low <= 1e-5:
                continue
            tries += 1
            if min(sides) < min_records - SLACK:
                continue
            after = spread(class_counts(left)) + spread(class_counts(right))
            if best is None or after < best[0]:
                best = (after, low, high, sides)
        if best is None:
            return None
        after, low, high, sides = best
        # C4.5's F·(H - Σ share·H_branch) - log2(tries)/N, with all divisions by N done once, at the end
        gain = (before - after - math.log2(tries)) / weight
        if gain <= 0:
            return None
        info = (log(weight) - sum(log(s) for s in [*sides, weight - known_weight])) / weight
        middle = low + (high - low) / 2
        cut = max(v for v in columns[a] if v <= middle)
        return gain, info, cut

    def category(a, known, weight):
        parts = [[case for case in known if columns[a][case[0]] == v] for v in range(levels[a])]
        sizes = [sum(class_counts(part)) for part in parts]
        if sum(s >= min_records - SLACK for s in sizes) < 2:
            return None
        known_weight = sum(sizes)
        before = spread(class_counts(known))
        after = sum(spread(class_counts(part)) for part in parts)
        info = (log(weight) - sum(log(s) for s in [*sizes, weight - known_weight])) / weight
        return (before - after) / weight, info, math.nan

    def form(cases, fallback):
        counts = class_counts(cases)
        weight = sum(counts)
        best = next(k for k in range(classes) if counts[k] >= max(counts) - SLACK) if weight > 0 else fallback
        node = Node(counts, best, weight - counts[best])
        if sum(c > 0 for c in counts) <= 1 or weight < 2 * (min_records - SLACK):
            return node
        found = {}
        for a in range(len(columns)):
            known = [case for case in cases if known_of[a](case[0])]
            if known:
                result = number(a, known, weight) if is_number[a] else category(a, known, weight)
                if result is not None:
                    found[a] = result
        many = {a for a in range(len(columns)) if not is_number[a] and levels[a] >= 0.3 * total_rows}
        averaged = [found[a][0] for a in found if a not in many or len(many) == len(columns)]
        average = sum(averaged) / len(averaged) if averaged else 1e6
        worth = {a: gain / info for a, (gain, info, _) in found.items() if gain >= average - EPSILON and info > EPSILON}
        if not worth:
            return node
        chosen = max(worth, key=lambda a: (worth[a], -a))
        cut = found[chosen][2]
        known = [case for case in cases if known_of[chosen](case[0])]
        unknown = [case for case in cases if not known_of[chosen](case[0])]
        column = columns[chosen]
        if is_number[chosen]:
            parts = [[c for c in known if column[c[0]] <= cut], [c for c in known if column[c[0]] > cut]]
        else:
            parts = [[c for c in known if column[c[0]] == v] for v in range(levels[chosen])]
        known_weight = sum(w for _, w in known)
        for part in parts:
            share = sum(w for _, w in part) / known_weight
            extra = [(row, w * share) for row, w in unknown] if part else []
            node.children.append(form(part + extra, best))
        errors = sum(child.errors for child in node.children)
        if errors >= node.errors - EPSILON:
            node.children = []
            return node
        node.attribute, node.cut, node.errors = chosen, cut, errors
        return node

    return form([(row, 1.0) for row in range(total_rows)], 0)
