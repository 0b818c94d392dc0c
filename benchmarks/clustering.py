"""Clusters after each method, on Wages, Wine and Housing, with intervals.

The comparison of Roy, Performance Analysis of Clustering in Privacy Preserving Data Mining.

make clustering        writes docs/results/clustering.md
"""

import argparse
import platform
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import leafcover as lc
from leafcover.engine.evaluate import compared_to
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.record_linkage import informed
from leafcover.metrics.estimates import Estimate, mean_of
from leafcover.metrics.models import learning
from leafcover.metrics.utility.clusters import COUNTS, clusters
from leafcover.metrics.utility.information_loss import information_loss
from leafcover.recipes import plan_for
from leafcover.table.io import sample

RUNS = 20
KEPT = 0.9  # share of rows sampled for each run, the same for every method
PAGE = Path(__file__).parent.parent / "docs" / "results" / "clustering.md"


@dataclass(frozen=True)
class Data:
    """A table with the name that Roy gives it."""

    name: str
    sample: str
    target: str  # target of `cells`
    bins: int | None = None


TABLES = (
    Data("Wages", "cps1985", "occupation"),
    Data("Wine", "wine", "class"),
    Data("Housing", "boston", "medv", bins=4),
)


@dataclass(frozen=True)
class Method:
    """A recipe with its settings and a name."""

    name: str
    recipe: str
    settings: dict[str, object]


METHODS = (
    Method("perturbation tree, k = 3", "perturbation-tree", {"k": 3}),
    Method("perturbation tree, k = 10", "perturbation-tree", {"k": 10}),
    Method("MDAV, k = 3", "microaggregate", {"k": 3}),
    Method("MDAV, k = 10", "microaggregate", {"k": 10}),
    Method("univariate, k = 3", "microaggregate-univariate", {"k": 3}),
    Method("additive, 0.2 sd", "additive", {"spread": 0.2}),
    Method("additive, 0.5 sd", "additive", {"spread": 0.5}),
    Method("multiplicative, 0.2", "multiplicative", {"spread": 0.2}),
    Method("multiplicative, 0.5", "multiplicative", {"spread": 0.5}),
    Method("cells, k = 10", "cells", {"k": 10}),
)


@dataclass(frozen=True)
class Outcome:
    """One method on one table: means over runs."""

    errors: tuple[Estimate, ...]  # M_E for each number of clusters
    together: Estimate  # the same over all numbers of clusters
    lost: Estimate  # SSE/SST
    linked: Estimate  # maximum-knowledge linkage over all columns


def main() -> None:
    """Run every method and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    found = {}
    for data in TABLES:
        table = lc.read(sample(data.sample), roles={data.target: "target"}, category=[] if data.bins else [data.target])
        for method in METHODS:
            found[data.name, method.name] = outcome(table, data, method, runs)
            print(data.name, method.name, found[data.name, method.name], flush=True)
    PAGE.write_text(page(found, runs), "utf-8")


def outcome(table: lc.Table, data: Data, method: Method, runs: int) -> Outcome:
    """Release samples of the rows repeatedly, and compare."""
    errors, lost, linked = [], [], []
    for number in range(runs):
        rows = np.random.default_rng(number).permutation(len(table))[: round(KEPT * len(table))]
        some = table.take(np.sort(rows))
        settings = dict(method.settings)
        if method.recipe == "cells" and data.bins:
            settings["bins"] = data.bins
        plan = plan_for(some, method.recipe, target=data.target, settings=settings)
        compared = compared_to(some, run(some, plan, key=Key.from_seed(number)))
        with learning():
            errors.append([one.error for one in clusters(compared.pair)])
        lost.append(information_loss(compared.pair).squares)
        linked.append(informed(compared.evidence).first.value)
    by_count = tuple(_estimate(one) for one in np.array(errors).T)
    return Outcome(by_count, _estimate(np.mean(errors, axis=1)), _estimate(lost), _estimate(linked))


def _estimate(values: object) -> Estimate:
    return mean_of(np.asarray(values, np.float64))


def page(found: dict[tuple[str, str], Outcome], runs: int) -> str:
    """The page, with a table for each data set."""
    parts = [HEAD.format(runs=runs, kept=round(100 * KEPT)), *_sentences(found), ""]
    for data in TABLES:
        parts.append(f"## {data.name}\n")
        heads = ["method", *(f"{count} clusters" for count in COUNTS), "all", "SSE/SST", "maximum-knowledge linkage"]
        parts.append("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
        for method in METHODS:
            one = found[data.name, method.name]
            cells = [_cell(value) for value in (*one.errors, one.together, one.lost, one.linked)]
            parts.append(f"| {method.name} | " + " | ".join(cells) + " |")
        parts.append("")
    parts.append(f"Python {platform.python_version()}, {platform.machine()}.\n")
    return "\n".join(parts)


def _sentences(found: dict[tuple[str, str], Outcome]) -> list[str]:
    """Which methods preserve clusters best, and whether averages beat noise, judged by the intervals."""
    said = []
    for data in TABLES:
        ranked = sorted(METHODS, key=lambda method: found[data.name, method.name].together.value)
        named = ", ".join(f"{m.name} ({found[data.name, m.name].together.value:.2f})" for m in ranked)
        said.append(f"- **{data.name}**, best first (mean M_E over 2 to 6 clusters): {named}.")
    for averaged in ("perturbation tree, k = 3", "MDAV, k = 3"):
        for noise in ("additive, 0.2 sd", "additive, 0.5 sd", "multiplicative, 0.2", "multiplicative, 0.5"):
            verdicts = [_verdict(found[d.name, averaged].together, found[d.name, noise].together) for d in TABLES]
            verdicts = ", ".join(f"{verdict} on {d.name}" for d, verdict in zip(TABLES, verdicts, strict=True))
            said.append(f"- {averaged} against {noise}: {verdicts}.")
    return said


def _verdict(one: Estimate, other: Estimate) -> str:
    if one.high < other.low:
        return "better"
    return "worse" if one.low > other.high else "no difference shown"


def _cell(value: Estimate) -> str:
    return f"{value.value:.2f} ({max(value.low, 0.0):.2f} to {value.high:.2f})"  # none of these can be below 0


HEAD = """# Clusters after each method

Made by `make clustering`. Roy (*Performance Analysis of Clustering in Privacy Preserving Data Mining*) claims that
averages within kd cells keep clusters better than noise does. Here k-means finds 2 to 6 clusters in a table and in its
release; M_E is the share of rows whose cluster changed, with clusters matched optimally (0 is best). Each figure is the
mean of {runs} runs on {kept} % of the rows, sampled for each run and the same for every method, with its 95 % interval.
All numbers are changed (`cells`: all columns). SSE/SST is the information loss. Maximum-knowledge linkage is the share
of people found by an attacker who knows every column but the target, the method and its parameters.
"""


if __name__ == "__main__":
    main()
