"""The ten respondents with which the SDC Practice Guide (IHSN) works out its risks; each test quotes its figures."""

from leafcover.metrics.pair import pair_of
from tests.tables import category, number, table

RESPONDENTS = [
    ("Urban", "Female", "Secondary incomplete", "Employed", 180),
    ("Urban", "Female", "Secondary incomplete", "Employed", 180),
    ("Urban", "Female", "Primary incomplete", "Non-LF", 215),
    ("Urban", "Male", "Secondary complete", "Employed", 76),
    ("Rural", "Female", "Secondary complete", "Unemployed", 186),
    ("Urban", "Male", "Secondary complete", "Employed", 76),
    ("Urban", "Female", "Primary complete", "Non-LF", 180),
    ("Urban", "Male", "Post-secondary", "Unemployed", 215),
    ("Urban", "Female", "Secondary incomplete", "Non-LF", 186),
    ("Urban", "Female", "Secondary incomplete", "Non-LF", 76),
]
KEYS = ("residence", "gender", "education", "labour")


def respondents(**roles):
    columns = list(zip(*RESPONDENTS, strict=True))
    survey = table(
        *(category(name, values) for name, values in zip(KEYS, columns[:4], strict=True)),
        number("weight", columns[4]),
    )
    return pair_of(survey, survey, None, quasi_identifiers=KEYS, **roles)
