"""The model of releases whose rows descend from persons: which row is the person's, and what it was made from.

Each column has a law: how probable a released value is given the person's own. Noise and redrawing have the likelihood
that the perturbation declares, a permutation the shares of its cell, an unchanged column equality. Averages of groups
have no likelihood that a stranger could use: for them the spread of values around their average is granted. The
posterior over released rows follows from all columns but one; the value of that one from the rows, by its own law.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows
from leafcover.cells import Cells, Range
from leafcover.engine.attacker import Known, candidates_of, log_sum
from leafcover.engine.run import whole_part
from leafcover.metrics.pair import sample_rows
from leafcover.perturb.base import Chunk, Perturbation, Summary
from leafcover.recipes.plan import Step
from leafcover.table.table import Column, Table, in_codes_of

LEAST = 1e-12  # probability of what the law excludes: another attacker's error, or a mistyped value
LIKELIEST = 8  # rows for which the other values of a person are used, too, where columns are changed jointly
LIKELY_ROWS = 300  # released rows that are weighed for each person
FEW_VALUES = 100  # of a column with more values, this many stand for all while the likely rows are chosen
MOST_CANDIDATES = 128  # values of a number among which the attacker chooses
REFERENCE = 150  # released rows that stand for other people, for membership
WORK = 24_000_000  # people times released rows
AT_ONCE = 3_000_000  # people times released rows computed at once
JOINT_AT_ONCE = 200_000  # people times rows times candidates, of columns that are changed jointly
FEWEST_PEOPLE, MOST_PEOPLE = 150, 1_000  # on either side of a test


@dataclass(frozen=True, eq=False)
class _Logs:
    """The log probability of each released row for each person, by kinds of both."""

    table: Array  # (kinds of people, kinds of rows)
    person: Rows
    row: Rows
    exact: bool  # whether no person has the number of another

    def of(self, some: slice, rows: Rows) -> Array:
        """(people, rows) for some people and rows."""
        return self.table[self.person[some]][:, self.row[rows]]


@dataclass(frozen=True, eq=False)
class Law:
    """How one column was released. A subclass computes the probability of a released value given the person's."""

    name: str
    shown: Array  # (rows,) released values, in the codes of the original
    key: Rows  # (rows,) rows with the same number have the same law
    first: Rows  # a row of each number

    def chance(self, own: Array, cell: Rows | None, rows: Rows) -> Floats:
        """For each person (own value, own cell) and released row, one to one, the probability."""
        raise NotImplementedError

    @property
    def placed_by(self) -> tuple[str, ...]:
        """The columns that determine the person's own cell, if the cell of a released row cannot be seen."""
        return ()

    def without_cell(self) -> "Law":
        """The law of an attacker who does not know the person's cell."""
        return self

    def table(self, own: Array, cell: Rows | None) -> "_Logs":
        """The log probabilities of every kind of released row; people with many different numbers share some."""
        shared = _fewer(own) if own.dtype.kind == "f" and cell is None else own
        return self._by_kind(shared, cell, *_kinds(shared, cell), exact=shared is own)

    def pairs(self, own: Array, cell: Rows | None, rows: Rows, logs: "_Logs") -> Array:
        """(people, rows of each) the same for some rows of each person; by kind, where kinds are fewer than pairs.

        ``logs`` is the table of the same people.
        """
        if not logs.exact:
            place, person = _kinds(own, cell)
            if len(person) * len(self.first) < rows.size:
                logs = self._by_kind(own, cell, place, person, exact=True)
        if logs.exact:
            by_kind: Array = logs.table[logs.person[:, None], logs.row[rows]]
            return by_kind
        many = rows.shape[1]
        found = self.chance(np.repeat(own, many), None if cell is None else np.repeat(cell, many), rows.ravel())
        return _log(found).reshape(rows.shape)

    def _by_kind(self, own: Array, cell: Rows | None, place: Rows, person: Rows, *, exact: bool) -> "_Logs":
        """The log probabilities of every kind of person and of released row; ``person`` is one of each kind."""
        some = np.repeat(person, len(self.first))
        found = self.chance(own[some], None if cell is None else cell[some], np.tile(self.first, len(person)))
        return _Logs(_log(found).reshape(len(person), len(self.first)), place, self.key, exact)


