"""A questionnaire with every kind of mechanism, and people who answer it."""

import numpy as np

from leafcover.randomized_response import DisguisedColumns, Groups, Kary, OneCoin, Scheme, UnrelatedQuestion, Warner
from leafcover.table.table import Column, Table

YES_NO = ("no", "yes")
TOWNS = ("south", "east", "north")  # not in the order of a table: codes must follow the scheme

SCHEME = Scheme(
    DisguisedColumns({"ill": YES_NO}, Warner(0.8)),
    DisguisedColumns({"town": TOWNS}, Kary(0.6, levels=3)),
    DisguisedColumns({"drinks": YES_NO}, UnrelatedQuestion(0.5, alpha=0.3)),
    DisguisedColumns({"cheats": YES_NO, "evades": YES_NO}, OneCoin(0.75, columns=2)),
    DisguisedColumns({"a": YES_NO, "b": YES_NO, "c": YES_NO}, Groups(0.8, groups=((0, 2), (1,)))),
)
QUESTIONS = (
    {"ill": "yes"},
    {"town": "east"},
    {"drinks": "yes"},
    {"cheats": "yes", "evades": "no"},
    {"a": "yes", "b": "no"},
)


def people(rows, seed=1, missing=0.0):
    """People whose answers hang together; ``sex`` is asked openly."""
    rng = np.random.default_rng(seed)
    lean = rng.random(rows)
    columns = []
    for name in ("ill", "drinks", "cheats", "evades", "a", "b", "c", "sex", "town"):
        levels = tuple(sorted(TOWNS)) if name == "town" else ("f", "m") if name == "sex" else YES_NO
        codes = np.minimum((0.6 * lean + 0.4 * rng.random(rows)) * len(levels), len(levels) - 1).astype(np.int32)
        codes[rng.random(rows) < missing] = -1
        columns.append(Column(name, "category", codes, levels=levels))
    return Table(tuple(columns))


def meets(table, literals):
    """Which rows hold every answer asked for."""
    met = np.ones(len(table), bool)
    for name, text in literals.items():
        met &= table[name].values == table[name].levels.index(text)
    return met
