"""Draw the layers of the package from the import-linter contract in pyproject.toml.

python docs/layers.py            print the drawing
python docs/layers.py --write    put it into CONTRIBUTING.md
"""

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- layers: made by docs/layers.py -->", "<!-- end of layers -->"


def contract() -> list[list[str]]:
    """The layers from top to bottom, each a list of packages that do not import each other."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers = next(one["layers"] for one in settings["contracts"] if one["type"] == "layers")
    return [[name.strip().removeprefix("leafcover.") for name in layer.split("|")] for layer in layers]


def drawing(layers: Sequence[Sequence[str]]) -> str:
    """One box, one line per layer; a layer may import from those below it.

    >>> print(drawing([["cli", "sklearn"], ["api"]]))
    +---------------+
    | cli | sklearn |
    +---------------+
    |      api      |
    +---------------+
    """
    lines = [" | ".join(layer) for layer in layers]
    width = max(map(len, lines))
    rule = "+" + "-" * (width + 2) + "+"
    return "\n".join([rule, *(text for line in lines for text in (f"| {line:^{width}} |", rule))])


def block() -> str:
    """What stands between the two marks in CONTRIBUTING.md, marks included."""
    return f"{START}\n\n```text\n{drawing(contract())}\n```\n\n{END}"


def main() -> None:
    """Print the drawing, or write it."""
    if "--write" not in sys.argv[1:]:
        print(drawing(contract()))
        return
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    PAGE.write_text(before + block() + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
