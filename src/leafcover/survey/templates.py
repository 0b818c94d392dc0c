"""Templates, styles and script of a survey's pages, all inlined: a page is one document and asks for nothing else."""

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from leafcover.errors import LeafcoverError
from leafcover.survey.figures import percent_upwards, times, upwards

PLACE = "leafcover.survey"


@dataclass(frozen=True)
class Page:
    """A page and the content-security policy that it needs in its header."""

    html: str
    policy: str


def environment() -> Any:
    """Jinja with the templates of the folder ``pages``; everything put into them is escaped."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise LeafcoverError("Install leafcover[survey] to make its pages: pip install 'leafcover[survey]'.") from None
    made = Environment(
        loader=PackageLoader(PLACE, "pages"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update(times=times, upwards=upwards, percent_upwards=percent_upwards)
    return made


def text_of(*names: str) -> str:
    """Files of the folder ``pages``, one after the other."""
    return "".join(files(PLACE).joinpath("pages", name).read_text("utf-8") for name in names)


def as_is(text: str) -> Any:
    """A text of our own that a template must not escape."""
    from markupsafe import Markup

    return Markup(text)


def source(text: str) -> str:
    """How a content-security policy names an inline script or style: by its hash.

    >>> source("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def holder_page(name: str, **content: Any) -> Page:
    """A page for the holder, from a template that extends ``holder.html.jinja``; no script can run in it."""
    style = text_of("common.css", "holder.css")
    rules = (
        "default-src 'none'",
        f"style-src {source(style)}",
        "img-src 'self' data:",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return Page(environment().get_template(name).render(style=as_is(style), **content), "; ".join(rules))
