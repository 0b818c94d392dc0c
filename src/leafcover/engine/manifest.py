"""The two manifests of a release: an external one for recipients of the table, an internal one for the steward only.

The external manifest contains no count under five, no extremes, no rare value, no list by row, and no cut of a tree
unless the steward publishes it. Neither manifest contains the key or a seed. The module also finds, reads and checks
the manifests beside a table.
"""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafcover.engine.run import (
    FEWEST,
    CellFact,
    ColumnFact,
    Release,
    TreeFact,
)
from leafcover.engine.statement import assumed, reversible_columns, reversible_sentence
from leafcover.errors import OutputError, TableError
from leafcover.recipes.plan import Plan
from leafcover.recipes.plan_file import plan_text
from leafcover.table.io import DatabaseTable, Place, is_workbook, place_of
from leafcover.table.weights import KeptFact

if TYPE_CHECKING:
    from leafcover.engine.counts import CountRelease

FORMAT = 1
MADE_WITH_SEED = "made with a seed: an attacker who guesses the seed can undo the perturbation"


def external(release: Release, *, file: str, sha256: str, publish_tree: bool = False) -> dict[str, Any]:
    """The manifest that may be published with the table."""
    rows = len(release.table)
    found: dict[str, Any] = {
        "leafcover": FORMAT,
        "publishable": release.publishable and not release.kept_order,
        "output": {"file": file, "sha256": sha256, "rows": len(release.table)},
        "input_fingerprint": release.fingerprint,
        "recipe": release.plan.recipe or "own plan",
        "target": release.plan.target or None,
        **({} if release.sampled is None else {"sampled": release.sampled}),
        "row_order": "kept" if release.kept_order else "keyed",
        "columns": _columns(release),
        **_units(release),
        "trees": [{"target": t.target or None, "rows_in_the_same_leaf": _coarse(t.kept, rows)} for t in release.trees],
        "singleton_rows": _coarse(release.singletons, rows),
        "not_protected": list(release.unprotected),
        **_reversible(release.plan),
        **({"only_recoded": list(release.only_recoded)} if release.only_recoded else {}),
        "no_values": list(release.no_values),
        "guarantees": _guarantees(release),
        **_not_guaranteed(release),
        **_recodings(release.plan),
        "rules": [
            {"rule": r.text, "kept": _coarse(r.after, r.rows)} | ({"computed": r.computed} if r.computed else {})
            for r in release.rules
            if r.is_public
        ],
        **_weights(release),
        **({} if release.limits is None else {"limits": release.limits.facts}),
        "versions": versions(),
    }
    if release.statement is not None:
        proved = release.statement.published
        found["proved"] = {
            **asdict(proved),
            "statements": list(proved.sentences),
            "assumptions": list(assumed(proved, release.plan.weights)),
        }
    if not release.publishable:
        found["why_not_publishable"] = MADE_WITH_SEED
    elif release.kept_order:
        found["why_not_publishable"] = (
            "rows are in their original order: an attacker who knows the order can link every row"
        )
    if publish_tree:
        found["plan"] = plan_text(release.plan.published)
    return found


def _columns(release: Release) -> list[dict[str, Any]]:
    """Name and kind of each column of the table, and how it changed."""
    rows, facts = len(release.table), {fact.name: fact for fact in release.columns}
    found = []
    for column in release.table:
        entry: dict[str, Any] = {"name": column.name, "kind": column.kind}
        if column.name in release.original_kinds:
            entry["original_kind"] = release.original_kinds[column.name]
        fact = facts.get(column.name)
        if fact is not None and release.descends:
            entry["changed"] = _coarse(fact.changed, rows)
        if fact is not None:
            entry["range_fraction"] = _coarse(fact.range_fraction, rows)
        if fact is not None and fact.noise is not None:
            entry["noise"] = _coarse(fact.noise, rows)
        if column.name in release.promises:
            entry["promise"] = list(release.promises[column.name])
        found.append(entry)
    return found


def _recodings(plan: Plan) -> dict[str, Any]:
    """What was recoded, without thresholds and levels that the release does not show."""
    if not plan.recode:
        return {}
    listed = ({"columns": list(one.columns), "values": one.published().describe()} for one in plan.recode)
    return {"recoded": list(listed)}


def _reversible(plan: Plan) -> dict[str, Any]:
    """The columns that are not private, because their transformation can be inverted."""
    names = reversible_columns(plan)
    return {"reversible": {"columns": list(names), "note": reversible_sentence(plan)}} if names else {}