@dataclass(frozen=True, eq=False)
class Unchanged(Law):
    """A column that no step changes."""

    def chance(self, own: Array, cell: Rows | None, rows: Rows) -> Floats:
        """1 for the same value."""
        new = self.shown[rows]
        same = (own == new) | ((own != own) & (new != new))  # noqa: PLR0124 - nan
        return same.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shared(Law):
    """A column that is permuted in cells: the share of the person's value in the cell of the released row."""

    label: Rows
    values: Array  # sorted
    counts: Floats  # (cells, values)

    def chance(self, own: Array, cell: Rows | None, rows: Rows) -> Floats:
        """The share of the person's value in the row's cell."""
        own = np.where(np.isnan(own), np.inf, own) if own.dtype.kind == "f" else own
        at = np.minimum(np.searchsorted(self.values, own), len(self.values) - 1)
        count = np.where(self.values[at] == own, self.counts[self.label[rows], at], 0.0)
        return count / self.counts.sum(axis=1)[self.label[rows]]


@dataclass(frozen=True, eq=False)
class Averaged(Law):
    """A column of averages: values lie around them with the spread that they have around the averages of all groups."""

    spread: float
    same: float  # of a category, how often the value is the mode of its group

    def chance(self, own: Array, cell: Rows | None, rows: Rows) -> Floats:
        """The normal density, relative to its peak; or how often a mode is the value of its group."""
        new = self.shown[rows]
        if own.dtype.kind != "f":
            return np.where(own == new, self.same, 1 - self.same)
        with np.errstate(over="ignore"):
            apart = np.abs(own / 2 - new / 2) / max(self.spread / 2, 1e-300)
        return np.where(np.isnan(own) & np.isnan(new), 1.0, np.nan_to_num(np.exp(-0.5 * np.minimum(apart, 30.0) ** 2)))


@dataclass(frozen=True, eq=False)
class Perturbed(Law):
    """A column with a likelihood. The cell is that of the released row if it can be seen, or else the person's own."""

    part: Chunk  # only this column; every original row, which is also the number of the released row
    perturb: Perturbation
    summary: Summary
    own_cell: bool  # whether the person's own cell is used

    @property
    def placed_by(self) -> tuple[str, ...]:
        """The columns of the boxes."""
        return tuple(self.part.cells.box) if self.own_cell else ()

    def chance(self, own: Array, cell: Rows | None, rows: Rows) -> Floats:
        """The likelihood, 0 for a value outside the box of a cell that keeps its values."""
        part = self.part.take(rows)
        part = replace(part, columns=(replace(part.columns[0], values=own),))
        if self.own_cell and cell is not None:
            part = replace(part, cells=replace(part.cells, label=cell))
        with np.errstate(all="ignore"):  # a cell of people without a value says nothing of it; 1e308 overflows
            found = np.nan_to_num(self.perturb.likelihood(part, {self.name: self.shown[rows]}, self.summary))
        return np.asarray(found * _inside(part, own) if self.perturb.keeps_boxes else found)

    def without_cell(self) -> Law:
        """The mean law over the people of the original who have the value."""
        if not self.own_cell:
            return self
        column = self.part.columns[0]
        rows = sample_rows(len(self.part), FEW_VALUES * 20)
        levels = len(column.levels)
        mean = np.zeros((levels + 1, levels + 1))
        part = replace(self.part.take(rows), keep=())
        for new in range(levels):
            found = self.perturb.likelihood(part, {self.name: np.full(len(rows), new, np.int32)}, self.summary)
            mean[:, new] = np.bincount(column.values[rows] % (levels + 1), found, minlength=levels + 1)
        mean[levels] = 0.0
        mean[levels, levels] = 1.0
        size = np.maximum(mean.sum(axis=1, keepdims=True), 1e-300)
        return Mean(self.name, self.shown, *_keys([self.shown]), mean / size)


