"""Measure a release: what its plan tells an attacker is handed down to measures that know nothing of plans."""

from leafcover.measuring.measures import Facts, Measures, measures
from leafcover.releasing.comparison import Comparison
from leafcover.releasing.known import Known, alone, averaged, disclosed, pinned, widths
from leafcover.releasing.run import Progress
from leafcover.releasing.target import bins_of


def measure_all(compared: Comparison, *, tell: Progress = lambda words, share: None) -> Measures:
    """Every measure that the pair, its plan and the rows that were not released allow."""
    known = compared.known
    tell("releasing again without some rows", 0.0)
    tests = compared.tests
    return measures(
        compared.pair,
        tests=tests,
        control=compared.control,
        evidence=compared.evidence,
        facts=None if known is None else facts_of(known),
        bins=None if known is None else bins_of(known.plan),
        tell=tell,
    )


def facts_of(known: Known) -> Facts:
    """What the plan alone tells of the original."""
    return Facts(pinned(known), widths(known), alone(known), disclosed(known), tuple(averaged(known)))
