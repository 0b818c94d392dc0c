"""Scores of NIST's own program for tables that were released from an excerpt, beside resamples of it.

    python benchmarks/nist/judge.py ORIGINAL.csv NAME=TABLE.csv ...

Runs in an environment that has ``sdnist``, without leafcover; `make nist` makes both. Prints a table in Markdown.
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd
import sdnist.report  # noqa: F401  first: the modules below import each other
from sdnist.metrics.inconsistency import Inconsistencies
from sdnist.metrics.kmarginal import KMarginal
from sdnist.metrics.propensity import PropensityMSE
from sdnist.metrics.unique_exact_matches import unique_exact_matches

GROUPS = 10  # of equal size, for a number with more values
WEIGHTS = ["PWGTP", "WGTP"]
HEAD = """| table | k-marginal, pairs | within areas | propensity MSE | unique records matched | inconsistent records |
|---|---|---|---|---|---|"""


def grouped(original: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Both as codes: numbers with many values by tenths of the original, everything else by its text."""
    found = {}
    for name in original.columns:
        numbers = pd.to_numeric(original[name], errors="coerce")
        if numbers.nunique() > 2 * GROUPS and numbers.notna().mean() > 0.5:
            edges = numbers.quantile([i / GROUPS for i in range(1, GROUPS)]).unique()
            here = pd.to_numeric(table[name], errors="coerce")
            found[name] = pd.Series(edges.searchsorted(here), index=table.index).where(here.notna(), -1)
        else:
            levels = {level: code for code, level in enumerate(sorted(original[name].unique()))}
            found[name] = table[name].map(levels).fillna(-1).astype(int)
    return pd.DataFrame(found)


def as_numbers(column: pd.Series) -> pd.Series:
    """Numbers where all texts are."""
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers if numbers.notna().all() else column


def scores(original: pd.DataFrame, table: pd.DataFrame) -> list[str]:
    """The scores of one table."""
    before, after = grouped(original, original), grouped(original, table)
    with tempfile.TemporaryDirectory() as folder:
        marginal = KMarginal(before, after).compute_score()
        by_area = KMarginal(before, after, ["PUMA"]).compute_score()
        propensity = PropensityMSE(before, after, Path(folder)).compute_score()
        Path(folder, "rules").mkdir()
        rules = Inconsistencies(table.apply(as_numbers), Path(folder, "rules"))
        rules.compute()
    broken = sum(one["Number of Records Inconsistent"] for one in rules.stats["summary"]) / len(table)
    matched = unique_exact_matches(original.drop(columns=WEIGHTS), table.drop(columns=WEIGHTS))
    return [f"{marginal:.0f}", f"{by_area:.0f}", f"{propensity:.4f}", f"{matched[1]:.1f}%", f"{broken:.1%}"]


def main() -> None:
    """Print a line for each table."""
    original = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
    tables = {"a bootstrap sample": original.sample(len(original), replace=True, random_state=1)}
    for one in sys.argv[2:]:
        name, path = one.split("=", 1)
        tables[name] = pd.read_csv(path, dtype=str, keep_default_na=False)
    print(HEAD)
    for name, table in tables.items():
        print("|", " | ".join([name, *scores(original, table.reset_index(drop=True))]), "|")


if __name__ == "__main__":
    main()