@dataclass(frozen=True, eq=False)
class Mean(Law):
    """A category whose law is known only as a mean over cells."""

    means: Floats  # (own level, released level); the last is missing

    def chance(self, own: Array, cell: Rows | None, rows: Rows) -> Floats:
        """The mean probability of the released level."""
        found: Floats = self.means[own, self.shown[rows]]  # -1 is the last
        return found


@dataclass(frozen=True, eq=False)
class Together:
    """Columns that one step changed jointly: what is known of some tells of the noise of the others."""

    part: Chunk  # these columns; every original row, which is also the number of the released row
    perturb: Perturbation
    summary: Summary
    shown: Mapping[str, Array]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return tuple(self.shown)

    def logs(self, own: Mapping[str, Array], rows: Rows, names: Sequence[str]) -> Floats:
        """The log probability of the released values in some columns, for each row and own values, one to one."""
        if not names:
            return np.zeros(len(rows))
        part = self.part.take(rows)
        columns = tuple(replace(c, values=own[c.name]) for c in part.columns if c.name in names)
        new = {column.name: self.shown[column.name][rows] for column in columns}
        with np.errstate(all="ignore"):
            found = np.nan_to_num(self.perturb.likelihood(replace(part, columns=columns), new, self.summary))
        return np.log(np.maximum(found, LEAST ** min(len(names), 20)))


def _fewer(own: Array) -> Array:
    """Numbers, replaced by the nearest of a few of them."""
    known = np.unique(own[~np.isnan(own)])
    if len(known) <= FEW_VALUES:
        return own
    some = known[np.linspace(0, len(known) - 1, FEW_VALUES).astype(int)]
    return np.where(np.isnan(own), own, some[_nearest(some, own)])


def _nearest(some: Array, own: Array) -> Rows:
    """The position of the nearest of sorted numbers."""
    at = np.clip(np.searchsorted(some, own), 1, max(len(some) - 1, 1))
    left = np.maximum(at - 1, 0)
    at = np.minimum(at, len(some) - 1)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.abs(own - some[left]) <= np.abs(some[at] - own), left, at).astype(np.int64)


def _log(chance: Floats) -> Array:
    found: Array = np.log(np.maximum(chance, LEAST)).astype(np.float32)
    return found


def _kinds(own: Array, cell: Rows | None) -> tuple[Rows, Rows]:
    """A number for each distinct value (in each cell), and a person who has it."""
    comparable = np.where(np.isnan(own), np.inf, own) if own.dtype.kind == "f" else own
    return _keys([comparable] if cell is None else [comparable, cell])


def _keys(parts: Sequence[Array]) -> tuple[Rows, Rows]:
    """A number for each distinct combination of a row's entries, and a row that has it."""
    _, first, key = np.unique(parts[0], return_index=True, return_inverse=True)
    for part in parts[1:]:
        values, place = np.unique(part, return_inverse=True)
        _, first, key = np.unique(key.ravel() * len(values) + place.ravel(), return_index=True, return_inverse=True)
    return key.ravel().astype(np.int64), first.astype(np.int64)


def _inside(part: Chunk, own: Array) -> Bools:
    """Whether values lie in the boxes."""
    name, column = part.columns[0].name, part.columns[0]
    if column.is_category:
        return (own < 0) | part.allows(name, np.maximum(own, 0))
    low, high = part.ranges(name)
    return np.asarray(np.isnan(own) | ((own > low) & (own <= high)))


