"""The biases of perturbed numbers, by type, as the literature on additive noise names them.

A: their spread. B: relations among confidential columns. C: relations of confidential columns with the others.
D: the shape of their distribution. DM: patterns that data mining no longer finds (Wilson and Rosen 2002). Measured on
numbers; relations of categories stand in `relations`. Needs no pairs of rows.
"""

from dataclasses import dataclass
from math import nan

from leafcover.measuring.pair import Pair
from leafcover.measuring.utility.columns import number_column
from leafcover.measuring.utility.differences import Differences, differences
from leafcover.measuring.utility.relations import Relation, relations

LEAST_CORRELATION = 1e-9  # a smaller one is 0 but for rounding: no change is relative to it


@dataclass(frozen=True)
class Biases:
    """Every type of bias: 0 is none. Nan where a type does not exist, and ``reasons`` says why."""

    spread: Differences  # A: (sd after - sd before) / sd before, of each confidential number
    among: Differences  # B: correlation after - before, of pairs of confidential numbers
    across: Differences  # C: the same, of a confidential number and another one
    distance: Differences  # D: Kolmogorov and Smirnov, of each confidential number
    quantiles: Differences  # D: at 5 % to 95 %, in standard deviations of the original
    accuracy_difference: float  # DM: accuracy of a model of the release less that of one of the original
    rule_similarity: float  # DM: how alike their rules are, between 0 and 1
    abisd: float  # Li and Sarkar: the mean of A, with signs
    abico: float  # Li and Sarkar: the mean of |change / correlation before|, over the pairs of B and C
    confidential: tuple[str, ...]  # the numbers that count as confidential
    reasons: tuple[str, ...]
    rows: int  # that the correlations rest on; everything else rests on all
    of: int


def biases(pair: Pair, *, accuracy_difference: float = nan, rule_similarity: float = nan) -> Biases:
    """Measure every type; DM is handed in by whoever grew the models.

    Without confidential columns named, every number counts as confidential; then there is no bias C.
    """
    confidential = tuple(n for n in pair.numbers if not pair.confidential or n in pair.confidential)
    numbers = [number_column(pair.original[n], pair.released[n]) for n in confidential]
    found = relations(pair, columns=pair.numbers) if pair.numbers else relations(pair)
    pairs = [entry for entry in found.entries if entry.figure == "correlation"]
    inside = [_inside(entry, confidential) for entry in pairs]
    among = [entry for entry, many in zip(pairs, inside, strict=True) if many == 2]
    across = [entry for entry, many in zip(pairs, inside, strict=True) if many == 1]
    relative = [e.difference / e.before for e in (*among, *across) if abs(e.before) > LEAST_CORRELATION]
    spread = differences(number.deviation_difference for number in numbers)
    return Biases(
        spread,
        differences(entry.difference for entry in among),
        differences(entry.difference for entry in across),
        differences(number.distance for number in numbers),
        differences(part for number in numbers for part in number.quantile_differences),
        accuracy_difference,
        rule_similarity,
        spread.signed,
        differences(relative).mean,
        confidential,
        _reasons(pair, confidential, among, across),
        found.rows,
        found.of,
    )


def _inside(entry: Relation, confidential: tuple[str, ...]) -> int:
    return (entry.first in confidential) + (entry.second in confidential)


def _reasons(
    pair: Pair, confidential: tuple[str, ...], among: list[Relation], across: list[Relation]
) -> tuple[str, ...]:
    if not confidential:
        return ("No confidential column is a number, so no bias is measured.",)
    found = []
    if not among:
        found.append("B: there are no two confidential numbers that vary.")
    if not across and not pair.confidential:
        found.append("C: no column was named confidential, so every number counts as confidential.")
    elif not across:
        found.append("C: there is no confidential number beside one that is not.")
    return tuple(found)
