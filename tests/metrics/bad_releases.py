"""Releases that must be refused, because true records or values stand in them, and releases that must pass."""

from dataclasses import dataclass, replace

import numpy as np

import leafcover as lc
from leafcover.metrics.disclosure.copies import near_unique
from leafcover.metrics.pair import pair_of
from leafcover.perturb.deal import shared_values
from leafcover.table.table import Table
from tests.tables import category, number

ROWS, OTHERS = 6_000, 3_000  # released, and control; as many more rows make an independent sample
TARGET = "income"
AMOUNT = "fnlwgt"  # near-unique
SIX = ("workclass", "education", "marital_status", "occupation", "relationship", "native_country")
FEW = ("relationship", "race", "sex", TARGET)  # columns of few levels
VERBATIM, OUTLIERS, SHARE = 0.03, 40, 5
AMOUNTS = 300  # rows
AMOUNT_COPIES = (
    "copy of amounts",
    "shuffled rows of amounts",
    "copy of amounts, one drawn anew",
    "amounts permuted apart",
)


CODES, CODED = 30, 2000  # levels that one person has, and rows
CODE_COPIES = ("rare levels with their people's values",)


@dataclass(frozen=True)
class Case:
    """A release, the table it was made of, people outside it, and whether it must be refused."""

    name: str
    original: Table
    released: Table
    control: Table | None
    refused: bool

    def pair(self, **roles):
        """Its pair, without pairs of rows."""
        target = TARGET if TARGET in self.original.names else ""
        return pair_of(self.original, self.released, control=self.control, **{"target": target, **roles})


def cases(seed=0, *, rows=ROWS, others=OTHERS):
    """All cases, made of random rows of Adult, by name."""
    original, control, sample = adult(seed, rows, others)
    rng = np.random.default_rng(seed + 1)
    bad = {name: make(original, rng) for name, make in BAD.items()}
    good = {"permuted apart, shared": shared(original, rng), "independent sample": sample}
    bad |= {name: make(original, np.random.default_rng(seed + 2)) for name, make in RECODED.items()}
    found = [Case(name, original, released, control, True) for name, released in bad.items()]
    found.append(chain(original.select(FEW), control.select(FEW), seed))
    found += amounts(rng)
    found.append(Case(*CODE_COPIES, *coded(rng), None, True))
    found += [Case(name, original, released, control, False) for name, released in good.items()]
    return {case.name: case for case in found}


def adult(seed=0, rows=ROWS, others=OTHERS):
    """Adult's rows in random order: those to release, a control, and an independent sample to compare with."""
    table = lc.read(lc.sample("adult"))
    order = np.random.default_rng(seed).permutation(len(table))
    return tuple(table.take(part) for part in np.split(order[: 2 * rows + others], [rows, rows + others]))


def apart(table, rng, *, together=(), fixed=()):
    """Columns permuted on their own, but for those that move together and those that stay."""
    block, rows = rng.permutation(len(table)), np.arange(len(table))

    def moved(column):
        if column.name in fixed:
            return column.take(rows)
        return column.take(block if column.name in together else rng.permutation(len(table)))

    return Table(tuple(moved(column) for column in table))


def joined(first, second):
    """Rows of two tables with the same levels, one below the other."""
    columns = (replace(one, values=np.concatenate([one.values, second[one.name].values]), stored=None) for one in first)
    return Table(tuple(columns))


def noisy(table, rng):
    """Numbers with noise of a hundredth of their standard deviation."""

    def changed(column):
        if column.is_category:
            return column
        spread = np.nanstd(column.values) / 100
        values = column.values + rng.normal(0, spread, len(column))
        return replace(column, values=values, grid=None, stored=None)

    return Table(tuple(changed(column) for column in table))


def partly(table, rng, rows):
    """These rows as they are; the others with columns permuted apart and near-unique values shared."""
    chosen = np.zeros(len(table), bool)
    chosen[rows] = True
    return joined(table.take(np.flatnonzero(chosen)), shared(table.take(np.flatnonzero(~chosen)), rng))


def outlying(table):
    """The people farthest from the mean in any number, in standard deviations."""
    numbers = np.array([c.values for c in table if not c.is_category])
    far = np.abs(numbers - numbers.mean(axis=1, keepdims=True)) / numbers.std(axis=1, keepdims=True)
    return np.argsort(-far.max(axis=0), kind="stable")[:OUTLIERS]


