"""How the release was made: steps, cells, plan."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from leafcover.engine.run import CellFact, Release
from leafcover.partition.base import PartitionMethod
from leafcover.partition.forest import Forest
from leafcover.partition.leaves import Leaves, Whole
from leafcover.partition.microaggregation import Halves, InOrder, Kd, KMeans, Mdav, Strata, VariableMdav
from leafcover.partition.refine import Refine
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.perturb.base import Perturbation
from leafcover.perturb.bounded import Bounded
from leafcover.perturb.centroid import Centroid
from leafcover.perturb.redraw import Redraw
from leafcover.perturb.shuffle import Shuffle
from leafcover.recipes.plan import Step, to_toml
from leafcover.reporting.components import Bullets, Heading, Part, Section, Text, Words, fold, listing, section
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules, listed, started
from leafcover.table.table import Column

OWN = ""  # stands for the column itself where each has its own tree


def made_section(subject: ReportContext) -> Section | None:
    """The plan, as far as the reader may see it; nothing for a table from elsewhere."""
    release = subject.release
    if release is None:
        return None
    warned = subject.internal and bool(release.warnings)
    return section(
        "made",
        "How it was made",
        *(_steps(subject, release) if subject.show_plan else _ways(subject, release)),
        *_trees(subject, release),
        Heading("Warnings") if warned else None,
        Bullets(release.warnings) if warned else None,
        fold("The plan, as a file", Text("Plan", to_toml(release.plan))) if subject.show_plan else None,
    )


def _steps(subject: ReportContext, release: Release) -> Iterator[Part | None]:
    """Steps that go the same way as one line; the columns of a block stay joined."""
    voice = subject.rules
    blocks = any(_moves_together(step) for step in release.plan.steps)
    yield Words(
        "Every step reads the original table and changes values only among rows that stand together in a cell."
        + (" Columns joined by + form a block: their values move together." if blocks else ""),
        tone="lead",
    )
    alike: dict[Any, list[tuple[Step, CellFact]]] = defaultdict(list)
    for step, fact in zip(release.plan.steps, release.cells, strict=True):
        alike[_place(step, release.plan.target), step.perturb, step.keep].append((step, fact))
    rows = []
    for (place, noise, keep), group in alike.items():
        facts = [fact for _, fact in group]
        kept = " and ".join(within_words(split) for split in keep)
        within = within_words(place, own=OWN)
        rows.append(
            [
                ", ".join((" + " if _moves_together(s) else ", ").join(s.columns) for s, _ in group),
                noise_words(noise, detailed=True),
                f"{within}; inside {kept}" if kept else within,
                _span([f.count for f in facts], voice),
                _span([f.smallest for f in facts], voice),
                _span([f.median for f in facts], voice),
            ]
        )
    yield listing("Steps", ("Columns", "Each value is", "Within", "Cells", "Smallest", "Median"), rows)


def _place(step: Step, target: str) -> PartitionMethod:
    """Where a step works; a column's own tree is the same place for every column."""
    if isinstance(step.within, Leaves) and step.columns == (step.within.of,) and step.within.of != target:
        return replace(step.within, of=OWN)
    return step.within


def _span(figures: list[int], voice: DisclosureRules) -> str:
    ends = list(dict.fromkeys(voice.count(figure) for figure in (min(figures), max(figures))))
    return " to ".join(ends)


def _moves_together(step: Step) -> bool:
    return isinstance(step.perturb, Shuffle) and len(step.columns) > 1


def _ways(subject: ReportContext, release: Release) -> Iterator[Part]:
    """The same without a plan: which columns were changed in which way."""
    found: dict[str, list[str]] = defaultdict(list)
    for step in release.plan.steps:
        found[noise_words(step.perturb, detailed=False)] += step.columns
    medians = [fact.median for fact in release.cells]
    if medians:
        smallest = subject.rules.count(min(fact.smallest for fact in release.cells))
        yield Words(
            "Every step read the original table and changed values only among rows that stand together in a cell. The "
            f"smallest cell has {smallest} row{'' if smallest == '1' else 's'}, a typical one "
            f"{subject.rules.count(min(medians))}.",
            tone="lead",
        )
    yield Bullets(tuple(f"{', '.join(names)}: each value is {words}." for words, names in found.items()))


def _trees(subject: ReportContext, release: Release) -> Iterator[Part | None]:
    others = [tree for tree in release.trees if tree not in subject.forest]
    if len(others) > 1 or (others and subject.guide is None):
        inside = subject.internal
        yield listing(
            "Trees that shaped the cells",
            ("Tree for", *(["Leaves"] if inside else []), "Rows in the same leaf as before"),
            [[t.target, *([f"{t.leaves:,}"] if inside else []), subject.rules.kept(t.kept)] for t in others],
        )


# A plan in plain words: what was done to which column, and among which rows.


PLENTY = 0.8  # a value that this share of all rows has is "nearly everyone’s" in the whole table


def noise_words(noise: Perturbation, *, detailed: bool) -> str:
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
            }[noise.distribution]
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


def within_words(split: PartitionMethod, *, own: str = "") -> str:
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
    partners = [other for other in step.columns if other != name] if isinstance(step.perturb, Shuffle) else []
    said = started(noise_words(step.perturb, detailed=detailed))
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
    if isinstance(step.perturb, Centroid):
        return "its group has one value, or its own is the average"
    if isinstance(step.perturb, Bounded):
        return "the leaf leaves room for hardly any other value"
    if isinstance(step.perturb, Additive | Multiplicative):
        return "the noise is too small to move it"
    return "nearly everyone in the cell has the same value"
