"""Everything that is measured of a release, in one frozen object."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import getdoc
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from leafcover.arrays import Rows
from leafcover.metrics.disclosure.attribute_inference import Inference, inferences
from leafcover.metrics.disclosure.attribution import Attribution, ReconstructionAttack, attribution, reconstruction
from leafcover.metrics.disclosure.individual_risk import Individual, Suda, individual, suda
from leafcover.metrics.disclosure.interval_disclosure import (
    Averages,
    Intervals,
    Unmoved,
    averages,
    intervals,
    most_alike,
    most_dominated,
    unmoved,
)
from leafcover.metrics.disclosure.k_anonymity import KAnonymity, k_anonymity
from leafcover.metrics.disclosure.linkability import ColumnSets, column_sets
from leafcover.metrics.disclosure.membership_inference import Membership, membership
from leafcover.metrics.disclosure.nearest_record import Candidates, Distances, Sers, candidates, distances, sers
from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.record_linkage import Evidence, Informed, Linkage, distance_linkage, informed
from leafcover.metrics.disclosure.singling_out import SinglingOut, singling_out
from leafcover.metrics.estimates import Attack, Estimate, Risk, known
from leafcover.metrics.models import learning
from leafcover.metrics.pair import Pair
from leafcover.metrics.utility.bivariate import Relations, ValuePairs, relations, value_pairs
from leafcover.metrics.utility.clusters import Clusters, clusters
from leafcover.metrics.utility.forest import ForestComparison, forests
from leafcover.metrics.utility.information_loss import (
    Biases,
    InformationLoss,
    Properties,
    biases,
    information_loss,
    properties,
)
from leafcover.metrics.utility.prediction import Agreements, Prediction, agreement, prediction
from leafcover.metrics.utility.propensity import Propensity, Totals, propensity, propensity_of_trees, totals
from leafcover.metrics.utility.regression import Regression, regression
from leafcover.metrics.utility.trees import SIMILAR, TreeComparison, trees
from leafcover.metrics.utility.univariate import Columns, Heaps, Tails, columns, heaps, tails

Found = TypeVar("Found")
STEPS = 22  # that are told, at most
LEARNED = 24_000  # rows that models learn from, over all repeated releases


@dataclass(frozen=True)
class Utility:
    """What the release still says. A measure that needs a target, or rows that were not released, may be absent."""

    trees: TreeComparison | None
    forest: ForestComparison | None
    prediction: Prediction | None
    agreement: Agreements | None
    columns: Columns
    tails: Tails
    heaps: Heaps
    relations: Relations
    value_pairs: ValuePairs
    biases: Biases
    information_loss: InformationLoss
    propensity: tuple[Propensity, ...]
    regression: Regression | None
    totals: Totals | None
    clusters: tuple[Clusters, ...]
    properties: Properties


@dataclass(frozen=True)
class Risks:
    """Whom the release still shows. A measure that needs pairs, or rows that were not released, may be absent."""

    informed: Informed | None  # by the plan's own law, else by a learned one: the headline
    learned: Informed | None
    linkage: Linkage | None
    inferences: tuple[Inference, ...]
    reconstruction: ReconstructionAttack | None
    singling_out: SinglingOut
    column_sets: ColumnSets
    membership: Membership | None
    attribution: Attribution
    k_anonymity: KAnonymity
    k_anonymity_of_release: KAnonymity
    suda: Suda
    individual: Individual
    distances: Distances
    intervals: Intervals | None
    sers: Sers | None
    candidates: Candidates | None
    unmoved: Unmoved | None
    averages: tuple[Averages, ...]  # of steps that put the averages of groups in the place of values


@dataclass(frozen=True)
class Absent:
    """A measure that could not be taken, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Measures:
    """What a release cost and what it hides; it speaks of the original, so it is for the steward alone."""

    rows: int
    columns: int
    target: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    paired: bool
    control: str  # where the rows come from that were not released
    utility: Utility
    risks: Risks
    absent: tuple[Absent, ...]

    def __str__(self) -> str:

        return words(self)

    def to_json(self) -> str:
        """Every figure as JSON; its schema is in the documentation."""
        return json.dumps(plain(self), indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Facts:
    """What the plan alone tells, handed in by whoever knows it."""

    fixed: Mapping[str, float] = field(default_factory=dict)
    widths: Mapping[str, float] = field(default_factory=dict)
    single_cells: float | None = None
    pure_cells: float | None = None
    groups: Sequence[tuple[tuple[str, ...], Rows, bool]] = ()  # of averaged columns: each row's, and whether by means


def measures(
    pair: Pair,
    *,
    tests: Sequence[Pair] = (),
    control: str = "no control",
    evidence: Evidence | None = None,
    facts: Facts | None = None,
    bins: int | None = None,
    tell: Callable[[str, float], None] = lambda words, share: None,
) -> Measures:
    """Take every measure that the pair allows.

    ``tests`` are pairs whose control rows guided nothing: the pair itself when it has a control, or the same plan done
    again on other rows. Attacks that need a control work on the first of them.
    """
    attacked = tests[0] if tests else pair
    step = _Step(tell)
    with learning():
        utility = _utility(pair, tests, bins, step)
        risks = _risks(pair, attacked, evidence, facts or Facts(), step)
    tell("done", 1.0)
    return Measures(
        len(pair.original),
        len(pair.names),
        pair.target,
        pair.quasi_identifiers,
        pair.sensitive,
        pair.paired,
        control,
        utility,
        risks,
        tuple(_absent(pair, tests)),
    )


def _utility(pair: Pair, tests: Sequence[Pair], bins: int | None, step: "_Step") -> Utility:
    has_target = bool(pair.target)
    learned = LEARNED // max(len(tests), 1)  # repeated releases share the work of one
    compared = step("comparing trees", lambda: trees(pair, bins=bins)) if has_target else None
    predicted = step("predicting", lambda: prediction(tests, most=learned)) if tests and has_target else None
    return Utility(
        trees=compared,
        forest=step("comparing forests", lambda: forests(pair, bins=bins)) if has_target else None,
        prediction=predicted,
        agreement=step("asking trees for every column", lambda: agreement(tests, most=learned)) if tests else None,
        columns=step("comparing columns", lambda: columns(pair)),
        tails=tails(pair),
        heaps=heaps(pair),
        relations=step("comparing relations", lambda: relations(pair)),
        value_pairs=step("looking for pairs of values", lambda: value_pairs(pair)),
        biases=step("weighing biases", lambda: biases(pair, **_mined(compared, predicted))),
        information_loss=information_loss(pair),
        propensity=step("telling the tables apart", lambda: (propensity(pair), propensity_of_trees(pair))),
        regression=step("fitting regressions", lambda: regression(pair)) if has_target else None,
        totals=totals(pair) if pair.weight else None,
        clusters=step("finding clusters", lambda: clusters(pair)),
        properties=properties(pair),
    )


def _mined(compared: TreeComparison | None, predicted: Prediction | None) -> dict[str, float]:
    """What the data-mining bias rests on, as far as it was measured."""
    found = {}
    if compared is not None:
        found["rule_similarity"] = compared.tolerant
    if predicted is not None and predicted.scores:
        found["accuracy_difference"] = predicted.scores[0].difference.value
    return found


def _risks(pair: Pair, attacked: Pair, evidence: Evidence | None, facts: Facts, step: "_Step") -> Risks:
    learned = step("linking by a learned law", lambda: learned_linkage(pair))
    by_law = None if evidence is None else step("linking by the plan's law", lambda: informed(evidence))
    return Risks(
        informed=by_law or learned,
        learned=learned,
        linkage=step("linking by distance", lambda: distance_linkage(pair)),
        inferences=step("inferring columns", lambda: inferences(attacked)),
        reconstruction=step("reconstructing values", lambda: reconstruction(pair)),
        singling_out=step("singling out", lambda: singling_out(attacked)),
        column_sets=step("joining column sets", lambda: column_sets(attacked)),
        membership=step("testing membership", lambda: membership(attacked)),
        attribution=attribution(attacked),
        k_anonymity=step("counting keys", lambda: k_anonymity(pair)),
        k_anonymity_of_release=k_anonymity(pair, of="release"),
        suda=step("looking for special uniques", lambda: suda(pair)),
        individual=individual(pair),
        distances=step("measuring distances", lambda: distances(attacked)),
        intervals=intervals(pair),
        sers=sers(pair),
        candidates=step("counting candidates", lambda: candidates(pair)),
        unmoved=unmoved(
            pair,
            fixed=facts.fixed or None,
            widths=facts.widths or None,
            single_cells=facts.single_cells,
            pure_cells=facts.pure_cells,
        ),
        averages=tuple(averages(pair, names, label, means=means) for names, label, means in facts.groups),
    )


def _absent(pair: Pair, tests: Sequence[Pair]) -> Iterator[Absent]:
    if not pair.paired:
        yield Absent(
            "linkage, reconstruction, intervals and what did not move",
            "No pairs say which released row is whose. Give --pairs.",
        )
    if not tests:
        yield Absent(
            "prediction, agreement and membership",
            "No rows are known that were not released. Give --control, or release with --hold-out.",
        )
    if not pair.target:
        yield Absent("trees, forests, prediction and regression", "No target is named. Give --target.")
    if not pair.weight:
        yield Absent("weighted totals", "No column of weights is named. Give --weight.")


class _Step:
    """Tells what is being done, then does it."""

    def __init__(self, tell: Callable[[str, float], None]) -> None:
        self._tell, self._done = tell, 0

    def __call__(self, words: str, take: Callable[[], Found]) -> Found:
        self._tell(words, self._done / STEPS)
        self._done += 1
        return take()


# Measures as plain data for JSON, and the schema that says what such data looks like.


def plain(value: Any) -> Any:
    """Dictionaries, lists, numbers and text; a figure that does not exist is null; properties stand with the fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name, _, _ in _entries(type(value))}
    if isinstance(value, dict):
        return {str(name): plain(content) for name, content in value.items()}
    if isinstance(value, tuple | list):
        return [plain(content) for content in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def schema(kind: type[Any]) -> dict[str, Any]:
    """The JSON schema of a measure's plain data, its words taken from the code."""
    known: dict[str, Any] = {}
    found = _described(kind, known)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "$defs": dict(sorted(known.items()))}


