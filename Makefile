# Thin front to Meson: these are the commands people type. `make help` lists them.

BUILD ?= build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
MESON_OPTIONS ?=

.PHONY: all help deps demo test test-quick soak sanitize-more coverage-self fuzz fuzz-report lint docs install clean

all: $(BUILD)/build.ninja ## release build into build/ (the command is build/ntrace)
	@ninja -C $(BUILD) -j $(JOBS)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22

$(BUILD)/build.ninja:
	@tools/deps build
	@meson setup $(BUILD) --prefix $(PREFIX) $(MESON_OPTIONS)

deps: ## install what is missing (apt-get, as root or with sudo)
	@tools/deps all

demo: ## trace a real RISC-V program and show where the time went
	@tools/deps demo
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) examples/demo

test: ## install what is missing, build every way, run every test
	@tools/deps all
	@tools/run_tests full

test-quick: all ## the tests of this build only
	@tools/run_tests quick

soak: ## the long runs: random programs, mutants, every fault, 1 GiB (under an hour)
	@tools/deps all
	@tools/run_tests soak

sanitize-more: all ## the tests under MemorySanitizer, ThreadSanitizer and valgrind, and all of the lint (an hour)
	@tools/deps all
	@tools/run_tests sanitize-more

coverage-self: ## what of src/ the project's own tests reach, and every line that none reaches
	@tools/deps all
	@tools/coverage_self

SIZE ?= 1024

bench: all ## how fast everything is, in one table (SIZE=MiB of the long stream)
	@bench/run $(BUILD) --size $(SIZE)

bench-check: all ## instructions executed for fixed inputs, against bench/baseline.json
	@bench/check $(BUILD)

TIME ?= 60
HARNESS ?=

fuzz: all ## each fuzzing harness for TIME=seconds, or only HARNESS="name..."
	@tools/deps all
	@tools/fuzz $(TIME) $(HARNESS)

fuzz-report: all ## executions of the fuzzers and what of src/ their corpora reach
	@tools/deps all
	@tools/fuzz report

lint: ## clang-tidy, layers, banned functions
	@tools/lint

docs: all ## regenerate docs/messages.md and docs/registers.md from the tables
	@tools/make_docs

install: all ## install into PREFIX (default /usr/local), DESTDIR respected
	@meson configure $(BUILD) --prefix $(PREFIX)
	@meson install -C $(BUILD)

clean: ## remove the build folders
	rm -rf build build-*
