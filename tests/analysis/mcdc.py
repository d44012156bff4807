#!/usr/bin/env python3
"""Condition vectors and independence pairs, decision by decision, against llvm-cov. TAP on standard output.

usage: mcdc.py NTRACE [every]      every: also the project's own sources and gcc 14, at every level of optimization

The same sources run with the same inputs: instrumented by clang-19 -fcoverage-mcdc on this machine, and not instrumented,
compiled for RISC-V by gcc, under ntrace run. Executed condition vectors do not depend on the target.
"""
import collections
import glob
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import user_qemu

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GCC = ("riscv64-linux-gnu-gcc", "-g", "-w", "-static", "-fno-ipa-icf")  # of folded functions nothing is known (linked.py)
CLANG = ("clang-19", "-w", "-O0", "-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc")
GCC_14 = ("cpp-14-riscv64-linux-gnu", "libc6", "libc6-dev", "libgcc-14-dev", "gcc-14-riscv64-linux-gnu", "libgmp10", "libisl23", "libmpc3", "libmpfr6", "libzstd1",
          "zlib1g")
CC1_14 = "/usr/libexec/gcc/riscv64-linux-gnu/14/cc1"
EVERY = "every" in sys.argv
TOOLS = ("riscv64-linux-gnu-gcc", "qemu-riscv64", "clang-19", "llvm-cov-19", "llvm-profdata-19")

# A real library of 4,600 lines: the messages, instructions and encoder of this project, without the variants for
# processors, of which the two builds would execute different ones.
REAL = ("base", "wire", "dialect", "message", "isa", "trace", "encoder")
NOT_REAL = ("quick_native.c", "quick_wide.c", "quick_select.c", "reader.c", "quick_run.h", "quick_pass.h")


class Bench:
    def __init__(self, ntrace, folder):
        self.ntrace, self.folder, self.kept = ntrace, folder, {}

    def run(self, *command, status=0, env=None):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=250,
                              env=dict(os.environ, **(env or {})))
        if done.returncode != status:
            raise AssertionError(f"{' '.join(command)[:200]}: {done.returncode}: {done.stderr[-300:]}")
        return done.stdout

    def source(self, name, text=None):
        if text is None:
            shutil.copy(os.path.join(HERE, name), self.folder)
            name = os.path.basename(name)
        else:
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        return name

    def made(self, name, source, *command):
        """Runs the compiler's command, which makes a file of this name, once for each content of the source."""
        with open(os.path.join(self.folder, source), "rb") as file:
            key = (source, file.read(), command)
        kept = self.kept.setdefault(key, os.path.join(self.folder, f"kept-{len(self.kept)}"))
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            os.unlink(path)
        if not os.path.exists(kept):
            self.run(*command, source, "-o", name)
            os.link(path, kept)
        else:
            os.link(kept, path)

    def truth(self, source, *inputs):
        """{(line, column): decision} of llvm-cov."""
        self.made("native", source, *CLANG)
        self.run("./native", *inputs, env={"LLVM_PROFILE_FILE": "native.profraw"})
        self.run("llvm-profdata-19", "merge", "native.profraw", "-o", "native.profdata")
        return parse_llvm_cov(self.run("llvm-cov-19", "show", "-show-mcdc", "-instr-profile=native.profdata", "native"))

    def truth_of_cpp(self, source, *inputs):
        self.run("clang++-19", *CLANG[1:], source, "-o", "native")
        self.run("./native", *inputs, env={"LLVM_PROFILE_FILE": "native.profraw"})
        self.run("llvm-profdata-19", "merge", "native.profraw", "-o", "native.profdata")
        return parse_llvm_cov(self.run("llvm-cov-19", "show", "-show-mcdc", "-instr-profile=native.profdata", "native"))

    def trace(self, source, level, *inputs, flags=()):
        self.made("traced", source, *GCC, *flags, level)
        self.run(self.ntrace, "run", "-o", "traced.ntrace", "--", "./traced", *inputs)
        return "traced.ntrace"

    def trace_of_clang(self, source, level, *inputs, flags=()):
        """None: the linker of this machine cannot link the objects."""
        self.run("clang-19", "--target=riscv64-linux-gnu", "-mno-relax", "-g", "-w", *flags, level, "-c", source, "-o", "clang.o")
        done = subprocess.run([GCC[0], "-static", "clang.o", "-o", "traced"], cwd=self.folder, stderr=subprocess.DEVNULL, check=False)
        if done.returncode:
            return None
        self.run(self.ntrace, "run", "-o", "traced.ntrace", "--", "./traced", *inputs)
        return "traced.ntrace"

    def mcdc(self, *arguments, status=0):
        return json.loads(self.run(self.ntrace, "coverage", "--level", "mcdc", "--format", "json", *arguments, status=status))


def parse_llvm_cov(text):
    found, decision = {}, None
    for line in text.split("\n"):
        if place := re.search(r"MC/DC Decision Region \((\d+):(\d+)\) to", line):
            decision = {"conditions": [], "vectors": {}, "covered": []}
            found.setdefault((int(place[1]), int(place[2])), []).append(decision)
        elif place := re.search(r"Condition C\d+ --> \((\d+):(\d+)\)", line):
            decision["conditions"].append((int(place[1]), int(place[2])))
        elif vector := re.search(r"\|\s+\d+ \{ (.*) = (\w)\s+\}", line):
            decision["vectors"][tuple(value.strip() for value in vector[1].split(","))] = vector[2]
        elif pair := re.search(r"C\d+-Pair: (.*)", line):
            decision["covered"].append(pair[1].startswith("covered"))
    return found


def by_place(document):
    """Decisions by the place of their text: in a macro, by the place in its definition, as llvm-cov names them."""
    found = {}
    for decision in document["decisions"]:
        for place in {(at["line"], at["column"]) for at in (decision, decision.get("spelled", decision))}:
            found.setdefault(place, []).append(decision)
    return found


def vectors_of(decisions, also_open=False):
    """Vectors and results. `also_open`: also those with '?', of which a value is not known."""
    found = {}
    for decision in decisions:
        constant = ["constant" in condition for condition in decision["conditions"]]
        for vector in decision["vectors"]:
            if "?" in vector["values"] and not also_open:
                continue
            values = tuple("C" if fixed else value for fixed, value in zip(constant, vector["values"]))
            found[values] = vector["result"]
    return found


def agree(theirs, ours):
    """llvm-cov numbers the conditions of a macro by their places, not by their order: then any order may fit."""
    expected = {}
    for decision in theirs:
        expected.update(decision["vectors"])
    vectors = vectors_of(ours)
    count = len(ours[0]["conditions"])
    in_order = all(decision["conditions"] == sorted(decision["conditions"]) for decision in theirs)
    orders = [range(count)] if in_order and len(theirs) == 1 else itertools.permutations(range(count))
    mine = {values: result for values, result in vectors.items() if len(values) == count}.items()
    some = any("reason" in decision for decision in ours)  # covered, and evaluations may be missing
    fits = any(mine <= whole if some else mine == whole for whole in (
        {tuple(values[i] for i in order): result for values, result in expected.items() if len(values) == count}.items() for order in orders))
    pairs = len(theirs) > 1 or len(ours) > 1 or sorted(theirs[0]["covered"]) == sorted(ours[0]["covered"])
    return fits and pairs


