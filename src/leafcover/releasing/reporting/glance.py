"""The headline figures."""

from collections.abc import Iterator

from leafcover.releasing.reporting.shapes import Tile
from leafcover.releasing.reporting.subject import Subject
from leafcover.releasing.reporting.voice import HIDDEN, NONE
from leafcover.releasing.run import least_kept, mean_kept


def tiles(subject: Subject) -> Iterator[Tile]:
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


def _linkage(subject: Subject) -> Tile:
    risk = subject.risk
    if risk is None:
        return Tile(NONE, "informed linkage", subject.untold)
    value, interval = subject.voice.risk(risk)
    worst = subject.voice.worst(risk)
    note = f"people found by the strongest attacker; 95% interval {interval}"
    return Tile(value, "informed linkage", note + (f"; worst 1%: {worst}" if worst else ""))


def _inference(subject: Subject) -> Tile:
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
