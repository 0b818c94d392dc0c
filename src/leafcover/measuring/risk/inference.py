"""Inference: what the release tells about a person's confidential value to somebody who knows the person's others.

Three attackers. One takes the released row nearest to what he knows (Gower's distance, ties averaged) and reads the
value there, as in Giomi and others (2023). The second does so by the columns alone by which people are found, since he
knows the noise. The third learns the value from the others by a forest grown on the release. All also attack people who
are not in the release: what they learn of those they learned from patterns that hold for everybody, and only what they
learn beyond is owed to a person's own row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.fast.arrays import Floats, Rows
from leafcover.measuring.figures import Attack, Risk, risk_of
from leafcover.measuring.gower import Scaled, scaled
from leafcover.measuring.nearest import matches_among_nearest, searchable
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.guesses import TOLERANCE, best_guess, labels_of, reach_of, right
from leafcover.measuring.risk.leafmates import forest_guesses
from leafcover.measuring.risk.people import bearable, of_rows, with_value
from leafcover.measuring.risk.trusted import trusted_columns
from leafcover.measuring.sampling import some_rows
from leafcover.table.table import Column, Table

if TYPE_CHECKING:
    from leafcover.fast.near_tree import Boxes

MOST = 3_000  # people attacked
LEARNED = 6_000  # released rows the forest is grown on; with more it answers no better
COLUMNS = 16  # attacked when none is named confidential
NO_CODE = -2  # differs from every level and from a missing one


@dataclass(frozen=True)
class Inference:
    """How well one column is told by the others. People without a value there are not attacked."""

    column: str
    known: tuple[str, ...]  # what the attacker knows of the person
    nearest: Attack  # by the nearest released row
    trusted: Attack | None  # the same by the columns that people are found by; None when those are all or no pairs say
    learned: Attack | None  # by a forest grown on the release; None when it was not asked for
    tolerance: float  # for a number, the share of the middle range an answer may be off; 0 for a category
    rows: int  # people attacked
    of: int  # people who have a value

    @property
    def strongest(self) -> Attack:
        """The attack that tells most beyond what it tells of people who are not there, or beyond guessing."""
        return max((a for a in (self.nearest, self.trusted, self.learned) if a is not None), key=_beyond)


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked about a column, and what the release says there."""

    column: str
    known: tuple[str, ...]
    is_category: bool
    reach: float  # an answer this near is right
    labels: Floats  # (released rows,)


@dataclass(frozen=True, eq=False)
class _Side:
    """The people of one table who are attacked, and the right answers."""

    table: Table
    people: Rows
    wanted: Floats


@dataclass(frozen=True, eq=False)
class _Search:
    """The release ready to be searched by some columns, and the tables of people beside it."""

    names: tuple[str, ...]
    released: "Boxes"
    tables: tuple[Scaled, ...]  # the original, and the control when there is one


def inference(
    pair: Pair,
    column: str,
    *,
    known: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    learned: bool = True,
) -> Inference:
    """Attack one column by all the others, or by those named as known."""
    names = _known(pair, column, known)
    # Chosen as when several columns are attacked in turn, so that the figures are the same.
    trusted = _search_by_trust(pair, _all_but_weight(pair) if known is None else names)
    searches = _search(pair, names), _without(pair, trusted, column)
    return _inference(pair, column, names, searches, tolerance, most, learned)


def inferences(
    pair: Pair,
    *,
    columns: Sequence[str] | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    learned: bool = True,
) -> tuple[Inference, ...]:
    """Attack the columns named, or those that `attacked_columns` chooses; each by all the others."""
    chosen = attacked_columns(pair) if columns is None else tuple(columns)
    names = _all_but_weight(pair)
    whole, trusted = _search(pair, names), _search_by_trust(pair, names)
    found = []
    for column in chosen:
        known = _known(pair, column, None)
        searches = _without(pair, whole, column) or _search(pair, known), _without(pair, trusted, column)
        found.append(_inference(pair, column, known, searches, tolerance, most, learned))
    return tuple(found)


def attacked_columns(pair: Pair) -> tuple[str, ...]:
    """The confidential columns; without any, the target and then the others that have more than one value."""
    if pair.confidential:
        return pair.confidential
    others = [name for name in pair.names if name not in (pair.target, pair.weight)]
    names = [pair.target, *others] if pair.target else others
    return tuple(name for name in names if _varies(pair.original[name]))[:COLUMNS]


def _known(pair: Pair, column: str, known: Sequence[str] | None) -> tuple[str, ...]:
    for name in (column, *(known or ())):
        if name not in pair.names:
            raise NameUnknown("column", name, pair.names)
    if known is None:
        return tuple(name for name in _all_but_weight(pair) if name != column)
    if column in known:
        raise ValueOutOfRange("known", column, "columns other than the one that is attacked")
    return tuple(known)