def extremes_coded(table, rng):
    """Every number coded at both ends, everything else exact."""
    for column in table:
        if not column.is_category:
            table = lc.TopCode(column.name, share=0.05).fitted(table).apply(table)
            table = lc.BottomCode(column.name, share=0.05).fitted(table).apply(table)
    return table.take(rng.permutation(len(table)))


def anonymous_in_two(table, rng):
    """Equal in age and sex with at least 50 others, everything else exact."""
    made = lc.Intervals("age", count=20, to="midpoint").fitted(table).apply(table)
    made = lc.LocalSuppression(("age", "sex"), k=50).fitted(made).apply(made)
    return made.take(rng.permutation(len(table)))


def shared(table, rng, **ways):
    """Columns permuted apart; each value of a near-unique one is held by at least five rows."""
    rare = near_unique(table)
    columns = (replace(c, values=shared_values(c, SHARE), stored=None) if c.name in rare else c for c in table)
    return apart(Table(tuple(columns)), rng, **ways)


def chain(table, control, seed):
    """Dealt along a chain whose leaves may hold two rows and whose splits cost nothing."""
    plan = lc.recipes.cover(table, target=TARGET, k=2, price=0.0)
    last = plan.steps[-1]
    plan = lc.Plan(*plan.steps[:-1], replace(last, within=replace(last.within, one_level=False)))
    return Case("chain without price", table, lc.release(table, plan, seed=seed).table, control, True)


def amounts(rng):
    """Copies of correlated near-unique numbers without any control: no column makes a record."""
    common = rng.normal(size=AMOUNTS)
    values = [(common + rng.normal(size=AMOUNTS)).round(4) for _ in range(5)]
    table = Table(tuple(number(f"x{place}", one, 4) for place, one in enumerate(values)))
    assert near_unique(table) == table.names
    fresh = Table((*table.columns[:-1], number("x4", rng.normal(size=AMOUNTS).round(4), 4)))
    made = {
        "copy of amounts": table,
        "shuffled rows of amounts": table.take(rng.permutation(AMOUNTS)),
        "copy of amounts, one drawn anew": fresh.take(rng.permutation(AMOUNTS)),
        "amounts permuted apart": apart(table, rng),
    }
    assert set(made) == set(AMOUNT_COPIES)
    return [Case(name, table, released, None, True) for name, released in made.items()]


def coded(rng, kept="ill"):
    """Columns permuted apart, except that a level that one person has stays with that person's value of another one."""
    common = rng.choice([f"A{i:02d}" for i in range(15)], CODED - CODES)
    values = {
        "code": np.concatenate([[f"U{i:03d}" for i in range(CODES)], common]),
        "district": rng.choice(list("abcdef"), CODED),
        "ill": rng.choice(["no", "yes"], CODED),
    }
    original = Table(tuple(category(name, one) for name, one in values.items()))
    rest = CODES + rng.permutation(CODED - CODES)
    order = {name: rng.permutation(CODED) for name in values}
    order |= {name: np.concatenate([np.arange(CODES), rest]) for name in ("code", kept) if kept}
    released = Table(tuple(one.take(order[one.name]) for one in original))
    return original, released.take(rng.permutation(CODED))


def _but(table, *names):
    return tuple(name for name in table.names if name not in names)


BAD = {
    "copy": lambda t, rng: t,
    "copy with tiny noise": noisy,
    "shuffled rows": lambda t, rng: t.take(rng.permutation(len(t))),
    "half copy": lambda t, rng: partly(t, rng, rng.permutation(len(t))[: len(t) // 2]),
    "3 % verbatim": lambda t, rng: partly(t, rng, rng.permutation(len(t))[: round(VERBATIM * len(t))]),
    "40 outliers verbatim": lambda t, rng: partly(t, rng, outlying(t)),
    "all but the target one block": lambda t, rng: apart(t, rng, together=_but(t, TARGET)),
    "six columns one block": lambda t, rng: shared(t, rng, together=SIX),
    "near-unique column untouched": lambda t, rng: apart(t, rng, fixed=(AMOUNT,)),
    "true rows, target permuted": lambda t, rng: apart(t, rng, fixed=_but(t, TARGET)),
    "permuted apart, amount exact": apart,
}
RECODED = {"extremes coded": extremes_coded, "k-anonymous in two columns": anonymous_in_two}
