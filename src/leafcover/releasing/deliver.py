"""Write a release and what belongs beside it, all or nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from leafcover.errors import TableError
from leafcover.fast.arrays import Rows
from leafcover.releasing.asked import not_reached
from leafcover.releasing.manifest import external, internal
from leafcover.releasing.run import Release
from leafcover.table.files import beside, fill
from leafcover.table.table import Table
from leafcover.table.whole import together


@dataclass(frozen=True)
class Places:
    """Where the files of a release stand."""

    table: Path

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
        """Which released row is which original row: never to be published."""
        return self.beside(".pairs")

    @property
    def held_out(self) -> Path:
        """Rows that were set aside before anything else happened."""
        stem, *endings = self.table.name.split(".")
        return self.table.with_name(".".join([stem, "held-out", *endings]))


def deliver(
    release: Release,
    places: Places,
    *,
    reading: Mapping[str, Any],
    rows: Rows,
    force: bool = False,
    publish_tree: bool = False,
    held_out: Table | None = None,
    texts: Mapping[Path, tuple[str, bool]] | None = None,
) -> dict[str, Any]:
    """Write the table, both manifests, the pairs and further texts (path → content and whether it is private).

    ``rows`` are the rows of the original file that were released (all but those held out); pairs speak of the file.
    Everything is written beside its place first; only when all of it stands are the files renamed, the table last.
    """
    with together(force=force) as part:
        # Renamed in reverse order of entry: the table, entered first, appears last.
        table_part = part(places.table, False)
        fill(release.table, places.table, table_part)
        for path, content in beside(release.table, places.table).items():  # the .names of a C4.5 table
            part(path, False).write_text(content, "utf-8")
        with table_part.open("rb") as file:
            mark = file_digest(file, "sha256").hexdigest()
        outward = external(release, file=places.table.name, sha256=mark, publish_tree=publish_tree)
        if few := not_reached(release.plan, release.partitions, published=True):
            outward["not_reached"] = list(few)
        inward = internal(release, outward, reading=reading)
        text = _json(outward)
        inward["manifest_sha256"] = sha256_of(text.encode())
        part(places.manifest, False).write_text(text, "utf-8")
        part(places.internal, True).write_text(_json(inward), "utf-8")
        write_pairs(part(places.pairs, True), rows[release.source])
        if held_out is not None:
            fill(held_out, places.held_out, part(places.held_out, True))
        for path, (content, private) in (texts or {}).items():
            part(path, private).write_text(content, "utf-8")
    return outward


def sha256_of(data: bytes) -> str:
    """The hash of some bytes, as text."""
    return sha256(data).hexdigest()


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_pairs(path: Path, source: Rows) -> None:
    """The original row of each released row, one number a line."""
    with path.open("wb") as file:
        np.savetxt(file, source, fmt="%d")


def read_pairs(path: Path) -> Rows | None:
    """The pairs beside a release, if they are there."""
    if not path.exists():
        return None
    try:
        text = path.read_text("ascii") if path.is_file() else ""
        return np.loadtxt(StringIO(text), dtype=np.int64, ndmin=1) if text.strip() else np.empty(0, np.int64)
    except OSError as error:
        raise TableError(f"The pairs {str(path)!r} cannot be read: {error.strerror}. Name another file.") from None
    except (ValueError, OverflowError):
        raise TableError(
            f"The pairs {str(path)!r} cannot be read as row numbers, one a line (row 0 is the first). "
            "Release the table again, or name another file."
        ) from None
