"""Many scores at once: in this process or in several, with the same results."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from leafcover.errors import LeafcoverError
from leafcover.sweeping.scoring import Benchmark, Score, Task, benchmark, score
from leafcover.sweeping.store import Place

Refusal: TypeAlias = str  # why a candidate could not be scored

_tasks: list[Task] = []  # in a process of a pool: what its scores have in common, handed over once


def scored(task: Task, places: Sequence[Place], *, jobs: int) -> Generator[tuple[Place, Score | Benchmark | Refusal]]:
    """Score each place; in several processes they come as they are done."""
    if jobs <= 1 or len(places) <= 1:
        for place in places:
            yield place, _one(task, place)
        return
    yield from _in_processes(task, places, min(jobs, len(places)))


def _one(task: Task, place: Place) -> Score | Benchmark | Refusal:
    candidate, run = place
    try:
        return benchmark(task, run) if candidate is None else score(task, candidate, run)
    except LeafcoverError as error:
        return str(error)


def _in_processes(
    task: Task, places: Sequence[Place], jobs: int
) -> Generator[tuple[Place, Score | Benchmark | Refusal]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    before = set(active_children())
    # Spawned on every system: a fork would copy the threads of compiled kernels in whatever state they are.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin, initargs=(task,))
    try:
        with _deaf_children():
            futures = {pool.submit(_next, place): place for place in places}
        for future in as_completed(futures):
            yield futures[future], future.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise LeafcoverError(
            "A process of the sweep ended on its own, perhaps for lack of memory. Use fewer --jobs or --rows."
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - before:  # else an interrupted sweep would work on for minutes
            process.terminate()


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes started in this block never see Ctrl-C, not even while they start; here it waits for the end."""
    import signal
    from multiprocessing import resource_tracker

    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # else it is started inside, and lets the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(task: Task) -> None:
    """In a new process: keep what all its scores share, and leave Ctrl-C to the process that started it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _tasks.append(task)


def _next(place: Place) -> Score | Benchmark | Refusal:
    return _one(_tasks[0], place)
