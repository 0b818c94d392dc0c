"""What numbers shared by at least five rows tell an attacker who knows whole columns of the population; prints a table.

    python benchmarks/shared_numbers.py

Half of a population is released. *Sums*: the attacker searches for the sets of neighbours that have a released mean.
*Totals*: the attacker searches for the sets of people of a cell whose weights have its weighted total. *Counts*: the
attacker compares, around each released number, how many rows have it with how many people have values nearest to it,
and adds the log odds of all known columns.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.table.test_recoding import exact_means, members_found, salaries
from tests.table.test_weights import found_by_totals

import leafcover as lc
from leafcover.metrics.disclosure.membership_inference import placements
from leafcover.table.recoding import shared_values

RUNS = 20
FALSE_ALARMS = 0.01


def sums():
    """The share of members found by sums, of exact means and of those that are released; means over populations."""
    for name, share in (("exact means", exact_means), ("as released", lambda column: shared_values(column, 5))):
        found = []
        for seed in range(RUNS):
            cents, member = salaries(seed)
            column = lc.read(pa.table({"pay": cents}))["pay"].take(np.flatnonzero(member))
            wide = (0.0,) if share is exact_means else (0.1, 0.3, 0.6)
            found.append(max(members_found(cents, member, share(column), one) for one in wide))
        print(f"| sums, {name} | 1 | {len(cents)} | | {np.mean(found):.1%} |")


def totals():
    """The area and the members found by sums of weights that fit the weighted total of a cell of 20 people."""
    for name, exact in (("exact", True), ("as calibrated weights keep them", False)):
        found, areas = np.mean([found_by_totals(exact, seed) for seed in range(RUNS)], axis=0)
        print(f"| totals of weights, {name} | 1 and the cells | 500 | {areas:.3f} | {found:.1%} |")


def counts(people, columns):
    """The area and the members found by counts; means over populations."""
    areas, found = [], []
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        member, score = rng.random(people) < 0.5, np.zeros(people)
        for _ in range(columns):
            pay = np.round(rng.lognormal(8, 1, people), 2)
            shown = shared_values(lc.from_frame(pa.table({"pay": pay[member]}))["pay"], 5)
            values, rows = np.unique(shown, return_counts=True)
            nearest = np.searchsorted(values[1:] / 2 + values[:-1] / 2, pay)
            odds = np.clip((rows + 1) / (np.bincount(nearest, minlength=len(values)) + 2), 0.05, 0.95)[nearest]
            score += np.log(odds / (1 - odds))
        areas.append(placements(-score[member], -score[~member]).mean())
        found.append((score[member] > np.quantile(score[~member], 1 - FALSE_ALARMS)).mean())
    print(f"| counts | {columns} | {people} | {np.mean(areas):.3f} | {np.mean(found):.1%} |")


if __name__ == "__main__":
    print("| attack | columns known of everybody | people | area | found at 1 % false alarms |\n|---|---|---|---|---|")
    sums()
    totals()
    for people in (400, 3_000):
        for columns in (1, 3, 10):
            counts(people, columns)