def place_in(cells: Cells, people: Mapping[str, Array]) -> Rows:
    """The cell of each person: one whose box holds the person's values, or fails least; of several, the tightest."""
    count = len(next(iter(people.values())))
    if not cells.box:
        return np.zeros(count, np.int64)
    found = np.zeros((count, cells.count), np.float32)
    for name, side in cells.box.items():
        own = people[name][:, None]
        if isinstance(side, Range):
            inside: Array = np.greater(own, side.low) & np.less_equal(own, side.high)
            tests: Array = np.isfinite(side.low) | np.isfinite(side.high)
        else:
            inside = np.logical_and(side.allowed[:, np.maximum(people[name], 0)].T, np.greater_equal(own, 0))
            tests = np.logical_not(side.allowed.all(axis=1))
        found += np.where(tests, np.where(inside, 1.0, -1000.0), 0.0)
    placed: Rows = found.argmax(axis=1)
    return placed


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Some people, the released rows that are likely theirs, and the evidence of each column for these."""

    people: Table
    rows: Rows  # (people, likely rows)
    logs: Mapping[str, Array]  # by column, (people, likely rows)
    unplaced: Mapping[str, Array]  # the same without the person's cell, where that may depend on the asked column
    own: Mapping[str, Array]  # by column, the values of the people
    blocks: Sequence[Array]  # by block of columns that are changed jointly, (people, likely rows)


@dataclass(frozen=True, eq=False)
class DescentModel:
    """The released rows that may be a person's, and the values they were made from."""

    released: Table
    laws: Mapping[str, Law]
    vague: Mapping[str, Law]  # laws without the person's cell
    cells: Mapping[str, Cells]  # of laws that use the person's own cell
    original: Mapping[str, Column]  # for the codes of categories
    open: Rows  # the released rows of people whom the attacker does not know
    blocks: tuple[Together, ...] = ()
    _seen: dict[int, _Weighed] = field(default_factory=dict, repr=False)
    _kept: dict[str, Array] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column with a law."""
        return tuple(self.laws)

    @property
    def most_people(self) -> int:
        """How many people are attacked on either side of a test: each is compared with every released row."""
        return int(np.clip(WORK // (2 * max(len(self.open), 1)), FEWEST_PEOPLE, MOST_PEOPLE))

    def without(self, known: Table, rows: Rows) -> "DescentModel":
        """The model of an attacker who knows which released rows belong to the people who are known."""
        return replace(self, open=np.setdiff1d(self.open, rows), _seen={}, _kept={})

    def candidates(self, column: str) -> Column:
        """Every level of the original; of many numbers, evenly spaced ones, in the codes of the release.

        The values of single columns are granted to the attacker, as most methods keep them.
        """
        shown = candidates_of(self.original[column], MOST_CANDIDATES)
        return replace(shown, values=in_codes_of(self.released[column], shown), levels=self.released[column].levels)

    def scores(self, people: Table, column: str, smoothing: Sequence[float]) -> Floats:
        """The log probability of each value: over rows, that of the row given the other columns times the value's.

        The evidence about the row is discounted by 1 / (1 + smoothing).
        """
        seen = self._weighed(people)
        evidence = self._about_row(seen, column)
        if column not in self._kept:
            self._kept[column] = self._values(column)[self.laws[column].key]
        chance = self._kept[column]
        found = np.empty((len(smoothing), len(people), chance.shape[1]))
        evidence = evidence - evidence.max(axis=1, keepdims=True)
        weights = [np.exp(evidence / (1 + one)) for one in smoothing]
        weights = [weight / weight.sum(axis=1, keepdims=True) for weight in weights]
        best = np.argsort(-evidence, axis=1, kind="stable")[:, :LIKELIEST]
        given = self._values_given(seen, best, column)
        for person, rows in enumerate(seen.rows):
            values = chance.take(rows, axis=0)  # once for every smoothing: it takes longer than the product
            if given is not None:
                values[best[person]] = given[person]
            for at, weight in enumerate(weights):
                found[at, person] = weight[person] @ values
        return np.log(np.maximum(found, 1e-30))

    def membership(self, people: Table, smoothing: Sequence[float], reference: Table | None = None) -> Floats:
        """The likelihood of the likely rows for the person, against that for other people."""
        seen = self._weighed(people)
        total = np.sum(list(seen.logs.values()), axis=0)
        found = np.empty((len(smoothing), len(people)))
        for at, one in enumerate(smoothing):
            # from the exact ratio to the best match alone
            found[at] = log_sum((total - self._reference()[seen.rows] / (1 + one)), 1)
        return found

    def evidence(self, people: Table) -> Floats:
        """The evidence of each column for the likeliest row, how likely others find the row, and the next best row."""
        seen = self._weighed(people)
        total = np.sum(list(seen.logs.values()), axis=0) - self._reference()[seen.rows]
        order = np.argsort(-total, axis=1)[:, :2]
        best = order[:, :1]
        found = [np.take_along_axis(logs, best, 1)[:, 0] for logs in seen.logs.values()]
        found.append(self._reference()[np.take_along_axis(seen.rows, best, 1)[:, 0]])
        return np.column_stack([*found, np.take_along_axis(total, order, 1)])

    def _about_row(self, seen: _Weighed, column: str) -> Array:
        """(people, likely rows) the evidence of all columns but one, about which nothing may be known."""
        total = np.zeros(seen.rows.shape, np.float32)
        for block, logs in zip(self.blocks, seen.blocks, strict=True):
            total += self._about_block(seen, block, column) if column in block.names else logs
        joint = {name for block in self.blocks for name in block.names}
        for name, logs in seen.logs.items():
            if name != column and name not in joint:
                total += seen.unplaced[name] if column in self.laws[name].placed_by else logs
        return total

    def _about_block(self, seen: _Weighed, block: Together, column: str) -> Array:
        """(people, likely rows) the evidence of the columns of a block but for one."""
        many = seen.rows.shape[1]
        own = {name: np.repeat(seen.own[name], many) for name in block.names}
        found = block.logs(own, seen.rows.ravel(), [name for name in block.names if name != column])
        return found.reshape(seen.rows.shape).astype(np.float32)

    def _values_given(self, seen: _Weighed, best: Rows, column: str) -> Array | None:
        """(people, best rows, candidates) the probability that a row was made from each, given the other own values.

        None for a column that is not changed jointly with others.
        """
        block = next((one for one in self.blocks if column in one.names), None)
        if block is None:
            return None
        candidates = self.candidates(column)
        own = in_codes_of(self.original[column], candidates)
        prior = _shares(self.original[column], replace(candidates, values=own))
        found = np.empty((*best.shape, len(own)), np.float32)
        step = max(1, JOINT_AT_ONCE // (best.shape[1] * len(own)))
        for begin in range(0, len(best), step):
            some = slice(begin, begin + step)
            rows = np.take_along_axis(seen.rows[some], best[some], 1)
            asked = {name: np.repeat(seen.own[name][some], best.shape[1] * len(own)) for name in block.names}
            asked[column] = np.tile(own, rows.size)
            logs = block.logs(asked, np.repeat(rows.ravel(), len(own)), block.names).reshape(*rows.shape, len(own))
            chance = np.exp(logs - logs.max(axis=2, keepdims=True)) * prior + 1e-6 * prior
            found[some] = chance / chance.sum(axis=2, keepdims=True)
        return found

    def _values(self, column: str) -> Array:
        """(kinds of rows, candidates) the probability that a row was made from each candidate."""
        law, candidates = (
            self.vague[column] if self.laws[column].placed_by else self.laws[column],
            self.candidates(column),
        )
        shown, own = self.released[column], in_codes_of(self.original[column], candidates)
        prior = _shares(self.original[column], replace(candidates, values=own))
        if isinstance(law, Unchanged) and not shown.is_category:
            near = _nearest(candidates.values, np.nan_to_num(law.shown[self.laws[column].first]))
            chance: Floats = np.eye(len(candidates))[near]
        else:
            rows = self.laws[column].first
            both = law.chance(np.tile(own, len(rows)), None, np.repeat(rows, len(own)))
            chance = both.reshape(len(rows), len(own)) * prior + 1e-6 * prior
        found: Array = (chance / np.maximum(chance.sum(axis=1, keepdims=True), 1e-300)).astype(np.float32)
        return found

    def _codes(self, people: Table) -> dict[str, Array]:
        return {name: in_codes_of(column, people[name]) for name, column in self.original.items()}

    def _placed(self, own: Mapping[str, Array]) -> dict[str, Rows]:
        placed: dict[int, Rows] = {}
        found = {}
        for name, cells in self.cells.items():
            if id(cells) not in placed:
                placed[id(cells)] = place_in(cells, own)
            found[name] = placed[id(cells)]
        return found

    def _tables(self, own: Mapping[str, Array], cell: Mapping[str, Rows]) -> dict[str, tuple[_Logs, _Logs]]:
        """For each column the evidence with the person's cell and without it."""
        found = {}
        for name, law in self.laws.items():
            logs = law.table(own[name], cell.get(name))
            found[name] = logs, self.vague[name].table(own[name], None) if law.placed_by else logs
        return found

    def _weighed(self, people: Table) -> _Weighed:
        """The likely rows of people: those that all columns but one support, whichever that is."""
        if id(people) in self._seen and self._seen[id(people)].people is people:
            return self._seen[id(people)]
        own = self._codes(people)
        many = min(LIKELY_ROWS, len(self.open))
        rows = np.empty((len(people), many), np.int64)
        cell = self._placed(own)
        tables = self._tables(own, cell)
        step = max(1, AT_ONCE // max(len(self.open), 1))
        for begin in range(0, len(people), step):
            some = slice(begin, begin + step)
            total = np.zeros((len(rows[some]), len(self.open)), np.float32)
            least = total.copy()
            for logs, vague in tables.values():
                lower = logs.of(some, self.open)
                if vague is not logs:
                    lower = np.minimum(lower, vague.of(some, self.open))
                total += lower
                np.minimum(least, lower, out=least)
            rows[some] = self.open[np.argpartition(least - total, many - 1, axis=1)[:, :many]]
        evidence, unplaced = {}, {}
        for name, law in self.laws.items():
            logs, vague = tables[name]
            evidence[name] = law.pairs(own[name], cell.get(name), rows, logs)
            if law.placed_by:
                unplaced[name] = self.vague[name].pairs(own[name], None, rows, vague)
        blocks: list[Array] = []
        seen = _Weighed(people, rows, evidence, unplaced, own, blocks)
        blocks += [self._about_block(seen, block, "") for block in self.blocks]
        self._seen[id(people)] = seen
        return seen

    def _reference(self) -> Array:
        """(rows,) how likely each released row is for other people, for whom released rows stand; column by column.

        The mean over whole records would be 0 for nearly every row.
        """
        if "" not in self._kept:
            others = self.open[sample_rows(len(self.open), REFERENCE)]
            own = self._codes(self.released.take(others))
            found = np.zeros(len(self.released))
            for logs, _ in self._tables(own, self._placed(own)).values():
                found += (log_sum(logs.table[logs.person], 0) - np.log(len(others)))[logs.row]
            self._kept[""] = found.astype(np.float32)
        return self._kept[""]


def _shares(shown: Column, candidates: Column) -> Floats:
    """How often each candidate, or a number nearest to it, occurs."""
    known = shown.values[~shown.missing]
    at = np.searchsorted(candidates.values, known) if shown.is_category else _nearest(candidates.values, known)
    counts = np.bincount(at, minlength=len(candidates)) + 0.5
    found: Floats = counts / counts.sum()
    return found


def descent_model(known: Known, released: Table) -> DescentModel | None:
    """The model of a release whose row i was made from row i of the original; None without a column that descends."""
    laws: dict[str, Law] = {}
    cells: dict[str, Cells] = {}
    steps = {name: step for step in known.plan.steps for name in step.columns}
    for name in released.names:
        column = replace(known.table[name], stored=None)
        if column.missing.all():
            continue  # nothing can be inferred, and nothing tells rows apart
        shown = in_codes_of(column, released[name])
        step = steps.get(name)
        if step is None or step.perturb.reversible:  # the attacker is granted the rows that reveal the function
            shown = shown if step is None else column.values
            laws[name] = Unchanged(name, shown, *_keys([shown]))
        elif step.perturb.descends:
            laws[name] = _law(column, shown, step, known)
            if laws[name].placed_by:
                cells[name] = known.partitions[step.within].cells
    if not laws:
        return None
    vague = {name: law.without_cell() for name, law in laws.items()}
    original = {name: known.table[name] for name in laws}
    blocks = tuple(_together(known, step, laws) for step in known.plan.steps if _is_joint(step, laws))
    return DescentModel(released, laws, vague, cells, original, np.arange(len(released)), blocks)


def _is_joint(step: Step, laws: Mapping[str, Law]) -> bool:
    """Whether a step changes several columns together that have a likelihood."""
    joint = step.perturb.joint and not step.perturb.reversible and not step.perturb.is_exchangeable
    return joint and sum(name in laws for name in step.columns) > 1


def _together(known: Known, step: Step, laws: Mapping[str, Law]) -> Together:
    part = whole_part(known.table, step, known.partitions)
    summary = step.perturb.finalize(step.perturb.fit(part), part.cells)
    return Together(part, step.perturb, summary, {name: laws[name].shown for name in step.columns if name in laws})


def _law(column: Column, shown: Array, step: Step, known: Known) -> Law:
    part = whole_part(known.table, Step((column.name,), step.within, step.perturb, step.keep), known.partitions)
    label = part.cells.label
    if step.perturb.average is not None:
        return _averaged(column, shown)
    if step.perturb.is_exchangeable:
        comparable = np.where(np.isnan(shown), np.inf, shown) if shown.dtype.kind == "f" else shown
        values, at = np.unique(comparable, return_inverse=True)
        counts = np.zeros((part.cells.count, len(values)))
        np.add.at(counts, (label, at.ravel()), 1.0)
        return Shared(column.name, shown, *_keys([label]), label, values, counts)
    summary = step.perturb.finalize(step.perturb.fit(part), part.cells)
    keep = [cells.label for cells in part.keep]
    hidden = part.cells.count > 1 and step.perturb.uses_cells and not _shows(step.perturb.observable_class(part), label)
    key = _keys([shown, *([] if hidden or not step.perturb.uses_cells else [label]), *keep])
    return Perturbed(column.name, shown, *key, part, step.perturb, summary, hidden)


def _averaged(column: Column, shown: Array) -> Averaged:
    there = ~column.missing
    if column.is_category:
        same = float((column.values[there] == shown[there]).mean()) if there.any() else 1.0
        return Averaged(column.name, shown, *_keys([shown]), 0.0, same)
    apart = np.abs(column.values[there] / 2 - shown[there] / 2) if there.any() else np.zeros(1)  # 1e308 overflows
    largest = max(float(np.nanmax(apart)), 1e-300)
    spread = min(2 * largest * float(np.sqrt(np.nanmean((apart / largest) ** 2))), float(np.finfo(np.float64).max))
    return Averaged(column.name, shown, *_keys([shown]), spread, 1.0)


def _shows(seen: Rows, label: Rows) -> bool:
    """Whether what is observable of a row tells its cell."""
    return len(np.unique(seen)) == len(np.unique(np.column_stack([seen, label]), axis=0))