def compare(truth, document):
    """Numbers of decisions that agree, that are not determinable, and the places of those that differ."""
    ours = by_place(document)
    equal, undetermined, different = 0, [], []
    for place, theirs in sorted(truth.items()):
        decisions = ours.get(place, [])
        if not decisions:
            different.append((place, "missing"))
        elif any(decision["state"] == "not-determinable" for decision in decisions):
            undetermined.append(decisions[0]["text"])
        elif agree(theirs, decisions):
            equal += 1
        else:
            different.append((place, decisions[0]["text"], theirs[0]["vectors"], vectors_of(decisions)))
    return equal, undetermined, different


def results_differ(truth, document):
    """Places where decision coverage is determinable and not that of the instrumented build. Only the result may be known."""
    ours, wrong, known = by_place(document), [], 0
    for place, theirs in truth.items():
        found = ours.get(place, [])
        if len(theirs) != 1 or len(found) != 1 or found[0]["decision"] == "not-determinable":
            continue
        known += found[0]["state"] == "not-determinable"
        if (set(theirs[0]["vectors"].values()) == {"T", "F"}) != (found[0]["decision"] == "covered"):
            wrong.append((place, found[0]["text"], found[0]["decision"], theirs[0]["vectors"]))
    return wrong, known


def shapes_without_optimization(bench):
    truth = bench.truth(bench.source("decisions.c"), "0", "40")
    document = bench.mcdc(bench.trace("decisions.c", "-O0", "0", "40"))
    equal, undetermined, different = compare(truth, document)
    assert not different, different
    assert equal >= 57, equal
    assert not undetermined, undetermined


def few_inputs(bench):
    """With few inputs most decisions are not covered, and say so."""
    truth = bench.truth(bench.source("decisions.c"), "3", "4")
    document = bench.mcdc(bench.trace("decisions.c", "-O0", "3", "4"))
    equal, _, different = compare(truth, document)
    assert not different and equal >= 54, (equal, different)
    states = [decision["state"] for decision in document["decisions"]]
    assert states.count("not-covered") > 45, states


def merged(bench):
    """The vectors of several traces are added; those of their partial answers, too."""
    truth = bench.truth(bench.source("decisions.c"), "5", "12")
    bench.trace("decisions.c", "-O0", "5", "8")
    os.rename(os.path.join(bench.folder, "traced.ntrace"), os.path.join(bench.folder, "first.ntrace"))
    bench.run(bench.ntrace, "run", "-o", "second.ntrace", "--", "./traced", "9", "12")
    parts = [partial(bench, name) for name in ("first", "second")]
    for traces in (("first.ntrace", "second.ntrace"), parts, parts[::-1]):
        document = bench.mcdc(*traces)
        equal, _, different = compare(truth, document)
        assert not different and equal >= 54, (traces, equal, different)
    one = bench.mcdc("first.ntrace")
    assert bench.mcdc(parts[0])["decisions"] == one["decisions"] != document["decisions"]


def partial(bench, name):
    """The partial answer of a trace."""
    bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--partial", f"{name}.part", f"{name}.ntrace")
    return f"{name}.part"


def optimized_is_never_wrong(bench):
    truth = bench.truth(bench.source("decisions.c"), "0", "40")
    for level in ("-Og", "-O2", "-O1", "-Os", "-O3")[:None if EVERY else 2]:
        _, _, different = compare(truth, bench.mcdc(bench.trace("decisions.c", level, "0", "40")))
        assert not different, (level, different)


def expression(values, pick):
    if len(values) == 1:
        value = values[0]
        return pick.choice([value, value, "!" + value, f"{value} > {pick.randint(0, 2)}", f"{value} == {pick.randint(0, 2)}", f"get({value})"])
    cut = pick.randint(1, len(values) - 1)
    return f"({expression(values[:cut], pick)} {pick.choice(['&&', '||'])} {expression(values[cut:], pick)})"


BODIES = ["if ({e}) return 1; return 0;", "if ({e}) sink = 1; else sink = 2; return sink;", "return {e};",
          "int n = 0; while (({e}) && n < 3) {{ n++; a--; }} return n;", "int x = {e}; sink = x; return x + 1;",
          "return ({e}) ? sink : 7;", "int n = 0; for (; n < 2 && ({e}); n++) b--; return n;",
          "int n = 0; do {{ n++; sink = n; }} while (n < 3 && ({e})); return n;", "if (a > 5) return 3; if ({e}) sink++; return 4;"]


def random_program(seed, count=60):
    pick, functions, calls = random.Random(seed), [], []
    for number in range(count):
        names = "abcdef"[:pick.randint(2, 6)]
        body = pick.choice(BODIES).format(e=expression(names, pick)[1:-1])
        functions.append(f"__attribute__((noinline)) static int f{number}({', '.join('int ' + name for name in names)}) {{ {body} }}")
        calls.append(f"s += f{number}({', '.join(names)});")
    inputs = ", ".join(f"{name} = z / {3 ** i} % 3" for i, name in enumerate("abcdef"))
    return "\n".join(["#include <stdio.h>", "#include <stdlib.h>", "static volatile int sink;",
                      "__attribute__((noinline)) static int get(int x) { return x & 1; }", *functions,
                      "int main(int argc, char **argv) { int s = 0;",
                      "for (unsigned k = strtoul(argv[1], 0, 0); k <= strtoul(argv[2], 0, 0); k++) {",
                      f"unsigned z = k * 2654435761u; int {inputs};", *calls, '} printf("%d\\n", s); return 0; }', ""])


def random_decisions(bench):
    """-O0: all are determinable. -Og: all that gcc has not merged."""
    for seed, least in ((7, 40), (8, 44))[:2 if EVERY else 1]:
        bench.source("random.c", random_program(seed))
        truth = bench.truth("random.c", "0", "60")
        equal, undetermined, different = compare(truth, bench.mcdc(bench.trace("random.c", "-O0", "0", "60")))
        assert not different and not undetermined and equal == 60, (seed, equal, undetermined, different)
        equal, undetermined, different = compare(truth, bench.mcdc(bench.trace("random.c", "-Og", "0", "60")))
        assert not different and equal >= least, (seed, equal, undetermined, different)
        if EVERY:
            equal, undetermined, different = compare(truth, bench.mcdc(bench.trace("random.c", "-O2", "0", "60")))
            assert not different and equal > 1, (seed, equal, undetermined, different)


