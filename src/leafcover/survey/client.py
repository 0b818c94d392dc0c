"""A survey answered by a program on the respondent's own device: coins are tossed there, once.

client = Client(read_survey("habits.toml"), "https://survey.example/#token=…")
client.prepare({"taken": "yes", "days": "none"})
client.send()
"""

import http.client
import ipaddress
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from leafcover.errors import LeafcoverError, NameUnknown, PlanError, ValueOutOfRange
from leafcover.survey.device import disguised
from leafcover.survey.message import body
from leafcover.survey.questionnaire import Question, Survey

TRIES = 3
SECONDS = 20.0
MOST_READ = 4096  # bytes of an acknowledgement


class NotReceived(LeafcoverError):
    """The collector did not acknowledge an answer; says why, and never what was answered."""


class Client:
    """One person's answer to one survey. True answers are not kept, not even while it waits to be sent.

    ``address`` is where the survey is served, or the person's own link with its token. Plain http is allowed to this
    machine only, since the network would see open answers; ``insecure`` allows it elsewhere.
    """

    def __init__(self, survey: Survey, address: str, token: str = "", *, insecure: bool = False) -> None:
        self._survey = survey
        self._url, in_link = _place(address, insecure=insecure)
        self._token = token or in_link
        if bool(self._token) != survey.tokens:
            what = "needs the token of your link" if survey.tokens else "takes no tokens; leave it out"
            raise PlanError(f"The survey {what}.")
        self._sent: bytes | None = None
        self._tossed = self._arrived = False

    def __repr__(self) -> str:
        return f"Client({self._survey.title!r}, {self._url!r})"

    @property
    def arrived(self) -> bool:
        """Whether the collector said that it has the answer."""
        return self._arrived

    def prepare(self, answers: Mapping[str, str | int]) -> None:
        """Toss the coins for the answers, every question by its name, and make the message. This is done once."""
        if self._tossed:
            raise PlanError(
                "The coins of this answer were tossed already. Send it as it is: repeated coins average out, and would "
                "show what you answered."
            )
        names = [question.name for question in self._survey.questions]
        for name in answers:
            if name not in names:
                raise NameUnknown("question", name, names)
        if lacking := [name for name in names if name not in answers]:
            raise PlanError(f"Question {lacking[0]!r} is not answered. Answer every question: a gap would be seen.")
        codes = [_code(question, answers[question.name]) for question in self._survey.questions]
        self._tossed = True
        self._sent = body(self._survey, disguised(self._survey, codes), self._token)

    def send(
        self, *, tries: int = TRIES, seconds: float = SECONDS, pause: Callable[[float], object] = time.sleep
    ) -> None:
        """Send the message until the collector acknowledges it; every try, also a later call, sends the same bytes."""
        if self._arrived:
            raise PlanError("The collector has this answer already. There is nothing to send.")
        if self._sent is None:
            raise PlanError("There is no answer to send. Call prepare with the answers first.")
        if tries < 1:
            raise ValueOutOfRange("tries", tries, "at least 1")
        for number in range(tries):
            if number:
                pause(2.0**number)
            why = self._posted(self._sent, seconds)
            if not why:
                self._arrived, self._sent, self._token = True, None, ""
                return
        raise NotReceived(f"The answer may not have arrived: {why}. Call send again: it repeats the same bytes.")

    def _posted(self, content: bytes, seconds: float) -> str:
        """Post the message; what hindered it when another try may help, nothing when it was acknowledged."""
        headers = {"Content-Type": "application/json", "User-Agent": "leafcover"}  # no version of the device
        request = urllib.request.Request(self._url, content, headers, method="POST")
        try:
            with _opener().open(request, timeout=seconds) as answered:
                said = _content(answered.read(MOST_READ))
        except urllib.error.HTTPError as error:
            with error:
                if error.code >= http.client.INTERNAL_SERVER_ERROR:
                    return f"the collector has a fault (status {error.code})"
                if error.code < http.client.BAD_REQUEST:
                    raise NotReceived(
                        "The collector sends the message elsewhere, and it was not sent there. Check the address."
                    ) from None
                raise NotReceived(f"The collector refused the answer: {_why(error.read(MOST_READ))}") from None
        except (OSError, http.client.HTTPException) as error:
            return f"the collector cannot be reached ({_cause(error)})"
        return "" if said.get("received") is True else "what answered is not a collector"


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follow no redirect: the message goes where it was meant to go."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    # A proxy would read what plain http sends; https passes it sealed.
    proxies = {kind: place for kind, place in urllib.request.getproxies().items() if kind == "https"}
    return urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _Stay)


def _place(address: str, *, insecure: bool) -> tuple[str, str]:
    """Where answers are posted, and the token of a link."""
    example = "an address such as https://survey.example/"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    # A link can hold a token, so an address that is wrong is not repeated.
    if not host or parts.scheme not in ("http", "https") or parts.query or "@" in parts.netloc:
        raise PlanError(f"The collector's address is none. Give {example}")
    if parts.scheme == "http" and not insecure and not _is_here(host):
        raise PlanError(
            f"The address of {host!r} begins with http://, so the network would see the message. Give {example} or, "
            "on a network you trust, insecure=True."
        )
    token = parts.fragment.removeprefix("token=") if parts.fragment.startswith("token=") else ""
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + "/answers", "", "")), token


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _code(question: Question, answer: str | int) -> int:
    """The code of a true answer. What was answered never stands in the refusal."""
    if question.between:
        low, high = question.between
        if isinstance(answer, int) and not isinstance(answer, bool) and low <= answer <= high:
            return answer
        raise PlanError(f"The answer to {question.name!r} is no whole number from {low} to {high}. Give one.")
    if isinstance(answer, str) and answer in question.choices:
        return question.choices.index(answer)
    raise PlanError(f"The answer to {question.name!r} is none of its choices: {', '.join(question.choices)}.")


def _content(said: bytes) -> dict[str, Any]:
    try:
        content = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _why(said: bytes) -> str:
    """The collector's reason as one line of plain characters."""
    reason = str(_content(said).get("why", "it gave no reason"))
    return "".join(letter if letter.isprintable() else " " for letter in reason[:300])


def _cause(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return (reason.strerror if isinstance(reason, OSError) else None) or type(reason).__name__
