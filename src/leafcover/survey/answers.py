"""Disguised answers as a table: from a store, from an exported file, and out again in an order that means nothing."""

import secrets
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

import numpy as np

from leafcover.errors import NameUnknown, OutputError, TableError
from leafcover.fast.arrays import MISSING, Array, Floats
from leafcover.response.scheme import recoded_column
from leafcover.survey.questionnaire import Question, Survey
from leafcover.survey.storing.store import Store
from leafcover.table.files import read, write
from leafcover.table.schema import Grid
from leafcover.table.table import Column, Table

FILES = (".csv", ".parquet")  # that answers are exported to


def table_of(survey: Survey, reports: Iterable[Sequence[str]]) -> Table:
    """A table of the texts that a store keeps: a category with all its choices for a question, or a number."""
    rows, width = list(reports), len(survey.questions)
    if any(len(row) != width for row in rows):
        raise TableError("The answers are not those of this survey: they have another number of reports.")
    try:
        codes = np.fromiter(map(int, chain.from_iterable(rows)), np.int64).reshape(-1, width)
    except ValueError:
        raise TableError("The answers are not those of this survey: a report is no number.") from None
    return Table(tuple(_column(question, codes[:, place]) for place, question in enumerate(survey.questions)))


def read_answers(survey: Survey, source: str | Path) -> Table:
    """The answers in a file that was exported, or in a store by its file or address; every value is checked."""
    from leafcover.survey.storing.open import checked_place, open_store

    place = checked_place(str(source))
    if Path(place).suffix.lower() in FILES and "://" not in place:
        return _read_file(survey, Path(place))
    with closing(open_store(place, survey, create=False)) as store:
        if not store.count() and (others := store.others()):
            raise TableError(
                f"The store holds no answer to this survey, but {others:,} to other questions or coins. Name the "
                "survey as it was when they were given."
            )
        return stored_answers(survey, store)


def stored_answers(survey: Survey, store: Store) -> Table:
    """All answers of a store."""
    return table_of(survey, store.reports())


def export(survey: Survey, table: Table, path: str | Path, *, force: bool = False) -> None:
    """Write answers as CSV or Parquet, by the suffix: reports only, no id, no day, in a new secret order."""
    place = Path(path)
    checked_export(place)
    if not len(table):
        raise TableError("There are no answers yet, so there is nothing to export. Wait for answers.")
    order = np.frombuffer(secrets.token_bytes(8 * len(table)), np.uint64).argsort(kind="stable")
    write(table.select(question.name for question in survey.questions).take(order), place, force=force)


def checked_export(path: Path) -> None:
    """Refuse a file that answers are not exported to."""
    if path.suffix.lower() not in FILES:
        raise OutputError(f"Answers are exported as .csv or .parquet. Got '{path}'. Name a file that ends so.")


def _read_file(survey: Survey, path: Path) -> Table:
    names = [question.name for question in survey.questions]
    texts = [question.name for question in survey.questions if question.choices]
    try:
        found = read(
            path, category=texts, missing=dict.fromkeys(names, ()), delimiter=","
        )  # a choice may be called "NA"
    except NameUnknown as error:
        raise TableError(f"'{path}' lacks the question {error.name!r} of this survey. Name another file.") from None
    if len(found.names) != len(names):
        raise TableError(f"'{path}' has columns that this survey does not ask for. Name another file.")
    return Table(tuple(_column(question, _codes(question, found[question.name])) for question in survey.questions))


def _codes(question: Question, column: Column) -> Array:
    """The codes of a column that was read, among the choices; what is missing or none of them is refused later."""
    if question.between:
        if column.kind != "number":
            raise TableError(f"The answers to {question.name!r} are no numbers. Name another file.")
        return np.nan_to_num(column.values, nan=MISSING)
    places = {text: code for code, text in enumerate(question.choices)}
    moved = np.array([places.get(text, MISSING) for text in column.levels] + [MISSING])  # the last serves code -1
    return moved[column.values]


def _column(question: Question, codes: Array) -> Column:
    low, high = question.between or (0, len(question.choices) - 1)
    wrong = (codes < low) | (codes > high) | (codes != np.floor(codes))
    if wrong.any():
        raise TableError(
            f"{int(wrong.sum()):,} of {len(codes):,} answers to {question.name!r} are none that the survey allows. "
            "Name the survey that they were given to."
        )
    if question.between:
        values: Floats = codes.astype(np.float64)
        return Column(question.name, "number", values, grid=Grid(0), declared=(float(low), float(high)))
    return recoded_column(question.name, codes.astype(np.int32), question.choices)
