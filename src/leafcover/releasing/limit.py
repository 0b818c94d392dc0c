"""The risks that a limit is set on: informed linkage, and what is learned of people beyond what a pattern tells.

Both count by the upper end of their interval: a small table, of which little is known, must not pass for a safe one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from leafcover.errors import RiskTooHigh, TableError
from leafcover.measuring.figures import Estimate, Risk
from leafcover.measuring.risk.inference import attacked_columns, inferences
from leafcover.measuring.risk.informed import Informed, informed
from leafcover.measuring.risk.learned import learned_linkage
from leafcover.releasing.comparison import Comparison
from leafcover.releasing.evidence import certain
from leafcover.releasing.known import Known
from leafcover.releasing.pairing import keys_of
from leafcover.releasing.run import Release
from leafcover.table.table import Table

MOST_ALONE = 0.05  # share of rows in cells of their own that is released without being forced


@dataclass(frozen=True)
class Limited:
    """A risk and the words for it."""

    what: str
    risk: Risk | Estimate


def limited_risks(compared: Comparison, *, tell: Callable[[float], None] = lambda share: None) -> tuple[Limited, ...]:
    """Informed linkage, and inference above control, both by the strongest attack that is known here.

    Inference is of the confidential columns, else of the target, else of all.
    """
    pair = compared.pair
    evidence = compared.evidence
    linked = learned_linkage(pair) if evidence is None else informed(evidence, tell=tell)
    if linked is None:
        raise TableError("A limit was set on the risk, but no pairs say which released row is whose. Give --pairs.")
    found = [Limited("informed linkage", linked.first)]
    columns = pair.confidential or ((pair.target,) if pair.target else attacked_columns(pair))
    for one in inferences(compared.attacked, columns=columns):
        column, above = one.column, one.strongest.above_control
        if above is None:
            raise TableError(
                f"A limit was set on the risk, but without rows that were not released nobody can tell what is learned "
                f"of {column} above control. Give --control, or release with --hold-out."
            )
        found.append(Limited(f"inference of {column} above control", above))
    return tuple(found)


def certain_linkage(original: Table, release: Release) -> Informed | None:
    """Informed linkage where it costs nothing: when the plan makes every row of a group as likely as any other."""
    evidence = certain(Known(original, release.plan, release.partitions), keys_of(original, release))
    return None if evidence is None else informed(evidence)


def refuse_alone(release: Release) -> None:
    """End with one line when many rows share their cell with nobody."""
    if release.alone > MOST_ALONE:
        raise RiskTooHigh(
            f"{release.alone:.1%} of the rows stand alone in their cell, more than {MOST_ALONE:.0%}: what their leaves "
            "say of them would be published. Nothing was written. Raise min_cell, or add --force to release them all "
            "the same."
        )


def refuse_above(risks: tuple[Limited, ...], limit: float) -> None:
    """End with one line when the upper end of a risk is above the limit."""
    for one in risks:
        if one.risk.high > limit:
            raise RiskTooHigh(
                f"The risk of {one.what} is {one.risk}, its upper end above the limit {limit}. Nothing was written. "
                "Hide more (a larger k, more noise, another recipe), drop columns, or raise --max-risk."
            )
