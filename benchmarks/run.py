"""Speed in one run: trees compared with scikit-learn and LightGBM, releases with reading and writing a CSV.

Measured in CPU seconds, which are more reliable than wall time on a shared machine. Writes benchmarks/RESULTS.md.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import disguised
import forest
import meeting
import microaggregation
import nearest
import numpy as np
import pandas as pd
import statistical
from timing import cpu

HERE = Path(__file__).resolve().parent
TABLES = HERE / "tables"
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
MIN_RECORDS = 200


def generator() -> Path:
    for folder in (os.environ.get("LEAFCOVER_BENCH"), HERE.parents[1] / "shared" / "bench"):
        if folder and (Path(folder) / "gen.py").exists():
            return Path(folder) / "gen.py"
    sys.exit("The generator of the bench tables, gen.py, is in neither $LEAFCOVER_BENCH nor ../shared/bench.")


def tables(rows: int) -> Path:
    """The folder with the tables of that many rows, generated if absent."""
    folder = TABLES / str(rows)
    if not (folder / "test.parquet").exists():
        words = [sys.executable, str(generator()), "--n", str(rows), "--classes", "2", "--out", str(folder)]
        subprocess.run(words, check=True, capture_output=True)
        for name in ("train.arff", "test.arff", "s.data", "s.test", "s.names"):
            (folder / name).unlink(missing_ok=True)
    return folder


def spent(words):
    """CPU seconds and peak memory (MB) of another process."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"{words[:4]} failed: {process.stderr.read().decode()[-500:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def ordinal(frame):
    return np.column_stack([c.cat.codes if c.dtype == "category" else c for _, c in frame.items()]).astype(float)


def trees(rows: int) -> dict:
    from lightgbm import Dataset, train
    from sklearn.tree import DecisionTreeClassifier

    from leafcover.table.frames import from_frame
    from leafcover.tree.c45 import grow_from
    from leafcover.tree.predict import errors_on
    from leafcover.tree.tree import training

    folder = tables(rows)
    data, test = (pd.read_parquet(folder / f"{name}.parquet") for name in ("train", "test"))
    ours, ours_test = from_frame(data), from_frame(test)
    learning = training(ours, "y")
    x, y = ordinal(data.drop(columns="y")), data["y"].cat.codes.to_numpy()
    x_test, y_test = ordinal(test.drop(columns="y")), test["y"].cat.codes.to_numpy()
    times = 3 if rows < 300_000 else 2
    grow_from(training(ours.take(np.arange(2000)), "y"), min_records=20)  # compile
    grow_from(training(ours.take(np.arange(2000)), "y"), min_records=20, grower="histogram")

    def boosted():
        settings = {
            "objective": "binary", "num_leaves": 255, "min_data_in_leaf": MIN_RECORDS, "num_threads": 1,
            "verbose": -1, "learning_rate": 1.0,
        }  # fmt: skip
        return train(settings, Dataset(x, y, categorical_feature=list(range(10, 15))), num_boost_round=1)

    found = {"rows": rows}
    found["ours"], tree = cpu(lambda: grow_from(learning), times)
    cart = DecisionTreeClassifier(min_samples_leaf=MIN_RECORDS, random_state=0)
    found["sklearn"], other = cpu(lambda: cart.fit(x, y), times)
    found["lightgbm"], booster = cpu(boosted, times)
    found["ours coarse"], coarse = cpu(lambda: grow_from(learning, min_records=MIN_RECORDS), times)
    found["score"] = 1 - errors_on(tree, ours_test) / len(test)
    found["score coarse"] = 1 - errors_on(coarse, ours_test) / len(test)
    found["score sklearn"] = (other.predict(x_test) == y_test).mean()
    found["score lightgbm"] = ((booster.predict(x_test) > 0.5) == y_test).mean()
    return found


def releases() -> list[tuple[str, float, float]]:
    folder = tables(1_000_000)
    source, out = folder / "train.csv", folder / "released.csv"
    copy = f"import pyarrow.csv as c; c.write_csv(c.read_csv({str(source)!r}), {str(out)!r})"
    leafcover = str(Path(sys.executable).with_name("leafcover"))
    words = [leafcover, "release", str(source), "-o", str(out), "--target", "y", "--force", "--quiet"]
    spent([*words[:2], str(tables(10_000) / "train.csv"), *words[3:]])  # compile
    spent([*words[:2], str(tables(10_000) / "train.csv"), *words[3:], "--recipe", "framework-paper"])
    spent([*words[:2], str(tables(10_000) / "train.csv"), *words[3:], "--recipe", "cells"])
    measure = [leafcover, "measure", str(source), str(out), "--quiet"]
    spent([*words[:2], str(tables(10_000) / "train.csv"), *words[3:]])
    spent([leafcover, "measure", str(tables(10_000) / "train.csv"), str(out), "--quiet"])  # compile
    rows = []
    for name, call in (
        ("pyarrow: read and write the CSV", [sys.executable, "-c", copy]),
        ("leafcover release, cover", words),
        ("leafcover release, framework-paper", [*words, "--recipe", "framework-paper"]),
        ("leafcover --help", [leafcover, "--help"]),
        ("leafcover release, cells", [*words, "--recipe", "cells"]),
        ("leafcover release, cover, once more", words),
        ("leafcover measure of that release, everything", measure),
    ):
        best = min(spent(call) for _ in range(1 if call is measure else 2))
        rows.append((name, *best))
        print(rows[-1], flush=True)
    return rows


def text(found: list[dict], released: list[tuple[str, float, float]]) -> str:
    base = released[0][1]
    lines = [
        "# Speed",
        "",
        "Made by `make bench`: CPU seconds, the least of two or three runs, all programs in one run on one machine "
        f"({platform.machine()}, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores). Tables: 10 numbers, 5 categories, 2 classes, 10 % label noise.",
        "",
        "## A pruned tree",
        "",
        "Ours has C4.5's own defaults (2 rows in two branches, confidence 0.25): up to 200,000 rows C4.5 exactly, "
        "above by histograms, binning included. scikit-learn: `DecisionTreeClassifier(min_samples_leaf=200)` on "
        "ordinal codes. LightGBM: one tree of 255 leaves, 200 rows a leaf, one thread, binning included. Scores "
        "are shares of right answers on 50,000 other rows.",
        "",
        "| rows | ours | scikit-learn | LightGBM | ours / scikit-learn | ours / LightGBM | growth per n log n "
        "| score: ours | scikit-learn | LightGBM |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    unit = found[0]["ours"] / (found[0]["rows"] * np.log2(found[0]["rows"]))
    for f in found:
        growth = f["ours"] / (f["rows"] * np.log2(f["rows"])) / unit
        lines.append(
            f"| {f['rows']:,} | {f['ours']:.3f} | {f['sklearn']:.3f} | {f['lightgbm']:.3f} "
            f"| {f['ours'] / f['sklearn']:.3f} | {f['ours'] / f['lightgbm']:.2f} | {growth:.2f} "
            f"| {f['score']:.4f} | {f['score sklearn']:.4f} | {f['score lightgbm']:.4f} |"
        )
    lines += [
        "",
        "With at least 200 rows in two branches, as scikit-learn's leaves have:",
        "",
        "| rows | ours | ours / scikit-learn | score |",
        "|---|---|---|---|",
    ]
    for f in found:
        ratio = f["ours coarse"] / f["sklearn"]
        lines.append(f"| {f['rows']:,} | {f['ours coarse']:.3f} | {ratio:.3f} | {f['score coarse']:.4f} |")
    lines += [
        "",
        "## A release of 1,000,000 × 16 from CSV to CSV, and its measures",
        "",
        "| command | CPU seconds | against pyarrow | peak memory, MB |",
        "|---|---|---|---|",
    ]
    lines += [f"| {name} | {used:.2f} | {used / base:.1f} | {peak:,.0f} |" for name, used, peak in released]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    # Releases first: the peak memory of a child includes the memory of its parent at the fork.
    released = releases()
    measured = []
    for size in SIZES:
        measured.append(trees(size))
        print(measured[-1], flush=True)
    found = [
        text(measured, released),
        nearest.text(nearest.results()),
        microaggregation.text(microaggregation.results(tables)),
        forest.text(forest.results(tables)),
        meeting.text(meeting.results(tables)),
        disguised.text(disguised.results()),
        statistical.text(statistical.results()),
    ]
    (HERE / "RESULTS.md").write_text("\n".join(found), "utf-8")
    print((HERE / "RESULTS.md").read_text("utf-8"))
