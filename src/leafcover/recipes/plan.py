"""Steps and plans: plain data, checked when written and again against the table.

A step takes some columns, says which rows stand together, and changes values only within each group. A plan is a
list of steps that all read the original table; each column is written once.
"""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from leafcover.errors import LeafcoverError, NameUnknown, PlanError, TableError
from leafcover.partition.base import PartitionMethod
from leafcover.partition.forest import Forest
from leafcover.partition.leaves import Leaves, Whole
from leafcover.partition.microaggregation import Halves, InOrder, Kd, KMeans, Mdav, Strata, VariableMdav
from leafcover.partition.refine import Refine
from leafcover.perturb.additive import Additive, Multiplicative
from leafcover.perturb.base import Perturbation
from leafcover.perturb.bounded import Bounded
from leafcover.perturb.centroid import Centroid
from leafcover.perturb.redraw import Redraw
from leafcover.perturb.shuffle import Shuffle
from leafcover.table.table import Column, Table

UNCHECKED = ("target", "made")  # what a recipe looks at itself


@dataclass(frozen=True)
class Step:
    """Change ``columns`` within the cells of ``within`` by ``noise``, inside the boxes of ``keep`` as well.

    ``keep`` names further trees whose leaves the rows must not leave: a category redrawn within the leaves of its own
    tree can be kept inside the leaves of the target's tree.
    """

    columns: tuple[str, ...]
    within: PartitionMethod
    perturb: Perturbation
    keep: tuple[PartitionMethod, ...] = ()

    def __init__(
        self,
        columns: str | Sequence[str],
        within: PartitionMethod,
        perturb: Perturbation,
        keep: Sequence[PartitionMethod] = (),
    ) -> None:
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        if not names:
            raise PlanError("A step names no column. Give it at least one.")
        if len(set(names)) < len(names):
            raise PlanError(f"A step names a column twice: {', '.join(names)}. Name each once.")
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "within", within)
        object.__setattr__(self, "perturb", perturb)
        object.__setattr__(self, "keep", tuple(keep))

    @property
    def splits(self) -> tuple[PartitionMethod, ...]:
        """Every split the step needs."""
        return (self.within, *self.keep)


