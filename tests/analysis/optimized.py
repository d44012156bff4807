#!/usr/bin/env python3
"""Decisions that gcc changes with -Og, each of which was once given a vector that did not happen, and the flags that keep them. TAP.

usage: optimized.py NTRACE
"""
import collections
import itertools
import os
import re
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import mcdc
import random_decisions

EVERY = "every" in sys.argv
KEEPING = ("-Og", "-fno-thread-jumps", "-fno-tree-fre", "-fno-tree-dominator-opts", "-mbranch-cost=1")
# What the compiler does, language, and the body of a function with the decision {{ }}, of the conditions [[ ]].
CHANGED = {
    "moves ! to the conditions, and tests e | f": ("cpp", "for (;;) { sink = get(b); if ({{!([[d]] && [[!e]]) || [[f]]}}) break; if (a <= 0) return 2; a--; } return 3;"),
    "leaves out a > 1 && a == 1, so that later branches seem to be its own": ("c", "if ({{([[a > 1]] && [[a == 1]]) || ([[__builtin_expect((b > 0 || e > 0) != 0, 0)]] || "
        "([[__builtin_expect((get(f) && get(d)) != 0, 0)]] || [[f == 2]]))}}) sink = 1; else sink = 2; return sink;"),
    "leaves out !b": ("cpp", "if (b) c = 1; if ({{[[b]] && ([[!b]] || ([[__builtin_expect((get(f) && get(d)) != 0, 0)]] || [[!c]]))}}) sink = 4; return sink;"),
    "leaves out c == 0": ("cpp", "if (a > 1) return 3; if ({{([[!c]] || [[c == 2]]) || ([[__builtin_expect((b > 0 || get(a)) != 0, 0)]] || ([[c == 0]] || [[!a]]))}}) sink++; return 4;"),
    "tests the result once more, with a value from before a | b": ("cpp", "if ({{!((([[get(c)]] && [[get(d > 0 || b > 1)]]) || [[d > 1]]) || [[!b]]) && !([[a]] || [[b]])}}) return 1; return 0;"),
    "tests the result once more, with a value from before b | e": ("cpp", "for (;;) { sink = get(b); if ({{!([[get(e > 0 && get(b))]] && "
        "[[__builtin_expect((get(e) && get(e)) != 0, 0)]]) && ([[e == 1]] && (([[f]] && [[!b]]) && [[e == 0]]))}}) break; if (a <= 0) return 2; a--; } return 3;"),
    "evaluates the inner decision less often: (b && x) || a": ("cpp", "auto made = [&](int x) { if ((b || a) && (__builtin_expect(({{[[a > 1]] || [[c > 1]]}}) != 0, 0) || a)) "
        "return x; return x + 1; }; return made(a);"),
    "leads a path past the decision, because c is 1": ("c", "if (b) c = 1; if ({{[[c == 2]] && [[a]]}}) sink = 4; return sink;"),
    "leaves out b && b == 0: the branches of d and e also fit the two operands of ||": ("cpp", "Guard guard(a); if ({{([[b]] && [[b == 0]]) || ([[!d]] && [[e]])}}) return guard.value; return 0;"),
    "places stop(), which does not return, before the branch of b": ("c", "if (b > 5) stop(a); if ({{([[d > 0]] || [[b]]) && ([[e]] && [[!c]])}}) sink = 1; if (c > 5) { sink = 2; leave(b); } return sink;"),
    "leads a path to the branch of d == 0, because a > 2 is false": ("c", "if (a) { if (b > 1) return 2; } if ({{([[a > 2]] || [[d == 0]]) && [[b > 0]]}}) sink = 4; return c;"),
    "gives two conditions the place of the call": ("c", "sink = get({{[[b > 1]] && ([[f]] && ([[__builtin_expect((get(c) && c > 0) != 0, 0)]] || [[!e]]))}}); return 1;"),
}
RECORD = """static char values[33]; static const char *function;
static void begin(const char *name) { function = name; for (int i = 0; i < 32; i++) values[i] = '-'; }
static int note(int k, int x) { values[k] = x ? 'T' : 'F'; return x; }
static int end(int count, int x) { values[count] = 0; printf("%s %s %c\\n", function, values, x ? 'T' : 'F'); return x; }
"""


