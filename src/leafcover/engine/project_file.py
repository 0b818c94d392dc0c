"""The project file ``leafcover.toml``: everything that a release needs, in one place. It never holds a secret.

Every key is checked when the file is read. A command that changes the file keeps its comments and its layout. "?" marks
what the steward has not decided yet.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from leafcover.engine.audience import AudienceName
from leafcover.errors import LeafcoverError, NameUnknown, ProjectError
from leafcover.recipes.registry import Rare
from leafcover.table.atomic import atomic_write, locked
from leafcover.table.weights import Leave

FILE_NAME = "leafcover.toml"
UNDECIDED = "?"
VERSION = 1
MOST_BYTES = 4_000_000  # of a project file
SECRETS = ("key", "seed", "secret", "password", "passphrase", "token")
PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@")  # in an address

ColumnRole: TypeAlias = Literal["", "drop", "unchanged", "quasi-identifier", "sensitive", "unit", "weight", "?"]
Text: TypeAlias = Annotated[str, Field(min_length=1, pattern=r"^[^\x00-\x1f]+$")]
Texts: TypeAlias = Annotated[tuple[Text, ...], Field(strict=False)]
Token: TypeAlias = str | int | float | datetime | date  # means a missing value
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]

# Plain words for errors that pydantic describes in terms of Python.
MISTAKES = {
    "missing": "is missing",
    "string_type": "must be text in quotes",
    "bool_type": "must be true or false",
    "float_type": "must be a number without quotes",
    "int_type": "must be a whole number without quotes",
    "int_from_float": "must be a whole number",
    "tuple_type": "must be a list in square brackets",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must be one line of text",
}


class _FileTable(BaseModel):
    """A table of the file: unknown keys are refused, text is no number, values cannot be changed."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ProjectInput(_FileTable):
    """The table ``[input]``: the original, and how its file is read."""

    file: Text
    encoding: Text | None = None
    delimiter: str | None = None
    sheet: str | int | None = None
    query: Text | None = None
    decimal: str | dict[str, str] | None = None
    thousands: str | dict[str, str] | None = None
    category: Texts = ()
    missing: dict[str, Annotated[tuple[Token, ...], Field(strict=False)] | Token] = Field(default_factory=dict)


class ProjectMethod(_FileTable):
    """The table ``[method]``: a recipe with its settings, or a plan file."""

    recipe: Text | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    bins: int | None = None
    plan: Text | None = None
    rules: Texts = ()
    find_rules: bool | None = None
    rare: Rare | None = None
    share: int | None = None
    sequence: Text | None = None
    most_rows: int | None = None
    unit_numbers: bool = True
    weights: Leave | None = None
    keep_tables: Texts = ()
    recode: Texts = ()
    hold_out: float | None = None
    sample: float | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "ProjectMethod":
        single = ("recipe", "bins", "find_rules", "rare", "share", "sequence", "most_rows", "weights")
        others = [name for name in single if getattr(self, name) is not None]
        others += [name for name in ("settings", "rules", "keep_tables", "recode") if getattr(self, name)]
        if self.plan is not None and others:
            raise ValueError(f"plan cannot be combined with {others[0]}; write it into the plan, or remove plan")
        return self


class ProjectLimits(_FileTable):
    """The table ``[limits]``: what refuses a release; both override the audience's."""

    max_risk: Share | None = None
    max_singletons: Share | None = None


class ProjectOutput(_FileTable):
    """The table ``[output]``: the files that are written."""

    table: Text | None = None
    report: Text | None = None
    key_file: Text | None = None
    publish_tree: bool = False
    ledger: bool = False


class ProjectFile(_FileTable):
    """A whole project file."""

    version: Literal[1]
    title: Text | None = None
    date: Text | None = None
    audience: AudienceName | Literal["?"] | None = None
    target: Text | None = None
    input: ProjectInput
    columns: dict[str, ColumnRole] = Field(default_factory=dict)
    method: ProjectMethod = ProjectMethod()
    limits: ProjectLimits = ProjectLimits()
    output: ProjectOutput = ProjectOutput()

    @property
    def undecided(self) -> tuple[str, ...]:
        """The keys that are marked as undecided."""
        marked = [name for name in ("audience", "target") if getattr(self, name) == UNDECIDED]
        return (*marked, *(f"columns.{name}" for name, role in self.columns.items() if role == UNDECIDED))

    @property
    def chosen_target(self) -> str | None:
        """The target, once it is decided."""
        return None if self.target == UNDECIDED else self.target

    @property
    def chosen_audience(self) -> AudienceName | None:
        """The audience, once it is decided."""
        return None if self.audience == "?" else self.audience

    def with_role(self, *roles: ColumnRole) -> tuple[str, ...]:
        """The columns that have one of these roles."""
        return tuple(name for name, role in self.columns.items() if role in roles)


