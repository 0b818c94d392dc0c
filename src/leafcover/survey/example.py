"""A survey to begin with: every key explained beside a question that uses it."""

_HEAD = """# A survey whose answers are disguised on the devices of the people who give them.
# Change what you like, then see what it needs and gives away:   leafcover survey design {name}
# Questions, choices and coins must stay as they are once people answer; the words around them may be mended.

version = 1
title = "Habits at work"
holder = "the works council"       # who asks; people read it
introduction = "We want to know how common some habits are, not who has them."
language = "en"                    # of your words, for screen readers

# tokens = true                    # only who has a one-time link can answer: leafcover survey tokens {name} --count 200
# offline = true                   # people may also answer from a file they were given: leafcover survey page {name}
# keep_day = true                  # keep the day an answer came; otherwise nothing tells when
# max_epsilon = 3.0                # refuse a question whose report would change the odds by more than e^3, 20 times
"""

_COIN_EACH = """
# Every question must be answered: a gap would be seen. Offer "I would rather not say" as a choice.
# Each question tosses a coin of its own.

# Two choices: the true answer with chance theta, else the other one. The further theta is from 1/2, the fewer answers
# you need and the less it hides. Without theta or epsilon a question tells the truth three times out of four.
[[questions]]
name = "taken"                     # a short name, for tables
text = "Have you ever taken something home from work that was not yours?"
help = "Pens count, too."          # may be left out
choices = ["no", "yes"]
theta = 0.75

# More choices: the true answer, or one of the others, all as likely. epsilon says how much a report may tell: it
# changes the odds between two answers by at most e^epsilon times. (theta, the chance of the true answer, does as well.)
[[questions]]
name = "ill"
text = "How often did you say you were ill last year when you were not?"
choices = ["never", "once or twice", "more often", "I would rather not say"]
channel = "k-ary"
epsilon = 1.5

# The true answer with chance asked; otherwise the device draws "yes" (the second choice) with chance alpha, else "no".
[[questions]]
name = "cash"
text = "Were you ever paid in cash without a receipt?"
choices = ["no", "yes"]
channel = "unrelated"
asked = 0.6
alpha = 0.5

# Open questions are sent as they were answered, and the page says so. Ask few: together they may show who answered.
[[questions]]
name = "site"
text = "Where do you work?"
choices = ["office", "workshop", "outdoors"]
channel = "open"

# An open question may also ask for a whole number.
[[questions]]
name = "years"
text = "For how many years have you worked here?"
channel = "open"
between = [0, 60]

# Questions can share one coin: leafcover survey new FILE --one-coin writes an example and says what that costs.
"""

_ONE_COIN = """
# One coin for all questions: with chance "all" every answer is sent as it is, otherwise every one is turned round.
# Trees and tables over many questions then need far fewer answers. But there is no limit to what is given away: whoever
# knows one true answer of a person knows them all, and the page tells people so. Only questions with two choices can
# share a coin. Other questions may stand beside them; each then has a coin of its own.
[coins]
all = 0.75

[[questions]]
name = "taken"                     # a short name, for tables
text = "Have you ever taken something home from work that was not yours?"
choices = ["no", "yes"]
coin = "all"

[[questions]]
name = "ill"
text = "Did you ever say you were ill when you were not?"
choices = ["no", "yes"]
coin = "all"

[[questions]]
name = "cash"
text = "Were you ever paid in cash without a receipt?"
choices = ["no", "yes"]
coin = "all"

# An open question is sent as it was answered, and the page says so.
[[questions]]
name = "site"
text = "Where do you work?"
choices = ["office", "workshop", "outdoors"]
channel = "open"
"""


def example(name: str, *, one_coin: bool = False) -> str:
    """The text of a survey file; ``name`` is what the file is called."""
    return _HEAD.format(name=name) + (_ONE_COIN if one_coin else _COIN_EACH)
