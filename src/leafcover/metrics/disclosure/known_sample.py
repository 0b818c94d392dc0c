"""Known-sample inversion: original numbers computed from released ones by an attacker who knows a few rows.

If all rows were changed by one affine function, such as a translation, scaling or rotation, the attacker fits its
inverse to the known rows by least squares and applies it to all others: Liu, Giannella and Kargupta (2006), "An
attacker's view of distance preserving maps for privacy preserving data mining".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.arrays import Bools, Floats, Rows
from leafcover.errors import TableError, ValueOutOfRange
from leafcover.metrics.disclosure.noise_filtering import as_text, paired_columns
from leafcover.metrics.pair import sample_rows
from leafcover.table.frames import from_frame
from leafcover.table.table import Column, IntoTable

Function: TypeAlias = Literal["translation", "scaling", "affine"]

EXACT = 1e-6  # of a standard deviation: nearer estimates of a number without a grid are right


@dataclass(frozen=True)
class RecoveredColumn:
    """What was computed of one column."""

    column: str
    released: float  # root mean square error of the released values, in standard deviations of the original
    error: float  # the same of the computed values
    right: float  # the share of values that are computed exactly, or to their step of the grid


@dataclass(frozen=True)
class KnownSample:
    """What an attacker computes who knows some rows; ``print`` shows it as a table.

    Attributes
    ----------
    columns : tuple of RecoveredColumn
        What was computed of each column.
    known : int
        The rows that the attacker knows.
    inversion : {"columns", "affine"}
        Whether each column was inverted by itself, or all together.
    rows : int
        The other rows, without a missing value.

    Examples
    --------
    >>> from leafcover.metrics.disclosure.known_sample import KnownSample, RecoveredColumn
    >>> KnownSample((RecoveredColumn("age", 1.2, 0.0, 1.0),), 2, "columns", 100).right
    1.0
    """

    columns: tuple[RecoveredColumn, ...]
    known: int
    inversion: Literal["columns", "affine"]
    rows: int

    @property
    def right(self) -> float:
        """The share of all values that are computed exactly."""
        return float(np.mean([one.right for one in self.columns]))

    def __str__(self) -> str:
        rows = [(one.column, one.released, one.error, one.right) for one in self.columns]
        return as_text(("column", "released", "error", "right"), rows)


def known_sample(
    original: IntoTable,
    released: IntoTable,
    *,
    known: int | Sequence[int],
    function: Function | None = None,
    columns: Sequence[str] | None = None,
) -> KnownSample:
    """Compute the numbers of all rows from some that the attacker knows, and compare them with the original.

    With more known rows than columns the attacker inverts any affine function; with fewer, a translation or scaling of
    each column by itself. One row is enough for an attacker who knows which of them it was.

    Parameters
    ----------
    original : Table or frame
        The original.
    released : Table or frame
        The release, with its rows in the order of the original: made with ``keep_order=True``.
    known : int or sequence of int
        How many rows the attacker knows, evenly spaced, or their numbers. Rows with a missing value are of no use.
    function : {"translation", "scaling", "affine"}, optional
        What the attacker knows of the function. Default: what fits the known rows.
    columns : sequence of str, optional
        The columns that were changed together. Default: every number that changed.

    Returns
    -------
    KnownSample

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine"))
    >>> release = lc.release(table, lc.recipes.translate(table), seed=7, keep_order=True)
    >>> lc.known_sample(table, release.table, known=2).right
    1.0
    """
    if function is not None and function not in get_args(Function):
        raise ValueOutOfRange("function", function, f"one of {', '.join(get_args(Function))}")
    before, after = from_frame(original), from_frame(released)
    names = paired_columns(before, after, columns)
    own, new = (np.column_stack([table[name].values for name in names]) for table in (before, after))
    whole = np.flatnonzero(~(np.isnan(own) | np.isnan(new)).any(axis=1))
    rows = _known(known, whole, len(before), 2 if function is None else 1)
    others = np.setdiff1d(whole, rows)
    if not len(others):
        raise TableError("All rows without a missing value are known, so nothing is left to compute. Know fewer.")
    scale = _scale(own)
    together = function == "affine" or (function is None and len(rows) > len(names))
    given = new[rows], own[rows], new[others]
    guess = _affine(*given) if together else _by_column(*given, None if function == "affine" else function)
    errors = np.sqrt((((guess - own[others]) / scale) ** 2).mean(axis=0))
    moved = np.sqrt((((new - own)[others] / scale) ** 2).mean(axis=0))
    right = [_right(before[name], own[others, at], guess[:, at], scale[at]).mean() for at, name in enumerate(names)]
    found = zip(names, moved.tolist(), errors.tolist(), map(float, right), strict=True)
    return KnownSample(
        tuple(RecoveredColumn(*one) for one in found), len(rows), "affine" if together else "columns", len(others)
    )


def _known(known: int | Sequence[int], whole: Rows, rows: int, least: int) -> Rows:
    """The known rows without missing values."""
    if isinstance(known, int):
        found = whole[sample_rows(len(whole), known)] if known > 0 else whole[:0]
    else:
        asked = np.unique(np.asarray(known, np.int64))
        if len(asked) and not 0 <= asked.min() <= asked.max() < rows:
            raise ValueOutOfRange("known", list(known), f"row numbers from 0 to {rows - 1}")
        found = np.intersect1d(asked, whole)
    if len(found) < least:
        raise ValueOutOfRange("known", known, f"at least {least} without a missing value")
    return found


def _affine(new: Floats, own: Floats, others: Floats) -> Floats:
    """Least squares of all original columns on all released ones."""
    centre, scale = new.mean(axis=0), _scale(new)
    mean = own.mean(axis=0)
    weights = np.linalg.lstsq((new - centre) / scale, own - mean, rcond=None)[0]
    found: Floats = (others - centre) / scale @ weights + mean
    return found


def _by_column(new: Floats, own: Floats, others: Floats, function: Function | None) -> Floats:
    """Each column by itself: the shift or the factor that explains the known rows better, unless it is known which."""
    shift = (own - new).mean(axis=0)
    square = (new**2).sum(axis=0)
    factor = np.divide((new * own).sum(axis=0), square, out=np.ones_like(square), where=square > 0)
    shifts = ((new + shift - own) ** 2).sum(axis=0) <= ((new * factor - own) ** 2).sum(axis=0)
    if function is not None:
        shifts = np.full(len(shift), function == "translation")
    return np.where(shifts, others + shift, others * factor)


def _scale(values: Floats) -> Floats:
    deviation = values.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def _right(column: Column, own: Floats, guess: Floats, scale: float) -> Bools:
    """Whether a value is computed to its step of the grid, or nearly exactly."""
    reach = EXACT * scale if column.grid is None else column.grid.step / 2
    return np.asarray(np.abs(guess - own) < reach)
