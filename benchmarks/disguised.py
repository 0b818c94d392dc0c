"""The time of trees from randomised answers against open ones, and of randomising against a plain NumPy draw.

CPU seconds in one run. Run as a script it prints the section of `text`.
"""

import numpy as np
from timing import cpu

ROWS, COLUMNS = 1_000_000, 20
WIDE = 24  # columns: with the class 2^25 combinations of answers, too many to be counted one by one
NO_YES = ("no", "yes")


def people(rows=ROWS, columns=COLUMNS):
    """Two-level answers; the class follows eight of them by three rules, with one in ten flipped."""
    from leafcover.table.table import Column, Table

    rng = np.random.default_rng(1)
    x = rng.random((columns, rows)) < rng.uniform(0.2, 0.8, columns)[:, None]
    y = (x[0] & x[1]) | (x[2] & x[3] & x[4]) | (x[5] & ~x[6] & x[7])
    y ^= rng.random(rows) < 0.1
    names = [*(f"a{i}" for i in range(columns)), "class"]
    return Table(tuple(Column(n, "category", c.astype(np.int32), NO_YES) for n, c in zip(names, [*x, y], strict=True)))


def schemes(names):
    from leafcover.randomized_response import DisguisedColumns, OneCoin, Scheme, Warner

    return {
        "one coin, θ = 0.9": Scheme(DisguisedColumns(dict.fromkeys(names, NO_YES), OneCoin(0.9, len(names)))),
        "one coin, θ = 0.75": Scheme(DisguisedColumns(dict.fromkeys(names, NO_YES), OneCoin(0.75, len(names)))),
        "a coin each, θ = 0.9": Scheme(*(DisguisedColumns({name: NO_YES}, Warner(0.9)) for name in names)),
        "a coin each, θ = 0.75": Scheme(*(DisguisedColumns({name: NO_YES}, Warner(0.75)) for name in names)),
    }


def trees(rows=ROWS):
    """CPU seconds and nodes, by rules and by mechanism."""
    from leafcover.keyed_random import Draws
    from leafcover.randomized_response import Scheme, StoppingRules, disguise, grow_tree

    grow_tree(people(1000), Scheme(), target="class")  # compile
    six_deep = StoppingRules(min_support=0, deviations=0, significance=1, max_depth=6)
    ways = {
        "default rules": (COLUMNS, StoppingRules(), 7),
        "no rules, six tests deep": (COLUMNS, six_deep, 7),
        f"default rules, {WIDE} columns": (WIDE, StoppingRules(), 2),
    }
    found = []
    for words, (columns, rules, times) in ways.items():
        table = people(rows, columns)
        for name, scheme in {"undisguised": Scheme(), **schemes(table.names)}.items():
            reported = disguise(table, scheme, Draws(bytes(32)))
            used, tree = cpu(lambda t=reported, s=scheme, r=rules: grow_tree(t, s, target="class", rules=r), times)
            found.append({"rules": words, "coins": name, "used": used, "nodes": tree.size})
            print(found[-1], flush=True)
    return found


def disguising(rows=ROWS):
    """CPU seconds to draw numbers and to randomise one column."""
    from leafcover.keyed_random import Draws
    from leafcover.randomized_response import Kary, UnrelatedQuestion, Warner

    draws, codes = Draws(bytes(32)), np.random.default_rng(1).integers(0, 2, rows).astype(np.int32)
    generator = np.random.default_rng(2)
    works = {"NumPy draws as many numbers": lambda: generator.random(rows)}
    for mechanism in (Warner(0.75), Kary(0.75, 2), UnrelatedQuestion(0.5, 0.5)):
        works[type(mechanism).__name__] = lambda c=mechanism: c.apply(codes, draws)
    return [{"work": name, "used": cpu(work, 10)[0]} for name, work in works.items()]


def results(rows=ROWS):
    return trees(rows), disguising(rows)


def text(found):
    """A section for the page of results."""
    grown, disguised = found
    lines = [
        "## Trees from disguised answers",
        "",
        f"{ROWS:,} rows of {COLUMNS} columns, or {WIDE}, and a class, of two levels each, all disguised; "
        "one grower for all.",
        "",
        "| rules | answers | CPU seconds | against undisguised | nodes |",
        "|---|---|---|---|---|",
    ]
    for f in grown:
        base = next(g["used"] for g in grown if (g["rules"], g["coins"]) == (f["rules"], "undisguised"))
        lines.append(f"| {f['rules']} | {f['coins']} | {f['used']:.2f} | {f['used'] / base:.1f} | {f['nodes']} |")
    base = disguised[0]["used"]
    lines += ["", f"Disguising a column of {ROWS:,} answers with cryptographic coins:", ""]
    lines += ["| work | CPU seconds | against NumPy |", "|---|---|---|"]
    lines += [f"| {f['work']} | {f['used']:.4f} | {f['used'] / base:.1f} |" for f in disguised]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(results()))
