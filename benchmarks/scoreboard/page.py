"""The scoreboard page; the sentences that compare methods are computed from the figures."""

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.scoreboard.summary import Summary
from benchmarks.scoreboard.words import OURS, estimate_text, sentences, verdicts

FAMILIES = {
    "ours": "Recipes of Leafcover",
    "installed": "Packages of others, installed from PyPI",
    "textbook": "Textbook methods, a few lines of our own",
    "yardstick": "Yardsticks",
}

HEAD = """# Scoreboard

Leafcover's recipes next to other programs that can be installed today, on one table. `make scoreboard` writes this
page: figures, sentences and picture. Adult (32,561 people of the 1994 US census, 15 columns); 22,000 rows are released
and the others are set aside for testing; {splits} random splits.

![Risk against utility: the upper left corner is best. The tables below have the same figures.](scoreboard.svg)

The lines mark what has no position on the risk axis: trees of a fresh sample, and the best differentially private
model, which is released without a table.

!!! warning "These attacks are not the strongest possible"
    An attacker who regrows the cells from a `cover` release infers occupation 0.255 above control, far more than the
    attacks on this page find ([the audit](../explanation/not-protected.md#an-audit-of-cover)). No rival was audited in
    this way.
"""

AGAINST = f"""## Where a rival is as good

Every rival against `{OURS}`, split by split. "As good" means that no difference was found in these few splits.

"""

HOW = """## How it was measured

- **Accuracy**: a scikit-learn tree (one-hot categories, at least 50 rows per leaf) grown on what was released
  predicts `income` of the rows set aside; the share of correct predictions. No recipe is guided by such trees.
- **Agreement**: the share of those rows that it classifies as the tree grown on the original does. **Other targets**:
  the same for sex, marital status, education, occupation, relationship and workclass, the mean of six. The **floor** of
  each is the row "a fresh sample".
- **Linkage**: the attacker knows the fourteen columns but `income` of a person and picks one released row. *Gower*:
  the nearest. *Probabilistic*: the attacker has seen what the method did to half of the people, and weights every
  column accordingly (Fellegi and Sunter); the others are attacked. *Plan known*: the attacker knows recipe, parameters,
  trees, cells and distribution, everything but the key; only our recipes have a plan. *Maximum-knowledge linkage* is
  the larger of the last two.
- **Inference above control**: how much more often an attacker who knows all other columns infers the value correctly
  for people in the release than for people outside it. By the nearest released row, by the nearest over the columns
  that link people best, or by a forest grown on the release, whichever succeeds most. Choosing the best of three gives
  a little even where there is nothing: the row "columns apart" shows how much.
- **CPU**: seconds of the method itself on one thread, with tables read and kernels compiled already.
- Intervals are 95 %: Student's over splits for utility and CPU; Wilson's over all people attacked for linkage,
  Newcombe's for inference (a person may be in several splits, so these two are a little too narrow). A rival
  is "as good" when Student's interval of the differences, split by split, contains 0.
- Rivals run in an environment of their own (`.venv-scoreboard`) with {pins}. Attacks never use the order of rows.
- Each rival is shown at one or two strengths: its defaults or what textbooks use, and a stronger one where it hides
  little. Another strength moves it along its own curve. One table does not generalise to others.
- Measured on {machine}, Python {python}.
"""


def page(rows: Sequence[Summary], splits: int) -> str:
    """The whole of docs/results/scoreboard.md."""
    parts = [
        HEAD.format(splits=splits),
        "## Summary\n\n" + "\n".join(f"- {line}" for line in sentences(rows)) + "\n",
        AGAINST + verdicts(rows),
        "## Utility\n\n" + _table(rows, UTILITY),
        "## Disclosure risk\n\nInference is above control: 0 means that a person's own row adds nothing.\n\n"
        + _table([row for row in rows if row.releases or row.trouble or _is_model(row)], RISK),
        "## The methods\n\n" + _list(rows),
        HOW.format(splits=splits, pins=_pins(), machine=_machine(), python=platform.python_version()),
    ]
    return "\n".join(parts)


def _is_model(row: Summary) -> bool:
    return bool(row.scores) and not row.releases and row.contender.family != "yardstick"


Cell = Callable[[Summary], str]

UTILITY: tuple[tuple[str, Cell], ...] = (
    ("accuracy", lambda row: estimate_text(row.estimate("accuracy"))),
    ("agreement", lambda row: estimate_text(row.estimate("agreement"))),
    ("agreement, other targets", lambda row: estimate_text(row.estimate("others"))),
    ("CPU seconds", lambda row: f"{row.estimate('cpu').value:.1f}" if row.contender.family != "yardstick" else "–"),
)
RISK: tuple[tuple[str, Cell], ...] = (
    ("linkage, Gower", lambda row: estimate_text(row.risk("gower"))),
    ("linkage, probabilistic", lambda row: estimate_text(row.risk("learned"))),
    ("linkage, plan known", lambda row: estimate_text(row.risk("by_plan"))),
    ("inference of occupation", lambda row: estimate_text(row.above_control("occupation"))),
    ("inference of income", lambda row: estimate_text(row.above_control("income"))),
)


def _table(rows: Sequence[Summary], cells: Sequence[tuple[str, Cell]]) -> str:
    lines = ["| method | " + " | ".join(words for words, _ in cells) + " |", "|---" * (len(cells) + 1) + "|"]
    for family, words in FAMILIES.items():
        members = [row for row in rows if row.contender.family == family]
        if members:
            lines.append(f"| *{words}* |" + " |" * len(cells))
        lines += [f"| {row.name} | " + " | ".join(_cells(row, cells)) + " |" for row in members]
    return "\n".join(lines) + "\n"


def _cells(row: Summary, cells: Sequence[tuple[str, Cell]]) -> list[str]:
    if row.trouble:
        return [row.trouble, *[""] * (len(cells) - 1)]
    if cells is RISK and not row.releases:
        return ["releases no table", *[""] * (len(cells) - 1)]
    return [cell(row) for _, cell in cells]


def _list(rows: Sequence[Summary]) -> str:
    lines = []
    for family, words in FAMILIES.items():
        lines.append(f"**{words}**\n")
        for row in (row for row in rows if row.contender.family == family):
            memory = max((score.gigabytes for score in row.scores), default=0.0)
            need = f" It used up to {memory:.0f} GB of memory." if memory >= 2 else ""
            lines.append(f"- **{row.name}**: {row.contender.about}{need}")
        lines.append("")
    return "\n".join(lines)


def _pins() -> str:
    pins = Path(__file__).with_name("rivals.txt").read_text("utf-8").split()
    return ", ".join(pin.replace("==", " ") for pin in pins)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one of them used"
