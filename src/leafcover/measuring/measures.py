"""Everything that is measured of a release, in one frozen object."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from leafcover.fast.arrays import Rows
from leafcover.measuring.learners import learning
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.attribution import Attribution, attribution
from leafcover.measuring.risk.averages import Averages, averages
from leafcover.measuring.risk.column_sets import ColumnSets, column_sets
from leafcover.measuring.risk.distances import Distances, distances
from leafcover.measuring.risk.individual import Individual, individual
from leafcover.measuring.risk.inference import Inference, inferences
from leafcover.measuring.risk.informed import Evidence, Informed, informed
from leafcover.measuring.risk.intervals import Intervals, intervals
from leafcover.measuring.risk.keys import KeyClasses, key_classes
from leafcover.measuring.risk.learned import learned_linkage
from leafcover.measuring.risk.linkage import Linkage, distance_linkage
from leafcover.measuring.risk.membership import Membership, membership
from leafcover.measuring.risk.reconstruction import Reconstruction, reconstruction
from leafcover.measuring.risk.sers import Candidates, Sers, candidates, sers
from leafcover.measuring.risk.singling_out import SinglingOut, singling_out
from leafcover.measuring.risk.suda import Suda, suda
from leafcover.measuring.risk.unmoved import Unmoved, unmoved
from leafcover.measuring.utility.agreement import Agreements, agreement
from leafcover.measuring.utility.biases import Biases, biases
from leafcover.measuring.utility.clusters import Clusters, clusters
from leafcover.measuring.utility.columns import Columns, columns
from leafcover.measuring.utility.forest import ForestComparison, forests
from leafcover.measuring.utility.heaps import Heaps, heaps
from leafcover.measuring.utility.information_loss import InformationLoss, information_loss
from leafcover.measuring.utility.prediction import Prediction, prediction
from leafcover.measuring.utility.propensity import Propensity, propensity, propensity_of_trees
from leafcover.measuring.utility.properties import Properties, properties
from leafcover.measuring.utility.regression import Regression, regression
from leafcover.measuring.utility.relations import Relations, relations
from leafcover.measuring.utility.tails import Tails, tails
from leafcover.measuring.utility.totals import Totals, totals
from leafcover.measuring.utility.trees import TreeComparison, trees
from leafcover.measuring.utility.value_pairs import ValuePairs, value_pairs

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
    reconstruction: Reconstruction | None
    singling_out: SinglingOut
    column_sets: ColumnSets
    membership: Membership | None
    attribution: Attribution
    keys: KeyClasses
    keys_of_release: KeyClasses
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
    keys: tuple[str, ...]
    confidential: tuple[str, ...]
    paired: bool
    control: str  # where the rows come from that were not released
    utility: Utility
    risks: Risks
    absent: tuple[Absent, ...]

    def __str__(self) -> str:
        from leafcover.measuring.words import words

        return words(self)


@dataclass(frozen=True)
class Facts:
    """What the plan alone tells, handed in by whoever knows it."""

    pinned: Mapping[str, float] = field(default_factory=dict)
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
        pair.keys,
        pair.confidential,
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
        keys=step("counting keys", lambda: key_classes(pair)),
        keys_of_release=key_classes(pair, of="release"),
        suda=step("looking for special uniques", lambda: suda(pair)),
        individual=individual(pair),
        distances=step("measuring distances", lambda: distances(attacked)),
        intervals=intervals(pair),
        sers=sers(pair),
        candidates=step("counting candidates", lambda: candidates(pair)),
        unmoved=unmoved(
            pair,
            pinned=facts.pinned or None,
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
