"""Copies: records, parts of records and rare values of people that occur in the release.

A record or a value that occurs in the release is evidence of copying only as far as it occurs more often for people in
the release than for people outside it. Every figure is therefore a share of members beside the same share of the
control. Pairs of rows are not needed.

Under the hypothesis that the release tells nothing about who is in it, members and control are exchangeable, and the
number of members among the people whose record occurs is hypergeometric: Fisher's one-sided test is exact. It stays
exact in a group of people only if the group is defined without regard to who is a member. "Unique", "rare" and
"extreme" are therefore counted among members and control together. A record unique in the original alone would be
compared with one unique in a control of another size, in which uniqueness means less.

One test needs no control. A table of few columns of few levels holds everybody's record, members' and others', and may
still be the original up to the order of its rows. It then holds every rare record exactly as often as the original. A
release whose rows are drawn independently cannot do that: whatever it is drawn from, a record comes up exactly c times
with at most the probability that a binomial count with mean c equals c (0.368 for one person).

Others are those of attached values (``rare_values.py``) and of near-copies (``near_copies.py``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, isnan, nan, sqrt
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from leafcover.arrays import Array, Bools, Floats, Rows, Words
from leafcover.metrics.disclosure.k_anonymity import column_marks, row_marks
from leafcover.metrics.disclosure.near_copies import NearCopies, near_copies
from leafcover.metrics.disclosure.rare_values import SHARED, SIGNIFICANT, Attached, known_values, worst_attached
from leafcover.metrics.estimates import Attack, Estimate, Risk, fisher, wilson
from leafcover.metrics.pair import Pair, sample_rows
from leafcover.table.table import Column, Table

NEAR_UNIQUE = 0.1  # a column is near-unique if more than this share of its known values is rare
MOSTLY_RARE = 0.75  # and by itself a record that may be reproduced if more than this share of the rows has a rare one
TAIL = 0.005  # the people with the lowest or highest numbers, or the rarest levels,
LEAST_TAIL = 10  # but at least so many
COVERED = 0.8  # a block has at least this share of the columns
MOST_PEOPLE = 5_000  # of either kind whose blocks are looked for; all other figures use everybody
MOST_PAIRED = 24  # columns of which every two are left out of a block; of further ones, one by one
BEYOND_DOUBT = 1e-12  # smaller probabilities count alike
PART = 1 << 17  # released rows that are searched at a time
MOST_COUNTED = 200_000  # rows of either table, by whose records without one column counts are compared
DEVIATIONS = 15  # of a binomial distribution, beyond which it is 0

Kind: TypeAlias = Literal[
    "records",
    "unique",
    "rare",
    "rarest",
    "lowest",
    "highest",
    "extreme",
    "block",
    "value",
    "reproduced",
    "attached",
    "near",
]


@dataclass(frozen=True)
class Match:
    """How often the record of people of one group, a part of it, or one value occurs in the release.

    ``records``: everybody; ``unique``: people whose record nobody else has; ``rare``: people with a rare value in any
    column; ``rarest``, ``lowest``, ``highest``: with the rarest levels, or the lowest or highest numbers, of the column
    named; ``extreme``: with those of any number; ``block``: everybody, by the columns named; ``value``: everybody, by
    the one near-unique column named, counted if fewer than five released rows hold the value; ``reproduced``: the
    distinct records that fewer than five members have, by the columns named, counted if exactly as many released rows
    have them. Its control is the highest share that independent draws can have; ``attached``: the rare values of the
    first column, counted as far as a person who holds one and a released row that does have the same value, or group of
    a number, in the second. Its control is the share by chance; ``near``: members of whom a released row agrees in
    nearly every column, as no other row does.
    """

    kind: Kind
    columns: tuple[str, ...]
    attack: Attack  # baseline: members whose record or value another member has
    p: float  # of Fisher's one-sided exact test; nan without control; of reproduced and attached by counts
    without: tuple[str, ...] = ()  # the columns that a block leaves out
    people: Estimate | None = None  # of near-copies: members that chance does not explain


@dataclass(frozen=True)
class Finding:
    """A match that is significantly more frequent among members than among the control, or than draws explain."""

    kind: Kind
    columns: tuple[str, ...]
    without: tuple[str, ...]
    members: float
    control: float
    p: float  # corrected for the number of tests


@dataclass(frozen=True)
class Copies:
    """Records, blocks and rare values of people that occur in the release, of members and of people outside it."""

    columns: tuple[str, ...]  # that a record has
    near_unique: tuple[str, ...]  # columns left out of records, whose values are looked for one by one
    records: Match | None  # None if every column is near-unique: then only values and counts are compared
    unique: Match | None
    groups: tuple[Match, ...]
    block: Match | None  # the worst
    blocks: int  # tried
    values: tuple[Match, ...]  # the worst first
    reproduced: Match | None  # the worst; None if no record is rare
    attached: Match | None  # the worst; None if no value is rare, or too few are to be tested
    near: Match | None  # the worst; None if no two rows stand out
    tests: int  # comparisons with control and of counts,
    near_tests: int  # and of near-copies, which are corrected for by themselves

    @property
    def matches(self) -> tuple[Match, ...]:
        """All matches."""
        single = (self.records, self.unique, *self.groups, self.block, *self.values)
        single = (*single, self.reproduced, self.attached, self.near)
        return tuple(one for one in single if one is not None)

    @property
    def worst(self) -> Match | None:
        """The match with the smallest p, beyond doubt with the largest difference; None if nothing was tested."""
        return min((one for one in self.matches if not isnan(one.p)), key=_doubt, default=None)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What occurs more often for members than for others, or than draws explain, the most significant first.

        Beyond doubt the largest difference comes first. p is corrected for the number of tests and is below 0.001.
        """
        return tuple(
            Finding(m.kind, m.columns, m.without, m.attack.main.value, m.attack.control.value, self.corrected(m))
            for m in sorted(self.matches, key=_doubt)
            if m.attack.control is not None and self.corrected(m) < SIGNIFICANT
        )

    def corrected(self, match: Match) -> float:
        """The probability of a match, multiplied by the number of tests (Bonferroni)."""
        return match.p * (self.near_tests if match.kind == "near" else self.tests)


