"""The command line: read, call one function, show."""

from leafcover.cli.app import main

__all__ = ["main"]
