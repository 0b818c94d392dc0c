"""Methods by name: those built in, and those that other distributions bring.

A distribution registers a perturbation, partition, recipe or measure with a decorator, and names the module that does
so as an entry point of the group ``leafcover.plugins``. Nothing in the library needs to know it:

    [project.entry-points."leafcover.plugins"]
    rounding = "leafcover_rounding"

The module also checks the parameters of methods by their declared types.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from importlib.metadata import entry_points
from inspect import Parameter, signature
from numbers import Integral, Real
from types import FunctionType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from leafcover.errors import LeafcoverError, NameUnknown, PlanError, PluginError, ValueOutOfRange

GROUP = "leafcover.plugins"

Entry = TypeVar("Entry")
Given = TypeVar("Given")
Class = TypeVar("Class", bound=type)
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Entries by name, built-in ones first in the order of ``modules``; loaded when one is first looked up."""

    def __init__(self, what: str, *modules: str) -> None:
        self.what = what
        self._modules = modules  # that register what is built in when they are imported
        self._entries: dict[str, Entry] = {}

    def register(self, name: str, entry: Entry) -> None:
        """Add an entry; a name that is taken is refused."""
        if name in self._entries:
            raise PluginError(f"There are two entries called {name!r} among the {self.what}s. Rename one of them.")
        self._entries[name] = entry

    def decorator(self, name: str) -> Callable[[Given], Given]:
        """A decorator that adds what it is put on, and leaves it as it is."""

        def register(entry: Given) -> Given:
            self.register(name, cast(Entry, entry))
            return entry

        return register

    def class_decorator(self, name: str) -> Callable[[Class], Class]:
        """The same for a class, which must be complete and have a ``frozen_id`` of its own."""

        def register(entry: Class) -> Class:
            frozen = getattr(entry, "frozen_id", "")
            what = f"The {self.what} {name!r} ({entry.__name__})"
            if not isinstance(frozen, str) or not frozen:
                raise PluginError(
                    f"{what} has no frozen_id. Give the class one, such as frozen_id = 'package-{name}', "
                    "and never change it: draws are derived from it."
                )
            if lacking := sorted(getattr(entry, "__abstractmethods__", ())):
                raise PluginError(f"{what} does not define {', '.join(lacking)}. Define what is lacking.")
            if is_plugin(entry):
                self._import_built_in()
                if same := [n for n, one in self._entries.items() if getattr(one, "frozen_id", "") == frozen]:
                    raise PluginError(f"{what} has the frozen_id {frozen!r} of {same[0]!r}. Give it one of its own.")
                _blame_methods(entry, f"the {self.what} {name!r}")
            if is_dataclass(entry) and "__init__" in vars(entry):
                check_fields(entry)
            self.register(name, cast(Entry, entry))
            return entry

        return register

    def named(self, name: str, where: str = "") -> Entry:
        """The entry of a name, or an error that lists the names there are."""
        if name not in self:
            raise NameUnknown(self.what, str(name), self, where)
        return self[name]

    def name_of(self, entry: object) -> str | None:
        """The name under which an entry is registered."""
        return next((name for name, one in self.items() if one is entry), None)

    def __getitem__(self, name: str) -> Entry:
        return self._loaded()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def __len__(self) -> int:
        return len(self._loaded())

    def _loaded(self) -> dict[str, Entry]:
        self._import_built_in()
        load_plugins()
        return self._entries

    def _import_built_in(self) -> None:
        for module in self._modules:
            import_module(module)


# A plugin's exception becomes one line that names the plugin's method; the traceback stays the cause of the error.


def is_plugin(entry: Any) -> bool:
    """Whether a class or function is defined outside Leafcover."""
    return str(entry.__module__).partition(".")[0] != "leafcover"


