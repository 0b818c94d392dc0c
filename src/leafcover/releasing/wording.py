"""A release in plain words, for the report: what was done, to which column, and what it does not hide.

Every figure goes through ``Voice``, which knows who listens: the steward hears all of it, others no count under five.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from leafcover.measuring.figures import Risk, wilson
from leafcover.noise.bounded import Bounded
from leafcover.noise.part import Noise
from leafcover.noise.redraw import Redraw
from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.charts import FEWEST
from leafcover.releasing.plan import Step
from leafcover.releasing.recipes import RECIPES
from leafcover.releasing.run import Release, TreeFact
from leafcover.split.partition import Split
from leafcover.split.refine import Refine
from leafcover.split.trees import Leaves, Whole
from leafcover.table.table import Column, Table

PLENTY = 0.8  # a value that this share of all rows has is "nearly everyone’s" in the whole table


@dataclass(frozen=True)
class Voice:
    """How figures are said: ``strict`` for readers who may not learn a count under five."""

    rows: int
    strict: bool

    def share(self, value: float) -> str:
        """A share of the rows.

        >>> Voice(200, strict=True).share(0.01), Voice(200, strict=False).share(0.01)
        ('under 3%', '1.0%')
        """
        if not self.strict:
            return _fine(value)
        least = max(1, ceil(100 * FEWEST / self.rows))
        if least >= 50:
            return "not shown"
        percent = round(100 * value)
        if percent < least or value * self.rows < FEWEST:
            return f"under {least}%"
        if percent > 100 - least or (1 - value) * self.rows < FEWEST:
            return f"over {100 - least}%"
        return f"{percent}%"

    def kept(self, value: float) -> str:
        """A share that the method may promise to be whole."""
        return "100%" if value == 1 else self.share(value)

    def bar(self, value: float) -> int:
        """A share as whole percents for a bar: nothing where the share is not told exactly."""
        said = self.share(value)
        return 100 if said.startswith("over") else 0 if said.startswith(("under", "not")) else round(100 * value)

    def count(self, value: int) -> str:
        """A number of rows."""
        return f"under {FEWEST}" if self.strict and value < FEWEST else f"{value:,}"

    def risk(self, risk: Risk) -> tuple[str, str]:
        """A risk and its interval."""
        if not self.strict:
            return _fine(risk.value), f"{_fine(risk.low)} to {_fine(risk.high)}"
        if risk.value * risk.tries < FEWEST:  # said as if it were five, so that fewer cannot be told apart
            ceiling = wilson(min(FEWEST, risk.tries), risk.tries)
            return f"under {max(1, ceil(100 * ceiling.value))}%", f"0% to {max(1, ceil(100 * ceiling.high))}%"
        return f"{100 * risk.value:.0f}%", f"{floor(100 * risk.low)}% to {ceil(100 * risk.high)}%"


def _fine(value: float) -> str:
    if value in (0, 1):
        return f"{value:.0%}"
    if value < 0.001 or value > 0.999:
        return "under 0.1%" if value < 0.5 else "over 99.9%"
    return f"{value:.1%}" if value < 0.1 or value > 0.9 else f"{value:.0%}"


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Names in a row, with "and".

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def step_of(release: Release, name: str) -> Step | None:
    """The step that wrote a column."""
    return next((step for step in release.plan.steps if name in step.columns), None)


def target_fact(release: Release) -> TreeFact | None:
    """What happened to the target's tree, when one guided the release."""
    return next((fact for fact in release.trees if fact.target == release.plan.target), None)


def why_not_publishable(release: Release) -> list[str]:
    """Why the release must not leave the house."""
    said = []
    if not release.publishable:
        said.append("It was made with a seed: whoever guesses the seed can undo the noise.")
    if release.kept_order:
        said.append("Its rows stand in their original order: whoever knows the order knows every row.")
    return said


def noise_words(noise: Noise, *, detailed: bool) -> str:
    """What a noise does to a value."""
    match noise:
        case Shuffle():
            return "shuffled among the rows of its cell"
        case Bounded():
            how = "moved among the values of its column" if noise.scale == "rank" else "moved by random noise"
            spread = f" (deviation {noise.spread:g} of the room there is)" if detailed else ""
            return f"{how}, never out of the range its leaf allows{spread}"
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
        case Refine():
            start = f"the leaves of the tree for {split.start.of}" if isinstance(split.start, Leaves) else "the table"
            others = "another column" if len(split.by) == 1 else f"{len(split.by)} other columns"
            return f"{start}, split further by trees for {others} into parts of at least {split.floor} rows"
        case _:
            return f"cells made by {type(split).__name__.lower()}"


def column_words(step: Step | None, name: str, *, own: str, detailed: bool, placed: bool) -> str:
    """What happened to one column, in a sentence; ``placed`` adds within which cells.

    ``own`` is the column whose tree is called its own tree; empty for the target, whose tree has a name.
    """
    if step is None:
        return "Released unchanged."
    partners = [other for other in step.columns if other != name] if isinstance(step.noise, Shuffle) else []
    said = noise_words(step.noise, detailed=detailed)
    said = said[0].upper() + said[1:]
    if detailed and partners:
        said += f", together with {listed(partners, most=4)}"
    return f"{said}; within {within_words(step.within, own=own)}." if placed else f"{said}."


