"""Correlations that the extended Framework and the plain one keep, at equal change of values and at equal linkage.

make extended-framework        writes docs/results/extended-framework.md
"""

import argparse
import platform
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import leafcover as lc
from leafcover.engine.attacker import Known, evidence_of
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.record_linkage import informed
from leafcover.metrics.estimates import Estimate, mean_of
from leafcover.recipes import plan_for
from leafcover.table.io import sample
from leafcover.tree.predict import leaf_membership

RUNS, TRIALS, HALVINGS = 50, 8, 7
SIMILARITY = 0.35
PAGE = Path(__file__).parent.parent / "docs" / "results" / "extended-framework.md"


@dataclass(frozen=True)
class Data:
    """A table and its target."""

    name: str
    sample: str
    target: str
    bins: int | None = None


TABLES = (
    Data("Boston", "boston", "medv", bins=4),
    Data("Wine", "wine", "class"),
    Data("CPS 1985", "cps1985", "occupation"),
)


@dataclass(frozen=True)
class Measured:
    """One release: means over numbers, in standard deviations, and shares of rows."""

    correlation: float  # mean absolute difference of correlations
    unpooled: float  # the same among rows outside pooled leaves
    change: float  # mean absolute change of values, in standard deviations
    linkage: float  # maximum-knowledge record linkage by the numbers
    spread: float  # mean absolute difference of standard deviations, as a share
    kept: float  # rows outside pooled leaves that are in their leaf
    pooled: float  # rows in pooled leaves


def numbers_of(table, data):
    return [c.name for c in table if not c.is_category and c.name != data.target and np.ptp(c.values) > 0]


def apart(before, after):
    """The mean absolute difference of two correlation matrices."""
    first, second = (np.corrcoef(one) for one in (before, after))
    return float(np.nanmean(np.abs(first - second)[np.triu_indices(len(first), 1)]))


def measured(table, data, recipe, seed, settings):
    """One release of the whole recipe."""
    plan = plan_for(table, recipe, target=data.target, settings=settings | ({"bins": data.bins} if data.bins else {}))
    release = run(table, plan, key=Key.from_seed(seed), keep_order=True)
    names, cells = numbers_of(table, data), release.partitions[plan.steps[0].within].cells
    before, after = (np.array([one[name].values for name in names]) for one in (table, release.table))
    alone = ~cells.pooled[cells.label] if cells.pooled is not None else np.ones(len(table), bool)
    known = Known(table, plan, release.partitions, table)
    tree = release.partitions[plan.steps[0].within].trees[0]
    there, now = leaf_membership(tree, table), leaf_membership(tree, release.table)
    same = np.array(
        [
            np.array_equal(there.leaves_of(a), now.leaves_of(b))
            for a, b in zip(there.set_of_row, now.set_of_row, strict=True)
        ]
    )
    scale = before.std(axis=1)
    return Measured(
        apart(before, after),
        apart(before[:, alone], after[:, alone]) if alone.sum() > 2 else np.nan,
        float((np.abs(after - before) / scale[:, None]).mean()),
        informed(evidence_of(known, release.table, names)).first.value,
        float(np.abs(after.std(axis=1) / scale - 1).mean()),
        float(same[alone].mean()),
        float(1 - alone.mean()),
    )


def mean(found, name):
    return float(np.mean([getattr(one, name) for one in found]))


def spread_with(table, data, name, wanted):
    """The spread of the plain Framework at which a mean over trials is as wanted, by halving."""
    low, high = 0.005, 1.0
    falls = name == "linkage"
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        found = mean([measured(table, data, "framework", seed, {"spread": middle}) for seed in range(TRIALS)], name)
        low, high = (middle, high) if (found > wanted) == falls else (low, middle)
    return float(np.sqrt(low * high))


@dataclass(frozen=True)
class Row:
    """A method on a table."""

    method: str
    found: list


def compared(data, runs, table=None):
    """The extended Framework, and the plain one at equal change and at equal linkage."""
    table = lc.read(sample(data.sample)) if table is None else table
    ours = [measured(table, data, "framework-gadp", seed, {"similarity": SIMILARITY}) for seed in range(runs)]
    rows = [Row(f"framework-gadp, similarity {SIMILARITY:g}", ours)]
    for name, words in (("change", "equal change"), ("linkage", "equal linkage")):
        spread = spread_with(table, data, name, mean(ours, name))
        found = [measured(table, data, "framework", seed, {"spread": spread}) for seed in range(runs)]
        rows.append(Row(f"framework, spread {spread:.3f}: {words}", found))
    return rows


def interval(values):
    one: Estimate = mean_of(np.array(values))
    return f"{one.value:.3f} ({one.low:.3f} to {one.high:.3f})"


FIGURES = {
    "difference of correlations": "correlation",
    "outside pooled leaves": "unpooled",
    "change": "change",
    "linkage": "linkage",
    "difference of deviations": "spread",
}


def section(data, rows):
    """A table of figures, and the ratios."""
    head = ("method", *FIGURES, "rows in their leaf")
    lines = [
        f"## {data.name}",
        "",
        f"Target {data.target}; {rows[0].found[0].pooled:.1%} of the rows are in pooled leaves.",
        "",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
    ]
    for row in rows:
        figures = [interval([getattr(one, name) for one in row.found]) for name in FIGURES.values()]
        lines.append(f"| {row.method} | {' | '.join(figures)} | {mean(row.found, 'kept'):.1%} |")
    return [*lines, ""], [mean(rows[0].found, "correlation") / mean(row.found, "correlation") for row in rows[1:]]


INTRODUCTION = """# The extended Framework

Does GADP in every leaf keep correlations better than the noise of the plain Framework? Both recipes of Islam and
Brankovic (2004) release the same tables, {runs} times each. The spread of the plain noise is chosen so that values
change as much on average, or so that as many people are linked.

**Result.** The difference of correlations, as a share of the plain Framework's:

| table | at equal change | at equal linkage |
|---|---|---|
{ratios}

- *Difference of correlations*: mean absolute difference between the correlations of all numbers but the target, of
  the original and of the release.
- *Change*: mean absolute change of these numbers, in standard deviations. *Difference of deviations*: of the standard
  deviations, as a share of the original's.
- *Linkage*: the share of people found by an attacker who knows the plan, the cells and all of these numbers
  (maximum-knowledge record linkage; numbers that are drawn together are judged together).
- *Rows in their leaf*: outside pooled leaves, which merge leaves of fewer than 5 rows. There the leaf is not promised.
- Intervals are 95% of the mean over releases.

"""


def page(found, runs):
    """The whole page."""
    parts = [(data, *section(data, rows)) for data, rows in found]
    ratios = "\n".join(f"| {data.name} | {one:.2f} | {other:.2f} |" for data, _, (one, other) in parts)
    lines = [line for _, some, _ in parts for line in some]
    made = f"Made by `make extended-framework` on {platform.machine()}, Python {platform.python_version()}.\n"
    return INTRODUCTION.format(runs=runs, ratios=ratios) + "\n".join([*lines, made])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    asked = parser.parse_args()
    PAGE.write_text(page([(data, compared(data, asked.runs)) for data in TABLES], asked.runs), "utf-8")
