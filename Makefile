# The real build is CMake (CMakeLists.txt, CMakePresets.json); this page gives its jobs short names.
#
#   make                   build the libraries and the command, build/tacit
#   make demo              install what that needs, build, and show a private count and private learners
#   make test              install what is missing, build everything, and run the tests
#   make bench             measure the hot paths (JSON lines); make test runs each benchmark for a moment
#   make python           the Python package as a wheel: pip install build/python/*.whl
#   make install PREFIX=…  headers, libraries, command, man pages (DESTDIR is respected)
#   make deb               Debian packages into build/deb, checked by lintian; make deb-try installs them in a bare system
#   make image             an OCI image of the command, build/tacit-VERSION.oci.tar
#   make docs              the reference of the library in C on one page, build/docs/reference/c.md
#   make site              the documentation as a site with search, into build/site
#   make fuzz              every fuzz target for FUZZ_SECONDS (60)
#   make tsan              what has threads, under the thread sanitizer
#   make wasm              the client for browsers and node, as an npm package in build/wasm (npm pack makes a tarball)
#   make arm               the device's library for ARM, 64 and 32 bits, and its tests under qemu
#   make mutants           breaks the promise in one small way after another, and fails if no test notices
#   make format lint coverage symbols clean
#   make check-all         everything that takes long, one stage after the other, with a table at the end; ONLY='arm site' limits it
#                          (scripts/check-all --list shows the stages)
#
# PRESET chooses another build for all of them, e.g. `make test PRESET=asan`; TESTS are arguments for ctest, e.g. TESTS='-L quick'.
PRESET ?= release
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

# Tests of whatever starts threads, and the programs that they need: service.kill is service_test_kill.
THREADED := $(addprefix service.,parts states committer http refusals guard drops tls faults systemd crash kill returning visits warm) \
	fuzz.http fuzz.service $(addprefix unit.,parallel crew thread run results_writer snapshot)
THREADED_PROGRAMS := tacit_command $(patsubst fuzz.%,fuzz_%,$(patsubst service.%,service_test_%,$(patsubst unit.%,unit_test_%,$(THREADED))))
empty :=
THREADED_NAMES := ^($(subst $(empty) $(empty),|,$(strip $(subst .,\.,$(THREADED)))))$$

BUILD := $(if $(filter release,$(PRESET)),build,build/$(PRESET))
QUIET := $(BUILD)/configure.log

.PHONY: all everything setup configure demo test bench python install deb deb-try image docs site fuzz tsan wasm arm mutants format format-check lint coverage symbols check-all clean

all: configure
	@cmake --build $(BUILD) --target product
	@sed -n 's/^-- \(\(librsvg\|OpenMPI\|libmicrohttpd\) .*\)/make: \1/p' $(QUIET)

# The tests, the fuzz targets, the examples and the benchmarks as well.
everything: configure
	@cmake --build $(BUILD)

setup:
	@scripts/setup

configure:
	@command -v cmake >/dev/null && command -v ninja >/dev/null && command -v pkg-config >/dev/null && command -v cc >/dev/null || \
	    { echo 'make: the compiler or CMake is missing; this installs what the build needs: scripts/setup --for demo' >&2; exit 1; }
	@mkdir -p $(BUILD)
	@cmake --preset $(PRESET) >$(QUIET) 2>&1 || { cat $(QUIET) >&2; exit 1; }

demo:
	@scripts/setup --for demo
	@$(MAKE) --no-print-directory all
	@cmake --build $(BUILD) --target example_day_of_counts
	@$(BUILD)/examples/day_of_counts
	@echo
	@$(BUILD)/tacit run examples/demo.yaml -o $(BUILD)/demo --force
	@echo
	@echo "the report: $(BUILD)/demo/report.html"

test: setup
	@$(MAKE) --no-print-directory everything
	@scripts/run-tests $(BUILD) $(TESTS)

bench: configure
	@cmake --build $(BUILD) --target bench_programs
	@failed=; for program in $(BUILD)/bench/*_bench; do \
	    "$$program" || [ $$? -eq 77 ] || failed="$$failed $${program##*/}"; \
	done; [ -z "$$failed" ] || { echo "make: these failed:$$failed" >&2; exit 1; }

python: configure
	@scripts/setup --for python
	@cmake --preset $(PRESET) >$(QUIET) 2>&1
	@cmake --build $(BUILD) --target tacit_wheel
	@echo "installs by: pip install $(BUILD)/python/tacit-*.whl"

install: all
	@cmake --preset $(PRESET) -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)) >$(QUIET)
	@cmake --install $(BUILD) --prefix $(abspath $(PREFIX))

deb:
	@scripts/setup --for deb
	@scripts/deb build/deb

deb-try: deb
	@scripts/try-deb build/deb

image: deb
	@scripts/setup --for image
	@scripts/image build/deb

docs: configure
	@cmake --build $(BUILD) --target tacit_docs
	@echo "the reference: $(BUILD)/docs/reference/c.md"

site:
	@scripts/setup --for site
	@scripts/site build/site

fuzz:
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

tsan:
	@$(MAKE) --no-print-directory configure PRESET=tsan
	@cmake --build build/tsan --target $(THREADED_PROGRAMS)
	@scripts/run-tests build/tsan -R '$(THREADED_NAMES)'

wasm:
	@scripts/setup --for wasm
	@$(MAKE) --no-print-directory configure PRESET=release
	@cmake --build build --target tacit_tables
	@scripts/sodium-source build/libsodium
	@cmake --preset wasm >build/wasm32.log 2>&1 || { cat build/wasm32.log >&2; exit 1; }
	@cmake --build build/wasm32
	@echo "the package: build/wasm, $$(gzip -9c build/wasm/tacit-client.wasm | wc -c) bytes of WebAssembly gzipped"

arm:
	@scripts/setup --for arm
	@$(MAKE) --no-print-directory all PRESET=release
	@cmake --build build --target seeded_report
	@scripts/arm-sysroot arm64 build/arm/arm64
	@scripts/arm-sysroot armhf build/arm/armhf
	@for preset in aarch64 armhf; do \
	    cmake --preset $$preset >build/$$preset.log 2>&1 || { cat build/$$preset.log >&2; exit 1; }; \
	    cmake --build build/$$preset && scripts/run-tests build/$$preset || exit 1; \
	done
	@scripts/arm-compare build qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=build/arm/arm64/usr/lib/aarch64-linux-gnu build/aarch64/seeded_report
	@scripts/arm-compare build qemu-arm -L /usr/arm-linux-gnueabihf -E LD_LIBRARY_PATH=build/arm/armhf/usr/lib/arm-linux-gnueabihf build/armhf/seeded_report

mutants: setup
	@scripts/mutants

format:
	@scripts/format

format-check:
	@scripts/format --check

lint: $(BUILD)/compile_commands.json
	@scripts/lint $(BUILD)

$(BUILD)/compile_commands.json:
	@$(MAKE) --no-print-directory configure

coverage: setup
	@$(MAKE) --no-print-directory everything PRESET=coverage
	@scripts/coverage build/coverage

symbols: all
	@tests/house/symbols.sh --update $(BUILD)/libtacit.so
	@tests/house/symbols.sh --update $(BUILD)/libtacit_client.so

check-all:
	@scripts/check-all $(ONLY)

clean:
	@cmake -E rm -rf build
