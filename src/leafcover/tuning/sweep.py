"""A sweep: many candidate releases of one table, compared by disclosure risk and utility.

Every candidate is tried several times, each time on some of the rows, in this process or in several. Only scores are
saved, never a table.
"""

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields, replace
from math import ceil, isnan, nan
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from leafcover import __version__
from leafcover.engine.run import fingerprint, refuse_identifiers
from leafcover.errors import LeafcoverError, TableError, ValueOutOfRange
from leafcover.keyed_random import Draws, Key
from leafcover.messages import catalogue
from leafcover.metrics.estimates import Estimate, Risk
from leafcover.metrics.models import scikit_learn
from leafcover.metrics.pair import sample_rows
from leafcover.metrics.suite import plain
from leafcover.recipes import RECIPES
from leafcover.recipes.plan import Plan
from leafcover.recipes.plan_file import plan_text
from leafcover.recode.base import Recoding, parse_recodings
from leafcover.registry import checks_arguments
from leafcover.table.atomic import atomic_write
from leafcover.table.frames import from_frame
from leafcover.table.table import IntoTable, Table, target_of
from leafcover.tree.tree import classes_of
from leafcover.tuning.grid import Candidate, Skipped, candidates, feasible
from leafcover.tuning.scoring import (
    Baselines,
    BaselineScore,
    Point,
    Score,
    Task,
    baselines_of,
    other_targets,
    pareto_front,
    point_of,
    recommend,
    released_count,
    released_rows,
    score,
    score_baselines,
)

RUNS = 3
ROWS = 30_000  # the most that are used: two thirds are released, the others held out
FEWEST = 30  # rows that a sweep needs
MOST_RUNS, MOST_ROWS, MOST_JOBS = 1_000, 1_000_000_000, 1_000

say = catalogue("sweep")


FORMAT = 4
ABOUT = "Scores of a sweep and its secret key: do not publish."

Trial: TypeAlias = tuple[Candidate | None, int]  # a candidate, or None for the baselines; and the number of the run
TrialScore: TypeAlias = Score | BaselineScore


@dataclass(frozen=True)
class Identity:
    """The sweep to which scores belong: those of another are never mixed in."""

    fingerprint: str  # of the table's values, under the sweep's key
    target: str
    roles: Mapping[str, str]
    rows: int  # the most that are used
    bins: int | None
    recode: str = ""  # what is recoded before every recipe, as a plan file says it


@dataclass(frozen=True)
class SavedScores:
    """The contents of a file of scores."""

    key: Key
    identity: Identity
    scores: Mapping[Trial, TrialScore]


@dataclass(frozen=True)
class Sweep:
    """The points of the risk-utility map, sorted by risk, and what they are compared with."""

    target: str
    points: tuple[Point, ...]
    baselines: Baselines
    skipped: tuple[Skipped, ...]
    max_risk: float | None  # the limit that was set
    other_targets: tuple[str, ...]  # columns besides the target that trees predicted
    quasi_identifiers: tuple[str, ...]  # columns that the attacker knows about a person; empty: all but the target
    runs: int
    released_rows: int  # in each trial
    rows: int  # that were used
    table_rows: int
    version: str

    @property
    def recommended(self) -> Point | None:
        """The most useful point within the limit; None without a limit, or if no useful point stays within it."""
        return None if self.max_risk is None else recommend(self.points, self.baselines, self.max_risk)


