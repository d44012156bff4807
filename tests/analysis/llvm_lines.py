#!/usr/bin/env python3
"""Lines of code that clang made, counted as llvm-cov counts them: --rule, and what is chosen without it. TAP.

usage: llvm_lines.py NTRACE

The source is compiled twice by clang -O0: for this machine with -fcoverage-mapping, counted by llvm-cov; and for RISC-V without it,
traced. The rules by which the counts may differ are those of docs/coverage-rules.md ("Lines of clang").
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
from harness import Run, case, check, equal, folder, main, matches, need
from llvm_native import TARGET, document, from_llvm_cov, lines_of, run, trace, write

HERE = os.path.dirname(os.path.abspath(__file__))
LOOP = "int main(void) {\n    int n = 3;\n    while (n--) ;\n    for (int i = 0; i < 2; i++) for (int k = 0; k < 3; k++) n += i;\n    return 0;\n}\n"


def named_rule(text, number):
    """The rule by which llvm-cov may count a line otherwise, or None."""
    line = text[number - 1].strip()
    if line == "}" and re.search(r"\) try \{.*catch", text[number - 3]):
        return "functions that are a try block"
    if line.startswith("CASES("):
        return "macros with labels"
    if "setjmp" in line or line.startswith(("if (code == 0)", "total += code;")):
        return "setjmp"
    return None


def without_source(text, number):
    """The same where the source is not at hand."""
    line, before = text[number - 1].strip(), text[number - 2].strip()
    if line.startswith("}") or line == "do {":
        return "braces"
    if re.search(r"(\|\||&&)$", before) or line.startswith("i++"):
        return "continued lines"
    if re.match(r"for \(.*[;)]$", line):
        return "loops without braces"
    if "virtual ~" in line:
        return "deleting destructors"
    return named_rule(text, number)


def as_llvm_cov(place, source, least):
    with open(os.path.join(place, source), encoding="utf-8") as file:
        text = file.read().split("\n")
    theirs = from_llvm_cov(source, place)
    trace("clang++-19" if source.endswith(".cc") else "clang-19", [source], place, *TARGET)
    answer = document(place)
    ours = lines_of(answer, source)
    both = set(ours) & set(theirs)
    other = [f"{n}: {ours[n]}, llvm-cov {theirs[n]}: {text[n - 1]}" for n in sorted(both) if ours[n] != theirs[n] and not named_rule(text, n)]
    equal(other, [], "lines with other counts")
    check(len(both) >= least, f"{len(both)} lines")
    check(sum(ours[n] != theirs[n] for n in both) * 6 < len(both), "most lines need no rule")
    equal([n for n in ours if text[n - 1].strip().startswith("CASES(") and not ours[n]], [], "macros of which the second part was executed")
    equal(answer["rule"], "llvm-cov", "rule")
    os.remove(os.path.join(place, source))
    ours = lines_of(document(place), source)
    other = [f"{n}: {ours[n]}, llvm-cov {theirs[n]}: {text[n - 1]}" for n in sorted(both) if ours[n] != theirs[n] and not without_source(text, n)]
    equal(other if source not in ("regions.c", "hidden.cc") else [], [], "lines with other counts, without the source")


@case("C: lines of clang are counted as llvm-cov counts them", "coverage.c", 60)
@case("C: lines with several loops and conditions", "hard.c", 90)
def clang(source, least):
    place = folder()
    shutil.copy(os.path.join(HERE, source), place)
    as_llvm_cov(place, source, least)


@case("C: parts of statements, and what follows a statement that control may leave", "regions.c", 100)
@case("C: loops without a condition, and loops of macros, which count as the line of the macro", "heads.c", 80)
@case("C++: functions, instances and lambdas on one line; loops over ranges", "instances.cc", 30)
@case("C++: lines without code in some instances; what macros, attributes and cleanups hide", "hidden.cc", 50)
@case("C++: destructors and exceptions; the brace after the only `return` is executed", "destructors.cc", 40)
def sources(source, least):
    place = folder()
    shutil.copy(os.path.join(HERE, "source", source), place)
    as_llvm_cov(place, source, least)


@case("the rules by which llvm-cov counts what was not executed, each with its line", long=True)
def untrue():
    place, source = folder(), "untrue.cc"
    shutil.copy(os.path.join(HERE, "source", source), place)
    with open(os.path.join(place, source), encoding="utf-8") as file:
        marks = [re.search(r"// ([a-z ]+): (\d+), (\d+)$", line) for line in file.read().split("\n")]
    expected = {number: (int(mark[2]), int(mark[3])) for number, mark in enumerate(marks, 1) if mark}
    theirs = from_llvm_cov(source, place)
    trace("clang++-19", [source], place, *TARGET)
    ours = lines_of(document(place), source)
    equal({n: (theirs[n], ours[n]) for n in set(ours) & set(theirs) if ours[n] != theirs[n]}, expected, "llvm-cov, and executions")
    equal(len({mark[1] for mark in marks if mark}), 8, "rules")


@case("--rule selects a rule, and every output says which it is")
def rules():
    place = folder()
    write(os.path.join(place, "loop.c"), LOOP)
    trace("clang-19", ["loop.c"], place, *TARGET)
    bundle = os.path.join(place, "traced.ntrace")
    equal(lines_of(document(place), "loop.c")[3], 4, "executions of the condition, as llvm-cov counts")
    equal(lines_of(document(place, "--rule", "llvm"), "loop.c")[3], 4, "--rule llvm")
    answer = document(place, "--rule", "gcov")
    equal(lines_of(document(place), "loop.c")[4], 8, "evaluations of the inner condition")
    equal((answer["rule"], lines_of(answer, "loop.c")[4]), ("gcov", 9), "--rule gcov: one entry, and 2 and 6 rounds")
    matches("by the rule of llvm-cov", Run("coverage", "--only", place, bundle).out, "text")
    check("by the rule" not in Run("coverage", "--rule", "gcov", "--only", place, bundle).out, "text of gcov's rule")


OTHERWISE = "int main(int n, char **a) {\n    (void)a;\n    if (n > 5) {\n        n = 3;\n    } else {\n        n = 4;\n    }\n    return n > 9;\n}\n"


@case("a source without an MD5 that is newer than the program counts no lines, in coverage and report: how many functions these are is said")
def newer():
    place, counts = folder(), {}
    path, bundle, page = (os.path.join(place, name) for name in ("m.c", "traced.ntrace", "m.html"))
    write(path, OTHERWISE)
    trace("clang-19", ["m.c"], place, *TARGET, "-gdwarf-4")
    for said, time in (("used", 1000000000), ("unknown", None)):
        os.utime(path, time and (time, time))
        answer = document(place)
        counts[said] = lines_of(answer, "m.c")[5]
        equal([function["source"] for file in answer["files"] for function in file["functions"]], [said], "functions")
        Run("report", "-o", page, bundle)
        with open(page, encoding="utf-8") as file:
            shown = file.read()
        equal(int(re.search(r'\[5,"    } else {",(\d+)', shown)[1]), counts[said], "report")
        matches('"rule":"(gcov and )?llvm-cov","by_code":[%s],' % ("0" if said == "used" else "1-9"), shown, "rule of the report")
    equal(counts, {"used": 1, "unknown": 0}, "count of `} else {`: llvm-cov's, and that of its code")
    by_code = "counted by their code alone, which llvm-cov counts by the source: 1 \\(optimized 0, source unknown 1, not understood 0\\)"
    matches(by_code, Run("coverage", "--only", place, bundle).out, "text")
    matches("may count otherwise: 1 ", Run("coverage", "--only", place, "--to", "lcov", bundle).err, "messages of a format without a place for it")


@case("each unit is counted by the rule of its compiler")
def mixed():
    place = folder()
    write(os.path.join(place, "loop.c"), LOOP)
    write(os.path.join(place, "other.c"), LOOP.replace("main", "other"))
    run(need("clang-19"), *TARGET[:-1], "-c", "loop.c", "-o", "loop.o", cwd=place)
    trace("riscv64-linux-gnu-gcc", ["loop.o", "other.c"], place, "-g", "-static")
    equal(document(place)["rule"], "gcov and llvm-cov", "rule")
    equal(document(place, "--rule", "llvm")["rule"], "llvm-cov", "rule of all")


main("clang-19", "qemu-riscv64")
