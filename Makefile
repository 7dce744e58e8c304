# One command for each job. Everything happens in .venv inside the checkout, which the first command makes; the package
# is installed there anew only when its sources have changed. PYTHON=... chooses the Python, VENV=... another environment.
#
#   make demo        install, and train the example classifier
#   make test        install, and run what a user relies on, on the compiled core
#   make test-all    the same and the exhaustive tests: every sample, dtype and program, torch's operator database
#   make test-pure   what `make test` runs, on the uncompiled core
#   make test-cuda   every operation's samples and the tests of devices on a GPU, with CuPy, which it installs
#   make test-fast   what `make test` runs, without its slow tests, for the minutes between two edits
#   make check       lint, types, layers, generated files
#   make bench       install, and print the benchmarks beside torch
#   make bench-cuda  install, and print benchmarks on a GPU, with CuPy, beside torch.cuda
#   make bench-compiled  install, and print the benchmarks of wengert.compile beside jax.jit, and write their table in docs/compile.md
#   make record      what `make bench` prints, with its numbers kept in benchmarks/record.json, for pages: on an idle machine
#   make inplace     compile the core next to its sources, for work with PYTHONPATH=src
#   make generate    write the generated files: stubs, names of late families, tables of kernels, docs/operators, tables of pages
#   make fuzz        all fuzzers for MINUTES=10 with seeds from the clock, each batch of calls in a child process with a watchdog
#   make sanitize    compile with AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer, and run tests and fuzzers
#   make release-check  make the source distribution and the wheel of the last commit, and check them in fresh environments
#   make emulate     compile for 64-bit ARM, and run tests on an emulated processor: Debian, with apt-get
#   make docs        build the site in build/docs, with all examples and the gallery: a warning is an error
#   make parity-table  compare with the whole of torch's operator database, and write docs/parity.md: ten minutes
#   make oracle      add torch, a build for the CPU, so that the tests against torch run
#   make browser     add Chromium and its driver, where apt-get can, so that the tests of pages for browsers run
#   make compilers   add clang, gcc for aarch64 and musl, where apt-get can, so that the tests check the C files with them
#   make clean       remove what these commands have made

VENV ?= .venv
JOBS ?= auto
# Further arguments for pip when it builds, such as --config-settings=setup-args=-Dnative=enabled, which fails where nothing compiles.
WENGERT_BUILD_ARGS ?=
# Minutes of `make fuzz`, for all fuzzers together.
MINUTES ?= 10
# Further arguments for pytest, the benchmarks or the fuzzers.
ARGS ?=

# The first Python on the path that is new enough. A name can be there and still not run, so each is tried.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,$(shell \
	$(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $(name))))

