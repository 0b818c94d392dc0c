# Every command a contributor needs. Each does its own set-up in .venv.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo test test-all check bench clean

help:            ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

.venv/user: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Leafcover needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[report]'
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

test: check ## all tests, within ten minutes on two cores
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: check ## the slow ones too
	$(BIN)/python -m pytest -n 2

bench: .venv/benchmark ## speed, side by side with other programs; writes benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

clean:           ## remove what make made
	rm -rf .venv demo benchmarks/tables
