"""Write the files of a release, all or none, and read them back."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from hashlib import file_digest, sha256
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from leafcover.arrays import Rows
from leafcover.engine.attacker import Known
from leafcover.engine.audience import limits_from
from leafcover.engine.counts import CountRelease
from leafcover.engine.evaluate import recode_of, refuse_same_people
from leafcover.engine.manifest import Record, ReleasePaths, external, external_counts, internal, internal_counts
from leafcover.engine.run import CellFact, ColumnFact, Release, TreeFact, is_dealt
from leafcover.engine.statement import RuleFact, Statement, dealt_share, not_reached
from leafcover.errors import LeafcoverError, OutputError, TableError
from leafcover.keyed_random import key_text
from leafcover.metrics.pair import Pair, pair_of
from leafcover.recipes.plan import Plan, recoded_table, step_table, tied_by
from leafcover.recipes.plan_file import parse_plan
from leafcover.table.atomic import StageFile, atomic_group, check_output_path
from leafcover.table.frames import from_frame
from leafcover.table.io import PLACES, Place, companion_files, read, write_to
from leafcover.table.sql import check_database_output, written_table
from leafcover.table.table import IntoTable, Table, without_unused_levels
from leafcover.table.tied_columns import TiedColumns
from leafcover.table.weights import KeptFact

SECRET = re.compile("passw|pwd|secret", re.IGNORECASE)  # in a query, which is then kept nowhere
LEDGER_FOLDER = ".leafcover"  # in a project folder; private


@dataclass(frozen=True)
class LedgerFiles:
    """What is written with a release: files of the ledger, and what the steward's manifest says about it."""

    texts: Mapping[Path, str] = field(repr=False)
    facts: Mapping[str, Any]


def save_release(
    release: Release,
    paths: ReleasePaths,
    *,
    original: Table,
    rows: Rows,
    force: bool = False,
    publish_tree: bool = False,
    held_out: Table | None = None,
    texts: Mapping[Path, tuple[str, bool]] | None = None,
    ledger: LedgerFiles | None = None,
) -> dict[str, Any]:
    """Write the table, both manifests, the pairs and other texts (path → content and whether it is private).

    If no released row descends from one original row, there are no pairs; after a hold-out the numbers of the released
    rows are written instead.

    ``original`` holds the rows that were released and ``rows`` their numbers in the original file (all but those
    held out); pairs refer to the file. Everything is written to temporary files first; only when all of them are
    complete are they renamed, the table last. Rows that an overwritten release held out go with it.
    """
    with (
        _in_database(release.table, paths, force=force) as digest,
        atomic_group(force=force, remove=_stale(paths, original, release, held_out)) as part,
    ):
        # A table in a database appears after the files. Files are renamed in reverse order of entry, so a table in a
        # file, entered first, appears last too.
        mark = digest or _write_table(release.table, paths.table, part)
        outward = external(release, file=paths.table.name, sha256=mark, publish_tree=publish_tree)
        if few := not_reached(release.step_table, release.plan, release.partitions, published=True):
            outward["not_reached"] = list(few)
        inward = internal(release, outward, reading=_reading(original, release.plan.target))
        if ledger is not None:
            inward["ledger"] = dict(ledger.facts)
        text = _json(outward)
        inward["manifest_sha256"] = sha256_of(text.encode())
        part(paths.manifest, False).write_text(text, "utf-8")
        part(paths.internal, True).write_text(_json(inward), "utf-8")
        if release.descends:
            write_pairs(part(paths.pairs, True), rows[release.source])
        elif held_out is not None:
            write_pairs(part(paths.rows, True), rows)
        if held_out is not None:
            write_to(held_out, paths.held_out, part(paths.held_out, True))
        for path, (content, private) in (texts or {}).items():
            part(path, private).write_text(content, "utf-8")
        for path, content in ({} if ledger is None else ledger.texts).items():  # opened last, so they appear first
            part(path, True, replace=True).write_text(content, "utf-8")
    return outward


def save_counts(release: CountRelease, path: Path, *, key_file: Path | None, force: bool) -> dict[str, Any]:
    """Write tables of counts and both manifests; files of a release that is overwritten go with it."""
    paths = ReleasePaths(path)
    check_outputs(None, paths, report=None, key_file=key_file, held_out=False, force=force)
    stale = [one for one in (paths.pairs, paths.rows) if paths.internal.exists() and one.is_file()]
    with atomic_group(force=force, remove=stale) as part:
        mark = _write_table(release.table, paths.table, part)
        outward = external_counts(release, file=paths.table.name, sha256=mark)
        text = _json(outward)
        inward = internal_counts(release, outward, reading=_reading(release.original, ""))
        inward["manifest_sha256"] = sha256_of(text.encode())
        part(paths.manifest, False).write_text(text, "utf-8")
        part(paths.internal, True).write_text(_json(inward), "utf-8")
        if key_file is not None and release.new_key is not None:
            part(key_file, True).write_text(key_text(release.new_key), "utf-8")
    return outward


