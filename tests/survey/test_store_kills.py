"""Kill -9 at random moments: what a store said it had stored is there, once, with its token; the rest wholly or not."""

import multiprocessing
import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from multiprocessing.process import BaseProcess
from threading import Timer

import pytest

from leafcover.survey.client import Answer
from leafcover.survey.storage import Acceptance, is_spent, open_store
from tests.survey.adding import add_until_killed
from tests.survey.looking import block
from tests.survey.surveys import habits

SURVEY = habits(tokens=True)
LONGEST = 0.15  # seconds that a process lives after its first answer


@pytest.fixture(scope="module")
def processes():
    """Processes that start quickly, since one with the imports done is kept."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.survey.adding"])
    return context


def added_until(address, seed, processes, end):
    """What a process was told until ``end`` ended it, and the batch on whose fate it had no word."""
    here, there = processes.Pipe(duplex=False)
    process = processes.Process(target=add_until_killed, args=(address, seed, there), daemon=True)
    process.start()
    there.close()
    acknowledged, tried = [], here.recv()
    timer = Timer(random.Random(seed).uniform(0, LONGEST), end, (process,))
    timer.start()
    with suppress(EOFError, ConnectionResetError):  # the process is gone
        while True:
            assert here.recv() == ["stored"] * len(tried)
            acknowledged += tried
            tried = []
            tried = here.recv()
    timer.join()
    process.kill()
    process.join()
    here.close()
    return acknowledged, tried


def two_at_once(address, seed, processes, end):
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(lambda one: added_until(address, one, processes, end), (seed, seed + 1)))


def check(address, acknowledged, unknown):
    """Each acknowledged answer is there once and each unknown batch wholly or not, and their tokens likewise."""
    bits = block(address)
    spent = {number for number in range(8 * len(bits)) if is_spent(bits, number)}
    stored = list(acknowledged)
    for batch in unknown:
        there = {number in spent for _, number in batch}
        assert len(there) <= 1
        stored += batch if there == {True} else []
    assert spent == {number for _, number in stored}
    with closing(open_store(address, SURVEY, create=False)) as store:
        assert list(store.reports()) == [answer.reports for answer, _ in sorted(stored, key=lambda pair: pair[0].id)]
        for start in range(0, len(stored), 500):
            some = stored[start : start + 500]
            assert set(store.add(some)) == {Acceptance.repeated}
            assert set(store.add([(Answer(answer.id[::-1], answer.reports), n) for answer, n in some])) == {
                Acceptance.spent
            }
        assert store.count() == len(stored)


@pytest.mark.parametrize("rounds", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_a_killed_process_loses_and_doubles_nothing(fresh, processes, rounds):
    address = fresh()
    open_store(address, SURVEY).close()
    acknowledged, unknown = [], []
    for seed in range(0, 2 * rounds, 2):
        for kept, tried in two_at_once(address, seed, processes, BaseProcess.kill):
            acknowledged += kept
            unknown.append(tried)
    assert len(acknowledged) > rounds
    assert any(unknown)
    check(address, acknowledged, unknown)


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_server_loses_and_doubles_nothing(postgresql, processes, rounds):
    address = postgresql.fresh()
    open_store(address, SURVEY).close()
    acknowledged, unknown = [], []
    for seed in range(rounds):
        kept, tried = added_until(address, seed, processes, lambda process: postgresql.kill())
        acknowledged += kept
        unknown.append(tried)
        postgresql.start()
    assert acknowledged
    assert any(unknown)
    check(address, acknowledged, unknown)