@checks_arguments("target")
def sweep(
    table: IntoTable,
    *,
    target: str | None = None,
    recipes: Sequence[str] | None = None,
    grid: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    bins: int | None = None,
    recode: str | Recoding | Sequence[str | Recoding] = (),
    max_risk: float | None = None,
    runs: int = RUNS,
    rows: int = ROWS,
    seed: int | None = None,
    jobs: int = 1,
    scores: str | Path | None = None,
    progress: Callable[[str, float], None] = lambda text, share: None,
    estimate: Callable[[str], None] = lambda text: None,
) -> Sweep:
    """Compare recipes at several strengths on a table, by disclosure risk and utility.

    Parameters
    ----------
    table : Table or frame
        What `read` gives, or a pandas, polars or pyarrow frame.
    target : str, optional
        The column whose rules the recipes preserve, and which trees predict. Default: the one with the role "target".
    recipes : sequence of str, optional
        The recipes to compare. Default: every recipe.
    grid : mapping of str to sequence, optional
        The strengths to try: ``{"k": [5, 20]}`` for every recipe with that parameter, ``{"framework:spread": [0.1]}``
        for one recipe. Several parameters are combined. By default every recipe is tried at its own strengths.
    settings : mapping, optional
        Parameters with one value for every recipe that has them.
    bins : int, optional
        Group a numeric target into this many classes of about equal size. Required if it has more than 10 distinct
        values.
    recode : sequence of Recoding or str, optional
        How values become coarser or missing before every recipe, as in `leafcover.release`.
    max_risk : float, optional
        The limit on every risk that ``release`` refuses by, within which ``recommended`` chooses; a share from 0 to 1.
    runs : int, default 3
        How often each candidate is tried, each time on two thirds of the rows.
    rows : int, default 30000
        The maximum number of rows that are used.
    seed : int, optional
        A seed for experiments. Without one the folds and the perturbation are secret, so that nobody can repeat the
        sweep to test a guess at a row.
    jobs : int, default 1
        The number of processes.
    scores : str or Path, optional
        A file that saves the scores. Those already in it are not computed again.
    progress : callable, optional
        Called with the current task and the share that is done.
    estimate : callable, optional
        Called once, after the first trial of a recipe, with how long the sweep will take.

    Returns
    -------
    leafcover.tuning.sweep.Sweep
        The points of the risk-utility map, sorted by risk, and what they are compared with.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("wine")).select(["alcohol", "ash", "class"])
    >>> grid = {"additive:spread": [0.1, 1]}
    >>> found = lc.sweep(
    ...     table, target="class", recipes=["additive"], grid=grid, runs=1, seed=7
    ... )
    >>> [point.name for point in found.points]  # sorted by risk
    ['additive spread=1', 'additive spread=0.1']
    """
    _check(max_risk, runs, rows, jobs)
    recipes = [recipes] if isinstance(recipes, str) else recipes
    scikit_learn()
    original = _bare(from_frame(table))
    target = target_of(original, target)
    if target is None:
        raise TableError("A sweep needs a column to predict. Give target, or read the column with the role target.")
    _check_table(original, target, bins)
    sample = original.take(sample_rows(len(original), rows))
    progress(say("progress-candidates"), 0.0)
    fixed = {**(settings or {}), **_bins(bins, recipes)}
    coarser = parse_recodings(recode, original.names)
    allowed, unfit = candidates(sample, target=target, recipes=recipes, grid=grid, settings=fixed, recode=coarser)
    tried, too_large = feasible(allowed, rows=released_count(sample), of=len(sample), table=len(original))
    skipped = (*unfit, *too_large)
    if not tried:
        raise LeafcoverError(skipped[0].reason)
    file = None if scores is None else Path(scores)
    saved = _saved_scores(original, target, bins, rows, seed, file, coarser)
    others = other_targets(sample, target)
    task = Task(sample, target, others, bins, Draws(saved.key.secret).sub("sweep"), coarser)
    tell = Listeners(progress, estimate)
    found, refused = _all_scores(task, tried, runs, jobs, saved, file, tell)
    points = _points([candidate for candidate in tried if candidate not in refused], runs, found)
    if not points:
        raise LeafcoverError(next(iter(refused.values())))
    return Sweep(
        target=target,
        points=points,
        baselines=baselines_of([one for run in range(runs) if isinstance(one := found[None, run], BaselineScore)]),
        skipped=(*skipped, *(Skipped(candidate.name, reason) for candidate, reason in refused.items())),
        max_risk=max_risk,
        other_targets=others,
        quasi_identifiers=sample.with_role("quasi-identifier"),
        runs=runs,
        released_rows=len(released_rows(task, 0)),
        rows=len(sample),
        table_rows=len(original),
        version=__version__,
    )


LEAST_ESTIMATED = 30.0  # seconds that a sweep takes, before it says how long


class Listeners(NamedTuple):
    """Who is told how far a sweep is."""

    progress: Callable[[str, float], None]  # the current task, and the share that is done
    estimate: Callable[[str], None]  # once, how long it will take


