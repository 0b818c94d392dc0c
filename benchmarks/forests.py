"""What releases preserve of a forest, on five tables, with intervals.

The comparison of Fletcher and Islam (2015), "An anonymization technique using intersected decision trees".

make forests        writes docs/results/forest-comparison.md
"""

import argparse
import platform
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

import leafcover as lc
from leafcover.engine.evaluate import compared_to
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.nearest_record import sers
from leafcover.metrics.disclosure.record_linkage import informed
from leafcover.metrics.estimates import Estimate, mean_of
from leafcover.metrics.utility.forest import (
    Growth,
    Walked,
    distinct_rules,
    eduds,
    edusc,
    forest_for,
    leaves_alike,
    shares_held,
    walked,
)
from leafcover.metrics.utility.rules import Rule, allowance
from leafcover.metrics.utility.trees import with_classes
from leafcover.recipes import plan_for
from leafcover.table.io import sample
from leafcover.table.table import Table
from leafcover.tree.c45 import grow
from leafcover.tree.predict import errors_on, forest_errors_on

RUNS = 20
MOST_ROWS = 3_000  # maximum rows sampled in a run: two thirds to release, one third to test
TREES = 60
GROWTH = Growth(n_trees=TREES)
RESAMPLES = 3  # resamples per run, for the floor of rules kept
PAGE = Path(__file__).parent.parent / "docs" / "results" / "forest-comparison.md"


@dataclass(frozen=True)
class Data:
    """A table and what is predicted."""

    name: str
    sample: str
    target: str
    drop: tuple[str, ...] = ()


TABLES = (
    Data("WBC", "wbc", "class", ("sample_code_number",)),
    Data("Adult", "adult", "income"),
    Data("German credit", "german_credit", "class"),
    Data("Wine", "wine", "class"),
    Data("CPS1985", "cps1985", "occupation"),
)


@dataclass(frozen=True)
class Method:
    """A recipe with its settings and a name; without a recipe the original is released unchanged."""

    name: str
    recipe: str
    settings: dict[str, object]


METHODS = (
    Method("original", "", {}),
    Method("forest, min_cell = 1", "forest", {"min_cell": 1}),
    Method("forest", "forest", {}),
    Method("forest, min_cell = 20", "forest", {"min_cell": 20}),
    Method("framework", "framework", {}),
    Method("cells, k = 10", "cells", {"k": 10}),
    Method("cells in a forest, k = 10", "cells", {"k": 10, "within": "forest"}),
    Method("random", "random", {}),
)


Figure = TypeVar("Figure", float, Estimate)


@dataclass(frozen=True)
class Figures(Generic[Figure]):
    """One run, or the means of several with their intervals."""

    forest: Figure  # accuracy on unseen rows of a forest grown on the release
    tree: Figure  # of one tree
    rules: Figure  # rules of the original's forest that the release's has, weighted by rows, with similar cuts
    leaves: Figure  # rows whose leaf in the original's forest has as many rows of their class
    eduds: Figure
    edusc: Figure
    sers: Figure
    linked: Figure  # maximum-knowledge linkage


HEADS = ("forest's accuracy", "tree's accuracy", "rules kept", "leaves kept", "EDUDS", "EDUSC", "SERS", "linkage")


def main() -> None:
    """Run every method and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    found, floors = {}, {}
    for data in TABLES:
        table = lc.read(sample(data.sample), roles={data.target: "target"}, category=[data.target], drop=data.drop)
        bases = [base_of(table, data, number) for number in range(runs)]
        floors[data.name] = _estimate([base.floor for base in bases])
        for method in METHODS:
            found[data.name, method.name] = _means([one_run(base, data, method) for base in bases])
            print(data.name, method.name, found[data.name, method.name], flush=True)
    PAGE.write_text(page(found, floors, runs), "utf-8")


@dataclass(frozen=True)
class Base:
    """The data that all methods of one run share: rows to release and to test on, the original's forest, the floor."""

    number: int
    some: Table
    others: Table
    forest: Walked
    rules: tuple[Rule, ...]
    floor: float  # share of rules that forests of resamples also have


