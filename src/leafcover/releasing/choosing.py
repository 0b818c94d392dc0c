"""Which columns a recipe may change."""

from collections.abc import Sequence

from leafcover.errors import NameUnknown, PlanError
from leafcover.table.table import Column, Table


def free_columns(table: Table, target: str | None = None) -> list[Column]:
    """Columns a recipe may change: not the target, not unchanged or unit columns, and not constant ones."""
    return [
        c
        for c in table
        if c.name != target and table.roles.get(c.name) not in ("unchanged", "unit", "identifier") and _varies(c)
    ]


def _varies(column: Column) -> bool:
    known = column.values[~column.missing]
    return len(known) > 0 and bool((known != known[0]).any())


def chosen_columns(
    table: Table, columns: str | None, recipe: str, kinds: tuple[str, ...], *, without: Sequence[str] = ()
) -> list[str]:
    """The columns that a text names ("a,b"), or all of some kinds that a recipe may change but weights.

    ``without`` names columns that have another task, and are meant only when they are named.
    """
    if columns is None:
        free = [c for c in free_columns(table) if table.roles.get(c.name) != "weight" and c.name not in without]
        found = [c.name for c in free if c.kind in kinds]
        if not found:
            raise PlanError(
                f"Recipe {recipe!r} changes numbers, and the table has none that vary. Choose another recipe."
            )
        return found
    names = [columns] if columns in table.names else [n.strip() for n in columns.split(",") if n.strip()]
    if not names:
        raise PlanError(f"Recipe {recipe!r} is given no column. Name them as columns=a,b, or leave the setting out.")
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, f"for recipe {recipe!r}")
        if table[name].kind not in kinds:
            raise PlanError(f"Recipe {recipe!r} cannot change column {name!r}, a {table[name].kind}. Leave it out.")
    return list(dict.fromkeys(names))
