"""Measures in a few sentences: what was kept, what is hidden, what could not be measured."""

from collections.abc import Iterator

from leafcover.measuring.figures import Attack, Estimate, Risk, known
from leafcover.measuring.measures import Measures, Utility
from leafcover.measuring.risk.averages import most_alike, most_dominated
from leafcover.measuring.risk.inference import Inference
from leafcover.measuring.utility.forest import ForestComparison
from leafcover.measuring.utility.trees import SIMILAR, TreeComparison


def words(measures: Measures) -> str:
    """A short text for a terminal; every risk with its interval."""
    return "\n".join(
        [
            "What was kept",
            *(f"  {line}" for line in kept(measures.utility)),
            "What is hidden",
            *(f"  {line}" for line in hidden(measures)),
            *(["Not measured"] if measures.absent else []),
            *(f"  {absent.what}: {absent.why}" for absent in measures.absent),
        ]
    )


def kept(utility: Utility) -> Iterator[str]:
    """What the release still says."""
    if (trees := utility.trees) is not None:
        yield (
            f"Trees for {trees.target} grown on original and release are graded {trees.grade}: rules that they share "
            f"cover {trees.tolerant:.0%} of the rows ({trees.strict:.0%} when no cut may move), and both answer "
            f"{trees.answers:.1%} of the rows alike.{_pruned(trees)}"
        )
    if (forest := utility.forest) is not None:
        yield from _forest(forest)
    if (agreements := utility.agreement) is not None:
        own = agreements.target
        if own is not None and known(own.agreement.value):
            yield (
                f"On rows it never saw, a tree grown on the release answers as the original's does in "
                f"{_share(own.agreement)} of cases; one grown on a resample of the original in {_share(own.floor)}."
            )
        if agreements.others and known(agreements.mean.value):
            count = len(agreements.others)
            other = "" if agreements.target is None else "other "
            others = f"the {other}column as target" if count == 1 else f"the {count} {other}columns as targets"
            yield f"For {others}: {_share(agreements.mean)} against {_share(agreements.mean_floor)}."
    prediction = utility.prediction
    scores = [] if prediction is None else [one for one in prediction.scores if known(one.released.value)]
    if prediction is not None and scores:
        told = ", ".join(f"{s.model} {s.released.value:.3f} ({s.original.value:.3f})" for s in scores)
        yield f"Accuracy for {prediction.target} (in brackets: grown on the original): {told}."
    relations = utility.relations.every
    if relations.count == 1:
        yield f"The one relation between two columns moved by {relations.largest:.3f}."
    elif relations.count:
        yield (
            f"Relations between columns moved by {relations.mean:.3f} on average, "
            f"the one that moved most by {relations.largest:.3f}."
        )
    if (numbers := utility.properties).numbers:
        yield (
            f"Means kept: {numbers.means_kept} of {numbers.numbers} number columns; variances not larger: "
            f"{numbers.variances_not_larger} of {numbers.numbers}."
        )
    pairs = utility.value_pairs
    if pairs.pairs:
        new = "1 pair of values exists" if pairs.new == 1 else f"{pairs.new:,} pairs of values exist"
        yield (
            f"{new} only in the release; {pairs.rows_with_new:.1%} of the released rows show at least one."
            if pairs.new
            else "No pair of values exists only in the release."
        )


def _forest(forest: ForestComparison) -> Iterator[str]:
    rules, leaves = forest.rules, forest.leaves
    if not rules.rules:
        return
    count = forest.trees[0]
    yield (
        f"Of the rules of a forest of {count} tree{'' if count == 1 else 's'} grown on the original, counted by the "
        f"rows they cover, one grown on the release holds {rules.kept.near:.0%} ({rules.kept.exact:.0%} when no cut "
        f"may move); one grown on a resample of the original {rules.floor.near:.0%} ({rules.floor.exact:.0%}), one "
        f"grown for a shuffled target {rules.chance.near:.0%} ({rules.chance.exact:.0%})."
    )
    yield (
        "Filled with released rows, the leaves of the original's forest hold the classes that they held for "
        f"{leaves.kept.rows:.1%} of the rows; with a resample for {leaves.floor.rows:.1%}, with a shuffled target for "
        f"{leaves.chance.rows:.1%}."
    )


def _pruned(trees: TreeComparison) -> str:
    """Why trees are called similar that share few rules."""
    if trees.grade != "similar" or trees.tolerant >= SIMILAR:
        return ""
    both = ("original's", "release's") if trees.pruned == "original" else ("release's", "original's")
    return f" They count as similar because the {both[0]} tree is a pruned form of the {both[1]}."


