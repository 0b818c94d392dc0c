"""What became of the rules of a whole forest, for both faces."""

from collections.abc import Iterator

from leafcover.measuring.utility.forest import ForestComparison
from leafcover.releasing.reporting.phrases import counted, curled
from leafcover.releasing.reporting.shapes import Heading, Part, Words, listing
from leafcover.releasing.reporting.subject import Subject

NOTE = (
    "100% when the same. Cuts near: they may move by 5% of a column’s range. In the original forest’s leaves: nothing "
    "is grown on the release here, but its rows are led down the original’s forest, and what its leaves hold of each "
    "class is compared; 100% by construction when the release was made within the cells of this very forest."
)


def forest_parts(subject: Subject, found: ForestComparison) -> Iterator[Part | None]:
    """Rules kept over the forest, and whether the original's own still hold."""
    if not found.rules.rules:
        return
    target = subject.pair.target
    yield Heading("Rules of a forest")
    yield Words(
        f"A forest for {target} was grown on the original and another on the release (SysFor: "
        f"{counted(found.trees[0], 'tree')} of C4.5 that begin with different tests). How many of the original’s rules "
        "are also in the release’s forest, in whatever tree, counted by the rows that each covers? The floor is the "
        f"same for one grown on a new sample of the same people; by chance, for one grown after {target} was shuffled."
    )
    head = ("Figure", "Release", "Floor", "By chance")
    note = f"{NOTE} {_rests_on(found)}" if subject.internal else NOTE
    yield listing("Rules kept over the forest", head, _rows(subject, found), note)


def _rests_on(found: ForestComparison) -> str:
    rules, trees = found.rules, found.trees
    return (
        f"{counted(rules.rules, 'rule')} in {counted(trees[0], 'tree')} before, {counted(rules.released, 'rule')} in "
        f"{counted(trees[1], 'tree')} after; one that stands in several trees counts once. The floor is the mean of "
        f"{counted(found.resamples, 'new sample')}. Grown on {curled(found.how)}."
    )


def _rows(subject: Subject, found: ForestComparison) -> list[tuple[str, str, str, str]]:
    voice = subject.voice
    rules = found.rules.kept, found.rules.floor, found.rules.chance
    leaves = found.leaves.kept, found.leaves.floor, found.leaves.chance
    rows = [
        ("Rules kept, cuts near", [shares.near for shares in rules]),
        ("Rules kept, cuts equal", [shares.exact for shares in rules]),
        ("Rows of the same class in the original forest’s leaves", [shares.rows for shares in leaves]),
    ]
    if subject.internal:
        rows[2:2] = [
            ("Rules kept, cuts near, each counted as one", [shares.near_alike for shares in rules]),
            ("Rules kept, cuts equal, each counted as one", [shares.exact_alike for shares in rules]),
        ]
        rows.append(("Leaves of that forest with the same classes", [shares.leaves for shares in leaves]))
    return [(name, voice.kept(kept), voice.share(floor), voice.share(chance)) for name, (kept, floor, chance) in rows]