@dataclass(frozen=True)
class Plan:
    """A list of steps; ``recipe`` says which recipe wrote it, for the reader.

    ``settings`` are what that recipe was given, so that it can write the plan anew for other rows of the table; a plan
    that was read from a file or written by hand has none.
    """

    steps: tuple[Step, ...]
    recipe: str = field(default="")
    target: str = field(default="")
    settings: Mapping[str, Any] | None = field(default=None, compare=False)

    def __init__(
        self, *steps: Step, recipe: str = "", target: str = "", settings: Mapping[str, Any] | None = None
    ) -> None:
        object.__setattr__(self, "steps", tuple(steps))
        object.__setattr__(self, "recipe", recipe)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "settings", settings)
        if not steps:
            raise PlanError("The plan has no step, so nothing would change. Add a step.")
        writer: dict[str, int] = {}
        for number, step in enumerate(self.steps, 1):
            for name in step.columns:
                if name in writer:
                    raise PlanError(
                        f"Column {name!r} is written by step {writer[name]} and by step {number}. Write it once."
                    )
                writer[name] = number

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that some step writes."""
        return tuple(name for step in self.steps for name in step.columns)


def _checked(recipe: str, hints: Mapping[str, Any], name: str, value: Any) -> Any:
    return checked(f"Parameter {name} of recipe {recipe!r}", hints[name], value)


def recipe_called(name: str) -> Callable[[Callable[..., Plan]], Callable[..., Plan]]:
    """Sign the plans of a recipe with its name, its target and the settings it was given."""

    def signed(make: Callable[..., Plan]) -> Callable[..., Plan]:
        known = signature(make).parameters

        @wraps(make)
        def recipe(table: Table, **given: Any) -> Plan:
            hints = {n: hint for n, hint in get_type_hints(make).items() if n not in UNCHECKED}
            given = {n: _checked(name, hints, n, v) if n in hints else v for n, v in given.items()}
            plan = make(table, **given)
            chosen = {n: v for n, v in given.items() if n not in UNCHECKED and v != known[n].default}
            return Plan(*plan.steps, recipe=name, target=given.get("target", ""), settings=chosen)

        return recipe

    return signed


def check(plan: Plan, table: Table) -> None:
    """Refuse a plan that does not fit the table."""
    for number, step in enumerate(plan.steps, 1):
        needed = (*step.columns, *(name for split in step.splits for name in split.needs))
        for name in needed:
            if name not in table.names:
                raise NameUnknown("column", name, table.names, f"that step {number} of the plan needs")
        if step.keep and isinstance(step.perturb, Additive | Centroid | Multiplicative):
            raise PlanError(
                f"Step {number} is to keep the leaves of another tree, which {type(step.perturb).__name__} does not "
                "know. Leave out keep, or use Bounded or Redraw."
            )
        for name in step.columns:
            if isinstance(step.perturb, Additive | Bounded | Multiplicative) and table[name].is_category:
                raise PlanError(
                    f"Step {number} moves column {name!r} by {type(step.perturb).__name__}, but it is a category. "
                    "Use Redraw or Shuffle."
                )
            if isinstance(step.perturb, Multiplicative) and table[name].kind != "number":
                raise PlanError(
                    f"Step {number} multiplies column {name!r}, but a {table[name].kind} has no zero. "
                    "Use Additive or Bounded."
                )
            if isinstance(step.perturb, Redraw) and not table[name].is_category:
                raise PlanError(
                    f"Step {number} redraws column {name!r}, but it is a {table[name].kind}. "
                    "Use Bounded or Shuffle, or declare it with --category."
                )
        for name in step.columns:
            if table.roles.get(name) == "unchanged":
                raise PlanError(f"Step {number} changes column {name!r}, which is to stay unchanged. Drop one of both.")


# Plans as TOML: read with every key checked, written so that reading gives the same plan back.


VERSION = 1

PARTITIONS: dict[str, type[Any]] = {
    "forest": Forest,
    "halves": Halves,
    "in-order": InOrder,
    "k-means": KMeans,
    "kd": Kd,
    "leaves": Leaves,
    "mdav": Mdav,
    "refine": Refine,
    "strata": Strata,
    "variable-mdav": VariableMdav,
    "whole": Whole,
}
PERTURBATIONS: dict[str, type[Any]] = {
    "additive": Additive,
    "bounded": Bounded,
    "centroid": Centroid,
    "multiplicative": Multiplicative,
    "redraw": Redraw,
    "shuffle": Shuffle,
}


def to_toml(plan: Plan) -> str:
    """The plan as text; a law of one's own is an object, which a file cannot hold."""
    for step in plan.steps:
        if isinstance(step.perturb, Bounded) and not isinstance(step.perturb.distribution, str):
            raise PlanError(
                f"The distribution {type(step.perturb.distribution).__name__} of {', '.join(step.columns)} has no name "
                "in a plan file. "
                "Keep the plan in Python, or use a law with a name."
            )
    import tomli_w

    head: dict[str, Any] = {"version": VERSION}
    if plan.recipe:
        head["recipe"] = plan.recipe
    if plan.target:
        head["target"] = plan.target
    steps = []
    for step in plan.steps:
        table: dict[str, Any] = {
            "columns": list(step.columns),
            "within": _plain(step.within, "split", PARTITIONS),
            "noise": _plain(step.perturb, "noise", PERTURBATIONS),
        }
        if step.keep:
            table["keep"] = [_plain(split, "split", PARTITIONS) for split in step.keep]
        steps.append(table)
    return tomli_w.dumps({**head, "step": steps})