def certain(truth, document):
    """Places of decisions with a vector that the instrumented build does not have, also of those that are not determinable."""
    ours = by_place(document)
    wrong = []
    for place, theirs in truth.items():
        expected = set().union(*({values for values in decision["vectors"]} for decision in theirs))
        found = set(vectors_of(ours.get(place, [])))
        if len(theirs) == 1 and theirs[0]["conditions"] == sorted(theirs[0]["conditions"]) and not found <= expected:
            wrong.append((place, found - expected))
    return wrong


def misleading_code(bench):
    """Branches that are joined, threaded, reordered, or placed outside of the decision, by gcc and clang."""
    truth = bench.truth(bench.source("hard.c"), "0", "60")
    for compiler, level, least in (("gcc", "-O0", 19), ("gcc", "-Og", 12), ("clang", "-O0", 8), ("gcc", "-O2", 0), ("clang", "-O2", 0), ("gcc", "-O1", 0),
                                   ("gcc", "-Os", 0), ("clang", "-O1", 0))[:None if EVERY else 3]:
        trace = bench.trace("hard.c", level, "0", "60") if compiler == "gcc" else bench.trace_of_clang("hard.c", level, "0", "60")
        if not trace:
            continue
        document = bench.mcdc(trace)
        equal, undetermined, different = compare(truth, document)
        assert not different and equal >= least, (compiler, level, equal, undetermined, different)
        assert (compiler, level) != ("gcc", "-O0") or not undetermined, undetermined
        assert not certain(truth, document), (compiler, level, certain(truth, document))
        assert not results_differ(truth, document)[0], (compiler, level, results_differ(truth, document))


TOGETHER = """#include <stdio.h>
#include <stdlib.h>
static volatile int sink;
__attribute__((noinline)) static int get(int x) { return x & 1; }
__attribute__((noinline)) static int range(int c) { if (c >= '0' && c <= '9') { sink = 1; return 1; } sink = c; return 2; }
__attribute__((noinline)) static int never(int a, int b) { if (a > 90 || b > 91) { sink = a; return 1; } return b; }
__attribute__((noinline)) static int always(int *a, int *b) { if (a && b) sink = *a; return 3; }
__attribute__((noinline)) static int either(int a, int b) { if (a || b) { sink = a; return 1; } sink = 3; return b; }
__attribute__((noinline)) static int later(int a, int b, int c) { if ((a || b) && get(c)) { sink = 1; return 1; } return b; }
__attribute__((noinline)) static int before(int a, int b) { if (a || b) { sink = a; return 1; } if (get(a) && get(b + 1)) sink = b; return b; }
int main(int argc, char **argv) {
    int total = 0;
    for (int k = atoi(argv[1]); k <= atoi(argv[2]); k++) {
        int a = k % 2, b = k / 2 % 2, c = k / 4 % 2;
        total += range('0' + b) + never(a, b) + always(&a, &b) + either(a && 0, 0) + later(a, b, c) + before(a, b);
    }
    printf("%d\\n", total);
    return 0;
}
"""


def computed_together(bench):
    """Conditions that gcc evaluates without a branch between them: the result is known, and those vectors that alone have it."""
    truth = bench.truth(bench.source("together.c", TOGETHER), "0", "9")
    document = bench.mcdc(bench.trace("together.c", "-Og", "0", "9"))
    equal, undetermined, different = compare(truth, document)
    assert not different and not certain(truth, document), (different, certain(truth, document))
    wrong, known = results_differ(truth, document)
    assert not wrong and known >= 2, (wrong, known)
    found = {decision["function"]: decision for decision in document["decisions"] if len(decision["conditions"]) > 1}
    expected = {"range": ["TT"], "always": ["TT"], "never": ["FF"], "either": ["FF"], "later": ["FF-"]}
    vectors = {name: ["".join(vector["values"]) for vector in found[name]["vectors"]] for name in expected}
    assert vectors == expected, vectors
    open_ = [decision["text"] for decision in document["decisions"] if decision["state"] == "not-determinable"]
    assert open_ == ["(a || b) && get(c)", "a || b", "a && 0"], open_ # the last one is folded
    assert [decision["decision"] for decision in document["decisions"] if decision["text"] in open_[:2] and "reason" in decision] == ["covered"] * 2


def group_rules(bench):
    """Conditions that are computed together or left out: no vector that did not happen."""
    truth = bench.truth(bench.source("source/groups.c"), "0", "107")
    document = bench.mcdc(bench.trace("groups.c", "-Og", "0", "107"))
    wrong = certain(truth, document)
    assert not compare(truth, document)[2] and not results_differ(truth, document)[0] and not wrong, wrong
    assert sum(len(decision["conditions"]) > 1 for decision in document["decisions"]) == 7, document


def determined_for_debugging(bench):
    """Decisions of -Og that need the values that are stored, the statements that only one outcome reaches, or the calls before them."""
    truth = bench.truth(bench.source("source/debugged.c"), "0", "11")
    equal, undetermined, different = compare(truth, bench.mcdc(bench.trace("debugged.c", "-Og", "0", "11")))
    assert not different and undetermined == ["a > 2 && get(b)"] and equal == 8, (equal, undetermined, different)


GENERATED = """#include <stdio.h>
#include <stdlib.h>
static int rule(int a, int b) {
#line 40 "grammar.y"
    if (a > 2 && b) return 1;
#line 7 SELF
    return a || b;
}
#line 90 SELF
int main(int argc, char **argv) {
    int n = 0;
    for (int k = atoi(argv[1]); k <= atoi(argv[2]); k++)
        if (rule(k, k & 1) && (k & 2)) n++;
    printf("%d\\n", n);
    return 0;
}
"""


def generated(bench):
    """#line: decisions have the places of debug information, and the sources that it names."""
    bench.source("grammar.y", "%%\n")
    truth = bench.truth(bench.source("generated.c", GENERATED.replace("SELF", '"generated.c"')), "0", "9")
    for level in ("-O0", "-Og"):
        document = bench.mcdc(bench.trace("generated.c", level, "0", "9"))
        equal, undetermined, different = compare(truth, document)
        assert not different and (equal == 3 or level == "-Og"), (level, equal, undetermined, different)
        places = [(os.path.basename(decision["file"]), decision["line"]) for decision in document["decisions"] if len(decision["conditions"]) > 1]
        assert places == [("generated.c", 7), ("generated.c", 93), ("grammar.y", 40)], places


