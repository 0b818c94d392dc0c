"""Many ways to release one table, each tried and scored: the map of risk against utility."""
