"""The map of risk against utility as SVG that takes its colours from the page.

Risk grows to the right on a logarithmic scale, agreement upwards. Each recipe has a colour and a shape; points of the
front are filled, and joined by a line. A point tells its figures when the pointer rests on it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, cos, floor, isnan, log10, pi, sin, sqrt
from typing import Literal, TypeAlias

from leafcover.metrics.estimates import Estimate, known
from leafcover.recipes import RECIPES
from leafcover.tuning.grid import value_text
from leafcover.tuning.scoring import Point
from leafcover.tuning.sweep import Sweep

# From figures to places in the drawing: risk on a logarithmic scale, agreement on a plain one.


DECADES = 3.0  # shown at most: smaller risks stand at the edge
NARROWEST = 0.5  # decades shown at least
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)  # between lines of agreement


@dataclass(frozen=True)
class Format:
    """How large a map is drawn, and its margins."""

    width: float
    height: float
    letters: float
    left: float
    right: float
    top: float
    bottom: float


WIDE = Format(860.0, 470.0, 14.0, 54.0, 22.0, 34.0, 56.0)  # for a screen
NARROW = Format(390.0, 430.0, 13.5, 46.0, 14.0, 34.0, 56.0)  # for a phone


@dataclass(frozen=True)
class Scale:
    """What the ends of a drawing stand for."""

    form: Format
    left: float  # the logarithm of the least risk shown
    right: float
    bottom: float
    top: float

    def x(self, risk: float) -> float:
        """Where a risk stands; beyond the ends at the end."""
        share = (log10(max(risk, 1e-12)) - self.left) / (self.right - self.left)
        return self.form.left + min(max(share, 0.0), 1.0) * (self.form.width - self.form.left - self.form.right)

    def beyond_x(self, risk: float) -> bool:
        """Whether a risk lies outside the drawing, rounding apart."""
        return not self.left - 1e-9 <= log10(max(risk, 1e-12)) <= self.right + 1e-9

    def beyond_y(self, utility: float) -> bool:
        """Whether an agreement lies outside the drawing, rounding apart."""
        return not self.bottom - 1e-9 <= utility <= self.top + 1e-9

    def y(self, utility: float) -> float:
        """Where an agreement stands; beyond the ends at the end."""
        share = (utility - self.bottom) / (self.top - self.bottom)
        height = self.form.height - self.form.top - self.form.bottom
        return self.form.top + (1 - min(max(share, 0.0), 1.0)) * height


def scale_of(form: Format, risks: Sequence[float], utilities: Sequence[float]) -> Scale:
    """Ends that leave a little room around all figures, on lines of the grid."""
    right = min(0.0, log10(max([*risks, 1e-12])) + 0.15)
    left = max(log10(max(min(risks), 1e-12)) - 0.2, right - DECADES)
    left = min(left, right - NARROWEST)
    shown = [utility for utility in utilities if not isnan(utility)]
    low, high = min(shown), max(shown)
    step = _step(high - low)
    bottom = max(0.0, floor((low - 0.25 * step) / step + 1e-9) * step)
    top = min(1.0, ceil((high + 0.5 * step) / step - 1e-9) * step)
    return Scale(form, left, right, bottom, top if top > bottom else bottom + step)


def ticks_between(bottom: float, top: float) -> list[float]:
    """The lines of agreement, few enough to read.

    >>> ticks_between(0.85, 0.95)
    [0.86, 0.88, 0.9, 0.92, 0.94]
    """
    step = _step(top - bottom)
    return [round(i * step, 4) for i in range(ceil(bottom / step - 1e-9), floor(top / step + 1e-9) + 1)]


def risk_ticks(scale: Scale) -> list[float]:
    """Round risks: 1, 2 and 5 of every decade, or fewer where there is no room."""
    found = [digit * 10.0**decade for decade in range(-12, 1) for digit in (1, 2, 5)]
    shown = [risk for risk in found if scale.left - 1e-9 <= log10(risk) <= scale.right + 1e-9]
    room = (scale.form.width - scale.form.left - scale.form.right) / (3.4 * scale.form.letters)
    if len(shown) > room:
        shown = [risk for risk in shown if abs(log10(risk) - round(log10(risk))) < 1e-9 or len(shown) <= 1.5 * room]
    return [float(f"{risk:.1g}") for risk in shown]


def _step(span: float) -> float:
    return next((step for step in STEPS if span / step <= 6), STEPS[-1])


# Short texts beside marks, placed so that none covers a mark or another text.


GAP = 3.0  # between a mark and its text


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
        """Whether this one lies wholly in the other."""
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
    """For each mark the place of its text (width, height), the first ones first; None where there is no room.

    A text never covers a mark, another text or what is ``taken``, and what is ``avoided`` only when it must.

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
    """Above and below, then the corners, then the sides."""
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


Utility: TypeAlias = Literal["target", "others"]

SIGNS = "●■▲◆✚▼⬟✖"  # one shape for each recipe, in turn
COLOURS = 7  # of the page, in turn; no divisor in common with the shapes, so that no pair comes twice too soon
HEAD = 5.0  # the length of an arrow head
SIZE = 6.0  # half the width of a mark
CHARACTER = 0.58  # the width of a letter against its height, about


