# `make run` and `make test` need Python 3.11+ and a C++ compiler; everything else they install themselves,
# into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(shell find cpp -name '*.hpp' -o -name '*.cpp') CMakeLists.txt pyproject.toml
SOURCES := $(CORE) $(shell find src -name '*.py' -o -name '*.pyi')
BAYTREE_DATA ?= $(wildcard ../shared/data)
export BAYTREE_DATA

.PHONY: run test lint format stub figures bench sanitize clean

run: $(VENV)/installed
	$(BIN)/python examples/breast_cancer.py

test: lint
	$(BIN)/python -m pytest -n 2 -q

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(filter cpp/%,$(CORE))
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs src cpp tests benchmarks examples

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(filter cpp/%,$(CORE))

# Writes the typed stub of the compiled module; a test fails where it is out of date.
stub: $(VENV)/installed-dev
	$(BIN)/python -m nanobind.stubgen -q -m baytree._core -o src/baytree/_core.pyi
	$(BIN)/ruff check --fix-only -q src/baytree/_core.pyi
	$(BIN)/ruff format -q src/baytree/_core.pyi

figures: $(VENV)/installed-dev
	$(BIN)/python docs/figures.py

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks

# The core's own tests under the address, undefined-behaviour and thread sanitizers, and plain.
sanitize:
	@for kind in address,undefined thread; do \
		cmake -S . -B build/$$kind -DBAYTREE_SANITIZE=$$kind -DBAYTREE_WERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo >/dev/null && \
		cmake --build build/$$kind && build/$$kind/core_tests || exit 1; \
	done

clean:
	rm -rf $(VENV) build out

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "baytree needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip

$(VENV)/installed: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install -q '.[examples]'
	@touch $@

$(VENV)/installed-dev: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install -q '.[dev]'
	@touch $@ $(VENV)/installed
