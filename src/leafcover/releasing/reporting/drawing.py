"""Drawings as SVG that take their colours and letters from the page around them."""

import re
import warnings
from io import StringIO
from typing import Any

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
    draw: Any, place: tuple[float, float, float, float], words: str, size: tuple[float, float] = (WIDTH, HEIGHT)
) -> str:
    """Draw on one pair of axes and give the SVG without what a page does not need; ``words`` say what it shows."""
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
    return _for_page(found.getvalue(), escape(shortened(words, 400), quote=True), size)


def _for_page(svg: str, words: str, size: tuple[float, float]) -> str:
    """Only the drawing: colours and letters of the page, no header, no names that two charts would share."""
    body = re.sub(r"<(metadata|defs)>.*?</\1>", "", svg[svg.index(">", svg.index("<svg")) + 1 :], flags=re.DOTALL)
    body = re.sub(r' id="[^"]*"', "", re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL))
    body = body.replace("font-family: 'DejaVu Sans'", "font-family: var(--sans)")
    body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
    body = re.sub(r"\n\s*", "\n", body)
    for mark, name in COLOURS.items():
        body = body.replace(mark, f"var({name})")
    return f'<svg class="chart" viewBox="0 0 {size[0]:g} {size[1]:g}" role="img" aria-label="{words}">{body.strip()}'


def shortened(words: str, most: int = 18) -> str:
    """One line that fits; control characters would break the picture."""
    plain = "".join(c if c.isprintable() else " " for c in words)
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"
