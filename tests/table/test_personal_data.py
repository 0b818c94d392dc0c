"""Columns that identify people are refused however many rows a value has; measurements, codes and answers are not."""

import time
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from leafcover.engine.run import refuse_identifiers
from leafcover.errors import TableError
from leafcover.table.frames import from_frame
from leafcover.table.identifier_patterns import contained
from leafcover.table.inspection import identifiers
from leafcover.table.io import read

PEOPLE = 40
RNG = np.random.default_rng(20)


def digits(count):
    """As many random digits, of which the first is not 0."""
    return str(RNG.integers(1, 10)) + "".join(str(d) for d in RNG.integers(0, 10, count - 1))


def made(make):
    """Distinct values for all people."""
    found = []
    while len(found) < PEOPLE:
        value = make(len(found))
        if value is not None and value not in found:
            found.append(value)
    return found


def luhn(text):
    numbers = [int(c) for c in reversed(text)]
    return (sum(numbers[::2]) + sum(sum(divmod(2 * d, 10)) for d in numbers[1::2])) % 10 == 0


def card(_):
    stem = "4" + digits(14)
    return next(stem + str(d) for d in range(10) if luhn(stem + str(d)))


def bsn(_):
    stem = digits(8)
    last = sum(int(c) * w for c, w in zip(stem, range(9, 1, -1), strict=True)) % 11
    return stem + str(last) if last < 10 else None


def german_tax_id(_):
    stem, product = digits(10), 10
    for c in stem:
        product = ((int(c) + product) % 10 or 10) * 2 % 11
    return stem + str((11 - product) % 10)


def nir(_):
    stem = f"{RNG.integers(1, 3)}{RNG.integers(40, 99)}{RNG.integers(1, 13):02d}{RNG.integers(10, 95)}{digits(6)}"
    return f"{stem}{97 - int(stem) % 97:02d}"


def dni(_):
    number = int(digits(8))
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def verhoeff(text):
    """By the table as printed in the literature."""
    d = ["0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
         "5987604321", "6598710432", "7659821043", "8765932104", "9876543210"]  # fmt: skip
    p = ["0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258"]
    c = 0
    for i, digit in enumerate(reversed(text)):
        c = int(d[c][int(p[i % 8][int(digit)])])
    return c == 0


def aadhaar(_):
    stem = f"{RNG.integers(2, 10)}{digits(10)}"
    found = next(stem + str(d) for d in range(10) if verhoeff(stem + str(d)))
    return f"{found[:4]} {found[4:8]} {found[8:]}"


def personnummer(_):
    stem = f"{RNG.integers(40, 99)}{RNG.integers(1, 13):02d}{RNG.integers(1, 29):02d}{digits(3)}"
    return next(stem + str(d) for d in range(10) if luhn(stem + str(d)))


def iban(_):
    account = digits(18)
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"


def in_fours(text):
    return " ".join(text[j : j + 4] for j in range(0, len(text), 4))


def hexadecimal(count):
    return "".join("0123456789abcdef"[d] for d in RNG.integers(0, 16, count))


def letters(count):
    return "".join("ABCDEFGHJKLM"[d] for d in RNG.integers(0, 12, count))


