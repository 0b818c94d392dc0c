"""The figures of one release of one split, as plain numbers; what no key changes is computed once a split."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from benchmarks.audit.tables import ADULT, Data, split

from leafcover.engine.attacker import Known
from leafcover.engine.evaluate import attacker_of, pair_from
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.attribute_inference import inferences
from leafcover.metrics.disclosure.copies import copies
from leafcover.metrics.disclosure.informed_inference import InformedAttack, Test, informed_attacks
from leafcover.metrics.disclosure.membership_inference import membership
from leafcover.metrics.models import BINS, MOST, MOST_TESTS, ClassLabels, Sides, answers, classes_for, sides_of
from leafcover.metrics.pair import Pair
from leafcover.metrics.utility.bivariate import value_pairs
from leafcover.metrics.utility.margins import margins, relation_errors
from leafcover.recipes import plan_for
from leafcover.recipes.plan import Plan, step_table
from leafcover.table.table import Table

MIN_LEAF = 50  # of the trees that judge
FLOORS = 10  # bootstrap samples a split
KNOWN = 0.9  # the share of other rows that the attacker with background knowledge knows
WORK = 2_000_000_000  # pairs of columns times rows times resamples
Figures = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Split:
    """Rows that are released and the control, with everything that the key does not change."""

    data: Data
    number: int
    train: Table
    test: Table
    first: dict[str, Any] = field(default_factory=dict)  # answers of the trees of the original

    @cached_property
    def plan(self) -> Plan:
        settings = {} if self.data.bins is None else {"bins": self.data.bins}
        return plan_for(self.train, "cover", target=self.data.target, settings=settings)

    @property
    def targets(self) -> tuple[str, ...]:
        return (self.data.target, *self.data.others)

    def floors(self, sides: Sides) -> Iterator[tuple[str, list[float]]]:
        """The agreement of trees grown on bootstrap samples, for each target."""
        rows = len(sides.original)
        samples = [np.random.default_rng([self.number, one]).integers(0, rows, rows) for one in range(FLOORS)]
        for target in self.targets:
            classes = self.classes(sides, target)
            labels, training = classes.of(sides.original[target]), sides.original.without(target)
            test = sides.test.without(target)
            self.first[target] = answers("tree", training, labels, test, min_leaf=MIN_LEAF)
            drawn = (answers("tree", training.take(some), labels[some], test, min_leaf=MIN_LEAF) for some in samples)
            yield target, [_share(self.first[target] == one) for one in drawn]

    def classes(self, sides: Sides, target: str) -> ClassLabels:
        bins = self.data.bins or BINS if target == self.data.target else BINS
        return classes_for(sides.original[target], bins=bins, with_missing=True)


def _share(found: Any) -> float:
    return round(float(np.mean(found)), 5)


def split_of(table: Table, data: Data, number: int) -> Split:
    return Split(data, number, *split(table, data, number))


def measured(one: Split, key: int, common: Figures | None) -> tuple[Figures, Figures]:
    """The figures of one release, and those of its split (computed with the first key)."""
    began = time.process_time()
    plan = one.plan
    planned = time.process_time() - began
    began = time.process_time()
    release = run(one.train, plan, key=Key.from_seed(1_000 * one.number + key))
    seconds = time.process_time() - began
    pair = pair_from(one.train, release, one.test)
    sides = sides_of(pair, most=MOST, most_tests=MOST_TESTS)
    related, margin = relation_errors(pair, most_work=WORK), margins(pair)
    shared = common or {}
    if common is None or not one.first:
        floors = dict(one.floors(sides))
        shared = {
            "rows": len(one.train),
            "control": len(one.test),
            "columns": len(pair.names),
            "plan seconds": round(planned, 2),
            "floors": floors,
            "relations": {_name(e): [round(e.before, 6), round(e.resampled, 6)] for e in related.entries},
            "margins": [round(margin.pairs.expected, 2), round(margin.triples.expected, 2)],
            "new pairs of control": _new_pairs_of_control(pair),
        }
    found: Figures = {
        "release seconds": round(seconds, 2),
        "agreement": {},
        "relations": {_name(e): round(e.after, 6) for e in related.entries},
        "margins": [round(margin.pairs.score, 2), round(margin.triples.score, 2)],
        "margin ratios": [round(margin.pairs.ratio, 4), round(margin.triples.ratio, 4)],
        "worst margin": {" x ".join(one.columns): round(one.ratio, 4) for one in margin.pairs.worst},
        "new pairs": _share(value_pairs(pair).rows_with_new),
        "copies": _copies(pair),
    }
    for target in one.targets:
        classes = one.classes(sides, target)
        labels, test = classes.of(sides.released[target]), sides.test.without(target)
        said = answers("tree", sides.released.without(target), labels, test, min_leaf=MIN_LEAF)
        found["agreement"][target] = _share(said == one.first[target])
        if target == one.data.target:
            found["accuracy"] = _share(said == classes.of(sides.test[target]))
    known = Known(step_table(plan, one.train), plan, release.partitions, one.train)
    full = one.data is ADULT
    found |= _attacks(attacker_of(pair, known, regrow=full and key == 0), one.data, full)
    if full and key == 0:
        found |= _other_attacks(pair)
    return found, shared


def _name(entry: Any) -> str:
    return f"{entry.first} x {entry.second}"


def _attacks(test: Test, data: Data, full: bool) -> Figures:
    found = informed_attacks([test], most=data.people, background=(KNOWN,) if full else ())
    assert found is not None
    assert found.granted is not None
    result = {"granted": _attack(found.granted)}
    if found.regrown is not None:
        result["regrown"] = _attack(found.regrown)
    if found.background:
        result["background"] = _attack(found.background[0])
    return result


def _attack(attack: InformedAttack) -> Figures:
    return {
        "inference": {one.column: round(one.above_control.value, 5) for one in attack.inferences},
        "area": round(attack.membership.area.value, 5),
        "found": round(attack.membership.found.value, 5),
        "found rarely": round(attack.membership.found_rarely.value, 5),
    }


def _other_attacks(pair: Pair) -> Figures:
    """Attacks that do not know the trees: nearest record and random forest, and membership by distance."""
    near = membership(pair)
    assert near is not None
    strongest = {one.column: one.strongest.above_control for one in inferences(pair)}
    return {
        "distance": {"area": round(near.area.value, 5), "found": round(near.alarms.value, 5)},
        "nearest or forest": {name: round(risk.value, 5) for name, risk in strongest.items() if risk is not None},
    }


def _copies(pair: Pair) -> Figures:
    found = copies(pair)
    result: Figures = {"findings": len(found.findings)}
    for name, match in (("records", found.records), ("unique", found.unique)):
        if match is not None and match.attack.above_control is not None:
            result[name] = {"above": round(match.attack.above_control.value, 5), "p": float(f"{match.p:.4g}")}
    return result


def _new_pairs_of_control(pair: Pair) -> float:
    """The share of control rows with a pair of levels that the original does not have."""
    assert pair.control is not None
    rows = min(len(pair.control), len(pair.original))
    some = np.arange(rows)
    both = Pair(pair.original, pair.control.take(some), paired=False)
    return _share(value_pairs(both).rows_with_new)
