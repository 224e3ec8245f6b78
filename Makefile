# Entry points: `make` lists the targets. CMake does the work; this file only calls it.
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
RELEASE := build/release
ECOSYSTEM := build/ecosystem-venv
READERS := tests/ecosystem/requirements.txt
PYTHON_VENV := build/python-venv
DOCS := build/docs-venv
CXX_FILES = $(shell find include src models stan autodiff python experiments cli examples bench tests -name '*.[ch]pp' 2>/dev/null)

# Commands that install an environment of Python: its folder, and the file with its packages.
environment = python3 -m venv $(1) && $(1)/bin/pip --quiet --disable-pip-version-check install --requirement $(2) && touch $(1)/installed

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

.PHONY: run
run: dependencies $(RELEASE)/build.ninja ## install what is needed, build, sample the eight schools, write the report
	@cmake --build $(RELEASE) --target rehmc_command
	@$(RELEASE)/rehmc stan install --interpreter
	@$(RELEASE)/rehmc sample examples/stan/eight_schools.stan --data examples/stan/eight_schools.json \
		--seed 1 --target-accept 0.95 --output build/eight-schools --force
	@echo
	@echo "Where to look next:"
	@echo "  build/eight-schools/report.html   the report: open it in a browser"
	@echo "  $(RELEASE)/rehmc --help        all commands"
	@echo "  README.md                         what recycling gives, and how to sample your own density"
	@echo "  make test                         prove that it is right on this machine"

.PHONY: build
build: dependencies $(RELEASE)/build.ninja ## build everything for this machine into build/release
	@cmake --build $(RELEASE)

# The environment of the readers is installed while the compiler runs.
.PHONY: test
test: test-dependencies rooms check-format python-configured ## install what is needed, build, and run every test
	@{ [ $(ECOSYSTEM)/installed -nt $(READERS) ] || { $(call environment,$(ECOSYSTEM),$(READERS)); }; } & \
		cmake --build $(RELEASE) --target all all_verify_interface_header_sets; built=$$?; wait $$! && exit $$built
	@$(RELEASE)/rehmc stan install
	@ctest --preset release -j $(JOBS)

# The package stands in build/release/python, with links to its source: PYTHONPATH=build/release/python python3.
.PHONY: python
python: python-configured ## build everything, and the Python package into build/release/python
	@cmake --build $(RELEASE)

.PHONY: python-configured
python-configured: test-dependencies $(RELEASE)/build.ninja $(PYTHON_VENV)/installed
	@cmake -DREHMC_PYTHON=$(CURDIR)/$(PYTHON_VENV)/bin/python $(RELEASE) >build/python-configure.log || { cat build/python-configure.log; exit 1; }

$(PYTHON_VENV)/installed: python/tests/requirements.txt | test-dependencies
	@$(call environment,$(@D),$<)

# Stan's interpreter and compiler, in the user's cache folder; does nothing if they are installed.
.PHONY: toolchains
toolchains: dependencies $(RELEASE)/build.ninja ## install what runs Stan programs
	@cmake --build $(RELEASE) --target rehmc_command
	@$(RELEASE)/rehmc stan install

.PHONY: test-ecosystem
test-ecosystem: build toolchains ecosystem-dependencies $(ECOSYSTEM)/installed ## install R, cmdstanpy, ArviZ and BridgeStan, check that they read the command's output, and check the R package
	@tests/ecosystem/check_readers.py --python $(ECOSYSTEM)/bin/python $(RELEASE)/rehmc
	@$(ECOSYSTEM)/bin/python tests/ecosystem/use_stan.py $(RELEASE)/rehmc
	@tests/ecosystem/check_r_package $(RELEASE)/rehmc

$(ECOSYSTEM)/installed: $(READERS) | test-dependencies
	@$(call environment,$(@D),$<)

.PHONY: test-stan
test-stan: toolchains ## compare Stan's interpreter and compiler on all examples (5 minutes)
	@REHMC=$(RELEASE)/rehmc python3 tests/cli/stan_agreement_test.py --all

# Models of PyMC and NumPyro, with their own samplers to compare with: half an hour on two cores.
PYTHON_LONG := build/python-long-venv
.PHONY: test-python-models
test-python-models: python $(PYTHON_LONG)/installed ## compare fits of PyMC and NumPyro models with those of their own samplers
	@cd python/tests/ecosystem && PYTHONPATH=$(CURDIR)/$(RELEASE)/python $(CURDIR)/$(PYTHON_LONG)/bin/python -m pytest -q -p no:cacheprovider

$(PYTHON_LONG)/installed: python/tests/ecosystem/requirements.txt | test-dependencies
	@$(call environment,$(@D),$<)

.PHONY: wheel
wheel: test-dependencies ## build wheels of the Python package: build/wheels
	@scripts/build_wheels build/wheels

.PHONY: test-wheel
test-wheel: wheel $(RELEASE)/build.ninja ## install the wheels for every Python from 3.11 on that is here, and compare their draws with the command's
	@cmake --build $(RELEASE) --target rehmc_command
	@tests/ecosystem/check_wheels build/wheels $(RELEASE)/rehmc

