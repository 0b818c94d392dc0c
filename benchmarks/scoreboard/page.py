"""The page of the scoreboard, whole: the words about who is as good are computed from the figures."""

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

Our recipes beside what people can install today, on one table. Made whole by `make scoreboard`: figures, words and
picture. Adult (32,561 people of the 1994 US census, 15 columns); 22,000 rows are released and the others set aside for
testing; {splits} random splits.

![Risk against utility: the upper left corner is best. The tables below hold the same figures.](scoreboard.svg)

The lines are what has no place on the axis of risk: trees of a fresh sample, and the best of the private models, which
leave without a table.
"""

AGAINST = f"""## Where a rival is as good

Every rival against `{OURS}`, split by split. "As good" says that no difference was seen in so few splits.

"""

HOW = """## How it was measured

- **Accuracy**: a scikit-learn tree (one-hot categories, at least 50 rows a leaf) grown on what was released answers
  `income` of the rows set aside; the share of right answers. No recipe is guided by such trees.
- **Agreement**: the share of those rows that it answers as the tree grown on the original does. **Other targets**: the
  same for sex, marital status, education, occupation, relationship and workclass, the mean of six. The **floor** of
  each is the row "a fresh sample".
- **Linkage**: the attacker knows the fourteen columns but `income` of a person and points at one released row. *Gower*:
  the nearest. *Learned law*: he has seen what the method did to half of the people, and weighs every column by that;
  the others are attacked. *Plan's law*: he knows recipe, parameters, trees, cells and law, everything but the key; only
  our recipes have one. *Informed linkage* is the larger of the last two.
- **Inference above control**: the attacker, who knows all other columns, names the value rightly so much more often
  for people in the release than for people who are not. By the nearest released row, by the nearest over the columns
  that link people best, or by a forest grown on the release: whichever tells most. Choosing the best of three makes a
  little of nothing: the row "columns apart" shows how much.
- **CPU**: seconds of the method itself on one thread, tables read and kernels compiled already.
- Intervals are 95 %: Student's over splits for utility and CPU; Wilson's over all people attacked for linkage,
  Newcombe's for inference (somebody may stand in several splits, so these two are a little narrow). A rival
  is "as good" when Student's interval of the differences, split by split, holds 0.
- Rivals run by an interpreter of their own (`.venv-scoreboard`) with {pins}. Attacks never use the order of rows.
- Each rival is shown at one or two strengths: its defaults or what textbooks use, and a stronger one where it hides
  little. Another strength moves it along its own curve. One table says nothing about others.
- Measured on {machine}, Python {python}.
"""


def page(rows: Sequence[Summary], splits: int) -> str:
    """The whole of docs/results/scoreboard.md."""
    parts = [
        HEAD.format(splits=splits),
        "## What it says\n\n" + "\n".join(f"- {line}" for line in sentences(rows)) + "\n",
        AGAINST + verdicts(rows),
        "## What is kept\n\n" + _table(rows, UTILITY),
        "## Who is shown\n\nInference is above control: 0 says that nothing is owed to a person's own row.\n\n"
        + _table([row for row in rows if row.releases or row.trouble or _is_model(row)], RISK),
        "## What each of them is\n\n" + _list(rows),
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
    ("linkage, learned law", lambda row: estimate_text(row.risk("learned"))),
    ("linkage, plan's law", lambda row: estimate_text(row.risk("by_plan"))),
    ("inference, occupation", lambda row: estimate_text(row.above_control("occupation"))),
    ("inference, income", lambda row: estimate_text(row.above_control("income"))),
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
        return ["no table leaves", *[""] * (len(cells) - 1)]
    return [cell(row) for _, cell in cells]


def _list(rows: Sequence[Summary]) -> str:
    lines = []
    for family, words in FAMILIES.items():
        lines.append(f"**{words}**\n")
        for row in (row for row in rows if row.contender.family == family):
            memory = max((score.gigabytes for score in row.scores), default=0.0)
            need = f" It held up to {memory:.0f} GB of memory." if memory >= 2 else ""
            lines.append(f"- **{row.name}**: {row.contender.about}{need}")
        lines.append("")
    return "\n".join(lines)


def _pins() -> str:
    pins = Path(__file__).with_name("rivals.txt").read_text("utf-8").split()
    return ", ".join(pin.replace("==", " ") for pin in pins)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one of them used"
