"""Plans as TOML: read with every key checked, written so that reading gives the same plan back."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args

from leafcover.errors import LeafcoverError, NameUnknown, PlanError, TableError
from leafcover.noise.additive import Additive
from leafcover.noise.bounded import Bounded
from leafcover.noise.centroid import Centroid
from leafcover.noise.multiplicative import Multiplicative
from leafcover.noise.redraw import Redraw
from leafcover.noise.shuffle import Shuffle
from leafcover.releasing.plan import Plan, Step
from leafcover.releasing.settings import checked
from leafcover.split.forest import Forest
from leafcover.split.groups import InOrder, Mdav, VariableMdav
from leafcover.split.halves import Halves
from leafcover.split.kd import Kd
from leafcover.split.kmeans import KMeans
from leafcover.split.refine import Refine
from leafcover.split.strata import Strata
from leafcover.split.trees import Leaves, Whole

VERSION = 1

SPLITS: dict[str, type[Any]] = {
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
NOISES: dict[str, type[Any]] = {
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
        if isinstance(step.noise, Bounded) and not isinstance(step.noise.law, str):
            raise PlanError(
                f"The law {type(step.noise.law).__name__} of {', '.join(step.columns)} has no name in a plan file. "
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
            "within": _plain(step.within, "split", SPLITS),
            "noise": _plain(step.noise, "noise", NOISES),
        }
        if step.keep:
            table["keep"] = [_plain(split, "split", SPLITS) for split in step.keep]
        steps.append(table)
    return tomli_w.dumps({**head, "step": steps})


def canonical(plan: Plan) -> bytes:
    """The plan as bytes that tell plans apart, for the derivation of draws.

    Frozen ids stand for splits, noises and their parameters, so that a renamed class or parameter, or another file
    format, changes no released value. A parameter that is None is left out, so that one can be added later.
    """
    steps = [
        [list(step.columns), _frozen(step.within), _frozen(step.noise), [_frozen(split) for split in step.keep]]
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
                if type(content) in SPLITS.values():
                    content = _plain(content, "split", SPLITS)
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
    from leafcover.releasing.recipes import RECIPES

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
        within=_made(table["within"], "split", SPLITS, where),
        noise=_made(table["noise"], "noise", NOISES, where),
        keep=[_made(split, "split", SPLITS, where) for split in table.get("keep", [])],
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
    fitting = {name: kind for name, kind in SPLITS.items() if kind in get_args(hint)}
    if isinstance(table, dict) and table.get("split") in SPLITS and table["split"] not in fitting:
        raise PlanError(f"start can be one of {', '.join(fitting)}. Got {table['split']!r}.")
    return _made(table, "split", fitting, "start")


def _hints(kind: type[Any]) -> dict[str, Any]:
    from typing import get_type_hints

    hints = get_type_hints(kind)
    if kind is Bounded:  # a law of one's own is an object, which a file cannot hold
        from leafcover.noise.law import LawName

        hints["law"] = LawName
    return hints


def _only(table: Any, known: Any, where: str) -> None:
    if not isinstance(table, dict):
        raise PlanError(f"{where} must be a table. Got {table!r}.")
    for name in table:
        if name not in known:
            raise NameUnknown("key", name, known, f"in {where}")
