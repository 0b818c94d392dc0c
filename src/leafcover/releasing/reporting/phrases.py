"""Words and numbers put together so that they read well."""


def listed(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    """Names in a row, with "and".

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a', 'a, b and c', 'a, b and 1 more')
    """
    if not names:
        return "none"
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def started(words: str) -> str:
    """The words with a capital first."""
    return words[:1].upper() + words[1:]


def counted(number: int, word: str, words: str = "") -> str:
    """A number and its word.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "leaf", "leaves")
    ('1 row', '1,200 rows', '2 leaves')
    """
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def curled(words: str) -> str:
    """The words with the page's apostrophes."""
    return words.replace("'", "’")
