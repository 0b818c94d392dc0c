"""A collector as people run it: a process of its own on loopback, which can be killed and started again."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from leafcover.keyed_random import Key, key_text
from leafcover.survey.questionnaire import Survey, survey_from
from tests.survey.surveys import HABITS

KEY = Key(bytes(range(32)))


class Serving:
    """``leafcover survey serve`` of the survey of habits; started again it listens on the same port."""

    def __init__(self, folder: Path, store: str, *, tokens: bool, offline: bool) -> None:
        text = ("tokens = true\n" if tokens else "") + ("offline = true\n" if offline else "") + HABITS
        self.survey: Survey = survey_from(text)
        self.file, self.store = folder / "habits.toml", store
        self.file.write_text(text, "utf-8")
        secret = self.file.with_suffix(".secret")
        secret.touch(0o600)
        secret.write_text(key_text(KEY), "ascii")
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = [sys.executable, "-m", "leafcover", "survey", "serve", str(self.file)]
        words += ["--store", self.store, "--port", str(self.port)]
        self.errors = (self.file.parent / "errors").open("ab")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        found = re.search(r"at http://127\.0\.0\.1:(\d+)/", said)
        assert found is not None, self.said
        self.port = int(found[1])
        with urlopen(f"http://127.0.0.1:{self.port}/", timeout=60) as page:  # it listens before it answers
            page.read()

    def kill(self) -> None:
        """End it at once."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to end, and wait until it has."""
        return self._end(signal.SIGTERM)

    def _end(self, sign: signal.Signals) -> int:
        os.kill(self.process.pid, sign)
        code = self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()
        return code

    @property
    def said(self) -> str:
        """All that it complained of."""
        return (self.file.parent / "errors").read_text()


@contextmanager
def serving(folder: Path, store: str, *, tokens: bool = False, offline: bool = False):
    """A running collector, ended afterwards."""
    started = Serving(folder, store, tokens=tokens, offline=offline)
    try:
        yield started
    finally:
        if started.process.returncode is None:
            started.kill()
