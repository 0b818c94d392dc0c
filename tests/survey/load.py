"""Answers offered to a collector at a steady rate, whether it keeps up or not."""

import http.client
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count

CONNECTIONS = 40
JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Load:
    """What became of the answers: how many came back with each status, and how long each took, in seconds."""

    statuses: Counter[int | str]
    waits: list[float]  # from when an answer was due, so that one held up by others counts
    seconds: float

    @property
    def rate(self) -> float:
        """Answers acknowledged in a second."""
        return self.statuses[201] / self.seconds

    def wait(self, share: float) -> float:
        """The wait that this share of answers did not exceed."""
        return sorted(self.waits)[min(len(self.waits) - 1, int(share * len(self.waits)))]


def offered(port: int, bodies: list[bytes], *, rate: float) -> Load:
    """Send bodies at a rate over connections that are kept open, each when it is due."""
    numbers, lock = count(), threading.Lock()
    statuses: Counter[int | str] = Counter()
    waits: list[float] = []
    began = time.perf_counter()

    def send_some() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while (number := next(numbers)) < len(bodies):
            due = began + number / rate
            time.sleep(max(0.0, due - time.perf_counter()))
            status: int | str
            try:
                connection.request("POST", "/answers", bodies[number], JSON)
                answered = connection.getresponse()
                answered.read()
                status = answered.status
            except (OSError, http.client.HTTPException) as error:
                status = type(error).__name__
                connection.close()
            with lock:
                statuses[status] += 1
                waits.append(time.perf_counter() - due)
        connection.close()

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        for done in [threads.submit(send_some) for _ in range(CONNECTIONS)]:
            done.result()
    return Load(statuses, waits, time.perf_counter() - began)
