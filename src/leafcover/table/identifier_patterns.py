"""What identifies a person whatever the rest of the table: shapes of values (addresses, national numbers), and names.

A column counts if most of its distinct values have the shape. Digits without separators need a check digit in nearly
all of them.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from leafcover.arrays import Array, Bools
from leafcover.table.formatting import distinct_texts, is_text
from leafcover.table.infer import combine_chunks
from leafcover.table.table import Column

MIN_TEXTS = 5  # fewer texts are no evidence
MOST_MATCH = 0.8
NEARLY_ALL = 0.98
MANY_VALUES = 20  # names, URLs and bare digits count only if there are more distinct values than this
SAMPLE = 2000  # distinct values examined, evenly spaced in sorted order
LEAST_BARE = 100_000_000  # national numbers have at least nine digits; smaller numbers are not checked

DATE_REGEX = r"^\s*([0-9]{1,2}|[0-9]{4})[-/. ][0-9]{1,2}[-/. ]([0-9]{1,2}|[0-9]{4})([T ][0-9]{1,2}:[0-9]{2}.*)?\s*$"
EMAIL = r"^(mailto:|[^<>@]*<)?[^\s@,;<>]+@[^\s@,;<>]+\.[A-Za-z]{2,}>?$"
UUID = r"(?i)^(urn:uuid:)?[{(]?([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})[)}]?$"
URL = r"(?i)^((https?|ftp)://\S+|www\.\S+\.\S+)$"
PHONE = "|".join(  # with at least eight digits
    (
        r"^\+[1-9][0-9]{0,3}([ ./-]*\(?[0-9]{1,5}\)?){2,6}$",
        r"^00 ?[1-9][0-9]{0,2}([ ./-]+\(?[0-9]{1,8}\)?){1,6}$",
        r"^(\+?1[ .-]?)?(\([0-9]{3}\) ?[0-9]{3}[ .-]?|[0-9]{3}[ .-][0-9]{3}[ .-])[0-9]{4}( ?(x|ext\.?) ?[0-9]+)?$",
        r"^\(?0[1-9][0-9]{0,4}\)?( ?[ /-] ?[0-9]{2,8}){1,5}$",
        r"^0[1-9](\.[0-9]{2}){4}$",  # France
        r"^[2-9][0-9]( [0-9]{2}){3}$",  # Denmark, Norway
        r"^[6-9][0-9]{4}[ -][0-9]{5}$",  # India
        r"^\([1-9][0-9]\) ?9?[0-9]{4}-[0-9]{4}$",  # Brazil
    )
)
LOCAL_PHONE = r"^555-[0-9]{4}$"
HOURS = r"^[0-9]{2}[.:]?[0-9]{2} ?- ?[0-9]{2}[.:]?[0-9]{2}$"
NATIONAL = "|".join(  # shapes that nothing else has
    (
        r"^[0-8][0-9]{2}[- ][0-9]{2}[- ][0-9]{4}$",  # US social security
        r"(?i)^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?([0-9]{2} ?){3}[A-D]$",  # UK national insurance
        r"(?i)^[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]$",  # Italy, codice fiscale
        r"^[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}$",  # Brazil, CPF
        r"^[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}$",  # Belgium
        r"^756\.[0-9]{4}\.[0-9]{4}\.[0-9]{2}$",  # Switzerland, AHV
        # Nordic countries: a date of birth, then three or four characters
        r"(?i)^([0-2][0-9]|3[01])(0[1-9]|1[0-2])[0-9]{2}[-+A][0-9]{3}[0-9A-Z]$",
        r"^([0-9]{2})?[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])[-+][0-9]{4}$",
    )
)
IBAN = r"(?i)^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]){11,30}$"
IBAN_LENGTHS = {
    "AT": 20, "BE": 16, "BG": 22, "BR": 29, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24,
    "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "LI": 21,
    "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SA": 24,
    "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TR": 26, "UA": 29,
}  # fmt: skip
COORDINATES = r"^\(?-?[0-9]{1,3}\.[0-9]{4,}\s*[,; ]\s*-?[0-9]{1,3}\.[0-9]{4,}\)?$"
LEAST_PEOPLE = 2  # texts with a name of a person; a single one may be a place
NAMED = 0.5  # the share of texts with a given name and another word, from which they are names of persons
PERSON = re.compile(r"[^\W\d_]+(?:[-' ’.,]+[^\W\d_]+){1,4}[.,]?")
SPANISH_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
SEPARATED = r"^[0-9]{1,6}([ .-][0-9]{1,6}){1,5}$"  # groups of digits


def pattern_of(levels: tuple[str, ...]) -> str:
    """What most of the distinct texts are, in words; empty if they are nothing that identifies."""
    sample = _some(levels)
    texts = pc.utf8_trim_whitespace(pa.array(sample, pa.string()))
    if len(levels) < MIN_TEXTS:
        return ""
    shapes = {"e-mail addresses": EMAIL, "UUIDs": UUID, "national numbers": NATIONAL}
    if len(levels) > MANY_VALUES:
        shapes |= {"URLs": URL, "exact coordinates": COORDINATES}
    for words, shape in shapes.items():
        if share_of(pc.match_substring_regex(texts, shape)) >= MOST_MATCH:
            return words
    if share_of(_are_phones(texts)) >= MOST_MATCH:
        return "telephone numbers"
    if len(levels) > MANY_VALUES and _mean(sample, _is_person) >= NAMED:
        return "names of persons"
    if share_of(pc.match_substring_regex(texts, IBAN)) >= MOST_MATCH and _mean(sample, _is_iban) >= MOST_MATCH:
        return "IBANs"
    if _mean(sample, _has_check_letter) >= MOST_MATCH:
        return "national numbers"
    separated = share_of(pc.match_substring_regex(texts, SEPARATED)) >= MOST_MATCH
    bare = len(levels) > MANY_VALUES and share_of(pc.match_substring_regex(texts, "^[0-9]{9,19}$")) >= NEARLY_ALL
    if not separated and not bare:
        return ""
    return _checked_digits(texts, MOST_MATCH if separated else NEARLY_ALL)


def _some(levels: tuple[str, ...]) -> tuple[str, ...]:
    return levels[:: -(-len(levels) // SAMPLE)] if len(levels) > SAMPLE else levels


# What identifies people inside longer texts, or in a few of many levels: shapes that little else has.
IN_TEXT = {
    "e-mail addresses": r"[^\s@,;<>()]+@[^\s@,;<>()]+\.[A-Za-z]{2,}",
    "telephone numbers": "|".join(
        (
            r"(^|[^0-9A-Za-z+.])(\+|00 ?)[1-9][0-9]{0,2}[ ./-]?"
            r"(\(0\))?(\(?[0-9]{1,5}\)?[ ./-]){1,5}[0-9]{2,8}($|[^0-9.])",
            r"(^|[^0-9A-Za-z+])\+[1-9][0-9]{9,13}($|[^0-9])",
            r"(^|[^0-9])\([0-9]{3}\) ?[0-9]{3}[ .-][0-9]{4}($|[^0-9])",
            r"(^|[^0-9.-])[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}($|[^0-9-])",
            r"(^|[^0-9./-])\(?0[1-9][0-9]{1,4}\)?( ?/ ?| |-)[0-9]{3,4}[ -]?[0-9]{3,5}($|[^0-9./-])",
            r"(^|[^0-9.])0[1-9]([. ][0-9]{2}){4}($|[^0-9.])",
            r"(^|[^0-9-])555-[0-9]{4}($|[^0-9-])",
        )
    ),
}
IBAN_IN_TEXT = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{2,4}){3,8}\b")
TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Monsieur|Madame|Señora?|Signora?)\.? +[A-ZÀ-Ý][^\W\d_]+"
)
FULL_NAME = re.compile(r"\b([A-ZÀ-Ý][^\W\d_]+)(,? )(?:[A-ZÀ-Ý]\.? )*([A-ZÀ-Ý][^\W\d_]+)")


def contained(levels: tuple[str, ...]) -> tuple[str, int]:
    """What identifies people in some of the texts, in words, and in how many; what most texts have first."""
    if not levels:
        return "", 0
    sample = _some(levels)
    texts = pc.utf8_normalize(pa.array(sample, pa.string()), "NFC")
    found = {"IBANs": sum(_has_iban(text) for text in sample)}  # first: groups of their digits look like telephones
    found |= {words: _count(pc.match_substring_regex(texts, shape)) for words, shape in IN_TEXT.items()}
    if _count(pc.match_substring_regex(texts, "^-[0-9]")):  # numbers with a sign are no telephone numbers
        found["telephone numbers"] = 0
    words = max(found, key=lambda one: found[one])
    if found[words]:
        return words, found[words]
    people = named_people(levels)
    return ("names of persons", people) if people else ("", 0)


def named_people(levels: tuple[str, ...]) -> int:
    """How many texts have a name of a person; 0 if too few have."""
    people = sum(_has_person(text) for text in _some(levels))
    return people if people >= LEAST_PEOPLE else 0


def _count(matches: Any) -> int:
    return int(pc.sum(matches.cast(pa.int64())).as_py() or 0)


def _has_iban(text: str) -> bool:
    return any(_is_iban(one) for one in IBAN_IN_TEXT.findall(text))


def _has_person(text: str) -> bool:
    """Whether a text has a title and a name, or a given name beside another one.

    >>> [_has_person(text) for text in ("call Anna Meyer", "Dr. Weber", "Meyer, Anna", "West Virginia")]
    [True, True, True, False]
    """
    if TITLED.search(text):
        return True
    pairs = ((one.lower(), other.lower(), "," in sign) for one, sign, other in FULL_NAME.findall(text))
    return any((other if turned else one) in given_names() for one, other, turned in pairs)


def _are_phones(texts: Any) -> Any:
    long = pc.greater_equal(pc.count_substring_regex(texts, "[0-9]"), 8)
    moments = pc.match_substring_regex(texts, f"{DATE_REGEX}|{HOURS}")
    phones = pc.and_(pc.and_not(pc.match_substring_regex(texts, PHONE), moments), long)
    return pc.or_(phones, pc.match_substring_regex(texts, LOCAL_PHONE))


def share_of(matches: Any) -> float:
    """The share of texts that match."""
    return float(pc.mean(matches.cast(pa.int8())).as_py())


def _mean(texts: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(holds(text) for text in texts) / len(texts)


@cache
def given_names() -> frozenset[str]:
    """Frequent given names of several countries, in small letters."""
    lines = (Path(__file__).parent / "given_names.txt").read_text("utf-8").splitlines()
    return frozenset(" ".join(line for line in lines if not line.startswith("#")).split())


def _is_person(text: str) -> bool:
    """Whether a text is two to five words, one of them a given name.

    >>> _is_person("Meyer, Anna B."), _is_person("Anna"), _is_person("Born in Germany")
    (True, False, False)
    """
    plain = text.strip()
    return bool(PERSON.fullmatch(plain)) and not given_names().isdisjoint(re.findall(r"[^\W\d_]+", plain.lower()))


def _is_iban(text: str) -> bool:
    plain = "".join(text.split()).upper()
    if len(plain) == IBAN_LENGTHS.get(plain[:2]):
        return True
    return (
        plain.isascii() and plain.isalnum() and int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1
    )


def _has_check_letter(text: str) -> bool:
    """Whether a text is a Spanish DNI or NIE, or the number of a German identity card.

    >>> _has_check_letter("12345678Z"), _has_check_letter("x-1234567-l"), _has_check_letter("12345678A")
    (True, True, False)
    """
    plain = text.strip().upper().replace("-", "")
    if re.fullmatch("([0-9]|[XYZ])[0-9]{7}[A-Z]", plain):
        number = int(plain[:8].translate(str.maketrans("XYZ", "012")))
        return plain[8] == SPANISH_LETTERS[number % 23]
    if re.fullmatch("[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{8}[0-9]", plain):
        return sum(int(c, 36) * (7, 3, 1)[i % 3] for i, c in enumerate(plain[:9])) % 10 == int(plain[9])
    return False


def _checked_digits(texts: Any, least: float) -> str:
    """What digits are whose check digit holds in at least this share of the texts; empty if nothing."""
    digits = pc.replace_substring_regex(texts, "[ .-]", "")
    lengths = np.asarray(pc.utf8_length(digits))
    length = int(np.bincount(lengths).argmax())
    fitting = digits.filter(pa.array(lengths == length))
    if length > 19 or not pc.all(pc.match_substring_regex(fitting, "^[0-9]+$")).as_py():
        return ""
    matrix = np.array([list(text) for text in fitting.to_pylist()], np.int64)
    for name, size, holds in DIGIT_CHECKS:
        if length in size and float(holds(matrix).sum()) / len(texts) >= least:
            return name
    return ""


def _luhn(digits: Array) -> Bools:
    doubled = digits[:, ::-1] * np.where(np.arange(digits.shape[1]) % 2, 2, 1)
    return np.asarray((doubled // 10 + doubled % 10).sum(axis=1) % 10 == 0)


def _card(digits: Array) -> Bools:
    return _luhn(digits) & (digits[:, 0] >= 2) & (digits[:, 0] <= 6)


def _weighted(*weights: int, modulus: int = 11) -> Callable[[Array], Bools]:
    """The check that the weighted sum of all digits is a multiple of the modulus."""
    return lambda digits: np.asarray((digits[:, : len(weights)] @ np.array(weights)) % modulus == 0)


def _cpf(digits: Array) -> Bools:
    first = digits[:, :9] @ np.arange(10, 1, -1) * 10 % 11 % 10 == digits[:, 9]
    return np.asarray(first & (digits[:, :10] @ np.arange(11, 1, -1) * 10 % 11 % 10 == digits[:, 10]))


def _norwegian(digits: Array) -> Bools:
    first = _weighted(3, 7, 6, 1, 8, 9, 4, 5, 2, 1)
    return first(digits) & _weighted(5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)(digits)


def _pesel(digits: Array) -> Bools:
    month = (digits[:, 2] % 2) * 10 + digits[:, 3]
    return _weighted(1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1, modulus=10)(digits) & (month >= 1) & (month <= 12)


def _german_tax(digits: Array) -> Bools:
    """ISO 7064, MOD 11,10."""
    product = np.full(len(digits), 10)
    for column in digits[:, :10].T:
        total = (column + product) % 10
        product = np.where(total == 0, 10, total) * 2 % 11
    return np.asarray(((11 - product) % 10 == digits[:, 10]) & (digits[:, 0] > 0))


def _french(digits: Array) -> Bools:
    number = digits[:, :13] @ 10 ** np.arange(12, -1, -1)
    return np.asarray(
        (97 - number % 97 == digits[:, 13] * 10 + digits[:, 14]) & np.isin(digits[:, 0], (1, 2, 3, 4, 7, 8))
    )


def _swedish(digits: Array) -> Bools:
    digits = digits[:, -10:]
    month, day = digits[:, 2] * 10 + digits[:, 3], digits[:, 4] * 10 + digits[:, 5]
    return _luhn(digits) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)


def _aadhaar(digits: Array) -> Bools:
    """Verhoeff's check: products in the dihedral group of ten elements, digits permuted by their place."""
    turn = np.array([1, 5, 7, 6, 2, 8, 3, 0, 9, 4])
    place, total = np.arange(10), np.zeros(len(digits), np.int64)
    for column in digits[:, ::-1].T:
        total = _dihedral(total, place[column])
        place = turn[place]
    return np.asarray((total == 0) & (digits[:, 0] >= 2))


