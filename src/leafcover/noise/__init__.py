"""Ways to change values inside a cell."""
