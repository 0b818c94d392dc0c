"""The risk-utility map as SVG that takes its colours from the page: scales, placement of labels, and drawing.

Risk increases to the right on a logarithmic scale, agreement upwards. Each recipe has a colour and a shape; points on
the Pareto front are filled and joined by a line. Hovering over a point shows its figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, cos, floor, isnan, log10, pi, sin, sqrt
from typing import Literal, TypeAlias

from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, known
from leafcover.recipes import RECIPES
from leafcover.tuning.grid import value_text
from leafcover.tuning.scoring import Point
from leafcover.tuning.sweep import Sweep

# From figures to positions in the drawing: risk on a logarithmic scale, agreement on a linear one.


DECADES = 3.0  # the most that are shown: smaller risks are drawn at the edge
NARROWEST = 0.5  # decades, the fewest that are shown
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)  # between gridlines of agreement


@dataclass(frozen=True)
class Layout:
    """The size of a map and its margins."""

    width: float
    height: float
    font_size: float
    left: float
    right: float
    top: float
    bottom: float


WIDE = Layout(860.0, 470.0, 14.0, 54.0, 22.0, 34.0, 56.0)  # for a screen
NARROW = Layout(390.0, 430.0, 13.5, 46.0, 14.0, 34.0, 56.0)  # for a phone


@dataclass(frozen=True)
class Scale:
    """The ranges of the two axes."""

    layout: Layout
    left: float  # the logarithm of the lowest risk shown
    right: float
    bottom: float
    top: float

    def x(self, risk: float) -> float:
        """The position of a risk; outside the range, the nearest end."""
        share = (log10(max(risk, 1e-12)) - self.left) / (self.right - self.left)
        return self.layout.left + min(max(share, 0.0), 1.0) * (self.layout.width - self.layout.left - self.layout.right)

    def beyond_x(self, risk: float) -> bool:
        """Whether a risk lies outside the chart, up to rounding."""
        return not self.left - 1e-9 <= log10(max(risk, 1e-12)) <= self.right + 1e-9

    def beyond_y(self, utility: float) -> bool:
        """Whether an agreement lies outside the chart, up to rounding."""
        return not self.bottom - 1e-9 <= utility <= self.top + 1e-9

    def y(self, utility: float) -> float:
        """The position of an agreement; outside the range, the nearest end."""
        share = (utility - self.bottom) / (self.top - self.bottom)
        height = self.layout.height - self.layout.top - self.layout.bottom
        return self.layout.top + (1 - min(max(share, 0.0), 1.0)) * height


def scale_of(layout: Layout, risks: Sequence[float], utilities: Sequence[float]) -> Scale:
    """Ranges that leave a little space around all figures; for agreement they end on gridlines."""
    right = min(0.0, log10(max([*risks, 1e-12])) + 0.15)
    left = max(log10(max(min(risks), 1e-12)) - 0.2, right - DECADES)
    left = min(left, right - NARROWEST)
    shown = [utility for utility in utilities if not isnan(utility)]
    low, high = min(shown), max(shown)
    step = _step(high - low)
    bottom = max(0.0, floor((low - 0.25 * step) / step + 1e-9) * step)
    top = min(1.0, ceil((high + 0.5 * step) / step - 1e-9) * step)
    return Scale(layout, left, right, bottom, top if top > bottom else bottom + step)


def ticks_between(bottom: float, top: float) -> list[float]:
    """The gridlines of agreement, few enough to read.

    >>> ticks_between(0.85, 0.95)
    [0.86, 0.88, 0.9, 0.92, 0.94]
    """
    step = _step(top - bottom)
    return [round(i * step, 4) for i in range(ceil(bottom / step - 1e-9), floor(top / step + 1e-9) + 1)]


def risk_ticks(scale: Scale) -> list[float]:
    """Round risks: 1, 2 and 5 of every decade, or fewer where space is short."""
    found = [digit * 10.0**decade for decade in range(-12, 1) for digit in (1, 2, 5)]
    shown = [risk for risk in found if scale.left - 1e-9 <= log10(risk) <= scale.right + 1e-9]
    space = (scale.layout.width - scale.layout.left - scale.layout.right) / (3.4 * scale.layout.font_size)
    if len(shown) > space:
        shown = [risk for risk in shown if abs(log10(risk) - round(log10(risk))) < 1e-9 or len(shown) <= 1.5 * space]
    return [float(f"{risk:.1g}") for risk in shown]


def _step(span: float) -> float:
    return next((step for step in STEPS if span / step <= 6), STEPS[-1])


# Labels beside marks, placed so that none covers a mark or another label.


GAP = 3.0  # between a mark and its label


@dataclass(frozen=True)
class Box:
    """A rectangle of the drawing; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether the two overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def inside(self, other: "Box") -> bool:
        """Whether this one lies completely inside the other."""
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )


