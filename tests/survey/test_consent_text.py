"""What respondents read: the figures are right, the right sentences are chosen, and the golden file holds the prose.

`python -m tests.survey.test_consent_text` rewrites the golden file, for a change that is meant to change the prose.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafcover.messages import catalogue
from leafcover.survey.consent_text import about_all, about_question, before_send, sent_words, threat_model, why_no_sum
from leafcover.survey.design import as_text, design
from leafcover.survey.questionnaire import Survey, survey_from
from tests.survey.surveys import HABITS, ONE_COIN, habits, one_coin

GOLDEN = Path(__file__).parents[1] / "golden" / "survey_texts.txt"
SOURCES = Path(__file__).parents[2] / "src" / "leafcover"

say = catalogue("survey")


def first(text: str) -> str:
    survey = survey_from(text)
    return about_question(survey, survey.questions[0])


def asked(rest: str, choices: str = '["no", "yes"]') -> Survey:
    return survey_from(f'title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = {choices}\n{rest}')


def many(questions: int) -> Survey:
    one = '\n[[questions]]\nname = "q{}"\ntext = "Q?"\nchoices = ["no", "yes"]\n'
    return survey_from('title = "T"' + "".join(one.format(number) for number in range(questions)))


def unchanged() -> Survey:
    return asked('mechanism = "open"')


def mixed_coins() -> Survey:
    return survey_from(ONE_COIN + '\n[[questions]]\nname = "x"\ntext = "X?"\nchoices = ["no", "yes"]\n')


def every_option() -> Survey:
    return survey_from("tokens = true\noffline = true\nkeep_day = true\n" + HABITS)


def figures(text: str) -> list[str]:
    return re.findall(r"\d[\d,.]*\d|\d", text)


def test_each_mechanism_is_described_with_its_own_figures() -> None:
    survey = habits()
    texts = [about_question(survey, question) for question in survey.questions]
    assert figures(texts[0]) == ["3", "4", "1", "4"]
    assert figures(texts[1]) == ["60", "100", "3", "40", "100"]
    assert figures(texts[2]) == ["1", "2", "2", "5"]
    assert texts[2].index("“yes”") < texts[2].index("2 of 5") < texts[2].index("“no”")
    assert texts[3] == say("question-unchanged", answer="number")
    assert texts[4] == say("question-unchanged", answer="choice")
    assert all(text.endswith(say("question-uncertain")) for text in texts[:3])


def test_choices_are_shown_as_they_were_written() -> None:
    survey = asked('mechanism = "unrelated"\nasked = 0.5\nalpha = 0.4', choices='["c\u00a0\'est non", "\u200eсь \\\\"]')
    text = about_question(survey, survey.questions[0])
    assert all(f"“{choice}”" in text for choice in survey.questions[0].choices)


@pytest.mark.parametrize(
    ("theta", "expected", "rounded"),
    [
        (0.25, ["1", "4", "3", "4"], False),
        (0.8, ["4", "5", "1", "5"], False),
        (0.95, ["19", "20", "1", "20"], False),
        (0.62, ["62", "100", "38", "100"], True),
    ],
)
def test_probabilities_are_shown_as_cases(theta: float, expected: list[str], rounded: bool) -> None:
    text = first(HABITS.replace("theta = 0.75", f"theta = {theta}"))
    assert figures(text) == expected
    assert ("about" in text) is rounded


@given(st.one_of(st.floats(0.001, 0.4), st.floats(0.6, 0.999)))
def test_no_probability_is_shown_as_never_or_always(theta: float) -> None:
    survey = survey_from("max_epsilon = 10\n" + HABITS.replace("theta = 0.75", f"theta = {theta!r}"))
    found = re.findall(r"([\d,]+) of ([\d,]+)", about_question(survey, survey.questions[0]))
    cases = [(int(part.replace(",", "")), int(whole.replace(",", ""))) for part, whole in found]
    assert len(cases) == 2
    assert all(0 < part < whole for part, whole in cases)
    assert cases[0][0] + cases[1][0] == cases[0][1]
    assert abs(cases[0][0] / cases[0][1] - theta) <= 0.5 / cases[0][1] + 1e-9


def test_k_ary_with_two_choices_is_described_like_warner() -> None:
    survey = asked('mechanism = "k-ary"\ntheta = 0.75')
    assert about_question(survey, survey.questions[0]) == about_question(many(1), many(1).questions[0])


def test_a_coin_of_one_question_is_not_called_shared() -> None:
    survey = survey_from(
        'title = "T"\n[coins]\nc = 0.75\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["no", "yes"]\ncoin = "c"'
    )
    assert "together" not in about_question(survey, survey.questions[0])
    assert "at most 3" in " ".join(about_all(survey))
    assert why_no_sum(survey) == ""


def test_a_shared_coin_warns_that_one_answer_reveals_all_and_states_no_limit() -> None:
    survey = one_coin()
    risk = say("question-shared-coin-risk")
    assert all(about_question(survey, question).endswith(risk) for question in survey.questions)
    assert all("1, 2 and 3" in about_question(survey, question) for question in survey.questions)
    paragraphs = about_all(survey)
    assert say("overview-shared-coin", first="1, 2", last="3", times="4") in paragraphs
    assert say("overview-uncertain", shared="yes") in paragraphs[0]
    assert say("overview-uncertain", shared="no") not in paragraphs[0]
    assert say("overview-hint") not in " ".join(paragraphs)
    assert "1, 2 and 3" in why_no_sum(survey)
    assert say("overview-limit", which="other", times="3") in " ".join(about_all(mixed_coins()))


@pytest.mark.parametrize(("questions", "times"), [(1, "3"), (2, "9"), (4, "81")])
def test_the_sum_of_epsilon_is_shown_as_a_factor(questions: int, times: str) -> None:
    (text,) = [line for line in about_all(many(questions)) if say("overview-hint") in line]
    assert say("overview-limit", which="all", times=times) in text
    assert say("overview-limit-meaning", times=times) in text
    assert (say("overview-limit-single", times="3") in text) is (questions > 1)
    assert say("overview-limit-weak") not in text


def test_a_weak_limit_is_called_weak() -> None:
    assert say("overview-limit-weak") in " ".join(about_all(many(5)))
    text = " ".join(about_all(many(20)))
    assert say("overview-hardly-limited", which="all", times=1_000_000) in text
    assert "1,000,000" in text
    assert "21.98" in text  # 20 ln 3 is 21.972
    assert "at most" not in text.replace(say("overview-limit-single", times="3"), "")


def test_answers_that_are_sent_unchanged_are_excepted_everywhere() -> None:
    text = " ".join(about_all(habits()))
    for message in ("overview-device", "overview-no-proof"):
        assert say(message, unchanged="yes") in text
        assert say(message, unchanged="no") in " ".join(about_all(many(2)))
    assert say("overview-unprotected") in text
    assert "All randomised answers together" in text
    assert say("overview-unprotected") not in " ".join(about_all(many(2)))
    (alone,) = about_all(unchanged())
    assert alone == f"{say('overview-unchanged')} {say('overview-unprotected')}"


def test_no_protection_is_claimed_for_answers_that_are_sent_unchanged() -> None:
    owner = habits().owner
    assert threat_model(habits())[0] == say("threat-later", unchanged="yes", owner=owner)
    assert threat_model(many(2))[0] == say("threat-later", unchanged="no", owner=many(2).owner)
    assert say("threat-no-link", unchanged="yes") in threat_model(habits())
    assert say("threat-link", unchanged="yes") in threat_model(habits(tokens=True))
    assert "unchanged" not in " ".join(threat_model(many(2)))


def test_a_survey_without_randomised_answers_mentions_no_randomness_and_claims_nothing() -> None:
    survey = unchanged()
    later, *others = threat_model(survey)
    assert later == say("threat-later-unprotected", owner=survey.owner)
    for text in (later, *others, sent_words(survey), before_send(survey)):
        assert "coin" not in text
        assert "random" not in text.replace("random number", "")
        assert "This protects you" not in text
    assert sent_words(many(1)) == say("sending-done")
    assert before_send(many(1)) == say("sending-before")


def test_the_threat_model_names_each_danger() -> None:
    plain, options = threat_model(habits()), threat_model(every_option())
    assert len(plain) == len(options) == 6
    for message in ("threat-script", "threat-device", "threat-once", "threat-no-file"):
        assert say(message) in " ".join(plain)
    assert say("threat-day", kept="no") in plain[5]
    assert say("threat-day", kept="yes") in options[5]
    assert say("threat-network") in plain[5]
    assert say("threat-file") in options[1]
    assert say("threat-link", unchanged="yes") == options[4]


def lines_of(survey: Survey) -> list[str]:
    lines = [about_question(survey, question) for question in survey.questions]
    return [*lines, *about_all(survey), *threat_model(survey), before_send(survey), sent_words(survey)]


SURVEYS = {
    "five questions": habits,
    "tokens, offline file, day kept": every_option,
    "one coin": one_coin,
    "one coin and a question of its own": mixed_coins,
    "nothing randomised": unchanged,
    "five coins": lambda: many(5),
    "twenty coins": lambda: many(20),
}


def test_no_line_is_empty_or_broken() -> None:
    for made in SURVEYS.values():
        for line in lines_of(made()):
            assert line == " ".join(line.split())
            assert line.endswith(".")


def test_the_sum_of_epsilon_is_shown_as_a_figure_too() -> None:
    total = habits().scheme.privacy.epsilon
    assert total is not None
    assert say("overview-epsilon", epsilon=f"{total + 0.005:.2f}", several="yes") in " ".join(about_all(habits()))


def golden() -> str:
    """All sentences of some surveys, and their designs."""
    sections = []
    for name, made in SURVEYS.items():
        survey = made()
        sections += [f"== {name}", *dict.fromkeys(lines_of(survey)), "", as_text(design(survey, answers=500)), ""]
    return "\n".join(sections)


def test_the_prose_is_that_of_the_golden_file() -> None:
    assert golden() == GOLDEN.read_text("utf-8")


def test_every_message_exists_and_is_used() -> None:
    text = (SOURCES / "locales" / "en" / "survey.ftl").read_text("utf-8")
    known = re.findall(r"^([a-z][a-z-]*) =", text, re.MULTILINE)
    assert len(known) == len(set(known))
    sources = [path.read_text("utf-8") for path in (SOURCES / "survey").rglob("*.py")]
    used = {name for source in sources for name in re.findall(r"\bsay\(\s*[\"']([a-z-]+)[\"']", source)}
    assert used == set(known)


if __name__ == "__main__":
    GOLDEN.write_text(golden(), "utf-8")