def copies(pair: Pair, *, most: int = MOST_PEOPLE) -> Copies:
    """Look for the people of a pair in its release; ``most`` people of either kind by blocks of columns."""
    outside = near_unique(pair.original)
    names = tuple(name for name in pair.names if name not in outside and name != pair.weight)
    values = sorted((_value(pair, name) for name in outside), key=_severity)
    everybody = unique = None
    groups: list[Match] = []
    worst, blocks, reproduced, counted = None, 0, None, 0
    if names and len(pair.original):
        people = _people(pair, names)
        everybody = people.match("records")
        unique = people.match("unique", among=people.pooled == 1)
        groups = [people.match(kind, columns, among=among) for kind, columns, among in _groups(pair, names)]
        worst, blocks = _worst_block(pair, names, most)
    attached = None
    if len(pair.original) and len(pair.released):
        reproduced, counted = _worst_reproduced(pair, names, outside)
        worst_pair, compared = worst_attached(pair)
        attached = None if worst_pair is None else _attached(worst_pair)
        counted += compared
    single = sum(one is not None for one in (everybody, unique, *groups, *values))
    tests = counted if pair.control is None else single + blocks + counted
    near = near_copies(pair)
    return Copies(
        names,
        outside,
        everybody,
        unique,
        tuple(groups),
        worst,
        blocks,
        tuple(values),
        reproduced,
        attached,
        None if near is None else _near(near),
        tests,
        0 if near is None else near.tests,
    )


def near_unique(table: Table) -> tuple[str, ...]:
    """The columns of which more than a tenth of the known values are held by fewer than five rows."""
    return tuple(column.name for column in table if _is_near_unique(column))


def _is_near_unique(column: Column) -> bool:
    _, rows = np.unique(column.values[~column.missing], return_counts=True)
    return bool(rows[rows < SHARED].sum() > NEAR_UNIQUE * rows.sum())


# Records: who of all people, and of groups of them, has a record that occurs in the release.


class People(NamedTuple):
    """Members, then the control: whether each one's record occurs in the release, and how many others have it."""

    members: int
    occurs: Bools
    twin: Bools  # (members,) another member has the same record
    pooled: Rows  # people with the record, members and control

    def match(self, kind: Kind, columns: tuple[str, ...] = (), among: Bools | None = None) -> Match:
        """The match of everybody, or of some people."""
        some = np.ones(len(self.occurs), np.bool_) if among is None else among
        inside, outside = self.occurs[: self.members], self.occurs[self.members :]
        first, second = some[: self.members], some[self.members :]
        baseline = _share(self.twin[first])
        return _match(kind, columns, _share(inside[first]), _share(outside[second]) if len(second) else None, baseline)