# `make test` runs a slice. 16 times the replicates find errors of a quarter of the size.
LAW_FACTOR ?= 16

.PHONY: test-law
test-law: test-dependencies $(RELEASE)/build.ninja ## check with more replicates that every kernel keeps its target (15 minutes, estimated)
	@cmake --build $(RELEASE) --target kernel_tests
	@REHMC_LAW_FACTOR=$(LAW_FACTOR) $(RELEASE)/tests/kernel_tests --gtest_filter='Law/Stationarity.*' --gtest_brief=1

.PHONY: bench-python
bench-python: python $(PYTHON_LONG)/installed ## measure what a gradient costs beyond the model's function, from Python
	@PYTHONPATH=$(RELEASE)/python $(PYTHON_LONG)/bin/python bench/python/overhead.py --table docs/python.md

# The tutorials are run, which takes a few minutes; DOCS_OPTIONS=--no-run shows them without their output.
.PHONY: docs
docs: python-configured docs-dependencies toolchains $(DOCS)/installed ## build the documentation as a site: build/docs/html/index.html
	@cmake --build $(RELEASE) --target rehmc_command rehmc_paper rehmc_python
	@$(DOCS)/bin/python scripts/build_docs $(DOCS_OPTIONS)

# Without what the tutorials use, the site is built all the same; it then says which were not run.
$(DOCS)/installed: docs/site/requirements.txt docs/site/tutorials.txt | test-dependencies
	@python3 -m venv $(DOCS)
	@$(DOCS)/bin/pip --quiet --disable-pip-version-check install --requirement $<
	@$(DOCS)/bin/pip --quiet --disable-pip-version-check install --requirement docs/site/tutorials.txt || echo "rehmc: continuing without some of the packages that tutorials use"
	@touch $@

.PHONY: bench
bench: toolchains ## measure the speed: a table, and build/bench.json
	@cmake --build $(RELEASE) --target rehmc_bench batch_bench stan_bench
	@$(RELEASE)/bench/rehmc_bench build/bench.json
	@$(RELEASE)/bench/batch_bench
	@$(RELEASE)/bench/stan_bench $(RELEASE)/rehmc examples/stan build/bench-stan.json

# Takes about an hour and a half on two cores; `make gains RUNS=20` gives a rough picture.
.PHONY: gains
gains: dependencies $(RELEASE)/build.ninja ## measure what recycling gains: build/gains.json, and the table of the docs
	@cmake --build $(RELEASE) --target rehmc_gains
	@$(RELEASE)/bench/rehmc_gains build/gains.json $(RUNS)
	@scripts/write_gains build/gains.json

# Two hours on two cores; `make compare SEEDS=1 OUR_SEEDS=1 PEER_DRAWS=1000` takes some twenty minutes. CREDIT is the
# file german.data-numeric. An interrupted comparison continues; remove build/compare/trials.jsonl to begin again.
SEEDS ?= 3
OUR_SEEDS ?= 10
PEER_DRAWS ?= 4000
COMPARE := build/compare-venv
.PHONY: compare
compare: dependencies toolchains $(COMPARE)/installed ## compare rehmc with other samplers, from the Python package index: docs/compare.md
	@$(COMPARE)/bin/python -W ignore bench/compare/compare.py --rehmc $(RELEASE)/rehmc --seeds $(SEEDS) --our-seeds $(OUR_SEEDS) \
		--peer-draws $(PEER_DRAWS) $(if $(CREDIT),--credit $(CREDIT)) $(if $(SETTINGS),--settings "$(SETTINGS)") \
		--table docs/compare.md

$(COMPARE)/installed: bench/compare/requirements.txt | dependencies
	@$(call environment,$(@D),$<)

# SCALE=smoke takes minutes, SCALE=full hours. Give DATA=folder for the paper's own data sets.
SCALE ?= quick
.PHONY: paper
paper: paper-dependencies $(RELEASE)/build.ninja ## reproduce the paper's experiments: build/paper-quick/paper.html
	@cmake --build $(RELEASE) --target rehmc_paper
	@$(RELEASE)/rehmc-paper --scale $(SCALE) --output build/paper-$(SCALE) $(if $(DATA),--data-dir $(DATA))

.PHONY: asan
asan: dependencies build/asan/build.ninja ## run the tests under the address and undefined-behaviour sanitizers
	@cmake --build build/asan
	@ctest --preset asan -j $(JOBS) $(ARGS)

.PHONY: tsan
tsan: dependencies build/tsan/build.ninja ## run the tests under the thread sanitizer
	@cmake --build build/tsan
	@ctest --preset tsan -j $(JOBS) $(ARGS)

# Each part keeps its figures in docs/reliability.json, from which docs/reliability.md is written. `make test` runs a slice
# of each but the sanitizers; TORTURE=--slice does so here.
TORTURE ?= --results docs/reliability.json
BUILT := $(CURDIR)/$(RELEASE)

# Some six hours on two cores.
.PHONY: torture
torture: torture-kill torture-fuzz torture-faults torture-sbc torture-wrong torture-peers torture-sanitize torture-soak torture-python ## prove on this machine that nothing is lost: all of the following
	@scripts/write_reliability

