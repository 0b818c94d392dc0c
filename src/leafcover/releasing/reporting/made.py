"""How the release was made: steps, cells, plan."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.plan import Step
from leafcover.releasing.planfile import to_toml
from leafcover.releasing.reporting.shapes import Bullets, Heading, Part, Section, Text, Words, fold, listing, section
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import Voice
from leafcover.releasing.reporting.wording import noise_words, within_words
from leafcover.releasing.run import CellFact, Release
from leafcover.split.partition import Split
from leafcover.split.trees import Leaves

OWN = ""  # stands for the column itself where each has its own tree


def made_section(subject: Subject) -> Section | None:
    """The plan, as far as the reader may see it; nothing for a table from elsewhere."""
    release = subject.release
    if release is None:
        return None
    warned = subject.internal and bool(release.warnings)
    return section(
        "made",
        "How it was made",
        *(_steps(subject, release) if subject.opened else _ways(subject, release)),
        *_trees(subject, release),
        Heading("Warnings") if warned else None,
        Bullets(release.warnings) if warned else None,
        fold("The plan, as a file", Text("Plan", to_toml(release.plan))) if subject.opened else None,
    )


def _steps(subject: Subject, release: Release) -> Iterator[Part | None]:
    """Steps that go the same way as one line; the columns of a block stay joined."""
    voice = subject.voice
    blocks = any(_moves_together(step) for step in release.plan.steps)
    yield Words(
        "Every step reads the original table and changes values only among rows that stand together in a cell."
        + (" Columns joined by + form a block: their values move together." if blocks else ""),
        tone="lead",
    )
    alike: dict[Any, list[tuple[Step, CellFact]]] = defaultdict(list)
    for step, fact in zip(release.plan.steps, release.cells, strict=True):
        alike[_place(step, release.plan.target), step.noise, step.keep].append((step, fact))
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


def _place(step: Step, target: str) -> Split:
    """Where a step works; a column's own tree is the same place for every column."""
    if isinstance(step.within, Leaves) and step.columns == (step.within.of,) and step.within.of != target:
        return replace(step.within, of=OWN)
    return step.within


def _span(figures: list[int], voice: Voice) -> str:
    ends = list(dict.fromkeys(voice.count(figure) for figure in (min(figures), max(figures))))
    return " to ".join(ends)


def _moves_together(step: Step) -> bool:
    return isinstance(step.noise, Shuffle) and len(step.columns) > 1


def _ways(subject: Subject, release: Release) -> Iterator[Part]:
    """The same without a plan: which columns were changed in which way."""
    found: dict[str, list[str]] = defaultdict(list)
    for step in release.plan.steps:
        found[noise_words(step.noise, detailed=False)] += step.columns
    medians = [fact.median for fact in release.cells]
    if medians:
        smallest = subject.voice.count(min(fact.smallest for fact in release.cells))
        yield Words(
            "Every step read the original table and changed values only among rows that stand together in a cell. The "
            f"smallest cell has {smallest} row{'' if smallest == '1' else 's'}, a typical one "
            f"{subject.voice.count(min(medians))}.",
            tone="lead",
        )
    yield Bullets(tuple(f"{', '.join(names)}: each value is {words}." for words, names in found.items()))


def _trees(subject: Subject, release: Release) -> Iterator[Part | None]:
    others = [tree for tree in release.trees if tree not in subject.forest]
    if len(others) > 1 or (others and subject.guide is None):
        inside = subject.internal
        yield listing(
            "Trees that shaped the cells",
            ("Tree for", *(["Leaves"] if inside else []), "Rows in the same leaf as before"),
            [[t.target, *([f"{t.leaves:,}"] if inside else []), subject.voice.kept(t.kept)] for t in others],
        )
