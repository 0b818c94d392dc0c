"""The base classes of recodings, their registry and texts, and how several of them are applied.

A recoding maps values of some columns to coarser or missing ones. It draws nothing, so an attacker can do the same with
what is known about a person. What it learns from a table, such as quantiles, is fixed once (`Recoding.fitted`), so that
other rows of the population are recoded alike.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from leafcover.arrays import Bools, Floats
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.messages import Catalogue, catalogue
from leafcover.registry import Registry, allowed_types, checked
from leafcover.table.table import Column, Kind, Role, Table

ALL_KINDS: frozenset[Kind] = frozenset(get_args(Kind))
NOT_RECODED: tuple[Role, ...] = ("unchanged", "unit", "weight")  # roles of columns that are left alone


class Recoding(ABC):
    """A way to make values of some columns coarser, or missing.

    A subclass is a frozen dataclass whose fields are its parameters. It must define `columns` and `apply`; everything
    else has a default. Register it with `recoding`, and plan files, the option ``--recode``, checks and reports can use
    it.
    """

    frozen_id: ClassVar[str]  # identifies the class when draws are derived; never changes, even if the class is renamed
    kinds: ClassVar[frozenset[Kind]] = ALL_KINDS  # the kinds of column it accepts
    promise: ClassVar[Literal["recoded", "suppressed"]] = "recoded"  # what holds of its columns afterwards
    main: ClassVar[str] = ""  # the parameter whose name a text may leave out
    uses_other_rows: ClassVar[bool] = False  # whether the result for a row depends on other rows even when fitted

    @property
    def checks_rows(self) -> bool:
        """Whether `violations` compares several columns of a row, which must then not be changed by steps."""
        return False

    @property
    def least(self) -> int:
        """How many people agree at least in all of its columns; 1 if that is not promised."""
        return 1

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns it recodes."""

    @abstractmethod
    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The recoded table.

        ``reference`` is the table that was released, if this is another one: people outside the release are recoded as
        they would have been in it.
        """

    def fitted(self, table: Table) -> "Recoding":
        """The same with all that is learned from a table fixed."""
        return self

    def published(self) -> "Recoding":
        """The same without what a reader of the release must not learn, such as the names of levels that are gone."""
        return self

    def violations(self, released: Table) -> tuple[str, ...]:
        """A sentence for each way in which columns that no step changed do not look recoded."""
        return ()

    def describe(self, *, detailed: bool = True) -> str:
        """What happens to a value, to complete "each value is"; with parameters if ``detailed``."""
        return f"recoded by {name_of(self)}"

    def check(self, table: Table) -> None:
        """Raise an error if a column does not exist, is of another kind or must be left alone."""
        for name in self.columns:
            if name not in table.names:
                raise NameUnknown("column", name, table.names, f"for the recoding {name_of(self)!r}")
            if (kind := table[name].kind) not in self.kinds and not self._is_recoded(table[name]):
                able = ", ".join(n for n, one in RECODINGS.items() if kind in one.kinds)
                raise PlanError(
                    f"The recoding {name_of(self)!r} does not accept column {name!r}, a {kind}. Use one of {able}, or "
                    "read the column as another kind."
                )
            if (role := table.roles.get(name)) in NOT_RECODED:
                raise PlanError(
                    f"The recoding {name_of(self)!r} would change column {name!r}, which has the role {role}. "
                    "Drop one of them."
                )

    def _is_recoded(self, column: Column) -> bool:
        """Whether a column of another kind is what this recoding made of it."""
        return False


@dataclass(frozen=True)
class ColumnRecoding(Recoding):
    """A recoding of one column, value by value. A subclass defines `recoded`."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column."""
        return (self.column,)

    def apply(self, table: Table, reference: Table | None = None) -> Table:
        """The table with the recoded column; a fitted recoding needs no other rows."""
        before = table[self.column]
        column = self.recoded(before)
        return table.replace([column if column.is_category else replace(column, coarser=_Coarser(self, before))])

    @abstractmethod
    def recoded(self, column: Column) -> Column:
        """The recoded column; missing stays missing."""

    def may_hold(self, column: Column) -> Bools:
        """Which values of a column may come from it, whatever they were before."""
        return ~column.missing


class _Coarser:
    """What recodings of a column make of numbers, one after the other."""

    def __init__(self, last: ColumnRecoding, column: Column) -> None:
        self.last, self.before = last, column.coarser
        self.like = replace(column, values=np.empty(0), stored=None, declared=None, coarser=None)

    def __call__(self, values: Floats) -> Floats:
        values = values if self.before is None else self.before(values)
        return self.last.recoded(replace(self.like, values=values)).values


