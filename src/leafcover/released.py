"""What `release` and `load` return: a release that can be printed, saved, measured and reported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from leafcover.arrays import Rows
from leafcover.engine.evaluate import (
    Comparison,
    certain_linkage,
    check_limit,
    compared_to,
    limited_risks,
    measure_all,
    refuse_above,
)
from leafcover.engine.files import (
    check_outputs,
    check_report_name,
    external_report,
    save_release,
)
from leafcover.engine.manifest import Record, ReleasePaths
from leafcover.engine.run import Progress, Release, summary
from leafcover.errors import TableError
from leafcover.keyed_random import Key, key_text
from leafcover.metrics.disclosure.record_linkage import Informed
from leafcover.metrics.suite import Measures
from leafcover.table.atomic import atomic_group, check_output_path
from leafcover.table.frames import to_frame
from leafcover.table.table import Table

SILENT: Progress = lambda words, share: None  # noqa: E731  # a default argument


@dataclass(frozen=True, eq=False)
class _Measurable:
    """The common part of a new release and one read from files: both can be measured and reported."""

    @property
    def _compared(self) -> Comparison:
        raise NotImplementedError

    @property
    def _facts(self) -> Release | None:
        raise NotImplementedError

    @property
    def _released_name(self) -> str:
        return ""

    @cached_property
    def _taken(self) -> dict[str, Measures]:
        return {}

    def measure(self, *, progress: Progress | None = None) -> Measures:
        """All measures of utility and disclosure risk; computed once, then cached."""
        if "all" not in self._taken:
            self._taken["all"] = measure_all(self._compared, tell=progress or SILENT)
        return self._taken["all"]

    def check_risk(self, max_risk: float, *, progress: Progress | None = None) -> None:
        """Raise `RiskTooHigh` if a limited risk is above ``max_risk``."""
        check_limit(max_risk)
        (progress or SILENT)("attacking the release", 0.0)
        refuse_above(limited_risks(self._compared, self._taken.get("all")), max_risk)

    def write(
        self,
        *,
        report: str | Path | None = None,
        figures: str | Path | None = None,
        title: str | None = None,
        date: str | None = None,
        publish_tree: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Measure, and write both reports and all figures as JSON, if requested: all files or none."""
        texts: dict[Path, tuple[str, bool]] = {}
        if figures is not None:
            texts[Path(figures)] = (self.measure(progress=progress).to_json(), True)
        if report is not None:
            check_report_name(Path(report))
            texts |= self._pages(Path(report), _Opening(title, date, publish_tree, self._released_name), progress)
        with atomic_group(force=force) as part:
            for path, (content, private) in texts.items():
                part(path, private).write_text(content, "utf-8")

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        date: str | None = None,
        publish_tree: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> tuple[Path, Path]:
        """Measure and write the report.

        Parameters
        ----------
        path : str or Path
            The steward's report, an ``.html`` file that only its owner can read.
        title, date : str, optional
            The table's name and a date, for the opening of the report.
        publish_tree : bool
            Show plan and tree in the public report too; their cuts are original values.
        force : bool
            Overwrite files that exist.

        Returns
        -------
        tuple of Path
            The steward's report, and the public one beside it (``.external.html``).
        """
        place = Path(path)
        check_report_name(place)
        for one in (place, external_report(place)):
            check_output_path(one, force=force)
        self.write(report=place, title=title, date=date, publish_tree=publish_tree, force=force, progress=progress)
        return place, external_report(place)

    def _pages(self, path: Path, opening: "_Opening", progress: Progress | None) -> dict[Path, tuple[str, bool]]:
        """Both reports: where each goes, its text, and whether it is private.

        By default the title is the file's name: that of the original, which is not for publication, in the steward's
        report, and that of the release in the public one.
        """
        from leafcover.reporting.html_page import report, require_report

        require_report()
        given: dict[str, Any] = {"release": self._facts, "measures": self.measure(progress=progress)}
        given["date"] = opening.date
        pair = self._compared.pair
        original = pair.original.reading.name
        inner = report(pair, **given, audience="internal", publish_tree=True, title=opening.title or original)
        public = opening.title or opening.released
        outer = report(pair, **given, audience="external", publish_tree=opening.publish_tree, title=public)
        return {path: (inner, True), external_report(path): (outer, False)}


