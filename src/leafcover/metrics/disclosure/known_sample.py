"""Known-sample inversion: original numbers computed from released ones by an attacker who knows some, or a sample.

If all rows were changed by one affine function, such as a translation, scaling or rotation, the attacker fits its
inverse to the known rows by least squares and applies it to all others. An attacker who knows nobody, but has a sample
of the same population, matches the moments of the release with those of the sample. Both are in Liu, Giannella and
Kargupta (2006), "An attacker's view of distance preserving maps for privacy preserving data mining".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from leafcover.arrays import Bools, Floats, Rows
from leafcover.errors import NameUnknown, TableError, ValueOutOfRange
from leafcover.metrics.disclosure.noise_filtering import as_text, paired_columns
from leafcover.metrics.pair import sample_rows
from leafcover.registry import checked, checks_arguments
from leafcover.table.frames import from_frame
from leafcover.table.table import Column, IntoTable

Function: TypeAlias = Literal["translation", "scaling", "rotation", "affine"]
Inversion: TypeAlias = Function | Literal["columns"]

CLEAR = 3.0  # standard errors by which a mean differs from 0
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
    inversion : {"translation", "scaling", "rotation", "affine", "columns"}
        The function that was inverted; "columns" is a translation or scaling of each by itself, whichever fits.
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
    inversion: Inversion
    rows: int

    @property
    def right(self) -> float:
        """The share of all values that are computed exactly."""
        return float(np.mean([one.right for one in self.columns]))

    def __str__(self) -> str:
        rows = [(one.column, one.released, one.error, one.right) for one in self.columns]
        return as_text(("column", "released", "error", "right"), rows)


@checks_arguments()
def known_sample(
    original: IntoTable,
    released: IntoTable,
    *,
    known: int | Sequence[int] | None = None,
    sample: IntoTable | None = None,
    function: Function | None = None,
    columns: Sequence[str] | None = None,
) -> KnownSample:
    """Compute the numbers of all rows from what the attacker knows, and compare them with the original.

    The attacker knows some rows, or nobody in the table but a sample of the same population. With more known rows than
    columns any affine function is inverted; with fewer, a translation or scaling of each column by itself. One row is
    enough for an attacker who knows which of them it was. By a sample the function is estimated from means, standard
    deviations and, of a rotation, the principal components.

    Parameters
    ----------
    original : Table or frame
        The original.
    released : Table or frame
        The release, with its rows in the order of the original: made with ``keep_order=True``.
    known : int or sequence of int, optional
        How many rows the attacker knows, evenly spaced, or their numbers. Rows with a missing value are of no use.
    sample : Table or frame, optional
        Other rows of the same population, in place of known rows.
    function : {"translation", "scaling", "rotation", "affine"}, optional
        What the attacker knows of the function. Default: what fits the known rows. With a sample it is needed, and
        cannot be "affine".
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
    if (known is None) == (sample is None):
        raise TableError("The attacker knows rows or has a sample of the population. Give one of the two.")
    before, after = from_frame(original), from_frame(released)
    names = paired_columns(before, after, columns)
    own, new = (np.column_stack([table[name].values for name in names]) for table in (before, after))
    whole = np.flatnonzero(~(np.isnan(own) | np.isnan(new)).any(axis=1))
    if sample is None:
        assert known is not None
        rows = _known(known, whole, len(before), 2 if function is None else 1)
        others = np.setdiff1d(whole, rows)
        if not len(others):
            raise TableError("All rows without a missing value are known, so nothing is left to compute. Know fewer.")
        used = function or ("affine" if len(rows) > len(names) else None)
        guess = INVERSIONS[used](new[rows], own[rows], new[others])
        inversion: Inversion = used or "columns"
    else:
        rows, others = whole[:0], whole
        if function is None or function == "affine":
            raise ValueOutOfRange("function", function, "translation, scaling or rotation, by which a sample is of use")
        guess = _by_sample(new[others], _values_of(sample, names), function)
        inversion = function
    scale = _scale(own)
    errors = np.sqrt((((guess - own[others]) / scale) ** 2).mean(axis=0))
    moved = np.sqrt((((new - own)[others] / scale) ** 2).mean(axis=0))
    right = [_right(before[name], own[others, at], guess[:, at], scale[at]).mean() for at, name in enumerate(names)]
    found = zip(names, moved.tolist(), errors.tolist(), map(float, right), strict=True)
    return KnownSample(tuple(RecoveredColumn(*one) for one in found), len(rows), inversion, len(others))


