"""Small charts of one column in the original and in the release.

A strict chart is one that may be published: only released values, without the outer rows at either end, no bar for
fewer than five rows, no rare level, shares in whole percents.
"""

import re
import warnings
from dataclasses import dataclass
from io import StringIO
from typing import Any, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Array, Floats
from leafcover.engine.run import FEWEST
from leafcover.messages import catalogue
from leafcover.metrics.utility.bivariate import Relation, Relations
from leafcover.reporting.disclosure_rules import RARE, under
from leafcover.table.table import Column

say = catalogue("report")

OUTER = 0.01  # the share of rows at either end that no chart shows
LEVELS = 5  # bars of a category, besides the others
BINS = 24  # of a number, about
TALL = 5.0  # a bar so many times as high as the next is cut off and labelled with its share
LARGEST = 1e100  # beyond this the axis of a chart overflows

Kind: TypeAlias = Literal["date", "time", "number"]


@dataclass(frozen=True)
class Bars:
    """The levels of a category that are drawn: shares of the known values."""

    names: tuple[str, ...]
    before: tuple[float, ...]  # empty in a strict chart
    after: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Steps:
    """The histogram of a number: shares of the known values between edges."""

    edges: Floats
    before: Floats  # empty in a strict chart
    after: Floats


def chart(before: Column, after: Column, *, strict: bool) -> str:
    """The SVG of a column; empty when nothing of it may or can be drawn."""
    if after.is_category:
        bars = bars_of(before, after, strict=strict)
        return _bar_picture(after.name, bars) if bars.names else ""
    steps = steps_of(before, after, strict=strict)
    return _step_picture(after, steps) if len(steps.after) else ""


def bars_of(before: Column, after: Column, *, strict: bool) -> Bars:
    """The most frequent levels, and the others in one bar."""
    old, new = _level_counts(before, before.levels), _level_counts(after, before.levels)
    if not new.sum():
        return Bars((), (), ())
    common = np.minimum(old, new)  # a level is as rare as it is in either table
    most = LEVELS + (not strict and int((common > 0).sum()) == LEVELS + 1)  # one other alone has a name
    shown = np.argsort(-common, kind="stable")[:most]
    shown = shown[common[shown] > 0]
    if strict:
        shown = shown[common[shown] >= max(FEWEST, RARE * len(after))]
        while len(shown) and 0 < new.sum() - new[shown].sum() < FEWEST:
            shown = shown[:-1]  # else the others could be counted by what is left
    hidden = int((common > 0).sum()) - len(shown)
    names = [before.levels[i] for i in shown]
    rows = [[*counts[shown], counts.sum() - counts[shown].sum()] for counts in (old, new)]
    if rows[1][-1] > 0 or rows[0][-1] > 0:
        names.append(say("chart-others", named="no" if strict or not hidden else "yes", count=hidden))
    shares = [tuple(c / counts.sum() for c in row[: len(names)]) for row, counts in zip(rows, (old, new), strict=True)]
    if strict:
        return Bars(tuple(names) if len(shown) else (), (), tuple(round(s, 2) for s in shares[1]))
    return Bars(tuple(names), *shares)


def steps_of(before: Column, after: Column, *, strict: bool) -> Steps:
    """A histogram with round edges, without the outer rows at either end."""
    old, new = (np.sort(c.values[~c.missing]) for c in (before, after))
    outer = max(FEWEST if strict else 0, int(np.ceil(OUTER * len(new))))
    inner = new[outer : len(new) - outer]
    if len(inner) < 2 * FEWEST or inner[0] == inner[-1] or max(abs(inner[0]), abs(inner[-1])) > LARGEST:
        return Steps(np.empty(0), np.empty(0), np.empty(0))
    edges = _round_edges(inner[0], inner[-1], after.grid.step if after.grid else 0.0)
    if not strict:
        return Steps(edges, *(np.histogram(v, edges)[0] / len(v) for v in (old, new)))
    counts = np.histogram(inner, edges)[0]
    enough = _merged(counts)
    counts, edges = np.add.reduceat(counts, enough[:-1]), edges[enough]
    return Steps(edges, np.empty(0), np.round(counts / counts.sum(), 2))


def _level_counts(column: Column, levels: tuple[str, ...]) -> Array:
    """How often each of the levels occurs; those of another list by their text."""
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    if column.levels == levels:
        return counts
    own = dict(zip(column.levels, counts.tolist(), strict=True))
    return np.array([own.get(level, 0) for level in levels], np.int64)


def _round_edges(low: float, high: float, grid: float) -> Floats:
    """Edges at whole multiples of a round step, so that no value of a person is one; about ``BINS`` bins."""
    ideal = max((high - low) / BINS, grid)
    power = 10.0 ** np.floor(np.log10(ideal))
    step = next(m * power for m in (1.0, 2.0, 3.0, 4.0, 5.0, 10.0) if m * power >= ideal * (1 - 1e-9))
    shift = 0.5 * step if grid and abs(step - grid) < 1e-6 * step else 0.0  # one bin a grid point: the point its middle
    first, last = np.floor((low + shift) / step), np.floor((high + shift) / step) + 1
    return np.arange(first, last + 1) * step - shift


