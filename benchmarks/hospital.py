"""Visits to a hospital: makes the table that ships as ``leafcover.sample("hospital")``.

Nobody in it exists. Names, numbers and telephone numbers are drawn like everything else; the telephone numbers are from
a range that no telephone has. Run this file to write the table again: it always has the same values.
"""

import gzip
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parents[1] / "src" / "leafcover" / "data" / "hospital.csv.gz"
SEED = 2024
PATIENTS = 5_000
FIRST, LAST = np.datetime64("2023-01-01"), np.datetime64("2024-12-31")  # of the extract
REGIONS = {"Alder": 0.28, "Birchwood": 0.22, "Cove": 0.17, "Downs": 0.15, "Elm": 0.11, "Fell": 0.07}
SAMPLED = {"Alder": 0.04, "Birchwood": 0.05, "Cove": 0.06, "Downs": 0.08, "Elm": 0.1, "Fell": 0.16}  # of all patients
# Diagnosis: ward, share among young, middle and old patients, mean days, how often urgent, mean cost of a procedure.
DIAGNOSES = {
    "A09": ("internal", (10, 5, 6), 3, 0.8, 150),
    "C34": ("oncology", (0, 3, 5), 9, 0.2, 4200),
    "C50": ("oncology", (0, 6, 5), 6, 0.1, 5100),
    "E11": ("internal", (2, 9, 12), 5, 0.3, 300),
    "F32": ("psychiatry", (9, 8, 4), 22, 0.3, 120),
    "I21": ("cardiology", (0, 7, 12), 7, 0.95, 6800),
    "I50": ("cardiology", (0, 5, 19), 9, 0.7, 1300),
    "J18": ("internal", (6, 6, 14), 7, 0.8, 400),
    "J45": ("internal", (9, 5, 2), 3, 0.7, 200),
    "K35": ("surgery", (13, 6, 2), 4, 0.95, 3100),
    "K80": ("surgery", (4, 10, 7), 4, 0.4, 3400),
    "M17": ("surgery", (0, 8, 14), 8, 0.0, 7900),
    "S72": ("surgery", (2, 3, 11), 11, 1.0, 6900),
    "S82": ("surgery", (12, 8, 5), 5, 0.9, 3800),
    "O24": ("maternity", (9, 1, 0), 3, 0.3, 250),
    "O47": ("maternity", (12, 1, 0), 2, 0.9, 180),
    "O80": ("maternity", (44, 3, 0), 3, 0.8, 1900),
}
RARE = {
    "B54": "internal",
    "E84": "internal",
    "G35": "internal",
    "M32": "internal",
    "Q21": "cardiology",
    "T63": "internal",
}
PREGNANT, MOST_WOMEN = ("O24", "O47", "O80"), ("C50",)
OLDEST_PREGNANT = 1978  # year of birth
FEMALE = ("Anna", "Clara", "Emma", "Eva", "Helena", "Ines", "Julia", "Laura", "Maria", "Nora", "Olga", "Rosa", "Sofia")
MALE = ("Adam", "Bruno", "David", "Emil", "Felix", "Hugo", "Ivan", "Jonas", "Luca", "Oscar", "Paul", "Simon", "Victor")
FAMILIES = (
    *("Arnold", "Baker", "Castillo", "Dahl", "Ekberg", "Fontaine", "Gruber", "Hoffman", "Ito", "Jansen", "Kowalski"),
    *("Lindgren", "Marino", "Novak", "Okafor", "Petrov", "Quinn", "Rossi", "Sandberg", "Tran", "Ueda", "Vogel"),
)
FINDINGS = ("fell at home", "pain at night", "short of breath", "pale and dizzy")
PERSONS = ("daughter", "husband", "neighbour", "employer")
COLUMNS = (
    *("patient", "name", "insurance_no", "phone", "sex", "birth_year", "region", "weight", "admission", "discharge"),
    *("stay", "ward", "diagnosis", "urgent", "outcome", "pregnancy_week", "crp", "haemoglobin", "cost_care"),
    *("cost_drugs", "cost_procedures", "cost_total", "note"),
)


def main() -> None:
    """Write the table."""
    with gzip.GzipFile(FILE, "wb", mtime=0) as file:
        file.write(text().encode())


def text() -> str:
    """The table as CSV: the visits of all patients, by day of admission."""
    rng = np.random.default_rng(SEED)
    ids = rng.permutation(np.arange(100_000, 1_000_000))[:PATIENTS]
    rows = [row for one in ids for row in patient(int(one), rng)]
    rows.sort(key=lambda row: (row["admission"], row["patient"]))
    lines = [",".join(COLUMNS), *(",".join(row[name] for name in COLUMNS) for row in rows)]
    return "\n".join(lines) + "\n"


