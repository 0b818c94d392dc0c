"""A ledger of the releases of a project: it finds people who are released again, by marks that only its key can make.

Marks are keyed hashes: of a unit's id, and of the values of a row in a few sets of columns that tell rows apart. A
release leaves the 4096 smallest of each kind, a uniform sample, and their number. A new table is compared with each of
these samples: the share of its people that were released before, and the share of those that are released again.

The ledger and its key say whether somebody was released, to anyone who knows that person's values. Both are private,
and nothing in them goes into a file for others.
"""

import json
import os
import secrets
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from math import sqrt
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from leafcover.arrays import Words
from leafcover.engine.files import LEDGER_FOLDER, LedgerFiles
from leafcover.engine.run import Release, fingerprint
from leafcover.errors import LedgerError, RepeatedRelease
from leafcover.keyed_random import KEY_BYTES, Draws, Key
from leafcover.messages import catalogue
from leafcover.metrics.estimates import wilson
from leafcover.table.atomic import locked
from leafcover.table.table import Column, Table

FORMAT = 1
SKETCH_MARKS = 4096  # of each kind, kept of a release
MOST_OVERLAP = 0.05  # share of people in an earlier release that is refused
MOST_TWINS = 0.01  # share of rows that equal another one in columns that tell rows apart
LISTED = 3  # earlier releases that an error names
MOST_SETS = 8  # sets of columns by which the rows of a release are marked
MOST_WITHOUT = 2  # columns that may be lost before nobody is found
SAMPLE = 65_536  # rows that decide which columns tell rows apart
SECONDS_A_DAY = 86_400
OTHERS = 0o077  # permissions of anybody but the owner

Of: TypeAlias = Literal["units", "rows"]


# Marks of a table.


@dataclass(frozen=True, eq=False)
class Sketch:
    """The smallest marks of a release: all of them, if there are few."""

    of: Of
    columns: tuple[str, ...]
    count: int  # of all marks
    twins: float  # the share of rows that equal another one in these columns
    smallest: Words = field(repr=False)  # in ascending order

    @property
    def is_whole(self) -> bool:
        """Whether it has every mark, so that what it says is exact."""
        return self.count <= SKETCH_MARKS


@dataclass(frozen=True, eq=False)
class _Marks:
    """All marks of a table by some columns."""

    words: Words  # in ascending order
    twins: float


@dataclass(frozen=True, eq=False)
class MarkedTable:
    """A table and the key to mark its people with; nothing depends on the order of its rows or columns."""

    table: Table
    draws: Draws
    _hashed: dict[str, Words] = field(default_factory=dict)
    _made: dict[tuple[str, ...], _Marks] = field(default_factory=dict)

    @cached_property
    def _units(self) -> _Marks | None:
        """The marks of the units, by their ids alone: the column may be called otherwise next time."""
        draws = self.draws.sub("units")
        found = [_column_words(self.table[name], draws) for name in self.table.with_role("unit")]
        return _Marks(np.sort(draws.words(np.unique(found[0]).view(np.int64))), 0.0) if found else None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that mark a row: the unit marks units."""
        return tuple(c.name for c in self.table if self.table.roles.get(c.name) != "unit" and not c.missing.all())

    def column(self, name: str) -> Words:
        """A keyed hash of each value of a column."""
        return _column_words(self.table[name], self.draws.sub("column", name))

    def sums(self, names: Sequence[str]) -> Words:
        """A keyed hash of each row's values in some columns."""
        for name in names:
            if name not in self._hashed:
                self._hashed[name] = self.column(name)
        found = np.zeros(len(self.table), np.uint64)
        for name in names:
            found += self._hashed[name]
        return found

    def marks(self, of: Of, names: tuple[str, ...]) -> _Marks | None:
        """The marks by some columns; None if the table does not have them."""
        if of == "units":
            return self._units
        if not set(names) <= set(self.table.names):
            return None
        names = tuple(sorted(names))
        if names not in self._made:
            self._made[names] = _row_marks(self.sums(names), self.draws)
        return self._made[names]

    def sketches(self) -> tuple[Sketch, ...]:
        """What the ledger keeps of the table."""
        kinds: list[tuple[Of, tuple[str, ...]]] = [("units", ())]
        kinds += [("rows", names) for names in column_sets(self)]
        return tuple(
            Sketch(of, names, len(marks.words), marks.twins, marks.words[:SKETCH_MARKS].copy())
            for of, names in kinds
            if (marks := self.marks(of, names)) is not None
        )


