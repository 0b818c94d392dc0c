"""The page of the audit, from the summary of each table."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.audit.measuring import FLOORS, KNOWN, MIN_LEAF
from benchmarks.audit.tables import ADULT, ROOT, SMALL, TABLES

PAGE = ROOT / "docs" / "results" / "audit.md"
Summary = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A figure with its limits; a limit of None is not set."""

    figure: str
    value: list[float | None]  # with its standard error
    must: float | None = None
    aim: float | None = None
    at_least: bool = False
    digits: int = 3
    note: str = ""
    relative: str = ""  # what the limits are relative to, in words

    @property
    def verdict(self) -> str:
        """Whether the mean meets the limits."""
        value = self.value[0]
        if value is None or self.must is None:
            return ""
        if self._meets(value, self.must):
            return "aim" if self.aim is not None and self._meets(value, self.aim) else "yes"
        return f"**no**, by {abs(value - self.must):.{self.digits}f}"

    def _meets(self, value: float, limit: float) -> bool:
        value, limit = round(value, self.digits), round(limit, self.digits)
        return value >= limit if self.at_least else value <= limit

    def cells(self) -> str:
        sign = "≥" if self.at_least else "≤"
        limits = [
            ""
            if one is None
            else f"{sign} {self.relative}{one:+.{self.digits}f}"
            if self.relative
            else f"{sign} {one:g}"
            for one in (self.must, self.aim)
        ]
        measured = f"{number(self.value, self.digits)}{f' ({self.note})' if self.note else ''}"
        return f"| {self.figure} | {limits[0]} | {limits[1]} | {measured} | {self.verdict} |"


def number(value: list[float | None], digits: int = 3) -> str:
    """A mean with its standard error."""
    if value[0] is None:
        return "-"
    error = "" if value[1] is None else f" ± {value[1]:.{digits}f}"
    return f"{value[0]:.{digits}f}{error}"


def page(found: dict[str, Summary]) -> str:
    """The whole page."""
    parts = [HEAD.format(leaf=MIN_LEAF, floors=FLOORS)]
    if (adult := found.get(ADULT.name)) is not None:
        parts += _adult(adult)
    parts += _tables({one.name: found[one.name] for one in TABLES if one.name in found})
    if len({one["version"] for one in found.values()}) > 1:
        parts.append("Not all tables were measured with the same version of the code.\n")
    return "\n".join(parts)