def hidden(measures: Measures) -> Iterator[str]:
    """Whom the release still shows."""
    risks = measures.risks
    if (informed := risks.informed) is not None and informed.first.tries:
        yield (
            f"Informed linkage: an attacker who knows {_keys(measures)} of a person and the law of the noise "
            f"({informed.law}) points at their row in {_cases(informed.first)}, "
            f"and has it among his ten best in {informed.ten}; {informed.how} attacked."
        )
    if (linkage := risks.linkage) is not None and linkage.nearest.tries:
        yield f"The nearest released row is a person's own in {_cases(linkage.nearest)}."
    if risks.inferences:
        yield _most_inferred(measures)
    rebuilt = risks.reconstruction
    if rebuilt is not None and (column := rebuilt.most_told) is not None and column.best.tries:
        yield (
            f"The value that the whole released row tells furthest beyond guessing is {column.column}: right in "
            f"{_cases(column.best)}; the commonest value would be in {column.attack.baseline}."
        )
    if (member := risks.membership) is not None:
        yield (
            "Membership: of two people, one of them in the release, the one nearer to a released row is the right one "
            f"in {_cases(member.area)}; 0.5 is a coin."
        )
    if risks.averages:
        smallest = min(step.smallest for step in risks.averages)
        alike, dominated = most_alike(risks.averages), most_dominated(risks.averages)
        yield (
            f"Averages of groups of {smallest} rows at least: the others of a group together learn the last. "
            f"{alike.alike:.1%} of the rows stand in a group with one value of {alike.column}, "
            f"{dominated.dominated:.1%} in one in which one row makes most of the average of {dominated.column}; no "
            "other column has more."
        )
        if parted := max(step.parted for step in risks.averages):
            yield (
                f"Missing stays missing: {parted:.1%} of the rows can be told from others of their group by what they "
                "miss, and stand among fewer rows than the smallest group has."
            )
    if (unmoved := risks.unmoved) is not None:
        yield (
            f"{unmoved.values} of all values are unchanged, {unmoved.values.worst:.2f} in the worst 1% of the rows; "
            f"{unmoved.whole} of the rows are wholly unchanged."
        )
    yield f"Control: {measures.control}."


def _most_inferred(measures: Measures) -> str:
    """The column told furthest above control, or beyond guessing when there is no control, by the strongest attack."""
    tried = measures.risks.inferences
    found = [(one, above) for one in tried if (above := _above(one.strongest)) is not None]
    some = f"{len(tried)} of {measures.columns} columns" if len(tried) < measures.columns else "all columns"
    if not found:
        beyond = max(tried, key=lambda one: one.strongest.main.value - one.strongest.baseline.value)
        return (
            f"Inference by {_by_what(beyond)} tells {beyond.column} furthest beyond guessing, of {some} tried: right "
            f"in {_cases(beyond.strongest.main)}, by guessing in {beyond.strongest.baseline}; no control says how much "
            "of it is a pattern."
        )
    one, above = max(found, key=lambda both: both[1].value)
    shown = "" if above.low > 0 else ", so no effect was shown"
    return (
        f"Inference by {_by_what(one)} tells {one.column} furthest above control, of {some} tried: right in "
        f"{_cases(one.strongest.main)}, of people not released in {one.strongest.control}; {above} above "
        f"control{shown}."
    )


def _above(attack: Attack) -> Estimate | None:
    """How far an attack lies above its control; none where there was nobody to try it on."""
    return attack.above_control if attack.main.tries and attack.control and attack.control.tries else None


def _by_what(one: Inference) -> str:
    if one.strongest is one.learned:
        return "a model grown on the release"
    trusted = " by the columns that moved least" if one.strongest is one.trusted else ""
    return f"the nearest released row{trusted}"


def _keys(measures: Measures) -> str:
    count = len(measures.keys)
    return "nothing" if not count else "the key column" if count == 1 else f"the {count} key columns"


def _cases(risk: Risk) -> str:
    """A risk with its interval and its worst rows."""
    if not risk.tries:
        return "no case (nobody to try)"
    told = f"{risk} of cases"
    return f"{told} ({risk.worst:.2f} among the worst 1%)" if known(risk.worst) else told


def _share(estimate: Estimate) -> str:
    """A share with its interval, which ends at 0 and 1."""
    if not known(estimate.low):
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} ({max(0.0, estimate.low):.3f} to {min(1.0, estimate.high):.3f})"
