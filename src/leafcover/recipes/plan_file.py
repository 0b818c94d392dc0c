"""Plan files in TOML: every key is checked on reading, and a written plan reads back as the same plan.

Partitions that several steps share are written once, under a name that the steps refer to:

    version = 1
    target = "income"

    [partition.cells]
    method = "leaves"
    of = "income"

    [[step]]
    columns = ["age", "hours"]
    within = "cells"
    perturb = { method = "bounded", spread = 0.2 }
"""

import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from leafcover.errors import LeafcoverError, NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.partition.base import PARTITIONS, PartitionMethod, is_partition
from leafcover.perturb.base import PERTURBATIONS
from leafcover.recipes.plan import Plan, Step
from leafcover.recipes.registry import RECIPES
from leafcover.recode.base import RECODINGS, Recoding
from leafcover.registry import Registry, checked, checks_arguments
from leafcover.table.column_rules import ColumnRule
from leafcover.table.recoding import Pooled
from leafcover.table.rule_text import parse_rule
from leafcover.table.unit_layout import UnitLayout
from leafcover.table.weights import ReleasedWeights

VERSION = 1
WHAT_IT_IS = "A plan is a text file that says how each column changes; make one: leafcover plan TABLE > plan.toml"
KEYS = (
    "version", "recipe", "target", "share", "unit", "recode", "pool", "weights", "keep", "rule", "partition", "step",
)  # fmt: skip


@checks_arguments()
def plan_text(plan: Plan) -> str:
    """The plan as TOML.

    Parameters
    ----------
    plan : Plan
        Any plan whose parameters a file can hold; a distribution that is an object of your own has no name there.

    Returns
    -------
    str
        The text that `read_plan` reads from a file.

    Examples
    --------
    >>> import leafcover as lc
    >>> step = lc.Step("age", within=lc.Whole(), perturb=lc.Additive(spread=0.2))
    >>> plan = lc.Plan(step)
    >>> print(lc.plan_text(plan), end="")
    version = 1
    <BLANKLINE>
    [[step]]
    columns = ["age"]
    within = { method = "whole" }
    perturb = { method = "additive", spread = 0.2 }
    >>> lc.parse_plan(lc.plan_text(plan)) == plan
    True
    """
    uses = Counter(one for step in plan.steps for one in step.partitions)
    shared: dict[PartitionMethod, str] = {}
    taken: Counter[str] = Counter()
    for one, count in uses.items():
        if count > 1:
            method = str(_table(one, PARTITIONS)["method"])
            taken[method] += 1
            shared[one] = method if taken[method] == 1 else f"{method}-{taken[method]}"
    lines = [f"version = {VERSION}"]
    lines += [
        f"{name} = {toml_value(text)}" for name, text in (("recipe", plan.recipe), ("target", plan.target)) if text
    ]
    lines += [f"share = {plan.share}"] if plan.share > 1 else []
    if plan.units is not None:
        lines += ["", "[unit]"]
        lines += [f"{key} = {toml_value(content)}" for key, content in _unit_table(plan.units).items()]
    for recoding in plan.recode:
        lines += ["", *_recoding_lines(recoding)]
    for pool in plan.pools:
        lines += ["", "[[pool]]", f"column = {toml_value(pool.column)}", f"levels = {toml_value(list(pool.levels))}"]
        lines += [f"into = {toml_value(pool.into)}"]
    if plan.weights is not None:
        lines += ["", "[weights]", f"columns = {toml_value(list(plan.weights.columns))}"]
        lines += [f"leave = {toml_value(plan.weights.leave)}"]
    for names in plan.keep_tables:
        lines += ["", "[[keep]]", f"columns = {toml_value(list(names))}"]
    for rule in plan.all_rules:
        lines += ["", "[[rule]]", f"hold = {toml_value(rule.text)}"]
        lines += ["found = true"] if rule in plan.found_rules else []
    for within, name in shared.items():
        lines += ["", f"[partition.{name}]"]
        lines += [f"{key} = {toml_value(content)}" for key, content in _table(within, PARTITIONS).items()]
    for step in plan.steps:
        kept = [shared.get(one) or _table(one, PARTITIONS) for one in step.keep]
        lines += ["", "[[step]]", f"columns = {toml_value(list(step.columns))}"]
        lines += [f"within = {toml_value(shared.get(step.within) or _table(step.within, PARTITIONS))}"]
        lines += [f"perturb = {toml_value(_table(step.perturb, PERTURBATIONS))}"]
        lines += [f"keep = {toml_value(kept)}"] if kept else []
    return "\n".join(lines) + "\n"