def _dihedral(left: Array, right: Array) -> Array:
    rotated = np.where(left < 5, left % 5 + right, left % 5 - right) % 5
    return np.where((left < 5) == (right < 5), rotated, rotated + 5)


DIGIT_CHECKS: tuple[tuple[str, tuple[int, ...], Callable[[Array], Bools]], ...] = (
    ("card numbers", (13, 14, 15, 16, 19), _card),
    ("national numbers", (15,), _french),
    ("national numbers", (12,), _aadhaar),
    ("national numbers", (11,), _german_tax),
    ("national numbers", (11,), _cpf),
    ("national numbers", (11,), _norwegian),
    ("national numbers", (11,), _pesel),
    ("national numbers", (10, 12), _swedish),
    ("national numbers", (9,), _weighted(9, 8, 7, 6, 5, 4, 3, 2, -1)),  # Netherlands
)


def digit_texts(column: Column, known: Array) -> tuple[str, ...]:
    """The distinct whole numbers as they are written, with their signs and leading zeros."""
    stored: Any = column.stored
    if stored is not None and is_text(stored):
        texts = distinct_texts(combine_chunks(stored))
        return tuple(texts.filter(pc.match_substring_regex(texts, "[0-9]")).to_pylist())
    return tuple(str(int(value)) for value in np.unique(known))


