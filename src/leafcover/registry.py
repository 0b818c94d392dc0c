"""Methods by name: those built in, and those that other distributions bring.

A distribution registers a perturbation, partition, recipe or measure with a decorator, and names the module that does
so as an entry point of the group ``leafcover.plugins``. Nothing in the library needs to know it:

    [project.entry-points."leafcover.plugins"]
    rounding = "leafcover_rounding"
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar, cast

from leafcover.errors import NameUnknown, PluginError

GROUP = "leafcover.plugins"

Entry = TypeVar("Entry")
Given = TypeVar("Given")


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
        for module in self._modules:
            import_module(module)
        load_plugins()
        return self._entries


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
