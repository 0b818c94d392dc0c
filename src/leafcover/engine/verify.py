"""Check a release: its bytes against its manifest; with the original every promise again; with the key every byte."""

from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from leafcover.arrays import Array, Rows
from leafcover.engine.files import read_pairs, sha256_of
from leafcover.engine.manifest import ReleasePaths, manifest_of
from leafcover.engine.run import fingerprint, partitions_of, run, whole_part
from leafcover.errors import LeafcoverError, TableError
from leafcover.recipes.plan import Plan, from_toml
from leafcover.rng import Key
from leafcover.table.io import read
from leafcover.table.table import Column, Table, without_unused_levels


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    what: str
    holds: bool
    detail: str = ""


def verify(path: Path, *, original: Table | None = None, key: Key | None = None) -> list[Check]:
    """Every check that what is at hand allows."""
    places = ReleasePaths(path)
    manifest = manifest_of(places.manifest)
    checks = [_bytes(path, manifest)]
    released = read(path, **_reading(places))
    names = [column["name"] for column in manifest["columns"]]
    checks.append(Check("columns and rows are those of the manifest", _same_shape(released, names, manifest)))
    why = manifest.get("why_not_publishable", "")
    checks.append(Check("made with a secret key, rows in a secret order", bool(manifest["publishable"]), why))
    if places.internal.exists():
        told = manifest_of(places.internal).get("manifest_sha256")
        same = told == sha256_of(places.manifest.read_bytes())
        checks.append(Check("the manifest is the one that was written", same))
    if original is None:
        return checks
    inward = manifest_of(places.internal)
    plan = from_toml(inward["plan"])
    pairs = read_pairs(places.pairs)
    if pairs is None:
        return [*checks, Check("promises", False, f"the pairs {places.pairs.name!r} are not there")]
    rows = np.sort(pairs)  # of the original file; rows that were held out are not among them
    if len(pairs) != len(released) or len(np.unique(pairs)) != len(pairs) or rows[-1] >= len(original):
        detail = f"{len(original)} original rows, {len(released)} released, {len(pairs)} pairs"
        return [*checks, Check("the original, the release and the pairs belong together", False, detail)]
    original = without_unused_levels(original, rows)
    original = original.select(name for name in original.names if original.roles.get(name) != "unit")
    checks += _promises(original, released, plan, np.searchsorted(rows, pairs))
    if key is not None:
        checks += _replay(original, plan, key, inward, places)
    return checks


def _bytes(path: Path, manifest: dict[str, Any]) -> Check:
    try:
        with path.open("rb") as file:
            same = file_digest(file, "sha256").hexdigest() == manifest["output"]["sha256"]
    except OSError as error:
        raise TableError(f"The table {str(path)!r} cannot be read: {error.strerror}. Name another file.") from None
    return Check("the file is byte for byte the one that was released", same)


def _same_shape(released: Table, names: list[str], manifest: dict[str, Any]) -> bool:
    return list(released.names) == names and len(released) == manifest["output"]["rows"]


def _promises(original: Table, released: Table, plan: Plan, pairs: Rows) -> list[Check]:
    """Make the cells anew from the original and ask every noise whether its promises hold."""
    back = np.empty(len(pairs), np.int64)
    back[pairs] = np.arange(len(pairs))
    partitions = partitions_of(original, plan, lambda words, share: None)
    checks = []
    for number, step in enumerate(plan.steps, 1):
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
    """Released values in the original's codes."""
    if not original.is_category:
        return released.values
    if not released.is_category:  # text of numbers that was declared a category
        from leafcover.table.formatting import text_of

        distinct, place = np.unique(released.values, return_inverse=True)
        released = replace(released, kind="category", levels=tuple(text_of(released, distinct)), values=place)
    number_of = {level: i for i, level in enumerate(original.levels)}
    lookup = np.array([number_of.get(level, len(number_of)) for level in released.levels] + [-1], np.int64)
    return lookup[released.values]


def _replay(original: Table, plan: Plan, key: Key, inward: dict[str, Any], places: ReleasePaths) -> list[Check]:
    """The same table, plan and key must give the same bytes."""
    same_table = fingerprint(original, key) == inward["input_fingerprint"]
    checks = [Check("the key and the original are those of the release", same_table)]
    if same_table:
        from tempfile import TemporaryDirectory

        from leafcover.table.io import write_to

        again = run(original, plan, key=key, keep_order=inward["row_order"] == "kept")
        with TemporaryDirectory(dir=places.table.parent) as folder:
            part = Path(folder) / places.table.name
            write_to(again.table, places.table, part)
            checks.append(replace(_bytes(part, inward), what="the same key gives the same bytes again"))
    return checks


def _reading(places: ReleasePaths) -> dict[str, Any]:
    """How the original was read, so that the release is read alike; nothing where only the table was handed on."""
    if not places.internal.exists():
        return {}
    reading = manifest_of(places.internal)["reading"]
    return {name: reading[name] for name in ("missing", "category", "encoding", "delimiter") if name in reading}
