"""Verify a release: its bytes against the manifest; with the original, all guarantees; with the key, every byte."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Array, Floats, Rows
from leafcover.engine.counts import COUNT, CountRelease, count_table
from leafcover.engine.files import read_pairs, sha256_of
from leafcover.engine.manifest import Record, ReleasePaths
from leafcover.engine.run import fingerprint, partitions_of, run, whole_part
from leafcover.engine.statement import RuleFact, rule_facts
from leafcover.errors import LeafcoverError, TableError
from leafcover.keyed_random import Key
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.perturb.base import Promise
from leafcover.perturb.cell_key import PerturbationTable
from leafcover.recipes.plan import Made, Plan, Step, column_promises, recoded_table, step_table, tied_by
from leafcover.recipes.plan_file import parse_plan
from leafcover.recode.base import ColumnRecoding, Recoding
from leafcover.table.formatting import infer_time_grid, plain_text
from leafcover.table.infer import MISSING_TOKENS, from_text
from leafcover.table.io import DatabaseTable, Place, read
from leafcover.table.output import as_text
from leafcover.table.recoding import FEWEST
from leafcover.table.sql import table_digest
from leafcover.table.table import Column, Grid, Kind, Source, Table, without_unused_levels
from leafcover.table.weights import KEPT, margins_of

DAY = 86_400.0  # seconds
MOST_LETTERS = 110  # of the names of checks on one line

Group: TypeAlias = Literal["files", "recodings", "guarantees", "promises", "rules", "weights", "counts", "key"]


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    what: str
    holds: bool
    detail: str = ""
    group: Group = "files"

    def __str__(self) -> str:
        return f"{'ok    ' if self.holds else 'FAILED'}  {self.what}{': ' + self.detail if self.detail else ''}"


def in_groups(checks: Sequence[Check]) -> str:
    """The verdict, then a line for each group of checks; those that fail are listed."""
    failed = [one for one in checks if not one.holds]
    count = f"{len(checks)} checks"
    lines = [f"Verdict: {len(failed)} of {count} failed." if failed else f"Verdict: all {count} hold."]
    for group in dict.fromkeys(one.group for one in checks):
        own = [one for one in checks if one.group == group]
        wrong = [one for one in own if not one.holds]
        named = "; ".join(one.what.removeprefix(f"{group[:-1]}: ") for one in own)
        said = named if len(named) <= MOST_LETTERS else f"{len(own)} checks"
        lines.append(f"FAILED  {group}: {len(wrong)} of {len(own)}" if wrong else f"ok      {group}: {said}")
        lines += [f"  {one}" for one in wrong]
    return "\n".join(lines)


def _of(group: Group, checks: Iterable[Check]) -> list[Check]:
    return [replace(one, group=group) for one in checks]


def refuse_absent(path: Place) -> None:
    """Raise an error if there is no released file."""
    if isinstance(path, Path) and not path.exists():
        raise TableError(f"There is no released table '{path}'. Release it first, or name another.")


def refuse_unreleased(path: Place, record: Record, *, inner: bool) -> Mapping[str, Any]:
    """The external manifest; an error without the released table, its manifest or, if needed, the internal one."""
    refuse_absent(path)
    if record.external is None:
        raise TableError(
            f"There is no manifest {str(record.paths.manifest)!r} beside the table. "
            "Name it with manifest=..., or give a table that release wrote."
        )
    if inner and record.internal is None and not record.is_of_counts:
        raise TableError(
            f"There is no internal manifest {str(record.paths.internal)!r}, which says how the release was made."
        )
    return record.external


def verify(path: Place, record: Record, *, original: Table | None = None, key: Key | None = None) -> list[Check]:
    """All checks that the available files permit."""
    inner, paths, manifest = record.internal, record.paths, refuse_unreleased(path, record, inner=original is not None)
    checks = [_bytes(path, manifest)]
    if record.is_of_counts:
        return [*checks, *_verify_counts(paths.table, record, manifest, original, key)]
    released = read(path, **record.text_options)
    names = [column["name"] for column in manifest["columns"]]
    checks.append(Check("columns and rows match the manifest", _same_shape(released, names, manifest)))
    why = manifest.get("why_not_publishable", "")
    checks.append(Check("made with a secret key, rows in a secret order", bool(manifest["publishable"]), why))
    if inner is not None:
        checks.append(_same_manifest(inner, paths))
        checks += _of("recodings", _recoding_checks(parse_plan(inner["plan"]), released, manifest))
    if original is None:
        return checks
    assert inner is not None
    plan = parse_plan(inner["plan"])
    descends = plan.descends or bool(inner["not_protected"]) or bool(inner.get("only_recoded"))
    pairs = read_pairs(paths.pairs if descends else paths.rows)
    if pairs is None and not descends and (plan.units is not None or len(original) == len(released)):
        pairs = np.arange(len(original))  # every row was released
    if pairs is None:
        missing = f"the pairs {paths.pairs.name!r}" if descends else f"the released rows {paths.rows.name!r}"
        return [*checks, Check("guarantees", False, f"{missing} are missing")]
    rows = np.sort(pairs)  # row numbers in the original file, without held-out rows
    if (
        (len(pairs) != len(released) and plan.units is None)
        or len(np.unique(pairs)) != len(pairs)
        or rows[-1] >= len(original)
    ):
        detail = f"{len(original)} original rows, {len(released)} released, {len(pairs)} pairs"
        return [*checks, Check("the original, the release and the pairs belong together", False, detail)]
    if plan.units is None:
        original = original.select(name for name in original.names if original.roles.get(name) != "unit")
    original = _as_released(original, released, manifest)
    kinds = _same_kinds(original, manifest)
    if not kinds.holds:
        return [*checks, kinds]
    original = without_unused_levels(original, rows)
    recoded = recoded_table(plan, original)
    tied = tied_by(plan, recoded)
    table, after = step_table(plan, original, tied), step_table(plan, released, tied, released=True)
    partitions = partitions_of(table, plan, lambda words, share: None)
    if plan.units is None:
        places = np.searchsorted(rows, pairs)
    elif len(after) == len(table):
        places = np.arange(len(table))
    else:
        detail = f"{len(table)} units in the original, {len(after)} in the release"
        return [*checks, Check("the release has as many units as the original", False, detail)]
    sums = tied.recoded_differences(recoded)
    if (units := plan.units) is not None:
        sums = (*(at for name in sums for at in units.columns_at(name)), *units.recoded_differences(recoded))
    checks += _of("guarantees", _guarantees(table, after, plan, places, partitions, sums))
    promises = column_promises(plan, recoded, tied)
    checks += _of("promises", _promise_checks(plan, table, after, promises, manifest, sums))
    said, facts = (
        {one["text"]: one["after"] for one in inner.get("rules", [])},
        rule_facts(plan, recoded, released, tied),
    )
    checks += _of("rules", (_rule_check(fact, said.get(fact.text, 1.0)) for fact in facts))
    kept = recoded if plan.units is None else recoded.take(plan.units.kept(tied.untie(recoded)))
    checks += _of("weights", _weight_checks(plan, kept, released))
    if key is not None:
        checks += _of("key", _replay(original, released, plan, key, inner, paths, partitions))
    return checks


def _recoding_checks(plan: Plan, released: Table, manifest: Mapping[str, Any]) -> Iterator[Check]:
    """Whether columns look recoded, as far as no step made new values of them and no equation computes them."""
    changed = {name for step in plan.steps if not step.perturb.moves_rows for name in step.columns}
    new = changed if plan.units is None else {plan.units.column_of(name) for name in changed}
    computed = {column["name"] for column in manifest["columns"] if "recomputed" in column.get("promise", ())}
    new |= computed & {name for rule in plan.all_rules if rule.computes for name in rule.columns}
    for number, one in enumerate(plan.recode):
        if not new & set(one.columns) and not (plan.steps and one.checks_rows):
            broken = one.violations(_without_later(plan.recode[number + 1 :], one, released))
            what = f"recoded: {', '.join(one.columns)} {one.describe(detailed=False)}"
            yield Check(what, not broken, "; ".join(broken))


def _without_later(later: Sequence[Recoding], one: Recoding, released: Table) -> Table:
    """The table without numbers that a later recoding of the same column may have made of others."""
    for other in later:
        if isinstance(other, ColumnRecoding) and other.columns == one.columns:
            column = released[other.column]
            if not column.is_category:
                values = np.where(other.may_hold(column), np.nan, column.values)
                released = released.replace([replace(column, values=values, stored=None)])
    return released


def _same_manifest(inner: Mapping[str, Any], paths: ReleasePaths) -> Check:
    same = inner.get("manifest_sha256") == sha256_of(paths.manifest.read_bytes())
    return Check("the manifest is the one that was written", same)


def _verify_counts(
    path: Path, record: Record, manifest: Mapping[str, Any], original: Table | None, key: Key | None
) -> Iterator[Check]:
    """Check tables of counts; with the original, that noise is within its limits; with the key, every byte."""
    names = [column["name"] for column in manifest["columns"]]
    released = _read_counts(path, record, names)
    yield Check("columns and rows match the manifest", _same_shape(released, names, manifest))
    why = manifest.get("why_not_publishable", "")
    yield Check("made with a secret key", bool(manifest["publishable"]), why)
    inner = record.internal
    if inner is not None:
        yield _same_manifest(inner, record.paths)
    if original is None:
        return
    if inner is None:
        missing = f"There is no internal manifest {str(record.paths.internal)!r}, which says how counts were made."
        raise TableError(missing)
    settings = {**inner["settings"], **{one.name: manifest["counts"][one.name] for one in fields(PerturbationTable)}}
    by = settings.pop("tables")
    again = count_table(original, by, **settings, key=Key.from_seed(0) if key is None else key)
    same = len(released) == len(again.table) and all(_same_labels(again.table[name], released[name]) for name in names)
    yield Check("the cells are those of the original", same)
    if not same:
        return
    yield from _of("counts", _noise_checks(again, released[COUNT].values))
    if key is not None:
        same = again.fingerprint == inner["input_fingerprint"]
        yield Check("the key and the original are those of the release", same, group="key")
        if same:
            yield replace(_written_again(again.table, path, inner), group="key")


def _read_counts(path: Path, record: Record, names: Sequence[str]) -> Table:
    """Released counts; everything but the count is a category."""
    options = {name: value for name, value in record.options.items() if name in ("encoding", "delimiter")}
    missing = {name: tokens for name, tokens in record.options.get("missing", {}).items() if name in names}
    return read(path, **options, missing=missing, category=[name for name in names if name != COUNT])


def _same_labels(one: Column, other: Column) -> bool:
    return one.name == COUNT or (one.levels == other.levels and np.array_equal(one.values, other.values))


def _noise_checks(again: CountRelease, released: Floats) -> Iterator[Check]:
    """Whether every count is one that the perturbation table permits, and totals that are sums are sums."""
    if again.weight:
        return
    parts = np.split(np.rint(released).astype(np.int64), np.cumsum([len(one.released) for one in again.tables])[:-1])
    pairs = list(zip([one.table for one in again.tables], parts, strict=True))
    wrong, gap = 0, 0
    for table, part in pairs:
        chances = np.where(table.impossible, part == 0, again.noise.likelihood(table.counts, part))
        wrong += int((chances == 0).sum()) if table.is_own else 0
        finer = next((one for one in pairs if set(table.columns) < set(one[0].columns)), None)
        if not table.is_own and finer is not None:
            gap += int((part != finer[0].summed(finer[1], table.columns)).sum())
    yield Check("every count is one that the noise permits", not wrong, f"{wrong:,} are not" if wrong else "")
    if again.settings["totals"] == "sum":
        yield Check("totals are the sums of cells", not gap, f"{gap:,} are not" if gap else "")


def _promise_checks(
    plan: Plan,
    original: Table,
    released: Table,
    promises: Mapping[str, tuple[Promise, ...]],
    manifest: Mapping[str, Any],
    sums: Collection[str],
) -> Iterator[Check]:
    """Whether the manifest names what the plan promises of each column, and columns hold the values that are promised.

    The tables are those that the steps change: without computed columns, with one row for each unit. ``sums`` are
    differences that changed as their sums were recoded.
    """
    named = {column["name"]: tuple(column["promise"]) for column in manifest["columns"] if "promise" in column}
    other = [name for name, words in named.items() if promises.get(name) != words]
    if named:
        yield Check("promise: as the manifest names it", not other, ", ".join(map(repr, other)))
    kept = {name: step.perturb for step in plan.steps for name in step.columns if _keeps_values(plan, step, name)}
    written = {name: one for name, one in kept.items() if name not in sums}
    permuted = [name for name in written if not _same_held(original[name], written[name].shared, released[name])]
    stay = [name for name in original.names if name not in plan.columns and name not in plan.weighed]
    changed = [name for name in stay if not _same_held(original[name], lambda column: column.values, released[name])]
    few = [name for name, one in written.items() if not _enough(released[name], one.shared_by)]
    for word, names, broken in (
        ("permuted", written, permuted),
        ("unchanged", stay, changed),
        ("shared", written, few),
    ):
        if names:
            yield Check(f"promise: {word}", not broken, f"broken in {', '.join(map(repr, broken))}" if broken else "")


def _same_held(original: Column, shared: Callable[[Column], Array], released: Column) -> bool:
    """Whether a column holds the same values as before, in any order."""
    before, after = np.sort(shared(original)), np.sort(_aligned(original, released))
    return np.array_equal(before, after, equal_nan=before.dtype.kind == "f")


def _keeps_values(plan: Plan, step: Step, name: str) -> bool:
    """Whether a column that a step changes is a permutation of itself."""
    own = name if plan.units is None else plan.units.column_of(name)
    return step.perturb.moves_rows and own not in plan.weighed


def _enough(column: Column, share: int) -> bool:
    """Whether each number is held by enough rows, or by all that have one."""
    if column.is_category:
        return True
    known = column.values[~column.missing]
    held = np.unique(known, return_counts=True)[1]
    return bool(held.min(initial=share) >= min(share, max(len(known), 1)))


def _rule_check(fact: RuleFact, said: float) -> Check:
    """Whether as many rows keep a rule as before, or as the release said; a declared rule is kept by all."""
    holds = fact.after >= min(fact.before, said) if fact.found else not fact.broken
    return Check(f"rule: {fact.text}", holds, "" if holds else f"{fact.broken:,} released rows break it")


def _weight_checks(plan: Plan, original: Table, released: Table) -> list[Check]:
    """Whether weights are those of classes, and keep the totals that they were said to keep."""
    checks = []
    if plan.weights is not None and plan.weights.leave == "classes":
        for name in plan.weighed:
            held = np.unique(released[name].values[~released[name].missing], return_counts=True)[1]
            enough = held.min(initial=FEWEST) >= FEWEST or len(held) == 1
            checks.append(Check(f"weight {name}: at least {FEWEST} rows have each value", enough))
    for name in plan.weighed if plan.weights is not None and plan.weights.leave == "calibrated" else ():
        values, unit = np.nan_to_num(released[name].values, nan=0.0), None if plan.units is None else plan.units.unit
        margins = margins_of(plan.keep_tables, original, released, name, values, unit)
        kept = all(abs(values.sum() - one.totals.sum()) <= KEPT * one.totals.sum() for one in margins[:1])
        checks.append(Check(f"weight {name}: the rounded total is kept", kept))
    return checks


def _bytes(path: Place, manifest: Mapping[str, Any]) -> Check:
    if isinstance(path, DatabaseTable):
        same = table_digest(path) == manifest["output"]["sha256"]
        return Check("the table has the names, values and order that were released", same)
    try:
        with path.open("rb") as file:
            found, expected = file_digest(file, "sha256").hexdigest(), manifest["output"]["sha256"]
    except OSError as error:
        raise TableError(f"The table {str(path)!r} cannot be read: {error.strerror}. Name another file.") from None
    detail = "" if found == expected else f"its SHA-256 is {found[:12]}…, the manifest has {expected[:12]}…"
    return Check("the file is byte for byte the one that was released", found == expected, detail)


def _same_shape(released: Table, names: list[str], manifest: Mapping[str, Any]) -> bool:
    return list(released.names) == names and len(released) == manifest["output"]["rows"]


# A file of a frame need not be read like the frame: in CSV a time at midnight is a date, True a text, a code a number.
# The manifest has the kinds of the release; the original is read as these, so that equal values are equal.


def _as_released(original: Table, released: Table, manifest: Mapping[str, Any]) -> Table:
    """The original with the kinds of the release, and its spelling of truth values, as far as the values permit."""
    kinds = _kinds(manifest)
    typed = isinstance(original.source, Source) and original.source.is_typed
    changed = []
    for column in original:
        tokens = () if typed else original.reading.missing.get(column.name, MISSING_TOKENS)
        like = _with_kind(column, kinds.get(column.name) or column.kind, tokens)
        changed.append(_with_truth_values(like, released[column.name]) if column.name in released.names else like)
    return original.replace(changed)


def _kinds(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds that the columns had before recoding."""
    return {column["name"]: column.get("original_kind") or column.get("kind") for column in manifest["columns"]}


