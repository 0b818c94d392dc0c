"""The release report: one self-contained HTML page on utility and disclosure risk, internal or external.

The internal report is for the data steward alone. The external report may be published with the table: it draws only
released values and gives no count under five, no extreme, no rare value, and no tree or plan unless the steward
publishes them. The page opens with table, method and conclusion, a summary (what was kept, protected, left exposed) and
the headline figures; they are made here, the sections in files of their own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal

from leafcover.engine.manifest import versions
from leafcover.engine.run import Release, least_kept, mean_kept
from leafcover.errors import LeafcoverError
from leafcover.messages import catalogue
from leafcover.metrics.pair import Pair
from leafcover.metrics.suite import Measures
from leafcover.recipes import RECIPES
from leafcover.reporting.columns import columns_section, relations_section
from leafcover.reporting.components import Section, Terms, Tile, Words, listing, section
from leafcover.reporting.context import InferenceResult, MembershipResult, ReportContext
from leafcover.reporting.disclosure_rules import HIDDEN, NONE, DisclosureRules, curled, listed, started
from leafcover.reporting.fitness import Conclusion, Verdict, conclusion, verdicts
from leafcover.reporting.informed import informed_section
from leafcover.reporting.method import made_section, not_protected
from leafcover.reporting.risks import risks_section
from leafcover.reporting.trees import models_section, trees_section

say = catalogue("report")


def report(
    pair: Pair,
    *,
    release: Release | None,
    measures: Measures | None,
    audience: Literal["internal", "external"],
    publish_tree: bool,
    title: str = "",
    date: str | None = None,
    max_risk: float | None = None,
) -> str:
    """The page as HTML text: self-contained, without a script or a request.

    ``release`` is None for a table that was made by other software, ``measures`` when nothing was measured. ``title``
    names the table. A ``date`` is printed only when given, so that the same release gives the same report. ``max_risk``
    is the limit that the verdict goes by instead of that of the release.
    """
    require_report()
    page = _template()
    strict = audience == "external"
    rules = DisclosureRules(len(pair.released), strict)
    context = ReportContext(
        pair,
        release,
        None if rules.suppressed else measures,
        rules,
        not strict or publish_tree,
        title=title,
        date=date,
        max_risk=max_risk,
    )
    return page.render(
        report=context,
        opening=opening(context),
        overview=overview(context),
        tiles=list(tiles(context)),
        sections=list(_sections(context)),
        versions=versions(),
    )


def require_report() -> None:
    """Refuse in one line where what a report needs is not installed, before anything slow is done for it."""
    for module in ("jinja2", "matplotlib", "sklearn"):
        if find_spec(module) is None:
            raise LeafcoverError(say("report-extra-missing", package=module))


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    setting = Environment(
        loader=PackageLoader("leafcover.reporting"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    setting.filters["folding"] = _folding
    return setting.get_template("page.html.jinja")


def _folding(name: str) -> Any:
    """A name that may break after an underscore."""
    from markupsafe import Markup, escape

    return escape(name).replace("_", Markup("_<wbr>"))


def _sections(context: ReportContext) -> Iterator[Section]:
    found = [
        trees_section(context),
        models_section(context),
        columns_section(context),
        relations_section(context),
        informed_section(context),
        risks_section(context),
        _extra(context),
        made_section(context),
        _absent(context),
    ]
    return (one for one in found if one is not None)


def _extra(context: ReportContext) -> Section | None:
    """What measures of plugins found; for the steward alone, since nobody checked what they disclose."""
    if context.measures is None or not context.internal:
        return None
    head = (say("extra-head-measure"), say("extra-head-side"), say("extra-head-value"))
    rows = [
        [one.description or one.name, say("extra-side", side=one.side), f"{one.value:.3g} ({one.name})"]
        for one in context.measures.extra
    ]
    return section("extra", say("section-extra"), listing(say("section-extra"), head, rows))


def _absent(context: ReportContext) -> Section | None:
    """What could not be measured, and why."""
    measures = context.measures
    if context.rules.suppressed:
        text = say("absent-suppressed", rows=context.rules.rows)
        return section("absent", say("section-absent-suppressed"), Words(text))
    if measures is None:
        return section("absent", say("section-absent-unmeasured"), Words(say("absent-unmeasured")))
    # what to do about it is for the steward alone
    reasons = (one.why if context.internal else one.why.partition(" Give ")[0] for one in measures.absent)
    items = [(started(one.what), curled(why)) for one, why in zip(measures.absent, reasons, strict=True)]
    return section("absent", say("section-absent-impossible"), Terms(tuple(items)) if items else None)


# The opening and the summary.


@dataclass(frozen=True)
class Opening:
    """The head of the report."""

    title: str
    size: str
    method: str
    date: str  # empty unless it was asked for
    conclusion: Conclusion
    decision: str  # who decides
    limits: tuple[str, ...]  # what is known to go beyond the figures of the report


def opening(context: ReportContext) -> Opening:
    """Table, method, conclusion, and who decides."""
    return Opening(
        title=context.title or say("title-default"),
        size=say(
            "size",
            rows=context.rules.rows,
            units=0
            if context.release is None or context.release.unit_table is None
            else len(context.release.unit_table),
            columns=len(context.pair.names),
            has_target="yes" if context.target else "no",
            target=context.target,
        ),
        method=_method(context),
        date="" if context.date is None else say("date", date=context.date),
        conclusion=conclusion(context),
        decision=say("decision"),
        limits=(say("limit-cells"),) if context.recipe == "cells" else (),
    )


def _method(context: ReportContext) -> str:
    if context.release is None:
        return say("method-unknown")
    if context.recipe not in RECIPES:
        return say("method-plan")
    return say("method-recipe", recipe=context.recipe, source=RECIPES[context.recipe].source)


@dataclass(frozen=True)
class Overview:
    """The four blocks of the summary."""

    kept: tuple[str, ...]
    protected: tuple[str, ...]
    exposed: tuple[tuple[str, str], ...]
    verdicts: tuple[Verdict, ...]


def overview(context: ReportContext) -> Overview:
    """The summary in sentences."""
    return Overview(
        tuple(_kept(context)),
        tuple(_protected(context)),
        tuple(not_protected(context)),
        tuple(verdicts(context)),
    )


def _kept(context: ReportContext) -> Iterator[str]:
    rules = context.rules
    if (recipe := RECIPES.get(context.recipe)) is not None:
        yield say("kept-by-method", what=curled(recipe.keeps).replace("; ", ", "))
    if (guide := context.guide) is not None and (kept := rules.kept(guide.kept)) != HIDDEN:
        yield say("kept-leaves", share=started(kept), target=guide.target)
    if context.forest and not rules.suppressed:
        yield say(
            "kept-leaves-forest",
            share=started(rules.kept(mean_kept(context.forest))),
            target=context.target,
            trees=len(context.forest),
            least=rules.kept(least_kept(context.forest)),
        )
    if context.measures is None:
        yield say("kept-unmeasured", absence=context.absence)
    else:
        yield from _utility(context, context.measures)


def _utility(context: ReportContext, measures: Measures) -> Iterator[str]:
    rules, utility = context.rules, measures.utility
    agreements = utility.agreement
    own = None if agreements is None else agreements.target
    if agreements is not None and own is not None and _is_figure(rules.estimate(own.agreement, agreements.tests)[0]):
        yield say(
            "kept-agreement",
            target=own.target,
            agreement=rules.format_estimate(own.agreement, agreements.tests),
            floor=rules.format_estimate(own.floor, agreements.tests),
            guided="yes" if context.guides else "no",
        )
    elif utility.trees is not None:
        yield say("kept-answers", share=started(rules.share(utility.trees.answers)))
    columns = utility.columns
    distances = [d.largest for d in (columns.number_distances, columns.category_distances) if d.count]
    if distances and max(distances) == 0:
        yield say("kept-marginals")
    relations = utility.relations.every
    if relations.count:
        yield say(
            "kept-associations",
            count=relations.count,
            mean=rules.figure(relations.mean),
            largest=rules.coarse(relations.largest),
        )


def _is_figure(text: str) -> bool:
    return text not in (NONE, HIDDEN)


def _protected(context: ReportContext) -> Iterator[str]:
    if (recipe := RECIPES.get(context.recipe)) is not None:
        yield say("protected-by-method", what=curled(recipe.hides).replace("; ", ", "))
    if (changed := context.changed) is not None and not context.rules.suppressed:
        yield say("protected-changed", share=started(context.rules.share(changed)))
    yield _linkage(context)
    yield from _inference(context)
    if (member := context.membership) is not None and context.rules.shows(member.found):
        yield _membership(context, member)


def _linkage(context: ReportContext) -> str:
    """Re-identification by the strongest attacker."""
    if context.measures is None:
        return say("linkage-unmeasured", absence=context.absence)
    informed, rules = context.measures.risks.informed, context.rules
    if informed is None or context.risk is None:
        return say("linkage-unmeasured", absence=context.absence)
    worst = rules.worst(informed.first)
    return say(
        "linkage-found",
        known=len(context.measures.quasi_identifiers),
        column="".join(context.measures.quasi_identifiers[:1]),
        method="plan" if informed.law.startswith("the plan") else "perturbation",
        trees="yes" if context.release is not None and context.release.trees else "no",
        risk=rules.format_risk(informed.first),
        has_worst="yes" if _is_figure(worst) and worst else "no",
        worst=worst,
        rows=rules.rows,
    )


def _inference(context: ReportContext) -> Iterator[str]:
    """Attribute inference beyond what holds for everybody."""
    if context.measures is None:
        return
    rules = context.rules
    found = [one for one in context.inferences if not rules.suppresses(one.above.runs)]
    if found:
        first = found[0]
        yield say(
            "inference-found",
            several="yes" if len(context.inferences) > 1 else "no",
            tried=context.columns_tried,
            column=first.column,
            method=first.method,
            inside=rules.format_risk(first.attack.main),
            outside=rules.format_risk(first.attack.control or first.attack.main),
        )
        yield _difference(context, first)
    elif context.measures.risks.inferences and not context.inferences:
        yield say(
            "inference-without-control",
            names=listed([one.column for one in context.measures.risks.inferences], most=3),
        )


def _membership(context: ReportContext, member: MembershipResult) -> str:
    rules = context.rules
    area, found = (rules.format_risk(one) for one in (member.area, member.found))
    return say("membership-found", method=member.method, area=area, found=found)


def _difference(context: ReportContext, first: InferenceResult) -> str:
    """What the difference shows, if it shows anything."""
    return say(
        "inference-difference",
        shown="no" if not first.shown else "largest" if len(context.inferences) > 1 else "yes",
        points=context.rules.format_points(first.above, first.above.runs),
    )


# The headline figures.


def tiles(context: ReportContext) -> Iterator[Tile]:
    """Risks first, then utility, then what was changed."""
    rules = context.rules
    if context.descends or context.measures is None:
        yield _linkage_tile(context)
    if context.measures is not None:
        yield _inference_tile(context)
        if not context.descends:
            yield _membership_tile(context)
        agreements = context.measures.utility.agreement
        if agreements is not None and (own := agreements.target) is not None:
            value, interval = rules.estimate(own.agreement, agreements.tests)
            note = say(
                "tile-agreement.note",
                has_interval="yes" if interval else "no",
                interval=interval,
                floor=rules.estimate(own.floor, agreements.tests)[0],
            )
            yield Tile(value, say("tile-agreement"), note)
    if (guide := context.guide) is not None and (kept := rules.kept(guide.kept)) != HIDDEN:
        yield Tile(kept, say("tile-leaves"), say("tile-leaves.tree", target=guide.target))
    if context.forest and not rules.suppressed:
        note = say(
            "tile-leaves.forest",
            trees=len(context.forest),
            target=context.target,
            least=rules.kept(least_kept(context.forest)),
        )
        yield Tile(rules.kept(mean_kept(context.forest)), say("tile-leaves"), note)
    if (changed := context.changed) is not None and not rules.suppressed:
        yield Tile(rules.share(changed), say("tile-changed"), say("tile-changed.note"))
    if context.measures is None:
        yield from _smallest_cell(context)


def _smallest_cell(context: ReportContext) -> Iterator[Tile]:
    """How many rows are perturbed together; the leaves of dealing are for the steward alone."""
    release = context.release
    if release is None or not (context.descends or context.show_plan):
        return
    smallest = context.rules.count(min((cell.smallest for cell in release.cells), default=context.rules.rows))
    if context.descends:
        yield Tile(smallest, say("tile-smallest-cell"), say("tile-smallest-cell.note"))
    else:
        yield Tile(smallest, say("tile-smallest-leaf"), say("tile-smallest-leaf.note"))


def _linkage_tile(context: ReportContext) -> Tile:
    risk = context.risk
    if risk is None:
        return Tile(NONE, say("tile-linkage"), say("tile-linkage.absent", absence=context.absence))
    value, interval = context.rules.risk(risk)
    worst = context.rules.worst(risk)
    note = say("tile-linkage.note", interval=interval, has_worst="yes" if worst else "no", worst=worst)
    return Tile(value, say("tile-linkage"), note)


def _inference_tile(context: ReportContext) -> Tile:
    label = say("tile-inference")
    if not context.inferences:
        return Tile(NONE, label, say("tile-inference.uncontrolled"))
    first = context.inferences[0]
    if context.rules.suppresses(first.above.runs):
        return Tile(NONE, label, say("tile-inference.too-few"))
    value, interval = context.rules.points(first.above, first.above.runs)
    note = say(
        "tile-inference.note",
        interval=interval,
        shown="yes" if first.shown else "no",
        column=first.column,
        tried=context.columns_tried,
    )
    return Tile(value, label, note)


def _membership_tile(context: ReportContext) -> Tile:
    label, member = say("tile-membership"), context.membership
    if member is None or not member.found.tries:
        return Tile(NONE, label, say("tile-inference.uncontrolled"))
    if not context.rules.shows(member.found):
        return Tile(NONE, label, say("tile-inference.too-few"))
    value, interval = context.rules.risk(member.found)
    area = context.rules.risk(member.area)[0]
    return Tile(value, label, say("tile-membership.note", interval=interval, area=area))