BY_PATTERN = {
    "e-mail": lambda i: f"person{i}@example.org",
    "e-mail with a name": lambda i: f"Jane Doe {i} <jane.doe{i}@mail.example.co.uk>",
    "phone, international": lambda i: f"+44 20 7946 {1000 + i}",
    "phone, international without spaces": lambda i: f"+49{digits(10)}",
    "phone, international with 00": lambda i: f"0049 171 {digits(7)}",
    "phone, America": lambda i: f"(212) 555-{1000 + i}",
    "phone, America with dashes": lambda i: f"212-555-{1000 + i}",
    "phone, America, local": lambda i: f"555-0{100 + i}",
    "phone, Germany": lambda i: f"0171/{digits(7)}",
    "phone, Germany with spaces": lambda i: f"030 {digits(4)} {digits(4)}",
    "phone, France": lambda i: f"06 {10 + i} {RNG.integers(10, 99)} 45 67",
    "phone, France with dots": lambda i: f"06.{10 + i}.{RNG.integers(10, 99)}.45.67",
    "phone, Brazil": lambda i: f"(11) 9{digits(4)}-{digits(4)}",
    "IBAN": iban,
    "IBAN in groups": lambda i: in_fours(iban(i)),
    "UUID": lambda i: f"{hexadecimal(8)}-{hexadecimal(4)}-4{hexadecimal(3)}-a{hexadecimal(3)}-{hexadecimal(12)}",
    "UUID without dashes": lambda i: hexadecimal(32),
    "URL": lambda i: f"https://example.org/people/{i}",
    "URL without a scheme": lambda i: f"www.person{i}.example.org",
    "US social security number": lambda i: f"{100 + i}-{10 + i % 80}-{digits(4)}",
    "UK national insurance number": lambda i: f"AB {digits(2)} {digits(2)} {digits(2)} {'ABCD'[i % 4]}",
    "Spanish DNI": dni,
    "Italian codice fiscale": lambda i: f"{letters(6)}{10 + i}A{RNG.integers(10, 31)}H{digits(3)}{letters(1)}",
    "French NIR": nir,
    "German tax id": german_tax_id,
    "Dutch BSN": bsn,
    "Danish CPR": lambda i: f"{RNG.integers(1, 29):02d}{RNG.integers(1, 13):02d}{RNG.integers(10, 99)}-{digits(4)}",
    "Swedish personnummer": lambda i: (found := personnummer(i))[:6] + "-" + found[6:],
    "Swedish personnummer, digits only": personnummer,
    "Finnish henkilötunnus": lambda i: f"{RNG.integers(1, 29):02d}0{RNG.integers(1, 9)}{10 + i}-{digits(3)}T",
    "Aadhaar": aadhaar,
    "Brazilian CPF": lambda i: f"{digits(3)}.{digits(3)}.{digits(3)}-{digits(2)}",
    "card number": card,
    "card number in groups": lambda i: in_fours(card(i)),
}

BY_NAME = {
    "ssn": lambda i: digits(9),
    "SSN_hash": lambda i: hexadecimal(12),
    "email": lambda i: f"person {i}",
    "E-Mail": lambda i: f"person {i}",
    "emailAddress": lambda i: f"person {i}",
    "iban": lambda i: f"account {i}",
    "passport": lambda i: f"C{digits(7)}",
    "PassportNo": lambda i: digits(6),
    "phone": lambda i: digits(10),
    "work_phone": lambda i: f"{digits(3)} {digits(3)} {digits(3)}",
    "téléphone": lambda i: digits(9),
    "Telefonnummer": lambda i: digits(8),
    "mobileNumber": lambda i: digits(9),
    "tel": lambda i: digits(9),
    "fax": lambda i: f"{digits(4)}-{digits(4)}",
    "website": lambda i: f"person{i}.example.org/home",
    "guid": lambda i: hexadecimal(10),
    "social_security": lambda i: digits(9),
    "national_id": lambda i: digits(7),
    "id_number": lambda i: digits(7),
    "tax id": lambda i: digits(7),
    "account_number": lambda i: digits(6),
    "card-number": lambda i: digits(8),
    "drivers_licence": lambda i: f"{letters(5)}{digits(4)}",
    "licensePlate": lambda i: f"{letters(3)} {digits(3)}",
    "patient_id": lambda i: digits(5),
    "CustomerNo": lambda i: digits(5),
    "bsn": lambda i: digits(8),
    "cpf": lambda i: digits(8),
    "id": lambda i: f"p{i}",
}