def adult_lines(one: Summary) -> Iterator[Line]:
    """The lines for Adult, in the order of the page."""
    figures, others, attacks = one["figures"], one["others"], one["attacks"]
    granted, known = attacks["granted"], attacks["background"]
    floor = f"bootstrap {number(figures['floor'])}"
    yield Line("agreement for income, above its floor", figures["above floor"], 0.003, None, True, note=floor)
    yield Line("agreement for income", figures["agreement"], None, 0.945, True)
    yield Line("accuracy for income", figures["accuracy"], 0.845, 0.850, True)
    note = f"floor {number(others['mean']['floor'])}"
    yield Line("agreement, mean of six other targets", others["mean"]["agreement"], 0.880, 0.890, True, note=note)
    name, worst = min(
        ((n, o) for n, o in others.items() if n != "mean"), key=lambda item: float(item[1]["above floor"][0])
    )
    yield Line("the lowest of the six, above its floor", worst["above floor"], -0.015, None, True, note=name)
    yield Line("relations, error over a bootstrap's: mean", figures["relations"], 2, 1, digits=2)
    pair, ratio, *_ = one["worst pairs"][0]
    note = f"{pair}; {one['pairs above 3']} of {one['pairs']} pairs are above 3"
    yield Line("the largest", [ratio, None], 3, 1, digits=2, note=note)
    expected = figures["three-way of a bootstrap"]
    lost = [figures["three-way"][0] - expected[0], figures["three-way"][1]]
    note = f"score {number(figures['three-way'], 1)}, bootstrap {number(expected, 1)}"
    yield Line("three-way margins, score above a bootstrap's", lost, -40, 0, True, 1, note)
    lost = [figures["two-way"][0] - figures["two-way of a bootstrap"][0], figures["two-way"][1]]
    yield Line("two-way margins, score above a bootstrap's", lost, digits=1, note=f"score {figures['two-way'][0]:.1f}")
    for name, must in (("occupation", 0.05), ("marital_status", 0.04), ("sex", 0.06), ("income", 0.02)):
        yield Line(f"inference above control: {name}", granted["inference"][name], must, 0.03 if must > 0.03 else None)
    name, value = next(iter(granted["inference"].items()))
    yield Line("the largest of all columns", value, 0.07, 0.03, note=name)
    name, value = next(iter(known["inference"].items()))
    yield Line(f"the largest, knowing {KNOWN:.0%} of the other rows", value, 0.13, 0.08, note=name)
    yield Line("membership: area under the curve", granted["area"], 0.62, 0.56)
    yield Line("found at 1% false alarms", granted["found"], 0.03, 0.015, digits=4)
    yield Line("found at 0.1% false alarms", granted["found rarely"], 0.006, 0.002, digits=4)
    yield Line(f"area, knowing {KNOWN:.0%} of the other rows", known["area"], 0.78, 0.65)
    yield Line("copies above control", figures["copies"], 0.01, 0, digits=4)
    note = f"smallest p of {one['releases']} releases {one['smallest p']:.4f}, {one['significant']} below 0.001"
    yield Line("copies of unique records above control", figures["unique copies"], digits=4, note=note)
    note = f"of control rows {figures['new pairs of control'][0]:.2%}"
    shares = [None if x is None else 100 * x for x in figures["new pairs"]]
    yield Line("rows with a pair of levels that the original does not have, %", shares, 0.5, 0.1, digits=2, note=note)


TOP = "| figure | must | aim | measured | met |\n|---|---|---|---|---|"


def _adult(one: Summary) -> Iterator[str]:
    yield ADULT_HEAD.format(rows=one["rows"], control=one["control"], releases=one["releases"], splits=one["splits"])
    yield "\n".join([TOP, *(line.cells() for line in adult_lines(one))]) + "\n"
    yield OTHER_TARGETS
    for name, found in one["others"].items():
        if name != "mean":
            cells = (number(found[kind]) for kind in ("agreement", "floor", "above floor"))
            yield f"| {name} | {' | '.join(cells)} |"
    yield COLUMNS
    kinds = [one["attacks"][kind]["inference"] for kind in ("granted", "background")]
    rest = [one["attacks"].get("regrown", {}).get("inference", {}), one["other attacks"].get("inference", {})]
    unknown: list[float | None] = [None, None]
    for name in kinds[0]:
        yield f"| {name} | " + " | ".join(number(kind.get(name, unknown)) for kind in (*kinds, *rest)) + " |"
    yield MEMBERSHIP
    for title, attack in (
        ("trees granted", one["attacks"]["granted"]),
        (f"trees granted, {KNOWN:.0%} of the other rows known", one["attacks"]["background"]),
        ("trees regrown from the release", one["attacks"].get("regrown", {})),
        ("distance to the nearest record", one["other attacks"]),
    ):
        cells = (number(attack.get(kind, unknown), 4) for kind in ("area", "found", "found rarely"))
        yield f"| {title} | {' | '.join(cells)} |"
    yield WORST_PAIRS
    for pair, ratio, before, after in one["worst pairs"]:
        yield f"| {pair.replace(' x ', ' and ')} | {ratio:.1f} | {before:.3f} | {after:.3f} |"
    plan, release = (one["figures"][name][0] for name in ("plan seconds", "release seconds"))
    yield f"\nCPU time: {plan:.1f} s for the plan with its trees, {release:.1f} s for a release by it.\n"