export PATH := $(abspath $(VENV))/bin:$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
python := $(VENV)/bin/python
stamps := $(VENV)/stamps
sources := $(wildcard pyproject.toml tools/build_backend.py meson.build meson.options LICENSE README.md) \
	$(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.pxd' -o -name '*.[ch]' -o -name '*.in' -o -name meson.build \
	-o -path '*/page/*.*')

.PHONY: demo docs test test-all test-pure test-cuda test-fast check bench bench-cuda bench-compiled record inplace generate fuzz parity-table oracle browser \
	compilers emulate sanitize release-check clean

demo: $(stamps)/extra-examples
	$(python) examples/digits.py

run_tests = $(python) -m pytest -n $(JOBS) --dist worksteal $(ARGS)

test: $(stamps)/extra-test
	$(run_tests) -m "not exhaustive"

test-all: $(stamps)/extra-test
	$(run_tests)

test-pure: $(stamps)/extra-test
	WENGERT_PURE=1 $(run_tests) -m "not exhaustive"

# Four processes: each holds a context of the GPU, and CuPy compiles a kernel for each function and dtype once.
test-cuda: JOBS = 4
test-cuda: $(stamps)/extra-test $(stamps)/extra-cuda
	$(python) -c "import wengert; print((wengert.zeros(1, device='cuda') + 1).cpu(), 'on', wengert.cuda.get_device_name())"
	WENGERT_TEST_CUDA=1 $(run_tests) -m "not exhaustive" tests/ops/test_on_device.py tests/ops/test_device_kernels.py tests/core/test_devices.py \
		tests/core/test_device_generators.py tests/core/test_programs_on_devices.py tests/core/test_streams.py tests/amp/test_autocast_on_devices.py

test-fast: $(stamps)/extra-test
	$(run_tests) -m "not slow and not exhaustive"

check: $(stamps)/extra-dev
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(python) -m wengert.ops.stub --check
	$(python) -m wengert.ops.fuse --check
	PYTHONPATH=tests $(python) -m operators_page --check
	$(python) tools/pages.py --check

bench: $(stamps)/extra-bench oracle
	$(python) benchmarks/run.py $(ARGS)

bench-cuda: $(stamps)/extra-bench $(stamps)/extra-cuda
	$(python) benchmarks/gpu.py $(ARGS)

bench-compiled: $(stamps)/extra-bench
	$(python) -m pip install --quiet jax
	$(python) benchmarks/compiled.py --page docs/compile.md $(ARGS)

record: $(stamps)/extra-bench oracle
	$(python) benchmarks/run.py --json benchmarks/record.json $(ARGS)

# From the sources as they are, uncompiled: the tables are compiled next.
generate: $(stamps)/dependencies
	PYTHONPATH=src WENGERT_PURE=1 $(python) -m wengert.ops.stub
	PYTHONPATH=src WENGERT_PURE=1 $(python) -m wengert.ops.fuse
	PYTHONPATH=src:tests WENGERT_PURE=1 $(python) -m operators_page
	PYTHONPATH=src WENGERT_PURE=1 $(python) tools/pages.py

docs: $(stamps)/extra-docs
	MPLBACKEND=agg $(python) -m sphinx -q -W --keep-going -j 2 docs build/docs
	@echo "built: build/docs/index.html"

fuzz: $(stamps)/extra-test oracle
	PYTHONPATH=tests $(python) -m fuzz --minutes $(MINUTES) $(ARGS)

parity-table: $(stamps)/extra-test oracle
	PYTHONPATH=tests $(python) -m parity.op_db_table $(ARGS)

# The build for the CPU, where an index has it: the one without that mark brings gigabytes of CUDA on Linux.
oracle: $(stamps)/extra-oracle

browser:
	@{ command -v chromium && command -v chromedriver; } >/dev/null || \
		{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium chromium-driver; }

compilers:
	@{ command -v clang && command -v aarch64-linux-gnu-gcc && command -v musl-gcc; } >/dev/null || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends clang gcc-aarch64-linux-gnu libc6-dev-arm64-cross musl-tools; }

inplace: $(stamps)/build
	@test -e build/inplace-$(tag)/build.ninja || $(meson) setup -Dnative=enabled build/inplace-$(tag)
	$(meson) compile -C build/inplace-$(tag)
	cp --remove-destination build/inplace-$(tag)/src/wengert/core/_compiled.*.so src/wengert/core/
	cp --remove-destination build/inplace-$(tag)/src/wengert/kernels/*.so src/wengert/kernels/

sanitize: $(stamps)/build $(stamps)/extra-test
	$(python) tools/sanitize.py build/sanitize-$(tag) $(SANITIZERS) -- $(ARGS)

emulate: $(stamps)/build compilers
	@command -v qemu-aarch64 >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends qemu-user
	$(python) tools/emulate.py build/emulate $(ARGS)

release-check: $(stamps)/build
	$(python) -m pip install --quiet $(call requirements,['project']['optional-dependencies']['release'])
	$(python) tools/release_check.py build/release

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f src/wengert/core/*.so src/wengert/kernels/*.so
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# What the commands above stand on: files in the environment that say what has been installed.

meson = $(python) -m mesonbuild.mesonmain
tag = $(shell $(python) -c 'import sys; print(sys.implementation.cache_tag)')
# Arguments for pip from a table of pyproject.toml.
requirements = $(shell $(python) -c "import tomllib; print(*map(repr, tomllib.load(open('pyproject.toml', 'rb'))$(1)))")

$(stamps)/venv:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 or newer found; name one with PYTHON=..." >&2; exit 1; }
	test -x $(python) || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(stamps) && touch $@

$(stamps)/build: pyproject.toml $(stamps)/venv
	$(python) -m pip install --quiet $(call requirements,['build-system']['requires'])
	@touch $@

$(stamps)/dependencies: pyproject.toml $(stamps)/venv
	$(python) -m pip install --quiet $(call requirements,['project']['dependencies']) $(call requirements,['project']['optional-dependencies']['full']) pytest
	@touch $@

# Without build isolation, and in a build tree that stays: after an edit only what changed is compiled again. A tree that was configured
# before the options changed is made anew, because Meson refuses new options there.
$(stamps)/package: $(sources) $(stamps)/build
	@echo "wengert is compiled: two to four minutes on two cores, seconds after an edit"
	@test build/$(tag)/meson-private/coredata.dat -nt meson.options || rm -rf build/$(tag)
	$(python) -m pip install --quiet --no-build-isolation --config-settings=build-dir=build/$(tag) $(WENGERT_BUILD_ARGS) .
	@$(python) -c "from wengert import __config__; print(__config__.summary())"
	@touch $@

$(stamps)/extra-oracle: pyproject.toml $(stamps)/package
	$(python) -m pip install --quiet $(patsubst 'torch%','torch%+cpu',$(call requirements,['project']['optional-dependencies']['oracle']))
	@touch $@

# The package itself is there already, at this version; this adds what the extra names.
$(stamps)/extra-%: $(stamps)/package
	$(python) -m pip install --quiet "wengert[$*]"
	@touch $@
