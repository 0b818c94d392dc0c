"""All measures of a release: taken together, and as plain data with its JSON schema."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from inspect import getdoc
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from leafcover.metrics.disclosure.attribute_inference import Inference, inferences
from leafcover.metrics.disclosure.copies import Copies, copies
from leafcover.metrics.disclosure.individual_risk import Individual, Suda, individual, suda
from leafcover.metrics.disclosure.informed_inference import InformedAttacks, Test, informed_attacks
from leafcover.metrics.disclosure.interval_disclosure import (
    Averages,
    IntervalDisclosure,
    Unmoved,
    averages,
    intervals,
    unmoved,
)
from leafcover.metrics.disclosure.k_anonymity import KAnonymity, k_anonymity
from leafcover.metrics.disclosure.membership_inference import Membership, membership
from leafcover.metrics.disclosure.nearest_record import Candidates, Distances, Sers, candidates, distances, sers
from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.reconstruction import Attribution, ReconstructionAttack, attribution, reconstruction
from leafcover.metrics.disclosure.record_linkage import Evidence, Informed, Linkage, distance_linkage, informed
from leafcover.metrics.disclosure.singling_out import ColumnSets, SinglingOut, column_sets, singling_out
from leafcover.metrics.models import learning
from leafcover.metrics.pair import Pair, say
from leafcover.metrics.registry import MEASURES, Context, ExtraMeasure, Facts, Measure, Need, Side
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
from leafcover.metrics.utility.margins import Margins, RelationErrors, margins, relation_errors
from leafcover.metrics.utility.prediction import Agreements, Prediction, agreement, prediction
from leafcover.metrics.utility.propensity import Propensity, Totals, propensity, propensity_of_trees, totals
from leafcover.metrics.utility.regression import Regression, regression
from leafcover.metrics.utility.trees import TreeComparison, trees
from leafcover.metrics.utility.univariate import Columns, Heaps, Tails, columns, heaps, tails


@dataclass(frozen=True)
class Utility:
    """Utility measures. A measure that needs a target, or rows outside the release, may be absent."""

    trees: TreeComparison | None
    forest: ForestComparison | None
    prediction: Prediction | None
    agreement: Agreements | None
    columns: Columns
    tails: Tails
    heaps: Heaps
    relations: Relations
    relation_errors: RelationErrors
    margins: Margins
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
    """Disclosure-risk measures. A measure that needs pairs, or rows outside the release, may be absent."""

    informed: Informed | None  # the headline: by the plan's own distribution, or else by an estimated one
    learned: Informed | None
    linkage: Linkage | None
    informed_attacks: InformedAttacks | None  # by an attacker who knows the method
    copies: Copies  # of records, parts of records and rare values
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
    intervals: IntervalDisclosure | None
    sers: Sers | None
    candidates: Candidates | None
    unmoved: Unmoved | None
    averages: tuple[Averages, ...]  # of steps that replace values by averages of groups


@dataclass(frozen=True)
class Absent:
    """A measure that could not be taken, and the reason."""

    what: str
    why: str


@dataclass(frozen=True)
class Measures:
    """All measures of a release. They describe the original, so they are for the data steward only.

    Attributes
    ----------
    rows, columns : int
        The size of the original.
    target : str
        The column to predict, or empty.
    quasi_identifiers, sensitive : tuple of str
        The columns an attacker knows about a person, and those that must not be inferred.
    paired : bool
        Whether the original row of each released row is known.
    descends : bool
        Whether a released row comes from one original row, as far as is known; not if every column was dealt.
    control : str
        Where the rows outside the release come from.
    utility : Utility
        The utility measures.
    risks : Risks
        The disclosure-risk measures.
    absent : tuple of Absent
        The measures that could not be taken, and why.
    extra : tuple of ExtraMeasure
        The measures of plugins.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash"])
    >>> found = lc.release(table, "additive", seed=7).measure()
    >>> found.rows, round(found.risks.informed.first.value, 2)
    (178, 0.09)
    """

    rows: int
    columns: int
    target: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    paired: bool
    descends: bool
    control: str
    utility: Utility
    risks: Risks
    absent: tuple[Absent, ...]
    extra: tuple[ExtraMeasure, ...] = ()

    def __str__(self) -> str:
        from leafcover.metrics.summary import words

        return words(self)

    def to_json(self) -> str:
        """Every figure as JSON; its schema is in the documentation."""
        return json.dumps(plain(self), indent=1, ensure_ascii=False) + "\n"


def measures(
    pair: Pair,
    *,
    tests: Sequence[Pair] = (),
    control: str = "no control",
    evidence: Evidence | None = None,
    facts: Facts | None = None,
    bins: int | None = None,
    attackers: Callable[[], Sequence[Test]] = tuple,
    tell: Callable[[str, float], None] = lambda text, share: None,
) -> Measures:
    """Take every measure that the pair allows; `Context` says what ``tests`` are."""
    context = Context(pair, tests, evidence, facts or Facts(), bins, attackers, tell)
    taken = take_measures(context)
    by_side: dict[str, dict[str, Any]] = {"utility": {}, "risk": {}}
    extra = []
    for one in MEASURES.values():
        if one.place:
            by_side[one.side][one.place] = taken[one.name]
        elif taken.get(one.name) is not None:
            extra.append(ExtraMeasure(one.name, one.side, one.description, taken[one.name]))
    return Measures(
        len(pair.original),
        len(pair.names),
        pair.target,
        pair.quasi_identifiers,
        pair.sensitive,
        pair.paired,
        context.facts.descends,
        control,
        Utility(**by_side["utility"]),
        Risks(**by_side["risk"]),
        tuple(_absent(pair, tests, context.facts.descends)),
        tuple(extra),
    )


def take_measures(context: Context, names: Iterable[str] | None = None) -> dict[str, Any]:
    """What the named measures found, or all of them; None for one that needs what is not there."""
    with learning():
        chosen = [name for name, one in MEASURES.items() if not one.by_name] if names is None else names
        return {name: context.result(name) for name in chosen}


def _headline(context: Context) -> Informed | None:
    """Record linkage by the plan's own distribution where it is known, or else by an estimated one."""
    found = None if context.evidence is None else informed(context.evidence)
    return found or context.result("probabilistic_linkage")


