"""The scoreboard page; the sentences that compare methods are computed from the figures."""

import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.scoreboard.score import Kind
from benchmarks.scoreboard.summary import RISK_MARGIN, UNMEASURED, UTILITY_MARGIN, Summary
from benchmarks.scoreboard.words import OURS, copied_text, estimate_text, sentences, strongest_text, verdicts

SPLITS = 2  # default number of splits

FAMILIES = {
    "ours": "Recipes of Leafcover",
    "installed": "Packages of others, installed from PyPI",
    "textbook": "Textbook methods, a few lines of our own",
    "yardstick": "Yardsticks",
}

HEAD = """# Scoreboard

Leafcover's recipes next to other programs that can be installed today, on one table. `make scoreboard` writes this
page: figures, sentences and picture. Adult (32,561 people of the 1994 US census, 15 columns); 22,000 rows are released
and the others are set aside for testing; {splits}.

![Risk against utility: the upper left corner is best. The tables below have the same figures.](scoreboard.svg)

The risk is the largest inference above control: how much more often an attacker infers a value of people in the release
than of people outside it, in the worst column, by the strongest attack. The lines mark what has no position on this
axis: trees of a fresh sample, and the best differentially private model, which is released without a table.
"""

AGAINST = f"""## Where a rival is as good

Every rival against `{OURS}`. "As good" means a difference of at most {UTILITY_MARGIN} for utility and {RISK_MARGIN} for
risks, in the mean of the splits. So few splits do not show smaller ones.

"""

INFERENCE_HEAD = """## Attribute inference

The attacker knows all other columns of a person. Figures are above control: 0 means that a person's own row adds
nothing. Each figure is that of the strongest attack, which is named. Taking the largest of 15 columns gives
a little even where there is nothing: the row "columns apart" shows how much.

"""

MEMBERSHIP_HEAD = """## Membership, copies and linkage

An area of 0.5, and 0.01 of the members found at 1% false alarms, are chance. Copies are above control. Linkage does not
apply where no released row descends from one person.

"""

HOW = """## How it was measured

- **Accuracy**: a scikit-learn tree (one-hot categories, at least 50 rows per leaf) grown on what was released
  predicts `income` of the rows set aside; the share of correct predictions. No recipe is guided by such trees.
- **Agreement**: the share of those rows that it classifies as the tree grown on the original does. **Other targets**:
  the same for sex, marital status, education, occupation, relationship and workclass, the mean of six. The **floor** of
  each is the row "a fresh sample".
- **Attribute inference**: every column is attacked by all of these, and the strongest counts. *Plan known*: the
  attacker knows recipe, parameters and the true trees or cells, everything but the key; only our recipes have a plan.
  *Regrown*: the attacker runs the recipe on the released table; on tables of other methods, the chain of trees of
  `cover`, so that the law of the table is learned from it. *Nearest row*; *stable columns*: the nearest row by the
  columns that link people best; *forest*: grown on the release. An attack is averaged over splits before the largest
  is taken.
- **Membership**: *plan known* and *regrown* by likelihood ratio; *distance* to the nearest row; *values*: how often the
  values of a person occur in the release and in a reference sample; *classifier*: trained on some members and others.
- **Copies**: people whose record, near-unique columns left out, occurs in the release, above the same share of
  people outside it; the same for records that one person alone has. The next column names what occurs so often among
  members that chance does not explain it (exact tests, p < 0.001 after correction, in any split).
- **Linkage**: the attacker knows the fourteen columns but `income` of a person and picks one released row. *Plan
  known*, as above; *probabilistic*: the attacker has seen what the method did to half of the people, and weights every
  column accordingly (Fellegi and Sunter).
- These are the risks that `--max-risk` compares. Not run here: attackers who know other people's rows, shadow runs and
  two releases together. No attacker here was made for one rival, so the figures of rivals are lower limits.
- **CPU**: seconds of the method itself on one thread, with tables read and kernels compiled already.
- In brackets: for utility, the lowest and the highest split, if there are several; for risks, 95% intervals over all
  people attacked, Wilson's for membership and linkage, Newcombe's for inference and copies. They are a little too
  narrow if there are several splits, because a person may be in more than one.
- The default is {default} splits: each takes about 15 minutes of CPU time.{fewer}
- Rivals run in an environment of their own (`.venv-scoreboard`) with {pins}. Attacks never use the order of rows.
- Each rival is shown at one or two strengths: its defaults or what textbooks use, and a stronger one where it hides
  little. Another strength moves it along its own curve. One table does not generalise to others.
- Measured on {machine}, Python {python}.
"""


def page(rows: Sequence[Summary], splits: int) -> str:
    """The whole of docs/results/scoreboard.md."""
    measured = [row for row in rows if row.trouble != UNMEASURED]
    attacked = [row for row in measured if row.releases or row.trouble or _is_model(row)]
    parts = [
        HEAD.format(splits="one random split" if splits == 1 else f"{splits} random splits"),
        "## Summary\n\n" + "\n".join(f"- {line}" for line in sentences(rows)) + "\n",
        AGAINST + verdicts(rows),
        "## Utility\n\n" + _table(measured, UTILITY),
        INFERENCE_HEAD + _table(attacked, INFERENCE),
        MEMBERSHIP_HEAD + _table([row for row in attacked if not _is_model(row)], MEMBERSHIP),
        "## The methods\n\n" + _list(measured),
        HOW.format(
            default=SPLITS,
            fewer=_fewer(rows, splits),
            pins=_pins(),
            machine=_machine(),
            python=platform.python_version(),
        ),
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
INFERENCE: tuple[tuple[str, Cell], ...] = (
    ("largest column", lambda row: strongest_text(row.strongest("inference"), column=True)),
    ("occupation", lambda row: strongest_text(row.strongest("inference", "occupation"))),
    ("income", lambda row: strongest_text(row.strongest("inference", "income"))),
)
MEMBERSHIP: tuple[tuple[str, Cell], ...] = (
    ("membership, area", lambda row: strongest_text(row.strongest("area"))),
    ("found at 1%", lambda row: strongest_text(row.strongest("found"))),
    ("copies", lambda row: _copies(row, "copies")),
    ("copies of unique records", lambda row: _copies(row, "unique")),
    ("copies that chance does not explain", copied_text),
    ("linkage", lambda row: strongest_text(row.strongest("linkage"))),
)


def _copies(row: Summary, kind: Kind) -> str:
    found = row.strongest(kind)
    return estimate_text(None if found is None else found.risk)


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
    if cells is INFERENCE and not row.releases:
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


def _fewer(rows: Sequence[Summary], splits: int) -> str:
    """A sentence about the methods that were measured on fewer splits."""
    named = [row.name for row in rows if 0 < len(row.scores) < splits]
    return f" Measured on fewer splits: {'; '.join(named)}." if named else ""


def _pins() -> str:
    pins = Path(__file__).with_name("rivals.txt").read_text("utf-8").split()
    return ", ".join(pin.replace("==", " ") for pin in pins)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one of them used"
