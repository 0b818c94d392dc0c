"""Correct attribution probability (CAP), and reconstruction of original values from a person's released row.

CAP of Elliot (2014) and Taub and others (2018): of the released rows with the same quasi-identifiers as a person (the
key, in their words), the share with the person's own target value. People whose key is not in the release are left out
and counted. The targeted form of Taub and Elliot (2019) uses only keys for which the release is certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import Bools, Floats, Rows
from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.metrics.disclosure.attribute_inference import (
    TOLERANCE,
    best_guess,
    forest_guesses,
    labels_of,
    reach_of,
    right,
)
from leafcover.metrics.estimates import Attack, Risk, risk_of, wilson
from leafcover.metrics.pair import SEED, Pair, sample_rows
from leafcover.table.table import Column, Table

KEYS = 4
BINS = 10  # with equally many original values, for a number
SURE = 1.0  # the share of a key's most common target value from which the release counts as certain


@dataclass(frozen=True)
class Attribution:
    """Correct attribution. Every row is used; people without a target value are left out."""

    target: str
    keys: tuple[str, ...]
    attack: Attack  # people whose key is in the release; the baseline knows only the frequencies of target values
    ceiling: Risk  # the same with the original in place of the release
    undefined: Risk  # people whose key is not in the release
    targeted: Risk  # people for whose key the release is certain: how often it is right
    rows: int  # people attacked


@dataclass(frozen=True, eq=False)
class _Keyed:
    """Keys and targets of one table as numbers, the same in all tables of a pair; 0 is a missing target."""

    key: Rows
    target: Rows
    both: Rows  # key and target together


def attribution(
    pair: Pair,
    *,
    target: str | None = None,
    keys: Sequence[str] | None = None,
    bins: int = BINS,
    sure: float = SURE,
) -> Attribution:
    """Attack the first sensitive attribute, or the target, by the columns named or those of `few_keys`."""
    if bins < 2:
        raise ValueOutOfRange("bins", bins, "a whole number of at least 2")
    aim = _aim(pair) if target is None else target
    names = few_keys(pair, aim) if keys is None else tuple(keys)
    for name in (aim, *names):
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    original, released, *control = _keyed(pair, names, aim, bins)
    shares, met = _shares(original, released)
    sure_of = _surest(released, original.key)[original.target > 0] >= sure
    return Attribution(
        aim,
        names,
        Attack(
            risk_of(shares[met]),
            risk_of(_met_shares(control[0], released)) if control else None,
            risk_of(_common(original, released)),
        ),
        risk_of(_met_shares(original, original)),
        wilson(float((~met).sum()), len(met)),
        risk_of(shares[met & sure_of]),
        len(met),
    )


def few_keys(pair: Pair, target: str, count: int = KEYS) -> tuple[str, ...]:
    """The categorical quasi-identifiers with most levels, then the numeric ones with most values; ties by name."""
    columns = [pair.original[name] for name in pair.quasi_identifiers if name not in (target, pair.weight)]
    ranked = sorted(columns, key=lambda c: (not c.is_category, -len(np.unique(c.values[~c.missing])), c.name))
    return tuple(c.name for c in ranked[:count])


def _aim(pair: Pair) -> str:
    if pair.sensitive:
        return pair.sensitive[0]
    return pair.target or pair.names[-1]


def _shares(people: _Keyed, table: _Keyed) -> tuple[Floats, Bools]:
    """For people with a target value: the share of the rows with their key that have it, and whether there are any."""
    known = people.target > 0
    size = _counts(table.key, people.key)[known]
    return _counts(table.both, people.both)[known] / np.maximum(size, 1), size > 0


def _met_shares(people: _Keyed, table: _Keyed) -> Floats:
    shares, met = _shares(people, table)
    return shares[met]


def _common(people: _Keyed, table: _Keyed) -> Floats:
    """For people with a target value: the share of all rows that have it."""
    return (_counts(table.target, people.target) / max(1, len(table.target)))[people.target > 0]


def _surest(table: _Keyed, keys: Rows) -> Floats:
    """For each key the largest share of one target value among its rows; 0 if it has no rows."""
    most = np.zeros(max(table.key.max(initial=0), keys.max(initial=0)) + 1)
    known = table.target > 0
    np.maximum.at(most, table.key[known], _counts(table.both, table.both)[known])
    return most[keys] / np.maximum(_counts(table.key, keys), 1)


def _counts(numbers: Rows, asked: Rows) -> Floats:
    """How often each of some numbers occurs."""
    length = max(numbers.max(initial=0), asked.max(initial=0)) + 1
    return np.bincount(numbers, minlength=length)[asked].astype(np.float64)


def _keyed(pair: Pair, keys: Sequence[str], target: str, bins: int) -> list[_Keyed]:
    """Original, release and control, if there is one, with keys and target values as numbers."""
    tables = [pair.original, pair.released, *([] if pair.control is None else [pair.control])]
    ends = np.cumsum([len(table) for table in tables])
    key = np.zeros(ends[-1], np.int64)
    for name in keys:
        key = _joined(key, _numbers(pair.original[name], tables, bins))
    aim = _numbers(pair.original[target], tables, bins)
    both = _joined(key, aim)
    parts = [np.split(numbers, ends[:-1]) for numbers in (key, aim, both)]
    return [_Keyed(*part) for part in zip(*parts, strict=True)]


def _numbers(original: Column, tables: Sequence[Table], bins: int) -> Rows:
    """A column of all tables as numbers: levels, or bins with equally many original values; 0 where missing."""
    values = np.concatenate([table[original.name].values for table in tables])
    missing = np.concatenate([table[original.name].missing for table in tables])
    if not original.is_category:
        known = original.values[~original.missing]
        inner = np.arange(1, bins) / bins
        edges = np.unique(np.quantile(known, inner, method="inverted_cdf")) if len(known) else known
        values = np.searchsorted(edges, values)
    return np.where(missing, 0, values.astype(np.int64) + 1)


def _joined(one: Rows, other: Rows) -> Rows:
    """A number for each pair of numbers."""
    together: Rows = np.unique(one * (other.max(initial=0) + 1) + other, return_inverse=True)[1]
    return together


# Reconstruction: how well an original value is recovered from the whole released row of the same person.
#
# The attacker has seen the original values of half of the people with their released rows, and attacks the other half:
# by a random forest, and by a lookup table of the most common original value of each released value, which keeps every
# level however many there are. Two attackers serve for comparison: one takes the released value as it is, and one knows
# only the frequencies of original values.


MOST = 12_000  # people, half to learn from and half to attack


@dataclass(frozen=True)
class Reconstructed:
    """One column. People without a value there are not attacked; a control is impossible without a released row."""

    column: str
    attack: Attack  # by a random forest; the baseline is the best single answer for everybody
    looked_up: Risk  # by the most common original value of the same released value
    as_released: Risk  # the released value taken as the answer
    tolerance: float  # for a number, the error allowed, as a share of the middle range; 0 for a category

    @property
    def best(self) -> Risk:
        """The best of the three answers: by the forest, by the lookup table, and the released value itself."""
        return max(self.attack.main, self.looked_up, self.as_released, key=lambda risk: risk.value)


@dataclass(frozen=True)
class ReconstructionAttack:
    """Reconstruction of every column that was attacked."""

    columns: tuple[Reconstructed, ...]
    rows: int  # people learned from and attacked
    of: int

    @property
    def most_told(self) -> Reconstructed | None:
        """The column recovered furthest above guessing; None if no column was attacked."""
        return max(self.columns, key=lambda c: c.best.value - c.attack.baseline.value, default=None)


def reconstruction(
    pair: Pair, *, columns: Sequence[str] | None = None, tolerance: float = TOLERANCE, most: int = MOST
) -> ReconstructionAttack | None:
    """Attack the columns named, or all but the weight; None without pairs."""
    if not pair.paired:
        return None
    names = tuple(name for name in pair.names if name != pair.weight) if columns is None else tuple(columns)
    for name in names:
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    rows = sample_rows(len(pair.original), most)
    seen = np.random.default_rng(SEED).permutation(len(rows)) < len(rows) // 2
    halves = rows[seen], rows[~seen]
    return ReconstructionAttack(
        tuple(_of(pair, name, *halves, tolerance) for name in names), len(rows), len(pair.original)
    )


def _of(pair: Pair, name: str, seen: Rows, asked: Rows, tolerance: float) -> Reconstructed:
    original = pair.original[name]
    reach, labels = reach_of(original, tolerance), labels_of(original)
    asked = asked[~np.isnan(labels[asked])]
    wanted = labels[asked]
    (answers,) = forest_guesses(
        pair.released.take(seen),
        labels[seen],
        [pair.released.take(asked)],
        is_category=original.is_category,
        reach=reach,
    )
    guess = best_guess(labels[seen], reach)
    shown = labels_of(pair.released[name])
    listed = _looked_up(shown[seen], labels[seen], shown[asked], guess)
    return Reconstructed(
        name,
        Attack(risk_of(right(answers, wanted, reach)), None, risk_of(right(guess, wanted, reach))),
        risk_of(right(listed, wanted, reach)),
        risk_of(right(shown[asked], wanted, reach)),
        0.0 if original.is_category else tolerance,
    )


def _looked_up(shown: Floats, labels: Floats, asked: Floats, guess: float) -> Floats:
    """For each value the label most often seen with it (the lowest of equals), or the guess.

    >>> _looked_up(np.array([5.0, 5.0, 5.0, 6.0]), np.array([1.0, 2.0, 2.0, 9.0]), np.array([5.0, 6.0, 7.0]), 0.0)
    array([2., 9., 0.])
    """
    known = ~np.isnan(labels)
    if not known.any():
        return np.full(len(asked), guess)
    values, code = np.unique(shown[known], return_inverse=True)  # nan equals nan here
    answers, answer = np.unique(labels[known], return_inverse=True)
    both, count = np.unique(code.ravel() * len(answers) + answer.ravel(), return_counts=True)
    order = np.lexsort((-both, count))  # the most common is written last, of equals the lowest
    mostly = np.empty(len(values))
    mostly[both[order] // len(answers)] = answers[both[order] % len(answers)]
    place = np.minimum(np.searchsorted(values, asked), len(values) - 1)
    same = (values[place] == asked) | (np.isnan(values[place]) & np.isnan(asked))
    return np.where(same, mostly[place], guess)
