"""Run the collector: one process, no access log, on loopback unless told otherwise."""

import ipaddress
import logging
import socket
import ssl
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from leafcover.errors import OutputError, PlanError
from leafcover.survey.questionnaire import Survey
from leafcover.survey.storing.store import Opens


@dataclass(frozen=True)
class Certificate:
    """What a browser needs to know whom it speaks to."""

    chain: Path
    key: Path


def checked_certificate(certificate: Certificate) -> None:
    """Refuse in one line what no browser could be served with; a password is never asked for."""

    def no_password() -> str:
        raise PlanError(f"The key '{certificate.key}' is encrypted. Give one without password, readable by you alone.")

    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
            certificate.chain, certificate.key, no_password
        )
    except OSError as error:
        why = {"KEY_VALUES_MISMATCH": "the key is that of another certificate"}.get(
            getattr(error, "reason", None) or "", "they are not both PEM files that can be read"
        )
        raise PlanError(
            f"'{certificate.chain}' and '{certificate.key}' cannot serve as certificate and key: {why}. "
            "Give a certificate chain and its own key."
        ) from None


def checked_installed() -> None:
    """Refuse in one line where the packages of a collector are missing."""
    if missing := [name for name in ("fastapi", "jinja2", "uvicorn") if find_spec(name) is None]:
        raise PlanError(f"To serve a survey {', '.join(missing)} must be installed: pip install 'leafcover[survey]'.")


def listening(host: str, port: int) -> socket.socket:
    """A socket that waits for devices, or one line that says why there is none."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with ExitStack() as unless_it_listens:
            waiting = unless_it_listens.enter_context(socket.socket(family, kind, protocol))
            waiting.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            waiting.bind(place)
            waiting.listen(1024)
            unless_it_listens.pop_all()
            return waiting
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise OutputError(
            f"Nothing can listen on {host} port {port}: {why}. Choose another --port or --host."
        ) from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(
    survey: Survey,
    opened: Opens,
    secret: bytes,
    waiting: socket.socket,
    certificate: Certificate | None = None,
) -> None:
    """Answer requests until stopped."""
    import uvicorn

    from leafcover.survey.collecting.app import application
    from leafcover.survey.collecting.connection import Connection

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        application(survey, opened, secret),
        http=Connection,
        access_log=False,  # who answered when is nobody's business
        server_header=False,
        log_config=None,
        log_level="error",
        timeout_keep_alive=20,
        timeout_graceful_shutdown=10,
        ssl_certfile=None if certificate is None else certificate.chain,
        ssl_keyfile=None if certificate is None else certificate.key,
    )
    uvicorn.Server(config).run(sockets=[waiting])
