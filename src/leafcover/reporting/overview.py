"""The page in plain words: what was kept, what is hidden, what is not protected, for whom it is fit."""

from collections.abc import Iterator
from dataclasses import dataclass

from leafcover.engine.run import least_kept, mean_kept
from leafcover.metrics.suite import Measures
from leafcover.recipes import RECIPES
from leafcover.reporting.components import Tile
from leafcover.reporting.context import InferenceResult, ReportContext
from leafcover.reporting.disclosure_rules import HIDDEN, NONE, counted, curled, listed, started
from leafcover.reporting.fitness import Verdict, verdicts
from leafcover.reporting.protection import not_protected


@dataclass(frozen=True)
class Plain:
    """The four blocks."""

    opening: str
    kept: tuple[str, ...]
    hidden: tuple[str, ...]
    open: tuple[tuple[str, str], ...]
    fit: tuple[Verdict, ...]


def plain(subject: ReportContext) -> Plain:
    """All of it in sentences."""
    return Plain(
        _opening(subject),
        tuple(_kept(subject)),
        tuple(_hidden(subject)),
        tuple(not_protected(subject)),
        tuple(verdicts(subject)),
    )


def _opening(subject: ReportContext) -> str:
    rows = counted(subject.voice.rows, "row")
    if subject.release is None:
        return f"{rows} with {subject.columns}, made by other means, were compared with their original."
    recipe = subject.release.plan.recipe
    how = f"the recipe {recipe}" if recipe in RECIPES else "a plan of its own"
    return f"{rows} with {subject.columns} were released by {how}."


def _kept(subject: ReportContext) -> Iterator[str]:
    recipe = None if subject.release is None else RECIPES.get(subject.release.plan.recipe)
    if recipe is not None:
        yield f"By its method: {curled(recipe.keeps).replace('; ', ', ')}."
    if (guide := subject.guide) is not None and (kept := subject.voice.kept(guide.kept)) != HIDDEN:
        yield (
            f"{started(kept)} of the rows stand in the same leaf as before of the tree for {guide.target} that guided "
            "the release, so what that tree says still holds for them."
        )
    if subject.forest and not subject.voice.silent:
        yield (
            f"{started(subject.voice.kept(mean_kept(subject.forest)))} of the rows stand in the same leaf as before of "
            f"a tree for {subject.target}, as a mean over the {len(subject.forest):,} trees that guided the release; "
            f"{subject.voice.kept(least_kept(subject.forest))} in the tree that was kept least."
        )
    if subject.measures is None:
        yield f"How much models and statistics lose {subject.untold}."
    else:
        yield from _measured(subject, subject.measures)


def _measured(subject: ReportContext, measures: Measures) -> Iterator[str]:
    voice, utility = subject.voice, measures.utility
    agreements = utility.agreement
    own = None if agreements is None else agreements.target
    if agreements is not None and own is not None and _sayable(voice.estimate(own.agreement, agreements.tests)[0]):
        grown = " These trees were grown anew to measure this." if subject.guides else ""
        yield (
            f"A tree for {own.target} grown on the release answers rows it never saw as the original’s tree does in "
            f"{voice.told(own.agreement, agreements.tests)} of cases. A tree grown on a new sample of the same people "
            f"would in {voice.told(own.floor, agreements.tests)}: no table of this size can be expected to do much "
            f"better.{grown}"
        )
    elif utility.trees is not None:
        yield f"The trees of release and original answer {voice.share(utility.trees.answers)} of the rows alike."
    columns = utility.columns
    distances = [d.largest for d in (columns.number_distances, columns.category_distances) if d.count]
    if distances and max(distances) == 0:
        yield "Every column still holds exactly the values it held, each as often."
    relations = utility.relations.every
    if relations.count == 1:
        moved = voice.coarse(relations.largest)
        yield f"The strength of the one relation between two columns, from 0 to 1, moved by {moved}."
    elif relations.count:
        yield (
            f"The strength of relations between two columns, from 0 to 1, moved by {voice.figure(relations.mean)} on "
            f"average and by {voice.coarse(relations.largest)} at most."
        )


def _sayable(figure: str) -> bool:
    return figure not in (NONE, HIDDEN)


def _hidden(subject: ReportContext) -> Iterator[str]:
    recipe = None if subject.release is None else RECIPES.get(subject.release.plan.recipe)
    if recipe is not None:
        yield f"By its method: {curled(recipe.hides).replace('; ', ', ')}."
    if (changed := subject.changed) is not None and not subject.voice.silent:
        yield f"{started(subject.voice.share(changed))} of all values differ from what their row held before."
    yield _who(subject)
    yield from _what(subject)


