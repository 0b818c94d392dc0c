"""The risks that decide, and the text summary of all measures: disclosure risk, utility, and what is not measured.

The sentences are in the catalogue ``measures``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from leafcover.messages import catalogue
from leafcover.metrics.disclosure.attribute_inference import Inference
from leafcover.metrics.disclosure.copies import Copies, Match
from leafcover.metrics.disclosure.informed_inference import InformedAttack, InformedAttacks
from leafcover.metrics.disclosure.interval_disclosure import Averages, most_alike, most_dominated
from leafcover.metrics.disclosure.membership_inference import Membership
from leafcover.metrics.disclosure.record_linkage import Informed
from leafcover.metrics.estimates import Attack, Estimate, Risk, known
from leafcover.metrics.pair import say
from leafcover.metrics.utility.forest import ForestComparison
from leafcover.metrics.utility.prediction import Agreements
from leafcover.metrics.utility.trees import SIMILAR, TreeComparison
from leafcover.table.units import HomogeneousGroups

if TYPE_CHECKING:
    from leafcover.metrics.suite import Measures, Utility

# The disclosure risks that decide: the report's verdict, a limit on the risk, the sweep and the summary use the same
# figures. For record linkage and attribute inference the upper end of the interval counts, so that a small table does
# not pass only because little is known about it. For membership, where an attack often finds nobody, the lower end
# counts.


ROUNDING = 1e-9  # tolerance: a figure this little above a limit counts as equal to it
FALSE_ALARMS = 0.01  # the share of people outside the release who are taken for members

RiskKind: TypeAlias = Literal["linkage", "inference", "membership", "copies"]
Method: TypeAlias = Literal[
    "granted", "regrown", "nearest", "stable", "model", "distance", "presence", "trained", "plan"
]


@dataclass(frozen=True)
class DecisiveRisk:
    """One disclosure risk that is compared with a limit."""

    kind: RiskKind
    risk: Risk | Estimate  # a share for linkage; above control, or above false alarms, for the others
    # copies: that of the most significant finding, which decides whatever its size
    column: str = ""  # whose values are inferred
    method: Method = "plan"  # of the strongest attack

    @property
    def name(self) -> str:
        """The name of the risk."""
        return catalogue("report")("risk-name", kind=self.kind, column=self.column)

    @property
    def by_upper_end(self) -> bool:
        """Whether the upper end of the interval counts; otherwise the lower end."""
        return self.kind in ("linkage", "inference")

    @property
    def bound(self) -> float:
        """The figure that is compared with a limit."""
        return self.bound_of(self.risk.low, self.risk.high)

    def bound_of(self, low: float, high: float) -> float:
        """The same for an interval as it is published. Copies that no chance explains are above every limit."""
        if self.kind == "copies":
            return 1.0
        return high if self.by_upper_end else low


def exceeds(bound: float, limit: float) -> bool:
    """Whether a risk is above a limit, within rounding."""
    return bound > limit + ROUNDING


def decisive_risks(
    *,
    linked: Informed | None,
    inferred: Sequence[Inference],
    informed: InformedAttacks | None,
    membership: Membership | None,
    copied: Copies,
) -> tuple[DecisiveRisk, ...]:
    """The risks that decide: record linkage, inference of each column and membership by the strongest attack; copies.

    Attacks without a control are excluded, and so are copies that chance may explain.
    """
    found = attempts(linked=linked, inferred=inferred, informed=informed, membership=membership, copied=copied)
    return strongest(list(found))


def attempts(
    *,
    linked: Informed | None,
    inferred: Sequence[Inference],
    informed: InformedAttacks | None,
    membership: Membership | None,
    copied: Copies,
) -> Iterator[DecisiveRisk]:
    """The risk of every attack that may decide, of which `strongest` chooses."""
    if linked is not None:
        yield DecisiveRisk("linkage", linked.first)
    for one in inferred:
        if (above := above_control(one.strongest)) is not None:
            yield DecisiveRisk("inference", above, one.column, _method(one))
    if membership is not None:
        yield _above_alarms(membership.alarms, "distance")
        if membership.presence is not None:
            yield _above_alarms(membership.presence.found, "presence")
    for method, attack in by_knowledge(informed):
        for each in attack.inferences:
            yield DecisiveRisk("inference", each.above_control, each.column, method)
        yield _above_alarms(attack.membership.found, method)
    if informed is not None and informed.trained is not None:
        yield _above_alarms(informed.trained.found, "trained")
    yield from copied_risks(copied)


def copied_risks(copied: Copies) -> tuple[DecisiveRisk, ...]:
    """The copies that no chance explains."""
    if copied.findings and copied.worst is not None and (above := above_control(copied.worst.attack)) is not None:
        return (DecisiveRisk("copies", above, ", ".join(copied.findings[0].columns)),)
    return ()


def strongest(found: Sequence[DecisiveRisk]) -> tuple[DecisiveRisk, ...]:
    """Of each kind and column, the risk of the strongest attack."""
    kinds = ("linkage", "inference", "membership", "copies")
    ordered = sorted(found, key=lambda one: kinds.index(one.kind))
    return tuple(
        max((one for one in ordered if (one.kind, one.column) == both), key=lambda one: one.risk.value)
        for both in dict.fromkeys((one.kind, one.column) for one in ordered)
    )


def _above_alarms(found: Risk, method: Method) -> DecisiveRisk:
    """The share of members found, above the false alarms."""
    value, low, high = (end - FALSE_ALARMS for end in (found.value, found.low, found.high))
    return DecisiveRisk("membership", Estimate(value, low, high, found.tries), method=method)


def by_knowledge(informed: InformedAttacks | None) -> Iterator[tuple[Method, InformedAttack]]:
    """The attacks by what the attacker knows of trees or cells."""
    if informed is not None and informed.granted is not None:
        yield "granted", informed.granted
    if informed is not None and informed.regrown is not None:
        yield "regrown", informed.regrown


def above_control(attack: Attack) -> Estimate | None:
    """The success of an attack above its control; None if nobody was attacked."""
    if attack.control is None or not attack.control.tries or not attack.main.tries:
        return None
    return attack.above_control


def measured_risks(measures: "Measures") -> tuple[DecisiveRisk, ...]:
    """The risks that decide, for a release with all its measures."""
    risks = measures.risks
    return decisive_risks(
        linked=risks.informed,
        inferred=risks.inferences,
        informed=risks.informed_attacks,
        membership=risks.membership,
        copied=risks.copies,
    )


# The text summary.

MOVED_LISTED = 3  # groups whose totals are named
RECORD_LISTED = 3  # maximum number of columns of a record that are named


def words(measures: "Measures") -> str:
    """The text summary, for a terminal; every risk with its interval."""
    absent = [f"  {one.what}: {one.why}" for one in measures.absent]
    return "\n".join(
        [
            say("heading-risks"),
            *(f"  {line}" for line in risk_sentences(measures)),
            *decisive_lines(measured_risks(measures)),
            say("heading-utility"),
            *(f"  {line}" for line in utility_sentences(measures.utility)),
            *([say("heading-extra"), *(f"  {line}" for line in extra_sentences(measures))] if measures.extra else []),
            *([say("heading-absent"), *absent] if absent else []),
        ]
    )


def decisive_lines(risks: Iterable[DecisiveRisk]) -> Iterator[str]:
    """The figures that the report's verdict and a limit on the risk use, with a heading; nothing without figures."""
    for number, one in enumerate(risks):
        if number == 0:
            yield say("heading-decisive")
        end = "upper" if one.by_upper_end else "significant" if one.kind == "copies" else "lower"
        yield "  " + say("decisive", name=one.name, risk=str(one.risk), end=end, method=one.method)


