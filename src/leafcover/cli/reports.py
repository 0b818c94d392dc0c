"""Where reports go: the steward's under the name given, the public one beside it."""

from pathlib import Path
from typing import TYPE_CHECKING

from leafcover.errors import OutputError

if TYPE_CHECKING:
    from leafcover.measuring.measures import Measures
    from leafcover.measuring.pair import Pair
    from leafcover.releasing.run import Release


def outward(report: Path) -> Path:
    """The report that may be published."""
    return report.with_name(report.stem + ".external" + report.suffix)


def check_report(report: Path | None) -> None:
    """Refuse a name that is no page, or that of the public report."""
    if report is not None and (report.suffix not in (".html", ".htm") or report.stem.endswith(".external")):
        raise OutputError(
            f"The report '{report}' must be called something.html, and not .external.html, which is the public one."
        )


def pages(
    report: Path, pair: "Pair", release: "Release | None", measures: "Measures", *, publish_tree: bool
) -> dict[Path, tuple[str, bool]]:
    """Both faces: where each goes, its text, and whether it is private."""
    from leafcover.releasing.report import report as page

    inward = page(pair, release=release, measures=measures, face="internal", publish_tree=True)
    public = page(pair, release=release, measures=measures, face="external", publish_tree=publish_tree)
    return {report: (inward, True), outward(report): (public, False)}
