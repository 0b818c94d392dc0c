"""What is stated of a release: what is proved if every column was dealt, which rules are kept, and at what price.

What is proved is how much a release can add to what an attacker knows. The released table depends on the original only
through a description: the trees, the counts of codes in their leaves (a code is a level, all rare levels, or a group of
numbers), the pairs of levels that are avoided, and the counts and sums that are compared, beyond the values of each
column. So it cannot reveal more bits about the people than the description is long. The proof and what it does not say
are in ``docs/explanation/what-is-proved.md``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp, floor, log, log10
from typing import Literal, TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools
from leafcover.errors import InvariantViolated
from leafcover.messages import catalogue
from leafcover.partition.base import Partition, PartitionMethod
from leafcover.perturb.base import Described
from leafcover.recipes.plan import Plan, exposed_rules
from leafcover.table.column_rules import ColumnRule, Linear
from leafcover.table.recoding import FEWEST
from leafcover.table.rule_search import block_of, check_rule
from leafcover.table.table import Column, Table
from leafcover.table.tied_columns import Computed, TiedColumns
from leafcover.table.unit_layout import UnitLayout
from leafcover.table.weights import ReleasedWeights

BITS = log(2)  # nats in a bit
MOST_NAMED = 8  # columns in one sentence


@dataclass(frozen=True)
class Statement:
    """The figures of the statement, exact: for the steward. `published` rounds them."""

    rows: int
    trees: float  # bits that describe the trees
    counts: float  # bits that describe the counts in their leaves
    pairs: float  # bits that say which pairs of levels are avoided, and the counts and sums that are compared
    copy: float  # bits that the rows hold at least, beyond the values of each column and the order of the rows
    own_share: float  # log of the share of a person's own values over what the others predict, mean over people
    own_share_most: float  # the same for the person with the largest

    @property
    def bits(self) -> float:
        """The length of the description in bits."""
        return self.trees + self.counts + self.pairs

    @property
    def published(self) -> "Published":
        """The figures that may be published."""
        return Published(
            upwards(self.bits / self.rows), 0.0 - upwards(-self.copy / self.rows), upwards(exp(self.own_share))
        )


@dataclass(frozen=True)
class Published:
    """Figures with two digits, rounded to the safe side. The proof counts them as known to the attacker."""

    bits_per_person: float
    bits_per_person_in_a_copy: float
    own_share_factor: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is proved."""
        say = catalogue("release")
        bits = say("proved-bits", bits=f"{self.bits_per_person:g}")
        if self.bits_per_person_in_a_copy > 0:  # the bound is empty for few rows of many values
            bits += " " + say("proved-copy", copy=f"{self.bits_per_person_in_a_copy:g}")
        return bits, say("proved-own-share", factor=f"{self.own_share_factor:g}")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the proof assumes, and what it leaves open."""
        say = catalogue("release")
        return say("proved-key"), say("proved-known"), say("proved-average"), say("proved-open")


def assumed(proved: Published, weights: ReleasedWeights | None) -> tuple[str, ...]:
    """What the proof assumes for a release; totals that calibrated weights keep count as known."""
    say = catalogue("release")
    is_calibrated = weights is not None and weights.leave == "calibrated"
    return (*proved.assumptions, *((say("proved-weights"),) if is_calibrated else ()))


def upwards(figure: float) -> float:
    """Two digits, rounded up.

    >>> upwards(1.921), upwards(0.30000001), upwards(-25.65), upwards(0.0)
    (2.0, 0.31, -25.0, 0.0)
    """
    if figure == 0:
        return 0.0
    decimals = 1 - floor(log10(abs(figure)))
    return round(ceil(round(figure * 10.0**decimals, 6)) / 10.0**decimals, max(decimals, 0))


def statement(blocks: Iterable[tuple[Column, Described | None]], rows: int) -> Statement | None:
    """The statement for a table whose columns were all dealt: a released column of each block, and what describes it.

    None if something is not described.
    """
    trees = counts = pairs = 0.0
    copy, own = -_log_factorial(np.array([rows])), np.zeros(rows)
    for column, described in blocks:
        if described is None:
            return None
        trees, counts, pairs = trees + described.trees, counts + described.counts, pairs + described.pairs
        held = np.unique(column.values, return_counts=True)[1]  # nan is one value
        copy += _log_factorial(np.array([rows])) - _log_factorial(held)
        own += described.own
    return Statement(rows, trees, counts, pairs, max(copy, 0.0) / BITS, float(own.mean()), float(own.max()))


def _log_factorial(numbers: Array) -> float:
    """The sum of the logs of the factorials."""
    from scipy.special import gammaln

    return float(gammaln(numbers + 1.0).sum())


def reversible_columns(plan: Plan) -> tuple[str, ...]:
    """The columns whose original values an attacker who knows a few rows can compute in all others."""
    return tuple(name for step in plan.steps if step.perturb.reversible for name in step.columns)


def reversible_sentence(plan: Plan) -> str:
    """Which columns are not private, because their transformation can be inverted; empty if none are."""
    names, say = reversible_columns(plan), catalogue("release")
    return say("reversible", columns=", ".join(names)) if names else ""


def noise_sentence(columns: Mapping[str, tuple[float | None, float | None]]) -> list[str]:
    """The noise that numbers got, by column: its deviation, and how far it pulls them from the ends of their range."""
    found = {name: (noise, pull or 0.0) for name, (noise, pull) in columns.items() if noise is not None}
    if not found:
        return []
    named = [f"{name} {noise:.1%}" for name, (noise, _) in list(found.items())[:MOST_NAMED]]
    most = max(pull for _, pull in found.values())
    more = len(found) - len(named)
    say = catalogue("release")
    return [say("noise", columns=", ".join(named), more=more, pull=f"{most:.1%}")]


# Rules between columns.


RuleWay: TypeAlias = Literal["computed", "difference", "exchanged", "checked"]  # how a rule was kept


@dataclass(frozen=True)
class RuleFact:
    """How many of the rows that a rule applies to keep it."""

    text: str
    found: bool  # in the table, not declared
    before: float  # share of original rows
    after: float  # share of released rows
    broken: int  # released rows
    rows: int = 0  # original rows that it applies to
    way: RuleWay = "checked"
    computed: str = ""  # the column that is computed in every released row, if an equation is kept that way
    corrected: int = 0  # original rows in which that column is not what the rule says

    @property
    def is_public(self) -> bool:
        """Whether the rule names no level, which may be a rare value."""
        return names_no_level(self.text)


def names_no_level(rule: str) -> bool:
    """Whether the text of a rule has no value of the table in it."""
    return not rule.startswith("if ")


def rule_facts(plan: Plan, original: Table, released: Table, tied: TiedColumns) -> tuple[RuleFact, ...]:
    """How many rows keep each rule, before and after."""
    facts = []
    computed: dict[ColumnRule, str] = {one.rule: one.column for one in tied.ties if isinstance(one, Computed)}
    for rule in plan.all_rules:
        before, after = check_rule(rule, original, original), check_rule(rule, released, original)
        fact = RuleFact(
            rule.text,
            found=rule in plan.found_rules,
            before=before.share,
            after=after.share,
            broken=after.rows - after.kept,
            rows=before.rows,
            way=_way(rule, plan, tied),
            computed=computed.get(rule, ""),
            corrected=before.rows - before.kept if rule in computed else 0,
        )
        facts.append(fact)
    return tuple(facts)


def _way(rule: ColumnRule, plan: Plan, tied: TiedColumns) -> RuleWay:
    """How a rule was kept: by computing a column, by dealing a difference, by exchanges, or not on purpose."""
    if rule in tied.rules:
        return "difference" if isinstance(rule, Linear) and rule.relation != "==" else "computed"
    return "checked" if rule.ties or plan.descends else "exchanged"


def refuse_broken(rules: Sequence[RuleFact]) -> None:
    """Raise an error if a declared rule is broken."""
    for fact in rules:
        if fact.broken and not fact.found:
            broken = fact.rows - round(fact.before * fact.rows)
            mend = f"{broken:,} original rows break it, too: correct them" if broken else "Use a recipe that keeps it"
            raise InvariantViolated(
                f"The rule {fact.text!r} is broken by {fact.broken:,} released rows, so nothing is written. "
                f"{mend}, or leave out the rule."
            )


def computed_sentence(rules: Sequence[RuleFact]) -> Iterator[str]:
    """Which columns rules compute, and in how many original rows they had other values."""
    say = catalogue("release")
    if found := [fact for fact in rules if fact.computed]:
        named = (say("computed-column", name=f.computed, rows=f.corrected, of=f.rows) for f in found)
        yield say("computed", columns=", ".join(named))


def less_kept(rules: Sequence[RuleFact]) -> Iterator[str]:
    """A sentence for each rule that fewer rows keep than before."""
    for fact in rules:
        if fact.after < fact.before:
            yield (
                f"The rule {fact.text!r} was found in {fact.before:.2%} of the rows, but only {fact.after:.2%} of the "
                "released rows keep it."
            )


# In a table of units: which of them have a row for a column.


def rooms(units: Iterable[Column], layout: UnitLayout) -> dict[str, Bools]:
    """Of each column of a table of units, which units have a row for it; no column that all have a row for."""
    columns = {column.name: column for column in units}
    found = ((name, layout.presence(name)) for name in columns)
    return {name: columns[row[0]].values >= row[1] for name, row in found if row is not None}


def refuse_lost(units: Table, layout: UnitLayout) -> None:
    """Raise an error if a value was dealt to a unit that has no row for it."""
    for name, has_room in rooms(units, layout).items():
        if (~units[name].missing & ~has_room).any():
            raise InvariantViolated(f"Values of {name!r} are lost, so nothing is written: no row has them.")


# A rule that is kept at the price of true records: hardly anybody shares the values of its columns with somebody else,
# and the release has them together.


TRUE_BLOCKS = 0.2  # the share of released rows with rare values of one original row, from which a rule is refused


def refuse_copied(plan: Plan, original: Table, released: Table) -> None:
    """Raise an error if a rule of a dealt release is kept at the price of true records."""
    for rule in exposed_rules(plan, original):
        before, after = (block_of(rule, table, original) for table in (original, released))
        _, number = np.unique(np.concatenate([before, after]), axis=0, return_inverse=True)
        old, new = number.ravel()[: len(before)], number.ravel()[len(before) :]
        held = np.bincount(old, minlength=int(number.max()) + 1)[new]
        if ((held > 0) & (held < FEWEST)).mean() > TRUE_BLOCKS:
            raise InvariantViolated(
                f"The rule {rule.text!r} would be kept at the price of true records: fewer than {FEWEST} rows share "
                "their values in its columns, so nothing is written. Share numbers (share=5), pool rare levels "
                "(rare='pool'), or leave out the rule."
            )


# What was recoded before anything else.


def recoding_sentences(plan: Plan, *, most: int) -> list[str]:
    """What was recoded, recodings that do the same together; more than ``most`` without their parameters."""
    say = catalogue("release")
    same: dict[str, list[str]] = {}
    for one in plan.recode:
        same.setdefault(one.describe(detailed=len(plan.recode) <= most), []).append(" + ".join(one.columns))
    return [say("recoded", columns=", ".join(names), values=values) for values, names in same.items()]


def not_reached(
    table: Table, plan: Plan, partitions: Mapping[PartitionMethod, Partition], *, published: bool = False
) -> tuple[str, ...]:
    """A sentence for each requested number of rows that is not reached, or only by the whole table; if it is tiny, too.

    ``table`` is the original or the release. If ``published``, a count under five is not given.
    """
    name = "k" if plan.recipe in ("cover", "cells") else "min_cell"
    found = []
    for one in sorted(dict.fromkeys(step.within for step in plan.steps), key=lambda one: -one.min_rows):
        sizes = partitions[one].cells.sizes
        smallest = int(sizes.min())
        if one.groups_similar:
            if len(sizes) == 1 < one.min_rows:
                found.append(
                    f"With k = {one.min_rows:,} all rows form one group: every average is that of the whole column."
                )
        elif smallest < one.min_rows and not (name == "k" and found):  # the target's tree asks for fewer than k
            few = f"fewer than {FEWEST}" if published and smallest < FEWEST else str(smallest)
            rows = "1 row" if few == "1" else f"{few} rows"
            all_of_it = ", the whole table" if len(sizes) == 1 else ""
            found.append(f"{name} = {one.min_rows:,} was requested; the smallest group has {rows}{all_of_it}.")
    for share in sorted({step.perturb.shared_by for step in plan.steps}):
        written = [table[name] for step in plan.steps if step.perturb.shared_by == share for name in step.columns]
        few_known = [c.name for c in written if not c.is_category and 0 < np.count_nonzero(~c.missing) < share]
        if few_known:
            listed = ", ".join(map(repr, few_known))
            found.append(f"share = {share:,} was requested; fewer rows have a number in {listed}: they share one.")
    if len(table) < FEWEST:
        found.append(f"The table has fewer than {FEWEST} rows: no method protects so few people.")
    return tuple(dict.fromkeys(found))


def dealt_share(plan: Plan) -> int:
    """How many rows share each number before it is exchanged, at most over steps."""
    return max((step.perturb.shared_by for step in plan.steps), default=1)