def _unchanged(context: Context) -> Unmoved | None:
    facts = context.facts
    return unmoved(
        context.pair,
        fixed=facts.fixed or None,
        widths=facts.widths or None,
        single_cells=facts.single_cells,
        pure_cells=facts.pure_cells,
    )


def _data_mining(compared: TreeComparison | None, predicted: Prediction | None) -> dict[str, float]:
    """The inputs of the data-mining bias, as far as they were measured."""
    found = {}
    if compared is not None:
        found["rule_similarity"] = compared.tolerant
    if predicted is not None and predicted.scores:
        found["accuracy_difference"] = predicted.scores[0].difference.value
    return found


def _averaged(context: Context) -> tuple[Averages, ...]:
    groups = context.facts.groups
    return tuple(averages(context.pair, names, label, means=means) for names, label, means in groups)


# The measures that are built in: name, field of `Utility` or `Risks`, what it needs, how it is taken.

_UTILITY: dict[str, tuple[str, tuple[Need, ...], Callable[[Context], Any]]] = {
    "trees": ("trees", ("target",), lambda c: trees(c.pair, bins=c.bins)),
    "forest": ("forest", ("target",), lambda c: forests(c.pair, bins=c.bins)),
    "prediction": (
        "prediction",
        ("target", "control"),
        lambda c: prediction(c.tests, most=c.learned, most_tests=c.predicted),
    ),
    "agreement": ("agreement", ("control",), lambda c: agreement(c.tests, most=c.learned, most_tests=c.predicted)),
    "univariate": ("columns", (), lambda c: columns(c.pair)),
    "tails": ("tails", (), lambda c: tails(c.pair)),
    "heaping": ("heaps", (), lambda c: heaps(c.pair)),
    "bivariate": ("relations", (), lambda c: relations(c.pair)),
    "relation_errors": ("relation_errors", (), lambda c: relation_errors(c.pair)),
    "margins": ("margins", (), lambda c: margins(c.pair)),
    "value_pairs": ("value_pairs", (), lambda c: value_pairs(c.pair)),
    "biases": ("biases", (), lambda c: biases(c.pair, **_data_mining(c.result("trees"), c.result("prediction")))),
    "information_loss": ("information_loss", (), lambda c: information_loss(c.pair)),
    "propensity": ("propensity", (), lambda c: (propensity(c.pair), propensity_of_trees(c.pair))),
    "regression": ("regression", ("target",), lambda c: regression(c.pair)),
    "totals": ("totals", ("weight",), lambda c: totals(c.pair)),
    "clusters": ("clusters", (), lambda c: clusters(c.pair)),
    "properties": ("properties", (), lambda c: properties(c.pair)),
}
_RISKS: dict[str, tuple[str, tuple[Need, ...], Callable[[Context], Any]]] = {
    "probabilistic_linkage": ("learned", ("pairs",), lambda c: learned_linkage(c.pair)),
    "record_linkage": ("informed", ("pairs",), _headline),
    "distance_linkage": ("linkage", ("pairs",), lambda c: distance_linkage(c.pair)),
    "informed_inference": ("informed_attacks", (), lambda c: informed_attacks(c.attackers())),
    "copies": ("copies", (), lambda c: copies(c.attacked)),
    "attribute_inference": ("inferences", (), lambda c: inferences(c.attacked)),
    "reconstruction": ("reconstruction", ("pairs",), lambda c: reconstruction(c.pair)),
    "singling_out": ("singling_out", (), lambda c: singling_out(c.attacked)),
    "linkability": ("column_sets", (), lambda c: column_sets(c.attacked)),
    "membership_inference": ("membership", (), lambda c: membership(c.attacked)),
    "attribution": ("attribution", (), lambda c: attribution(c.attacked)),
    "k_anonymity": ("k_anonymity", (), lambda c: k_anonymity(c.pair)),
    "k_anonymity_of_release": ("k_anonymity_of_release", (), lambda c: k_anonymity(c.pair, of="release")),
    "suda": ("suda", (), lambda c: suda(c.pair)),
    "individual_risk": ("individual", (), lambda c: individual(c.pair)),
    "nearest_record": ("distances", (), lambda c: distances(c.attacked)),
    "interval_disclosure": ("intervals", ("pairs",), lambda c: intervals(c.pair)),
    "sers": ("sers", ("pairs",), lambda c: sers(c.pair)),
    "candidates": ("candidates", ("pairs",), lambda c: candidates(c.pair)),
    "unchanged_values": ("unmoved", ("pairs",), _unchanged),
    "averages": ("averages", (), _averaged),
}
_BY_NAME = ("shadow", "two_releases")  # repeat the release many times: the engine hands them in


