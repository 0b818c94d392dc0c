"""Synthetic people after Agrawal, Imielinski and Swami (1993), by the five functions of Agrawal and Srikant (2000)."""

from collections.abc import Callable

import numpy as np

from leafcover.table.table import Column, Table

RANGES = {  # lowest, highest, and the distance between possible values (0: any)
    "salary": (20_000, 150_000, 0),
    "commission": (0, 75_000, 0),
    "age": (20, 80, 1),
    "elevel": (0, 4, 1),
    "car": (1, 20, 1),
    "zipcode": (1, 9, 1),
    "hvalue": (50_000, 1_350_000, 0),
    "hyears": (1, 30, 1),
    "loan": (0, 500_000, 0),
}
People = dict[str, np.ndarray]


def people(rows: int, function: int, seed: int) -> Table:
    """Synthetic people with nine numbers each, and the group, A or B, that a function assigns."""
    rng = np.random.default_rng([function, seed])
    salary = rng.uniform(20_000, 150_000, rows)
    zipcode = rng.integers(1, 10, rows)
    drawn: People = {
        "salary": salary,
        "commission": np.where(salary >= 75_000, 0.0, rng.uniform(10_000, 75_000, rows)),
        "age": rng.integers(20, 81, rows),
        "elevel": rng.integers(0, 5, rows),
        "car": rng.integers(1, 21, rows),
        "zipcode": zipcode,
        "hvalue": rng.uniform(0.5, 1.5, rows) * 100_000 * (10 - zipcode),  # houses cost more where the code is low
        "hyears": rng.integers(1, 31, rows),
        "loan": rng.uniform(0, 500_000, rows),
    }
    numbers = [Column(name, "number", values.astype(np.float64)) for name, values in drawn.items()]
    in_a = FUNCTIONS[function](drawn)
    return Table((*numbers, Column("group", "category", np.where(in_a, 0, 1).astype(np.int32), levels=("A", "B"))))


def _by_age(of: People) -> np.ndarray:
    return (of["age"] < 40) | (of["age"] >= 60)


def _by_age_and_salary(of: People) -> np.ndarray:
    young, old = of["age"] < 40, of["age"] >= 60
    pay = of["salary"]
    return np.where(young, _within(pay, 50, 100), np.where(old, _within(pay, 25, 75), _within(pay, 75, 125)))


def _by_education_too(of: People) -> np.ndarray:
    level, pay = of["elevel"], of["salary"]
    low, middle, high = _within(pay, 25, 75), _within(pay, 50, 100), _within(pay, 75, 125)
    young = np.where(level <= 1, low, (level <= 3) & middle)
    between = np.where(level == 4, high, (level >= 1) & middle)
    old = np.where(level == 1, low, (level >= 2) & middle)
    return np.where(of["age"] < 40, young, np.where(of["age"] >= 60, old, between))


def _by_income_left(of: People) -> np.ndarray:
    return _left(of) > 20_000


def _by_income_and_house(of: People) -> np.ndarray:
    equity = 0.1 * of["hvalue"] * np.maximum(of["hyears"] - 20, 0)
    return _left(of) + 0.2 * equity > 10_000


def _left(of: People) -> np.ndarray:
    return 0.67 * (of["salary"] + of["commission"]) - 0.2 * of["loan"]


def _within(pay: np.ndarray, low: float, high: float) -> np.ndarray:
    return (pay >= 1000 * low) & (pay <= 1000 * high)


FUNCTIONS: dict[int, Callable[[People], np.ndarray]] = {
    1: _by_age,
    2: _by_age_and_salary,
    3: _by_education_too,
    4: _by_income_left,
    5: _by_income_and_house,
}