INNOCENT = {
    "telephone": lambda i: ["yes", "no"][i % 2],
    "email": lambda i: ["yes", "no", "unknown"][i % 3],
    "passport": lambda i: f"country {i % 20}",
    "email_count": lambda i: i,
    "number_of_emails": lambda i: i,
    "mailing_list_size": lambda i: i * 37,
    "hotel": lambda i: f"hotel {i % 25}",
    "mobile": lambda i: f"brand {i % 25}",
    "phone": lambda i: i * 13,  # minutes
    "phone_price": lambda i: 1_000_000 + i * 1000,
    "mobile_operator": lambda i: f"operator {i % 25}",
    "telephone_charges": lambda i: 10_000_000 + i,
    "url": lambda i: f"page {i % 30}",
    "licence": lambda i: f"kind {i % 22}",
    "social_security": lambda i: i * 250,  # income from it
    "bank account": lambda i: i * 2500,
    "account_balance": lambda i: 100_000_000 + i * 7,
    "nir": lambda i: round(0.5 + i / 1000, 3),  # near infrared
    "cpr": lambda i: i % 30,
    "tin": lambda i: round(i * 0.1, 1),
    "income": lambda i: int(RNG.integers(10_000, 900_000)),
    "revenue": lambda i: int(RNG.integers(100_000_000, 999_999_999)),
    "big revenue": lambda i: int(RNG.integers(10**11, 10**12)),
    "zip": lambda i: f"{RNG.integers(501, 99950):05d}",
    "zip+4": lambda i: f"{RNG.integers(10000, 99999)}-{RNG.integers(1000, 9999)}",
    "Japanese postcode": lambda i: f"{digits(3)}-{digits(4)}",
    "UK postcode": lambda i: f"AB{i % 30} {i % 9}CD",
    "year": lambda i: 1980 + i % 40,
    "years": lambda i: f"{1980 + i}-{1985 + i}",
    "date": lambda i: f"2020-0{1 + i % 9}-{1 + i % 28:02d}",
    "German date": lambda i: f"{1 + i % 28:02d}.0{1 + i % 9}.2020",
    "date with slashes": lambda i: f"0{1 + i % 9}/{1 + i % 28:02d}/20",
    "moment": lambda i: 1_600_000_000 + int(RNG.integers(0, 10**8)),
    "moment in ms": lambda i: 1_600_000_000_000 + int(RNG.integers(0, 10**11)),
    "shift": lambda i: f"0{i % 10}:{i % 6}0-1{i % 10}:30",
    "military shift": lambda i: f"0{1 + i % 9}{i % 6}0-1{i % 10}30",
    "range": lambda i: f"{1000 * i + 1000}-{1000 * i + 1999}",
    "thousands": lambda i: f"{100 + i} {RNG.integers(100, 999)} {RNG.integers(100, 999)}",
    "amount": lambda i: f"{100 + i}.{RNG.integers(100, 999)}.{RNG.integers(100, 999)}",
    "amount in euros": lambda i: f"{i}.{RNG.integers(100, 999)},50",
    "signed": lambda i: ["+", "-"][i % 2] + str(RNG.integers(10**8, 10**9)),
    "diagnosis": lambda i: f"{letters(1)}{i:02d}.{i % 10}",
    "diagnosis_code": lambda i: f"E{10 + i}",
    "occupation_code": lambda i: 1000 + i * 17,
    "tariff code": lambda i: f"{1 + i % 97:02d}{RNG.integers(10, 99)}.{RNG.integers(10, 99)}.00",
    "ISBN": lambda i: f"978-3-16-{digits(6)}-{i % 10}",
    "address of a machine": lambda i: f"192.168.{i}.{RNG.integers(1, 255)}",
    "version": lambda i: f"{i // 10}.{i % 10}.{i % 7}",
    "coordinate": lambda i: round(50 + i / 977, 6),
    "product": lambda i: f"AB-{1000 + i}",
    "region_id": lambda i: i,
    "store_number": lambda i: 100 + i,
    "town": lambda i: f"Town {letters(4)}",
}


def table_of(name, values, times):
    """A table in which each value has as many rows, in random order."""
    rows = [value for value in values for _ in range(times)]
    order = np.random.default_rng(3).permutation(len(rows))
    return from_frame(pa.table({name: [rows[i] for i in order], "other": [i % 2 for i in range(len(rows))]}))


def suspects(name, values, times):
    found = identifiers(table_of(name, values, times))
    return [suspect for suspect in found if suspect.column == name and suspect.severity == "refuse"]


@pytest.mark.parametrize("times", [1, 3, 50])
@pytest.mark.parametrize("what", BY_PATTERN)
def test_values_with_the_pattern_of_an_identifier_are_refused(what, times):
    values = made(BY_PATTERN[what])
    (suspect,) = suspects("x", values, times)
    assert suspect.by_pattern
    for option in ("drop=", "unchanged", "unit"):
        assert option in suspect.message
    assert "40 distinct" in suspect.message
    assert "\n" not in suspect.message
    assert not any(str(value) in suspect.message for value in values)