def _units(release: Release) -> dict[str, Any]:
    """The unit of a release in which several rows belong to one person or household."""
    units = release.plan.units
    if units is None or release.unit_table is None:
        return {}
    return {
        "units": {
            "column": units.unit,
            **({} if units.member is None else {"member": units.member}),
            "count": len(release.unit_table),
            "most_rows": units.most,
            "numbers": "new: they say which rows belong together, and nothing else",
        }
    }


def _weights(release: Release) -> dict[str, Any]:
    """How weights leave, and the tables that were to be kept, without the sizes of their cells."""
    found: dict[str, Any] = {}
    if (weights := release.plan.weights) is not None:
        found["weights"] = {"columns": list(weights.columns), "leave": weights.leave}
    if release.kept:
        found["kept_tables"] = [
            {
                "table": fact.text,
                "rows_kept": "in all cells" if fact.same_rows == fact.cells else "not in all cells",
                **({"weight": fact.weight, "totals_kept": _totals_kept(fact)} if fact.weight else {}),
                **({"totals_rounded_by_at_most": fact.within} if fact.within else {}),
            }
            for fact in release.kept
        ]
    return found


def _totals_kept(fact: KeptFact) -> str:
    if fact.missed:
        return "not in all cells"
    return "in all cells" if not fact.pooled else "in cells of enough people; others together with the next"


def internal(release: Release, outward: Mapping[str, Any], *, reading: Mapping[str, Any]) -> dict[str, Any]:
    """The internal manifest: everything for the steward, and what ``verify`` needs to repeat the release."""
    return {
        **outward,
        "audience": "internal: not for publication",
        "plan": plan_text(release.plan),
        "recipe_settings": None if release.plan.settings is None else dict(release.plan.settings),
        **_as_given(release.plan),
        "reading": dict(reading),
        "columns": [asdict(fact) for fact in release.columns],
        "trees": [asdict(fact) for fact in release.trees],
        "original_kinds": dict(release.original_kinds),
        "cells": [{**asdict(fact), "columns": list(fact.columns)} for fact in release.cells],
        "singleton_rows": release.singletons,
        "warnings": list(release.warnings),
        "statement": None if release.statement is None else asdict(release.statement),
        "promises": {name: list(words) for name, words in release.promises.items()},
        "rules": [asdict(fact) for fact in release.rules],
        "kept": [asdict(fact) for fact in release.kept],
    }


def _as_given(plan: Plan) -> dict[str, Any]:
    """The recodings as the user asked for them, to fit them to other rows."""
    if plan.recode_as_given is None or not plan.recode:
        return {}
    return {"recode_as_given": plan_text(Plan(recode=plan.recode_as_given)) if plan.recode_as_given else ""}


def external_counts(release: "CountRelease", *, file: str, sha256: str) -> dict[str, Any]:
    """The manifest of tables of counts that may be published with them; the method is no secret, only its key is."""
    found: dict[str, Any] = {
        "leafcover": FORMAT,
        "publishable": release.publishable,
        "output": {"file": file, "sha256": sha256, "rows": len(release.table)},
        "input_fingerprint": release.fingerprint,
        "counts": {
            "of": "people or households" if release.unit else "rows",
            "weighted": bool(release.weight),
            **{name: release.settings[name] for name in ("tables", "totals", "cell_keys")},
            **asdict(release.noise),
        },
        "columns": [{"name": column.name, "kind": column.kind} for column in release.table],
        "versions": versions(),
    }
    if not release.publishable:
        found["why_not_publishable"] = MADE_WITH_SEED
    return found


def internal_counts(
    release: "CountRelease", outward: Mapping[str, Any], *, reading: Mapping[str, Any]
) -> dict[str, Any]:
    """The internal manifest of tables of counts: all settings, and figures for the steward."""
    return {
        **outward,
        "audience": "internal: not for publication",
        "reading": dict(reading),
        "settings": dict(release.settings),
        "figures": release.figures,
        "warnings": list(release.warnings),
    }


def versions() -> dict[str, str]:
    """The versions that the bytes of a repeated release depend on."""
    packages = ("leafcover", "numpy", "scipy", "pyarrow", "numba", "cryptography")
    found = {name: version(name) for name in packages}
    return {"python": platform.python_version(), "machine": platform.machine(), **found}


def _coarse(share: float, rows: int) -> float:
    """Two decimal places, in a small table steps of five rows, so that no count under five can be recovered.

    >>> _coarse(0.014, 210), _coarse(0.9912, 1000)
    (0.02, 0.99)
    """
    step = max(0.01, FEWEST / max(rows, 1))
    return round(min(1.0, step * round(share / step)), 2)


