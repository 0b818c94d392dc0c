"""Golden files: the sentences of a page or a summary, as a reader sees them.

`REWRITE_GOLDEN=1 python -m pytest <test file>` writes them again, after a change of words that is meant.
"""

import os
import re
from html import unescape
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def check_golden(name, text):
    """Compare a text with its golden file."""
    path, text = GOLDEN / name, text.rstrip("\n") + "\n"
    if os.environ.get("REWRITE_GOLDEN"):
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


def text_of(html):
    """The text of a page, one line for each block; drawings, styles and tags left out, but for what is read aloud."""
    html = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    html = re.sub(r'<svg[^>]*aria-label="([^"]*)".*?</svg>', r"[\1]", html, flags=re.S)
    html = re.sub(r"</(p|h\d|li|dt|dd|tr|title|figure|footer)>", "\n", html)
    html = re.sub(r"</(td|th)>|<small>", " | ", html)
    lines = (" ".join(unescape(re.sub(r"<[^>]*>", "", line)).split()) for line in html.splitlines())
    return "\n".join(line for line in lines if line)
