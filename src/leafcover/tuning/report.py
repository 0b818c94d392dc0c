"""The map as a page to read: whole in itself, without a script or a request. It tells scores, no value of the table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from leafcover.engine.manifest import versions
from leafcover.errors import LeafcoverError
from leafcover.metrics.estimates import Estimate, Risk, known
from leafcover.recipes import RECIPES
from leafcover.tuning.plot import NARROW, WIDE, Utility, drawing, looks_of
from leafcover.tuning.scoring import Learned, Point, safer
from leafcover.tuning.sweep import Sweep


@dataclass(frozen=True)
class TableLine:
    """One point in the table, as text."""

    recipe: str
    strength: str
    sign: str
    style: str
    on_front: bool
    recommended: bool
    beyond: bool  # above the limit
    risk: str
    risk_range: str
    worst: str
    learned: str
    learned_range: str
    nearest: str
    agreement: str
    agreement_range: str
    others: str
    accuracy: str


def report_tools() -> Any:
    """The library that fills the page, an extra; asked for before the work begins."""
    try:
        import jinja2
    except ImportError as error:
        raise LeafcoverError(
            f"Install leafcover[report] to write a report ({error.name} is missing): pip install 'leafcover[report]'."
        ) from None
    return jinja2


def report(sweep: Sweep) -> str:
    """The page as HTML text."""
    jinja2 = report_tools()
    setting = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    page = setting.from_string(files("leafcover.tuning").joinpath("templates", "sweep.html.jinja").read_text("utf-8"))
    looks = looks_of(sweep)
    return str(
        page.render(
            target=sweep.target,
            headline=what_to_take(sweep),
            advice=what_then(sweep),
            tried=what_was_tried(sweep),
            reasons=list(reasons(sweep)),
            not_said=list(not_said(sweep)),
            chosen=sweep.recommended,
            limit="" if sweep.max_risk is None else f"{sweep.max_risk:g}",
            rows=f"{sweep.of:,}",
            ways=len(sweep.points),
            maps=_maps(sweep, "target", jinja2.utils.markupsafe.Markup),
            other_maps=_maps(sweep, "others", jinja2.utils.markupsafe.Markup) if sweep.others else [],
            others=listed(sweep.others) if sweep.others else "",
            attacked=listed(sweep.attacked),
            legend=[
                {"recipe": name, "sign": look.sign, "style": look.style, "strength": _strength(sweep, name)}
                for name, look in looks.items()
            ],
            standard=sweep.standard,
            lines=[_line(sweep, point) for point in sweep.points],
            recipes=[{"recipe": RECIPES[name], "sign": look.sign, "style": look.style} for name, look in looks.items()],
            left_out=sweep.left_out,
            runs=sweep.runs,
            released=f"{sweep.released:,}",
            used=f"{sweep.rows:,}",
            versions=versions(),
        )
    )


def _maps(sweep: Sweep, utility: Utility, marked: Any) -> list[Any]:
    """The same map for a wide and for a narrow page; empty when there is nothing to draw."""
    found = [drawing(sweep, utility=utility, form=form) for form in (WIDE, NARROW)]
    return [marked(svg) for svg in found] if all(found) else []


def _strength(sweep: Sweep, recipe: str) -> str:
    return " · ".join(next((point.strength for point in sweep.points if point.recipe == recipe), ()))


def _line(sweep: Sweep, point: Point) -> TableLine:
    look = looks_of(sweep)[point.recipe]
    worst: Learned | None = max(point.inference, key=lambda one: one.above_control.high, default=None)
    return TableLine(
        recipe=point.recipe,
        strength=point.name.removeprefix(point.recipe).strip(),
        sign=look.sign,
        style=look.style,
        on_front=point.on_front,
        recommended=point is sweep.recommended,
        beyond=sweep.max_risk is not None and point.highest_risk > sweep.max_risk,
        risk=_figure(point.informed.value),
        risk_range=_range(point.informed),
        worst=_figure(point.informed.worst),
        learned="" if worst is None else _figure(worst.above_control.value),
        learned_range="" if worst is None else _range(worst.above_control),
        nearest=_figure(point.gower.value),
        agreement=_figure(point.agreement.value),
        agreement_range=_range(point.agreement),
        others=_figure(point.others.value),
        accuracy=_figure(point.accuracy.value),
    )


def _figure(value: float) -> str:
    return f"{value:.3f}".replace("-", "−") if known(value) else "–"


def _range(figure: Estimate | Risk) -> str:
    return f"{_figure(figure.low)} to {_figure(figure.high)}" if known(figure.low) and known(figure.high) else ""


# A sweep in sentences.


def what_was_tried(sweep: Sweep) -> str:
    """How many ways, how often, on how many rows."""
    counts = Counter(point.recipe for point in sweep.points)
    ways = listed([f"{name} at {_many(counts[name], 'strength')}" for name in RECIPES if name in counts])
    sample = "" if sweep.rows == sweep.of else f" (a sample of {sweep.rows:,} of {sweep.of:,})"
    return (
        f"{_many(len(sweep.points), 'way')} to release this table, each tried {_often(sweep.runs)}: {ways}. A trial "
        f"releases {sweep.released:,} rows and leaves {sweep.rows - sweep.released:,} out{sample}; those show what the "
        "release is good for, and what it says of people who are not in it."
    )


def what_to_take(sweep: Sweep) -> str:
    """The recommendation in one sentence, or why there is none."""
    if sweep.max_risk is None:
        best = [point.name for point in sweep.points if point.on_front]
        return (
            "No limit was set, so nothing is recommended: add --max-risk. On the front, where nothing else has less "
            f"risk and as much agreement, {'stands' if len(best) == 1 else 'stand'} {listed(best)}."
        )
    if sweep.recommended is None:
        if below := [point for point in sweep.points if point.highest_risk <= sweep.max_risk]:
            return _no_use(sweep, below)
        least = min(sweep.points, key=lambda point: point.highest_risk)
        return (
            f"Nothing that was tried stays at or below the limit of {sweep.max_risk:g}: {least.name} comes nearest, "
            f"with {highest_words(least)}."
        )
    return (
        f"Under the limit of {sweep.max_risk:g}, {sweep.recommended.name} keeps most of the rules for {sweep.target}."
    )


def what_then(sweep: Sweep) -> str:
    """What to try when nothing is recommended."""
    if sweep.max_risk is not None and any(point.highest_risk <= sweep.max_risk for point in sweep.points):
        return "Raise --max-risk, choose another target, or try weaker settings by --grid."
    return "Raise --max-risk, drop columns, or try stronger settings by --grid."


def _no_use(sweep: Sweep, below: Sequence[Point]) -> str:
    """Why nothing of what stays below the limit is recommended."""
    best = max(below, key=lambda point: point.agreement.value)
    simple = sweep.standard.commonest.value
    even = ""
    if sweep.standard.floor.low <= simple:
        even = f" Not even a fresh sample of the original does: there is hardly a rule for {sweep.target} to keep."
    return (
        f"Nothing below the limit of {sweep.max_risk:g} surely keeps more of the rules for {sweep.target} than always "
        f"giving the commonest answer, which agrees on {simple:.3f}: {best.name} comes nearest, with an agreement of "
        f"{_share(best.agreement)}.{even}"
    )


def reasons(sweep: Sweep) -> Iterator[str]:
    """What the recommended point keeps and whom it gives away; what would do nearly as well."""
    chosen = sweep.recommended
    if chosen is None or sweep.max_risk is None:
        return
    yield (
        f"A tree grown on its release gives {_share(chosen.agreement)} of the rows left out the same answer as a tree "
        f"grown on the original; one grown on a fresh sample of the original does so for "
        f"{sweep.standard.floor.value:.3f}, always giving the commonest answer for "
        f"{sweep.standard.commonest.value:.3f}."
    )
    yield (
        f"An attacker who knows how the release was made, everything but its key, and a person’s values in "
        f"{_known_columns(sweep)} points at that person’s row in {_share(chosen.informed)} of his tries"
        f"{_one_in(chosen.informed)}."
    )
    for one in chosen.inference:
        often = "more often" if one.above_control.value > 0 else "no more often"
        yield (
            f"From the released row most like a person he reads {one.column} rightly {often} for people in the release "
            f"than for people who are not: a difference of {_share(one.above_control)}."
        )
    other = safer(sweep.points, sweep.standard, chosen, sweep.max_risk)
    if other is not None:
        yield (
            f"Consider {other.name}: its agreement of {other.agreement.value:.3f} lies inside that interval, and the "
            f"attacker finds {other.informed.value:.3f} of the people instead of {chosen.informed.value:.3f}."
        )


def not_said(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """What a reader may not take from the map."""
    trials = "one trial" if sweep.runs == 1 else f"the mean of {sweep.runs} trials"
    yield (
        "It is not your release",
        f"Every point is {trials} on {sweep.released:,} rows. "
        "Measure the release that you make before you publish it: leafcover measure, or release --max-risk.",
    )
    yield (
        "A mean hides the few",
        "A low risk is an average. The table also tells the risk of the worst 1% of the people: who is rare can be "
        "found where the average is low.",
    )
    asked = listed([sweep.target, *sweep.others])
    yield (
        "Agreement is about rules",
        f"It asks trees about {asked}. Means, correlations and totals are not on the map; leafcover measure looks at "
        "them.",
    )
    yield (
        "Two attacks are not all attacks",
        "The limit holds informed linkage and inference above control. Somebody who knows more, or has a second "
        "release of the same people, may do better.",
    )


def highest_words(point: Point) -> str:
    """Which risk of a point is the highest, and its upper end."""
    worst = max(point.inference, key=lambda one: one.above_control.high, default=None)
    if worst is None or point.informed.high >= worst.above_control.high:
        return f"informed linkage of up to {point.informed.high:.3f}"
    return f"inference of {worst.column} above control of up to {worst.above_control.high:.3f}"


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _known_columns(sweep: Sweep) -> str:
    return listed(sweep.quasi_identifiers) if sweep.quasi_identifiers else f"all columns but {sweep.target}"


def _share(figure: Estimate | Risk) -> str:
    return str(figure).replace("-", "−")


def _one_in(risk: Risk) -> str:
    return f", about one person in {1 / risk.value:,.0f}" if 0 < risk.value < 0.4 else ""


def _often(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
