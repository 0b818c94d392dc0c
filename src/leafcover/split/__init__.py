"""Ways to say which rows stand together."""