def _with_kind(column: Column, kind: Kind, tokens: Sequence[str]) -> Column:
    """The same values as another kind; the column itself if they are not of that kind."""
    if column.kind == kind or column.missing.all():
        return column
    if (column.kind, kind) == ("date", "time"):
        seconds = column.values * DAY
        return Column(column.name, kind, seconds, grid=infer_time_grid(seconds[~column.missing]))
    if (column.kind, kind) == ("time", "date"):
        days = column.values / DAY
        whole = bool((np.rint(days) == days)[~column.missing].all())
        return Column(column.name, kind, days, grid=Grid(0)) if whole else column
    found = from_text(column.name, plain_text(as_text(column)), tokens=tokens, category=kind == "category").column
    return found if found.kind == kind else column


def _with_truth_values(column: Column, released: Column) -> Column:
    """Truth values spelled as in the release: True, true or TRUE."""
    spelled = {level for one in (column, released) for level in one.levels}
    if column.levels and released.levels and {level.lower() for level in spelled} <= {"true", "false"}:
        for style in (str.lower, str.title, str.upper):
            levels = tuple(style(level) for level in column.levels)
            if levels != column.levels and all(style(level) == level for level in released.levels):
                return replace(column, levels=levels, stored=None)
    return column


def _same_kinds(original: Table, manifest: Mapping[str, Any]) -> Check:
    """Whether the columns of the original are of the kinds that were released; values of other kinds do not compare."""
    kinds = _kinds(manifest)
    other = [c for c in original if kinds.get(c.name, c.kind) not in (None, c.kind) and not c.missing.all()]
    listed = "; ".join(f"column {c.name!r} was released as a {kinds[c.name]}, but is read as a {c.kind}" for c in other)
    hint = ". Give the table that was released, or a file of it that keeps types, such as .parquet"
    return Check("the original has the kinds of the release", not other, listed + hint if other else "")


