"""Which columns a recipe changes: those named, or all that it may."""

from collections.abc import Callable

from leafcover.errors import NameUnknown, PlanError
from leafcover.table.table import Column, Table

LEFT_ALONE = ("unchanged", "unit", "identifier")  # roles of columns that no recipe changes


def free_columns(table: Table, target: str | None = None) -> list[Column]:
    """Columns a recipe may change: not the target, not unchanged or unit columns, and not constant ones."""
    return [c for c in table if c.name != target and table.roles.get(c.name) not in LEFT_ALONE and varies(c)]


def varies(column: Column) -> bool:
    """Whether more than one value is known."""
    known = column.values[~column.missing]
    return len(known) > 0 and bool((known != known[0]).any())


def named(text: str | None, table: Table, otherwise: Callable[[], list[str]], recipe: str) -> list[str]:
    """The columns that a text names ("a,b"), or others; a clear line when there is none."""
    if text is None:
        found = otherwise()
        if not found:
            raise PlanError(f"Recipe {recipe!r} finds no number column that varies. Name columns, or choose another.")
        return found
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, f"that recipe {recipe!r} is to change")
        if table.roles.get(name) in LEFT_ALONE:
            raise PlanError(f"Column {name!r} is to stay as it is, so recipe {recipe!r} cannot change it. Drop one of both.")
    if not names:
        raise PlanError(f"Recipe {recipe!r} is given no column. Name them as columns=a,b, or leave the setting out.")
    return list(dict.fromkeys(names))
