"""Methods by name: those built in, and those that other distributions bring.

A distribution registers a perturbation, partition, recipe or measure with a decorator, and names the module that does
so as an entry point of the group ``leafcover.plugins``. Nothing in the library needs to know it:

    [project.entry-points."leafcover.plugins"]
    rounding = "leafcover_rounding"

The module also checks the parameters of methods by their declared types.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, wraps
from importlib import import_module
from importlib.metadata import entry_points
from types import FunctionType, UnionType
from typing import Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin

from leafcover.errors import LeafcoverError, NameUnknown, PlanError, PluginError

GROUP = "leafcover.plugins"

Entry = TypeVar("Entry")
Given = TypeVar("Given")
Class = TypeVar("Class", bound=type)
Result = TypeVar("Result")


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
