"""How well models grown on the release predict real rows that were held out, beside models grown on the original."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.errors import TableError
from leafcover.fast.arrays import MISSING, Codes, Floats
from leafcover.measuring.classes import BINS, classes_for
from leafcover.measuring.figures import Estimate
from leafcover.measuring.models import MOST, MOST_TESTS, answers, sides_of
from leafcover.measuring.pair import Pair
from leafcover.measuring.sampling import how
from leafcover.measuring.shares import balanced_difference_of, balanced_share_of, difference_of, share_of

SIX = ("c4.5", "sysfor", "logistic regression", "nearest neighbours", "random forest", "neural network")


@dataclass(frozen=True)
class Score:
    """One kind of model: the share of held-out rows it predicts rightly, and the same by class, averaged."""

    model: str
    released: Estimate  # grown on the release
    original: Estimate  # grown on the original
    difference: Estimate  # released less original
    alike: Estimate  # the share of held-out rows that both answer alike, rightly or not
    balanced_released: Estimate
    balanced_original: Estimate
    balanced_difference: Estimate


@dataclass(frozen=True)
class Prediction:
    """What models grown on the release know of the target, beside always answering the most frequent class."""

    target: str
    classes: int
    scores: tuple[Score, ...]
    majority: Estimate  # accuracy of that answer
    balanced_majority: Estimate
    pairs: int  # 1: intervals over held-out rows; more: over pairs
    rows: int  # that a model learned from at most
    of: int
    tests: int  # held-out rows with a known target that were asked, of all pairs together
    how: str


@dataclass(frozen=True, eq=False)
class _Test:
    """One pair: for each model which held-out rows it predicts rightly, by each side; and the majority's answer."""

    labels: Codes
    classes: int
    released: dict[str, Floats]
    original: dict[str, Floats]
    alike: dict[str, Floats]  # which rows both sides answer alike
    majority: Floats
    rows: int  # learned from
    tests: int  # drawn for testing, with rows whose target is missing


def prediction(
    pairs: Sequence[Pair],
    *,
    models: Sequence[str] = SIX,
    bins: int = BINS,
    most: int = MOST,
    most_tests: int = MOST_TESTS,
) -> Prediction:
    """Accuracy on the pairs' controls of models for the target, grown on release and original.

    Several pairs are one plan run again on other rows (folds). A target that is a number with more than ten values
    is predicted by class: ``bins`` groups of equal size, cut where the original's are.
    """
    if not pairs or not pairs[0].target:
        raise TableError("No target is named, so nothing can be predicted. Name one with --target.")
    found = [_tested(pair, models, bins, most, most_tests) for pair in pairs]
    labels = [one.labels for one in found]
    majority = [one.majority for one in found]
    rows, of = max(one.rows for one in found), max(len(pair.original) for pair in pairs)
    tests, held = sum(one.tests for one in found), sum(len(p.control) for p in pairs if p.control is not None)
    return Prediction(
        target=pairs[0].target,
        classes=max(one.classes for one in found),
        scores=tuple(_score(model, found, labels) for model in models),
        majority=share_of(majority),
        balanced_majority=balanced_share_of(majority, labels),
        pairs=len(pairs),
        rows=rows,
        of=of,
        tests=sum(map(len, labels)),
        how=f"learned from {how(rows, of)}, tested on {how(tests, held)} held out",
    )


def _tested(pair: Pair, models: Sequence[str], bins: int, most: int, most_tests: int) -> _Test:
    sides = sides_of(pair, most=most, most_tests=most_tests)
    classes = classes_for(sides.original[pair.target], bins=bins)
    ours, theirs = (classes.of(side[pair.target]) for side in (sides.original, sides.released))
    asked = classes.of(sides.test[pair.target])
    known = np.flatnonzero(asked != MISSING)
    labels, test = asked[known], sides.test.take(known).without(pair.target)
    original, released = (side.without(pair.target) for side in (sides.original, sides.released))
    first = {m: answers(m, original, ours, test) for m in models}
    second = {m: answers(m, released, theirs, test) for m in models}
    frequent = np.bincount(ours[ours != MISSING], minlength=1).argmax()
    return _Test(
        labels=labels,
        classes=classes.count,
        released={m: (second[m] == labels).astype(np.float64) for m in models},
        original={m: (first[m] == labels).astype(np.float64) for m in models},
        alike={m: (first[m] == second[m]).astype(np.float64) for m in models},
        majority=(labels == frequent).astype(np.float64),
        rows=len(original),
        tests=len(sides.test),
    )


def _score(model: str, found: Sequence[_Test], labels: Sequence[Codes]) -> Score:
    released, original = [one.released[model] for one in found], [one.original[model] for one in found]
    return Score(
        model=model,
        released=share_of(released),
        original=share_of(original),
        difference=difference_of(released, original),
        alike=share_of([one.alike[model] for one in found]),
        balanced_released=balanced_share_of(released, labels),
        balanced_original=balanced_share_of(original, labels),
        balanced_difference=balanced_difference_of(released, original, labels),
    )
