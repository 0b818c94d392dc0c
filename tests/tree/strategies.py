"""Small mixed tables with missing values, as trees learn from them."""

import numpy as np
from hypothesis import strategies as st

from leafcover.tree.tree import Attribute, Training


@st.composite
def trainings(draw, *, missing: bool = True, most_rows: int = 60):
    """A training table that has something to learn: the class leans on the first attribute."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = draw(st.integers(2, most_rows))
    share = draw(st.sampled_from([0.0, 0.1, 0.4])) if missing else 0.0
    attributes, columns = [], []
    for a in range(draw(st.integers(1, 4))):
        gone = rng.random(rows) < share
        if draw(st.booleans()):
            step = draw(st.sampled_from([1.0, 0.1, 1e-6, 1e7 / 3]))
            values = rng.integers(0, draw(st.sampled_from([2, 6, 1000])), rows) * step
            columns.append(np.where(gone, np.nan, values))
            attributes.append(Attribute(f"n{a}"))
        else:
            levels = draw(st.integers(1, 5))
            columns.append(np.where(gone, -1, rng.integers(0, levels, rows)).astype(np.int32))
            attributes.append(Attribute(f"c{a}", tuple("abcdefg"[:levels]), False))
    classes = draw(st.integers(2, 4))
    lean = np.nan_to_num(columns[0]).argsort(kind="stable").argsort(kind="stable") * classes // rows
    noisy = rng.random(rows) < draw(st.sampled_from([0.0, 0.2, 1.0]))
    labels = np.where(noisy, rng.integers(0, classes, rows), lean).astype(np.int32)
    return Training("y", tuple("pqrs"[:classes]), labels, tuple(attributes), tuple(columns), np.arange(rows))


def shuffled(training: Training, order) -> Training:
    """The same rows in another order."""
    columns = tuple(column[order] for column in training.columns)
    return Training(
        training.target, training.classes, training.labels[order], training.attributes, columns, training.rows
    )
