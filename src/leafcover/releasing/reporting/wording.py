"""A plan in plain words: what was done to which column, and among which rows."""

import numpy as np

from leafcover.noise.additive import Additive
from leafcover.noise.bounded import Bounded
from leafcover.noise.centroid import Centroid
from leafcover.noise.multiplicative import Multiplicative
from leafcover.noise.part import Noise
from leafcover.noise.redraw import Redraw
from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.plan import Step
from leafcover.releasing.reporting.phrases import listed, started
from leafcover.releasing.run import Release
from leafcover.split.forest import Forest
from leafcover.split.groups import InOrder, Mdav, VariableMdav
from leafcover.split.halves import Halves
from leafcover.split.kd import Kd
from leafcover.split.kmeans import KMeans
from leafcover.split.partition import Split
from leafcover.split.refine import Refine
from leafcover.split.strata import Strata
from leafcover.split.trees import Leaves, Whole
from leafcover.table.table import Column

PLENTY = 0.8  # a value that this share of all rows has is "nearly everyone’s" in the whole table


def noise_words(noise: Noise, *, detailed: bool) -> str:
    """What a noise does to a value."""
    match noise:
        case Shuffle():
            return "shuffled among the rows of its cell"
        case Bounded():
            how = "moved among the values of its column" if noise.scale == "rank" else "moved by random noise"
            spread = f" (deviation {noise.spread:g} of the room there is)" if detailed else ""
            return f"{how}, never out of the range its leaf allows{spread}"
        case Centroid():
            least = f" of at least {noise.least}" if detailed else ""
            return f"replaced by the {noise.number} (a category by the commonest) of its group{least}"
        case Additive():
            spread = f" (deviation {noise.spread:g} of the column’s own)" if detailed else ""
            return f"moved by random noise that knows no bounds{spread}"
        case Multiplicative():
            spread = f" (deviation {noise.spread:g})" if detailed else ""
            return f"multiplied by random noise around 1{spread}"
        case Redraw():
            law = {
                "shares": "drawn anew by how often each value occurs in its cell",
                "all-leaves": "drawn anew: mostly the commonest value of its cell",
                "own": "kept",
            }[noise.law]
            extra = []
            if noise.siblings:
                odds = f" with probability {noise.siblings:g}" if detailed else " now and then"
                extra.append(f"{odds} from a neighbouring leaf")
            if noise.others:
                odds = f" with probability {noise.others:g}" if detailed else " now and then"
                extra.append(f"{odds} any other value")
            return law + "".join("," + words for words in extra)
        case _:
            return f"changed by {type(noise).__name__.lower()}"


def within_words(split: Split, *, own: str = "") -> str:
    """Which rows stand together."""
    match split:
        case Whole():
            return "the whole table"
        case Leaves():
            tree = "its own tree" if split.of == own else f"the tree for {split.of}"
            return f"the leaves of {tree}, none under {split.min_cell} rows"
        case Forest():
            return f"the cells where leaves of many trees for {split.of} meet, none under {split.min_cell} rows"
        case Refine():
            start = _started(split.start)
            others = "another column" if len(split.by) == 1 else f"{len(split.by)} other columns"
            return f"{start}, split further by trees for {others} into parts of at least {split.floor} rows"
        case Strata():
            return f"rows that agree in {listed(split.by, most=4)}"
        case Kd():
            return f"the cells of a kd tree, none under {split.min_child} rows"
        case Halves():
            return f"halves of halves, each of fewer than {split.fewer_than} rows"
        case Mdav() | VariableMdav() | InOrder() | KMeans():
            inside = "" if isinstance(split.start, Whole) else f", inside {within_words(split.start)}"
            return f"groups of at least {split.k} similar rows{inside}"
        case _:
            return f"cells made by {type(split).__name__.lower()}"


def _started(start: Leaves | Forest | Whole) -> str:
    match start:
        case Leaves():
            return f"the leaves of the tree for {start.of}"
        case Forest():
            return f"the cells where leaves of many trees for {start.of} meet"
        case Whole():
            return "the table"


def column_words(step: Step | None, name: str, *, own: str, detailed: bool, placed: bool) -> str:
    """What happened to one column, in a sentence; ``placed`` adds within which cells.

    ``own`` is the column whose tree is called its own tree; empty for the target, whose tree has a name.
    """
    if step is None:
        return "Released unchanged."
    partners = [other for other in step.columns if other != name] if isinstance(step.noise, Shuffle) else []
    said = started(noise_words(step.noise, detailed=detailed))
    if detailed and partners:
        said += f", together with {listed(partners, most=4)}"
    return f"{said}; within {within_words(step.within, own=own)}." if placed else f"{said}."


def why_pinned(release: Release, column: Column, *, detailed: bool) -> str:
    """Why values of a column could not change."""
    step = next((step for step in release.plan.steps if column.name in step.columns), None)
    known = column.values[~column.missing]
    if not len(known) or bool((known == known[0]).all()):
        return "has one value for everyone"
    if step is None:
        return "was released unchanged"
    if np.unique(known, return_counts=True)[1].max() >= PLENTY * len(known):
        return "most people of the whole table have the same value"
    trees = [t for split in step.splits for t in release.partitions[split].trees if t.answers]
    asked = [
        t.target
        for t in trees
        if t.answers and any(t.attributes[a].name == column.name for a in set(t.tested[t.tested >= 0]))
    ]
    if detailed and asked:
        return f"the tree for {asked[0]} splits on it"
    if isinstance(step.noise, Centroid):
        return "its group has one value, or its own is the average"
    if isinstance(step.noise, Bounded):
        return "the leaf leaves room for hardly any other value"
    if isinstance(step.noise, Additive | Multiplicative):
        return "the noise is too small to move it"
    return "nearly everyone in the cell has the same value"
