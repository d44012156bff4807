# Front end to Meson. `make help` lists the targets.

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MESON_OPTIONS ?=

.PHONY: all help deps web test-web release release-abi manual demo demo-linux target test test-builds test-linux test-consumers soak coverage-compare real sanitize-more coverage-self fuzz fuzz-report lint docs install uninstall clean

all: $(BUILD)/build.ninja ## release build into build/ (the command is build/ntrace)
	@tools/reconfigure $(BUILD)
	@ninja -C $(BUILD) -j $(JOBS) $(TARGETS)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22

$(BUILD)/build.ninja:
	@tools/deps build
	@meson setup $(BUILD) --prefix $(PREFIX) $(MESON_OPTIONS)

deps: ## install what is missing (apt-get, as root or with sudo)
	@tools/deps all

demo: ## trace a RISC-V program and show its profile
	@tools/deps demo
	@$(MAKE) --no-print-directory all TARGETS=command
	@BUILD=$(BUILD) examples/demo

test: ## install what is missing, build, run the tests of the build that users get
	@tools/deps all
	@tools/run_tests release

test-builds: ## other builds: sanitizers, fewer libraries; fuzzing, clang-tidy of changed files; tests of the suite builds
	@tools/deps all
	@tools/run_tests builds

release-abi: all ## the binary interface of the version that is released, which later versions are compared with
	@tools/deps all
	@tests/abi/baseline.sh $(BUILD)

target: ## static build for Linux on RISC-V boards: build-target/ntrace-riscv64 (libraries are fetched into a cache)
	@tools/deps demo
	@JOBS=$(JOBS) tools/target

web: ## the explorer as a page without a server, and the npm package @ntrace/web, in build-web (emscripten; sources are fetched into a cache)
	@tools/web

test-web: all web ## the page without a server, in Node and in Chromium, gives the answers of the command
	@tools/deps all
	@meson test -C $(BUILD) --suite web --print-errorlogs

release: ## source archive, static commands, SBOM, ABI, SHA256SUMS, in dist/; then tests of them (20 minutes)
	@tools/release/build

demo-linux: ## boot Linux under trace and show its hottest functions (QEMU 10 and Debian's kernel are fetched into a cache)
	@tools/deps build
	@$(MAKE) --no-print-directory all TARGETS=command
	@BUILD=$(BUILD) examples/demo-linux

soak: ## long tests: random programs, mutants, every fault, 1 GiB (under an hour)
	@tools/deps all
	@tools/deps languages
	@tools/run_tests soak

SOURCES ?=

test-consumers: all ## every consumer of Debian and npm reads what we export, also where that is slow
	@tools/deps all
	@tests/consumers/unpacked.py --fetch-whole || echo 'some consumers are not here; their tests are skipped' >&2
	@meson test -C $(BUILD) --suite consumers --suite consumers-long --print-errorlogs

coverage-compare: all ## lines and functions of real programs against gcov; SOURCES=folder of unpacked Debian sources
	@tools/deps all
	@tests/analysis/coverage_compare.py $(BUILD)/ntrace $(SOURCES)

NAME ?=

test-linux: all ## Linux, and OpenSBI with U-Boot, under trace are exact, and the answers are those of the kernel; minutes
	@tools/deps all
	@ninja -C $(BUILD) tests/machine/each_instruction-4.so tests/machine/same_modes
	@tests/machine/linux.py $(BUILD)/ntrace $(BUILD)/tests/machine/each_instruction-4.so $(BUILD)/tests/machine/same_modes --fetch
	@tests/machine/linux_answers.py $(BUILD)/ntrace --fetch
	@tests/machine/linux_names.py $(BUILD)/ntrace --fetch
	@JOBS=$(JOBS) tools/target >/dev/null
	@tests/machine/linux_target.py $(BUILD)/ntrace build-target/ntrace-riscv64 --fetch

real: all ## traces of real programs (Debian packages, fetched into a cache) are exact; all, or NAME="lua go..."
	@tools/deps all
	@ninja -C $(BUILD) tests/real/count_pcs-1.so tests/real/count_pcs-4.so tests/real/count_pcs-7.so tests/real/same_pcs
	@tests/real/exact.py $(BUILD)/ntrace $(BUILD)/tests/real/count_pcs-1.so $(BUILD)/tests/real/same_pcs --all --fetch $(NAME)

sanitize-more: all ## the tests under MemorySanitizer, ThreadSanitizer and valgrind, of boards under AddressSanitizer, and the complete lint (an hour)
	@tools/deps all
	@tools/run_tests sanitize-more

coverage-self: ## coverage of src/ by the tests, and every line that is not covered
	@tools/deps all
	@tools/coverage_self

SIZE ?= 1024

bench: all ## speed of the main operations (SIZE=MiB of the long stream), then of real programs
	@ninja -C $(BUILD) benchmarks
	@bench/run $(BUILD) --size $(SIZE)
	@bench/real $(BUILD) --quick

bench-check: all ## instructions executed for fixed inputs, against bench/baseline.json
	@ninja -C $(BUILD) benchmarks
	@bench/check $(BUILD)

TIME ?= 60
HARNESS ?=

fuzz: all ## run each fuzzing harness for TIME=seconds, or only HARNESS="name..."
	@tools/deps all
	@tools/fuzz $(TIME) $(HARNESS)

fuzz-report: all ## executions of the fuzzers, and coverage of src/ by their corpora
	@tools/deps all
	@tools/fuzz report

lint: ## clang-tidy, layers, banned functions, tables, references
	@tools/lint

docs: all ## regenerate the pages of docs/ that are made from tables
	@tools/make_docs

manual: ## the manual as HTML, with a search, in build-manual/html; its links are checked
	@tools/deps all
	@tools/manual

install: all ## install into PREFIX (default /usr/local), DESTDIR respected
	@meson configure $(BUILD) --prefix $(PREFIX)
	@meson install -C $(BUILD)

uninstall: all ## remove from PREFIX (DESTDIR respected) what `make install` puts there
	@meson configure $(BUILD) --prefix $(PREFIX)
	@meson install -C $(BUILD) >/dev/null # ninja removes the files of the last installation, which may have been another one
	@ninja -C $(BUILD) uninstall

clean: ## remove the build folders
	rm -rf build build-*