OVERLOADED = """#include <cstdio>
#include <cstdlib>
struct Flag { int value; };
__attribute__((noinline)) static bool operator&&(const Flag &a, const Flag &b) { return a.value && b.value; }
__attribute__((noinline)) static bool operator||(const Flag &a, const Flag &b) { return a.value + b.value > 0; }
__attribute__((noinline)) static bool operator!(const Flag &a) { return a.value == 0; }
static int shown;
int main(int argc, char **argv) {
    for (int k = std::atoi(argv[1]); k <= std::atoi(argv[2]); k++) {
        Flag a{k & 1}, b{k >> 1 & 1};
        int c = k >> 2 & 1, d = k >> 3 & 1;
        if (a && b) shown++;
        if ((a || b) && c) shown += 2;
        if ((!a && c) || d) shown += 4;
    }
    std::printf("%d\\n", shown);
    return 0;
}
"""


def overloaded_operators(bench):
    """&& and || of C++ that are functions evaluate both operands: they are calls in one condition and no decisions."""
    truth = bench.truth_of_cpp(bench.source("overloaded.cpp", OVERLOADED), "0", "9")
    places = sorted(truth)
    assert len(places) == 3, places
    for level in ("-O0", "-Og"):
        bench.run("riscv64-linux-gnu-g++", "-g", "-w", "-static", level, "overloaded.cpp", "-o", "traced")
        bench.run(bench.ntrace, "run", "-o", "traced.ntrace", "--", "./traced", "0", "9")
        document = bench.mcdc("--only", "overloaded.cpp", "traced.ntrace")
        equal, undetermined, different = compare(truth, document)
        assert not different and (level != "-O0" or equal == 3), (level, equal, undetermined, different)
        several = {(d["line"], d["column"]): len(d["conditions"]) for d in document["decisions"] if len(d["conditions"]) > 1}
        assert several == {place: len(theirs[0]["conditions"]) for place, theirs in truth.items()}, (level, several, places)
        every = json.loads(bench.run(bench.ntrace, "coverage", "--level", "decision", "--format", "json", "--only", "overloaded.cpp", "traced.ntrace"))
        single = [d["text"] for d in every["decisions"] if len(d["conditions"]) == 1]
        assert "a && b" in single and (level != "-O0" or not any("reason" in d for d in every["decisions"])), (level, every["decisions"])


def code_of_clang(bench):
    """clang does not record its level of optimization. Code without any optimization shows it."""
    truth = bench.truth(bench.source("decisions.c"), "0", "40")
    trace = bench.trace_of_clang("decisions.c", "-O0", "0", "40")
    equal, undetermined, different = compare(truth, bench.mcdc(trace))
    assert not different and equal >= 49, (equal, undetermined, different)
    assert len(undetermined) <= 11, undetermined
    for level in ("-O2", "-O1", "-Os")[:None if EVERY else 1]:
        if trace := bench.trace_of_clang("decisions.c", level, "0", "40"):
            document = bench.mcdc(trace)
            assert not compare(truth, document)[2] and not certain(truth, document), (level, compare(truth, document)[2])


def shapes_of_clang(bench):
    """Tests of results at the end of a loop, constants that decide, and large frames."""
    truth = bench.truth(bench.source("source/unoptimized.c"), "0", "40")
    for trace in (bench.trace_of_clang("unoptimized.c", "-O0", "0", "40"), bench.trace("unoptimized.c", "-O0", "0", "40")):
        if trace:
            equal, undetermined, different = compare(truth, bench.mcdc(trace))
            assert not different and not undetermined and equal == len(truth) == 9, (equal, undetermined, different)


def folders_of_clang(bench):
    """clang's line table has folders that are relative to that of compilation, and the caller is in another one. Functions that are
    not declared are errors of libclang 16 and newer, not of a compiler that is asked for C89."""
    os.makedirs(os.path.join(bench.folder, "part", "of"), exist_ok=True)
    bench.source("part/of/place.c", "int main(int c, char **v) { if (c > 0 && implicit(v)) return 0; return 1; }\nint implicit(char **v) { return v != 0; }\n")
    for compiler in ("gcc", "clang"):
        if compiler == "gcc":
            trace = bench.trace("part/of/place.c", "-O0", flags=("-std=gnu89",))
        elif not (trace := bench.trace_of_clang("part/of/place.c", "-O0", flags=("-std=gnu89",))):
            continue
        done = subprocess.run([bench.ntrace, "coverage", "--level", "mcdc", "--format", "json", os.path.join(bench.folder, trace)], cwd="/",
                              stdout=subprocess.PIPE, check=True)
        document = json.loads(done.stdout)
        assert not document["unparsed"] and [decision["vectors"] for decision in document["decisions"]] == \
            [[{"values": ["T", "T"], "result": "T", "count": 1}]], (compiler, document)


def unusual_flow(bench):
    truth = bench.truth(bench.source("unusual.c"), "9")
    for level, least in (("-O0", 13), ("-Og", 5), ("-O2", 1))[:None if EVERY else 2]:
        equal, undetermined, different = compare(truth, bench.mcdc(bench.trace("unusual.c", level, "9")))
        assert not different and equal >= least and (level != "-O0" or not undetermined), (level, equal, undetermined, different)


def inverted_branches(bench):
    """A value that a branch shows is not that of its outcome alone: each inverted branch would be noticed."""
    truth = bench.truth(bench.source("decisions.c"), "0", "40")
    document = bench.mcdc(bench.trace("decisions.c", "-O0", "0", "40"))
    noticed = 0
    for decision in document["decisions"]:
        for index in range(len(decision["conditions"])):
            changed = json.loads(json.dumps(document))
            copy = next(found for found in changed["decisions"] if found == decision)
            for vector in copy["vectors"]:
                vector["values"][index] = {"T": "F", "F": "T", "-": "-"}[vector["values"][index]]
            if decision["vectors"] and "constant" not in decision["conditions"][index] and vectors_of([copy]) != vectors_of([decision]):
                noticed += bool(compare(truth, changed)[2])
    assert noticed > 100, noticed
    for decision in document["decisions"]:
        if len(decision["vectors"]) > 1:
            decision["vectors"].pop()
    assert len(compare(truth, document)[2]) > 45


def same_bytes(bench):
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "0", "20")
    for form in ("text", "json"):
        outputs = {bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--format", form, *jobs, trace)
                   for jobs in (("-j", "1"), ("-j", "4"), ())[:None if EVERY else 2]}
        assert len(outputs) == 1, form


