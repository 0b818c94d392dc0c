"""A project: a table, everything that was decided about its release, and its files, as ``leafcover.toml`` says.

project = lc.init("people.csv", target="income", audience="researchers")
release = project.release()
project.save(release)
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from leafcover.api import load, read, release, verify
from leafcover.engine.audience import AUDIENCES, AudienceName, audience_named, plan_within
from leafcover.engine.evaluate import MOST_SINGLETONS
from leafcover.engine.manifest import ReleasePaths, beside, default_output
from leafcover.engine.project_draft import DraftNote, DraftOptions, code_reason, draft, labelled_missing, missing_texts
from leafcover.engine.project_file import (
    FILE_NAME,
    ProjectFile,
    edited,
    find_project,
    parse_project,
    project_path,
    read_text,
    write_project,
)
from leafcover.engine.run import Progress
from leafcover.engine.verify import Check
from leafcover.errors import NameUnknown, ProjectError
from leafcover.recipes.plan import Plan
from leafcover.recipes.plan_file import read_plan
from leafcover.recipes.registry import RECIPES
from leafcover.registry import checks_arguments
from leafcover.released import Loaded, Released
from leafcover.table.atomic import atomic_write, check_output_path
from leafcover.table.infer import MISSING_TOKENS
from leafcover.table.io import Place, is_workbook, place_of, place_within
from leafcover.table.separators import SeparatorOption
from leafcover.table.table import Role, Table
from leafcover.tuning.sweep import Sweep, sweep

DEFAULT_RECIPE = "cover"
EXPERIMENT = {"key_file": None, "project": None}  # a release with a seed has no key, and no place in the ledger


@dataclass(frozen=True)
class Project:
    """A project file, and what its commands do.

    Attributes
    ----------
    path : Path
        The project file. Paths in it are relative to its folder.
    text : str
        Its text, with the changes that were made by `changed`.
    base : str
        Its text when it was read, by which `write` sees changes of others.
    notes : tuple of DraftNote
        What `init` decided about the table, and why; empty for a project that was read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import leafcover as lc
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory) / "leafcover.toml"
    ...     project = lc.init(lc.sample("cps1985"), path, target="union")
    ...     table = project.table()
    >>> table.roles, project.settings.undecided
    ({'union': 'target'}, ('audience',))
    """

    path: Path
    text: str = field(repr=False)
    base: str = field(repr=False)
    notes: tuple[DraftNote, ...] = field(default=(), repr=False)

    @staticmethod
    def read(place: str | Path = ".") -> "Project":
        """Read a project file.

        Parameters
        ----------
        place : str or Path, default "."
            The file, or its folder. From the current folder it is looked for in the folders above, too.

        Returns
        -------
        Project

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     _ = lc.init(lc.sample("wine"), Path(directory) / "leafcover.toml")
        ...     lc.Project.read(directory).settings.undecided
        ('audience', 'target')
        """
        path = find_project(Path()) if Path(place) == Path() else None
        path = project_path(place) if path is None else path
        text = read_text(path)
        project = Project(path, text, text)
        _ = project.settings  # checked now
        return project

    @cached_property
    def settings(self) -> ProjectFile:
        """Every key of the file, checked."""
        return parse_project(self.text, str(self.path))

    @property
    def folder(self) -> Path:
        """The folder of the project, which paths in the file start from."""
        return self.path.parent

    @property
    def paths(self) -> ReleasePaths:
        """The files of the release."""
        given = self.settings.output.table
        return ReleasePaths.of(place_within(self.folder, given) if given else self._default_output)

    @property
    def _default_output(self) -> Path:
        if isinstance(self.input, Path):
            return default_output(self.input)
        raise ProjectError(f"'{self.path}' reads a database and names no output.table. Add one.")

    @property
    def input(self) -> Place:
        """The original: a file, or a table of a database."""
        return place_within(self.folder, self.settings.input.file)

    @property
    def report_path(self) -> Path:
        """The steward's report; the public one is written beside it."""
        given = self.settings.output.report
        return self.folder / given if given else beside(self.paths.table, "report", ".html")

    @property
    def target(self) -> str | None:
        """The column that readers will predict, once it is decided."""
        return self.settings.chosen_target

    @property
    def key_file(self) -> Path | None:
        """The file of the secret key, if the release can be repeated."""
        given = self.settings.output.key_file
        return None if given is None else self.folder / given

    def changed(self, **changes: Any) -> "Project":
        """The project with some keys of its file changed; comments and layout stay. `write` saves it.

        Parameters
        ----------
        **changes : any
            New values by key. A mapping changes the keys of a table; None turns the line of a key into a comment.

        Returns
        -------
        Project

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     project = lc.init(lc.sample("wine"), Path(directory) / "leafcover.toml")
        ...     project = project.changed(target="class", limits={"max_risk": 0.1})
        >>> project.settings.target, project.settings.limits.max_risk
        ('class', 0.1)
        """
        project = replace(self, text=edited(self.text, changes))
        _ = project.settings
        return project

    def write(self) -> "Project":
        """Save the changes, unless the file has changed since it was read.

        Returns
        -------
        Project
            The project as it is now on disk.
        """
        write_project(self.path, self.text, base=self.base)
        return replace(self, base=self.text)

    def table(self) -> Table:
        """Read the original, with the roles that are decided.

        Returns
        -------
        Table
        """
        file = self.input if isinstance(self.input, Path) else self.input.path
        if file is not None and not file.exists():
            raise ProjectError(f"'{self.path}': there is no file '{file}', which input.file names. Correct it.")
        if self.settings.input.sheet is not None and not is_workbook(self.input):
            raise ProjectError(
                f"'{self.path}': input.sheet is for an .xlsx workbook, and '{file}' has no sheets. Remove it."
            )
        try:
            return read(self.input, **self.reading)
        except NameUnknown as error:
            keys = [key for key, names in self._columns_named.items() if error.name in names]
            keys = ["input.sheet"] if error.what == "sheet" else keys
            where = f"named by {keys[0] if keys else 'a key'} in '{self.path}'"
            raise NameUnknown(error.what, error.name, error.known, where) from None

    @property
    def _columns_named(self) -> dict[str, Collection[str]]:
        """The columns that each key of the file names."""
        settings, given = self.settings, self.settings.input
        found = {"[columns]": settings.columns, "input.category": given.category, "input.missing": given.missing}
        return {**found, "target": () if self.target is None else (self.target,)}

    @property
    def reading(self) -> dict[str, Any]:
        """How the original is read, as arguments of `leafcover.read`."""
        settings, roles = self.settings, dict[str, Role]()
        for name, role in settings.columns.items():
            if role not in {"", "drop", "?"}:
                roles[name] = role  # type: ignore[assignment]  # one of the others
        target = settings.chosen_target
        if target is not None and roles.get(target) not in ("unchanged", "sensitive", "quasi-identifier"):
            roles[target] = "target"
        given = settings.input
        text = {name: value for name, value in given.model_dump().items() if name != "file" and value is not None}
        drop = list(settings.with_role("drop"))
        return {**text, "category": list(given.category), "roles": roles, "drop": drop}

    def refuse_undecided(self) -> None:
        """Raise an error for what the steward has not decided yet.

        Returns
        -------
        None
            If everything is decided.
        """
        if marked := self.settings.undecided:
            raise ProjectError(
                f"'{self.path}' leaves open: {', '.join(marked)}. Replace each \"?\"; the comment "
                "beside it says by what."
            )

    @property
    def asked(self) -> dict[str, Any]:
        """What a recipe is asked for, as arguments of `leafcover.recipes.plan_for`."""
        method = self.settings.method
        settings = dict(method.settings) | ({} if method.bins is None else {"bins": method.bins})
        names = ("rules", "find_rules", "sequence", "most_rows", "rare", "share", "weights", "keep_tables", "recode")
        return {"target": self.target, "settings": settings, **{n: getattr(method, n) for n in names}}

    @property
    def recipe(self) -> str:
        """The recipe, if there is no plan file; a name that does not exist is an error."""
        method = self.settings.method
        name = method.recipe or DEFAULT_RECIPE
        if name not in RECIPES:
            raise NameUnknown("recipe", name, RECIPES, f"named by method.recipe in '{self.path}'")
        for one in method.settings:
            if one not in (known := RECIPES[name].parameters):
                where = f"of recipe {name!r}, named by method.settings in '{self.path}'"
                raise NameUnknown("parameter", one, known, where)
        return name

    def plan(self, table: Table | None = None) -> Plan:
        """The plan of the release: the plan file, or what the recipe writes for the table.

        Parameters
        ----------
        table : Table, optional
            The original, if it was read before.

        Returns
        -------
        Plan

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     project = lc.init(lc.sample("wine"), Path(directory) / "leafcover.toml", target="class")
        ...     project = project.changed(audience=None)
        ...     plan = project.plan()
        >>> plan.recipe, plan.target
        ('cover', 'class')
        """
        method, audience = self.settings.method, self.settings.chosen_audience
        if method.plan is not None:
            return read_plan(self.folder / method.plan)
        original = self.table() if table is None else table
        within = None if audience is None else AUDIENCES[audience]
        return plan_within(original, self.recipe, within, self.asked)

    def release(
        self,
        *,
        table: Table | None = None,
        seed: int | None = None,
        again: bool = False,
        replaces: bool = False,
        progress: Progress | None = None,
    ) -> Released:
        """Release the table as the file says; nothing is written before `save`.

        Parameters
        ----------
        table : Table, optional
            The original, if it was read before.
        seed : int, optional
            A fixed seed instead of the secret key, for experiments only.
        again : bool, default False
            Release people again whom the ledger of the project knows.
        replaces : bool, default False
            The release that was saved before was never given away: take it out of the ledger.
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        Released

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     project = lc.init(lc.sample("wine"), Path(directory) / "leafcover.toml", target="class")
        ...     project = project.changed(audience=None)
        ...     project = project.changed(method={"recipe": "additive"})
        ...     release = project.release(seed=7)
        >>> release.plan.recipe, release.publishable
        ('additive', False)
        """
        self.refuse_undecided()
        given = self.arguments if seed is None else {**self.arguments, **EXPERIMENT, "seed": seed}
        given |= {"again": again, "replaces": self.paths.table.name if replaces else None}
        return release(self.table() if table is None else table, **given, progress=progress)

    @property
    def arguments(self) -> dict[str, Any]:
        """How the table is released, as arguments of `leafcover.release`."""
        settings, method = self.settings, self.settings.method
        planned = method.plan is not None
        return {
            "plan": self.plan() if planned else self.recipe,
            **({"target": settings.chosen_target} if planned else self.asked),
            "unit_numbers": method.unit_numbers,
            "hold_out": method.hold_out,
            "sample": method.sample,
            "key_file": self.key_file,
            "max_risk": settings.limits.max_risk,
            "max_singletons": self.max_singletons,
            "audience": settings.chosen_audience,
            "project": self.folder if settings.output.ledger else None,
        }

    @property
    def outputs(self) -> dict[str, Any]:
        """The files of a release, as arguments of `Released.save`."""
        settings = self.settings
        return {
            "path": self.paths.place,
            "report": None if settings.output.report is None else self.report_path,
            "title": settings.title,
            "date": settings.date,
            "key_file": self.key_file,
            "publish_tree": settings.output.publish_tree,
        }

    def save(self, release: Released, *, force: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Write a release, its report and all other files to the places that the project file names.

        Parameters
        ----------
        release : Released
            What `release` returned.
        force : bool, default False
            Overwrite files that exist.
        progress : callable, optional
            Called with the current task and the share that is done.

        Returns
        -------
        dict
            The manifest that may be published.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     project = lc.init(lc.sample("wine"), Path(directory) / "leafcover.toml", target="class")
        ...     project = project.changed(audience=None)
        ...     project = project.changed(method={"recipe": "additive"}, output={"report": None, "table": "out.csv"})
        ...     manifest = project.save(project.release(seed=7))
        >>> manifest["output"]["file"], manifest["recipe"]
        ('out.csv', 'additive')
        """
        return release.save(**self.outputs, force=force, progress=progress)

    def load(self) -> Loaded:
        """The saved release with its original, to be measured and reported.

        Returns
        -------
        Loaded
        """
        return load(self.paths.place, original=self.table(), target=self.target)

    def verify(self) -> list[Check]:
        """Check the saved release: its hash, every guarantee, and with a key file every byte.

        Returns
        -------
        list of Check
        """
        return verify(self.paths.place, original=self.input, key_file=self.key_file)

    def sweep(self, **options: Any) -> Sweep:
        """Compare recipes and strengths on the table, within the limit of the project.

        Parameters
        ----------
        **options : any
            Further arguments of `leafcover.sweep`.

        Returns
        -------
        leafcover.tuning.sweep.Sweep

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import leafcover as lc
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     project = lc.init(lc.sample("wine"), Path(directory) / "leafcover.toml", target="class")
        ...     project = project.changed(audience=None)
        ...     found = project.sweep(recipes=["additive"], grid={"spread": [1]}, runs=1, seed=7)
        >>> [point.name for point in found.points]
        ['additive spread=1']
        """
        given = {"target": self.target, "bins": self.settings.method.bins, "max_risk": self.max_risk}
        return sweep(self.table(), **{**given, **options})

    @property
    def max_singletons(self) -> float | None:
        """The limit of rows that are alone in their cell: the file's, or the usual one; None is the audience's."""
        given = self.settings.limits.max_singletons
        return MOST_SINGLETONS if given is None and self.settings.chosen_audience is None else given

    @property
    def max_risk(self) -> float | None:
        """The limit of risk: that of the file, or of the audience."""
        audience, given = self.settings.chosen_audience, self.settings.limits.max_risk
        return given if given is not None or audience is None else AUDIENCES[audience].max_risk


@checks_arguments()
def init(
    table: str | Place,
    path: str | Path = FILE_NAME,
    *,
    target: str | None = None,
    audience: AudienceName | None = None,
    roles: Mapping[str, Role] | None = None,
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
    missing: Mapping[str, Sequence[str]] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    query: str | None = None,
    decimal: SeparatorOption = None,
    thousands: SeparatorOption = None,
    force: bool = False,
) -> Project:
    """Make a project file for a table: what can be decided is, with a comment that says why; "?" marks the rest.

    Parameters
    ----------
    table : str or Path
        The table: a file, or the address of a database.
    path : str or Path, default "leafcover.toml"
        The project file, or its folder.
    target : str, optional
        The column that readers will predict.
    audience : {"public", "researchers"}, optional
        Who gets the release.
    roles : mapping of str to str, optional
        Roles of columns that are known already.
    drop, category : sequence of str, optional
        Columns to leave out, and to read as categories.
    missing : mapping of str to sequence of str, optional
        For each column, the texts that mean a missing value.
    encoding, delimiter : str, optional
        How a text file is read.
    sheet : str or int, optional
        The sheet of a workbook.
    query : str, optional
        A query of a database, instead of a table.
    decimal, thousands : str or mapping of str to str, optional
        How its numbers are written.
    force : bool, default False
        Overwrite a project file that exists.

    Returns
    -------
    Project

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import leafcover as lc
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = Path(directory) / "leafcover.toml"
    ...     project = lc.init(lc.sample("adult"), path, target="income")
    >>> project.settings.columns["fnlwgt"], project.settings.undecided
    ('weight', ('audience',))
    """
    place, source = project_path(path), place_of(table)
    check_output_path(place, force=force)
    if audience is not None:
        audience_named(audience)
    text: dict[str, Any] = {"encoding": encoding or "utf-8", "delimiter": delimiter}
    text |= {"sheet": sheet, "query": query, "decimal": decimal, "thousands": thousands}
    tokens = {name: [str(one) for one in texts] for name, texts in (missing or {}).items()}
    data = read(source, category=category, missing=tokens, **text)
    texts = {c.name: missing_texts(c) for c in data if c.name not in (*tokens, *category)}
    known = {name: MISSING_TOKENS if data[name].missing.any() else () for name in texts}
    proposed = {name: [*known[name], *found] for name, found in texts.items() if found}
    if proposed:  # in a file with types, numbers that are stored as text stay text
        again = read(source, category=category, missing=tokens | proposed, **text)
        tokens |= {name: found for name, found in proposed.items() if not again[name].is_category}
    labelled = {name: codes for name, codes in labelled_missing(data).items() if name not in (*tokens, *category)}
    tokens |= {name: [*codes] for name, codes in labelled.items()}
    reasons = {c.name: "given" if c.name in category else code_reason(c) for c in data if c.name not in tokens}
    coded = {name: reason for name, reason in reasons.items() if reason is not None}
    if len(coded) > len(category) or proposed or labelled:
        data = read(source, category=[*coded], missing=tokens, **text)
    given = {**{name: str(role) for name, role in (roles or {}).items()}, **dict.fromkeys(drop, "drop")}
    for name in (*given, *(() if target is None else (target,))):
        if name not in data.names:
            raise NameUnknown("column", name, data.names)
    chosen = {name: role for name, role in given.items() if role != "target"}
    target = next((name for name, role in given.items() if role == "target"), target)
    source = source if isinstance(source, Path) or query is not None else source.named(data.reading.name)
    released = default_output(source if isinstance(source, Path) else Path(f"{source.name or 'table'}.parquet"))
    options = DraftOptions(
        file=relative(source, place.parent),
        output=relative(place.parent / released.name, place.parent),
        report=beside(released, "report", ".html").name,
        title=released.name.split(".")[0],
        target=target,
        audience=audience,
        roles=chosen,
        category=coded,
        missing=tokens,
        missing_labels=labelled,
        encoding=encoding,
        delimiter=delimiter,
        sheet=sheet,
        query=query,
        decimal=decimal,
        thousands=thousands,
    )
    made = draft(data, options)
    parse_project(made.text, str(place))
    with atomic_write(place, force=force) as part:
        part.write_text(made.text, "utf-8")
    return Project(place, made.text, made.text, made.notes)


def relative(path: Place, folder: Path) -> str:
    """A path or an address as a project file in the folder names it; never with a password."""
    if not isinstance(path, Path):
        if path.path is None:
            return str(path)
        return f"{path.scheme}:///{relative(path.path, folder)}" + (f"#{path.name}" if path.name else "")
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # on another drive of Windows
        return path.absolute().as_posix()
