"""Run the command line in this process, as a shell would."""

from functools import cache
from unittest.mock import patch

from typer.main import get_command
from typer.testing import CliRunner

from leafcover.cli.main import application


@cache
def command():
    """The parser of every command: building it takes longer than most commands that are refused."""
    return get_command(application())


def leafcover(*words):
    """Exit code, standard output and error output of a command."""
    with patch("typer.testing._get_command", lambda app: command()):
        return CliRunner().invoke(application(), [str(word) for word in words])


def refused(*words, code=1):
    """A command that must say no: one line, nothing like a traceback."""
    result = leafcover(*words)
    assert result.exit_code == code, (result.exit_code, result.output, result.exception)
    lines = [line for line in result.stderr.splitlines() if not line.startswith(("warning: ", "[", "saved  "))]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.output
    return lines[0]


def rows_of(seed=1, rows=60):
    """A small CSV that can be released: two numbers, a category and a class."""
    import numpy as np

    rng = np.random.default_rng(seed)
    lines = ["age,pay,job,class"]
    for _ in range(rows):
        age, job = rng.integers(18, 70), rng.choice(["clerk", "nurse", "smith"])
        lines.append(f"{age},{rng.integers(1000, 9000) / 100:.2f},{job},{'yes' if age > 40 else 'no'}")
    return "\n".join(lines) + "\n"
