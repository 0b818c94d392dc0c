"""The risk of each person: how likely it is that whoever finds this key in the table has found the right one.

In a table that holds everybody it is 1/f for a key that f rows share (the prosecutor's risk). In a survey it is
smaller: Benedetti and Franconi's estimate, the one of mu-Argus, takes the population frequency F of the key as
negative binomial given f, with p = f / (sum of the weights), and the risk as the mean of 1/F.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.fast.arrays import Floats
from leafcover.measuring.figures import Risk, risk_of
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.alike import Classes, chosen_keys, classes_of

HIGH = 0.2  # a risk above it is counted as high: fewer than five to hide among


@dataclass(frozen=True)
class Individual:
    """The risk of re-identification over the rows of the original."""

    risk: Risk  # the mean over rows, with the worst 1 %
    expected: float  # re-identifications, were everybody looked up: the sum
    high: Risk  # rows with a risk above 0.2
    model: str  # "prosecutor" or "survey weights"
    columns: tuple[str, ...]
    rows: int


def individual(pair: Pair, *, columns: Sequence[str] = (), bins: int = 0) -> Individual:
    """The individual risk over the original's keys; with survey weights when the pair names them.

    A missing key is a value of its own. A weight that is missing, or below 1, counts as 1: the row stands for itself.
    """
    keys = chosen_keys(pair, columns)
    classes = classes_of(pair.original, keys, bins=bins)
    by_class = _with_weights(pair, classes) if pair.weight else 1.0 / classes.size
    rows = by_class[classes.label]
    return Individual(
        risk_of(rows),
        float(rows.sum()),
        risk_of((rows > HIGH).astype(np.float64)),
        "survey weights" if pair.weight else "prosecutor",
        keys,
        len(rows),
    )


def mean_reciprocal(sizes: Floats, populations: Floats) -> Floats:
    """The mean of 1/F for keys that so many rows share, and that stand for so many people.

    The mean is (p/f) 2F1(1, 1; f+1; 1-p). For f = 1 that is p/(1-p) log(1/p), for f = 2
    p/(1-p) (1 - p/(1-p) log(1/p)).

    >>> mean_reciprocal(np.array([1.0, 2.0, 4.0]), np.array([215.0, 360.0, 4.0])).round(4)
    array([0.0251, 0.0054, 0.25  ])
    """
    from scipy.special import hyp2f1

    sampled = np.minimum(sizes / populations, 1.0)
    few = sizes <= 30
    function = np.ones(len(sizes))
    function[few] = hyp2f1(1.0, 1.0, sizes[few] + 1.0, 1.0 - sampled[few])
    term = np.where(few, 0.0, 1.0)
    for n in range(20):  # above 30 the library overflows, while terms fall faster than 1 / binomial(30 + n, n)
        term *= (n + 1) / (sizes + n + 1) * (1.0 - sampled)
        function += term
    found: Floats = sampled / sizes * function
    return found


def _with_weights(pair: Pair, classes: Classes) -> Floats:
    weights = np.fmax(pair.original[pair.weight].values.astype(np.float64), 1.0)
    populations: Floats = np.zeros(len(classes.size))
    np.add.at(populations, classes.label, weights)
    return mean_reciprocal(classes.size.astype(np.float64), populations)