def base_of(table: Table, data: Data, number: int) -> Base:
    """Sample rows, and grow the forest they are compared with."""
    draws = np.random.default_rng(number)
    rows = draws.permutation(len(table))[:MOST_ROWS]
    some, others = (table.take(np.sort(part)) for part in np.split(rows, [2 * len(rows) // 3]))
    forest = walked(forest_for(some, data.target, GROWTH), some)
    rules = distinct_rules(forest.trees, forest.places)
    resampled = [some.take(draws.integers(0, len(some), len(some))) for _ in range(RESAMPLES)]
    held = [shares_held(rules, rules_of(one, data), allowance(some)).near for one in resampled]
    return Base(number, some, others, forest, rules, float(np.mean(held)))


def rules_of(table: Table, data: Data) -> tuple[Rule, ...]:
    """The rules of a forest grown on a table."""
    return distinct_rules(forest_for(table, data.target, GROWTH))


def one_run(base: Base, data: Data, method: Method) -> Figures[float]:
    """Release the rows, compare, and test models grown on the release on other rows."""
    # a plan that changes nothing
    plan = lc.Plan(lc.Step(data.target, within=lc.Whole(), perturb=lc.Redraw(distribution="own")), target=data.target)
    if method.recipe:
        plan = plan_for(base.some, method.recipe, target=data.target, settings=method.settings)
    compared = compared_to(base.some, run(base.some, plan, key=Key.from_seed(base.number)))
    pair = with_classes(compared.pair)
    trees = forest_for(pair.released, data.target, GROWTH)
    theirs = walked(trees, pair.original)
    after = walked(base.forest.trees, pair.released)
    classes = pair.original[data.target].values, pair.released[data.target].values
    return Figures(
        forest=1 - forest_errors_on(trees, base.others) / len(base.others),
        tree=1 - errors_on(grow(pair.released, target=data.target), base.others) / len(base.others),
        rules=shares_held(base.rules, distinct_rules(trees), allowance(base.some)).near,
        leaves=leaves_alike(base.forest, after, *classes).rows,
        eduds=eduds(base.forest, theirs, theirs, pair.original).value,
        edusc=edusc(pair.original, pair.released, data.target).value,
        sers=sers(compared.pair).share.value,
        linked=informed(compared.evidence).first.value,
    )


def _means(each: list[Figures[float]]) -> Figures[Estimate]:
    return Figures(*(_estimate([getattr(one, field.name) for one in each]) for field in fields(Figures)))


def _estimate(values: list[float]) -> Estimate:
    return mean_of(np.asarray(values, np.float64))


def page(found: dict[tuple[str, str], Figures[Estimate]], floors: dict[str, Estimate], runs: int) -> str:
    """The page, with a table for each data set."""
    parts = [HEAD.format(runs=runs, most=f"{MOST_ROWS:,}", trees=TREES), *_sentences(found), ""]
    for data in TABLES:
        parts.append(f"## {data.name}\n")
        parts.append("| method | " + " | ".join(HEADS) + " |\n" + "|---" * (len(HEADS) + 1) + "|")
        for method in METHODS:
            cells = [_cell(getattr(found[data.name, method.name], field.name)) for field in fields(Figures)]
            parts.append(f"| {method.name} | " + " | ".join(cells) + " |")
        parts.append(
            f"\nFloor of rules kept, by forests grown on resamples of the original: {_cell(floors[data.name])}.\n"
        )
    parts.append(f"Python {platform.python_version()}, {platform.machine()}.\n")
    return "\n".join(parts)


def _sentences(found: dict[tuple[str, str], Figures[Estimate]]) -> list[str]:
    """Whether a forest preserves more rules than one tree, judged by the intervals."""
    said = []
    for ours in ("forest, min_cell = 1", "forest", "cells in a forest, k = 10"):
        for other in ("framework", "cells, k = 10", "random"):
            verdicts = ", ".join(
                f"{_verdict(found[d.name, ours].rules, found[d.name, other].rules)} on {d.name}" for d in TABLES
            )
            said.append(f"- Rules kept by {ours} against {other}: {verdicts}.")
    return said


def _verdict(one: Estimate, other: Estimate) -> str:
    if one.low > other.high:
        return "more"
    return "fewer" if one.high < other.low else "no difference shown"


def _cell(value: Estimate) -> str:
    return f"{value.value:.2f} ({max(value.low, 0.0):.2f} to {min(value.high, 1.0):.2f})"  # all of these are shares


HEAD = """# What releases keep of a forest

Made by `make forests`. Fletcher and Islam (2015) compare their Forest Framework with the Framework, GADP and random
perturbation on five tables by prediction accuracy, EDUDS, EDUSC and SERS. Their formulas and results were not available
to us, so the definitions are [ours](../reference/measures/index.md) and no figure is a replication. GADP is not
implemented. Each figure is the mean of {runs} runs with its 95 % interval. A run samples up to {most} rows, releases
two thirds of them and tests on the others; all methods get the same rows. Forests are SysFor's, with {trees} trees.

- **Forest's, tree's accuracy**: of a forest, or of one C4.5 tree, grown on the release and tested on rows that it never
  saw.
- **Rules kept**: of the rules in a forest grown on the original, weighted by the rows they cover, those that a forest
  grown on the release also has (a cut may move by 5 % of its column's range).
- **Leaves kept**: rows of each class in the leaves of the original's forest before and after, as a mean over trees. The
  recipe `forest` with `min_cell` 1 keeps them all by construction.
- **EDUDS, EDUSC**: how similar the allowed ranges of values are in both forests; how similar the best gain ratio of
  each column is. 1 is best.
- **SERS**: the share of other original rows that are at least as near to a released row as its own; 0 means that a row
  is nearest to its own only. Larger hides more.
- **Linkage**: the share of people found by an attacker who knows every column but the target, the method and all its
  parameters. Smaller hides more.
"""


if __name__ == "__main__":
    main()
