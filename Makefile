# The front door: each target installs what it needs from Debian's packages, builds, and runs.
#   make demo     a network, a simulator, the paper's search and a page: four screens
#   make test     all fast tests
#   make python   the Python module and its tests
#   make web      the page of answers in headless Chromium
#   make bench    speed, as ratios measured in one run
#   make lint     formatting, clang-tidy on what changed (lint-all: on everything)      make format   apply the formatting
#   make claims   numbers in README and docs against the files that they come from
#   make docs     all documentation as a site; make reference: the public headers alone (Doxygen)
#   make asan     fast tests under the address and undefined-behaviour sanitizers; make tsan under the thread sanitizer
#   make torture  certified numbers against enumeration with 113 bits and with 60 digits, for some minutes; distributed
#                 training and workers under kills
#   make fuzz     each parser's fuzzer for a minute
#   make deb      Debian packages; make wheel: a Python wheel
#   make install  to PREFIX (/usr/local)
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := demo
.PHONY: demo test python web bench build claims lint lint-all reference docs format asan tsan torture fuzz deb wheel install clean packages-build packages-test packages-fuzz

PREFIX ?= /usr/local
BUILD_PACKAGES := g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libhwy-dev \
                  libsqlite3-dev libhiredis-dev libssl-dev libcpp-httplib-dev libbrotli-dev libeigen3-dev zlib1g-dev libgmp-dev \
                  libcadical-dev gnuplot-nox
PYTHON_PACKAGES := python3-dev pybind11-dev python3-numpy python3-pytest mypy
TEST_PACKAGES := libgtest-dev libzstd-dev redis-server python3 python3-distributed $(PYTHON_PACKAGES)
LINT_PACKAGES := clang-tidy-16 clang-format-16
FUZZ_PACKAGES := clang-16 libclang-rt-16-dev

packages-build:
	@scripts/install-packages $(BUILD_PACKAGES)
packages-test: packages-build
	@scripts/install-packages $(TEST_PACKAGES)
	@scripts/install-packages $(LINT_PACKAGES) 2> /dev/null || echo "no clang 16 here: the lint test is skipped"
packages-fuzz: packages-test
	@scripts/install-packages $(FUZZ_PACKAGES)

# Builds the program alone; no test framework is needed.
build: packages-build
	@cmake --preset release -DTREESAMPLE_DEVELOPER=OFF -B build > /dev/null
	@cmake --build build

# The simulator of the second screen is a Python program.
demo: build
	@scripts/install-packages python3
	@scripts/demo build/treesample

test: packages-test
	@cmake --preset release -DTREESAMPLE_DEVELOPER=ON -DTREESAMPLE_PYTHON=ON -B build > /dev/null
	@cmake --build build
	@ctest --test-dir build -L fast -j$$(nproc) --output-on-failure

# Builds the module alone; PYTHONPATH=build/python then finds it. A later `make install` installs it too.
python: packages-build
	@scripts/install-packages $(PYTHON_PACKAGES)
	@cmake --preset release -DTREESAMPLE_PYTHON=ON -DTREESAMPLE_DEVELOPER=OFF -B build > /dev/null
	@cmake --build build
	@PYTHONPATH=$(CURDIR)/build/python TREESAMPLE_PROGRAM=$(CURDIR)/build/treesample TREESAMPLE_MODELS=$(CURDIR)/examples/models \
	  PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest -q -p no:cacheprovider python/tests

# Chromium is large, so `make test` runs these tests only if it is already installed.
web: packages-build
	@scripts/install-packages chromium python3
	@cmake --preset release -DTREESAMPLE_DEVELOPER=OFF -B build > /dev/null
	@cmake --build build --target treesample_cli
	@web/tests/run_page_tests.py build/treesample examples/models

claims:
	@scripts/install-packages python3
	@scripts/check-claims

