"""Every way Leafcover says no: one line that tells what is wrong, what was received and what to do.

LeafcoverError
├── TableError        a file or frame cannot be read as a table
├── NameUnknown       a column, recipe or file that does not exist (with a near name when there is one)
├── ValueOutOfRange   a parameter outside what it may be
├── PlanError         a plan that contradicts itself or the table
├── OutputError       a result that cannot be written
├── InvariantViolated a perturbation broke one of its guarantees; nothing is written
├── PluginError       a plugin cannot be loaded, or takes a name that exists
└── RiskTooHigh       the measured risk is above the limit that was set
"""

from collections.abc import Iterable
from difflib import get_close_matches


class LeafcoverError(Exception):
    """The base of all errors a user can cause."""

    exit_code = 1


class TableError(LeafcoverError):
    """A file or frame cannot be read as a table."""


class NameUnknown(LeafcoverError):
    """A name that does not exist where it was looked for."""

    def __init__(self, what: str, name: str, known: Iterable[str], where: str = "") -> None:
        self.what, self.name, self.known = what, name, tuple(known)
        near = get_close_matches(name, self.known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        shown = ", ".join(self.known[:30]) + (", …" if len(self.known) > 30 else "")
        place = f" {where}" if where else ""
        super().__init__(f"There is no {what} {name!r}{place}.{hint} Known: {shown}.")


class ValueOutOfRange(LeafcoverError):
    """A parameter outside what it may be."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} must be {allowed}. Got {value!r}.")


class PlanError(LeafcoverError):
    """A plan that contradicts itself or the table."""


class OutputError(LeafcoverError):
    """A result that cannot be written."""


class InvariantViolated(LeafcoverError):
    """A perturbation broke one of its guarantees, so nothing is written."""


class PluginError(LeafcoverError):
    """A plugin cannot be loaded, or takes a name that exists."""


class RiskTooHigh(LeafcoverError):
    """The measured risk is above the limit that was set."""

    exit_code = 3
