"""Counts of a column's levels with each class, in many nodes: unbiased, and with the noise they carry.

A row counts in one cell of the reports of a node, so these cells are uncorrelated but for their sum, and the second
moment of each is the sum of squared weights. The counts of truths are a linear image of them, by the inverse laws.
"""

from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Bools, Floats


@dataclass(frozen=True, eq=False)
class Axis:
    """How one axis of a table of reports is read: by the inverse of its law where that is untested, else as it is."""

    inverse: Floats  # (truths, reports)
    alone: Bools  # (nodes,) where the law is still to be undone

    def spread(self, shares: Floats) -> Floats:
        """For each report Σ (w - p)² / p over truths, where w is what it counts for a truth of share p."""
        there = shares > 0
        over = np.divide(1.0, shares, out=np.zeros_like(shares), where=there)
        plain = np.where(there, over - 2, 0.0) + 1
        undone = over @ self.inverse**2 - 2 * (there @ self.inverse) + 1
        return np.where(self.alone[:, None], undone, plain)


@dataclass(frozen=True, eq=False)
class Tally:
    """One column in every node of a fringe."""

    counts: Floats  # (nodes, levels, classes) of truths; they may be negative
    squares: Floats  # (nodes, levels, classes) of reports: sums of squared weights
    own: Axis
    label: Axis
    together: bool  # one coin disguises the column and the class

    def sizes(self, rows: int) -> tuple[Floats, Floats]:
        """The rows of each branch (nodes, levels) and their standard errors, when ``rows`` were asked in all."""
        sizes, reported = self.counts.sum(axis=2), self.squares.sum(axis=2)
        second = np.where(self.own.alone[:, None], reported @ (self.own.inverse**2).T, reported)
        return sizes, np.sqrt(np.maximum(second - sizes**2 / rows, 0.0))

    def noise(self, shares: Floats, classes: Floats) -> Floats:
        """The expectation of Σ d² / (p q) where column and class have nothing to do with each other.

        d is the count of a cell less what its margins let expect, p and q are the shares of levels (nodes, levels) and
        of classes (nodes, classes). By row of the node it is (levels - 1)(classes - 1) without a disguise.
        """
        over, across = self.own.spread(shares), self.label.spread(classes)
        alike = over[:, :, None] * across[:, None, :]
        if self.together:
            straight, turned = self.own.inverse[0]
            # Two centred indicators of two levels have the product -1 under these weights, on both axes.
            crossed = (
                straight**2 * self._plain(shares, classes) + turned**2 * self._plain(shares, classes)[:, ::-1, ::-1]
            )
            alike = np.where(self.own.alone[:, None, None], crossed + 2 * straight * turned, alike)
        return (self.squares * alike).sum(axis=(1, 2))

    def _plain(self, shares: Floats, classes: Floats) -> Floats:
        nowhere = np.zeros(len(shares), np.bool_)
        over = Axis(self.own.inverse, nowhere).spread(shares)
        across = Axis(self.label.inverse, nowhere).spread(classes)
        return over[:, :, None] * across[:, None, :]


def undone(reports: Floats, own: Axis, label: Axis, *, together: bool) -> Floats:
    """Counts of truths from sums over reports (nodes, levels, classes)."""
    counts = reports.copy()
    if together:
        straight, turned = own.inverse[0]
        both = reports[own.alone]
        counts[own.alone] = straight * both + turned * both[:, ::-1, ::-1]
        return counts
    counts[own.alone] = own.inverse @ counts[own.alone]
    counts[label.alone] = counts[label.alone] @ label.inverse.T
    return counts