def _register_built_in() -> None:
    sides: tuple[tuple[Side, dict[str, Any]], ...] = (("utility", _UTILITY), ("risk", _RISKS))
    for side, table in sides:
        for name, (place, needs, take) in table.items():
            MEASURES.register(name, Measure(name, side, take, needs, place, say(f"progress-{name.replace('_', '-')}")))
    for name in _BY_NAME:
        words = say(f"progress-{name.replace('_', '-')}")
        MEASURES.register(name, Measure(name, "risk", _repeated(name), description=words, by_name=True))


def _repeated(name: str) -> Callable[[Context], Any]:
    return lambda context: context.repeated[name]() if name in context.repeated else None


_register_built_in()


def _absent(pair: Pair, tests: Sequence[Pair], descends: bool) -> Iterator[Absent]:
    if not pair.paired:
        yield Absent(say("absent-pairs"), say("absent-pairs.reason") if descends else say("absent-pairs.dealt"))
    if not tests:
        yield Absent(say("absent-control"), say("absent-control.reason"))
    if not pair.target:
        yield Absent(say("absent-target"), say("absent-target.reason"))
    if not pair.weight:
        yield Absent(say("absent-weight"), say("absent-weight.reason"))


# Measures as plain data for JSON, and the JSON schema of that data.


def plain(value: Any) -> Any:
    """Dictionaries, lists, numbers and text; a figure that does not exist is None; properties are included."""
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
    """The JSON schema of a measure's plain data, with descriptions from the docstrings."""
    known: dict[str, Any] = {}
    found = _described(kind, known)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "$defs": dict(sorted(known.items()))}


def _entries(kind: type[Any]) -> Iterator[tuple[str, Any, str]]:
    """Name, type and description of every field and property of a measure."""
    hints = get_type_hints(kind)
    for one in fields(kind):
        yield one.name, hints[one.name], ""
    for name in dir(kind):
        found = getattr(kind, name)
        if isinstance(found, property) and not name.startswith("_") and found.fget is not None:
            yield name, get_type_hints(found.fget)["return"], getdoc(found) or ""


def _described(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """The schema of one type; a dataclass is described once, by name."""
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
        raise TypeError(f"A measure cannot hold {kind!r}: it has no plain form.")
    return {"type": types[kind]}


def _object(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    description = (getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
    if name not in known:
        known[name] = {}  # so that a recursive type ends
        inner = {}
        for entry, hint, text in _entries(kind):
            inner[entry] = _described(hint, known)
            if text:
                inner[entry] = {**inner[entry], "description": text.split("\n\n")[0].replace("\n", " ")}
        described = {"type": "object", "properties": inner, "required": list(inner), "additionalProperties": False}
        known[name] = {"description": description, **described}
    elif known[name] and known[name]["description"] != description:
        raise TypeError(f"Two measures are called {name}.")
    return {"$ref": f"#/$defs/{name}"}
