"""Surveys that tests ask."""

from leafcover.survey.questionnaire import Survey, survey_from

HABITS = """
title = "Habits at work"
owner = "The works council"
introduction = "Five questions about habits at work."

[[questions]]
name = "taken"
text = "Have you ever taken something home from work?"
choices = ["no", "yes"]
theta = 0.75

[[questions]]
name = "days"
text = "How many days were you ill last year?"
choices = ["none", "one to five", "more", "I would rather not say"]
mechanism = "k-ary"
epsilon = 1.5

[[questions]]
name = "paid"
text = "Were you ever paid in cash?"
choices = ["no", "yes"]
mechanism = "unrelated"
asked = 0.5
alpha = 0.4

[[questions]]
name = "years"
text = "For how many years have you worked here?"
mechanism = "open"
between = [0, 60]

[[questions]]
name = "site"
text = "Where do you work?"
choices = ["north", "south", "east"]
mechanism = "open"
"""

ONE_COIN = """
title = "One coin"

[coins]
all = 0.8

[[questions]]
name = "smokes"
text = "Do you smoke?"
choices = ["no", "yes"]
coin = "all"

[[questions]]
name = "drinks"
text = "Do you drink?"
choices = ["no", "yes"]
coin = "all"

[[questions]]
name = "drives"
text = "Do you drive after drinking?"
choices = ["no", "yes"]
coin = "all"
"""


def habits(*, tokens: bool = False) -> Survey:
    return survey_from(("tokens = true\n" if tokens else "") + HABITS)


def one_coin() -> Survey:
    return survey_from(ONE_COIN)


def every_coin() -> Survey:
    """The questions of both, so that one message holds coins of every kind."""
    head, first, rest = HABITS.partition("[[questions]]")
    return survey_from(head + "[coins]\nall = 0.8\n" + first + rest + ONE_COIN[ONE_COIN.index(first) :])