def _check(max_risk: float | None, runs: int, rows: int, jobs: int) -> None:
    if max_risk is not None and not (isinstance(max_risk, int | float) and 0 <= max_risk <= 1):
        raise ValueOutOfRange("max_risk", max_risk, "a share from 0 to 1")
    for name, number, least, most in (
        ("runs", runs, 1, MOST_RUNS),
        ("rows", rows, FEWEST, MOST_ROWS),
        ("jobs", jobs, 1, MOST_JOBS),
    ):
        if not isinstance(number, int) or not least <= number <= most:
            raise ValueOutOfRange(name, number, f"a whole number from {least} to {most:,}")


def _check_table(table: Table, target: str, bins: int | None) -> None:
    """Refuse a table before the sweep begins."""
    if len(table) < FEWEST:
        raise TableError(f"The table has {len(table)} rows. A sweep needs at least {FEWEST}.")
    refuse_identifiers(replace(table, roles={**table.roles, target: table.roles.get(target, "target")}))
    if len(classes_of(table[target], bins=bins)[0]) < 2:
        raise TableError(f"Column {target!r} has a single value, so nothing can be predicted. Choose another target.")


def _bare(table: Table) -> Table:
    """The columns of a release without their stored text, which only writing a file needs."""
    released = (column for column in table if table.roles.get(column.name) != "unit")
    return replace(table, columns=tuple(replace(column, stored=None) for column in released))


def _bins(bins: int | None, recipes: Sequence[str] | None) -> dict[str, int]:
    """The setting ``bins``, if a recipe has such a parameter."""
    names = RECIPES if recipes is None else [name for name in recipes if name in RECIPES]
    needed = bins is not None and any("bins" in RECIPES[name].parameters for name in names)
    return {"bins": bins} if bins is not None and needed else {}


def _saved_scores(
    table: Table,
    target: str,
    bins: int | None,
    rows: int,
    seed: int | None,
    file: Path | None,
    recode: Sequence[Recoding],
) -> SavedScores:
    """The scores in the file, or none and a new key."""
    wanted = None if seed is None else Key.from_seed(seed)
    held = read_scores(file) if file is not None and file.exists() else None
    if file is not None and held is not None and wanted is not None and wanted.secret != held.key.secret:
        raise LeafcoverError(f"The scores in '{file}' were made with another seed. Choose another file.")
    key = held.key if held is not None else wanted or Key.fresh()
    roles = {name: str(role) for name, role in table.roles.items()}
    recoded = plan_text(Plan(recode=recode)) if recode else ""
    identity = Identity(fingerprint(table, key), target, roles, rows, bins, recoded)
    if file is not None and held is not None:
        check_identity(held.identity, identity, file)
    return SavedScores(key, identity, {} if held is None else held.scores)


def _all_scores(
    task: Task,
    tried: Sequence[Candidate],
    runs: int,
    jobs: int,
    saved: SavedScores,
    file: Path | None,
    tell: Listeners,
) -> tuple[dict[Trial, TrialScore], dict[Candidate, str]]:
    """Every score, those in the file and new ones; and the candidates that cannot run, with the reason."""
    # Run by run: a sweep that is stopped early has tried every candidate once rather than a few of them often.
    trials: list[Trial] = [(candidate, run) for run in range(runs) for candidate in (None, *tried)]
    found = dict(saved.scores)
    refused: dict[Candidate, str] = {}
    missing = [trial for trial in trials if trial not in found]
    tell.progress(say("progress-start", total=len(missing), candidates=len(tried), runs=runs), 0.0)
    began = last = time.monotonic()
    estimated = False
    with closing(score_trials(task, missing, jobs=jobs)) as results:
        for done, (trial, result) in enumerate(results, 1):
            candidate, run = trial
            if not isinstance(result, str):
                found[trial] = result
                if file is not None:
                    write_scores(replace(saved, scores=found), file)
            elif candidate is None:
                raise LeafcoverError(result)
            else:
                refused[candidate] = result
            now = time.monotonic()
            if candidate is not None and not estimated:
                estimated = True
                if (now - last) * len(missing) / jobs >= LEAST_ESTIMATED:
                    tell.estimate(_estimate(candidate.name, now - last, len(missing), min(jobs, len(missing))))
            last = now if jobs == 1 else began
            left = _time_left(now - began, done, len(missing), jobs)
            counts = {"done": done, "total": len(missing), "run": run + 1, "left": left}
            if candidate is None:
                tell.progress(say("progress-baselines", **counts), done / len(missing))
            else:
                tell.progress(say("progress-trial", name=candidate.name, **counts), done / len(missing))
    return found, refused


