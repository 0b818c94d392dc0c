"""The page in plain words: what was kept, what is hidden, what is not protected, for whom it is fit."""

from collections.abc import Iterator
from dataclasses import dataclass

from leafcover.measuring.measures import Measures
from leafcover.releasing.recipes import RECIPES
from leafcover.releasing.reporting.fitness import Verdict, verdicts
from leafcover.releasing.reporting.protection import not_protected
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import counted, curled, listed, started


@dataclass(frozen=True)
class Plain:
    """The four blocks."""

    opening: str
    kept: tuple[str, ...]
    hidden: tuple[str, ...]
    open: tuple[tuple[str, str], ...]
    fit: tuple[Verdict, ...]


def plain(subject: Subject) -> Plain:
    """All of it in sentences."""
    return Plain(
        _opening(subject),
        tuple(_kept(subject)),
        tuple(_hidden(subject)),
        tuple(not_protected(subject)),
        tuple(verdicts(subject)),
    )


def _opening(subject: Subject) -> str:
    rows = counted(subject.voice.rows, "row")
    if subject.release is None:
        return f"{rows} with {subject.columns}, made by other means, were compared with their original."
    recipe = subject.release.plan.recipe
    how = f"the recipe {recipe}" if recipe in RECIPES else "a plan of its own"
    return f"{rows} with {subject.columns} were released by {how}."


def _kept(subject: Subject) -> Iterator[str]:
    recipe = None if subject.release is None else RECIPES.get(subject.release.plan.recipe)
    if recipe is not None:
        yield f"By its method: {curled(recipe.keeps).replace('; ', ', ')}."
    if (guide := subject.guide) is not None:
        yield (
            f"{started(subject.voice.kept(guide.kept))} of the rows stand in the same leaf of the tree for "
            f"{guide.target} as before, so what that tree says still holds for them."
        )
    if subject.measures is None:
        yield "How much models and statistics lose was not measured for this report."
    else:
        yield from _measured(subject, subject.measures)


def _measured(subject: Subject, measures: Measures) -> Iterator[str]:
    voice, utility = subject.voice, measures.utility
    if utility.agreement is not None and (own := utility.agreement.target) is not None:
        yield (
            f"A tree for {own.target} grown on the release answers rows it never saw as the original’s tree does in "
            f"{voice.told(own.agreement)} of cases. A tree grown on a new sample of the same people would in "
            f"{voice.told(own.floor)}: no table of this size can be expected to do much better."
        )
    elif utility.trees is not None:
        yield f"The trees of release and original answer {voice.share(utility.trees.answers)} of the rows alike."
    columns = utility.columns
    distances = [d.largest for d in (columns.number_distances, columns.category_distances) if d.count]
    if distances and max(distances) == 0:
        yield "Every column still holds exactly the values it held, each as often."
    relations = utility.relations.every
    if relations.count:
        yield (
            f"The strength of relations between two columns, from 0 to 1, moved by {voice.figure(relations.mean)} on "
            f"average and by {voice.coarse(relations.largest)} at most."
        )


def _hidden(subject: Subject) -> Iterator[str]:
    recipe = None if subject.release is None else RECIPES.get(subject.release.plan.recipe)
    if recipe is not None:
        yield f"By its method: {curled(recipe.hides).replace('; ', ', ')}."
    if (changed := subject.changed) is not None:
        yield f"{started(subject.voice.share(changed))} of all values differ from what their row held before."
    yield _who(subject)
    yield from _what(subject)


def _who(subject: Subject) -> str:
    """Who a person is, hidden from the strongest attacker there is."""
    informed = None if subject.measures is None else subject.measures.risks.informed
    if subject.measures is None or informed is None or not informed.first.tries:
        return "Whom the table still shows was not measured for this report: do not take it for safe."
    keys = subject.measures.keys
    known = f"the column {keys[0]}" if len(keys) == 1 else f"{len(keys)} columns"
    method = "the method, its plan and its trees" if informed.law.startswith("the plan") else "what the noise does"
    worst = subject.voice.worst(informed.first)
    most = f", for the worst 1% of people in {worst}" if worst not in ("", "not shown") else ""
    return (
        f"Who is who: an attacker who knows {known} of a person and {method}, points at the right row in "
        f"{subject.voice.said(informed.first)} of tries{most}. A blind guess is right once in {subject.voice.rows:,}."
    )


def _what(subject: Subject) -> Iterator[str]:
    """What is learned of a person beyond what holds for everybody."""
    if subject.measures is None:
        return
    voice = subject.voice
    found = list(subject.inferred())
    if found:
        one, above = max(found, key=lambda both: both[1].value)
        value, interval = voice.points(above, above.runs)
        yield (
            f"What they are: of all columns the nearest released row tells {one.column} best, rightly of "
            f"{voice.said(one.nearest.main)} of the people in the release and of "
            f"{voice.said(one.nearest.control or one.nearest.main)} of people who are not in it. The difference, "
            f"{value} points ({interval}), is owed to their own row; the rest are patterns."
        )
    elif subject.measures.risks.inferences:
        names = listed([one.column for one in subject.measures.risks.inferences], most=3)
        yield (
            f"What they are: {names} can be guessed from the nearest row, but without a control (rows that were not "
            "released) nobody can say how much of that is owed to a person’s own row."
        )
