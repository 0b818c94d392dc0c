"""Verify a release: its bytes against the manifest; with the original, all guarantees; with the key, every byte."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from leafcover.arrays import Array, Rows
from leafcover.engine.files import read_pairs, sha256_of
from leafcover.engine.manifest import Record, ReleasePaths
from leafcover.engine.run import fingerprint, partitions_of, run, whole_part
from leafcover.errors import LeafcoverError, TableError
from leafcover.keyed_random import Key
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.recipes.plan import Made, Plan
from leafcover.recipes.plan_file import parse_plan
from leafcover.table.io import read
from leafcover.table.table import Column, Table, without_unused_levels


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    what: str
    holds: bool
    detail: str = ""


def verify(path: Path, record: Record, *, original: Table | None = None, key: Key | None = None) -> list[Check]:
    """All checks that the available files permit."""
    manifest, inner, paths = record.external, record.internal, record.paths
    if not path.exists():
        raise TableError(f"There is no file '{path}'. Check its name and directory.")
    if manifest is None:
        raise TableError(
            f"There is no manifest {str(paths.manifest)!r} beside the table. "
            "Name it with manifest=..., or give a table that release wrote."
        )
    checks = [_bytes(path, manifest)]
    released = read(path, **record.text_options)
    names = [column["name"] for column in manifest["columns"]]
    checks.append(Check("columns and rows match the manifest", _same_shape(released, names, manifest)))
    why = manifest.get("why_not_publishable", "")
    checks.append(Check("made with a secret key, rows in a secret order", bool(manifest["publishable"]), why))
    if inner is not None:
        same = inner.get("manifest_sha256") == sha256_of(paths.manifest.read_bytes())
        checks.append(Check("the manifest is the one that was written", same))
    if original is None:
        return checks
    if inner is None:
        raise TableError(f"There is no internal manifest {str(paths.internal)!r}, which says how the release was made.")
    plan = parse_plan(inner["plan"])
    pairs = read_pairs(paths.pairs)
    if pairs is None:
        return [*checks, Check("guarantees", False, f"the pairs {paths.pairs.name!r} are missing")]
    rows = np.sort(pairs)  # row numbers in the original file, without held-out rows
    if len(pairs) != len(released) or len(np.unique(pairs)) != len(pairs) or rows[-1] >= len(original):
        detail = f"{len(original)} original rows, {len(released)} released, {len(pairs)} pairs"
        return [*checks, Check("the original, the release and the pairs belong together", False, detail)]
    original = without_unused_levels(original, rows)
    original = original.select(name for name in original.names if original.roles.get(name) != "unit")
    partitions = partitions_of(original, plan, lambda words, share: None)
    checks += _guarantees(original, released, plan, np.searchsorted(rows, pairs), partitions)
    if key is not None:
        checks += _replay(original, plan, key, inner, paths, partitions)
    return checks


def _bytes(path: Path, manifest: Mapping[str, Any]) -> Check:
    try:
        with path.open("rb") as file:
            found, expected = file_digest(file, "sha256").hexdigest(), manifest["output"]["sha256"]
    except OSError as error:
        raise TableError(f"The table {str(path)!r} cannot be read: {error.strerror}. Name another file.") from None
    detail = "" if found == expected else f"its SHA-256 is {found[:12]}…, the manifest has {expected[:12]}…"
    return Check("the file is byte for byte the one that was released", found == expected, detail)


def _same_shape(released: Table, names: list[str], manifest: Mapping[str, Any]) -> bool:
    return list(released.names) == names and len(released) == manifest["output"]["rows"]


def _guarantees(
    original: Table,
    released: Table,
    plan: Plan,
    pairs: Rows,
    partitions: Mapping[PartitionMethod, Partition],
) -> list[Check]:
    """Check the guarantees of every perturbation in the cells of the original."""
    back = np.empty(len(pairs), np.int64)
    back[pairs] = np.arange(len(pairs))
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
        from tempfile import TemporaryDirectory

        from leafcover.table.io import write_to

        made = Plan(*plan.steps, recipe=plan.recipe, target=plan.target, made=Made(original, partitions))
        repeated = run(original, made, key=key, keep_order=inner["row_order"] == "kept")
        with TemporaryDirectory(dir=paths.table.parent) as folder:
            part = Path(folder) / paths.table.name
            write_to(repeated.table, paths.table, part)
            checks.append(replace(_bytes(part, inner), what="the same key gives the same bytes"))
    return checks
