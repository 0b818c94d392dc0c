"""The front, the recommendation, and runs taken together."""

from dataclasses import replace
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.metrics.estimates import Estimate, Risk
from leafcover.metrics.summary import DecisiveRisk
from leafcover.tuning.grid import Candidate
from leafcover.tuning.scoring import (
    Baselines,
    Score,
    over_runs,
    pareto_front,
    point_of,
    pooled,
    recommend,
    risk_over_runs,
    safer_alternative,
    useful,
)
from tests.tuning.made import point, share


def baselines(majority=0.5):
    return Baselines(share(0.9), share(0.6), share(0.85), share(0.4), share(majority))


def test_the_front_by_hand():
    # B has more risk than A and less utility; D has C's risk and less utility; E is worse than C in both.
    points = {"A": (0.1, 0.8), "B": (0.2, 0.7), "C": (0.3, 0.9), "D": (0.3, 0.85), "E": (0.4, 0.9), "F": (0.5, 0.95)}
    assert [n for n, on in zip(points, pareto_front(list(points.values())), strict=True) if on] == ["A", "C", "F"]


def test_a_single_point_and_equal_points_are_on_the_front():
    assert pareto_front([]) == []
    assert pareto_front([(0.9, 0.1)]) == [True]
    assert pareto_front([(0.2, 0.8), (0.2, 0.8), (0.3, 0.8)]) == [True, True, False]


coordinates = st.integers(0, 4).map(lambda i: i / 4)


@given(st.lists(st.tuples(coordinates, coordinates), max_size=12))
def test_the_front_is_what_nothing_else_beats(points):
    beaten = [
        any((r <= risk and u >= utility) and (r < risk or u > utility) for r, u in points) for risk, utility in points
    ]
    assert pareto_front(points) == [not one for one in beaten]


def test_the_recommendation_is_the_most_useful_point_below_the_limit_by_upper_ends():
    points = [point("cover k=20", 0.02, 0.90), point("cover k=5", 0.05, 0.94), point("random spread=0.1", 0.5, 0.99)]
    assert recommend(points, baselines(), 0.1).name == "cover k=5"
    assert recommend(points, baselines(), 0.0601).name == "cover k=5"  # 0.05 with an upper end of 0.06
    assert recommend(points, baselines(), 0.059).name == "cover k=20"
    assert recommend(points, baselines(), 0.0299) is None
    assert recommend(points, baselines(), 1.0).name == "random spread=0.1"


def test_inference_above_control_counts_like_linkage():
    points = [point("cover k=20", 0.02, 0.90), point("cover k=5", 0.03, 0.94, inferred=0.2)]
    assert points[1].risk.kind == "inference"
    assert points[1].risk.bound == points[1].deciding.bound == pytest.approx(0.21)
    assert recommend(points, baselines(), 0.1).name == "cover k=20"
    assert recommend(points, baselines(), 0.2101).name == "cover k=5"


def test_a_limit_refuses_what_it_would_refuse_of_a_release():
    found = point("cells k=20", 0.02, 0.94, found=0.3)  # membership: from 0.29
    assert (found.risk.kind, found.deciding.kind) == ("linkage", "membership")
    assert (found.within(0.28), found.within(0.29)) == (False, True)
    copies = point("cells k=20", 0.02, 0.94, copied=True)  # above every limit but the highest
    assert (copies.risk.kind, copies.deciding.kind) == ("linkage", "copies")
    assert (copies.within(0.99), recommend([copies], baselines(), 0.99)) == (False, None)
    dealt = point("cover", None, 0.94, inferred=0.02)
    assert (dealt.risk.kind, dealt.risk.bound, dealt.record_linkage) == ("inference", pytest.approx(0.03), None)
    assert recommend([dealt], baselines(), 0.0301) is dealt


