"""What an attacker who knows all people but one learns from the margins of a secret sample of them.

    python benchmarks/sampling.py

Every column of a dealt release holds exactly the values of the rows that were released. An attacker who knows all of
these rows but one subtracts them. If the rows are a secret sample, the attacker knows the people but not who is in it:
of N people with a value, c are in the sample, and that one more person has it is (N + 1) / (N + 1 - c) times as likely
as before. Prints, for the shipped Adult table, how often the best guess of each column is right above control.
"""

import numpy as np

import leafcover as lc
from leafcover.perturb.deal import shared_values

PEOPLE, SHARE = 2000, 5


def right(codes, sample, rng):
    """How often a column is guessed rightly: for people in the sample, for others, and without the release."""
    people = np.bincount(codes)
    released = np.bincount(codes[sample], minlength=len(people))
    is_in = np.isin(np.arange(len(codes)), sample)
    asked = rng.choice(len(codes), PEOPLE, replace=False)
    found = np.empty((PEOPLE, 2), bool)
    for at, own in enumerate(codes[asked]):
        others = people - (np.arange(len(people)) == own)
        ratio = np.divide(others + 1, others + 1 - released, out=np.full(len(people), np.inf), where=others >= released)
        found[at] = np.argmax((others + 0.5) * ratio) == own, np.argmax(others) == own
    inside = is_in[asked]
    return found[inside, 0].mean(), found[~inside, 0].mean() if (~inside).any() else np.nan, found[:, 1].mean()


def main():
    """Print a line for each share of rows."""
    table, rng = lc.read(lc.sample("adult")), np.random.default_rng(1)
    for share in (1.0, 0.9, 0.7, 0.5):
        gains = {}
        for column in table:
            values = column.values if column.is_category else np.nan_to_num(shared_values(column, SHARE), nan=-np.inf)
            codes = np.unique(values, return_inverse=True)[1]
            draws = [right(codes, rng.permutation(len(table))[: int(share * len(table))], rng) for _ in range(3)]
            inside, _, without = np.mean(draws, axis=0)
            gains[column.name] = inside - without
        largest = max(gains, key=gains.get)
        print(
            f"{share:.0%} released: {np.mean(list(gains.values())):.3f} above; largest {largest}, {gains[largest]:.3f}"
        )


if __name__ == "__main__":
    main()
