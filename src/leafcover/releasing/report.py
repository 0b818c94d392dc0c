"""The report: one page that says what a release did, kept and could not hide, in two faces.

The internal page is for the steward alone. The external one may go with the table: it draws only released values and
tells no count under five, no extreme, no rare value, and no tree or plan unless the steward publishes them.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from leafcover.errors import LeafcoverError
from leafcover.measuring.figures import Risk
from leafcover.releasing.charts import FEWEST, RARE, chart
from leafcover.releasing.manifest import versions
from leafcover.releasing.plan import Step
from leafcover.releasing.planfile import to_toml
from leafcover.releasing.run import CellFact, Release
from leafcover.releasing.wording import (
    Voice,
    column_words,
    columns_of,
    noise_words,
    not_protected,
    step_of,
    summary_words,
    target_fact,
    why_not_publishable,
    why_pinned,
    within_words,
)
from leafcover.split.partition import Split
from leafcover.split.trees import Leaves
from leafcover.table.table import Column, Table
from leafcover.tree.picture import picture
from leafcover.tree.tree import Attribute, Tree

OWN = ""  # stands for the column itself where each has its own tree


MOST_CHARTS = 60  # columns that are drawn, in table order: a chart takes 30 ms and a reader's patience


@dataclass(frozen=True)
class Tile:
    """One headline figure."""

    figure: str
    label: str
    note: str = ""


@dataclass(frozen=True)
class Card:
    """One column: its chart and what happened to it."""

    name: str
    kind: str
    role: str
    chart: Any  # SVG that needs no escaping, or ""
    changed: str
    pinned: str
    missing: str
    words: str
    unchanged: bool


@dataclass(frozen=True)
class Stuck:
    """One line of what could not change."""

    name: str
    share: str
    bar: int
    changed: str
    why: str


@dataclass(frozen=True)
class Made:
    """One line of how it was made: columns that went the same way."""

    columns: str
    noise: str
    within: str
    cells: str
    smallest: str
    median: str


def report(
    original: Table,
    release: Release,
    risk: Risk | None,
    *,
    face: Literal["internal", "external"],
    publish_tree: bool,
) -> str:
    """The page as HTML text: complete in itself, without a script or a request."""
    try:
        import matplotlib  # noqa: F401  # asked for here, so that its absence is told in one line
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise LeafcoverError(
            f"Install leafcover[report] to write a report ({error.name} is missing): pip install 'leafcover[report]'."
        ) from None
    strict, opened = face == "external", face == "internal" or publish_tree
    splits = {step.within for step in release.plan.steps}
    everywhere = within_words(next(iter(splits))) if opened and len(splits) == 1 else ""
    voice = Voice(len(release.table), strict)
    shown = [number < MOST_CHARTS for number in range(len(release.table.columns))]
    setting = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    setting.filters["folding"] = _folding
    page = setting.from_string(files("leafcover.releasing").joinpath("report.html.jinja").read_text("utf-8"))
    return page.render(
        internal=not strict,
        opened=opened,
        rows=f"{len(release.table):,}",
        columns=columns_of(release),
        recipe=release.plan.recipe,
        target=release.plan.target,
        refusals=why_not_publishable(release),
        summary=summary_words(release, risk, voice),
        tiles=list(_tiles(release, risk, voice)),
        tree=_tree(original, release, strict=strict) if opened else "",
        has_tree=target_fact(release) is not None,
        everywhere=everywhere,
        cards=[
            _card(original[c.name], c, release, voice, drawn=drawn, opened=opened, placed=opened and not everywhere)
            for c, drawn in zip(release.table, shown, strict=True)
        ],
        undrawn=shown.count(False),
        stuck=list(_stuck(original, release, voice, opened=opened)),
        not_protected=list(not_protected(original, release, risk, voice)),
        made=list(_made(release, voice)) if opened else [],
        ways=_ways(release),
        cells=_cells(release, voice),
        trees=[{"target": t.target, "leaves": t.leaves, "kept": voice.kept(t.kept)} for t in release.trees],
        warnings=[] if strict else release.warnings,
        plan=to_toml(release.plan) if opened else "",
        versions=versions(),
        **_risk(release, risk, voice),
    )


def _folding(name: str) -> Any:
    """A name that may break after an underscore."""
    from markupsafe import Markup, escape

    return escape(name).replace("_", Markup("_<wbr>"))


def _tiles(release: Release, risk: Risk | None, voice: Voice) -> Iterator[Tile]:
    changed = sum(fact.changed for fact in release.columns) / max(len(release.columns), 1)
    yield Tile(f"{len(release.table):,}", "rows", columns_of(release))
    yield Tile(voice.share(changed), "values changed", "another row’s value, or a new one")
    if (tree := target_fact(release)) is not None:
        yield Tile(voice.kept(tree.kept), "rows in the same leaf", f"of the tree for {tree.target}")
    smallest = min((cell.smallest for cell in release.cells), default=len(release.table))
    yield Tile(voice.count(smallest), "rows in the smallest cell", "the fewest that stand together")
    if risk is None or not risk.tries:
        yield Tile("–", "linkage risk", "not measured")
    else:
        value, interval = voice.risk(risk)
        yield Tile(value, "linkage risk", f"95% interval {interval}")


def _risk(release: Release, risk: Risk | None, voice: Voice) -> dict[str, Any]:
    """What linkage means here, for the words below the tiles."""
    if risk is None or not risk.tries:
        return {"linkage": "", "interval": "", "attacked": "", "blind": ""}
    value, interval = voice.risk(risk)
    return {
        "linkage": value,
        "interval": interval,
        "attacked": voice.count(risk.tries),
        "blind": f"1 in {len(release.table):,}",
    }


def _tree(original: Table, release: Release, *, strict: bool) -> Any:
    """The picture of the target's tree; for others without counts and without the names of rare values."""
    from markupsafe import Markup

    for partition in release.partitions.values():
        for tree in partition.trees:
            if tree.target == release.plan.target:
                shown = _without_rare(tree, original) if strict else tree
                # made by our own drawing, which escapes every name
                return Markup(picture(shown, table=original, counts=not strict))
    return ""


