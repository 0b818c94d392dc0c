"""``leafcover survey tree``: which answers go together, from disguised answers alone."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from leafcover.cli.app import guarded, warn
from leafcover.cli.survey import Source, SurveyFile, survey_app
from leafcover.cli.tree import Format


class Criterion(StrEnum):
    """What the best test has most of."""

    gain = "gain"
    ratio = "ratio"


@survey_app.command()
@guarded
def tree(
    file: SurveyFile,
    source: Source,
    *,
    target: Annotated[str, typer.Option("--target", metavar="QUESTION", help="The question to predict.")],
    form: Annotated[Format, typer.Option("--format", help="How to show it.")] = Format.text,
    criterion: Annotated[Criterion, typer.Option(help="Information gain, or its ratio.")] = Criterion.gain,
    min_support: Annotated[float, typer.Option(metavar="N", help="People that a branch must hold, as estimated.")] = 10,
    significance: Annotated[
        float, typer.Option(metavar="P", help="Chance that the noise of the coins alone makes a test look so good.")
    ] = 0.05,
    test_share: Annotated[float, typer.Option(metavar="SHARE", help="Of the answers, set aside to test with.")] = 0.3,
) -> None:
    """Grow the tree that predicts one question from the others, and say how often it is right, with its error."""
    from leafcover.response.tree.rules import Rules
    from leafcover.survey.answers import read_answers
    from leafcover.survey.questionnaire import read_survey
    from leafcover.survey.results import results
    from leafcover.survey.tree import tree_of

    survey = read_survey(file)
    rules = Rules(criterion.value, min_support=min_support, significance=significance)
    table = read_answers(survey, source)
    found = tree_of(survey, table, target, rules, test_share)
    for words in results(survey, table).warnings:
        warn(words)
    if form is Format.json:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False))
    elif form is Format.svg:
        typer.echo(found.picture)
    else:
        typer.echo(f"{found.rules if form is Format.rules else found.text}\n{found.words}")
