"""The options with which every command reads a table: roles, missing tokens, encoding."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leafcover.errors import NameUnknown, OutputError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.engine.run import Release
    from leafcover.metrics.pair import Pair
    from leafcover.metrics.suite import Measures
    from leafcover.table.table import Table


_Names = list[str]


def _option(*names: str, words: str, metavar: str = "COL") -> Any:
    return Annotated[_Names, typer.Option(*names, help=words, metavar=metavar, rich_help_panel="Columns")]


OPTIONS: dict[str, tuple[Any, Any]] = {
    "drop": (_option("--drop", words="Leave the column out."), []),
    "unchanged": (_option("--unchanged", words="Release the column as it is (it is then not protected)."), []),
    "quasi_identifier": (
        _option("--quasi-identifier", "--qi", words="A quasi-identifier: an attacker may know this column."),
        [],
    ),
    "sensitive": (_option("--sensitive", words="A sensitive attribute: must not be inferred for a person."), []),
    "unit": (_option("--unit", words="Says which person or household a row belongs to; not released."), []),
    "weight": (_option("--weight", words="A survey weight; trees do not test it."), []),
    "category": (_option("--category", words="Read the column as a category, its text kept."), []),
    "missing": (
        _option(
            "--missing",
            words="What stands for a missing value in a column, in place of '', ?, NA and NaN; several by commas.",
            metavar="COL=TOKENS",
        ),
        [],
    ),
    "encoding": (
        Annotated[str, typer.Option("--encoding", help="Of a text file.", rich_help_panel="Columns")],
        "utf-8",
    ),
    "delimiter": (
        Annotated[
            str | None,
            typer.Option(
                "--delimiter", help="Of a .csv or .tsv; else seen from its header.", rich_help_panel="Columns"
            ),
        ],
        None,
    ),
}


@dataclass(frozen=True)
class Reading:
    """How a table is to be read."""

    drop: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    quasi_identifier: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    unit: tuple[str, ...] = ()
    weight: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    encoding: str = "utf-8"
    delimiter: str | None = None

    def read(self, path: Path, *, target: str | None = None) -> "Table":
        """The table with its roles."""
        from leafcover.table.io import read

        used = [*self.roles(target), *self.category, *self.missing_tokens()]
        if both := [name for name in used if name in self.drop]:
            raise ValueOutOfRange(f"Column {both[0]!r}", "--drop and another option", "dropped or used, not both")
        return read(path, **self.arguments(), drop=self.drop, roles=self.roles(target))

    def arguments(self) -> dict[str, Any]:
        """How the text is read; the same for the original and its release."""
        return {
            "missing": self.missing_tokens(),
            "category": list(self.category),
            "encoding": self.encoding,
            "delimiter": self.delimiter,
        }

    def roles(self, target: str | None) -> dict[str, Any]:
        """Each column has at most one role."""
        found: dict[str, Any] = {}
        for role in ("unchanged", "quasi-identifier", "sensitive", "unit", "weight"):
            for name in getattr(self, role.replace("-", "_")):
                if name in found:
                    raise ValueOutOfRange(f"Column {name!r}", f"{found[name]} and {role}", "given one role")
                found[name] = role
        if target is not None and found.get(target) in ("unit", "weight"):
            raise ValueOutOfRange(f"Column {target!r}", f"target and {found[target]}", "given one role")
        if target is not None and found.get(target) not in ("unchanged", "sensitive", "quasi-identifier"):
            found[target] = "target"
        return found

    def missing_tokens(self) -> dict[str, list[str]]:
        """The tokens of each column."""
        found = {}
        for one in self.missing:
            name, sign, tokens = one.partition("=")
            if not sign:
                raise ValueOutOfRange("--missing", one, "COLUMN=TOKENS, such as --missing country=-,unknown")
            found[name] = [token for token in tokens.split(",") if token]
        return found


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the reading options and hand them over as one ``reading``."""
    own = inspect.signature(command)

    def run(**given: Any) -> None:
        taken = {name: given.pop(name) for name in OPTIONS}
        frozen: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in taken.items()}
        command(**given, reading=Reading(**frozen))

    parameters = [p for p in own.parameters.values() if p.name != "reading"]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, (kind, default) in OPTIONS.items()
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # what typer looks at
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def refuse_unknown(table: "Table", reading: Reading, *names: str | None) -> None:
    """A role or target that names no column is an error, with a near name."""
    given = (*reading.unchanged, *reading.quasi_identifier, *reading.sensitive, *reading.unit, *reading.weight)
    for name in (*given, *(n for n in names if n is not None)):
        if name not in table.names:
            raise NameUnknown("column", name, table.names)


# Reports: the internal one goes under the name given, the external one beside it.


Title = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="The table's name in the report. [the file's name]")
]
Date = Annotated[
    str | None, typer.Option("--date", metavar="TEXT", help="A date to print in the report; none unless given.")
]


def external_report(report: Path) -> Path:
    """Where the external report goes, the one that may be published."""
    return report.with_name(report.stem + ".external" + report.suffix)


def check_report(report: Path | None) -> None:
    """Refuse a name that is no page, or that of the public report."""
    if report is not None and (report.suffix not in (".html", ".htm") or report.stem.endswith(".external")):
        raise OutputError(
            f"The report '{report}' must be called something.html, and not .external.html, which is the public one."
        )


def pages(
    report: Path,
    pair: "Pair",
    release: "Release | None",
    measures: "Measures",
    *,
    publish_tree: bool,
    titles: tuple[str, str],
    date: str | None,
) -> dict[Path, tuple[str, bool]]:
    """The internal and the external report: where each goes, its text, and whether it is private.

    ``titles`` are those of the internal and of the external report: by default the file's name of the original, which
    is not for publication, and that of the released table.
    """
    from leafcover.reporting.page import report as page

    shared: dict[str, Any] = {"release": release, "measures": measures, "date": date}
    private = page(pair, audience="internal", publish_tree=True, title=titles[0], **shared)
    public = page(pair, audience="external", publish_tree=publish_tree, title=titles[1], **shared)
    return {report: (private, True), external_report(report): (public, False)}
