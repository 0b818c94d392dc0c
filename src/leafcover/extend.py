"""The interface for plugins: base classes and decorators of perturbations, partitions, recodings, recipes and measures.

See ``docs/how-to/plugins.md``.
"""

from leafcover.cells import Cells
from leafcover.metrics.pair import Pair
from leafcover.metrics.registry import measure
from leafcover.partition.base import Partition, PartitionMethod, partition
from leafcover.perturb.base import Changed, Chunk, Perturbation, perturbation
from leafcover.recipes.registry import recipe
from leafcover.recode.base import ColumnRecoding, Recoding, recoding
from leafcover.table.table import Column

__all__ = [
    "Cells",
    "Changed",
    "Chunk",
    "Column",
    "ColumnRecoding",
    "Pair",
    "Partition",
    "PartitionMethod",
    "Perturbation",
    "Recoding",
    "measure",
    "partition",
    "perturbation",
    "recipe",
    "recoding",
]
