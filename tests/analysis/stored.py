#!/usr/bin/env python3
"""Last conditions that a compiler stores and does not test, against llvm-cov. TAP on standard output.

usage: stored.py NTRACE [every]      every: more random programs, and C++

clang without optimization computes x = a && b without a branch for b. A trace with loads shows the value. Without loads the vector
has '?' for b, and only conditions whose pairs do not depend on it are counted.
"""
import os
import re
import shutil
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import mcdc

EVERY = "every" in sys.argv
SEEDS = range(7, 15) if EVERY else (7,)
KINDS = ["return {e};", "return use({e});", "return use({e}) ? sink++ : sink--;", "struct S s; s.f = {e}; s.g = !({e}); return s.f + s.g;", "int x = {e}, y = !({e}); if (x) sink = y; return x + 2 * y;",
         "bool r = {e}; r = r != ({e}); return r;", "int v[2] = {{ {e}, a }}; return v[0] + v[({e}) & 1];", "switch ({e}) {{ case 0: return 4; default: return 5; }}", "int k = 0; sink = k + ({e}); return k;",
         "long q = 7; q -= ({e}); return (int)q;", "return ({e}) + ({e});", "int k = 1; k = k && ({e}); return k;", "double half = a * 0.5; int r = half > 0.2 && ({e}); return r;", "int large[900]; large[a & 7] = {e}; return large[a & 7];"]
KINDS_MORE = "static volatile int sink;\n#ifndef __cplusplus\n#define bool _Bool\n#endif\nstruct S { unsigned f : 3; bool g; };\n__attribute__((noinline)) static int use(int v) { return v * 3 + 1; }\n"


KINDS_CHOICES = ["return ({e}) ? 1 : 2;", "if ((b ? use(a) : a) || ({e})) return 1; return 2;", "int k = a && (b ? 0 : 1); return k + (({e}) ? a : b);", "return (a ? ({e}) : b == 2) && use(b);",
                 "int n = 0; while (n < 3 && (b ? use(n) > 4 : !({e}))) n++; return n;", "return (({e}) ? use(a) : use(b)) + (a && use(b) ? 7 : 5);", "if (a ? ({e}) : use(b)) return 3; return 4;",
                 "if (use(a) && (b ? ({e}) : !({e}))) return 3; return 4;", "if ((a ? !(b ? ({e}) : use(a)) : b == 1) || !(use(b) ? b : ({e}))) return 3; return 4;",
                 "int k = (a ? ({e}) : b) && use(a); return k;", "do {{ if (b ? a : ({e})) break; b--; }} while (b > 0 && (a ? ({e}) : a == b)); return b;"]
KINDS_TEMPORARIES = ["if ({e}) return 1; return 2;", "return {e};", "return ({e}) ? 1 : 2;", "int n = 0; while (n < 3 && ({e})) n++; return n;", "bool r = {e}; return r + 1;",
                     "T t(a); if (t.n == 1 || ({e})) return use(t.n); return 0;", "T *t = new T(a); if (a && b) t->~T(); return ({e});", "return use({e}) + (a && make(b));", "int k = ({e}) ? make(a).n : 3; return k;",
                     "for (T t(a); t.n < 2 && !({e}); t.n++) sink++; return 4;", "int n = 0; do {{ T t(n); n++; if (({e}) && t.n) continue; sink++; }} while (n < 3); return n;"]
KINDS_UNUSED = ["(void)(({e}) || use(a)); return 1;", "({e}) && use(b); return 2;", "if (a) ({e}) || use(b); return 3;", "!({e}) || (b && use(a)); return 4;",
                "for (int i = 0; i < 2; i++) ({e}) && use(i); return 5;"]


TEMPORARY = ("static int alive; struct T { int n; T(int x) : n(x) { alive++; } T(const T &o) : n(o.n) { alive++; } ~T() { alive--; } explicit operator bool() const { return n & 1; }"
             " bool operator==(int o) const { return n == o; } };\nstatic T make(int x) { return T(x); }")


def program(seed, count, kinds=KINDS):
    kept, mcdc.BODIES = mcdc.BODIES, kinds
    text = mcdc.random_program(seed, count)
    mcdc.BODIES = kept
    return text.replace("static volatile int sink;\n", KINDS_MORE, 1)


def run_of_clang(bench, name, *inputs, data):
    compiler, linker = ("clang++-19", "riscv64-linux-gnu-g++") if name.endswith("cpp") else ("clang-19", "riscv64-linux-gnu-gcc")
    cases.need("ld.lld-19")
    if not os.path.exists(os.path.join(bench.folder, "ld.lld")):
        os.symlink(shutil.which("ld.lld-19"), os.path.join(bench.folder, "ld.lld"))
    bench.made("clang.o", name, compiler, "--target=riscv64-linux-gnu", "-mno-relax", "-g", "-w", "-O0", "-c")
    bench.run(linker, "-B", bench.folder, "-fuse-ld=lld", "-static", "clang.o", "-o", "traced")
    bench.run(bench.ntrace, "run", *(("--data",) if data else ()), "-o", "traced.ntrace", "--", "./traced", *inputs)
    return bench.mcdc("traced.ntrace")


