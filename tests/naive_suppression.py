"""Slow, obvious local suppression: greedy searches, the search that Leafcover makes, and the optimum of tiny tables.

A record is (codes, rows): a code of each column, 0 for missing, and the numbers of its rows. `Search` is given records
in the order of their codes, and what a class needs: ``[(k, None)]``, or a value of each row beside the number.
"""

from collections import Counter
from functools import cache
from itertools import pairwise
from math import inf

GAIN = 1e-9


def bits(columns, width):
    return [c for c in range(width) if columns >> c & 1]


def blanked(codes, columns):
    return tuple(0 if columns >> c & 1 else code for c, code in enumerate(codes))


def cost_of(codes, columns, price):
    return sum(price[c] for c in bits(columns, len(price)) if codes[c])


def is_valid(rows, needs):
    return all(
        len(rows) >= need if values is None else len({values[row] for row in rows} - {None}) >= need
        for need, values in needs
    )


class Search:
    """Every count is made anew."""

    def __init__(self, records, price, needs):
        self.records, self.price, self.needs = records, price, needs
        self.chosen = [0] * len(records)
        self.chosen = [0 if is_valid(rows, needs) else None for rows in map(self.class_of, range(len(records)))]

    def key(self, i):
        return None if self.chosen[i] is None else blanked(self.records[i][0], self.chosen[i])

    def rows_of(self, key):
        return [row for i, (_, rows) in enumerate(self.records) if self.key(i) == key is not None for row in rows]

    def class_of(self, i):
        return self.rows_of(self.key(i))

    def cost(self, i):
        return inf if self.chosen[i] is None else cost_of(self.records[i][0], self.chosen[i], self.price)

    def total(self):
        return sum(self.cost(i) * len(rows) for i, (_, rows) in enumerate(self.records))

    def gain(self, i, columns):
        return self.cost(i) - cost_of(self.records[i][0], columns, self.price)

    def leaves(self, i):
        """Take a record out of its class if that stays valid or becomes empty."""
        before, rest = self.chosen[i], set(self.class_of(i)) - set(self.records[i][1])
        if before is not None and rest and not is_valid(sorted(rest), self.needs):
            return False
        self.chosen[i] = None
        return True

    def donors(self):
        """The first of each run of equal unsuppressed records, those with few rows first."""
        free = [i for i in range(len(self.records)) if self.chosen[i] is not None and not self.cost(i)]
        first = free[:1] + [b for a, b in pairwise(free) if self.records[a][0] != self.records[b][0]]
        return sorted(first, key=lambda i: len(self.records[i][1]))

    def run(self, i):
        """The records from this one on that are equal to it."""
        return [j for j in range(i, len(self.records)) if self.records[j][0] == self.records[i][0]]

    def open(self, columns, movers, deep):
        """Make classes in which these columns are suppressed, where that saves something."""
        groups = dict.fromkeys(blanked(self.records[i][0], columns) for i in movers if self.gain(i, columns) > GAIN)
        # A record belongs to the group that it would have joined at the beginning, whatever happens in other groups.
        gainers = [i for i in movers if self.gain(i, columns) > GAIN]
        others = [i for i in movers if deep and abs(self.gain(i, columns)) <= GAIN]
        donors = self.donors() if deep else []
        saved = 0.0
        for group in groups:
            gaining, even, spare = (
                [i for i in some if blanked(self.records[i][0], columns) == group] for some in (gainers, others, donors)
            )
            saved += self.found(columns, group, gaining, even, spare)
        return saved

    def found(self, columns, group, gaining, even, spare):
        before, exists = list(self.chosen), bool(self.rows_of(group))
        taken, saved = [], 0.0
        candidates = [("gain", i) for i in gaining]
        if not exists:
            candidates += [("even", i) for i in even] + [("spare", j) for i in spare for j in self.run(i)]
        for why, i in candidates:
            gain = (before_cost := self.cost(i)) - cost_of(self.records[i][0], columns, self.price)
            new = self.records[i][1]
            if why == "spare" and (before_cost or saved + gain * len(new) <= GAIN):
                continue
            wanted = why == "gain" or self.helps([row for j in taken for row in self.records[j][1]], new)
            if wanted and self.leaves(i):
                taken.append(i)
                saved += gain * len(new)
        rows = [row for i in taken for row in self.records[i][1]]
        if not exists and not (is_valid(rows, self.needs) and saved > GAIN):
            self.chosen = before
            return 0.0
        for i in taken:
            self.chosen[i] = columns & ~sum(1 << c for c, code in enumerate(self.records[i][0]) if not code)
        return saved

    def helps(self, rows, new):
        def short(need, values):
            if values is None:
                return len(rows) < need
            had = {values[row] for row in rows} - {None}
            return len(had) < need and bool({values[row] for row in new} - had - {None})

        return any(short(*one) for one in self.needs)

    def sweep(self, sets, deep, lost=False):
        saved = 0.0
        for columns in sets:
            movers = [i for i in range(len(self.records)) if self.cost(i) and (not lost or self.chosen[i] is None)]
            saved += self.open(columns, movers, deep)
        return saved

    def merge(self, sets):
        """The first record without a class gets that of others as a whole, as cheaply as possible for each helped."""
        first = self.chosen.index(None)
        best = (inf, 0, [])
        for columns in sets:
            keys = [blanked(codes, columns) for codes, _ in self.records]
            lost = [i for i, key in enumerate(keys) if key == keys[first] and self.chosen[i] is None]
            options = []
            for key in sorted({self.key(i) for i in range(len(keys))} - {None}):
                members = [i for i in range(len(keys)) if self.key(i) == key]
                if {keys[i] for i in members} == {keys[first]}:
                    options.append((-sum(self.gain(i, columns) * len(self.records[i][1]) for i in members), members))
            if options:
                more, members = min(options, key=lambda one: one[0])
                more += sum(cost_of(self.records[i][0], columns, self.price) * len(self.records[i][1]) for i in lost)
                if more / len(lost) < best[0] - GAIN:
                    best = (more / len(lost), columns, members + lost)
        for i in best[2]:
            self.chosen[i] = best[1] & ~sum(1 << c for c, code in enumerate(self.records[i][0]) if not code)

    def restore(self):
        """Single cells, where a class exists or enough records agree."""
        saved, now = 0.0, list(self.chosen)
        for columns in sorted(set(now)):
            movers = [i for i in range(len(now)) if now[i] == columns]
            for c in sorted(bits(columns, len(self.price)), key=lambda c: (-self.price[c], c)):
                saved += self.open(columns & ~(1 << c), movers, False)
        return saved


