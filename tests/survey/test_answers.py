"""Answers as tables: from reports, from files, and out again without order, id or day."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.errors import LeafcoverError, OutputError, TableError
from leafcover.survey.questionnaire import Survey, survey_from
from leafcover.survey.results import export, read_answers, table_of
from leafcover.survey.storage import StoreFailed
from leafcover.table.table import Table
from tests.survey.kept import kept
from tests.survey.people import people, reported, texts
from tests.survey.surveys import habits, one_coin

SURVEY = habits()
ROWS = [("1", "2", "0", "07", "2"), ("0", "3", "1", "60", "0")]
codes = st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 1), st.integers(0, 60), st.integers(0, 2))


def rows_of(table: Table) -> Counter[tuple[str, ...]]:
    return Counter(texts(SURVEY, table))


def test_reports_become_choices_and_numbers() -> None:
    table = table_of(SURVEY, ROWS)
    assert table.names == ("taken", "days", "paid", "years", "site")
    shown = [[column.levels[code] for code in column.values] for column in table if column.is_category]
    assert shown == [["yes", "no"], ["more", "I would rather not say"], ["no", "yes"], ["east", "north"]]
    assert table["years"].values.tolist() == [7.0, 60.0]
    assert table["days"].levels == tuple(sorted(SURVEY.questions[1].choices))  # also those nobody chose
    assert len(table_of(SURVEY, [])) == 0


@given(st.lists(codes, min_size=1, max_size=20))
def test_nothing_is_lost(rows: list[tuple[int, ...]]) -> None:
    given_rows = [tuple(map(str, row)) for row in rows]
    assert list(texts(SURVEY, table_of(SURVEY, given_rows))) == given_rows


@pytest.mark.parametrize(
    "row",
    [
        ("1", "2", "0", "07"),
        ("2", "2", "0", "07", "2"),
        ("1", "-1", "0", "07", "2"),
        ("1", "2", "0", "61", "2"),
        ("1", "x", "0", "6", "2"),
    ],
)
def test_reports_of_another_survey_are_refused(row: tuple[str, ...]) -> None:
    with pytest.raises(TableError) as refused:
        table_of(SURVEY, [row])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".CSV"])
def test_an_export_comes_back_and_is_shuffled(tmp_path: Path, suffix: str) -> None:
    table = reported(SURVEY, people(SURVEY, 500))
    path = tmp_path / f"answers{suffix}"
    export(SURVEY, table, path)
    back = read_answers(SURVEY, path)
    assert back.names == table.names
    assert rows_of(back) == rows_of(table)
    assert list(texts(SURVEY, back)) != list(texts(SURVEY, table))
    first = path.read_bytes()
    with pytest.raises(OutputError, match="force=True"):
        export(SURVEY, table, path)
    export(SURVEY, table, path, force=True)
    assert path.read_bytes() != first


def test_both_orders_of_two_answers_are_as_likely(tmp_path: Path) -> None:
    table = table_of(SURVEY, ROWS)
    first = 0
    for _ in range(40):
        export(SURVEY, table, tmp_path / "a.csv", force=True)
        first += (tmp_path / "a.csv").read_text().splitlines()[1].startswith("yes")
    assert 4 < first < 36


def test_choices_that_look_like_numbers_or_missing_values_stay_what_they_are(tmp_path: Path) -> None:
    survey = survey_from(
        'title = "T"\n[[questions]]\nname = "a, \\"b\\""\ntext = "A?"\nchoices = ["NA", "?", "2", "1.0", "nan", "x, y"]'
    )
    table = table_of(survey, [(str(code),) for code in (0, 1, 2, 3, 4, 5, 0)])
    for name in ("a.csv", "a.parquet"):
        export(survey, table, tmp_path / name)
        back = read_answers(survey, tmp_path / name)
        assert np.bincount(back.columns[0].values).tolist() == np.bincount(table.columns[0].values).tolist()
        assert back.columns[0].levels == table.columns[0].levels


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("taken,", "token,", "has no column 'taken'"),
        ("yes,", "SECRET,", "1 of 2 answers to 'taken' are outside"),
        ("yes,", ",", "1 of 2 answers to 'taken' are outside"),
        (",7,", ",61987,", "1 of 2 answers to 'years' are outside"),
        (",7,", ",7.5,", "1 of 2 answers to 'years' are outside"),
        (",7,", ",,", "1 of 2 answers to 'years' are outside"),
        (",7,", ",SECRET,", "'years' must contain numbers"),
    ],
)
def test_every_value_of_a_file_is_checked_and_none_is_repeated(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "answers.csv"
    good = "taken,days,paid,years,site\nyes,more,no,7,east\nno,none,yes,60,north\n"
    path.write_text(good)
    assert len(read_answers(SURVEY, path)) == 2
    path.write_text(good.replace(old, new))
    with pytest.raises(TableError, match=words) as refused:
        read_answers(SURVEY, path)
    assert "SECRET" not in str(refused.value)
    assert "61987" not in str(refused.value)


def test_columns_that_were_not_asked_for_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("taken,days,paid,years,site,who\nyes,more,no,7,east,x\nno,none,yes,60,north,y\n")
    with pytest.raises(TableError, match="does not ask for"):
        read_answers(SURVEY, path)


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    for name in ("none.sqlite", "none.csv"):
        with pytest.raises(LeafcoverError, match="There is no"):
            read_answers(SURVEY, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_export_needs_a_known_suffix_and_some_answers(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        export(SURVEY, table_of(SURVEY, ROWS), tmp_path / "a.sqlite")
    with pytest.raises(TableError, match="no answers to export"):
        export(SURVEY, table_of(SURVEY, []), tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_read_and_closed(tmp_path: Path) -> None:
    path = kept(tmp_path / "habits.sqlite", SURVEY, ROWS)
    assert rows_of(read_answers(SURVEY, path)) == rows_of(table_of(SURVEY, ROWS))
    with pytest.raises(TableError, match="no answers to this survey, but 2 to other"):
        read_answers(one_coin(), path)
    kept(path, one_coin(), [("1", "0", "0")])
    assert len(read_answers(one_coin(), path)) == 1
    path.unlink()  # nothing holds it open


def test_an_address_is_no_file_whatever_it_ends_in(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def open_store(address: str, survey: Survey, *, create: bool) -> None:
        asked.append((address, create))
        raise StoreFailed("Nobody is there.")

    monkeypatch.setattr("leafcover.survey.storage.open_store", open_store)
    with pytest.raises(StoreFailed):
        read_answers(SURVEY, "postgresql://me@here/answers.csv")
    assert asked == [("postgresql://me@here/answers.csv", False)]
