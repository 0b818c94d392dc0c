"""What `release` and `load` return: a release that can be printed, saved, measured and reported."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafcover.arrays import Rows
from leafcover.engine.audience import RiskVerdict
from leafcover.engine.evaluate import (
    Comparison,
    certain_linkage,
    check_limit,
    compared_to,
    homogeneous_lines,
    limited_risks,
    measure_all,
    measure_some,
    refuse_above,
    verdict_on,
)
from leafcover.engine.files import check_outputs, check_report_name, external_report, save_release
from leafcover.engine.manifest import Record, ReleasePaths
from leafcover.engine.run import Progress, Release, summary
from leafcover.errors import TableError
from leafcover.keyed_random import Key, key_text
from leafcover.messages import catalogue
from leafcover.metrics.disclosure.copies import Copies
from leafcover.metrics.disclosure.copies import copies as find_copies
from leafcover.metrics.disclosure.record_linkage import Informed
from leafcover.metrics.suite import Measures
from leafcover.metrics.summary import DecisiveRisk, decisive_lines, measured_risks
from leafcover.registry import checks_arguments
from leafcover.table.atomic import atomic_group, check_output_path
from leafcover.table.frames import to_frame
from leafcover.table.io import Place, check_output_format, place_of
from leafcover.table.table import Table

if TYPE_CHECKING:
    from leafcover.engine.ledger import Repeats

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

    @cached_property
    def _limited(self) -> tuple[DecisiveRisk, ...]:
        """The risks that a limit is compared with."""
        return limited_risks(self._compared, self._taken.get("all"))

    @checks_arguments("self")
    def verdict(self, max_risk: float | None = None) -> RiskVerdict:
        """Whether the risks that decide are within a limit, as far as they were measured until now.

        Parameters
        ----------
        max_risk : float, optional
            The limit; by default that of the release, or else those for the public and for researchers.

        Returns
        -------
        RiskVerdict
            ``print`` gives it in a line, with what to do about risks above the limit.

        Examples
        --------
        >>> import leafcover as lc
        >>> release = lc.release(lc.read(lc.sample("wine")), "additive", seed=7)
        >>> release.verdict().level, release.verdict().passes
        ('nothing', False)
        """
        risks = measured_risks(self._taken["all"]) if "all" in self._taken else self.__dict__.get("_limited")
        copied = self.copies if risks is None and "copies" in self.__dict__ else None
        return verdict_on(self._compared, self._facts, risks, copied, max_risk)

    @checks_arguments("self")
    def measure(self, *, progress: Progress | None = None) -> Measures:
        """Measure utility and disclosure risk; the result is computed once, then kept.

        Parameters
        ----------
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        Measures
            All figures; ``print`` gives a summary in words.

        Examples
        --------
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash"])
        >>> release = lc.release(table, "additive", seed=7)
        >>> release.measure().risks.k_anonymity.of
        'original'
        """
        if "all" not in self._taken:
            self._taken["all"] = measure_all(self._compared, tell=progress or SILENT)
        return self._taken["all"]

    @checks_arguments("self")
    def measure_only(self, names: Sequence[str], *, progress: Progress | None = None) -> dict[str, Any]:
        """Take some measures only, by their names.

        Parameters
        ----------
        names : sequence of str
            Names of measures; ``leafcover.MEASURES`` lists them.
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        dict
            The result of each measure.

        Examples
        --------
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash"])
        >>> release = lc.release(table, "additive", seed=7)
        >>> release.measure_only(["k_anonymity"])["k_anonymity"].of
        'original'
        """
        return measure_some(self._compared, names, tell=progress or SILENT)

    @cached_property
    def copies(self) -> Copies:
        """Whether records of people, or rare values, occur in the release more often than chance explains.

        This is the attack that costs less than a release: the control is what was held out, if anything was.

        Examples
        --------
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("cps1985"))
        >>> release = lc.release(table, "cover", target="union", seed=7)
        >>> release.copies.findings
        ()
        """
        return find_copies(self._compared.pair)

    @checks_arguments("self")
    def check_risk(self, max_risk: float, *, progress: Progress | None = None) -> None:
        """Raise `RiskTooHigh` if a limited risk is above a limit.

        Parameters
        ----------
        max_risk : float
            The limit, a share from 0 to 1.
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        None
            If no risk is above the limit.

        Examples
        --------
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash"])
        >>> release = lc.release(table, "additive", seed=7)
        >>> try:
        ...     release.check_risk(0.05)
        ... except lc.errors.RiskTooHigh as error:
        ...     print(str(error).partition(";")[0])
        The risk of maximum-knowledge record linkage is 0.090 (0.056 to 0.141)
        """
        check_limit(max_risk)
        (progress or SILENT)("attacking the release", 0.0)
        refuse_above(self._limited, max_risk)

    @checks_arguments("self")
    def write(
        self,
        *,
        report: str | Path | None = None,
        figures: str | Path | None = None,
        title: str | None = None,
        date: str | None = None,
        max_risk: float | None = None,
        publish_tree: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> None:
        """Measure, and write both reports and all figures as JSON, if requested: all files or none.

        Parameters
        ----------
        report : str or Path, optional
            The steward's report, an ``.html`` file. The public one is written beside it (``.external.html``).
        figures : str or Path, optional
            A JSON file for all figures.
        title, date : str, optional
            The table's name and a date, for the opening of the reports.
        max_risk : float, optional
            The limit that the verdict goes by; by default that of the release.
        publish_tree : bool, default False
            Show plan and tree in the public report too; their cuts are original values.
        force : bool, default False
            Overwrite files that exist.
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        None
            When every file is complete.

        Examples
        --------
        >>> import json
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash"])
        >>> release = lc.release(table, "additive", seed=7)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     release.write(figures=Path(directory) / "figures.json")
        ...     json.loads((Path(directory) / "figures.json").read_text("utf-8"))["rows"]
        178
        """
        texts: dict[Path, tuple[str, bool]] = {}
        if figures is not None:
            texts[Path(figures)] = (self.measure(progress=progress).to_json(), True)
        if report is not None:
            check_report_name(Path(report))
            opening = _Opening(title, date, publish_tree, self._released_name, max_risk)
            texts |= self._pages(Path(report), opening, progress)
        with atomic_group(force=force) as part:
            for path, (content, private) in texts.items():
                part(path, private).write_text(content, "utf-8")

    @checks_arguments("self")
    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        date: str | None = None,
        max_risk: float | None = None,
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
        max_risk : float, optional
            The limit that the verdict goes by; by default that of the release.
        publish_tree : bool, default False
            Show plan and tree in the public report too; their cuts are original values.
        force : bool, default False
            Overwrite files that exist.
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        tuple of Path
            The steward's report, and the public one beside it (``.external.html``).

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash"])
        >>> release = lc.release(table, "additive", seed=7)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     [path.name for path in release.report(Path(directory) / "report.html")]
        ['report.html', 'report.external.html']
        """
        place = Path(path)
        check_report_name(place)
        for one in (place, external_report(place)):
            check_output_path(one, force=force)
        asked: dict[str, Any] = {"title": title, "date": date, "max_risk": max_risk, "publish_tree": publish_tree}
        self.write(report=place, **asked, force=force, progress=progress)
        return place, external_report(place)

    def _pages(self, path: Path, opening: "_Opening", progress: Progress | None) -> dict[Path, tuple[str, bool]]:
        """Both reports: where each goes, its text, and whether it is private.

        By default the title is the file's name: that of the original, which is not for publication, in the steward's
        report, and that of the release in the public one.
        """
        from leafcover.reporting.html_page import report, require_report

        require_report()
        given: dict[str, Any] = {"release": self._facts, "measures": self.measure(progress=progress)}
        given |= {"date": opening.date, "max_risk": opening.max_risk}
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
    max_risk: float | None = None