def _recoding_lines(one: Recoding) -> list[str]:
    """A recoding as a TOML table; a parameter that maps names has a table of its own, at the end."""
    table = _table(one, RECODINGS)
    inner = {key: content for key, content in table.items() if isinstance(content, dict)}
    lines = ["[[recode]]", *(f"{key} = {toml_value(content)}" for key, content in table.items() if key not in inner)]
    for key, content in inner.items():
        lines += [
            "",
            f"[recode.{key}]",
            *(f"{toml_value(name)} = {toml_value(mapped)}" for name, mapped in content.items()),
        ]
    return lines


def _unit_table(units: UnitLayout) -> dict[str, Any]:
    """A layout as a TOML table; what it does not have is left out."""
    found = {one.name: getattr(units, one.name) for one in fields(units)}
    listed = {name: list(content) if isinstance(content, tuple) else content for name, content in found.items()}
    return {"column": listed.pop("unit"), **{name: content for name, content in listed.items() if content}}


def _table(method: object, known: Registry[Any]) -> dict[str, Any]:
    """A method as a TOML table: its name, and every parameter that differs from its default."""
    name = known.name_of(type(method))
    if name is None:
        raise PlanError(f"{type(method).__name__} has no name in a plan file. Register it, or use: {', '.join(known)}.")
    table: dict[str, Any] = {"method": name}
    for one in fields(type(method)):  # type: ignore[arg-type]  # every method is a dataclass
        content = getattr(method, one.name)
        if content is None or (one.default is not MISSING and content == one.default):
            continue
        if is_partition(content):
            content = _table(content, PARTITIONS)
        elif one.metadata.get("maps"):  # pairs of a name and what it maps to
            content = {name: list(mapped) if isinstance(mapped, tuple) else mapped for name, mapped in content}
        elif not isinstance(content, str | int | float | tuple | list):
            raise PlanError(
                f"{one.name} of {name} is a {type(content).__name__}, which has no name in a plan file. "
                "Keep the plan in Python, or use a value with a name."
            )
        table[one.name] = list(content) if isinstance(content, tuple) else content
    return table


def toml_value(value: Any) -> str:
    """A value on one line. TOML and JSON write text, numbers and lists the same way except for one character."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(content)}" for key, content in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(content) for content in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


@checks_arguments()
def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan file.

    Parameters
    ----------
    path : str or path-like
        A TOML file, as `plan_text` or ``leafcover plan`` writes it.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import leafcover as lc
    >>> step = lc.Step("age", within=lc.Leaves(of="union"), perturb=lc.Shuffle())
    >>> plan = lc.Plan(step)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory) / "plan.toml"
    ...     _ = path.write_text(lc.plan_text(plan))
    ...     lc.read_plan(path) == plan
    True
    """
    try:
        text = Path(path).read_text("utf-8")
    except FileNotFoundError:
        raise TableError(f"There is no plan file {str(path)!r}. {WHAT_IT_IS}") from None
    except (OSError, ValueError):
        raise TableError(f"{str(path)!r} is no plan: it is not a text file. {WHAT_IT_IS}") from None
    try:
        return parse_plan(text)
    except LeafcoverError as error:
        if re.search(r"(?m)^\s*(\[\[(step|recode)\]\]|version\s*=)", text):
            raise PlanError(f"In the plan {str(path)!r}: {error}") from None
        why = "it is not valid TOML" if "TOML" in str(error) else "it has no version and no step"
        raise PlanError(f"{str(path)!r} is no plan: {why}. {WHAT_IT_IS}") from None