def _known(known: int | Sequence[int], whole: Rows, rows: int, least: int) -> Rows:
    """The known rows without missing values."""
    known = checked("known", int | list[int], known)
    if isinstance(known, int):
        found = whole[sample_rows(len(whole), known)] if known > 0 else whole[:0]
    else:
        asked = np.unique(np.asarray(list(known), np.int64))
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


def _rotation(new: Floats, own: Floats, others: Floats) -> Floats:
    """The rotation about zero that explains the known rows best (orthogonal Procrustes)."""
    left, _, right = np.linalg.svd(new.T @ own)
    found: Floats = others @ (left @ right)
    return found


def _translation(new: Floats, own: Floats, others: Floats) -> Floats:
    return others + (own - new).mean(axis=0)


def _scaling(new: Floats, own: Floats, others: Floats) -> Floats:
    square = (new**2).sum(axis=0)
    return others * np.divide((new * own).sum(axis=0), square, out=np.ones_like(square), where=square > 0)


def _by_column(new: Floats, own: Floats, others: Floats) -> Floats:
    """Each column by itself: the shift or the factor that explains the known rows better."""
    shift, factor = (((invert(new, own, new) - own) ** 2).sum(axis=0) for invert in (_translation, _scaling))
    return np.where(shift <= factor, _translation(new, own, others), _scaling(new, own, others))


INVERSIONS = {
    None: _by_column,
    "translation": _translation,
    "scaling": _scaling,
    "rotation": _rotation,
    "affine": _affine,
}


def _by_sample(new: Floats, sample: Floats, function: Function) -> Floats:
    """The inverse that gives released rows the moments of a sample."""
    if function == "translation":
        return new + sample.mean(axis=0) - new.mean(axis=0)
    if function == "scaling":
        found: Floats = new * (sample.std(axis=0) / _scale(new))
        return found
    ours, theirs = (
        np.linalg.eigh(np.cov(values, rowvar=False).reshape(len(values[0]), -1))[1] for values in (new, sample)
    )
    # The means, which are rotated too, tell which way a component points; where they are near zero, the skewness.
    means = [values.mean(axis=0) @ axes for values, axes in ((new, ours), (sample, theirs))]
    skewed = [_third(values @ axes) for values, axes in ((new, ours), (sample, theirs))]
    size = (sample @ theirs).std(axis=0) / np.sqrt(len(sample))
    signs = np.where(np.abs(means[1]) > CLEAR * size, np.sign(means[0] * means[1]), np.sign(skewed[0] * skewed[1]))
    turned: Floats = new @ (ours * signs) @ theirs.T
    return turned


def _third(values: Floats) -> Floats:
    centred = (values - values.mean(axis=0)) / _scale(values)
    found: Floats = (centred**3).mean(axis=0)
    return found


def _values_of(sample: IntoTable, names: Sequence[str]) -> Floats:
    """The rows of a sample without a missing value."""
    table = from_frame(sample)
    if unknown := [name for name in names if name not in table.names]:
        raise NameUnknown("column", unknown[0], table.names, "in the sample")
    if wrong := [name for name in names if table[name].is_category]:
        raise TableError(f"Column {wrong[0]!r} of the sample is a category, and only numbers can be estimated.")
    values = np.column_stack([table[name].values for name in names])
    found: Floats = values[~np.isnan(values).any(axis=1)]
    if len(found) <= len(names):
        raise TableError(f"The sample has {len(found)} rows without a missing value. It needs more than {len(names)}.")
    return found


def _scale(values: Floats) -> Floats:
    deviation = values.std(axis=0)
    return np.where(deviation > 0, deviation, 1.0)


def _right(column: Column, own: Floats, guess: Floats, scale: float) -> Bools:
    """Whether a value is computed to its step of the grid, or nearly exactly."""
    reach = EXACT * scale if column.grid is None else column.grid.step / 2
    return np.asarray(np.abs(guess - own) < reach)
