"""``cover``, our own recipe: each column is dealt inside the leaves of a tree grown for it from the columns before it.

The columns form a chain. The first is permuted over the whole table. For every later one a tree is grown on the
original from the columns before it, and the values of the original rows of a leaf are dealt to the released rows that
reach the same leaf. Of the first stage of a column, the leaf in which a person's value is dealt does not depend on that
value, if the trees are given; but trees are grown with the person, and k rows in a leaf hide nobody by themselves. What
an attacker learns is bounded on average (``engine/statement.py``) and measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from leafcover.arrays import Floats, Rows
from leafcover.errors import NameUnknown, PlanError, ValueOutOfRange
from leafcover.messages import catalogue
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.partition.leaves import PRICE, Conditional, Whole, bin_given
from leafcover.perturb.base import standard_scores
from leafcover.perturb.deal import Deal
from leafcover.recipes.plan import Made, Names, Plan, Step, listed_names
from leafcover.recipes.registry import recipe
from leafcover.table.table import Column, Table, column_name
from leafcover.table.weights import KeptTables
from leafcover.tree.binary import codings
from leafcover.tree.histogram import Binned
from leafcover.tree.tree import classes_to_predict

MOST_K = 1_000_000
ROWS_A_LEAF = 400  # by default a leaf has at least one in this many rows of the table,
LEAST_K, USUAL_K = 10, 50  # but no fewer than the first and no more than the second
# What a leaf reveals of a person grows with the shares it holds for each of its rows. On nine tables the area of
# membership inference was below 0.65, and inference less than 0.1 above control, up to a quarter of a share a row.
BUDGET = 0.25
LEAST_OFTEN = 5.0
STAGES = 2  # in which sums of scores are compared: groups of a number, and their parts
RAISE, MOST_PRICE = 1.15, 50.0
MUCH = 3.0  # times the usual price: from here on a warning says what is lost. Tables of the audit stay below
TARGET_LESS, TARGET_MOST = 0.4, 1.0  # what the target's own tree pays less, and at most: its rules come first


@recipe("cover", units=True, find_rules=True, rare="pool")
def cover(
    table: Table,
    *,
    target: str,
    k: int | None = None,
    price: float | None = None,
    share: int = 5,
    order: Names | None = None,
    bins: int | None = None,
    keep_tables: KeptTables = (),
) -> Plan:
    """Deal each column inside the leaves of a tree grown for it from the columns before it; the target comes last.

    Parameters
    ----------
    table : Table or frame
        The table to write a plan for.
    target : str
        The column whose rules the release preserves best: its tree may use every other column. It may be left out if a
        column has the role "target".
    k : int, optional
        The minimum number of rows in a leaf. Default: 50, or one in 400 rows of a smaller table, at least 10.
    price : float, optional
        What a split must gain, as a multiple of its cost: the bits to choose it, and what fitting both sides gains by
        chance. Larger values protect more and keep less. Default: 0.7, or more until the leaves have no more than one
        share to every four rows of the table. The target's own tree pays up to 0.4 less (in proportion
        to k, up to 50), and at most 1.
    share : int, default 5
        The minimum number of rows that hold a number in the release.
    order : str or list of str, optional
        The columns to deal first, in this order, as "a,b" or ["a", "b"]. By default columns with few distinct values
        come first.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.
    keep_tables : sequence of str or of sequences of str, optional
        Tables whose numbers of rows are kept, such as ``"sex x region"``: in cells of at least k rows. Their columns
        come first.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> plan = lc.recipes.cover(table, target="union")
    >>> plan.steps[0].columns, plan.steps[-1].columns
    (('region',), ('union',))
    """
    target = column_name("target", target)
    k = min(USUAL_K, max(LEAST_K, len(table) // ROWS_A_LEAF)) if k is None else k
    if not 2 <= k <= MOST_K:
        raise ValueOutOfRange("cover's k", k, f"a whole number of rows from 2 to {MOST_K:,}")
    classes_to_predict(table[target], bins=bins)  # a numeric target with many values needs bins
    columns = [c for c in table if table.roles.get(c.name) not in ("unit", "identifier")]
    free = [c for c in columns if table.roles.get(c.name) != "unchanged"]
    named = [] if order is None else listed_names(order, table)
    blocks = chain(free, target, k, named, table, keep_tables)
    targets = _targets(table, target)
    fixed = [c.name for c in columns if c not in free]
    tested = [c for c in columns if table.roles.get(c.name) != "weight"]
    ways = _Chain(table, bin_given(tested), blocks, fixed, k, bins, targets, keep_tables)
    raised, grown = ways.within_budget() if price is None else (PRICE, ways.grown(price))
    compared = _compared([table[block[0]] for block in blocks])
    deal = Deal(share=share, often=compared.often, correlated=compared.correlated)
    steps = (Step(block, within=cells, perturb=deal) for block, (cells, _) in zip(blocks, grown, strict=True))
    made = {cells: part for cells, part in grown if part is not None}
    lost = compared.adjusted < compared.pairs
    if made and (lost or raised > MUCH * PRICE):
        last = [*made][-1]
        say = catalogue("recipes")
        figures = {"adjusted": compared.adjusted, "pairs": compared.pairs if lost else 0}
        cost = f"{raised:.1f}" if raised > MUCH * PRICE else "usual"
        made[last] = replace(made[last], notes=(say("few-rows", **figures, price=cost, usual=f"{PRICE:g}"),))
    return Plan(*steps, made=Made(table, made))


@dataclass(frozen=True, eq=False)
class _Chain:
    """The blocks of columns in the order of dealing, and what their trees are grown from."""

    table: Table
    binned: Binned
    blocks: Sequence[tuple[str, ...]]
    fixed: Sequence[str]  # columns that stay unchanged and may be tested from the start
    k: int
    bins: int | None
    targets: Sequence[str]
    tables: KeptTables = ()

    def grown(self, price: float) -> list[tuple[PartitionMethod, Partition | None]]:
        """The partition of each block, and its cells; the first block has none."""
        tested = {attribute.name for attribute in self.binned.attributes}
        before = list(self.fixed)
        found: list[tuple[PartitionMethod, Partition | None]] = []
        for block in self.blocks:
            given = tuple(name for name in before if name in tested and self._is_near(block[0], name))
            if given:
                last = block[0] in self.targets
                own = Conditional(
                    block[0],
                    given,
                    min_cell=self.k,
                    price=price,
                    kept_with=self._kept_with(block, given),
                    **self._among(block[0]),
                )
                if last:
                    # The parts of a number's classes pay the usual price: at the target's they took the whole budget,
                    # and the price of all other columns rose 76 times before it was held.
                    inside = None if self.bins is None else price
                    less = target_price(price, self.k)
                    own = replace(own, price=less, bins=self.bins, one_level=True, part_price=inside)
                found.append((own, own.grown(self.table[block[0]], self.binned)))
            else:
                found.append((Whole(), None))
            before += block
        return found

    def _kept_with(self, block: Sequence[str], given: Sequence[str]) -> tuple[str, ...] | None:
        """The columns dealt before whose tables with a block are kept."""
        wanted = {name for names in self.tables if set(block) & set(names) for name in names}
        return tuple(name for name in given if name in wanted) or None

    def _is_near(self, name: str, other: str) -> bool:
        """Whether a column may be tested for another: in a table of units only near the same row."""
        return self.table.units is None or self.table.units.is_near(name, other)

    def _among(self, name: str) -> dict[str, Any]:
        """In a table of units: from which number of rows on a unit has a value."""
        units = self.table.units
        found = None if units is None else units.presence(name)
        return {} if found is None else {"among": found[0], "least": float(found[1])}

    def within_budget(self) -> tuple[float, list[tuple[PartitionMethod, Partition | None]]]:
        """The usual price, raised until the leaves reveal no more shares than the budget, and what is grown at it."""
        price = PRICE
        while True:
            found = self.grown(price)
            shares = sum(stage.parameters for _, part in found if part is not None for stage in part.stages)
            if shares <= BUDGET * len(self.table) or price > MOST_PRICE:
                return price, found
            price = round(price * RAISE, 3)


def _targets(table: Table, target: str) -> tuple[str, ...]:
    """The target; in a table of units, in every row of a unit."""
    return (target,) if table.units is None else table.units.columns_at(table.units.column_of(target))


def target_price(price: float, k: int) -> float:
    """The price of a split in the target's own tree: 0.4 less in leaves of 50 rows, which reveal little of a person.

    >>> [round(target_price(price, k), 2) for price, k in ((0.2, 50), (0.7, 50), (0.7, 10), (3.0, 10))]
    [0.07, 0.3, 0.62, 1.0]
    """
    less = TARGET_LESS * min(k / USUAL_K, 1.0)
    return min(max(price / 3, price - less), TARGET_MOST)


@dataclass(frozen=True)
class _Compared:
    """Which figures of two columns are compared while they are dealt."""

    often: float = LEAST_OFTEN
    correlated: float = 0.0
    adjusted: int = 0  # correlations of numbers that are compared,
    pairs: int = 0  # of so many


def _compared(columns: Sequence[Column]) -> _Compared:
    """How many rows must share a figure of two columns for it to be compared, and how correlated two numbers must be.

    Both are as small as the budget permits. A figure is the correlation of two numbers, a sum of a number's scores over
    the rows of a group, or the count of a pair of groups. Each one that is compared is disclosed nearly exactly, so
    there are no more of them than shares in the leaves. Correlations come first: one figure says most of a pair.
    """
    total, coded = len(columns[0]), [codings(column)[0] for column in columns]
    allowed = int(BUDGET * total)
    if sum((one.count + STAGES) * (two.count + STAGES) for one, two in combinations(coded, 2)) <= allowed:
        return _Compared()  # all fit
    between = _correlations([column for column in columns if not column.is_category])
    correlated = _least(between, allowed // STAGES, 3)
    adjusted = int(np.count_nonzero(between >= correlated))
    allowed -= STAGES * adjusted
    rows = [np.bincount(c.codes(column), minlength=c.count) for c, column in zip(coded, columns, strict=True)]
    support = [np.empty(0)]
    for (one, first), (two, second) in combinations(zip(columns, rows, strict=True), 2):
        support.append((first[:, None] * second / total).ravel())
        if one.is_category != two.is_category:
            support.append(np.tile(first if one.is_category else second, STAGES).astype(np.float64))
    often = max(LEAST_OFTEN, _least(np.concatenate(support), allowed, 0))
    return _Compared(often, min(correlated, 1.0), adjusted, len(between))


def _correlations(numbers: Sequence[Column]) -> Floats:
    """The size of the correlation of each pair of numbers, by scores as they are dealt."""
    scores = [standard_scores(number.values, number.values) for number in numbers]
    length = [max(float(np.sqrt(one @ one)), 1.0) for one in scores]
    pairs = combinations(range(len(numbers)), 2)
    return np.array([abs(scores[i] @ scores[j]) / (length[i] * length[j]) for i, j in pairs])


def _least(figures: Floats, most: int, digits: int) -> float:
    """The least bound with so many digits that no more than ``most`` figures reach; 0 if all may.

    >>> [_least(np.array([3.0, 5.0, 5.0, 8.0]), most, 0) for most in (4, 3, 2, 0)]
    [0.0, 4.0, 6.0, 9.0]
    """
    if len(figures) <= most:
        return 0.0
    step = 10.0**-digits
    return float(np.round((np.floor(np.sort(figures)[::-1][most] / step) + 1) * step, digits))


def chain(
    columns: Sequence[Column], target: str, k: int, order: Sequence[str], table: Table, tables: KeptTables = ()
) -> list[tuple[str, ...]]:
    """The columns in the order of dealing, those that determine each other together.

    Columns with few distinct values come first: they need few counts in each leaf of their own tree, and a number that
    comes late can use trees of all others. Columns of tables to keep come before, those of most tables first: then each
    is kept with few others at once. Weights come last of all: no tree tests them.
    """
    names = [c.name for c in columns]
    for name in order:
        if name not in table.names:
            raise NameUnknown("column", name, table.names, "for the order")
        if name not in names:
            raise PlanError(f"Column {name!r} cannot be in the order of dealing: it stays unchanged or is dropped.")
        if name == target:
            raise PlanError(f"Column {name!r} cannot be in the order of dealing: the target is dealt last.")
        if order.count(name) > 1:
            raise PlanError(f"Column {name!r} is in the order of dealing more than once.")
    count = {c.name: _distinct(c) for c in columns}
    place = {name: at for at, name in enumerate(order)}
    kept = {name: sum(name in one for one in tables) for name in names}
    targets, position = _targets(table, target), {name: _position(table, name) for name in names}
    weights = {name: table.roles.get(name) == "weight" for name in names}
    # A target that is constant in a unit comes last of all.
    last = not any(position[target]) if target in names else True
    ordered = sorted(
        names,
        key=lambda n: (
            weights[n], last and n == target, position[n], n in targets, place.get(n, len(place)),
            -kept[n], count[n], names.index(n),
        ),
    )  # fmt: skip
    found: list[tuple[str, ...]] = []
    for name in ordered:
        # Nearly unique columns may determine each other by chance, and a pair of them would be a true record.
        alike = [
            b
            for b in found
            if count[b[0]] == count[name]
            and 1 < count[name] <= len(table) / k
            and name not in targets
            and position[b[0]] == position[name]
            and weights[b[0]] == weights[name]
        ]
        block = next((b for b in alike if _same_groups(table[b[0]], table[name])), None)
        if block is None:
            found.append((name,))
        else:
            found[found.index(block)] = (*block, name)
    return found


def _position(table: Table, name: str) -> tuple[int, ...]:
    """In a table of units, where in its unit a row is; zeros for columns that are constant in a unit."""
    return () if table.units is None else table.units.place(name)


def _distinct(column: Column) -> int:
    """The number of distinct values, missing included."""
    if column.is_category:
        return int(np.count_nonzero(np.bincount(column.values + 1)))
    return len(np.unique(column.values))  # nan is one value


def _same_groups(one: Column, other: Column) -> bool:
    """Whether two columns with equally many distinct values determine each other."""
    first, second = _codes(one), _codes(other)
    count = int(first.max()) + 1
    return len(np.unique(first * count + second)) == count


def _codes(column: Column) -> Rows:
    """Codes from 0 of the distinct values; missing is one of them."""
    values = column.values if column.is_category else np.where(column.missing, np.inf, column.values)
    return np.unique(values, return_inverse=True)[1].ravel().astype(np.int64)
