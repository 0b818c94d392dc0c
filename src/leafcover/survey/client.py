"""What a device sends: the same number of bytes whatever was answered, checked field by field when it arrives."""

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
from leafcover.randomized_response import Kary, OneCoin, UnrelatedQuestion, Warner
from leafcover.randomized_response.mechanism import ALL_WORDS
from leafcover.rng import Key, key_from_file, key_text
from leafcover.survey.schema import Question, Survey
from leafcover.table.atomic import atomic_write

# The laws of a survey in whole numbers, for whatever tosses the coins: a browser or a Python program.
#
# Chances become thresholds of 64 random bits, as in ``leafcover.randomized_response.mechanism``, so a browser that
# compares the same integers tosses exactly the coin that the estimates undo.


Below: TypeAlias = Callable[[int], int]  # a whole number from 0 to below the one given, all alike


@dataclass(frozen=True)
class Flip:
    """One coin for some questions of two choices: all as they are when a word is below ``keep``, else all turned."""

    places: tuple[int, ...]
    keep: int
    kind: str = "flip"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """What is reported in the places of this coin."""
        turn = below(ALL_WORDS) >= self.keep
        return {place: codes[place] ^ turn for place in self.places}


@dataclass(frozen=True)
class Among:
    """The answer when a word is below ``keep``, else one of the other levels, all alike."""

    places: tuple[int]
    keep: int
    levels: int
    kind: str = "among"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """What is reported in the place of this draw."""
        (place,) = self.places
        kept, other = below(ALL_WORDS) < self.keep, below(self.levels - 1)  # always both: time tells nothing
        return {place: codes[place] if kept else other + (other >= codes[place])}


@dataclass(frozen=True)
class Harmless:
    """The answer when a word is below ``asked``, else yes when another is below ``yes``."""

    places: tuple[int]
    asked: int
    yes: int
    kind: str = "harmless"

    def toss(self, codes: Sequence[int], below: Below) -> dict[int, int]:
        """What is reported in the place of this draw."""
        (place,) = self.places
        asked, harmless = below(ALL_WORDS) < self.asked, int(below(ALL_WORDS) < self.yes)
        return {place: codes[place] if asked else harmless}


Coin: TypeAlias = Flip | Among | Harmless


def coins_of(survey: Survey) -> tuple[Coin, ...]:
    """Every coin of a survey; questions in none of them are open."""
    place = {question.name: number for number, question in enumerate(survey.questions)}
    coins: list[Coin] = []
    for part in survey.scheme.parts:
        places, channel = tuple(place[name] for name in part.names), part.channel
        if isinstance(channel, Warner | OneCoin):
            coins.append(Flip(places, _threshold(channel.theta)))
        elif isinstance(channel, Kary):
            coins.append(Among((places[0],), _threshold(channel.keep), channel.levels))
        elif isinstance(channel, UnrelatedQuestion):
            coins.append(Harmless((places[0],), _threshold(channel.asked), _threshold(channel.alpha)))
        else:
            raise TypeError(type(channel).__name__)
    return tuple(coins)


def disguised(survey: Survey, codes: Sequence[int], below: Below = secrets.randbelow) -> tuple[int, ...]:
    """The reports for true codes (of an open number: the number). Never call it twice for one person's answers."""
    reports = dict(enumerate(codes))
    for coin in coins_of(survey):
        reports |= coin.toss(codes, below)
    return tuple(reports[place] for place in range(len(codes)))


def as_json(coin: Coin) -> dict[str, Any]:
    """A coin for a browser: thresholds as text, since JavaScript's numbers have 53 bits."""
    return {key: str(value) if key in ("keep", "asked", "yes") else value for key, value in asdict(coin).items()}


def _threshold(chance: float) -> int:
    return int(chance * float(ALL_WORDS))


# One-time tokens: a number and a proof that the holder issued it, as letters for a link.
#
# A token is 4 bytes of number and 12 bytes of HMAC-SHA256 under the survey's secret, so none is kept anywhere: the
# collector recomputes the proof, and remembers only which numbers are spent, as one block of bits. That block shares no
# id, time or order with the answers.


TOKEN_LETTERS = 26  # of base32 for 16 bytes
MOST_TOKENS = 1 << 22  # their block of bits takes half a megabyte


