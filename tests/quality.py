"""How well a release serves trees that did not guide it, and how well it hides rows: the figures of the trial."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from leafcover.arrays import MISSING
from leafcover.engine.attacker import Known
from leafcover.engine.evaluate import attacker_of, pair_from
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.metrics.disclosure.informed_inference import informed_attacks
from leafcover.metrics.disclosure.record_linkage import linkage
from leafcover.recipes import plan_for
from leafcover.recipes.plan import step_table


@dataclass(frozen=True)
class Quality:
    agreement: float  # the tree grown on the release answers held-out rows as the one grown on the original
    accuracy: float
    linkage: float  # nan if no released row descends from one original row
    others: float = float("nan")  # mean agreement for other columns as targets


def matrix(table, names):
    """Numbers (a missing one far below), and categories as indices, side by side with their kinds."""
    columns, is_category = [], []
    for name in names:
        c = table[name]
        low, high = (0.0, 0.0) if c.is_category else c.domain
        columns.append(c.values.astype(float) if c.is_category else np.nan_to_num(c.values, nan=low - (high - low)))
        is_category.append(c.is_category)
    return np.column_stack(columns), np.array(is_category)


def classes(column):
    return column.values.astype(int) if column.is_category else np.unique(column.values, return_inverse=True)[1]


class OneHotTree:
    def __init__(self, table, target, min_leaf, encoder=None):
        self.names = [n for n in table.names if n != target]
        x, self.is_category = matrix(table, self.names)
        if encoder is None and self.is_category.any():
            encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=np.float32)
            encoder.fit(x[:, self.is_category])
        self.encoder = encoder
        self.tree = DecisionTreeClassifier(min_samples_leaf=min_leaf, random_state=0)
        self.tree.fit(self._wide(x), table[target].values)

    def _wide(self, x):
        """The matrix a tree is grown on; float32, as scikit-learn compares, and dense, which takes half the time."""
        if not self.is_category.any():
            return x
        numbers, wide = x[:, ~self.is_category], self.encoder.transform(x[:, self.is_category])
        return np.hstack([numbers.astype(np.float32), wide])

    def predict(self, table):
        return self.tree.predict(self._wide(matrix(table, self.names)[0]))


@lru_cache(maxsize=128)
def tree_of_original(table, target, min_leaf):
    """The tree that several others are compared with."""
    return OneHotTree(table, target, min_leaf)


def agreement(original, other, test, target, min_leaf):
    one = tree_of_original(original, target, min_leaf)
    two = OneHotTree(other, target, min_leaf, one.encoder)
    answers = two.predict(test)
    return (one.predict(test) == answers).mean(), (answers == test[target].values).mean()


def bootstrap(table, rng):
    return table.take(rng.integers(0, len(table), len(table)))


@lru_cache(maxsize=2)
def _release(train, target, seed, recipe, settings):
    plan = plan_for(train, recipe, target=target, settings=dict(settings))
    return run(train, plan, key=Key.from_seed(seed))


def measured(train, test, target, seed, *, min_leaf, others=(), recipe="cover", comparisons=20_000_000, **settings):
    """Release the training rows and measure against held-out ones."""
    release = _release(train, target, seed, recipe, tuple(settings.items()))
    table = with_levels_of(train, release.table)
    agree, accurate = agreement(train, table, test, target, min_leaf)
    linked = linkage(pair_from(train, release), comparisons=comparisons).value if release.descends else float("nan")
    rest = [agreement(train, table, test, name, min_leaf)[0] for name in others]
    return Quality(agree, accurate, linked, float(np.mean(rest)) if rest else float("nan"))


def with_levels_of(original, released):
    """The released table with levels numbered as in the original; some may have been pooled as a new one."""
    return released.replace(
        replace(column, values=_numbered(column, original[column.name]), levels=original[column.name].levels)
        for column in released
        if column.is_category
    )


def _numbered(column, original):
    place = {level: at for at, level in enumerate(original.levels)}
    return np.array([*(place.get(level, MISSING) for level in column.levels), MISSING], np.int32)[column.values]


def granted_attack(train, test, target, seed, *, recipe="cover", **settings):
    """What an attacker who is granted the trees or cells infers about the released rows, above the others."""
    release = _release(train, target, seed, recipe, tuple(settings.items()))
    known = Known(step_table(release.plan, train), release.plan, release.partitions, train)
    attacker = attacker_of(pair_from(train, release, test), known, regrow=False)
    return informed_attacks([attacker], background=(), trained=False).granted


def halves(table, share, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    count = int(share) if share > 1 else int(share * len(table))
    return table.take(np.sort(order[:count])), table.take(np.sort(order[count:]))
