"""The message of an answer: how a device randomises and sends it, and how the collector checks it.

First the coins of a survey as integer thresholds, shared with the script of the page. Then one-time tokens, the
message itself (all messages of a survey have the same length), the secret of a survey, and `Client`, which answers a
survey from a Python program:

    client = Client(read_survey("habits.toml"), "https://survey.example/#token=…")
    client.prepare({"taken": "yes", "days": "none"})
    client.send()
"""

import base64
import binascii
import hashlib
import hmac
import http.client
import ipaddress
import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leafcover.errors import LeafcoverError, NameUnknown, PlanError, TableError, ValueOutOfRange
from leafcover.keyed_random import Key, key_from_file, key_text
from leafcover.messages import catalogue
from leafcover.randomized_response import Kary, OneCoin, UnrelatedQuestion, Warner
from leafcover.randomized_response.mechanism import ALL_WORDS
from leafcover.survey.questionnaire import Question, Survey
from leafcover.table.atomic import atomic_write

say = catalogue("survey")

# The coins of a survey in integers, for a browser and for Python.
#
# Probabilities become thresholds for 64 random bits, as in ``leafcover.randomized_response.mechanism``. A browser that
# compares the same integers therefore applies exactly the mechanism that the estimates invert.


Below: TypeAlias = Callable[[int], int]  # draws an integer from 0 to below its argument, all equally likely


@dataclass(frozen=True)
class Flip:
    """One coin for some two-choice questions: all true when 64 random bits are below ``keep``, else all flipped."""

    places: tuple[int, ...]
    keep: int
    kind: str = "flip"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """The reports on the questions of this coin."""
        turn = below(ALL_WORDS) >= self.keep
        return {place: codes[place] ^ turn for place in self.places}


@dataclass(frozen=True)
class Among:
    """The true answer when 64 random bits are below ``keep``, else one of the other levels, equally likely."""

    places: tuple[int]
    keep: int
    levels: int
    kind: str = "among"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """The report on the question of this coin."""
        (place,) = self.places
        kept, other = (
            below(ALL_WORDS) < self.keep,
            below(self.levels - 1),
        )  # always both draws, so that the time reveals nothing
        return {place: codes[place] if kept else other + (other >= codes[place])}


@dataclass(frozen=True)
class Harmless:
    """The true answer when 64 random bits are below ``asked``, else yes when 64 others are below ``yes``."""

    places: tuple[int]
    asked: int
    yes: int
    kind: str = "harmless"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """The report on the question of this coin."""
        (place,) = self.places
        asked, harmless = below(ALL_WORDS) < self.asked, int(below(ALL_WORDS) < self.yes)
        return {place: codes[place] if asked else harmless}


Coin: TypeAlias = Flip | Among | Harmless


def coins_of(survey: Survey) -> tuple[Coin, ...]:
    """Every coin of a survey; a question without a coin is open."""
    place = {question.name: number for number, question in enumerate(survey.questions)}
    coins: list[Coin] = []
    for part in survey.scheme.parts:
        places, mechanism = tuple(place[name] for name in part.names), part.mechanism
        if isinstance(mechanism, Warner | OneCoin):
            coins.append(Flip(places, _threshold(mechanism.theta)))
        elif isinstance(mechanism, Kary):
            coins.append(Among((places[0],), _threshold(mechanism.keep), mechanism.levels))
        elif isinstance(mechanism, UnrelatedQuestion):
            coins.append(Harmless((places[0],), _threshold(mechanism.asked), _threshold(mechanism.alpha)))
        else:
            raise TypeError(type(mechanism).__name__)
    return tuple(coins)


def disguised(survey: Survey, codes: Sequence[int], below: Below = secrets.randbelow) -> tuple[int, ...]:
    """The reports for true codes (for an open number, the number). Never call it twice for one person's answers."""
    reports = dict(enumerate(codes))
    for coin in coins_of(survey):
        reports |= coin.toss(codes, below)
    return tuple(reports[place] for place in range(len(codes)))


def as_json(coin: Coin) -> dict[str, Any]:
    """A coin for a browser: thresholds as text, because JavaScript numbers have 53 bits."""
    return {key: str(value) if key in ("keep", "asked", "yes") else value for key, value in asdict(coin).items()}


def _threshold(chance: float) -> int:
    return int(chance * float(ALL_WORDS))


# One-time tokens: a number and a proof that the survey owner issued it, as letters for a link.
#
# A token is 4 bytes of number and 12 bytes of HMAC-SHA256 under the survey's secret, so tokens need not be stored: the
# collector recomputes the proof and stores only which numbers are spent, as one block of bits. That block has no id,
# time or order in common with the answers.


TOKEN_LETTERS = 26  # 16 bytes in base32
MOST_TOKENS = 1 << 22  # the block of bits then takes half a megabyte


