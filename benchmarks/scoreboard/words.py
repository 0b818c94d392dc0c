"""Sentences computed from the figures of the scoreboard."""

from collections.abc import Sequence

from benchmarks.scoreboard.summary import FIGURES, UNMEASURED, Strongest, Summary, front, verdict

from leafcover.metrics.estimates import Estimate, Risk

OURS = "cover"
FLOOR = "a fresh sample"
MUCH = 0.07  # recipes with a larger inference above control are named
COPIES = {  # kinds of copies, as the page names them
    "records": "whole records",
    "unique": "unique records",
    "rare": "people with rare values",
    "rarest": "people with the rarest level of a column",
    "lowest": "people with the lowest values of a column",
    "highest": "people with the highest values of a column",
    "extreme": "people with extreme values",
    "block": "parts of records",
    "value": "rare values",
    "reproduced": "counts of rare records",
    "attached": "rare values with what their people have",
    "near": "nearly whole records",
}
RIVALS = ("installed", "textbook")
KEPT, OTHERS, HIDDEN = (
    next(figure for figure in FIGURES if figure.words == words)
    for words in ("agreement", "agreement for other targets", "largest inference")
)
SAID = {"better": "**better**", "alike": "*as good*", "worse": "worse", None: "–"}


def estimate_text(found: Estimate | Risk | None, digits: int = 3) -> str:
    """A figure and its interval in a cell of the table.

    >>> estimate_text(Risk(0.0, 0.0, 0.0012, 3000))
    '0.000 (0.000 to 0.001)'
    """
    if found is None:
        return "–"
    if found.low != found.low:
        return f"{found.value:.{digits}f}"
    value, low, high = (f"{x:.{digits}f}" for x in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})".replace("-0.000", "0.000")


def strongest_text(found: Strongest | None, *, column: bool = False) -> str:
    """A risk with its interval, the attack, and the column if asked for."""
    if found is None:
        return "–"
    return f"{estimate_text(found.risk)}, {f'{found.column}, ' if column else ''}{found.attack}"


def copied_text(row: Summary) -> str:
    """The kinds of copies that chance does not explain."""
    return "; ".join(COPIES[kind] for kind in row.copied) or "none"


def verdicts(rows: Sequence[Summary]) -> str:
    """A table of every rival compared with our default, figure by figure."""
    ours = _named(rows, OURS)
    lines = ["| rival | " + " | ".join(figure.words for figure in FIGURES) + " |", "|---" * (len(FIGURES) + 1) + "|"]
    for row in rows:
        if row.contender.family in RIVALS and row.scores:
            said = [SAID[verdict(row, ours, figure)] for figure in FIGURES]
            lines.append(f"| {row.name} | " + " | ".join(said) + " |")
    return "\n".join(lines) + "\n"


def sentences(rows: Sequence[Summary]) -> list[str]:
    """Sentences about our default, equal rivals, the floor, the Pareto front, and methods with high risks."""
    ours, floor = _named(rows, OURS), _named(rows, FLOOR)
    found = [_ourselves(ours, floor), _equals(rows, ours)]
    for figure, words in ((KEPT, "income"), (OTHERS, "the six other targets")):
        reached = [row.name for row in _tables(rows) if verdict(row, floor, figure) in ("alike", "better")]
        found.append(f"At the floor for {words}, within {figure.margin}, or above: {_listed(reached)}.")
    for utility, words in (("agreement", "income"), ("others", "the six other targets")):
        names = [row.name for row in front(_tables(rows), utility)]
        found.append(
            f"Pareto front for {words} (no other table has a smaller risk and more agreement): {_listed(names)}."
        )
    for family, words in (("ours", "Our own recipes"), ("others", "Other methods")):
        shown = [row for row in _tables(rows) if (row.contender.family == "ours") == (family == "ours")]
        named = [f"{row.name} ({row.value('inference'):.3f})" for row in shown if row.value("inference") > MUCH]
        found.append(f"{words} with a column inferred more than {MUCH} above control: {_listed(named)}.")
    named = _listed([row.name for row in _tables(rows) if not row.copied])
    found.append(f"Methods without copies that chance does not explain: {named}.")
    found += [f"**{row.name}** {row.trouble}." for row in rows if row.trouble not in ("", UNMEASURED)]
    if later := [row.name for row in rows if row.trouble == UNMEASURED]:
        found.append(f"Not measured yet, and left out of the tables: {_listed(later)}.")
    return found


def _ourselves(ours: Summary, floor: Summary) -> str:
    def beside_floor(figure: str) -> str:
        return f"{ours.estimate(figure).value:.3f} (floor {floor.estimate(figure).value:.3f})"

    most, area, found = (ours.strongest(kind) for kind in ("inference", "area", "found"))
    return (
        f"`{OURS}` agrees with the original's tree in {beside_floor('agreement')} of the cases, for other targets "
        f"in {beside_floor('others')}. The column inferred furthest above control is `{most.column}`: "
        f"{estimate_text(most.risk)}. Members are distinguished from others with an area of {area.risk.value:.3f}; "
        f"{found.risk.value:.3f} of them are found at 1% false alarms."
    )


def _equals(rows: Sequence[Summary], ours: Summary) -> str:
    """Rivals that preserve and protect as much."""
    found = [
        row.name
        for row in _tables(rows)
        if row.contender.family in RIVALS
        and all(verdict(row, ours, figure) in ("alike", "better") for figure in (KEPT, OTHERS, HIDDEN))
    ]
    at_once = "agreement, agreement for other targets and largest inference at once"
    if not found:
        return f"No rival is as good as `{OURS}` in {at_once}."
    return f"As good as `{OURS}`, or better, in {at_once}: {_listed(found)}."


def _tables(rows: Sequence[Summary]) -> list[Summary]:
    """The methods that release a table."""
    return [row for row in rows if row.releases and row.contender.family != "yardstick"]


def _named(rows: Sequence[Summary], name: str) -> Summary:
    return next(row for row in rows if row.name == name)


def _listed(words: Sequence[str]) -> str:
    """A list of names that may contain commas."""
    return "; ".join(words) if words else "none"