def extra_sentences(measures: "Measures") -> Iterator[str]:
    """What measures of plugins found."""
    for one in measures.extra:
        yield say("extra", name=one.name, description=one.description or "none", value=f"{one.value:.3g}")


def risk_sentences(measures: "Measures") -> Iterator[str]:
    """The disclosure risks: first those of the four main attacks, then further ones."""
    risks = measures.risks
    if (linkage := risks.informed) is not None and linkage.first.tries:
        yield say(
            "record-linkage",
            quasi_identifiers=len(measures.quasi_identifiers),
            knowledge="plan" if linkage.law.startswith("the plan") else "estimated",
            risk=_cases(linkage.first),
            ten=str(linkage.ten),
            coverage=linkage.how,
        )
    yield from _informed(risks.informed_attacks)
    yield from _copies(risks.copies)
    if risks.inferences:
        yield _most_inferred(measures)
    if (member := risks.membership) is not None:
        by_values = member.presence
        area, found = ("none", "") if by_values is None else (str(by_values.area), str(by_values.found))
        yield say("membership", risk=_cases(member.area), area=area, found=found)
    singled_out = risks.singling_out
    for predicates, attack in (("multivariate", singled_out.multivariate), ("univariate", singled_out.univariate)):
        if attack.main.tries:
            control = str(attack.control) if attack.control is not None and attack.control.tries else "none"
            main = say("cases", risk=str(attack.main))
            baseline = str(attack.baseline)
            yield say("singling-out", predicates=predicates, risk=main, control=control, baseline=baseline)
    if (nearest := risks.linkage) is not None and nearest.nearest.tries:
        yield say("nearest-record", risk=_cases(nearest.nearest))
    rebuilt = risks.reconstruction
    if rebuilt is not None and (column := rebuilt.most_told) is not None and column.best.tries:
        baseline = str(column.attack.baseline)
        yield say("reconstruction", column=column.column, risk=_cases(column.best), baseline=baseline)
    yield from homogeneous_sentences(risks.k_anonymity_of_release.homogeneous, risks.k_anonymity.homogeneous)
    yield from _averages(risks.averages)
    if (unchanged := risks.unmoved) is not None:
        yield say("unchanged", values=str(unchanged.values), rows=str(unchanged.whole))
    yield say("control", control=measures.control)


