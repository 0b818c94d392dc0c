"""The page that tells what the experiment found."""

import platform

import numpy as np
from benchmarks.response.experiment import FEWER_RUNS, READINGS, WAYS, Found, Outcome, adult


def page(found: Found) -> str:
    """The page with its tables."""
    id3 = found.plain["median", "the paper's way"]
    lines = [HEAD.format(runs=found.runs, id3=f"{id3:.2f}"), *_sentences(found), ""]
    lines += ["## By θ", "", *_table(found, "median"), "", WHY, *_why(found), ""]
    lines += [
        EACH.format(fewer=FEWER_RUNS),
        "",
        "| θ | one coin | a coin for every answer | nodes | ε |",
        "|---" * 5 + "|",
    ]
    for theta, one in found.each.items():
        shared = found.by_theta["median", "rules against noise", theta]
        epsilon = len(adult(READINGS["median"], 100).names) * np.log(theta / (1 - theta))
        lines.append(f"| {theta:g} | {_cell(shared)} | {_cell(one)} | {one.nodes.mean():.0f} | {epsilon:.1f} |")
    lines += ["", MIDRANGE.format(fewer=FEWER_RUNS), "", *_table(found, "midrange"), ""]
    lines.append(
        f"Made in {found.seconds:.0f} CPU seconds. Python {platform.python_version()}, {platform.machine()}.\n"
    )
    return "\n".join(lines)


def _table(found: Found, reading: str) -> list[str]:
    thetas = sorted({theta for one, _, theta in found.by_theta if one == reading})
    heads = [f"{name}: mean | variance | nodes" for name in WAYS]
    lines = ["| θ | " + " | ".join(heads) + " |", "|---" * (1 + 3 * len(WAYS)) + "|"]
    undisguised = " | ".join(f"{found.plain[reading, name]:.2f} | | " for name in WAYS)
    lines.append(f"| undisguised | {undisguised} |")
    for theta in thetas:
        each = (found.by_theta[reading, name, theta] for name in WAYS)
        lines.append(
            f"| {theta:g} | "
            + " | ".join(f"{o.mean:.2f} | {o.variance:.2f} | {o.nodes.mean():.0f}" for o in each)
            + " |"
        )
    return lines


def _sentences(found: Found) -> list[str]:
    said = []
    id3 = found.plain["median", "the paper's way"]
    for name in WAYS:
        outcomes = {theta: found.by_theta["median", name, theta] for _, one, theta in found.by_theta if one == name}
        ends = [theta for theta in outcomes if theta in (0, 1)]
        same = all(outcomes[theta].same for theta in ends)
        worst = min((o.mean - id3, theta) for theta, o in outcomes.items() if abs(theta - 0.5) > 0.09)
        said.append(
            f"- **{name[0].upper()}{name[1:]}**: at θ = 0 and 1 every tree is {'exactly' if same else 'NOT'} the tree "
            f"from undisguised rows. For θ up to 0.4 and from 0.6 on the mean lies at worst {worst[0]:+.2f} points "
            f"from plain ID3 (at θ = {worst[1]:g})."
        )
    return said


def _why(found: Found) -> list[str]:
    lines = ["| θ | " + " | ".join(WAYS) + " |", "|---" * (1 + len(WAYS)) + "|"]
    for theta in sorted({theta for one, _, theta in found.by_theta if one == "median"}):
        each = (100 * found.by_theta["median", name, theta].mislabelled.mean() for name in WAYS)
        lines.append(f"| {theta:g} | " + " | ".join(f"{share:.1f} %" for share in each) + " |")
    return lines


def _cell(one: Outcome) -> str:
    return f"{one.mean:.2f} (variance {one.variance:.2f})"


HEAD = """# Trees from disguised answers: the experiment of paper 003

Made by `make response`. Du and Zhan (2003) disguise the first 10,000 rows of Adult by one coin for all answers of a
person, grow ID3 from estimated counts and test it on rows that nobody disguised. Here the first two thirds of these
rows are the training set D and the others the test set B; for every θ the coins are tossed anew {runs} times.
[How it works](../explanation/trees-from-disguised-answers.md).

The paper leaves open what the "median point of the range" is, and how nominal columns become binary. Here a number is
above its **median** or not (the other reading, the middle between the smallest and the largest value, is at the end),
and a nominal column has its **most frequent level** or not; an unknown answer has not. The class is income above 50K.
All 14 columns and the class share the coin. Plain ID3 on undisguised rows is right for {id3} % of B.

- **The paper's way** splits while classes are mixed and columns are left. Counts below 0, of which the paper says
  nothing, are set to 0 and branches rescaled to their node.
- **The paper's way, pruned** keeps a third of D for pruning by estimated accuracy (§ 4.3), disguised like the rest.
- **Rules against noise** are the defaults of `grow_tree`; **looser rules** are `significance=0.5, deviations=1`.

![Mean and variance of the accuracy by θ](response-experiment.svg)
"""

WHY = """## Why the paper's way falls off

It splits until a leaf holds a few rows, and the standard error of a count does not shrink with the leaf as the count
does: √(θ(1 - θ)(N + N̄)) / |2θ - 1| for N rows that meet the path and N̄ that meet its complement. At θ = 0.6 a leaf
of 20 rows whose complement has 20 more is known to ± 15. So leaves are labelled by noise. At θ = 0.51 even the share of
a class in all of D is known to ± 31 points only, so that a tree of one leaf may answer the rarer class. The table gives
the share of the true training rows in leaves whose label is not that of most of the true rows there.
"""

EACH = """## One coin, or a coin for every answer

With rules against noise. One coin keeps trees better, and has no ε at all: the pair of a record and its complement is
disclosed. A coin for every answer has an ε, which adds up over the answers, and every test multiplies the variance
anew. Means of {fewer} runs for a coin for every answer; the ε is that of a whole record."""

MIDRANGE = """## The other reading: above the middle of the range

Columns with a few large values are then almost constant. Means of {fewer} runs."""