@dataclass(frozen=True)
class Look:
    """How the points of a recipe are drawn."""

    number: int

    @property
    def sign(self) -> str:
        """The shape as a letter, for the legend."""
        return SIGNS[self.number % len(SIGNS)]

    @property
    def style(self) -> str:
        """The class of the page that gives the colour."""
        return f"r{self.number % COLOURS}"


def looks_of(sweep: Sweep) -> dict[str, Look]:
    """A shape and a colour for each recipe, in the order in which recipes are listed."""
    used = {point.recipe for point in sweep.points}
    return {name: Look(i) for i, name in enumerate(name for name in RECIPES if name in used)}


def drawing(sweep: Sweep, *, utility: Utility, form: Format) -> str:
    """The map, as SVG text."""
    looks = looks_of(sweep)
    points = [point for point in sweep.points if known(_of(point, utility).value)]
    if not points:
        return ""
    floor = sweep.standard.floor if utility == "target" else sweep.standard.others
    scale = scale_of(
        form,
        [point.informed.value for point in points] + ([] if sweep.max_risk is None else [sweep.max_risk]),
        [_of(point, utility).value for point in points] + [floor.value],
    )
    words = f"Map of risk against agreement for {_about(sweep, utility)}. " + _told(sweep, utility)
    parts = [
        f'<svg class="map" viewBox="0 0 {form.width:g} {form.height:g}" role="img" '
        f'aria-label="{escape(words)}" font-size="{form.letters:g}">',
        *_limit(sweep.max_risk, scale),
        *_frame(scale, f"agreement for {_about(sweep, utility)}"),
        *_floor(floor, scale),
        *_front([point for point in points if point.on_front], utility, scale),
        *(_bars(point, utility, scale, looks[point.recipe]) for point in points),
        *(_mark(point, utility, scale, looks[point.recipe]) for point in reversed(points)),
        *_ring(sweep.recommended, utility, scale),
        *_labels(points, sweep.recommended, utility, scale, looks, floor.value),
        "</svg>",
    ]
    return "\n".join(parts)


def _of(point: Point, utility: Utility) -> Estimate:
    return point.agreement if utility == "target" else point.others


def _about(sweep: Sweep, utility: Utility) -> str:
    return sweep.target if utility == "target" else "other columns"


def _told(sweep: Sweep, utility: Utility) -> str:
    """The points of the front in words, for whoever does not see the map."""
    told = [
        f"{p.name}: risk {p.informed.value:.3f}, agreement {_of(p, utility).value:.3f}"
        for p in sweep.points
        if p.on_front
    ]
    return "On the front: " + "; ".join(told) + ". The table below lists every point."


def _frame(scale: Scale, upwards: str) -> Iterator[str]:
    form = scale.form
    left, right = form.left, form.width - form.right
    bottom = form.height - form.bottom
    for tick in ticks_between(scale.bottom, scale.top):
        y = scale.y(tick)
        yield f'<line class="grid" x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="tick" x="{left - 8:.1f}" y="{y + 4.5:.1f}" text-anchor="end">{tick:.2f}</text>'
    for risk in risk_ticks(scale):
        x = scale.x(risk)
        yield f'<line class="axis" x1="{x:.1f}" y1="{bottom:.1f}" x2="{x:.1f}" y2="{bottom + 5:.1f}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{bottom + 21:.1f}" text-anchor="middle">{risk:g}</text>'
    yield f'<line class="axis" x1="{left:.1f}" y1="{bottom:.1f}" x2="{right:.1f}" y2="{bottom:.1f}"/>'
    yield f'<text class="title" x="4" y="{form.letters + 2:.1f}">↑ {escape(upwards)}</text>'
    yield (
        f'<text class="title" x="{right:.1f}" y="{form.height - 6:.1f}" text-anchor="end">'
        "risk: people found by informed linkage →</text>"
    )


def _floor(floor: Estimate, scale: Scale) -> Iterator[str]:
    if not known(floor.value):
        return
    left, right = scale.form.left, scale.form.width - scale.form.right
    low, high = _ends(floor)
    top = scale.y(high)
    yield (
        f'<rect class="floor-band" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{max(scale.y(low) - top, 1):.1f}"/>'
    )
    y = scale.y(floor.value)
    yield (
        f'<line class="floor" x1="{left:.1f}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}">'
        f"<title>A fresh sample of the original agrees on {floor}</title></line>"
    )


def _limit(limit: float | None, scale: Scale) -> Iterator[str]:
    if limit is None:
        return
    form, x = scale.form, scale.x(limit)
    right, bottom = form.width - form.right, form.height - form.bottom
    yield (
        f'<rect class="beyond" x="{x:.1f}" y="{form.top:.1f}" width="{max(right - x, 0):.1f}" '
        f'height="{bottom - form.top:.1f}"/>'
    )
    yield f'<line class="limit" x1="{x:.1f}" y1="{form.top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"/>'


