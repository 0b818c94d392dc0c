"""The release report: one self-contained HTML page on utility and disclosure risk, internal or external.

The internal report is for the data steward alone. The external report may be published with the table: it draws only
released values and gives no count under five, no extreme, no rare value, and no tree or plan unless the steward
publishes them.
"""

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal

from leafcover.engine.manifest import versions
from leafcover.engine.run import Release
from leafcover.errors import LeafcoverError
from leafcover.messages import catalogue
from leafcover.metrics.pair import Pair
from leafcover.metrics.suite import Measures
from leafcover.reporting.columns import columns_section, relations_section
from leafcover.reporting.components import Section, Terms, Words, listing, section
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules, curled, started
from leafcover.reporting.informed import informed_section
from leafcover.reporting.method import made_section
from leafcover.reporting.overview import opening, overview, tiles
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
) -> str:
    """The page as HTML text: self-contained, without a script or a request.

    ``release`` is None for a table that was made by other software, ``measures`` when nothing was measured. ``title``
    names the table. A ``date`` is printed only when given, so that the same release gives the same report.
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
