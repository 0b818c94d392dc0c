"""People who answer the surveys of the tests, and what their devices report."""

from collections.abc import Iterator

import numpy as np

from leafcover.keyed_random import Draws
from leafcover.randomized_response import disguise
from leafcover.randomized_response.estimate import recoded
from leafcover.survey.questionnaire import Survey
from leafcover.survey.results import table_of
from leafcover.table.table import Table

DRAWS = Draws(bytes(range(32)))


def people(survey: Survey, rows: int, *, seed: int = 1) -> Table:
    """True answers: the later choices of a question rarer, and all of them likelier for some of the people."""
    generator = np.random.default_rng(seed)
    bold = generator.random(rows) < 0.3
    codes = []
    for question in survey.questions:
        if question.between:
            codes.append(generator.integers(question.between[0], question.between[1] + 1, rows))
            continue
        chances = 0.5 ** np.arange(len(question.choices))
        drawn = generator.choice(len(question.choices), rows, p=chances / chances.sum())
        codes.append(np.where(bold & (generator.random(rows) < 0.4), len(question.choices) - 1, drawn))
    return from_codes(survey, np.array(codes).T)


def from_codes(survey: Survey, codes: np.ndarray) -> Table:  # type: ignore[type-arg]
    """A table of the codes of choices, a row a person."""
    return table_of(survey, codes.astype(str).tolist())


def reported(survey: Survey, truth: Table, *, run: int = 0) -> Table:
    """What the devices of these people send."""
    return disguise(truth, survey.scheme, DRAWS.sub(str(run)))


def texts(survey: Survey, table: Table) -> Iterator[tuple[str, ...]]:
    """The rows of a table as a store keeps them."""
    columns = [
        table[q.name].values.astype(int) if q.between else recoded(table[q.name], q.choices) for q in survey.questions
    ]
    return zip(*([str(code) for code in column] for column in columns), strict=True)
