"""Which columns a recipe may change."""

from leafcover.table.table import Column, Table


def free_columns(table: Table, target: str | None) -> list[Column]:
    """Columns a recipe may change: not the target, not unchanged or unit columns, and not constant ones."""
    return [
        c
        for c in table
        if c.name != target and table.roles.get(c.name) not in ("unchanged", "unit", "identifier") and _varies(c)
    ]


def _varies(column: Column) -> bool:
    known = column.values[~column.missing]
    return len(known) > 0 and bool((known != known[0]).any())