def without_marks(body):
    return re.sub(r"\[\[|\]\]|\{\{|\}\}", "", body)


def recorded(body, name):
    """The body, which prints the vector of each evaluation."""
    numbers = itertools.count()
    body = re.sub(r"\[\[(.*?)\]\]", lambda found: f"note({next(numbers)}, {found[1]})", body)
    return re.sub(r"\{\{(.*?)\}\}", lambda found: f'(begin("{name}"), end({next(numbers)}, {found[1]}))', body)


def program(language, change, head=random_decisions.HEAD):
    head += random_decisions.HEAD_CPP if language == "cpp" else ""
    bodies = [change(body, f"f{i}") for i, body in enumerate(body for at, body in CHANGED.values() if at == language)]
    functions = [f"__attribute__((noinline)) static int f{i}(int a, int b, int c, int d, int e, int f) {{ {body} }}" for i, body in enumerate(bodies)]
    rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in random_decisions.INPUTS)
    calls = " ".join(f"s += f{i}({', '.join(f'in[k][{n}]' for n in range(6))});" for i in range(len(bodies)))
    return "\n".join([head, *functions, f"static const int in[][6] = {{{rows}}};",
                      f'int main(void) {{ int s = 0; for (int k = 0; k < {len(random_decisions.INPUTS)}; k++) {{ {calls} }} printf("%d\\n", s); return 0; }}', ""])


def executed(bench, language):
    """Vectors of each function with their counts, printed by the program itself."""
    source = bench.source("recorded." + language, program(language, recorded, random_decisions.HEAD + RECORD))
    bench.run("clang-19" if language == "c" else "clang++-19", "-w", source, "-o", "recorded")
    return collections.Counter(tuple(line.split()) for line in bench.run("./recorded").split("\n") if line.startswith("f"))


def trace(bench, compiler, source, flags):
    bench.run(compiler, *mcdc.GCC[1:], *flags, source, "-o", "traced")
    bench.run(bench.ntrace, "run", "-o", "traced.ntrace", "--", "./traced")
    return bench.mcdc("traced.ntrace")


def changed_decisions(bench):
    """None of them has a vector or a count that did not happen, and with -O0 all of them are determinable."""
    for language, compiler in (("c", mcdc.GCC[0]), ("cpp", "riscv64-linux-gnu-g++")):
        truth = executed(bench, language)
        source = bench.source("changed." + language, program(language, lambda body, _: without_marks(body)))
        with open(os.path.join(bench.folder, source), encoding="utf-8") as file:
            first = next(number for number, line in enumerate(file, 1) if " f0(" in line)
        texts = [without_marks(re.search(r"\{\{(.*?)\}\}", body)[1]) for at, body in CHANGED.values() if at == language]
        for flags in (("-O0",), ("-Og",), ("-O2",), ("-Og", "-fno-thread-jumps"), KEEPING)[:5 if EVERY else 2]:
            document, known = trace(bench, compiler, source, flags), 0
            for i, text in enumerate(texts):
                decision = next(one for one in document["decisions"] if one["line"] == first + i and one["text"].split("...")[0] == text[:len(one["text"].split("...")[0])]
                                and len(one["conditions"]) > 1 and one["text"][:9] == text[:9])
                found = {(f"f{i}", "".join(vector["values"]), vector["result"]): vector["count"] for vector in decision["vectors"]}
                expected = {key: count for key, count in truth.items() if key[0] == f"f{i}"}
                assert expected, text
                assert all(count <= expected.get(key, 0) for key, count in found.items()), (flags, text, found, expected)
                assert "reason" in decision or found == expected, (flags, text, found, expected)
                known += "reason" not in decision
            print(f"# {language} {' '.join(flags)}: {known} of {len(texts)} are determinable")
            assert flags != ("-O0",) or known == len(texts), (language, known)


INLINED = """#include <stdio.h>
#include <stdlib.h>
volatile int sink;
int pick(int a, int b) { if (a && b) { sink = 1; return 1; } return 2; }
int rarely(int a, int b) { sink = 3; return pick(a, b); }
int main(int argc, char **argv) { if (argc > 5) return rarely(argc, 3); printf("%d\\n", pick(0, argc)); return 0; }
"""