def _people(pair: Pair, names: Sequence[str]) -> People:
    members, released = row_marks(pair.original, names), row_marks(pair.released, names)
    others = np.empty(0, np.uint64) if pair.control is None else row_marks(pair.control, names)
    everybody = np.concatenate([members, others])
    return People(
        len(members),
        np.isin(everybody, released),
        _counts_in(members, members) > 1,
        _counts_in(everybody, everybody),
    )


def _counts_in(values: Array, of: Array) -> Rows:
    """How often each value occurs in another array."""
    if not len(of):
        return np.zeros(len(values), np.int64)
    distinct, counts = np.unique(of, return_counts=True)
    place = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return np.where(distinct[place] == values, counts[place], 0)


def _share(found: Bools) -> Risk:
    return wilson(float(found.sum()), len(found))


def _match(
    kind: Kind,
    columns: tuple[str, ...],
    main: Risk,
    control: Risk | None,
    baseline: Risk,
    without: tuple[str, ...] = (),
) -> Match:
    p = nan if control is None else float(fisher(_hits(main), main.tries, _hits(control), control.tries))
    return Match(kind, columns, Attack(main, control, baseline), p, without)


def _hits(risk: Risk) -> int:
    return round(risk.value * risk.tries)


def _severity(match: Match) -> tuple[float, float]:
    """The smaller, the worse."""
    attack = match.attack
    if attack.control is None:
        return 1.0, attack.baseline.value - attack.main.value
    return match.p, attack.control.value - attack.main.value


def _doubt(match: Match) -> tuple[float, float]:
    """The same; smaller probabilities than a limit count alike."""
    p, below = _severity(match)
    return max(p, BEYOND_DOUBT), below


def _groups(pair: Pair, names: Sequence[str]) -> Iterator[tuple[Kind, tuple[str, ...], Bools]]:
    """Groups of people who would be noticed: kind, column, whether each person belongs to it; none is empty."""
    everybody = len(pair.original) + (0 if pair.control is None else len(pair.control))
    rare, extreme = np.zeros(everybody, np.bool_), np.zeros(everybody, np.bool_)
    for name in pair.names:
        if name == pair.weight:
            continue
        values, known = _pooled(pair, name)
        _, place, rows = np.unique(values[known], return_inverse=True, return_counts=True)
        if not len(rows):
            continue
        if name in names:
            rare[known] |= rows[place] < SHARED
        ends: tuple[tuple[Kind, Rows], ...]
        if pair.original[name].is_category:
            ends = (("rarest", np.argsort(rows, kind="stable")),) if name in names else ()
        else:
            ends = (("lowest", np.arange(len(rows))), ("highest", np.arange(len(rows))[::-1]))
        for kind, order in ends:
            among = np.zeros(everybody, np.bool_)
            among[known] = _first_values(rows, order)[place]
            if not pair.original[name].is_category:
                extreme |= among
            if among.any():
                yield kind, (name,), among
    if rare.any():
        yield "rare", (), rare
    if extreme.any():
        yield "extreme", (), extreme


def _pooled(pair: Pair, name: str) -> tuple[Array, Bools]:
    """The values of a column of members and control, and which are known."""
    both = [table[name] for table in (pair.original, pair.control) if table is not None]
    return np.concatenate([c.values for c in both]), ~np.concatenate([c.missing for c in both])


def _first_values(rows: Rows, order: Rows) -> Bools:
    """The first values in an order, until few people hold them together; none that doubles their number."""
    few, held = max(TAIL * rows.sum(), LEAST_TAIL), np.cumsum(rows[order])
    chosen = np.zeros(len(rows), np.bool_)
    chosen[order[(held - rows[order] < few) & (held <= 2 * few)]] = True
    return chosen


# Blocks: sets of columns that hold most of a record.


