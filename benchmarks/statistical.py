"""CPU seconds of the perturbations of statistical databases beside plain NumPy, in one run.

Each section compares one method with the least that it must do. To add a method, write a function that returns a
`Compared`, and list it in SECTIONS.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from timing import cpu

from leafcover.cells import one_cell
from leafcover.engine.run import PART_ROWS
from leafcover.keyed_random import Draws
from leafcover.perturb.additive import Additive
from leafcover.perturb.base import Chunk
from leafcover.perturb.conditional_normal import Gadp
from leafcover.perturb.correlated_noise import Correlated
from leafcover.perturb.pram import Pram
from leafcover.perturb.swap import RankSwap
from leafcover.table.table import Column

ROWS, COLUMNS = 1_000_000, 10


@dataclass(frozen=True)
class Compared:
    """CPU seconds of a method and of the floor."""

    method: str
    floor: str  # what the floor does
    used: float
    least: float


def released(method, part):
    """New values in the parts of a run, without reading, checking and writing."""
    parts = [part]
    if method.scope not in ("cell", "table"):
        starts = range(0, len(part), PART_ROWS)
        parts = [part.take(np.arange(start, min(start + PART_ROWS, len(part)))) for start in starts]
    summary = method.finalize(reduce(method.merge, [method.fit(one) for one in parts]), part.cells)
    return [method.change(one, summary, Draws(bytes(32))) for one in parts]


def normal_part(rows=ROWS, columns=COLUMNS):
    """Independent normal numbers without a grid, in one cell."""
    values = np.random.default_rng(1).normal(size=(columns, rows))
    found = tuple(Column(f"n{at}", "number", one, declared=(-9.0, 9.0)) for at, one in enumerate(values))
    return Chunk(np.arange(rows), found, one_cell(rows))


def additive():
    """Simple additive noise, against NumPy's own normal draw and an addition."""
    part = normal_part()
    values = [column.values for column in part.columns]

    def floor():
        rng = np.random.default_rng(1)
        return [one + 0.5 * rng.normal(size=len(one)) for one in values]

    released(Additive(0.5, on_grid=False), normal_part(1000))  # compile
    least, _ = cpu(floor)
    used, _ = cpu(lambda: released(Additive(0.5, on_grid=False), part))
    return Compared("additive, 1,000,000 × 10", "NumPy: a normal draw and an addition", used, least)


def correlated():
    """Correlated noise, against NumPy's covariance, normal draw and product with its root."""
    part = normal_part()
    values = np.array([column.values for column in part.columns])

    def floor():
        root = np.linalg.cholesky(np.cov(values))
        return values + 0.5 * root @ np.random.default_rng(1).normal(size=values.shape)

    released(Correlated(0.5, on_grid=False), normal_part(1000))  # imports
    least, _ = cpu(floor)
    used, _ = cpu(lambda: released(Correlated(0.5, on_grid=False), part))
    return Compared("correlated, 1,000,000 × 10", "NumPy: covariance, normal draw, product", used, least)


def gadp():
    """GADP without columns given, against NumPy's product of the numbers with themselves and a normal draw."""
    part = normal_part()
    values = np.column_stack([column.values for column in part.columns])

    def floor():
        return values.T @ values, np.random.default_rng(1).normal(size=values.shape)

    method = Gadp(on_grid=False)
    released(method, normal_part(1000))  # imports
    least, _ = cpu(floor)
    used, _ = cpu(lambda: released(method, part))
    return Compared("gadp, 1,000,000 × 10", "NumPy: a matrix product and a normal draw", used, least)


def category_part(rows=ROWS, levels=(2, 5, 10, 20, 40)):
    """Categories with random levels, in one cell."""
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, many, rows).astype(np.int32) for many in levels]
    names = [tuple(str(level) for level in range(many)) for many in levels]
    both = zip(codes, names, strict=True)
    found = tuple(Column(f"c{at}", "category", one, levels=own) for at, (one, own) in enumerate(both))
    return Chunk(np.arange(rows), found, one_cell(rows))


def pram():
    """PRAM by an invariant matrix, against a draw of NumPy's for the rows that change."""
    part = category_part()

    def floor():
        rng = np.random.default_rng(1)
        for column in part.columns:
            shares = np.bincount(column.values) / len(part)
            moved = np.flatnonzero(rng.random(len(part)) < 0.2)
            np.put(column.values.copy(), moved, rng.choice(len(shares), len(moved), p=shares))

    released(Pram(0.2), category_part(1000))  # compiles
    least, _ = cpu(floor)
    used, _ = cpu(lambda: released(Pram(0.2), part))
    return Compared(
        "PRAM, 1,000,000 × 5 categories", "NumPy: frequencies, and a draw for 20 % of the rows", used, least
    )


def rank_swap():
    """Rank swapping, against sorting every column."""
    part = normal_part(100_000)
    released(RankSwap(0.1), normal_part(1000))  # compiles
    least, _ = cpu(lambda: [np.argsort(column.values) for column in part.columns])
    used, _ = cpu(lambda: released(RankSwap(0.1), part))
    return Compared("rank swapping, 100,000 × 10", "NumPy: the order of every column", used, least)


SECTIONS: tuple[Callable[[], Compared], ...] = (additive, correlated, gadp, pram, rank_swap)


def results():
    """Every section."""
    return [section() for section in SECTIONS]


def text(found):
    """A section for the page of results."""
    lines = [
        "## Perturbations of statistical databases",
        "",
        "New values alone: without reading, checks and writing.",
        "",
        "| method | CPU seconds | floor | its CPU seconds | method / floor |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {f.method} | {f.used:.2f} | {f.floor} | {f.least:.2f} | {f.used / f.least:.1f} |" for f in found]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(text(results()))