def possible(vectors, expected):
    """Whether the vectors are those that are expected, with '?' for some values."""
    def fits(ours, theirs):
        return all(a in (b, "?") for a, b in zip(ours, theirs))
    known = {(*values, result) for values, result in expected.items()}
    found = {(*values, result) for values, result in vectors.items()}
    return all(any(fits(ours, theirs) for theirs in known) for ours in found) and all(any(fits(ours, theirs) for ours in found) for theirs in known)


def check_without_loads(truth, document):
    """Vectors, states and conditions agree with llvm-cov as far as they are known. Returns the number of decisions with '?'."""
    ours, open_ones = mcdc.by_place(document), 0
    for place, (theirs, *more) in truth.items():
        decision, = ours[place]
        assert not more and possible(mcdc.vectors_of([decision], True), theirs["vectors"]), (place, decision["text"], theirs["vectors"], decision["vectors"])
        for condition, covered, expected in zip(decision["conditions"], decision["covered"], theirs["covered"]):
            assert covered == expected or (condition.get("open") and not covered), (place, decision["text"], condition, expected)
        whole = all(theirs["covered"])
        assert decision["state"] in ("not-determinable", "covered" if whole else "not-covered"), (place, decision, theirs)
        open_ones += any("?" in vector["values"] for vector in decision["vectors"])
        assert ("reason" in decision) == any("?" in vector["values"] for vector in decision["vectors"]), decision
    conditions = [c for decision in document["decisions"] if len(decision["conditions"]) > 1 for c in decision["conditions"]]
    assert document["sums"]["conditions"] == sum(not c.get("open") for c in conditions), (document["sums"], len(conditions))
    return open_ones


def random_results(bench):
    """clang: results that are stored, returned, passed on, and tested later."""
    for seed in SEEDS:
        for name in ("stored.c", "stored.cpp") if EVERY else ("stored.c",):
            bench.source(name, program(seed, 60 if EVERY else 30))
            truth = (bench.truth_of_cpp if name.endswith("cpp") else bench.truth)(name, "0", "60")
            equal, undetermined, different = mcdc.compare(truth, run_of_clang(bench, name, "0", "60", data=True))
            assert not different and not undetermined and equal == len(truth), (seed, name, equal, len(truth), undetermined, different)
            found = check_without_loads(truth, run_of_clang(bench, name, "0", "60", data=False))
            print(f"# seed {seed} {name}: {equal} decisions, {found} of them with '?' without loads")
            assert found * 2 > len(truth), (found, len(truth))


def run_of_gcc(bench, compiler, name):
    bench.run(compiler, "-g", "-w", "-O0", "-static", name, "-o", "traced")
    bench.run(bench.ntrace, "run", "--data", "-o", "traced.ntrace", "--", "./traced", "0", "60")
    return bench.mcdc("traced.ntrace")


def choices(bench):
    """?: inside of conditions, and decisions that control it: gcc tests both operands in C and their value in C++, clang the other way round; clang computes some.
    In C, clang has no other branch for an operand && or || than those of its conditions."""
    compilers = (("choices.c", "riscv64-linux-gnu-gcc"), ("choices.c", "clang"), ("choices.cpp", "clang"), *((("choices.cpp", "riscv64-linux-gnu-g++"),) if EVERY else ()))
    for seed in (*SEEDS, 41) if EVERY else (41,):
        for name, compiler in compilers:
            bench.source(name, program(seed, 40 if EVERY else 10, KINDS_CHOICES))
            truth = (bench.truth_of_cpp if name.endswith("cpp") else bench.truth)(name, "0", "60")
            document = run_of_clang(bench, name, "0", "60", data=True) if compiler == "clang" else run_of_gcc(bench, compiler, name)
            equal, undetermined, different = mcdc.compare(truth, document)
            print(f"# seed {seed} {name} {compiler}: {equal} of {len(truth)} decisions equal")
            assert not different and not undetermined and equal == len(truth), (seed, name, compiler, equal, len(truth), undetermined, different)


