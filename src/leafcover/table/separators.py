"""Separators and signs of numbers: those with which the texts of a column are numbers, and those that a file uses.

    3,5   12,75           a decimal comma
    1.234,5   1.234.567   a decimal comma, points between thousands
    1 234,5   1'234.5     spaces or apostrophes between thousands
    € 1.234,50   12 %     a sign of a currency or of percent, the same for all numbers of the column
    1,234   1.234         in doubt: 1234 or 1.234. Other columns of the file decide, or the user

A column that has only one reading is read so. A doubt is settled by the columns without doubt if they agree; otherwise
the column is read as with a decimal point, with a warning.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from leafcover.errors import NameUnknown, ValueOutOfRange

DECIMALS = (".", ",")
SPACES = " \u00a0\u202f\u2009"  # plain, no-break, narrow no-break and thin
APOSTROPHES = "'\u2019"
THOUSANDS = ("", ".", ",", *SPACES, *APOSTROPHES)
SAMPLE = 20  # texts that are examined before the whole column is
LOOKS_LIKE_NUMBER = re.compile(rf"\s*[+-]?[.,]?[0-9][0-9.,{SPACES}{APOSTROPHES}]*([eE][+-]?[0-9]+)?\s*")
SIGN = r"(?:[€$£¥₹₽₺₩₫₴₪%‰]|EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|RON|Fr\.|kr\.?|zł|Kč|Ft)"
SIGN_BEFORE = re.compile(rf"\s*[+-]?({SIGN}[{SPACES}]?)[+-]?[.,]?[0-9]")
SIGN_AFTER = re.compile(rf".*[0-9][.,]?([{SPACES}]?{SIGN})\s*", re.DOTALL)
NAMED = 5  # columns that a warning names


@dataclass(frozen=True)
class Separators:
    """A decimal separator, the one between thousands, and a sign with its space (empty: none)."""

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""

    @property
    def example(self) -> str:
        """A number written with them.

        >>> Separators(",", ".").example
        '1.234,5'
        """
        return f"{self.before}1{self.thousands}234{self.decimal}5{self.after}"

    @property
    def pattern(self) -> str:
        """The regular expression of a number without its sign; thousands are separated throughout or not."""
        marks = f"[{_alike(self.thousands)}]"
        groups = rf"|[1-9][0-9]{{0,2}}(?:{marks}[0-9]{{3}})+" if self.thousands else ""
        places = r"\.[0-9]*" if self.decimal == "." else ",[0-9]+"
        return rf"^[+-]?(?:(?:[0-9]+{groups})(?:{places})?|[{self.decimal}][0-9]+)(?:[eE][+-]?[0-9]+)?$"

    def bare(self, text: Any) -> Any:
        """The numbers of a text array without the sign of a currency or of percent."""
        if self.before:
            text = pc.replace_substring_regex(text, "^([+-]?)" + re.escape(self.before), r"\1")
        return pc.replace_substring_regex(text, re.escape(self.after) + "$", "") if self.after else text

    def match(self, text: Any) -> bool:
        """Whether every text is a number with these separators."""
        return pc.all(pc.match_substring_regex(self.bare(text), self.pattern)).as_py() is not False

    def plain(self, text: Any) -> Any:
        """The numbers of a text array without sign and thousands separators, and with a decimal point."""
        text = self.bare(text)
        for mark in _alike(self.thousands):
            text = pc.replace_substring(text, mark, "")
        return text if self.decimal == "." else pc.replace_substring(text, self.decimal, ".")


POINT = Separators()
POINT_AND_COMMAS = Separators(".", ",")


def _alike(mark: str) -> str:
    """The separators that count as the same one: all spaces, or both apostrophes."""
    return next((marks for marks in (SPACES, APOSTROPHES) if mark and mark in marks), mark)


def possible_separators(text: Any) -> tuple[Separators, ...]:
    """The separators with which every text is a number, the usual reading first; empty if some text is not a number.

    >>> possible_separators(pa.array(["3,5", "12,75"])), possible_separators(pa.array(["1 234", "x"]))
    ((Separators(decimal=',', thousands='', before='', after=''),), ())
    >>> [each.example for each in possible_separators(pa.array(["1,234", "7"]))]
    ['1,234.5', '1234,5']
    """
    signs = _signs_of(text)
    if not may_be_numbers(text) or not _all_have(text, signs):
        return ()
    text = signs.bare(text)
    used = [marks for marks in (SPACES, APOSTROPHES) if any(_contains(text, mark) for mark in marks)]
    if len(used) > 1:
        return ()
    thousands = max(used[0], key=lambda mark: _count(text, mark)) if used else ""
    tried = [replace(signs, thousands=thousands or ","), replace(signs, decimal=",", thousands=thousands or ".")]
    found = [each for each in tried if each.match(text[: 50 * SAMPLE]) and each.match(text)]
    return tuple(each if _contains(text, each.thousands) else replace(each, thousands="") for each in found)


def _signs_of(text: Any) -> Separators:
    """The sign of a currency or of percent that the first text has."""
    first = next(iter(_first_texts(text)), "")
    before, after = SIGN_BEFORE.match(first), SIGN_AFTER.fullmatch(first)
    return Separators(before=before[1] if before else "", after=after[1] if after and not before else "")


def _all_have(text: Any, signs: Separators) -> bool:
    pattern = "^[+-]?" + re.escape(signs.before) + ".*" + re.escape(signs.after) + "$"
    return not (signs.before or signs.after) or bool(pc.all(pc.match_substring_regex(text, pattern)).as_py())


def may_be_numbers(text: Any) -> bool:
    """Whether the first texts may be numbers; a quick test, since most text is not."""
    first = pa.array(_first_texts(text), pa.string())
    return all(map(LOOKS_LIKE_NUMBER.fullmatch, _signs_of(first).bare(first).to_pylist()))


def _first_texts(text: Any) -> list[str]:
    """Some of the texts that are not null; the whole column is searched only if it begins with many nulls."""
    found: list[str] = (text[: 50 * SAMPLE].drop_null() or text.drop_null())[:SAMPLE].to_pylist()
    return found


def _contains(text: Any, mark: str) -> bool:
    return bool(pc.any(pc.match_substring(text, mark)).as_py())


def _count(text: Any, mark: str) -> int:
    return int(pc.sum(pc.count_substring(text, mark)).as_py() or 0)


# What one column says about its separators.


@dataclass(frozen=True)
class SeparatorClue:
    """What the texts of a column say about the separators of its file."""

    readings: tuple[Separators, ...] = ()  # with which all texts are numbers, the present one first
    decimal: str = ""  # the decimal separator, where the texts leave no doubt
    in_doubt: bool = False  # both readings give numbers, and not the same
    may_be_code: bool = False  # digits in groups, such as 123 456 789, may be a code: the column is a category


NO_CLUE = SeparatorClue()


def clue_of(text: Any, readings: tuple[Separators, ...]) -> SeparatorClue:
    """What numbers with separators say; ``text`` has no spaces around them."""
    if not readings:
        return NO_CLUE
    first, bare = readings[0], readings[0].bare(text)
    if _may_be_code(bare, first):
        return SeparatorClue(readings, may_be_code=True)
    if len(readings) == 1:
        return SeparatorClue(readings, first.decimal)
    return SeparatorClue(readings, in_doubt=_contains(bare, ".") or _contains(bare, ","))


def clue_of_points(text: Any, decimals: int) -> SeparatorClue:
    """What numbers with decimal points say: with three decimal places throughout, the point may separate thousands."""
    other = Separators(",", ".")
    if decimals == 3 and all(
        pc.all(pc.match_substring_regex(some, other.pattern)).as_py() is not False for some in (text[:SAMPLE], text)
    ):
        return SeparatorClue((POINT, other), in_doubt=True)
    return SeparatorClue(decimal="." if decimals else "")


def _may_be_code(text: Any, read: Separators) -> bool:
    """Whether whole numbers in groups of digits are all of the same length, or have plus signs, as codes may."""
    if (
        read.thousands not in (" ", ".")
        or read.before
        or read.after
        or _contains(text, ",")
        or (read.decimal == "." and _contains(text, "."))
    ):
        return False
    lengths = pc.min_max(pc.utf8_length(text)).as_py()
    return bool(lengths["min"] == lengths["max"] or _contains(text, "+"))


# What the user says.

SeparatorOption: TypeAlias = str | Mapping[str, str] | None  # for all columns, or for each


@dataclass(frozen=True)
class GivenSeparators:
    """The separators that the user gives, for all columns or for some; None: to be found."""

    decimal: SeparatorOption = None
    thousands: SeparatorOption = None

    def __post_init__(self) -> None:
        for what, given, allowed in (("decimal", self.decimal, DECIMALS), ("thousands", self.thousands, THOUSANDS)):
            for one in given.values() if isinstance(given, Mapping) else () if given is None else (given,):
                if one not in allowed:
                    listed = "'.' or ','" if what == "decimal" else "',', '.', a space, an apostrophe or ''"
                    raise ValueOutOfRange(what, one, listed)
        for name in self.names or [""]:
            if self.of(name)[0] is not None and self.of(name)[0] == self.of(name)[1]:
                raise ValueOutOfRange("thousands", self.of(name)[1], "another one than the decimal separator")

    @property
    def names(self) -> list[str]:
        """The columns for which separators are given."""
        return list(dict.fromkeys(n for one in (self.decimal, self.thousands) if isinstance(one, Mapping) for n in one))

    def check(self, names: Sequence[str]) -> None:
        """Refuse the name of a column that does not exist."""
        for name in self.names:
            if name not in names:
                raise NameUnknown("column", name, names)

    def of(self, name: str) -> tuple[str | None, str | None]:
        """The decimal and the thousands separator given for a column."""
        one, other = (
            given.get(name) if isinstance(given, Mapping) else given for given in (self.decimal, self.thousands)
        )
        return one, other

    def allows(self, name: str, read: Separators) -> bool:
        """Whether a reading of a column agrees with what is given."""
        decimal, thousands = self.of(name)
        if (decimal is not None and read.decimal != decimal) or read.decimal == thousands:
            return False
        return thousands is None or not read.thousands or _alike(read.thousands) == _alike(thousands)

    def names_group(self, name: str, read: Separators) -> bool:
        """Whether the thousands separator of a reading is given."""
        thousands = self.of(name)[1]
        return bool(thousands) and _alike(thousands or "") == _alike(read.thousands)


NOTHING_GIVEN = GivenSeparators()

# What the file says: the columns together.

Reason: TypeAlias = Literal["usual", "column", "file", "given", "doubt", "against"]


@dataclass(frozen=True)
class SettledSeparators:
    """How a column is read (None: as a category), and why."""

    separators: Separators | None
    reason: Reason
    clue: SeparatorClue


def settle(clues: Mapping[str, SeparatorClue], given: GivenSeparators, delimiter: str) -> dict[str, SettledSeparators]:
    """The separators of each column that has some, from what it, the other columns and the user say."""
    marks = {clue.decimal for clue in clues.values() if clue.decimal}
    groups = {_alike(c.readings[0].thousands) for c in clues.values() if c.readings and not c.may_be_code} - {""}
    return {name: _settle(name, clue, given, marks, groups, delimiter) for name, clue in clues.items() if clue.readings}


def _settle(
    name: str, clue: SeparatorClue, given: GivenSeparators, marks: set[str], groups: set[str], delimiter: str
) -> SettledSeparators:
    allowed = [read for read in clue.readings if given.allows(name, read)]
    by_file = [read for read in clue.readings if {read.decimal} == marks]
    if clue.may_be_code:
        read = (allowed or list(clue.readings))[0]
        if given.names_group(name, read):
            return SettledSeparators(read, "given", clue)
        same = _alike(read.thousands) in groups or (read.thousands == "." and marks == {","} and not groups)
        return SettledSeparators(read, "file", clue) if same else SettledSeparators(None, "doubt", clue)
    if any(one is not None for one in given.of(name)):
        return SettledSeparators((allowed or clue.readings)[0], "given" if allowed else "against", clue)
    if len(clue.readings) == 1:
        read = clue.readings[0]
        if read == POINT_AND_COMMAS:
            return SettledSeparators(read, "usual", clue)
        odd = delimiter == "," and read.decimal == "," and "." in marks  # 1,3 among decimal points: a list of codes?
        return SettledSeparators(None, "doubt", clue) if odd else SettledSeparators(read, "column", clue)
    if not clue.in_doubt:  # no number has decimals: either separator will do for means
        return SettledSeparators((by_file or list(clue.readings))[0], "column", clue)
    if not by_file:
        return SettledSeparators(clue.readings[0], "doubt", clue)
    return SettledSeparators(by_file[0], "usual" if by_file[0] == clue.readings[0] else "file", clue)


def usual_decimal(clues: Mapping[str, SeparatorClue], given: GivenSeparators, name: str) -> str:
    """The decimal separator with which a column of whole numbers writes its means: given, or that of other columns."""
    decimal, thousands = given.of(name)
    if decimal or thousands in DECIMALS:
        return decimal or ("," if thousands == "." else ".")
    marks = [clue.decimal for clue in clues.values()]
    return "," if marks.count(",") > marks.count(".") else "."


# The warnings. They contain no value of the table; the numbers in them are examples.


def separator_warnings(settled: Mapping[str, SettledSeparators]) -> list[str]:
    """What was found or is in doubt, in one sentence for all columns to which it applies."""
    together: dict[tuple[Any, ...], list[str]] = {}
    for name, one in settled.items():
        if one.reason not in ("usual", "given"):
            key = (one.reason, one.separators, one.clue.may_be_code, one.clue.readings)
            together.setdefault(key, []).append(name)
    return [_warning(names, settled[names[0]]) for names in together.values()]


def _warning(names: list[str], one: SettledSeparators) -> str:
    read = one.separators
    what = f"{listed_columns(names)} {'is' if len(names) == 1 else 'are'} read as "
    category = f"category=[{names[0]!r}]"
    if one.reason == "doubt" and one.clue.may_be_code:
        mark = one.clue.readings[0].thousands
        return (
            f"{what}a category: groups of digits of one length may be codes. "
            f"Set {_setting('thousands', mark, names)} if they are numbers, otherwise {category}."
        )
    if read is None:
        return (
            f"{what}a category: texts such as 3,5 have decimal commas, but other columns decimal points. "
            f"Set {_setting('decimal', ',', names)} if they are numbers, otherwise {category}."
        )
    if one.reason == "doubt":
        text, first, second = ("1,234", "1234", "1.234") if read.thousands == "," else ("1.234", "1.234", "1234")
        return (
            f"{listed_columns(names)} may mean {first} or {second} by {text}; {first} is assumed. "
            f"Set {_setting('decimal', '.', names)} if so, otherwise {_setting('decimal', ',', names)}."
        )
    numbers = f"{what}numbers such as {read.example}"
    if one.reason == "against":
        return f"{numbers}, against the separators given: with those not every value is a number."
    if one.reason == "column" or one.clue.may_be_code:
        return f"{numbers}. If they are not numbers, set {category}."
    open_mark = "points are decimal points" if read.thousands else "commas separate thousands"
    return f"{numbers}, as other columns have decimal commas. Set {_setting('decimal', '.', names)} if the {open_mark}."


def _setting(parameter: str, mark: str, names: Sequence[str]) -> str:
    return f"{parameter}={mark!r}" if len(names) > 1 else f"{parameter}={{{names[0]!r}: {mark!r}}}"


def listed_columns(names: Sequence[str]) -> str:
    """The columns that a warning is about; of many the first.

    >>> listed_columns(["a"]), listed_columns(["a", "b"])
    ("Column 'a'", "Columns 'a', 'b'")
    """
    some = ", ".join(map(repr, names[:NAMED]))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{'Column' if len(names) == 1 else 'Columns'} {some}{more}"
