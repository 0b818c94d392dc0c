"""What differencing and averaging recover from released tables of counts, on Adult.

make counts            writes docs/results/counts.md
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import leafcover as lc
from leafcover.engine.count_attacks import CountAttacks, attacks
from leafcover.engine.counts import CountRelease, perturbed_tables
from leafcover.metrics.disclosure.differencing import decides_right
from leafcover.metrics.estimates import Estimate

PAGE = Path(__file__).parent.parent / "docs" / "results" / "counts.md"
KEY = lc.Key.from_seed(1)
TABLES = ("native_country x sex x income",)


@dataclass(frozen=True)
class Rounding:
    """Counts rounded to multiples: no noise at all. Stands in for a perturbation table."""

    base: int = 5
    variance: float = 0.0
    certain: float = 1.0

    @property
    def max_noise(self) -> int:
        return self.base // 2

    def noise(self, counts: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        return (counts + self.max_noise) // self.base * self.base - counts

    def likelihood(self, counts: np.ndarray, released: np.ndarray) -> np.ndarray:
        return ((counts >= 0) & (counts + self.noise(counts, counts) == released)).astype(float)


SETTINGS: dict[str, dict[str, Any]] = {
    "exact counts (`--max-noise 0 --variance 0`)": {"max_noise": 0, "variance": 0},
    "rounded to multiples of 5": {"rounded": True, "max_noise": 0, "variance": 0},
    "the method as published: summed keys, zeros stay; D = 5, V = 2": {
        "cell_keys": "summed",
        "zeros": 0,
        "max_noise": 5,
        "variance": 2,
    },
    "`--cell-keys summed`": {"cell_keys": "summed"},
    "`--zeros 0`": {"zeros": 0},
    "`--max-noise 5 --variance 2`": {"max_noise": 5, "variance": 2},
    "**default**": {},
    "`--totals sum`": {"totals": "sum"},
    "`--variance 16 --max-noise 40`": {"variance": 16, "max_noise": 40},
}


def adult() -> pd.DataFrame:
    """Adult with a number for each person, so that summed keys are the same with and without somebody."""
    frame = lc.read(lc.sample("adult")).select(["native_country", "sex", "income"])
    table = pd.DataFrame({c.name: np.array([*c.levels, None], object)[c.values] for c in frame})
    return table.assign(id=np.arange(len(table)))


def released(frame: pd.DataFrame, *, rounded: bool = False, **settings: Any) -> CountRelease:
    """The counts under some settings."""
    table = lc.read(frame, roles={"id": "unit", "income": "sensitive"})
    made = lc.count_table(table, settings.pop("by", TABLES), key=KEY, **settings)
    if not rounded:
        return made
    noise: Any = Rounding()
    tables = perturbed_tables([one.table for one in made.tables], noise, made.draws)
    return replace(made, noise=noise, tables=tables)


def by_settings(frame: pd.DataFrame) -> list[str]:
    """A row for each setting."""
    lines = [
        "| counts | recovered here | recovered over keys | right | recovered from two tables | right |",
        "|---|---|---|---|---|---|",
    ]
    for name, settings in SETTINGS.items():
        found = attacks(released(frame, **settings))
        assert found is not None
        assert found.two_tables is not None
        counted = [round(one.certain.value * one.tries) for one in (found.here, found.knowing, found.two_tables)]
        right = [_text(one.correct) for one in (found.knowing, found.two_tables)]
        lines.append(f"| {name} | {counted[0]} | {counted[1]} | {right[0]} | {counted[2]} | {right[1]} |")
        guess = found.knowing.guessing.value
    return [*lines, "", f"Guessing without the tables is right for {guess:.3f}."]


def _text(one: Estimate) -> str:
    return f"{one.value:.3f} ({max(one.low, 0):.3f} to {min(one.high, 1):.3f})"


def by_tables(frame: pd.DataFrame) -> list[str]:
    """A row for each number of published tables: income by columns that halve the people, fourfold by variance."""
    rng = np.random.default_rng(0)
    wide = frame.assign(**{f"v{at}": rng.choice(["no", "yes"], len(frame)) for at in range(32)})
    wide["income"] = rng.choice(["<=50K", ">50K"], len(frame))  # equally likely, and unrelated to anything
    lines = [
        "| tables | decides right, V = 4 | by formula | V = 16 | V = 64 | mean error of a count, V = 4 | exact |",
        "|---|---|---|---|---|---|---|",
    ]
    unperturbed = float(lc.PerturbationTable().chances[-1].max())
    for count in (1, 2, 4, 8, 16, 32):
        by = ["income", *(f"v{at} x income" for at in range(count - 1))]
        found = {v: _attacked(wide, by, v) for v in (4, 16, 64)}
        right = [found[v].knowing.correct.value for v in (4, 16, 64)]
        mean = found[4].averaging
        error = f"{mean.averaged_error:.1f} | {mean.averaged_exact:.0%}" if mean else f"2.0 | {unperturbed:.0%}"
        text = f"{_text(found[4].knowing.correct)} | {decides_right(count, 4.0):.3f} | {right[1]:.3f} | {right[2]:.3f}"
        lines.append(f"| {count} | {text} | {error} |")
    return lines


def _attacked(frame: pd.DataFrame, by: list[str], variance: float) -> CountAttacks:
    made = released(frame, by=by, totals="none", variance=variance, max_noise=round(10 * variance**0.5))
    found = attacks(made, most_keys=1000)
    assert found is not None
    return found


def posterior(noise: lc.PerturbationTable, most: int = 8) -> list[str]:
    """A row for each released count."""
    found = noise.posterior(range(most + 1))
    lines = [f"| released | {' | '.join(map(str, range(most + 1)))} | more |", "|---" * (most + 3) + "|"]
    for seen, row in enumerate(found):
        lines.append(
            f"| {seen} | {' | '.join(f'{one:.3f}' for one in row[: most + 1])} | {row[most + 1 :].sum():.3f} |"
        )
    return lines


def main() -> None:
    """Write the page."""
    frame = adult()
    own, total = (released(frame, totals=how) for how in ("own", "sum"))
    gap = own.figures["largest_gap"]
    whole = [abs(int(one.tables[-1].released[0] - one.tables[-1].table.counts[0])) for one in (own, total)]
    text = HEAD.format(
        settings="\n".join(by_settings(frame)),
        tables="\n".join(by_tables(frame)),
        posterior="\n".join(posterior(lc.PerturbationTable())),
        kept="\n".join(posterior(lc.PerturbationTable(zeros=0), most=4)),
        rows=len(frame),
        gap=gap,
        cells=len(total.tables[0].released),
        own=whole[0],
        sum=whole[1],
    )
    PAGE.write_text(text, "utf-8")


HEAD = """# Tables of counts

