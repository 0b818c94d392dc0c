"""Noise filtering: estimates of original numbers from noisy ones, by an attacker who knows how noise was added.

The attacker has the release alone, with the published method and spread. PCA filtering keeps the components of the
release whose variance exceeds that of the noise, and drops the others: spectral filtering of Kargupta and others
(2003), PCA-DR of Huang, Du and Chen (2005). The Bayes estimate (their BE-DR) is the expected original under a normal
distribution: it shrinks each component by the share of its variance that is noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.arrays import Floats
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.registry import checked, checks_arguments
from leafcover.table.frames import from_frame
from leafcover.table.table import IntoTable, Table

Noise: TypeAlias = Literal["additive", "correlated", "bias-corrected"]

SINGULAR = 1e-10  # share of the largest variance below which a component has none


@dataclass(frozen=True)
class FilteredColumn:
    """Root mean square errors in standard deviations of the original column; 1 is the error of its mean."""

    column: str
    released: float  # of the released value itself
    pca: float
    bayes: float


@dataclass(frozen=True)
class NoiseFiltering:
    """How near an attacker comes to the original numbers; ``print`` shows it as a table.

    Attributes
    ----------
    columns : tuple of FilteredColumn
        The errors of each column.
    components : int
        How many components PCA filtering kept.
    rows : int
        The rows without a missing value, which were attacked.

    Examples
    --------
    >>> from leafcover.metrics.disclosure.noise_filtering import FilteredColumn, NoiseFiltering
    >>> found = NoiseFiltering((FilteredColumn("age", 0.5, 0.4, 0.3), FilteredColumn("pay", 0.5, 0.4, 0.4)), 1, 100)
    >>> found.released, round(found.bayes, 3)
    (0.5, 0.354)
    """

    columns: tuple[FilteredColumn, ...]
    components: int
    rows: int

    @property
    def released(self) -> float:
        """The error of released values, over all columns."""
        return _root_mean_square([one.released for one in self.columns])

    @property
    def pca(self) -> float:
        """The error after PCA filtering."""
        return _root_mean_square([one.pca for one in self.columns])

    @property
    def bayes(self) -> float:
        """The error of Bayes estimates."""
        return _root_mean_square([one.bayes for one in self.columns])

    def __str__(self) -> str:
        rows = [(one.column, one.released, one.pca, one.bayes) for one in self.columns]
        return as_text(("column", "released", "pca", "bayes"), [*rows, ("all", self.released, self.pca, self.bayes)])


@checks_arguments()
def noise_filtering(
    original: IntoTable,
    released: IntoTable,
    *,
    spread: float,
    noise: Noise = "additive",
    columns: Sequence[str] | None = None,
) -> NoiseFiltering:
    """Filter the noise out of a release, and compare the estimates with the original.

    The attacker uses the released table, ``spread`` and ``noise``; the original only says how near the estimates are.
    Rows with a missing value in one of the columns are left out.

    Parameters
    ----------
    original : Table or frame
        The original.
    released : Table or frame
        The release, with its rows in the order of the original: made with ``keep_order=True``.
    spread : float
        The standard deviation of the noise, as a multiple of the column's.
    noise : {"additive", "correlated", "bias-corrected"}, default "additive"
        How it was added.
    columns : sequence of str, optional
        The columns with noise. Default: every number that changed.

    Returns
    -------
    NoiseFiltering

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine"))
    >>> plan = lc.recipes.additive(table, spread=1.0)
    >>> release = lc.release(table, plan, seed=7, keep_order=True)
    >>> found = lc.noise_filtering(table, release.table, spread=1.0)
    >>> bool(found.bayes < found.pca < found.released)
    True
    """
    if noise not in get_args(Noise):
        raise ValueOutOfRange("noise", noise, f"one of {', '.join(get_args(Noise))}")
    spread = checked("spread", float, spread)
    if not spread > 0:
        raise ValueOutOfRange("spread", spread, "above 0")
    before, after = from_frame(original), from_frame(released)
    names = paired_columns(before, after, columns)
    own, noisy = (np.column_stack([table[name].values for name in names]) for table in (before, after))
    known = ~(np.isnan(own) | np.isnan(noisy)).any(axis=1)
    if known.sum() < 2:
        raise TableError(f"Fewer than 2 rows have a value in all of {', '.join(names)}. Name fewer columns.")
    own, noisy = own[known], noisy[known]
    scale = own.std(axis=0, ddof=1)
    scale = np.where(scale > 0, scale, 1.0)
    found = filtered(noisy / scale, spread, noise)
    errors = [np.sqrt(((guess - own / scale) ** 2).mean(axis=0)) for guess in (noisy / scale, *found[:2])]
    return NoiseFiltering(
        tuple(FilteredColumn(name, *map(float, one)) for name, one in zip(names, np.array(errors).T, strict=True)),
        found[2],
        int(known.sum()),
    )


def filtered(noisy: Floats, spread: float, noise: Noise) -> tuple[Floats, Floats, int]:
    """Estimates by PCA filtering and by Bayes' rule from noisy rows, and the number of components that were kept."""
    d, mean = spread**2, noisy.mean(axis=0)
    centred = noisy - mean
    if noise == "bias-corrected":
        centred = centred * sqrt(1 + d)  # the shrinking undone
    total = np.cov(centred, rowvar=False, ddof=1).reshape(noisy.shape[1], -1)
    of_noise = (total if noise != "additive" else np.diag(np.diag(total))) * (d / (1 + d))
    values, vectors = np.linalg.eigh(of_noise)
    some = values > SINGULAR * values.max(initial=0.0)
    # In these coordinates the noise has variance 1 in every direction.
    into, back = vectors[:, some] / np.sqrt(values[some]), (vectors[:, some] * np.sqrt(values[some])).T
    variances, components = np.linalg.eigh(into.T @ total @ into)
    signal = np.maximum(variances - 1, 0.0)
    kept = signal > 1
    turned = centred @ into @ components
    pca, bayes = (turned * weight @ components.T @ back + mean for weight in (kept, signal / (signal + 1)))
    return pca, bayes, int(kept.sum())


