"""``survey serve``, ``survey page`` and ``survey tree``: what they refuse, write and say."""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess

import pytest

from leafcover.survey.server.app import Certificate, checked_certificate
from tests.cli.helpers import leafcover, refused
from tests.survey.surveys import HABITS


@pytest.fixture
def offline_file(tmp_path):
    path = tmp_path / "offline.toml"
    path.write_text("offline = true\n" + HABITS)
    return path


def test_a_port_that_is_taken_is_said(habits_file):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port}" in refused("survey", "serve", habits_file, "--port", port)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "no such host"), "Cannot listen"),
        (("--certificate", "here.pem"), "Give both or neither"),
        (("--certificate", "here.pem", "--certificate-key", "there.pem"), "files that exist"),
        (("--store", "no/such/folder/x.sqlite"), "no/such/folder"),
        (("--store", "postgresql://owner:hunter22@127.0.0.1:1/none"), "cannot be"),
        (("--store", "postgress://owner:hunter22@127.0.0.1:1/none"), "a valid database address"),
    ],
)
def test_what_cannot_be_served_is_refused(habits_file, words, said):
    line = refused("survey", "serve", habits_file, *words)
    assert said in line
    assert "hunter22" not in line


@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_files_that_others_can_read_are_warned_of(habits_file, monkeypatch):
    monkeypatch.setattr("leafcover.survey.server.app.serve", lambda *given: given[3].close())
    words = ("survey", "serve", habits_file, "--port", 0)
    assert leafcover(*words).stderr == ""  # what it makes is its owner's alone
    for suffix, mode in ((".secret", 0o640), (".sqlite", 0o604), (".secret", 0o602)):
        file = habits_file.with_suffix(suffix)
        file.chmod(mode)
        said = leafcover(*words)
        assert said.exit_code == 0
        (line,) = said.stderr.splitlines()
        assert line.startswith("warning: ")
        assert str(file) in line
        file.chmod(0o600)


def pem_pair(folder, name, *words):
    """A certificate and its key, made now."""
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "1"]
    made += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(chain), *(words or ("-nodes",))]
    subprocess.run(made, check=True, capture_output=True)
    return chain, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates")
def test_a_certificate_that_cannot_serve_is_refused_before_anything_is_said_or_made(habits_file, tmp_path):
    chain, key = pem_pair(tmp_path, "one")
    _, other = pem_pair(tmp_path, "two")
    _, locked = pem_pair(tmp_path, "three", "-passout", "pass:hunter22")
    (tmp_path / "none.pem").write_text("no certificate")
    before = set(habits_file.parent.iterdir())
    for given, said in (
        ((chain, other), "the key belongs to another certificate"),
        ((chain, locked), "is encrypted"),
        ((chain, tmp_path / "none.pem"), "not both readable PEM files"),
        ((tmp_path / "none.pem", key), "not both readable PEM files"),
    ):
        words = ("survey", "serve", habits_file, "--certificate", given[0], "--certificate-key", given[1])
        assert said in refused(*words)
        assert leafcover(*words).stdout == ""
    assert set(habits_file.parent.iterdir()) == before
    checked_certificate(Certificate(chain, key))


def test_an_offline_page_is_one_file_with_the_hash_that_was_said(offline_file, tmp_path):
    place = tmp_path / "page.html"
    made = leafcover("survey", "page", offline_file, "-o", place, "--address", "https://survey.example")
    assert made.exit_code == 0, made.output
    assert hashlib.sha256(place.read_bytes()).hexdigest() in made.stdout
    again = tmp_path / "again.html"
    leafcover("survey", "page", offline_file, "-o", again, "--address", "https://survey.example")
    assert again.read_bytes() == place.read_bytes()
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", place.read_text())
    assert "exists" in refused("survey", "page", offline_file, "-o", place, "--address", "https://survey.example")


def test_a_survey_that_takes_no_files_writes_none(habits_file, offline_file, tmp_path):
    place = tmp_path / "page.html"
    assert "offline = true" in refused("survey", "page", habits_file, "-o", place, "--address", "https://s.example")
    assert "address" in refused("survey", "page", offline_file, "-o", place, "--address", "s.example").lower()
    assert not place.exists()


def test_a_tree_is_shown_with_its_accuracy(habits_file, answers_file):
    for form in ("text", "rules", "svg", "json"):
        made = leafcover("survey", "tree", habits_file, answers_file, "--target", "taken", "--format", form)
        assert made.exit_code == 0, (made.output, made.exception)
        if form == "json":
            found = json.loads(made.stdout)
            assert 0 <= found["accuracy"]["share"] <= 1
            assert found["answers"] + found["accuracy"]["answers"] == 4000
            assert 1080 < found["accuracy"]["answers"] < 1320
        elif form == "svg":
            assert made.stdout.startswith("<svg")
        else:
            assert "95% interval" in made.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "years"), "that a tree can predict"),
        (("--target", "takn"), "Did you mean 'taken'?"),
        (("--target", "taken", "--test-share", "0"), "above 0 and below 1"),
        (("--target", "taken", "--test-share", "1.5"), "above 0 and below 1"),
        (("--target", "taken", "--min-support", "-1"), "at least 0"),
        (("--target", "taken", "--significance", "0"), "above 0"),
        (("--target", "taken", "--test-share", "nan"), "above 0 and below 1"),
        (("--target", "taken", "--test-share", "0.0001"), "need 30 answers each"),
        (("--target", "taken", "--test-share", "0.9999"), "need 30 answers each"),
    ],
)
def test_a_tree_that_cannot_be_grown_is_refused(habits_file, answers_file, words, said):
    assert said in refused("survey", "tree", habits_file, answers_file, *words)