def token(secret: bytes, fingerprint: str, number: int) -> str:
    """The token of a number.

    >>> made = token(bytes(32), "00" * 16, 7)
    >>> number_of(bytes(32), "00" * 16, made), number_of(bytes(32), "00" * 16, "a" * 26)
    (7, None)
    """
    if not 0 <= number < MOST_TOKENS:
        raise ValueError(f"The number of a token must be from 0 to {MOST_TOKENS - 1}. Got {number}.")
    head = number.to_bytes(4, "big")
    return base64.b32encode(head + _proof(secret, fingerprint, head)).decode().rstrip("=").lower()


def number_of(secret: bytes, fingerprint: str, text: str) -> int | None:
    """The number of a token, or None when it was not issued for this survey."""
    try:
        content = base64.b32decode(text.upper() + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        return None
    head, proof = content[:4], content[4:]
    number = int.from_bytes(head, "big")
    # Several texts decode to the same bytes; only the issued one is accepted.
    genuine = hmac.compare_digest(proof, _proof(secret, fingerprint, head)) and number < MOST_TOKENS
    return number if genuine and text == token(secret, fingerprint, number) else None


def _proof(secret: bytes, fingerprint: str, head: bytes) -> bytes:
    return hmac.new(secret, b"token" + fingerprint.encode() + head, hashlib.sha256).digest()[:12]


ID_DIGITS = 32

Digits = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{ID_DIGITS}}}$")]


class Refused(LeafcoverError):
    """A message that is not an answer to this survey; the reason repeats none of its content."""


class Outdated(Refused):
    """A message for an earlier version of the questions."""