def place_labels(
    marks: Sequence[Box],
    sizes: Sequence[tuple[float, float]],
    frame: Box,
    taken: Sequence[Box] = (),
    avoided: Sequence[Box] = (),
) -> list[Box | None]:
    """The position of each mark's label (width, height), earlier marks first; None where no position is free.

    A label never covers a mark, another label or a ``taken`` area, and covers an ``avoided`` one only if it must.

    >>> place_labels([Box(10, 10, 20, 20)], [(8, 10)], Box(0, 0, 100, 100), [Box(0, 0, 100, 10)])
    [Box(left=11.0, top=23.0, right=19.0, bottom=33.0)]
    """
    found: list[Box | None] = []
    blocked = [*marks, *taken]
    for mark, (width, height) in zip(marks, sizes, strict=True):
        free = [box for box in _around(mark, width, height) if box.inside(frame) and not _covers(box, blocked)]
        place = next((box for box in free if not _covers(box, avoided)), free[0] if free else None)
        found.append(place)
        if place is not None:
            blocked.append(place)
    return found


def _covers(box: Box, others: Sequence[Box]) -> bool:
    return any(box.meets(other) for other in others)


def _around(mark: Box, width: float, height: float) -> list[Box]:
    """Positions above and below, then at the corners, then at the sides."""
    middle, level = (mark.left + mark.right) / 2, (mark.top + mark.bottom) / 2
    above, below = mark.top - GAP - height, mark.bottom + GAP
    right, left = mark.right + GAP, mark.left - GAP - width
    corners = [
        (middle - width / 2, above),
        (middle - width / 2, below),
        (right, above + height / 2),
        (left, above + height / 2),
        (right, below - height / 2),
        (left, below - height / 2),
        (right, level - height / 2),
        (left, level - height / 2),
    ]
    return [Box(x, y, x + width, y + height) for x, y in corners]


say = catalogue("sweep")

Utility: TypeAlias = Literal["target", "others"]

SYMBOLS = "●■▲◆✚▼⬟✖"  # one for each recipe, in turn
COLOURS = 7  # of the page, in turn; coprime with the number of symbols, so that pairs repeat late
HEAD = 5.0  # the length of an arrowhead
SIZE = 6.0  # half the width of a mark
CHARACTER = 0.58  # the approximate ratio of a letter's width to its height


@dataclass(frozen=True)
class RecipeStyle:
    """The symbol and the colour of a recipe."""

    number: int

    @property
    def symbol(self) -> str:
        """The symbol as a character, for the legend."""
        return SYMBOLS[self.number % len(SYMBOLS)]

    @property
    def css_class(self) -> str:
        """The CSS class that gives the colour."""
        return f"r{self.number % COLOURS}"


def recipe_styles(sweep: Sweep) -> dict[str, RecipeStyle]:
    """A symbol and a colour for each recipe, in the order in which recipes are listed."""
    used = {point.recipe for point in sweep.points}
    return {name: RecipeStyle(i) for i, name in enumerate(name for name in RECIPES if name in used)}


