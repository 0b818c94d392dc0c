"""What the averages of small groups give away."""

from collections.abc import Iterator

from leafcover.measuring.risk.averages import Averages, most_alike, most_dominated
from leafcover.releasing.reporting.phrases import counted, listed
from leafcover.releasing.reporting.shapes import Cell, Part, Words, fold, listing
from leafcover.releasing.reporting.subject import Subject

MOST = 40  # columns in a table


def averages(subject: Subject) -> Iterator[Part | None]:
    """Group by group, for the steward."""
    found = () if subject.measures is None else subject.measures.risks.averages
    if not found or not subject.internal:
        return
    rows: list[list[str | Cell]] = [
        [one.column, subject.voice.share(one.alike), subject.voice.share(one.dominated), f"{one.smallest:,}"]
        for step in found
        for one in step.columns
    ]
    yield fold(
        "What averages give away, column by column",
        *(Words(_groups(subject, step)) for step in found),
        listing(
            "What averages give away",
            ("Column", "In groups of one value", "In groups one row makes up", "Fewest values in an average"),
            rows[:MOST],
            "In groups of one value the average is everybody’s own value. A row makes up a group when more than half "
            "of the sum of its values, whatever their sign, is its own: the average then tells roughly what it has. "
            "The fewest values count rows of a group that have a value; groups with too few were averaged together.",
        ),
    )


def leaks(subject: Subject) -> Iterator[tuple[str, str]]:
    """What averages do not protect, in a sentence or two."""
    found = () if subject.measures is None else subject.measures.risks.averages
    if not found:
        return
    share = subject.voice.share
    others = subject.voice.count(min(step.smallest for step in found) - 1)
    exactly = "exactly" if all(step.means for step in found) else "exactly or nearly so, since some are medians"
    told = (
        f"All others of a group who put their values together learn the last one’s {exactly}; in the smallest groups "
        f"that takes {others} people."
    )
    if parted := max(step.parted for step in found):
        told += (
            f" Missing stays missing: {share(parted)} of the rows can be told from others of their group by what they "
            "miss, so that fewer stand together than the group has."
        )
    if (one := most_alike(found)).alike:
        told += (
            f" {share(one.alike)} of the rows stand in a group with one value of {one.column}: the average is theirs."
        )
    if (one := most_dominated(found)).dominated:
        told += f" {share(one.dominated)} stand in a group in which one row makes most of the average of {one.column}."
    yield "Averages of few people", told


def _groups(subject: Subject, step: Averages) -> str:
    return (
        f"{listed([one.column for one in step.columns], most=6)}: {counted(step.groups, 'group')} of {step.smallest:,} "
        f"rows at least, {step.median:,} in the middle; {subject.voice.share(step.at_smallest)} of the rows stand in a "
        "group of the smallest size."
    )
