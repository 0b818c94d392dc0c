"""A process that adds answers to a store until it is killed, and tells what it tries and what it was told."""

import random
from contextlib import suppress

from leafcover.survey.client import Answer
from leafcover.survey.storage import StoreFailed, open_store
from tests.survey.surveys import habits

TOKENS = 4_000  # of each process


def batches(seed):
    """Batches of new answers, each with a number of its own, for ever."""
    draws = random.Random(seed)
    numbers = draws.sample(range(seed * TOKENS, (seed + 1) * TOKENS), TOKENS)
    while True:
        batch = []
        for _ in range(draws.choice([1, 1, 2, 5, 40])):
            reports = ("1", "2", "0", f"{draws.randrange(60):02d}", "2")
            batch.append((Answer(f"{draws.getrandbits(128):032x}", reports), numbers.pop()))
        yield batch


def add_until_killed(address, seed, told):
    """Send each batch before it is added, and the verdicts after."""
    store = open_store(address, habits(tokens=True))
    with suppress(StoreFailed):  # the database was killed
        for batch in batches(seed):
            told.send(batch)
            told.send([str(verdict) for verdict in store.add(batch)])
