# Everything runs in .venv, which the first command makes.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-fast check lint bench clean

demo: $(READY)
	$(BIN)/phuma demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile

# For the minute between edits: the laws of every folder without those that take long, and with less fuzzing.
test-fast: export PHUMA_FUZZ = 20
test-fast: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'not slow and not faults and not real and not warp'

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

# Measures every figure that docs/ claims and writes the tables there; what policies learn takes hours and is measured by
# benchmarks/distillation.py STUDY and tracking.py STUDY and filmed by tracking_films.py and certify_films.py; the demo's policy is made by demo_policy.py. That a change
# alters no result is shown by golden.py, and what it does to speed by before_after.py.
bench: export OMP_NUM_THREADS = 1
bench: export OPENBLAS_NUM_THREADS = 1
bench: $(READY)
	for script in $(filter-out $(addprefix benchmarks/, before_after.py certify_films.py demo_policy.py golden.py tracking_films.py), $(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv build dist phuma-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "phuma needs Python 3.10 or newer: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m phuma.video.weights
	touch $@
