"""The public functions, for the command line, reports and notebooks.

``read`` a table, ``inspect`` it, ``release`` it by a plan, ``save`` and ``report`` the release, ``measure`` it,
``load`` it again, ``verify`` it, ``sweep`` over recipes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from leafcover.engine.attacker import Known
from leafcover.engine.audience import AudienceName, Limits, Thresholds, audience_named, limits_of, plan_within
from leafcover.engine.evaluate import (
    Comparison,
    check_limit,
    compared_to,
    measure_all,
    measure_some,
    refuse_same_people,
    refuse_singletons,
    refuse_with_a_release,
    released_rows,
)
from leafcover.engine.evaluate import (
    hold_out as split_rows,
)
from leafcover.engine.files import read_like, read_original, recall
from leafcover.engine.manifest import load_record
from leafcover.engine.run import Progress, Release, run
from leafcover.engine.verify import Check, refuse_absent, refuse_unreleased
from leafcover.engine.verify import verify as verify_record
from leafcover.errors import PlanError, TableError, ValueOutOfRange
from leafcover.keyed_random import Key, choose_key, key_from_file
from leafcover.metrics.pair import pair_of, source_of
from leafcover.metrics.suite import Measures
from leafcover.recipes.plan import Plan
from leafcover.recipes.registry import RECIPES, Rare, rewritten
from leafcover.recode.base import Recoding
from leafcover.registry import checks_arguments
from leafcover.released import SILENT, Loaded, Released
from leafcover.table.column_rules import ColumnRule
from leafcover.table.frames import from_frame
from leafcover.table.inspection import TableFacts, describe
from leafcover.table.io import PLACES, MissingTokens, Place, place_of
from leafcover.table.io import read as read_file
from leafcover.table.rule_search import refuse_unkept
from leafcover.table.separators import SeparatorOption
from leafcover.table.table import IntoTable, Role, Table, check_weight, column_name, without_unused_levels
from leafcover.table.weights import Leave


@checks_arguments()
def read(
    source: str | Place | IntoTable,
    *,
    roles: Mapping[str, Role] | None = None,
    category: Sequence[str] = (),
    missing: MissingTokens | None = None,
    drop: Sequence[str] = (),
    encoding: str = "utf-8",
    delimiter: str | None = None,
    decimal: SeparatorOption = None,
    thousands: SeparatorOption = None,
    sheet: str | int | None = None,
    query: str | None = None,
) -> Table:
    """Read a table from a file, a database or a data frame.

    Parameters
    ----------
    source : str, Path or data frame
        A file, whose suffix determines the format (.csv, .tsv, .parquet, .arrow, .feather, .xlsx, .dta, .sav, .zsav,
        .por, .sas7bdat, .xpt, .arff, or C4.5's .data and .test), a database, such as "postgresql://host/db#people" or
        "people.duckdb#people", or a pandas, polars or pyarrow frame.
    roles : mapping of str to str, optional
        Roles of columns: "target", "identifier", "quasi-identifier", "sensitive", "unit", "weight" or "unchanged".
    category : sequence of str, optional
        Columns to read as categories even if they look like numbers, such as postal codes.
    missing : mapping of str to str, number or sequence of them, optional
        For each column, the texts or numbers that mean a missing value. In CSV files they replace the default "?",
        "NA", "NaN" and "nan"; an empty cell is always missing. In typed columns they are missing in addition to nulls.
        A number (-9 or -9.0), and in typed columns a date (2099-12-31), is compared by its value.
    drop : sequence of str, optional
        Columns to leave out.
    encoding : str, default "utf-8"
        Encoding of a text file. Ignored for other formats and for frames.
    delimiter : str, optional
        Delimiter of a CSV file. By default it is inferred from the header. Ignored for other formats and for frames.
    decimal, thousands : str or mapping of str to str, optional
        The decimal separator of a CSV file, "." or ",", and that of thousands: ",", ".", " " (any space), "'" or ""
        (none); for all columns or for each. By default they are found, with a warning; 1,234 may need them.
    sheet : str or int, optional
        The sheet of an Excel workbook, by its name or its number (the first is 1); needed if several have data.
    query : str, optional
        A query of a database, such as "select * from people where year = 2024", instead of one of its tables.

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
    columns: dict[str, Any] = {"missing": missing, "category": category, "drop": drop, "roles": roles}
    if isinstance(source, PLACES):
        text = {"encoding": encoding, "delimiter": delimiter, "decimal": decimal, "thousands": thousands}
        return read_file(source, **columns, **text, sheet=sheet, query=query)  # type: ignore[arg-type]
    return from_frame(source, **columns)


def inspect(table: IntoTable) -> TableFacts:
    """Look at a table before anything is decided.

    Parameters
    ----------
    table : Table or frame
        What `read` gives, or a pandas, polars or pyarrow frame.

    Returns
    -------
    TableFacts
        Kind, role, domain and missing values of each column, how many rows are unique, what reading warned of, and the
        columns that look like direct identifiers; ``print`` it for a table.

    Examples
    --------
    >>> import leafcover as lc
    >>> facts = lc.inspect(lc.read(lc.sample("cps1985")))
    >>> facts.rows, facts.columns[0].name, facts.columns[0].domain
    (534, 'wage', ('1', '44.5'))
    """
    return describe(from_frame(table))


@checks_arguments("plan", "target", "key")
def release(
    table: IntoTable,
    plan: Plan | str = "cover",
    *,
    target: str | None = None,
    settings: Mapping[str, Any] | None = None,
    rules: Sequence[str | ColumnRule] = (),
    find_rules: bool | None = None,
    sequence: str | None = None,
    most_rows: int | None = None,
    unit_numbers: bool = True,
    rare: Rare | None = None,
    share: int | None = None,
    weights: Leave | None = None,
    keep_tables: Sequence[str | Sequence[str]] = (),
    recode: str | Recoding | Sequence[str | Recoding] = (),
    key: Key | None = None,
    key_file: str | Path | None = None,
    seed: int | None = None,
    keep_order: bool = False,
    hold_out: float | None = None,
    sample: float | None = None,
    max_risk: float | None = None,
    max_singletons: float | None = None,
    audience: AudienceName | None = None,
    project: str | Path | None = None,
    again: bool = False,
    replaces: str | None = None,
    progress: Progress | None = None,
) -> Released:
    """Release a table by a plan or a recipe.

    Parameters
    ----------
    table : Table or frame
        What `read` gives, or a pandas, polars or pyarrow frame.
    plan : Plan or str, default "cover"
        A plan, or the name of a recipe that writes one.
    target : str, optional
        The column whose rules a recipe preserves. Default: the column with the role "target".
    settings : mapping, optional
        Parameters of the recipe.
    rules : sequence of str or ColumnRule, optional
        Relations between columns that every released row must keep, such as ``"total == a + b"`` or ``"start <= end"``.
    find_rules : bool, optional
        Whether further rules are looked for in the table and kept. Default: as the recipe does; ``cover`` looks for
        rules, recipes of publications do not.
    sequence : str, optional
        If a column has the role "unit", so that several rows belong to one person or household: the column by which
        the rows of a unit follow each other. Default: the first date or time that varies within units, or the order of
        the table.
    most_rows : int, optional
        The largest number of rows that a unit gives. Default: as many as at least 10 units have.
    unit_numbers : bool, default True
        Whether the release says which rows belong to one unit, by new numbers in the unit's column; otherwise it has no
        such column.
    rare : {"allow", "pool", "refuse"}, optional
        What happens to levels of categories that fewer than 5 people have: they stay, they become one level, or nothing
        is released. Default: as the recipe does; ``cover`` pools them, recipes of publications let them stay.
    share : int, optional
        The minimum number of rows that hold a number, so that no rare or extreme one is released: neighbours in rank
        take their rounded mean. Default: 5 for ``cover``, 1 for recipes of publications.
    weights : {"drop", "classes", "calibrated"}, optional
        How survey weights leave: not at all, as the mean weight of classes of at least 5 people, or calibrated so that
        weighted totals are kept. Default: calibrated, if a column has the role "weight".
    keep_tables : sequence of str or of sequences of str, optional
        Tables to keep, such as ``"sex x region"`` or ``("sex", "region")``: calibrated weights keep their weighted
        totals, and the recipe ``cover`` their numbers of rows.
    recode : sequence of Recoding or str, optional
        How values become coarser or missing before anything else happens: ``lc.Round("wage", to=0.5)``, or the same as
        text, ``"wage: round 0.5"``.
    key, key_file, seed : Key, str or Path, int, optional
        The secret key, a file that holds it, or a seed for experiments; without any of them a new key is generated.
    keep_order : bool, default False
        Keep the row order, for experiments only: every row can then be linked.
    hold_out : float, optional
        The share of the rows to hold out at random, before anything is learned from the table, for measuring.
    sample : float, optional
        The share of the rows, or of the units, to release: a random sample that the key keeps secret. The others are
        held out for measuring.
    max_risk : float, optional
        Raise `RiskTooHigh` if a limited risk is above this.
    max_singletons : float, optional
        Raise `RiskTooHigh` if more than this share of the rows are singletons, alone in their cell.
    audience : {"public", "researchers"}, optional
        For whom the release is made: sets k, share, rare, max_risk and max_singletons, unless they are given.
    project : str or Path, optional
        A folder with a ledger of releases: raise `RepeatedRelease` if 5% of the people are in an earlier one.
    again : bool, default False
        Release people again, and say what averaging all their releases gains.
    replaces : str, optional
        The file of an earlier release in the ledger that was never given away: it is taken out.
    progress : callable, optional
        Called with the current task and the share that is done.

    Returns
    -------
    Released

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> lc.release(table, "cover", target="union", seed=7).table.names == table.names
    True
    """
    tell = progress or SILENT
    chosen, new_key = choose_key(key, key_file, seed)
    if isinstance(plan, str):
        RECIPES.named(plan)
    else:
        _check_plan(plan)
    within = None if audience is None else audience_named(audience)
    if within is not None:
        max_risk = within.max_risk if max_risk is None else max_risk
        max_singletons = within.max_singletons if max_singletons is None else max_singletons
        rare = rare if rare is not None or isinstance(plan, Plan) else within.rare
    if max_risk is not None:
        check_limit(max_risk)
        if keep_order:
            raise PlanError(
                "max_risk and keep_order were both given. Rows in their original order can all be linked. Use one."
            )
    if hold_out is not None and not 0 < hold_out < 1:
        raise ValueOutOfRange("hold_out", hold_out, "a share above 0 and below 1")
    if sample is not None:
        if not 0 < sample < 1:
            raise ValueOutOfRange("sample", sample, "a share above 0 and below 1")
        if hold_out is not None:
            raise PlanError("Got sample=... and hold_out=..., but rows outside a sample are held out anyway. Give one.")
    if project is None and (again or replaces is not None):
        given = "again=True" if again else "replaces=..."
        raise PlanError(f"{given} needs the ledger of a project. Name its folder with project=..., or leave it out.")
    whole = from_frame(table)
    kept, held = split_rows(whole, hold_out if sample is None else 1 - sample, chosen)
    original = without_unused_levels(whole, kept) if len(held) else whole
    repeats = None
    if project is not None:
        from leafcover.engine.ledger import confirmed, find_repeats

        key_used = None if new_key else chosen
        repeats = find_repeats(original, project, again=again, key=key_used, replaces=replaces)
    tell("writing the plan", 0.0)
    asked: dict[str, Any] = {"settings": settings, "rules": rules, "find_rules": find_rules, "sequence": sequence}
    asked |= {"most_rows": most_rows, "rare": rare, "share": share, "weights": weights, "keep_tables": keep_tables}
    asked["recode"] = recode
    chosen_plan = _plan_for(original, plan, target, asked, within, rewrite=bool(len(held)))
    refuse_unkept(chosen_plan.rules, original)
    if not unit_numbers:
        chosen_plan = _without_numbers(chosen_plan)
    made = run(original, chosen_plan, key=chosen, keep_order=keep_order, progress=progress)
    if audience is not None:
        figures: dict[str, Any] = {"max_risk": max_risk, "max_singletons": max_singletons, "rare": rare}
        made = replace(made, limits=limits_of(audience, chosen_plan, **figures))
    elif max_risk is not None:
        made = replace(made, limits=Limits(None, Thresholds(max_risk=max_risk)))
    found = Released(
        **replace(made, sampled=sample).__dict__,
        repeats=None if repeats is None else confirmed(repeats, made),
        original=original,
        held_out=whole.take(held) if len(held) else None,
        rows=kept,
        new_key=chosen if new_key else None,
    )
    if max_singletons is not None:
        refuse_singletons(found, max_singletons)
    if max_risk is not None:
        found.check_risk(max_risk, progress=progress)
    return found


def _without_numbers(plan: Plan) -> Plan:
    """The same plan for a release that does not say which rows belong to one unit."""
    if plan.units is None:
        raise PlanError("unit_numbers is False, but no column has the role unit. Leave it out.")
    return plan.replaced(units=replace(plan.units, unnumbered=True))


def _plan_for(
    table: Table,
    plan: Plan | str,
    target: str | None,
    asked: Mapping[str, Any],
    within: Thresholds | None,
    *,
    rewrite: bool,
) -> Plan:
    """The plan to execute. If rows were held out, a recipe rewrites its plan without them."""
    if isinstance(plan, str):
        return plan_within(table, plan, within, {"target": target, **asked})
    if target is not None and plan.target and target != plan.target:
        raise PlanError(f"The target is {target!r}, but the plan was written for {plan.target!r}. Use one of them.")
    if asked["settings"]:
        raise PlanError("settings are for a recipe, and a plan was given. Change the plan, or name a recipe.")
    if asked["rules"] or asked["find_rules"] is not None:
        raise PlanError("rules and find_rules are for a recipe, and a plan was given. Write the rules into the plan.")
    if any(asked[name] is not None for name in ("sequence", "most_rows", "rare", "share")):
        raise PlanError("sequence, most_rows, rare and share are for a recipe, and a plan was given. Change the plan.")
    if asked["weights"] is not None or asked["keep_tables"]:
        raise PlanError("weights and keep_tables are for a recipe, and a plan was given. Write them into the plan.")
    if asked["recode"]:
        raise PlanError("Recodings are for a recipe, and a plan was given. Write them into the plan.")
    return rewritten(plan, table) if rewrite else plan


@overload
def measure(
    original: IntoTable,
    released: IntoTable | Release,
    *,
    target: str = ...,
    pairs: Sequence[int] | None = ...,
    control: IntoTable | None = ...,
    plan: Plan | None = ...,
    quasi_identifiers: Sequence[str] = ...,
    sensitive: Sequence[str] = ...,
    weight: str = ...,
    only: None = None,
    progress: Progress | None = ...,
) -> Measures: ...


@overload
def measure(
    original: IntoTable,
    released: IntoTable | Release,
    *,
    target: str = ...,
    pairs: Sequence[int] | None = ...,
    control: IntoTable | None = ...,
    plan: Plan | None = ...,
    quasi_identifiers: Sequence[str] = ...,
    sensitive: Sequence[str] = ...,
    weight: str = ...,
    only: Sequence[str],
    progress: Progress | None = ...,
) -> dict[str, Any]: ...


@checks_arguments("target", "plan", "quasi_identifiers", "sensitive", "weight", "pairs")
def measure(
    original: IntoTable,
    released: IntoTable | Release,
    *,
    target: str = "",
    pairs: Sequence[int] | None = None,
    control: IntoTable | None = None,
    plan: Plan | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    weight: str = "",
    only: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Measures | dict[str, Any]:
    """Measure a release, or any other table, against its original.

    Parameters
    ----------
    original, released : Table or frame
        The two tables. The result of `release` has its own plan and pairs.
    target : str, optional
        The column to predict.
    pairs : sequence of int, optional
        The original row of each released row; needed to measure record linkage.
    control : Table or frame, optional
        Rows from the same population that were not released.
    plan : Plan, optional
        The plan of the release, if Leafcover made it.
    quasi_identifiers, sensitive : sequence of str, optional
        The columns an attacker knows about a person, and those that must not be inferred.
    weight : str, optional
        A column of survey weights.
    only : sequence of str, optional
        Compute only these measures, such as ``["record_linkage", "k_anonymity"]``; ``leafcover.MEASURES`` lists them.
    progress : callable, optional
        Called with the current task and the share that is done.

    Returns
    -------
    Measures, or dict if only is given
        All figures (``print`` gives a summary in words); or the result of each named measure.

    Examples
    --------
    >>> import leafcover as lc
    >>> table = lc.read(lc.sample("cps1985"))
    >>> release = lc.release(table, "cells", target="union", seed=7)
    >>> found = lc.measure(table, release, only=["record_linkage"])
    >>> round(found["record_linkage"].first.value, 3)
    0.036
    """
    if plan is not None:
        _check_plan(plan)
    before = from_frame(original)
    aside = None if control is None else from_frame(control)
    tell = progress or SILENT
    if isinstance(released, Release):
        given = {"pairs": pairs, "plan": plan, "quasi_identifiers": quasi_identifiers, "sensitive": sensitive}
        refuse_with_a_release(released, {**given, "weight": weight, "target": target})
        aside = aside if aside is not None else getattr(released, "held_out", None)
        compared = compared_to(released_rows(before, released), released, aside)
        if aside is not None:
            refuse_same_people(compared.pair)
        return measure_all(compared, tell=tell) if only is None else measure_some(compared, only, tell=tell)
    chosen_weight = column_name("weight", weight or "".join(before.with_role("weight")[:1]))
    if chosen_weight:
        check_weight(before[chosen_weight])
    pair = pair_of(
        before,
        from_frame(released),
        None if pairs is None else source_of(pairs),
        target=column_name("target", target or "".join(before.with_role("target")[:1])),
        quasi_identifiers=_names("quasi_identifiers", quasi_identifiers) or before.with_role("quasi-identifier"),
        sensitive=_names("sensitive", sensitive) or before.with_role("sensitive"),
        weight=chosen_weight,
        control=aside,
    )
    if aside is not None:
        refuse_same_people(pair)
    known = None if plan is None else Known.rebuilt(pair.original, plan)
    compared = Comparison(pair, known)
    return measure_all(compared, tell=tell) if only is None else measure_some(compared, only, tell=tell)


@checks_arguments("plan")
def load(
    path: str | Place,
    *,
    original: str | Place | IntoTable | None = None,
    target: str | None = None,
    pairs: str | Path | None = None,
    control: str | Place | IntoTable | None = None,
    plan: Plan | None = None,
    manifest: str | Path | None = None,
) -> Loaded:
    """Read a released table and the files beside it.

    Parameters
    ----------
    path : str or Path
        The released table, made by this program or another.
    original : str, Path, Table or frame, optional
        Its original, a file or a table; needed to measure.
    target : str, optional
        The column to predict, if the manifest does not name it.
    pairs : str or Path, optional
        A file with the original row of each released row, if it is not beside the table.
    control : str, Path, Table or frame, optional
        Rows from the same population that were not released, if they are not beside the table.
    plan : Plan, optional
        The plan of the release, if the manifest does not contain it.
    manifest : str or Path, optional
        The manifest, if it is not beside the table under its usual name.

    Returns
    -------
    Loaded

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import leafcover as lc
    >>> wine = lc.sample("wine")
    >>> release = lc.release(lc.read(wine), "additive", seed=7)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     _ = release.save(Path(directory) / "released.csv")
    ...     loaded = lc.load(Path(directory) / "released.csv", original=wine)
    >>> len(loaded.original), loaded.manifest["recipe"]
    (178, 'additive')
    """
    place = place_of(path)
    refuse_absent(place)
    record = load_record(place, None if manifest is None else Path(manifest))
    if original is None:
        return Loaded(read_file(place, **({} if record.is_of_counts else record.text_options)), record)
    if record.is_of_counts:
        raise TableError(f"{str(place)!r} is a table of counts, which has no rows to measure. Verify it instead.")
    before = read_original(original, record, target)
    aside = read_like(place_of(control), before) if isinstance(control, PLACES) else control
    found = recall(
        record,
        before,
        read_like(place, before, record.labelled),
        target=target or record.target or "".join(before.with_role("target")[:1]),
        pairs=None if pairs is None else Path(pairs),
        control=None if aside is None else from_frame(aside),
        plan=plan,
    )
    compared = Comparison(found.pair, found.known)
    return Loaded(found.pair.released, record, found.original, compared, found.release)


@checks_arguments()
def verify(
    path: str | Place,
    *,
    original: str | Place | IntoTable | None = None,
    key: Key | None = None,
    key_file: str | Path | None = None,
    manifest: str | Path | None = None,
) -> list[Check]:
    """Check a released table against its manifest; with the original, all guarantees; with the key, every byte.

    Parameters
    ----------
    path : str or Path
        A table that `Released.save` or ``leafcover release`` wrote; it may have been renamed.
    original : str, Path, Table or frame, optional
        The original, to check every guarantee.
    key, key_file : Key, str or Path, optional
        The key, to repeat the release byte for byte; needs the original.
    manifest : str or Path, optional
        The manifest, if it is not beside the table.

    Returns
    -------
    list of Check
        The checks and their results.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import leafcover as lc
    >>> wine = lc.sample("wine")
    >>> release = lc.release(lc.read(wine), "additive", seed=7)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     _ = release.save(Path(directory) / "released.csv")
    ...     checks = lc.verify(Path(directory) / "released.csv", original=wine)
    >>> [check.what for check in checks if not check.holds]  # a seed can be guessed
    ['made with a secret key, rows in a secret order']
    """
    if (key is not None or key_file is not None) and original is None:
        raise PlanError("Verifying with a key needs the original table. Give original=... too.")
    if key_file is not None and not Path(key_file).exists():
        raise PlanError(f"There is no key file '{key_file}'. Name the one that the release was made with.")
    place = place_of(path)
    record = load_record(place, None if manifest is None else Path(manifest))
    refuse_unreleased(place, record, inner=original is not None)  # before a large original is read
    table = None if original is None else read_original(original, record, None)
    secret = key if key_file is None else key_from_file(Path(key_file))
    return verify_record(place, record, original=table, key=secret)


def _check_plan(plan: Any) -> None:
    if not isinstance(plan, Plan):
        raise PlanError(
            f"A plan is needed, such as leafcover.recipes.cover(table, target=...) writes. Got {type(plan).__name__}."
        )


def _names(what: str, names: str | Sequence[str] | None) -> list[str]:
    """Column names as a sequence; a single name may be given as text."""
    given = [names] if isinstance(names, str) else names or []
    return [column_name(what, name) for name in given if name != ""]
