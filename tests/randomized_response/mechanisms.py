"""Mechanisms for the tests: one of each kind, and every kind at any parameters."""

import numpy as np
from hypothesis import strategies as st

from leafcover.keyed_random import Draws, Key
from leafcover.randomized_response import Groups, Kary, OneCoin, UnrelatedQuestion, Warner

DRAWS = Draws(Key.from_seed(31).secret)

CHANNELS = {
    "warner": Warner(0.75),
    "warner below a half": Warner(0.2),
    "kary": Kary(0.5, levels=4),
    "kary that lies": Kary(0.05, levels=3),
    "unrelated at a half": UnrelatedQuestion(0.5, alpha=0.3),
    "one coin": OneCoin(0.7, columns=3),
    "one coin below a half": OneCoin(0.35, columns=2),
    "groups": Groups(0.8, groups=((0, 2), (1,))),
    "a coin each": Groups(0.7, groups=((0,), (1,), (2,))),
}


def coins():
    return st.floats(0, 1).filter(lambda theta: abs(2 * theta - 1) >= 0.05 and not 0 < theta < 2**-11)


def any_mechanism():
    partitions = st.sampled_from(
        [((0,),), ((1, 0),), ((0,), (1,)), ((2, 0), (1,)), ((0,), (1,), (2,)), ((0, 3), (1, 2))]
    )
    return st.one_of(
        coins().map(Warner),
        st.builds(OneCoin, coins(), st.integers(1, 4)),
        st.builds(Groups, coins(), partitions),
        st.builds(UnrelatedQuestion, st.floats(0.05, 1), st.floats(0.01, 0.99)),
        st.tuples(st.floats(0, 1), st.integers(2, 6))
        .filter(lambda both: not 0 < both[0] < 2**-11 and abs(both[0] - (1 - both[0]) / (both[1] - 1)) >= 0.05)
        .map(lambda both: Kary(*both)),
    )


def as_codes(mechanism, cells):
    """Codes in the shape a mechanism takes, from numbers of cells."""
    codes = np.stack(np.unravel_index(cells, mechanism.shape)).astype(np.int32)
    return codes[0] if len(mechanism.shape) == 1 else codes


def as_cells(mechanism, codes):
    return np.ravel_multi_index(tuple(np.atleast_2d(codes)), mechanism.shape)