def _informed(attacks: InformedAttacks | None) -> Iterator[str]:
    """What an attacker who knows the method infers, by what else is known."""
    if attacks is None:
        return
    known = [(f"{one.known_rows:.0%}", one) for one in attacks.background]
    for knowledge, attack in (*by_knowledge(attacks), *known):
        if (most := attack.largest) is not None:
            yield say(
                "informed",
                knowledge=knowledge if knowledge in ("granted", "regrown") else "rows",
                rows=knowledge,
                column=most.column,
                above=str(most.above_control),
                main=f"{most.attack.main.value:.3f}",
                control="none" if most.attack.control is None else f"{most.attack.control.value:.3f}",
                area=str(attack.membership.area),
                found=str(attack.membership.found),
            )
    if (trained := attacks.trained) is not None:
        yield say("trained", area=str(trained.area), found=str(trained.found), rarely=str(trained.found_rarely))


def _copies(found: Copies) -> Iterator[str]:
    """How often records of people occur in the release."""
    if found.records is None or found.unique is None:
        yield copies_alone(found)
        return

    def shares(match: Match) -> tuple[str, str]:
        control = match.attack.control
        return f"{match.attack.main.value:.3f}", "none" if control is None else f"{control.value:.3f}"

    (members, control), (unique, unique_control) = shares(found.records), shares(found.unique)
    most = found.findings[0] if found.findings else None
    yield say(
        "copies",
        record=record_of(found),
        outside=len(found.near_unique),
        members=members,
        control=control,
        unique=unique,
        unique_control=unique_control,
        found=len(found.findings),
        most="" if most is None else copied_part(most.kind, most.columns, most.without),
    )
    if (people := near_people(found)) is not None:
        yield say("near-copies", **people)


