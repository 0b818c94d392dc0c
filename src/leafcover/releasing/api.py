"""The two verbs of the library: release and measure, for tables and for frames of any library."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leafcover.draws import Key
from leafcover.errors import PlanError
from leafcover.measuring.figures import Risk
from leafcover.releasing.plan import Plan
from leafcover.releasing.run import Progress, Release, run
from leafcover.releasing.summary import linkage_of, summary
from leafcover.table.files import read as read_file
from leafcover.table.frames import from_frame, to_frame
from leafcover.table.table import Table


@dataclass(frozen=True, eq=False)
class Released(Release):
    """A release; ``frame`` is the table in the library it came from."""

    original: Table

    @property
    def frame(self) -> Any:
        """The released table as pandas, polars or pyarrow, as it came in."""
        return to_frame(self.table)

    def __str__(self) -> str:
        return summary(self, None)


@dataclass(frozen=True, eq=False)
class Measured:
    """What a release cost and what it hides, in words when printed."""

    release: Release
    linkage: Risk

    def __str__(self) -> str:
        return summary(self.release, self.linkage)


def read(source: Any, **options: Any) -> Table:
    """A table from a file or from a pandas, polars or pyarrow frame; options are those of `leafcover.table.files.read`.

    A frame knows no encoding or delimiter; roles, missing tokens, categories and dropped columns work for both.
    """
    return read_file(source, **options) if isinstance(source, str | Path) else from_frame(source, **options)


def release(
    table: Any,
    plan: Plan,
    *,
    key: Key | None = None,
    seed: int | None = None,
    keep_order: bool = False,
    progress: Progress | None = None,
) -> Released:
    """Release a table (or a pandas, polars or pyarrow frame) by a plan.

    Without a key a fresh one is drawn and forgotten, so that nobody can repeat the noise. A seed is for experiments.
    """
    if key is not None and seed is not None:
        raise PlanError("A key and a seed were both given. Use a key to publish, a seed to experiment.")
    chosen = key or (Key.fresh() if seed is None else Key.from_seed(seed))
    original = from_frame(table)
    made = run(original, plan, key=chosen, keep_order=keep_order, progress=progress)
    return Released(**made.__dict__, original=original)


def measure(original: Any, released: Release) -> Measured:
    """Measure a release against its original."""
    return Measured(released, linkage_of(from_frame(original), released))
