"""Decision trees from noisy numbers, as Agrawal and Srikant (2000) grow them.

``global`` reconstructs every noisy number once and places its reports into the bins; ``byclass`` does so within every
class; ``local`` does so within every class again in every node. Then a tree is grown from the bins, by Gini's
impurity with cuts between bins.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from leafcover.errors import NameUnknown, PlanError
from leafcover.fast.arrays import Floats
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
from leafcover.tree.tree import Tree

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
    open_codes = bin_columns(rows.attributes, rows.columns)
    codes, sizes, cuts = [], [], []
    blurs: list[Blur | None] = []
    reports: list[Floats | None] = []
    for place, (attribute, column) in enumerate(zip(rows.attributes, rows.columns, strict=True)):
        one = noisy.get(attribute.name)
        codes.append(open_codes.codes[:, place].astype(np.int32) - 1)
        if one is None:
            sizes.append(int(open_codes.sizes[place]) - 1)
            cuts.append(open_codes.edges[place][:-1])
            blurs.append(None)
            reports.append(None)
            continue
        if not attribute.is_number:
            raise PlanError(f"Column {attribute.name!r} is a category, so no noise was added to it. Leave it out.")
        check_possible(f"column {attribute.name!r}", one, column)
        edges = one.edges(bins_for(len(column)) if bins is None else bins)
        sizes.append(len(edges) - 1)
        cuts.append(edges[1:-1])
        blurs.append(blur_of(one, edges))
        reports.append(column)
    is_number = tuple(attribute.is_number for attribute in rows.attributes)
    coding = Coding(tuple(sizes), tuple(cuts), is_number, tuple(blurs), len(rows.classes))
    count = len(rows.labels)
    return coding, Sample(rows.labels, halves(count), np.ones(count), tuple(codes), tuple(reports))


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
