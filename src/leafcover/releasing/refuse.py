"""Refuse to release what names people."""

from leafcover.errors import TableError
from leafcover.table.guard import identifiers
from leafcover.table.table import Table


def refuse_identifiers(table: Table) -> None:
    """An identifier must be dropped, or be left unchanged on purpose; the target is known to be none."""
    suspects = [s for s in identifiers(table) if s.severity == "refuse" and table.roles.get(s.column) != "target"]
    if suspects:
        more = [s.column for s in suspects[1:]]
        raise TableError(suspects[0].sentence + (f" The same holds for {', '.join(more)}." if more else ""))