def _no_ledger() -> str:
    say = catalogue("release")
    return say("no-ledger")


@dataclass(frozen=True, eq=False)
class Released(_Measurable, Release):
    """A release: the released table, how it was made, and what can be done with it.

    Attributes
    ----------
    table : Table
        The released table; ``frame`` is the same table in the library of the original.
    plan : Plan
        How it was made.
    source : array of int
        The original row of each released row: secret.
    columns : tuple of ColumnFact
        How each column changed, as shares of rows, and in how many rows a rare number was replaced by a shared one.
    trees : tuple of TreeFact
        How each tree was preserved: the share of rows in the same leaf as before.
    cells : tuple of CellFact
        The number and sizes of the cells of each step.
    warnings : tuple of str
        What the user should know, such as a group size that was not reached.
    fingerprint : str
        A keyed hash of the original, which reveals nothing without the key.
    publishable : bool
        Whether the key is one to publish with, not one derived from a seed.
    kept_order : bool
        Whether the rows are in their original order.
    unprotected : tuple of str
        The columns with values that were released unchanged.
    no_values : tuple of str
        The columns in which every value is missing.
    partitions : mapping
        The cells of each partition in the plan.
    statement : Statement or None
        The figures of what is proved, if every column was dealt.
    rules : tuple of RuleFact
        The shares of rows that keep each rule between columns, before and after.
    promises : mapping of str to tuple of str
        What holds of each column, such as "permuted" or "shared", in the order in which it came about.
    kept : tuple of KeptFact
        How far each table that was to be kept is kept: numbers of rows, and weighted totals.
    classed : Table or None
        The release with weights in classes, before they were calibrated, if it has weights: what attacks are given.
    unit_table : Table or None
        The release with one row for each unit, if several rows belong to one person or household.
    limits : Limits or None
        The audience and its thresholds, if one was named.
    original : Table
        The rows that were released.
    held_out : Table or None
        The rows that were held out first.
    rows : array of int
        The numbers of the released rows in the table that was given.
    new_key : Key or None
        The secret key if it is a new one, to keep or to discard.
    original_kinds : mapping of str to str
        The kinds of columns to which a recoding gave another kind.
    sampled : float or None
        The share of the rows that was released, if a secret sample was asked for.
    repeats : Repeats or None
        What the ledger of the project says: which earlier releases have the same people. None without a project.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> release = lc.release(table, "cover", target="union", seed=7)
    >>> len(release.table), release.publishable, release.unprotected
    (534, False, ())
    """

    original: Table = field(kw_only=True, repr=False)
    held_out: Table | None = field(default=None, kw_only=True, repr=False)
    rows: Rows = field(kw_only=True, repr=False)
    new_key: Key | None = field(default=None, kw_only=True, repr=False)
    repeats: "Repeats | None" = field(default=None, kw_only=True, repr=False)

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

    def __str__(self) -> str:
        text = summary(self, None if self._taken else self._certain)
        compared = self.__dict__.get("_limited", ()) if not self._taken else ()
        groups = () if self._taken else homogeneous_lines(self._compared)
        head = [str(self.verdict()), text, *groups]
        return "\n".join([*head, *decisive_lines(compared), *self._limit_lines, *self._ledger_lines])

    @property
    def _limit_lines(self) -> list[str]:
        first, *others = ("",) if self.limits is None else self.limits.sentences
        return [first, *(f"  {line}" for line in others)] if first else []

    @property
    def _ledger_lines(self) -> list[str]:
        return [_no_ledger()] if self.repeats is None else self.repeats.lines(self)

    @property
    def ledger(self) -> dict[str, Any]:
        """What the ledger of the project says of the release, as plain figures: for the steward only."""
        if self.repeats is None:
            return {"kept": False, "note": _no_ledger()}
        return self.repeats.facts(self)

    @checks_arguments("self")
    def save(
        self,
        path: str | Place,
        *,
        report: str | Path | None = None,
        title: str | None = None,
        date: str | None = None,
        key_file: str | Path | None = None,
        publish_tree: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Write the release and the files that belong to it, all or none, and enter it in the ledger of its project.

        Parameters
        ----------
        path : str or Path
            The path of the released table; its suffix determines the format. The manifest, the internal manifest, the
            pairs and the rows held out are written beside it. Or a table of a database, such as
            "postgresql://host/db#released": the other files are written beside the file of the database, or in the
            current folder.
        report : str or Path, optional
            Also measure the release and write both reports.
        title, date : str, optional
            The table's name and a date, for the opening of the reports.
        key_file : str or Path, optional
            Keep the secret key here, so that the release can be repeated.
        publish_tree : bool, default False
            Put plan and tree into what is published; their cuts are original values.
        force : bool, default False
            Overwrite files that exist; rows that an overwritten release held out are removed with it.
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        dict
            The manifest that may be published.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash"])
        >>> release = lc.release(table, "additive", seed=7)
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     manifest = release.save(Path(directory) / "released.csv")
        ...     (Path(directory) / "released.csv").exists(), manifest["recipe"]
        (True, 'additive')
        """
        paths = ReleasePaths.of(place_of(path))
        keep = None if key_file is None else Path(key_file)
        page = None if report is None else Path(report)
        held = self.held_out is not None
        check_outputs(None, paths, report=page, key_file=keep, held_out=held, force=force)
        check_output_format(paths.place, self.table)
        opening = _Opening(title, date, publish_tree, paths.table.name)
        texts = {} if page is None else self._pages(page, opening, progress)
        if keep is not None and self.new_key is not None:
            texts[keep] = (key_text(self.new_key), True)
        with ExitStack() as stack:
            ledger = None
            if self.repeats is not None:
                from leafcover.engine.ledger import new_entry

                ledger = stack.enter_context(new_entry(self.repeats, self, self.original, paths.table.name))
            return save_release(
                self,
                paths,
                original=self.original,
                rows=self.rows,
                force=force,
                publish_tree=publish_tree,
                held_out=self.held_out,
                texts=texts,
                ledger=ledger,
            )


@dataclass(frozen=True, eq=False)
class Loaded(_Measurable):
    """A release read from its files; with its original it can be measured and reported.

    Attributes
    ----------
    table : Table
        The released table; ``frame`` is the same table as pyarrow.
    record : Record
        The manifests beside the table.
    original : Table or None
        The rows that were released.
    compared : Comparison or None
        Both tables and what is known of the plan, for measuring.
    facts : Release or None
        How the release was made, if its manifest says so.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import leafcover as lc
    >>> release = lc.release(lc.read(lc.sample("wine")), "additive", seed=7)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     _ = release.save(Path(directory) / "released.csv")
    ...     loaded = lc.load(Path(directory) / "released.csv")
    >>> len(loaded.table), loaded.manifest["publishable"]
    (178, False)
    """

    table: Table = field(repr=False)
    record: Record
    original: Table | None = field(default=None, repr=False)
    compared: Comparison | None = field(default=None, repr=False)
    facts: Release | None = field(default=None, repr=False)

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
