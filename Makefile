# SPDX-License-Identifier: BSL-1.0
# The first commands on a fresh machine. Each target alone installs what is missing, configures, builds and runs; a second
# run needs no network and rebuilds nothing. The build itself is CMake's: see CMakePresets.json.

DEMO = build/release/bin/heat --points 100000000 --steps 50 --sweep=short
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help demo test check format clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build the release and run the demonstration
	@scripts/install-dependencies build
	@scripts/build-preset release $(JOBS)
	$(DEMO)

test: ## Build with assertions and run all tests but the consumer projects
	@scripts/install-dependencies build test
	@scripts/build-preset dev $(JOBS)
	@scripts/run-tests build/dev -LE consumer

check: ## Everything that must pass before a change is merged
	@.ci/run

format: ## Format every C++ file in place
	@scripts/install-dependencies check
	@scripts/check-format --fix

clean: ## Remove all build directories
	rm -rf build