def gap_in_a_decision(bench):
    """Bytes that are lost in the middle: no vector appears that did not happen, and evaluations are unknown. The environment
    decides where a decision is in the stream: holes are made until one is in a decision, and at least four."""
    bench.source("decisions.c")
    bench.run(*GCC, "-O0", "decisions.c", "-o", "traced")
    bench.run(bench.ntrace, "run", "--sync-mode", "messages", "--sync-max", "0", "-o", "gap.ntrace", "--", "./traced", "0", "200")
    whole = {place: vectors_of(decisions) for place, decisions in by_place(bench.mcdc("gap.ntrace")).items()}
    with open(os.path.join(bench.folder, "gap.ntrace", "trace.nex"), "rb") as file:
        stream = file.read()
    options = cases.stream_options(os.path.join(bench.folder, "gap.ntrace"))
    unknown = 0
    for number, cut in enumerate(range(len(stream) // 4, len(stream) * 3 // 4, len(stream) // 50)):
        if unknown and number >= 4 and not EVERY:
            break
        with open(os.path.join(bench.folder, "holed.nex"), "wb") as file:
            file.write(cases.hole(stream, cut, cut + 40))
        document = bench.mcdc("-e", "traced", *options, "holed.nex", status=1)
        assert document["gaps"] > 0
        for place, decisions in by_place(document).items():
            extra = set(vectors_of(decisions).items()) - set(whole[place].items())
            assert not extra, (cut, place, extra)
        unknown += sum(decision["unknown"] for decision in document["decisions"])
    assert unknown > 0


def without_sources(bench):
    """A source that is missing is named; nothing is guessed."""
    bench.source("gone.c", "int main(int c, char **v) { if (c > 1 && v) return 1; return 0; }\n")
    bench.trace("gone.c", "-O0")
    os.rename(os.path.join(bench.folder, "gone.c"), os.path.join(bench.folder, "moved.txt"))
    document = bench.mcdc("traced.ntrace")
    assert not document["decisions"] and any("gone.c" in line and "--source-path" in line for line in document["unparsed"]), document
    os.mkdir(os.path.join(bench.folder, "elsewhere"))
    os.rename(os.path.join(bench.folder, "moved.txt"), os.path.join(bench.folder, "elsewhere", "gone.c"))
    document = bench.mcdc("--source-path", "elsewhere", "traced.ntrace")
    assert len(document["decisions"]) == 1 and not document["unparsed"], document
    assert document["decisions"][0]["state"] == "not-covered"


def compile_commands(bench):
    """Macros of the command line come from compile_commands.json, or from the command line that clang records."""
    bench.source("flags.c", "int main(int c, char **v) {\n#ifdef MORE\n  if (c > LIMIT && v) return 0;\n#endif\n  return 1;\n}\n")
    flags = ["-DMORE", "-D", "LIMIT=0"]
    bench.run(*GCC, "-O0", *flags, "flags.c", "-o", "flags")
    bench.run(bench.ntrace, "run", "-o", "flags.ntrace", "--", "./flags")
    assert not bench.mcdc("flags.ntrace")["decisions"]
    command = {"directory": bench.folder, "file": "flags.c", "arguments": ["cc", *flags, "-c", "flags.c"]}
    bench.source("compile_commands.json", json.dumps([command]))
    for place in ("compile_commands.json", "."):
        document = bench.mcdc("--compile-commands", place, "flags.ntrace")
        assert [decision["text"] for decision in document["decisions"]] == ["c > LIMIT && v"], document
        assert document["decisions"][0]["vectors"] == [{"values": ["T", "T"], "result": "T", "count": 1}]
    bench.source("compile_commands.json", json.dumps([{**command, "arguments": None, "command": "cc -DMORE '-DLIMIT=0' -c flags.c"}]))
    assert len(bench.mcdc("--compile-commands", ".", "flags.ntrace")["decisions"]) == 1
    os.makedirs(os.path.join(bench.folder, "a folder", "GNU"))
    bench.source("a folder/GNU/limit.h", "#define LIMIT (*TEXT - 'a')\n")
    bench.source("recorded.c", "#include <limit.h>\nint main(int c, char **v) { if (MORE && c > LIMIT && v) return 0; return 1; }\n")
    bench.run("clang-19", "--target=riscv64-linux-gnu", "-mno-relax", "-fuse-ld=lld", "-static", "-g", "-grecord-command-line", "-DMORE=c", '-DTEXT="a b"',
              "-I", "a folder/GNU", "recorded.c", "-o", "recorded")
    bench.run(bench.ntrace, "run", "-o", "recorded.ntrace", "--", "./recorded")
    document = bench.mcdc("recorded.ntrace")
    assert [decision["text"] for decision in document["decisions"]] == ["MORE && c > LIMIT && v"] and not document["unparsed"], document
    assert document["decisions"][0]["vectors"] == [{"values": ["T", "T", "T"], "result": "T", "count": 1}]
    for text, word in (("{", "compile_commands.json:1"), ("{}", "expected an array")):
        bench.source("compile_commands.json", text)
        done = subprocess.run([bench.ntrace, "coverage", "--level", "mcdc", "--compile-commands", ".", "flags.ntrace"],
                              cwd=bench.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert done.returncode == 2 and word in done.stderr, done


def only_some_sources(bench):
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "0", "3")
    everything = bench.mcdc(trace)["decisions"]
    assert bench.mcdc("--only", "decisions.c", trace)["decisions"] == everything
    assert bench.mcdc("--only", bench.folder, trace)["decisions"] == everything
    bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--only", "other", trace, status=1)
    lines = [json.loads(bench.run(bench.ntrace, "coverage", "--to", "json", *only, trace))["files"] for only in ((), ("--only", "decisions.c"))]
    assert lines[0] == lines[1] and len(lines[0]) == 1
    bench.run(bench.ntrace, "coverage", "--to", "json", "--only", "cisions.c", trace, status=1)


def thresholds(bench):
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "0", "20")
    for level, percent, status in (("mcdc", "50", 0), ("mcdc", "100", 1), ("decision", "60", 0), ("decision", "100", 1)):
        bench.run(bench.ntrace, "coverage", "--level", level, "--fail-under", percent, trace, status=status)
        bench.run(bench.ntrace, "coverage", "--fail-under", f"{level}={percent}", "--fail-under", "line=50", trace, status=status)
    bench.run(bench.ntrace, "coverage", "--fail-under", "object=10", "--fail-under", "branch=10", trace)
    bench.run(bench.ntrace, "coverage", "--fail-under", "object=100", "--fail-under", "branch=10", trace, status=1)
    for text in ("lines=50", "mcdc=101", "mcdc=", "x"):
        bench.run(bench.ntrace, "coverage", "--fail-under", text, trace, status=2)


def real_source(bench):
    """Equal, and the share that is not determinable has a bound: it was 0.6 % at -O0, 13.8 % at -Og and 80 % at -O2."""
    sources = [os.path.join(HERE, "real.c")]
    for folder in REAL:
        sources += sorted(glob.glob(os.path.join(ROOT, "src", folder, "*.c")))
    sources = [name for name in sources if os.path.basename(name) not in NOT_REAL]
    assert sum(open(name, encoding="utf-8").read().count("\n") for name in sources) >= 2000
    flags = ("-D_GNU_SOURCE", "-Dntr_quick_native=ntr_quick_portable", "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(ROOT, "src"),
             "-I" + os.path.join(os.path.dirname(bench.ntrace), "include"))  # the build makes the header with the version
    bench.run(*CLANG, *flags, *sources, "-o", "native")
    bench.run("./native", env={"LLVM_PROFILE_FILE": "native.profraw"})
    bench.run("llvm-profdata-19", "merge", "native.profraw", "-o", "native.profdata")
    shown = bench.run("llvm-cov-19", "show", "-show-mcdc", "-instr-profile=native.profdata", "native")
    parts = re.split(r"(?m)^(/[^\n|]*\.[ch]):$", shown)
    truth = {name: parse_llvm_cov(body) for name, body in zip(parts[1::2], parts[2::2]) if os.path.basename(name) not in NOT_REAL}
    for level, least, most in ("-Og", 240, 0.15), ("-O0", 300, 0.01), ("-O2", 55, 0.84):
        bench.run(*GCC, level, *flags, *sources, "-o", "real")
        bench.run(bench.ntrace, "run", "-o", "real.ntrace", "--", "./real")
        found = bench.mcdc("real.ntrace", "--clang-arg", flags[-1])["decisions"] # a header of macros only is in no line table
        agreed, open_ = 0, []
        for name, decisions in truth.items():
            ours = [decision for decision in found if name in (os.path.realpath(decision["file"]), decision.get("spelled", {}).get("file"))]
            equal, undetermined, different = compare(decisions, {"decisions": ours})
            assert not different, (level, name, different)
            agreed += equal
            open_ += undetermined
        print(f"# {level}: {agreed} equal, {len(open_)} not determinable")
        assert agreed >= least and len(open_) <= most * (agreed + len(open_)), (level, agreed, open_)


def executed_by_qemu(folder, program, *arguments):
    """Addresses of all instructions that were executed, from QEMU's own log."""
    log = os.path.join(folder, "qemu.log")
    subprocess.run(["qemu-riscv64", *user_qemu.single_step(), "-d", "exec,nochain", "-D", log, program, *arguments], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, timeout=250)
    with open(log, encoding="utf-8", errors="replace") as file:
        return {int(found, 16) for found in re.findall(r"\[[0-9a-f]+/([0-9a-f]+)/", file.read())}


def object_code(bench):
    """Instructions that were not executed are exactly those that QEMU did not execute."""
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O1", "3", "5")
    document = json.loads(bench.run(bench.ntrace, "coverage", "--level", "object", "--format", "json", trace))
    executed = executed_by_qemu(bench.folder, "./traced", "3", "5")
    listing = bench.run("riscv64-linux-gnu-objdump", "-d", "--no-show-raw-insn", "traced")
    code = {int(found, 16) for found in re.findall(r"(?m)^\s+([0-9a-f]+):", listing)}
    assert document["gaps"] == 0 and document["instructions"] > 300 and document["executed"] < document["instructions"]
    missing = 0
    for function in document["functions"]:
        listed = {int(insn["address"], 16) for part in function["not_executed"] for insn in part["instructions"]}
        missing += len(listed)
        assert not listed & executed and listed <= code, function["name"]
        assert function["executed"] + len(listed) == function["instructions"], function["name"]
        for branch in function["one_outcome"]:
            assert int(branch["branch"]["address"], 16) in executed and branch["branch"]["text"].startswith("b"), branch
    assert missing == document["instructions"] - document["executed"]
    text = bench.run(bench.ntrace, "coverage", "--level", "object", trace)
    assert text.count("not executed 0x") == sum(len(function["not_executed"]) for function in document["functions"] if function["executed"])
    assert any(target["kind"] == "call" for target in document["targets"])


PADDED = """
__attribute__((noinline)) int one(int x) { return x + 1; }
__attribute__((noinline)) int never(int x) { return x * 3; }
extern int routine(int), unused(int);
int main(int argc, char **argv) { return argc > 5 ? never(argc) : one(routine(argc)) == 99; }
"""
ROUTINES = """
  .text
  .globl routine, unused
  .balign 64
routine:
  nop
  addi a0, a0, 2
  ret
  .balign 64
unused:
  nop
  nop
  j 1f
  .balign 32
1: nop
  ret
2: nop
  j 1b
  .balign 64
"""


def padding(bench):
    """What aligns code is not listed, unless it is executed or belongs to a routine: functions and sizes are those of the symbols."""
    bench.source("padded.c", PADDED)
    bench.source("routines.S", ROUTINES)
    bench.run(*GCC, "-O2", "-falign-functions=64", "padded.c", "routines.S", "-o", "traced")
    bench.run(bench.ntrace, "run", "-o", "traced.ntrace", "--", "./traced")
    document = json.loads(bench.run(bench.ntrace, "coverage", "--level", "object", "--format", "json", "traced.ntrace"))
    names = re.findall(r"(?m)^([0-9a-f]+) . (\w+)$", bench.run("riscv64-linux-gnu-nm", "-n", "traced"))
    expected = sorted((f"0x{int(address, 16):x}", name) for address, name in names if name in ("one", "never", "main", "routine", "unused"))
    assert sorted((f["address"], f["name"]) for f in document["functions"]) == expected, [(f["address"], f["name"], f["instructions"]) for f in document["functions"]]
    found = {f["name"]: f for f in document["functions"]}
    assert found["routine"]["instructions"] == found["routine"]["executed"] == 3, found["routine"]
    texts = [insn["text"] for part in found["unused"]["not_executed"] for insn in part["instructions"]]
    assert [text.split()[0] for text in texts] == ["nop", "nop", "j", "nop", "ret", "nop", "j"], texts


def other_formats(bench):
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "0", "20")
    root = ElementTree.fromstring(bench.run(bench.ntrace, "coverage", "--to", "cobertura", trace))
    plain = json.loads(bench.run(bench.ntrace, "coverage", "--to", "json", trace))
    lines = {(line["line"], line["count"]) for file in plain["files"] for line in file["lines"]}
    assert {(int(line.get("number")), int(line.get("hits"))) for line in root.iter("line")} == lines and len(lines) > 100
    assert int(root.get("lines-valid")) == len(lines)
    info = bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--to", "lcov", trace)
    document = bench.mcdc(trace)
    count = sum(2 * len([c for c in decision["conditions"] if "constant" not in c]) for decision in document["decisions"] if decision["state"] != "not-determinable")
    records = re.findall(r"(?m)^MCDC:(\d+),(\d+),([tf]),(\d+),(\d+),(.+)$", info)
    assert len(records) == count and re.findall(r"MCF:(\d+)", info) == [str(count)], (len(records), count)
    hit = sum(int(record[3]) > 0 for record in records)
    assert re.findall(r"MCH:(\d+)", info) == [str(hit)] and 0 < hit < count, hit
    bench.source("mcdc.info", info)
    bench.run(cases.need("genhtml"), "--branch-coverage", "-q", "-o", "html", "mcdc.info")


