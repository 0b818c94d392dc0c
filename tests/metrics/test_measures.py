"""All measures together: at their two ends, without what they need, and as the documented figures."""

import json
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from leafcover.messages import catalogue
from leafcover.metrics.suite import Measures, measures, plain, schema
from tests.metrics.pairs import apart, awkward, copy_of, tables
from tests.small_models import small_models
from tests.tables import category, mixed, number, table

say = catalogue("measures")

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "reference" / "measures" / "measures.schema.json"
VALID = Draft202012Validator(schema(Measures))


def taken(pair):
    control = mixed(99, rows=200, missing=0.0)
    both = replace(pair, control=control.select(pair.names))
    return measures(both, tests=[both], control="rows that were held out")


@pytest.fixture(scope="module")
def copied():
    return taken(copy_of(tables()["full"], target="class", sensitive=["job"]))


@pytest.fixture(scope="module")
def shuffled():
    return taken(apart(tables()["full"], target="class", sensitive=["job"]))


def test_a_copy_keeps_everything(copied):
    kept = copied.utility
    assert (kept.trees.grade, kept.trees.strict, kept.trees.partition) == ("exactly same", 1.0, 1.0)
    assert kept.forest.eduds.value == kept.forest.edusc.value == 1.0
    assert kept.forest.rules.kept.exact == kept.forest.leaves.kept.rows == 1.0
    assert "sysfor" in [score.model for score in kept.prediction.scores]
    assert all((score.difference.value, score.alike.value) == (0.0, 1.0) for score in kept.prediction.scores)
    assert kept.agreement.target.agreement.value == kept.agreement.mean.value == 1.0
    assert kept.columns.means.largest == kept.columns.category_distances.largest == 0.0
    assert kept.relations.every.largest == kept.information_loss.il1s == 0.0
    assert (kept.relation_errors.largest, kept.margins.triples.score) == (0.0, 1000.0)
    assert (kept.value_pairs.new, kept.regression.overlap) == (0, 1.0)
    assert all(found.error == 0.0 for found in kept.clusters)


def test_a_copy_hides_nobody(copied):
    shown = copied.risks
    assert shown.informed.first.value > 0.95
    assert shown.linkage.nearest.value > 0.95
    assert shown.linkage.optimal.value > 0.95
    assert shown.inferences[0].nearest.main.value > 0.95
    assert shown.singling_out.multivariate.main.value > 0.95
    assert shown.column_sets.attack.main.value > 0.9
    assert shown.membership.area.value > 0.9
    assert shown.sers.share.value < 0.01
    assert shown.distances.copies.value == shown.unmoved.whole.value == 1.0
    assert shown.intervals.rank.value == 1.0


def test_columns_apart_keep_no_relation_and_hide_people(shuffled):
    assert shuffled.utility.trees.answers < 0.8
    assert shuffled.utility.forest.rules.kept.near < 0.1
    assert shuffled.utility.columns.means.largest == pytest.approx(0.0)
    shown, blind = shuffled.risks, 1 / 400
    for risk, tries in ((shown.informed.first, 2), (shown.linkage.nearest, 1)):  # learned: the better of two ways
        assert risk.low <= tries * blind
        assert blind <= risk.high
    for inference in shown.inferences:
        assert inference.nearest.main.low <= inference.nearest.baseline.high
    assert abs(shown.membership.area.value - 0.5) < 0.1


def test_the_most_exposed_are_given_where_no_key_changes_them(copied):
    risks = copied.risks
    assert risks.individual.risk.worst >= risks.individual.risk.value
    for risk in (risks.informed.first, risks.linkage.nearest, risks.inferences[0].nearest.main, risks.unmoved.values):
        assert isnan(risk.worst)
        assert risk.low <= risk.value <= risk.high
    assert plain(risks.linkage.nearest)["worst"] is None


def test_the_schema_in_the_documentation_is_that_of_the_code(copied, shuffled):
    assert json.loads(SCHEMA.read_text("utf-8")) == schema(Measures), (
        "rewrite it: python -m tests.metrics.test_measures"
    )
    Draft202012Validator.check_schema(schema(Measures))
    for found in (copied, shuffled):
        VALID.validate(json.loads(json.dumps(plain(found), allow_nan=False)))


@pytest.mark.parametrize("name", list(awkward()))
def test_awkward_tables_are_measured_whole(name):
    pair = apart(awkward()[name], target="class")
    control = pair.original.take(np.arange(0, 40, 3))
    both = replace(pair, control=control)
    with small_models():
        found = measures(both, tests=[both], control="rows that were held out")
    assert say("heading-risks") in str(found)
    VALID.validate(plain(found))


@pytest.mark.parametrize("only", [category("class", list("abab") * 10), number("x", np.arange(40.0))])
def test_a_single_column_is_measured(only):
    pair = copy_of(table(only), target="class" if only.name == "class" else "")
    both = replace(pair, control=pair.original)
    with small_models():
        assert say("heading-risks") in str(measures(both, tests=[both]))


def test_what_cannot_be_measured_is_named():
    with small_models():
        found = measures(replace(apart(mixed(1)), paired=False))
    assert [(absent.what, absent.why) for absent in found.absent] == [
        (say("absent-pairs"), say("absent-pairs.reason")),
        (say("absent-control"), say("absent-control.reason")),
        (say("absent-target"), say("absent-target.reason")),
        (say("absent-weight"), say("absent-weight.reason")),
    ]
    assert found.control == "no control"
    assert (found.risks.informed, found.risks.membership, found.utility.trees) == (None, None, None)
    assert say("heading-absent") in str(found)
    assert found.risks.inferences[0].nearest.control is None
    assert "Without a control" in str(found)


def test_progress_is_told_in_order():
    seen = []
    with small_models():
        measures(copy_of(mixed(1, rows=60), target="class"), tell=lambda words, share: seen.append((words, share)))
    assert [share for _, share in seen] == sorted(share for _, share in seen)
    assert seen[-1][0] == say("progress-averages")
    assert all(0 <= share <= 1 for _, share in seen)


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(Measures), indent=1, ensure_ascii=False) + "\n", "utf-8")
