"""Sentences for people, by page and language: Fluent catalogues in ``locales/<language>/<page>.ftl``.

Code passes figures and names; the catalogue holds the words. An editor changes a sentence there, a translator adds a
folder. A message that another language lacks is taken from English.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle

ENGLISH = "en"


@dataclass(frozen=True, eq=False)
class Catalogue:
    """The messages of one page; call it with a message's id and values.

    A number selects the plural form and is written with separators; text goes in as it is. An id that no catalogue
    holds, or a value that a message needs and did not get, is a `KeyError`: a fault in the code, never in the input.
    """

    page: str
    bundles: tuple["FluentBundle", ...]  # the chosen language first, English last

    def __call__(self, message: str, /, **values: Any) -> str:
        """The sentence of an id, on one line."""
        name, _, attribute = message.partition(".")
        for bundle in self.bundles:
            if not bundle.has_message(name):
                continue
            found = bundle.get_message(name)
            pattern = found.attributes.get(attribute) if attribute else found.value
            if pattern is None:
                continue
            text, errors = bundle.format_pattern(pattern, values)
            if errors:
                raise KeyError(f"{self.page}: {message}: {errors[0]}")
            return " ".join(line.strip() for line in str(text).splitlines())
        raise KeyError(f"{self.page}: there is no message {message}")


@cache
def catalogue(page: str, language: str = ENGLISH) -> Catalogue:
    """The messages of a page.

    >>> catalogue("glossary")("rows", count=1), catalogue("glossary")("rows", count=1200)
    ('1 row', '1,200 rows')
    """
    found = [_bundle(page, one) for one in dict.fromkeys((language, ENGLISH))]
    return Catalogue(page, tuple(bundle for bundle in found if bundle is not None))


def languages() -> tuple[str, ...]:
    """The languages that have a folder."""
    return tuple(sorted(folder.name for folder in files("leafcover").joinpath("locales").iterdir() if folder.is_dir()))


def _bundle(page: str, language: str) -> "FluentBundle | None":
    from fluent.runtime import FluentBundle, FluentResource

    source = files("leafcover").joinpath("locales", language, f"{page}.ftl")
    if not source.is_file():
        return None
    bundle = FluentBundle([language], use_isolating=False)
    bundle.add_resource(FluentResource(source.read_text("utf-8")))
    return bundle