def _in_database(table: Table, paths: ReleasePaths, *, force: bool) -> AbstractContextManager[str]:
    """Write a table into its database, if that is where it goes; the digest of the table, or nothing."""
    return nullcontext("") if paths.database is None else written_table(table, paths.database, force=force)


def _write_table(table: Table, path: Path, part: StageFile) -> str:
    """Write a table and its companions; the digest of the table's file."""
    table_part = part(path, False)
    write_to(table, path, table_part)
    for companion, content in companion_files(table, path).items():  # the .names of a C4.5 table
        part(companion, False).write_text(content, "utf-8")
    with table_part.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _stale(paths: ReleasePaths, original: Table, release: Release, held_out: Table | None) -> list[Path]:
    """The files of a release that is overwritten by one without such files; never the table just read."""
    if not paths.internal.exists():
        return []
    found = [paths.pairs] if not release.descends else []
    found += [paths.rows] if release.descends or held_out is None else []
    if held_out is None and original.reading.name != paths.held_out.name:
        found.append(paths.held_out)
    return [path for path in found if path.is_file()]


def _reading(original: Table, target: str) -> dict[str, Any]:
    """How the original was read, for the internal manifest."""
    options = original.reading
    return {
        "table": options.name,
        "target": target or None,
        "roles": dict(original.roles),
        "drop": list(options.drop),
        "category": list(options.category),
        "missing": {name: list(tokens) for name, tokens in options.missing.items()},
        "encoding": options.encoding,
        "delimiter": options.delimiter,
        "decimal": options.decimal,
        "thousands": options.thousands,
        "sheet": options.sheet,
        "query": None if options.query is None or SECRET.search(options.query) else options.query,
    }


def sha256_of(data: bytes) -> str:
    """The SHA-256 of some bytes, as text."""
    return sha256(data).hexdigest()


def external_report(report: Path) -> Path:
    """The path of the public report, beside the steward's report."""
    return report.with_name(report.stem + ".external" + report.suffix)


def check_report_name(report: Path | None) -> None:
    """Raise an error for a report without the suffix .html, or with the name of a public one."""
    if report is not None and (report.suffix not in (".html", ".htm") or report.stem.endswith(".external")):
        raise OutputError(
            f"The report '{report}' must end in .html, and not in .external.html, which is for the public report."
        )


def check_outputs(
    table: Place | None, paths: ReleasePaths, *, report: Path | None, key_file: Path | None, held_out: bool, force: bool
) -> None:
    """Raise an error for outputs that cannot be written, that exist, or that coincide with another file."""
    if paths.database is not None:
        check_database_output(paths.database, force=force)
    if not paths.table.name or paths.table.name == "..":
        raise OutputError(f"Output '{paths.table}' has no file name. Give one, such as -o released.csv.")
    check_report_name(report)
    outputs: dict[str, Place] = {"the released table": paths.place, "its manifest": paths.manifest}
    outputs |= {"its internal manifest": paths.internal, "its pairs": paths.pairs}
    if held_out:
        outputs |= {"the rows held out": paths.held_out, "the numbers of the released rows": paths.rows}
    if report is not None:
        outputs |= {"the report": report, "the public report": external_report(report)}
    named = {} if table is None else {"the original": table}
    named |= outputs | ({} if key_file is None else {"the key file": key_file})
    taken: dict[str, str] = {}
    for words, path in named.items():
        place = str(path.resolve())
        if place in taken:
            raise OutputError(f"'{path}' would be both {taken[place]} and {words}. Give them different names.")
        taken[place] = words
    for path in (path for path in outputs.values() if isinstance(path, Path)):
        check_output_path(path, force=force)
        if LEDGER_FOLDER in path.resolve().parts:
            raise OutputError(f"Output '{path}' is in the private folder of a ledger. Give a name outside of it.")
    if key_file is not None:
        check_output_path(key_file, force=True)  # an existing key file is read


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_pairs(path: Path, source: Rows) -> None:
    """Write the original row of each released row, one number per line."""
    with path.open("wb") as file:
        np.savetxt(file, source, fmt="%d")


