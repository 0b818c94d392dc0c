"""What the site does beyond MkDocs itself: show files of the repository as pages, and tidy the Python API."""

import re
from pathlib import Path
from posixpath import relpath
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOT_DESCRIBED = re.compile(r"\s–\s*<div class=\"doc-md-description\">\s*</div>")
SHOWN = re.compile(r"^<!-- shows: (\S+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """A page with ``<!-- shows: FILE -->`` becomes that file, its links to docs/ made relative to the page."""
    shown = SHOWN.search(markdown)
    if shown is None:
        return markdown
    folder = str(Path(page.file.src_uri).parent)
    text = (ROOT / shown[1]).read_text("utf-8")
    return re.sub(r"\]\(docs/([^)]+)\)", lambda link: f"]({relpath(link[1], folder)})", text)


def on_page_content(html: str, **_: Any) -> str:
    """A result whose type says enough has no description: without this, a dash would introduce nothing."""
    return NOT_DESCRIBED.sub("", html)
