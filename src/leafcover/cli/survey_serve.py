"""``leafcover survey serve`` and ``survey page``: ask people, in a browser."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leafcover.cli.app import Force, Quiet, guarded, warn
from leafcover.cli.survey import SurveyFile, survey_app
from leafcover.errors import PlanError, ValueOutOfRange

if TYPE_CHECKING:
    from leafcover.survey.collecting.serve import Certificate


@survey_app.command()
@guarded
def serve(
    survey: SurveyFile,
    *,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE", help="Where answers are kept: a file, or postgresql://... [default: NAME.sqlite]"
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen; on loopback only this machine can answer.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8000,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate chain (PEM), to serve over https.")
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The private key of the certificate.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Serve the survey's page, take answers that were disguised in the browser, show the holder what they add up to."""
    from leafcover.survey.collecting.serve import checked_installed, is_loopback, listening
    from leafcover.survey.collecting.serve import serve as run
    from leafcover.survey.questionnaire import read_survey
    from leafcover.survey.secret import secret_place, survey_secret
    from leafcover.survey.storing.open import open_store

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
        typer.echo(f"Asking “{asked.title}” at {address}/ ({kept} answers so far).")
        typer.echo(f"Holder's pages: {address}/holder; the secret is in '{secret_place(survey)}'", nl=False)
        typer.echo(" (made now: keep it to yourself)." if new else ".")
        typer.echo("Stop with Ctrl-C.")
    for file in _open_to_others(secret_place(survey), Path(place)):
        warn(f"Other users of this machine can read or write '{file}'. Keep it to yourself: chmod 600.")
    if others:
        warn(f"The store also holds {others} answers to other questions or coins than these; they are left alone.")
    if not is_loopback(host) and proof is None:
        warn("Others can reach this page without https: whoever is between can change its script. Give --certificate.")
    run(asked, partial(open_store, place, asked), secret, waiting, proof)


@survey_app.command()
@guarded
def page(
    survey: SurveyFile,
    *,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="The HTML file to write.", readable=False)],
    address: Annotated[str, typer.Option(metavar="URL", help="Of the collector that the file sends to.")],
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write the survey as one file that works offline until it sends, and print the hash to publish."""
    from leafcover.survey.page import offline_page
    from leafcover.survey.questionnaire import read_survey
    from leafcover.table.whole import whole

    asked = read_survey(survey)
    if not asked.offline:
        raise PlanError("The collector takes no answers from files yet. Write offline = true into the survey first.")
    html, digest = offline_page(asked, address)
    with whole(out, force=force) as part:
        part.write_bytes(html)
    if not quiet:
        typer.echo(f"Wrote '{out}', {len(html):,} bytes. Publish its hash where the collector cannot change it:")
    typer.echo(f"sha256 {digest}")


def _certificate(chain: Path | None, key: Path | None) -> "Certificate | None":
    from leafcover.survey.collecting.serve import Certificate, checked_certificate

    if chain is None and key is None:
        return None
    if chain is None or key is None:
        raise PlanError("A certificate and its key go together. Got one of them. Give both or none.")
    for file in (chain, key):
        if not file.is_file():
            raise ValueOutOfRange("A certificate file", str(file), "one that exists")
    checked_certificate(Certificate(chain, key))
    return Certificate(chain, key)


def _open_to_others(*files: Path) -> list[Path]:
    """The files (an address of a database is none) that not only their owner may use, where the system can tell."""
    return [file for file in files if os.name == "posix" and file.is_file() and file.stat().st_mode & 0o077]


def _address(host: str, port: int, *, secure: bool) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{shown}:{port}"
