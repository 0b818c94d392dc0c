"""The errors Leafcover raises. Each message is one line: what is wrong, what was received, what to do.

LeafcoverError
├── TableError        a file or frame cannot be read as a table
├── NameUnknown       a column, recipe or file that does not exist (with a near name when there is one)
├── ValueOutOfRange   a parameter outside what it may be
├── PlanError         a plan that contradicts itself or the table
├── OutputError       a result that cannot be written
├── InvariantViolated a perturbation broke one of its guarantees; nothing is written
├── ProjectError      a project file is wrong, or leaves something undecided
├── PluginError       a plugin cannot be loaded, takes a name that exists, or fails
├── LedgerError       the ledger of a project, or its key, cannot be used
├── RepeatedRelease   people of the table are in an earlier release of the project
└── RiskTooHigh       the measured risk is above the limit that was set
"""

import re
import shlex
from collections.abc import Iterable
from difflib import get_close_matches

OF_A_CLASS = re.compile(r"^(?:[A-Z]\w*\.|[\w-]+'s? )(?=\w)")  # before a parameter, such as "Deal." or "cover's "
MAX_NAMES_LISTED = 30  # known names that an error message lists
MAX_SHOWN = 200  # characters of a value that an error message shows


def install(extra: str) -> str:
    """How to install what a format or a database needs.

    >>> install("office")
    "Install it: pip install 'leafcover[office]', or in the folder of its source: pip install -e '.[office]'."
    """
    return f"Install it: pip install 'leafcover[{extra}]', or in the folder of its source: pip install -e '.[{extra}]'."


def quoted(name: str) -> str:
    """A name as one word of a message or command: in quotes if it holds spaces or other special characters.

    >>> quoted("age"), quoted("marital status"), quoted("")
    ('age', "'marital status'", "''")
    """
    return shlex.quote(name) if not name.isidentifier() else name


def shown(value: object) -> str:
    """A value in a message of one line: as it would be typed, or its type if that is long.

    >>> shown("ages"), shown(list(range(99)))
    ("'ages'", 'a list')
    """
    text = repr(value)
    article = "an" if type(value).__name__[0] in "AEIOUaeiou" else "a"
    return text if len(text) <= MAX_SHOWN and "\n" not in text else f"{article} {type(value).__name__}"


class LeafcoverError(Exception):
    """Base class of every error that a user can cause.

    Examples
    --------
    >>> import leafcover as lc
    >>> try:
    ...     lc.sample("wines")
    ... except lc.LeafcoverError as error:
    ...     print(str(error).partition(" Available")[0])
    There is no sample table 'wines'. Did you mean 'wine'?
    """

    exit_code = 1
    names_keys = False  # whether its names are keys of a project file, which no option stands for


class TableError(LeafcoverError):
    """A file or frame cannot be read as a table."""


class NameUnknown(LeafcoverError):
    """A name does not exist. The message suggests the most similar known name.

    Parameters
    ----------
    what : str
        What was named, such as "column".
    name : str
        The name that does not exist.
    known : iterable of str
        The names that exist.
    where : str, optional
        Where the name was used.
    advice : str, optional
        What to do instead, in place of the most similar name.
    """

    def __init__(self, what: str, name: str, known: Iterable[str], where: str = "", advice: str = "") -> None:
        self.what, self.name, self.known = what, name, tuple(known)
        self.names_keys = what == "key"
        similar = get_close_matches(name, self.known, n=1)
        hint = f" Did you mean {similar[0]!r}?" if similar else ""
        if "," in name and all(part.strip() in self.known for part in name.split(",")):
            hint = " These are several names: give each on its own."
        hint = f" {advice}" if advice else hint
        listed = ", ".join(quoted(known) for known in self.known[:MAX_NAMES_LISTED])
        more = ", …" if len(self.known) > MAX_NAMES_LISTED else ""
        place = f" {where}" if where else ""
        super().__init__(f"There is no {what} {name!r}{place}.{hint} Available: {listed}{more}.")


class ValueOutOfRange(LeafcoverError):
    """A parameter has a value that is not allowed.

    Parameters
    ----------
    name : str
        The parameter.
    value : object
        The value that was received.
    allowed : str
        What is allowed, in words.
    """

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name, self.value, self.allowed = name, value, allowed
        super().__init__(f"{name} must be {allowed}. Got {shown(value)}.")

    @property
    def parameter(self) -> str:
        """The parameter without the class or recipe that it belongs to."""
        return OF_A_CLASS.sub("", self.name)

    def called(self, name: str) -> "ValueOutOfRange":
        """The same error about a name that the user gave.

        >>> str(ValueOutOfRange("Deal.share", 0, "at least 1").called("share"))
        'share must be at least 1. Got 0.'
        """
        return ValueOutOfRange(name, self.value, self.allowed)


class PlanError(LeafcoverError):
    """A plan contradicts itself or the table."""


class OutputError(LeafcoverError):
    """A result cannot be written."""


class InvariantViolated(LeafcoverError):
    """A perturbation broke one of its guarantees, so nothing is written."""


class ProjectError(LeafcoverError):
    """A project file is wrong, cannot be changed, or leaves something undecided."""

    names_keys = True


class PluginError(LeafcoverError):
    """A plugin cannot be loaded, takes a name that exists, or fails."""


class LedgerError(LeafcoverError):
    """The ledger of a project, or its key, cannot be read, is damaged, or is not private."""


class RepeatedRelease(LeafcoverError):
    """People of the table are in an earlier release of the project."""

    exit_code = 3


class RiskTooHigh(LeafcoverError):
    """The measured disclosure risk exceeds the limit that was set."""

    exit_code = 3