def _column_words(column: Column, draws: Draws) -> Words:
    """A keyed hash of each value; a date is the time at which it begins."""
    values = column.values * SECONDS_A_DAY if column.kind == "date" else column.values
    return draws.value_words(values, column.levels if column.is_category else None)


def _row_marks(sums: Words, draws: Draws) -> _Marks:
    """A mark for each row; the second of equal rows has another mark than the first."""
    ordered = np.sort(sums)
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(begins, len(ordered)))
    number = np.arange(len(ordered)) - np.repeat(begins, sizes)
    shift = draws.sub("occurrence").words(np.arange(sizes.max(initial=1)))
    shift[0] = 0
    words = draws.sub("mark").words((ordered + shift[number]).view(np.int64))
    return _Marks(np.sort(words), float(sizes[sizes > 1].sum() / max(len(ordered), 1)))


# Which columns mark a row.


def column_sets(marked: MarkedTable) -> list[tuple[str, ...]]:
    """Small sets of columns that tell rows apart, so that one is left if a column is lost or changes, or often two."""
    some = slice(None, None, max(1, len(marked.table) // SAMPLE))
    order = sorted(marked.names, key=lambda name: (-len(np.unique(marked.table[name].values[some])), name))
    total = np.zeros(len(marked.table), np.uint64)
    for name in order:
        total += marked.column(name)
    found: list[tuple[str, ...]] = []
    waiting: deque[frozenset[str]] = deque([frozenset()])
    while waiting and len(found) < MOST_SETS:
        without = waiting.popleft()
        chosen = next((one for one in found if not without & set(one)), None)
        if chosen is None:
            limit = 1.5 * _twins(total - marked.sums(list(without))) + MOST_TWINS
            chosen = _telling(marked, [name for name in order if name not in without], limit)
            found += [chosen] if chosen else []
        if len(without) < MOST_WITHOUT:
            waiting.extend(without | {name} for name in chosen)
    return found


def _telling(marked: MarkedTable, order: Sequence[str], limit: float) -> tuple[str, ...]:
    """The first columns that tell rows apart nearly as well as all do, without those that are not needed for it."""
    sums, chosen = np.zeros(len(marked.table), np.uint64), list[str]()
    for name in order:
        sums = sums + marked.sums([name])
        chosen.append(name)
        if _twins(sums) <= limit:
            break
    for name in reversed(chosen[:-1]):
        fewer = sums - marked.sums([name])
        if _twins(fewer) <= limit:
            chosen.remove(name)
            sums = fewer
    more = [name for name in order if name not in chosen]
    return (*chosen, *more[:1])  # chosen for few twins here, they tell other people apart less well


def _twins(sums: Words) -> float:
    """The share of rows that equal another one; in a large table, of a sample of values."""
    if len(sums) > SAMPLE:
        sums = sums[sums <= np.uint64(SAMPLE / len(sums) * 2.0**64)]
    ordered = np.sort(sums)
    same = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
    return float(np.mean(same[1:] | same[:-1])) if len(ordered) else 1.0


# Comparing a table with an earlier release.


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval, which has no width if the share is exact."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1%}" + (f" ({100 * self.low:.1f} to {self.high:.1%})" if self.low < self.high else "")


@dataclass(frozen=True)
class EarlierRelease:
    """How many people of a new table are in an earlier release."""

    number: int  # of the earlier release
    name: str
    of: Of
    share: Share  # of the new table's units or rows
    share_of_earlier: Share
    chance: float = 0.0  # the share that other people with the same values explain
    chance_of_earlier: float = 0.0

    @property
    def excess(self) -> float:
        """The larger share above chance, which decides."""
        return max(_above(self.share, self.chance), _above(self.share_of_earlier, self.chance_of_earlier))

    def __str__(self) -> str:
        return (
            f"release {self.number} ({self.name!r}): {self.share} of these {self.of}, "
            f"{self.share_of_earlier} of the {self.of} of that release"
        )


def overlap_of(sketch: Sketch, marks: _Marks) -> tuple[Share, Share]:
    """The share of a table's marks that are in an earlier release, and the share of the release's in the table.

    The marks below the largest one of the sketch are a uniform sample of either side.
    """
    if sketch.is_whole:
        kept, sample, part = sketch.smallest, marks.words, 1.0
    else:
        kept, part = sketch.smallest[:-1], len(sketch.smallest) / sketch.count
        sample = marks.words[: np.searchsorted(marks.words, sketch.smallest[-1])]
    both = len(np.intersect1d(kept, sample, assume_unique=True))
    return _share(both, len(sample), part), _share(both, len(kept), part)


def _share(found: int, tries: int, part: float) -> Share:
    """A share of a sample without replacement that is a part of the whole."""
    share = found / max(tries, 1)
    if part >= 1:
        return Share(share, share, share)
    counted = round(tries / (1 - part))  # tries that would say as much with replacement
    risk = wilson(share * counted, counted)
    return Share(share, risk.low, risk.high)


def _compared(marked: MarkedTable, entry: "Entry") -> EarlierRelease | None:
    """The largest overlap with an earlier release by any of its marks; None if the table has other columns."""
    found = []
    for sketch in entry.sketches:
        marks = marked.marks(sketch.of, sketch.columns)
        if marks is None:
            continue
        size, earlier = max(len(marks.words), 1), max(sketch.count, 1)
        # People have twins among other people as among their own, in proportion to their number. The columns were
        # chosen for few twins in the earlier table, so the share in the new one counts, too.
        chances = max(sketch.twins, marks.twins * earlier / size), max(marks.twins, sketch.twins * size / earlier)
        shares = overlap_of(sketch, marks)
        found.append(EarlierRelease(entry.number, entry.name, sketch.of, *shares, *(min(one, 1.0) for one in chances)))
    return max(found, key=lambda one: one.excess, default=None)


def _above(share: Share, chance: float) -> float:
    return (share.value - chance) / (1 - chance) if chance < 1 else float(share.value == 1)


# The ledger and its key.


@dataclass(frozen=True, eq=False)
class Entry:
    """A release in the ledger."""

    number: int
    name: str  # of the released file
    recipe: str
    bits_per_person: float | None  # what is proved of it, if every column was dealt
    source: str  # a mark of the original and the secret key of the release
    content: str  # a mark of the released values
    sketches: tuple[Sketch, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Ledger:
    """The releases of a project and the secret key of their marks."""

    folder: Path
    secret: bytes = field(repr=False)
    entries: tuple[Entry, ...] = ()
    is_new: bool = False  # the key is not written yet

    @property
    def path(self) -> Path:
        """The file of the ledger."""
        return self.folder / "ledger.json"

    @property
    def key_path(self) -> Path:
        """The file of its key."""
        return self.folder / "ledger.key"

    @property
    def draws(self) -> Draws:
        """The keyed hash of everything in it."""
        return Draws(self.secret)

    def source_mark(self, mark: str) -> str:
        """A mark of the keyed fingerprint of an original."""
        return self.draws.sub("source", mark).secret.hex()

    def content_mark(self, table: Table) -> str:
        """A mark of released values, whatever the format of their file."""
        return fingerprint(table, Key(self.draws.sub("content").secret))

    def without(self, number: int) -> "Ledger":
        """The ledger without a release."""
        return replace(self, entries=tuple(one for one in self.entries if one.number != number))

    def text(self) -> str:
        """The content of its file; each entry has a keyed hash, so that damage and another key are found."""
        written = [{**one, "check": self.check_mark(one)} for one in map(_fields, self.entries)]
        return json.dumps({"leafcover_ledger": FORMAT, "releases": written}, indent=1, ensure_ascii=False) + "\n"

    def check_mark(self, entry: Mapping[str, Any]) -> str:
        """The keyed hash of an entry."""
        return self.draws.sub("entry", json.dumps(entry, sort_keys=True)).secret.hex()


def read_ledger(project: str | Path) -> Ledger:
    """The ledger in a project folder, or a new one."""
    if not Path(project).is_dir():
        raise LedgerError(f"There is no project folder '{project}'. Make it first, or name another with project=...")
    ledger = Ledger(Path(project) / LEDGER_FOLDER, secrets.token_bytes(KEY_BYTES), is_new=True)
    if not ledger.key_path.exists():
        if ledger.path.exists():
            raise _unusable(ledger.key_path, "the key of the ledger beside it, is missing")
        return ledger
    ledger = replace(ledger, secret=_secret(ledger.key_path), is_new=False)
    return replace(ledger, entries=_entries(ledger)) if ledger.path.exists() else ledger


def _unusable(path: Path, reason: str) -> LedgerError:
    return LedgerError(f"'{path}', {reason}. Restore it from a copy, or name another folder with project=...")


def _private_text(path: Path) -> str:
    """The text of a file that nobody else can read."""
    try:
        if os.name == "posix" and path.stat().st_mode & OTHERS:
            raise LedgerError(
                f"'{path}' can be read by others, and says who was released. Run chmod 600 on it, or start a new "
                "ledger in another folder with project=..."
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        raise _unusable(path, f"a file of the ledger, cannot be read: {reason}") from None


def _secret(path: Path) -> bytes:
    with suppress(ValueError):
        if len(secret := bytes.fromhex(_private_text(path).strip())) == KEY_BYTES:
            return secret
    raise _unusable(path, f"the key of the ledger, does not consist of {2 * KEY_BYTES} hexadecimal digits")


def _entries(ledger: Ledger) -> tuple[Entry, ...]:
    try:
        content = json.loads(_private_text(ledger.path))
        if content["leafcover_ledger"] == FORMAT:
            return tuple(_entry(ledger, dict(one)) for one in content["releases"])
    except (ValueError, KeyError, TypeError):
        raise _unusable(ledger.path, "the ledger, is damaged or was written with another key") from None
    raise _unusable(ledger.path, f"the ledger, does not have format {FORMAT}, which this version reads")


def _entry(ledger: Ledger, fields: dict[str, Any]) -> Entry:
    if not secrets.compare_digest(str(fields.pop("check")), ledger.check_mark(fields)):
        raise ValueError
    return Entry(**{**fields, "sketches": tuple(_sketch(one) for one in fields["sketches"])})


def _sketch(fields: Mapping[str, Any]) -> Sketch:
    words = np.frombuffer(b64decode(fields["smallest"]), "<u8").astype(np.uint64)
    return Sketch(**{**fields, "columns": tuple(fields["columns"]), "smallest": words})


def _fields(entry: Entry) -> dict[str, Any]:
    sketches = [
        {
            **vars(one),
            "columns": list(one.columns),
            "smallest": b64encode(one.smallest.astype("<u8").tobytes()).decode(),
        }
        for one in entry.sketches
    ]
    return {**vars(entry), "sketches": sketches}


# Before a release: is it one of people who were released before?


@dataclass(frozen=True, eq=False)
class Repeats:
    """What the ledger of a project says of a table: which earlier releases have people of it."""

    overlaps: tuple[EarlierRelease, ...]  # the earlier releases with at least 5 % of the same people
    compared: int  # earlier releases
    not_compared: tuple[int, ...]  # the numbers of those that have other columns
    again: bool
    ledger: Ledger = field(repr=False)
    candidates: tuple[Entry, ...] = field(default=(), repr=False)  # of the same table and secret key
    same_as: int | None = None  # the earlier release that has exactly the same values
    replaced: int = 0  # the number of an earlier release that was never given away

    def averaging(self, release: Release) -> dict[str, Any] | None:
        """What all releases of these people tell together; None if this is the only one.

        The error of their mean, as a share of the error of one, holds for independent noise; bits are the sum of what
        is proved of each, if all are dealt.
        """
        if not self.overlaps or self.same_as is not None:
            return None
        numbers = {one.number for one in self.overlaps}
        bits = [entry.bits_per_person for entry in self.ledger.entries if entry.number in numbers] + [_bits_of(release)]
        known = [one for one in bits if one is not None]
        total = round(sum(known), 6) if len(known) == len(bits) else None
        return {"releases": len(bits), "error": 1 / sqrt(len(bits)), "bits_per_person": total}

    def facts(self, release: Release) -> dict[str, Any]:
        """For the steward's files and the output of a command; not for publication."""
        return {
            "kept": True,
            "compared": self.compared,
            "not_compared": list(self.not_compared),
            "same_as": self.same_as,
            "overlaps": [asdict(one) for one in self.overlaps],
            "averaging": self.averaging(release),
        }

    def lines(self, release: Release) -> list[str]:
        """The same as sentences."""
        say = catalogue("release")
        if self.same_as is not None:
            return [say("ledger-same", number=self.same_as)]
        found = [say("ledger-overlap", overlap=str(one)) for one in self.overlaps]
        if not found:
            found = [say("ledger-other-people", count=self.compared)]
        if self.not_compared:
            found.append(say("ledger-not-compared", numbers=", ".join(map(str, self.not_compared))))
        if (gain := self.averaging(release)) is None:
            return found
        if gain["bits_per_person"] is not None:
            return [*found, say("ledger-bits", count=gain["releases"], bits=f"{gain['bits_per_person']:g}")]
        return [*found, say("ledger-averaging", count=gain["releases"], share=f"{gain['error']:.0%}")]


def _bits_of(release: Release) -> float | None:
    return None if release.statement is None else release.statement.published.bits_per_person


def find_repeats(
    table: Table, project: str | Path, *, again: bool, key: Key | None, replaces: str | None = None
) -> Repeats:
    """Refuse people of an earlier release, the last one to the file ``replaces`` left out.

    Only with a ``key`` that may have been used before can the release be the same as an earlier one.
    """
    whole = read_ledger(project)
    ledger = whole.without(replaced := max((one.number for one in whole.entries if one.name == replaces), default=0))
    found = _repeats(MarkedTable(table, ledger.draws), ledger, ledger.entries, again=again)
    if key is not None and ledger.entries:
        without = table.select(name for name in table.names if table.roles.get(name) != "unit")
        sources = {ledger.source_mark(fingerprint(one, key)) for one in (table, without)}
        found = replace(found, candidates=tuple(one for one in ledger.entries if one.source in sources))
    if not found.candidates:
        _refuse(found)
    return replace(found, replaced=replaced)


def _repeats(marked: MarkedTable, ledger: Ledger, entries: Sequence[Entry], *, again: bool) -> Repeats:
    compared = {entry.number: _compared(marked, entry) for entry in entries}
    known = [one for one in compared.values() if one is not None]
    return Repeats(
        overlaps=tuple(one for one in known if one.excess >= MOST_OVERLAP),
        compared=len(known),
        not_compared=tuple(number for number, one in compared.items() if one is None),
        again=again,
        ledger=ledger,
    )


def confirmed(repeats: Repeats, release: Release) -> Repeats:
    """What is known once the release is made: whether it is the same as an earlier one. If not, it may be refused."""
    if repeats.candidates:
        content = repeats.ledger.content_mark(release.table)
        if same := [one.number for one in repeats.candidates if one.content == content]:
            return replace(repeats, same_as=same[0])
        _refuse(repeats)
    return repeats


def _refuse(repeats: Repeats) -> None:
    if not repeats.overlaps or repeats.again:
        return
    first, more = repeats.overlaps[:LISTED], len(repeats.overlaps[LISTED:])
    listed = "; ".join(map(str, first)) + (f"; and {more} more" if more else "")
    chance = max(max(one.chance, one.chance_of_earlier) for one in first)
    unsure = (
        f" Up to {chance:.0%} may be other people with the same values: a unit tells them apart."
        if chance > MOST_TWINS
        else ""
    )
    raise RepeatedRelease(
        f"People of this table were released before, by {listed}.{unsure} Releases of the same people can be averaged "
        "and subtracted. Release other people, or go on with again=True, which says what averaging gains; or, if "
        f"the last of them was never given away, with replaces={repeats.overlaps[-1].name!r}."
    )


# When the release is written: a new entry.


@contextmanager
def new_entry(repeats: Repeats, release: Release, original: Table, name: str) -> Iterator[LedgerFiles]:
    """The files with an entry for a release, to be written in this block; no other release can write them meanwhile.

    What others entered since the table was compared is compared now. A release with the values of an earlier one is not
    entered again.
    """
    folder = repeats.ledger.folder
    with _locked(folder):
        ledger = read_ledger(folder.parent).without(repeats.replaced)
        if ledger.is_new and repeats.ledger.is_new:
            ledger = repeats.ledger
        if ledger.secret != repeats.ledger.secret:
            raise LedgerError(f"The ledger in '{folder}' has got another key since the table was read. Release again.")
        content = ledger.content_mark(release.table)
        same = next((one.number for one in ledger.entries if one.content == content), None)
        if same is not None:
            yield LedgerFiles({}, replace(repeats, same_as=same).facts(release))
            return
        marked = MarkedTable(original, ledger.draws)
        repeats = _with_newer(repeats, marked, ledger)
        entry = Entry(
            number=max((one.number for one in ledger.entries), default=0) + 1,
            name=name,
            recipe=release.plan.recipe or "own plan",
            bits_per_person=_bits_of(release),
            source=ledger.source_mark(release.fingerprint),
            content=content,
            sketches=marked.sketches(),
        )
        text = replace(ledger, entries=(*ledger.entries, entry)).text()
        # The last file in this list appears first: a key without a ledger is of use, a ledger without a key is not.
        texts = {ledger.path: text} | ({ledger.key_path: ledger.secret.hex() + "\n"} if ledger.is_new else {})
        yield LedgerFiles(texts, {"number": entry.number, **repeats.facts(release)})


def _with_newer(repeats: Repeats, marked: MarkedTable, ledger: Ledger) -> Repeats:
    """The same with releases that were entered since the table was compared; they may be refused."""
    seen = {entry.number for entry in repeats.ledger.entries}
    newer = _repeats(marked, ledger, [one for one in ledger.entries if one.number not in seen], again=repeats.again)
    _refuse(newer)
    return replace(
        newer,
        overlaps=(*repeats.overlaps, *newer.overlaps),
        compared=repeats.compared + newer.compared,
        not_compared=(*repeats.not_compared, *newer.not_compared),
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time write the files of a folder."""
    with ExitStack() as held:
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            held.enter_context(locked(folder))
        except OSError as error:
            raise LedgerError(f"The folder '{folder}' of the ledger cannot be used: {error.strerror}.") from None
        yield