def blamed(call: Callable[..., Result], what: str) -> Callable[..., Result]:
    """The same function; an exception that is no error of Leafcover becomes a `PluginError` about ``what``."""

    @wraps(call)
    def run(*args: Any, **given: Any) -> Result:
        try:
            return call(*args, **given)
        except (LeafcoverError, MemoryError):
            raise
        except Exception as error:
            found = " ".join(f"{type(error).__name__}: {error}".split())
            raise PluginError(f"{what} raised {found}. Correct the plugin, or do without it.") from error

    return run


def _blame_methods(entry: type, what: str) -> None:
    """Guard the public methods and properties that a class defines, and the check of its parameters."""
    for name, one in list(vars(entry).items()):
        if name.startswith("_") and name != "__post_init__":
            continue
        words = f"{entry.__name__}.{name}, of {what},"
        if isinstance(one, property) and one.fget is not None:
            setattr(entry, name, property(blamed(one.fget, words), doc=one.__doc__))
        elif isinstance(one, FunctionType):
            setattr(entry, name, blamed(one, words))


@cache
def load_plugins() -> None:
    """Import every module that an entry point names, once."""
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except PluginError:
            raise
        except Exception as error:
            raise PluginError(
                f"The plugin {point.name!r} ({point.value}) cannot be loaded: {type(error).__name__}: {error}. "
                "Update or uninstall it."
            ) from error


# Parameters of methods, from Python, from plan files or from texts of a command line.


def checked(what: str, hint: Any, value: Any, *, from_text: bool = False) -> Any:
    """A value converted to its declared type, or a one-line error.

    ``from_text``: the value is text from a command line. Otherwise text and truth values are not accepted as numbers.

    >>> checked("k", int | None, "5", from_text=True), checked("spread", float, 1)
    (5, 1.0)
    """
    from pydantic import TypeAdapter, ValidationError

    if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a NumPy number
    if isinstance(value, tuple):
        value = list(value)
    parts = allowed_types(hint)
    if not from_text:
        if isinstance(value, bool) and bool not in parts:
            raise PlanError(f"{what} must be {_describe(parts)}. Got {value!r}.")
        if isinstance(value, str) and str not in parts and not any(isinstance(part, str) for part in parts):
            raise PlanError(f"{what} must be {_describe(parts)}. Got {value!r}.")
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        plain = _describe(parts) if all(part in WORDS or isinstance(part, str) for part in parts) else ""
        problem = f" must be {plain}" if plain else f": {error.errors()[0]['msg'].lower()}"
        raise PlanError(f"{what}{problem}. Got {value!r}.") from None


def allowed_types(hint: Any) -> tuple[Any, ...]:
    """The types and literal values that a type hint allows."""
    if get_origin(hint) in (Union, UnionType):
        return tuple(part for one in get_args(hint) for part in allowed_types(one))
    return get_args(hint) if get_origin(hint) is Literal else (hint,)


WORDS: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    type(None): "none",
}


def _describe(parts: tuple[Any, ...]) -> str:
    return " or ".join(WORDS.get(part, str(part)) for part in parts)


# Arguments of public functions and of methods' constructors, against the types that they declare.


def checks_arguments(*own: str, of: str = "", **also: Any) -> Callable[[Function], Function]:
    """A decorator: an argument that is not of its declared type gets one line. The function itself checks ``own`` ones.

    Texts pass as sequences of texts, and lists and single values as tuples: functions say more about these. ``also``
    are further types that parameters accept, ``of`` is what they are named after.
    """

    def decorate(function: Function) -> Function:
        known = signature(function)

        @cache
        def hints() -> dict[str, Any]:
            try:
                found = get_type_hints(function)
            except NameError:  # a type of a plugin that is only there for type checkers
                found = {name: one for name, one in function.__annotations__.items() if not isinstance(one, str)}
            return found | {name: found[name] | hint for name, hint in also.items()}

        @wraps(function)
        def run(*args: Any, **given: Any) -> Any:
            try:
                bound = known.bind(*args, **given).arguments
            except TypeError:  # Python says what is missing
                return function(*args, **given)
            for name, value in bound.items():
                kind = known.parameters[name].kind
                if name in own or name not in hints() or kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
                    continue
                if value is not known.parameters[name].default and not is_of(hints()[name], value):
                    raise ValueOutOfRange(f"{of}.{name}" if of else name, value, _words(hints()[name]))
            return function(*args, **given)

        return cast(Function, run)

    return decorate


