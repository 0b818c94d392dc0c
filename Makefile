# Every command a contributor needs. Each sets up .venv by itself.
PYTHON ?= python3
BIN := .venv/bin
SITE := .venv/site

.PHONY: help demo docs test test-all check browser postgresql bench audit scoreboard nist identifiers units rules counts suppression clustering extended-framework forests response reconstruction collector pictures clean

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

.venv/docs: .venv/user
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

demo: .venv/user ## release the shipped Adult table into demo/
	$(BIN)/leafcover demo demo --force

docs: .venv/docs ## the documentation as a site, in site/: open site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

check: .venv/developer .venv/docs ## style, types, layers, and links in the documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir $(SITE)

browser:         ## chromium for the tests of pages, where it may be installed
	@sh tests/browser.sh

postgresql:      ## PostgreSQL for the tests of survey storage, where it may be installed
	@sh tests/postgresql.sh

test: check browser postgresql ## make check and all tests, within ten minutes on two cores
	PYTHONDONTWRITEBYTECODE= LEAFCOVER_SITE=$(SITE) $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-all: check browser postgresql ## the slow tests too
	PYTHONDONTWRITEBYTECODE= LEAFCOVER_SITE=$(SITE) $(BIN)/python -m pytest -n 2 --dist loadfile

bench: .venv/benchmark ## speed, next to other programs; writes benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

audit: .venv/developer ## what the default release of public tables keeps and reveals; writes docs/results/audit.md (resumes; TABLES=adult,wbc measures some)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/audit/run.py $(if $(TABLES),--tables $(TABLES))

# A program that cannot be installed is tried again next time; until then its row says so.
.venv-scoreboard/rivals: benchmarks/scoreboard/rivals.txt
	test -x .venv-scoreboard/bin/python || $(PYTHON) -m venv .venv-scoreboard
	failed=; while read rival; do \
		.venv-scoreboard/bin/python -m pip install --quiet --disable-pip-version-check --constraint $< "$$rival" \
			|| { echo "$$rival could not be installed"; failed=yes; }; \
	done < $<; test -n "$$failed" || touch $@

scoreboard: .venv/developer .venv-scoreboard/rivals ## our recipes next to other programs; writes docs/results/scoreboard.md
	$(BIN)/python benchmarks/scoreboard/run.py

.venv-nist/judge: benchmarks/nist/judge.txt
	test -x .venv-nist/bin/python || $(PYTHON) -m venv .venv-nist
	.venv-nist/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

nist: .venv/developer .venv-nist/judge ## releases of NIST's excerpt, judged by NIST's program; writes docs/results/nist.md
	sh benchmarks/nist/run.sh $(BIN)/leafcover .venv-nist/bin/python

# Public tables that do not ship, in an environment of their own.
.venv-tables/public: benchmarks/identifiers/packages.txt
	test -x .venv-tables/bin/python || $(PYTHON) -m venv .venv-tables
	.venv-tables/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

identifiers: .venv/developer .venv-tables/public ## how columns of public tables are judged; writes docs/results/identifiers.md
	.venv-tables/bin/python benchmarks/identifiers/tables.py
	$(BIN)/python benchmarks/identifiers/run.py

units: .venv/developer .venv-tables/public ## what attackers learn of people with several rows; writes docs/results/units.md
	.venv-tables/bin/python benchmarks/units/tables.py
	$(BIN)/python benchmarks/units/run.py

rules: .venv/developer .venv-tables/public ## which rules between columns releases keep; writes docs/results/rules.md
	.venv-tables/bin/python benchmarks/rules/tables.py
	$(BIN)/python benchmarks/rules/run.py

suppression: .venv/developer ## cells that k-anonymity takes, and whom it protects; writes docs/results/suppression.md
	$(BIN)/python benchmarks/suppression.py

counts: .venv/developer ## what differencing recovers from tables of counts; writes docs/results/counts.md
	$(BIN)/python benchmarks/counts.py

clustering: .venv/developer ## clusters after each method, as in Roy; writes docs/results/clustering.md
	$(BIN)/python benchmarks/clustering.py

extended-framework: .venv/developer ## correlations that the Framework and its extension keep; writes docs/results/extended-framework.md
	$(BIN)/python benchmarks/extended_framework.py

forests: .venv/developer ## what releases keep of a forest, as in Fletcher and Islam (2015); writes docs/results/forest-comparison.md
	$(BIN)/python benchmarks/forests.py

response: .venv/developer ## accuracy of trees from disguised answers, as in Du and Zhan (2003); writes docs/results/response-experiment.md
	$(BIN)/python benchmarks/response/run.py

reconstruction: .venv/developer ## shares and trees from numbers with noise; writes the figures of docs/explanation/reconstruction.md
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/reconstruction.py

collector: .venv/developer postgresql ## load test of a survey's collector with SQLite and PostgreSQL; prints a table
	$(BIN)/python benchmarks/collector.py

pictures: .venv/developer browser ## the screenshots in docs/images, from a release and a sweep of Adult
	$(BIN)/python benchmarks/docs_pictures.py

clean:           ## remove everything that make created
	rm -rf .venv .venv-scoreboard .venv-nist .venv-tables demo site benchmarks/tables
