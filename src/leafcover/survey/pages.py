"""The page on which people answer: one document that tosses the coins itself and asks for nothing until Send."""

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from leafcover.errors import LeafcoverError, PlanError
from leafcover.survey.client import TOKEN_LETTERS, as_json, coins_of, width
from leafcover.survey.consent_text import (
    about_all,
    about_question,
    percent_upwards,
    sent_words,
    threat_model,
    times,
    upwards,
)
from leafcover.survey.schema import Question, Survey

# Templates, styles and script of a survey's pages, all inlined: a page is one document and asks for nothing else.


PLACE = "leafcover.survey"


@dataclass(frozen=True)
class Page:
    """A page and the content-security policy that it needs in its header."""

    html: str
    policy: str


def environment() -> Any:
    """Jinja with the templates of the folder ``templates``; everything put into them is escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise LeafcoverError("Install leafcover[survey] to make its pages: pip install 'leafcover[survey]'.") from None
    made = Environment(
        loader=PackageLoader(PLACE, "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(times=times, upwards=upwards, percent_upwards=percent_upwards)
    return made


def text_of(*names: str) -> str:
    """Files of the folder ``templates``, one after the other."""
    return "".join(files(PLACE).joinpath("templates", name).read_text("utf-8") for name in names)


def as_is(text: str) -> Any:
    """A text of our own that a template must not escape."""
    from markupsafe import Markup

    return Markup(text)


def source(text: str) -> str:
    """How a content-security policy names an inline script or style: by its hash.

    >>> source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def holder_page(name: str, **content: Any) -> Page:
    """A page for the holder, from a template that extends ``holder.html.jinja``; no script can run in it."""
    style = text_of("common.css", "holder.css")
    rules = (
        "default-src 'none'",
        f"style-src {source(style)}",
        "img-src 'self' data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return Page(environment().get_template(name).render(style=as_is(style), **content), "; ".join(rules))


__all__ = ["Page", "offline_page", "page_of"]

# Nothing but letters that end neither a directive of a policy nor its list of sources.
ORIGIN = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")


def page_of(survey: Survey, *, send_to: str = "/answers", offline: bool = False) -> Page:
    """The page of a survey; the same survey and address give the same bytes.

    >>> from leafcover.survey.schema import survey_from
    >>> asked = survey_from('title = "T"\\n[[questions]]\\nname = "a"\\ntext = "A?"\\nchoices = ["no", "yes"]')
    >>> page_of(asked).policy.split("; ")[0]
    "default-src 'none'"
    """
    script, style = text_of("survey.js"), text_of("common.css", "survey.css")
    policy = _policy(script, style, collector=_origin(send_to) if offline else None)
    html = (
        environment()
        .get_template("survey.html.jinja")
        .render(
            survey=survey,
            asked=[(question, about_question(survey, question)) for question in survey.questions],
            about_all=about_all(survey),
            threats=threat_model(survey),
            before_send=_before_send(survey),
            sent=sent_words(survey),
            letters=_letters(survey),
            coins=bool(survey.scheme.parts),
            openly=any(question.is_open for question in survey.questions),
            offline=offline,
            send_to=send_to,
            policy=policy,
            style=as_is(style),
            data=as_is(_data(survey, send_to)),
            script=as_is(script),
        )
    )
    return Page(html, policy)


def offline_page(survey: Survey, address: str) -> tuple[bytes, str]:
    """The survey as one file that sends to the collector at an address, and the SHA-256 of it to publish.

    The address may end in the ``/answers`` that the file sends to, or be without it.
    """
    content = page_of(survey, send_to=f"{_collector(address)}/answers", offline=True).html.encode()
    return content, hashlib.sha256(content).hexdigest()


def _policy(script: str, style: str, *, collector: str | None) -> str:
    """What the page may do; a file's policy stands in a meta tag, where frame-ancestors is not known."""
    rules = [
        "default-src 'none'",
        f"script-src {source(script)}",
        f"style-src {source(style)}",
        "connect-src " + (collector or "'self'"),
        "img-src data:",
        "form-action 'none'",
        "base-uri 'none'",
    ]
    if collector is None:
        rules.append("frame-ancestors 'none'")
    return "; ".join(rules)


def _collector(address: str) -> str:
    """The address of a collector without the last part, where it takes answers, however often that was added."""
    bare = address.rstrip("/")
    return _collector(bare.removesuffix("/answers")) if bare.endswith("/answers") else bare


def _origin(address: str) -> str:
    """The origin of a collector's address, which a file must name in full."""
    found = ORIGIN.match(address)
    if found is None or not address[found.end() :].startswith("/") or not _is_place(address):
        raise PlanError(
            f"A page in a file must know where to send to. Got {_collector(address)!r}. "
            "Give the collector's address, like https://survey.example.org."
        )
    return found.group()


def _is_place(address: str) -> bool:
    """Whether an address has a host and a port that can be, and nothing behind its path."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:  # a port above 65535, or a host in brackets that is none
        return False
    return port != 0 and not parts.query and not parts.fragment


def _data(survey: Survey, send_to: str) -> str:
    """What the script must know, as JSON that cannot end the block that it stands in."""
    content = {
        "fingerprint": survey.fingerprint,
        "send_to": send_to,
        "letters": _letters(survey),
        "questions": [_field(question) for question in survey.questions],
        "coins": [as_json(coin) for coin in coins_of(survey)],
    }
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def _field(question: Question) -> dict[str, int]:
    """Which codes a question takes, and in how many digits they are sent."""
    low, high = question.between or (0, len(question.choices) - 1)
    return {"low": low, "high": high, "width": width(question)}


def _letters(survey: Survey) -> int:
    """The letters of a token, none when the survey asks for no tokens."""
    return TOKEN_LETTERS if survey.tokens else 0


def _before_send(survey: Survey) -> str:
    if not survey.scheme.parts:
        return "When you press Send, your answers are sent as they are, and this form is emptied."
    return (
        "When you press Send, your device tosses the coins, this form is emptied, and the result is sent. Nobody sees "
        "how the coins fell, and they are not tossed a second time."
    )
