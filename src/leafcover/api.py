"""The two verbs of the library: release and measure, for tables and for frames of any library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leafcover.engine.attacker import Known
from leafcover.engine.evaluate import Comparison, compared_to, measure_all, refuse_same_people
from leafcover.engine.run import Progress, Release, run
from leafcover.engine.summary import summary
from leafcover.errors import PlanError
from leafcover.metrics.pair import pair_of, source_of
from leafcover.metrics.suite import Measures
from leafcover.recipes.plan import Plan
from leafcover.rng import Key
from leafcover.table.frames import from_frame, to_frame
from leafcover.table.io import read as read_file
from leafcover.table.table import Role, Table, column_name


@dataclass(frozen=True, eq=False)
class Released(Release):
    """A release; ``frame`` is the table in the library it came from."""

    original: Table

    @property
    def frame(self) -> Any:
        """The released table as pandas, polars or pyarrow, as it came in."""
        return to_frame(self.table)

    def __str__(self) -> str:
        return summary(self)


def read(
    source: Any,
    *,
    roles: Mapping[str, Role] | None = None,
    category: Sequence[str] = (),
    missing: Mapping[str, Sequence[str]] | None = None,
    drop: Sequence[str] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
) -> Table:
    """Read a table from a file or a data frame.

    Parameters
    ----------
    source : str, Path or data frame
        A file, whose suffix determines the format (.csv, .tsv, .parquet, .arrow, .feather, .arff, or C4.5's .data and
        .test), or a pandas, polars or pyarrow frame.
    roles : mapping of str to str, optional
        Roles of columns: "target", "identifier", "quasi-identifier", "sensitive", "unit", "weight" or "unchanged".
    category : sequence of str, optional
        Columns to read as categories even if they look like numbers, such as postal codes.
    missing : mapping of str to sequence of str, optional
        For each column, the texts that mean a missing value. In CSV files they replace the default "?", "NA", "NaN"
        and "nan". An empty cell is always missing.
    drop : sequence of str, optional
        Columns to leave out.
    encoding : str, default "utf-8"
        Encoding of a text file. Ignored for other formats and for frames.
    delimiter : str, optional
        Delimiter of a CSV file. By default it is inferred from the header. Ignored for other formats and for frames.

    Returns
    -------
    Table

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"), roles={"union": "target"}, drop=["region"])
    >>> len(table), table["union"].kind
    (534, 'category')
    """
    if isinstance(source, str | Path):
        return read_file(
            source,
            missing=missing,
            category=category,
            drop=drop,
            roles=roles,
            encoding=encoding,
            delimiter=delimiter,
        )
    return from_frame(source, missing=missing, category=category, drop=drop, roles=roles)


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
    _check_plan(plan)
    if key is not None and not isinstance(key, Key):
        raise PlanError(f"A key must be a leafcover.Key, such as Key.fresh(). Got {type(key).__name__}.")
    chosen = key or (Key.fresh() if seed is None else Key.from_seed(seed))
    original = from_frame(table)
    made = run(original, plan, key=chosen, keep_order=keep_order, progress=progress)
    return Released(**made.__dict__, original=original)


def measure(
    original: Any,
    released: Any,
    *,
    target: str = "",
    pairs: Sequence[int] | None = None,
    control: Any = None,
    plan: Plan | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    weight: str = "",
    progress: Progress | None = None,
) -> Measures:
    """Measure a release, or any other table, against its original (frames of any library, or tables).

    What `release` gives knows its own plan and pairs. Of another table, ``pairs`` names the original row of each
    released one (without them nobody can be linked), ``control`` holds rows like the original's that were not
    released, and ``plan`` is the plan that made it, if it was one of ours.
    """
    if plan is not None:
        _check_plan(plan)
    before = from_frame(original)
    aside = None if control is None else from_frame(control)
    tell = progress or (lambda words, share: None)
    if isinstance(released, Release):
        compared = compared_to(before, released, aside)
        if aside is not None:
            refuse_same_people(compared.pair)
        return measure_all(compared, tell=tell)
    pair = pair_of(
        before,
        from_frame(released),
        None if pairs is None else source_of(pairs),
        target=column_name("target", target or "".join(before.with_role("target")[:1])),
        quasi_identifiers=_names("quasi_identifiers", quasi_identifiers) or before.with_role("quasi-identifier"),
        sensitive=_names("sensitive", sensitive) or before.with_role("sensitive"),
        weight=column_name("weight", weight or "".join(before.with_role("weight")[:1])),
        control=aside,
    )
    if aside is not None:
        refuse_same_people(pair)
    known = None if plan is None else Known.made_anew(pair.original, plan)
    return measure_all(Comparison(pair, known), tell=tell)


def _check_plan(plan: Any) -> None:
    if not isinstance(plan, Plan):
        raise PlanError(
            f"A plan is needed, such as leafcover.recipes.cover(table, target=...) writes. Got {type(plan).__name__}."
        )


def _names(what: str, names: str | Sequence[str] | None) -> list[str]:
    """Column names, where one alone may be given as it is."""
    given = [names] if isinstance(names, str) else names or []
    return [column_name(what, name) for name in given if name != ""]
