"""The command line: read, call one function, show."""

from leafcover.cli.main import main

__all__ = ["main"]