def _entries(kind: type[Any]) -> Iterator[tuple[str, Any, str]]:
    """Name, type and words of everything a measure tells."""
    hints = get_type_hints(kind)
    for one in fields(kind):
        yield one.name, hints[one.name], ""
    for name in dir(kind):
        found = getattr(kind, name)
        if isinstance(found, property) and not name.startswith("_") and found.fget is not None:
            yield name, get_type_hints(found.fget)["return"], getdoc(found) or ""


def _described(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """The schema of one type; dataclasses are described once, by name."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        rest = [_described(one, known) for one in inside if one is not NoneType]
        return {"anyOf": [*rest, {"type": "null"}]} if NoneType in inside else {"anyOf": rest}
    if origin is tuple and inside[-1:] == (...,):
        return {"type": "array", "items": _described(inside[0], known)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [_described(one, known) for one in inside]}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is not None and len(inside) == 2:  # a mapping from names
        return {"type": "object", "additionalProperties": _described(inside[1], known)}
    if is_dataclass(kind):
        return _object(kind, known)
    types: dict[Any, Any] = {int: "integer", str: "string", bool: "boolean", float: ["number", "null"]}
    if kind not in types:
        raise TypeError(f"A measure may not hold {kind!r}: it has no plain form.")
    return {"type": types[kind]}


def _object(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    words = (getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
    if name not in known:
        known[name] = {}  # so that a type that holds itself ends
        inner = {}
        for entry, hint, said in _entries(kind):
            inner[entry] = _described(hint, known)
            if said:
                inner[entry] = {**inner[entry], "description": said.split("\n\n")[0].replace("\n", " ")}
        described = {"type": "object", "properties": inner, "required": list(inner), "additionalProperties": False}
        known[name] = {"description": words, **described}
    elif known[name] and known[name]["description"] != words:
        raise TypeError(f"Two measures are called {name}.")
    return {"$ref": f"#/$defs/{name}"}


# Measures in a few sentences: what was kept, what is hidden, what could not be measured.


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
    count = len(measures.quasi_identifiers)
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