RECODINGS: Registry[type[Recoding]] = Registry(
    "recoding",
    "leafcover.recode.numbers",
    "leafcover.recode.intervals",
    "leafcover.recode.generalise",
    "leafcover.recode.suppress",
    "leafcover.recode.local_suppression",
)

Method = TypeVar("Method", bound=type[Recoding])


def recoding(name: str) -> Callable[[Method], Method]:
    """Register a recoding under the name that plan files and ``--recode`` use."""
    return RECODINGS.class_decorator(name)


def is_recoding(value: object) -> TypeGuard[Recoding]:
    """Whether something is a recoding."""
    return isinstance(value, Recoding)


def name_of(one: Recoding) -> str:
    """The name of a recoding in plan files."""
    return RECODINGS.name_of(type(one)) or type(one).__name__


def methods() -> Catalogue:
    """The catalogue of sentences that describe methods."""
    return catalogue("methods")


def fit_all(recodings: Iterable[Recoding], table: Table) -> tuple[tuple[Recoding, ...], Table]:
    """Every recoding fitted to the table as the ones before it leave it, and the recoded table."""
    found: list[Recoding] = []
    for one in recodings:
        one.check(table)
        found.append(one.fitted(table))
        table = found[-1].apply(table)
    return tuple(found), table


def apply_all(recodings: Sequence[Recoding], table: Table, reference: Table | None = None) -> Table:
    """The table recoded by fitted recodings, one after the other.

    ``reference`` is the table that was released, if this is another one.
    """
    last = max((number for number, one in enumerate(recodings) if one.uses_other_rows), default=-1)
    for number, one in enumerate(recodings):
        one.check(table)
        table = one.apply(table, reference)
        if reference is not None and number < last:
            reference = one.apply(reference)
    return table


def with_new_coding(table: Table, recoded: Table) -> Table:
    """The table with those columns recoded whose values could not be compared otherwise: other kinds or other levels.

    A number that was rounded is still a number, and a level that became missing is a missing value.
    """
    return table.replace(
        recoded[c.name] for c in table if c.name in recoded.names and is_coded_anew(c, recoded[c.name])
    )


def is_coded_anew(column: Column, recoded: Column) -> bool:
    """Whether a recoded column is of another kind, or has levels that the column does not have."""
    return column.kind != recoded.kind or not set(recoded.levels) <= set(column.levels)


def occurring_levels(column: Column) -> tuple[str, ...]:
    """The levels of a category that some row has."""
    return tuple(column.levels[code] for code in np.unique(column.values[~column.missing]).tolist())


# The text of a recoding, as the option --recode gives it. It is parsed, never executed.
#
#     age: intervals 18, 65               the column, the recoding, and the values of its main parameter
#     wage: top-code share=0.01, to=mean  other parameters by name
#     zip, age: local-suppression k=3     several columns, where a recoding takes them
#
# Parameters are those of Python and of plan files. Names and values that hold commas or colons stand in quotes.

QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`')
PART = re.compile(rf"(?:{QUOTED.pattern}|[^,\s])+|,|\s+", re.VERBOSE | re.DOTALL)
SHORT = {"top": "top-code", "bottom": "bottom-code", "generalize": "generalise"}  # other names of recodings


def parse_recodings(given: Sequence[str | Recoding] | str | Recoding, names: Sequence[str]) -> tuple[Recoding, ...]:
    """Recodings from their texts, where they are not recodings already."""
    listed: Sequence[Any] = [given] if isinstance(given, str | Recoding) else given
    found = []
    for one in listed:
        if not isinstance(one, str) and not is_recoding(one):
            raise PlanError(f"A recoding must be one such as Round('wage', 0.5), or a text. Got {type(one).__name__}.")
        found.append(parse_recoding(one, names) if isinstance(one, str) else one)
    return tuple(found)


def parse_recoding(text: str, names: Sequence[str] = ()) -> Recoding:
    """The recoding that a text says.

    Parameters
    ----------
    text : str
        Such as ``"wage: round 0.5"`` or ``"age: intervals 18, 65"``.
    names : sequence of str, optional
        Known column names; those that contain commas or colons then need no quotes.

    Returns
    -------
    Recoding

    Examples
    --------
    >>> parse_recoding("wage: round 0.5")
    Round(column='wage', to=0.5, digits=None)
    >>> parse_recoding("hours: a week: intervals width=10", ["hours: a week"]).column
    'hours: a week'
    """
    columns, rest = _columns(text, names)
    word, _, values = rest.strip().partition(" ")
    name = SHORT.get(word.lower(), word.lower())
    if name not in RECODINGS:
        raise NameUnknown("recoding", word, RECODINGS, f"in {text!r}; write COLUMN: RECODING VALUES")
    kind = RECODINGS[name]
    hints = get_type_hints(kind)
    given = _parameters(text, values, kind, name)
    for parameter, content in given.items():
        given[parameter] = _typed(f"In the recoding {text!r}, {parameter}", hints[parameter], content)
    if "column" in hints:
        if len(columns) != 1:
            raise PlanError(f"The recoding {text!r} must name one column: write COLUMN: {name} VALUES.")
        given["column"] = columns[0]
    elif columns:
        given["columns"] = tuple(columns)
    for one in fields(kind):  # type: ignore[arg-type]  # every recoding is a dataclass
        if one.default is MISSING and one.name not in given:
            raise PlanError(f"The recoding {text!r} has no {one.name}. Add {one.name}=VALUE.")
    try:
        return kind(**given)
    except ValueOutOfRange as error:
        raise error.called(f"In the recoding {text!r}, {error.parameter}") from None


def _columns(text: str, names: Sequence[str]) -> tuple[list[str], str]:
    """The columns before the colon, and what comes after it; no column if the text begins with a recoding."""
    found: list[str] = []
    at = 0
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        name, at = _name(text, at, names)
        at += len(text[at:]) - len(text[at:].lstrip())
        if text[at : at + 1] == ":":
            return [*found, name], text[at + 1 :]
        if text[at : at + 1] != ",":
            word = text.strip().partition(" ")[0]
            if not found and SHORT.get(word, word) in RECODINGS:
                return [], text
            raise PlanError(f"The recoding {text!r} names no column. Write it like 'wage: round 0.5'.")
        found.append(name)
        at += 1


def _name(text: str, at: int, names: Sequence[str]) -> tuple[str, int]:
    """The name that begins at a place of the text, and where it ends: the longest known one, quoted, or plain."""
    for name in sorted(names, key=len, reverse=True):
        if name and text.startswith(name, at) and text[at + len(name) :].lstrip()[:1] in (":", ","):
            return name, at + len(name)
    quoted = QUOTED.match(text, at)
    if quoted is not None:
        return _unquoted(quoted[0]), quoted.end()
    end = min((text.find(sign, at) for sign in ":," if text.find(sign, at) >= 0), default=len(text))
    return text[at:end].strip(), end


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def _parameters(text: str, values: str, kind: type[Recoding], name: str) -> dict[str, Any]:
    """The texts of all parameters by name; those without a name belong to the main one."""
    known = [one.name for one in fields(kind) if one.name not in ("column", "columns")]  # type: ignore[arg-type]
    found: dict[str, list[str]] = {}
    current = kind.main
    for part in _parts(values):
        value = part
        own, sign, content = part.partition("=")
        if sign and re.fullmatch(r"[^\W\d]\w*", own):
            if own not in known:
                raise NameUnknown("parameter", own, known, f"of the recoding {name!r}")
            if own in found:
                raise PlanError(f"The recoding {text!r} gives {own} twice. Give it once.")
            current, value = own, content
        if not current:
            raise PlanError(f"The recoding {text!r} has a value without a name: {value}. Write NAME=VALUE.")
        quoted = QUOTED.fullmatch(value)
        found.setdefault(current, []).append(value if quoted is None else _unquoted(value))
    return dict(found)


def _parts(values: str) -> Iterator[str]:
    """The values, which commas separate; a name with = begins a new one without a comma, too."""
    waiting = ""
    for token in (one[0] for one in PART.finditer(values)):
        begins = re.match(r"[^\W\d]\w*=", token) is not None
        if (token == "," or begins) and waiting.strip():
            yield waiting.strip()
        waiting = "" if token == "," else token if begins else waiting + token
    if waiting.strip():
        yield waiting.strip()


def _typed(what: str, hint: Any, content: Sequence[str]) -> Any:
    """Texts as the parameter's type: one value, or a list where it is one."""
    takes_several = any(get_origin(one) is tuple for one in allowed_types(hint))
    if takes_several:
        return checked(what, hint, list(content), from_text=True)
    if len(content) > 1:
        raise PlanError(f"{what} is one value. Got {len(content)}: {', '.join(content)}.")
    return checked(what, hint, content[0], from_text=True)