def _guarantees(
    original: Table,
    released: Table,
    plan: Plan,
    pairs: Rows,
    partitions: Mapping[PartitionMethod, Partition],
    sums: Collection[str],
) -> list[Check]:
    """Check the guarantees of every perturbation in the cells of the original, except for differences."""
    back = np.empty(len(pairs), np.int64)
    back[pairs] = np.arange(len(pairs))
    checks = []
    for number, step in enumerate(plan.steps, 1):
        rows_of = step.columns if plan.units is None else [plan.units.column_of(name) for name in step.columns]
        if set(rows_of) <= set(plan.weighed):  # classes or factors of groups changed them afterwards
            continue
        if set(sums) & set(step.columns):  # recoding of the sums changed them afterwards
            continue
        whole = whole_part(original, step, partitions)
        try:
            after = {name: _aligned(original[name], released[name])[back] for name in step.columns}
            broken = step.perturb.violations(whole, after)
        except (LeafcoverError, IndexError) as error:
            broken = (str(error),)
        what = f"step {number} ({', '.join(step.columns)}): {'; '.join(step.perturb.guarantees)}"
        checks.append(Check(what, not broken, "; ".join(broken)))
    return checks


def _aligned(original: Column, released: Column) -> Array:
    """Released values in the codes of the original."""
    if not original.is_category:
        return released.values
    if not released.is_category:  # numeric text that was declared a category
        from leafcover.table.formatting import text_of

        distinct, place = np.unique(released.values, return_inverse=True)
        released = replace(released, kind="category", levels=tuple(text_of(released, distinct)), values=place)
    number_of = {level: i for i, level in enumerate(original.levels)}
    lookup = np.array([number_of.get(level, len(number_of)) for level in released.levels] + [-1], np.int64)
    return lookup[released.values]


