"""Measures in a few sentences: what was kept, what is hidden, what could not be measured."""

from collections.abc import Iterator

from leafcover.measuring.figures import Estimate, Risk, known
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
            f"The tree for {trees.target} is {trees.grade}: rules that it shares with the original's cover "
            f"{trees.tolerant:.0%} of the rows ({trees.strict:.0%} when no cut may move), and both trees answer "
            f"{trees.answers:.1%} of the rows alike."
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
            f"({informed.law}) points at their row in {_cases(informed.first)}, "
            f"and has it among his ten best in {informed.ten}; {informed.how} attacked."
        )
    if (linkage := risks.linkage) is not None:
        yield f"The nearest released row is a person's own in {_cases(linkage.nearest)}."
    if worst := _most_inferred(risks):
        yield worst
    if (rebuilt := risks.reconstruction) is not None and (column := rebuilt.most_told) is not None:
        yield (
            f"The value told most surely by the whole released row is {column.column}: right in "
            f"{_cases(column.best)}, by guessing {column.attack.baseline}."
        )
    if (member := risks.membership) is not None:
        yield f"Being in the release is told from distance in {_cases(member.area)} (0.5 is a coin)."
    if (unmoved := risks.unmoved) is not None:
        yield (
            f"{unmoved.values} of all values are unchanged, {unmoved.values.worst:.2f} in the worst 1% of the rows; "
            f"{unmoved.whole} of the rows are wholly unchanged."
        )
    yield f"Control: {measures.control}."


def _most_inferred(risks: Risks) -> str:
    """The column that the nearest released row tells best above control."""
    found = [(i, above) for i in risks.inferences if (above := i.nearest.above_control) is not None]
    if not found:
        return _inferred_without_control(risks)
    inference, above = max(found, key=lambda one: one[1].value)
    return (
        f"Inference from the nearest released row tells most of {inference.column}: right in "
        f"{_cases(inference.nearest.main)}, of people not released in {inference.nearest.control}; "
        f"{above} above control."
    )


def _inferred_without_control(risks: Risks) -> str:
    """The column that is told best beyond guessing, when nobody can say how much of it is a pattern."""
    beyond = max(risks.inferences, key=lambda i: i.nearest.main.value - i.nearest.baseline.value, default=None)
    if beyond is None:
        return ""
    return (
        f"Inference from the nearest released row tells most of {beyond.column}: right in "
        f"{_cases(beyond.nearest.main)}, by guessing in {beyond.nearest.baseline}; no control says how much of it "
        "is a pattern."
    )


def _keys(measures: Measures) -> str:
    count = len(measures.keys)
    return "the key column" if count == 1 else f"the {count} key columns"


def _cases(risk: Risk) -> str:
    """A risk with its interval and its worst rows."""
    told = f"{risk} of cases"
    return f"{told} ({risk.worst:.2f} among the worst 1%)" if known(risk.worst) else told


def _share(estimate: Estimate) -> str:
    return str(estimate) if known(estimate.low) else f"{estimate.value:.3f}"