def patient(number: int, rng: np.random.Generator) -> list[dict[str, str]]:
    """The visits of one patient."""
    choose = chooser(rng)
    is_woman = rng.random() < 0.55
    sex = "female" if is_woman else "male"
    born = 2023 - int(np.clip(choose([26, 52, 76], [0.27, 0.35, 0.38]) + rng.normal(0, 8), 18, 98))
    region = choose(list(REGIONS), list(REGIONS.values()))
    weight = (1 / SAMPLED[region]) * (1.25 if born > 1985 else 1.0) * (1 + 0.02 * rng.normal())
    own = {
        "patient": str(number),
        "name": f"{choose(FEMALE if is_woman else MALE)} {choose(FAMILIES)}",
        "insurance_no": f"{choose('ABCDEFGHKL')}{rng.integers(100_000_000, 1_000_000_000)}",
        "phone": f"+99 {rng.integers(100, 1000)} {rng.integers(1000, 10_000)} {rng.integers(1000, 10_000)}",
        "sex": sex,
        "birth_year": str(born),
        "region": region,
        "weight": f"{weight:.2f}",
    }
    chronic = rng.random() < 0.15 + 0.3 * (born < 1960)
    most = min(1 + rng.poisson(2.8 if chronic else 0.45), 10)
    begin = FIRST + int(rng.integers(0, 731))
    rows: list[dict[str, str]] = []
    before = ""
    while len(rows) < most and begin <= LAST:
        diagnosis = before if before and rng.random() < 0.55 else drawn_diagnosis(is_woman, born, rng)
        before = "" if diagnosis in PREGNANT else diagnosis
        row, end = visit(diagnosis, begin, born, rng)
        rows.append(own | row)
        if end is None or row["outcome"] == "died":
            break
        begin = end + 1 + int(rng.exponential(60))
    return rows


def drawn_diagnosis(is_woman: bool, born: int, rng: np.random.Generator) -> str:
    """The diagnosis of a patient by age and sex; seldom a rare one."""
    choose = chooser(rng)
    if rng.random() < 0.004:
        return choose(list(RARE))
    age = 0 if born > 1983 else 1 if born > 1958 else 2
    shares = {code: shares[age] for code, (_, shares, *_) in DIAGNOSES.items()}
    if not is_woman or born < OLDEST_PREGNANT:
        shares |= dict.fromkeys(PREGNANT, 0)
    if not is_woman:
        shares |= {code: shares[code] / 40 for code in MOST_WOMEN}
    return choose(list(shares), list(shares.values()))


def visit(
    diagnosis: str, begin: np.datetime64, born: int, rng: np.random.Generator
) -> tuple[dict[str, str], np.datetime64 | None]:
    """One stay in the hospital, and the day of discharge; None if it is not over on the last day."""
    choose = chooser(rng)
    ward, _, days, urgent, price = DIAGNOSES.get(diagnosis, (RARE.get(diagnosis), (), 8, 0.6, 900))
    ward = "intensive care" if diagnosis in ("I21", "I50", "J18", "S72") and rng.random() < 0.12 else ward
    is_urgent = rng.random() < urgent
    age = int(str(begin)[:4]) - born
    stay = int(np.clip(rng.gamma(3, days * (0.7 + age / 180) / 3), 0, 60))
    end = begin + stay
    risk = {"intensive care": 0.16, "oncology": 0.07}.get(ward, 0.015) * (0.4 + (age > 60) + (age > 80))
    outcome = "died" if rng.random() < risk else choose(["home", "rehabilitation", "transfer"], [0.84, 0.11, 0.05])
    is_over = end <= LAST
    days_so_far = stay if is_over else int((LAST - begin).astype(int))
    rate = 1450 if ward == "intensive care" else 390
    parts = [
        (days_so_far + 1) * rate * (1 + 0.1 * rng.normal()),
        (days_so_far + 1) * (55 if ward != "oncology" else 260) * rng.gamma(3, 1 / 3),
        price * rng.gamma(6, 1 / 6) if rng.random() < 0.85 else 0.0,
    ]
    care, drugs, procedures = (max(round(part), 0) for part in parts)
    pregnancy = {"O80": 39.4 + 1.2 * rng.normal(), "O47": 33 + 3 * rng.normal(), "O24": 28 + 4 * rng.normal()}
    tested = rng.random() < (0.9 if is_urgent else 0.45)
    infected = diagnosis in ("A09", "J18", "K35")
    words = f"{choose(FINDINGS)}; {choose(PERSONS)} called at {rng.integers(6, 22)}:{choose('0134')}0"
    row = {
        "admission": str(begin),
        "discharge": str(end) if is_over else "",
        "stay": str(stay) if is_over else "",
        "ward": str(ward),
        "diagnosis": diagnosis,
        "urgent": "yes" if is_urgent else "no",
        "outcome": outcome if is_over else "",
        "pregnancy_week": f"{min(pregnancy[diagnosis], 42):.0f}" if diagnosis in pregnancy else "",
        "crp": f"{rng.gamma(2, 45 if infected else 9):.0f}" if tested else "",
        "haemoglobin": f"{13.2 - 1.6 * (age > 70) + 1.3 * rng.normal():.1f}" if tested else "",
        "cost_care": str(care),
        "cost_drugs": str(drugs),
        "cost_procedures": str(procedures),
        "cost_total": str(care + drugs + procedures),
        "note": words,
    }
    return row, end if is_over else None


def chooser(rng: np.random.Generator) -> Callable[..., str]:
    """A function that draws one of some things, by their shares if these are given."""

    def choose(things: Sequence[str], shares: Sequence[float] | None = None) -> str:
        weights = np.ones(len(things)) if shares is None else np.asarray(shares, float)
        bounds = np.cumsum(weights)
        return things[int(np.searchsorted(bounds, rng.random() * bounds[-1], side="right"))]

    return choose


if __name__ == "__main__":
    main()
