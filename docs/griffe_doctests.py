"""Show the examples in docstrings as code: Markdown would take ``>>>`` for quotations."""

import re
from textwrap import dedent
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^[ ]*>>>.*\n?(?:^(?!\s*$).*\n?)*)(?:\n(?=[ ]*>>>)[^\S\n]*(?:^(?!\s*$).*\n?)*)*", re.MULTILINE)


class Doctests(Extension):
    """Put a fence around every run of examples."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called for every module, class, function and attribute that is read."""
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    return f"\n```python\n{dedent(found[0]).rstrip()}\n```\n"
