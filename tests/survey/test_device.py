"""The coins of a device follow the mechanisms of the survey."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from leafcover.randomized_response import matrix
from leafcover.randomized_response.mechanism import ALL_WORDS
from leafcover.survey.client import Among, Flip, Harmless, coins_of, disguised
from leafcover.survey.questionnaire import Survey
from tests.survey.surveys import habits, one_coin


def test_thresholds_are_those_of_the_mechanisms() -> None:
    flip, among, harmless = coins_of(habits())
    assert flip == Flip((0,), 3 << 62)
    assert isinstance(among, Among)
    assert among.levels == 4
    assert harmless == Harmless((2,), 1 << 63, int(0.4 * 2**64))
    assert coins_of(one_coin()) == (Flip((0, 1, 2), int(0.8 * 2**64)),)


def test_reports_follow_the_law_of_every_part() -> None:
    generator = np.random.default_rng(5)

    def below(bound: int) -> int:
        return (
            int(generator.integers(0, bound, dtype=np.uint64, endpoint=False))
            if bound < ALL_WORDS
            else int(generator.integers(0, ALL_WORDS - 1, dtype=np.uint64, endpoint=True))
        )

    for survey, truth in product((habits(),), ((1, 2, 1, 33, 2), (0, 0, 0, 0, 0))):
        tossed = np.array([disguised(survey, truth, below) for _ in range(4000)])
        for part in survey.scheme.parts:
            place = [q.name for q in survey.questions].index(part.names[0])
            chances = matrix(part.mechanism)[:, truth[place]]
            seen = np.bincount(tossed[:, place], minlength=len(chances))
            assert 1e-4 < chisquare(seen, 4000 * chances).pvalue < 1 - 1e-4
        assert (tossed[:, 3:] == truth[3:]).all()


def test_a_shared_coin_turns_all_or_none() -> None:
    survey: Survey = one_coin()
    seen = {disguised(survey, (0, 1, 1)) for _ in range(200)}
    assert seen == {(0, 1, 1), (1, 0, 0)}


def test_the_edge_of_a_threshold_is_a_lie() -> None:
    (flip,) = coins_of(one_coin())
    assert isinstance(flip, Flip)
    assert flip.toss((0, 1, 1), lambda bound: flip.keep - 1) == {0: 0, 1: 1, 2: 1}
    assert flip.toss((0, 1, 1), lambda bound: flip.keep) == {0: 1, 1: 0, 2: 0}


@pytest.mark.parametrize("other", [0, 1, 2])
def test_another_level_is_never_the_true_one(other: int) -> None:
    among = Among((0,), keep=0, levels=4)
    draws = {ALL_WORDS: 5, 3: other}
    assert among.toss((1,), draws.__getitem__) == {0: other + (other >= 1)}
