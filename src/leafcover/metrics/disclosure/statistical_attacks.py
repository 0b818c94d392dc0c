"""Attacks on methods that keep statistics: regression, subtraction from exact means, and the presence of values.

- Regression, for GADP, its family and data shuffling: what released numbers add to the columns that are unchanged, as
  the share of a confidential number's variance that a linear regression explains (Sarathy and Muralidhar 2002 call what
  is left its security). λ is the same for the linear combination of confidential numbers that is explained best: the
  largest squared canonical correlation.
- Subtraction, for EGADP and IPSO: from exact means an attacker who knows all rows but one computes the last one.
- Presence, for shuffling and swapping: released values are true values, so an exact value that occurs in the release
  shows who is in the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import Bools, Floats
from leafcover.errors import TableError
from leafcover.metrics.estimates import Attack, wilson
from leafcover.table.column_rules import level_codes
from leafcover.table.table import Column, Table

NEGLIGIBLE = 1e-10  # a smaller share of the largest singular value counts as zero
RECOVERED = 1e-6  # of a standard deviation: the largest error of a number without a grid that is recovered


@dataclass(frozen=True)
class Explained:
    """The share of a confidential number's variance that regressions explain, adjusted for their columns."""

    column: str
    by_given: float  # by the columns that are unchanged
    by_release: float  # by these and by the released numbers


@dataclass(frozen=True)
class RegressionDisclosure:
    """What an attacker estimates of confidential numbers by linear regression."""

    columns: tuple[Explained, ...]
    canonical_given: float  # λ by the columns that are unchanged
    canonical_release: float  # λ by these and by the released numbers
    rows: int

    @property
    def gained(self) -> float:
        """The largest share of a column's variance that the released numbers add."""
        return max(one.by_release - one.by_given for one in self.columns)


def regression_disclosure(
    original: Table, released: Table, columns: Sequence[str], given: Sequence[str] = ()
) -> RegressionDisclosure:
    """Regress confidential numbers on columns that are unchanged, and on those and their released numbers.

    Parameters
    ----------
    original, released : Table
        Row i of the release belongs to row i of the original.
    columns : sequence of str
        The confidential numbers.
    given : sequence of str, optional
        The columns that are unchanged, of any kind.

    Returns
    -------
    RegressionDisclosure
        Adjusted shares of explained variance, over rows with all numbers known.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> found = regression_disclosure(table, table, ["wage"], ["education"])
    >>> [(round(one.by_given, 2), round(one.by_release, 2)) for one in found.columns]
    [(0.14, 1.0)]
    """
    if len(original) != len(released):
        raise TableError(
            f"The release has {len(released)} rows, the original {len(original)}. "
            "Give the original row of each released row."
        )
    known = _all_known([original[name] for name in (*columns, *_numbers(original, given))])
    known &= _all_known([released[name] for name in columns])
    secret = _standard(np.array([original[name].values[known] for name in columns]).T)
    public = _design([original[name] for name in given], known)
    shown = _standard(np.array([released[name].values[known] for name in columns]).T)
    alone, both = _directions(public), _directions(np.hstack([public, shown]))
    rows = int(known.sum())
    shares = [_explained(secret, one, rows) for one in (alone, both)]
    return RegressionDisclosure(
        tuple(Explained(name, *pair) for name, *pair in zip(columns, *shares, strict=True)),
        _canonical(secret, alone),
        _canonical(secret, both),
        rows,
    )


def _numbers(table: Table, names: Sequence[str]) -> list[str]:
    return [name for name in names if not table[name].is_category]


def _all_known(columns: Sequence[Column]) -> Bools:
    found: Bools = ~np.any([column.missing for column in columns], axis=0)
    return found


def _standard(numbers: Floats) -> Floats:
    """Columns of a matrix with mean 0 and length 1; constant ones become 0."""
    apart = numbers - numbers.mean(axis=0) if len(numbers) else numbers
    lengths = np.sqrt((apart**2).sum(axis=0))
    found: Floats = apart / np.where(lengths > 0, lengths, 1.0)
    return found


