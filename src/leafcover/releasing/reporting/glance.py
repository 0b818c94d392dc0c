"""The headline figures."""

from collections.abc import Iterator

from leafcover.releasing.reporting.shapes import Tile
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import NONE


def tiles(subject: Subject) -> Iterator[Tile]:
    """Risks first, then what was kept, then what was done."""
    voice = subject.voice
    yield _linkage(subject)
    if subject.measures is not None:
        yield _inference(subject)
        agreements = subject.measures.utility.agreement
        if agreements is not None and (own := agreements.target) is not None:
            value, interval = voice.estimate(own.agreement)
            note = f"95% interval {interval}; " if interval else ""
            yield Tile(
                value, "agreement on unseen rows", f"{note}{voice.estimate(own.floor)[0]} by a new sample of the people"
            )
    if (guide := subject.guide) is not None:
        yield Tile(voice.kept(guide.kept), "rows in the same leaf", f"of the tree for {guide.target}")
    if (changed := subject.changed) is not None:
        yield Tile(voice.share(changed), "values changed", "another row’s value, or a new one")
    if subject.release is not None and subject.measures is None:
        smallest = min((cell.smallest for cell in subject.release.cells), default=voice.rows)
        yield Tile(voice.count(smallest), "rows in the smallest cell", "the fewest that stand together")


def _linkage(subject: Subject) -> Tile:
    risk = subject.risk
    if risk is None:
        return Tile(NONE, "informed linkage", "not measured")
    value, interval = subject.voice.risk(risk)
    worst = subject.voice.worst(risk)
    return Tile(value, "informed linkage", f"95% interval {interval}" + (f"; worst 1%: {worst}" if worst else ""))


def _inference(subject: Subject) -> Tile:
    found = list(subject.inferred())
    if not found:
        return Tile(NONE, "points of inference above control", "no control")
    one, above = max(found, key=lambda both: both[1].value)
    value, interval = subject.voice.points(above, above.runs)
    return Tile(value, "points of inference above control", f"95% interval {interval}; {one.column}, told best")