def greedy(records, price, needs, sets, everybody=False):
    """One set of columns after the other, the cheapest first, for all records that become safe with it.

    Records that are left over take in unsuppressed ones, or any.
    """
    search = Search(records, price, needs)
    search.sweep(sets, False)
    if None in search.chosen:
        search.sweep(sets, True, lost=not everybody)
    while None in search.chosen:
        search.merge(sets)
    return search


def improved(records, price, needs, sets, rounds):
    """As in the package: greedily in both ways, then better for as long as something is saved."""
    ways = [greedy(records, price, needs, sets, everybody) for everybody in (False, True)]
    for search in ways:
        for _ in range(rounds):
            while search.restore():
                pass
            if not search.sweep(sets, True):
                break
        while search.restore():
            pass
    return min(ways, key=lambda search: search.total())


def one_by_one(records, price, k, sets):
    """Each unsafe row in turn joins the cheapest class that exists or that rows without one, or to spare, can form."""
    search = Search(records, price, [(k, None)])
    for i in range(len(records)):
        for columns in sets if search.chosen[i] is None else ():
            key = blanked(records[i][0], columns)
            same = [j for j in range(len(records)) if search.cost(j) and blanked(records[j][0], columns) == key]
            if search.open(columns, [i] if search.rows_of(key) else same, True):
                break
    while None in search.chosen:
        search.merge(sets)
    return search


def optimum(rows, price, k):
    """The least that k-anonymity costs, over all partitions of the rows; for about ten rows."""

    def within(group):
        codes = [rows[i] for i in range(len(rows)) if group >> i & 1]
        different = [c for c in range(len(price)) if len({one[c] for one in codes}) > 1]
        return sum(price[c] for one in codes for c in different if one[c])

    @cache
    def least(left):
        low, best = left & -left, inf if left else 0.0
        sub = rest = left & ~low
        while left:
            group = sub | low
            if k <= group.bit_count() < 2 * k and (further := least(left & ~group)) < best:
                best = min(best, further + within(group))
            if not sub:
                break
            sub = (sub - 1) & rest
        return best

    return least((1 << len(rows)) - 1)


# The other convention: a missing cell matches every value. Records are as they are now, by their original codes.


def match(ours, theirs):
    return all(not a or not b or a == b for a, b in zip(ours, theirs, strict=True))


def matching(now, weight, record, codes):
    """How many rows match those of a record, if its codes are as given."""
    return sum(weight[other] for other in now if other == record or match(now[other], codes))


def greedy_wildcard(now, weight, k, sets):
    """One set of columns after the other, in so many of the unsafe records that become safe with it as are needed."""
    for columns in sets:
        chosen = [None]
        while chosen:
            count = {record: matching(now, weight, record, now[record]) for record in now}
            unsafe = [one for one in now if count[one] < k and all(one[c] for c in bits(columns, len(one)))]
            safe = [one for one in unsafe if matching(now, weight, one, blanked(one, columns)) >= k]
            given, chosen = Counter(), []
            for one in sorted(safe, key=lambda one: (count[one], one)):
                if count[one] + given[blanked(one, columns)] < k:
                    chosen.append(one)
                given[blanked(one, columns)] += weight[one]
            for one in chosen:
                now[one] = blanked(one, columns)


def hidden(codes):
    return sum(1 << c for c, code in enumerate(codes) if not code)


def restored_wildcard(now, weight, k, price):
    """Restore every cell without which all rows still have enough matches, until nothing changes."""
    width, before = len(price), None
    while before != now:
        before = dict(now)
        for columns in sorted({hidden(codes) for codes in now.values()}, key=lambda one: (one.bit_count(), one)):
            for c in sorted(bits(columns, width), key=lambda c: (-price[c], c)):
                for record in now:
                    if hidden(now[record]) == columns and record[c]:
                        try_to_restore(now, weight, record, c, k)


def try_to_restore(now, weight, record, c, k):
    before = now[record]
    now[record] = (*before[:c], record[c], *before[c + 1 :])
    if any(matching(now, weight, one, codes) < k for one, codes in now.items()):
        now[record] = before


def one_by_one_wildcard(now, weight, k, sets):
    """Each unsafe record in turn becomes safe in the cheapest way, as far as others have not made it so."""
    for record in now:
        if matching(now, weight, record, now[record]) < k:
            now[record] = next(
                codes for columns in sets if matching(now, weight, record, codes := blanked(record, columns)) >= k
            )
