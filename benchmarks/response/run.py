"""The experiment of Du and Zhan (2003): trees from randomised answers on Adult.

make response        writes docs/results/response-experiment.md and its figure
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.response.experiment import FEWER_RUNS, RUNS, experiment
from benchmarks.response.page import page
from benchmarks.response.picture import picture

PAGE = ROOT / "docs" / "results" / "response-experiment.md"


def main() -> None:
    """Run the experiment and write the page and the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    found = experiment(runs, min(runs, FEWER_RUNS))
    PAGE.write_text(page(found), "utf-8")
    picture(found, PAGE.with_suffix(".svg"))


if __name__ == "__main__":
    main()