def _tables(found: dict[str, Summary]) -> Iterator[str]:
    yield TABLES_HEAD
    for name, one in found.items():
        figures, granted = one["figures"], one["attacks"]["granted"]
        column, largest = next(iter(granted["inference"].items()))
        small = one["rows"] + one["control"] < SMALL
        lines = (
            Line("", figures["above floor"], -0.02, None, True),
            Line("", largest, 0.10 if small else 0.08),
            Line("", granted["area"], 0.65),
        )
        cells = [
            name,
            f"{one['rows']:,} x {one['columns']}",
            f"{one['releases']} in {one['splits']}",
            f"{figures['agreement'][0]:.3f} ({figures['floor'][0]:.3f})",
            _judged(lines[0]),
            f"{_judged(lines[1])} {column}",
            _judged(lines[2]),
            number(figures["relations"], 1),
            f"{one['worst pairs'][0][1]:.1f} {one['worst pairs'][0][0].replace(' x ', ' and ')}",
            f"{figures['three-way'][0]:.0f} ({figures['three-way of a bootstrap'][0]:.0f})",
        ]
        yield "| " + " | ".join(cells) + " |"
    yield ""


def _judged(line: Line) -> str:
    shown = number(line.value, line.digits)
    return f"**{shown}**" if "no" in line.verdict else shown


HEAD = """# Audit of the default release

Made by `make audit`. The default recipe [`cover`](../explanation/cover.md) releases public tables with default
settings; an attacker who is **granted the true trees** and knows every other column of a person attacks people in the
release and people outside it. Figures are means over splits and keys, ± the standard error over splits (over keys if
there is one split). The largest column is taken after averaging. *Met* compares the mean with the limits.

- **Agreement**: a scikit-learn tree (one-hot, at least {leaf} rows in a leaf) is grown on the release and another on
  the original; the share of control rows that both classify identically. Its *floor* is the same for a bootstrap
  sample of the original, the mean of {floors} samples in each split, and is subtracted from the releases of that
  split. Numeric targets are cut into four classes.
- **Relations**: correlation, Cramér's V or correlation ratio of each pair of columns
  ([definitions](../reference/measures/statistics.md#relations)). The error of a release is the absolute difference
  from the original's figure, averaged over releases; it is divided by the mean error of 40 bootstrap samples of each
  split. 1 is as near as a new sample.
- **Margins**: 1000 × (1 − total variation), averaged over every three columns (at most 1,000 triples, a fixed
  choice). A bootstrap sample's score is its expectation
  ([definition](../reference/measures/statistics.md#margins-against-a-bootstrap-sample)).
- **Inference, membership**: [informed attacks](../reference/measures/attacks.md#informed-inference).
- **Copies**: the share of people whose record occurs in the release, minus the same for the control; for records that
  are unique among both, with the p of Fisher's exact test.
"""

ADULT_HEAD = """## Adult

{rows:,} rows released, {control:,} as control, {releases} releases in {splits} splits, target *income*.
"""

OTHER_TARGETS = """### Other targets

| target | agreement | floor | difference |
|---|---|---|---|"""

COLUMNS = f"""
### Inference above control, by column

Columns that another one determines (*education* and *education_num*) are not inferred by the first three attacks.
The last two are measured on one release of each split.

| column | trees granted | and {KNOWN:.0%} of the other rows known | trees regrown | nearest record or random forest |
|---|---|---|---|---|"""

MEMBERSHIP = """
### Membership

| attack | area | found at 1% | found at 0.1% |
|---|---|---|---|"""

WORST_PAIRS = """
### Relations kept worst

| columns | error over a bootstrap's | association in the original | in releases |
|---|---|---|---|"""

TABLES_HEAD = f"""## All tables

Limits: agreement at least its floor − 0.02; largest inference above control at most 0.08 (0.10 for tables below
{SMALL:,} rows); area at most 0.65. What misses its limit is **bold**. Relations (mean and largest error over a
bootstrap's) and three-way margins (in brackets a bootstrap sample's) have no limit here. 70% of the rows are released,
of Adult 22,000. In small tables the largest of many noisy means is above the truth. Identifiers are dropped. The
second line of eusilc releases or holds out whole households, whose members share many values.

| table | released | releases | agreement (floor) | difference | largest inference | area | relations, mean | \
relations, largest | three-way margins |
|---|---|---|---|---|---|---|---|---|---|"""
