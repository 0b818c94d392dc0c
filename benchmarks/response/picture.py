"""The figure of the experiment: mean and variance of the accuracy by the chance of the truth."""

from pathlib import Path
from typing import Any

from benchmarks.response.experiment import WAYS, Found

LOOKS = (
    ("#d55e00", "s"),
    ("#009e73", "^"),
    ("#0072b2", "o"),
    ("#cc79a7", "D"),
)  # distinguishable by colour-blind people


def picture(found: Found, path: Path) -> None:
    """Mean and variance of the accuracy by θ, one line for each variant; the same figures give the same file."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    looks = dict(zip(WAYS, LOOKS, strict=True))
    with mpl.rc_context({"svg.hashsalt": "response", "font.size": 10}):
        figure, panels = plt.subplots(1, 2, figsize=(9.5, 4))
        for name, (colour, marker) in looks.items():
            points = sorted(
                (theta, one.mean, one.variance)
                for (reading, way, theta), one in found.by_theta.items()
                if (reading, way) == ("median", name)
            )
            across, means, variances = zip(*points, strict=True)
            for panel, up in zip(panels, (means, variances), strict=True):
                panel.plot(across, up, color=colour, marker=marker, markersize=4, linewidth=1, label=name)
        id3 = found.plain["median", "the paper's way"]
        panels[0].axhline(id3, color="#666666", linestyle="--", linewidth=1, label="ID3, undisguised")
        for panel, words in zip(panels, ("mean accuracy, %", "variance of the accuracy, %²"), strict=True):
            _axes(panel, words)
        panels[1].set_yscale("symlog", linthresh=0.1)
        panels[0].legend(frameon=False, loc="lower left", fontsize=8.5)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _axes(panel: Any, words: str) -> None:
    panel.set_xlabel("θ, the chance of the truth")
    panel.set_ylabel(words)
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