class Message(BaseModel):
    """The fields of a message. The survey fixes the length of every text."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    survey: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="The fingerprint of the survey.")]
    id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="Random for every answer; a retry repeats it.")]
    token: Annotated[str, Field(pattern=rf"^([a-z2-7]{{{TOKEN_LETTERS}}})?$", description="One-time, or empty.")] = ""
    reports: Annotated[
        list[Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]],
        Field(min_length=1, max_length=200, description="The randomised codes, one for each question."),
    ]


@dataclass(frozen=True)
class Answer:
    """A randomised answer as it is stored: a random id and the reports, without sender or time."""

    id: str
    reports: tuple[str, ...]


def width(question: Question) -> int:
    """The number of digits of every code of a question."""
    largest = question.between[1] if question.between else len(question.choices) - 1
    return len(str(largest))


def length(survey: Survey) -> int:
    """The length in bytes of every message of a survey."""
    smallest = [question.between[0] if question.between else 0 for question in survey.questions]
    return len(body(survey, smallest, "a" * TOKEN_LETTERS if survey.tokens else ""))


def body(survey: Survey, reports: Sequence[int], token: str = "") -> bytes:
    """The message for randomised codes; made once, because a retry must repeat it."""
    texts = [f"{code:0{width(question)}d}" for code, question in zip(reports, survey.questions, strict=True)]
    content = {"survey": survey.fingerprint, "id": secrets.token_hex(ID_DIGITS // 2), "token": token, "reports": texts}
    return json.dumps(content, separators=(",", ":")).encode()


def received(survey: Survey, sent: bytes) -> tuple[Answer, str]:
    """The answer and the token in a message, after checking every field."""
    try:
        message = Message.model_validate_json(sent)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise Refused(say("refused-field", field=place) if place else say("refused-message")) from None
    if message.survey != survey.fingerprint:
        raise Outdated(say("refused-outdated"))
    if bool(message.token) != survey.tokens:
        raise Refused(say("refused-without-token") if survey.tokens else say("refused-with-token"))
    if len(message.reports) != len(survey.questions):
        raise Refused(say("refused-number"))
    for text, question in zip(message.reports, survey.questions, strict=True):
        low, high = question.between or (0, len(question.choices) - 1)
        if len(text) != width(question) or not low <= int(text) <= high:
            raise Refused(say("refused-report", question=question.name))
    return Answer(message.id, tuple(message.reports)), message.token


# The secret of a survey, beside its file: it proves tokens and opens the survey owner's pages.


def secret_place(survey_file: Path) -> Path:
    """The file that holds the secret of a survey.

    >>> secret_place(Path("habits.toml")).name
    'habits.secret'
    """
    return survey_file.with_suffix(".secret")


def survey_secret(survey_file: Path) -> Key:
    """The secret of a survey; created, readable by its owner only, when the file does not exist."""
    place = secret_place(survey_file)
    if not place.exists():
        with atomic_write(place, private=True) as part:
            part.write_text(key_text(Key.fresh()), "ascii")
    try:
        return key_from_file(place)
    except TableError:
        raise TableError(
            f"The secret file '{place}' must contain 64 hexadecimal digits. Restore it, or remove it: a new secret is "
            "then created, and links given out before no longer work."
        ) from None


# A client for programs: answers are randomised on the respondent's own device, once.


TRIES = 3
SECONDS = 20.0
MOST_READ = 4096  # bytes of an acknowledgement


class NotReceived(LeafcoverError):
    """The collector did not acknowledge an answer; the reason never contains the answer."""


class Client:
    """One person's answer to one survey. The true answers are not kept, not even until the message is sent.

    ``address`` is the address of the survey, or the person's own link with its token. Plain http is allowed to this
    machine only, because the network could read open answers; ``insecure`` allows it elsewhere.
    """

    def __init__(self, survey: Survey, address: str, token: str = "", *, insecure: bool = False) -> None:
        self._survey = survey
        self._url, in_link = _place(address, insecure=insecure)
        self._token = token or in_link
        if bool(self._token) != survey.tokens:
            if survey.tokens:
                raise PlanError("This survey needs a token. Got none. Give the token of your link.")
            raise PlanError("This survey uses no tokens. Got one. Leave it out.")
        self._sent: bytes | None = None
        self._tossed = self._arrived = False

    def __repr__(self) -> str:
        return f"Client({self._survey.title!r}, {self._url!r})"

    @property
    def arrived(self) -> bool:
        """Whether the collector acknowledged the answer."""
        return self._arrived

    def prepare(self, answers: Mapping[str, str | int]) -> None:
        """Randomise the answers, given by the names of the questions, and build the message. Works once."""
        if self._tossed:
            raise PlanError(
                "This answer is already randomised. Send it as it is: from an answer that is randomised repeatedly the "
                "true one can be worked out."
            )
        names = [question.name for question in self._survey.questions]
        for name in answers:
            if name not in names:
                raise NameUnknown("question", name, names)
        if lacking := [name for name in names if name not in answers]:
            raise PlanError(f"Question {lacking[0]!r} has no answer. Answer every question: a gap would be visible.")
        codes = [_code(question, answers[question.name]) for question in self._survey.questions]
        self._tossed = True
        self._sent = body(self._survey, disguised(self._survey, codes), self._token)

    def send(
        self, *, tries: int = TRIES, seconds: float = SECONDS, pause: Callable[[float], object] = time.sleep
    ) -> None:
        """Send the message until it is acknowledged. Every try, also in a later call, sends the same bytes."""
        if self._arrived:
            raise PlanError("The collector already has this answer. There is nothing to send.")
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
        raise NotReceived(f"The answer may not have arrived: {why}. Call send again, which repeats the same bytes.")

    def _posted(self, content: bytes, seconds: float) -> str:
        """Post the message; returns why it failed where another try may help, empty when acknowledged."""
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "leafcover",
        }  # without a version, which would describe the device
        request = urllib.request.Request(self._url, content, headers, method="POST")
        try:
            with _opener().open(request, timeout=seconds) as answered:
                said = _content(answered.read(MOST_READ))
        except urllib.error.HTTPError as error:
            with error:
                if error.code >= http.client.INTERNAL_SERVER_ERROR:
                    return f"the collector failed (status {error.code})"
                if error.code < http.client.BAD_REQUEST:
                    raise NotReceived(
                        "The collector redirects elsewhere, and the message was not sent there. Check the address."
                    ) from None
                raise NotReceived(f"The collector refused the answer: {_why(error.read(MOST_READ))}") from None
        except (OSError, http.client.HTTPException) as error:
            return f"the collector cannot be reached ({_cause(error)})"
        return "" if said.get("received") is True else "the reply is not that of a collector"


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the message goes to the given address only."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    # A proxy could read plain http; https passes through it encrypted.
    proxies = {kind: place for kind, place in urllib.request.getproxies().items() if kind == "https"}
    return urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _Stay)


def _place(address: str, *, insecure: bool) -> tuple[str, str]:
    """The address that answers are posted to, and the token of a link."""
    example = "an address such as https://survey.example/"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    # A link can contain a token, so an invalid address is not repeated.
    if not host or parts.scheme not in ("http", "https") or parts.query or "@" in parts.netloc:
        raise PlanError(f"The collector's address is invalid. Give {example}")
    if parts.scheme == "http" and not insecure and not _is_here(host):
        raise PlanError(
            f"The address of {host!r} uses plain http, so the network could read the message. Give {example} or, on a "
            "network you trust, insecure=True."
        )
    token = parts.fragment.removeprefix("token=") if parts.fragment.startswith("token=") else ""
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + "/answers", "", "")), token


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _code(question: Question, answer: str | int) -> int:
    """The code of a true answer. A refusal never contains the answer."""
    if question.between:
        low, high = question.between
        if isinstance(answer, int) and not isinstance(answer, bool) and low <= answer <= high:
            return answer
        raise PlanError(f"The answer to {question.name!r} must be a whole number from {low} to {high}.")
    if isinstance(answer, str) and answer in question.choices:
        return question.choices.index(answer)
    raise PlanError(f"The answer to {question.name!r} must be one of its choices: {', '.join(question.choices)}.")


def _content(said: bytes) -> dict[str, Any]:
    try:
        content = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _why(said: bytes) -> str:
    """The collector's reason as one line of printable characters."""
    reason = str(_content(said).get("why", "it gave no reason"))
    return "".join(letter if letter.isprintable() else " " for letter in reason[:300])


def _cause(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return (reason.strerror if isinstance(reason, OSError) else None) or type(reason).__name__