def near_people(found: Copies) -> dict[str, str] | None:
    """How many people have a near-copy that chance does not explain, with its interval, as words need it."""
    if found.near is None or found.near.people is None:
        return None
    people = found.near.people
    significant = any(one.kind == "near" for one in found.findings)
    ends = {"people": people.value, "low": people.low, "high": people.high}
    return {"found": "yes" if significant else "no", **{name: f"{end:,.0f}" for name, end in ends.items()}}


def record_of(found: Copies) -> str:
    """The columns of a record, in words; the first ones if there are many."""
    if not found.near_unique:
        return "whole"
    named = [*found.columns[:RECORD_LISTED], *(("…",) if len(found.columns) > RECORD_LISTED else ())]
    return say("copies-record", columns=len(found.columns), names=", ".join(named))


def copies_alone(found: Copies) -> str:
    """What was copied, for a release of which nothing else was measured."""
    if not found.tests:
        return say("copies-untested")
    most = [copied_part(one.kind, one.columns, one.without) for one in found.findings]
    return say("copies-alone", found=len(most), most=most[0] if most else "")


def copied_part(kind: str, columns: Sequence[str], without: Sequence[str]) -> str:
    """What was copied, in words."""
    if kind == "reproduced":
        kind = "reproduced-part" if without else "reproduced-value" if len(columns) == 1 else kind
    ends = {"first": columns[0], "second": columns[-1]} if columns else {}
    return say("copies-kind", kind=kind, columns=", ".join(columns), without=", ".join(without), **ends)


def _averages(steps: Sequence[Averages]) -> Iterator[str]:
    if not steps:
        return
    identical, dominated = most_alike(steps), most_dominated(steps)
    yield say(
        "averages",
        smallest=min(step.smallest for step in steps),
        identical=f"{identical.alike:.1%}",
        identical_column=identical.column,
        dominated=f"{dominated.dominated:.1%}",
        dominated_column=dominated.column,
    )
    if share := max(step.split_by_missingness for step in steps):
        yield say("averages-missing", share=f"{share:.1%}")


def homogeneous_sentences(
    released: Sequence[HomogeneousGroups], original: Sequence[HomogeneousGroups]
) -> Iterator[str]:
    """In how many rows a group over the quasi-identifiers has a single value of each sensitive attribute."""
    for after, before in zip(released, original, strict=True):
        figures = {**after.figures(), "before": before.people, "before_alone": before.alone}
        yield say("homogeneous-original", where="release", **figures)


def _most_inferred(measures: "Measures") -> str:
    """The column inferred furthest above control, or above guessing without a control, by the strongest attack."""
    tried = measures.risks.inferences
    scope = {
        "scope": "some" if len(tried) < measures.columns else "all",
        "tried": len(tried),
        "columns": measures.columns,
    }
    found = [(one, above) for one in tried if (above := above_control(one.strongest)) is not None]
    if not found:
        one = max(tried, key=lambda one: one.strongest.main.value - one.strongest.baseline.value)
        return say(
            "inference-no-control",
            **scope,
            column=one.column,
            method=_method(one),
            risk=_cases(one.strongest.main),
            baseline=str(one.strongest.baseline),
        )
    one, above = max(found, key=lambda both: both[1].value)
    return say(
        "inference",
        **scope,
        column=one.column,
        method=_method(one),
        risk=_cases(one.strongest.main),
        control=str(one.strongest.control),
        above=str(above),
        effect="shown" if above.low > 0 else "none",
    )


def _method(one: Inference) -> Method:
    """Which attack is the strongest."""
    if one.strongest is one.learned:
        return "model"
    return "stable" if one.strongest is one.trusted else "nearest"