def _design(columns: Sequence[Column], rows: Bools) -> Floats:
    """Columns as numbers, a category as indicators of its levels."""
    parts = [np.zeros((int(rows.sum()), 0))]
    for column in columns:
        if column.is_category:
            parts.append(np.eye(len(column.levels) + 1)[level_codes(column, column)[rows]])
        else:
            parts.append(column.values[rows, None])
    return _standard(np.hstack(parts))


def _directions(columns: Floats) -> Floats:
    """Orthonormal directions of the columns of a matrix."""
    if not columns.size:
        return np.zeros((len(columns), 0))
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, sizes > NEGLIGIBLE * max(sizes[0], 1.0)]


def _explained(secret: Floats, by: Floats, rows: int) -> list[float]:
    """The adjusted shares of explained variance, at least 0."""
    shares = ((by.T @ secret) ** 2).sum(axis=0)
    free = max(rows - by.shape[1] - 1, 1)
    return [float(max(1 - (1 - share) * (rows - 1) / free, 0.0)) for share in shares]


def _canonical(secret: Floats, by: Floats) -> float:
    """The largest squared canonical correlation."""
    inside = _directions(secret)
    return float(np.linalg.svd(inside.T @ by, compute_uv=False)[0] ** 2) if inside.size and by.size else 0.0


@dataclass(frozen=True)
class Subtracted:
    """What subtraction recovers of one column."""

    column: str
    error: float  # of the last person's value, in standard deviations of the column
    recovered: bool  # the value is exact: on the column's grid, or to a millionth of a standard deviation


def subtraction(original: Table, released: Table, columns: Sequence[str]) -> tuple[Subtracted, ...]:
    """Compute the last person's values from the released means, for an attacker who knows all other rows.

    The attacker multiplies each released mean by the number of known values and subtracts those of the others. The
    error is the same whoever is last.

    Parameters
    ----------
    original, released : Table
        The tables; the order of rows does not matter.
    columns : sequence of str
        Numbers.

    Returns
    -------
    tuple of Subtracted

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> release = lc.release(table, lc.recipes.egadp(table, columns="wage"), seed=7)
    >>> subtraction(table, release.table, ["wage"])[0].recovered
    True
    """
    return tuple(_subtracted(original[name], released[name]) for name in columns)


def _subtracted(before: Column, after: Column) -> Subtracted:
    old, new = (one.values[~one.missing] for one in (before, after))
    if not len(old):
        return Subtracted(before.name, 0.0, False)
    middle = old.mean()
    error = abs(float((new - middle).sum() - (old - middle).sum()))
    spread = float(old.std()) or 1.0
    exact = error < before.grid.step / 2 if before.grid is not None else error < RECOVERED * spread
    return Subtracted(before.name, error / spread, bool(exact))


@dataclass(frozen=True)
class Presence:
    """How many people have a value that occurs in the release, in the table and outside it."""

    column: str
    attack: Attack


def value_presence(original: Table, released: Table, control: Table, columns: Sequence[str]) -> tuple[Presence, ...]:
    """Whether the exact value of a person occurs in the release: for people in the table, and for others.

    Parameters
    ----------
    original, released : Table
        The tables; the order of rows does not matter.
    control : Table
        People of the same population who are not in the table.
    columns : sequence of str
        Numbers.

    Returns
    -------
    tuple of Presence
        The worst first: where the share in the table exceeds that outside it most.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> inside, outside = table.take(np.arange(267)), table.take(np.arange(267, 534))
    >>> found = value_presence(inside, inside, outside, ["wage"])[0].attack
    >>> found.main.value, round(found.control.value, 2)
    (1.0, 0.59)
    """
    found = [Presence(name, _present(original[name], released[name], control[name])) for name in columns]
    return tuple(sorted(found, key=lambda one: -one.attack.main.value + getattr(one.attack.control, "value", 0.0)))


def _present(before: Column, after: Column, outside: Column) -> Attack:
    inside, shown, others = (one.values[~one.missing] for one in (before, after, outside))
    _, place, counts = np.unique(inside, return_inverse=True, return_counts=True)
    return Attack(
        main=wilson(float(np.isin(inside, shown).sum()), len(inside)),
        control=wilson(float(np.isin(others, shown).sum()), len(others)),
        baseline=wilson(float((counts[place.ravel()] > 1).sum()), len(inside)),  # another person has the value
    )
