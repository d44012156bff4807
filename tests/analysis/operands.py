#!/usr/bin/env python3
"""Conditions that the compiler computes together, and odd sources, against llvm-cov. TAP on standard output.

usage: operands.py NTRACE [every]      every: more and longer random programs, and more builds

c >= '0' && c <= '9' is one comparison of optimized code. Its constants show which outcome is true.
"""
import os
import random
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import mcdc

mcdc.GCC = (*mcdc.GCC, "-fsigned-char")
TYPES = {"char": (-128, 127), "signed char": (-128, 127), "unsigned char": (0, 255), "short": (-32768, 32767), "unsigned short": (0, 65535), "int": (-2**31, 2**31 - 1),
         "unsigned": (0, 2**32 - 1), "long": (-2**63, 2**63 - 1), "unsigned long": (0, 2**64 - 1)}
BODIES = ["if ({e}) return 1; return 0;", "if ({e}) {{ sink = 1; return 2; }} sink = 2; return 3;", "if (!({e})) sink = 5; return sink;",
          "while ({e}) {{ sink++; x += 3; if (sink > 9) break; }} sink = 0; return (int)x;", "return {e};", "if ({e}) return get(1); sink = 4; return get(2);"]
PLACES = ["x", "x", "all.{m}", "list[1].{m}", "*at"]


def number(value, kind):
    return f"{value}u" if kind == "unsigned" else f"{value}ul" if kind == "unsigned long" else f"({value + 1} - 1)" if value < 0 else str(value)


def decision(pick, place, kind):
    """An expression, and the constants in it."""
    low, high = TYPES[kind]
    first = pick.randint(max(low + 1, -40), 60)
    last = first + pick.randint(1, 9)
    a, b = number(first, kind), number(last, kind)
    e = pick.choice([f"{place} >= {a} && {place} <= {b}", f"{place} < {a} || {place} > {b}", f"{place} > {a} && {place} < {b}", f"{a} <= {place} && {b} >= {place}",
                     f"{place} == {a} || {place} == {number(first + 1, kind)}", f"{place} != {a} && {place} != {number(first + 1, kind)}",
                     f"({place} >= {a} && {place} <= {b}) || get(y)", f"y && {place} >= {a} && {place} <= {b}", f"{place} == {a} || {place} == {b} || !y",
                     f"!({place} >= {a} && {place} <= {b})", f"{place} == 0 || {place} == 1", f"!{place} || {place} == {a}"])
    return e, {first - 1, first, first + 1, last - 1, last, last + 1, 0, 1, 2, -5}


def program(seed, count):
    pick, functions, calls = random.Random(seed), [], []
    members = {kind: "m" + str(i) for i, kind in enumerate(TYPES)}
    for index in range(count):
        kind = pick.choice(list(TYPES))
        place = pick.choice(PLACES).format(m=members[kind])
        text, values = decision(pick, place, kind)
        low, high = TYPES[kind]
        kept = sorted(value for value in values if low <= value <= high)
        kept = pick.sample(kept, pick.randint(1, len(kept)))
        functions.append(f"__attribute__((noinline)) static int f{index}({kind} x, {kind} *at, int y) {{ {pick.choice(BODIES).format(e=text)} }}")
        for value in kept:
            calls.append(f"{{ {kind} x = {number(value, kind)}; all.{members[kind]} = list[1].{members[kind]} = x; s += f{index}(x, &x, argc - {pick.randint(1, 2)}); }}")
    structure = "struct { " + " ".join(f"{kind} {name};" for kind, name in members.items()) + " } all, list[3];"
    return "\n".join(["#include <stdio.h>", "static volatile int sink;", structure, "__attribute__((noinline)) static int get(int x) { return x & 1; }", *functions,
                      "int main(int argc, char **argv) { int s = 0; (void)argv;", *calls, 'printf("%d\\n", s); return 0; }', ""])


EVERY = "every" in sys.argv
SEEDS = (1, 2, 3, 4) if EVERY else (1,)
COUNT = 60 if EVERY else 30


def random_ranges(bench):
    """The result of nearly all is determinable with -Og. Optimized code is never wrong."""
    for seed in SEEDS:
        truth = bench.truth(bench.source("ranges.c", program(seed, COUNT)))
        for level, least, results in (("-O0", 60, 60), ("-Og", 10, 42), ("-O1", 0, 0), ("-O2", 0, 0), ("-Os", 0, 0))[:5 if EVERY else 2]:
            document = bench.mcdc(bench.trace("ranges.c", level))
            equal, undetermined, different = mcdc.compare(truth, document)
            known = sum(decision["decision"] != "not-determinable" for decision in document["decisions"])
            print(f"# seed {seed} {level}: {equal} are determinable, the results of {known}")
            assert not different, (seed, level, different)
            assert not mcdc.certain(truth, document), (seed, level, mcdc.certain(truth, document))
            assert not mcdc.results_differ(truth, document)[0], (seed, level, mcdc.results_differ(truth, document))
            assert equal >= least * COUNT // 60 and known >= results * COUNT // 60, (seed, level, equal, known, undetermined)


