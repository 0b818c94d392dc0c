"""Our recipes beside what people can install today, on one table: `make scoreboard` writes docs/results/scoreboard.md."""
