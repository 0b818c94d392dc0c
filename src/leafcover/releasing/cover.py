"""``cover``, our own recipe: cells refined for many columns, blocks of columns shuffled inside them."""

import os
from leafcover.errors import PlanError
from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.plan import Plan, Step
from leafcover.releasing.blocks import blocks as found_blocks
from leafcover.split.refine import Refine
from leafcover.split.trees import Leaves
from leafcover.table.table import Table


def cover(table: Table, *, target: str, k: int | None = None, blocks: str | None = None, refine: str | None = None, bins: int | None = None, mult: float = 2.0, order: str = "table", n: int = 99) -> Plan:
    """Cells of the target's tree refined for other columns, never below k rows; every block shuffled on its own."""
    k = k or (20 if len(table) >= 5000 else 10)
    by = [n for n in table.names if n != target]
    if order=="cat": by = [n for n in by if table[n].is_category] + [n for n in by if not table[n].is_category]
    if order=="expl":
        e=[]
        import numpy as np
        from leafcover.tree.bins import bin_columns
        from leafcover.tree.histogram import refine_labels
        from leafcover.tree.tree import Attribute
        from leafcover.split.refine import groups_of
        cells=Leaves(of=target, min_cell=k, bins=bins).cells(table).cells
        binned = bin_columns([Attribute(c.name, c.levels, not c.is_category) for c in table], [c.values for c in table])
        for m in by:
            codes,cl=groups_of(table[m])
            r=refine_labels(binned,codes,cl,cells.label,cells.count,floor=int(k*mult),testable=np.array([o!=m for o in table.names]))
            e.append((r.net_bits,r.explained,m))
        e.sort(reverse=True)
        by=[m for _,_,m in e][:n]
        #print([(m,round(a/len(table),3),round(b,3)) for a,b,m in e])
    within = Refine(Leaves(of=target, min_cell=k, bins=bins), by=tuple(by), floor=int(k*mult))
    cells=within.cells(table).cells
    bl=found_blocks(table,[n for n in table.names if n!=target],cells,k=k)
    return Plan(*(Step(n, within=within, noise=Shuffle(missing="moves")) for n in [*bl,(target,)]), recipe="cover", target=target)
