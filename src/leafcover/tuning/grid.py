"""What a sweep tries: recipes, each at several strengths."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

from leafcover.errors import LeafcoverError, NameUnknown, ValueOutOfRange
from leafcover.metrics.pair import sample_rows
from leafcover.recipes import RECIPES, Recipe, plan_for
from leafcover.table.table import Table

Value: TypeAlias = int | float | str | bool | None
Values: TypeAlias = tuple[tuple[str, Value], ...]  # of parameters, by name

GROUPS = ("k", "min_cell")  # parameters that say how many rows stand together at least
FEW = 2_000  # rows on which settings are checked before the work begins

# One parameter of each recipe says how strong it is; a recipe without a grid is tried at its defaults.
GRIDS: Mapping[str, tuple[str, tuple[Value, ...]]] = MappingProxyType(
    {
        "cover": ("k", (5, 10, 20, 40, 80)),
        "framework": ("spread", (0.05, 0.1, 0.276, 0.5)),
        "framework-paper": ("spread", (0.05, 0.1, 0.276, 0.5)),
        "forest": ("min_cell", (5, 20, 50)),
        "detective": ("siblings", (0.1, 0.2, 0.4, 0.8)),
        "random": ("spread", (0.05, 0.1, 0.276, 0.5)),
        "perturbation-tree": ("k", (3, 5, 10, 20)),
        "microaggregate": ("k", (3, 5, 10, 20)),
        "microaggregate-univariate": ("k", (3, 5, 10, 20)),
        "additive": ("spread", (0.1, 0.25, 0.5, 1.0)),
        "multiplicative": ("spread", (0.05, 0.1, 0.2, 0.4)),
    }
)


@dataclass(frozen=True)
class Candidate:
    """One recipe at one strength.

    >>> Candidate("cover", (("k", 20),), (("bins", 4),)).name
    'cover k=20'
    """

    recipe: str
    strength: Values  # what differs between the candidates of a recipe
    fixed: Values = ()  # what is the same for all of them

    @property
    def name(self) -> str:
        """The recipe and its strength."""
        return " ".join((self.recipe, *(f"{name}={value_text(value)}" for name, value in self.strength)))

    @property
    def settings(self) -> dict[str, Value]:
        """What the recipe is given."""
        return dict((*self.strength, *self.fixed))


@dataclass(frozen=True)
class LeftOut:
    """A candidate, or a recipe, that this table does not allow, and why."""

    name: str
    why: str


def candidates(
    table: Table,
    *,
    target: str,
    recipes: Sequence[str] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[tuple[Candidate, ...], tuple[LeftOut, ...]]:
    """Every recipe (or those named) at every strength of its grid, and the recipes that cannot run.

    A grid is given as ``{"k": [5, 20]}``, for every recipe with such a parameter, or as ``{"framework:spread": [0.1]}``
    for one; several parameters make every combination. ``settings`` are parameters that stay the same. What was asked
    for by name and cannot be done is an error.
    """
    chosen = [RECIPES.named(name) for name in dict.fromkeys(RECIPES if recipes is None else recipes)]
    if not chosen:
        raise ValueOutOfRange("recipes", "", f"at least one of {', '.join(RECIPES)}")
    for name in (*(grid or ()), *(settings or ())):
        _check_parameter(name, chosen)
    some = table.take(sample_rows(len(table), FEW))
    found: list[Candidate] = []
    left: list[LeftOut] = []
    for recipe in chosen:
        asked = recipes is not None or any(_fits(name, recipe) for name in (*(grid or ()), *(settings or ())))
        try:
            found += _of_recipe(recipe, some, table, target, grid or {}, settings or {})
        except LeafcoverError as error:
            if asked:
                raise
            left.append(LeftOut(recipe.name, str(error)))
    return tuple(dict.fromkeys(found)), tuple(left)


def possible(
    found: Sequence[Candidate], *, rows: int, of: int, table: int
) -> tuple[tuple[Candidate, ...], tuple[LeftOut, ...]]:
    """The candidates whose groups a release of so many rows can hold, and those that ask for larger ones.

    The rows are released from a sample ``of`` so many, the table has more or as many.
    """
    left = []
    for candidate in found:
        asked = [(name, value) for name, value in candidate.settings.items() if name in GROUPS and _above(value, rows)]
        if asked:
            name, value = asked[0]
            more = " Raise --rows." if of < table else ""
            why = f"{name} = {value:,} cannot be reached: a trial releases {rows:,} of {of:,} rows.{more}"
            left.append((candidate, LeftOut(candidate.name, why)))
    strong = dict(left)
    return tuple(one for one in found if one not in strong), tuple(strong.values())


def grid_of(texts: Sequence[str]) -> dict[str, list[str]]:
    """A grid as the command line gives it.

    >>> grid_of(["k=5,20", "framework:spread=0.1"])
    {'k': ['5', '20'], 'framework:spread': ['0.1']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        name, sign, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not sign or not name.strip() or not listed:
            raise ValueOutOfRange("--grid", text, "NAME=VALUE,VALUE such as --grid k=5,20,100")
        if name.strip() in found:
            raise ValueOutOfRange(f"--grid {name.strip()}", text, "given once, with all its values")
        found[name.strip()] = listed
    return found


def _of_recipe(
    recipe: Recipe,
    some: Table,
    table: Table,
    target: str,
    grid: Mapping[str, Sequence[Any]],
    settings: Mapping[str, Any],
) -> Iterator[Candidate]:
    axes = {_own(name): values for name, values in _specific_last(grid) if _fits(name, recipe)}
    if not axes and recipe.name in GRIDS:
        parameter, values = GRIDS[recipe.name]
        axes = {parameter: values}
    fixed = {_own(name): value for name, value in _specific_last(settings) if _fits(name, recipe)}
    axes |= {name: [fixed.pop(name)] for name in axes if name in fixed}
    for name, listed in axes.items():
        _check_listed(name, listed)
    for values in product(*axes.values()):
        given = {**dict(zip(axes, values, strict=True)), **fixed}
        known = _as_read(recipe, some, table, target, given)
        yield Candidate(
            recipe.name, tuple((name, known[name]) for name in axes), tuple((name, known[name]) for name in fixed)
        )


def _check_listed(name: str, values: Any) -> None:
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise ValueOutOfRange(f"The grid of {name}", values, "a list of at least one value")


def _as_read(recipe: Recipe, some: Table, table: Table, target: str, given: Mapping[str, Any]) -> dict[str, Value]:
    """Settings as the recipe understands them: it writes a plan for some of the rows, for all when some do not do."""
    try:
        plan = plan_for(some, recipe.name, target=target, settings=given)
    except LeafcoverError:
        plan = plan_for(table, recipe.name, target=target, settings=given)
    read = plan.settings or {}
    return {name: read.get(name, recipe.parameters[name].default) for name in given}


def _check_parameter(name: str, chosen: Sequence[Recipe]) -> None:
    recipe, colon, _ = name.rpartition(":")
    if colon and recipe not in [one.name for one in chosen]:
        raise NameUnknown("recipe", recipe, [one.name for one in chosen], "in this sweep")
    if not any(_fits(name, one) for one in chosen):
        asked = [one for one in chosen if not colon or one.name == recipe]
        known = dict.fromkeys(parameter for one in asked for parameter in one.parameters)
        raise NameUnknown("parameter", _own(name), known, f"of {' or '.join(one.name for one in asked)}")


def _fits(name: str, recipe: Recipe) -> bool:
    wanted, colon, parameter = name.rpartition(":")
    return parameter in recipe.parameters and (not colon or wanted == recipe.name)


def _above(value: Value, rows: int) -> bool:
    return isinstance(value, int) and value > rows


def _own(name: str) -> str:
    """The parameter's name without its recipe."""
    return name.rpartition(":")[2]


def _specific_last(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What is said of one recipe replaces what is said of all."""
    return sorted(given.items(), key=lambda item: ":" in item[0])


def value_text(value: Value) -> str:
    """A setting as short as it reads."""
    return f"{value:g}" if isinstance(value, float) else str(value)
