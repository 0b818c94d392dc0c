"""What became of the relations between columns, and what statistics of several columns would say."""

from collections.abc import Iterator

from leafcover.measuring.measures import Utility
from leafcover.measuring.utility.relations import Relation
from leafcover.releasing.reporting.heat import square
from leafcover.releasing.reporting.phrases import counted, curled, started
from leafcover.releasing.reporting.relation_figures import figures
from leafcover.releasing.reporting.shapes import (
    Beside,
    Cell,
    Heading,
    Part,
    Picture,
    Pictures,
    Section,
    Words,
    fold,
    listing,
    section,
)
from leafcover.releasing.reporting.subject import Subject

MOST = 10  # relations, and pairs of columns, that are listed


def relations_section(subject: Subject) -> Section | None:
    """Relations of two columns; for others without a figure of any two."""
    if subject.measures is None:
        return None
    utility = subject.measures.utility
    parts: list[Part | None] = [*_words(subject, utility)]
    if subject.internal:
        parts += [*_moved(subject, utility), *_new_pairs(subject, utility), *figures(subject, utility)]
    return section("relations", "Relations between columns", *parts)


def _words(subject: Subject, utility: Utility) -> Iterator[Part]:
    found, voice = utility.relations, subject.voice
    if found.every.count:
        yield Words(
            "How strongly two columns go together, from 0 (not at all) to 1 (one tells the other): correlation of two "
            "numbers, Cramér’s V of two categories, the correlation ratio of a number and a category. "
            + _moved_by(subject, utility),
            tone="lead",
        )
    pairs = utility.value_pairs
    if pairs.pairs and not subject.internal:
        yield Words(f"{started(voice.share(pairs.rows_with_new))} of the rows show a pair of values that nobody had.")


def _moved_by(subject: Subject, utility: Utility) -> str:
    every, voice = utility.relations.every, subject.voice
    if every.count == 1:
        return f"The strength of the one relation there is moved by {voice.coarse(every.largest)}."
    return (
        f"Of {counted(every.count, 'relation')} the strength moved by {voice.figure(every.mean)} on average, of the "
        f"worst 1% by {voice.coarse(every.worst)}."
    )


def _moved(subject: Subject, utility: Utility) -> Iterator[Part | None]:
    from markupsafe import Markup

    found = utility.relations
    worst = [one for one in found.worst(MOST) if one.difference]
    if found.every.count and not worst:
        yield Words("No relation moved at all.")
    table = listing(
        "The relations that moved most",
        ("Columns", "Before", "After", "Moved by"),
        [_row(subject, one) for one in worst],
        f"Over {curled(found.how)}; {found.pairs:,} of {counted(found.of_pairs, 'pair')} of columns.",
    )
    drawn = square(found)
    title = "Strength before (below the diagonal) and after (above it): alike when kept"
    picture = Pictures((Picture(title, Markup(drawn)),)) if drawn else None  # matplotlib escapes every text
    if picture is not None and table is not None:
        yield Beside((picture, table))
    else:
        yield picture or table


def _row(subject: Subject, one: Relation) -> list[str | Cell]:
    said = subject.voice.figure
    columns = Cell(f"{one.first} with {one.second}", curled(one.figure))
    return [columns, said(one.before), said(one.after), said(one.difference)]


def _new_pairs(subject: Subject, utility: Utility) -> Iterator[Part | None]:
    found, voice = utility.value_pairs, subject.voice
    if not found.pairs:
        return
    yield Heading("Pairs of values that nobody had")
    yield Words(
        f"Of values that now stand in one row but never did before there are {counted(found.new, 'pair')}; "
        f"{voice.share(found.rows_with_new)} of the released rows show at least one, the worst 1% of the rows "
        f"{found.new_in_worst_rows:.1f} on average. Lost from the original: {counted(found.lost, 'pair')}, which "
        f"{voice.share(found.rows_with_lost)} of the original rows had."
    )
    yield fold(
        "Where they are",
        listing(
            "Pairs of columns with most of them",
            ("Columns", "New pairs", "Released rows", "Lost pairs", "Original rows"),
            [
                [f"{e.first} with {e.second}", f"{e.new:,}", f"{e.new_rows:,}", f"{e.lost:,}", f"{e.lost_rows:,}"]
                for e in found.worst(MOST)
            ],
            f"Categories and numbers of at most 20 values; {found.pairs:,} of {counted(found.of_pairs, 'pair')} of "
            "columns.",
        ),
    )
