"""CPU seconds of groups of k rows, compared with a compiled MDAV that scans every remaining row, in one run.

Run as a script it prints the table of `text`; with the folder of a table, the peak memory of its groups in MB.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numba import njit
from timing import cpu

COMPARED = (10_000, 100_000)
BLOCKED = (10_000, 100_000, 1_000_000)
SMALL, LARGE = 3, 10  # k of exact groups; k of groups inside blocks


@njit
def looking_at_all(values, k):
    """MDAV over the remaining rows, stored contiguously: computes all distances three times for every two groups."""
    rows, columns = values.shape
    held, row, where, label = values.copy(), np.arange(rows), np.arange(rows), np.zeros(rows, np.int64)
    distance, sums, near, who = np.empty(rows), np.zeros(columns), np.empty(k), np.empty(k, np.int64)
    for i in range(rows):
        for c in range(columns):
            sums[c] += values[i, c]
    left, group = rows, 0
    while left >= 2 * k:
        distances(held, left, sums / left, distance)
        seed = farthest(distance, row, left)
        for turn in range(2 if left >= 3 * k else 1):
            if turn == 1:
                seed = farthest(distance, row, left)
            distances(held, left, values[seed], distance)
            nearest(distance, row, left, seed, near, who)
            for other in who:
                label[other] = group
                left -= 1
                place, last = where[other], row[left]
                distance[place], row[place], where[last] = distance[left], last, place
                for c in range(columns):
                    sums[c] -= values[other, c]
                    held[place, c] = held[left, c]
            group += 1
    label[row[:left]] = group
    return label


@njit
def distances(held, left, point, found):
    for i in range(left):
        total = 0.0
        for c in range(len(point)):
            apart = held[i, c] - point[c]
            total += apart * apart
        found[i] = total


@njit
def farthest(distance, row, left):
    best, who = -1.0, -1
    for i in range(left):
        if distance[i] > best or (distance[i] == best and row[i] < who):
            best, who = distance[i], row[i]
    return who


@njit
def nearest(distance, row, left, seed, near, who):
    """The seed and its nearest, by distance, then by row."""
    near[0], who[0], filled, k = -1.0, seed, 1, len(near)
    for i in range(left):
        if row[i] == seed:
            continue
        if filled == k and (distance[i] > near[-1] or (distance[i] == near[-1] and row[i] > who[-1])):
            continue
        place = min(filled, k - 1)
        while place > 0 and (
            distance[i] < near[place - 1] or (distance[i] == near[place - 1] and row[i] < who[place - 1])
        ):
            near[place], who[place] = near[place - 1], who[place - 1]
            place -= 1
        near[place], who[place] = distance[i], row[i]
        filled = min(filled + 1, k)


def numbers(folder):
    """The ten number columns of a bench table, standardised."""
    values = pd.read_parquet(Path(folder) / "train.parquet", columns=[f"n{i}" for i in range(1, 11)]).to_numpy(float)
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0, ddof=1))


def loss(values, label):
    """The within-group sum of squares in percent of the total."""
    count, inside = np.bincount(label), 0.0
    for column in values.T:
        inside += ((column - (np.bincount(label, column) / count)[label]) ** 2).sum()
    return 100 * inside / ((values - values.mean(axis=0)) ** 2).sum()


def compared(values):
    """Exact groups by both algorithms, which must be identical."""
    from leafcover.kernels.microaggregation import mdav

    times = 2 if len(values) < 100_000 else 1
    slow, expected = cpu(lambda: looking_at_all(values, SMALL), times)
    fast, label = cpu(lambda: mdav(values, SMALL), 2)
    assert np.array_equal(label, expected)
    return {"rows": len(values), "slow": slow, "fast": fast, "loss": loss(values, label)}


def blocked(values, folder):
    """Groups inside blocks, compared with exact groups where these are fast enough."""
    from leafcover.kernels.microaggregation import MAX_BLOCK_ROWS, blocked_mdav, mdav

    used, label = cpu(lambda: blocked_mdav(values, LARGE, MAX_BLOCK_ROWS), 2)
    assert np.bincount(label).min() >= LARGE
    found = {"rows": len(values), "blocked": used, "loss": loss(values, label), "exact": None, "exact loss": None}
    if len(values) <= 100_000:
        found["exact"], label = cpu(lambda: mdav(values, LARGE), 2)
        found["exact loss"] = loss(values, label)
    words = [sys.executable, __file__, str(folder)]
    found["peak"] = float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    return found


def sorted_values(rows=1_000_000):
    """Optimal groups of sorted values."""
    from leafcover.kernels.microaggregation import optimal_groups

    values = np.sort(np.random.default_rng(1).normal(size=rows))
    return [(k, cpu(lambda k=k: optimal_groups(values, k), 2)[0]) for k in (3, 10, 100)]


def text(found):
    """A section for the page of results."""
    alike, apart, line = found
    lines = [
        "## Microaggregation",
        "",
        "Ten standardised number columns. *Looking at all* is a compiled loop over all rows that remain; the groups "
        f"are the same, row by row. k = {SMALL}.",
        "",
        "| rows | looking at all | MDAV | looking at all / MDAV | information loss, % |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {f['rows']:,} | {f['slow']:.2f} | {f['fast']:.2f} | {f['slow'] / f['fast']:.1f} | {f['loss']:.3f} |"
        for f in alike
    ]
    lines += [
        "",
        f"MDAV inside blocks, k = {LARGE}; peak memory is that of a process that reads the table and makes the groups.",
        "",
        "| rows | in blocks | growth per row | MDAV | information loss, % | of MDAV, % | ratio | peak memory, MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    unit = apart[0]["blocked"] / apart[0]["rows"]
    for f in apart:
        exact = ("", "", "")
        if f["exact"] is not None:
            exact = (f"{f['exact']:.2f}", f"{f['exact loss']:.3f}", f"{f['loss'] / f['exact loss']:.3f}")
        lines.append(
            f"| {f['rows']:,} | {f['blocked']:.2f} | {f['blocked'] / f['rows'] / unit:.1f} | {exact[0]} "
            f"| {f['loss']:.3f} | {exact[1]} | {exact[2]} | {f['peak']:,.0f} |"
        )
    times = ", ".join(f"{used:.2f} for k = {k}" for k, used in line)
    lines += ["", f"Optimal groups of 1,000,000 sorted values: {times}."]
    return "\n".join(lines) + "\n"


def results(tables):
    """All measurements, with kernels compiled first; ``tables`` returns the folder of the table with that many rows."""
    from leafcover.kernels.microaggregation import blocked_mdav

    few = np.random.default_rng(1).normal(size=(500, 10))
    assert np.array_equal(looking_at_all(few, SMALL), blocked_mdav(few, SMALL, len(few)))
    sorted_values(1000)
    return (
        [compared(numbers(tables(rows))) for rows in COMPARED],
        [blocked(numbers(tables(rows)), tables(rows)) for rows in BLOCKED],
        sorted_values(),
    )


def peak(folder):
    """Peak memory in MB of reading a table and forming groups."""
    from leafcover.kernels.microaggregation import MAX_BLOCK_ROWS, blocked_mdav

    blocked_mdav(numbers(folder), LARGE, MAX_BLOCK_ROWS)
    return next(int(s.split()[1]) / 1024 for s in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in s)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(peak(sys.argv[1]))
    else:
        from run import tables

        print(text(results(tables)))
