"""Decision trees from noisy numbers, as Agrawal and Srikant (2000) grow them.

``global`` reconstructs every noisy number once and places its reports into the bins; ``byclass`` does so within every
class; ``local`` does so within every class again in every node. Then a tree is grown from the bins, by Gini's
impurity with cuts between bins.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from leafcover.errors import NameUnknown, PlanError
from leafcover.fast.arrays import MISSING, Array, Codes, Floats
from leafcover.response.additive.blur import Blur, blur_of, check_possible
from leafcover.response.additive.nodes import Node, grown
from leafcover.response.additive.noisy import Noisy
from leafcover.response.additive.prune import pruned
from leafcover.response.additive.reconstruct import bins_for
from leafcover.response.additive.sample import Coding, Sample, placed_anew
from leafcover.response.additive.sharpen import Stop, halves
from leafcover.response.additive.ways import Rules, Way
from leafcover.table.table import Table
from leafcover.tree.assemble import assemble
from leafcover.tree.bins import bin_columns
from leafcover.tree.training import Training, training
from leafcover.tree.tree import Attribute, Tree

EVERY = 3  # row is held out to prune


def grow_reconstructed(
    table: Table,
    noisy: Mapping[str, Noisy],
    *,
    target: str,
    attributes: Sequence[str] | None = None,
    way: Way = "byclass",
    bins: int | None = None,
    min_records: int = 50,
    max_depth: int = 20,
    prune: bool = True,
    stop: Stop = "change",
) -> Tree:
    """The tree that predicts ``target`` from reports; it is asked with plain numbers, without noise.

    Columns that are not named in ``noisy`` are open, and so is the target. Both sides of every cut hold
    ``min_records`` rows. With ``prune`` every third row is held out from growing, and subtrees that err no less on
    these rows than a leaf would become leaves; afterwards they count in the nodes with all others.
    """
    rules = Rules(way, min_records, max_depth, stop)
    rows = training(table, target, attributes=attributes)
    coding, sample = coded(rows, noisy, bins)
    numbers = np.arange(len(sample))
    held = numbers % EVERY == EVERY - 1 if prune else np.zeros(len(sample), np.bool_)
    growing, apart = (
        placed_anew(sample.take(numbers[part]), coding, stop, by_class=way != "global") for part in (~held, held)
    )
    nodes = grown(growing, apart, coding, rules)
    return _assembled(rows, coding, pruned(nodes) if prune else nodes)


def coded(rows: Training, noisy: Mapping[str, Noisy], bins: int | None = None) -> tuple[Coding, Sample]:
    """Open columns as codes, and noisy ones with the law of their bins, not yet placed into them."""
    names = [attribute.name for attribute in rows.attributes]
    for name in noisy:
        if name not in names:
            raise NameUnknown("column", name, names)
    columns = [
        _noisy_column(attribute, column, noisy[attribute.name], bins)
        if attribute.name in noisy
        else _open_column(attribute, column)
        for attribute, column in zip(rows.attributes, rows.columns, strict=True)
    ]
    coding = Coding(
        sizes=tuple(column.size for column in columns),
        cuts=tuple(column.cuts for column in columns),
        is_number=tuple(attribute.is_number for attribute in rows.attributes),
        blurs=tuple(column.blur for column in columns),
        classes=len(rows.classes),
    )
    count = len(rows.labels)
    codes, reports = tuple(column.codes for column in columns), tuple(column.reports for column in columns)
    return coding, Sample(rows.labels, halves(count), np.ones(count), codes, reports)


class _Column(NamedTuple):
    codes: Codes
    size: int
    cuts: Floats
    blur: Blur | None = None
    reports: Floats | None = None


def _open_column(attribute: Attribute, column: Array) -> _Column:
    binned = bin_columns([attribute], [column])
    return _Column(binned.codes[:, 0].astype(np.int32) - 1, int(binned.sizes[0]) - 1, binned.edges[0][:-1])


def _noisy_column(attribute: Attribute, column: Array, noisy: Noisy, bins: int | None) -> _Column:
    if not attribute.is_number:
        raise PlanError(f"Column {attribute.name!r} is a category, so no noise was added to it. Leave it out.")
    check_possible(f"column {attribute.name!r}", noisy, column)
    edges = noisy.edges(bins_for(len(column)) if bins is None else bins)
    nowhere = np.full(len(column), MISSING, np.int32)
    return _Column(nowhere, len(edges) - 1, edges[1:-1], blur_of(noisy, edges), column)


def _assembled(rows: Training, coding: Coding, nodes: Sequence[Node]) -> Tree:
    tested = [-1 if node.split is None else node.split.attribute for node in nodes]
    cut = [
        coding.cuts[node.split.attribute][node.split.last] if node.split and node.split.is_number else np.nan
        for node in nodes
    ]
    return assemble(
        rows,
        tested=np.array(tested),
        cut=np.array(cut),
        first=np.array([node.first for node in nodes]),
        branches=np.array([node.branches for node in nodes]),
        counts=np.array([node.counts + node.held for node in nodes]),
        label=np.array([node.label for node in nodes]),
    )
