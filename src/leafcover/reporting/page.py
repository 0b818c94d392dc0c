"""The report: one page that says what a release did, kept and could not hide, in two faces.

The internal page is for the steward alone. The external one may go with the table: it draws only released values and
tells no count under five, no extreme, no rare value, and no tree or plan unless the steward publishes them.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Literal

from leafcover.engine.manifest import versions
from leafcover.engine.run import Release
from leafcover.errors import LeafcoverError
from leafcover.metrics.pair import Pair
from leafcover.metrics.suite import Measures
from leafcover.reporting.columns import columns_section, relations_section
from leafcover.reporting.components import Section, Terms, Words, section
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules, counted, curled, started
from leafcover.reporting.method import made_section
from leafcover.reporting.models import models_section
from leafcover.reporting.overview import plain, tiles
from leafcover.reporting.risks import risks_section
from leafcover.reporting.trees import trees_section


def report(
    pair: Pair,
    *,
    release: Release | None,
    measures: Measures | None,
    face: Literal["internal", "external"],
    publish_tree: bool,
) -> str:
    """The page as HTML text: complete in itself, without a script or a request.

    ``release`` is None for a table that was made elsewhere, ``measures`` when nothing was measured.
    """
    require_report()
    page = _template()
    strict = face == "external"
    voice = DisclosureRules(len(pair.released), strict)
    subject = ReportContext(pair, release, None if voice.silent else measures, voice, not strict or publish_tree)
    return page.render(
        subject=subject,
        rows=counted(voice.rows, "row"),
        recipe="" if release is None else release.plan.recipe,
        plain=plain(subject),
        tiles=list(tiles(subject)),
        sections=list(_sections(subject)),
        versions=versions(),
    )


def require_report() -> None:
    """Refuse in one line where what a report needs is not installed, before anything slow is done for it."""
    for module in ("jinja2", "matplotlib", "sklearn"):
        if find_spec(module) is None:
            raise LeafcoverError(
                f"Install leafcover[report] to write a report ({module} is missing): pip install 'leafcover[report]'."
            )


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


def _sections(subject: ReportContext) -> Iterator[Section]:
    found = [
        trees_section(subject),
        models_section(subject),
        columns_section(subject),
        relations_section(subject),
        risks_section(subject),
        made_section(subject),
        _absent(subject),
    ]
    return (one for one in found if one is not None)


def _absent(subject: ReportContext) -> Section | None:
    """What could not be measured, and why."""
    measures = subject.measures
    if subject.voice.silent:
        words = (
            f"A share of {counted(subject.voice.rows, 'row')} would tell of fewer than 5 people, so none is told here."
        )
        return section("absent", "What is not told", Words(words))
    if measures is None:
        words = "Nothing was measured for this report: it tells what the method did, not what that cost or hides."
        return section("absent", "What was not measured", Words(words))
    # what to do about it is for the steward alone
    said = (one.why if subject.internal else one.why.partition(" Give ")[0] for one in measures.absent)
    items = [(started(one.what), curled(why)) for one, why in zip(measures.absent, said, strict=True)]
    return section("absent", "What could not be measured", Terms(tuple(items)) if items else None)
