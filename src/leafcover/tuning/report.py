"""The risk-utility map as a self-contained HTML page, and its sentences. It shows no value of the table.

Every sentence is in the catalogue ``sweep``; this file chooses which are shown and formats their figures.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import nan
from typing import Any

from leafcover.engine.manifest import versions
from leafcover.errors import LeafcoverError
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk, known
from leafcover.recipes import RECIPES
from leafcover.tuning.plot import NARROW, WIDE, Utility, draw_map, recipe_styles
from leafcover.tuning.scoring import Point, safer_alternative
from leafcover.tuning.sweep import Sweep

say = catalogue("sweep")


@dataclass(frozen=True)
class TableRow:
    """One point in the table, as text."""

    recipe: str
    strength: str
    symbol: str
    css_class: str
    on_front: bool
    recommended: bool
    beyond: bool  # above the limit
    risk: str
    risk_range: str
    risk_name: str
    copied: bool
    membership: str
    membership_range: str
    linkage: str
    linkage_range: str
    most_exposed: str
    nearest: str
    agreement: str
    agreement_range: str
    others: str
    accuracy: str


def report_tools() -> Any:
    """The template library, an optional extra; loaded before the sweep begins."""
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
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    source = files("leafcover.tuning").joinpath("templates", "sweep.html.jinja").read_text("utf-8")
    markup = jinja2.utils.markupsafe.Markup
    styles = recipe_styles(sweep)
    return str(
        environment.from_string(source).render(
            say=say,
            target=sweep.target,
            recommendation=recommendation(sweep),
            advice=advice(sweep),
            scope=scope(sweep),
            reasons=list(reasons(sweep)),
            limitations=list(limitations(sweep)),
            chosen=sweep.recommended,
            limit="none" if sweep.max_risk is None else f"{sweep.max_risk:g}",
            table_rows=sweep.table_rows,
            candidates=len(sweep.points),
            maps=_maps(sweep, "target", markup),
            other_maps=_maps(sweep, "others", markup) if sweep.other_targets else [],
            other_targets=listed(sweep.other_targets),
            legend=[
                {"recipe": name, "style": style, "parameter": _parameters(sweep, name) or "none"}
                for name, style in styles.items()
            ],
            floor=_figure(sweep.baselines.floor.value),
            other_floor=_figure(sweep.baselines.other_agreement.value),
            majority=_figure(sweep.baselines.majority.value),
            original_accuracy=_figure(sweep.baselines.accuracy.value),
            rows=[_row(sweep, point) for point in sweep.points],
            recipes=[{"recipe": RECIPES[name], "style": style} for name, style in styles.items()],
            skipped=sweep.skipped,
            runs=sweep.runs,
            version=versions()["leafcover"],
            versions=", ".join(f"{name} {number}" for name, number in versions().items()),
        )
    )


def _maps(sweep: Sweep, utility: Utility, markup: Any) -> list[Any]:
    """The same map for a wide and for a narrow page; empty if there is nothing to draw."""
    found = [draw_map(sweep, utility=utility, layout=layout) for layout in (WIDE, NARROW)]
    return [markup(svg) for svg in found] if all(found) else []


def _parameters(sweep: Sweep, recipe: str) -> str:
    """The parameters that differ between the points of a recipe."""
    return " · ".join(
        dict.fromkeys(name for point in sweep.points if point.recipe == recipe for name in point.strength)
    )


def _row(sweep: Sweep, point: Point) -> TableRow:
    style = recipe_styles(sweep)[point.recipe]
    member = None if point.membership is None else point.membership.risk
    linked = point.record_linkage
    return TableRow(
        recipe=point.recipe,
        strength=point.name.removeprefix(point.recipe).strip() or say("strength-default"),
        symbol=style.symbol,
        css_class=style.css_class,
        on_front=point.on_front,
        recommended=point is sweep.recommended,
        beyond=sweep.max_risk is not None and not point.within(sweep.max_risk),
        risk=_figure(point.risk.risk.value),
        risk_range=_range(point.risk.risk),
        risk_name=say("risk-short", kind=point.risk.kind, column=point.risk.column),
        copied=point.copied,
        membership=_figure(nan if member is None else member.value),
        membership_range="" if member is None else _range(member),
        linkage=_figure(nan if linked is None else linked.value),
        linkage_range="" if linked is None else _range(linked),
        most_exposed=_figure(nan if linked is None else linked.worst),
        nearest=_figure(nan if point.nearest_record is None else point.nearest_record.value),
        agreement=_figure(point.agreement.value),
        agreement_range=_range(point.agreement),
        others=_figure(point.other_agreement.value),
        accuracy=_figure(point.accuracy.value),
    )


def _figure(value: float) -> str:
    return f"{value:.3f}".replace("-", "−") if known(value) else "–"


def _range(figure: Estimate | Risk) -> str:
    if not (known(figure.low) and known(figure.high)):
        return ""
    return say("table-range", low=_figure(figure.low), high=_figure(figure.high))


# The sentences of the page and of the command.


def scope(sweep: Sweep) -> str:
    """How many candidates were compared, how often, and on how many rows."""
    counts = Counter(point.recipe for point in sweep.points)
    recipes = [say("scope-recipe", recipe=name, count=counts[name]) for name in RECIPES if name in counts]
    found = [
        say(
            "scope",
            candidates=len(sweep.points),
            recipes=listed(recipes),
            runs=sweep.runs,
            released=sweep.released_rows,
            held=sweep.rows - sweep.released_rows,
        )
    ]
    if sweep.rows < sweep.table_rows:
        found.append(say("scope-sample", rows=sweep.rows, table_rows=sweep.table_rows))
    return " ".join(found)


def recommendation(sweep: Sweep) -> str:
    """The recommendation, or why no candidate is recommended."""
    if sweep.max_risk is None:
        return say("no-limit", names=listed([point.name for point in sweep.points if point.on_front]))
    limit = f"{sweep.max_risk:g}"
    if sweep.recommended is not None:
        return say("recommended", limit=limit, name=sweep.recommended.name, target=sweep.target)
    if within := [point for point in sweep.points if point.within(sweep.max_risk)]:
        return _none_useful(sweep, within, limit)
    closest = min(sweep.points, key=lambda point: point.deciding.bound)
    worst = closest.deciding
    end = _figure(worst.bound)
    return say("none-within-limit", limit=limit, name=closest.name, kind=worst.kind, end=end, column=worst.column)


def advice(sweep: Sweep) -> str:
    """What to try if no candidate is recommended."""
    if sweep.max_risk is not None and any(point.within(sweep.max_risk) for point in sweep.points):
        return say("advice-weaker")
    return say("advice-stronger")


def _none_useful(sweep: Sweep, within: Sequence[Point], limit: str) -> str:
    """Why no candidate within the limit is recommended."""
    closest = max(within, key=lambda point: point.agreement.value)
    majority = sweep.baselines.majority.value
    found = [
        say(
            "none-useful",
            limit=limit,
            target=sweep.target,
            majority=_figure(majority),
            name=closest.name,
            agreement=_with_interval(closest.agreement),
        )
    ]
    if sweep.baselines.floor.low <= majority:
        found.append(say("none-useful-resample", target=sweep.target))
    return " ".join(found)


def reasons(sweep: Sweep) -> Iterator[str]:
    """The utility and the risks of the recommended candidate, and a safer alternative if there is one."""
    chosen = sweep.recommended
    if chosen is None or sweep.max_risk is None:
        return
    yield say(
        "reason-utility",
        agreement=_with_interval(chosen.agreement),
        floor=_figure(sweep.baselines.floor.value),
        majority=_figure(sweep.baselines.majority.value),
    )
    if chosen.record_linkage is None:
        yield say("reason-no-linkage")
    else:
        yield say(
            "reason-linkage",
            known="quasi-identifiers" if sweep.quasi_identifiers else "all",
            columns=listed(sweep.quasi_identifiers),
            target=sweep.target,
            risk=_with_interval(chosen.record_linkage),
            people=_one_in(chosen.record_linkage),
        )
    yield from _inferred(chosen)
    other = safer_alternative(sweep.points, sweep.baselines, chosen, sweep.max_risk)
    if other is not None:
        yield say(
            "reason-alternative",
            name=other.name,
            agreement=_figure(other.agreement.value),
            risk=_figure(other.risk.risk.value),
            recommended=_figure(chosen.risk.risk.value),
        )


def _inferred(chosen: Point) -> Iterator[str]:
    """The most inferable column of the recommended candidate, and membership."""
    most = max((one for one in chosen.risks if one.kind == "inference"), key=lambda one: one.bound)
    yield say(
        "reason-inference",
        column=most.column,
        columns=sum(one.kind == "inference" for one in chosen.risks),
        direction="above" if most.risk.low > 0 else "level",
        above=_with_interval(most.risk),
    )
    if (member := chosen.membership) is not None:
        direction = "above" if member.risk.low > 0 else "level"
        yield say("reason-membership", direction=direction, above=_with_interval(member.risk))


def limitations(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """What the map does not show: a heading and a text each."""
    yield say("limitation-trials"), say("limitation-trials.text", runs=sweep.runs, released=sweep.released_rows)
    yield say("limitation-average"), say("limitation-average.text")
    targets = listed([sweep.target, *sweep.other_targets])
    yield say("limitation-utility"), say("limitation-utility.text", targets=targets)
    yield say("limitation-attacks"), say("limitation-attacks.text")


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return say("list-and", most=", ".join(names[:-1]), last=names[-1]) if len(names) > 1 else "".join(names)


def _with_interval(figure: Estimate | Risk) -> str:
    return str(figure).replace("-", "−")


def _one_in(risk: Risk) -> str:
    return f"{1 / risk.value:,.0f}" if 0 < risk.value < 0.4 else "none"
