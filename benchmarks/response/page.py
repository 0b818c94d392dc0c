"""The page with the results of the experiment."""

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
        f"Computed in {found.seconds:.0f} CPU seconds. Python {platform.python_version()}, {platform.machine()}.\n"
    )
    return "\n".join(lines)


def _table(found: Found, reading: str) -> list[str]:
    thetas = sorted({theta for one, _, theta in found.by_theta if one == reading})
    heads = [f"{name}: mean | variance | nodes" for name in WAYS]
    lines = ["| θ | " + " | ".join(heads) + " |", "|---" * (1 + 3 * len(WAYS)) + "|"]
    undisguised = " | ".join(f"{found.plain[reading, name]:.2f} | | " for name in WAYS)
    lines.append(f"| not randomised | {undisguised} |")
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
            f"from rows that are not randomised. For θ up to 0.4 and from 0.6 on the mean is at worst "
            f"{worst[0]:+.2f} points from plain ID3 (at θ = {worst[1]:g})."
        )
    return said


def _why(found: Found) -> list[str]:
    lines = ["| θ | " + " | ".join(WAYS) + " |", "|---" * (1 + len(WAYS)) + "|"]
    for theta in sorted({theta for one, _, theta in found.by_theta if one == "median"}):
        each = (100 * found.by_theta["median", name, theta].mislabelled.mean() for name in WAYS)
        lines.append(f"| {theta:g} | " + " | ".join(f"{share:.1f}%" for share in each) + " |")
    return lines


def _cell(one: Outcome) -> str:
    return f"{one.mean:.2f} (variance {one.variance:.2f})"


HEAD = """# Trees from randomised answers: the experiment of Du and Zhan (2003)

Written by `make response`. In "Using Randomized Response Techniques for Privacy-Preserving Data Mining" (2003), Du and
Zhan randomise the first 10,000 rows of Adult with one coin per person, grow ID3 from estimated counts, and test it on
rows that are not randomised. Here the first two thirds of these rows are the training set D and the rest the test set
B; the experiment is repeated {runs} times with new coins for every θ.
[How it works](../explanation/trees-from-disguised-answers.md).

The paper does not define the "median point of the range", nor how nominal columns become binary. Here a number is above
its **median** or not (for the other reading, the midpoint between the smallest and the largest value, see the end), and
a nominal column has its **most frequent level** or not; an unknown answer counts as not. The class is income above 50K.
All 14 columns and the class share the coin. Plain ID3 on rows that are not randomised is correct for {id3}% of B.

- **The paper's way** splits while classes are mixed and columns are left. Negative counts, which the paper does not
  mention, are set to 0, and branches are rescaled to their node.
- **The paper's way, pruned** uses a third of D for pruning by estimated accuracy (§ 4.3), randomised like the rest.
- **Rules against noise** are the defaults of `grow_tree`; **looser rules** are `significance=0.5, deviations=1`.

![Mean and variance of the accuracy by θ](response-experiment.svg)
"""

WHY = """## Why the paper's way gets worse

It splits until a leaf has only a few rows. The standard error of a count does not shrink with the leaf as the count
does: it is √(θ(1 - θ)(N + N̄)) / |2θ - 1| for N rows that satisfy the path and N̄ that satisfy its complement. At θ = 0.6
the count of a leaf of 20 rows whose complement has 20 more has a standard error of 15, so leaves are labelled by noise.
At θ = 0.51 even the share of a class in all of D has a standard error of 31 points, so a tree with a single leaf may
predict the rarer class. The table shows the share of the true training rows in leaves whose label differs from the
majority of the true rows there.
"""

EACH = """## One coin, or a coin for every answer

With rules against noise. One coin preserves trees better, but has no ε: the pair of a record and its complement is
disclosed. A coin for every answer has an ε, which adds up over the answers, but every test multiplies the variance
again. Means of {fewer} runs for a coin for every answer; the ε is that of a whole record."""

MIDRANGE = """## The other reading: above the midpoint of the range

Columns with a few large values are then almost constant. Means of {fewer} runs."""