def _replay(
    original: Table,
    released: Table,
    plan: Plan,
    key: Key,
    inner: Mapping[str, Any],
    paths: ReleasePaths,
    partitions: Mapping[PartitionMethod, Partition],
) -> list[Check]:
    """The same table, plan and key must give the same bytes."""
    same_table = fingerprint(original, key) == inner["input_fingerprint"]
    checks = [Check("the key and the original are those of the release", same_table)]
    if same_table:
        made = plan.replaced(made=Made(step_table(plan, original), partitions))
        repeated = run(original, made, key=key, keep_order=inner["row_order"] == "kept")
        same = Check("the same key gives the same values", False)
        if paths.database is None:
            same = _written_again(repeated.table, paths.table, inner)
        elif _same_values(repeated.table, released):
            same = replace(same, holds=True)
        if not same.holds and paths.database is None and _same_values(repeated.table, released):
            detail = "the original is spelled differently from the one that was released, so the bytes differ"
            same = Check("the same key gives the same values", True, detail)
        checks.append(same)
    return checks


def _written_again(table: Table, path: Path, inner: Mapping[str, Any]) -> Check:
    """Whether a repeated release has the bytes of the released file."""
    from tempfile import TemporaryDirectory

    from leafcover.table.io import write_to

    with TemporaryDirectory(dir=path.parent) as folder:
        part = Path(folder) / path.name
        write_to(table, path, part)
        return replace(_bytes(part, inner), what="the same key gives the same bytes")


def _same_values(repeated: Table, released: Table) -> bool:
    pairs = [(one.values, _aligned(one, released[one.name])) for one in repeated]
    return all(np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f") for ours, theirs in pairs)
