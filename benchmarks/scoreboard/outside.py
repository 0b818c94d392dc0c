"""Run another package in its own environment, and read its output."""

import json
import os
import subprocess
from pathlib import Path

from benchmarks.scoreboard.outcome import CouldNot, Outcome, Split

from leafcover.table.io import read, write
from leafcover.table.table import Table

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("rivals.py")
INTERPRETER = ROOT / ".venv-scoreboard" / "bin" / "python"
FOLDER = ROOT / "benchmarks" / "tables" / "scoreboard"  # output of rivals, so that a new figure needs no new run
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
OUT_OF_MEMORY = -9


def outside(split: Split, name: str, *, model: bool = False, fresh: bool = False) -> Outcome:
    """The table that the rival released, or the predictions of its model.

    Files of an earlier run are reused, unless ``fresh`` or if rivals.py has changed since.
    """
    folder = FOLDER / str(split.seed)
    folder.mkdir(parents=True, exist_ok=True)
    released, facts = folder / f"{name}.csv", folder / f"{name}.json"
    if fresh or not facts.exists() or facts.stat().st_mtime < SCRIPT.stat().st_mtime:
        facts.write_text(json.dumps(_run(split, name, folder, released)), "utf-8")
    found = json.loads(facts.read_text("utf-8"))
    table = _read(released, split.train)
    spent = {"cpu": found["cpu"], "gigabytes": found["gigabytes"]}
    return Outcome(answers=table, **spent) if model else Outcome(table=table, **spent)


def _run(split: Split, name: str, folder: Path, released: Path) -> dict[str, float]:
    if not INTERPRETER.exists():
        raise CouldNot("could not be installed")
    places = [folder / "train.csv", folder / "test.csv"]
    for table, place in zip((split.train, split.test), places, strict=True):
        write(table, place, force=True)
    words = [INTERPRETER, SCRIPT, name, *places, released, str(split.seed)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD)
    if done.returncode == OUT_OF_MEMORY:
        raise CouldNot("ran out of memory")
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if last.startswith(("ImportError", "ModuleNotFoundError")):
        raise CouldNot("could not be installed")
    if done.returncode:
        raise CouldNot(f"failed: {last[:100]}")
    return json.loads(done.stdout.splitlines()[-1])


def _read(path: Path, like: Table) -> Table:
    """The rival's table, read like the training table."""
    with path.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    return read(path, category=[name for name in names if like[name].is_category])