# Packages of Debian that tests read: architecture, packages, suites of which one is enough.
DEBIAN = {"lcov 2": ("amd64", ("lcov",), ("trixie",)), "gcovr": ("amd64", ("gcovr", "python3-colorlog"), ("trixie",)),
          "gcc 14": ("riscv64", GCC_14, ("trixie", "forky"))}


def debian(test, *more, fetch=False):
    """Folder with the packages of the test, and these, if they were fetched before; mcdc.py --fetch does it for all."""
    arch, packages, suites = DEBIAN[test]
    for suite in suites:
        command = [os.path.join(ROOT, "tools", "debian_root"), "--suite", suite, "--arch", arch, "--no-depends", *packages, *more]
        if not fetch:
            command.insert(1, "--offline")
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
    return None if fetch else cases.skip("debian-packages")


def lcov_2(bench):
    """genhtml of lcov 2 draws a page with MC/DC from the records, without a complaint, and with our sums."""
    root = debian("lcov 2")
    if subprocess.run(["perl", "-MDateTime", "-MCapture::Tiny", "-MDate::Parse", "-e", "1"], stderr=subprocess.DEVNULL, check=False).returncode:
        cases.skip("perl-modules")
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "0", "20")
    bench.run(bench.ntrace, "coverage", "--level", "mcdc", "--to", "lcov", "-o", "mcdc.info", trace)
    with open(os.path.join(bench.folder, "mcdc.info"), encoding="utf-8") as file:
        info = file.read()
    shown = bench.run("perl", os.path.join(root, "usr", "bin", "genhtml"), "--mcdc-coverage", "--branch-coverage", "-o", "html2", "mcdc.info",
                      env={"PERL5LIB": os.path.join(root, "usr", "lib", "lcov")})
    hit, found = re.search(r"MC/DCs?\.+: [\d.]+% \((\d+) of (\d+)", shown).groups()
    assert [hit] == re.findall(r"MCH:(\d+)", info) and [found] == re.findall(r"MCF:(\d+)", info) and int(hit) > 50, shown[-500:]
    assert "ERROR" not in shown and "category" not in shown, shown


