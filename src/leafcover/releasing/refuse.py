"""Refuse to release what names people."""

from leafcover.table.table import Table


def refuse_identifiers(table: Table) -> None:
    """An identifier must be dropped, or be left unchanged on purpose."""