def _who(subject: ReportContext) -> str:
    """Who a person is, hidden from the strongest attacker there is."""
    if subject.measures is None:
        return f"Whom the table still shows {subject.untold}: do not take it for safe."
    informed = subject.measures.risks.informed
    if informed is None or subject.risk is None:
        return "How often a person is found in the table could not be measured: do not take it for safe."
    keys = subject.measures.quasi_identifiers
    known = f"the column {keys[0]}" if len(keys) == 1 else f"{len(keys)} columns"
    trees = subject.release is not None and subject.release.trees
    plan = "the method, its plan and its trees" if trees else "the method and its plan"
    method = plan if informed.law.startswith("the plan") else "what the noise does"
    worst = subject.voice.worst(informed.first)
    most = f", for the worst 1% of people in {worst}" if worst not in ("", HIDDEN) else ""
    return (
        f"Who is who: an attacker who knows {known} of a person and {method}, points at the right row in "
        f"{subject.voice.said(informed.first)} of tries{most}. A blind guess is right once in {subject.voice.rows:,}."
    )


def _what(subject: ReportContext) -> Iterator[str]:
    """What is learned of a person beyond what holds for everybody."""
    if subject.measures is None:
        return
    voice = subject.voice
    told = [one for one in subject.told if not voice.hides(one.above.runs)]
    if told:
        first = told[0]
        control = first.attack.control or first.attack.main
        chosen = f"of {subject.columns_tried}, {first.column} is told furthest above control: above what is told"
        alone = f"{first.column} was tried against a control: against what is told"
        yield (
            f"What they are: {chosen if len(subject.told) > 1 else alone} "
            f"of people who are not in the release. By {first.by} it is told rightly of "
            f"{voice.said(first.attack.main)} of the people in the release and of {voice.said(control)} of the others. "
            f"{_owed(subject, first)}"
        )
    elif subject.measures.risks.inferences and not subject.told:
        names = listed([one.column for one in subject.measures.risks.inferences], most=3)
        yield (
            f"What they are: {names} can be guessed from the nearest row, but without a control (rows that were not "
            "released) nobody can say how much of that is owed to a person’s own row."
        )


def _owed(subject: ReportContext, first: InferenceResult) -> str:
    """What the difference says, if it says anything."""
    words = f"The difference, {subject.voice.by(first.above, first.above.runs)},"
    if not first.shown:
        return (
            f"{words} may be chance: its interval reaches down to 0 or below, so it was not shown that a person’s own "
            "row tells anything that patterns do not."
        )
    chosen = len(subject.told) > 1
    rather = " As the largest of several it is likelier too high than too low." if chosen else ""
    return f"{words} is owed to their own row; the rest are patterns.{rather}"


# The headline figures.


def tiles(subject: ReportContext) -> Iterator[Tile]:
    """Risks first, then what was kept, then what was done."""
    voice = subject.voice
    yield _linkage(subject)
    if subject.measures is not None:
        yield _inference(subject)
        agreements = subject.measures.utility.agreement
        if agreements is not None and (own := agreements.target) is not None:
            value, interval = voice.estimate(own.agreement, agreements.tests)
            floor = voice.estimate(own.floor, agreements.tests)[0]
            note = f"95% interval {interval}; " if interval else ""
            yield Tile(value, "agreement on unseen rows", f"{note}{floor} by a new sample of the people")
    if (guide := subject.guide) is not None and (kept := voice.kept(guide.kept)) != HIDDEN:
        yield Tile(kept, "rows in the same leaf", f"of the tree for {guide.target} that guided the release")
    if subject.forest and not voice.silent:
        least = voice.kept(least_kept(subject.forest))
        note = f"as a mean over {len(subject.forest):,} trees for {subject.target}; in the one kept least {least}"
        yield Tile(voice.kept(mean_kept(subject.forest)), "rows in the same leaf", note)
    if (changed := subject.changed) is not None and not voice.silent:
        yield Tile(voice.share(changed), "values changed", "another row’s value, or a new one")
    if subject.release is not None and subject.measures is None:
        smallest = min((cell.smallest for cell in subject.release.cells), default=voice.rows)
        yield Tile(voice.count(smallest), "rows in the smallest cell", "the fewest that stand together")


def _linkage(subject: ReportContext) -> Tile:
    risk = subject.risk
    if risk is None:
        return Tile(NONE, "informed linkage", subject.untold)
    value, interval = subject.voice.risk(risk)
    worst = subject.voice.worst(risk)
    note = f"people found by the strongest attacker; 95% interval {interval}"
    return Tile(value, "informed linkage", note + (f"; worst 1%: {worst}" if worst else ""))


def _inference(subject: ReportContext) -> Tile:
    label = "points of inference above control"
    if not subject.told:
        return Tile(NONE, label, "no control")
    first = subject.told[0]
    if subject.voice.hides(first.above.runs):
        return Tile(NONE, label, "too few people were tried to tell")
    value, interval = subject.voice.points(first.above, first.above.runs)
    shown = "" if first.shown else ", so no effect was shown"
    return Tile(
        value, label, f"95% interval {interval}{shown}; {first.column}, furthest above of {subject.columns_tried}"
    )