def why_pinned(release: Release, column: Column, *, detailed: bool) -> str:
    """Why values of a column could not change."""
    step, known = step_of(release, column.name), column.values[~column.missing]
    if not len(known) or bool((known == known[0]).all()):
        return "has one value for everyone"
    if step is None:
        return "was released unchanged"
    if np.unique(known, return_counts=True)[1].max() >= PLENTY * len(known):
        return "most people of the whole table have the same value"
    trees = [t for split in step.splits for t in release.partitions[split].trees]
    asked = [t.target for t in trees if any(t.attributes[a].name == column.name for a in set(t.tested[t.tested >= 0]))]
    if detailed and asked:
        return f"the tree for {asked[0]} splits on it"
    if isinstance(step.noise, Bounded):
        return "the leaf leaves room for hardly any other value"
    return "nearly everyone in the cell has the same value"


def summary_words(release: Release, risk: Risk | None, voice: Voice) -> list[str]:
    """What was done, what was kept, what can still be seen: a paragraph each."""
    recipe = RECIPES.get(release.plan.recipe)
    changed = sum(f.changed for f in release.columns) / max(len(release.columns), 1)
    done = [
        f"{len(release.table):,} rows with {columns_of(release)} were released by "
        f"{f'the recipe {recipe.name}' if recipe else 'a plan of its own'}.",
        f"{_start(voice.share(changed))} of all values differ from what their row held before.",
    ]
    kept = []
    if recipe is not None:
        keeps, hides = (words.replace("; ", ", ").replace("'", "’") for words in (recipe.keeps, recipe.hides))
        kept.append(f"What the recipe keeps: {keeps}. What it hides: {hides}.")
    if (tree := target_fact(release)) is not None:
        kept.append(
            f"{_start(voice.kept(tree.kept))} of the rows stand in the same leaf of the tree for {tree.target} as "
            "before, so what the tree says still holds for them."
        )
    seen = []
    stuck = sorted((f for f in release.columns if f.pinned >= 0.5), key=lambda f: -f.pinned)
    if stuck:
        names = listed([f.name for f in stuck], most=5)
        seen.append(f"In at least half of the rows {names} could not change: there the table tells the truth.")
    if risk is not None and risk.tries:
        value, interval = voice.risk(risk)
        seen.append(
            f"Someone who looks for the most similar row finds the right person in {value} ({interval}) of tries."
        )
    return [" ".join(part) for part in (done, kept, seen) if part]


def columns_of(release: Release) -> str:
    """How many columns there are."""
    count = len(release.table.names)
    return f"{count} column{'s' if count > 1 else ''}"


def _start(words: str) -> str:
    return words[0].upper() + words[1:]


def not_protected(original: Table, release: Release, risk: Risk | None, voice: Voice) -> Iterator[tuple[str, str]]:
    """What the release does not hide: a few words and a sentence or two each."""
    if release.unprotected:
        yield "Columns released unchanged", f"{listed(release.unprotected, most=60)}: every value is the original one."
    if release.kept_order:
        yield "The order of rows", "Rows stand in their original order, so the n-th row is still the n-th person."
    if not release.publishable:
        yield "The noise itself", "It was made with a seed, so it can be repeated and undone. It hides nothing."
    yield from _stuck(release, voice)
    yield from _small_cells(release, voice)
    yield from _missing(original, release, voice)
    yield from _exact(release)
    yield (
        "Someone who knows nearly everything",
        "This is not differential privacy. An attacker who knows every row but one can take away what they know and "
        "read much of the last row from what is left.",
    )
    if risk is not None:
        yield (
            "A cleverer attacker",
            "Linkage was measured against an attacker who takes the nearest row. One who also knows the method, the "
            "tree and the cells can do better.",
        )


def _stuck(release: Release, voice: Voice) -> Iterator[tuple[str, str]]:
    stuck = [f for f in release.columns if f.pinned > 0 and f.name not in release.unprotected]
    if stuck:
        worst = sorted(stuck, key=lambda f: -f.pinned)[:3]
        named = listed([f"{f.name} ({voice.share(f.pinned)} of the rows)" for f in worst])
        yield (
            "Pinned values",
            f"Where nearly everyone in a cell has the same value, a released value is as good as the original one. "
            f"Most of all in {named}.",
        )


def _small_cells(release: Release, voice: Voice) -> Iterator[tuple[str, str]]:
    if single := max((c.single for c in release.cells), default=0.0):
        yield (
            "Rows alone in their cell",
            f"{_start(voice.share(single))} of the rows share their cell with nobody: what their leaf says of them is "
            "published.",
        )
    if pooled := max((c.pooled for c in release.cells), default=0):
        yield (
            "Pools",
            f"{_start(voice.share(pooled / voice.rows))} of the rows stood in leaves too small to hide them and were "
            "pooled with neighbouring leaves. They may have changed their leaf.",
        )


def _missing(original: Table, release: Release, voice: Voice) -> Iterator[tuple[str, str]]:
    left = [
        name
        for step in release.plan.steps
        if not (isinstance(step.noise, Shuffle) and step.noise.missing == "moves")
        for name in step.columns
        if original[name].missing.sum() >= (FEWEST if voice.strict else 1)
    ]
    if left:
        yield (
            "Missing values",
            f"They stay with their row in {listed(left)}. Who knows what a person left out may use it.",
        )


def _exact(release: Release) -> Iterator[tuple[str, str]]:
    mixed = [name for step in release.plan.steps if isinstance(step.noise, Shuffle) for name in step.columns]
    if mixed:
        which = "every column" if len(mixed) == len(release.table.names) else listed(mixed, most=6)
        yield (
            "Rare and extreme values",
            f"The values of {which} only changed places, so all counts are exact: a value that one person had is still "
            "in the table once, with another row of its cell or the same one.",
        )
    if any(not isinstance(step.noise, Shuffle) for step in release.plan.steps):
        yield (
            "The range of values",
            "Columns that were moved or drawn anew still use only values between the lowest and the highest original "
            "one, and only categories that occurred.",
        )
