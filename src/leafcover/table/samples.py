"""The small real tables that ship with the package; their sources and licences stand beside them."""

from importlib.resources import files
from pathlib import Path

from leafcover.errors import NameUnknown

SAMPLES = {
    "adult": "adult.csv.gz",
    "boston": "boston.csv",
    "cps1985": "cps1985.csv",
    "german_credit": "german_credit.csv",
    "wbc": "wbc.csv",
    "wine": "wine.csv",
}


def sample(name: str) -> Path:
    """The path of a shipped table.

    >>> sample("wine").name
    'wine.csv'
    """
    if name not in SAMPLES:
        raise NameUnknown("shipped table", name, SAMPLES)
    return Path(str(files("leafcover").joinpath("data", SAMPLES[name])))
