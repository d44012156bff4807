#!/usr/bin/env python3
"""Coverage of a traced, unmodified program compared with gcov's of an instrumented one.

usage: gcov.py NTRACE

The same source is built twice: with --coverage, run under plain QEMU, counted by gcov; and plain, run by
`ntrace run`. What is expected to differ, and why:
  * gcov puts a function's entry on the line of its name, DWARF on its opening brace; and a closing brace has
    code of its own: lines of only braces, and lines with a function's head, stand in one list only.
  * a label, `for (;;)` and va_end have a count in gcov and may have no instruction in the binary.
  * gcov counts a switch by its cases; the binary has the compare instructions that the compiler made of it.
Optimized, lines and branches are others, gcov does not count functions that were inlined early, and a copy of an inlined
function has no entry to count: there only which functions ran is compared, with what gcov says without optimization.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(sys.path[0], ".."))
import cases
import harness
from harness import NTRACE, case, check, equal, folder, matches, need, note

HERE = os.path.dirname(os.path.abspath(__file__))
TOOLS = ("riscv64-linux-gnu-gcc", "riscv64-linux-gnu-gcov", "qemu-riscv64")
GCC, CLANG = ("riscv64-linux-gnu-gcc",), ("clang-19", "--target=riscv64-linux-gnu", "-fuse-ld=lld-19")
BUILDS = [(*GCC, "-O0"), (*GCC, "-O1"), (*GCC, "-O2"), (*GCC, "-O3"), (*CLANG, "-O0", "-gdwarf-5"), (*CLANG, "-O2", "-gdwarf-5"),
          (*CLANG, "-O2", "-gdwarf-4")]
DAILY = BUILDS[0], BUILDS[2], BUILDS[5]


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def compiler_of(source):
    return need("riscv64-linux-gnu-g++") if source.endswith(".cc") else "riscv64-linux-gnu-gcc"


def from_gcov(source, level, place):
    run(compiler_of(source), level, "-g", "--coverage", "-static", source, "-o", "counted", cwd=place)
    run("qemu-riscv64", "./counted", cwd=place)
    data = [name for name in os.listdir(place) if name.endswith(".gcda")][0]
    lines, branches, functions = {}, {}, {}
    for file in json.loads(run("riscv64-linux-gnu-gcov", "--json-format", "--stdout", "-b", data, cwd=place))["files"]:
        if not file["file"].endswith(source):
            continue
        for line in file["lines"]:
            number = line["line_number"]
            lines[number] = lines.get(number, 0) + line["count"]
            branches.setdefault(number, []).extend(branch["count"] for branch in line["branches"])
        functions.update({function["name"]: function["execution_count"] for function in file["functions"]})
    os.remove(os.path.join(place, data))
    return lines, branches, functions


def from_trace(source, compiler, place):
    run(*compiler, "-g", "-static", source, "-o", "plain", cwd=place)
    run(NTRACE, "run", "-o", "plain.ntrace", "--", "./plain", cwd=place)
    lines, branches, functions = {}, {}, {}
    for file in json.loads(run(NTRACE, "coverage", "--to", "json", "plain.ntrace", cwd=place))["files"]:
        if not file["file"].endswith(source):
            continue
        for line in file["lines"]:
            lines[line["line"]] = line["count"]
            branches[line["line"]] = [b[way] for b in line.get("branches", []) for way in ("taken", "not_taken")]
        functions.update({function["linkage"]: function["count"] for function in file["functions"]})
    return lines, branches, functions


def may_stand_alone(text):
    """Whether only one side may list the line."""
    head = re.match(r"^[a-z].*\)\s*(try)?\s*\{?\s*$", text) is not None
    label = re.match(r"\s*(case .*|default|[a-z]+):\s*$", text) is not None
    return head or label or text.strip() in ("{", "}", "try {", "for (;;) {", "va_end(ap);")


def compare(text, ours, theirs, branches=True):
    """Returns problems, and the number of lines compared."""
    (our_lines, our_branches, our_functions), (their_lines, their_branches, their_functions) = ours, theirs
    complaints, compared = [], 0
    always = set(re.findall(r"\balways_inline\b.*?(\w+)\(\w", "\n".join(text)))  # gcov does not list these
    if {name: count for name, count in our_functions.items() if name not in always} != their_functions:
        complaints.append(f"functions {our_functions}, gcov {their_functions}")
    for number in sorted(set(our_lines) | set(their_lines)):
        line = text[number - 1]
        if number not in our_lines or number not in their_lines:
            if not may_stand_alone(line):
                complaints.append(f"line {number} only {'here' if number in our_lines else 'in gcov'}: {line}")
            continue
        compared += 1
        if our_lines[number] != their_lines[number]:
            complaints.append(f"line {number}: {our_lines[number]}, gcov {their_lines[number]}: {line}")
        if branches and "switch" not in line and sorted(our_branches[number]) != sorted(their_branches[number]):
            complaints.append(f"line {number}: branches {our_branches[number]}, gcov {their_branches[number]}: {line}")
    return complaints, compared


def consistent(record):
    """Checks a record as lcov 2 does; returns problems."""
    counts = {int(n): int(c) for n, c in re.findall(r"^DA:(\d+),(\d+)", record, re.M)}
    names = re.findall(r"^FN:(\d+),(.*)$", record, re.M)
    hits = {name: int(c) for c, name in re.findall(r"^FNDA:(\d+),(.*)$", record, re.M)}
    complaints = [] if {name for _, name in names} == set(hits) else ["FN and FNDA of other functions"]
    begins = sorted({int(n) for n, _ in names})
    for begin, end in zip(begins, begins[1:] + [1 << 32]):
        here = {name: hits[name] for n, name in names if int(n) == begin}  # of a template: several
        lines = [counts[n] for n in counts if begin <= n < end]
        if not lines or any(here.values()) != any(lines):
            complaints.append(f"functions {here}, their lines {lines}")
    outcomes = {}
    for line, taken in re.findall(r"^BRDA:(\d+),\d+,\d+,(.*)$", record, re.M):
        outcomes.setdefault(int(line), []).append(taken)
    for line, taken in outcomes.items():
        if line not in counts or any(one not in ("-", "0") for one in taken) != (counts[line] > 0):
            complaints.append(f"branches {taken} on line {line}")
    for name, found in (("LF", len(counts)), ("LH", sum(c > 0 for c in counts.values())), ("FNF", len(hits)),
                        ("FNH", sum(c > 0 for c in hits.values()))):
        if re.findall(rf"^{name}:(\d+)$", record, re.M) != [str(found)]:
            complaints.append(f"{name} is not {found}")
    return complaints


def source_in(place, *path):
    shutil.copy(os.path.join(HERE, *path), place)
    return path[-1]


@case("coverage.c -O0: lines, branches and functions as gcov counts them", "coverage.c", "-O0")
def lines(source, level):
    place = folder()
    source_in(place, source)
    with open(os.path.join(place, source), encoding="utf-8") as file:
        text = file.read().split("\n")
    complaints, compared = compare(text, from_trace(source, (*GCC, level), place), from_gcov(source, level, place))
    note(f"{compared} lines")
    check(not complaints and compared > 40, "\n".join(complaints))


# least number of lines that both have; gcov's branches of C++ contain exceptions, those of C atomic operations; the branches of
# conditions on several lines (ends.c) are on the last line of their block
LINES = [("loops.c", 39, True), ("cleanups.c", 35, False), ("system_calls.c", 6, True), ("iterators.cc", 26, False),
         ("destructors.cc", 47, False), ("ways.cc", 87, False), ("ends.c", 40, False), ("macros.cc", 28, False), ("jumps.c", 80, False)]


# traced as code whose calls are AUIPC and JALR, also those that never return
FAR = ("destructors.cc",)

# gcc 14 has more blocks without code where temporaries and handlers end, and passes differ from one temporary to the next: line, ours, gcov's
TEMPORARIES = {"iterators.cc": {(31, 6, 5)}, "macros.cc": {(26, 4, 5), (37, 2, 3)},
               "ways.cc": {(81, 39, 57), (82, 39, 57), (83, 39, 57), (84, 63, 81), (87, 12, 15)}}


def passes(source, least, branches):
    """Loops that jump back, `break` and `goto`, destructors in each way out of a scope, and lines that are a system call."""
    place = folder()
    source_in(place, "source", source)
    with open(os.path.join(place, source), encoding="utf-8") as file:
        text = file.read().split("\n")
    for header in re.findall(r'^#include "(.*)"', "\n".join(text), re.M):
        source_in(place, "source", header)
    theirs = from_gcov(source, "-O0", place)
    relax = "-mno-relax" if source in FAR else "-mrelax"
    ours = from_trace(source, (compiler_of(source), "-O0", relax), place)
    for name in re.findall(r"always_inline\)\) \w+ (\w+)", "\n".join(text)):
        check(ours[2].pop(name, 0) > 0 and name not in theirs[2], f"{name}: inlined, which gcov does not list")
    complaints, compared = compare(text, ours, theirs, branches)
    if int(run(compiler_of(source), "-dumpversion", cwd=place).split(b".")[0]) >= 14:
        known = {f"line {line}: {ours}, gcov {found}: {text[line - 1]}" for line, ours, found in TEMPORARIES.get(source, ())}
        complaints = [complaint for complaint in complaints if complaint not in known]
    check(not complaints and compared >= least, "\n".join([f"{compared} lines", *complaints]))


for each_source in LINES:
    case(f"{each_source[0]} -O0: passes through lines as gcov counts them", *each_source)(passes)


IDLE = """int main(int argc, char **argv) {
    int n = 4;
    do {
        if (argc > 5 || n == 9)
            continue;
    } while (--n > 0);
    n = 8;
    while (n-- > 0) {
        switch (n) {
        case 3:
            if (argc > 5)
                argc++;
            break;
        case 2:
            if (argc > 1)
                argc++;
            break;
        default:
            argc--;
        }
    }
    n = 3;
    do {
        if (n & 1 || argc == 2) {
            if (n & 1 || argc == 2)
                continue;
        } else {
            if (argc > 36)
                return 1;
        }
    } while (--n > 0);
    return 0;
}
"""


@case("a jump is not said to be executed, or not executed, where neither the code nor the source says it")
def idle():
    """Lines 5 and 26: both results of the condition lead to the same code, as the source says. Lines 13 and 17: a branch leads past `break`."""
    place = folder()
    with open(os.path.join(place, "idle.c"), "w", encoding="utf-8") as file:
        file.write(IDLE)
    theirs = from_gcov("idle.c", "-O0", place)[0]
    equal([theirs[line] for line in (5, 13, 17, 19, 26)], [0, 1, 1, 6, 2], "gcov")
    run("riscv64-linux-gnu-gcc", "-g", "-O0", "-static", "idle.c", "-o", "plain", cwd=place)
    run(NTRACE, "run", "-q", "-o", "plain.ntrace", "--", "./plain", cwd=place)
    for remove in (False, True):
        if remove:
            os.remove(os.path.join(place, "idle.c"))
        answer = json.loads(run(NTRACE, "coverage", "--to", "json", "--only", "idle.c", "plain.ntrace", cwd=place))["files"][0]
        lines = {line["line"]: line["count"] if line["known"] else None for line in answer["lines"]}
        equal([lines.get(line) for line in (13, 17, 19)], [None, None, 6] if remove else [1, 1, 6], f"lines, source removed: {remove}")
        equal([lines.get(line) for line in (5, 26)] if not remove else [None, None], [None, None], "lines 5 and 26")


def inlined(*build):
    """The executed functions, including inlined ones; no count contradicts another."""
    need(build[0])
    place = folder()
    source = source_in(place, "source", "inlined.c")
    ours, theirs = from_trace(source, build, place)[2], from_gcov(source, "-O0", place)[2]
    complaints = [f"{name}: {ours.get(name)}, gcov {count}" for name, count in theirs.items()
                  if (ours.get(name, 0) > 0) != (count > 0) or ("-O0" in build and ours.get(name) != count)]
    info = run(NTRACE, "coverage", "--to", "lcov", "plain.ntrace", cwd=place).decode()
    complaints += consistent(next(r for r in info.split("end_of_record\n") if source in r))
    check(not complaints, "\n".join(complaints))
    equal((len(theirs), theirs["unused"], theirs["unwanted"], "unused" in ours), (7, 0, 0, True), "functions of gcov")


for each_build in BUILDS:
    case(f"inlined.c {each_build[0]} {' '.join(each_build[-2:])}: functions as gcov knows them", *each_build, long=each_build not in DAILY)(inlined)


COMPUTED = """#include <stdio.h>
int scale(int n) { return n * 1000; }
int uncalled(int n) { return n / 3; }
int rarely(int n) { return n * 7 % 5; }
__attribute__((noinline)) int always(int n) { if (n && !n) return 1; return 2; }
int main(int argc, char **argv) {
    always(argc);
    if (argc > 3)
        return rarely(argc);
    printf("%d\\n", scale(2));
    return 0;
}
"""


@case("-O2: whether a function was called is not known when the compiler has computed its calls; -O0: it is", "-O2", False)
@case("-O0: a function that is called with a constant was executed", "-O0", True)
def computed(level, known):
    place = folder()
    with open(os.path.join(place, "computed.c"), "w", encoding="utf-8") as file:
        file.write(COMPUTED)
    theirs = from_gcov("computed.c", "-O0", place)[2]
    equal([theirs[name] for name in ("scale", "uncalled", "rarely", "always")], [1, 0, 0, 1], "gcov")
    run("riscv64-linux-gnu-gcc", "-g", level, "-static", "computed.c", "-o", "plain", cwd=place)
    run(NTRACE, "run", "-q", "-o", "plain.ntrace", "--", "./plain", cwd=place)
    answer = json.loads(run(NTRACE, "coverage", "--to", "json", "--only", "computed.c", "plain.ntrace", cwd=place))["files"][0]
    functions = {f["name"]: (f["count"], f["known"]) for f in answer["functions"]}
    for name in "scale", "always":  # inlined and computed; not inlined, but it returns a constant, and its call is left out
        equal(functions[name], (1, True) if known else (0, False), name)
    equal((functions["uncalled"], functions["rarely"], functions["main"]), ((0, True), (0, True), (1, True)), "others")
    equal([line["line"] for line in answer["lines"] if not line["known"]], [] if known else [2, 5], "lines that are not known")
    table = run(NTRACE, "coverage", "--only", "computed.c", "plain.ntrace", cwd=place).decode()
    check(("may have computed or left out" in table) != known, table)
    found = json.loads(run(NTRACE, "coverage", "--level", "mcdc", "--format", "json", "--only", "computed.c", "plain.ntrace", cwd=place))["decisions"]
    state = [decision["state"] for decision in found if decision["function"] == "always"]
    equal(state, ["not-covered" if known else "not-determinable"], "the decision of a function that may have been called")


@case("templates.cc -O3: functions and lines agree, and lcov counts the same functions")
def templates():
    """A function of the file is executed exactly when its lines are; lcov reads the names unchanged."""
    place = folder()
    source_in(place, "source", "templates.cc")
    run(need("riscv64-linux-gnu-g++"), "-std=c++17", "-O3", "-g", "-static", "templates.cc", "-o", "templates", cwd=place)
    run(NTRACE, "run", "-o", "templates.ntrace", "--", "./templates", cwd=place)
    info = run(NTRACE, "coverage", "--to", "lcov", "templates.ntrace", cwd=place).decode()
    records = [record for record in info.split("end_of_record\n") if "SF:" in record]
    complaints = [complaint for record in records for complaint in consistent(record)]
    check(not complaints and len(records) > 10 and info.count("\nFN:") > 50, "\n".join(complaints))
    with open(os.path.join(place, "templates.info"), "w", encoding="utf-8") as file:
        file.write(info)
    summary = run(need("lcov"), "--summary", "templates.info", cwd=place).decode()
    hit, whole = re.search(r"functions\.*: [\d.]+% \((\d+) of (\d+)", summary).groups()
    table = run(NTRACE, "coverage", "templates.ntrace", cwd=place).decode()
    ours = next(row for row in table.splitlines() if row.endswith("  total"))
    document = json.loads(run(NTRACE, "coverage", "--to", "json", "templates.ntrace", cwd=place))
    hidden = sum(not function["known"] for file in document["files"] for function in file["functions"])
    check(f" {hit}/{int(whole) + hidden} " in ours, f"lcov knows {hit} of {whole} functions, {hidden} are not known, not {ours}")


@case("genhtml draws the tracefile without a warning")
def genhtml():
    need("genhtml")
    place = folder()
    from_trace(source_in(place, "source", "inlined.c"), BUILDS[-1] if shutil.which(BUILDS[-1][0]) else BUILDS[0], place)
    run(NTRACE, "coverage", "--to", "lcov", "-o", "plain.info", "plain.ntrace", cwd=place)
    done = subprocess.run(["genhtml", "--branch-coverage", "-o", "html", "plain.info"], cwd=place, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    check(done.returncode == 0 and not cases.warnings_of_genhtml(done.stdout), done.stdout)
    matches(r"lines\.*: ", done.stdout, "the sums")


harness.main(*TOOLS)