@pytest.mark.parametrize("what", BY_PATTERN)
def test_they_are_refused_in_a_file_too(what, tmp_path):
    values = [value for value in made(BY_PATTERN[what]) for _ in range(3)]
    lines = [f"{value};{i % 2}" for i, value in enumerate(values)]
    (tmp_path / "in.csv").write_text("\n".join(["x;y", *lines, "?;1"]) + "\n")
    assert [one.column for one in identifiers(read(tmp_path / "in.csv")) if one.severity == "refuse"] == ["x"]


@pytest.mark.parametrize("what", ["card number", "Dutch BSN", "German tax id", "French NIR"])
def test_digits_are_refused_as_integers_too(what):
    assert suspects("x", [int(value) for value in made(BY_PATTERN[what])], 3)


@pytest.mark.parametrize("what", ["card number", "Dutch BSN", "German tax id", "French NIR", "Spanish DNI", "Aadhaar"])
def test_without_the_right_check_digit_they_are_only_digits(what):
    wrong = [
        value[:-1] + ("A" if value[-1].isalpha() else str((int(value[-1]) + 1) % 10))
        for value in made(BY_PATTERN[what])
    ]
    assert not suspects("x", wrong, 3)


@pytest.mark.parametrize("times", [1, 3, 50])
@pytest.mark.parametrize("name", BY_NAME)
def test_columns_that_are_called_an_identifier_are_refused(name, times):
    (suspect,) = suspects(name, made(BY_NAME[name]), times)
    assert "\n" not in suspect.message
    if times > 1:
        assert "unit" in suspect.message


@pytest.mark.parametrize("name", ["ssn", "email", "iban", "passport", "national_id"])
def test_a_name_needs_more_than_twenty_values(name):
    for kind in (int, "v{}".format):
        assert not suspects(name, [kind(i) for i in range(20)], 5)
        assert suspects(name, [kind(i) for i in range(21)], 5)


@pytest.mark.parametrize("times", [3, 50])
@pytest.mark.parametrize("name", INNOCENT)
def test_measurements_codes_and_answers_stay_innocent(name, times):
    values = [INNOCENT[name](i) for i in range(PEOPLE)]
    assert not suspects(name, values, times)


@pytest.mark.parametrize("name", INNOCENT)
def test_they_stay_innocent_in_a_file_too(name, tmp_path):
    values = [INNOCENT[name](i) for i in range(PEOPLE)]
    lines = [f"{values[i % PEOPLE]};{i % 2}" for i in range(4 * PEOPLE)]
    (tmp_path / "in.csv").write_text("\n".join([f"{name};y", *lines, "?;1"]) + "\n")
    assert [one for one in identifiers(read(tmp_path / "in.csv")) if one.severity == "refuse"] == []


