"""Tables of a population, and releases in which some people are released nearly whole."""

from dataclasses import replace

import numpy as np

from leafcover.metrics.pair import bare, same_levels
from leafcover.table.table import Table
from tests.metrics.bad_releases import adult
from tests.tables import category, number, table

ROWS = 4000
TARGETS = {"adult": "income", "wages": "union", "mixed": "class"}


def samples(name, seed, rows=ROWS):
    """Two independent samples of a population: an original, and people outside it."""
    if name == "adult":
        original, _, others = adult(seed, rows, 0)
        return original, others
    rng = np.random.default_rng(seed)
    return tuple({"wages": wages, "mixed": mixed}[name](rows, rng) for _ in range(2))


def wages(rows, rng):
    """People as in the Current Population Survey of 1985: a wage, three whole numbers, one tied, and categories."""
    female, school = rng.random(rows) < 0.46, np.clip(np.rint(rng.normal(13, 2.6, rows)), 2, 18)
    age = np.clip(np.rint(18 + rng.gamma(2.6, 7.2, rows)), 18, 64)
    experience = np.maximum(age - school - 6, 0)
    wage = np.exp(0.7 + 0.09 * school + 0.012 * experience - 0.2 * female + 0.44 * rng.normal(size=rows))
    rank = np.clip((6 - (school - 8) / 2 + rng.normal(0, 1.6, rows)).astype(int), 0, 5)
    return table(
        number("wage", wage.round(2), decimals=2),
        number("education", school),
        number("experience", experience),
        number("age", experience + school + 6),
        category("ethnicity", rng.choice(["cauc", "hispanic", "other"], rows, p=[0.83, 0.05, 0.12])),
        category("region", rng.choice(["south", "other"], rows, p=[0.3, 0.7])),
        category("gender", np.where(female, "female", "male")),
        category("occupation", np.array(["management", "sales", "office", "services", "technical", "worker"])[rank]),
        category("sector", rng.choice(["manufacturing", "construction", "other"], rows, p=[0.19, 0.04, 0.77])),
        category("union", np.where(rng.random(rows) < 0.18, "yes", "no")),
        category("married", np.where(rng.random(rows) < 0.3 + 0.008 * age, "yes", "no")),
    )


def mixed(rows, rng):
    """Skewed amounts, half of them zero, counts, measurements of small spread, and categories with missing values."""
    common = rng.normal(size=rows)
    savings = np.where(rng.random(rows) < 0.5, 0, np.exp(8 + common + rng.normal(size=rows)).round(2))
    smokes = [None if one < 0.1 else "yes" if one < 0.35 else "no" for one in rng.random(rows)]
    return table(
        number("age", rng.integers(18, 90, rows)),
        number("income", np.rint(np.exp(10 + 0.6 * common + 0.4 * rng.normal(size=rows)))),
        number("savings", savings, decimals=2),
        number("visits", rng.poisson(2, rows)),
        number("temperature", (36.6 + 0.5 * rng.normal(size=rows)).round(1), decimals=1),
        category("district", [f"d{one}" for one in rng.zipf(1.6, rows) % 40]),
        category("job", [f"j{one}" for one in rng.integers(0, 25, rows)]),
        category("school", np.where(common > 1, "high", np.where(common > -0.5, "mid", "low"))),
        category("sex", rng.choice(["f", "m"], rows)),
        category("smokes", smokes),
        category("class", np.where(common + rng.normal(size=rows) > 0, "a", "b")),
    )


def planted(original, released, people, seed, *, noise=0.02, changed=0, kept=1.0):
    """The release with these people in place of other rows: numbers off by a share at most, the rest exact.

    Of each, ``changed`` categories are drawn anew; of the columns, a share is ``kept`` and the others are as released.
    """
    rng = np.random.default_rng(seed)
    original, released = same_levels([bare(original), bare(released)])
    at = rng.permutation(len(released))[: len(people)]
    names = [column.name for column in original if column.is_category]
    anew = np.array([rng.permutation(len(names)) < changed for _ in people])
    own = np.array([rng.permutation(len(original.names)) < round(kept * len(original.names)) for _ in people])
    columns = []
    for place, column in enumerate(released):
        values, exact = column.values.copy(), original[column.name].values[people]
        if column.is_category:
            drawn = original[column.name].values[rng.permutation(len(original))[: len(people)]]
            exact = np.where(anew[:, names.index(column.name)], drawn, exact)
        else:
            exact = exact * (1 + rng.uniform(-noise, noise, len(people)))
            grid = original[column.name].grid
            exact = exact if grid is None else grid.value(grid.index(exact))
        values[at] = np.where(own[:, place], exact, values[at])
        columns.append(replace(column, values=values))
    return Table(tuple(columns))


def chosen(original, count, seed):
    """So many people at random."""
    return np.random.default_rng(seed).permutation(len(original))[:count]
