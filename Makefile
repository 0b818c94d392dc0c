# Every command a contributor needs. Each does its own set-up in .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test test-all check browser postgresql bench scoreboard clustering forests response reconstruction collector clean

help:            ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

.venv/user: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Leafcover needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[report,survey]'
	@touch $@

.venv/developer: .venv/user
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

.venv/benchmark: .venv/developer
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	@touch $@

demo: .venv/user ## release the shipped Adult table into demo/
	$(BIN)/leafcover demo demo --force

check: .venv/developer ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

browser:         ## a browser for the tests of reports, where it may be installed
	@sh tests/browser.sh

postgresql:      ## a PostgreSQL server for the tests of stores, where it may be installed
	@sh tests/postgresql.sh

test: check browser postgresql ## all tests, within ten minutes on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-all: check browser postgresql ## the slow ones too
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: .venv/benchmark ## speed, side by side with other programs; writes benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

# A rival that cannot be installed is tried again next time; until then its row says so.
.venv-scoreboard/rivals: benchmarks/scoreboard/rivals.txt
	test -x .venv-scoreboard/bin/python || $(PYTHON) -m venv .venv-scoreboard
	failed=; while read rival; do \
		.venv-scoreboard/bin/python -m pip install --quiet --disable-pip-version-check --constraint $< "$$rival" \
			|| { echo "$$rival could not be installed"; failed=yes; }; \
	done < $<; test -n "$$failed" || touch $@

scoreboard: .venv/developer .venv-scoreboard/rivals ## our recipes beside what others install; writes docs/results/scoreboard.md
	$(BIN)/python benchmarks/scoreboard/run.py

clustering: .venv/developer ## clusters after each method, as in paper 004; writes docs/results/clustering.md
	$(BIN)/python benchmarks/clustering.py

forests: .venv/developer ## what releases keep of a forest, as in paper 002; writes docs/results/forest-comparison.md
	$(BIN)/python benchmarks/forests.py

response: .venv/developer ## accuracy of trees from disguised answers, as in paper 003; writes docs/results/response-experiment.md
	$(BIN)/python benchmarks/response/run.py

reconstruction: .venv/developer ## shares and trees from noisy numbers; writes the figures of docs/explanation/reconstruction.md
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/reconstruction.py

collector: .venv/developer postgresql ## a survey's collector under load, with SQLite and PostgreSQL; prints a table
	$(BIN)/python benchmarks/collector.py

clean:           ## remove what make made
	rm -rf .venv .venv-scoreboard demo benchmarks/tables
