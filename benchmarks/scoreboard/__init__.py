"""Our recipes compared with other programs on one table: `make scoreboard` writes docs/results/scoreboard.md."""