# Functions, and the vectors of their decisions for the inputs from 0 to 7: a, b and c are the bits.
PATTERNS = {
    "__attribute__((noinline)) static int f(int a, int b, int c) { if (__builtin_expect(!!((b && c > 0) || use(a) & 1), 1)) sink++; return 3; }":
        {"(b && c > 0) || use(a) & 1": "F-F=F:2 F-T=T:2 TFF=F:1 TFT=T:1 TT-=T:2"},
    "__attribute__((noinline)) static int g(int a, int b, int c) { if (!a || (b ? (c > 0 && a > b) : c)) sink++; return 3; }":
        {"!a || (b ? (c > 0 && a > b) : c)": "FF=F:3 FT=T:1 T-=T:4", "c > 0 && a > b": "F-=F:1 TF=F:1"},
    "__attribute__((noinline)) static int h(int a, int b, int c) { int n = 0; while (n++ < 2 && (use(a) > 1 && (b || c)) != 0) sink++; return n; }":
        {"use(a) > 1 && (b || c)": "F--=F:4 TFF=F:1 TFT=T:2 TT-=T:4"},
}
PATTERN_OF_CPP = ("template <class F> static int call(F f) { return f(); }\n"
                  "__attribute__((noinline)) static int k(int a, int b, int c) { return call([&] { return ((use(a) & 1 && b) || c) ? 4 : 5; }); }",
                  {"(use(a) & 1 && b) || c": "F-F=F:2 F-T=T:2 TFF=F:1 TFT=T:1 TT-=T:2"})


def patterns(bench):
    """Decisions of which the compilers test the result, or an operand, by branches of their own."""
    for name in ("patterns.c", "patterns.cpp"):
        cases_ = {**PATTERNS, **({PATTERN_OF_CPP[0]: PATTERN_OF_CPP[1]} if name.endswith("cpp") else {})}
        calls = "".join(f"s += {letter}(i & 1, i >> 1 & 1, i >> 2 & 1); " for letter in "fghk"[:len(cases_)])
        bench.source(name, KINDS_MORE + "\n".join(cases_) + "\nint main(void) { int s = 0; for (int i = 0; i < 8; i++) { " + calls + "} return s == 1; }\n")
        for compiler in ("clang", "riscv64-linux-gnu-g++") if name.endswith("cpp") else ("riscv64-linux-gnu-gcc", *(("clang",) if EVERY else ())):
            document = run_of_clang(bench, name, data=True) if compiler == "clang" else run_of_gcc(bench, compiler, name)
            found = {d["text"]: d for d in document["decisions"] if len(d["conditions"]) > 1}
            for text, expected in (item for vectors in cases_.values() for item in vectors.items()):
                seen = " ".join(sorted(f"{''.join(v['values'])}={v['result']}:{v['count']}" for v in found[text]["vectors"]))
                assert seen == expected and "reason" not in found[text], (name, compiler, text, seen, expected, found[text].get("reason"))


def temporaries(bench):
    """Conditions with temporaries that have destructors: branches of flags say which to destroy, and the explicit call of one is the body of a statement."""
    for seed in SEEDS if EVERY else (9,):
        text = program(seed, 40 if EVERY else 15, KINDS_TEMPORARIES)
        head, tail = text.split("int main(", 1)
        head = re.sub(r"\b([a-f]) == (\d)", r"T(\1) == \2", re.sub(r"!([a-f])\b", r"!make(\1)", head.replace("get(", "make(")))
        text = head.replace("static int make(int x) { return x & 1; }", TEMPORARY, 1) + "int main(" + tail
        bench.source("temporaries.cpp", text)
        truth = bench.truth_of_cpp("temporaries.cpp", "0", "60")
        for compiler in ("clang", "riscv64-linux-gnu-g++"):
            document = run_of_clang(bench, "temporaries.cpp", "0", "60", data=True) if compiler == "clang" else run_of_gcc(bench, compiler, "temporaries.cpp")
            equal, undetermined, different = mcdc.compare(truth, document)
            print(f"# seed {seed} {compiler}: {equal} of {len(truth)} decisions equal")
            assert not different and not undetermined and equal == len(truth), (seed, compiler, equal, len(truth), undetermined, different)
        check_without_loads(truth, run_of_clang(bench, "temporaries.cpp", "0", "60", data=False))


def unused_results(bench):
    """gcc, and clang for C++: nothing shows the last condition of a result that is not used; the vectors are those of llvm-cov with '?' for it."""
    for seed in SEEDS if EVERY else (8,):
        for name, compiler in (("unused.c", "riscv64-linux-gnu-gcc"), *((("unused.cpp", "riscv64-linux-gnu-g++"), ("unused.cpp", "clang")) if EVERY else ())):
            bench.source(name, program(seed, 40 if EVERY else 15, KINDS_UNUSED))
            truth = (bench.truth_of_cpp if name.endswith("cpp") else bench.truth)(name, "0", "60")
            document = run_of_clang(bench, name, "0", "60", data=True) if compiler == "clang" else run_of_gcc(bench, compiler, name)
            found = check_without_loads(truth, document)
            print(f"# seed {seed} {name} {compiler}: {len(truth)} decisions, {found} of them with '?'")
            assert found > len(truth) // 2, (found, len(truth))


if __name__ == "__main__":
    cases.main([random_results, choices, patterns, unused_results, temporaries], mcdc.Bench, mcdc.TOOLS)
