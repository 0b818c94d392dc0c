"""Which points of a map are worth a look, and which of them to take."""

from collections.abc import Sequence

from leafcover.sweeping.points import Point, Standard


def front(points: Sequence[tuple[float, float]]) -> list[bool]:
    """For points (risk, utility), whether each is on the Pareto front: none has less risk and as much utility, or
    more utility and no more risk. Equal points are on it together.

    >>> front([(0.1, 0.9), (0.2, 0.9), (0.3, 0.95)])
    [True, False, True]
    """
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))
    kept = [False] * len(points)
    last = (float("nan"), float("-inf"))
    for i in order:
        risk, utility = points[i]
        if utility > last[1] or (risk, utility) == last:
            kept[i], last = True, (risk, utility)
    return kept


def useful(points: Sequence[Point], standard: Standard) -> list[Point]:
    """The points whose whole interval of agreement lies above that of always giving the commonest answer."""
    return [point for point in points if point.agreement.low > standard.commonest.value]


def recommended(points: Sequence[Point], standard: Standard, max_risk: float) -> Point | None:
    """The most useful point whose risks stay at or below the limit by the upper ends of their intervals.

    Of equally useful ones the one of least risk; None when no point stays below that keeps more of the rules than
    always giving the commonest answer would.
    """
    allowed = [point for point in useful(points, standard) if point.highest_risk <= max_risk]
    return max(allowed, key=lambda point: (point.agreement.value, -point.informed.value), default=None)


def safer(points: Sequence[Point], standard: Standard, chosen: Point, max_risk: float) -> Point | None:
    """A useful point below the limit with at most half of the chosen one's risk and a utility inside its interval.

    Of several the one of least risk; None when there is none.
    """
    near = [
        point
        for point in useful(points, standard)
        if point.highest_risk <= max_risk
        and point.agreement.value >= chosen.agreement.low
        and point.informed.value <= chosen.informed.value / 2
    ]
    return min(near, key=lambda point: point.informed.value, default=None)
