"""Figures as plain text."""

from collections.abc import Sequence


def side_by_side(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first to the left, the others to the right.

    >>> print(side_by_side(("answer", "share"), [("no", "70.0 %"), ("yes", "30.0 %")]))
    answer   share
    no      70.0 %
    yes     30.0 %
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    )
