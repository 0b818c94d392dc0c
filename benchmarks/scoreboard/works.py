"""How each method runs on a split: functions that return functions, one for each kind of method."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from benchmarks.scoreboard.methods import group_means, mdav, sequential_cart
from benchmarks.scoreboard.outcome import Outcome, Split
from benchmarks.scoreboard.outside import outside

from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.partition.leaves import Whole
from leafcover.perturb.base import Perturbation
from leafcover.recipes import plan_for
from leafcover.recipes.plan import Plan, Step
from leafcover.table.table import Column, Table

TARGET = "income"
K = 20

Work: TypeAlias = Callable[[Split, bool], Outcome]  # the flag requests a new run
Change: TypeAlias = Callable[[Column, np.random.Generator], Column]


def ours(recipe: str, **settings: Any) -> Work:
    def work(split: Split, _: bool) -> Outcome:
        first = split.train.take(np.arange(min(1_000, len(split.train))))
        _release(first, recipe, split.seed, settings)  # compile first, so that compilation is not timed
        began = time.process_time()
        found = _release(split.train, recipe, split.seed, settings)
        return Outcome(time.process_time() - began, release=found)

    return work


def _release(table: Table, recipe: str, seed: int, settings: dict[str, Any]) -> Any:
    plan = plan_for(table, recipe, target=TARGET, settings=settings)
    return run(table, plan, key=Key.from_seed(seed))


def classical(number: Perturbation, category: Perturbation) -> Work:
    """Numbers changed by one perturbation and categories by another, in the whole table."""

    def release(table: Table, seed: int) -> Any:
        kinds = {is_category: [c.name for c in table if c.is_category == is_category] for is_category in (False, True)}
        steps = (Step(kinds[False], Whole(), number), Step(kinds[True], Whole(), category))
        return run(table, Plan(*steps, target=TARGET), key=Key.from_seed(seed))

    def work(split: Split, _: bool) -> Outcome:
        release(split.train.take(np.arange(min(1_000, len(split.train)))), split.seed)  # compile first
        began = time.process_time()
        found = release(split.train, split.seed)
        return Outcome(time.process_time() - began, release=found)

    return work


def rival(name: str, *, model: bool = False, paired: bool = True) -> Work:
    return lambda split, fresh: replace(outside(split, name, model=model, fresh=fresh), paired=paired)


def by_column(number: Change, category: Change) -> Work:
    """A method that treats each column separately; the target is a category like the others."""

    def work(split: Split, _: bool) -> Outcome:
        rng = np.random.default_rng([split.seed, 1])
        began = time.process_time()
        changed = [(category if column.is_category else number)(column, rng) for column in split.train]
        return Outcome(time.process_time() - began, table=split.train.replace(changed))

    return work


def as_it_is(column: Column, _: np.random.Generator) -> Column:
    return column


def _with(column: Column, values: Any) -> Column:
    return replace(column, values=values, stored=None, grid=None)


def permuted(column: Column, rng: np.random.Generator) -> Column:
    return _with(column, rng.permutation(column.values))


def microaggregated(split: Split, _: bool) -> Outcome:
    began = time.process_time()
    columns = [column for column in split.train if not column.is_category]
    group = mdav(np.column_stack([column.values for column in columns]), K)
    changed = [_with(column, group_means(column.values, group)) for column in columns]
    return Outcome(time.process_time() - began, table=split.train.replace(changed))


def synthesised(split: Split, _: bool) -> Outcome:
    began = time.process_time()
    rng = np.random.default_rng([split.seed, 3])
    drawn = sequential_cart([one.values for one in split.train], [one.is_category for one in split.train], rng)
    changed = [_with(column, values) for column, values in zip(split.train, drawn, strict=True)]
    return Outcome(time.process_time() - began, table=split.train.replace(changed), paired=False)


def resampled(split: Split, _: bool) -> Outcome:
    rows = np.random.default_rng([split.seed, 2]).integers(0, len(split.train), len(split.train))
    return Outcome(0.0, table=split.train.take(rows), paired=False, attacked=False)
