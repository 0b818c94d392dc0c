"""GADP in cells: rows stay, moments are those of the cell, small and singular cells follow the stated rule."""

from dataclasses import replace

import numpy as np
import pytest

import leafcover as lc
from leafcover.cells import Cells, Range, one_cell
from leafcover.engine.manifest import external
from leafcover.errors import ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.perturb.base import Chunk
from leafcover.perturb.bounded_normal import BoundedGadp
from tests.tables import category, number, table


def part_of(columns, cells=None):
    fixed = tuple(replace(c, declared=c.domain) for c in columns)
    return Chunk(np.arange(len(columns[0])), fixed, cells or one_cell(len(columns[0])))


def released(noise, part, seed=5):
    summary = noise.finalize(noise.fit(part), part.cells)
    found = noise.change(part, summary, Draws(Key.from_seed(seed).secret))
    return {name: one.values for name, one in found.items()}, summary


def normal_part(rows=20_000, correlation=0.7):
    """Two numbers whose domain is so wide that it bounds nothing."""
    values = np.random.default_rng(1).multivariate_normal(
        [5, -2], [[4, 3 * correlation * 2], [3 * correlation * 2, 9]], rows
    )
    columns = [number(name, one, None) for name, one in zip("xy", values.T, strict=True)]
    return Chunk(np.arange(rows), tuple(replace(c, declared=(-100.0, 100.0)) for c in columns), one_cell(rows))


@pytest.mark.parametrize("similarity", [0.0, 0.35, 0.9])
def test_without_bounds_it_is_gadp(similarity):
    part = normal_part()
    after, _ = released(BoundedGadp(similarity=similarity), part)
    old, new = (np.array(one) for one in ([c.values for c in part.columns], list(after.values())))
    error = 1 / np.sqrt(len(part))
    assert np.abs((new - old).mean(1) / old.std(1)).max() < 4 * error
    assert np.abs(new.std(1) / old.std(1) - 1).max() < 4 * error
    assert np.corrcoef(new)[0, 1] == pytest.approx(np.corrcoef(old)[0, 1], abs=4 * error)
    own = np.corrcoef(new[0], old[0])[0, 1]
    assert own == pytest.approx(similarity, abs=4 * error)
    assert abs(own - (0.8 * similarity - 0.1)) > 4 * error


def test_each_cell_has_its_own_mean_and_correlation():
    rng, label = np.random.default_rng(2), np.repeat([0, 1], 3000)
    base = rng.normal(size=(2, 6000))
    x, y = base[0] + 10 * label, np.where(label == 0, base[0], -base[0]) + 0.3 * base[1]
    part = replace(part_of([number("x", x, None), number("y", y, None)]), cells=Cells(label, 2))
    after, _ = released(BoundedGadp(), part)
    for cell in (0, 1):
        rows = label == cell
        before, now = (np.corrcoef(*pair)[0, 1] for pair in ((x[rows], y[rows]), (after["x"][rows], after["y"][rows])))
        assert now == pytest.approx(before, abs=0.05)
        assert after["x"][rows].mean() == pytest.approx(x[rows].mean(), abs=0.1)


def test_values_stay_in_narrow_boxes_even_if_hardly_any_row_fits():
    """Most tries of a whole row fail, and its numbers are drawn one by one; each is still random."""
    rng, rows = np.random.default_rng(3), 300
    columns = [number(f"c{at}", rng.exponential(size=rows), None) for at in range(8)]
    inside = [replace(c, values=c.values % 0.05 + 1e-6, declared=(0.0, 5.0)) for c in columns]
    spikes = [replace(c, values=np.where(np.arange(rows) % 9 == at, 4.0, c.values)) for at, c in enumerate(inside)]
    box = {c.name: Range(np.array([-np.inf]), np.array([5.0])) for c in spikes}
    part = Chunk(np.arange(rows), tuple(spikes), Cells(np.zeros(rows, np.int64), 1, box))
    noise = BoundedGadp(similarity=0.0)
    after, _ = released(noise, part)
    assert noise.violations(part, after) == ()
    assert all(len(np.unique(one)) > 0.95 * rows for one in after.values())
    assert max(one.max() for one in after.values()) > 0.1