def test_rows_of_a_person_that_follow_each_other_betray_an_id():
    def verdict(values, name):
        frame = pa.table({name: values, "other": [i % 2 for i in range(len(values))]})
        return [one.severity for one in identifiers(from_frame(frame))]

    assert verdict([i // 3 for i in range(90)], "id") == ["refuse"]
    assert verdict([i // 3 for i in range(90)], "ideas") == []
    assert verdict([i // 5 for i in range(90)], "id") == []  # too few


def households(columns, rows=200):
    """Rows of households, and attributes that are constant in each; the numbers are called something innocent."""
    rng = np.random.default_rng(6)
    size = rng.integers(1, 5, rows)
    found = {"db030": np.repeat(np.arange(rows), size), "age": rng.integers(0, 90, size.sum())}
    found |= {f"h{i}": np.repeat(rng.integers(0, 9, rows), size) for i in range(columns)}
    return pa.table(found)


def test_rows_that_agree_in_three_columns_are_warned_of_under_any_name():
    def verdict(columns, **roles):
        return [(one.column, one.severity) for one in identifiers(from_frame(households(columns), roles=roles))]

    assert verdict(3) == [("db030", "warn")]
    assert verdict(3, db030="unit") == verdict(3, db030="sensitive") == verdict(2) == []
    (suspect,) = identifiers(from_frame(households(3)))
    assert "unit" in suspect.message
    assert refuse_identifiers(from_frame(households(3))) == (suspect.message,)


def test_large_numbers_without_their_text_are_checked(tmp_path):
    lines = [f"{2**60 + i % 40};{i % 3}" for i in range(80)]
    (tmp_path / "in.csv").write_text("\n".join(["x;y", *lines]) + "\n")
    table = read(tmp_path / "in.csv")
    bare = replace(table, columns=tuple(replace(column, stored=None) for column in table))
    assert [one.severity for one in identifiers(bare)] == []


def test_a_few_other_values_do_not_hide_a_pattern():
    values = [f"person{i}@example.org" for i in range(40)]
    assert suspects("x", [*values, *(f"unknown {i}" for i in range(10))], 3)
    assert suspects("x", [*values, *(f"unknown {i}" for i in range(60))], 3)


ORDINARY = ["at home", "by post", "in the morning", "no reply", "Room 12", "see file 0815", "2020-01-05", "call back",
            "07:30-15:00", "ICD 10 E11", "North Carolina", "West Virginia", "house 12-14", "AB 12 CD"]  # fmt: skip
CONTACTS = {
    "e-mail addresses": ["write to anna@example.org", "bob.meyer@mail.example.com", "x@y.de (work)",
                         "a_b@c.net", "q@r.uk"],
    "telephone numbers": ["call +49 171 2345678", "0171/2345678", "(212) 555-0134", "tel. 212-555-0147",
                          "06 12 34 56 78"],
    "IBANs": ["DE89370400440532013000", "pays by DE89 3704 0044 0532 0130 00", "GB29NWBK60161331926819",
              "FR1420041010050500013M02606", "NL91ABNA0417164300"],
    "names of persons": ["call Anna Meyer", "Dr. Weber", "Peter Smith (son)", "Meyer, Maria", "Frau Schulz"],
}  # fmt: skip


def contacts(what, count, times=20):
    values = [*ORDINARY, *CONTACTS[what][:count]] * times
    return from_frame(pa.table({"remarks": values, "other": [i % 2 for i in range(len(values))]}))


@pytest.mark.parametrize("what", CONTACTS)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_people_in_a_few_of_a_few_levels_are_found(what, count):
    names = what == "names of persons"
    found = [(one.severity, one.column) for one in identifiers(contacts(what, count))]
    expected = "refuse" if count >= 5 and not names else "warn"
    assert found == ([] if names and count < 2 else [(expected, "remarks")])
    for one in identifiers(contacts(what, count)):
        assert what in one.message
        assert f"{count} of its {len(ORDINARY) + count} " in one.message
        assert not any(text in one.message for text in CONTACTS[what])


def test_names_are_named_beside_numbers():
    values = [*ORDINARY, "0171/2345678", "call Anna Meyer", "Dr. Weber"] * 20
    (one,) = identifiers(from_frame(pa.table({"remarks": values, "other": [i % 2 for i in range(len(values))]})))
    assert "1 of its 17 distinct values contains telephone numbers, and 2 names of persons" in one.message


def test_a_role_does_not_hide_addresses_but_names():
    for what, count in (("telephone numbers", 2), ("names of persons", 0)):
        table = replace(contacts(what, 2), roles={"remarks": "sensitive"})
        assert len(identifiers(table)) == (count > 0)
        assert identifiers(replace(table, roles={"remarks": "unchanged"})) == ()


def test_each_address_in_a_few_levels_is_found():
    for what, texts in CONTACTS.items():
        for text in texts:
            assert contained((*ORDINARY, text, text.upper() if what == "IBANs" else text))[0] == what


def test_ordinary_texts_contain_nobody():
    assert contained(tuple(ORDINARY)) == ("", 0)
    for name, make in INNOCENT.items():
        assert contained(tuple({str(make(i)) for i in range(PEOPLE)})) == ("", 0), name


def test_a_target_is_exempt_by_name_and_not_by_pattern():
    def table(values):
        frame = pa.table({"ssn": values, "other": [i % 2 for i in range(len(values))]})
        return from_frame(frame, roles={"ssn": "target"})

    refuse_identifiers(table([f"v{i % 30}" for i in range(90)]))
    with pytest.raises(TableError, match="e-mail"):
        refuse_identifiers(table([f"p{i % 30}@example.org" for i in range(90)]))


def test_a_million_rows_are_checked_in_seconds():
    rows = 1_000_000
    frame = pa.table({"x": [f"person {i} of many" for i in range(rows)], "y": np.arange(rows)[::-1] + 10**9})
    table = from_frame(frame)
    start = time.process_time()
    identifiers(table)
    assert time.process_time() - start < 5
