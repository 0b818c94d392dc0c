"""Measure the utility and disclosure risk of each method.

Predictions come from a tree that guides no recipe: scikit-learn's, on one-hot categories, with at least 50 rows per
leaf.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from benchmarks.scoreboard.outcome import Outcome, Split
from benchmarks.scoreboard.score import Attempt, Score, Share
from benchmarks.scoreboard.works import TARGET

from leafcover.arrays import MISSING, Codes
from leafcover.engine.evaluate import Comparison, compared_to
from leafcover.metrics.disclosure.attribute_inference import inferences
from leafcover.metrics.disclosure.copies import Copies, copies
from leafcover.metrics.disclosure.informed_inference import informed_attacks
from leafcover.metrics.disclosure.membership_inference import membership
from leafcover.metrics.disclosure.probabilistic_linkage import learned_linkage
from leafcover.metrics.disclosure.record_linkage import informed
from leafcover.metrics.estimates import Risk
from leafcover.metrics.models import ClassLabels, Features, Prepared, answers, classes_for, features_of, prepared
from leafcover.metrics.pair import Pair, pair_of
from leafcover.metrics.utility.prediction import agreement
from leafcover.table.table import Table

OTHERS = ("sex", "marital_status", "education", "occupation", "relationship", "workclass")
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
        if compared.pair.raw is not None:
            return _attacked(
                _recoded_utility(outcome, compared.pair), replace(compared, pair=compared.pair.for_attacks)
            )
        utility = self._utility(outcome, self.of(compared.pair.released))
        return _attacked(utility, compared) if outcome.attacked else utility

    def _utility(self, outcome: Outcome, given: dict[str, Codes]) -> Score:
        alike = {name: float((given[name] == own).mean()) for name, own in self.own.items()}
        right = given[TARGET] == self.classes[TARGET].of(self.split.test[TARGET])
        others = float(np.mean([alike[name] for name in OTHERS]))
        return Score(float(right.mean()), alike[TARGET], others, outcome.cpu, outcome.gigabytes)


def _recoded_utility(outcome: Outcome, pair: Pair) -> Score:
    """The same of a recoded table: its trees predict recoded rows, those of the original the rows as they were."""
    found = agreement([pair], targets=[TARGET, *OTHERS], min_leaf=MIN_LEAF, floors=0)
    own = found.target
    return Score(own.released.value, own.agreement.value, found.mean.value, outcome.cpu, outcome.gigabytes)


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
    rows = np.arange(len(split.train)) if outcome.paired else None
    return Comparison(pair_of(split.train, outcome.table, rows, target=TARGET, control=split.test))


def _attacked(utility: Score, compared: Comparison) -> Score:
    """The score with every attack that a limit on the risk compares; nobody of them knows other people's rows."""
    copied = copies(compared.pair)
    attempts = (*_linked(compared), *_inferred(compared.pair), *_informed(compared), *_members(compared.pair))
    found = tuple(dict.fromkeys(one.kind for one in copied.findings))
    return replace(utility, attempts=(*attempts, *_copied(copied)), copied=found)


def _linked(compared: Comparison) -> Iterator[Attempt]:
    if compared.evidence is not None:
        yield Attempt("linkage", "plan known", _share(informed(compared.evidence).first))
    learned = learned_linkage(compared.pair) if compared.descends and compared.pair.paired else None
    if learned is not None:
        yield Attempt("linkage", "probabilistic", _share(learned.first))


def _inferred(pair: Pair) -> Iterator[Attempt]:
    for one in inferences(pair):
        for name, attack in (("nearest row", one.nearest), ("stable columns", one.trusted), ("forest", one.learned)):
            if attack is not None:
                yield Attempt("inference", name, _share(attack.main), _share(attack.control), one.column)


def _informed(compared: Comparison) -> Iterator[Attempt]:
    """Attackers who know the method, by its plan or by what is regrown from the release, and a trained classifier."""
    found = informed_attacks(compared.attackers(), background=())
    for name, attack in (("plan known", found.granted), ("regrown", found.regrown)):
        if attack is not None:
            for one in attack.inferences:
                yield Attempt("inference", name, _share(one.attack.main), _share(one.attack.control), one.column)
            yield from _membership(name, attack.membership.area, attack.membership.found)
    if found.trained is not None:
        yield from _membership("classifier", found.trained.area, found.trained.found)


def _members(pair: Pair) -> Iterator[Attempt]:
    found = membership(pair)
    yield from _membership("distance", found.area, found.alarms)
    if found.presence is not None:
        yield from _membership("values", found.presence.area, found.presence.found)


def _membership(name: str, area: Risk, found: Risk) -> Iterator[Attempt]:
    yield Attempt("area", name, _share(area))
    yield Attempt("found", name, _share(found))


def _copied(found: Copies) -> Iterator[Attempt]:
    for kind, match in (("copies", found.records), ("unique", found.unique)):
        if match is not None:
            yield Attempt(kind, "whole records", _share(match.attack.main), _share(match.attack.control))


def _share(risk: Risk) -> Share:
    return Share(risk.value, risk.tries)