def _worst_block(pair: Pair, names: Sequence[str], most: int) -> tuple[Match | None, int]:
    """The set of columns by which members occur more often than others, and how many sets were tried.

    Every column, and every two, are left out in turn; of more columns, one after the other as long as most remain.
    """
    columns = len(names)
    spare = columns - int(np.ceil(COVERED * columns - 1e-9))
    if not spare:
        return None, 0
    members = pair.original.take(sample_rows(len(pair.original), most))
    tables = [members]
    if pair.control is not None and len(pair.control):
        tables.append(pair.control.take(sample_rows(len(pair.control), most)))
    marks = np.concatenate([np.array(list(column_marks(table, names))) for table in tables], axis=1)
    found = _scores(marks, len(members), pair.released, names, _left_out(pair.original, names, spare))
    for size in range(2, spare):
        best = min((drop for drop in found if len(drop) == size), key=found.__getitem__)
        drops = [(*best, c) for c in range(columns) if c not in best]
        found |= _scores(marks, len(members), pair.released, names, drops)
    best = min(found, key=found.__getitem__)
    kept = tuple(name for c, name in enumerate(names) if c not in best)
    own = row_marks(pair.original, kept)
    twin = _share(_counts_in(own, own)[sample_rows(len(own), most)] > 1)
    control = wilson(found[best].others, marks.shape[1] - len(members)) if len(tables) > 1 else None
    left = tuple(names[c] for c in sorted(best))
    return _match("block", kept, wilson(found[best].members, len(members)), control, twin, left), len(found)


def _left_out(table: Table, names: Sequence[str], spare: int) -> list[tuple[int, ...]]:
    """Every column; if two may be left out, also every two of those with most values."""
    single: list[tuple[int, ...]] = [(c,) for c in range(len(names))]
    if spare == 1:
        return single
    order = sorted(range(len(names)), key=lambda c: -len(np.unique(table[names[c]].values)))
    return [*single, *combinations(sorted(order[:MOST_PAIRED]), 2)]


class Score(NamedTuple):
    """A block; the smaller, the worse."""

    p: float
    below: float  # share of others minus share of members
    left_out: int
    members: int  # whose block occurs
    others: int


def _scores(
    marks: Words, members: int, released: Table, names: Sequence[str], drops: list[tuple[int, ...]]
) -> dict[tuple[int, ...], Score]:
    """Members and others whose record occurs in the release, for each set of columns left out."""
    occurs = _occurring(marks, released, names, drops)
    inside, outside = occurs[:, :members].sum(axis=1), occurs[:, members:].sum(axis=1)
    others = marks.shape[1] - members
    p = fisher(inside, members, outside, others)  # 1 for all without others
    below = outside / max(others, 1) - inside / members
    rows = zip(drops, p.tolist(), below.tolist(), inside.tolist(), outside.tolist(), strict=True)
    return {drop: Score(one, less, len(drop), own, their) for drop, one, less, own, their in rows}


def _occurring(marks: Words, released: Table, names: Sequence[str], drops: list[tuple[int, ...]]) -> Bools:
    """For each set of columns left out and each person, whether the rest of the record occurs in the release."""
    total = marks.sum(axis=0)
    found = np.zeros((len(drops), len(total)), np.bool_)
    for first in range(0, len(released), PART):
        part = released.take(np.arange(first, min(first + PART, len(released))))
        theirs = np.array(list(column_marks(part, names)))
        whole = theirs.sum(axis=0)
        for row, drop in enumerate(drops):
            left, their_left = total.copy(), whole.copy()
            for c in drop:
                left -= marks[c]
                their_left -= theirs[c]
            found[row] |= _is_in(left, their_left)
    return found


def _is_in(words: Words, many: Words) -> Bools:
    """Which words occur among many; those that share no first bits with any are sorted out before."""
    shift = np.uint64(max(64 - 6 - len(words).bit_length(), 1))
    seen = np.zeros(1 << (64 - int(shift)), np.bool_)
    seen[words >> shift] = True
    return np.isin(words, many[seen[many >> shift]])


# Counts: rare records that the release holds exactly as often as the original.


def _worst_reproduced(pair: Pair, names: Sequence[str], outside: Sequence[str]) -> tuple[Match | None, int]:
    """The records that are reproduced most significantly, and how many ways to define a record were tried.

    A changed value of a near-unique column would hide that the rest was copied, so records are taken without these
    columns. They are taken with them, too, of people with rare values in two columns or more: if columns were released
    apart, these hardly ever meet. A column in which most values are rare is a record of its own.
    """
    found = list(_reproduced_by(pair, names, None)) if names else []
    if outside:
        rare = {name: _has_rare(pair.original[name]) for name in outside}
        both = tuple(name for name in pair.names if name in names or name in outside)
        found += _reproduced_by(pair, both, rare)
        mostly = [name for name, has in rare.items() if has.mean() > MOSTLY_RARE]
        found += [_reproduced(*_marks(pair, (name,)), len(pair.released), (name,)) for name in mostly]
    tried = [match for match in found if match is not None]

    def severity(one: Match) -> tuple[float, float, int]:
        """The smaller, the worse; beyond doubt, the records that are reproduced most, and of these the longest."""
        return max(one.p, BEYOND_DOUBT), -one.attack.main.value, -len(one.columns)

    return min(tried, key=severity, default=None), len(tried)


