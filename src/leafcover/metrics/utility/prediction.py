"""Models trained on the release and on the original: accuracy on held-out rows, and how often they agree."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leafcover.arrays import MISSING, Codes, Floats, Rows
from leafcover.errors import NameUnknown, TableError
from leafcover.metrics.estimates import Estimate, balanced_difference_of, balanced_share_of, difference_of, share_of
from leafcover.metrics.models import (
    BINS,
    MOST,
    MOST_TESTS,
    Prepared,
    Sides,
    answers,
    classes_for,
    features_of,
    mostly_unique,
    prepared,
    sides_of,
)
from leafcover.metrics.pair import SEED, Pair, coverage_note
from leafcover.table.table import Table

SIX = ("c4.5", "sysfor", "logistic regression", "nearest neighbours", "random forest", "neural network")


@dataclass(frozen=True)
class ModelAccuracy:
    """One kind of model: accuracy on held-out rows, and accuracy averaged over classes."""

    model: str
    released: Estimate  # grown on the release
    original: Estimate  # grown on the original
    difference: Estimate  # released minus original
    alike: Estimate  # the share of held-out rows with the same answer of both, right or wrong
    balanced_released: Estimate
    balanced_original: Estimate
    balanced_difference: Estimate


@dataclass(frozen=True)
class Prediction:
    """Accuracy of models for the target, compared with always answering the most frequent class."""

    target: str
    classes: int
    scores: tuple[ModelAccuracy, ...]
    majority: Estimate  # accuracy of that answer
    balanced_majority: Estimate
    pairs: int  # 1: intervals over held-out rows; more: over pairs
    rows: int  # the most that a model was trained on
    of: int
    tests: int  # held-out rows with a known target, over all pairs
    how: str


@dataclass(frozen=True, eq=False)
class _Test:
    """One pair: for each model which held-out rows it predicts correctly, on each side; and for the majority class."""

    labels: Codes
    classes: int
    released: dict[str, Floats]
    original: dict[str, Floats]
    alike: dict[str, Floats]  # which rows both sides give the same answer
    majority: Floats
    rows: int  # trained on
    tests: int  # drawn for testing, including rows with a missing target


def prediction(
    pairs: Sequence[Pair],
    *,
    models: Sequence[str] = SIX,
    bins: int = BINS,
    most: int = MOST,
    most_tests: int = MOST_TESTS,
) -> Prediction:
    """Accuracy on the pairs' controls of models for the target, grown on release and original.

    Several pairs are repetitions of one plan on other rows (folds). A target that is a number with more than ten values
    is predicted by class: ``bins`` groups of equal size, cut where the original's are.
    """
    if not pairs or not pairs[0].target:
        raise TableError("No target is named, so nothing can be predicted. Add target=COLUMN.")
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
        how=f"learned from {coverage_note(rows, of)}, tested on {coverage_note(tests, held)} held out",
    )


def _tested(pair: Pair, models: Sequence[str], bins: int, most: int, most_tests: int) -> _Test:
    sides = sides_of(pair, most=most, most_tests=most_tests)
    classes = classes_for(sides.original[pair.target], bins=bins)
    ours, theirs = (classes.of(side[pair.target]) for side in (sides.original, sides.released))
    asked = classes.of(sides.test[pair.target])
    known = np.flatnonzero(asked != MISSING)
    labels, test = asked[known], sides.test.take(known).without(pair.target)
    released = sides.released.without(pair.target)
    original, own_test = sides.learned(pair.target)
    first = {m: answers(m, original, ours, own_test.take(known)) for m in models}
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


def _score(model: str, found: Sequence[_Test], labels: Sequence[Codes]) -> ModelAccuracy:
    released, original = [one.released[model] for one in found], [one.original[model] for one in found]
    return ModelAccuracy(
        model=model,
        released=share_of(released),
        original=share_of(original),
        difference=difference_of(released, original),
        alike=share_of([one.alike[model] for one in found]),
        balanced_released=balanced_share_of(released, labels),
        balanced_original=balanced_share_of(original, labels),
        balanced_difference=balanced_difference_of(released, original, labels),
    )


# Agreement: how often models trained on the release and on the original give held-out rows the same answer.
#
# It is compared with its floor, the same for a bootstrap resample of the original. Two samples of one population agree
# no better than that, so a release at its floor loses no more than sampling variation does.


FLOORS = 2  # resamples
MOST_OTHERS = 40  # columns besides the target; evenly spaced if a table has more


@dataclass(frozen=True)
class Agreement:
    """One column as target: shares of the held-out rows."""

    target: str
    classes: int
    agreement: Estimate  # same answer of the models of release and original
    floor: Estimate  # same answer of the models of a resample and of the original
    chance: Estimate  # same answer if the models of release and original were independent
    released: Estimate  # predicted correctly by the model of the release
    original: Estimate  # predicted correctly by the model of the original


@dataclass(frozen=True)
class Agreements:
    """The target, every other column, and their mean, over the same held-out rows."""

    model: str
    target: Agreement | None
    others: tuple[Agreement, ...]
    mean: Estimate  # of the others
    mean_floor: Estimate
    mean_chance: Estimate
    left_out: tuple[str, ...]  # columns with one class, or that identify rows rather than groups
    not_asked: tuple[str, ...]  # columns left out because there are too many
    pairs: int  # 1: intervals over held-out rows; more: over pairs
    rows: int  # the most that a model was trained on
    of: int
    tests: int  # held-out rows predicted, over all pairs
    how: str


@dataclass(frozen=True, eq=False)
class _TargetTest:
    """One target on one pair: success between 0 and 1 of each held-out row."""

    classes: int
    agreement: Floats
    floor: Floats
    chance: Floats
    released: Floats
    original: Floats


def agreement(
    pairs: Sequence[Pair],
    *,
    targets: Sequence[str] | None = None,
    model: str = "tree",
    min_leaf: int | None = None,
    bins: int = BINS,
    floors: int = FLOORS,
    most: int = MOST,
    most_tests: int = MOST_TESTS,
) -> Agreements:
    """Agreement on the pairs' controls, for the pair's target and each other column (or those of ``targets``).

    ``model`` is "tree" (scikit-learn's, on one-hot categories, of at least ``min_leaf`` rows a leaf: 50, or a
    hundredth of a table below 5,000 rows), "c4.5", or any other of `prediction`. Numbers are cut into ``bins`` groups
    of equal size, where the original's are; a missing value is a class of its own.
    """
    if not pairs:
        raise TableError("No pair of tables was given, so no agreement can be measured. Give at least one.")
    sides = [sides_of(pair, most=most, most_tests=most_tests) for pair in pairs]
    names = [column.name for column in sides[0].original.columns]
    for name in targets or ():
        if name not in names:
            raise NameUnknown("column", name, names)
    wanted = [name for name in names if targets is None or name in targets]
    fit = [name for name in wanted if all(_predictable(side.original, name, bins) for side in sides)]
    asked = fit if targets is not None else _spaced(fit, pairs[0].target)
    drawn = [[(rows, side.whole.take(rows)) for rows in _resamples(len(side.original), floors)] for side in sides]
    found = {
        name: [_target_tested(*both, name, model, min_leaf, bins) for both in zip(sides, drawn, strict=True)]
        for name in asked
    }
    others = [runs for name, runs in found.items() if name != pairs[0].target]
    rows, of = max(len(side.original) for side in sides), max(len(pair.original) for pair in pairs)
    tests, held = sum(len(side.test) for side in sides), sum(len(p.control) for p in pairs if p.control is not None)
    return Agreements(
        model=model,
        target=_agreement(pairs[0].target, found[pairs[0].target]) if pairs[0].target in found else None,
        others=tuple(_agreement(name, runs) for name, runs in found.items() if name != pairs[0].target),
        mean=_mean([[run.agreement for run in runs] for runs in others]),
        mean_floor=_mean([[run.floor for run in runs] for runs in others]),
        mean_chance=_mean([[run.chance for run in runs] for runs in others]),
        left_out=tuple(name for name in wanted if name not in fit),
        not_asked=tuple(name for name in fit if name not in asked),
        pairs=len(pairs),
        rows=rows,
        of=of,
        tests=tests,
        how=f"learned from {coverage_note(rows, of)}, tested on {coverage_note(tests, held)} held out",
    )


def agree(
    original: Table,
    other: Table,
    test: Table,
    target: str,
    *,
    model: str = "tree",
    min_leaf: int | None = None,
    bins: int = BINS,
) -> tuple[float, float]:
    """For plain tables: the share of test rows with the same answer of both models, and the other model's accuracy.

    The tables have the same columns, and codes of categories mean the same in all of them, as in a `Pair`.
    """
    features = features_of(original)
    sides = Sides(prepared(original, features), prepared(other, features), prepared(test, features))
    found = _target_tested(sides, [], target, model, min_leaf, bins)
    return float(found.agreement.mean()), float(found.released.mean())


def _predictable(rows: Prepared, name: str, bins: int) -> bool:
    column = rows[name]
    if column.is_category and mostly_unique(column):
        return False
    return classes_for(column, bins=bins, with_missing=True).count > 1


def _spaced(names: Sequence[str], target: str) -> list[str]:
    """The target, and as many of the others as time allows."""
    others = [name for name in names if name != target]
    kept = {others[i] for i in np.linspace(0, len(others) - 1, min(MOST_OTHERS, len(others))).astype(int)}
    return [name for name in names if name == target or name in kept]


def _resamples(rows: int, floors: int) -> list[Rows]:
    """Row numbers drawn with replacement, the same for every target."""
    return [np.random.default_rng([SEED, number]).integers(0, rows, rows) for number in range(floors)]


def _target_tested(
    sides: Sides, resamples: Sequence[tuple[Rows, Prepared]], target: str, model: str, min_leaf: int | None, bins: int
) -> _TargetTest:
    classes = classes_for(sides.original[target], bins=bins, with_missing=True)
    ours, theirs, truth = (classes.of(side[target]) for side in (sides.original, sides.released, sides.test))
    released, test = (side.without(target) for side in (sides.released, sides.test))
    original, own_test = sides.learned(target)
    first = answers(model, original, ours, own_test, min_leaf=min_leaf)
    second = answers(model, released, theirs, test, min_leaf=min_leaf)
    alike = [
        first == answers(model, again.without(target), ours[rows], own_test, min_leaf=min_leaf)
        for rows, again in resamples
    ]
    return _TargetTest(
        classes=classes.count,
        agreement=(first == second).astype(np.float64),
        floor=np.mean(alike, axis=0) if alike else np.empty(0),
        chance=_chance(first, second),
        released=(second == truth).astype(np.float64),
        original=(first == truth).astype(np.float64),
    )


def _chance(first: Codes, second: Codes) -> Floats:
    """For each row how often the second gives the first's answer to any row (as in Cohen's kappa)."""
    places = max(first.max(initial=MISSING), second.max(initial=MISSING)) + 2  # no answer, -1, has the first
    return (np.bincount(second + 1, minlength=places) / max(1, len(second)))[first + 1]


def _agreement(target: str, runs: Sequence[_TargetTest]) -> Agreement:
    return Agreement(
        target=target,
        classes=max(run.classes for run in runs),
        agreement=share_of([run.agreement for run in runs]),
        floor=share_of([run.floor for run in runs]),
        chance=share_of([run.chance for run in runs]),
        released=share_of([run.released for run in runs]),
        original=share_of([run.original for run in runs]),
    )


def _mean(targets: Sequence[Sequence[Floats]]) -> Estimate:
    """The mean over targets first, row by row, since all use the same rows."""
    return share_of([np.mean(rows, axis=0) for rows in zip(*targets, strict=True)])
