"""The rows of a node: a class, a weight and a code of every attribute, and how they are divided among branches."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from leafcover.fast.arrays import MISSING, Codes, Floats, Rows
from leafcover.response.additive.blur import Blur
from leafcover.response.additive.gini import Split, counted
from leafcover.response.additive.placing import placed_by_reconstruction
from leafcover.response.additive.sharpen import Stop


@dataclass(frozen=True, eq=False)
class Coding:
    """What codes mean: an attribute is open, or reports in bins that a law has blurred."""

    sizes: tuple[int, ...]  # codes of every attribute
    cuts: tuple[Floats, ...]  # between the codes of a number; empty for a category
    is_number: tuple[bool, ...]
    blurs: tuple[Blur | None, ...]  # of noisy numbers
    classes: int


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows in a node; ``reports`` holds a noisy number as it was sent, until a test above has divided by it."""

    labels: Codes
    half: Codes  # of the reports that reconstruct together, to which a row belongs
    weights: Floats
    codes: tuple[Codes, ...]
    reports: tuple[Floats | None, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Rows, part: Floats | None = None) -> "Sample":
        """Some of the rows, perhaps with only a part of their weight."""
        return Sample(
            self.labels[rows],
            self.half[rows],
            self.weights[rows] if part is None else self.weights[rows] * part[rows],
            tuple(codes[rows] for codes in self.codes),
            tuple(None if reports is None else reports[rows] for reports in self.reports),
        )

    def tables(self, coding: Coding) -> list[Floats]:
        """Counts of classes at every code of every attribute."""
        return [
            counted(codes, self.labels, self.weights, (size, coding.classes))
            for codes, size in zip(self.codes, coding.sizes, strict=True)
        ]

    def counts(self, coding: Coding) -> Floats:
        """The weight of every class."""
        return np.bincount(self.labels, self.weights, minlength=coding.classes).astype(np.float64)


def placed_anew(
    sample: Sample,
    coding: Coding,
    stop: Stop,
    *,
    by_class: bool,
    least: float = 0.0,
    only: Collection[int] | None = None,
) -> Sample:
    """The rows with noisy numbers (all, or ``only`` some) placed by a reconstruction from these rows alone.

    A class of less weight than ``least`` stays where it was, and so does a number that a test above has divided by:
    its reports were chosen by their own noise, and no longer follow the law.
    """
    codes = [codes.copy() for codes in sample.codes]
    groups = sample.labels if by_class else np.zeros_like(sample.labels)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        half, weights = sample.half[rows], sample.weights[rows]
        if weights.sum() < least:
            continue
        for place, (reports, blur) in enumerate(zip(sample.reports, coding.blurs, strict=True)):
            if reports is not None and blur is not None and (only is None or place in only):
                codes[place][rows] = placed_by_reconstruction(reports[rows], half, weights, blur, stop)
    return replace(sample, codes=tuple(codes))


def divided(sample: Sample, split: Split, size: int) -> list[Sample]:
    """The rows of every branch; a row that lacks the tested value goes everywhere, by the shares of the others."""
    codes = sample.codes[split.attribute]
    lost = codes == MISSING
    branch = (codes > split.last).astype(np.int32) if split.is_number else codes
    branches = 2 if split.is_number else size
    held = np.bincount(branch[~lost], sample.weights[~lost], minlength=branches)
    shares = held / held.sum() if held.any() else np.full(branches, 1 / branches)
    reports = tuple(None if place == split.attribute else one for place, one in enumerate(sample.reports))
    parted = replace(sample, reports=reports)
    return [
        parted.take(np.flatnonzero((~lost & (branch == number)) | (lost & (share > 0))), np.where(lost, share, 1.0))
        for number, share in enumerate(shares)
    ]
