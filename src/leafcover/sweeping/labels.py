"""Short texts beside marks, placed so that none covers a mark or another text."""

from collections.abc import Sequence
from dataclasses import dataclass

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
