"""Tables that a kd tree cuts: the paper's, and random ones of numbers alone."""

import numpy as np
from hypothesis import strategies as st

from tests.tables import number, table

TABLE_41 = table(
    number("Age", [25, 31, 32, 36, 43, 48, 50, 53, 56]),
    number("YearEdu", [16, 14, 18, 12, 16, 20, 13, 18, 14]),
    number("Income", [54, 55, 60, 49, 65, 70, 57, 73, 62]),
)
TABLE_42 = table(
    number("Education", [8, 9, 14, 17, 14, 13, 10, 12, 16, 12]),
    number("Experience", [21, 42, 25, 20, 27, 19, 27, 17, 11, 29]),
    number("Wages", [5, 4, 6, 4, 7, 13, 4, 19, 13, 8]),
    number("HRA", [8, 12, 14, 10, 7, 11, 15, 17, 19, 14]),
)


@st.composite
def number_tables(draw, min_rows=1, max_rows=30):
    """Number columns with ties, copies of rows, constants and missing values."""
    rows = draw(st.integers(min_rows, max_rows))
    whole = st.one_of(st.none(), st.integers(-4, 4))
    kinds = {
        "whole": (whole, 0),
        "cents": (st.integers(-200, 200).map(lambda v: v / 100), 2),
        "tenths": (st.one_of(st.none(), st.integers(0, 9).map(lambda v: v / 10)), 1),
        "fine": (st.floats(-1, 1, width=32), None),
        "flag": (st.sampled_from([0, 0, 0, 0, 1]), 0),
        "same": (st.just(7), 0),
        "none": (st.none(), 0),
    }
    names = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=4, unique=True))
    made = {name: draw(st.lists(kinds[name][0], min_size=rows, max_size=rows)) for name in names}
    copies = draw(st.lists(st.integers(0, rows - 1), max_size=10))
    made = {name: values + [values[row] for row in copies] for name, values in made.items()}
    return table(
        *(number(name, [np.nan if v is None else v for v in values], kinds[name][1]) for name, values in made.items())
    )


def settings_of_trees():
    return st.fixed_dictionaries(
        {
            "scale": st.sampled_from(["minmax", "max", "raw", "z"]),
            "cut": st.sampled_from(["midrange", "median"]),
            "scope": st.sampled_from(["node", "global"]),
            "reuse": st.booleans(),
            "leaf_max": st.integers(1, 6),
            "min_child": st.integers(1, 6),
            "tie": st.sampled_from(["left", "right"]),
            "axes": st.sampled_from([None, "cycle"]),
        }
    )
