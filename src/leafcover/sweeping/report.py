"""The map as a page to read: whole in itself, without a script or a request. It tells scores, no value of the table."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from leafcover.errors import LeafcoverError
from leafcover.measuring.figures import Estimate, Risk, known
from leafcover.releasing.manifest import versions
from leafcover.releasing.recipes import RECIPES
from leafcover.sweeping.axes import NARROW, WIDE
from leafcover.sweeping.drawing import Utility, drawing, looks_of
from leafcover.sweeping.points import Learned, Point
from leafcover.sweeping.sweep import Sweep
from leafcover.sweeping.words import listed, not_said, reasons, what_then, what_to_take, what_was_tried


@dataclass(frozen=True)
class Line:
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
    page = setting.from_string(files("leafcover.sweeping").joinpath("sweep.html.jinja").read_text("utf-8"))
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


def _line(sweep: Sweep, point: Point) -> Line:
    look = looks_of(sweep)[point.recipe]
    worst: Learned | None = max(point.inference, key=lambda one: one.above_control.high, default=None)
    return Line(
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
