# Everything runs in .venv, which the first command makes.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-fast check lint docs check-docs dist bench interop clean

demo: $(READY)
	$(BIN)/phuma demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# For the minute between edits: the laws of every folder without those that take long, and with less fuzzing.
test-fast: export PHUMA_FUZZ = 20
test-fast: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m 'not slow and not faults and not real and not warp'

# Formats, lints and type-checks; mends what can be mended.
check: $(READY)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/mypy

# The same without touching a file.
lint: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

# Builds build/site, which needs no server: open build/site/index.html. A link that leads nowhere is an error.
docs: $(READY)
	$(BIN)/python website/stage.py
	$(BIN)/zensical build --clean --strict
	$(BIN)/python website/finish.py

# Plays the newcomer: clones what is committed, and runs every command of README and tutorial with nothing but a PATH and
# an empty home; then builds the site. Takes half an hour, half of which are the tests (newcomer.py --without-tests).
check-docs: docs
	$(BIN)/python website/newcomer.py

# A wheel and an sdist in dist/, checked.
dist: $(READY)
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

# Measures every figure that docs/ claims and writes the tables there; what policies learn takes hours and is measured by
# benchmarks/distillation.py STUDY and tracking.py STUDY and filmed by tracking_films.py, certify_films.py and gallery.py; the demo's policy is made by demo_policy.py. That a change
# alters no result is shown by golden.py, and what it does to speed by before_after.py.
bench: export OMP_NUM_THREADS = 1
bench: export OPENBLAS_NUM_THREADS = 1
bench: $(READY)
	for script in $(filter-out $(addprefix benchmarks/, before_after.py certify_films.py demo_policy.py gallery.py golden.py tracking_films.py), $(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Exports a motion, installs those of the programs that it is for which are packages, each in an environment of its own,
# loads it with their code and compares; takes gigabytes and minutes on the first run. The table is docs/tables/interop.md.
interop: $(READY)
	$(BIN)/python interop/run.py

clean:
	rm -rf interop/.venvs .venv build dist phuma-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "phuma needs Python 3.10 or newer: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m phuma.video.weights
	touch $@
