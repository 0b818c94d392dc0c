"""The tables that ship with the package."""

import gzip

import pytest
from benchmarks import hospital

from leafcover.errors import NameUnknown
from leafcover.table.io import SAMPLES, read, sample

SHAPES = {
    "adult": (32561, 15),
    "boston": (506, 14),
    "cps1985": (534, 11),
    "german_credit": (1000, 21),
    "hospital": (9109, 23),
    "wbc": (699, 11),
    "wine": (178, 14),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_shipped_table_has_its_published_shape_and_reads_without_a_warning(name):
    table = read(sample(name))
    assert (len(table), len(table.columns)) == SHAPES[name]
    assert table.warnings == ()


@pytest.mark.parametrize("name", SAMPLES)
def test_source_and_licence_stand_beside_it(name):
    page = sample(name).with_name("README.md").read_text("utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {sample(name).name} ")]
    assert "CC BY 4.0" in line or "public domain" in line or ("generated" in line and "Apache-2.0" in line)


def test_the_hospital_is_what_its_generator_writes():
    with gzip.open(sample("hospital")) as file:
        assert file.read() == hospital.text().encode()


def test_an_unknown_sample_is_refused():
    with pytest.raises(NameUnknown, match=r"'wine'\?"):
        sample("wyne")


def test_wbc_has_sixteen_missing_values():
    assert int(read(sample("wbc"))["bare_nuclei"].missing.sum()) == 16
