"""A collector under load: answers sent at a constant rate to one process, with SQLite and with PostgreSQL.

Latency is measured from when an answer was due, so that queueing counts. Client and collector share the machine.
"""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.survey.load import Load, offered
from tests.survey.postgresql import Server, programs
from tests.survey.serving import KEY, Serving, serving

from leafcover.survey.client import body, token

TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure every store, with tokens and without, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=200.0, help="answers a second")
    parser.add_argument("--seconds", type=float, default=30.0)
    given = parser.parse_args()
    machine = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"{given.rate:g} answers a second for {given.seconds:g} s; {machine}")
    print("| store | tokens | acknowledged a second | errors | p50, ms | p99, ms | most, ms | CPU, ms an answer |")
    print("|---|---|---|---|---|---|---|---|")
    found = programs()
    server = None if found is None else Server(found)
    try:
        for tokens in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                measure("SQLite", folder, str(Path(folder, "answers.sqlite")), tokens, given)
            if server is not None:
                with tempfile.TemporaryDirectory() as folder:
                    measure("PostgreSQL", folder, server.fresh(), tokens, given)
    finally:
        if server is not None:
            server.stop()


def measure(name: str, folder: str, address: str, tokens: bool, given: argparse.Namespace) -> None:
    """Send answers to a new collector, and print the row of its store."""
    with serving(Path(folder), address, tokens=tokens) as served:
        bodies = [message(served, number, tokens) for number in range(int(given.rate * given.seconds))]
        before = cpu(served)
        load = offered(served.port, bodies, rate=given.rate)
        print(row(name, tokens, load, (cpu(served) - before) / len(bodies)), flush=True)
        served.stop()


def message(served: Serving, number: int, tokens: bool) -> bytes:
    """One person's message."""
    reports = [random.randrange(2), random.randrange(4), random.randrange(2), random.randrange(61), random.randrange(3)]
    return body(served.survey, reports, token(KEY.secret, served.survey.fingerprint, number) if tokens else "")


def cpu(served: Serving) -> float:
    """CPU seconds that the collector has used."""
    fields = Path(f"/proc/{served.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def row(name: str, tokens: bool, load: Load, seconds: float) -> str:
    """A row of the table."""
    waits = [1000 * load.wait(share) for share in (0.5, 0.99, 1.0)]
    errors = sum(load.statuses.values()) - load.statuses[201]
    shown = " | ".join(f"{wait:,.0f}" for wait in waits)
    return f"| {name} | {'yes' if tokens else 'no'} | {load.rate:.1f} | {errors} | {shown} | {1000 * seconds:.2f} |"


if __name__ == "__main__":
    main()
