import pytest

from leafcover.errors import LeafcoverError
from leafcover.randomized_response import Kary, OneCoin, UnrelatedQuestion, Warner
from leafcover.survey.questionnaire import read_survey, survey_from
from tests.survey.surveys import HABITS, ONE_COIN, every_coin, habits, one_coin


def test_each_question_has_the_mechanism_it_asks_for() -> None:
    parts = {part.names: part.mechanism for part in habits().scheme.parts}
    assert parts[("taken",)] == Warner(0.75)
    assert parts[("days",)] == Kary.with_epsilon(1.5, 4)
    assert parts[("paid",)] == UnrelatedQuestion(0.5, 0.4)
    assert ("years",) not in parts
    assert ("site",) not in parts


def test_a_shared_coin_covers_all_its_questions() -> None:
    (part,) = one_coin().scheme.parts
    assert part.names == ("smokes", "drinks", "drives")
    assert part.mechanism == OneCoin(0.8, 3)
    assert one_coin().scheme.privacy.epsilon is None


def test_the_default_is_a_coin_of_three_quarters_per_question() -> None:
    survey = survey_from('title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nchoices = ["no", "yes"]\n')
    (part,) = survey.scheme.parts
    assert isinstance(part.mechanism, Warner)
    assert part.mechanism.theta == pytest.approx(0.75)


def test_the_fingerprint_changes_with_a_mechanism_but_not_with_the_introduction() -> None:
    assert survey_from(HABITS.replace("theta = 0.75", "theta = 0.8")).fingerprint != habits().fingerprint
    assert survey_from(HABITS.replace("Five questions", "Some questions")).fingerprint == habits().fingerprint


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("theta = 0.75", "theta = 0.96", "max_epsilon is 3"),
        ("theta = 0.75", "theta = 0.04", "max_epsilon is 3"),
        ("theta = 0.75", "theta = 1", "max_epsilon is 3"),
        ("theta = 0.75", "theta = 0.52", "says almost nothing"),
        ("theta = 0.75", "theta = 0.5", "away from 1/2"),
        ("theta = 0.75", "theta = 1.5", "question 1, theta must be less than or equal to 1. Got 1.5"),
        ("theta = 0.75", "thetta = 0.7", "question 1, thetta is not a key of a survey"),
        ("theta = 0.75", "alpha = 0.7", "has no 'alpha'"),
        ('choices = ["no", "yes"]\ntheta', 'choices = ["no"]\ntheta', "at least two choices"),
        ('choices = ["no", "yes"]\ntheta', 'choices = ["no", "no"]\ntheta', "the same choice twice"),
        ('name = "days"', 'name = "taken"', "two questions are named 'taken'"),
        ('mechanism = "k-ary"\nepsilon = 1.5', 'mechanism = "warner"', "needs two choices, got 4"),
        ("between = [0, 60]", "between = [60, 0]", "the smaller first"),
        ("alpha = 0.4", "", "needs 'alpha'"),
        ("asked = 0.5", "asked = 0.95", "max_epsilon is 3"),
        ("theta = 0.75", 'theta = "0.75"', "question 1, theta must be a number without quotes"),
        ("theta = 0.75", "theta = true", "question 1, theta must be a number without quotes"),
        ('title = "Habits at work"', 'title = "T"\ntokens = "yes"', "tokens must be true or false"),
        ("theta = 0.75", "theta = 0.501", "Question 1, 'taken': Warner.theta"),
        ("[[questions]]", "[[question]]", "question is not a key of a survey"),
        ('title = "Habits at work"', "title = ", "not valid TOML"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(old: str, new: str, words: str) -> None:
    assert old in HABITS
    with pytest.raises(LeafcoverError) as refused:
        survey_from(HABITS.replace(old, new))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_words_around_a_question_and_spelled_out_defaults_are_the_same_survey() -> None:
    helped = HABITS.replace("theta = 0.75", 'theta = 0.75\nhelp = "Pens count."\nmechanism = "warner"')
    assert survey_from(helped).fingerprint == habits().fingerprint
    for old, new in (("Have you ever", "Did you ever"), ('"no", "yes"]\ntheta', '"yes", "no"]\ntheta'), ("60]", "61]")):
        assert survey_from(HABITS.replace(old, new)).fingerprint != habits().fingerprint
    assert survey_from(ONE_COIN.replace("0.8", "0.81")).fingerprint != one_coin().fingerprint


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "habits.toml"
    path.write_text(HABITS, "utf-8-sig")
    assert read_survey(path) == habits()


def test_a_coin_nobody_shares_and_one_nobody_gives_are_refused() -> None:
    with pytest.raises(LeafcoverError, match="no question uses the coin 'other'"):
        survey_from(ONE_COIN.replace("all = 0.8", "all = 0.8\nother = 0.7"))
    with pytest.raises(LeafcoverError, match="the coin 'some', which"):
        survey_from(ONE_COIN.replace('coin = "all"', 'coin = "some"', 1))
    with pytest.raises(LeafcoverError, match="max_epsilon is 3"):
        survey_from(ONE_COIN.replace("0.8", "0.99"))


def test_a_file_that_is_not_there_says_so(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(LeafcoverError, match="There is no survey file"):
        read_survey(tmp_path / "none.toml")


def test_fingerprints_do_not_depend_on_the_names_of_keys_and_classes() -> None:
    """Answers that were collected before a rename still belong to their survey."""
    assert habits().fingerprint == "4f46dbffb0118105dafe8afba4ba0a61"
    assert one_coin().fingerprint == "7942871ac74b14e5d1450df96e0cbe13"
    assert every_coin().fingerprint == "4d9244e0c7205fe009e31600f56f4db9"
    renamed = HABITS.replace('owner = "The works council"', 'owner = "Another council"')
    assert survey_from(renamed).fingerprint == habits().fingerprint