def _guarantees(release: Release) -> list[str]:
    return list(dict.fromkeys(one for step in release.plan.steps for one in step.perturb.guarantees))


def _not_guaranteed(release: Release) -> dict[str, list[str]]:
    """What the published methods are said to preserve and these do not."""
    found = list(dict.fromkeys(one for step in release.plan.steps for one in step.perturb.not_guaranteed))
    return {"not_guaranteed": found} if found else {}


# The fields that a manifest must have before a release can be checked or measured; a damaged one is a one-line error.


@dataclass(frozen=True)
class _Output:
    sha256: str
    rows: int


@dataclass(frozen=True)
class _Named:
    name: str


@dataclass(frozen=True)
class _External:
    """The fields read from the external manifest."""

    output: _Output
    columns: list[_Named]
    publishable: bool


@dataclass(frozen=True)
class _Reading:
    """How the original was read."""

    roles: dict[str, str]
    drop: list[str]
    category: list[str]
    missing: dict[str, list[str]]
    encoding: str
    delimiter: str | None
    target: str | None


@dataclass(frozen=True)
class _Internal:
    """The fields read from the internal manifest."""

    output: _Output
    plan: str
    reading: _Reading
    columns: list[ColumnFact]
    trees: list[TreeFact]
    cells: list[CellFact]
    warnings: list[str]
    not_protected: list[str]
    row_order: str
    input_fingerprint: str


@dataclass(frozen=True)
class _InternalCounts:
    """The fields read from the internal manifest of tables of counts."""

    output: _Output
    reading: _Reading
    settings: dict[str, Any]
    input_fingerprint: str


@dataclass(frozen=True)
class Record:
    """The manifests beside a released table, each parsed and checked once."""

    paths: "ReleasePaths"
    external: Mapping[str, Any] | None  # the manifest that may be published
    internal: Mapping[str, Any] | None  # for the steward only

    @property
    def is_of_counts(self) -> bool:
        """Whether the table is one of counts, which has no rows of people."""
        return any(one is not None and "counts" in one for one in (self.external, self.internal))

    @property
    def roles(self) -> dict[str, Any]:
        """The role of each column of the original."""
        return {} if self.internal is None else dict(self.internal["reading"]["roles"])

    @property
    def options(self) -> dict[str, Any]:
        """How the original was read, as arguments of `leafcover.read`."""
        known = {} if self.internal is None else self.internal["reading"]
        names = ("drop", "category", "missing", "encoding", "delimiter", "decimal", "thousands", "sheet", "query")
        return {name: known[name] for name in names if name in known}

    def options_for(self, original: Any) -> dict[str, Any]:
        """The same for an original at a place, which may now be in another file or a table instead of a query."""
        place = place_of(original)
        fits = {"query": isinstance(place, DatabaseTable) and not place.name, "sheet": is_workbook(place)}
        return {name: content for name, content in self.options.items() if fits.get(name, True)}

    @property
    def text_options(self) -> dict[str, Any]:
        """How the released table is read: like the original, but whole, and without columns that it has no longer."""
        released = {column["name"] for column in (self.external or self.internal or {}).get("columns", ())}
        found = {name: one for name, one in self.options.items() if name not in ("drop", "sheet", "query")}
        for option, content in found.items():
            if isinstance(content, dict):
                found[option] = {name: what for name, what in content.items() if name in released}
        return {**found, "category": [*found.get("category", ()), *self.labelled]} if self.labelled else found

    @property
    def labelled(self) -> list[str]:
        """The columns that recoding made categories."""
        columns = () if self.external is None else self.external["columns"]
        return [one["name"] for one in columns if one.get("kind") == "category" and "original_kind" in one]

    @property
    def target(self) -> str:
        """The target of the release, if one is recorded."""
        return "" if self.internal is None else self.internal.get("target") or ""


def load_record(path: Place, manifest: Path | None = None) -> Record:
    """The manifests beside a released table. For a renamed table they are found by its hash.

    ``manifest`` names the external manifest if it is elsewhere.
    """
    for one in (path, manifest):
        if isinstance(one, Path) and not one.name:
            raise TableError(f"'{one}' is a folder. Name a file in it.")
    paths = ReleasePaths.of(path) if manifest is None else _paths_of(manifest, path)
    if manifest is None and isinstance(path, Path) and not paths.manifest.exists() and path.is_file():
        paths = _renamed(path) or paths
    outer = _checked(paths.manifest, _External) if manifest is not None or paths.manifest.exists() else None
    form = _InternalCounts if outer is not None and "counts" in outer else _Internal
    inner = _checked(paths.internal, form) if paths.internal.exists() else None
    return Record(paths, outer, inner)


