"""Every command: each module adds its own to the application when it is imported."""

from leafcover.cli import (  # noqa: F401
    demo,
    forest,
    inspect,
    measure,
    recipes,
    release,
    survey,
    survey_serve,
    survey_tree,
    sweep,
    tree,
    verify,
)
from leafcover.cli.app import app

__all__ = ["app"]