def read_pairs(path: Path) -> Rows | None:
    """Read the pairs of a release, if the file exists."""
    if not path.exists():
        return None
    try:
        text = path.read_text("ascii") if path.is_file() else ""
        return np.loadtxt(StringIO(text), dtype=np.int64, ndmin=1) if text.strip() else np.empty(0, np.int64)
    except OSError as error:
        raise TableError(f"The pairs {str(path)!r} cannot be read: {error.strerror}. Name another file.") from None
    except (ValueError, OverflowError):
        raise TableError(
            f"The pairs {str(path)!r} cannot be read as row numbers, one per line (row 0 is the first). "
            "Release the table again, or name another file."
        ) from None


# Reading a release back from its files.


@dataclass(frozen=True, eq=False)
class Recalled:
    """An original and a released table from files, with pairs and plan if the files contain them."""

    original: Table  # the rows that were released
    pair: Pair
    known: Known | None
    release: Release | None


def read_like(path: Place, original: Table, category: Sequence[str] = ()) -> Table:
    """Read a second table like the original, as far as it has the columns; categories of the original stay categories.

    ``category`` names columns that are categories in this table alone. Without the others a category could look
    numeric, if the values that do not look so are absent.
    """
    options = original.reading
    text: dict[str, Any] = {"encoding": options.encoding, "delimiter": options.delimiter}
    if not isinstance(options.decimal, Mapping):
        text["decimal"] = options.decimal
    table = read(path, **text)
    looks = [c.name for c in table if c.name in original.names and original[c.name].is_category and not c.is_category]
    chosen: dict[str, Any] = {
        "missing": {name: tokens for name, tokens in options.missing.items() if name in table.names},
        "category": [name for name in dict.fromkeys([*options.category, *looks, *category]) if name in table.names],
        "drop": [name for name in options.drop if name in table.names],
        **{
            option: {name: mark for name, mark in marks.items() if name in table.names}
            for option, marks in (("decimal", options.decimal), ("thousands", options.thousands))
            if isinstance(marks, Mapping)
        },
    }
    return read(path, **text, **chosen) if any(chosen.values()) else table


def read_original(original: str | Place | IntoTable, record: Record, target: str | None) -> Table:
    """The original table; a file or frame is read in the same way as for the release."""
    if isinstance(original, Table):
        return original
    roles = record.roles | ({target: "target"} if target else {})
    if not isinstance(original, PLACES):
        options = {name: record.options.get(name) or () for name in ("drop", "category")}
        return from_frame(original, **options, missing=record.options.get("missing"), roles=roles)
    return read(original, **record.options_for(original), roles=roles)


def recall(
    record: Record,
    original: Table,
    released: Table,
    *,
    target: str,
    pairs: Path | None = None,
    control: Table | None = None,
    plan: Plan | None = None,
) -> Recalled:
    """Combine an original and a released table with pairs, plan and facts from the files beside the release."""
    internal_facts, held_out = record.internal, None
    chosen = plan if plan is not None else _plan(internal_facts)
    tied = TiedColumns() if chosen is None else _tied(chosen, original, released)
    dealt = chosen is not None and is_dealt(chosen, step_table(chosen, released, tied, released=True))
    source = None if dealt and pairs is None else read_pairs(record.paths.pairs if pairs is None else pairs)
    if pairs is not None and source is None:
        raise TableError(f"There are no pairs {str(pairs)!r}. Name the file that release wrote beside the table.")
    if dealt and pairs is not None:
        raise TableError(
            f"pairs={str(pairs)!r} was given, but the plan deals every column, so that no released row descends from "
            "one original row. Leave pairs out."
        )
    if dealt and (rows := read_pairs(record.paths.rows)) is not None:
        original, left = split_released(original, rows)
        held_out = left if len(left) else None
    weight = [n for n in original.with_role("weight") if n in released.names]
    unit = set(original.with_role("unit")) if chosen is not None else set()
    aside = held_out if control is None else control
    pair = pair_of(
        original if chosen is None or chosen.units is None else original.take(chosen.units.kept(original)),
        released.select(n for n in released.names if n not in unit),
        source,
        target=target,
        quasi_identifiers=[n for n in original.with_role("quasi-identifier") if n in released.names],
        sensitive=[n for n in original.with_role("sensitive") if n in released.names],
        weight=weight[0] if weight else "",
        control=aside,
        recode=None if chosen is None else recode_of(chosen),
    )
    if chosen is None or chosen.units is None:
        pair = pair.without_ties(
            tied, *((chosen.pools, chosen.share, dealt_share(chosen)) if chosen is not None else ())
        )
    else:
        outside = None if aside is None else step_table(chosen, aside, tied, original=original)
        before, after = step_table(chosen, original, tied), step_table(chosen, released, tied, released=True)
        pair = pair.of_units(chosen.units, before, after, outside)
    after = pair.for_attacks.released
    pair = pair.with_nearest_weights(after.select(n for n in after.names if chosen is not None and n in chosen.weighed))
    if control is not None:
        refuse_same_people(pair)
    original = original.select(n for n in original.names if original.roles.get(n) != "unit" or n in released.names)
    if source is not None:
        original = without_unused_levels(original, np.sort(source))
    known = None
    if chosen is not None:
        try:
            known = Known.rebuilt(original.select((*pair.names, *(n for n in original.names if n in unit))), chosen)
        except LeafcoverError as error:
            raise TableError(f"The plan of the release does not fit the original: {error}") from None
    release = (
        None
        if internal_facts is None or known is None or (source is None and not dealt)
        else _release(internal_facts, known, released, np.arange(len(released)) if source is None else source)
    )
    return Recalled(original, pair, known, release)


