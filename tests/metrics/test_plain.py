"""Measures as plain data."""

from dataclasses import dataclass

import numpy as np
import pytest

from leafcover.metrics.estimates import Attack, wilson
from leafcover.metrics.suite import plain, schema


@dataclass(frozen=True)
class Small:
    """A little of everything."""

    share: float
    count: int
    names: tuple[str, ...]
    attack: Attack | None
    by_name: dict[str, float]


def test_a_figure_that_does_not_exist_is_null_and_properties_are_told():
    attack = Attack(wilson(5, 10), wilson(4, 10), wilson(1, 10))
    found = plain(Small(float("nan"), np.int64(3), ("a", "b"), attack, {"x": np.float64(0.5)}))
    assert found["share"] is None
    assert (found["count"], found["names"], found["by_name"]) == (3, ["a", "b"], {"x": 0.5})
    assert found["attack"]["above_control"]["value"] == pytest.approx(0.1)


def test_the_schema_describes_the_data():
    import jsonschema

    found = schema(Small)
    good = plain(Small(1.0, 2, (), None, {}))
    jsonschema.validate(good, found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, "count": "two"}, found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, "more": 1}, found)
    assert found["$defs"]["Small"]["description"] == "A little of everything."


def test_what_has_no_plain_form_is_refused():
    @dataclass(frozen=True)
    class Odd:
        """Holds an array."""

        values: np.ndarray

    with pytest.raises(TypeError, match="no plain form"):
        schema(Odd)
