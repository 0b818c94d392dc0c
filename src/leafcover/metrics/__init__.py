"""Measures: two tables in, figures out. Nothing here knows cells."""