def _paths_of(manifest: Path, place: Place | None = None) -> "ReleasePaths":
    ending = ReleasePaths(Path("x")).manifest.name[1:]
    if not manifest.name.endswith(ending):
        raise TableError(f"The name of a manifest must end in {ending}. Got {str(manifest)!r}.")
    database = place if isinstance(place, DatabaseTable) else None
    return ReleasePaths(manifest.with_name(manifest.name.removesuffix(ending)), database)


def _renamed(path: Path) -> "ReleasePaths | None":
    """The files of a release whose table was renamed, if a manifest in its folder has its hash."""
    candidates = sorted(path.parent.glob("*" + ReleasePaths(Path("x")).manifest.name[1:]))
    if not candidates:
        return None
    with path.open("rb") as file:
        mark = file_digest(file, "sha256").hexdigest()
    for candidate in candidates:
        try:
            if manifest_of(candidate)["output"]["sha256"] == mark:
                return _paths_of(candidate)
        except (TableError, TypeError, KeyError):
            continue
    return None


def _checked(place: Path, form: type) -> dict[str, Any]:
    from pydantic import TypeAdapter, ValidationError

    found = manifest_of(place)
    try:
        TypeAdapter(form).validate_python(found)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise TableError(f"The manifest {str(place)!r} is damaged at {where!r}. Release the table again.") from None
    return found


@dataclass(frozen=True)
class ReleasePaths:
    """The paths of the files of a release. Those of a table in a database are beside ``table``, where no file is."""

    table: Path
    database: DatabaseTable | None = None

    @classmethod
    def of(cls, place: Place) -> "ReleasePaths":
        """The paths for a file, or for a table of a database."""
        return cls(place) if isinstance(place, Path) else cls(place.companion, place)

    @property
    def place(self) -> Place:
        """Where the table is."""
        return self.table if self.database is None else self.database

    def beside(self, ending: str) -> Path:
        """A file that belongs to the table."""
        return self.table.with_name(self.table.name + ending)

    @property
    def manifest(self) -> Path:
        """The external manifest."""
        return self.beside(".manifest.json")

    @property
    def internal(self) -> Path:
        """The internal one."""
        return self.beside(".internal.json")

    @property
    def pairs(self) -> Path:
        """The original row of each released row; never to be published."""
        return self.beside(".pairs")

    @property
    def rows(self) -> Path:
        """Which original rows were released, where no released row descends from one of them; not to be published."""
        return self.beside(".rows")

    @property
    def held_out(self) -> Path:
        """The rows that were held out first; they do not go into a database, which others may read."""
        if self.database is not None:
            return self.beside(".held-out.parquet")
        stem, *endings = self.table.name.split(".")
        return self.table.with_name(".".join([stem, "held-out", *endings]))


def beside(table: Path, word: str, suffix: str = "") -> Path:
    """A path beside a table with a word before its suffix, such as people.released.csv; a suffix replaces its own.

    >>> beside(Path("people.csv.gz"), "released").name, beside(Path("people.csv"), "report", ".html").name
    ('people.released.csv.gz', 'people.report.html')
    """
    stem, *endings = table.name.split(".")
    kept = [suffix.removeprefix(".")] if suffix else endings
    return table.with_name(".".join([stem, word, *kept]))


def default_output(place: Place) -> Path:
    """TABLE.released.csv beside a table, or in a format that can be written."""
    if not isinstance(place, Path):
        raise OutputError("The table comes from a database, so its release has no default path. Add output=FILE.")
    from leafcover.table.statistical_formats import INSTEAD

    return beside(place.with_suffix(INSTEAD.get(place.suffix.lower(), place.suffix)), "released")


def manifest_of(path: Path) -> dict[str, Any]:
    """Read a manifest, or raise a one-line error."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise TableError(
            f"There is no manifest {str(path)!r} beside the table. Verify a table that release wrote."
        ) from None
    except (OSError, ValueError):
        raise TableError(f"The manifest {str(path)!r} cannot be read as JSON. Release the table again.") from None
    if not isinstance(found, dict) or "output" not in found:
        raise TableError(f"{str(path)!r} is not a manifest of Leafcover. Release the table again.")
    return found
