"""Utility: what a release keeps of the original."""
