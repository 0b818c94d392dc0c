"""``leafcover survey``: write, serve and analyse surveys with randomised response."""

import json
import os
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leafcover.cli.app import Force, Json, Quiet, app, guarded, warn
from leafcover.cli.tree import TreeFormat
from leafcover.errors import NameUnknown, OutputError, PlanError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.survey.questionnaire import Survey
    from leafcover.survey.server.app import Certificate
    from leafcover.table.table import Table


survey_app = typer.Typer(
    help="Surveys whose answers are randomised on the respondent's device (randomised response).",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(survey_app, name="survey")

SurveyFile = Annotated[Path, typer.Argument(metavar="FILE", help="The survey file (.toml).", readable=False)]
Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="The answers: a store (.sqlite or postgresql://…) or an export (.csv or .parquet)."
    ),
]


@survey_app.command()
@guarded
def new(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The survey file to write, such as habits.toml.", readable=False)
    ],
    one_coin: Annotated[
        bool, typer.Option("--one-coin", help="One coin for all questions: needs fewer answers, protects less.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write an example survey file with every key explained, as a starting point."""
    from leafcover.survey.questionnaire import example
    from leafcover.table.atomic import atomic_write

    if file.suffix != ".toml":
        raise ValueOutOfRange("FILE", str(file), "a name that ends in .toml, such as habits.toml")
    with atomic_write(file, force=force) as part:
        part.write_text(example(file.name, one_coin=one_coin), "utf-8")
    if not quiet:
        typer.echo(
            f"Wrote {file}. Change it into your own survey. Then:\n"
            f"  leafcover survey design {file}    what it reveals, and how many answers it needs\n"
            f"  leafcover survey serve {file}     publish it and collect answers"
        )


@survey_app.command()
@guarded
def design(
    file: SurveyFile,
    *,
    error: Annotated[float, typer.Option(metavar="W", help="Required half width of a 95% interval.")] = 0.05,
    share: Annotated[float, typer.Option(metavar="P", help="Expected share of an answer.")] = 0.1,
    answers: Annotated[int | None, typer.Option(metavar="N", help="Also show the half width with N answers.")] = None,
    as_json: Json = False,
) -> None:
    """Show what an answer reveals about a person, and how many answers the required precision needs."""
    from leafcover.survey.design import as_text
    from leafcover.survey.design import design as designed
    from leafcover.survey.questionnaire import read_survey

    found = designed(read_survey(file), error=error, share=share, answers=answers)
    typer.echo(json.dumps(found.as_json(), ensure_ascii=False) if as_json else as_text(found))


@survey_app.command()
@guarded
def estimate(
    file: SurveyFile,
    source: Source,
    *,
    where: Annotated[
        list[str],
        typer.Option(
            "--where", metavar="QUESTION=ANSWER", help="Estimate the share of people who gave all of these answers."
        ),
    ] = [],  # noqa: B006  # typer needs a list; it is never changed
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="QUESTION", help="Estimate within each group of answers to this question."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Estimate the share of every answer with a 95% interval. Needs at least a hundred answers."""
    from leafcover.survey.questionnaire import read_survey
    from leafcover.survey.results import read_answers, results, results_text

    survey = read_survey(file)
    literals = dict(_literal(survey, words) for words in where)
    if len(literals) < len(where):
        raise PlanError("--where names a question twice. Name each question once.")
    table = read_answers(survey, source)
    found = results(survey, table)
    for words in () if quiet else found.warnings:
        warn(words)
    if by is not None:
        _echo_by(survey, table, by, literals, as_json=as_json)
    elif literals:
        _echo_where(survey, table, literals, as_json=as_json)
    else:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False) if as_json else results_text(found))


@survey_app.command()
@guarded
def tokens(
    file: SurveyFile,
    *,
    count: Annotated[int, typer.Option(metavar="N", help="Number of links to create.")],
    first: Annotated[
        int, typer.Option(metavar="K", help="Number of the first link; continue where the last call ended.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="OUT", help="[default: FILE with .links]", readable=False)
    ] = None,
    address: Annotated[str, typer.Option(metavar="URL", help="Address of the survey.")] = "",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Create one-time links, one per line, in a private file. Each link lets one person answer once."""
    from leafcover.survey.client import MOST_TOKENS, secret_place, survey_secret, token
    from leafcover.survey.questionnaire import read_survey
    from leafcover.table.atomic import atomic_write

    survey = read_survey(file)
    if not survey.tokens:
        raise PlanError("This survey does not use tokens. Add tokens = true to the survey file.")
    if count < 1:
        raise ValueOutOfRange("--count", count, "at least 1")
    if first < 0 or first + count > MOST_TOKENS:
        raise ValueOutOfRange("--first and --count", f"{first} and {count}", f"within 0 to {MOST_TOKENS - 1}")
    if address and (not address.startswith(("http://", "https://")) or set(address) & set(" ?#")):
        raise ValueOutOfRange("--address", address, "an address such as https://survey.example/")
    place = out or file.with_suffix(".links")
    if place.resolve() in (file.resolve(), secret_place(file).resolve()):
        raise OutputError(f"'{place}' is the survey file or its secret. Choose another --out for the links.")
    with atomic_write(place, force=force, private=True) as part:
        secret = survey_secret(file).secret
        links = (token(secret, survey.fingerprint, number) for number in range(first, first + count))
        part.write_text("".join(f"{address.rstrip('/')}/#token={one}\n" for one in links), "utf-8")
    if not quiet:
        typer.echo(
            f"Wrote {count:,} links to {place} (numbers {first:,} to {first + count - 1:,}). Keep the file private.\n"
            f"Give each person one link. To create more later, use --first {first + count}."
        )
        if not address:
            warn("Without --address the links are incomplete. Put the address of the survey in front of each.")


@survey_app.command()
@guarded
def export(
    file: SurveyFile,
    source: Source,
    *,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="OUT", help="File to write: .csv or .parquet.", readable=False)
    ],
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Export the randomised answers as a table, in random order, without ids and days."""
    from leafcover.survey import results as answers
    from leafcover.survey.questionnaire import read_survey
    from leafcover.table.atomic import check_output_path

    survey = read_survey(file)
    answers.checked_export(out)
    check_output_path(out, force=force)
    table = answers.read_answers(survey, source)
    answers.export(survey, table, out, force=force)
    if not quiet:
        typer.echo(f"Wrote {len(table):,} answers to {out}. They are randomised: use `leafcover survey estimate`.")


def _literal(survey: "Survey", words: str) -> tuple[str, str | float]:
    """A question and an answer from QUESTION=ANSWER; the name of a question may contain '='."""
    known = sorted((q for q in survey.questions if words.startswith(f"{q.name}=")), key=lambda q: -len(q.name))
    if not known:
        name, sign, _ = words.partition("=")
        if not sign:
            raise ValueOutOfRange("--where", words, "QUESTION=ANSWER, such as --where taken=yes")
        raise NameUnknown("question", name, [question.name for question in survey.questions])
    question, text = known[0], words[len(known[0].name) + 1 :]
    if not question.between:
        if text not in question.choices:
            raise NameUnknown("choice", text, question.choices, where=f"of question {question.name!r}")
        return question.name, text
    low, high = question.between
    if not text.isdecimal() or not low <= int(text) <= high:
        raise ValueOutOfRange(f"--where {question.name}", text, f"a whole number from {low} to {high}")
    return question.name, float(int(text))


def _conditions(literals: dict[str, str | float]) -> str:
    return " and ".join(
        f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}" for name, value in literals.items()
    )


def _echo_where(survey: "Survey", table: "Table", literals: dict[str, str | float], *, as_json: bool) -> None:
    from leafcover.survey.results import conjunction, estimate_json, interval_of, percent

    found = conjunction(survey, table, literals)
    low, high = interval_of(survey, found, literals)
    if as_json:
        typer.echo(
            json.dumps({"where": literals, "share": found.share, "interval": [low, high]} | estimate_json(found))
        )
        return
    shown = f"{percent(found.share)} (95% interval {percent(low)} to {percent(high)})"
    typer.echo(f"{_conditions(literals)}: {shown} of {found.rows:,} answers")


def _echo_by(survey: "Survey", table: "Table", by: str, literals: dict[str, str | float], *, as_json: bool) -> None:
    from leafcover.survey import results as groups

    if literals:
        asked = [literals]
    else:
        asked = [
            {question.name: choice}
            for question in survey.questions
            if question.choices and question.name != by
            for choice in question.choices
        ]
    found = [(one, groups.by_group(survey, table, by, one)) for one in asked]
    if as_json:
        content = [{"where": one, "groups": groups.as_json(of)} for one, of in found]
        typer.echo(json.dumps({"by": by, "answers": len(table), "found": content}, ensure_ascii=False))
        return
    typer.echo(f"{survey.title}: {len(table):,} answers, in groups by {by}")
    for one, of in found:
        typer.echo(f"\n{_conditions(one)}\n{groups.groups_text(of)}")


# ``leafcover survey serve`` and ``survey page``: the survey in a browser.


@survey_app.command()
@guarded
def serve(
    survey: SurveyFile,
    *,
    store: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Store of the answers: a file, or postgresql://... [default: NAME.sqlite]"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; only this machine can reach the default.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes any free port.")] = 8000,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate chain (PEM), for https.")
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Private key of the certificate.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Serve the survey, collect answers that the browser has randomised, and show the owner live estimates."""
    from leafcover.survey.client import secret_place, survey_secret
    from leafcover.survey.questionnaire import read_survey
    from leafcover.survey.server.app import checked_installed, is_loopback, listening
    from leafcover.survey.server.app import serve as run
    from leafcover.survey.storage import open_store

    proof = _certificate(certificate, certificate_key)
    checked_installed()
    asked = read_survey(survey)
    place = store or str(survey.with_suffix(".sqlite"))
    first = open_store(place, asked)
    kept, others = first.count(), first.others()
    first.close()
    new = not secret_place(survey).exists()
    secret = survey_secret(survey).secret
    waiting = listening(host, port)
    address = _address(host, waiting.getsockname()[1], secure=proof is not None)
    if not quiet:
        typer.echo(f"Serving “{asked.title}” at {address}/ ({kept} answers so far).")
        created = ", just created: keep it private" if new else ""
        typer.echo(f"Results for the survey owner: {address}/owner (secret: '{secret_place(survey)}'{created}).")
        typer.echo("Stop with Ctrl-C.")
    for file in _open_to_others(secret_place(survey), Path(place)):
        warn(f"Other users of this machine can read or write '{file}'. Protect it: chmod 600 '{file}'.")
    if others:
        warn(f"The store also holds {others} answers to other or earlier questions. They are ignored.")
    if not is_loopback(host) and proof is None:
        warn("Without https, someone on the network can alter the page. Use --certificate.")
    run(asked, partial(open_store, place, asked), secret, waiting, proof)


@survey_app.command()
@guarded
def page(
    survey: SurveyFile,
    *,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="HTML file to write.", readable=False)],
    address: Annotated[str, typer.Option(metavar="URL", help="Address of the collector that the file sends to.")],
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write the survey as one file that works offline until it sends, and print its hash for publication."""
    from leafcover.survey.pages import offline_page
    from leafcover.survey.questionnaire import read_survey
    from leafcover.table.atomic import atomic_write

    asked = read_survey(survey)
    if not asked.offline:
        raise PlanError("This survey does not accept answers from files. Add offline = true to the survey file.")
    html, digest = offline_page(asked, address)
    with atomic_write(out, force=force) as part:
        part.write_bytes(html)
    if not quiet:
        typer.echo(
            f"Wrote '{out}' ({len(html):,} bytes). Publish its hash in a place that the collector cannot change:"
        )
    typer.echo(f"sha256 {digest}")


def _certificate(chain: Path | None, key: Path | None) -> "Certificate | None":
    from leafcover.survey.server.app import Certificate, checked_certificate

    if chain is None and key is None:
        return None
    if chain is None or key is None:
        raise PlanError("--certificate and --certificate-key belong together. Got one of them. Give both or neither.")
    for file in (chain, key):
        if not file.is_file():
            raise ValueOutOfRange("--certificate and --certificate-key", str(file), "files that exist")
    checked_certificate(Certificate(chain, key))
    return Certificate(chain, key)


def _open_to_others(*files: Path) -> list[Path]:
    """The files that other users can read or write, on systems with permissions; database addresses are skipped."""
    return [file for file in files if os.name == "posix" and file.is_file() and file.stat().st_mode & 0o077]


def _address(host: str, port: int, *, secure: bool) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{shown}:{port}"


# ``leafcover survey tree``: a decision tree from randomised answers.


class Criterion(StrEnum):
    """What the best test maximises."""

    gain = "gain"
    ratio = "ratio"


@survey_app.command()
@guarded
def tree(
    file: SurveyFile,
    source: Source,
    *,
    target: Annotated[str, typer.Option("--target", metavar="QUESTION", help="Question to predict.")],
    form: Annotated[TreeFormat, typer.Option("--format", help="Output format.")] = TreeFormat.text,
    criterion: Annotated[Criterion, typer.Option(help="Information gain or gain ratio.")] = Criterion.gain,
    min_support: Annotated[
        float, typer.Option(metavar="N", help="Estimated number of people that a branch must contain.")
    ] = 10,
    significance: Annotated[
        float, typer.Option(metavar="P", help="Significance level of a test against the randomness of the answers.")
    ] = 0.05,
    test_share: Annotated[float, typer.Option(metavar="SHARE", help="Share of the answers to test the tree on.")] = 0.3,
) -> None:
    """Grow a tree that predicts one question from the others, and estimate its accuracy."""
    from leafcover.randomized_response.tree import StoppingRules
    from leafcover.survey.questionnaire import read_survey
    from leafcover.survey.results import read_answers, results, tree_of

    survey = read_survey(file)
    rules = StoppingRules(criterion.value, min_support=min_support, significance=significance)
    table = read_answers(survey, source)
    found = tree_of(survey, table, target, rules, test_share)
    for words in results(survey, table).warnings:
        warn(words)
    if form is TreeFormat.json:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False))
    elif form is TreeFormat.svg:
        typer.echo(found.picture)
    else:
        typer.echo(f"{found.rules if form is TreeFormat.rules else found.text}\n{found.words}")
