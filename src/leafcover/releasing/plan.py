"""Steps and plans: plain data, checked when written and again against the table.

A step takes some columns, says which rows stand together, and changes values only within each group. A plan is a
list of steps that all read the original table; each column is written once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any, get_type_hints

from leafcover.errors import NameUnknown, PlanError
from leafcover.noise.additive import Additive
from leafcover.noise.bounded import Bounded
from leafcover.noise.centroid import Centroid
from leafcover.noise.multiplicative import Multiplicative
from leafcover.noise.part import Noise
from leafcover.noise.redraw import Redraw
from leafcover.releasing.settings import checked
from leafcover.split.partition import Split
from leafcover.table.table import Table

UNCHECKED = ("target", "made")  # what a recipe looks at itself


@dataclass(frozen=True)
class Step:
    """Change ``columns`` within the cells of ``within`` by ``noise``, inside the boxes of ``keep`` as well.

    ``keep`` names further trees whose leaves the rows must not leave: a category redrawn within the leaves of its own
    tree can be kept inside the leaves of the target's tree.
    """

    columns: tuple[str, ...]
    within: Split
    noise: Noise
    keep: tuple[Split, ...] = ()

    def __init__(self, columns: str | Sequence[str], within: Split, noise: Noise, keep: Sequence[Split] = ()) -> None:
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        if not names:
            raise PlanError("A step names no column. Give it at least one.")
        if len(set(names)) < len(names):
            raise PlanError(f"A step names a column twice: {', '.join(names)}. Name each once.")
        object.__setattr__(self, "columns", names)
        object.__setattr__(self, "within", within)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "keep", tuple(keep))

    @property
    def splits(self) -> tuple[Split, ...]:
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
        if step.keep and isinstance(step.noise, Additive | Centroid | Multiplicative):
            raise PlanError(
                f"Step {number} is to keep the leaves of another tree, which {type(step.noise).__name__} does not "
                "know. Leave out keep, or use Bounded or Redraw."
            )
        for name in step.columns:
            if isinstance(step.noise, Additive | Bounded | Multiplicative) and table[name].is_category:
                raise PlanError(
                    f"Step {number} moves column {name!r} by {type(step.noise).__name__}, but it is a category. "
                    "Use Redraw or Shuffle."
                )
            if isinstance(step.noise, Multiplicative) and table[name].kind != "number":
                raise PlanError(
                    f"Step {number} multiplies column {name!r}, but a {table[name].kind} has no zero. "
                    "Use Additive or Bounded."
                )
            if isinstance(step.noise, Redraw) and not table[name].is_category:
                raise PlanError(
                    f"Step {number} redraws column {name!r}, but it is a {table[name].kind}. "
                    "Use Bounded or Shuffle, or declare it with --category."
                )
        for name in step.columns:
            if table.roles.get(name) == "unchanged":
                raise PlanError(f"Step {number} changes column {name!r}, which is to stay unchanged. Drop one of both.")
