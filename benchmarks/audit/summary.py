"""The figures of a table over its splits and keys: means first, then the largest column; with standard errors."""

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

import numpy as np

Splits = Mapping[str, Mapping[str, Any]]
Reader = Callable[[Mapping[str, Any], Mapping[str, Any]], float | None]  # (a release, its split)
WORST = 10
ENOUGH = 0.001  # p of one release below which copies are significant


def summarised(splits: Splits, version: str) -> dict[str, Any]:
    """All figures of one table as [mean, standard error]."""
    common = [one["common"] for one in splits.values()]
    targets = list(common[0]["floors"])
    figures = {
        "agreement": over(splits, lambda r, s: r["agreement"][targets[0]]),
        "floor": over(splits, lambda r, s: fmean(s["floors"][targets[0]])),
        "above floor": over(splits, lambda r, s: r["agreement"][targets[0]] - fmean(s["floors"][targets[0]])),
        "accuracy": over(splits, lambda r, s: r["accuracy"]),
        "two-way": over(splits, lambda r, s: r["margins"][0]),
        "two-way of a bootstrap": over(splits, lambda r, s: s["margins"][0]),
        "three-way": over(splits, lambda r, s: r["margins"][1]),
        "three-way of a bootstrap": over(splits, lambda r, s: s["margins"][1]),
        "copies": over(splits, lambda r, s: r["copies"]["records"]["above"] if "records" in r["copies"] else None),
        "unique copies": over(splits, lambda r, s: r["copies"]["unique"]["above"] if "unique" in r["copies"] else None),
        "new pairs": over(splits, lambda r, s: r["new pairs"]),
        "new pairs of control": over(splits, lambda r, s: s["new pairs of control"]),
        "release seconds": over(splits, lambda r, s: r["release seconds"]),
        "plan seconds": over(splits, lambda r, s: s["plan seconds"]),
    }
    pairs = _pairs(splits)
    figures["relations"] = [fmean(pairs.values()), _error_of_mean_ratio(splits)]
    releases = [release for one in splits.values() for release in one["keys"].values()]
    unique = [r["copies"]["unique"]["p"] for r in releases if "unique" in r["copies"]]
    return {
        "version": version,
        "rows": round(fmean(one["rows"] for one in common)),
        "control": round(fmean(one["control"] for one in common)),
        "columns": common[0]["columns"],
        "splits": len(splits),
        "releases": len(releases),
        "figures": {name: _rounded(value) for name, value in figures.items()},
        "others": _others(splits, targets[1:]),
        "attacks": {
            kind: _attack(splits, kind)
            for kind in ("granted", "background", "regrown")
            if any(kind in release for release in releases)
        },
        "other attacks": _unaware(splits) if any("distance" in release for release in releases) else {},
        "worst pairs": _worst_pairs(splits, pairs),
        "pairs": len(pairs),
        "pairs above 3": sum(ratio > 3 for ratio in pairs.values()),
        "smallest p": min(unique, default=None),
        "significant": sum(p < ENOUGH for p in unique),
        "findings": sum(r["copies"]["findings"] > 0 for r in releases),
    }


def over(splits: Splits, read: Reader) -> list[float]:
    """The mean over releases, splits weighing the same, and its standard error over splits (over keys if one split)."""
    runs = [[read(r, one["common"]) for r in one["keys"].values()] for one in splits.values()]
    known = [[value for value in run if value is not None] for run in runs]
    means = np.array([fmean(run) for run in known if run])
    if not len(means):
        return [float("nan"), float("nan")]
    repeated = means if len(means) > 1 else np.array(known[0])
    error = repeated.std(ddof=1) / np.sqrt(len(repeated)) if len(repeated) > 1 else float("nan")
    return [float(means.mean()), float(error)]


def _rounded(value: list[float]) -> list[float | None]:
    return [None if one != one else round(one, 5) for one in value]  # noqa: PLR0124 - nan


