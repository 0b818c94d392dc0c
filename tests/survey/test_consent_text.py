"""Words for people: they hold what the figures say, and name every danger there is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.survey.consent_text import about_all, about_question, sent_words, threat_model, why_no_sum
from leafcover.survey.schema import Survey, survey_from
from tests.survey.surveys import HABITS, ONE_COIN, habits, one_coin


def first(text: str) -> str:
    survey = survey_from(text)
    return about_question(survey, survey.questions[0])


def asked(rest: str, choices: str = '["no", "yes"]') -> Survey:
    return survey_from(f'title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = {choices}\n{rest}')


def many(questions: int) -> Survey:
    one = '\n[[questions]]\nname = "q{}"\ntext = "Q?"\nchoices = ["no", "yes"]\n'
    return survey_from('title = "T"' + "".join(one.format(number) for number in range(questions)))


def test_each_mechanism_is_told_with_its_own_figures() -> None:
    survey = habits()
    said = [about_question(survey, question) for question in survey.questions]
    assert said[0].startswith("In 3 of 4 cases your true answer is sent, in 1 of 4 the other one.")
    assert said[1].startswith(
        "In about 60 of 100 cases your true answer is sent, in about 40 of 100 one of the 3 others"
    )
    assert said[2].startswith("In 1 of 2 cases your true answer is sent.")
    assert "“yes” in 2 of 5 cases, else “no”" in said[2]
    assert said[3] == "Sent as you typed it: no coin disguises this answer."
    assert said[4] == "Sent as you typed it or chose it: no coin disguises this answer."


def test_choices_are_shown_as_they_were_written() -> None:
    survey = asked('mechanism = "unrelated"\nasked = 0.5\nalpha = 0.4', choices='["c\u00a0\'est non", "\u200eсь \\\\"]')
    said = about_question(survey, survey.questions[0])
    assert all(f"“{choice}”" in said for choice in survey.questions[0].choices)


@pytest.mark.parametrize(
    ("theta", "words"),
    [
        (0.25, "In 1 of 4 cases your true answer is sent, in 3 of 4 the other one."),
        (0.8, "In 4 of 5 cases"),
        (0.95, "In 19 of 20 cases"),
        (0.62, "In about 62 of 100 cases your true answer is sent, in about 38 of 100"),
    ],
)
def test_chances_are_told_as_cases(theta: float, words: str) -> None:
    assert first(HABITS.replace("theta = 0.75", f"theta = {theta}")).startswith(words)


@given(st.one_of(st.floats(0.001, 0.4), st.floats(0.6, 0.999)))
def test_no_chance_is_told_as_never_or_always(theta: float) -> None:
    survey = survey_from("max_epsilon = 10\n" + HABITS.replace("theta = 0.75", f"theta = {theta!r}"))
    said = re.findall(r"([\d,]+) of ([\d,]+)", about_question(survey, survey.questions[0]))
    told = [(int(part.replace(",", "")), int(whole.replace(",", ""))) for part, whole in said]
    assert len(told) == 2
    assert all(0 < part < whole for part, whole in told)
    assert told[0][0] + told[1][0] == told[0][1]
    assert abs(told[0][0] / told[0][1] - theta) <= 0.5 / told[0][1] + 1e-9


def test_two_choices_drawn_among_are_told_like_a_coin() -> None:
    survey = asked('mechanism = "k-ary"\ntheta = 0.75')
    assert about_question(survey, survey.questions[0]).startswith("In 3 of 4 cases your true answer is sent, in 1 of 4")


def test_a_coin_that_one_question_has_alone_is_not_called_shared() -> None:
    survey = survey_from(
        'title = "T"\n[coins]\nc = 0.75\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["no", "yes"]\ncoin = "c"'
    )
    assert "together" not in about_question(survey, survey.questions[0])
    assert "at most 3 times" in " ".join(about_all(survey))
    assert why_no_sum(survey) == ""


def test_a_shared_coin_says_who_knows_one_knows_all_and_promises_no_limit() -> None:
    survey = one_coin()
    warned = "Whoever knows one of your true answers to them knows them all."
    assert all(warned in about_question(survey, question) for question in survey.questions)
    said = " ".join(about_all(survey))
    assert warned in said
    assert "Questions 1, 2 and 3 share one coin, so nothing limits what they give away together" in said
    assert "All answers together" not in said
    assert "questions 1, 2 and 3" in why_no_sum(survey)
    mixed = survey_from(ONE_COIN + '\n[[questions]]\nname = "x"\ntext = "X?"\nchoices = ["no", "yes"]\n')
    assert "All other disguised answers together" in " ".join(about_all(mixed))


@pytest.mark.parametrize(
    ("questions", "words"), [(1, "at most 3 times"), (2, "at most 9 times"), (4, "at most 81 times")]
)
def test_the_sum_of_epsilon_is_told_as_times(questions: int, words: str) -> None:
    (said,) = [line for line in about_all(many(questions)) if "All answers together" in line]
    assert words in said
    assert ("For a single question it is at most 3 times." in said) == (questions > 1)
    assert "That is a lot" not in said


def test_a_weak_limit_is_called_one() -> None:
    assert "That is a lot" in " ".join(about_all(many(5)))
    said = " ".join(about_all(many(20)))
    assert "more than a million times" in said
    assert "an epsilon of" in said
    assert "no more." not in said


def test_open_answers_are_excepted_everywhere() -> None:
    said = " ".join(about_all(habits()))
    assert "except where a question says that it is sent as you typed it" in said
    assert "not protected at all" in said
    assert "All disguised answers together" in said
    assert "sent as you typed it" not in " ".join(about_all(many(2)))
    (alone,) = about_all(asked('mechanism = "open"'))
    assert alone.startswith("This survey tosses no coins. Every answer is sent as you typed it or chose it.")
    assert "not protected at all" in alone


def test_no_protection_is_promised_for_answers_that_are_sent_openly() -> None:
    left = "They find only what the coins left"
    assert f"{left}, and nobody can undo that." in threat_model(many(2))[0]
    assert (
        f"{left}, and the answers that were sent openly, and nobody can undo what the coins did."
        in (threat_model(habits())[0])
    )
    assert "unless what you answer openly shows it." in " ".join(threat_model(habits()))
    assert "unless what you answer openly shows it." in " ".join(threat_model(habits(tokens=True)))
    assert "openly" not in " ".join(threat_model(many(2)))


def test_where_no_coin_is_tossed_nothing_is_said_of_coins_and_nothing_promised() -> None:
    survey = asked('mechanism = "open"')
    later, *others = threat_model(survey)
    assert later.startswith("Nothing protects these answers later")
    assert all(words in later for words in ("thief", "court", "new owner"))
    for words in (later, *others, sent_words(survey)):
        assert "coin" not in words
        assert "disguised" not in words
        assert "This protects you" not in words
    assert "how the coins fell" in sent_words(many(1))


def test_the_threat_model_names_each_danger() -> None:
    said = " ".join(threat_model(habits()))
    for words in (
        "honestly",
        "thief",
        "court",
        "changes the script",
        "watches your screen",
        "Answer only once",
        "not kept",
    ):
        assert words in said
    assert "Your link works once" not in said
    assert "may find out that you answered" in " ".join(threat_model(habits(tokens=True)))
    assert "not even the day" in said
    assert "only the day" in " ".join(threat_model(survey_from("keep_day = true\n" + HABITS)))
    assert "published fingerprint" in " ".join(threat_model(survey_from("offline = true\n" + HABITS)))
    assert "published fingerprint" not in said


def test_no_line_is_empty_or_broken() -> None:
    for survey in (habits(), one_coin(), many(3), asked('mechanism = "open"')):
        lines = [*about_all(survey), *threat_model(survey), sent_words(survey)]
        lines += [about_question(survey, question) for question in survey.questions]
        for line in lines:
            assert line == " ".join(line.split())
            assert line.endswith(".")


def test_the_sum_of_epsilon_is_shown_as_a_figure_too() -> None:
    total = habits().scheme.privacy.epsilon
    assert total is not None
    assert f"an epsilon of {total + 0.005:.2f} for all together." in " ".join(about_all(habits()))