def values_of_loads(bench):
    """With loads and stores in the trace, values of operands show the vectors. Accesses that do not fit the code show nothing."""
    for seed in SEEDS:
        truth = bench.truth(bench.source("ranges.c", program(seed, COUNT)))
        for level, least in (("-Og", 42), ("-O2", 0)):
            plain = bench.mcdc(bench.trace("ranges.c", level))
            bench.run(bench.ntrace, "run", "--data", "-o", "data.ntrace", "--", "./traced")
            bench.run(bench.ntrace, "run", "--data", "--data-range", "0x0-0xffffffff", "-o", "part.ntrace", "--", "./traced")
            document = bench.mcdc("data.ntrace")
            equal, undetermined, different = mcdc.compare(truth, document)
            print(f"# seed {seed} {level}: {mcdc.compare(truth, plain)[0]} are determinable, with loads and stores {equal}")
            assert not different and equal >= least * COUNT // 60, (seed, level, equal, undetermined, different)
            assert not mcdc.certain(truth, document), (seed, level, mcdc.certain(truth, document))
            assert bench.mcdc("part.ntrace")["decisions"] == plain["decisions"], (seed, level)


SIGNED = """#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) static int f(const char *q) { if (*q > 0 && *q < 64) { sink = 1; return 1; } sink = *q; return 2; }
int main(void) { const char *text = "\\xe4 0x"; int s = 0; for (int i = 0; i < 4; i++) s += f(text + i); printf("%d\\n", s); return 0; }
"""


def signed_characters(bench):
    """char is signed where the options of the compiler say so."""
    truth = bench.truth(bench.source("signed.c", SIGNED))
    bench.trace("signed.c", "-Og")
    bench.run(bench.ntrace, "run", "--data", "-o", "data.ntrace", "--", "./traced")
    assert mcdc.compare(truth, bench.mcdc("data.ntrace"))[::2] == (1, []), (truth, bench.mcdc("data.ntrace")["decisions"])


SKIPPED = """#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) static int f(int a, int b) { if ((sizeof(int) == 8 && a > 5) || a > b) { sink = 1; return a; } sink = 2; return b; }
__attribute__((noinline)) static int g(int a, int b) { if ((sizeof(int) == 4 || a > 5) && (a > 2 || b)) { sink = 1; return a; } sink = 2; return b; }
int main(int argc, char **argv) { int s = 0; for (int i = 0; i < 9; i++) s += f(i, 4) + g(i, argc - 1 + i % 2); printf("%d\\n", s); return 0; }
"""


def skipped_by_constants(bench):
    """A condition that a constant skips has no branch."""
    truth = bench.truth(bench.source("skipped.c", SKIPPED))
    for level in ("-O0", "-Og"):
        document = bench.mcdc(bench.trace("skipped.c", level))
        known = {decision["text"]: decision["decision"] for decision in document["decisions"] if len(decision["conditions"]) > 1}
        assert not mcdc.compare(truth, document)[2], mcdc.compare(truth, document)
        assert len(known) == 2 and "not-determinable" not in known.values(), (level, known)


UNPROVEN = """#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) static int get(int x) { return x & 1; }
__attribute__((noinline)) static int f(int b, int c, int d, int e) { if (b == 7) goto end; sink = get(c); if ((get(d) || e) || (b && b)) sink = 4; end: return sink; }
int main(int argc, char **argv) { int s = 0; (void)argv; for (int i = 0; i < 81; i++) s += f(i < 27 ? 0 : i % 3, i / 3 % 3, i / 9 % 3 + argc - 1, i / 27); printf("%d\\n", s); return 0; }
"""


def unproven_structures(bench):
    """get(d) and e | b, with two branches, are not get(d) || e and b && b, of which more can be proven."""
    truth = bench.truth(bench.source("unproven.c", UNPROVEN))
    for level in ("-O0", "-Og"):
        document = bench.mcdc(bench.trace("unproven.c", level))
        assert not mcdc.compare(truth, document)[2] and not mcdc.certain(truth, document), (level, mcdc.compare(truth, document))


def odd_sources(bench):
    """Definitions of K&R, sizes of arrays, statement expressions, nested ?:, effects, recursion, longjmp and signals in decisions; builds with
    -fprofile-arcs and -flto."""
    truth = bench.truth(bench.source("odd.c"))
    for level, flags, least in (("-O0", (), 9), ("-Og", (), 8), ("-Og", ("-fprofile-arcs",), 0), ("-Og", ("-flto",), 0),
                                ("-O2", (), 0), ("-O0", ("-fprofile-arcs",), 9))[:6 if EVERY else 4]:
        bench.run(*mcdc.GCC, *flags, level, "odd.c", "-o", "traced")
        bench.run(bench.ntrace, "run", "-o", "traced.ntrace", "--", "./traced")
        document = bench.mcdc("traced.ntrace")
        equal, undetermined, different = mcdc.compare(truth, document)
        assert not different and equal >= least, (level, flags, equal, undetermined, different)
        assert not mcdc.certain(truth, document), (level, flags, mcdc.certain(truth, document))


if __name__ == "__main__":
    cases.main([random_ranges, values_of_loads, signed_characters, skipped_by_constants, unproven_structures, odd_sources], mcdc.Bench, mcdc.TOOLS)