def _merged(counts: Array) -> Array:
    """Where bins begin, and where the last ends, once neighbours are joined until each holds enough rows or none."""
    starts, held = [0], 0
    for i, count in enumerate(counts.tolist()):
        if held >= FEWEST or (held == 0 and i > starts[-1] and count > 0):
            starts.append(i)
            held = 0
        held += count
    while held < FEWEST and len(starts) > 1:
        held += int(counts[starts[-2] : starts[-1]].sum())
        starts.pop()
    return np.array([*starts, len(counts)])


def _step_picture(column: Column, steps: Steps) -> str:
    kind: Kind = "date" if column.kind == "date" else "time" if column.kind == "time" else "number"
    scale = 86_400.0 if kind == "time" else 1.0  # matplotlib counts days
    edges = steps.edges / scale
    width = np.diff(edges)
    heights = [part / width for part in (steps.after, steps.before) if len(part)]
    top, tall = _top(heights)

    def draw(axes: Any) -> None:
        axes.stairs(np.minimum(heights[0], top), edges, fill=True, color=AFTER, linewidth=0)
        for before in heights[1:]:
            axes.stairs(np.minimum(before, top), edges, color=BEFORE, linewidth=1.3, baseline=None)
        if tall >= 0:
            label = f" ↑ {_percent(steps.after[tall])}"
            left = tall < len(width) / 2
            place = edges[tall + 1] if left else edges[tall]
            axes.text(place, top, label, ha="left" if left else "right", va="top", size=LETTERS, color=SOFT)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(0, 1.02 * top)
        axes.yaxis.set_visible(False)
        axes.spines["bottom"].set(visible=True, color=LINE, linewidth=1)
        _ticks(axes.xaxis, kind)
        axes.tick_params(axis="x", bottom=False, labelsize=LETTERS, labelcolor=SOFT, pad=4)

    label = say("chart-histogram", column=column.name, original="yes" if len(steps.before) else "no")
    return svg(draw, (0.06, 0.16, 0.88, 0.80), label)


def _top(heights: list[Floats]) -> tuple[float, int]:
    """Where the drawing ends, and the bar that goes beyond it because it would flatten all others (or -1)."""
    high = np.maximum.reduce(heights)
    tallest = int(high.argmax())
    second = float(np.delete(high, tallest).max(initial=0.0))
    if second > 0 and high[tallest] > TALL * second:
        return 2.0 * second, tallest
    return float(high[tallest]), -1


def _ticks(axis: Any, kind: Kind) -> None:
    from importlib import import_module

    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if kind == "number":
        axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: compact(value)))
        return
    dates: Any = import_module("matplotlib.dates")  # has no types
    places = dates.AutoDateLocator(minticks=2, maxticks=5)
    axis.set_major_locator(places)
    axis.set_major_formatter(dates.ConciseDateFormatter(places, show_offset=False))


def compact(value: float) -> str:
    """A number as short as it reads.

    >>> compact(0.25), compact(1990.0), compact(20000.0), compact(-1.5e6)
    ('0.25', '1990', '20k', '−1.5M')
    """
    size = abs(value)
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if least <= size < 1e12:
            return f"{value / unit:g}{letter}".replace("-", "−")
    return f"{value:.6g}".replace("-", "−")


def _bar_picture(name: str, bars: Bars) -> str:
    count = len(bars.names)
    y = -np.arange(count, dtype=float)
    most = max((*bars.before, *bars.after, 0.01))

    def draw(axes: Any) -> None:
        axes.barh(y, bars.after, height=0.56, color=AFTER, linewidth=0)
        if bars.before:
            axes.barh(y, bars.before, height=0.56, facecolor="none", edgecolor=BEFORE, linewidth=1.3)
        for place, share, level in zip(y, bars.after, bars.names, strict=True):
            longest = max(share, bars.before[round(-place)] if bars.before else 0.0)
            axes.text(-0.03 * most, place, shortened(level), ha="right", va="center", size=LETTERS, color=INK)
            axes.text(longest + 0.03 * most, place, _percent(share), ha="left", va="center", size=LETTERS, color=SOFT)
        axes.set_xlim(0, most * 1.36)
        axes.set_ylim(min(-(count - 1), -(LEVELS - 1)) - 0.6, 0.6)
        axes.axis("off")

    shares = ", ".join(f"{level} {_percent(share)}" for level, share in zip(bars.names, bars.after, strict=True))
    return svg(draw, (0.44, 0.02, 0.55, 0.96), say("chart-bars", column=name, shares=shares))


def _percent(share: float) -> str:
    return under("1%") if share < 0.005 else f"{share:.0%}"


# Drawings as SVG that take their colours and font from the page around them.


