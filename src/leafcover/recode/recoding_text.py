"""Read recodings from their text, as the option ``--recode`` gives them. The text is parsed, never executed.

    age: intervals 18, 65               the column, the recoding, and the values of its main parameter
    wage: top-code share=0.01, to=mean  other parameters by name
    zip, age: local-suppression k=3     several columns, where a recoding takes them

Parameters are those of Python and of plan files. Names and values that hold commas or colons stand in quotes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields
from typing import Any, get_origin, get_type_hints

from leafcover.errors import NameUnknown, PlanError
from leafcover.recode.base import RECODINGS, Recoding, is_recoding
from leafcover.registry import allowed_types, checked

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
        given[parameter] = _typed(f"{parameter} of {name}", hints[parameter], content)
    if "column" in hints:
        if len(columns) != 1:
            raise PlanError(f"The recoding {text!r} must name one column: write COLUMN: {name} VALUES.")
        given["column"] = columns[0]
    elif columns:
        given["columns"] = tuple(columns)
    for one in fields(kind):  # type: ignore[arg-type]  # every recoding is a dataclass
        if one.default is MISSING and one.name not in given:
            raise PlanError(f"The recoding {text!r} has no {one.name}. Add {one.name}=VALUE.")
    return kind(**given)


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
