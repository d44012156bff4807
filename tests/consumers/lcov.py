#!/usr/bin/env python3
"""lcov: version 2 of Debian 13 reads our tracefiles of C++ at each level of optimization without options, and counts the same as we do.

usage: lcov.py NTRACE
"""
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(sys.path[0], ".."))
import unpacked
from harness import NTRACE, Run, case, check, equal, main, need, scratch

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
GXX = ("riscv64-linux-gnu-g++",)
CLANG = ("clang++-19", "--target=riscv64-linux-gnu", "-fuse-ld=lld-19")


def traced(source, compiler, level):
    """The folder with the bundle `plain.ntrace`."""
    folder = tempfile.mkdtemp(dir=scratch())
    name = os.path.join(HERE, source)
    for command in ([need(compiler[0]), *compiler[1:], "-std=c++17", "-g", level, "-static", name, "-o", "plain"],
                    [NTRACE, "run", "-q", "--test", "first run/1", "-o", "plain.ntrace", "--", "./plain"]):
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return folder


def lcov(tool, *arguments, cwd):
    command, environment = unpacked.lcov(tool)
    done = subprocess.run([*command, *arguments], cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    equal(done.returncode, 0, f"{tool} {' '.join(arguments)}: status; {done.stdout[-600:]}")
    return done.stdout


def sums(text):
    """{"lines": (hit, found), ...} that a tool of lcov prints."""
    return {name: (int(hit), int(found)) for name, hit, found in re.findall(r"(lines|functions|branches)\.*: [\d.]+% \((\d+) of (\d+)", text)}


def ours(folder):
    """The same sums of our JSON. The format has no "not known". lcov refuses branches of a line that was executed without any of them, and a lambda of a header
    without an ending that was not executed when its first line was."""
    document = json.loads(Run("coverage", "--to", "json", "plain.ntrace", cwd=folder).out)
    every = [line for file in document["files"] for line in file["lines"]]
    lines = [line for line in every if line["known"]]
    outcomes = [outcome for line in lines for outcome in line.get("branches", [])]
    evaluated = [any(outcome["taken"] or outcome["not_taken"] for outcome in line.get("branches", [])) for line in lines]
    left_out = sum(2 * len(line.get("branches", [])) for line, any_of in zip(lines, evaluated) if line["count"] and not any_of)
    functions = [function for file in document["files"] for function in file["functions"]
                 if function["known"] and (function["count"] or "." in os.path.basename(file["file"]) or "}::operator()" not in function["name"])]
    return {"lines": (sum(line["count"] > 0 for line in lines), len(lines)),
            "branches": (sum((one["taken"] > 0) + (one["not_taken"] > 0) for one in outcomes), 2 * len(outcomes) - left_out),
            "functions": (sum(function["count"] > 0 for function in functions), len(functions)), "unknown": len(every) - len(lines)}


def contradictions(info):
    """What lcov 2 calls inconsistent, also where version 2.0 does not look."""
    found = []
    for record in info.split("end_of_record\n"):
        lines = {int(line): int(count) for line, count in re.findall(r"(?m)^DA:(\d+),(\d+)", record)}
        counts = {name: int(count) for count, name in re.findall(r"(?m)^FNDA:(\d+),(.*)$", record)}
        ranges = {}
        for first, last, name in re.findall(r"(?m)^FN:(\d+),(\d+),(.*)$", record):
            if counts[name] or "{lambda(" not in name:  # the line of one that was not executed can be executed: it is made there
                ranges.setdefault((int(first), int(last)), []).append(counts[name] > 0)
        starts = [first for first, _ in ranges]
        found += [f"several ends at line {first}" for first in starts if starts.count(first) > 1]
        found += [f"[{first}, {last}] {hits}" for (first, last), hits in ranges.items()
                  if any(hits) != any(count for line, count in lines.items() if first <= line <= last)]
        taken = {}
        for line, outcome in re.findall(r"(?m)^BRDA:(\d+),\d+,\d+,(.*)$", record):
            taken.setdefault(int(line), []).append(outcome)
        found += [f"branches of line {line}: {outcomes}, {lines.get(line)}" for line, outcomes in taken.items()
                  if any(outcome not in ("-", "0") for outcome in outcomes) != (lines.get(line, 0) > 0)]
    return found


def accepted(source, compiler, level):
    folder = traced(source, compiler, level)
    expected = ours(folder)
    unknown = expected.pop("unknown")
    for form in ("lcov", "lcov2"):
        said = Run("coverage", "--to", form, "-o", "one.info", "plain.ntrace", cwd=folder).err
        equal(" lines are not known: " in said, unknown > 0, f"what is said of {unknown} lines: {said}")
        with open(os.path.join(folder, "one.info"), encoding="utf-8") as file:
            info = file.read()
        equal(set(re.findall(r"(?m)^TN:(.*)$", info)), {"first_run_1"}, "TN")
        branches = ("--rc", "branch_coverage=1")
        summary = lcov("lcov", *branches, "--summary", "one.info", cwd=folder)
        pages = lcov("genhtml", *branches, "-o", form, "one.info", cwd=folder)
        lcov("lcov", *branches, "-a", "one.info", "-a", "one.info", "-o", "two.info", cwd=folder)
        twice = lcov("lcov", *branches, "--summary", "two.info", cwd=folder)
        for text in (summary, pages, twice):
            equal(sums(text), expected, form)
        if form == "lcov2":
            check("WARNING" not in summary + pages, f"a warning: {summary}{pages}")
            equal(contradictions(info), [], "contradictions")
        else:
            equal(re.findall(r"WARNING: \((\w+)\)", summary), ["unsupported"], "lcov says that it has to find the ends of functions, and no more")
            old = subprocess.run([need("lcov"), "--rc", "lcov_branch_coverage=1", "--summary", "one.info"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if "1." in subprocess.run(["lcov", "--version"], stdout=subprocess.PIPE, text=True).stdout:
                equal(sums(old.stdout), expected, "lcov 1")


case("a map of strings -O2, as it was once refused: lcov 2 adds, sums and draws it", "map.cc", GXX, "-O2")(accepted)
for each_level in LEVELS:
    case(f"a map of strings {each_level}, gcc", "map.cc", GXX, each_level, long=True)(accepted)
    case(f"lambdas, local classes, exceptions {each_level}, gcc", "inside.cc", GXX, each_level, long=True)(accepted)
    case(f"lambdas, local classes, exceptions {each_level}, clang", "inside.cc", CLANG, each_level, long=True)(accepted)


@case("Cobertura: the time stamp is the date of the capture, in milliseconds")
def cobertura_date():
    folder = traced("map.cc", GXX, "-O0")
    stamp = re.search(r'timestamp="(\d+)"', Run("coverage", "--to", "cobertura", "plain.ntrace", cwd=folder).out)[1]
    with open(os.path.join(folder, "plain.ntrace", "capture.json"), encoding="utf-8") as file:
        date = datetime.datetime.fromisoformat(json.load(file)["date"].replace("Z", "+00:00"))
    equal(int(stamp), round(date.timestamp() * 1000), "time stamp")


DECISIONS = """#include <stdlib.h>
static int both(int a, int b, int c) { if (a && (b || c)) return 1; return 0; }
static int two(int a, int b) { return (a > 1 && b > 1) + (a < 0 || b < 0); }
int main(int argc, char **argv) {
    int s = 0;
    for (int i = 1; i + 2 < argc; i += 3) s += both(atoi(argv[i]), atoi(argv[i + 1]), atoi(argv[i + 2])) + two(atoi(argv[i]), atoi(argv[i + 1]));
    return s & 0;
}
"""


def conditions(text):
    """{(line, group, sense, index): count} of the MC/DC records."""
    return {(line, group, sense, index): int(count) for line, group, sense, count, index in re.findall(r"(?m)^MCDC:(\d+),(\d+),([tf]),(\d+),(\d+),", text)}


@case("MC/DC of two tests: lcov -a adds the counts; ours of both traces has the pairs that no test has alone, too")
def mcdc_of_tests():
    folder = tempfile.mkdtemp(dir=scratch())
    with open(os.path.join(folder, "tests.c"), "w", encoding="ascii") as file:
        file.write(DECISIONS)
    subprocess.run([need("riscv64-linux-gnu-gcc"), "-g", "-O0", "-static", "tests.c", "-o", "tests"], cwd=folder, check=True)
    single = {}
    for name, vectors in (("a", "1 1 0 0 1 0"), ("b", "1 1 0 1 0 0 2 2 2"), ("c", "1 0 1")):
        Run("run", "-q", "-o", name + ".ntrace", "--", "./tests", *vectors.split(), cwd=folder)
        Run("coverage", "--level", "mcdc", "--to", "lcov2", "-o", name + ".info", name + ".ntrace", cwd=folder)
        with open(os.path.join(folder, name + ".info"), encoding="utf-8") as file:
            single[name] = conditions(file.read())
    text = lcov("lcov", "--mcdc-coverage", "-a", "a.info", "-a", "b.info", "-a", "c.info", "-o", "all.info", cwd=folder)
    with open(os.path.join(folder, "all.info"), encoding="utf-8") as file:
        merged = conditions(file.read())
    equal(merged, {key: sum(counts[key] for counts in single.values()) for key in single["a"]}, "counts of lcov -a")
    for shown in (text, lcov("lcov", "--mcdc-coverage", "--summary", "all.info", cwd=folder)):
        equal(re.search(r"conditions\.*: [\d.]+% \((\d+) of (\d+)", shown).groups(), (str(sum(count > 0 for count in merged.values())), str(len(merged))), "totals")
    ours_of_all = conditions(Run("coverage", "--level", "mcdc", "--to", "lcov2", "a.ntrace", "b.ntrace", "c.ntrace", cwd=folder).out)
    check(all(ours_of_all[key] > 0 for key, count in merged.items() if count), "what a test covers is covered")
    found = {(line, index) for line, group, _, index in ours_of_all if ours_of_all[line, group, "t", index] and ours_of_all[line, group, "f", index]}
    # a: 110 and 010; b: 110 and 100; c (the condition): 101 of the third test and 100 of the second
    check({("2", "0"), ("2", "1"), ("2", "2")} <= found and not merged["2", "3", "t", "2"], f"pairs of all tests: {sorted(found)}; of lcov {merged}")


main()