bench: packages-test
	@cmake --preset release -DTREESAMPLE_DEVELOPER=ON -DTREESAMPLE_PYTHON=ON -B build > /dev/null
	@cmake --build build --target search_bench bounds_bench nn_bench count_bench elimination_bench sampler_bench \
		threads_bench treesample_python
	build/search_bench
	build/bounds_bench
	build/nn_bench
	build/count_bench
	build/elimination_bench
	build/sampler_bench
	build/threads_bench
	PYTHONPATH=$(CURDIR)/build/python bench/python_bench.py

lint lint-all: packages-test
	@cmake --preset tidy > /dev/null
	@scripts/lint build-tidy $(if $(filter lint-all,$@),--all)

reference:
	@scripts/install-packages doxygen
	@mkdir -p build
	doxygen docs/Doxyfile
	@echo build/reference/html/index.html

# All documentation as one site, in build/site.
docs: packages-build reference
	@scripts/install-packages $(PYTHON_PACKAGES) python3-sphinx python3-myst-parser
	@cmake --preset release -DTREESAMPLE_PYTHON=ON -DTREESAMPLE_DEVELOPER=OFF -B build > /dev/null
	@cmake --build build
	@scripts/make-docs build/treesample build/python build

format: packages-test
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-16 -i

asan tsan: packages-test
	@cmake --preset $@ > /dev/null
	@cmake --build build-$@
	@ctest --test-dir build-$@ -L fast -j$$(nproc) --output-on-failure

# MIX_SECONDS: for how long the mixer runs; it goes on where the last run ended, in build/mixer.csv.
MIX_SECONDS ?= 3600
# TRIALS: by how much the number of trials of `make test` is multiplied. 300 makes about 450,000 searches and 600,000
# eliminations.
TRIALS ?= 300
torture: packages-test
	@cmake --preset release -DTREESAMPLE_DEVELOPER=ON -B build > /dev/null
	@cmake --build build --target test_torture mixer treesample_cli
	TREESAMPLE_TRIALS=$(TRIALS) build/test_torture
	build/mixer --resume build/mixer.csv --seed 2 --runs 100000000 --seconds $(MIX_SECONDS) --threads $$(nproc) --out build
	@for seed in 2 3 4; do tests/cli/run_decimal_tests.py build/treesample $$((5 * $(TRIALS))) $$seed; done
	tests/cli/run_file_tests.py build/treesample 1000 2
	@for seed in 1 2 3; do tests/cli/run_kill_tests.py build/treesample 20 $$seed; done
	@for seed in 1 2 3; do tests/cli/run_worker_kill_tests.py build/treesample 20 $$seed; done

FUZZERS := $(notdir $(wildcard tests/fuzz/corpus/*))
fuzz: packages-fuzz
	@cmake --preset fuzz > /dev/null
	@cmake --build build-fuzz --target $(FUZZERS:%=fuzz_%)
	@for target in $(FUZZERS); do \
	  mkdir -p build-fuzz/corpus-$$target; \
	  build-fuzz/fuzz_$$target -max_total_time=60 -rss_limit_mb=512 -timeout=5 -max_len=300000 -len_control=0 \
	    -dict=tests/fuzz/dictionary/$$target.dict build-fuzz/corpus-$$target tests/fuzz/corpus/$$target; done

# Packages of this version in build-deb: treesample, libtreesample-dev, python3-treesample.
deb: packages-build
	@scripts/install-packages $(PYTHON_PACKAGES) dpkg-dev file
	@cmake --preset release -DTREESAMPLE_PYTHON=ON -DTREESAMPLE_DEVELOPER=OFF -B build-deb > /dev/null
	@cmake --build build-deb
	@cd build-deb && cpack > cpack.log || { tail -20 cpack.log; exit 1; }
	@ls build-deb/*.deb

# A wheel for the Python that builds it, in build-wheel.
wheel: packages-build
	@scripts/install-packages $(PYTHON_PACKAGES)
	@PYTHONPATH=python /usr/bin/python3 -c 'import wheel_backend; print("build-wheel/" + wheel_backend.build_wheel("build-wheel"))'

install: build
	@cmake --install build --prefix $(PREFIX)

clean:
	rm -rf build build-*