def draw_map(sweep: Sweep, *, utility: Utility, layout: Layout) -> str:
    """The map, as SVG text."""
    styles = recipe_styles(sweep)
    points = [point for point in sweep.points if known(_agreement(point, utility).value)]
    if not points:
        return ""
    floor = sweep.baselines.floor if utility == "target" else sweep.baselines.other_agreement
    scale = scale_of(
        layout,
        [point.risk.risk.value for point in points] + ([] if sweep.max_risk is None else [sweep.max_risk]),
        [_agreement(point, utility).value for point in points] + [floor.value],
    )
    parts = [
        f'<svg class="map" viewBox="0 0 {layout.width:g} {layout.height:g}" role="img" '
        f'aria-label="{escape(_description(sweep, utility))}" font-size="{layout.font_size:g}">',
        *_limit(sweep.max_risk, scale),
        *_frame(scale, _axis_title(sweep, utility, layout)),
        *_floor(floor, scale),
        *_front([point for point in points if point.on_front], utility, scale),
        *(_bars(point, utility, scale, styles[point.recipe]) for point in points),
        *(_mark(point, utility, scale, styles[point.recipe]) for point in reversed(points)),
        *_ring(sweep.recommended, utility, scale),
        *_labels(points, sweep, utility, scale, styles, floor.value),
        "</svg>",
    ]
    return "\n".join(parts)


def _agreement(point: Point, utility: Utility) -> Estimate:
    return point.agreement if utility == "target" else point.other_agreement


def _description(sweep: Sweep, utility: Utility) -> str:
    """The Pareto front as text, for screen readers."""
    points = "; ".join(
        say(
            "chart-point",
            name=point.name,
            risk=f"{point.risk.risk.value:.3f}",
            agreement=f"{_agreement(point, utility).value:.3f}",
        )
        for point in sweep.points
        if point.on_front
    )
    if utility == "target":
        return say("chart", target=sweep.target, points=points)
    return say("chart-others", points=points)


def _axis_title(sweep: Sweep, utility: Utility, layout: Layout) -> str:
    """The title of the vertical axis; a long name of the target is shortened to fit."""
    if utility == "others":
        return say("axis-agreement-others")
    fits = int((layout.width - 8) / (CHARACTER * layout.font_size)) - len(say("axis-agreement", target=""))
    name = sweep.target if len(sweep.target) <= fits else f"{sweep.target[: fits - 1]}…"
    return say("axis-agreement", target=name)


def _frame(scale: Scale, title: str) -> Iterator[str]:
    layout = scale.layout
    left, right = layout.left, layout.width - layout.right
    bottom = layout.height - layout.bottom
    for tick in ticks_between(scale.bottom, scale.top):
        y = scale.y(tick)
        yield f'<line class="grid" x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="{left - 8:.1f}" y="{y + 4.5:.1f}" text-anchor="end">{tick:.2f}</text>'
    for risk in risk_ticks(scale):
        x = scale.x(risk)
        yield f'<line class="axis" x1="{x:.1f}" y1="{bottom:.1f}" x2="{x:.1f}" y2="{bottom + 5:.1f}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{bottom + 21:.1f}" text-anchor="middle">{risk:g}</text>'
    yield f'<line class="axis" x1="{left:.1f}" y1="{bottom:.1f}" x2="{right:.1f}" y2="{bottom:.1f}"/>'
    yield f'<text class="title" x="4" y="{layout.font_size + 2:.1f}">{escape(title)}</text>'
    yield (
        f'<text class="title" x="{right:.1f}" y="{layout.height - 6:.1f}" text-anchor="end">'
        f"{escape(say('axis-risk'))}</text>"
    )


def _floor(floor: Estimate, scale: Scale) -> Iterator[str]:
    if not known(floor.value):
        return
    left, right = scale.layout.left, scale.layout.width - scale.layout.right
    low, high = _ends(floor)
    top = scale.y(high)
    yield (
        f'<rect class="floor-band" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{max(scale.y(low) - top, 1):.1f}"/>'
    )
    y = scale.y(floor.value)
    yield (
        f'<line class="floor" x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}">'
        f"<title>{escape(say('chart-floor', floor=str(floor)))}</title></line>"
    )


