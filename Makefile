# Every target sets itself up: `make demo` and `make test` are all a fresh machine needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

# Two worker processes with one thread each: more threads than cores make BLAS and XLA 10 to 25 times slower.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
export XLA_FLAGS ?= --xla_cpu_multi_thread_eigen=false
export NPROC ?= 1
export JAX_PLATFORMS ?= cpu

# Where Python may not keep its bytecode, each of the hundreds of processes that the tests start reads this package's
# sources anew: 0.6 s.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types pytest bench answers documents peers docs lock clean

demo: $(READY)
	$(BIN)/hiddenphysics demo --plot output/demo.png --force

test: lint types pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

pytest: $(READY)
	$(BIN)/pytest -n 2 --dist loadgroup

bench: $(READY)
	$(BIN)/python -m benchmarks

# The sixty-odd fits whose answers are held fixed: about ten minutes on two cores.
answers: $(READY)
	$(BIN)/python -m benchmarks.answers

# Every output and picture of README and docs, compared with what the code prints now: about an hour on two cores.
documents: $(READY)
	$(BIN)/python -m benchmarks.documents

# The table of peers in docs/comparison.md. They are many packages, so they live apart.
peers: .venv-peers/ready
	.venv-peers/bin/python -m benchmarks.neighbours.peers

.venv-peers/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --disable-pip-version-check --requirement requirements.lock
	.venv-peers/bin/pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[neighbours]"
	touch $@

# The site, into site/; a warning is an error. Its tools live apart from the library's.
docs: .venv-docs/ready
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict

.venv-docs/ready: docs/requirements.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --disable-pip-version-check --requirement docs/requirements.txt
	touch $@

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Re-pins every dependency, transitive ones included, to the newest versions that pyproject.toml allows.
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet --upgrade uv
	.venv-lock/bin/uv pip compile pyproject.toml --extra dev --no-header --no-annotate --no-emit-index-url --universal --output-file requirements.lock
	rm -rf .venv-lock

clean:
	rm -rf .venv .venv-docs .venv-peers site output .pytest_cache .mypy_cache .ruff_cache .hypothesis