def removed_copies(bench):
    """The code of a decision is removed from a copy of which the result is known. The copies that are left do not say that it was never evaluated."""
    bench.source("inlined.c", INLINED)
    for level in ("-Og", "-O2", "-O0", "-O1")[:4 if EVERY else 2]:
        for document in (bench.mcdc(bench.trace("inlined.c", level)), *(bench.mcdc(one) for one in [bench.trace_of_clang("inlined.c", level)] if one)):
            decision = next(decision for decision in document["decisions"] if decision["text"] == "a && b")
            known = [vector["values"] for vector in decision["vectors"]] == [["F", "-"]]
            assert known or (decision["state"] == "not-determinable" and not decision["vectors"]), (level, decision)


MERGED = """#include <stdio.h>
static int blank(int c) { return c == 0x9 || c == 0xB || c == 0xC || c == 0x20 || c == 0xA0 || c == 0xFEFF; }
__attribute__((noinline)) static int blanks(const char *s) { int n = 0; for (; *s; s++) if (blank(*s)) n++; return n; }
int main(int argc, char **argv) { int (*volatile p)(int) = blank; printf("%d\\n", blanks(argc > 1 ? argv[1] : "ab c d")); return !p; }
"""


def merged_copies(bench):
    """The compiler has merged all inlined copies with other code, and debug information has none of them. The function itself, which is
    never called, does not say that its decision was not evaluated."""
    bench.source("merged.c", MERGED)
    for level in ("-Og", "-O2", "-O1", "-Os")[:4 if EVERY else 2]:
        decision = next(one for one in bench.mcdc(bench.trace("merged.c", level))["decisions"] if len(one["conditions"]) == 6)
        assert decision["state"] != "not-covered" and decision["decision"] != "not-covered", (level, decision)
        assert {vector["values"] for vector in decision["vectors"]} <= {"FFFFFF", "FFFT--"}, (level, decision)


KEPT = """#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) static int f(int a, int b, int c) { if (b) c = 1; if (c == 2 && a) sink = 4; return sink; }
__attribute__((noinline)) static int g(const char *p) { int i = 0; while (1) { if (!*p) break; while (p[i] && p[i] != ' ') i++; p += i; if (*p) p++; i = 0; sink++; } return sink; }
int main(int argc, char **argv) { (void)argv; int s = g("ab c"); for (int i = 0; i < 27; i++) s += f(i % 3, i / 3 % 3, i / 9 + argc - 1); printf("%d\\n", s); return 0; }
"""


def kept_paths(bench):
    """With -fno-thread-jumps each evaluation executes its branches. Without it, a path leads past them, and that is seen."""
    truth = bench.truth(bench.source("kept.c", KEPT))
    for flags, known in ((("-Og",), False), (("-Og", "-fno-thread-jumps"), True), (("-Og", "-fno-thread-jumps", "-fthread-jumps"), False)):
        document = trace(bench, mcdc.GCC[0], "kept.c", flags)
        assert not mcdc.compare(truth, document)[2], (flags, mcdc.compare(truth, document))
        f = next(decision for decision in document["decisions"] if decision["text"] == "c == 2 && a")
        g = next(decision for decision in document["decisions"] if decision["text"].startswith("p[i]"))
        assert ("reason" not in f) == known and ("reason" not in g) == known, (flags, f, g)


def objects(bench):
    """C++ beside exceptions, conversions, loops over ranges and methods; code behind calls that never return."""
    truth = bench.truth_of_cpp(bench.source("source/objects.cpp"))
    at_og = 18 if int(bench.run("riscv64-linux-gnu-g++", "-dumpversion").split(".")[0]) >= 14 else 20
    for flags, least in ((("-O0",), 21), (("-Og",), at_og), (("-Og", "-mcmodel=medany", "-mno-relax", "-ffunction-sections"), at_og), (("-O2",), 0))[:4 if EVERY else 2]:
        equal, undetermined, different = mcdc.compare(truth, trace(bench, "riscv64-linux-gnu-g++", "objects.cpp", flags))
        assert not different and equal >= least and equal + len(undetermined) == 21, (flags, equal, undetermined, different)


if __name__ == "__main__":
    cases.main([changed_decisions, objects, kept_paths, removed_copies, merged_copies], mcdc.Bench, mcdc.TOOLS)
