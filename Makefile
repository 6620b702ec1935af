# SPDX-License-Identifier: BSL-1.0
# The first commands on a fresh machine. Each target alone installs what is missing, configures, builds and runs; a second
# run needs no network and rebuilds nothing. The build itself is CMake's: see CMakePresets.json.

DEMO = build/release/bin/heat --points 100000000 --steps 50 --sweep=short --partition auto
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help demo test openmp-matrix python bench bench-full docs check format clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build the release of the demonstration, heat, and run it
	@scripts/install-dependencies build
	@scripts/build-preset release $(JOBS) app_heat
	$(DEMO)

test: ## Build with assertions and run all tests but the consumer projects
	@scripts/install-dependencies build test mpi
	@scripts/build-preset dev $(JOBS)
	@scripts/run-tests build/dev --jobs 2 -LE consumer

openmp-matrix: ## Run our OpenMP programs of gcc, gfortran and clang on their libraries and on Quern's: about ten minutes
	@scripts/install-dependencies build mpi check
	@scripts/build-preset dev $(JOBS) quern_omp
	@tests/omp/matrix/run_matrix.py --jobs $(JOBS)

python: ## Build the Python package in build/python/venv and run its tests
	@scripts/install-dependencies build python
	@scripts/build-python $(JOBS)
	@timeout 1200 build/python/venv/bin/python -m pytest -q python/tests

bench: ## Compare with other runtimes: about ten minutes, then build/bench/report.html
	@scripts/install-dependencies build bench
	@scripts/build-preset bench $(JOBS)
	@bench/run --build build/bench --output build/bench/results.json
	@bench/report build/bench/results.json --markdown build/bench/report.md --html build/bench/report.html

bench-full: ## The same with the full sizes: about an hour
	@scripts/install-dependencies build bench
	@scripts/build-preset bench $(JOBS)
	@bench/run --full --build build/bench --output build/bench/results-full.json
	@bench/report build/bench/results-full.json --markdown build/bench/report-full.md --html build/bench/report-full.html

docs: ## Build the site of the documents, with the API reference, in build/docs
	@scripts/install-dependencies docs
	@scripts/build-docs

check: ## Everything that must pass before a change is merged
	@.ci/run

format: ## Format every C++ file in place
	@scripts/install-dependencies check
	@scripts/check-format --fix

clean: ## Remove all build directories
	rm -rf build
