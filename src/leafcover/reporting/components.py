"""The components of a section of the report: paragraphs, tables, charts, in reading order."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan
from typing import Any, ClassVar, Literal, TypeAlias

from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk

Tone: TypeAlias = Literal["plain", "lead", "aside"]
BRIEF = 18  # letters of small type that fit a third of a phone
ENDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # where the scale of a strip of risks may end


@dataclass(frozen=True)
class Strip:
    """A dot with its interval, and a mark to compare it with, as places from 0 to 100 on one line."""

    words: str  # the text for screen readers
    value: float
    low: float
    high: float
    mark: float | None = None


@dataclass(frozen=True)
class Cell:
    """One field of a table: its text, and a note in smaller print."""

    text: str
    note: str = ""
    strip: Strip | None = None
    bar: int | None = None  # percent


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    kind: ClassVar[str] = "words"
    text: str
    opening: str = ""  # in bold, before the text
    tone: Tone = "plain"


@dataclass(frozen=True)
class Heading:
    """The title of a part of a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Listing:
    """A table; the first field of each row is its name."""

    kind: ClassVar[str] = "listing"
    name: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    @property
    def short(self) -> bool:
        """Whether three fields fit side by side on a phone, and none is left over for a line of its own."""
        figures = sum(cell.strip is None for cell in self.rows[0][1:]) if self.rows else 0
        return figures not in {2, 4} and all(len(cell.note) < BRIEF for row in self.rows for cell in row[1:])


@dataclass(frozen=True)
class Picture:
    """One drawing and its title."""

    title: str
    drawing: Any  # SVG that needs no escaping


@dataclass(frozen=True)
class Pictures:
    """Drawings side by side where they fit."""

    kind: ClassVar[str] = "pictures"
    items: tuple[Picture, ...]


@dataclass(frozen=True)
class Terms:
    """Terms, each with its sentence."""

    kind: ClassVar[str] = "terms"
    items: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Text:
    """A text as it is in a file."""

    kind: ClassVar[str] = "text"
    name: str
    text: str


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    kind: ClassVar[str] = "bullets"
    items: tuple[str, ...]


@dataclass(frozen=True)
class Fold:
    """Parts that are folded on screen and open on paper."""

    kind: ClassVar[str] = "fold"
    summary: str
    parts: tuple["Part", ...]


@dataclass(frozen=True)
class Beside:
    """A picture and a table side by side where they fit."""

    kind: ClassVar[str] = "beside"
    parts: tuple["Part", ...]


@dataclass(frozen=True)
class Card:
    """One column: its chart and what happened to it."""

    name: str
    tag: str
    chart: Any  # SVG that needs no escaping, or ""
    facts: tuple[tuple[str, str], ...]
    words: str
    unchanged: bool


@dataclass(frozen=True)
class Cards:
    """The columns."""

    kind: ClassVar[str] = "cards"
    items: tuple[Card, ...]
    before: bool  # whether charts show the original too


Part: TypeAlias = Words | Heading | Listing | Pictures | Terms | Text | Bullets | Fold | Beside | Cards


@dataclass(frozen=True)
class Section:
    """A chapter of the page."""

    name: str  # its id on the page
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Tile:
    """One headline figure."""

    figure: str
    label: str
    note: str = ""


def section(name: str, title: str, *parts: Part | None) -> Section | None:
    """A section of the parts that are not None; None without any."""
    there = tuple(part for part in parts if part is not None)
    return Section(name, title, there) if there else None


def listing(name: str, head: Sequence[str], rows: Sequence[Sequence[Cell | str]], note: str = "") -> Listing | None:
    """A table; None without rows."""
    if not rows:
        return None
    cells = tuple(tuple(Cell(c) if isinstance(c, str) else c for c in row) for row in rows)
    return Listing(name, tuple(head), cells, note)


def fold(summary: str, *parts: Part | None) -> Fold | None:
    """Parts folded under a summary; None without any."""
    there = tuple(part for part in parts if part is not None)
    return Fold(summary, there) if there else None


def strip(figure: Risk | Estimate, words: str, ends: tuple[float, float], mark: float | None = None) -> Strip | None:
    """Where a figure, its interval and a mark lie between two ends; None where there is no figure."""
    if isnan(figure.value):
        return None
    low, high = (figure.value if isnan(end) else min(max(end, ends[0]), ends[1]) for end in (figure.low, figure.high))
    wide = (ends[1] - ends[0]) or 1.0
    value, low, high, *marks = (
        round(100 * min(max((x - ends[0]) / wide, 0.0), 1.0), 1)
        for x in (figure.value, low, high, *([] if mark is None or isnan(mark) else [mark]))
    )
    return Strip(words, value, low, high, marks[0] if marks else None)


def upper_end(figures: Sequence[Risk | Estimate]) -> tuple[float, float]:
    """From 0 to a round end that holds every interval.

    >>> upper_end([Risk(0.014, 0.01, 0.018, 3000)])
    (0.0, 0.02)
    """
    most = max((f.value if isnan(f.high) else f.high for f in figures if not isnan(f.value)), default=1.0)
    return 0.0, next((end for end in ENDS if end >= most), 1.0)


def lower_end(figures: Sequence[Risk | Estimate]) -> tuple[float, float]:
    """From a round end that holds every interval to 1.

    >>> lower_end([Estimate(0.94, 0.93, 0.95, 3)]), lower_end([Estimate(1.0, 1.0, 1.0, 3)])
    ((0.9, 1.0), (0.9, 1.0))
    """
    least = min((f.value if isnan(f.low) else f.low for f in figures if not isnan(f.value)), default=0.0)
    return min(0.9, max(0.0, floor(10 * least) / 10)), 1.0


def span_words(ends: tuple[float, float]) -> str:
    """The scale of strips, for the head of their column."""
    return catalogue("report")("scale", low=f"{ceil(100 * ends[0]):d}", high=f"{100 * ends[1]:g}")
