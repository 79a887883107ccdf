# `make run` and `make test` need Python 3.11+ and a C++ compiler; everything else they install themselves,
# into .venv, where the package is installed as it lies here: a change of Python needs nothing, a change of C++ compiles
# in build/editable what depends on it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/editable
CPP := $(shell find cpp -name '*.hpp' -o -name '*.cpp')
MODULE := $(shell find cpp/core cpp/bindings -name '*.hpp' -o -name '*.cpp') CMakeLists.txt pyproject.toml
INSTALL := $(BIN)/python -m pip install -q --no-build-isolation
comma := ,
BAYTREE_DATA ?= $(wildcard ../shared/data)
export BAYTREE_DATA

.PHONY: run test test-core lint format stub docs outputs figures transcript wheel try bench bench-engines reproduce defaults honesty fuzz test-clang sanitize sanitize-quick clean

run: $(VENV)/installed
	$(BIN)/python examples/breast_cancer.py

test: lint test-core
	$(BIN)/python -m pytest -n 2 --dist loadfile -q

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CODE_OF_CONDUCT.md .github docs src cpp tests benchmarks examples tools

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

# Writes the typed stub of the compiled module; a test fails where it is out of date.
stub: $(VENV)/installed-dev
	$(BIN)/python -m nanobind.stubgen -q -m baytree._core -o src/baytree/_core.pyi
	$(BIN)/ruff check --fix-only -q src/baytree/_core.pyi
	$(BIN)/ruff format -q src/baytree/_core.pyi

# The site, in build/docs/html; warnings are errors. The stories are run.
docs: $(VENV)/installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs/html
	@echo "build/docs/html/index.html"

# Runs the code of the pages and writes below it what it prints: make outputs PAGES="forest.md explain.md"
outputs: $(VENV)/installed-dev
	$(BIN)/python -m docs.outputs $(PAGES)

figures: $(VENV)/installed-dev
	$(BIN)/python -m docs.figures

# The page of the first five minutes, by running it.
transcript: $(VENV)/installed-dev
	$(BIN)/python docs/transcript.py

# Source distribution and wheel, checked, then tried in an environment that has nothing else.
DIST := build/dist
TRIAL := build/trial
wheel: $(VENV)/installed-release
	rm -rf $(DIST) $(TRIAL)
	$(BIN)/python -m build --outdir $(DIST) .
	$(BIN)/python -m twine check --strict $(DIST)/*
	$(BIN)/check-wheel-contents $(DIST)/*.whl
	if [ "$$(uname)" = Linux ]; then \
		PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir $(DIST)/repaired $(DIST)/*.whl && \
		mv $(DIST)/repaired/*.whl $(DIST) && rm -r $(DIST)/repaired $(DIST)/*-linux_*.whl && \
		$(BIN)/auditwheel show $(DIST)/*.whl; \
	fi
	$(PYTHON) -m venv $(TRIAL)
	$(TRIAL)/bin/python -m pip install -q "$$(ls $(DIST)/*.whl)[examples]"
	$(TRIAL)/bin/python tools/readme_example.py README.md

# The command line from that wheel, on every table of a folder.
try: wheel
	$(TRIAL)/bin/python -m pip install -q "$$(ls $(DIST)/*.whl)[cli]"
	$(TRIAL)/bin/python tools/fit_all.py $(BAYTREE_DATA)

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks

# Bins, batches, Dask, Spark and a database, up to ten million rows: half an hour, and 8 GB of disk.
bench-engines: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks.engines $(if $(BAYTREE_DATA),--data $(BAYTREE_DATA))
	$(BIN)/python -m benchmarks.clusters

# The paper's tables and figures, and other models beside ours. What to run: make reproduce ONLY=paper,figures
# SETS=heart,ripley REPEATS=5 EBM=1. A stopped run goes on.
OUT ?= build/reproduce
reproduce: $(VENV)/installed-benchmarks
	$(BIN)/python -m benchmarks.reproduce --out $(OUT) $(if $(ONLY),--only $(ONLY)) $(if $(SETS),--sets $(SETS)) \
		$(if $(REPEATS),--repeats $(REPEATS)) $(if $(EBM),--ebm)

# Old and new defaults and the other models on every table of a folder.
defaults: $(VENV)/installed
	$(BIN)/python -m benchmarks.defaults $(BAYTREE_DATA)

# How often intervals hold, noise is split and explanations name the prediction: make honesty ONLY="simulated noise"
honesty: $(VENV)/installed
	$(BIN)/python -m benchmarks.honesty $(if $(ONLY),--only $(ONLY))

# Random tables, options and calls against the oracle, for so many minutes; a failure prints its seed.
MINUTES ?= 1
fuzz: $(VENV)/installed-dev
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

# ONNX exports as browsers run them; needs npm.
test-web: $(VENV)/installed-dev
	npm install --silent --no-audit --no-fund --prefix build/web onnxruntime-web
	$(BIN)/python -m tests.onnx_web build/web
	cp tests/onnx_web.mjs build/web/ && cd build/web && node onnx_web.mjs

# The core's own tests, in C++, on the library that the module links. Every header is looked at alone, too.
test-core: $(VENV)/installed-core
	$(BIN)/cmake --build $(BUILD) --target core_tests core_headers
	$(BUILD)/core_tests

# The same on a core that is compiled otherwise. $(call core-tests,folder,options): in build/folder.
define core-tests
	$(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo -DBAYTREE_WERROR=ON $(2) >/dev/null
	$(BIN)/cmake --build build/$(1) --target core_tests
	build/$(1)/core_tests
endef

# With another compiler.
CLANG ?= clang++
test-clang: $(VENV)/installed-build
	$(call core-tests,core-clang,-DCMAKE_CXX_COMPILER=$(CLANG))

# Under the address, undefined-behaviour and thread sanitizers.
sanitize: sanitize-quick
	$(call core-tests,core-thread,-DBAYTREE_SANITIZE=thread)

# Without the last; not optimised, for that takes the compiler longer than the tests gain.
sanitize-quick: $(VENV)/installed-build
	$(call core-tests,core-address,-DBAYTREE_SANITIZE=address$(comma)undefined -DCMAKE_BUILD_TYPE=Debug)

clean:
	rm -rf $(VENV) build out

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "baytree needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip

# What compiles the module: no build environment of its own, whose path would change with every install.
$(VENV)/installed-build: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --group build
	@touch $@

# The package as it lies here, its module compiled.
$(VENV)/installed-core: $(VENV)/installed-build $(MODULE)
	$(INSTALL) --no-deps -e .
	@touch $@

$(VENV)/installed-benchmarks: $(VENV)/installed
	$(BIN)/python -m pip install -q --group benchmarks
	@touch $@

# With what it needs, and more.
$(VENV)/installed: pyproject.toml | $(VENV)/installed-core
	$(INSTALL) -e '.[examples]'
	@touch $@

$(VENV)/installed-docs: pyproject.toml | $(VENV)/installed-core
	$(INSTALL) -e '.[docs]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/installed-core
	$(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-release: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --group release
	@touch $@
