"""Leafcover: release a table so that its patterns survive and its people are hard to find.

Read a table, write a plan (or let a recipe write it), release, measure:

    import leafcover as lc

    table = lc.read("adult.csv")
    plan = lc.recipes.cover(table, target="income")
    release = lc.release(table, plan)
    print(lc.measure(table, release))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from leafcover.draws import Key
    from leafcover.errors import LeafcoverError
    from leafcover.measuring.measures import Measures
    from leafcover.noise.additive import Additive
    from leafcover.noise.bounded import Bounded
    from leafcover.noise.centroid import Centroid
    from leafcover.noise.multiplicative import Multiplicative
    from leafcover.noise.redraw import Redraw
    from leafcover.noise.shuffle import Shuffle
    from leafcover.releasing import recipes
    from leafcover.releasing.api import Released, measure, read, release
    from leafcover.releasing.plan import Plan, Step
    from leafcover.releasing.planfile import from_toml as read_plan
    from leafcover.releasing.planfile import to_toml as plan_text
    from leafcover.split.forest import Forest
    from leafcover.split.groups import InOrder, Mdav, VariableMdav
    from leafcover.split.halves import Halves
    from leafcover.split.kd import Kd
    from leafcover.split.kmeans import KMeans
    from leafcover.split.refine import Refine
    from leafcover.split.strata import Strata
    from leafcover.split.trees import Leaves, Whole
    from leafcover.sweeping.sweep import sweep
    from leafcover.table.files import write
    from leafcover.table.frames import from_frame
    from leafcover.table.samples import sample
    from leafcover.table.table import Table
    from leafcover.tree.grow import grow

# Where each public name lives; loaded when first asked for, so that `leafcover --help` starts at once.
_HOMES = {
    "Additive": "leafcover.noise.additive",
    "Bounded": "leafcover.noise.bounded",
    "Centroid": "leafcover.noise.centroid",
    "Forest": "leafcover.split.forest",
    "Halves": "leafcover.split.halves",
    "InOrder": "leafcover.split.groups",
    "KMeans": "leafcover.split.kmeans",
    "Kd": "leafcover.split.kd",
    "Key": "leafcover.draws",
    "LeafcoverError": "leafcover.errors",
    "Leaves": "leafcover.split.trees",
    "Mdav": "leafcover.split.groups",
    "Measures": "leafcover.measuring.measures",
    "Multiplicative": "leafcover.noise.multiplicative",
    "Plan": "leafcover.releasing.plan",
    "Redraw": "leafcover.noise.redraw",
    "Refine": "leafcover.split.refine",
    "Released": "leafcover.releasing.api",
    "Shuffle": "leafcover.noise.shuffle",
    "Step": "leafcover.releasing.plan",
    "Strata": "leafcover.split.strata",
    "Table": "leafcover.table.table",
    "VariableMdav": "leafcover.split.groups",
    "Whole": "leafcover.split.trees",
    "from_frame": "leafcover.table.frames",
    "grow": "leafcover.tree.grow",
    "measure": "leafcover.releasing.api",
    "plan_text": "leafcover.releasing.planfile:to_toml",
    "read": "leafcover.releasing.api",
    "read_plan": "leafcover.releasing.planfile:from_toml",
    "recipes": "leafcover.releasing.recipes:",
    "release": "leafcover.releasing.api",
    "sample": "leafcover.table.samples",
    "sweep": "leafcover.sweeping.sweep",
    "write": "leafcover.table.files",
}

__all__ = [
    "Additive",
    "Bounded",
    "Centroid",
    "Forest",
    "Halves",
    "InOrder",
    "KMeans",
    "Kd",
    "Key",
    "LeafcoverError",
    "Leaves",
    "Mdav",
    "Measures",
    "Multiplicative",
    "Plan",
    "Redraw",
    "Refine",
    "Released",
    "Shuffle",
    "Step",
    "Strata",
    "Table",
    "VariableMdav",
    "Whole",
    "from_frame",
    "grow",
    "measure",
    "plan_text",
    "read",
    "read_plan",
    "recipes",
    "release",
    "sample",
    "sweep",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'leafcover' has no attribute {name!r}")
    home, colon, attribute = _HOMES[name].partition(":")
    module = import_module(home)
    return module if colon and not attribute else getattr(module, attribute or name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
