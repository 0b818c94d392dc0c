"""Figures of releases that were measured before, so that a long run can be resumed; and the summary of each table."""

import hashlib
import json
from pathlib import Path
from typing import Any

from benchmarks.audit.tables import ROOT

FOLDER = ROOT / "benchmarks" / "tables" / "audit"  # not committed
SUMMARY = ROOT / "docs" / "results" / "audit.json"


def version() -> str:
    """A digest of the package and of the measuring script: other code may give other figures."""
    files = [*sorted((ROOT / "src" / "leafcover").rglob("*.py")), Path(__file__).parent / "measuring.py"]
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:12]


class Store:
    """The releases of one table: by split, what all keys share, and the figures of each key."""

    def __init__(self, name: str, *, fresh: bool = False) -> None:
        self.place = FOLDER / f"{name}.json"
        self.version = version()
        self.splits: dict[str, dict[str, Any]] = {}
        if self.place.exists() and not fresh:
            held = json.loads(self.place.read_text("utf-8"))
            if held["version"] == self.version:
                self.splits = held["splits"]

    def has(self, split: int, key: int) -> bool:
        return str(key) in self.splits.get(str(split), {}).get("keys", {})

    def common(self, split: int) -> dict[str, Any] | None:
        found = self.splits.get(str(split))
        return None if found is None else found["common"]

    def put(self, split: int, key: int, figures: dict[str, Any], common: dict[str, Any]) -> None:
        """Store the figures of a release and write the file at once."""
        held = self.splits.setdefault(str(split), {"common": common, "keys": {}})
        held["keys"][str(key)] = figures
        self.place.parent.mkdir(parents=True, exist_ok=True)
        self.place.write_text(json.dumps({"version": self.version, "splits": self.splits}), "utf-8")


def summaries() -> dict[str, Any]:
    return json.loads(SUMMARY.read_text("utf-8")) if SUMMARY.exists() else {}


def put_summary(name: str, summary: dict[str, Any]) -> None:
    """Store the summary of a table, one line each."""
    found = summaries() | {name: summary}
    lines = ",\n".join(f"{json.dumps(one)}: {json.dumps(found[one])}" for one in found)
    SUMMARY.write_text("{\n" + lines + "\n}\n", "utf-8")
