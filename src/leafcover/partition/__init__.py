"""Partitions: which rows share a cell."""
