"""Our recipes next to other programs, on one table: `make scoreboard` writes docs/results/scoreboard.md."""
