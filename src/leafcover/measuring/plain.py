"""Measures as plain data for JSON, and the schema that says what such data looks like."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from inspect import getdoc
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np


def plain(value: Any) -> Any:
    """Dictionaries, lists, numbers and text; a figure that does not exist is null; properties stand with the fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name, _, _ in _entries(type(value))}
    if isinstance(value, dict):
        return {str(name): plain(content) for name, content in value.items()}
    if isinstance(value, tuple | list):
        return [plain(content) for content in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def schema(kind: type[Any]) -> dict[str, Any]:
    """The JSON schema of a measure's plain data, its words taken from the code."""
    known: dict[str, Any] = {}
    found = _described(kind, known)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "$defs": dict(sorted(known.items()))}


def _entries(kind: type[Any]) -> Iterator[tuple[str, Any, str]]:
    """Name, type and words of everything a measure tells."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        yield field.name, hints[field.name], ""
    for name in dir(kind):
        found = getattr(kind, name)
        if isinstance(found, property) and not name.startswith("_") and found.fget is not None:
            yield name, get_type_hints(found.fget)["return"], getdoc(found) or ""


def _described(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """The schema of one type; dataclasses are described once, by name."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        rest = [_described(one, known) for one in inside if one is not NoneType]
        return {"anyOf": [*rest, {"type": "null"}]} if NoneType in inside else {"anyOf": rest}
    if origin is tuple and inside[-1:] == (...,):
        return {"type": "array", "items": _described(inside[0], known)}
    if origin is tuple:
        return {"type": "array", "prefixItems": [_described(one, known) for one in inside]}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is not None and len(inside) == 2:  # a mapping from names
        return {"type": "object", "additionalProperties": _described(inside[1], known)}
    if is_dataclass(kind):
        return _object(kind, known)
    types: dict[Any, Any] = {int: "integer", str: "string", bool: "boolean", float: ["number", "null"]}
    if kind not in types:
        raise TypeError(f"A measure may not hold {kind!r}: it has no plain form.")
    return {"type": types[kind]}


def _object(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    words = (getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")
    if name not in known:
        known[name] = {}  # so that a type that holds itself ends
        inner = {}
        for entry, hint, said in _entries(kind):
            inner[entry] = _described(hint, known)
            if said:
                inner[entry] = {**inner[entry], "description": said.split("\n\n")[0].replace("\n", " ")}
        described = {"type": "object", "properties": inner, "required": list(inner), "additionalProperties": False}
        known[name] = {"description": words, **described}
    elif known[name] and known[name]["description"] != words:
        raise TypeError(f"Two measures are called {name}.")
    return {"$ref": f"#/$defs/{name}"}