def canonical(plan: Plan) -> bytes:
    """The plan as bytes that tell plans apart, for the derivation of draws.

    Frozen ids stand for splits, noises and their parameters, so that a renamed class or parameter, or another file
    format, changes no released value. A parameter that is None is left out, so that one can be added later.
    """
    steps = [
        [list(step.columns), _frozen(step.within), _frozen(step.perturb), [_frozen(split) for split in step.keep]]
        for step in plan.steps
    ]
    return json.dumps(steps, ensure_ascii=True, separators=(",", ":"), sort_keys=True, default=_frozen).encode()


def _frozen(value: Any) -> list[Any]:
    """An object by its frozen id, or else the name of its class, and its parameters by theirs."""
    known = {f.name: f.metadata.get("frozen_id", f.name) for f in fields(value)} if is_dataclass(value) else {}
    given = {known.get(name, name): content for name, content in getattr(value, "__dict__", {}).items()}
    return [
        getattr(type(value), "frozen_id", type(value).__qualname__),
        {name: _number(content) for name, content in given.items() if content is not None},
    ]


def _number(content: Any) -> Any:
    """A whole number as an integer, however it was written."""
    return int(content) if isinstance(content, float) and content.is_integer() else content


def _plain(value: object, word: str, known: Mapping[str, type[Any]]) -> dict[str, Any]:
    """A split or noise as a table: its name, and every parameter that is not the default."""
    for name, kind in known.items():
        if isinstance(value, kind):
            table: dict[str, Any] = {word: name}
            for f in fields(kind):
                content = getattr(value, f.name)
                if content is None or (f.default is not MISSING and content == f.default):
                    continue
                if type(content) in PARTITIONS.values():
                    content = _plain(content, "split", PARTITIONS)
                table[f.name] = list(content) if isinstance(content, tuple) else content
            return table
    raise PlanError(f"{type(value).__name__} has no name in a plan file. Use one of: {', '.join(known)}.")