@dataclass(frozen=True)
class _Opening:
    """The opening of a report."""

    title: str | None
    date: str | None
    publish_tree: bool
    released: str = ""  # the name of the released file


@dataclass(frozen=True, eq=False)
class Released(_Measurable, Release):
    """A release: the released table, how it was made, and what can be done with it.

    Attributes
    ----------
    table : Table
        The released table; ``frame`` is the same table in the library of the original.
    plan : Plan
        How it was made.
    original : Table
        The rows that were released.
    held_out : Table or None
        The rows that were held out first.
    source : array
        The original row of each released row: secret.
    """

    original: Table = field(kw_only=True)
    held_out: Table | None = field(default=None, kw_only=True)
    rows: Rows = field(kw_only=True)  # the numbers of the released rows in the table that was given
    new_key: Key | None = field(default=None, kw_only=True, repr=False)  # a new secret key, to keep or to discard

    @property
    def frame(self) -> Any:
        """The released table as pandas, polars or pyarrow, like the original."""
        return to_frame(self.table)

    @property
    def _facts(self) -> Release:
        return self

    @cached_property
    def _compared(self) -> Comparison:
        return compared_to(self.original, self, self.held_out)

    @cached_property
    def _certain(self) -> Informed | None:
        return certain_linkage(self.original, self)

    @property
    def linkage_is_certain(self) -> bool:
        """Whether the linkage risk follows from the plan alone, without measuring; ``print`` then shows it."""
        return self._certain is not None

    def __str__(self) -> str:
        return summary(self, None if self._taken else self._certain)

    def save(
        self,
        path: str | Path,
        *,
        report: str | Path | None = None,
        title: str | None = None,
        date: str | None = None,
        key_file: str | Path | None = None,
        publish_tree: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Write the release and the files that belong to it, all or none.

        Parameters
        ----------
        path : str or Path
            The path of the released table; its suffix determines the format. The manifest, the internal manifest, the
            pairs and the rows held out are written beside it.
        report : str or Path, optional
            Also measure the release and write both reports.
        title, date : str, optional
            The table's name and a date, for the opening of the reports.
        key_file : str or Path, optional
            Keep the secret key here, so that the release can be repeated.
        publish_tree : bool
            Put plan and tree into what is published; their cuts are original values.
        force : bool
            Overwrite files that exist.

        Returns
        -------
        dict
            The manifest that may be published.
        """
        paths = ReleasePaths(Path(path))
        keep = None if key_file is None else Path(key_file)
        page = None if report is None else Path(report)
        held = self.held_out is not None
        check_outputs(None, paths, report=page, key_file=keep, held_out=held, force=force)
        opening = _Opening(title, date, publish_tree, paths.table.name)
        texts = {} if page is None else self._pages(page, opening, progress)
        if keep is not None and self.new_key is not None:
            texts[keep] = (key_text(self.new_key), True)
        return save_release(
            self,
            paths,
            original=self.original,
            rows=self.rows,
            force=force,
            publish_tree=publish_tree,
            held_out=self.held_out,
            texts=texts,
        )


@dataclass(frozen=True, eq=False)
class Loaded(_Measurable):
    """A release read from its files; with its original it can be measured and reported."""

    table: Table
    record: Record
    original: Table | None = None
    compared: Comparison | None = None
    facts: Release | None = None

    @property
    def frame(self) -> Any:
        """The released table as pyarrow."""
        return to_frame(self.table)

    @property
    def manifest(self) -> Mapping[str, Any] | None:
        """The manifest that may be published, if there is one."""
        return self.record.external

    @property
    def _released_name(self) -> str:
        return self.table.reading.name

    @property
    def _facts(self) -> Release | None:
        return self.facts

    @property
    def _compared(self) -> Comparison:
        if self.compared is None:
            raise TableError("The release was loaded without its original. Load it with original=... to measure it.")
        return self.compared