def _limit(limit: float | None, scale: Scale) -> Iterator[str]:
    if limit is None:
        return
    layout, x = scale.layout, scale.x(limit)
    right, bottom = layout.width - layout.right, layout.height - layout.bottom
    yield (
        f'<rect class="beyond" x="{x:.1f}" y="{layout.top:.1f}" width="{max(right - x, 0):.1f}" '
        f'height="{bottom - layout.top:.1f}"/>'
    )
    yield f'<line class="limit" x1="{x:.1f}" y1="{layout.top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"/>'


def _front(points: Sequence[Point], utility: Utility, scale: Scale) -> Iterator[str]:
    """The Pareto front as a step line; for other columns only the filled marks show it."""
    if utility == "others" or len(points) < 2:
        return
    places = [(scale.x(p.risk.risk.value), scale.y(_agreement(p, utility).value)) for p in points]
    path = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in places[1:])
    yield f'<path class="front" d="{path}"/>'


def _bars(point: Point, utility: Utility, scale: Scale, style: RecipeStyle) -> str:
    """The intervals of both figures, with an arrowhead where one extends beyond the chart."""
    figure = _agreement(point, utility)
    x, y = scale.x(point.risk.risk.value), scale.y(figure.value)
    low, high = _ends(figure)
    path = f"M{scale.x(point.risk.risk.low):.1f} {y:.1f}H{scale.x(point.risk.risk.high):.1f}"
    path += f"M{x:.1f} {scale.y(low):.1f}V{scale.y(high):.1f}"
    for risk, direction in ((point.risk.risk.low, -1), (point.risk.risk.high, 1)):
        if scale.beyond_x(risk):
            path += _arrow(scale.x(risk), y, direction * HEAD, 0.0)
    for share, direction in ((low, 1), (high, -1)):
        if scale.beyond_y(share):
            path += _arrow(x, scale.y(share), 0.0, direction * HEAD)
    return f'<path class="bar {style.css_class}" d="{path}"/>'


def _arrow(x: float, y: float, right: float, down: float) -> str:
    """An arrowhead with its tip at (x, y) that points right or down by the given lengths."""
    ends = [(x - right - side * down, y - down - side * right) for side in (0.7, -0.7)]
    return f"M{ends[0][0]:.1f} {ends[0][1]:.1f}L{x:.1f} {y:.1f}L{ends[1][0]:.1f} {ends[1][1]:.1f}"


def _mark(point: Point, utility: Utility, scale: Scale, style: RecipeStyle) -> str:
    figure = _agreement(point, utility)
    x, y = scale.x(point.risk.risk.value), scale.y(figure.value)
    title = say("chart-mark", name=point.name, risk=str(point.risk.risk), kind=point.risk.name, agreement=str(figure))
    filled = " filled" if point.on_front else ""
    outline = _shape(SYMBOLS.index(style.symbol), x, y)
    return f'<path class="mark {style.css_class}{filled}" d="{outline}"><title>{escape(title)}</title></path>'


def _ring(point: Point | None, utility: Utility, scale: Scale) -> Iterator[str]:
    if point is not None and known(_agreement(point, utility).value):
        x, y = scale.x(point.risk.risk.value), scale.y(_agreement(point, utility).value)
        yield f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{SIZE + 5:g}"/>'


