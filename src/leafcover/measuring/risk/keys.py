"""How many rows share a key: k-anonymity, l-diversity and t-closeness over the columns an attacker may know.

Sources: Samarati and Sweeney 1998 (k), Machanavajjhala and others 2007 (l), Li, Li and Venkatasubramanian 2007 (t).
With many key columns nearly every row is alone; name the few that an outsider can really know, or cut numbers by
``bins``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from leafcover.fast.arrays import Array
from leafcover.measuring.figures import Risk, risk_of
from leafcover.measuring.pair import Pair
from leafcover.measuring.risk.alike import Classes, chosen_keys, classes_of, matching_sizes
from leafcover.measuring.risk.sameness import Closeness, Diversity, closeness_of, diversity_of, spread_of
from leafcover.measuring.sampling import how
from leafcover.table.table import Table

Of = Literal["original", "release"]
Rule = Literal["own", "matches", "drop"]

RULES: dict[Rule, str] = {
    "own": "a missing value is a value of its own",
    "matches": "a missing value may be any value",
    "drop": "rows with a missing key are left out",
}
NOT_PROTECTION = "not protection"
WHY = (
    "The keys of a perturbed row are not the person's own: a row that looks like many others may still be found by its "
    "nearest values, and a row that stands alone need not be the person it looks like. Only attacks can tell."
)


@dataclass(frozen=True)
class Anonymity:
    """How many rows share a row's key, under one rule for missing values."""

    rule: Rule
    smallest: int  # k, the fewest rows that share a key; among those asked; 0 when no row is left
    unique: Risk  # rows whose key nobody shares
    below_three: Risk
    below_five: Risk
    how: str


@dataclass(frozen=True)
class KeyClasses:
    """The classes of rows with the same key in one of the two tables."""

    of: Of
    label: str  # "" or "not protection"
    why: str  # what the label means
    columns: tuple[str, ...]
    bins: int  # 0: numbers as they are
    anonymity: tuple[Anonymity, ...]  # one for each rule
    diversity: tuple[Diversity, ...]  # one for each confidential column, else for the target
    closeness: tuple[Closeness, ...]


def key_classes(
    pair: Pair, *, of: Of = "original", columns: Sequence[str] = (), bins: int = 0, perturbed: bool = True
) -> KeyClasses:
    """k under every rule, l and t of one of the tables, over the pair's keys unless columns are named.

    For a release that was only coarsened (values made wider, none made false) say ``perturbed=False``.
    """
    table, keys = _table(pair, of), chosen_keys(pair, columns)
    classes = classes_of(table, keys, bins=bins, like=pair.original)
    doubtful = of == "release" and perturbed
    return KeyClasses(
        of,
        NOT_PROTECTION if doubtful else "",
        WHY if doubtful else "",
        keys,
        bins,
        tuple(_anonymity(pair, table, keys, rule, bins, classes) for rule in RULES),
        diversity(pair, of=of, columns=columns, bins=bins),
        closeness(pair, of=of, columns=columns, bins=bins),
    )


def anonymity(
    pair: Pair, *, of: Of = "original", rule: Rule = "own", columns: Sequence[str] = (), bins: int = 0
) -> Anonymity:
    """k-anonymity of one of the tables under one rule for missing values."""
    table, keys = _table(pair, of), chosen_keys(pair, columns)
    return _anonymity(pair, table, keys, rule, bins, classes_of(table, keys, bins=bins, like=pair.original))


def diversity(pair: Pair, *, of: Of = "original", columns: Sequence[str] = (), bins: int = 0) -> tuple[Diversity, ...]:
    """l-diversity of each confidential column, else of the target, in classes of rows with the same other keys."""
    table, classes = _confidential_classes(pair, of, columns, bins)
    return tuple(diversity_of(spread_of(table[name], classes.label, len(classes.size))) for name in _hidden(pair))


def closeness(pair: Pair, *, of: Of = "original", columns: Sequence[str] = (), bins: int = 0) -> tuple[Closeness, ...]:
    """t-closeness of each confidential column, else of the target, in classes of rows with the same other keys."""
    table, classes = _confidential_classes(pair, of, columns, bins)
    return tuple(closeness_of(spread_of(table[name], classes.label, len(classes.size))) for name in _hidden(pair))


def _table(pair: Pair, of: Of) -> Table:
    return pair.original if of == "original" else pair.released


def _hidden(pair: Pair) -> tuple[str, ...]:
    return pair.confidential or ((pair.target,) if pair.target else ())


def _confidential_classes(pair: Pair, of: Of, columns: Sequence[str], bins: int) -> tuple[Table, Classes]:
    """A column that is to be learned cannot be among those that are known."""
    table, keys = _table(pair, of), chosen_keys(pair, columns, without=_hidden(pair))
    return table, classes_of(table, keys, bins=bins, like=pair.original)


def _anonymity(pair: Pair, table: Table, keys: tuple[str, ...], rule: Rule, bins: int, classes: Classes) -> Anonymity:
    lost = np.zeros(len(table), bool)
    for name in keys:
        lost |= table[name].missing
    sizes, asked = classes.of_row, len(table)
    if rule == "drop":  # rows with a missing key stand in classes of their own kind, so the others' do not change
        sizes = sizes[~lost]
    elif rule == "matches" and lost.any():
        people, sizes = matching_sizes(table, keys, bins=bins, like=pair.original)
        asked = len(people)
    return Anonymity(
        rule,
        int(sizes.min()) if len(sizes) else 0,
        _share(sizes == 1),
        _share(sizes < 3),
        _share(sizes < 5),
        how(asked, len(table)),
    )


def _share(rows: Array) -> Risk:
    return risk_of(rows.astype(np.float64))