def utility_sentences(utility: "Utility") -> Iterator[str]:
    """What the release preserves."""
    if (trees := utility.trees) is not None:
        yield _trees(trees)
    if (forest := utility.forest) is not None:
        yield from _forest(forest)
    if (agreements := utility.agreement) is not None:
        yield from _agreement(agreements)
    prediction = utility.prediction
    scores = [] if prediction is None else [one for one in prediction.scores if known(one.released.value)]
    if prediction is not None and scores:
        models = ", ".join(
            say(
                "accuracy-model",
                model=one.model,
                released=f"{one.released.value:.3f}",
                original=f"{one.original.value:.3f}",
            )
            for one in scores
        )
        yield say("accuracy", target=prediction.target, models=models)
    relations = utility.relations.every
    largest = f"{relations.largest:.3f}"
    if relations.count == 1:
        yield say("association", largest=largest)
    elif relations.count:
        yield say("associations", mean=f"{relations.mean:.3f}", largest=largest)
    if relations.count > 1 and (errors := utility.relation_errors).entries:
        worst = errors.entries[0]
        yield say(
            "relation-errors",
            mean=f"{errors.mean:.1f}",
            largest=f"{errors.largest:.1f}",
            first=worst.first,
            second=worst.second,
        )
    if (triples := utility.margins.triples).margins:
        yield say("margins", score=f"{triples.score:.0f}", expected=f"{triples.expected:.0f}")
    if (numbers := utility.properties).numbers:
        yield say(
            "moments",
            means=numbers.means_kept,
            variances=numbers.variances_not_larger,
            columns=numbers.numbers,
        )
    if (totals := utility.totals) is not None and totals.moved:
        groups = ", ".join(f"{one.column}={one.level} ({one.difference:+.1%})" for one in totals.moved[:MOVED_LISTED])
        yield say("groups-moved", groups=groups)
    pairs = utility.value_pairs
    if pairs.pairs:
        yield say("new-pairs", pairs=pairs.new, rows=f"{pairs.rows_with_new:.1%}")


def _trees(trees: TreeComparison) -> str:
    found = say(
        "trees",
        target=trees.target,
        grade=trees.grade,
        tolerant=f"{trees.tolerant:.0%}",
        strict=f"{trees.strict:.0%}",
        answers=f"{trees.answers:.1%}",
    )
    if trees.grade == "similar" and trees.tolerant < SIMILAR:  # few shared rules
        return f"{found} {say('trees-pruned', pruned='original' if trees.pruned == 'original' else 'release')}"
    return found


def _forest(forest: ForestComparison) -> Iterator[str]:
    rules, leaves = forest.rules, forest.leaves
    if not rules.rules:
        return
    yield say(
        "forest-rules",
        trees=forest.trees[0],
        kept=f"{rules.kept.near:.0%}",
        kept_exact=f"{rules.kept.exact:.0%}",
        floor=f"{rules.floor.near:.0%}",
        floor_exact=f"{rules.floor.exact:.0%}",
        chance=f"{rules.chance.near:.0%}",
        chance_exact=f"{rules.chance.exact:.0%}",
    )
    kept, floor, chance = (f"{one.rows:.1%}" for one in (leaves.kept, leaves.floor, leaves.chance))
    yield say("forest-leaves", kept=kept, floor=floor, chance=chance)


def _agreement(agreements: Agreements) -> Iterator[str]:
    own = agreements.target
    if own is not None and known(own.agreement.value):
        yield say("agreement", agreement=_share(own.agreement), floor=_share(own.floor))
    if agreements.others and known(agreements.mean.value):
        yield say(
            "agreement-others",
            target="no" if own is None else "yes",
            columns=len(agreements.others),
            agreement=_share(agreements.mean),
            floor=_share(agreements.mean_floor),
        )


def _cases(risk: Risk) -> str:
    """A risk with its interval and that of the most exposed rows."""
    if not risk.tries:
        return say("cases-none")
    if known(risk.worst):
        return say("cases-worst", risk=str(risk), worst=risk.worst_as_text())
    return say("cases", risk=str(risk))


def _share(estimate: Estimate) -> str:
    """A share with its interval, cut off at 0 and 1."""
    if not known(estimate.low):
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} ({max(0.0, estimate.low):.3f} to {min(1.0, estimate.high):.3f})"
