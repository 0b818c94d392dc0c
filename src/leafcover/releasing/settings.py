"""The value of a parameter, held against the type that was declared for it."""

from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from leafcover.errors import PlanError


def checked(what: str, hint: Any, value: Any, *, from_text: bool = False) -> Any:
    """A value as its type has it, or one line that says what is wrong.

    ``from_text``: a command line gives everything as text; elsewhere a text is no number, and a truth value neither.

    >>> checked("k", int | None, "5", from_text=True), checked("spread", float, 1)
    (5, 1.0)
    """
    from pydantic import TypeAdapter, ValidationError

    if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a number of numpy's
    parts = _parts(hint)
    if str in parts and isinstance(value, list | tuple):
        raise PlanError(f"{what} must be one text of names with commas, such as 'a,b'. Got {value!r}.")
    if not from_text:
        if isinstance(value, bool) and bool not in parts:
            raise PlanError(f"{what} must be {_said(parts)}. Got {value!r}.")
        if isinstance(value, str) and str not in parts and not any(isinstance(part, str) for part in parts):
            raise PlanError(f"{what} must be {_said(parts)}. Got {value!r}.")
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        raise PlanError(f"{what}: {error.errors()[0]['msg'].lower()}. Got {value!r}.") from None


def _parts(hint: Any) -> tuple[Any, ...]:
    """The types and the words that a hint allows."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(part for one in get_args(hint) for part in _parts(one))
    return get_args(hint) if get_origin(hint) is Literal else (hint,)


def _said(parts: tuple[Any, ...]) -> str:
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", type(None): "none"}
    return " or ".join(words.get(part, str(part)) for part in parts)
