"""The pages of a survey as HTML: the respondent's page, the same page as an offline file, and the survey owner's pages.

Template, styles and script are inlined, so a page is one document that requests nothing else. Its content-security
policy allows exactly these styles and this script, by their hashes.
"""

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
    before_send,
    percent_upwards,
    sent_words,
    threat_model,
    times,
    upwards,
)
from leafcover.survey.questionnaire import Question, Survey

__all__ = ["Page", "offline_page", "page_of"]

PLACE = "leafcover.survey"
# Only characters that cannot end a directive of a policy or its list of sources.
ORIGIN = re.compile(r"https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True)
class Page:
    """A page and the content-security policy that it needs in its header."""

    html: str
    policy: str


def environment() -> Any:
    """Jinja with the templates of the folder ``templates``; all values are escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise LeafcoverError("The pages of a survey need Jinja. Install it: pip install 'leafcover[survey]'.") from None
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
    """The text of some files of the folder ``templates``, joined."""
    return "".join(files(PLACE).joinpath("templates", name).read_text("utf-8") for name in names)


def as_is(text: str) -> Any:
    """Text that a template must not escape."""
    from markupsafe import Markup

    return Markup(text)


def source(text: str) -> str:
    """The hash by which a content-security policy allows an inline script or style.

    >>> source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def owner_page(name: str, **content: Any) -> Page:
    """A page for the survey owner, from a template that extends ``owner.html.jinja``; it allows no script."""
    style = text_of("common.css", "owner.css")
    rules = (
        "default-src 'none'",
        f"style-src {source(style)}",
        "img-src 'self' data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return Page(environment().get_template(name).render(style=as_is(style), **content), "; ".join(rules))


def page_of(survey: Survey, *, send_to: str = "/answers", offline: bool = False) -> Page:
    """The respondent's page of a survey; the same survey and address give the same bytes.

    >>> from leafcover.survey.questionnaire import survey_from
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
            before_send=before_send(survey),
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
    """The survey as one file that sends to the collector at an address, and its SHA-256 to publish.

    The address may be given with or without the final ``/answers``.
    """
    content = page_of(survey, send_to=f"{_collector(address)}/answers", offline=True).html.encode()
    return content, hashlib.sha256(content).hexdigest()


def _policy(script: str, style: str, *, collector: str | None) -> str:
    """The content-security policy of the page; a meta tag, as in a file, does not support frame-ancestors."""
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
    """The address of a collector without trailing ``/answers``, however often that was added."""
    bare = address.rstrip("/")
    return _collector(bare.removesuffix("/answers")) if bare.endswith("/answers") else bare


def _origin(address: str) -> str:
    """The origin of a collector's address, which must be complete in a file."""
    found = ORIGIN.match(address)
    if found is None or not address[found.end() :].startswith("/") or not _is_place(address):
        raise PlanError(
            f"address must be the full address of the collector. Got {_collector(address)!r}. "
            "Write one like https://survey.example.org."
        )
    return found.group()


def _is_place(address: str) -> bool:
    """Whether an address has a valid host and port, and no query or fragment."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:  # a port above 65535, or an invalid host in brackets
        return False
    return port != 0 and not parts.query and not parts.fragment


def _data(survey: Survey, send_to: str) -> str:
    """The data of the script, as JSON that cannot end its script element."""
    content = {
        "fingerprint": survey.fingerprint,
        "send_to": send_to,
        "letters": _letters(survey),
        "questions": [_field(question) for question in survey.questions],
        "coins": [as_json(coin) for coin in coins_of(survey)],
    }
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def _field(question: Question) -> dict[str, int]:
    """The range of codes of a question, and the number of digits they are sent with."""
    low, high = question.between or (0, len(question.choices) - 1)
    return {"low": low, "high": high, "width": width(question)}


def _letters(survey: Survey) -> int:
    """The length of a token; 0 when the survey uses no tokens."""
    return TOKEN_LETTERS if survey.tokens else 0
