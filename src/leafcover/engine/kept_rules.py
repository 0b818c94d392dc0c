"""Rules of a plan: which columns they tie, which pairs of levels they forbid, and how many rows keep them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leafcover.arrays import Bools
from leafcover.errors import InvariantViolated, PlanError
from leafcover.recipes.plan import Plan
from leafcover.table.rule_search import check_rule
from leafcover.table.table import Table
from leafcover.table.tied_columns import TiedColumns


@dataclass(frozen=True)
class RuleFact:
    """How many of the rows that a rule applies to keep it."""

    text: str
    found: bool  # in the table, not declared
    before: float  # share of original rows
    after: float  # share of released rows
    broken: int  # released rows

    @property
    def is_public(self) -> bool:
        """Whether the rule names no level, which may be a rare value."""
        return not self.text.startswith("if ")


def tied_by(plan: Plan, table: Table) -> TiedColumns:
    """How the rules of a plan tie the columns of a table; an error if a rule does not fit the table or a step."""
    for rule in plan.all_rules:
        rule.check(table)
    tied = plan.tied(table)
    for number, step in enumerate(plan.steps, 1):
        for name in step.columns:
            if name in tied.computed:
                raise PlanError(
                    f"Step {number} changes column {name!r}, which a rule of the plan computes. "
                    "Leave out the step or the rule."
                )
    return tied


def forbidden_pairs(plan: Plan, tied: TiedColumns, table: Table) -> dict[tuple[str, str], Bools]:
    """Which pairs of levels of two columns the rules forbid; a pair of columns stands in both orders."""
    found: dict[tuple[str, str], Bools] = {}
    for rule in (*plan.all_rules, *tied.implied):
        for one, other, pairs in () if rule.ties else rule.forbidden_pairs(table):
            if one in table.names and other in table.names:
                found[one, other] = found.get((one, other), False) | pairs
                found[other, one] = found[one, other].T
    return found


def rule_facts(plan: Plan, original: Table, released: Table) -> tuple[RuleFact, ...]:
    """How many rows keep each rule, before and after."""
    facts = []
    for rule in plan.all_rules:
        before, after = check_rule(rule, original, original), check_rule(rule, released, original)
        facts.append(RuleFact(rule.text, rule in plan.found_rules, before.share, after.share, after.rows - after.kept))
    return tuple(facts)


def refuse_broken(rules: Sequence[RuleFact]) -> None:
    """Raise an error if a declared rule is broken."""
    for fact in rules:
        if fact.broken and not fact.found:
            raise InvariantViolated(
                f"The rule {fact.text!r} is broken by {fact.broken:,} released rows, so nothing is written. "
                "Leave out the rule, or choose a recipe that keeps it, such as cover."
            )


def less_kept(rules: Sequence[RuleFact]) -> Iterator[str]:
    """A sentence for each rule that fewer rows keep than before."""
    for fact in rules:
        if fact.after < fact.before:
            yield (
                f"The rule {fact.text!r} was found in {fact.before:.2%} of the rows, but only {fact.after:.2%} of the "
                "released rows keep it."
            )
