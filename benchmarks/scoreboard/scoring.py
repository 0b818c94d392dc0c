"""Measure the utility and disclosure risk of each method.

Predictions come from a tree that guides no recipe: scikit-learn's, on one-hot categories, with at least 50 rows per
leaf.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from benchmarks.scoreboard.outcome import Outcome, Split
from benchmarks.scoreboard.score import Score, Share
from benchmarks.scoreboard.works import TARGET

from leafcover.arrays import MISSING, Codes
from leafcover.engine.evaluate import Comparison, compared_to
from leafcover.metrics.disclosure.attribute_inference import inference
from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.record_linkage import informed, linkage
from leafcover.metrics.estimates import Risk
from leafcover.metrics.models import ClassLabels, Features, Prepared, answers, classes_for, features_of, prepared
from leafcover.metrics.pair import Pair, pair_of
from leafcover.table.table import Table

OTHERS = ("sex", "marital_status", "education", "occupation", "relationship", "workclass")
CONFIDENTIAL = ("occupation", TARGET)
COMPARISONS = 40_000_000  # linkage of a person with a released row, by Gower distance
MIN_LEAF = 50


@dataclass(frozen=True, eq=False)
class Judge:
    """The predictions of the original for one split, computed once for all methods."""

    split: Split

    @cached_property
    def features(self) -> Features:
        """The encoding of rows as numbers, fitted on the original."""
        return features_of(self.split.train)

    @cached_property
    def asked(self) -> Prepared:
        """The rows set aside, as features."""
        return prepared(self.split.test, self.features)

    @cached_property
    def classes(self) -> dict[str, ClassLabels]:
        """The classes of every target."""
        return {name: classes_for(self.split.train[name], with_missing=True) for name in (TARGET, *OTHERS)}

    @cached_property
    def own(self) -> dict[str, Codes]:
        """The predictions of trees grown on the original."""
        return self.of(self.split.train)

    def of(self, table: Table) -> dict[str, Codes]:
        """The predictions of trees grown on a table for the rows set aside, for every target."""
        rows = prepared(table, self.features)
        return {
            name: answers(
                "tree", rows.without(name), found.of(table[name]), self.asked.without(name), min_leaf=MIN_LEAF
            )
            for name, found in self.classes.items()
        }

    def score(self, outcome: Outcome) -> Score:
        """All figures of the outcome of a method."""
        if outcome.answers is not None:
            given = _recoded(self.split.train, outcome.answers)
            return self._utility(outcome, {name: found.of(given[name]) for name, found in self.classes.items()})
        compared = _compared(self.split, outcome)
        utility = self._utility(outcome, self.of(compared.pair.released))
        return _with_risk(utility, compared) if outcome.paired else utility

    def _utility(self, outcome: Outcome, given: dict[str, Codes]) -> Score:
        alike = {name: float((given[name] == own).mean()) for name, own in self.own.items()}
        right = given[TARGET] == self.classes[TARGET].of(self.split.test[TARGET])
        others = float(np.mean([alike[name] for name in OTHERS]))
        return Score(float(right.mean()), alike[TARGET], others, outcome.cpu, outcome.gigabytes)


def _recoded(like: Table, table: Table) -> Table:
    """A table recoded to the levels of another table, whose columns contain all of them."""
    columns = []
    for column in table:
        levels = like[column.name].levels
        lookup = np.array([*(levels.index(level) for level in column.levels), MISSING], np.int32)
        columns.append(replace(column, values=lookup[column.values], levels=levels, stored=None))
    return replace(table, columns=tuple(columns))


def _compared(split: Split, outcome: Outcome) -> Comparison:
    if outcome.release is not None:
        return compared_to(split.train, outcome.release, split.test)
    rows = np.arange(len(split.train))
    return Comparison(pair_of(split.train, outcome.table, rows, target=TARGET, control=split.test))


def _with_risk(utility: Score, compared: Comparison) -> Score:
    pair, evidence = compared.pair, compared.evidence
    learned = learned_linkage(pair)
    return replace(
        utility,
        gower=_share(linkage(pair, comparisons=COMPARISONS)),
        by_plan=None if evidence is None else _share(informed(evidence).first),
        learned=None if learned is None else _share(learned.first),
        **{name: _inferred(pair, name) for name in CONFIDENTIAL},
    )


def _inferred(pair: Pair, column: str) -> tuple[Share, Share]:
    found = inference(pair, column).strongest
    return _share(found.main), _share(found.control)


def _share(risk: Risk) -> Share:
    return Share(risk.value, risk.tries)