WIDTH, HEIGHT = 270.0, 158.0  # of a chart, in the units of its SVG
LETTERS = 10.5  # their size, in the same units

# Marks that the drawing uses for colours; the page's own colours take their place.
COLOURS = {
    "#010101": "--ink",
    "#020202": "--soft",
    "#030303": "--before",
    "#040404": "--after",
    "#050505": "--line",
    "#060606": "--leaf",
}
INK, SOFT, BEFORE, AFTER, LINE, LEAF = COLOURS
_SETTINGS: Any = {  # matplotlib types its keys one by one
    "svg.fonttype": "none",
    "svg.hashsalt": "leafcover",
    "text.parse_math": False,  # a level may be called $50K$
    "font.family": "DejaVu Sans",
    "path.simplify": False,
}


def svg(
    draw: Any, place: tuple[float, float, float, float], label: str, size: tuple[float, float] = (WIDTH, HEIGHT)
) -> str:
    """Draw on one pair of axes and give the SVG without what a page does not need; ``label`` says what it shows."""
    from html import escape

    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    found = StringIO()
    with rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the measuring font lacks are drawn by the reader's own
        figure = Figure(figsize=(size[0] / 72, size[1] / 72))
        FigureCanvasSVG(figure)
        axes = figure.add_axes(place)
        axes.patch.set_visible(False)
        figure.patch.set_visible(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
        draw(axes)
        for artist in (*axes.patches, *axes.collections, *axes.lines):
            artist.set_clip_on(False)
        figure.savefig(found, format="svg", metadata={"Date": None, "Creator": None})
    return _for_page(found.getvalue(), escape(shortened(label, 400), quote=True), size)


def _for_page(svg: str, label: str, size: tuple[float, float]) -> str:
    """Only the drawing: colours and font of the page, no header, no ids that two charts would share."""
    body = re.sub(r"<(metadata|defs)>.*?</\1>", "", svg[svg.index(">", svg.index("<svg")) + 1 :], flags=re.DOTALL)
    body = re.sub(r' id="[^"]*"', "", re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL))
    body = body.replace("font-family: 'DejaVu Sans'", "font-family: var(--sans)")
    body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(r"\n\s*", "\n", body)
    for mark, name in COLOURS.items():
        body = body.replace(mark, f"var({name})")
    return f'<svg class="chart" viewBox="0 0 {size[0]:g} {size[1]:g}" role="img" aria-label="{label}">{body.strip()}'


def shortened(text: str, most: int = 18) -> str:
    """One line that fits; control characters would break the picture."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


# The associations between all pairs of columns as one square: the original below the diagonal, the release above it, so
# that a symmetric square is one that was kept.


FEWEST_HEAT_COLUMNS, MOST_HEAT_COLUMNS = 3, 20  # columns that make a picture
_MARGIN, _SQUARE, _BELOW = 128.0, 272.0, 122.0  # left of the square, its side, below it
_LETTERS, _LONGEST = 12.0, 16  # size, and how many of a name


def square(relations: Relations) -> str:
    """The SVG; empty where there are too few columns for one, or too many."""
    entries = [entry for entry in relations.entries if entry.figure != "covariance"]
    names = list(dict.fromkeys(name for entry in entries for name in (entry.first, entry.second)))
    if not FEWEST_HEAT_COLUMNS <= len(names) <= MOST_HEAT_COLUMNS:
        return ""
    size = len(names)
    label = say("chart-associations", columns=size, mean=f"{relations.every.mean:.3f}")

    def draw(axes: Any) -> None:
        for i, name in enumerate(names):
            short = shortened(name, _LONGEST)
            axes.text(-0.8, i, short, ha="right", va="center", size=_LETTERS, color=SOFT)
            axes.text(i, size - 0.2, short, ha="center", va="top", rotation=90, size=_LETTERS, color=SOFT)
            axes.add_patch(_tile(i, i, LINE, 1.0))
        for entry in entries:
            _pair(axes, entry, names.index(entry.first), names.index(entry.second))
        axes.set_xlim(-0.5, size - 0.5)
        axes.set_ylim(size - 0.5, -0.5)
        axes.axis("off")

    wide, high = _MARGIN + _SQUARE, _SQUARE + _BELOW
    return svg(draw, (_MARGIN / wide, _BELOW / high, _SQUARE / wide, _SQUARE / high), label, (wide, high))


def _pair(axes: Any, entry: Relation, one: int, other: int) -> None:
    low, high = sorted((one, other))
    axes.add_patch(_tile(low, high, LEAF, _strength(entry.before)))
    axes.add_patch(_tile(high, low, LEAF, _strength(entry.after)))


def _strength(value: float) -> float:
    """How dark a tile is: never white, so that the square is seen."""
    return 0.06 + 0.94 * (0.0 if np.isnan(value) else float(min(1.0, abs(value))))


def _tile(column: int, row: int, colour: str, strength: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.46, row - 0.46), 0.92, 0.92, facecolor=colour, alpha=strength, linewidth=0)
