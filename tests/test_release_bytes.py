"""The same key gives the same released bytes, whatever the code is called: every recipe on three tables.

`python -m tests.test_release_bytes` writes the golden file anew, for a change that is meant to change released values.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import leafcover as lc

from .data import table_path

GOLDEN = Path(__file__).parent / "golden" / "release_bytes.json"
TABLES = {"cps1985": "union", "german_credit": "class", "adult": "income"}
ROWS = 1500  # of Adult, which has missing values; the others are smaller


@cache
def few_rows(name):
    """A table, read once for all recipes."""
    table = lc.read(table_path(name))
    return table.take(np.arange(ROWS)) if len(table) > ROWS else table


def released_bytes(name, recipe):
    """The hash of the values a recipe releases under a fixed key, in their released order."""
    table = few_rows(name)
    plan = lc.recipes.plan_for(table, recipe, target=TABLES[name])
    released = lc.release(table, plan, key=lc.Key(bytes(range(32)))).table
    mark = hashlib.sha256()
    for column in released:
        known = [column.levels[c] if c >= 0 else None for c in column.values] if column.is_category else column.values
        mark.update(repr((column.name, [_plain(value) for value in known])).encode())
    return mark.hexdigest()


def _plain(value):
    if value is None or isinstance(value, str):
        return value
    return None if np.isnan(value) else float(value)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("recipe", lc.recipes.RECIPES)
def test_a_fixed_key_gives_the_golden_bytes(name, recipe):
    assert released_bytes(name, recipe) == json.loads(GOLDEN.read_text())[f"{recipe} {name}"]


if __name__ == "__main__":
    found = {f"{recipe} {name}": released_bytes(name, recipe) for recipe in lc.recipes.RECIPES for name in TABLES}
    GOLDEN.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