def test_small_cells_share_their_covariance():
    """A cell of one row has the covariance of all cells, one of own_from rows its own, and between a mean of both."""
    rng = np.random.default_rng(4)
    label = np.repeat([0, 1, 2], [400, 11, 1])
    x = rng.normal(size=412) * np.where(label == 0, 1.0, 5.0)
    part = replace(part_of([number("x", x, None)]), cells=Cells(label, 3))
    noise = BoundedGadp(own_from=21)
    _, found = released(noise, part)
    half = part.columns[0].domain[1] / 2 - part.columns[0].domain[0] / 2
    own = [x[label == cell].var(ddof=1) if cell < 2 else 0.0 for cell in range(3)]
    within = (own[0] * 399 + own[1] * 10) / 409
    expected = [own[0], 0.5 * own[1] + 0.5 * within, within]
    assert found.covariance[:, 0, 0] * half**2 == pytest.approx(expected)


def test_bad_input_gives_numbers():
    """Constant columns, columns that depend on each other, fewer rows than columns, and missing values."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    gaps = np.where(rng.random(40) < 0.3, np.nan, rng.normal(size=40))
    columns = [
        number("x", x, None),
        number("twice", 2 * x, None),
        number("same", np.full(40, 0.1), None),
        number("gaps", gaps, None),
    ]
    columns += [number(f"w{at}", rng.normal(size=40), None) for at in range(6)]
    for label in (np.zeros(40, np.int64), np.arange(40) // 4, np.arange(40)):
        part = replace(part_of(columns), cells=Cells(label, int(label.max()) + 1))
        noise = BoundedGadp()
        after, summary = released(noise, part)
        assert noise.violations(part, after) == ()
        np.testing.assert_array_equal(np.isnan(after["gaps"]), np.isnan(gaps))
        assert after["same"].tolist() == columns[2].values.tolist()
        assert np.isfinite([one for name, one in after.items() if name != "gaps"]).all()
        assert (noise.likelihood(part, after, summary) > 0).all()
    with pytest.raises(ValueOutOfRange, match="similarity"):
        BoundedGadp(similarity=1)
    with pytest.raises(ValueOutOfRange, match="own_from"):
        BoundedGadp(own_from=1)


def test_the_likelihood_of_dependent_columns_is_joint():
    """A person with numbers that fit together less well is less likely, although each fits as well."""
    part = normal_part(correlation=0.95)
    noise = BoundedGadp(similarity=0.9)
    after, summary = released(noise, part)
    alone = np.ones(len(part))
    for column in part.columns:
        alone *= noise.likelihood(replace(part, columns=(column,)), after, summary)
    joint = noise.likelihood(part, after, summary)
    assert np.log(joint).mean() > np.log(alone).mean() + 0.5


def test_the_manifest_says_what_is_not_guaranteed():
    rng = np.random.default_rng(6)
    original = table(
        number("x", rng.normal(size=200), None),
        number("y", rng.normal(size=200), None),
        category("c", list("ab") * 100),
    )
    release = lc.release(original, "framework-gadp", target="c", seed=1)
    found = external(release, file="a", sha256="b")
    assert any("not exact" in one for one in found["not_guaranteed"])
    assert any("fewer than 20 rows" in one for one in found["not_guaranteed"])


@pytest.mark.parametrize(
    ("name", "target", "bins"), [("wine", "class", None), ("boston", "medv", 4), ("cps1985", "occupation", None)]
)
def test_correlations_are_nearer_than_those_of_the_framework(name, target, bins):
    """At most half as far, although values change no less and rows keep their leaf."""
    original = lc.read(lc.sample(name))
    names = [c.name for c in original if not c.is_category and c.name != target]
    before = np.array([original[one].values for one in names])
    differences, changes = [], []
    for recipe, spread in (("framework-gadp", None), ("framework", 0.2)):
        plan = lc.recipes.plan_for(
            original,
            recipe,
            target=target,
            settings={**({"bins": bins} if bins else {}), **({"spread": spread} if spread else {})},
        )
        apart, moved = [], []
        for seed in range(3):
            release = lc.release(original, plan, seed=seed, keep_order=True)
            after = np.array([release.table[one].values for one in names])
            apart.append(np.abs(np.corrcoef(before) - np.corrcoef(after)).mean())
            moved.append((np.abs(after - before) / before.std(1)[:, None]).mean())
            assert release.trees[0].kept > 0.98
        differences.append(np.mean(apart))
        changes.append(np.mean(moved))
    assert changes[0] >= changes[1]
    assert differences[0] < 0.5 * differences[1]
