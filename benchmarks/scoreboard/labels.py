"""Place names beside the points of a picture without overlaps."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leafcover.arrays import Bools, Floats, Rows

PLACES = (  # offset right and up in points, and the alignment of the text; the best first
    (6, 0, "left"), (-6, 0, "right"), (0, 9, "center"), (0, -9, "center"),
    (5, 8, "left"), (5, -8, "left"), (-5, 8, "right"), (-5, -8, "right"),
    (0, 18, "center"), (0, -18, "center"), (7, 17, "left"), (7, -17, "left"), (-7, 17, "right"), (-7, -17, "right"),
    (0, 28, "center"), (0, -28, "center"), (9, 27, "left"), (9, -27, "left"), (-9, 27, "right"), (-9, -27, "right"),
)  # fmt: skip
FAR = 10  # distance in points beyond which a thin line connects the name with its point
MARKER = 4  # points from the middle of a marker to its edge
CLEAR = 9  # clearance in points around a marker that no other name may enter
HALO = 2.5  # points of white around a name, so that lines do not cross it
OVERLAP = 100  # cost of an overlap, in steps down the list of positions
CROSSED = 5  # cost of a name across a horizontal line
STARTS = 200  # random starts, of which the cheapest result is used


class Point(NamedTuple):
    """A point, its name and its colour."""

    x: float
    y: float
    name: str
    colour: str


def label(figure: Any, panel: Any, points: Sequence[Point], size: float) -> None:
    """Write every name at the best free position around its point."""
    renderer = figure.canvas.get_renderer()
    margin = CLEAR * figure.dpi / 72
    middles = panel.transData.transform([(point.x, point.y) for point in points])
    boxes = np.array([[_box(panel, point, place, size, renderer) for place in PLACES] for point in points])
    near = overlaps(boxes, np.hstack([middles - margin, middles + margin]))  # (names, places, markers)
    near &= ~np.eye(len(points), dtype=bool)[:, None, :]
    words = overlaps(boxes, np.array([text.get_window_extent(renderer).extents for text in panel.texts]))
    frame = panel.get_window_extent(renderer).extents
    leaves = (boxes[..., :2] < frame[:2]).any(axis=-1) | (boxes[..., 2:] > frame[2:]).any(axis=-1)
    heights = panel.transData.transform([(1.0, float(line.get_ydata()[0])) for line in panel.lines]).reshape(-1, 2)[
        :, 1
    ]
    crossed = (boxes[..., 1, None] < heights) & (heights < boxes[..., 3, None])
    own = np.arange(len(PLACES)) + OVERLAP * (near.sum(axis=-1) + words.sum(axis=-1) + leaves)
    own = own + CROSSED * crossed.sum(axis=-1)
    for point, place in zip(points, chosen(boxes, own), strict=True):
        _written(panel, point, PLACES[place], size)


def overlaps(boxes: Floats, others: Floats) -> Bools:
    """Whether each box (left, low, right, high) overlaps each of the others."""
    one = boxes[(..., *[None] * (others.ndim - 1), slice(None))]
    return ((one[..., :2] < others[..., 2:]) & (others[..., :2] < one[..., 2:])).all(axis=-1)


def chosen(boxes: Floats, own: Floats) -> Rows:
    """A position for each name: from random starts, each name in turn takes its cheapest position until none changes.

    ``boxes`` is (names, places, 4), and ``own`` (names, places) is the cost of a position regardless of the others.
    """
    names = np.arange(len(boxes))
    clash = OVERLAP * overlaps(boxes, boxes).astype(float)  # (names, places, names, places)
    clash[names, :, names, :] = 0.0
    best, cheapest = np.zeros(len(boxes), np.int64), np.inf
    rng = np.random.default_rng(0)
    for _ in range(STARTS):
        places = rng.integers(0, boxes.shape[1], len(boxes))
        before = None
        while before is None or (places != before).any():
            before = places.copy()
            for name in rng.permutation(len(boxes)):
                places[name] = (own[name] + clash[name][:, names, places].sum(axis=1)).argmin()
        cost = own[names, places].sum() + clash[names, places][:, names, places].sum() / 2
        if cost < cheapest:
            best, cheapest = places.copy(), cost
    return best


def _box(panel: Any, point: Point, place: tuple[int, int, str], size: float, renderer: Any) -> Floats:
    """The box of the text, without its line."""
    from matplotlib.text import Text

    text = _written(panel, point, place, size)
    text.update_positions(renderer)
    box: Floats = Text.get_window_extent(text, renderer).extents
    text.remove()
    return box


def _written(panel: Any, point: Point, place: tuple[int, int, str], size: float) -> Any:
    from matplotlib.patheffects import withStroke

    right, up, side = place
    lead = {"arrowstyle": "-", "color": point.colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": MARKER}
    return panel.annotate(
        point.name,
        (point.x, point.y),
        xytext=(right, up),
        textcoords="offset points",
        ha=side,
        va="center",
        color=point.colour,
        fontsize=size,
        arrowprops=lead if abs(up) > FAR else None,
        path_effects=[withStroke(linewidth=HALO, foreground="white")],
    )