def token(secret: bytes, fingerprint: str, number: int) -> str:
    """The token of a number.

    >>> made = token(bytes(32), "00" * 16, 7)
    >>> number_of(bytes(32), "00" * 16, made), number_of(bytes(32), "00" * 16, "a" * 26)
    (7, None)
    """
    if not 0 <= number < MOST_TOKENS:
        raise ValueError(f"A token's number must be from 0 to {MOST_TOKENS - 1}. Got {number}.")
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
    # Several texts can stand for the same bytes; only the one that was issued is taken.
    genuine = hmac.compare_digest(proof, _proof(secret, fingerprint, head)) and number < MOST_TOKENS
    return number if genuine and text == token(secret, fingerprint, number) else None


def _proof(secret: bytes, fingerprint: str, head: bytes) -> bytes:
    return hmac.new(secret, b"token" + fingerprint.encode() + head, hashlib.sha256).digest()[:12]


ID_DIGITS = 32

Digits = Annotated[str, Field(pattern=rf"^[0-9a-f]{{{ID_DIGITS}}}$")]


class Refused(LeafcoverError):
    """A message that is not an answer to this survey; says why without repeating any of it."""


class Outdated(Refused):
    """A message for questions that have changed since."""


class Message(BaseModel):
    """The fields of a message. Every text has a length that the survey fixes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    survey: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="The fingerprint of the survey's text.")]
    id: Annotated[
        str, Field(pattern=r"^[0-9a-f]{32}$", description="Random, new for every answer; a retry repeats it.")
    ]
    token: Annotated[str, Field(pattern=rf"^([a-z2-7]{{{TOKEN_LETTERS}}})?$", description="One-time, or empty.")] = ""
    reports: Annotated[
        list[Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]],
        Field(min_length=1, max_length=200, description="The disguised codes, question by question."),
    ]


@dataclass(frozen=True)
class Answer:
    """A disguised answer as it is stored: a random id and the reports, nothing of who sent it or when."""

    id: str
    reports: tuple[str, ...]


def width(question: Question) -> int:
    """How many digits the code of any answer to a question takes."""
    largest = question.between[1] if question.between else len(question.choices) - 1
    return len(str(largest))


def length(survey: Survey) -> int:
    """The bytes of every message of a survey."""
    smallest = [question.between[0] if question.between else 0 for question in survey.questions]
    return len(body(survey, smallest, "a" * TOKEN_LETTERS if survey.tokens else ""))


def body(survey: Survey, reports: Sequence[int], token: str = "") -> bytes:
    """The bytes to send for disguised codes; made once, since a retry must repeat them."""
    texts = [f"{code:0{width(question)}d}" for code, question in zip(reports, survey.questions, strict=True)]
    content = {"survey": survey.fingerprint, "id": secrets.token_hex(ID_DIGITS // 2), "token": token, "reports": texts}
    return json.dumps(content, separators=(",", ":")).encode()


def received(survey: Survey, sent: bytes) -> tuple[Answer, str]:
    """The answer and the token in a message, every field checked."""
    try:
        message = Message.model_validate_json(sent)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"]) or "it"
        raise Refused(f"This is not an answer to the survey: {place} is not as it must be.") from None
    if message.survey != survey.fingerprint:
        raise Outdated("The survey has changed since this page was loaded. Load the page again.")
    if bool(message.token) != survey.tokens:
        raise Refused(f"A token must be {'given' if survey.tokens else 'left out'}.")
    if len(message.reports) != len(survey.questions):
        raise Refused("The number of reports is not that of the questions.")
    for text, question in zip(message.reports, survey.questions, strict=True):
        low, high = question.between or (0, len(question.choices) - 1)
        if len(text) != width(question) or not low <= int(text) <= high:
            raise Refused(f"The report on {question.name!r} is none of its choices.")
    return Answer(message.id, tuple(message.reports)), message.token


# The secret of a survey, beside its file: it proves tokens and opens the holder's pages.


def secret_place(survey_file: Path) -> Path:
    """Where the secret of a survey is kept.

    >>> secret_place(Path("habits.toml")).name
    'habits.secret'
    """
    return survey_file.with_suffix(".secret")


def survey_secret(survey_file: Path) -> Key:
    """The secret of a survey; made, for its owner alone to read, when there is none yet."""
    place = secret_place(survey_file)
    if not place.exists():
        with atomic_write(place, private=True) as part:
            part.write_text(key_text(Key.fresh()), "ascii")
    try:
        return key_from_file(place)
    except TableError:
        raise TableError(
            f"The secret '{place}' cannot be read as 64 hexadecimal digits. Put the right one back, or move it away: a "
            "new one is then made, and links given out before no longer work."
        ) from None


# A survey answered by a program on the respondent's own device: coins are tossed there, once.
#
# client = Client(read_survey("habits.toml"), "https://survey.example/#token=…")
# client.prepare({"taken": "yes", "days": "none"})
# client.send()


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