def _front(points: Sequence[Point], utility: Utility, scale: Scale) -> Iterator[str]:
    """The stairs below which everything is worse; for other columns only the marks say who is on the front."""
    if utility == "others" or len(points) < 2:
        return
    places = [(scale.x(p.informed.value), scale.y(_of(p, utility).value)) for p in points]
    path = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in places[1:])
    yield f'<path class="front" d="{path}"/>'


def _bars(point: Point, utility: Utility, scale: Scale, look: Look) -> str:
    """The intervals of both figures; an arrow head where one goes on beyond the edge."""
    figure = _of(point, utility)
    x, y = scale.x(point.informed.value), scale.y(figure.value)
    low, high = _ends(figure)
    path = f"M{scale.x(point.informed.low):.1f} {y:.1f}H{scale.x(point.informed.high):.1f}"
    path += f"M{x:.1f} {scale.y(low):.1f}V{scale.y(high):.1f}"
    for risk, way in ((point.informed.low, -1), (point.informed.high, 1)):
        if scale.beyond_x(risk):
            path += _arrow(scale.x(risk), y, way * HEAD, 0.0)
    for share, way in ((low, 1), (high, -1)):
        if scale.beyond_y(share):
            path += _arrow(x, scale.y(share), 0.0, way * HEAD)
    return f'<path class="bar {look.style}" d="{path}"/>'


def _arrow(x: float, y: float, right: float, down: float) -> str:
    """A head whose point is at a place and that looks to the right or down, by so much."""
    ends = [(x - right - side * down, y - down - side * right) for side in (0.7, -0.7)]
    return f"M{ends[0][0]:.1f} {ends[0][1]:.1f}L{x:.1f} {y:.1f}L{ends[1][0]:.1f} {ends[1][1]:.1f}"


def _mark(point: Point, utility: Utility, scale: Scale, look: Look) -> str:
    figure = _of(point, utility)
    x, y = scale.x(point.informed.value), scale.y(figure.value)
    words = f"{point.name}: risk {point.informed}, agreement {figure}"
    filled = " filled" if point.on_front else ""
    outline = _shape(SIGNS.index(look.sign), x, y)
    return f'<path class="mark {look.style}{filled}" d="{outline}"><title>{escape(words)}</title></path>'


def _ring(point: Point | None, utility: Utility, scale: Scale) -> Iterator[str]:
    if point is not None and known(_of(point, utility).value):
        x, y = scale.x(point.informed.value), scale.y(_of(point, utility).value)
        yield f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="{SIZE + 5:g}"/>'


def _labels(
    points: Sequence[Point],
    chosen: Point | None,
    utility: Utility,
    scale: Scale,
    looks: dict[str, Look],
    floor: float,
) -> Iterator[str]:
    """The strengths beside the marks; the recommended one first, then the front, so that they find room."""
    form = scale.form
    order = sorted(points, key=lambda p: (p is not chosen, not p.on_front))
    marks = []
    for point in order:
        x, y = scale.x(point.informed.value), scale.y(_of(point, utility).value)
        size = SIZE + (5 if point is chosen else 0)
        marks.append(Box(x - size, y - size, x + size, y + size))
    texts = [" · ".join(value_text(value) for value in point.strength.values()) for point in order]
    height = form.letters * 0.9
    sizes = [(CHARACTER * form.letters * len(text), height) for text in texts]
    frame = Box(form.left, 0.0, form.width, form.height - form.bottom)
    title = Box(0.0, 0.0, form.width, form.letters + 6)
    places = place_labels(marks, sizes, frame, taken=[title], avoided=list(_lines(points, utility, scale, floor)))
    for point, text, box in zip(order, texts, places, strict=True):
        if text and box is not None:
            bold = " chosen" if point is chosen else ""
            yield (
                f'<text class="label {looks[point.recipe].style}{bold}" x="{(box.left + box.right) / 2:.1f}" '
                f'y="{box.bottom - 1:.1f}" text-anchor="middle">{escape(text)}</text>'
            )


def _lines(points: Sequence[Point], utility: Utility, scale: Scale, floor: float) -> Iterator[Box]:
    """Bars and the floor: a dash beside a number would read as a minus."""
    for point in points:
        figure = _of(point, utility)
        low, high = _ends(figure)
        yield _box(scale, (point.informed.low, point.informed.high), (figure.value, figure.value))
        yield _box(scale, (point.informed.value, point.informed.value), (low, high))
    if known(floor):
        yield _box(scale, (0.0, 1.0), (floor, floor))


def _ends(figure: Estimate) -> tuple[float, float]:
    """The ends of an interval; of none the figure itself."""
    return (figure.low, figure.high) if known(figure.low) and known(figure.high) else (figure.value, figure.value)


def _box(scale: Scale, risks: tuple[float, float], shares: tuple[float, float]) -> Box:
    """What a thin line covers."""
    return Box(scale.x(risks[0]) - 1, scale.y(shares[1]) - 1, scale.x(risks[1]) + 1, scale.y(shares[0]) + 1)


def _shape(number: int, x: float, y: float) -> str:
    """The outline around a place of the shape with this number among the signs."""
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