# Reading.


def find_project(start: Path) -> Path | None:
    """The project file in a folder, or in the nearest folder above it that belongs to the same user."""
    folder = start
    for above in (start.absolute(), *start.absolute().parents):
        if not _same_owner(above, start):
            return None
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
        folder = folder / ".."
    return None


def _same_owner(folder: Path, start: Path) -> bool:
    """Whether a folder is the user's own: a file that somebody else left in a folder above is not read."""
    try:
        return os.name != "posix" or folder.stat().st_uid == start.stat().st_uid
    except OSError:
        return False


def project_path(place: str | Path) -> Path:
    """The path of a project file that is given by itself or by its folder."""
    path = Path(place)
    return path / FILE_NAME if path.is_dir() else path


def read_text(path: Path) -> str:
    """The text of a project file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ProjectError(f"The project file '{path}' has more than {MOST_BYTES:,} bytes. Name another file.")
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ProjectError(f"There is no project file '{path}'. Make one: leafcover init TABLE.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError(
            f"The project file '{path}' cannot be read as text ({type(error).__name__}). Save it as UTF-8."
        ) from None


def parse_project(text: str, where: str = FILE_NAME) -> ProjectFile:
    """The content of a project file; an error names the file and the key in one line."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProjectError(f"{where} is not valid TOML: {error}. Correct the file.") from None
    except RecursionError:
        raise ProjectError(f"{where} nests lists too deep. Correct the file.") from None
    _refuse_secrets(content, where)
    if content.get("version", VERSION) != VERSION:
        raise ProjectError(f"{where}: version must be {VERSION}. Got {content['version']!r}.")
    try:
        return ProjectFile.model_validate(content)
    except ValidationError as error:
        raise _mistake(error, where) from None


def _refuse_secrets(content: Mapping[str, Any], where: str, inside: str = "") -> None:
    """Refuse a secret by the name of its key, or in an address; its value is not repeated."""
    for name, value in content.items():
        place = f"{inside}{name}"
        if name in SECRETS and not inside.startswith("columns."):
            raise ProjectError(f"{where}: {place} would be a secret, which a project file never holds. Remove it.")
        if isinstance(value, Mapping):
            _refuse_secrets(value, where, f"{place}.")
        elif isinstance(value, str) and PASSWORD.search(value):
            raise ProjectError(f"{where}: {place} has a password in its address. Leave the password out.")


