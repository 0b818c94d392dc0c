"""The secret of a survey, beside its file: it proves tokens and opens the holder's pages."""

from pathlib import Path

from leafcover.draws import Key, key_from_file, key_text
from leafcover.errors import TableError
from leafcover.table.whole import whole


def secret_place(survey_file: Path) -> Path:
    """Where the secret of a survey is kept.

    >>> secret_place(Path("habits.toml")).name
    'habits.secret'
    """
    return survey_file.with_suffix(".secret")


def survey_secret(survey_file: Path) -> Key:
    """The secret of a survey; made, for its owner alone to read, when there is none yet."""
    place = secret_place(survey_file)
    if not place.exists():
        with whole(place, private=True) as part:
            part.write_text(key_text(Key.fresh()), "ascii")
    try:
        return key_from_file(place)
    except TableError:
        raise TableError(
            f"The secret '{place}' cannot be read as 64 hexadecimal digits. Put the right one back, or move it away: a "
            "new one is then made, and links given out before no longer work."
        ) from None
