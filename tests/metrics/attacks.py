"""What every attack is asked: figures that exist, and people of the same kind who are not in the release."""

from dataclasses import fields, is_dataclass
from math import isfinite

from leafcover.metrics.estimates import Risk
from leafcover.metrics.pair import pair_of
from tests.metrics.pairs import apart, awkward, copy_of
from tests.tables import mixed


def risks_in(result):
    """Every risk in a result, however deep."""
    if isinstance(result, Risk):
        yield result
    elif isinstance(result, tuple):
        for one in result:
            yield from risks_in(one)
    elif is_dataclass(result):
        for field in fields(result):
            yield from risks_in(getattr(result, field.name))


def check_sound(result):
    """Every figure is there, inside its interval and between 0 and 1; the worst 1 % fare no better than the mean."""
    found = list(risks_in(result))
    assert found
    for risk in found:
        assert all(isfinite(v) for v in (risk.value, risk.low, risk.high))
        assert 0 <= risk.low <= risk.value + 1e-9 <= risk.high + 2e-9 <= 1 + 3e-9
        if isfinite(risk.worst):
            assert risk.worst >= risk.value - 1e-9
        assert isinstance(risk.tries, int)


def awkward_pairs():
    """Awkward tables as copies and shuffled apart, with and without control, without pairs."""
    for name, original in awkward().items():
        yield f"{name}, copy", copy_of(original, target="class")
        yield f"{name}, apart", apart(original, target="class", control=original)
        yield f"{name}, unpaired", pair_of(original, original, target="class", control=original.take([0, 1, 2]))


def with_control(make, *, rows=500, missing=0.0, **roles):
    """A copy or a table shuffled apart, and as many people of the same kind who are not in it."""
    return make(mixed(21, rows=rows, missing=missing), control=mixed(22, rows=rows, missing=missing), **roles)
