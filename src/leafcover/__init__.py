"""Leafcover: release a table so that its patterns survive and its people are hard to find."""

__version__ = "0.1.0"
