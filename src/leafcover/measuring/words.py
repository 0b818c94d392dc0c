"""Measures in a few sentences: what was kept, what is hidden, what could not be measured."""

from collections.abc import Iterator

from leafcover.measuring.figures import Estimate, Risk
from leafcover.measuring.measures import Measures, Risks, Utility


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
            f"The tree for {trees.target} is {trees.grade}: its rules cover {trees.tolerant:.0%} of the rows "
            f"({trees.strict:.0%} when no cut may move), and both trees answer {trees.answers:.1%} of the rows alike."
        )
    if (agreements := utility.agreement) is not None:
        if (own := agreements.target) is not None:
            yield (
                f"On rows it never saw, a tree grown on the release answers as the original's does in "
                f"{_share(own.agreement)} of cases; one grown on a resample of the original in {_share(own.floor)}."
            )
        if agreements.others:
            yield (
                f"For the {len(agreements.others)} other columns as targets: {_share(agreements.mean)} "
                f"against {_share(agreements.mean_floor)}."
            )
    if (prediction := utility.prediction) is not None and prediction.scores:
        told = ", ".join(f"{s.model} {s.released.value:.3f} ({s.original.value:.3f})" for s in prediction.scores)
        yield f"Accuracy for {prediction.target} (in brackets: grown on the original): {told}."
    if utility.relations.every.count:
        yield (
            f"Relations between columns moved by {utility.relations.every.mean:.3f} on average, "
            f"the one that moved most by {utility.relations.every.largest:.3f}."
        )
    pairs = utility.value_pairs
    if pairs.pairs:
        yield (
            f"{pairs.new} pairs of values exist only in the release; "
            f"{pairs.rows_with_new:.1%} of the released rows show at least one."
        )


def hidden(measures: Measures) -> Iterator[str]:
    """Whom the release still shows."""
    risks = measures.risks
    if (informed := risks.informed) is not None:
        yield (
            f"Informed linkage: an attacker who knows {_keys(measures)} of a person and the law of the noise "
            f"({informed.law}) points at their row in {_risk(informed.first)} of cases, "
            f"among his ten best in {informed.ten}; {informed.how} attacked."
        )
    if (linkage := risks.linkage) is not None:
        yield f"The nearest released row is a person's own in {_risk(linkage.nearest)} of cases."
    if worst := _most_inferred(risks):
        yield worst
    if (rebuilt := risks.reconstruction) is not None and (column := rebuilt.most_told) is not None:
        yield (
            f"The value told most surely by the whole released row is {column.column}: {_risk(column.attack.main)}, "
            f"by guessing {column.attack.baseline}."
        )
    if (member := risks.membership) is not None:
        yield f"Being in the release is told from distance in {_risk(member.area)} of cases (0.5 is a coin)."
    if (unmoved := risks.unmoved) is not None:
        yield f"{_risk(unmoved.values)} of all values are unchanged, {unmoved.whole} of the rows wholly."
    yield f"Control: {measures.control}."


def _most_inferred(risks: Risks) -> str:
    """The column that the nearest released row tells best above control."""
    found = [(i, above) for i in risks.inferences if (above := i.nearest.above_control) is not None]
    if not found:
        return ""
    inference, above = max(found, key=lambda one: one[1].value)
    return (
        f"Inference from the nearest released row tells most of {inference.column}: {_risk(inference.nearest.main)}, "
        f"of people not released {inference.nearest.control}, so {above} above control."
    )


def _keys(measures: Measures) -> str:
    count = len(measures.keys)
    return "the key column" if count == 1 else f"the {count} key columns"


def _risk(risk: Risk) -> str:
    """A risk with its interval and its worst rows."""
    return str(risk) if risk.worst != risk.worst else f"{risk}, for the worst 1% {risk.worst:.2f}"


def _share(estimate: Estimate) -> str:
    return str(estimate) if estimate.low == estimate.low else f"{estimate.value:.3f}"