@checks_arguments()
def parse_plan(text: str) -> Plan:
    """Parse a plan.

    Parameters
    ----------
    text : str
        The content of a plan file in TOML. An unknown key is an error.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> lines = ["version = 1", "[[step]]", 'columns = ["age"]']
    >>> lines += ['within = { method = "whole" }', 'perturb = { method = "shuffle" }']
    >>> lc.parse_plan("\\n".join(lines)).columns
    ('age',)
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"The plan is not valid TOML: {error}. Correct the file or write a new one.") from None
    _only(content, KEYS, "the plan")
    if type(content.get("version")) is not int or content["version"] != VERSION:
        raise PlanError(f"The plan must say version = {VERSION}. Got {content.get('version')!r}.")
    for name in ("recipe", "target"):
        if not isinstance(content.get(name, ""), str):
            raise PlanError(f"The plan's {name} must be text. Got {content[name]!r}.")
    if (recipe := content.get("recipe", "")) and recipe not in RECIPES:
        raise NameUnknown("recipe", recipe, RECIPES, "; leave it out of a plan of your own")
    tables = content.get("step", [])
    if not isinstance(tables, list):
        raise PlanError("A plan's steps are written as [[step]]. Got a single table.")
    shared = _shared(content.get("partition", {}))
    steps = [_step(table, shared, f"step {number}") for number, table in enumerate(tables, 1)]
    declared, found = _rules(content.get("rule", []))
    units = _units(content["unit"]) if "unit" in content else None
    pools = _pools(content.get("pool", []))
    return Plan(
        *steps,
        recipe=recipe,
        target=content.get("target", ""),
        rules=declared,
        found_rules=found,
        units=units,
        pools=pools,
        share=content.get("share", 1),
        weights=_weights(content["weights"]) if "weights" in content else None,
        keep_tables=_keep_tables(content.get("keep", [])),
        recode=_recodings(content.get("recode", [])),
    )


def _recodings(tables: Any) -> list[Recoding]:
    """How values become coarser before the steps."""
    if not isinstance(tables, list):
        raise PlanError("A plan's recodings are written as [[recode]]. Got a single table.")
    return [_method(table, RECODINGS, f"recoding {number}") for number, table in enumerate(tables, 1)]


def _weights(table: Any) -> ReleasedWeights:
    """How weights leave."""
    hints = get_type_hints(ReleasedWeights)
    _only(table, hints, "the weights")
    if "columns" not in table:
        raise PlanError("The weights have no columns. Add them.")
    return ReleasedWeights(
        **{key: checked(f"{key} of the weights", hints[key], content) for key, content in table.items()}
    )


def _keep_tables(tables: Any) -> list[tuple[str, ...]]:
    """The columns of each table to keep."""
    if not isinstance(tables, list):
        raise PlanError("The tables to keep are written as [[keep]]. Got a single table.")
    for number, table in enumerate(tables, 1):
        _only(table, ("columns",), f"keep {number}")
        if "columns" not in table:
            raise PlanError(f"Keep {number} has no columns. Add them.")
    hint = tuple[str, ...]
    return [checked(f"columns of keep {number}", hint, table["columns"]) for number, table in enumerate(tables, 1)]


def _pools(tables: Any) -> list[Pooled]:
    """The levels that become one level."""
    if not isinstance(tables, list):
        raise PlanError("A plan's pools are written as [[pool]]. Got a single table.")
    found = []
    for number, table in enumerate(tables, 1):
        _only(table, hints := get_type_hints(Pooled), f"pool {number}")
        for needed in ("column", "levels"):
            if needed not in table:
                raise PlanError(f"Pool {number} has no {needed}. Add it.")
        given = {key: checked(f"{key} of pool {number}", hints[key], content) for key, content in table.items()}
        found.append(Pooled(**given))
    return found


def _units(table: Any) -> UnitLayout:
    """How the rows of each unit become one row."""
    hints = get_type_hints(UnitLayout)
    _only(table, {"column": str, **hints}, "the unit")
    for needed in ("column", "lengths"):
        if needed not in table:
            raise PlanError(f"The unit has no {needed}. Add it.")
    given = {"unit" if key == "column" else key: content for key, content in table.items()}
    return UnitLayout(**{key: checked(f"{key} of the unit", hints[key], content) for key, content in given.items()})


def _rules(tables: Any) -> tuple[list[ColumnRule], list[ColumnRule]]:
    """The rules that are declared, and those that were found."""
    if not isinstance(tables, list):
        raise PlanError("A plan's rules are written as [[rule]]. Got a single table.")
    rules: tuple[list[ColumnRule], list[ColumnRule]] = ([], [])
    for number, table in enumerate(tables, 1):
        _only(table, ("hold", "found"), f"rule {number}")
        if not isinstance(table.get("hold"), str):
            raise PlanError(f"Rule {number} must say hold = a text. Got {table.get('hold')!r}.")
        if not isinstance(table.get("found", False), bool):
            raise PlanError(f"Rule {number} may say found = true or false. Got {table['found']!r}.")
        rules[table.get("found", False)].append(parse_rule(table["hold"]))
    return rules


def _shared(tables: Any) -> dict[str, PartitionMethod]:
    if not isinstance(tables, dict):
        raise PlanError(f"Shared partitions are written as [partition.NAME]. Got {tables!r}.")
    return {name: _method(table, PARTITIONS, f"partition {name!r}") for name, table in tables.items()}


def _step(table: Any, shared: Mapping[str, PartitionMethod], where: str) -> Step:
    _only(table, ("columns", "within", "perturb", "keep"), where)
    columns = table.get("columns")
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
        raise PlanError(f"{where}: columns must be a list of names. Got {columns!r}.")
    for needed in ("within", "perturb"):
        if needed not in table:
            raise PlanError(f"{where} has no {needed}. Add it.")
    keep = table.get("keep", [])
    return Step(
        columns,
        within=_partition(table["within"], shared, where),
        perturb=_method(table["perturb"], PERTURBATIONS, where),
        keep=[_partition(one, shared, where) for one in (keep if isinstance(keep, list) else [keep])],
    )


def _partition(given: Any, shared: Mapping[str, PartitionMethod], where: str) -> PartitionMethod:
    """A partition written in place, or a shared one by its name."""
    if isinstance(given, str):
        if given not in shared:
            raise NameUnknown("shared partition", given, shared, f"in {where} of the plan")
        return shared[given]
    found: PartitionMethod = _method(given, PARTITIONS, where)
    return found


def _method(table: Any, known: Mapping[str, type[Any]], where: str) -> Any:
    """The partition or perturbation that a TOML table describes; pydantic checks the types."""
    what = known.what if isinstance(known, Registry) else "partition"
    if not isinstance(table, dict) or "method" not in table:
        raise PlanError(f"{where}: a table with method = ... is needed. Got {table!r}.")
    name = table["method"]
    if name not in known:
        raise NameUnknown(what, str(name), known, f"in {where} of the plan")
    kind = known[name]
    parameters = {one.name: one for one in fields(kind)}
    for one in parameters.values():
        if one.default is MISSING and one.name not in table:
            raise PlanError(f"{where}: {what} {name!r} has no {one.name}. Add it.")
    given = {key: content for key, content in table.items() if key != "method"}
    _only(given, parameters, f"{what} {name!r} of {where}")
    hints = get_type_hints(kind)
    try:
        for key, content in given.items():
            hint = parameters[key].metadata.get("plan_type", hints[key])
            given[key] = _nested(content, hint, key) if _takes_partition(hint) else checked(key, hint, content)
        return kind(**given)
    except ValueOutOfRange as error:
        raise PlanError(str(error.called(f"{where}: {error.parameter}"))) from None
    except LeafcoverError as error:
        raise PlanError(f"{where}: {error}") from None


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _takes_partition(hint: Any) -> bool:
    return any(isinstance(one, type) and issubclass(one, PartitionMethod) for one in _alternatives(hint))


def _nested(table: Any, hint: Any, key: str) -> PartitionMethod:
    """A partition inside whose cells another partition is formed."""
    kinds = tuple(one for one in _alternatives(hint) if isinstance(one, type))
    fitting = {name: kind for name, kind in PARTITIONS.items() if issubclass(kind, kinds)}
    if isinstance(table, dict) and table.get("method") in PARTITIONS and table["method"] not in fitting:
        raise PlanError(f"{key} can be one of {', '.join(fitting)}. Got {table['method']!r}.")
    found: PartitionMethod = _method(table, fitting, key)
    return found


def _only(table: Any, known: Any, where: str) -> None:
    if not isinstance(table, dict):
        raise PlanError(f"{where} must be a table. Got {table!r}.")
    for name in table:
        if name not in known:
            raise NameUnknown("parameter", name, known, f"in {where}")