def test_people_of_several_runs_are_pooled_before_the_strongest_attack_is_chosen():
    def tried(column, value, method="granted", kind="inference"):
        return DecisiveRisk(kind, share(value, 0.03), column, method)

    granted = [tried("job", 0.1), tried("job", 0.0), tried("job", 0.2)]
    first = [granted[0], tried("job", 0.15, "regrown"), tried("pay", 0.3, "stable")]
    found = pooled([first, [granted[1], tried("pay", 0.1, "nearest")], [granted[2]]])
    assert [(one.column, one.method, round(one.risk.value, 3)) for one in found] == [
        ("job", "granted", 0.1),
        ("job", "regrown", 0.15),
        ("pay", "stable", 0.2),
    ]
    # The runs are independent: 0.03 of three runs is 0.03 / sqrt(3) of their mean.
    assert found[0].risk.high - 0.1 == pytest.approx(0.1 - found[0].risk.low) == pytest.approx(0.0173, abs=1e-4)
    assert found[0].risk.runs == 300
    copied = [[tried("job", 0.01, "plan", "copies")], [tried("pay, job", 0.02, "plan", "copies")], []]
    assert [one.column for one in pooled(copied)] == ["pay, job"]
    assert pooled([*copied, [], []]) == []  # in less than half of the runs


def test_a_point_not_clearly_above_the_most_common_answer_is_never_recommended():
    points = [point("cover k=80", 0.01, 0.80), point("cover k=20", 0.02, 0.82), point("cover k=5", 0.3, 0.94)]
    # Each interval reaches 0.01 below its value: 0.82 lies clearly above 0.80, and 0.80 does not.
    assert [one.name for one in useful(points, baselines(0.80))] == ["cover k=20", "cover k=5"]
    assert recommend(points, baselines(0.80), 0.1).name == "cover k=20"
    assert recommend(points, baselines(0.815), 0.1) is None
    assert recommend(points, baselines(0.815), 0.5).name == "cover k=5"
    near = [point("a x=1", 0.4, 0.82), point("a x=2", 0.1, 0.815)]
    assert safer_alternative(near, baselines(0.80), near[0], 1.0).name == "a x=2"
    assert safer_alternative(near, baselines(0.807), near[0], 1.0) is None


def test_of_equally_useful_points_the_safer_one_is_recommended():
    assert recommend([point("a x=1", 0.3, 0.9), point("a x=2", 0.2, 0.9)], baselines(), 1.0).name == "a x=2"


def test_a_much_safer_point_inside_the_interval_is_named():
    chosen = point("a x=1", 0.4, 0.90)  # agreement from 0.89
    rivals = [point("a x=2", 0.3, 0.9), point("a x=3", 0.1, 0.895), point("a x=4", 0.05, 0.88)]
    assert safer_alternative([chosen, *rivals], baselines(), chosen, 1.0).name == "a x=3"
    assert safer_alternative([chosen, *rivals], baselines(), chosen, 0.1) is None  # its upper end is 0.11
    assert safer_alternative([chosen, rivals[0]], baselines(), chosen, 1.0) is None
    unclear = replace(rivals[1], risks=(DecisiveRisk("inference", share(0.1, 0.3), "job"),))  # up to the chosen one's
    assert safer_alternative([chosen, unclear], baselines(), chosen, 1.0) is None


def test_runs_never_make_an_interval_narrower():
    runs = [Risk(0.1, 0.05, 0.2, 50, 0.3), Risk(0.3, 0.2, 0.5, 70, 1.0)]
    assert risk_over_runs(runs) == Risk(0.2, 0.05, 0.5, 120, 1.0)
    assert risk_over_runs(runs[:1]) == runs[0]
    found = over_runs([share(0.8), share(0.9), Estimate(nan, nan, nan, 0)])
    assert (found.value, found.low, found.high) == (pytest.approx(0.85), pytest.approx(0.79), pytest.approx(0.91))
    assert isnan(over_runs([Estimate(nan, nan, nan, 0)]).value)


def test_the_highest_inference_of_a_point_is_that_of_its_most_inferable_column():
    inferred = tuple(
        DecisiveRisk("inference", share(value), column, method)
        for column, value, method in (("pay", 0.1, "nearest"), ("job", 0.3, "granted"), ("job", 0.2, "nearest"))
    )
    one = Score(share(0.9), share(0.6), share(0.8), Risk(0.1, 0.0, 0.2, 9), Risk(0.1, 0.0, 0.2, 9), inferred)
    found = point_of(Candidate("cover", (("k", 5),), (("bins", 3),)), [one])
    assert (found.name, found.settings, found.strength) == ("cover k=5", {"k": 5, "bins": 3}, {"k": 5})
    assert [(one.kind, one.column) for one in found.risks] == [
        ("linkage", ""),
        ("inference", "pay"),
        ("inference", "job"),
    ]
    assert (found.risk.column, found.risk.method) == ("job", "granted")
    assert found.risk.bound == found.deciding.bound == pytest.approx(0.31)
