"""The text summary of a release: its figures, and its sentences as a golden file."""

from dataclasses import replace

import leafcover as lc
from leafcover.engine.run import LISTED, summary
from leafcover.messages import catalogue
from leafcover.metrics.disclosure.record_linkage import Informed
from leafcover.metrics.estimates import Risk
from leafcover.metrics.suite import plain
from tests.prose import check_golden
from tests.tables import category, mixed, table

say = catalogue("release")


def released(recipe, rows=200, **settings):
    original = mixed(1, rows=rows)
    return lc.release(original, lc.recipes.plan_for(original, recipe, target="class", settings=settings), seed=1)


def test_the_summary_reads_as_its_golden_text():
    recipes = ("cover", "cells", "framework", "forest", "additive", "microaggregate")
    check_golden("release_summary.txt", "\n\n".join(summary(released(recipe)) for recipe in recipes))


def test_what_is_not_protected_or_not_for_publication_is_named():
    made = replace(released("cells"), unprotected=("town",), kept_order=True)
    lines = summary(made).splitlines()
    assert lines[-3:] == [say("unprotected", columns="town"), say("seeded"), say("original-order")]
    assert summary(replace(made, publishable=True, kept_order=False)).splitlines()[-1] == lines[-3]


def test_a_plan_without_shuffling_alone_does_not_claim_it():
    made = released("cells")
    smallest = min(cell.smallest for cell in made.cells)
    assert say("smallest-cell-shuffled", rows=smallest, empty="none") in summary(made)
    open_ = summary(replace(made, unprotected=("town",)))
    assert say("smallest-cell-shuffled", rows=smallest, empty="none") not in open_
    assert say("smallest-cell", rows=smallest) in open_


def test_a_column_without_values_is_neither_shuffled_nor_unprotected():
    original = table(*mixed(1, rows=200), category("note", [None] * 200))
    for recipe in ("cover", "cells", "framework", "additive"):
        made = lc.release(original, recipe, target="class", seed=1)
        assert made.no_values == ("note",)
        assert "note" not in made.unprotected
        assert say("no-values", columns="note") in summary(made)
        assert say("smallest-cell-shuffled", rows=1, empty="none").partition(";")[0] not in summary(made)


def test_columns_that_the_cell_fixes_are_named_the_most_fixed_first():
    made = released("cells")
    names = [f"c{i}" for i in range(LISTED + 2)]
    facts = tuple(replace(made.columns[0], name=name, fixed=0.5 + i / 100) for i, name in enumerate(names))
    text = summary(replace(made, columns=facts))
    assert say("fixed", columns="c6 (56%), c5 (55%), c4 (54%), c3 (53%), c2 (52%)", more=2) in text
    assert say("fixed", columns="c0 (50%)", more=0) in summary(replace(made, columns=facts[:1]))


def test_singletons_and_record_linkage_are_shown_with_their_figures():
    made = released("cells")
    alone = replace(made, cells=(replace(made.cells[0], single=0.123),))
    assert say("singletons", share="12.3%") in summary(alone)
    risk = Risk(0.02, 0.01, 0.03, 200, 0.5)
    text = summary(made, Informed(risk, risk, 40.0, (), 1, "the plan's own", 200, 200))
    assert say("record-linkage", risk="0.020 (0.010 to 0.030)", worst="0.500") in text


def test_a_dealt_release_claims_no_change_of_a_row_and_no_shuffling():
    made = released("cover")
    lines = summary(made).splitlines()
    assert lines[0] == say("released", rows=200, columns=6, recipe="cover", changed="none")
    assert lines[1] == say("dealt")
    smallest = min(cell.smallest for cell in made.cells)
    assert say("smallest-leaf", rows=smallest) in lines
    assert say("dealt") not in summary(replace(made, unprotected=("town",)))
    assert say("dealt") not in summary(released("cells"))


def test_a_release_and_its_files_are_attacked_alike(tmp_path):
    """The same attacker with the same knowledge: all randomness is fixed, so every figure is equal."""
    original = mixed(5, rows=240)
    release = lc.release(original, "cover", target="class", seed=2, hold_out=0.3)
    release.save(tmp_path / "released.csv")
    loaded = lc.load(tmp_path / "released.csv", original=original, target="class")
    names = ["informed_inference", "membership_inference", "copies"]
    assert plain(release.measure_only(names)) == plain(loaded.measure_only(names))
