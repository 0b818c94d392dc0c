"""The facts that inspect shows."""

import numpy as np
import pyarrow as pa
import pytest

from leafcover.table.frames import from_frame
from leafcover.table.infer import no_values_warning
from leafcover.table.inspection import describe, unique_rows
from leafcover.table.io import SAMPLES, read, sample, write
from leafcover.table.table import Grid
from tests.table.test_formats import texts


def test_every_column_is_described(tmp_path):
    (tmp_path / "in.csv").write_text("age,job,day\n31,b,1970-01-02\n?,a,1970-01-03\n4,b,?\n4,?,1970-01-02\n")
    facts = describe(read(tmp_path / "in.csv", roles={"job": "target"}))
    age, job, day = facts.columns
    assert (facts.rows, facts.unique_rows) == (4, 4)
    assert (age.kind, age.distinct, age.missing, age.domain, age.grid) == ("number", 2, 1, ("4", "31"), Grid(0))
    assert (job.kind, job.role, job.distinct, job.missing) == ("category", "target", 2, 1)
    assert job.common == (("b", 2), ("a", 1))
    assert (day.kind, day.domain) == ("date", ("1970-01-02", "1970-01-03"))


def test_unique_rows_are_those_no_other_row_equals():
    for name in SAMPLES:
        table = read(sample(name)).take(np.arange(178))
        columns = [texts(c) if c.is_category else [repr(v) for v in c.values] for c in table]
        rows = list(zip(*columns, strict=True))
        assert unique_rows(table) == sum(rows.count(row) == 1 for row in rows)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_integers_beyond_two_to_the_53_are_counted_exactly(tmp_path, suffix):
    codes = [2**60 + i // 2 for i in range(200)]
    original = pa.table({"code": [*codes, None], "half": [0.5] * 201, "job": ["a"] * 201})
    write(from_frame(original), tmp_path / f"in.{suffix}")
    facts = describe(read(tmp_path / f"in.{suffix}"))
    assert (facts.columns[0].distinct, facts.columns[0].missing) == (100, 1)
    assert facts.unique_rows == 1  # the row without a code
    (tmp_path / "huge.csv").write_text("code\n" + "".join(f"{10**25 + i}\n" for i in range(60)))
    huge = describe(read(tmp_path / "huge.csv"))
    assert (huge.columns[0].distinct, huge.unique_rows) == (60, 60)


def test_a_column_without_known_values_has_no_domain(tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n?,1\n,2\n")
    facts = describe(read(tmp_path / "in.csv"))
    assert (facts.columns[0].missing, facts.columns[0].common, facts.columns[0].domain) == (2, (), None)
    assert facts.warnings == (no_values_warning("a"),)