def read_plan(path: Path) -> Plan:
    """The plan in a file."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise TableError(f"There is no plan file {str(path)!r}. Write one with: leafcover plan TABLE.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"The plan file {str(path)!r} cannot be read as text ({type(error).__name__}).") from None
    return from_toml(text)


def from_toml(text: str) -> Plan:
    """The plan a text describes; an unknown key is an error."""
    from leafcover.recipes import RECIPES

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"The plan is not TOML: {error}. Correct the file or write a new one.") from None
    _only(content, ("version", "recipe", "target", "step"), "the plan")
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise PlanError(f"The plan must say version = {VERSION}. Got {content.get('version')!r}.")
    tables = content.get("step", [])
    if not isinstance(tables, list):
        raise PlanError("A plan's steps are written as [[step]]. Got a single table.")
    steps = [_step(table, number) for number, table in enumerate(tables, 1)]
    for name in ("recipe", "target"):
        if not isinstance(content.get(name, ""), str):
            raise PlanError(f"The plan's {name} must be text. Got {content[name]!r}.")
    if (recipe := content.get("recipe", "")) and recipe not in RECIPES:
        raise NameUnknown("recipe", recipe, RECIPES, "; leave it out of a plan of your own")
    return Plan(*steps, recipe=content.get("recipe", ""), target=content.get("target", ""))


def _step(table: Any, number: int) -> Step:
    where = f"step {number}"
    _only(table, ("columns", "within", "noise", "keep"), where)
    columns = table.get("columns")
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise PlanError(f"{where}: columns must be a list of names. Got {columns!r}.")
    for needed in ("within", "noise"):
        if needed not in table:
            raise PlanError(f"{where} has no {needed}. Add it.")
    return Step(
        columns,
        within=_made(table["within"], "split", PARTITIONS, where),
        perturb=_made(table["noise"], "noise", PERTURBATIONS, where),
        keep=[_made(split, "split", PARTITIONS, where) for split in table.get("keep", [])],
    )


def _made(table: Any, word: str, known: Mapping[str, type[Any]], where: str) -> Any:
    """The split or noise a table describes, its types checked by pydantic."""
    if not isinstance(table, dict) or word not in table:
        raise PlanError(f"{where}: a table with {word} = ... is needed. Got {table!r}.")
    if table[word] not in known:
        raise NameUnknown(word, str(table[word]), known, f"in {where} of the plan")
    kind = known[table[word]]
    names = [f.name for f in fields(kind)]
    for f in fields(kind):
        if f.default is MISSING and f.name not in table:
            raise PlanError(f"{where}: {word} {table[word]!r} has no {f.name}. Add it.")
    given = {name: content for name, content in table.items() if name != word}
    _only(given, names, f"{word} {table[word]!r} of {where}")
    try:
        for name, content in given.items():
            hint = _hints(kind)[name]
            given[name] = _start(content, hint) if name == "start" else checked(name, hint, content)
        return kind(**given)
    except LeafcoverError as error:
        raise PlanError(f"{where}: {error}") from None


def _start(table: Any, hint: Any) -> Any:
    """The split inside whose cells another one works."""
    fitting = {name: kind for name, kind in PARTITIONS.items() if kind in get_args(hint)}
    if isinstance(table, dict) and table.get("split") in PARTITIONS and table["split"] not in fitting:
        raise PlanError(f"start can be one of {', '.join(fitting)}. Got {table['split']!r}.")
    return _made(table, "split", fitting, "start")


def _hints(kind: type[Any]) -> dict[str, Any]:
    from typing import get_type_hints

    hints = get_type_hints(kind)
    if kind is Bounded:  # a law of one's own is an object, which a file cannot hold
        from leafcover.perturb.bounded import DistributionName

        hints["distribution"] = DistributionName
    return hints


def _only(table: Any, known: Any, where: str) -> None:
    if not isinstance(table, dict):
        raise PlanError(f"{where} must be a table. Got {table!r}.")
    for name in table:
        if name not in known:
            raise NameUnknown("key", name, known, f"in {where}")


# Which columns a recipe may change.


def free_columns(table: Table, target: str | None = None) -> list[Column]:
    """Columns a recipe may change: not the target, not unchanged or unit columns, and not constant ones."""
    return [
        c
        for c in table
        if c.name != target and table.roles.get(c.name) not in ("unchanged", "unit", "identifier") and _varies(c)
    ]


def _varies(column: Column) -> bool:
    known = column.values[~column.missing]
    return len(known) > 0 and bool((known != known[0]).any())


def chosen_columns(
    table: Table, columns: str | None, recipe: str, kinds: tuple[str, ...], *, without: Sequence[str] = ()
) -> list[str]:
    """The columns that a text names ("a,b"), or all of some kinds that a recipe may change but weights.

    ``without`` names columns that have another task, and are meant only when they are named.
    """
    if columns is None:
        free = [c for c in free_columns(table) if table.roles.get(c.name) != "weight" and c.name not in without]
        found = [c.name for c in free if c.kind in kinds]
        if not found:
            raise PlanError(
                f"Recipe {recipe!r} changes numbers, and the table has none that vary. Choose another recipe."
            )
        return found
    names = [columns] if columns in table.names else [n.strip() for n in columns.split(",") if n.strip()]
    if not names:
        raise PlanError(f"Recipe {recipe!r} is given no column. Name them as columns=a,b, or leave the setting out.")
    for name in names:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, f"for recipe {recipe!r}")
        if table[name].kind not in kinds:
            raise PlanError(f"Recipe {recipe!r} cannot change column {name!r}, a {table[name].kind}. Leave it out.")
    return list(dict.fromkeys(names))


# The value of a parameter, held against the type that was declared for it.


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


# What a plan says of its target's trees.


def leaves_of(plan: Plan) -> list[Leaves | Forest]:
    """Every split of the plan that is, or starts with, the leaves of a tree or of many."""
    splits = [split for step in plan.steps for split in step.splits]
    starts = [split.start if isinstance(split, Refine) else split for split in splits]
    return [start for start in starts if isinstance(start, Leaves | Forest)]


def bins_of(plan: Plan) -> int | None:
    """Into how many classes the plan puts a number as target; None when it is none, or has classes of its own."""
    return next((leaves.bins for leaves in leaves_of(plan) if leaves.of == plan.target and leaves.bins), None)