.PHONY: torture-kill
torture-kill: dependencies $(RELEASE)/build.ninja ## kill 1000 runs at random moments, and compare them after resuming (about 5 minutes, estimated)
	@cmake --build $(RELEASE) --target rehmc_command fault_shim bridge_good
	@REHMC=$(BUILT)/rehmc FAULT_SHIM=$(BUILT)/tests/torture/libfault_shim.so tests/torture/kill $(TORTURE)

.PHONY: torture-fuzz
torture-fuzz: torture-dependencies build/fuzz/build.ninja ## feed 10 million damaged inputs to every reader (about 15 minutes, estimated)
	@cmake --build build/fuzz --target fuzzers
	@FUZZERS=$(CURDIR)/build/fuzz/tests/torture/fuzz tests/torture/fuzz/run --keep build/fuzz/corpus $(TORTURE)

.PHONY: torture-faults
torture-faults: dependencies $(RELEASE)/build.ninja ## let every call of the system fail, one at a time, in every command (half an hour of processor time, estimated)
	@cmake --build $(RELEASE) --target rehmc_command fault_shim
	@REHMC=$(BUILT)/rehmc FAULT_SHIM=$(BUILT)/tests/torture/libfault_shim.so tests/torture/faults $(TORTURE)

.PHONY: torture-sbc
torture-sbc: dependencies $(RELEASE)/build.ninja ## simulation-based calibration of every kernel, recycler and metric (5 minutes)
	@cmake --build $(RELEASE) --target sbc
	@SBC=$(BUILT)/tests/torture/sbc/sbc tests/torture/sbc/run $(TORTURE)

.PHONY: torture-wrong
torture-wrong: dependencies $(RELEASE)/build.ninja ## how often a run notices that its model is wrong (10 minutes)
	@cmake --build $(RELEASE) --target wrong
	@WRONG=$(BUILT)/tests/torture/wrong/wrong tests/torture/wrong/run $(TORTURE)

.PHONY: torture-sanitize
torture-sanitize: ## run all tests under the sanitizers (2 hours)
	@tests/torture/sanitize $(TORTURE)

.PHONY: torture-peers
torture-peers: toolchains $(COMPARE)/installed ## what Stan's sampler and nutpie notice of the same wrong models (10 minutes)
	@cmake --build $(RELEASE) --target rehmc_command wrong
	@WRONG=$(BUILT)/tests/torture/wrong/wrong REHMC=$(BUILT)/rehmc $(COMPARE)/bin/python -W ignore tests/torture/wrong/peers $(TORTURE)

.PHONY: torture-python
torture-python: python ## interrupt 50 runs of Python at random moments, and look for leaks in 1000 (2 minutes)
	@cd python/tests && REHMC_LONG=1 PYTHONPATH=$(BUILT)/python $(CURDIR)/$(PYTHON_VENV)/bin/python -m pytest -q -p no:cacheprovider \
		test_bad_input.py -k "random_moments or leak"

.PHONY: torture-soak
torture-soak: dependencies $(RELEASE)/build.ninja ## sample in 100,000 dimensions: what memory and disk space grow by (1 hour)
	@cmake --build $(RELEASE) --target rehmc_command
	@REHMC=$(BUILT)/rehmc tests/torture/soak $(TORTURE)

.PHONY: format
format: test-dependencies ## format all C++ files with .clang-format
	@clang-format -i $(CXX_FILES)

.PHONY: check-format
check-format: test-dependencies ## fail if a C++ file is not formatted with .clang-format
	@clang-format --dry-run --Werror $(CXX_FILES)

.PHONY: tidy
tidy: tool-dependencies build/tidy/build.ninja ## run clang-tidy over the library, models, commands, experiments and bench
	@run-clang-tidy -quiet -p build/tidy -j $(JOBS) '^$(CURDIR)/(src|models|stan|cli|experiments|bench)/'

.PHONY: rooms
rooms: dependencies ## check the order of the rooms: which part of the library may include which
	@scripts/check_rooms

.PHONY: install
install: build ## install the library and its headers under PREFIX (default /usr/local)
	@cmake --install $(RELEASE) --prefix $(PREFIX)

.PHONY: clean
clean: ## remove everything that was built
	@rm -rf build

.PHONY: dependencies test-dependencies tool-dependencies ecosystem-dependencies paper-dependencies torture-dependencies docs-dependencies
dependencies:
	@scripts/install_dependencies build
test-dependencies:
	@scripts/install_dependencies build test paper
tool-dependencies:
	@scripts/install_dependencies build tools
torture-dependencies:
	@scripts/install_dependencies build torture
docs-dependencies:
	@scripts/install_dependencies build docs
ecosystem-dependencies:
	@scripts/install_dependencies build ecosystem
# Without the drawing packages rehmc-paper still writes its tables, and prints how to draw later.
paper-dependencies: dependencies
	@scripts/install_dependencies paper || echo "rehmc: continuing without figures"

# Ninja configures again by itself when a CMake file changes, but does not track the presets.
build/%/build.ninja: CMakePresets.json
	@cmake --preset $*
	@touch $@
