"""The good attributes of some rows: the tests that SysFor puts at the root of a tree, one after the other.

A number may be good at several cuts, if they stand far enough apart. A test is good when its gain ratio falls short of
the best one by at most ``goodness``, an absolute difference (Islam and Giggins 2011).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import MISSING, Array, Floats, Rows
from leafcover.tree.grow import singles
from leafcover.tree.training import Training

_DIGITS = 12  # of a ratio: ratios that are equal on paper are equal here, whatever the order of their sums


@dataclass(frozen=True)
class Good:
    """A test that is good at the root: an attribute, and the middle of the gap in which a number is cut."""

    attribute: int
    middle: float  # nan for a category
    ratio: float


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the training rows; one that lacks the value tested above stands in several parts by its weight."""

    rows: Rows
    weight: Floats  # (rows,) above 0, at most 1


@dataclass(frozen=True)
class Search:
    """What makes a test good."""

    goodness: float = 0.3
    separation: float = 0.3
    min_records: int = 10


def good_attributes(training: Training, part: Part, spans: Floats, search: Search) -> tuple[Good, ...]:
    """The good tests of a part, best first; of equal ones the earlier attribute, of its cuts the lower.

    A cut leaves ``min_records`` on both sides, and two levels of a category hold as many. ``spans`` are the ranges of
    numbers in the whole table: cuts stand further apart than ``separation`` of them. Rows of one class have no good
    test. A row without the value lowers the gain by its weight and is one more part of the split information, as in
    C4.5.
    """
    labels = training.labels[part.rows]
    too_few = part.weight.sum() < 2 * search.min_records - 0.5  # a quick look: a category may have very many branches
    if too_few or (labels == labels[0]).all():
        return ()
    pool: list[Good] = []
    for number, attribute in enumerate(training.attributes):
        values = training.columns[number][part.rows]
        if attribute.is_number:
            cuts = _cuts(values, labels, part.weight, len(training.classes), search.min_records)
            pool += _separate(number, *cuts, spans[number], search)
        else:
            pool += _category(number, values, labels, part.weight, training, search.min_records)
    pool.sort(key=lambda good: -good.ratio)
    return tuple(good for good in pool if pool[0].ratio - good.ratio <= search.goodness)


def spans_of(training: Training) -> Floats:
    """The range of each number in 32 bits, as trees read it; 0 for categories and columns without values."""
    spans = np.zeros(len(training.attributes))
    for number, attribute in enumerate(training.attributes):
        if attribute.is_number:
            values = singles(training.columns[number]).astype(np.float64)
            known = values[~np.isnan(values)]
            spans[number] = np.ptp(known) if len(known) else 0.0
    return spans


def parts_of(training: Training, part: Part, good: Good) -> Iterator[Part]:
    """The rows of each branch of a test; those without the value go to every branch with rows, by its share."""
    values = training.columns[good.attribute][part.rows]
    attribute = training.attributes[good.attribute]
    if attribute.is_number:
        value = singles(values).astype(np.float64)
        branch, forks = np.where(np.isnan(value), MISSING, value > good.middle).astype(np.int64), 2
    else:
        branch, forks = values.astype(np.int64), len(attribute.levels)
    order = np.argsort(branch, kind="stable")
    ends = np.searchsorted(branch[order], np.arange(MISSING, forks), side="right")
    unknown = order[: ends[0]]
    total = part.weight[order[ends[0] :]].sum()
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        known = order[begin:end]
        share = part.weight[known].sum() / total
        shared = unknown if share > 0 else unknown[:0]
        both = np.concatenate([known, shared])
        yield Part(part.rows[both], np.concatenate([part.weight[known], part.weight[shared] * share]))


def _cuts(values: Array, labels: Array, weight: Floats, classes: int, least: int) -> tuple[Floats, Floats]:
    from leafcover.fast.good import cut_ratios
    from leafcover.fast.order import stable_order

    single = singles(values)
    order = stable_order(single)
    middles, ratios = cut_ratios(single[order], labels[order], weight[order], classes, float(least))
    return middles, _rounded(ratios)


def _rounded(ratios: Floats) -> Floats:
    rounded: Floats = np.maximum(np.round(ratios, _DIGITS), 0.0)
    return rounded


def _separate(number: int, middles: Floats, ratios: Floats, span: float, search: Search) -> Iterator[Good]:
    """The best cut, the best of those far enough from it, and so on while they are good."""
    best = ratios.max(initial=0.0)
    while len(ratios):
        taken = int(ratios.argmax())
        if best - ratios[taken] > search.goodness:
            return
        yield Good(number, float(middles[taken]), float(ratios[taken]))
        left = np.abs(middles - middles[taken]) / span > search.separation
        middles, ratios = middles[left], ratios[left]


def _category(
    number: int, codes: Array, labels: Array, weight: Floats, training: Training, least: int
) -> Iterator[Good]:
    from leafcover.fast.good import level_ratio

    levels, classes = len(training.attributes[number].levels), len(training.classes)
    line = np.where(codes == MISSING, levels, codes).astype(np.int64)
    counts: Array = np.bincount(line * classes + labels, weight, (levels + 1) * classes)
    ratio = level_ratio(counts.reshape(levels + 1, classes), float(least))
    if ratio >= 0:
        yield Good(number, np.nan, float(_rounded(np.array([ratio]))[0]))