def _estimate(name: str, seconds: float, total: int, jobs: int) -> str:
    """How long all trials take if each takes as long as the first of a recipe."""
    figures = {"name": name, "seconds": ceil(seconds), "total": total, "jobs": jobs}
    return say("progress-estimate", minutes=ceil(seconds * total / jobs / 60), **figures)


def _time_left(elapsed: float, done: int, total: int, jobs: int) -> str:
    """How long the other trials take if they are like those done, in words; each process has half a trial under way.

    >>> _time_left(60.0, 1, 41, 1), _time_left(60.0, 1, 41, 3), _time_left(60.0, 41, 41, 1)
    ('about 40 min left', 'about 20 min left', 'none')
    """
    if done >= total:
        return "none"
    finished = min(done + (jobs - 1) / 2, total)
    return say("progress-left", minutes=ceil(elapsed * (total - finished) / finished / 60))


def _points(tried: Sequence[Candidate], runs: int, found: Mapping[Trial, TrialScore]) -> tuple[Point, ...]:
    """The points of the map, sorted by risk, with those on the Pareto front marked."""
    points = [
        point_of(candidate, [one for run in range(runs) if isinstance(one := found[candidate, run], Score)])
        for candidate in tried
    ]
    marks = pareto_front([(point.risk.risk.value, point.agreement.value) for point in points])
    marked = [replace(point, on_front=mark) for point, mark in zip(points, marks, strict=True)]
    return tuple(sorted(marked, key=lambda point: (point.risk.risk.value, -point.agreement.value, point.name)))


# Many trials, in this process or in several, with the same results.


Refusal: TypeAlias = str  # why a candidate could not be scored

_tasks: list[Task] = []  # in a worker process: the task of all its trials, passed once


def score_trials(task: Task, trials: Sequence[Trial], *, jobs: int) -> Generator[tuple[Trial, TrialScore | Refusal]]:
    """Score each trial; with several processes, in the order in which they finish."""
    if jobs <= 1 or len(trials) <= 1:
        for trial in trials:
            yield trial, _score_trial(task, trial)
        return
    yield from _in_processes(task, trials, min(jobs, len(trials)))


def _score_trial(task: Task, trial: Trial) -> TrialScore | Refusal:
    candidate, run = trial
    try:
        return score_baselines(task, run) if candidate is None else score(task, candidate, run)
    except LeafcoverError as error:
        return str(error)