Made by `make counts`, on Adult ({rows:,} people). [How to release a table of counts](../how-to/counts.md) explains
the settings.

## Differencing

Native country by sex by income, with all totals: four tables have *income*. The 1,000 people in the smallest groups
(of country and sex) are attacked. The attacker knows the method, the perturbation table and everybody else's
record, and infers the person's income group from all published counts. *Recovered* counts people for whom only one
value is possible. *Here* is one release, *over keys* are 1,000 tries with 100 other keys. In the columns on the
right the attacker knows nobody, and has two releases: one of everybody, and one without the person.

{settings}

- With summed cell keys, cells of the same people have the same noise. In two tables that differ by one person, only
  the cell of this person has other noise, so a count that differs gives the person away. Drawn keys give every
  cell of the second table new noise.
- With `--zeros 0` a positive count proves that somebody is there. With a limit of noise that is often reached, a
  count at the limit proves what it was.
- Rounding without noise recovers people whose presence moves a count across a limit.

## How many tables

Income at random, so that guessing is right for 0.500, by columns that halve the people at random. An attacker who
knows everybody else weighs all tables; one who does not takes the mean of all sums that give the same count (first
columns: one table has the income alone, every other one divides it further).

{tables}

The formula for T tables and variance V is Φ(√(T / 2V)). It holds for large counts and a person in one cell of each
table.

## What a released count says

The probability of each true count if all are equally likely beforehand, for the default (variance 4, zeros
perturbed with probability 0.1):

{posterior}

With `--zeros 0`:

{kept}

## Totals

In the table above, totals perturbed on their own differ from the sums of cells by up to {gap}; the grand total is
off by {own}. If totals are sums (`--totals sum`), the grand total adds up the noise of {cells} cells, and is off by
{sum}; it is too high if many cells are empty.
"""


if __name__ == "__main__":
    main()