def check_fields(entry: Class) -> Class:
    """A class decorator: the same for the fields of a dataclass; a field whose metadata say "own" checks itself."""
    own = [one.name for one in fields(entry) if one.metadata.get("own")]
    maps = {one.name: one.metadata["plan_type"] for one in fields(entry) if one.metadata.get("maps")}
    entry.__init__ = checks_arguments("self", *own, of=entry.__name__, **maps)(vars(entry)["__init__"])  # type: ignore[misc]
    return entry


def is_of(hint: Any, value: Any) -> bool:
    """Whether a value is of a declared type, as far as types say.

    >>> is_of(list[str], ["age", 3]), is_of(float | None, 1), is_of(int, True), is_of(tuple[str, ...], "age")
    (False, True, False, True)
    """
    outer, inner = get_origin(hint), get_args(hint)
    if outer in (Union, UnionType):
        return any(is_of(one, value) for one in inner)
    if outer is Literal:
        return any(type(value) is type(one) for one in inner)
    if hint is None or hint is type(None):
        return value is None
    if isinstance(outer, type) and issubclass(outer, Mapping):
        pairs = value.items() if isinstance(value, Mapping) else ()
        return isinstance(value, Mapping) and all(is_of(inner[0], k) and is_of(inner[1], v) for k, v in pairs)
    if outer is tuple and inner[-1] is not ...:
        fits = isinstance(value, tuple | list) and len(value) == len(inner)
        return fits and all(is_of(one, part) for one, part in zip(inner, value, strict=True))
    if isinstance(outer, type) and issubclass(outer, Iterable):
        single = outer is tuple and get_origin(inner[0]) is not tuple
        return _is_sequence(inner[0], value) or (single and is_of(inner[0], value))
    if isinstance(outer, type) and issubclass(outer, Callable):  # type: ignore[arg-type]
        return callable(value)
    if isinstance(outer, type):
        return isinstance(value, outer)
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint]) and (hint is bool or not isinstance(value, bool))
    if isinstance(hint, type) and hint is not Any and not getattr(hint, "_is_protocol", False):
        return isinstance(value, hint)
    return True


NUMBERS: Mapping[Any, Any] = {int: Integral, float: Real, bool: (bool, np.bool_)}


def _is_sequence(inner: Any, value: Any) -> bool:
    if isinstance(value, str):
        return is_of(inner, value)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable) or getattr(value, "ndim", 1) != 1:
        return False
    if get_origin(inner) is tuple and any(isinstance(one, str) or not isinstance(one, Iterable) for one in value):
        return False
    return isinstance(value, Iterator) or all(is_of(inner, one) for one in value)


def _words(hint: Any) -> str:
    """A declared type in words."""
    outer, inner = get_origin(hint), get_args(hint)
    if outer in (Union, UnionType):
        return " or ".join(dict.fromkeys(_words(one) for one in inner if one is not type(None)))
    if outer is Literal:
        return " or ".join(map(repr, inner))
    if isinstance(outer, type) and issubclass(outer, Mapping):
        return f"a mapping, of {_words(inner[0])} to {_words(inner[1])}"
    if isinstance(outer, type) and issubclass(outer, Callable):  # type: ignore[arg-type]
        return "a function"
    if isinstance(outer, type):
        return f"a list of which each is {_words(inner[0])}"
    name = getattr(hint, "__name__", str(hint))
    return WORDS.get(hint, f"{'an' if name[0] in 'AEIOU' else 'a'} {name}")
