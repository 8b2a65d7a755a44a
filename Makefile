# SPDX-License-Identifier: GPL-2.0-or-later
# kbracket: `make help` lists what can be made.

B ?= build
CC ?= gcc
OPT ?= -O2 -g
SANITIZE ?=
Q = $(if $(V),,@)
WERROR = $(if $(DEVELOPER),-Werror)
VERSION := $(shell git describe --always --dirty --tags 2>/dev/null || echo unknown)

LIBS = libgit2 yaml-0.1 sqlite3 libcurl jansson libpcre2-8 libRmath zlib liblzma libzstd liblz4
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
       -Wwrite-strings -Wvla -Wformat=2 -Wno-format-nonliteral $(WERROR)
BASE_FLAGS = -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iharness -I$(B) $(OPT) $(WARN) -MMD -MP
FLAGS = $(BASE_FLAGS) $(SANITIZE) $(shell pkg-config --cflags $(LIBS) 2>/dev/null)
LDLIBS = $(shell pkg-config --libs $(LIBS) 2>/dev/null) -lpthread -lm

FLOORS = base sys stat model backend run judge report
LIB_SRC := $(foreach f,$(FLOORS),$(wildcard harness/$(f)/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
CMD_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard harness/cmd/*.c))
# The agent is static and knows only floor 0 and jansson; it is never built with sanitizers.
AGENT_SRC := $(wildcard harness/agent/*.c harness/base/*.c)
AGENT_OBJ := $(AGENT_SRC:%.c=$(B)/agent/%.o)
NATIVE := $(patsubst suites/native/%.c,$(B)/suites/%,$(filter-out suites/native/native.c,$(wildcard suites/native/*.c)))
SUPPORT := $(patsubst tests/%.c,$(B)/tests/support/%.o,$(wildcard tests/support*.c))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
# tests/system/test_*.c belong to make check, long_*.c to make check-long.
SYSTEM := $(patsubst tests/system/%.c,$(B)/tests/%,$(wildcard tests/system/test_*.c))
LONG := $(patsubst tests/system/%.c,$(B)/tests/%,$(wildcard tests/system/long_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/bench_*.c))

.PHONY: all help bench-aa bench-bisect deps quickstart check check-long check-bisect tests fuzzers fuzz units run-units run-system run-long \
	layers headers format clean newidle-tree testbox bench bench-verdicts FORCE
all: $(B)/kbracket $(B)/kbracket-agent $(NATIVE)

help:
	@sed -n 's/^## //p' Makefile

## make                build kbracket, the agent and the native workloads in build/
## make deps           install the packages that are missing (Debian), or name them
## make quickstart     a first experiment on real kernels in a QEMU guest
## make check          build and run the tests (at most 30 minutes on two cores)
## make check-long     the longer tests; parts are listed in README.md
## make check-bisect   only its bisect of real kernels in a guest
## make testbox        a lab machine's stand-in: the disk of a Debian that tests/testbox starts
## make fuzz           look for inputs that break a parser (clang; FUZZ_SECONDS=60 each)
## make bench          our own speed, as ratios
## make bench-verdicts how often each way of judging is wrong, simulated (ARGS='REPLICATES SEED')
## make newidle-tree   the founding experiment's kernel tree from Debian's source package

deps:
	@harness/deps.sh

$(B)/version.h: FORCE
	@mkdir -p $(@D)
	@echo '#define KB_VERSION "$(VERSION)"' | cmp -s - $@ || echo '#define KB_VERSION "$(VERSION)"' > $@

$(B)/harness/%.o: harness/%.c | $(B)/version.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -c $< -o $@

$(B)/libkb.a: $(LIB_OBJ)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(B)/kbracket: $(CMD_OBJ) $(B)/libkb.a
	$(Q)$(CC) $(FLAGS) $^ $(LDLIBS) -o $@

$(B)/agent/%.o: %.c | $(B)/version.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) -c $< -o $@

$(B)/kbracket-agent: $(AGENT_OBJ)
	$(Q)$(CC) $(BASE_FLAGS) -static $^ -ljansson -lm -o $@

$(B)/suites/%: suites/native/%.c $(wildcard suites/native/native.[ch])
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -ffp-contract=off $(WARN) -static -pthread $(filter %.c,$^) -o $@ -lm

.SECONDARY: $(SUPPORT)
$(B)/tests/support/%.o: tests/%.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -c $< -o $@

# kbracket with a fake machine, for tests of whole bisects.
$(B)/kbracket-fake: tests/fake_backend.c $(wildcard tests/fake_*.h) $(CMD_OBJ) $(B)/libkb.a
	$(Q)$(CC) $(FLAGS) -Itests $(filter-out %.h,$^) $(LDLIBS) -o $@
$(B)/tests/test_bisect_walk: $(B)/kbracket-fake

$(B)/tests/%: tests/unit/%.c $(SUPPORT) $(B)/libkb.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -Itests $< $(SUPPORT) $(B)/libkb.a $(LDLIBS) -lcmocka -o $@

$(B)/tests/%: tests/system/%.c $(SUPPORT) $(B)/libkb.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -Itests $< $(SUPPORT) $(B)/libkb.a $(LDLIBS) -lcmocka -o $@

# Each fuzz target is replayed over its corpus in make check; `make fuzz` runs it under libFuzzer.
FUZZ_MAIN ?= tests/fuzz/replay.c
FUZZ_LINK ?=
FUZZ_SECONDS ?= 60
$(B)/fuzz/%: tests/fuzz/%.c $(FUZZ_MAIN) $(B)/libkb.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) $(FUZZ_LINK) $(filter %.c,$^) $(B)/libkb.a $(LDLIBS) -o $@

$(B)/bench/%: bench/%.c $(wildcard bench/*.h) $(B)/libkb.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(FLAGS) -Ibench $< $(B)/libkb.a $(LDLIBS) -o $@

# Runs on the machine that is measured: static, no flags of ours.
$(B)/bench/lookout: bench/lookout.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(WARN) -static $< -o $@

# What each compares stands at its head; bench/README.md has figures that were seen.
bench: all newidle-tree $(BENCH) $(B)/bench/lookout
	@$(B)/bench/bench_store $(B)/bench/work
	@$(B)/bench/bench_machines $(B)/bench/work
	@$(B)/bench/bench_build $(B)/bench/work
	@$(B)/bench/bench_guest $(B)/bench/work

bench-verdicts: $(B)/bench/bench_tails $(B)/bench/bench_verdicts $(B)/bench/bench_family $(B)/bench/bench_sequential
	@$(B)/bench/bench_verdicts $(ARGS)
	@$(B)/bench/bench_family $(ARGS)
	@$(B)/bench/bench_tails $(ARGS)
	@$(B)/bench/bench_sequential $(ARGS)

bench-bisect: $(B)/bench/bench_bisect
	@$(B)/bench/bench_bisect $(or $(TRIALS),100) $(ARGS)

# Some 96 boots of one kernel in guests, about an hour; goes on where it was stopped.
bench-aa: all $(B)/bench/bench_aa
	@B=$(B) bench/aa $(ARGS)

tests: $(UNIT) $(SYSTEM)
long-tests: $(LONG)
fuzzers: $(FUZZ)

# Tests find the programs under test in the build folder that they were built in.
export KB_BUILD = $(CURDIR)/$(B)

run-units:
	@B=$(B) tests/run-tests $(UNIT)

# Guests are slow where there is no KVM.
run-system:
	@B=$(B) KB_TEST_TIMEOUT=3600 tests/run-tests $(SYSTEM)

run-fuzz-corpus:
	@B=$(B) tests/run-tests $(FUZZ)

# Looks for new inputs for FUZZ_SECONDS each; needs clang.
fuzz:
	@$(MAKE) -s $(patsubst tests/fuzz/%.c,build/libfuzzer/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c)) \
		B=build/libfuzzer CC=clang OPT=-O1 FUZZ_MAIN= \
		SANITIZE="-fsanitize=address,undefined,fuzzer-no-link" FUZZ_LINK=-fsanitize=fuzzer
	@for f in build/libfuzzer/fuzz/fuzz_*; do case $$f in *.d) continue;; esac; \
		n=$${f##*/fuzz_}; mkdir -p build/libfuzzer/corpus/$$n; \
		$$f -max_total_time=$(FUZZ_SECONDS) build/libfuzzer/corpus/$$n tests/fuzz/corpus/$$n || exit 1; done

units: $(UNIT)
	@B=$(B) tests/run-tests $(UNIT)

check: deps
	@tests/check

# With the points at which tests let kbracket die, which ordinary builds do not have.
check-long: deps
	@$(MAKE) -s B=build/long SANITIZE=-DKB_FAULT_POINTS all long-tests
	@$(MAKE) -s B=build/long run-long

run-long:
	@B=$(B) KB_TEST_TIMEOUT=7200 tests/run-tests $(LONG)

check-bisect: deps
	@$(MAKE) -s B=build/long SANITIZE=-DKB_FAULT_POINTS all build/long/tests/long_bisect
	@B=build/long KB_BUILD=$(CURDIR)/build/long KB_TEST_TIMEOUT=7200 \
		tests/run-tests build/long/tests/long_bisect

testbox: deps
	@tests/testbox make

quickstart: deps
	@echo "building kbracket (a minute or so)"
	@$(MAKE) -s -j2 all
	$(B)/kbracket run --allow-inconclusive configs/quickstart.yaml

newidle-tree: deps
	@kernels/newidle-tree.sh

layers:
	@tests/layers

# Every header compiles alone.
headers: | $(B)/version.h
	@for h in harness/*/*.h; do \
		printf '#include "base/base.h"\n#include "%s"\n' "$${h#harness/}" | \
		$(CC) $(filter-out -MMD -MP,$(FLAGS)) -x c -fsyntax-only - || exit 1; done

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build

# Not those of the kernels that make bench builds.
-include $(shell find $(B) -path $(B)/bench/work -prune -o -name '*.d' -type f -print 2>/dev/null)