# Names that say a column identifies people. A strong name is enough if there are many values; with a weak name the
# values must look like numbers or addresses too, because 'mobile' may also be a brand and 'mail' a number of letters.

STRONG_NAMES = (
    "ssn", "id number", "personal id", "personal number", "identity number", "identification number",
    "national id", "nationalid", "national identification", "national identity", "national number", "nino",
    "identity card", "id card", "idcard", "personalausweis", "ausweisnummer", "sozialversicherungsnummer",
    "personnummer", "fodselsnummer", "bsn", "burgerservicenummer", "cpf", "aadhaar", "aadhar", "pesel",
    "codice fiscale", "codicefiscale", "tax id", "taxid", "tax number", "taxpayer id", "steuer id", "steuerid",
    "steuernummer", "email", "e mail", "mail address", "emailaddress", "emailadresse", "courriel",
    "correo electronico", "iban", "account number", "account no", "account nr", "acct no", "accountnumber",
    "kontonummer", "numero de compte", "card number", "card no", "cardnumber", "passport", "passeport", "reisepass",
    "pasaporte", "passaporto", "paspoort", "phone number", "phone no", "phonenumber", "telephone number",
    "telephone no", "mobile number", "mobile no", "fax number", "telefonnummer", "telefoonnummer", "handynummer",
    "numero de telephone", "numero de telefono", "uuid", "guid", "driver license", "driver licence",
    "drivers license", "drivers licence", "driving licence", "driving license", "licence number", "license number",
    "licence plate", "license plate", "number plate", "nummernschild", "permis de conduire", "medical record number",
    "mrn",
)  # fmt: skip
WEAK_NAMES = (
    "phone", "telephone", "telefon", "telefono", "telefoon", "tel", "tlf", "mobile", "mobil", "handy", "cellphone",
    "cell phone", "fax", "mail", "url", "website", "web site", "homepage", "webpage", "licence", "license",
    "credit card", "debit card", "bank account", "social security", "socialsecurity", "securite sociale",
    "seguridad social", "national insurance", "dni", "nie", "nif", "nir", "cpr", "tin",
)  # fmt: skip
PERSONS = frozenset((
    "person", "patient", "customer", "client", "user", "member", "employee", "student", "pupil", "subject",
    "respondent", "participant", "citizen", "household", "taxpayer", "policyholder", "staff", "worker", "kunde",
    "patienten", "family", "haushalt", "player",
))  # fmt: skip
PERSON_NUMBERS = frozenset({"id", "no", "nr", "number", "num", "key"})
BARE_NAMES = frozenset({"id", "uid", "pid", "hid", "hhid", "userid", "personid", "patientid", "customerid", "custid"})
PLACES = frozenset((
    "state", "country", "county", "city", "town", "region", "district", "province", "zip", "postcode", "area", "land",
    "municipality",
))  # fmt: skip
COORDINATE_WORDS = frozenset({"lat", "latitude", "lon", "lng", "longitude"})
COORDINATE_DECIMALS = 4
INNOCENT_WORDS = frozenset((
    "of", "per", "count", "counts", "n", "num", "nb", "total", "sum", "mean", "avg", "average", "median", "max",
    "min", "share", "ratio", "rate", "pct", "percent", "score", "index", "amount", "balance", "debt", "income",
    "limit", "price", "cost", "costs", "fee", "charge", "charges", "bill", "spend", "spent", "usage", "use", "used",
    "volume", "size", "length", "len", "age", "day", "days", "date", "week", "weeks", "month", "months", "year",
    "years", "hour", "hours", "minute", "minutes", "mins", "second", "seconds", "time", "duration", "type", "kind",
    "class", "category", "group", "level", "status", "flag", "has", "is", "opt", "consent", "allowed", "verified",
    "valid", "domain", "provider", "operator", "carrier", "brand", "model", "country", "region", "city", "area",
    "prefix", "plan", "contract", "subscription", "service", "list", "campaign", "response", "method", "preferred",
    "channel", "call", "calls", "visit", "visits", "click", "clicks", "open", "opened", "sent", "received", "expiry",
    "issuer",
))  # fmt: skip
TIMES = frozenset((
    "wave", "welle", "vague", "ola", "round", "runde", "year", "syear", "jahr", "annee", "ano", "anno", "date", "datum",
    "day", "tag", "week", "woche", "month", "monat", "mois", "mes", "quarter", "quartal", "semester", "term", "period",
    "periode", "visit", "visitno", "besuch", "time", "t", "session", "interview", "followup", "occasion", "survey",
    "panel", "admission", "examination", "encounter", "erhebung", "enquete", "trimestre",
))  # fmt: skip
LOOKS_LIKE_ONE = r"@|^[^\s]+\.[A-Za-z]{2,}(/\S*)?$|([0-9][^0-9]{0,3}){6}"  # an address, or at least six digits


def name_words(name: str) -> list[str]:
    """The words of a column name, in lower case.

    >>> name_words("sample_codeNumber"), name_words("PatientID.2")
    (['sample', 'code', 'number'], ['patient', 'id', '2'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+", name)]


def telling_name(name: str) -> tuple[str, bool]:
    """The part of a column name that names an identifier, if any, and whether it is strong.

    >>> telling_name("E-Mail"), telling_name("workPhone"), telling_name("hotel"), telling_name("email_count")
    (('e mail', True), ('phone', False), ('', False), ('', False))
    """
    folded = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    words = name_words(folded)
    if len(words) >= 2 and words[-2] in PERSONS and words[-1] in PERSON_NUMBERS:
        return " ".join(words[-2:]), True
    joined = f" {' '.join(words)} "
    for names, strong in ((STRONG_NAMES, True), (WEAK_NAMES, False)):
        for one in names:
            before, found, after = (part.split() for part in joined.partition(f" {one} "))
            counted = before[:1] in (["no"], ["number"])
            if found and not counted and not INNOCENT_WORDS & {*before, *after}:
                return one, strong
    return "", False
