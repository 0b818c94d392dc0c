"""Audiences: who gets a release, and the thresholds that follow.

Every threshold has a source, a sentence in the catalogue ``release``, and this file as its only place. Sources speak of
re-identification and of counts in tables; the limit of risk is compared with other figures as well (see `max_risk`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

from leafcover.errors import ValueOutOfRange
from leafcover.messages import catalogue
from leafcover.metrics.summary import DecisiveRisk, exceeds
from leafcover.recipes.plan import Plan
from leafcover.recipes.registry import RECIPES, Rare, plan_for
from leafcover.table.table import Table

AudienceName: TypeAlias = Literal["public", "researchers"]

VerdictLevel: TypeAlias = Literal["low", "moderate", "high", "copies", "no-linkage", "no-control", "nothing"]
Refused: TypeAlias = Literal["seed", "order", ""]  # why a release must not be published whatever its risks

say = catalogue("release")

MOST_ADVISED = 5  # columns that one piece of advice names


@dataclass(frozen=True)
class Thresholds:
    """What a release must keep.

    Examples
    --------
    >>> AUDIENCES["public"].max_risk, AUDIENCES["researchers"].max_risk
    (0.05, 0.2)
    """

    max_risk: float | None = None  # the largest figure of every risk that decides
    max_singletons: float | None = None  # the largest share of rows that are alone in their cell
    k: int | None = None  # the fewest rows among which values change
    share: int | None = None  # the fewest rows that hold a number
    rare: Rare | None = None  # what happens to levels that fewer than 5 people have


# max_risk and k: El Emam (2013) lists cell sizes as precedents: 5 is the most common among data custodians, 20 was used
# for public files of patients, and a cell of n rows means a risk of 1/n. share: CMS (2020) shows no count from 1 to 10;
# UNECE and Eurostat (2005) name 3 and 5 as usual thresholds, which also holds for levels. max_singletons: our own.
PUBLIC, RESEARCHERS = 0.05, 0.2  # max_risk
AUDIENCES: Mapping[AudienceName, Thresholds] = {
    "public": Thresholds(max_risk=PUBLIC, max_singletons=0.0, k=20, share=11, rare="pool"),
    "researchers": Thresholds(max_risk=RESEARCHERS, max_singletons=0.05, k=5, share=5, rare="pool"),
}


@dataclass(frozen=True)
class Limits:
    """The audience of a release, and the thresholds that were used: the audience's, unless the steward set others."""

    audience: AudienceName | None  # None: only a limit of the risk was set
    used: Thresholds

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence for each threshold, with its source; one that the steward set is named as such."""
        return tuple(_sentences(self))

    @property
    def facts(self) -> dict[str, Any]:
        """The same as plain figures, for a manifest."""
        return {"audience": self.audience, **asdict(self.used)}


def audience_named(name: str) -> Thresholds:
    """The thresholds of an audience."""
    if name not in AUDIENCES:
        raise ValueOutOfRange("audience", name, f"one of {', '.join(get_args(AudienceName))}")
    return AUDIENCES[name]  # type: ignore[index]  # a text that is a key


def limits_from(facts: Mapping[str, Any] | None) -> Limits | None:
    """The limits in a manifest, if it has any."""
    if facts is None or facts.get("audience") not in (None, *AUDIENCES):
        return None
    known = {name: facts[name] for name in Thresholds.__dataclass_fields__ if name in facts}
    return Limits(facts["audience"], Thresholds(**known))


@dataclass(frozen=True)
class RiskLimit:
    """The limit that every risk that decides is compared with, and where it comes from.

    Examples
    --------
    >>> limit_in_force(None).level(0.1), limit_in_force(None, 0.1).level(0.1)
    ('moderate', 'low')
    """

    value: float  # up to here a risk is low
    high: float  # above it is high; between the two only if no limit was set
    source: Literal["public", "researchers", "given", "none"]

    def level(self, bound: float) -> Literal["low", "moderate", "high"]:
        """What a figure means."""
        return "low" if not exceeds(bound, self.value) else "moderate" if not exceeds(bound, self.high) else "high"

    @property
    def is_set(self) -> bool:
        """Whether the steward set it, by itself or by an audience."""
        return self.source != "none"


def limit_in_force(limits: Limits | None, max_risk: float | None = None) -> RiskLimit:
    """The limit that was given, else that of the release; without any those for the public and for researchers."""
    used = None if limits is None else limits.used.max_risk
    if max_risk is None and used is None:
        return RiskLimit(PUBLIC, RESEARCHERS, "none")
    value = used if max_risk is None else max_risk
    assert value is not None
    own = None if limits is None or limits.audience is None else limits.audience
    usual = own is not None and AUDIENCES[own].max_risk == value
    return RiskLimit(value, value, own if own is not None and usual else "given")


@dataclass(frozen=True)
class RiskVerdict:
    """Whether the risks that decide are within the limit in force, in a line."""

    level: VerdictLevel
    limit: RiskLimit
    worst: DecisiveRisk | None = None
    above: tuple[DecisiveRisk, ...] = ()
    descends: bool = False
    refused: Refused = ""

    @property
    def passes(self) -> bool:
        """Whether everything that decides was measured, and is within the limit."""
        return self.level == "low" and not self.refused

    def __str__(self) -> str:
        limit = self.limit.high if self.level == "high" else self.limit.value
        source = "none-high" if limit != self.limit.value else self.limit.source
        limited = say("verdict-limit", limit=f"{limit:g}", source=source)
        found = say(
            "verdict",
            level=self.level,
            bound="" if self.worst is None else f"{self.worst.bound:.3f}",
            end="upper" if self.worst is None or self.worst.by_upper_end else "lower",
            name="" if self.worst is None else self.worst.column if self.level == "copies" else self.worst.name,
            limited=limited,
        )
        if self.refused:
            found = say("verdict-refused", why=self.refused, verdict=found)
        return " ".join([say("verdict-line", verdict=found), *risk_advice(self.above, descends=self.descends)])


def verdict_of(
    risks: Sequence[DecisiveRisk], limit: RiskLimit, *, descends: bool, measured: bool = True, refused: Refused = ""
) -> RiskVerdict:
    """What the risks that decide amount to; what is missing only counts if nothing else is above the limit."""
    above = tuple(one for one in risks if limit.level(one.bound) != "low")
    worst = max(risks, key=lambda one: one.bound, default=None)
    kinds = {one.kind for one in risks}
    found: VerdictLevel = "nothing" if worst is None else limit.level(worst.bound)
    if worst is not None and worst.kind == "copies":
        found = "copies"
    elif not measured:
        found = "nothing"
    elif found != "high" and descends and "linkage" not in kinds:
        found = "no-linkage"
    elif found != "high" and "inference" not in kinds:
        found = "no-control"
    return RiskVerdict(found, limit, worst, above, descends, refused)


def risk_advice(above: Sequence[DecisiveRisk], *, descends: bool) -> Iterator[str]:
    """What to do about risks above a limit: a sentence for each kind, which names the columns."""
    dealt = "no" if descends else "yes"
    for kind in dict.fromkeys(one.kind for one in above):
        ordered = sorted((one for one in above if one.kind == kind), key=lambda one: -one.bound)
        columns = [repr(one.column) for one in ordered]
        named = {"columns": ", ".join(columns[:MOST_ADVISED]), "more": len(columns[MOST_ADVISED:])}
        if kind == "inference":
            yield say("advice-inference", **named, dealt=dealt)
        elif kind == "linkage":
            yield say("advice-linkage")
        elif kind == "membership":
            yield say("advice-membership", dealt=dealt)
        else:
            yield say("advice-copies", columns=ordered[0].column)


def plan_within(table: Table, recipe: str, thresholds: Thresholds | None, asked: Mapping[str, Any]) -> Plan:
    """The plan that a recipe writes within the thresholds of an audience; what was asked for comes first."""
    if thresholds is None:
        return plan_for(table, recipe, **asked)
    known, settings = RECIPES.named(recipe).parameters, dict(asked.get("settings") or {})
    found = dict(asked)
    if found.get("rare") is None:
        found["rare"] = thresholds.rare
    if found.get("share") is None and "share" not in settings:
        found["share"] = max(thresholds.share or 1, known["share"].default if "share" in known else 1)
    plan = plan_for(table, recipe, **found)
    grouped = next((name for name in ("k", "min_cell") if name in known), None)
    least = known[grouped].default if grouped is not None and RECIPES[recipe].recodes else _smallest_group(plan)
    if grouped is None or grouped in settings or (least or 0) >= (thresholds.k or 0):
        return plan
    return plan_for(table, recipe, **{**found, "settings": {**settings, grouped: thresholds.k}})


def limits_of(
    audience: AudienceName, plan: Plan, *, max_risk: float | None, max_singletons: float | None, rare: Rare | None
) -> Limits:
    """The thresholds that a plan keeps, and those that the release is compared with."""
    share = max(plan.share, min((step.perturb.shared_by for step in plan.steps), default=1))
    return Limits(audience, Thresholds(max_risk, max_singletons, _smallest_group(plan), share, rare))


def _smallest_group(plan: Plan) -> int | None:
    """The fewest rows among which a plan changes values, or that it makes equal; None if it forms no groups."""
    groups = [step.within.min_rows for step in plan.steps if step.within.min_rows > 1]
    return min([*groups, *(one.least for one in plan.recode if one.least > 1)], default=None)


def _sentences(limits: Limits) -> Iterator[str]:
    if limits.audience is None:
        yield say("limit-given", limit=f"{limits.used.max_risk:g}")
        return
    own = AUDIENCES[limits.audience]
    yield say("audience", audience=limits.audience)
    for name, usual in asdict(own).items():
        used = getattr(limits.used, name)
        if used is None:
            yield say("audience-not-used", threshold=name)
        elif used != usual and not (name in ("k", "share") and used > usual):
            yield say("audience-other", threshold=name, used=str(used), usual=str(usual))
        else:
            yield threshold_sentence(limits.audience, name)
    yield say("audience-caveat")


def threshold_sentence(audience: AudienceName, name: str) -> str:
    """The sentence of one threshold, with its source."""
    figure = getattr(AUDIENCES[audience], name)
    return say("audience-threshold", audience=audience, threshold=name, figure=str(figure))