def _tied(plan: Plan, original: Table, released: Table) -> TiedColumns:
    gone = () if plan.units is None else [name for name in plan.units.numbered if name not in released.names]
    if gone:
        raise TableError(
            f"The release has no column {gone[0]!r}, so its rows cannot be put together unit by unit. Measure "
            "it when it is released, with report=..."
        )
    shared = original.select(name for name in original.names if name in released.names)
    return tied_by(plan, recoded_table(plan, shared))


def split_released(original: Table, rows: Rows) -> tuple[Table, Table]:
    """The rows that were released, by their numbers in the original, and the others."""
    if len(np.unique(rows)) != len(rows) or rows.min(initial=0) < 0 or rows.max(initial=0) >= len(original):
        raise TableError(
            f"The release was made from rows up to {int(rows.max(initial=0)) + 1}, but the original has "
            f"{len(original)}. Give the table that was released."
        )
    left = np.setdiff1d(np.arange(len(original)), rows)
    return without_unused_levels(original, np.sort(rows)), original.take(left)


def _plan(internal_facts: Mapping[str, Any] | None) -> Plan | None:
    if internal_facts is None:
        return None
    plan = parse_plan(internal_facts["plan"])
    given = internal_facts.get("recode_as_given")
    asked = None if given is None else parse_plan(given).recode if given else ()
    return plan.replaced(settings=internal_facts.get("recipe_settings"), recode_as_given=asked)


def _release(internal_facts: Mapping[str, Any], known: Known, released: Table, source: Rows) -> Release:
    """The facts of a release from its internal manifest."""
    proved = internal_facts.get("statement")
    cells = tuple(_fact(CellFact, {**fact, "columns": tuple(fact["columns"])}) for fact in internal_facts["cells"])
    return Release(
        table=released,
        plan=known.plan,
        source=np.searchsorted(np.sort(source), source),
        columns=tuple(_fact(ColumnFact, fact) for fact in internal_facts["columns"]),
        trees=tuple(_fact(TreeFact, fact) for fact in internal_facts["trees"]),
        cells=cells,
        warnings=tuple(internal_facts["warnings"]),
        fingerprint=internal_facts["input_fingerprint"],
        publishable=not str(internal_facts.get("why_not_publishable", "")).startswith("made with a seed"),
        kept_order=internal_facts["row_order"] == "kept",
        unprotected=tuple(internal_facts["not_protected"]),
        original_kinds=internal_facts.get("original_kinds", {}),
        sampled=internal_facts.get("sampled"),
        partitions=known.partitions,
        statement=None if proved is None else _fact(Statement, proved),
        promises={name: tuple(words) for name, words in internal_facts.get("promises", {}).items()},
        rules=tuple(_fact(RuleFact, fact) for fact in internal_facts.get("rules", [])),
        kept=tuple(_fact(KeptFact, {**f, "columns": tuple(f["columns"])}) for f in internal_facts.get("kept", [])),
        unit_table=None if known.plan.units is None else _units_of(known, released),
        limits=limits_from(internal_facts.get("limits")),
    )


def _units_of(known: Known, released: Table) -> Table:
    tied = tied_by(known.plan, recoded_table(known.plan, known.original))
    return step_table(known.plan, released, tied, released=True)


def _fact(kind: Any, internal_facts: Mapping[str, Any]) -> Any:
    known = (one.name for one in fields(kind) if one.name in internal_facts)  # an older file may lack a newer one
    return kind(**{name: internal_facts[name] for name in known})
