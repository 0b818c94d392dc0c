"""CPU seconds of nearest-neighbour linkage, compared with a compiled search over every pair of rows, in one run.

Run as a script it prints the table of `text`.
"""

import numpy as np
from numba import njit
from timing import cpu

ROWS, COLUMNS, NOISE = 100_000, 10, 0.3
COMPARED = 2_000  # people attacked by the slow search; its time is scaled up to all


@njit
def own_among_nearest(people, others, numbers, own):
    """Compare every pair of rows, codes first, and stop once a pair is farther apart than the nearest so far."""
    found = np.zeros(len(own))
    for i in range(len(own)):
        best, ties, hit = np.inf, 0, False
        for j in range(len(others)):
            distance = 0.0
            for c in range(numbers, people.shape[1]):
                if people[i, c] != others[j, c]:
                    distance += 1.0
            if distance > best + 1e-9:
                continue
            for c in range(numbers):
                distance += abs(people[i, c] - others[j, c])
                if distance > best + 1e-9:
                    break
            if distance < best - 1e-9:
                best, ties, hit = distance, 1, j == own[i]
            elif distance <= best + 1e-9:
                ties += 1
                hit = hit or j == own[i]
        if hit:
            found[i] = 1.0 / ties
    return found


def noisy_numbers(rows=ROWS):
    """Independent normals and the same with noise of 0.3 standard deviations, scaled by the original range."""
    from leafcover.metrics.disclosure.nearest_record import ScaledTable

    rng = np.random.default_rng(1)
    original = rng.normal(size=(rows, COLUMNS))
    released = original + NOISE * rng.normal(size=original.shape)
    low, high = original.min(axis=0), original.max(axis=0)
    none = np.empty((rows, 0), np.int32)
    return ScaledTable((original - low) / (high - low), none), ScaledTable((released - low) / (high - low), none)


def adult_cover():
    """The shipped Adult table and a release of it, over all columns but the target."""
    from leafcover.engine.evaluate import pair_from
    from leafcover.engine.run import run
    from leafcover.keyed_random import Key
    from leafcover.metrics.disclosure.nearest_record import scaled
    from leafcover.recipes import plan_for
    from leafcover.table.io import read, sample

    table = read(sample("adult"))
    release = run(table, plan_for(table, "cover", target="income", settings={}), key=Key.from_seed(1))
    pair = pair_from(table, release)
    return tuple(scaled([pair.original, pair.released], pair.quasi_identifiers))


def measured(name, original, released):
    """Linkage of all people by the tree, their nearest rows by the tree, and linkage by comparing all pairs."""
    from leafcover.metrics.disclosure.nearest_record import closer_than_own, nearest
    from leafcover.metrics.disclosure.record_linkage import chance_among

    rows, numbers = original.numbers.shape
    own = np.arange(rows)
    ours, theirs = (np.ascontiguousarray(np.hstack((t.numbers, t.codes))) for t in (original, released))
    some = np.linspace(0, rows - 1, COMPARED).astype(np.int64)
    linked, (closer, tied) = cpu(lambda: closer_than_own(original, released, own, enough=1), 2)
    found, near = cpu(lambda: nearest(original, released), 2)
    slow, hits = cpu(lambda: own_among_nearest(ours[some], theirs, numbers, some), 1)
    assert np.array_equal(hits, chance_among(1, closer, tied)[some])
    apart = np.abs(original.numbers - released.numbers[near.row[:, 0]]).sum(axis=1)
    apart += (original.codes != released.codes[near.row[:, 0]]).sum(axis=1)
    assert np.allclose(apart, near.distance[:, 0])
    return {"name": name, "slow": slow * rows / COMPARED, "linked": linked, "found": found, "share": hits.mean()}


def text(found):
    """A section for the page of results."""
    lines = [
        "## Nearest rows",
        "",
        "CPU seconds for everybody, the tree grown in the time. *Compared* is a compiled search that compares every "
        f"pair of rows and leaves a pair early, run for {COMPARED:,} people and scaled up. *Linkage* only asks whether "
        "a row is nearer than the own one; *nearest* finds it. The same people are linked.",
        "",
        "| table | compared | linkage | compared / linkage | nearest | compared / nearest |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {f['name']} | {f['slow']:.1f} | {f['linked']:.2f} | {f['slow'] / f['linked']:.0f} | {f['found']:.2f} "
        f"| {f['slow'] / f['found']:.0f} |"
        for f in found
    ]
    return "\n".join(lines) + "\n"


def results():
    """Both tables, with kernels compiled first."""
    measured("", *noisy_numbers(COMPARED))
    return [
        measured(f"{ROWS:,} × {COLUMNS} numbers, noise of {NOISE} sd", *noisy_numbers()),
        measured("Adult, 32,561 × 14, `cover`", *adult_cover()),
    ]


if __name__ == "__main__":
    print(text(results()))
