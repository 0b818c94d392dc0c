"""The picture of the scoreboard: risk to the right, utility upwards, so the upper left corner is best."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.scoreboard.labels import Point, label
from benchmarks.scoreboard.summary import Summary

LOOKS = {  # colours that colour-blind people can distinguish, and shapes for print
    "ours": ("#0072b2", "o", "Leafcover"),
    "installed": ("#d55e00", "s", "packages"),
    "textbook": ("#009e73", "^", "textbook"),
    "yardstick": ("#666666", "x", "yardsticks"),
}
PANELS = (("agreement", "agreement, income"), ("others", "agreement, six other targets"))
LEAST = 0.01  # a smaller risk is drawn at the left edge
SMALL = 8  # font size of names, in points


def picture(rows: Sequence[Summary], path: Path) -> None:
    """Draw both panels; the same figures give the same file."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "scoreboard", "font.size": 10}):
        figure, panels = plt.subplots(2, 1, figsize=(7.2, 11.6), sharex=True)
        for panel, (utility, words) in zip(panels, PANELS, strict=True):
            _axes(panel, words)
            _points(panel, rows, utility)
            _lines(panel, rows, utility)
        panels[0].legend(
            loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=4, frameon=False, handletextpad=0, columnspacing=1
        )
        panels[1].set_xlabel("largest inference above control, any column")
        figure.tight_layout()
        for panel, (utility, _) in zip(panels, PANELS, strict=True):
            label(figure, panel, [_point(row, utility) for row in rows if row.releases], SMALL)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)
        plt.close(figure)


def _axes(panel: Any, words: str) -> None:
    panel.set_xscale("log")
    panel.set_xlim(LEAST / 1.3, 1.6)
    panel.set_xticks([LEAST, 0.03, 0.1, 0.3, 1], [f"{LEAST} or less", "0.03", "0.1", "0.3", "1"])
    panel.minorticks_off()
    panel.set_ylabel(words)
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    panel.text(0.02, 0.98, "↖ better", transform=panel.transAxes, va="top", color="#666666")


def _point(row: Summary, utility: str) -> Point:
    risk, name = max(row.value("inference"), LEAST), row.name.removeprefix("anonypyx ").split(" (")[0]
    return Point(risk, row.estimate(utility).value, name, LOOKS[row.contender.family][0])


def _points(panel: Any, rows: Sequence[Summary], utility: str) -> None:
    for family, (colour, marker, words) in LOOKS.items():
        points = [_point(row, utility) for row in rows if row.releases and row.contender.family == family]
        if points:
            across, up = [point.x for point in points], [point.y for point in points]
            panel.scatter(across, up, s=36, color=colour, marker=marker, label=words, zorder=3)
    panel.margins(y=0.08)


def _lines(panel: Any, rows: Sequence[Summary], utility: str) -> None:
    """Lines for what has no position on the risk axis: the floor, and the best model released without a table."""
    for family, words, style, up in (
        ("yardstick", "a fresh sample", "--", 3),
        ("installed", "best private model", ":", -10),
    ):
        found = [row for row in rows if row.scores and not row.releases and row.contender.family == family]
        if found:
            height = max(row.estimate(utility).value for row in found)
            given = {"color": LOOKS[family][0]}
            panel.axhline(height, linewidth=1, linestyle=style, zorder=1, **given)
            panel.annotate(
                words,
                (0.99, height),
                ha="right",
                xycoords=("axes fraction", "data"),
                xytext=(0, up),
                textcoords="offset points",
                fontsize=SMALL,
                **given,
            )
