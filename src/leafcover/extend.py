"""The interface for plugins: base classes and decorators of perturbations, partitions, recipes and measures.

See ``docs/how-to/plugins.md``.
"""

from leafcover.cells import Cells
from leafcover.metrics.pair import Pair
from leafcover.metrics.registry import measure
from leafcover.partition.base import Partition, PartitionMethod, partition
from leafcover.perturb.base import Changed, Chunk, Perturbation, perturbation
from leafcover.recipes.registry import recipe

__all__ = [
    "Cells",
    "Changed",
    "Chunk",
    "Pair",
    "Partition",
    "PartitionMethod",
    "Perturbation",
    "measure",
    "partition",
    "perturbation",
    "recipe",
]