def paired_columns(original: Table, released: Table, columns: Sequence[str] | None) -> list[str]:
    """The columns named, or the numbers that changed; an error if rows do not pair or a column is no number."""
    if len(original) != len(released):
        raise TableError(
            f"The release has {len(released):,} rows and the original {len(original):,}, so rows do not pair. "
            "Keep the order of rows in the release."
        )
    if columns is None:
        both = [c for c in original if not c.is_category and c.name in released.names]
        both = [c for c in both if not released[c.name].is_category]
        names = [c.name for c in both if not np.array_equal(c.values, released[c.name].values, equal_nan=True)]
        if not names:
            raise TableError("No number differs between the two tables. Name the columns.")
        return names
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ValueOutOfRange("columns", columns, "at least one column of numbers")
    for name in names:
        for table in (original, released):
            if name not in table.names:
                raise NameUnknown("column", name, table.names)
            if table[name].is_category:
                raise TableError(f"Column {name!r} is a category, and only numbers can be estimated. Leave it out.")
    return names


def as_text(head: Sequence[str], rows: Sequence[tuple[str | float, ...]]) -> str:
    """A table in plain text, figures with two decimals.

    >>> print(as_text(("column", "error"), [("age", 0.5)]))
    column  error
    age      0.50
    """
    texts = [[*head], *([one if isinstance(one, str) else f"{one:.2f}" for one in row] for row in rows)]
    widths = [max(len(row[at]) for row in texts) for at in range(len(head))]
    lines = (
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in texts
    )
    return "\n".join(lines)


def _root_mean_square(errors: Sequence[float]) -> float:
    return sqrt(sum(one**2 for one in errors) / max(len(errors), 1))