def _has_rare(column: Column) -> Bools:
    """Which rows have a rare value."""
    _, place, rows = np.unique(column.values, return_inverse=True, return_counts=True)
    found: Bools = (rows[place.ravel()] < SHARED) & ~column.missing
    return found


def _marks(pair: Pair, names: Sequence[str]) -> tuple[Words, Words]:
    return row_marks(pair.original, names), row_marks(pair.released, names)


def _reproduced_by(pair: Pair, names: Sequence[str], rare: Mapping[str, Bools] | None) -> Iterator[Match | None]:
    """Records of these columns, and without each one of them if most remain; with two rare values if they are given."""

    def some(marks: Words, without: str = "") -> Words:
        return marks if rare is None else marks[sum(has for n, has in rare.items() if n != without) >= 2]

    ours, theirs = _marks(pair, names)
    yield _reproduced(some(ours), theirs, len(theirs), tuple(names))
    if len(names) - 1 < COVERED * len(names) - 1e-9:
        return
    single = (column_marks(table, names) for table in (pair.original, pair.released))
    for name, one, other in zip(names, *single, strict=True):
        part = (_sampled(some(ours - one, name), len(ours)), _sampled(theirs - other, len(ours)))
        yield _reproduced(*part, len(theirs), tuple(n for n in names if n != name), (name,))


def _sampled(marks: Words, rows: int) -> Words:
    """The hashes of a large table that are below a limit: the same records of both tables."""
    if rows <= MOST_COUNTED:
        return marks
    return marks[marks < np.uint64(2**64 * MOST_COUNTED // rows)]


def _reproduced(
    ours: Words, theirs: Words, rows: int, columns: tuple[str, ...], without: tuple[str, ...] = ()
) -> Match | None:
    """The rare records of members that exactly as many released rows have; None if no record is rare."""
    from scipy.stats import binom

    distinct, held = np.unique(ours, return_counts=True)
    released = _counts_in(distinct, theirs)
    counts = np.arange(1, min(SHARED, rows))
    records = np.array([(held == count).sum() for count in counts])
    hits = int(((held == released) & (held < SHARED)).sum())
    if not records.sum():
        return None
    chance = binom.pmf(counts, rows, counts / rows)  # the highest that a binomial count has there
    share = float(records @ chance / records.sum())
    limit = Risk(share, share, share, int(records.sum()))
    attack = Attack(wilson(hits, int(records.sum())), limit, limit)
    return Match("reproduced", columns, attack, _at_least(hits, records, chance), without)


def _at_least(hits: int, tries: Rows, chance: Floats) -> float:
    """The probability of at least so many successes, in tries with several chances.

    >>> round(_at_least(3, np.array([2, 1]), np.array([0.5, 0.2])), 6)
    0.05
    """
    from scipy.stats import binom

    law, first = np.ones(1), 0
    for many, one in zip(tries.tolist(), chance.tolist(), strict=True):
        reach = DEVIATIONS * (1 + ceil(sqrt(many * one * (1 - one))))
        low, high = max(int(many * one) - reach, 0), min(int(many * one) + reach, many)
        law = np.convolve(law, binom.pmf(np.arange(low, high + 1), many, one))
        first += low
    return min(1.0, float(law[max(hits - first, 0) :].sum()))


def _attached(found: Attached) -> Match:
    chance = Risk(found.chance, found.chance, found.chance, found.values)
    return Match("attached", found.columns, Attack(wilson(found.hits, found.values), chance, chance), found.p)


def _near(found: NearCopies) -> Match:
    return Match("near", (), found.attack, found.p, people=found.people)


# Values: a rare one that a person holds and that occurs in the release certifies that the person is in it.


def _value(pair: Pair, name: str) -> Match:
    """How often a person's value of a near-unique column occurs in the release, held by few rows."""
    members, released = known_values(pair.original[name]), known_values(pair.released[name])
    twins = _counts_in(members, members) - 1
    control = None if pair.control is None else _share(_is_rare(_counts_in(known_values(pair.control[name]), released)))
    return _match("value", (name,), _share(_is_rare(_counts_in(members, released))), control, _share(_is_rare(twins)))


def _is_rare(rows: Rows) -> Bools:
    return (rows > 0) & (rows < SHARED)
