"""The command line: read, call one function, show."""

from leafcover.cli.start import main

__all__ = ["main"]