def _varies(column: Column) -> bool:
    values = column.values[~column.missing]
    return bool(len(values)) and bool((values != values[0]).any())


def _inference(
    pair: Pair,
    column: str,
    known: tuple[str, ...],
    searches: tuple[_Search, _Search | None],
    tolerance: float,
    most: int,
    learned: bool,
) -> Inference:
    original, labels = pair.original[column], labels_of(pair.released[column])
    question = _Question(column, known, original.is_category, reach_of(original, tolerance), labels)
    most = bearable(most, pair, known)
    sides = [_side(pair.original, column, most)]
    if pair.control is not None and not pair.control[column].missing.all():
        sides.append(_side(pair.control, column, most))
    guess = risk_of(right(best_guess(labels, question.reach), sides[0].wanted, question.reach))
    whole, trusted = searches
    return Inference(
        column,
        known,
        _attack(_by_nearest(whole, question, sides), guess),
        None if trusted is None else _attack(_by_nearest(trusted, question, sides), guess),
        _attack(_by_forest(pair, question, sides), guess) if learned and known else None,
        0.0 if original.is_category else tolerance,
        len(sides[0].people),
        int((~original.missing).sum()),
    )


def _side(table: Table, column: str, most: int) -> _Side:
    people = with_value(table[column], most)
    return _Side(table, people, labels_of(table[column])[people])


def _search(pair: Pair, names: tuple[str, ...]) -> _Search:
    aside = [] if pair.control is None else [pair.control]
    people, released, *control = scaled([pair.original, pair.released, *aside], names)
    return _Search(names, searchable(released), (people, *control))


def _search_by_trust(pair: Pair, names: tuple[str, ...]) -> _Search | None:
    """The release ready to be searched by the columns that people are found by; None when those are all."""
    trusted = trusted_columns(pair, names)
    return None if len(trusted) == len(names) else _search(pair, trusted)


def _without(pair: Pair, search: _Search | None, column: str) -> _Search | None:
    """A search that a column can be left out of; None when there would be nothing left to search by."""
    if search is None or search.names == (column,):
        return None
    if column not in search.names or _can_be_left_out(pair.released[column]):
        return search
    return _search(pair, tuple(name for name in search.names if name != column))


def _all_but_weight(pair: Pair) -> tuple[str, ...]:
    return tuple(name for name in pair.names if name != pair.weight)


def _by_nearest(search: _Search, question: _Question, sides: Sequence[_Side]) -> list[Floats]:
    found = []
    for table, side in zip(search.tables, sides, strict=False):  # a control without any value is not attacked
        people = of_rows(table, side.people)
        if question.column in search.names:
            people = _left_out(people, search, question.column, side.table)
        found.append(
            matches_among_nearest(people, search.released, side.wanted, question.labels, tolerance=question.reach)
        )
    return found


def _can_be_left_out(column: Column) -> bool:
    """Whether the people's values can be made as far from every released one: a missing number is near the missing."""
    return column.is_category or not column.missing.any()


def _left_out(people: Scaled, search: _Search, column: str, table: Table) -> Scaled:
    """The people without one column: 1 is added to every distance, so that the nearest rows stay the nearest.

    So one tree over all columns serves for all that are attacked in turn.
    """
    is_category = table[column].is_category
    place = [name for name in search.names if table[name].is_category == is_category].index(column)
    numbers, codes = people.numbers.copy(), people.codes.copy()
    if is_category:
        codes[:, place] = NO_CODE
    else:
        numbers[:, place] = np.nan
    return Scaled(numbers, codes)


def _by_forest(pair: Pair, question: _Question, sides: Sequence[_Side]) -> list[Floats]:
    rows = some_rows(len(pair.released), LEARNED)
    if pair.paired and len(rows) < len(pair.released):
        # An attacker would learn from every row, so from those of the people he attacks, too.
        own = sides[0].people[:LEARNED]
        rows = np.union1d(own, some_rows(len(pair.released), LEARNED - len(own)))
    answers = forest_guesses(
        pair.released.select(question.known).take(rows),
        question.labels[rows],
        [side.table.select(question.known).take(side.people) for side in sides],
        is_category=question.is_category,
        reach=question.reach,
    )
    return [right(answer, side.wanted, question.reach) for answer, side in zip(answers, sides, strict=True)]


def _beyond(attack: Attack) -> float:
    above = attack.above_control
    return attack.main.value - attack.baseline.value if above is None else above.value


def _attack(successes: Sequence[Floats], guess: Risk) -> Attack:
    return Attack(risk_of(successes[0]), risk_of(successes[1]) if len(successes) > 1 else None, guess)
