"""How strongly every two columns go together, before and after, as one square: alike on both sides of its diagonal
when the release kept it.
"""

from typing import Any

import numpy as np

from leafcover.measuring.utility.relations import Relation, Relations
from leafcover.releasing.reporting.drawing import LEAF, LINE, SOFT, shortened, svg

FEWEST, MOST = 3, 20  # columns that make a picture
_MARGIN, _SQUARE, _BELOW = 128.0, 272.0, 122.0  # left of the square, its side, below it
_LETTERS, _LONGEST = 12.0, 16  # size, and how many of a name


def square(relations: Relations) -> str:
    """The SVG; empty where there are too few columns for one, or too many."""
    entries = [entry for entry in relations.entries if entry.figure != "covariance"]
    names = list(dict.fromkeys(name for entry in entries for name in (entry.first, entry.second)))
    if not FEWEST <= len(names) <= MOST:
        return ""
    size = len(names)
    words = (
        f"Relations of {size} columns: below the diagonal how strong each was before, above it how strong it is after. "
        f"They moved by {relations.every.mean:.3f} on average."
    )

    def draw(axes: Any) -> None:
        for i, name in enumerate(names):
            said = shortened(name, _LONGEST)
            axes.text(-0.8, i, said, ha="right", va="center", size=_LETTERS, color=SOFT)
            axes.text(i, size - 0.2, said, ha="center", va="top", rotation=90, size=_LETTERS, color=SOFT)
            axes.add_patch(_tile(i, i, LINE, 1.0))
        for entry in entries:
            _pair(axes, entry, names.index(entry.first), names.index(entry.second))
        axes.set_xlim(-0.5, size - 0.5)
        axes.set_ylim(size - 0.5, -0.5)
        axes.axis("off")

    wide, high = _MARGIN + _SQUARE, _SQUARE + _BELOW
    return svg(draw, (_MARGIN / wide, _BELOW / high, _SQUARE / wide, _SQUARE / high), words, (wide, high))


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