def gcovr(bench):
    """gcovr opens the Cobertura file, and counts the same lines."""
    root = debian("gcovr")
    bench.source("decisions.c")
    trace = bench.trace("decisions.c", "-O0", "3", "5")
    bench.run(bench.ntrace, "coverage", "--to", "cobertura", "-o", "cobertura.xml", trace)
    env = {"PYTHONPATH": os.path.join(root, "usr", "lib", "python3", "dist-packages")}
    if subprocess.run(["/usr/bin/python3", "-c", "import gcovr.__main__"], env=dict(os.environ, **env), stderr=subprocess.DEVNULL, check=False).returncode:
        cases.skip("python-lxml")
    summary = json.loads(bench.run("/usr/bin/python3", "-m", "gcovr", "--cobertura-add-tracefile", "cobertura.xml", "--json-summary", env=env))
    files = json.loads(bench.run(bench.ntrace, "coverage", "--to", "json", trace))["files"]
    lines = [line for file in files for line in file["lines"] if line.get("known", True)]
    assert summary["line_total"] == len(lines) > 100, summary
    assert summary["line_covered"] == sum(line["count"] > 0 for line in lines) < len(lines), summary


def condition_coverage(bench):
    """gcc 14's -fcondition-coverage, masking MC/DC, as a second witness: condition by condition."""
    root = debian("gcc 14")
    folder, qemu = os.path.join(root, "usr", "lib", "gcc", "riscv64-linux-gnu", "14"), ("qemu-riscv64", "-L", root)
    include = [word for name in (folder + "/include", root + "/usr/include/riscv64-linux-gnu", root + "/usr/include") for word in ("-isystem", name)]
    bench.source("decisions.c")
    bench.run(*qemu, root + CC1_14, "-quiet", "-mabi=lp64d", "-march=rv64gc", "-O0", "-w", "-fcondition-coverage", "-ftest-coverage",
              "-fprofile-arcs", *include, "decisions.c", "-o", "witness.s", "-dumpbase", "decisions.c", "-dumpbase-ext", ".c")
    bench.run(GCC[0], "-c", "witness.s", "-o", "witness.o")
    library = os.path.join(root, "usr", "lib", "riscv64-linux-gnu")
    cases.need("ld.lld-19")
    bench.run("ld.lld-19", "-static", *(f"{library}/{name}.o" for name in ("crt1", "crti")), folder + "/crtbeginT.o", "witness.o",
              *(f"{folder}/{name}.a" for name in ("libgcov", "libgcc", "libgcc_eh")), library + "/libc.a", folder + "/crtend.o",
              library + "/crtn.o", "-o", "witness")
    compared = 0
    for inputs in (("3", "5"), ("0", "20"))[:None if EVERY else 1]:
        for name in glob.glob(os.path.join(bench.folder, "*.gcda")):
            os.remove(name)
        bench.run("qemu-riscv64", "./witness", *inputs)
        bench.run(*qemu, os.path.join(root, "usr/bin/riscv64-linux-gnu-gcov-14"), "--conditions", os.path.basename(glob.glob(os.path.join(bench.folder, "*.gcda"))[0]))
        theirs, line = {}, 0
        with open(os.path.join(bench.folder, "decisions.c.gcov"), encoding="utf-8") as file:
            for text in file:
                if place := re.match(r"\s*[-#=\d*]+:\s*(\d+):", text):
                    line = int(place[1])
                elif place := re.match(r"condition outcomes covered (\d+)/(\d+)", text):
                    theirs.setdefault(line, []).append((int(place[2]) // 2, set()))
                elif place := re.match(r"condition\s+(\d+) not covered", text):
                    theirs[line][-1][1].add(int(place[1]))
        ours = {}
        for decision in bench.mcdc(bench.trace("decisions.c", "-O0", *inputs))["decisions"]:
            ours.setdefault(decision["line"], []).append(decision)
        for line, decisions in ours.items():
            found = [one for one in theirs.get(line, []) if one[0] > 1]
            if len(found) != 1 or len(decisions) != 1 or any("constant" in one for one in decisions[0]["conditions"]) or "reason" in decisions[0]:
                continue
            if "?" in decisions[0]["text"]:
                continue # gcc counts the operands of ?: as conditions
            missed = {number for number, one in enumerate(decisions[0]["conditions"]) if not one["masking"]}
            assert found[0] == (len(decisions[0]["conditions"]), missed), (inputs, line, decisions[0]["text"], found, missed)
            compared += 1
    assert compared > (70 if EVERY else 35), compared


INCLUDES = """#include <stdio.h>
#define NAMED(name) one_##name
#define IS(p, c) (*(p) == (c))
#include "included.h"
#undef NAMED
#undef IS
#define NAMED(name) big_##name
#define IS(p, c) ((p)[0] == 0 && (p)[1] == (c))
#include "included.h"
#undef NAMED
#undef IS
#define NAMED(name) little_##name
#define IS(p, c) ((p)[1] == 0 && (p)[0] == (c))
#include "included.h"
int main(void) {
    static const unsigned char in[][2] = {"x", {0, 'x'}, {0, 'y'}, {'y', 1}, {0, 0}};
    int s = 0;
    for (int i = 0; i < 5; i++) s += one_find(in[i], i & 1) + big_find(in[i], i < 3) + little_find(in[4 - i], 1);
    printf("%d\\n", s);
    return 0;
}
"""


def executed_in_parts():
    """The vectors of the decisions of two conditions or more: {(function, line): vectors}."""
    rows, found = [b"x\0", b"\0x", b"\0y", b"y\1", b"\0\0"], {}

    def evaluated(name, line, *conditions):
        values = ["-"] * len(conditions)
        for i, condition in enumerate(conditions):
            values[i] = "T" if condition else "F"
            if not condition:
                break
        found.setdefault((name, line), set()).add("".join(values))
        return values[-1] == "T"

    for i, row in enumerate(rows):
        for name, p, n in (("one", row, i & 1), ("big", row, i < 3), ("little", rows[4 - i], 1)):
            at = {"one": [], "big": [p[0] == 0], "little": [p[1] == 0]}[name]
            char = p[1] if name == "big" else p[0]
            if not evaluated(name + "_find", 4, n > 0, *at, char == ord("x")) and at:
                evaluated(name + "_find", 5, *at, char == ord("y"))
    return found


def included_several_times(bench):
    """A file with functions that get other names, and other macros, each time: the place of a decision is that of three."""
    bench.source("included.h")
    bench.source("includes.c", INCLUDES)
    truth = executed_in_parts()
    for compiler, level in (("gcc", "-O0"), ("gcc", "-Og"), ("clang", "-O0"), ("gcc", "-O2"))[:None if EVERY else 3]:
        trace = bench.trace("includes.c", level) if compiler == "gcc" else bench.trace_of_clang("includes.c", level)
        if not trace:
            continue
        ours, known = collections.defaultdict(list), 0
        for decision in bench.mcdc(trace)["decisions"]:
            if decision["file"].endswith("included.h") and decision["line"] < 6 and len(decision["conditions"]) > 1:
                ours[decision["function"], decision["line"], len(decision["conditions"])].append(decision)
        for (function, line), expected in truth.items():
            decision, = ours[function, line, len(next(iter(expected)))]
            found = {"".join(vector["values"]) for vector in decision["vectors"]}
            assert found <= expected and ("reason" in decision or found == expected), (compiler, level, function, line, found, expected)
            known += "reason" not in decision
        assert level != "-O0" or known == len(truth) == 5, (compiler, level, known)


IN_ONE_LINE = """struct Both { int a, b; bool all() { return a && b; } bool any() { if (a || b) return true; return false; } };
int main(int argc, char **) { Both both{argc, argc - 1}; return both.all() + both.any() - 1; }
"""


def functions_in_one_line(bench):
    """Functions at the same line are no file that is included several times: the names of methods are not those of debug information."""
    bench.source("line.cpp", IN_ONE_LINE)
    bench.run("riscv64-linux-gnu-g++", *GCC[1:], "-O0", "line.cpp", "-o", "traced")
    bench.run(bench.ntrace, "run", "-o", "traced.ntrace", "--", "./traced")
    found = {decision["text"]: [vector["values"] for vector in decision["vectors"]] for decision in bench.mcdc("traced.ntrace")["decisions"]}
    assert found == {"a && b": [["T", "F"]], "a || b": [["T", "-"]]}, found


# Two timers, whose handlers may interrupt each other before their first instruction.
INTERRUPTED = """#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile int alarms, hits;
static void on_alarm(int s) { alarms++; }
static void on_other(int s) { alarms++; }
__attribute__((noinline)) static void step(int a, int b, int c) {
    if (a && (b || c)) hits++;
    if (!a || b) hits++;
}
int main(void) {
    struct itimerval it = { { 0, 100 }, { 0, 100 } };
    struct sigaction one = { .sa_handler = on_alarm, .sa_flags = SA_NODEFER }, other = { .sa_handler = on_other };
    sigaction(SIGALRM, &one, 0);
    sigaction(SIGVTALRM, &other, 0);
    setitimer(ITIMER_REAL, &it, 0);
    setitimer(ITIMER_VIRTUAL, &it, 0);
    for (int i = 0; i < 200000; i++) step(i % 2, 0, i % 4 == 3);
    it = (struct itimerval){ { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &it, 0);
    setitimer(ITIMER_VIRTUAL, &it, 0);
    printf("%d\\n", alarms);
    return 0;
}
"""


def interrupted(bench):
    """Signals arrive at any block, or, when QEMU makes a block of each instruction, at any instruction. The vectors, outcomes and
    lines are those of the source."""
    bench.source("interrupted.c", INTERRUPTED)
    bench.run(*GCC, "-O0", "interrupted.c", "-o", "traced")
    for each in ({}, {"QEMU_SINGLESTEP": "1", "QEMU_ONE_INSN_PER_TB": "1"}):
        arrived = int(bench.run(bench.ntrace, "run", "-q", "-o", "traced.ntrace", "--", "./traced", env=each))
        assert arrived > (1000 if each else 20), arrived
        found = [{"".join(v["values"]): v["count"] for v in decision["vectors"]} for decision in bench.mcdc("traced.ntrace")["decisions"]
                 if decision["line"] < 10]
        assert found == [{"F--": 100000, "TFF": 50000, "TFT": 50000}, {"FF": 100000, "T-": 100000}], found
        document = json.loads(bench.run(bench.ntrace, "coverage", "--to", "json", "--only", "interrupted.c", "traced.ntrace"))
        lines = {line["line"]: line for line in document["files"][0]["lines"]}
        outcomes = [{(b["taken"], b["not_taken"]) for b in lines[n]["branches"]} for n in (8, 9)]
        assert outcomes == [{(100000, 100000), (0, 100000), (50000, 50000)}, {(100000, 100000), (100000, 0)}], outcomes
        assert [lines[n]["count"] for n in (7, 8, 9)] == [200000] * 3, lines


if sys.argv[1:] == ["--fetch"]:
    sys.exit(not all([debian(test, fetch=True) for test in DEBIAN]))
if __name__ == "__main__":
    cases.main([shapes_without_optimization, few_inputs, merged, optimized_is_never_wrong, random_decisions, unusual_flow, misleading_code, computed_together, group_rules, determined_for_debugging, generated, overloaded_operators, code_of_clang, shapes_of_clang, folders_of_clang, inverted_branches, same_bytes, gap_in_a_decision,
                without_sources, compile_commands, only_some_sources, thresholds, *([real_source, condition_coverage] if EVERY else []), object_code, padding, other_formats, lcov_2, gcovr,
                included_several_times, functions_in_one_line, interrupted], Bench, TOOLS)