def _without_rare(tree: Tree, table: Table) -> Tree:
    """The same tree with rare levels and classes unnamed, and counts only in fives."""

    def unnamed(name: str, levels: tuple[str, ...]) -> tuple[str, ...]:
        if name not in table.names or not table[name].is_category:
            return levels
        column = table[name]
        counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
        often = {level for level, n in zip(column.levels, counts, strict=True) if n >= max(FEWEST, RARE * len(table))}
        return tuple(level if level in often else "a rare value" for level in levels)

    attributes = tuple(
        a if a.is_number else Attribute(a.name, unnamed(a.name, a.levels), False) for a in tree.attributes
    )
    counts = np.ceil(tree.counts / FEWEST) * FEWEST  # up, so that a small branch is not called empty
    return replace(tree, attributes=attributes, classes=unnamed(tree.target, tree.classes), counts=counts)


def _card(
    before: Column, after: Column, release: Release, voice: Voice, *, drawn: bool, opened: bool, placed: bool
) -> Card:
    from markupsafe import Markup

    fact = next(f for f in release.columns if f.name == after.name)
    step = step_of(release, after.name)
    missing = float(after.missing.mean())
    own = "" if after.name == release.plan.target else after.name
    return Card(
        name=after.name,
        kind=after.kind,
        role="target" if after.name == release.plan.target else release.table.roles.get(after.name, ""),
        chart=Markup(chart(before, after, strict=voice.strict) if drawn else ""),  # matplotlib escapes every text
        changed="0%" if step is None else voice.share(fact.changed),
        pinned="100%" if step is None else voice.share(fact.pinned),
        missing=voice.share(missing) if missing > 0 else "",
        words=column_words(step, after.name, own=own, detailed=opened, placed=placed),
        unchanged=step is None,
    )


def _stuck(original: Table, release: Release, voice: Voice, *, opened: bool) -> Iterator[Stuck]:
    for fact in sorted(release.columns, key=lambda f: -f.pinned):
        bar = voice.bar(fact.pinned)
        if bar < 1:
            continue
        whole = fact.name in release.unprotected
        why = why_pinned(release, original[fact.name], detailed=opened)
        share = "100%" if whole else voice.share(fact.pinned)
        yield Stuck(fact.name, share, bar, "0%" if whole else voice.share(fact.changed), why)


def _made(release: Release, voice: Voice) -> Iterator[Made]:
    """Steps that go the same way as one line; the columns of a block stay joined."""
    alike: dict[Any, list[tuple[Step, CellFact]]] = defaultdict(list)
    for step, fact in zip(release.plan.steps, release.cells, strict=True):
        alike[_place(step, release.plan.target), step.noise, step.keep].append((step, fact))
    for (place, noise, keep), group in alike.items():
        facts = [fact for _, fact in group]
        within = within_words(place, own=OWN)
        kept = " and ".join(within_words(split) for split in keep)
        yield Made(
            columns=", ".join((" + " if _moves_together(s) else ", ").join(s.columns) for s, _ in group),
            noise=noise_words(noise, detailed=True),
            within=f"{within}; inside {kept}" if kept else within,
            cells=_span(sorted({f.count for f in facts}), voice),
            smallest=_span(sorted({f.smallest for f in facts}), voice),
            median=_span(sorted({f.median for f in facts}), voice),
        )


def _place(step: Step, target: str) -> Split:
    """Where a step works; a column's own tree is the same place for every column."""
    if isinstance(step.within, Leaves) and step.columns == (step.within.of,) and step.within.of != target:
        return replace(step.within, of=OWN)
    return step.within


def _span(figures: list[int], voice: Voice) -> str:
    ends = list(dict.fromkeys(voice.count(figure) for figure in (figures[0], figures[-1])))
    return " to ".join(ends)


def _moves_together(step: Step) -> bool:
    return step.noise.reach == "cell" and len(step.columns) > 1


def _ways(release: Release) -> list[dict[str, Any]]:
    """The same without a plan: which columns were changed in which way."""
    found: dict[str, list[str]] = defaultdict(list)
    for step in release.plan.steps:
        found[noise_words(step.noise, detailed=False)] += step.columns
    return [{"noise": words, "columns": names} for words, names in found.items()]


def _cells(release: Release, voice: Voice) -> dict[str, str]:
    facts = [asdict(fact) for fact in release.cells]
    medians = sorted(fact["median"] for fact in facts)
    return {
        "smallest": voice.count(min(fact["smallest"] for fact in facts)),
        "median": voice.count(medians[len(medians) // 2]),
    }
