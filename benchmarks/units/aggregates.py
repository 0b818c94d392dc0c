"""Whether people are found by what their rows have in common: number, dates, sums, gaps, household; prints a table.

    python benchmarks/units/aggregates.py

Half of the people or households of a table is released by `cover`. The attacker knows figures of a person's rows taken
together, not row by row, and looks for the released unit nearest to them. Those in the release must not be nearer than
the others: an area of 0.5 is chance.
"""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

import leafcover as lc
from leafcover.metrics.disclosure.membership_inference import placements

SPLITS = 5
HIDDEN = ["name", "insurance_no", "phone", "note"]
HOUSEHOLDS = 2_000


def hospital() -> pd.DataFrame:
    """The shipped table of stays, dates as days."""
    frame = pd.read_csv(lc.sample("hospital")).drop(columns=HIDDEN)
    return frame.assign(admission=days(frame["admission"]), discharge=days(frame["discharge"]))


def days(dates: pd.Series) -> pd.Series:
    return (pd.to_datetime(dates) - pd.Timestamp("2020-01-01")).dt.days


def of_patients(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Sets of figures that an attacker may know of each patient."""
    rows = frame.sort_values(["patient", "admission"], kind="stable").groupby("patient")
    gaps = frame.isna().sum(axis=1).groupby(frame["patient"]).sum()
    found = pd.DataFrame(
        {
            "rows": rows.size(),
            "first": rows["admission"].min(),
            "last": rows["admission"].max(),
            "cost": np.log1p(rows["cost_total"].sum()),
            "stay": rows["stay"].sum(),
            "gaps": gaps,
            "wards": rows["ward"].nunique(),
            "born": rows["birth_year"].first(),
            "sex": (rows["sex"].first() == "male").astype(int),
        }
    )
    names = {
        "number of visits": ["rows"],
        "first and last date": ["rows", "first", "last"],
        "sums of costs and days": ["cost", "stay"],
        "number of missing values": ["rows", "gaps"],
        "all of these, sex, year of birth": list(found),
    }
    return {name: found[columns] for name, columns in names.items()}


def of_households(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The ages and sexes of a household's members, the oldest first, and their number."""
    frame = frame.sort_values(["db030", "age"], ascending=[True, False], kind="stable")
    place = frame.groupby("db030").cumcount()
    ages = frame.assign(place=place).pivot(index="db030", columns="place", values="age").iloc[:, :6]
    sexes = (frame["rb090"] == "male").groupby(frame["db030"]).sum()
    size = frame.groupby("db030").size()
    whole = pd.concat([ages.reindex(columns=range(6)).fillna(-20).add_prefix("age "), sexes.rename("men")], axis=1)
    return {"ages and sexes of a household": whole, "number of people": size.to_frame()}


def measured(
    frame: pd.DataFrame, units: list[str], target: str, figures: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
) -> pd.DataFrame:
    """Means over splits: the area, and the shares of people in and out of the release whose figures a unit has."""
    found = []
    for seed in range(SPLITS):
        people = frame[units[0]].unique()
        chosen = np.isin(frame[units[0]], np.random.default_rng(seed).permutation(people)[: len(people) // 2])
        table = lc.read(frame[chosen].reset_index(drop=True), roles=dict.fromkeys(units, "unit"))
        released = figures(lc.release(table, "cover", target=target, seed=seed).frame)
        inside, outside = figures(frame[chosen]), figures(frame[~chosen])
        for name, known in inside.items():
            spread = known.std() + 1e-9
            tree = cKDTree(released[name] / spread)
            near, far = (tree.query(one[name] / spread)[0] for one in (inside, outside))
            found.append((name, placements(near, far).mean(), (near == 0).mean(), (far == 0).mean()))
    return pd.DataFrame(found, columns=["known", "area", "inside", "outside"]).groupby("known", sort=False).mean()


def main() -> None:
    tables = [("hospital", measured(hospital(), ["patient"], "outcome", of_patients))]
    if len(sys.argv) > 1:  # EU-SILC, a file that does not ship
        frame = pd.read_csv(
            sys.argv[1], usecols=["db030", "rb030", "db040", "age", "rb090", "pl030", "py010n", "eqIncome"]
        )
        some = frame["db030"].unique()[:HOUSEHOLDS]
        frame = frame[frame["db030"].isin(some)].assign(pl030="s" + frame["pl030"].astype(str))
        tables.append(("EU-SILC", measured(frame, ["db030", "rb030"], "pl030", of_households)))
    print("| table | known of each person | area | a released unit has the same: members | others |")
    print("|---|---|---|---|---|")
    for table, figures in tables:
        for name, row in figures.iterrows():
            print(f"| {table} | {name} | {row['area']:.3f} | {row['inside']:.1%} | {row['outside']:.1%} |")


if __name__ == "__main__":
    main()
