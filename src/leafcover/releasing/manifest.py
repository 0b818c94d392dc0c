"""What is written beside a release, in two faces: for whoever gets the table, and for the steward alone.

The external face holds nothing from which a person could be told: no count under five, no extremes, no rare value, no
per-row list, no cut of a tree unless the steward publishes it. Neither face holds the key or a seed.
"""

import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from leafcover.releasing.planfile import to_toml
from leafcover.releasing.run import Release

FORMAT = 1
FEWEST = 5  # rows that a published share may tell apart


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
        "row_order": "kept" if release.kept_order else "keyed",
        "columns": [
            {
                "name": fact.name,
                "kind": column.kind,
                "changed": _coarse(fact.changed, rows),
                "room": _coarse(fact.room, rows),
            }
            for fact, column in zip(release.columns, release.table, strict=True)
        ],
        "trees": [{"target": t.target or None, "rows_in_the_same_leaf": _coarse(t.kept, rows)} for t in release.trees],
        "rows_alone_in_their_cell": _coarse(release.alone, rows),
        "not_protected": list(release.unprotected),
        "promises": _promises(release),
        "versions": versions(),
    }
    if not release.publishable:
        found["why_not_publishable"] = "made with a seed: whoever guesses it can undo the noise"
    elif release.kept_order:
        found["why_not_publishable"] = "rows stand in their original order: whoever knows it knows every row"
    if publish_tree:
        found["plan"] = to_toml(release.plan)
    return found


def internal(release: Release, outward: Mapping[str, Any], *, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the steward may want to know, and what ``verify`` needs to do it all again."""
    return {
        **outward,
        "face": "internal: not for publication",
        "plan": to_toml(release.plan),
        "recipe_settings": None if release.plan.settings is None else dict(release.plan.settings),
        "reading": dict(reading),
        "columns": [asdict(fact) for fact in release.columns],
        "trees": [asdict(fact) for fact in release.trees],
        "cells": [{**asdict(fact), "columns": list(fact.columns)} for fact in release.cells],
        "rows_alone_in_their_cell": release.alone,
        "warnings": list(release.warnings),
    }


def versions() -> dict[str, str]:
    """What the bytes of a replay depend on."""
    packages = ("leafcover", "numpy", "scipy", "pyarrow", "numba", "cryptography")
    found = {name: version(name) for name in packages}
    return {"python": platform.python_version(), "machine": platform.machine(), **found}


def _coarse(share: float, rows: int) -> float:
    """Two places, and in a small table steps of five rows, so that no count under five can be read off.

    >>> _coarse(0.014, 210), _coarse(0.9912, 1000)
    (0.02, 0.99)
    """
    step = max(0.01, FEWEST / max(rows, 1))
    return round(min(1.0, step * round(share / step)), 2)


def _promises(release: Release) -> list[str]:
    return list(dict.fromkeys(promise for step in release.plan.steps for promise in step.noise.promises))