def _in_processes(task: Task, trials: Sequence[Trial], jobs: int) -> Generator[tuple[Trial, TrialScore | Refusal]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children, get_context

    before = set(active_children())
    # Spawned on every system: a fork would copy the threads of compiled kernels in an arbitrary state.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_init_worker, initargs=(task,))
    try:
        with _block_sigint():
            futures = {pool.submit(_score_in_worker, trial): trial for trial in trials}
        for future in as_completed(futures):
            yield futures[future], future.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise LeafcoverError(
            "A worker process of the sweep ended unexpectedly, perhaps for lack of memory. "
            "Lower jobs=... or rows=... to need less."
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - before:  # or an interrupted sweep would keep working for minutes
            process.terminate()


@contextmanager
def _block_sigint() -> Iterator[None]:
    """Block Ctrl-C for processes started here, even while they start; in this process it waits for the end."""
    import signal
    from multiprocessing import resource_tracker

    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # or it starts inside the block and unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _init_worker(task: Task) -> None:
    """In a worker process: store the task, and leave Ctrl-C to the parent process."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _tasks.append(task)


def _score_in_worker(trial: Trial) -> TrialScore | Refusal:
    return _score_trial(_tasks[0], trial)


# The scores in a file, so that an interrupted sweep can continue. It holds no value of the table, but the secret key of
# the sweep and a fingerprint of the table under that key: someone who has the file and knows every row but one can
# test guesses at the last. So the file is readable by its owner only.


def read_scores(path: Path) -> SavedScores:
    """The scores in a file."""
    from pydantic import TypeAdapter, ValidationError

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise TableError(f"The scores in '{path}' cannot be read: {reason}. Choose another file.") from None
    no_scores = f"'{path}' is not a file of scores from `leafcover sweep`. Choose another file."
    try:
        held = json.loads(text)
        if not isinstance(held, dict) or "leafcover_scores" not in held:
            raise TableError(no_scores)
        if held["version"] != __version__ or held["leafcover_scores"] != FORMAT:
            old = f"Leafcover {held['version']}" if held["version"] != __version__ else "an earlier Leafcover"
            raise TableError(
                f"The scores in '{path}' were made by {old}; this is {__version__}, and its scores may differ. "
                "Choose another file."
            )
        scores: dict[Trial, TrialScore] = {}
        for one in held["scores"]:
            candidate = None
            if one["recipe"] is not None:
                candidate = Candidate(one["recipe"], _pairs(one["strength"]), _pairs(one["fixed"]))
            kind: Any = BaselineScore if candidate is None else Score
            score: TrialScore = TypeAdapter(kind).validate_python(_figures(one["score"]))
            if invalid := _invalid_figure(score):
                raise TableError(
                    f"The scores in '{path}' are damaged: {invalid}, which is impossible. "
                    "Delete the file to start over, or choose another file."
                )
            scores[candidate, int(one["run"])] = score
        identity: Identity = TypeAdapter(Identity).validate_python(held["of"])
        return SavedScores(Key(bytes.fromhex(held["key"])), identity, scores)
    except (KeyError, TypeError, ValueError, ValidationError):
        raise TableError(no_scores) from None


def check_identity(saved: Identity, wanted: Identity, path: Path) -> None:
    """Refuse the scores of another sweep, and name the difference."""
    for what, old, new in (
        ("table (or the same one, read with other options)", saved.fingerprint, wanted.fingerprint),
        ("target", saved.target, wanted.target),
        ("choice of roles", dict(saved.roles), dict(wanted.roles)),
        ("choice of rows=...", saved.rows, wanted.rows),
        ("choice of bins=...", saved.bins, wanted.bins),
        ("choice of recodings", saved.recode, wanted.recode),
    ):
        if old != new:
            raise LeafcoverError(f"The scores in '{path}' belong to another {what}. Choose another file.")


def write_scores(saved: SavedScores, path: Path) -> None:
    """Write the scores, and replace those in the file."""
    held = {
        "leafcover_scores": FORMAT,
        "about": ABOUT,
        "version": __version__,
        "key": saved.key.secret.hex(),
        "of": plain(saved.identity),
        "scores": [
            {
                "recipe": None if candidate is None else candidate.recipe,
                "strength": {} if candidate is None else dict(candidate.strength),
                "fixed": {} if candidate is None else dict(candidate.fixed),
                "run": run,
                "score": plain(asdict(score)),
            }
            for (candidate, run), score in saved.scores.items()
        ],
    }
    with atomic_write(path, force=True, private=True) as part:
        part.write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _invalid_figure(score: TrialScore) -> str:
    """A figure that no sweep can produce, as text; empty if all are valid.

    A share lies between 0 and 1 and inside its interval; what is above control or false alarms may be below 0.
    """
    figures = [(field.name, getattr(score, field.name)) for field in fields(score)]
    shares = [(name, one, 0.0) for name, one in figures if isinstance(one, Estimate | Risk)]
    above = [(" ".join((one.kind, one.column)), one.risk, -1.0) for one in getattr(score, "attempts", ())]
    for name, figure, least in (*shares, *above):
        interval = [value for value in (figure.low, figure.value, figure.high) if not isnan(value)]
        outside = [value for value in (*interval, getattr(figure, "worst", nan)) if value < least or value > 1]
        if outside or interval != sorted(interval):
            return f"{name} is {figure.value:g} ({figure.low:g} to {figure.high:g})"
    return ""


def _pairs(settings: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(settings.items())


def _figures(score: Mapping[str, Any]) -> dict[str, Any]:
    """A score in the file; null inside a figure is a number that does not exist."""
    return {name: None if held is None else _with_nan(held) for name, held in score.items()}


def _with_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_nan(content) for name, content in value.items()}
    if isinstance(value, list):
        return [_with_nan(content) for content in value]
    return nan if value is None else value
