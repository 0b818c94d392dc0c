"""Two tables in, numbers out: what a release cost and what it hides."""
