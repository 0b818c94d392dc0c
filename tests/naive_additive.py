"""Slow twins of reconstruction from noisy numbers, written from the published formulas with loops."""

from itertools import pairwise

import numpy as np


def reconstructed(counts, chances, rounds):
    """Agrawal and Srikant's iteration: Bayes for every bin of reports, averaged over the reports."""
    bins = len(chances[0])
    shares = [1 / bins] * bins
    for _ in range(rounds):
        new = [0.0] * bins
        for reported, distribution in zip(counts, chances, strict=True):
            expected = sum(chance * share for chance, share in zip(distribution, shares, strict=True))
            for truth in range(bins):
                if reported and expected:
                    new[truth] += reported / sum(counts) * distribution[truth] * shares[truth] / expected
        shares = [share / sum(new) for share in new]
    return np.array(shares)


def chances(noisy, edges, draws):
    """The chance of every bin of reports for truths of every bin, by drawing truths and noise."""
    wide = edges[1] - edges[0]
    found = []
    for low, high in pairwise(edges):
        if noisy.step:
            values = np.arange(low + noisy.step / 2, min(high, noisy.high + noisy.step / 4), noisy.step)
            truths = draws.choice(values, 200_000)
        else:
            truths = draws.uniform(low, high, 200_000)
        reports = truths + noisy.distribution.inverse(draws.uniform(size=len(truths)))
        found.append(np.floor((reports - edges[0]) / wide).astype(int))
    return found


def assign_bins(reports, shares):
    """Every report into the lowest bin that is not yet full, from the lowest report on."""
    known = sorted((report, row) for row, report in enumerate(reports) if not np.isnan(report))
    codes = [-1] * len(reports)
    for rank, (_, row) in enumerate(known):
        share, full = 0, shares[0]
        while (rank + 0.5) / len(known) > full and share < len(shares) - 1:
            share += 1
            full += shares[share]
        codes[row] = share
    return codes


def gini(labels, weights):
    """Rows times the chance that two of them, drawn with return, are of different classes."""
    total = sum(weights)
    if not total:
        return 0.0
    per = {}
    for label, weight in zip(labels, weights, strict=True):
        per[label] = per.get(label, 0.0) + weight
    return total * (1 - sum((weight / total) ** 2 for weight in per.values()))


def gains(codes, labels, weights, size, is_number, min_records):
    """The gain of every test of an attribute, by going through the rows: {last code or -1: gain}."""
    known = [row for row, code in enumerate(codes) if code >= 0]

    def part(chosen):
        rows = [row for row in known if chosen(codes[row])]
        return gini([labels[row] for row in rows], [weights[row] for row in rows]), sum(weights[row] for row in rows)

    whole, _ = part(lambda code: True)
    if not is_number:
        parts = [part(lambda code, level=level: code == level) for level in range(size)]
        if sum(held >= min_records for _, held in parts) < 2:
            return {}
        return {-1: whole - sum(impure for impure, _ in parts)}
    found = {}
    for last in range(size - 1):
        (below, few), (above, more) = (
            part(lambda code, last=last: code <= last),
            part(lambda code, last=last: code > last),
        )
        if min(few, more) >= min_records:
            found[last] = whole - below - above
    return found


def grown(codes, labels, weights, sizes, numbers, min_records, depth):
    """The tree of best gains, by rows: (attribute, last code, children), or the class of a leaf."""
    held = [0.0] * (max(labels, default=-1) + 1)
    for label, weight in zip(labels, weights, strict=True):
        held[label] += weight
    if not depth or sum(weight > 0 for weight in held) < 2:
        return held.index(max(held)) if held else None
    best = None
    for place, (column, size, number) in enumerate(zip(codes, sizes, numbers, strict=True)):
        for last, gain in gains(column, labels, weights, size, number, min_records).items():
            if gain > 1e-9 and (best is None or gain > best[2] + 1e-9):
                best = place, last, gain
    if best is None:
        return held.index(max(held))
    place, last, _ = best
    branch = [int(code > last) if last >= 0 else code for code in codes[place]]
    children = []
    for number in range(2 if last >= 0 else sizes[place]):
        rows = [row for row, way in enumerate(branch) if way == number]
        parts = [[column[row] for row in rows] for column in codes]
        below = grown(parts, [labels[r] for r in rows], [1.0] * len(rows), sizes, numbers, min_records, depth - 1)
        children.append(held.index(max(held)) if below is None else below)
    return place, last, children
