"""Other packages, run in their own interpreter: CSV in, CSV with the same rows in the same order out.

    python rivals.py METHOD TRAIN.csv TEST.csv OUT.csv SEED

Prints the CPU seconds of the method (without reading files) and the peak memory as JSON. Nothing of Leafcover is
imported here. `?`, the missing value of Adult, is one more level of its column for all of them.
"""

import json
import resource
import sys
import time
import warnings

import numpy as np
import pandas as pd

TARGET = "income"
TARGETS = (TARGET, "sex", "marital_status", "education", "occupation", "relationship", "workclass")  # of models
K = 20
DEPTH = 10  # depth of the private trees; with the default of 5 they predict little more than the most frequent class


def numbers_of(frame):
    return [name for name in frame if pd.api.types.is_numeric_dtype(frame[name])]


def categories_of(frame):
    return [name for name in frame if name not in numbers_of(frame)]


def post_randomised(train, _, seed, *, m, alpha):
    """The package's own function on the categories; it treats numbers as tokens, so they are unchanged."""
    from pram import pram

    np.random.seed(seed)  # the package uses NumPy's global random state
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # applymap
        return pram(train, m=m, alpha=alpha, columns=categories_of(train))


def k_anonymous(train, _, seed, *, algorithm, representative):
    """Generalise every column except the target in groups of at least k rows, then choose one value for each."""
    from anonypyx import Anonymiser

    frame = train.copy()
    for name in categories_of(frame):
        frame[name] = frame[name].astype("category")
    keys = [name for name in frame if name != TARGET]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # integers become floats in place
        anonymiser = Anonymiser(frame.copy(), k=K, feature_columns=keys, algorithm=algorithm)
        groups = anonymiser.algorithm.partition(anonymiser.parameters)
    rng = np.random.default_rng(seed)
    released = {name: train[name].to_numpy(float if name in numbers_of(train) else object).copy() for name in train}
    for rows in groups:
        for name in keys:
            released[name][rows] = representative(train[name].to_numpy()[rows], name in numbers_of(train), rng)
    return pd.DataFrame(released)


def middle_or_any(values, is_number, rng):
    """A value for a published interval or set of levels: its middle, or a level drawn at random for each row."""
    if is_number:
        return (values.min() + values.max()) / 2
    return rng.choice(np.unique(values), len(values))


def mean_or_most_frequent(values, is_number, _):
    """The centre of a group, as microaggregation publishes it."""
    if is_number:
        return values.mean()
    levels, counts = np.unique(values, return_counts=True)
    return levels[counts.argmax()]


def private_model(train, test, seed, *, model, epsilon, **settings):
    """Predictions for the test rows, one model per target, each with all of epsilon; ranges and levels are public."""
    from diffprivlib.models import forest

    everyone = pd.concat([train, test])
    answers = {}
    for target in TARGETS:
        rest = [name for name in train if name != target]
        levels = {name: sorted(everyone[name].unique()) for name in categories_of(train)}
        bounds = [(everyone[n].min(), everyone[n].max()) if n not in levels else (0, len(levels[n]) - 1) for n in rest]
        learner = getattr(forest, model)(
            epsilon=epsilon,
            bounds=tuple(np.array(bounds, float).T),
            classes=np.arange(len(levels[target])),
            max_depth=DEPTH,
            random_state=seed,
            **settings,
        )
        learner.fit(coded(train[rest], levels), coded(train[[target]], levels)[:, 0].astype(int))
        found = learner.predict(coded(test[rest], levels)).astype(int)
        answers[target] = np.array(levels[target], object)[found]
    return pd.DataFrame(answers)


def coded(frame, levels):
    """Numbers unchanged, categories as the index of their level."""
    columns = [np.searchsorted(levels[n], frame[n]) if n in levels else frame[n] for n in frame]
    return np.column_stack(columns).astype(float)


def adversarial_forest(train, _, seed, **settings):
    """A synthetic table of as many rows, numbers rounded as the original has them; its rows are nobody's."""
    from arfpy import arf

    vars(np).setdefault("in1d", np.isin)  # the package calls it, and NumPy 2.4 has it no more
    np.random.seed(seed)  # the package uses NumPy's global random state
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = arf.arf(train, verbose=False, random_state=seed, **settings)
        model.forde()
        made = model.forge(n=len(train))
    for name in numbers_of(train):  # all numbers of the table are integers
        made[name] = made[name].astype(float).round().clip(train[name].min(), train[name].max()).astype(int)
    return made[list(train)]


METHODS = {
    "arf": (adversarial_forest, {"num_trees": 10, "min_node_size": 50, "max_iters": 2}),
    "pram": (post_randomised, {"m": 0.8, "alpha": 0.5}),
    "pram-strong": (post_randomised, {"m": 0.5, "alpha": 1.0}),
    "anonypyx-mondrian": (k_anonymous, {"algorithm": "Mondrian", "representative": middle_or_any}),
    "anonypyx-mondrian-mean": (k_anonymous, {"algorithm": "Mondrian", "representative": mean_or_most_frequent}),
    "anonypyx-mdav": (k_anonymous, {"algorithm": "MDAV-generic", "representative": mean_or_most_frequent}),
    "diffprivlib-tree-1": (private_model, {"model": "DecisionTreeClassifier", "epsilon": 1.0}),
    "diffprivlib-tree-10": (private_model, {"model": "DecisionTreeClassifier", "epsilon": 10.0}),
    "diffprivlib-forest-1": (private_model, {"model": "RandomForestClassifier", "epsilon": 1.0, "shuffle": True}),
    "diffprivlib-forest-10": (private_model, {"model": "RandomForestClassifier", "epsilon": 10.0, "shuffle": True}),
}


def main(name, train, test, out, seed):
    method, settings = METHODS[name]
    frames = [pd.read_csv(path, keep_default_na=False) for path in (train, test)]
    began = time.process_time()
    released = method(*frames, int(seed), **settings)
    cpu = time.process_time() - began
    released.to_csv(out, index=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"cpu": cpu, "gigabytes": peak}))


if __name__ == "__main__":
    main(*sys.argv[1:])