def _labels(
    points: Sequence[Point],
    sweep: Sweep,
    utility: Utility,
    scale: Scale,
    styles: dict[str, RecipeStyle],
    floor: float,
) -> Iterator[str]:
    """The strengths beside the marks; first the recommended point, then the front, so that these get a position."""
    layout, chosen = scale.layout, sweep.recommended
    order = sorted(points, key=lambda p: (p is not chosen, not p.on_front))
    marks = []
    for point in order:
        x, y = scale.x(point.risk.risk.value), scale.y(_agreement(point, utility).value)
        size = SIZE + (5 if point is chosen else 0)
        marks.append(Box(x - size, y - size, x + size, y + size))
    texts = [_label(sweep, point) for point in order]
    height = layout.font_size * 0.9
    sizes = [(CHARACTER * layout.font_size * len(text), height) for text in texts]
    frame = Box(layout.left, 0.0, layout.width, layout.height - layout.bottom)
    title = Box(0.0, 0.0, layout.width, layout.font_size + 6)
    places = place_labels(
        marks, sizes, frame, taken=[title], avoided=list(_lines(points, utility, scale, floor, sweep.max_risk))
    )
    for point, text, box in zip(order, texts, places, strict=True):
        if text and box is not None:
            bold = " chosen" if point is chosen else ""
            yield (
                f'<text class="label {styles[point.recipe].css_class}{bold}" x="{(box.left + box.right) / 2:.1f}" '
                f'y="{box.bottom - 1:.1f}" text-anchor="middle">{escape(text)}</text>'
            )


def _label(sweep: Sweep, point: Point) -> str:
    """The strength of a point, with the name of the parameter if the points of its recipe differ in several."""
    if len({tuple(one.strength) for one in sweep.points if one.recipe == point.recipe}) > 1:
        return point.name.removeprefix(point.recipe).strip() or say("strength-default")
    return " · ".join(value_text(value) for value in point.strength.values())


def _lines(points: Sequence[Point], utility: Utility, scale: Scale, floor: float, limit: float | None) -> Iterator[Box]:
    """The intervals, the floor and the limit, which labels avoid: a dash beside a number reads as a minus."""
    for point in points:
        figure = _agreement(point, utility)
        low, high = _ends(figure)
        yield _box(scale, (point.risk.risk.low, point.risk.risk.high), (figure.value, figure.value))
        yield _box(scale, (point.risk.risk.value, point.risk.risk.value), (low, high))
    if known(floor):
        yield _box(scale, (0.0, 1.0), (floor, floor))
    if limit is not None:
        yield _box(scale, (limit, limit), (0.0, 1.0))


def _ends(figure: Estimate) -> tuple[float, float]:
    """The bounds of an interval; the figure itself if it has none."""
    return (figure.low, figure.high) if known(figure.low) and known(figure.high) else (figure.value, figure.value)


def _box(scale: Scale, risks: tuple[float, float], shares: tuple[float, float]) -> Box:
    """The area of a thin line."""
    return Box(scale.x(risks[0]) - 1, scale.y(shares[1]) - 1, scale.x(risks[1]) + 1, scale.y(shares[0]) + 1)


def _shape(number: int, x: float, y: float) -> str:
    """The outline around (x, y) of the symbol with this number."""
    if number == 0:
        return f"M{x - SIZE:.1f} {y:.1f}a{SIZE} {SIZE} 0 1 0 {2 * SIZE} 0a{SIZE} {SIZE} 0 1 0 {-2 * SIZE} 0Z"
    if number in (4, 7):
        arm, half = SIZE * 1.15, SIZE * 0.42
        corners = [(-half, -arm), (half, -arm), (half, -half), (arm, -half), (arm, half), (half, half)]
        corners += [(-a, -b) for a, b in corners]
        if number == 7:
            corners = [((a - b) / sqrt(2), (a + b) / sqrt(2)) for a, b in corners]
    else:
        count, turn = {1: (4, pi / 4), 2: (3, -pi / 2), 3: (4, 0.0), 5: (3, pi / 2), 6: (5, -pi / 2)}[number]
        angles = [turn + 2 * pi * i / count for i in range(count)]
        corners = [(1.25 * SIZE * cos(angle), 1.25 * SIZE * sin(angle)) for angle in angles]
    return "M" + "L".join(f"{x + a:.1f} {y + b:.1f}" for a, b in corners) + "Z"
