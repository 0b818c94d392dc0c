"""Measurements with small models, for tests that ask how figures are shown and written and not how good they are."""

from contextlib import contextmanager
from functools import partial

import pytest

from leafcover.metrics import models, suite
from leafcover.metrics.disclosure import attribute_inference
from leafcover.metrics.utility import forest

SIZES = (
    (models, {"FOREST": 3, "SYSFOR": 2, "ROUNDS": 2}),
    (attribute_inference, {"TREES": 3}),
    (forest, {"MOST_RESAMPLES": 2}),
)
FEWER = {
    "clusters": {"starts": 1},
    "forests": {"growth": forest.Growth(n_trees=3)},
    "singling_out": {"predicates": 100},
    "propensity_of_trees": {"permutations": 3},
}


@contextmanager
def small_models():
    """Forests of few trees, short training, few predicates: half of a measurement of a small table goes into these."""
    with pytest.MonkeyPatch.context() as patch:
        for module, sizes in SIZES:
            for name, size in sizes.items():
                patch.setattr(module, name, size)
        for name, settings in FEWER.items():
            patch.setattr(suite, name, partial(getattr(suite, name), **settings))
        yield
