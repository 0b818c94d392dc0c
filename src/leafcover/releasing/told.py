"""What the manifests beside a release must tell before it can be checked or measured; damaged ones get one line."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leafcover.errors import TableError
from leafcover.releasing.deliver import Places
from leafcover.releasing.run import CellFact, ColumnFact, TreeFact
from leafcover.releasing.verify import manifest_of


@dataclass(frozen=True)
class _Output:
    sha256: str
    rows: int


@dataclass(frozen=True)
class _Named:
    name: str


@dataclass(frozen=True)
class _Outward:
    """What is read of the external manifest."""

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
class _Inward:
    """What is read of the internal manifest."""

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


def told_of(path: Path) -> dict[str, Any] | None:
    """The internal manifest beside a released table, if there is one."""
    place = Places(path).internal
    return _checked(place, _Inward) if place.exists() else None


def check_manifests(path: Path) -> None:
    """Refuse manifests that lack what is read of them."""
    _checked(Places(path).manifest, _Outward)
    told_of(path)


def _checked(place: Path, form: type) -> dict[str, Any]:
    from pydantic import TypeAdapter, ValidationError

    found = manifest_of(place)
    try:
        TypeAdapter(form).validate_python(found)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise TableError(f"The manifest {str(place)!r} is damaged at {where!r}. Release the table again.") from None
    return found
