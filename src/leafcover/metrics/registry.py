"""Measures by name: those built in, those that plugins bring, and what each of them may use."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from leafcover.arrays import Rows
from leafcover.metrics.disclosure.informed_inference import Test
from leafcover.metrics.disclosure.record_linkage import Evidence
from leafcover.metrics.pair import Pair
from leafcover.registry import Registry, blamed

Side: TypeAlias = Literal["utility", "risk"]
Need: TypeAlias = Literal["target", "control", "weight", "pairs", "plan"]

ATTACKS_WITH_CONTROL = (
    "attribute_inference",
    "attribution",
    "copies",
    "informed_inference",
    "linkability",
    "membership_inference",
    "nearest_record",
    "singling_out",
)
LEARNED = 24_000  # rows that models learn from, over all repeated releases,
PREDICTED = 12_000  # and held-out rows that they predict


@dataclass(frozen=True)
class Facts:
    """What the plan alone discloses, handed in by the engine."""

    fixed: Mapping[str, float] = field(default_factory=dict)
    widths: Mapping[str, float] = field(default_factory=dict)
    single_cells: float | None = None
    pure_cells: float | None = None
    # of averaged columns: names, the group of each row, whether by means
    groups: Sequence[tuple[tuple[str, ...], Rows, bool]] = ()
    descends: bool = True  # whether a released row comes from one original row


@dataclass(frozen=True, eq=False)
class Context:
    """What a measure may use: the pair, repetitions with a control, and what is known of the plan.

    ``tests`` are pairs whose control rows had no part in the release: the pair itself if it has a control, or
    repetitions of the plan on other rows. Attacks that need a control use the first of them.
    """

    pair: Pair
    tests: Sequence[Pair] = ()
    evidence: Evidence | None = None
    facts: Facts = field(default_factory=Facts)
    bins: int | None = None
    attackers: Callable[[], Sequence[Test]] = tuple  # models of attackers who know the method, one for each test
    tell: Callable[[str, float], None] = lambda text, share: None
    repeated: Mapping[str, Callable[[], Any]] = field(default_factory=dict)  # measures that repeat the release
    results: dict[str, Any] = field(default_factory=dict)  # of the measures that were taken

    @property
    def attacked(self) -> Pair:
        """The pair that attacks with a control work on."""
        return self.tests[0] if self.tests else self.pair

    @property
    def learned(self) -> int:
        """How many rows models learn from: repeated releases share the budget of one."""
        return LEARNED // max(len(self.tests), 1)

    @property
    def predicted(self) -> int:
        """How many held-out rows they predict."""
        return PREDICTED // max(len(self.tests), 1)

    def has(self, need: Need) -> bool:
        """Whether something a measure needs is there."""
        return {
            "target": bool(self.pair.target),
            "control": bool(self.tests),
            "weight": bool(self.pair.weight),
            "pairs": self.pair.paired,
            "plan": self.evidence is not None,
        }[need]

    def result(self, name: str) -> Any:
        """What a measure found, taken once; None where it needs something that is not there."""
        if name not in self.results:
            one = MEASURES.named(name)
            self.tell(one.progress, len(self.results) / len(MEASURES))
            given = self.for_attacks if one.side == "risk" else self
            self.results[name] = one.take(given) if all(given.has(need) for need in one.needs) else None
        return self.results[name]

    @property
    def for_attacks(self) -> "Context":
        """The same with the pairs that attacks work on."""
        return replace(self, pair=self.pair.for_attacks, tests=[test.for_attacks for test in self.tests])


@dataclass(frozen=True)
class Measure:
    """A measure by name; ``place`` is its field of `Utility` or `Risks`, empty for one that a plugin brings."""

    name: str
    side: Side
    take: Callable[[Context], Any]
    needs: tuple[Need, ...] = ()
    place: str = ""
    description: str = ""
    by_name: bool = False  # taken only if it is asked for by name, because it repeats the release many times

    @property
    def uses_control(self) -> bool:
        """Whether it is worth repeating the release without some rows for it."""
        return "control" in self.needs or self.name in ATTACKS_WITH_CONTROL

    @property
    def progress(self) -> str:
        """What is shown while it is taken."""
        return self.description or self.name.replace("_", " ")


@dataclass(frozen=True)
class ExtraMeasure:
    """What a measure of a plugin found."""

    name: str
    side: Side
    description: str
    value: float


MEASURES: Registry[Measure] = Registry("measure", "leafcover.metrics.suite")


def measure(
    name: str, *, side: Side, description: str = "", needs: Sequence[Need] = ()
) -> Callable[[Callable[[Pair], float]], Callable[[Pair], float]]:
    """Register a function of a pair of tables as a measure.

    Parameters
    ----------
    name : str
        What ``only=`` and the figures call it.
    side : "utility" or "risk"
        Which of the two it measures.
    description : str
        One line for summaries and reports.
    needs : sequence of "target", "control", "weight" or "pairs"
        What must be there; without it the measure is left out.

    Examples
    --------
    >>> @measure("rows", side="utility", description="How many rows the release has")  # doctest: +SKIP
    ... def rows(pair):
    ...     return len(pair.released)
    """

    def register(take: Callable[[Pair], float]) -> Callable[[Pair], float]:
        guarded = blamed(lambda pair: float(take(pair)), f"{take.__name__}, the measure {name!r},")

        def wrapped(context: Context) -> float:
            return guarded(context.attacked if "control" in needs else context.pair)

        MEASURES.register(name, Measure(name, side, wrapped, tuple(needs), description=description))
        return take

    return register
