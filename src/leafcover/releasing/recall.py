"""A release as its files tell of it: read back what was written beside the table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from leafcover.errors import LeafcoverError, TableError
from leafcover.fast.arrays import Rows
from leafcover.measuring.pair import Pair, pair_of
from leafcover.releasing.deliver import Places, read_pairs
from leafcover.releasing.known import Known
from leafcover.releasing.pairing import refuse_same_people
from leafcover.releasing.plan import Plan
from leafcover.releasing.planfile import from_toml
from leafcover.releasing.run import CellFact, ColumnFact, Release, TreeFact
from leafcover.releasing.told import told_of
from leafcover.table.alone import taken_alone
from leafcover.table.files import read
from leafcover.table.table import Table


@dataclass(frozen=True, eq=False)
class Recalled:
    """Two tables from files, paired as far as the files say, and how the second was made, if they say."""

    original: Table  # the rows that were released
    pair: Pair
    known: Known | None
    release: Release | None


def read_like(
    path: Path,
    original: Table,
    *,
    missing: Mapping[str, Sequence[str]],
    category: Sequence[str],
    drop: Sequence[str],
    **text: Any,
) -> Table:
    """A second table, read as the original was, as far as it has the columns; categories of the original are some here.

    A category may look like a number where the values that do not are gone. ``text`` is encoding and delimiter.
    """
    table = read(path, **text)
    looks = [c.name for c in table if c.name in original.names and original[c.name].is_category and not c.is_category]
    chosen: dict[str, Any] = {
        "missing": {name: tokens for name, tokens in missing.items() if name in table.names},
        "category": [name for name in dict.fromkeys([*category, *looks]) if name in table.names],
        "drop": [name for name in drop if name in table.names],
    }
    return read(path, **text, **chosen) if any(chosen.values()) else table


def recall(
    path: Path,
    original: Table,
    released: Table,
    *,
    target: str,
    pairs: Path | None = None,
    control: Table | None = None,
    plan: Plan | None = None,
) -> Recalled:
    """Put an original and a released table together; pairs, plan and facts come from the files beside it."""
    source = read_pairs(Places(path).pairs if pairs is None else pairs)
    if pairs is not None and source is None:
        raise TableError(f"There are no pairs {str(pairs)!r}. Name the file that release wrote beside the table.")
    told = told_of(path)
    original = original.select(n for n in original.names if original.roles.get(n) != "unit" or n in released.names)
    weight = [n for n in original.with_role("weight") if n in released.names]
    pair = pair_of(
        original,
        released,
        source,
        target=target,
        keys=[n for n in original.with_role("key") if n in released.names],
        confidential=[n for n in original.with_role("confidential") if n in released.names],
        weight=weight[0] if weight else "",
        control=control,
    )
    if control is not None:
        refuse_same_people(pair)
    if source is not None:
        original = taken_alone(original, np.sort(source))
    chosen = plan if plan is not None else _plan(told)
    known = None
    if chosen is not None:
        try:
            known = Known.made_anew(original.select(pair.names), chosen)
        except LeafcoverError as error:
            raise TableError(f"The plan of the release does not fit the original: {error}") from None
    release = None if told is None or known is None or source is None else _release(told, known, released, source)
    return Recalled(original, pair, known, release)


def _plan(told: Mapping[str, Any] | None) -> Plan | None:
    if told is None:
        return None
    plan = from_toml(told["plan"])
    return Plan(*plan.steps, recipe=plan.recipe, target=plan.target, settings=told.get("recipe_settings"))


def _release(told: Mapping[str, Any], known: Known, released: Table, source: Rows) -> Release:
    """The facts of a release, as its internal manifest tells them."""
    cells = tuple(_fact(CellFact, {**fact, "columns": tuple(fact["columns"])}) for fact in told["cells"])
    return Release(
        table=released,
        plan=known.plan,
        source=np.searchsorted(np.sort(source), source),
        columns=tuple(_fact(ColumnFact, fact) for fact in told["columns"]),
        trees=tuple(_fact(TreeFact, fact) for fact in told["trees"]),
        cells=cells,
        warnings=tuple(told["warnings"]),
        fingerprint=told["input_fingerprint"],
        publishable=not str(told.get("why_not_publishable", "")).startswith("made with a seed"),
        kept_order=told["row_order"] == "kept",
        unprotected=tuple(told["not_protected"]),
        partitions=known.partitions,
    )


def _fact(kind: Any, told: Mapping[str, Any]) -> Any:
    return kind(**{field.name: told[field.name] for field in fields(kind)})
