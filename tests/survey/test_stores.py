"""Laws that hold for every store."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leafcover.survey.client import MOST_TOKENS, Answer
from leafcover.survey.questionnaire import survey_from
from leafcover.survey.storage import Acceptance, StoreFailed, is_spent, open_store, with_spent
from tests.survey.looking import block, columns, rows
from tests.survey.surveys import HABITS, habits, one_coin

SURVEY = habits(tokens=True)
SAMPLE = ("1", "2", "0", "33", "2")
OTHER = ("0", "2", "0", "33", "2")

# few ids, reports and numbers, so that they meet
answers = st.builds(Answer, st.sampled_from([f"{n:032x}" for n in range(6)]), st.sampled_from([SAMPLE, OTHER]))
sent = st.tuples(answers, st.one_of(st.none(), st.sampled_from([0, 1, 7, 8, 8191, 8192, MOST_TOKENS - 1])))
which = st.integers(0, 1)  # of two stores open at once


class Model:
    """A store as one would explain it."""

    def __init__(self):
        self.answers, self.spent = {}, set()

    def add(self, answer, number):
        if answer.id in self.answers:
            same = self.answers[answer.id] == answer.reports and (number is None or number in self.spent)
            return Acceptance.repeated if same else Acceptance.taken
        if number in self.spent:
            return Acceptance.spent
        self.answers[answer.id] = answer.reports
        if number is not None:
            self.spent.add(number)
        return Acceptance.stored


def one(number=1, reports=SAMPLE):
    return Answer(f"{number:032x}", reports)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(st.tuples(which, st.lists(sent, max_size=5)), max_size=8))
def test_two_stores_open_at_once_do_what_the_model_does(fresh, steps):
    address, model = fresh(), Model()
    with closing(open_store(address, SURVEY)) as first, closing(open_store(address, SURVEY)) as second:
        for place, batch in steps:
            said = (first, second)[place].add(batch)
            assert said == [model.add(answer, number) for answer, number in batch]
            for store in (first, second):
                assert store.count() == len(model.answers)
                assert list(store.reports()) == [model.answers[name] for name in sorted(model.answers)]
    with closing(open_store(address, SURVEY, create=False)) as again:
        assert list(again.reports()) == [model.answers[name] for name in sorted(model.answers)]
        probes = [0, 1, 7, 8, 8191, 8192, MOST_TOKENS - 1]
        told = again.add([(one(100 + place), number) for place, number in enumerate(probes)])
        assert [verdict == Acceptance.spent for verdict in told] == [number in model.spent for number in probes]


def test_many_who_open_a_new_store_at_once_make_it_once(fresh):
    for _ in range(10):
        address, together = fresh(), Barrier(8)

        def opened(number, address=address, together=together):
            together.wait()
            with closing(open_store(address, SURVEY)) as store:
                return store.add([(one(number), number)])

        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(opened, range(8))) == [[Acceptance.stored]] * 8


def test_many_threads_and_two_stores_spend_each_token_once(fresh):
    address = fresh()
    with closing(open_store(address, SURVEY)) as first, closing(open_store(address, SURVEY)) as second:

        def send(number):
            return (first, second)[number % 2].add([(one(number), number % 40)])[0]

        with ThreadPoolExecutor(8) as threads:
            told = list(threads.map(send, range(160)))
        assert told.count(Acceptance.stored) == 40
        assert told.count(Acceptance.spent) == 120
        assert first.count() == second.count() == 40


def test_many_threads_sending_the_same_answers_store_each_once(fresh):
    address = fresh()
    with closing(open_store(address, SURVEY)) as first, closing(open_store(address, SURVEY)) as second:

        def send(number):
            batch = [(one(n), None) for n in range(20)]
            return (first, second)[number % 2].add(batch if number % 3 else batch[::-1])

        with ThreadPoolExecutor(8) as threads:
            told = [verdict for verdicts in threads.map(send, range(16)) for verdict in verdicts]
        assert told.count(Acceptance.stored) == 20
        assert told.count(Acceptance.repeated) == 300


def test_reports_come_page_by_page_in_the_order_of_ids(fresh, kind, monkeypatch):
    monkeypatch.setattr(f"leafcover.survey.storage.{kind}.PAGE", 3)
    numbers = [7, 1, 9, 4, 3, 8, 2]
    with closing(open_store(fresh(), SURVEY)) as store:
        for number in numbers:
            store.add([(one(number, (*SAMPLE[:3], f"{number:02d}", "2")), None)])
        assert [int(reports[3]) for reports in store.reports()] == sorted(numbers)
        reading = store.reports()
        next(reading)
        assert store.add([(one(5), None)]) == [Acceptance.stored]  # a reader that pauses is in nobody's way
        assert len(list(reading)) == 7


def test_answers_to_other_surveys_are_counted_apart(fresh):
    address = fresh()
    with closing(open_store(address, SURVEY)) as store, closing(open_store(address, one_coin())) as other:
        store.add([(one(1), 5), (one(2), 6)])
        assert other.add([(one(1, ("0", "1", "1")), 5)]) == [Acceptance.stored]  # neither ids nor tokens are shared
        assert (store.count(), store.others()) == (2, 1)
        assert (other.count(), other.others()) == (1, 2)


def test_an_empty_batch_changes_nothing(fresh):
    with closing(open_store(fresh(), SURVEY)) as store:
        assert store.add([]) == []
        assert store.count() == store.others() == 0


def test_a_store_that_must_be_there_is_not_made(fresh):
    with pytest.raises(StoreFailed, match="no store"):
        open_store(fresh(), SURVEY, create=False)


def test_the_day_is_kept_only_when_the_survey_says_so(fresh):
    for keeps in (True, False):
        address, survey = fresh(), survey_from(f"keep_day = {str(keeps).lower()}\n" + HABITS)
        with closing(open_store(address, survey, today=lambda: date(2024, 2, 29))) as store:
            store.add([(one(), None)])
        (row,) = rows(address, "answers")
        assert str(row[2]) == ("2024-02-29" if keeps else "None")


def test_nothing_in_a_store_has_a_time_or_an_order(fresh):
    """Columns of answers: survey, id, day, reports. Of spent tokens: survey, bits. Nothing else is there."""
    address = fresh()
    with closing(open_store(address, SURVEY)) as store:
        store.add([(one(1), 3)])
    assert columns(address) == {
        "answers": ["survey", "id", "day", "reports"],
        "spent": ["survey", "bits"],
    }
    assert block(address) == with_spent(b"", [3])


@given(
    st.sets(st.one_of(st.integers(0, 20_000), st.integers(0, MOST_TOKENS - 1)), min_size=1, max_size=50), st.randoms()
)
def test_the_block_of_spent_tokens_follows_from_their_set_alone(numbers, random):
    order = sorted(numbers)
    random.shuffle(order)
    block = b""
    for number in order:
        assert not is_spent(block, number)
        block = with_spent(block, [number])
    assert block == with_spent(b"", numbers)
    assert int.from_bytes(block, "little") == sum(1 << number for number in numbers)
