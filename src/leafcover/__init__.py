"""Leafcover: release perturbed microdata, and measure its utility and disclosure risk.

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
    from leafcover import errors
    from leafcover.api import inspect, load, measure, read, release, verify
    from leafcover.engine.counts import CountRelease, count_table
    from leafcover.engine.shadow import shadow
    from leafcover.errors import LeafcoverError
    from leafcover.keyed_random import Key
    from leafcover.metrics.disclosure.known_sample import known_sample
    from leafcover.metrics.disclosure.noise_filtering import noise_filtering
    from leafcover.metrics.registry import MEASURES
    from leafcover.metrics.suite import Measures
    from leafcover.partition.forest import Forest, Refine
    from leafcover.partition.kd_tree import Halves, Kd
    from leafcover.partition.leaves import Conditional, Leaves, Whole
    from leafcover.partition.microaggregation import InOrder, KMeans, Mdav, Strata, VariableMdav
    from leafcover.perturb.additive import Additive, Multiplicative
    from leafcover.perturb.bounded import Bounded
    from leafcover.perturb.bounded_normal import BoundedGadp
    from leafcover.perturb.cell_key import PerturbationTable
    from leafcover.perturb.centroid import Centroid
    from leafcover.perturb.conditional_normal import Egadp, Gadp
    from leafcover.perturb.copula import Cgadp, DataShuffle
    from leafcover.perturb.correlated_noise import Correlated
    from leafcover.perturb.deal import Deal
    from leafcover.perturb.geometric_transformation import Geometric
    from leafcover.perturb.pram import Pram
    from leafcover.perturb.redraw import Redraw
    from leafcover.perturb.shuffle import Shuffle
    from leafcover.perturb.swap import BoundedSwap, RankSwap
    from leafcover.project import Project, init
    from leafcover.recipes.plan import Plan, Step
    from leafcover.recipes.plan_file import parse_plan, plan_text, read_plan
    from leafcover.recipes.registry import recipe
    from leafcover.recode.generalise import Generalise
    from leafcover.recode.intervals import Intervals
    from leafcover.recode.local_suppression import LocalSuppression
    from leafcover.recode.numbers import BottomCode, Round, TopCode, Truncate
    from leafcover.recode.suppress import Suppress
    from leafcover.released import Loaded, Released
    from leafcover.table.frames import from_frame
    from leafcover.table.io import sample, write
    from leafcover.table.table import Table
    from leafcover.table.unit_layout import unit_layout
    from leafcover.tree.c45 import grow
    from leafcover.tuning.sweep import sweep

# The module of each public name; loaded on first use, so that `leafcover --help` starts quickly.
_HOMES = {
    "Additive": "leafcover.perturb.additive",
    "BottomCode": "leafcover.recode.numbers",
    "Bounded": "leafcover.perturb.bounded",
    "BoundedSwap": "leafcover.perturb.swap",
    "BoundedGadp": "leafcover.perturb.bounded_normal",
    "Centroid": "leafcover.perturb.centroid",
    "Cgadp": "leafcover.perturb.copula",
    "Conditional": "leafcover.partition.leaves",
    "Correlated": "leafcover.perturb.correlated_noise",
    "CountRelease": "leafcover.engine.counts",
    "DataShuffle": "leafcover.perturb.copula",
    "Deal": "leafcover.perturb.deal",
    "Egadp": "leafcover.perturb.conditional_normal",
    "Forest": "leafcover.partition.forest",
    "Geometric": "leafcover.perturb.geometric_transformation",
    "Gadp": "leafcover.perturb.conditional_normal",
    "Generalise": "leafcover.recode.generalise",
    "Halves": "leafcover.partition.kd_tree",
    "InOrder": "leafcover.partition.microaggregation",
    "Intervals": "leafcover.recode.intervals",
    "KMeans": "leafcover.partition.microaggregation",
    "Kd": "leafcover.partition.kd_tree",
    "Key": "leafcover.keyed_random",
    "LeafcoverError": "leafcover.errors",
    "Leaves": "leafcover.partition.leaves",
    "Loaded": "leafcover.released",
    "LocalSuppression": "leafcover.recode.local_suppression",
    "MEASURES": "leafcover.metrics.registry",
    "Mdav": "leafcover.partition.microaggregation",
    "Measures": "leafcover.metrics.suite",
    "Multiplicative": "leafcover.perturb.additive",
    "PerturbationTable": "leafcover.perturb.cell_key",
    "Plan": "leafcover.recipes.plan",
    "Pram": "leafcover.perturb.pram",
    "Project": "leafcover.project",
    "RankSwap": "leafcover.perturb.swap",
    "Redraw": "leafcover.perturb.redraw",
    "Refine": "leafcover.partition.forest",
    "Released": "leafcover.released",
    "Round": "leafcover.recode.numbers",
    "Shuffle": "leafcover.perturb.shuffle",
    "Step": "leafcover.recipes.plan",
    "Strata": "leafcover.partition.microaggregation",
    "Suppress": "leafcover.recode.suppress",
    "Table": "leafcover.table.table",
    "TopCode": "leafcover.recode.numbers",
    "Truncate": "leafcover.recode.numbers",
    "VariableMdav": "leafcover.partition.microaggregation",
    "Whole": "leafcover.partition.leaves",
    "count_table": "leafcover.engine.counts",
    "errors": "leafcover.errors:",
    "from_frame": "leafcover.table.frames",
    "grow": "leafcover.tree.c45",
    "init": "leafcover.project",
    "inspect": "leafcover.api",
    "known_sample": "leafcover.metrics.disclosure.known_sample",
    "load": "leafcover.api",
    "measure": "leafcover.api",
    "noise_filtering": "leafcover.metrics.disclosure.noise_filtering",
    "parse_plan": "leafcover.recipes.plan_file",
    "plan_text": "leafcover.recipes.plan_file",
    "read": "leafcover.api",
    "read_plan": "leafcover.recipes.plan_file",
    "recipe": "leafcover.recipes.registry",
    "recipes": "leafcover.recipes:",
    "release": "leafcover.api",
    "sample": "leafcover.table.io",
    "shadow": "leafcover.engine.shadow",
    "sweep": "leafcover.tuning.sweep",
    "unit_layout": "leafcover.table.unit_layout",
    "verify": "leafcover.api",
    "write": "leafcover.table.io",
}

__all__ = [
    "MEASURES",
    "Additive",
    "BottomCode",
    "Bounded",
    "BoundedGadp",
    "BoundedSwap",
    "Centroid",
    "Cgadp",
    "Conditional",
    "Correlated",
    "CountRelease",
    "DataShuffle",
    "Deal",
    "Egadp",
    "Forest",
    "Gadp",
    "Generalise",
    "Geometric",
    "Halves",
    "InOrder",
    "Intervals",
    "KMeans",
    "Kd",
    "Key",
    "LeafcoverError",
    "Leaves",
    "Loaded",
    "LocalSuppression",
    "Mdav",
    "Measures",
    "Multiplicative",
    "PerturbationTable",
    "Plan",
    "Pram",
    "Project",
    "RankSwap",
    "Redraw",
    "Refine",
    "Released",
    "Round",
    "Shuffle",
    "Step",
    "Strata",
    "Suppress",
    "Table",
    "TopCode",
    "Truncate",
    "VariableMdav",
    "Whole",
    "count_table",
    "errors",
    "from_frame",
    "grow",
    "init",
    "inspect",
    "known_sample",
    "load",
    "measure",
    "noise_filtering",
    "parse_plan",
    "plan_text",
    "read",
    "read_plan",
    "recipe",
    "recipes",
    "release",
    "sample",
    "shadow",
    "sweep",
    "unit_layout",
    "verify",
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