def _others(splits: Splits, targets: list[str]) -> dict[str, Any]:
    """Agreement and floor of further targets: each, and their means."""
    if not targets:
        return {}

    def read(names: list[str], floor: float, own: float) -> Reader:
        return lambda r, s: fmean(own * r["agreement"][n] + floor * fmean(s["floors"][n]) for n in names)

    chosen = {"mean": targets, **{name: [name] for name in targets}}
    return {
        name: {
            "agreement": _rounded(over(splits, read(names, 0, 1))),
            "floor": _rounded(over(splits, read(names, 1, 0))),
            "above floor": _rounded(over(splits, read(names, -1, 1))),
        }
        for name, names in chosen.items()
    }


def _attack(splits: Splits, kind: str) -> dict[str, Any]:
    """Inference of each column above control, the largest mean first; membership."""
    chosen = {n: one for n, s in splits.items() if (one := _with(s, kind))["keys"]}
    names = dict.fromkeys(n for s in chosen.values() for r in s["keys"].values() for n in r[kind]["inference"])
    inference = {
        name: _rounded(over(chosen, lambda r, s, name=name: r[kind]["inference"].get(name)))  # type: ignore[misc]
        for name in names
    }
    ordered = sorted(inference.items(), key=lambda item: -(item[1][0] or 0.0))
    membership = {
        name: _rounded(over(chosen, lambda r, s, name=name: r[kind][name]))  # type: ignore[misc]
        for name in ("area", "found", "found rarely")
    }
    return {"inference": dict(ordered), **membership}


def _with(split: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {**split, "keys": {key: r for key, r in split["keys"].items() if kind in r}}


def _unaware(splits: Splits) -> dict[str, Any]:
    """Attacks that do not use the method: nearest record, random forest, membership by distance."""
    chosen = {n: one for n, s in splits.items() if (one := _with(s, "distance"))["keys"]}
    names = dict.fromkeys(n for s in chosen.values() for r in s["keys"].values() for n in r["nearest or forest"])
    inference = {
        name: _rounded(over(chosen, lambda r, s, name=name: r["nearest or forest"].get(name)))  # type: ignore[misc]
        for name in names
    }
    return {
        "inference": dict(sorted(inference.items(), key=lambda item: -(item[1][0] or 0.0))),
        "area": _rounded(over(chosen, lambda r, s: r["distance"]["area"])),
        "found": _rounded(over(chosen, lambda r, s: r["distance"]["found"])),
    }


def _pairs(splits: Splits) -> dict[str, float]:
    """For each pair of columns the mean error of releases over the mean error of bootstrap samples."""
    names = set.intersection(*(set(one["common"]["relations"]) for one in splits.values()))
    return {name: _mean_error(splits, name) / _mean_resampled(splits, name) for name in names}


def _mean_error(splits: Splits, name: str) -> float:
    return _mean(splits, lambda release, common: abs(release["relations"][name] - common["relations"][name][0]))


def _mean_resampled(splits: Splits, name: str) -> float:
    return fmean(one["common"]["relations"][name][1] for one in splits.values())


def _mean(splits: Splits, read: Callable[[Any, Any], float]) -> float:
    return fmean(fmean(read(r, one["common"]) for r in one["keys"].values()) for one in splits.values())


def _worst_pairs(splits: Splits, pairs: Mapping[str, float]) -> list[list[Any]]:
    """The pairs of columns with the largest ratios: name, ratio, association in the original and in releases."""
    chosen = sorted(pairs, key=lambda name: (-pairs[name], name))[:WORST]
    return [
        [
            name,
            round(pairs[name], 2),
            round(_mean(splits, lambda release, common, name=name: common["relations"][name][0]), 4),  # type: ignore[misc]
            round(_mean(splits, lambda release, common, name=name: release["relations"][name]), 4),  # type: ignore[misc]
        ]
        for name in chosen
    ]


def _error_of_mean_ratio(splits: Splits) -> float:
    """The standard error over splits of the mean ratio."""
    alone = [fmean(_pairs({name: one}).values()) for name, one in splits.items()]
    return float(np.std(alone, ddof=1) / np.sqrt(len(alone))) if len(alone) > 1 else float("nan")
