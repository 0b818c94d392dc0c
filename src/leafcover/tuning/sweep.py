"""Try many ways to release one table, and say which of them hides most for what it keeps.

Every way is tried on some of the rows, several times; only scores are kept, never a table.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from leafcover import __version__
from leafcover.engine.run import fingerprint, refuse_identifiers
from leafcover.errors import LeafcoverError, NameUnknown, TableError, ValueOutOfRange
from leafcover.metrics.models import scikit_learn
from leafcover.metrics.pair import sample_rows
from leafcover.recipes import RECIPES
from leafcover.rng import Draws, Key
from leafcover.table.frames import from_frame
from leafcover.table.table import Table, column_name
from leafcover.tree.training import classes_of
from leafcover.tuning.grid import Candidate, LeftOut, candidates, possible
from leafcover.tuning.scoring import (
    Benchmark,
    Point,
    Score,
    Standard,
    Task,
    attacked_columns,
    benchmark,
    front,
    other_targets,
    point_of,
    recommended,
    released_count,
    released_rows,
    score,
    standard_of,
)
from leafcover.tuning.store import Found, Identity, Kept, Place, check_identity, read_scores, write_scores

RUNS = 3
ROWS = 30_000  # used at most: two thirds of them are released, the others show what that is good for
FEWEST = 30  # rows below which nothing can be said
MOST_RUNS, MOST_ROWS, MOST_JOBS = 1_000, 1_000_000_000, 1_000


@dataclass(frozen=True)
class Sweep:
    """Every point that was tried, sorted by risk, and what to take of them."""

    target: str
    points: tuple[Point, ...]
    standard: Standard
    left_out: tuple[LeftOut, ...]
    max_risk: float | None  # the limit that was set
    others: tuple[str, ...]  # columns besides the target whose rules were looked at
    quasi_identifiers: tuple[str, ...]  # columns that an attacker knows of a person; empty: all but the target
    attacked: tuple[str, ...]  # columns whose values he wants to learn
    runs: int
    released: int  # rows in each release that was tried
    rows: int  # that were used
    of: int  # rows of the table
    version: str

    @property
    def recommended(self) -> Point | None:
        """The most useful point under the limit; None without a limit, or when nothing of use stays below."""
        return None if self.max_risk is None else recommended(self.points, self.standard, self.max_risk)


def sweep(
    table: Any,
    *,
    target: str,
    recipes: Sequence[str] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    settings: Mapping[str, Any] | None = None,
    bins: int | None = None,
    max_risk: float | None = None,
    runs: int = RUNS,
    rows: int = ROWS,
    seed: int | None = None,
    jobs: int = 1,
    scores: str | Path | None = None,
    progress: Callable[[str, float], None] = lambda words, share: None,
) -> Sweep:
    """Try recipes at several strengths on a table (or a pandas, polars or pyarrow frame).

    ``recipes``, ``grid`` and ``settings`` say what is tried (see `candidates`); without them every recipe at its own
    strengths. Each is tried ``runs`` times on two thirds of at most ``rows`` rows, in ``jobs`` processes. With
    ``scores`` the scores are kept in a file, and those that stand there already are not computed again. Without a seed
    the folds and the noise are secret, so that nobody can do the sweep again with a guess at a row.
    """
    _check(max_risk, runs, rows, jobs)
    target, recipes = column_name("target", target), [recipes] if isinstance(recipes, str) else recipes
    scikit_learn()
    original = _bare(from_frame(table))
    _check_table(original, target, bins)
    some = original.take(sample_rows(len(original), rows))
    progress("choosing what to try", 0.0)
    fixed = {**(settings or {}), **_bins(bins, recipes)}
    allowed, unfit = candidates(some, target=target, recipes=recipes, grid=grid, settings=fixed)
    tried, strong = possible(allowed, rows=released_count(some), of=len(some), table=len(original))
    left = (*unfit, *strong)
    if not tried:
        raise LeafcoverError(left[0].why)
    file = None if scores is None else Path(scores)
    kept = _kept(original, target, bins, rows, seed, file)
    others, attacked = other_targets(some, target), attacked_columns(some, target)
    task = Task(some, target, others, attacked, bins, Draws(kept.key.secret).sub("sweep"))
    found, refused = _found(task, tried, runs, jobs, kept, file, progress)
    points = _points([candidate for candidate in tried if candidate not in refused], runs, found)
    if not points:
        raise LeafcoverError(next(iter(refused.values())))
    return Sweep(
        target=target,
        points=points,
        standard=standard_of([one for run in range(runs) if isinstance(one := found[None, run], Benchmark)]),
        left_out=(*left, *(LeftOut(candidate.name, why) for candidate, why in refused.items())),
        max_risk=max_risk,
        others=others,
        quasi_identifiers=some.with_role("quasi-identifier"),
        attacked=attacked,
        runs=runs,
        released=len(released_rows(task, 0)),
        rows=len(some),
        of=len(original),
        version=__version__,
    )


def _check(max_risk: float | None, runs: int, rows: int, jobs: int) -> None:
    if max_risk is not None and not (isinstance(max_risk, int | float) and 0 <= max_risk <= 1):
        raise ValueOutOfRange("--max-risk", max_risk, "a share from 0 to 1")
    for name, number, least, most in (
        ("--runs", runs, 1, MOST_RUNS),
        ("--rows", rows, FEWEST, MOST_ROWS),
        ("--jobs", jobs, 1, MOST_JOBS),
    ):
        if not isinstance(number, int) or not least <= number <= most:
            raise ValueOutOfRange(name, number, f"a whole number from {least} to {most:,}")


def _check_table(table: Table, target: str, bins: int | None) -> None:
    """Say no before the work begins."""
    if target not in table.names:
        raise NameUnknown("column", target, table.names)
    if len(table) < FEWEST:
        raise TableError(f"The table has {len(table)} rows. A sweep needs at least {FEWEST} to set some aside.")
    refuse_identifiers(replace(table, roles={**table.roles, target: table.roles.get(target, "target")}))
    if len(classes_of(table[target], bins=bins)[0]) < 2:
        raise TableError(f"Column {target!r} has a single value, so there is no rule to keep. Choose another target.")


def _bare(table: Table) -> Table:
    """The columns that a release has, values alone: nothing is written, so the stored text of a file is not needed."""
    kept = (column for column in table if table.roles.get(column.name) != "unit")
    return replace(table, columns=tuple(replace(column, stored=None) for column in kept))


def _bins(bins: int | None, recipes: Sequence[str] | None) -> dict[str, int]:
    """A setting for the recipes that have a target to put into bins."""
    names = RECIPES if recipes is None else [name for name in recipes if name in RECIPES]
    needed = bins is not None and any("bins" in RECIPES[name].parameters for name in names)
    return {"bins": bins} if bins is not None and needed else {}


def _kept(table: Table, target: str, bins: int | None, rows: int, seed: int | None, file: Path | None) -> Kept:
    """The scores that are there already, or none under a new key."""
    wanted = None if seed is None else Key.from_seed(seed)
    held = read_scores(file) if file is not None and file.exists() else None
    if file is not None and held is not None and wanted is not None and wanted.secret != held.key.secret:
        raise LeafcoverError(f"The scores in '{file}' were made with another seed. Name another --scores.")
    key = held.key if held is not None else wanted or Key.fresh()
    roles = {name: str(role) for name, role in table.roles.items()}
    identity = Identity(fingerprint(table, key), target, roles, rows, bins)
    if file is not None and held is not None:
        check_identity(held.identity, identity, file)
    return Kept(key, identity, {} if held is None else held.scores)


def _found(
    task: Task,
    tried: Sequence[Candidate],
    runs: int,
    jobs: int,
    kept: Kept,
    file: Path | None,
    progress: Callable[[str, float], None],
) -> tuple[dict[Place, Found], dict[Candidate, str]]:
    """Every score, those of the file and new ones; and the candidates that the table refuses."""
    # Run by run: a sweep that is stopped early has tried everything once rather than a few things often.
    places: list[Place] = [(candidate, run) for run in range(runs) for candidate in (None, *tried)]
    found = dict(kept.scores)
    refused: dict[Candidate, str] = {}
    missing = [place for place in places if place not in found]
    progress(f"0 of {len(missing)} scores", 0.0)
    with closing(scored(task, missing, jobs=jobs)) as results:
        for done, (place, result) in enumerate(results, 1):
            candidate, run = place
            if not isinstance(result, str):
                found[place] = result
                if file is not None:
                    write_scores(replace(kept, scores=found), file)
            elif candidate is None:
                raise LeafcoverError(result)
            else:
                refused[candidate] = result
            name = "the floor" if candidate is None else candidate.name
            progress(f"{done} of {len(missing)} scores: {name}, run {run + 1}", done / len(missing))
    return found, refused


def _points(tried: Sequence[Candidate], runs: int, found: Mapping[Place, Found]) -> tuple[Point, ...]:
    """The points of the map by risk, with those of the front marked."""
    points = [
        point_of(candidate, [one for run in range(runs) if isinstance(one := found[candidate, run], Score)])
        for candidate in tried
    ]
    marks = front([(point.informed.value, point.agreement.value) for point in points])
    marked = [replace(point, on_front=mark) for point, mark in zip(points, marks, strict=True)]
    return tuple(sorted(marked, key=lambda point: (point.informed.value, -point.agreement.value, point.name)))


# Many scores at once: in this process or in several, with the same results.


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