def _mistake(error: ValidationError, where: str) -> LeafcoverError:
    """The first mistake; an unknown key comes first, because often it is a missing key, misspelt."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        *tables, name = place
        inside = f"in [{'.'.join(tables)}] of {where}" if tables else f"in {where}"
        return NameUnknown("key", name, _keys(tables), inside, _other_place(name))
    key = ".".join(part for part in place if part not in TYPE_WORDS and not part.startswith(("tuple[", "literal[")))
    message = MISTAKES.get(first["type"], first["msg"].replace("Input should be ", "must be ", 1))
    message = message.removeprefix("Value error, ")
    if first["type"] == "literal_error" and key.startswith("columns."):
        message = f"must be {_listed(ROLES)}"
    if first["type"] == "value_error":  # about several keys of a table
        return ProjectError(f"{where}: in [{key}], {message}.")
    if key.startswith("columns.") and first["type"] == "literal_error" and not isinstance(first["input"], str):
        message += f', for the column {key.removeprefix("columns.")!r}; write a line for each column, NAME = "drop"'
    got = f" Got {first['input']!r}." if isinstance(first["input"], str | int | float) else ""
    return ProjectError(f"{where}: {key} {message[0].lower()}{message[1:]}.{got}")


def _other_place(name: str) -> str:
    """Where a key belongs that stands in the wrong table."""
    if name.rstrip("s").replace("_", "-") in (*ROLES[:-1], "role"):
        return f'Roles are written under [columns], a line for each column: NAME = "{ROLES[0]}".'
    if name == "k":
        return "It belongs to [method]: settings = { k = 20 }."
    for table in ("input", "method", "limits", "output"):
        if name in _keys([table]):
            return f"It belongs to [{table}]."
    return "It belongs above the first table." if name in _keys([]) else ""


TYPE_WORDS = ("str", "int", "float", "date", "datetime")  # of pydantic, for the alternatives of a value
ROLES = ("drop", "unchanged", "quasi-identifier", "sensitive", "unit", "weight", "")


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(repr(word) for word in words[:-1]) + f" or {words[-1]!r}"


def _keys(tables: list[str]) -> list[str]:
    """The keys that a table of the file may have."""
    model: Any = ProjectFile
    for name in tables:
        model = model.model_fields[name].annotation
    return list(model.model_fields)


# Changing.


def edited(text: str, changes: Mapping[str, Any]) -> str:
    """The text with some keys changed; comments and layout stay.

    A mapping changes the keys of a table. None removes a key: its line becomes a comment, so that nothing is lost.

    >>> print(edited('target = "?"  # decide', {"target": "income"}))
    target = "income"  # decide
    >>> print(edited("[limits]\\nmax_risk = 0.1  # agreed\\n", {"limits": {"max_risk": None}}), end="")
    [limits]
    # max_risk = 0.1  # agreed
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        _change(document, changes)
        return tomlkit.dumps(document)
    except (TOMLKitError, RecursionError) as error:
        raise ProjectError(f"The project file cannot be changed: {error}. Correct it by hand.") from None


def _change(table: Any, changes: Mapping[str, Any]) -> None:
    """Change the keys of a TOML table; a key that has the value already is not touched."""
    import tomlkit

    for name, value in changes.items():
        if value is None:
            _comment_out(table, name)
        elif isinstance(value, Mapping):
            if name not in table:
                table[name] = tomlkit.table() if isinstance(table, tomlkit.TOMLDocument) else tomlkit.inline_table()
            _change(table[name], value)
        elif name not in table:
            table[name] = list(value) if isinstance(value, tuple) else value
        elif isinstance(table[name], tomlkit.items.Array) and isinstance(value, list | tuple):
            _change_list(table[name], list(value))
        elif tomlkit.item(table[name]).unwrap() != value:
            table[name] = value


def _change_list(array: Any, value: list[Any]) -> None:
    """Change a list one by one, so that the comments beside other elements stay."""
    for one in [one for one in array.unwrap() if one not in value]:
        array.remove(one)
    for one in [one for one in value if one not in array.unwrap()]:
        array.append(one)
    if array.unwrap() != value:  # in another order
        array.clear()
        array.extend(value)


def _comment_out(table: Any, name: str) -> None:
    """Turn the line of a key into a comment."""
    import tomlkit

    if name not in table:
        return
    body = table.body if isinstance(table, tomlkit.TOMLDocument) else table.value.body
    at, key, item = next((at, *one) for at, one in enumerate(body) if one[0] is not None and one[0].key == name)
    assert key is not None
    line = f"{key.as_string()}{key.sep}{item.as_string()}{item.trivia.comment_ws}{item.trivia.comment}"
    del table[name]
    if not isinstance(table, tomlkit.items.InlineTable):
        body[at] = (None, tomlkit.items.Comment(tomlkit.items.Trivia(comment="# " + line.replace("\n", "\n# "))))


def write_project(path: Path, text: str, *, base: str) -> None:
    """Write a project file, unless it has changed since ``base`` was read."""
    parse_project(text, str(path))
    with _alone(path):
        if read_text(path) != base:
            raise ProjectError(f"'{path}' has changed since it was read. Read it again, then change it.")
        _replace(path, text)


def update_project(path: Path, changes: Mapping[str, Any]) -> str:
    """Change some keys of a project file, whatever else was written to it meanwhile; its new text."""
    with _alone(path):
        before = read_text(path)
        text = edited(before, changes)
        parse_project(text, str(path))
        if text != before:
            _replace(path, text)
    return text


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    try:
        with locked(path.absolute().parent):
            yield
    except OSError as error:
        raise ProjectError(f"The project file '{path}' cannot be changed: {error.strerror or error}.") from None


def _replace(path: Path, text: str) -> None:
    with atomic_write(path, force=True) as part:
        part.write_bytes(text.encode())
